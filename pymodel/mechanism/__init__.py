"""What a user describes: bodies, joints, loops, and their kinematics in float64."""
