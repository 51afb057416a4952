"""The regressor of inverse dynamics: torques are linear in the inertial parameters of the links.

tau = Y(q, qd, qdd) pi, with ten parameters a link, in Pinocchio's order: mass, first moment (x, y,
z), and the inertia matrix about the frame's origin (xx, xy, yy, xz, yz, zz). The frame is that in
which external wrenches on the link are given: URDF's link frame.
"""

from pymodel.algorithms.rigid_body.frames import (
    Screw,
    frame_numbers,
    own_frame,
    screws,
)
from pymodel.algorithms.rigid_body.tree import Motion, Tree
from pymodel.algorithms.rigid_body.vectors import (
    add,
    apply,
    column,
    cross,
    dot,
    product,
    transpose,
)
from pymodel.arith.terms import Term

PARAMETERS = 10  #: of a link with a body


def regressor(tree: Tree, qdd: list[Term]) -> dict[tuple[int, int], Term]:
    """(degree of freedom, parameter) -> entry of Y; what is not there is zero by structure."""
    found: dict[tuple[int, int], Term] = {}
    moving, motions = moving_screws(tree), tree.motions(qdd)
    for number, i in enumerate(tree.robot.bodies):
        motion = motions[i]
        rotation, offset = frame_numbers(tree, own_frame(tree, i))
        back = transpose(rotation)
        own = Motion(
            apply(back, motion.w),
            apply(back, motion.alpha),
            apply(back, add(motion.a, apply(motion.U, offset))),
            product(back, product(motion.U, rotation)),
        )
        for k, (linear, angular) in moving[i].items():
            there = add(linear, cross(angular, offset))
            entries = work(own, Screw(apply(back, there), apply(back, angular)))
            found |= {(k, PARAMETERS * number + place): x for place, x in enumerate(entries)}
    return found


def moving_screws(tree: Tree) -> list[dict[int, Screw]]:
    """Of each link: degree of freedom that moves it -> what it does to the link, in its frame."""
    found: list[dict[int, Screw]] = []
    for i in tree.links:
        own: dict[int, Screw] = {}
        if i in tree.joints and not tree.on_ground(i):
            for k, (linear, angular) in found[tree.parent[i]].items():
                there = add(linear, cross(angular, tree.arm[i]))
                own[k] = Screw(tree.down(i, there), tree.down(i, angular))
        found.append(own | dict(screws(tree, i)))
    return found


def work(motion: Motion, screw: Screw) -> list[Term]:
    """What the wrench that each parameter needs does along a screw, both in the link's frame."""
    (x, y, z), (alpha_x, alpha_y, alpha_z) = motion.w, motion.alpha
    a, U = motion.a, motion.U
    s, t = screw.linear, screw.angular
    force = [dot(s, column(U, k)) for k in range(3)]
    moment = cross(a, t)  # t . (r x a) = r . (a x t)
    xy, xz, yz = x * y, x * z, y * z
    squares = x * x - y * y, x * x - z * z, y * y - z * z
    return [
        dot(s, a),
        *(f + m for f, m in zip(force, moment, strict=True)),
        dot(t, (alpha_x, xz, -xy)),
        dot(t, (alpha_y - xz, alpha_x + yz, squares[0])),
        dot(t, (-yz, alpha_y, xy)),
        dot(t, (alpha_z + xy, -squares[1], alpha_x - yz)),
        dot(t, (squares[2], alpha_z - xy, alpha_y + xz)),
        dot(t, (yz, -xz, alpha_z)),
    ]
