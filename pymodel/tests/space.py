"""Mechanisms in space, and planar ones with other joints than pins, for the tests of the model."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pymodel.mechanism import kinematics, rotations
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.scenario import (
    FIXED,
    FREE,
    FREEDOMS,
    GROUND,
    JOINTS,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Loop,
    Scenario,
    Spring,
)

GRAVITY = 9.80665
NEWTON_STEPS = 100


def random_mechanism(
    rng: np.random.Generator,
    n: int,
    spatial: bool = True,
    joints: Sequence[str] = JOINTS,
    parents: Sequence[int] | None = None,
    loads: bool = True,
    **keys: Any,
) -> Scenario:
    """Draw a tree with nothing special about it.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        Number of bodies.
    spatial : bool
    joints : sequence of str
        Kinds to draw from; spherical ones in space only, free ones on the ground only.
    parents : sequence of int, optional
        By default any earlier body or the ground.
    loads : bool
        Whether joints with one coordinate have torques, springs and damping.
    **keys
        Fields of the scenario other than the mechanism; by default 100 steps of 1 ms.

    Returns
    -------
    Scenario
        Body 0 moves.
    """
    d = 3 if spatial else 2
    bodies = []
    for k in range(n):
        parent = parents[k] if parents else int(rng.integers(GROUND, k))
        possible = [
            joint
            for joint in joints
            if (joint != SPHERICAL or spatial)
            and (joint != FREE or parent == GROUND)
            and (joint != FIXED or k)
        ]
        joint = possible[int(rng.integers(len(possible)))]
        q, qd = random_state(rng, joint, spatial)
        has_axis = joint == PRISMATIC or (joint == REVOLUTE and spatial)
        drives = ("torque", "spring", "rest", "damping")
        single = FREEDOMS[joint, spatial].v == 1
        bodies.append(
            Body(
                mass=rng.uniform(0.3, 2.0),
                inertia=random_moments(rng) if spatial else rng.uniform(0.005, 0.05),
                com=tuple(rng.uniform(-0.3, 0.3, d).tolist()),
                tip=tuple(rng.uniform(-0.5, 0.5, d).tolist()),
                parent=parent,
                attach=(0.0,) * d if joint == FREE else tuple(rng.uniform(-0.5, 0.5, d).tolist()),
                joint=joint,
                axis=unit(rng.normal(size=d)) if has_axis else None,
                rotation=tuple(rng.uniform(-3, 3, 3).tolist()) if spatial else rng.uniform(-3, 3),
                q=q,
                qd=qd,
                **{key: rng.uniform(-1, 1) if single and loads else 0.0 for key in drives},
            )
        )
    gravity = tuple(rng.uniform(-10, 10, d).tolist())
    return Scenario("random", gravity, **{"step": 1e-3, "end": 0.1, **keys}, bodies=tuple(bodies))


def random_floating(
    rng: np.random.Generator,
    n: int,
    joints: Sequence[str] = JOINTS,
    parents: Sequence[int] | None = None,
    **keys: Any,
) -> Scenario:
    """Draw a tree in space on one free body, without loads and gravity: momenta are conserved."""
    parents = parents or [GROUND, *(int(rng.integers(k)) for k in range(1, n))]
    (base,) = random_mechanism(rng, 1, joints=(FREE,), parents=[GROUND]).bodies
    rest = random_mechanism(rng, n, joints=joints, parents=parents, loads=False, **keys)
    bodies = (base, *rest.bodies[1:])
    return dataclasses.replace(rest, gravity=(0.0, 0.0, 0.0), bodies=bodies)


def random_state(
    rng: np.random.Generator, joint: str, spatial: bool
) -> tuple[float | tuple[float, ...], float | tuple[float, ...]]:
    """Draw coordinates and velocities of a joint, as a body has them."""
    size = FREEDOMS[joint, spatial]
    if size.v <= 1:
        low = 0.3 if joint == PRISMATIC else 3.0
        return tuple(rng.uniform(-x, x) if size.v else 0.0 for x in (low, 2.0))
    q = rng.uniform(-1, 1, size.q)
    if spatial:
        q[-4:] = unit(rng.normal(size=4))
    return tuple(q.tolist()), tuple(rng.uniform(-2, 2, size.v).tolist())


def random_moments(rng: np.random.Generator) -> tuple[float, ...]:
    """Draw moments of inertia xx, xy, xz, yy, yz, zz that a body may have."""
    points = rng.uniform(-0.2, 0.2, (5, 3))
    second = points.T @ points
    return tuple((np.trace(second) * np.eye(3) - second)[np.triu_indices(3)].tolist())


def unit(vector: np.ndarray) -> tuple[float, ...]:
    """The vector's direction."""
    return tuple((vector / np.linalg.norm(vector)).tolist())


def closed(scenario: Scenario, held: Sequence[int] = (0,)) -> Scenario:
    """Close the loops to rounding: what is held stays, the rest gives way.

    Parameters
    ----------
    scenario : Scenario
        With a guess of the posture.
    held : sequence of int
        Velocities whose joints keep place and speed.

    Returns
    -------
    Scenario

    Raises
    ------
    RuntimeError
        If the loops do not close.
    """
    q, qd = scenario.q0, scenario.qd0
    free = [k for k in range(scenario.nv) if k not in held]
    for _ in range(NEWTON_STEPS):
        step, errors = np.zeros(scenario.nv), kinematics.loop_errors(scenario, q)
        if abs(errors).max() < 1e-15:
            break
        jacobian = kinematics.loop_jacobian(scenario, q)
        step[free] = -np.linalg.lstsq(jacobian[:, free], errors, rcond=1e-8)[0]
        q = displaced(scenario, q, step / max(1.0, abs(step).max()))
    if max(kinematics.loop_position(scenario, q), kinematics.loop_tilt(scenario, q)) > 1e-13:
        raise RuntimeError("the loops do not close")
    jacobian = kinematics.loop_jacobian(scenario, q)
    for _ in range(2):  # the second for the rounding of the first
        qd[free] -= np.linalg.lstsq(jacobian[:, free], jacobian @ qd, rcond=1e-8)[0]
    return scenario.with_state(q, qd)


def _bar(length: float, mass: float = 1.0, radius: float = 0.02, **keys: Any) -> Body:
    """A uniform round bar along x from handle 1."""
    across = mass * length**2 / 12.0 + mass * radius**2 / 4.0
    return Body(
        mass=mass,
        inertia=(0.5 * mass * radius**2, 0.0, 0.0, across, 0.0, across),
        com=(0.5 * length, 0.0, 0.0),
        tip=(length, 0.0, 0.0),
        **{"attach": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0), **keys},
    )


def bennett(
    a: float = 0.4,
    alpha: float = 1.0,
    beta: float = 1.9,
    q: float = 1.0,
    qd: float = 0.0,
    gravity: Sequence[float] = (0.0, GRAVITY, 0.0),
    **keys: Any,
) -> Scenario:
    """Bennett's linkage: four skew hinges that move although only special lengths let them.

    Links of lengths a and b in turn, twists alpha and beta, sin(alpha) / a = sin(beta) / b; the
    ground is a link of length b along x. Its hinges' axes are z of the bodies. The first body
    turns by q against the ground, the next one by p against it, the third by -q against that one;
    tan(p / 2) tan(q / 2) is constant (:func:`bennett_constant`). By default it swings between
    q = 1 and 2.3; no two constraints are independent all the way round.

    Parameters
    ----------
    a : float
        Length of bodies 0 and 2, m.
    alpha, beta : float
        Twists of links a and b, rad.
    q, qd : float
        State of the first body, rad and rad/s.
    gravity : sequence of float
    **keys
        Of the scenario; by default a second of 1 ms steps.

    Returns
    -------
    Scenario
        Closed to rounding, all constraints kept.
    """
    b = a * np.sin(beta) / np.sin(alpha)
    z = (0.0, 0.0, 1.0)
    p = 2.0 * np.arctan(bennett_constant(alpha, beta) / np.tan(0.5 * q))
    bodies = (
        _bar(a, joint=REVOLUTE, axis=z, q=q, qd=qd),
        _bar(
            b,
            joint=REVOLUTE,
            axis=z,
            q=float(p),
            rotation=(alpha, 0.0, 0.0),
            parent=0,
            attach=(a, 0.0, 0.0),
        ),
        _bar(
            a,
            joint=REVOLUTE,
            axis=z,
            q=-q,
            rotation=(beta, 0.0, 0.0),
            parent=1,
            attach=(b, 0.0, 0.0),
        ),
    )
    loop = Loop(
        body=2,
        point=(a, 0.0, 0.0),
        to=GROUND,
        at=(-b, 0.0, 0.0),
        axis=(0.0, -float(np.sin(alpha)), float(np.cos(alpha))),
        to_axis=(0.0, float(np.sin(beta)), float(np.cos(beta))),
    )
    return closed(_scenario("Bennett", gravity, bodies, (loop,), keys))


def bennett_constant(alpha: float, beta: float) -> float:
    """tan(p / 2) tan(q / 2) of :func:`bennett`."""
    return float(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)))


def rssr(
    crank: float = 0.2,
    rocker: float = 0.5,
    base: Sequence[float] = (0.6, 0.3, -0.1),
    q: Sequence[float] = (0.7, 1.2),
    qd: float = 0.0,
    gravity: Sequence[float] = (0.0, 0.0, -GRAVITY),
    **keys: Any,
) -> Scenario:
    """A crank about z and a rocker about y, with a coupler on ball joints between their tips.

    Bodies: crank, coupler (a spherical joint on the crank), rocker. The coupler may spin about its
    line; it starts without.

    Parameters
    ----------
    crank, rocker : float
        Lengths, m. The coupler's follows from the posture.
    base : sequence of float
        The rocker's hinge, m.
    q : sequence of float
        Angles of crank and rocker, rad.
    qd : float
        Rate of the crank, rad/s.
    gravity : sequence of float
    **keys
        As for :func:`bennett`.

    Returns
    -------
    Scenario
        Closed to rounding.
    """
    start = rotations.about_axis((0.0, 0.0, 1.0), np.array(q[0]))
    reach = rotations.about_axis((0.0, 1.0, 0.0), np.array(q[1])) @ (rocker, 0.0, 0.0) + base
    line = start.T @ (reach - start @ (crank, 0.0, 0.0))
    length = float(np.linalg.norm(line))
    x, y, z = line / length
    bodies = (
        _bar(crank, joint=REVOLUTE, axis=(0.0, 0.0, 1.0), q=q[0], qd=qd),
        _bar(
            length,
            parent=0,
            attach=(crank, 0.0, 0.0),
            joint=SPHERICAL,
            q=unit(np.array([0.0, -z, y, 1.0 + x])),
            qd=(0.0, 0.0, 0.0),
        ),
        _bar(rocker, attach=tuple(base), joint=REVOLUTE, axis=(0.0, 1.0, 0.0), q=q[1]),
    )
    loop = Loop(1, (length, 0.0, 0.0), 2, (rocker, 0.0, 0.0), SPHERICAL)
    return closed(_scenario("RSSR", gravity, bodies, (loop,), keys))


def slider_crank(
    crank: float = 0.2,
    rod: float = 0.5,
    q: float = 0.8,
    qd: float = 0.0,
    gravity: Sequence[float] = (0.0, -GRAVITY),
    **keys: Any,
) -> Scenario:
    """A planar crank with a rod to a slider on the x axis.

    Bodies: crank, rod, slider, whose pin is at x = crank cos(q) + sqrt(rod^2 - crank^2 sin(q)^2).

    Parameters
    ----------
    crank, rod : float
        Lengths, m.
    q, qd : float
        State of the crank, rad and rad/s.
    gravity : sequence of float
    **keys
        As for :func:`bennett`.

    Returns
    -------
    Scenario
        Closed to rounding.
    """
    lean = float(np.arcsin(crank / rod * np.sin(q)))
    place = float(crank * np.cos(q) + rod * np.cos(lean))
    bodies = (
        Body(1.0, crank**2 / 12.0, (0.5 * crank, 0.0), (crank, 0.0), q=q, qd=qd),
        Body(
            *(2.0, rod**2 / 6.0, (0.5 * rod, 0.0), (rod, 0.0)),
            parent=0,
            attach=(crank, 0.0),
            q=-q - lean,
        ),
        Body(0.7, 0.002, (0.0, 0.0), (0.1, 0.0), joint=PRISMATIC, axis=(1.0, 0.0), q=place),
    )
    loop = Loop(1, (rod, 0.0), 2, (0.0, 0.0))
    return closed(_scenario("slider-crank", gravity, bodies, (loop,), keys))


def governor(q: float = 0.9, qd: float = 0.0, **keys: Any) -> Scenario:
    """A planar flyball governor that stands still: two loops, with one freedom.

    Bodies: two arms, which hang from the ground, a sleeve on the y axis, two links from the arms to
    the sleeve.

    Parameters
    ----------
    q, qd : float
        How far the first arm is below the x axis, rad, and its rate, rad/s.
    **keys
        As for :func:`bennett`.

    Returns
    -------
    Scenario
        Closed to rounding.
    """
    length, hub = 0.2, 0.02
    bar = {"inertia": 2e-3, "tip": (length, 0.0)}
    arm = {"mass": 0.5, "com": (0.15, 0.0), **bar}
    link = {"mass": 0.1, "com": (0.1, 0.0), **bar}
    bodies = (
        Body(**arm, attach=(hub, 0.0), q=-q, qd=-qd),
        Body(**arm, attach=(-hub, 0.0), q=q - np.pi),
        Body(
            *(0.4, 1e-3, (0.0, 0.0), (hub, 0.0)),
            joint=PRISMATIC,
            axis=(0.0, 1.0),
            q=float(-2.0 * length * np.sin(q)),
        ),
        Body(**link, parent=0, attach=(length, 0.0), q=2.0 * q - np.pi),
        Body(**link, parent=1, attach=(length, 0.0), q=np.pi - 2.0 * q),
    )
    loops = (Loop(3, (length, 0.0), 2, (hub, 0.0)), Loop(4, (length, 0.0), 2, (-hub, 0.0)))
    return closed(_scenario("governor", (0.0, -GRAVITY), bodies, loops, keys))


def on_base(scenario: Scenario, base: Body, angles: Sequence[float]) -> Scenario:
    """A mechanism in space on a body in place of the ground.

    Parameters
    ----------
    scenario : Scenario
    base : Body
    angles : sequence of float
        How what was the ground's frame stands in the base's: roll, pitch and yaw, rad.

    Returns
    -------
    Scenario
        Closed to rounding; what was at rest on the ground is at rest on the base.
    """
    turn = rotations.from_angles(angles)

    def turned(vector: Sequence[float]) -> tuple[float, ...]:
        return tuple((turn @ vector).tolist())

    bodies = []
    for body in scenario.bodies:
        place = {}
        if body.parent == GROUND:
            whole = Rotation.from_matrix(turn @ rotations.from_angles(body.rotation))
            rotation = tuple(whole.as_euler("xyz").tolist())
            place = {"attach": turned(body.attach), "rotation": rotation}
        bodies.append(dataclasses.replace(body, parent=body.parent + 1, **place))
    loops = []
    for loop in scenario.loops:
        place = {"body": loop.body + 1, "to": loop.to + 1}
        if loop.to == GROUND:
            place |= {"at": turned(loop.at), "to_axis": loop.to_axis and turned(loop.to_axis)}
        loops.append(dataclasses.replace(loop, **place))
    found = dataclasses.replace(scenario, bodies=(base, *bodies), loops=tuple(loops))
    return closed(found, held=range(1 + found.v_slices[0].stop))


@functools.cache  # choosing their constraints takes a second, for each of five modules
def turning_planes() -> dict[str, Scenario]:
    """Mechanisms that are planar but for the body in space that they are on, by name.

    A governor on an upright shaft, and a slider-crank, askew on a top.
    """
    shaft = _bar(0.3, joint=REVOLUTE, axis=(0.0, 1.0, 0.0), qd=12.0)
    quaternion = unit(np.array([0.1, 0.4, -0.3, 0.8]))
    top = _bar(0.4, joint=SPHERICAL, q=quaternion, qd=(7.0, -5.0, 6.0))
    planes = {
        "governor": (governor(qd=1.0), shaft, (0.0, 0.0, 0.0)),
        "slider-crank on a top": (slider_crank(qd=3.0), top, (0.3, -0.8, 1.1)),
    }
    return {
        name: with_kept_rows(on_base(in_space(plane), base, angles))
        for name, (plane, base, angles) in planes.items()
    }


def pivot() -> Scenario:
    """A pendulum on a slider that a ball holds; a hinge at the same point keeps rotations only."""
    point, y = (0.1, 0.0, 0.0), (0.0, 1.0, 0.0)
    bodies = (
        _bar(0.2, joint=PRISMATIC, axis=(1.0, 0.0, 0.0), q=point[0]),
        _bar(0.2, parent=0, joint=SPHERICAL, q=(0.0, 0.0, 0.0, 1.0), qd=(0.0, 3.0, 0.0)),
    )
    ends = (1, (0.0, 0.0, 0.0), GROUND, point)
    loops = (Loop(*ends, SPHERICAL), Loop(*ends, axis=y, to_axis=y))
    return with_kept_rows(_scenario("pivot", (0.0, 0.0, -GRAVITY), bodies, loops, {}))


def in_space(scenario: Scenario, hinges: bool = True) -> Scenario:
    """The same planar mechanism in space, in the plane of x and y; free bodies cannot be.

    Parameters
    ----------
    scenario : Scenario
    hinges : bool
        Whether loops become hinges, which have constraints to spare, or balls.

    Returns
    -------
    Scenario
    """
    up = (0.0, 0.0, 1.0)
    bodies = tuple(
        dataclasses.replace(
            body,
            inertia=(body.inertia, 0.0, 0.0, body.inertia, 0.0, body.inertia),
            com=(*body.com, 0.0),
            tip=(*body.tip, 0.0),
            attach=(*body.attach, 0.0),
            axis=(*body.axis, 0.0) if body.axis else up if body.joint == REVOLUTE else None,
            rotation=(0.0, 0.0, body.rotation),
        )
        for body in scenario.bodies
    )
    axes = {"axis": up, "to_axis": up} if hinges else {"joint": SPHERICAL}
    loops = tuple(
        dataclasses.replace(loop, point=(*loop.point, 0.0), at=(*loop.at, 0.0), **axes)
        for loop in scenario.loops
    )
    gravity = (*scenario.gravity, 0.0)
    return dataclasses.replace(scenario, gravity=gravity, bodies=bodies, loops=loops)


def with_loops(
    rng: np.random.Generator, scenario: Scenario, pairs: Sequence[tuple[int, int, str]]
) -> Scenario:
    """Join bodies of a tree to each other where they are now; the velocities become fitting ones.

    Parameters
    ----------
    rng : numpy.random.Generator
    scenario : Scenario
        Without loops.
    pairs : sequence of tuple
        Two bodies, the second one ``GROUND`` for the ground, and the joint. It is at a random point
        of the first one, with a random axis.

    Returns
    -------
    Scenario
        Closed to rounding.
    """
    d, q = len(scenario.gravity), scenario.q0
    turns = [np.eye(d), *kinematics.body_rotations(scenario, q)[:, :d, :d]]
    places = [np.zeros(d), *kinematics.handle_positions(scenario, q)]
    loops = []
    for body, to, joint in pairs:
        point = rng.uniform(-0.5, 0.5, d)
        at = turns[to + 1].T @ (places[body + 1] + turns[body + 1] @ point - places[to + 1])
        axis = to_axis = None
        if joint == REVOLUTE and scenario.spatial:
            axis = unit(rng.normal(size=3))
            to_axis = unit(turns[to + 1].T @ turns[body + 1] @ axis)
        ends = (body, tuple(point.tolist()), to, tuple(at.tolist()))
        loops.append(Loop(*ends, joint, axis, to_axis))
    return closed(dataclasses.replace(scenario, loops=tuple(loops)), held=())


@functools.cache
def closed_mechanisms() -> dict[str, Scenario]:
    """Mechanisms with loops of all kinds, which move, by name."""
    rng = np.random.default_rng(11)
    chain = random_mechanism(rng, 7, joints=(REVOLUTE, SPHERICAL), parents=range(-1, 6))
    floating = random_floating(rng, 6, (REVOLUTE, SPHERICAL), range(-1, 5))
    planar = random_mechanism(
        rng, 6, spatial=False, joints=(REVOLUTE, PRISMATIC), parents=range(-1, 5)
    )
    springs = (Spring(1, (0.1, 0.2, 0.3), GROUND, (-1.0, 0.5, 2.0), 30.0, 0.4, 0.7),)
    return {
        "bennett": with_kept_rows(bennett(qd=1.3)),
        "rssr": dataclasses.replace(rssr(qd=2.0), springs=springs),
        "slider_crank": slider_crank(qd=3.0),
        "hinge": with_loops(rng, chain, [(6, GROUND, REVOLUTE)]),
        "coupled": with_loops(rng, chain, [(6, 1, SPHERICAL), (4, GROUND, SPHERICAL)]),
        "floating": with_loops(rng, floating, [(5, 0, SPHERICAL)]),
        "plane": with_loops(rng, planar, [(5, 2, REVOLUTE), (4, GROUND, REVOLUTE)]),
        "moving hinge": with_loops(rng, chain, [(6, 0, REVOLUTE)]),
        "pivot": pivot(),
    }


def _scenario(
    name: str,
    gravity: Sequence[float],
    bodies: tuple[Body, ...],
    loops: tuple[Loop, ...],
    keys: dict[str, Any],
) -> Scenario:
    values = {"step": 1e-3, "end": 1.0, **keys}
    return Scenario(name, tuple(gravity), **values, bodies=bodies, loops=loops)
