"""Robots from MJCF files, through MuJoCo itself: what is read is what the library compiles.

So defaults, includes, frames, the compiler's angles and inertias of shapes are the library's work.
It reads whatever files a model names, as those of meshes; shapes, skins and pictures that no
inertia comes from are deleted before it does.

Coordinates are the file's: joints in MuJoCo's order, which is the file's, an angle or a way is
``ref`` where the bodies stand as they are written. A free joint that carries all that moves is a
floating base, whose numbers are in the order of all robots here: quaternion (x, y, z, w) and
velocities in the base's frame, linear first, where MuJoCo has (w, x, y, z) and linear velocities in
the world's. So are those of ball joints, and of free joints beside others.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np

from pymodel.arith.errors import InputError, require_path
from pymodel.mechanism.loop import POINTS, WELD, Loop
from pymodel.mechanism.loops_file import placed
from pymodel.mechanism.moments import ROUNDING
from pymodel.mechanism.robot import (
    BALL,
    FIXED_BASE,
    FLOATING,
    FREE,
    PRISMATIC,
    REVOLUTE,
    FixedLink,
    Robot,
    moved,
    one_line,
    shown,
)
from pymodel.mechanism.robot_bodies import (
    DUST,
    LARGEST,
    ROOT_JOINT,
    Body,
    Followed,
    RobotError,
    armatures,
    chain,
    checked,
    fault,
    frame_along,
    ground_under,
    links_of,
    mimic_note,
    mimics_of,
    require_snap,
    required_gravity,
    snapped_placements,
    unapplied,
)
from pymodel.mechanism.robot_loops import with_loops
from pymodel.mechanism.rotations import about_axis, from_quaternion

UNREAD = "leave these out, --no-mimic or mimic=False"
EXTRA = "pip install 'hdca-accelerator[mjcf]'"
SUFFIX = ".xml"  # MuJoCo takes a file's format from its name
ALWAYS = 1  # of MuJoCo's mjtInertiaFromGeom: inertias of a file are not looked at
WORLD = 0  # MuJoCo's index of the ground
UP = np.array((0.0, 0.0, 1.0))

#: Elements that bear on no dynamics but may name files, or shapes that are deleted.
NEEDLESS = ("skins", "pairs", "excludes", "sensors", "keys", "textures", "hfields")


def load(
    path: str | os.PathLike[str],
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    snap: float = 0.0,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
) -> Robot:
    """Read a robot.

    Parameters
    ----------
    path
        MJCF file.
    floating
        The base must float. The file says whether it does, by a free joint on the world that
        carries all that moves.
    damping
        Whether the joint damping of the file acts, with that of actuators on single joints.
    armature
        Inertia of the drives, seen at the joints, kg m^2 or kg: one value for all joints, or by
        joint's name, in place of the file's. The file's is taken where none is given, with that of
        actuators on single joints.
    snap
        As of :func:`pymodel.mechanism.urdf.load`.
    gravity
        Its acceleration in the world's axes, shape (3,), m/s^2. None: the file's.
    mimic
        Whether joints follow what the file's active ``<equality><joint>`` say, exactly, where
        MuJoCo has a spring and a damper; otherwise these are not read.

    Raises
    ------
    RobotError
        If MuJoCo is not installed, cannot read the file or compile the model; if no joint moves;
        for flexible parts, armature of a free joint, damping that is not linear or of a free joint
        if it is asked for; for inertias as by :func:`pymodel.mechanism.urdf.load`.
    InputError
        If the path is none; if armature is negative, no number, or of no joint; if snap is no
        number of 0 to 0.01; if the base is to float and the file has no free joint; if gravity is
        no three numbers.
    """
    require_path("path", path)
    require_snap(snap)
    source = os.fspath(path)
    file = compiled(source)
    model = file.model
    _check_numbers(file)
    _check_joints(file, damping)
    falling = _gravity(file) if gravity is None else required_gravity(gravity)
    ground = ground_under(falling)
    bodies, fixed = _lumped(file, ground)
    if not bodies:
        raise RobotError(source, "", "no joint moves")
    if floating and bodies[0].kind != FREE:
        reason = "its base is fixed: write <freejoint/> into its body"
        if any(_is_free(file, j) for j in range(model.njnt)):
            reason = "no base carries all that moves: other joints stand on the ground as well"
        raise InputError(f"{source}: floating: {reason}")
    snapped = tuple(snapped_placements(bodies, float(snap)))
    moving = [body for body in bodies if body.kind != FREE]
    given = armatures(source, armature, bodies)
    dofs = range(6 * (bodies[0].kind == FREE), model.nv)
    for body, dof in zip(moving, dofs, strict=True):
        own = float(model.dof_armature[dof]) + file.drives["armature"].get(dof, 0.0)
        if wrong := fault("armature", own):
            raise RobotError(source, f"joint {body.joint}", wrong)
        body.armature = given.get(body.joint, own) if armature else own
        body.friction = float(model.dof_frictionloss[dof])
        if damping:
            body.damping = float(model.dof_damping[dof]) + file.drives["damping"].get(dof, 0.0)
    if bodies[0].kind == FREE:
        bodies[0].friction = float(model.dof_frictionloss[:6].max())
    links = links_of(bodies)
    followed, read = _followed(file) if mimic else ({}, [])
    mimics = mimics_of(source, bodies, followed, ())
    notes = [*file.notes, *([mimic_note(bodies, mimics)] if mimics else [])]
    odd = checked(source, links, mimics)
    robot = Robot(
        shown(file.name),
        tuple(links),
        gravity=math.hypot(*falling),
        source=source,
        fixed=fixed,
        snap=float(snap),
        ground=ground,
        mimics=mimics,
    )
    robot = replace(robot, actuated=_actuated(file, robot))
    opened = []
    loops, closing = _loops(file, robot)
    if loops:
        try:
            robot, told_of_loops = with_loops(robot, loops)
            notes, read = [*notes, *told_of_loops], [*read, *closing]
        except RobotError as error:  # as where constraints hold what is to move
            opened.append(f"loops stay open: {error.element}: {error.reason}")
    unread = tuple(_unread(file, read))
    left_out = (f"not read: {', '.join(unread)}",) if unread else ()
    friction = _named(file, model.dof_frictionloss != 0)
    free = [name for j, name in enumerate(file.joints) if _is_free(file, j)]
    damped = [name for name in _named(file, model.dof_damping != 0) if name not in free]
    told = (*snapped, *left_out, *opened, *unapplied(damped, friction, damping), *odd)
    lines = tuple(map(one_line, notes)), tuple(map(one_line, told))
    return replace(robot, notes=lines[0], warnings=lines[1])


@dataclass
class Compiled:
    """A compiled model, and what is known of it besides.

    Attributes
    ----------
    source, name : str
        File, and the model's name in it.
    model : mujoco.MjModel
    library : module
        ``mujoco``.
    collides : bool
        Whether shapes of the file may touch.
    plugins : int
        How many the file asks for.
    notes : list of str
        What MuJoCo warned of.
    bodies, joints : list of str
        Their names; what has none in the file gets one.
    drives : dict
        ``armature`` and ``damping``: degree of freedom -> what actuators add to it.
    """

    source: str
    name: str
    model: Any
    library: ModuleType
    collides: bool
    plugins: int
    notes: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    drives: dict[str, dict[int, float]] = field(default_factory=dict)


def _library(source: str) -> ModuleType:
    try:
        import mujoco
    except ModuleNotFoundError:
        raise RobotError(source, "", f"to read MJCF needs MuJoCo: {EXTRA}") from None
    library: ModuleType = mujoco
    return library


def compiled(source: str) -> Compiled:
    """Compile a file.

    Raises
    ------
    RobotError
        If MuJoCo is not installed, cannot read the file or compile the model; for flexible parts.
    """
    library = _library(source)
    if not source.lower().endswith(SUFFIX):
        raise RobotError(source, "", f"MJCF: its name must end with {SUFFIX}, for MuJoCo")
    with _warned(library) as notes:
        try:
            spec = library.MjSpec.from_file(source)
            flexible = [part.name for part in spec.flexes]
            collides = any(shape.contype or shape.conaffinity for shape in spec.geoms)
            plugins, name = len(spec.plugins), spec.modelname
            _without_needless(spec)
            model = spec.compile()
        except (ValueError, library.FatalError, library.UnexpectedError) as error:
            raise RobotError(source, "", _told(error)) from None
    if flexible:
        raise RobotError(source, f"flex {flexible[0]}", "flexible parts are no links: remove them")
    file = Compiled(source, name, model, library, collides, plugins, notes)
    file.bodies = _names(file, model.nbody, library.mjtObj.mjOBJ_BODY, "body")
    file.joints = _names(file, model.njnt, library.mjtObj.mjOBJ_JOINT, "joint")
    for j in range(model.njnt):
        if _is_free(file, j) and not _name(file, library.mjtObj.mjOBJ_JOINT, j):
            file.joints[j] = ROOT_JOINT
    for what in ("armature", "damping"):
        file.drives[what] = _of_drives(file, getattr(model, f"actuator_{what}", None))
    return file


@contextmanager
def _warned(library: ModuleType) -> Iterator[list[str]]:
    """What MuJoCo warns of meanwhile; it would print that, and write MUJOCO_LOG.TXT."""
    before: Any = library.get_mju_user_warning()
    found: list[str] = []
    library.set_mju_user_warning(lambda text: found.append(f"MuJoCo: {text}"))
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            yield found
    finally:
        library.set_mju_user_warning(before)
        found += [f"MuJoCo: {each.message}" for each in told]


def _told(error: Exception) -> str:
    """An error of MuJoCo in one line, without the words that begin it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = ", ".join(lines) or type(error).__name__
    for word in ("XML Error: ", "Error: ", "ParseXML: "):
        text = text.removeprefix(word)
    return f"MuJoCo: {text}"


def _without_needless(spec: Any) -> None:
    """Delete what names files and bears on no inertia."""
    always = int(spec.compiler.inertiafromgeom) == ALWAYS
    for shape in list(spec.geoms):
        body = shape.parent
        if body == spec.worldbody or (body.explicitinertial and not always):
            spec.delete(shape)
    for material in spec.materials:
        material.textures = ["" for _ in material.textures]
    for parts in NEEDLESS:
        for part in list(getattr(spec, parts)):
            spec.delete(part)
    used = {shape.meshname for shape in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)


def _name(file: Compiled, kind: Any, index: int) -> str:
    return file.library.mj_id2name(file.model, kind, index) or ""


def _names(file: Compiled, count: int, kind: Any, what: str) -> list[str]:
    """All names of a kind; what has none gets one of its index."""
    found = [_name(file, kind, index) for index in range(count)]
    for index, name in enumerate(found):
        if not name:
            new = f"{what}{index}"
            while new in found:
                new += "_"
            found[index] = new
    return found


def _of_drives(file: Compiled, values: np.ndarray | None) -> dict[int, float]:
    """What actuators on single joints add to a degree of freedom: seen through their gears."""
    found: dict[int, float] = {}
    if values is None:  # an older MuJoCo
        return found
    model, transmissions = file.model, file.library.mjtTrn
    on = int(transmissions.mjTRN_JOINT), int(transmissions.mjTRN_JOINTINPARENT)
    for index in np.flatnonzero(values if values.ndim == 1 else values[:, 0]):
        joint, kind = int(model.actuator_trnid[index, 0]), int(model.actuator_trntype[index])
        if kind in on and _type(file, joint) in _singles(file):
            dof, gear = int(model.jnt_dofadr[joint]), float(model.actuator_gear[index, 0])
            found[dof] = found.get(dof, 0.0) + gear**2 * float(np.ravel(values[index])[0])
    return found


def _is_free(file: Compiled, joint: int) -> bool:
    return _type(file, joint) == int(file.library.mjtJoint.mjJNT_FREE)


def _singles(file: Compiled) -> tuple[int, int]:
    """Types of joints of one degree of freedom."""
    types = file.library.mjtJoint
    return int(types.mjJNT_HINGE), int(types.mjJNT_SLIDE)


def _type(file: Compiled, joint: int) -> int:
    return int(file.model.jnt_type[joint])


def _named(file: Compiled, dofs: np.ndarray) -> list[str]:
    """Names of the joints that have some degrees of freedom."""
    joints = sorted({int(file.model.dof_jntid[dof]) for dof in np.flatnonzero(dofs)})
    return [file.joints[j] for j in joints]


def _check_numbers(file: Compiled) -> None:
    """Refuse numbers that are not finite, or of no robot: MuJoCo takes most of them."""
    model = file.model
    coordinates = [model.qpos0[adr : adr + 1] for adr in model.jnt_qposadr]
    bodies = model.body_pos, model.body_quat, model.body_ipos, model.body_iquat
    joints = model.jnt_pos, model.jnt_axis, coordinates
    for kind, names, arrays in (("body", file.bodies, bodies), ("joint", file.joints, joints)):
        for index, name in enumerate(names):
            if not all((np.abs(array[index]) <= LARGEST).all() for array in arrays):
                reason = f"its placement must be in numbers of at most {LARGEST:.0e} in size"
                raise RobotError(file.source, f"{kind} {name}", reason)
    if not (np.abs(model.opt.gravity) <= LARGEST).all():
        reason = f"gravity must be in numbers of at most {LARGEST:.0e} in size"
        raise RobotError(file.source, "option", reason)


def _check_joints(file: Compiled, damping: bool) -> None:
    """Refuse what drives and resists joints in ways that robots have not."""
    model, source = file.model, file.source
    for j, name in enumerate(file.joints):
        dof = int(model.jnt_dofadr[j])
        if _is_free(file, j) and model.dof_armature[dof : dof + 6].any():
            reason = "armature of a free joint: write <freejoint/>, or armature='0'"
            raise RobotError(source, f"joint {name}", reason)
    for dof in range(model.nv if damping else 0):
        joint = int(model.dof_jntid[dof])
        name = file.joints[joint]
        if wrong := fault("damping", float(model.dof_damping[dof])):
            raise RobotError(source, f"joint {name}", wrong)
        if _is_free(file, joint) and model.dof_damping[dof]:
            raise RobotError(source, f"joint {name}", "damping of a free joint is not applied")
        if _powers(model, "dof_dampingpoly")[dof].any():
            raise RobotError(source, f"joint {name}", "its damping must be linear")


def _powers(model: Any, name: str) -> np.ndarray:
    """Coefficients of higher powers, a row each; none of an older MuJoCo."""
    found = getattr(model, name, None)
    return np.zeros((max(model.nv, model.njnt), 1)) if found is None else np.asarray(found)


def _gravity(file: Compiled) -> np.ndarray:
    """The gravity of the file, shape (3,)."""
    option = file.model.opt
    off = option.disableflags & int(file.library.mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if off else np.array(option.gravity)


def _lumped(file: Compiled, ground: np.ndarray) -> tuple[list[Body], dict[str, FixedLink]]:
    """Links that move, in MuJoCo's order, each with what is fixed to it; the fixed ones by name.

    A body with several joints is a chain of links without inertia, the last one but all of it.
    """
    model = file.model
    bodies: list[Body] = []
    on_one = len({int(model.body_rootid[b]) for b in model.jnt_bodyid}) == 1
    fixed = {file.bodies[WORLD]: FixedLink(FIXED_BASE, np.eye(3), np.zeros(3))}
    # Body -> its carrier, and where its frame stands in that link's axes, from its joint.
    places = {WORLD: (FIXED_BASE, ground, np.zeros(3))}
    for b in range(1, model.nbody):
        carrier, turn, shift = places[int(model.body_parentid[b])]
        shift = shift + turn @ model.body_pos[b]
        turn = turn @ _rotation(model.body_quat[b])
        joints = range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b])
        anchor = np.zeros(3)
        for n, j in enumerate(joints):
            kind, axis, frame = BALL, UP, np.eye(3)
            if _is_free(file, j):
                kind = FREE if on_one else FLOATING
                turn, shift = np.eye(3) if on_one else ground, np.zeros(3)
            elif _type(file, j) in _singles(file):
                slides = _type(file, j) == int(file.library.mjtJoint.mjJNT_SLIDE)
                kind, axis = PRISMATIC if slides else REVOLUTE, model.jnt_axis[j]
                frame = frame_along(axis)
            first, anchor = anchor, model.jnt_pos[j].copy()
            shift = shift + turn @ (anchor - first)
            if kind in (PRISMATIC, REVOLUTE):
                back = -float(model.qpos0[model.jnt_qposadr[j]])  # to a coordinate of 0
                shift = shift + back * turn @ axis if kind == PRISMATIC else shift
                turn = turn @ about_axis(axis, np.asarray(back)) if kind == REVOLUTE else turn
            last = n == model.body_jntnum[b] - 1
            name = file.bodies[b] if last else f"{file.bodies[b]}:{file.joints[j]}"
            none = np.zeros((4, 4))
            body = Body(name, file.joints[j], kind, carrier, turn, shift, frame, none)
            body.wrenched = -anchor
            bodies += _parts(file, body, len(bodies)) if kind in (BALL, FLOATING) else [body]
            carrier, turn, shift = len(bodies) - 1, np.eye(3), np.zeros(3)
        shift = shift - turn @ anchor
        places[b] = carrier, turn, shift
        if carrier != FIXED_BASE:
            bodies[carrier].inertia += moved(_inertia(file, b), turn, shift)
        if not joints:
            on = bodies[carrier].wrenched if carrier != FIXED_BASE else np.zeros(3)
            fixed[file.bodies[b]] = FixedLink(carrier, turn, shift - on)
    return bodies, fixed


def _parts(file: Compiled, body: Body, index: int) -> list[Body]:
    """The links of a ball or floating joint."""
    try:
        return chain(body.kind, body, index, body.frame, file.joints)
    except ValueError as error:
        raise RobotError(file.source, f"joint {body.joint}", str(error)) from None


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion (w, x, y, z)."""
    found = from_quaternion(np.roll(quaternion, -1))
    return np.where(np.abs(found) < DUST, 0.0, found)


def _inertia(file: Compiled, body: int) -> np.ndarray:
    """Pseudo-inertia (4, 4) about the origin of a body's frame."""
    model = file.model
    mass, principal = float(model.body_mass[body]), model.body_inertia[body]
    if not (0 <= mass <= LARGEST and (principal >= 0).all() and (principal <= LARGEST).all()):
        reason = f"mass and moments of inertia must be numbers of 0 to {LARGEST:.0e}"
        raise RobotError(file.source, f"body {file.bodies[body]}", reason)
    found = np.zeros((4, 4))
    axes = _rotation(model.body_iquat[body])
    moments = axes @ np.diag(principal) @ axes.T
    moments = np.where(np.abs(moments) < ROUNDING * np.trace(moments), 0.0, moments)
    found[:3, :3] = np.trace(moments) / 2 * np.eye(3) - moments
    found[3, 3] = mass
    return moved(found, np.eye(3), model.body_ipos[body])


def _followed(file: Compiled) -> tuple[dict[str, Followed], list[int]]:
    """What joints follow by active constraints of the file, and the numbers of these."""
    model, found, read = file.model, {}, []
    for index in np.flatnonzero(model.eq_active0).tolist():
        if model.eq_type[index] != int(file.library.mjtEq.mjEQ_JOINT):
            continue
        element = f"equality joint {_equality(file, index)}"
        joint, other = (int(x[index]) for x in (model.eq_obj1id, model.eq_obj2id))
        name = file.joints[joint]
        constant, ratio, *powers = model.eq_data[index, :5].tolist()
        if any(powers) and other >= 0:
            reason = f"polycoef of an order above 1: write the first two numbers only, or {UNREAD}"
            raise RobotError(file.source, element, reason)
        if name in found:
            reason = f"joint {name} follows two others: remove one, or {UNREAD}"
            raise RobotError(file.source, element, reason)
        start = constant + float(model.qpos0[model.jnt_qposadr[joint]])
        if other < 0:
            found[name] = Followed(None, 0.0, start)
        else:
            start -= ratio * float(model.qpos0[model.jnt_qposadr[other]])
            found[name] = Followed(file.joints[other], ratio, start)
        read.append(index)
    return found, read


def _loops(file: Compiled, robot: Robot) -> tuple[list[Loop], list[int]]:
    """Loops of active connects and welds of the file, and the numbers of these."""
    model, found, read = file.model, [], []
    kinds = {int(file.library.mjtEq.mjEQ_CONNECT): POINTS, int(file.library.mjtEq.mjEQ_WELD): WELD}
    for index in np.flatnonzero(model.eq_active0).tolist():
        kind = kinds.get(int(model.eq_type[index]))
        if kind is None:
            continue
        data = np.array(model.eq_data[index])
        if kind == POINTS:
            places = [(np.eye(3), data[:3]), (np.eye(3), data[3:6])]
        else:
            places = [(_rotation(data[6:10]), data[3:6]), (np.eye(3), data[:3])]
        ids = [int(x[index]) for x in (model.eq_obj1id, model.eq_obj2id)]
        if int(model.eq_objtype[index]) == int(file.library.mjtObj.mjOBJ_SITE):
            places = [(_rotation(model.site_quat[k]), model.site_pos[k].copy()) for k in ids]
            ids = [int(model.site_bodyid[k]) for k in ids]
        ends = [placed(robot, file.bodies[k], *place) for k, place in zip(ids, places, strict=True)]
        links, rotations, offsets = zip(*ends, strict=True)
        name = _equality(file, index)
        found.append(Loop(name, kind, links, rotations, offsets))
        read.append(index)
    return found, read


def _actuated(file: Compiled, robot: Robot) -> tuple[int, ...] | None:
    """Links whose joints actuators drive, None without one."""
    model, transmissions = file.model, file.library.mjtTrn
    on = int(transmissions.mjTRN_JOINT), int(transmissions.mjTRN_JOINTINPARENT)
    names = {
        file.joints[int(model.actuator_trnid[k, 0])]
        for k in range(model.nu)
        if int(model.actuator_trntype[k]) in on
    }
    found = [k for k, x in enumerate(robot.links) if k >= robot.first and x.joint in names]
    return tuple(found) or None


def _equality(file: Compiled, index: int) -> str:
    """The name of a constraint, or its number."""
    return _name(file, file.library.mjtObj.mjOBJ_EQUALITY, index) or f"number {index}"


def _unread(file: Compiled, read: Sequence[int]) -> Iterator[str]:
    """What of the file acts in MuJoCo and not here; `read`: constraints that do."""
    model = file.model
    if file.collides:
        yield "contacts"
    if model.jnt_limited.any():
        yield "joint limits"
    stiff = (model.jnt_stiffness != 0) | _powers(model, "jnt_stiffnesspoly")[: model.njnt].any(1)
    if stiff.any():
        yield f"springs of joints ({', '.join(file.joints[j] for j in np.flatnonzero(stiff))})"
    objects = file.library.mjtObj
    left = [k for k in np.flatnonzero(model.eq_active0).tolist() if k not in read]
    if left:
        names = [_equality(file, index) for index in left]
        yield f"equality constraints ({', '.join(names)})"
    for count, what, kind in (
        (model.ntendon, "tendons", objects.mjOBJ_TENDON),
        (model.nu, "actuators", objects.mjOBJ_ACTUATOR),
    ):
        if count:
            names = [_name(file, kind, index) or f"number {index}" for index in range(count)]
            yield f"{what} ({', '.join(names)})"
    if model.body_gravcomp.any():
        names = [file.bodies[b] for b in np.flatnonzero(model.body_gravcomp)]
        yield f"gravity compensation of bodies ({', '.join(names)})"
    if model.opt.density or model.opt.viscosity:
        yield "forces of a fluid"
    if file.plugins:
        yield f"{file.plugins} plugins"
