"""A robot's functions by Pinocchio, to compare with; needs the package ``pin``.

Pinocchio reads a URDF itself, but for what bears on no function: limits, without which it
takes no joint, are made up, and meshes left out. Its placements are the file's, whatever
:mod:`urdf` was asked to round. It gets the armature, and the configuration of a continuous joint as
cosine and sine; it has no joint damping.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio

from pymodel.algorithms.rigid_body.functions import (
    ALL,
    CONSTRAINED,
    FUNCTIONS,
    HYBRID,
    STEPS,
    SYMMETRIC,
    columns,
    driven,
    force_columns,
    outputs,
)
from pymodel.mechanism import robot_file, urdf
from pymodel.mechanism.loop import HINGE
from pymodel.mechanism.moments import ROUNDING
from pymodel.mechanism.robot import (
    BALL,
    FIXED_BASE,
    FLOATING,
    FREE,
    HELICAL,
    PRISMATIC,
    REVOLUTE,
    Robot,
)
from pymodel.mechanism.robot_bodies import ROOT_JOINT, SNAP_OFFSET, RobotError
from pymodel.runs import step_reference
from pymodel.runs.closed_loop import ClosedLoop
from pymodel.runs.equations import friction_slope, friction_torque

JOINTS = {
    FREE: pinocchio.JointModelFreeFlyer,
    BALL: pinocchio.JointModelSpherical,
    FLOATING: pinocchio.JointModelFreeFlyer,
    REVOLUTE: pinocchio.JointModelRZ,
    PRISMATIC: pinocchio.JointModelPZ,
}
#: Functions that it has not: its derivatives differ where the loops are not kept.
LEFT_OUT = ("dFDc", "dstepc")
SQUARED = 100  # a number of up to 2 to this power, or down to its inverse, can be squared


def model(robot: Robot) -> pinocchio.Model:
    """Pinocchio's model of the file that a robot was read from, as :mod:`urdf` read it.

    Of an MJCF, which Pinocchio reads in other ways, it is a model of the robot's links; so it is
    of a URDF with joints of several degrees of freedom or helical ones: Pinocchio's planar joint
    has no axis and other velocities, and of the others its URDF has the floating one alone.

    Raises
    ------
    pymodel.mechanism.robot_bodies.RobotError
        If Pinocchio places a joint elsewhere, by more than snapping explains.
    """
    if _is_of_links(robot):
        return _of_links(robot)
    base = [pinocchio.JointModelFreeFlyer()] if robot.floating else []
    found = pinocchio.buildModelFromXML(_as_read(robot.source), *base)
    for index, link in enumerate(robot.links):
        parent = robot.ground if link.kind != FREE else np.eye(3)
        if link.parent != FIXED_BASE:
            parent = robot.links[link.parent].frame_rotation
        rotation = parent.T @ link.rotation @ link.frame_rotation
        placement = pinocchio.SE3(rotation, parent.T @ link.offset)
        _check_placement(robot, link.joint, placement, found.jointPlacements[index + 1])
    found.armature = _armature(robot)
    found.gravity = pinocchio.Motion(robot.gravity_vector, np.zeros(3))
    return found


def _is_of_links(robot: Robot) -> bool:
    """Whether Pinocchio gets the links of a robot, as its file is one that it is not to read."""
    odd = any(link.part or link.kind == HELICAL for link in robot.links)
    base = robot.floating and robot.links[0].joint != ROOT_JOINT
    return odd or base or robot_file.root_element(robot.source) != robot_file.URDF


def _of_links(robot: Robot) -> pinocchio.Model:
    """Pinocchio's model of the links; its joints' frames are those of the links.

    A ball or floating joint is one of Pinocchio's, whose frame is that of its last part's link.
    """
    found = pinocchio.Model()
    found.gravity = pinocchio.Motion(robot.gravity_vector, np.zeros(3))
    joints = {FIXED_BASE: 0}  # link -> Pinocchio's joint
    for index, link in enumerate(robot.links):
        part, name, kind, carrier = link.part, link.joint, link.kind, link.parent
        if part is not None and link.by_quaternion:
            if not part.last:
                continue
            first = robot.links[index - part.index]
            name, kind, carrier = part.joint, part.kind, first.parent
            turn = first.rotation  # with the axes of the body
            for other in robot.links[index - part.index + 1 : index + 1]:
                turn = turn @ other.rotation
            placement = pinocchio.SE3(turn, first.offset)
        else:
            placement = pinocchio.SE3(link.rotation, link.offset)
        if carrier == FIXED_BASE and kind != FREE:
            placement = pinocchio.SE3(robot.ground.T, np.zeros(3)) * placement
        own = pinocchio.JointModelHZ(link.pitch) if kind == HELICAL else JOINTS[kind]()
        joints[index] = found.addJoint(joints[carrier], own, placement, name)
        second = link.inertia[:3, :3]
        com = link.first_moment / link.mass if link.mass else np.zeros(3)
        second = second - link.mass * np.outer(com, com)
        moments = np.trace(second) * np.eye(3) - second
        inertia = pinocchio.Inertia(link.mass, com, moments)
        found.appendBodyToJoint(joints[index], inertia, pinocchio.SE3.Identity())
    found.armature = _armature(robot)
    return found


def _armature(robot: Robot) -> np.ndarray:
    return np.array([0.0] * 6 * robot.floating + [x.armature for x in robot.links[robot.first :]])


def _check_placement(robot: Robot, joint: str, ours: pinocchio.SE3, theirs: pinocchio.SE3) -> None:
    """Refuse a placement that is not Pinocchio's, but for what was asked to be rounded."""
    turned = np.abs(ours.rotation - theirs.rotation).max()
    shifted = np.abs(ours.translation - theirs.translation).max()
    rounding = ROUNDING * max(1.0, np.abs(theirs.translation).max())
    if turned > robot.snap + ROUNDING or shifted > robot.snap * SNAP_OFFSET + rounding:
        reason = f"not where Pinocchio has it: turned by {turned:.3g}, shifted by {shifted:.3g} m"
        raise RobotError(robot.source, f"joint {joint}", reason)


def _as_read(path: str) -> str:
    """What :mod:`urdf` reads of a robot's file, with a limit of each joint that needs one.

    Axes of extreme length are scaled, as Pinocchio squares them; all others stay as they are, since
    Pinocchio has quicker joints for axes that are 1 along x, y or z. Between numbers there is one
    space.
    """
    file = urdf.parsed_xml(path)
    robot = ElementTree.Element("robot", file.attrib)
    for element in (*file.findall("link"), *file.findall("joint")):
        kept = ElementTree.SubElement(robot, element.tag, element.attrib)
        kept.extend(child for child in element if child.tag in urdf.READ)
        for part in kept.iter():
            for name in urdf.NUMBERS.get(part.tag, {}):
                if name in part.attrib:
                    part.set(name, " ".join(part.attrib[name].split()))
        for axis in kept.findall("axis"):
            numbers = np.array(axis.attrib["xyz"].split(), float)
            _, exponent = np.frexp(np.abs(numbers).max())
            if abs(exponent) > SQUARED:
                axis.set("xyz", " ".join(map(repr, np.ldexp(numbers, -exponent).tolist())))
        if element.get("type") in ("revolute", "prismatic"):
            ElementTree.SubElement(kept, "limit", effort="0", velocity="0")
    return ElementTree.tostring(robot, encoding="unicode")


def configuration(model: pinocchio.Model, q: np.ndarray) -> np.ndarray:
    """A configuration as Pinocchio has it: a continuous joint by cosine and sine."""
    left, found = list(q), []
    for joint in list(model.joints)[1:]:
        if joint.nq == 2:
            angle = left.pop(0)
            found += [np.cos(angle), np.sin(angle)]
        else:
            found += [left.pop(0) for _ in range(joint.nq)]
    return np.array(found)


def call(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Evaluate a function once for each row of a table.

    Parameters
    ----------
    robot : Robot
        As it was read, not reduced.
    function : str
        A key of :data:`pymodel.algorithms.rigid_body.functions.ALL`.
    table : dict
        As for :func:`pymodel.runs.robot_calls.call`; quaternions of length 1.

    Returns
    -------
    dict
        Column -> array of one number a row.
    """
    if function in STEPS or function == "stepc":
        return _steps(robot, function, table)
    if function in HYBRID:
        return _hybrid(robot, function, table)
    if function in FUNCTIONS and ALL[function].damping and _resists(robot):
        return _resisted(robot, function, table)
    return _plain(robot, function, table)


def _plain(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Pinocchio's own: a robot whose joints nothing resists, but for loops."""
    its = model(robot)
    if function in FUNCTIONS:
        by_matrix = robot.mimics or not all(link.inertia.any() for link in robot.links)
        evaluate = _by_matrix(robot, function) if by_matrix else _EVALUATE[function]
    data, found = its.createData(), []
    frames = _Frames(robot, its)
    loops = _Loops(robot, its, frames)
    arrays = [_array(robot, kind, table) for kind in ALL[function].takes]
    wrenches = _wrenches(robot, table, len(arrays[0]))
    for forces, q, *others in zip(wrenches, *arrays, strict=True):
        all_q = configuration(its, robot.coordinates_of_tree(q))
        if function in CONSTRAINED:
            results = [loops.evaluate(function, all_q, *others, forces)]
        elif function in FUNCTIONS:
            results = evaluate(its, data, all_q, *others, forces)
        else:
            results = _FURTHER[function](frames, all_q, *others)
        found.append(np.concatenate([np.reshape(x, -1) for x in results]))
    names = [name for kind in ALL[function].gives for name in columns(robot, kind)]
    return dict(zip(names, np.array(found).T, strict=True))


def friction_torques(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """Dry friction of the joints against their rates, which are those of the tree, (nv,)."""
    found = np.zeros(len(qd))
    for i, link in enumerate(robot.links):
        if link.friction and link.friction_scale:
            k = robot.tree.dof(i)
            found[k] = friction_torque(link.friction, link.friction_scale, qd[k])
    return found


def _resists(robot: Robot) -> bool:
    return any(x.damping or (x.friction and x.friction_scale) for x in robot.links)


def _resistance(robot: Robot, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Torques of damping and friction against the rates (nv,), and their derivatives (nv, nv)."""
    g = robot.coupling
    rates = g @ qd
    torques, slopes = friction_torques(robot, rates), np.zeros(len(rates))
    for i, link in enumerate(robot.links[robot.first :], start=robot.first):
        k = robot.tree.dof(i)
        torques[k] += link.damping * rates[k]
        slopes[k] += link.damping
        if link.friction and link.friction_scale:
            slopes[k] += friction_slope(link.friction, link.friction_scale, rates[k])
    found: np.ndarray = g.T @ np.diag(slopes) @ g
    return g.T @ torques, found


def _resisted(
    robot: Robot, function: str, table: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """One of the seven with damping and friction, of which Pinocchio knows nothing."""
    rates = _array(robot, "qd", table)
    torques, slopes = map(np.array, zip(*(_resistance(robot, qd) for qd in rates), strict=True))
    table = dict(table)
    if "tau" in ALL[function].takes:
        for k, own in enumerate(torques.T):
            table[f"tau{k}"] = table[f"tau{k}"] - own
    found = _plain(robot, function, table)
    if function == "ID":
        return {name: x + torques[:, k] for k, (name, x) in enumerate(found.items())}
    if function == "FD":
        return found
    if function != "dID":
        state = {name: x for name, x in table.items() if name in columns(robot, "q")}
        minv = table if function == "diFD" else _plain(robot, "Minv", state)
        slopes = -_array(robot, "minv", minv) @ slopes
    by = columns(robot, ALL[function].gives[1])
    own = slopes.reshape(len(slopes), -1).T
    return found | {name: found[name] + x for name, x in zip(by, own, strict=True)}


def _hybrid(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Hybrid dynamics and its derivatives, by M and h of all joints."""
    n, held, rows = robot.nv, list(robot.held), len(table["q0"])
    free = [k for k in range(n) if k not in held]
    state = {x: table[x] for kind in ("q", "qd") for x in columns(robot, kind)}
    state |= {name: x for name, x in table.items() if name.startswith("fext")}
    qdd = np.stack([table.get(x, np.zeros(rows)) for x in columns(robot, "qdd")], axis=-1)
    tau = np.stack([table.get(x, np.zeros(rows)) for x in columns(robot, "tau")], axis=-1)

    def of(name: str, qdd: np.ndarray) -> dict[str, np.ndarray]:
        return call(robot, name, state | {f"qdd{k}": x for k, x in enumerate(qdd.T)})

    m = _array(robot, "m", call(robot, "M", {x: table[x] for x in columns(robot, "q")}))
    m_ff, m_kf = m[:, free][:, :, free], m[:, held][:, :, free]
    h = _array(robot, "tau", of("ID", qdd))
    qdd[:, free] = np.linalg.solve(m_ff, (tau - h)[:, free, None])[..., 0]
    tau[:, held] = h[:, held] + (m_kf @ qdd[:, free, None])[..., 0]
    found = {f"tau{k}": tau[:, k] for k in held} | {f"qdd{k}": qdd[:, k] for k in free}
    if function == "HD":
        return found
    by, found = of("dID", qdd), {}
    for kind in ("dq", "dqd"):
        names = columns(robot, f"dtau_{kind}")
        whole = np.stack([by[x] for x in names], axis=-1).reshape(rows, n, n)
        accelerations = -np.linalg.solve(m_ff, whole[:, free])
        torques = whole[:, held] + m_kf @ accelerations
        for of_rows, name, values in ((held, "dtau", torques), (free, "dqdd", accelerations)):
            for i, k in enumerate(of_rows):
                found |= {f"{name}_{kind}{k}_{j}": values[:, i, j] for j in range(n)}
    return {name: found[name] for name in outputs(robot, function)}


def _steps(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Discrete steps, or their sensitivities, from Pinocchio's accelerations and derivatives."""
    method = getattr(step_reference, function.removeprefix("d").removesuffix("c"))
    states = [_array(robot, kind, table) for kind in ALL[function].takes]
    wrenches = {name: column for name, column in table.items() if name.startswith("fext")}
    found = []
    for row, (q, qd, tau, h) in enumerate(zip(*states, strict=True)):
        held = {f"tau{k}": np.array([x]) for k, x in enumerate(tau)}
        held |= {name: column[row : row + 1] for name, column in wrenches.items()}
        accelerations, integrate = (
            partial(_accelerations, robot, held, loops=function in CONSTRAINED),
            partial(_integrated, robot),
        )
        after, by = method(accelerations, integrate, q, qd, float(h[0]))
        parts = np.split(by, [2 * robot.nv], axis=1) if function.startswith("d") else [after]
        found.append(np.concatenate([np.ravel(x) for x in parts]))
    names = [name for kind in ALL[function].gives for name in columns(robot, kind)]
    return dict(zip(names, np.array(found).T, strict=True))


def _integrated(
    robot: Robot, q: np.ndarray, way: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q after a displacement, and its derivatives by q and by the displacement."""
    groups = {4: pinocchio.liegroups.SO3(), 7: pinocchio.liegroups.SE3()}
    after, by_q, by_way, first = q.copy(), np.eye(len(way)), np.eye(len(way)), 0
    for own in robot.coordinates:
        if len(own) == 1:
            after[own] += way[first]
        elif own:
            group, dofs = groups[len(own)], slice(first, first + len(own) - 1)
            given = q[own], way[dofs]
            after[own] = group.integrate(*given)
            by_q[dofs, dofs] = group.dIntegrate_dq(*given)
            by_way[dofs, dofs] = group.dIntegrate_dv(*given)
        first += len(own) - (len(own) > 1)
    return after, by_q, by_way


def _accelerations(
    robot: Robot, held: Mapping[str, np.ndarray], q: np.ndarray, qd: np.ndarray, loops: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations, and their derivatives by (q, qd, tau), which are left out with loops."""
    state = {f"q{k}": np.array([x]) for k, x in enumerate(q)}
    state |= {f"qd{k}": np.array([x]) for k, x in enumerate(qd)}

    def of(function: str) -> list[np.ndarray]:
        values = call(robot, function, {**held, **state})
        kinds = ALL[function].gives
        arrays = [np.array([values[x][0] for x in columns(robot, kind)]) for kind in kinds]
        return [array.reshape(robot.nv, -1) for array in arrays]

    if loops:
        return of("FDc")[0][:, 0], np.zeros((robot.nv, 3 * robot.nv))
    return of("FD")[0][:, 0], np.hstack([*of("dFD"), *of("Minv")])


def closed_loop(loop: ClosedLoop) -> dict[str, np.ndarray]:
    """Simulate a closed loop: the same controller and integrator, with Pinocchio's functions.

    Returns
    -------
    dict
        Column -> array of one number a step, as :meth:`ClosedLoop.table`.
    """
    its, robot, rows = model(loop.robot), loop.robot, []
    data, damping = its.createData(), np.array([link.damping for link in robot.links])
    q, qd, g = np.array(loop.start), np.zeros(robot.nv), robot.coupling
    for _ in range(loop.steps + 1):
        at = configuration(its, robot.coordinates_of_tree(q))
        weight = g.T @ pinocchio.computeGeneralizedGravity(its, data, at)
        tau = weight + loop.kp * (loop.target - q) - loop.kd * qd
        rows.append([*q, *qd, *tau])
        resisting = damping * (g @ qd) + friction_torques(robot, g @ qd)
        drives = tau - g.T @ resisting
        if robot.mimics:
            bias = pinocchio.nonLinearEffects(its, data, at, g @ qd)
            qdd = np.linalg.solve(g.T @ _mass_matrix(its, data, at) @ g, drives - g.T @ bias)
        else:
            qdd = pinocchio.aba(its, data, at, qd, drives)
        qd = qd + loop.step * qdd
        q = q + loop.step * qd
    return loop.table(rows)


def _array(robot: Robot, kind: str, table: Mapping[str, np.ndarray]) -> np.ndarray:
    """Columns as an array, the rows of the table first."""
    found = np.stack([table[name] for name in columns(robot, kind)], axis=-1)
    return found.reshape(-1, robot.nv, robot.nv) if kind in SYMMETRIC else found


def _wrenches(
    robot: Robot, table: Mapping[str, np.ndarray], rows: int
) -> Iterator[pinocchio.StdVec_Force]:
    """External wrenches on Pinocchio's joints, row by row."""
    still = np.zeros(rows)
    bodies = [k for k, link in enumerate(robot.links) if link.has_body]
    found = [
        np.stack([table.get(name, still) for name in force_columns([link])], axis=-1)
        for link in bodies
    ]
    frames = [pinocchio.SE3.Identity() for _ in bodies]
    if _is_of_links(robot):
        links = [robot.links[k] for k in bodies]
        frames = [pinocchio.SE3(link.frame_rotation, link.frame_offset) for link in links]
    for wrenches in zip(*found, strict=True):
        forces = pinocchio.StdVec_Force()
        acting = map(pinocchio.Force, wrenches)
        forces.extend([pinocchio.Force.Zero(), *map(pinocchio.SE3.act, frames, acting)])
        yield forces


def _mass_matrix(model: pinocchio.Model, data: pinocchio.Data, q: np.ndarray) -> np.ndarray:
    upper = np.triu(pinocchio.crba(model, data, q))
    return upper + np.triu(upper, 1).T


def _derivatives(
    model: pinocchio.Model, data: pinocchio.Data, *state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """dtau/dq and dtau/dqd."""
    pinocchio.computeRNEADerivatives(model, data, *state)
    return data.dtau_dq.copy(), data.dtau_dv.copy()


def _forward_derivatives(
    model: pinocchio.Model,
    data: pinocchio.Data,
    q: np.ndarray,
    qd: np.ndarray,
    tau: np.ndarray,
    forces: pinocchio.StdVec_Force,
) -> list[np.ndarray]:
    qdd = pinocchio.aba(model, data, q, qd, tau, forces).copy()
    m = _mass_matrix(model, data, q)
    return [-np.linalg.solve(m, x) for x in _derivatives(model, data, q, qd, qdd, forces)]


def _forward_derivatives_given(
    model: pinocchio.Model,
    data: pinocchio.Data,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    minv: np.ndarray,
    forces: pinocchio.StdVec_Force,
) -> list[np.ndarray]:
    return [-minv @ x for x in _derivatives(model, data, q, qd, qdd, forces)]


def _by_matrix(robot: Robot, function: str) -> Callable[..., Any]:
    """A function by the mass matrix, which LAPACK solves with.

    Of a robot with joints that mimic others, by those of its tree: tau = G^T tau. And of links
    without inertia, as those between a joint's parts: Pinocchio's articulated bodies (``aba``) lost
    digits of one with 123 degrees of freedom: 5e-10 of dFD's largest entry, against 1e-11.
    """
    g = robot.coupling

    def matrix(its: Any, data: Any, q: np.ndarray) -> np.ndarray:
        found: np.ndarray = g.T @ _mass_matrix(its, data, q) @ g
        return found

    def forward(its: Any, data: Any, q: np.ndarray, *given: Any) -> np.ndarray:
        qd, tau, forces = given
        bias = g.T @ pinocchio.rnea(its, data, q, g @ qd, np.zeros(len(g)), forces)
        return np.linalg.solve(matrix(its, data, q), tau - bias)

    def derivatives(its: Any, data: Any, q: np.ndarray, *given: Any) -> list[np.ndarray]:
        qd, qdd, forces = given
        return [g.T @ x @ g for x in _derivatives(its, data, q, g @ qd, g @ qdd, forces)]

    def of_forward(its: Any, data: Any, q: np.ndarray, *given: Any) -> list[np.ndarray]:
        qd, _, forces = given
        qdd, m = forward(its, data, q, *given), matrix(its, data, q)
        return [-np.linalg.solve(m, x) for x in derivatives(its, data, q, qd, qdd, forces)]

    def given_minv(its: Any, data: Any, q: np.ndarray, *given: Any) -> list[np.ndarray]:
        qd, qdd, minv, forces = given
        return [-minv @ x for x in derivatives(its, data, q, qd, qdd, forces)]

    evaluated: dict[str, Callable[..., Any]] = {
        "ID": lambda its, data, q, qd, qdd, forces: [
            g.T @ pinocchio.rnea(its, data, q, g @ qd, g @ qdd, forces)
        ],
        "FD": lambda *given: [forward(*given)],
        "M": lambda *given: [matrix(*given[:3])],
        "Minv": lambda *given: [np.linalg.inv(matrix(*given[:3]))],
        "dID": derivatives,
        "dFD": of_forward,
        "diFD": given_minv,
    }
    return evaluated[function]


class _Loops:
    """Constrained dynamics by projection, of what Pinocchio says of joints and points.

    The rows are those that the robot keeps; accelerations and Jacobians those of the loops' ends.
    """

    def __init__(self, robot: Robot, model: pinocchio.Model, frames: "_Frames") -> None:
        self.robot, self.model, self.data = robot, model, model.createData()
        self.ends = []
        for loop in robot.loops:
            pairs = []
            for k, turn, offset in zip(loop.links, loop.rotations, loop.offsets, strict=True):
                place, joint = pinocchio.SE3(turn, offset), 0
                if k == FIXED_BASE:  # the ground that links hang on, in that of the file
                    place = pinocchio.SE3(robot.ground.T, np.zeros(3)) * place
                else:
                    place, joint = frames.own[k] * place, frames.joints[k]
                pairs.append((joint, place))
            self.ends.append(pairs)

    def evaluate(self, function: str, q: np.ndarray, *given: Any) -> np.ndarray:
        """FDc or IDc, shape (nv,)."""
        qd, third, forces = given
        g = self.robot.coupling
        jacobian, bias = self._rows(q, g @ qd)
        jacobian, n = jacobian @ g, len(qd)
        resistance, _ = _resistance(self.robot, qd)
        third = third - resistance if function == "FDc" else third
        if function == "FDc":
            c = pinocchio.rnea(self.model, self.data, q, g @ qd, np.zeros(len(g)), forces)
            m = g.T @ _mass_matrix(self.model, self.data, q) @ g
            whole = np.block([[m, -jacobian.T], [jacobian, np.zeros((len(bias), len(bias)))]])
            return np.linalg.solve(whole, np.concatenate((third - g.T @ c, -bias)))[:n]
        tau = g.T @ pinocchio.rnea(self.model, self.data, q, g @ qd, g @ third, forces)
        tau += resistance
        own = driven(self.robot)
        found = np.zeros(n)
        found[own] = np.linalg.solve(np.hstack((np.eye(n)[:, own], jacobian.T)), tau)[: len(own)]
        return found

    def _rows(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J and J' qd of the rows that are kept; damping and stiffness of the loops not."""
        data, jacobians, biases = self.data, [], []
        pinocchio.forwardKinematics(self.model, data, q, qd, np.zeros(self.model.nv))
        pinocchio.computeJointJacobians(self.model, data, q)
        for loop, ends in zip(self.robot.loops, self.ends, strict=True):
            j, a, w = np.zeros((6, self.model.nv)), np.zeros(6), []
            for sign, (joint, place) in zip((1.0, -1.0), ends, strict=True):
                v, acceleration = place.actInv(data.v[joint]), place.actInv(data.a[joint])
                turn = (data.oMi[joint] * place).rotation if joint else place.rotation
                classical = acceleration.linear + np.cross(v.angular, v.linear)
                a += sign * np.concatenate((turn @ classical, turn @ acceleration.angular))
                w.append(turn @ v.angular)
                if joint:
                    local = pinocchio.getJointJacobian(
                        self.model, data, joint, pinocchio.ReferenceFrame.LOCAL
                    )
                    j += sign * np.kron(np.eye(2), turn) @ place.actionInverse @ local
            first, k = ends[0], loop.links[0]
            own = self.robot.links[k].frame_rotation.T  # from the link's axes to URDF's
            if _is_of_links(self.robot):
                own = np.eye(3)
            axes = data.oMi[first[0]].rotation @ own
            turns = (data.oMi[first[0]] * first[1]).rotation if loop.kind == HINGE else axes
            both = np.block([[axes.T, np.zeros((3, 3))], [np.zeros((3, 3)), turns.T]])
            bias = both @ a
            bias[3:] += np.array([np.cross(w[0], axis) @ (w[0] - w[1]) for axis in turns.T])
            jacobians.append((both @ j)[list(loop.rows)])
            biases.append(bias[list(loop.rows)])
        return np.concatenate(jacobians), np.concatenate(biases)


class _Frames:
    """What Pinocchio says of links where they stand.

    The frames of a URDF's links are those that Pinocchio has read; those of other files' links
    stand in the joints' frames as the robot says.
    """

    def __init__(self, robot: Robot, model: pinocchio.Model) -> None:
        self.model, self.coupling = model, robot.coupling
        moving = [k for k, x in enumerate(robot.links) if not x.by_quaternion or x.has_body]
        self.joints = {k: 1 + moving.index(k) for k in robot.bodies}  # link -> Pinocchio's joint
        self.own, self.asked = {k: pinocchio.SE3.Identity() for k in robot.bodies}, []
        if _is_of_links(robot):
            links = {k: robot.links[k] for k in robot.bodies}
            self.own = {
                k: pinocchio.SE3(x.frame_rotation, x.frame_offset) for k, x in links.items()
            }
        for k in [robot.frame.carrier] if robot.frame else robot.bodies:
            place = self.own[k]
            if robot.frame:
                place = place * pinocchio.SE3(robot.frame.rotation, robot.frame.offset)
            kind = pinocchio.FrameType.OP_FRAME
            frame = pinocchio.Frame(f"asked {k}", self.joints[k], place, kind)
            self.asked.append(model.addFrame(frame, False))
        self.data = model.createData()

    def placements(self, q: np.ndarray) -> list[np.ndarray]:
        pinocchio.framesForwardKinematics(self.model, self.data, q)
        found = [self.data.oMf[k] for k in self.asked]
        return [np.array([x.translation for x in found]), np.array([x.rotation for x in found])]

    def jacobian(self, q: np.ndarray, axes: pinocchio.ReferenceFrame) -> list[np.ndarray]:
        (frame,) = self.asked
        return [
            pinocchio.computeFrameJacobian(self.model, self.data, q, frame, axes) @ self.coupling
        ]

    def energies(self, q: np.ndarray, qd: np.ndarray) -> list[float]:
        """Kinetic and potential.

        Pinocchio 4.1's own kinetic energy leaves out the armature of some joints, which its M has
        (findings/pinocchio_kinetic_energy_leaves_out_armature.sh): so it is asked without any.
        """
        bare, qd = pinocchio.Model(self.model), self.coupling @ qd
        bare.armature = np.zeros(bare.nv)
        drives = self.model.armature @ qd**2 / 2
        return [
            pinocchio.computeKineticEnergy(bare, self.data, q, qd) + drives,
            pinocchio.computePotentialEnergy(self.model, self.data, q),
        ]

    def centre_of_mass(self, q: np.ndarray) -> list[np.ndarray]:
        jacobian = pinocchio.jacobianCenterOfMass(self.model, self.data, q).copy()
        return [pinocchio.centerOfMass(self.model, self.data, q).copy(), jacobian @ self.coupling]

    def regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[np.ndarray]:
        """Y; parameters of links are about their own frames, not those of joints."""
        rates = self.coupling @ qd, self.coupling @ qdd
        found = pinocchio.computeJointTorqueRegressor(self.model, self.data, q, *rates)
        blocks = (self.coupling.T @ found).reshape(self.coupling.shape[1], -1, 10)
        own = [blocks[:, self.joints[k] - 1] @ _moved(x) for k, x in self.own.items()]
        return [np.stack(own, axis=1)]


def _moved(place: pinocchio.SE3) -> np.ndarray:
    """The matrix from ten parameters in a frame to those in the frame that it is placed in."""
    point = np.eye(10)[0]  # Pinocchio divides by a mass

    def there(x: np.ndarray) -> np.ndarray:
        return place.act(pinocchio.Inertia.FromDynamicParameters(x)).toDynamicParameters()

    first = there(point)
    return np.column_stack([first, *(there(point + x) - first for x in np.eye(10)[1:])])


_Axes = pinocchio.ReferenceFrame
#: The same of the functions of links as they are.
_FURTHER: dict[str, Callable[..., Any]] = {
    "FK": _Frames.placements,
    "J": lambda its, q: its.jacobian(q, _Axes.LOCAL_WORLD_ALIGNED),
    "Jbody": lambda its, q: its.jacobian(q, _Axes.LOCAL),
    "energy": _Frames.energies,
    "com": _Frames.centre_of_mass,
    "Y": _Frames.regressor,
}

#: Function -> its results, as a sequence of arrays.
_EVALUATE: dict[str, Callable[..., Any]] = {
    "ID": lambda *given: [pinocchio.rnea(*given)],
    "FD": lambda *given: [pinocchio.aba(*given)],
    "M": lambda *given: [_mass_matrix(*given[:3])],
    "Minv": lambda *given: [np.linalg.inv(_mass_matrix(*given[:3]))],
    "dID": _derivatives,
    "dFD": _forward_derivatives,
    "diFD": _forward_derivatives_given,
}
