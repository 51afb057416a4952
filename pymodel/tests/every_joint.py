"""A mechanism in space with every kind of joint, for the tests of what takes its states."""

from collections.abc import Sequence

from pymodel.mechanism.scenario import (
    FIXED,
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Loop,
    Scenario,
    Spring,
)

ORIGIN, TIP = (0.0, 0.0, 0.0), (0.5, 0.1, 0.0)
UPRIGHT = (0.0, 0.0, 0.0, 1.0)  # quaternion
HINGE = (0.0, 0.0, 1.0)


def every_joint(
    joints: Sequence[str] = (FREE, REVOLUTE, PRISMATIC, SPHERICAL, FIXED),
    loops: Sequence[str] = (),
) -> Scenario:
    """Make a chain of these joints, with loops from its last body to the ground, as they stand.

    Nothing is checked: its loops need not close.
    """
    bodies = []
    for k, joint in enumerate(joints):
        q, qd = {
            FREE: ((*ORIGIN, *UPRIGHT), (0.0,) * 6),
            SPHERICAL: (UPRIGHT, (0.0,) * 3),
        }.get(joint, (0.1, 0.0))
        bodies.append(
            Body(
                mass=1.0,
                inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.1),
                com=(0.25, 0.05, 0.0),
                tip=TIP,
                parent=k - 1,
                attach=TIP if k else ORIGIN,
                joint=joint,
                axis=HINGE if joint in (REVOLUTE, PRISMATIC) else None,
                rotation=ORIGIN,
                q=q,
                qd=qd,
            )
        )
    last = len(bodies) - 1
    axes = {REVOLUTE: (HINGE, HINGE), SPHERICAL: (None, None)}
    return Scenario(
        name="every joint",
        gravity=(0.0, 0.0, -9.81),
        step=0.01,
        end=1.0,
        bodies=tuple(bodies),
        loops=tuple(Loop(last, TIP, GROUND, TIP, joint, *axes[joint]) for joint in loops),
        springs=(Spring(last, TIP, GROUND, (1.0, 0.0, 1.0), 10.0),),
    )
