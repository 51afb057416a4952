"""What runs the RTL under a simulator and compares it with the model."""
