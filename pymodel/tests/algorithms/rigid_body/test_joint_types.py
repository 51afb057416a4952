"""Joints of several degrees of freedom and helical ones, against Pinocchio's models of them."""

from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest

from pymodel.algorithms.rigid_body.functions import (
    FUNCTIONS,
    columns,
    evaluate,
    force_columns,
    inputs,
)
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact, Float64Arrays
from pymodel.compile.robot_kernels import chained, recorded
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import frame_turned_to
from pymodel.mechanism.rotations import from_angles
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.tests.robots import ROBOTS, relative_error

STATES = 100
SAME = 1e-12  # relative to the largest entry of all states
EXAMPLES = [ROBOTS / "mobile_arm.urdf", ROBOTS / "tethered.urdf"]
PITCH = "<screw_thread_pitch value='0.9'/>"  # m a turn
TYPES = {
    "planar": "<axis xyz='0 0 1'/>",
    "planar oblique": "<axis xyz='1 2 -3'/>",
    "planar down": "<axis xyz='0 0 -2'/>",
    "floating": "",
    "spherical": "",
    "cylindrical": "<axis xyz='1 2 3'/>",
    "universal": "",
    "screw": f"<axis xyz='1 2 3'/>{PITCH}",
}
JOINTS = {"a": "j0", "b": "j1", "c": "j2", "d": "j3"}  # of links
INERTIA = (0.05, 0.003, 0.002, 0.06, 0.001, 0.08)
COM = (0.1, 0.05, -0.07)


def link(name, mass):
    entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), INERTIA, strict=True)
    inertia = " ".join(f"{key}='{x}'" for key, x in entries)
    com = " ".join(map(str, COM))
    return (
        f"<link name='{name}'><inertial><origin xyz='{com}'/><mass value='{mass}'/>"
        f"<inertia {inertia}/></inertial></link>"
    )


def joint(name, kind, parent, child, more="<axis xyz='0 0.6 0.8'/>"):
    return (
        f"<joint name='{name}' type='{kind}'><origin xyz='0.2 -0.1 0.3' rpy='0.4 -0.3 0.7'/>"
        f"<parent link='{parent}'/><child link='{child}'/>{more}</joint>"
    )


def text_of(kind, place):
    """A chain of three bodies and a branch; the joint on the ground, or inside."""
    more = TYPES[kind]
    kinds = {"j0": ("revolute", "<axis xyz='0 0.6 0.8'/>"), "j1": ("continuous", "")}
    kinds["j0" if place == "ground" else "j1"] = (kind.split()[0], more)
    joints = (("j0", "world", "a"), ("j1", "a", "b"))
    return (
        "<robot name='r'><link name='world'/>"
        + "".join(link(name, mass) for name, mass in zip("abcd", (2, 1.5, 0.7, 0.9), strict=True))
        + "".join(joint(j, kinds[j][0], *ends, more=kinds[j][1]) for j, *ends in joints)
        + joint("j2", "revolute", "b", "c")
        + joint("j3", "prismatic", "b", "d")
        + "</robot>"
    )


def pinocchio_joints(kind, axis, pitch):
    """Pinocchio's models of a joint in the frame of its origin, whose child's axes are URDF's.

    Not its composite and universal ones: their derivatives are wrong (findings/).
    """
    x, y, z = frame_turned_to(axis).T
    slide, turn = pinocchio.JointModelPrismaticUnaligned, pinocchio.JointModelRevoluteUnaligned
    return {
        "revolute": lambda: [turn(z)],
        "continuous": lambda: [turn(z)],
        "prismatic": lambda: [slide(z)],
        "planar": lambda: [slide(x), slide(y), turn(z)],
        "cylindrical": lambda: [turn(z), slide(z)],
        "universal": lambda: [turn(e) for e in np.eye(3)[:2]],
        "screw": lambda: [pinocchio.JointModelHelicalUnaligned(z, pitch / (2 * np.pi))],
        "spherical": lambda: [pinocchio.JointModelSpherical()],
        "floating": lambda: [pinocchio.JointModelFreeFlyer()],
    }[kind]()


def pinocchio_model(text):
    """Pinocchio's model, from the file's own numbers; the joints' order is that of their names."""
    root, found = ElementTree.fromstring(text), pinocchio.Model()
    joints = {"world": 0}
    for element in sorted(root.findall("joint"), key=lambda element: element.get("name")):
        ends = {end: element.find(end).get("link") for end in ("parent", "child")}
        place = {key: np.array(x.split(), float) for key, x in element.find("origin").items()}
        axis, thread = element.find("axis"), element.find("screw_thread_pitch")
        axis = np.array([1.0, 0, 0] if axis is None else axis.get("xyz").split(), float)
        pitch = 0.0 if thread is None else float(thread.get("value"))
        placement = pinocchio.SE3(from_angles(place["rpy"]), place["xyz"])
        index = joints[ends["parent"]]
        chain = pinocchio_joints(element.get("type"), axis, pitch)
        for left, own in zip(reversed(range(len(chain))), chain, strict=True):
            name = element.get("name") + "+" * left  # the last one has the joint's
            index = found.addJoint(index, own, placement, name)
            placement = pinocchio.SE3.Identity()
        joints[ends["child"]] = index
        mass = float(root.find(f"link[@name='{ends['child']}']/inertial/mass").get("value"))
        xx, xy, xz, yy, yz, zz = INERTIA
        moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = pinocchio.Inertia(mass, np.array(COM), moments)
        found.appendBodyToJoint(index, body, pinocchio.SE3.Identity())
    found.gravity = pinocchio.Motion(np.array([0, 0, -9.81]), np.zeros(3))
    found.armature = np.zeros(found.nv)
    return found


def by_pinocchio(theirs, robot, function, table, pushed):
    """What a function gives by its own definition: a row a call."""
    data, rows = theirs.createData(), []
    for row in range(STATES):
        one = {name: np.array([x[row]]) for name, x in table.items()}
        given = [
            pinocchio_reference._array(robot, kind, one)[0] for kind in FUNCTIONS[function].takes
        ]
        forces = pinocchio.StdVec_Force()
        forces.extend([pinocchio.Force.Zero() for _ in range(theirs.njoints)])
        for index, name in pushed.items() if FUNCTIONS[function].forces else ():
            wrench = [one[column][0] for column in force_columns([index])]
            forces[theirs.getJointId(name)] = pinocchio.Force(np.array(wrench))
        given[0] = pinocchio_reference.configuration(theirs, given[0])
        evaluate = pinocchio_reference._EVALUATE[function]
        rows.append(np.concatenate([np.ravel(x) for x in evaluate(theirs, data, *given, forces)]))
    names = [name for kind in FUNCTIONS[function].gives for name in columns(robot, kind)]
    return dict(zip(names, np.transpose(rows), strict=True))


@pytest.mark.parametrize("place", ["ground", "inside"])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.nightly(every=3)
def test_functions_as_pinocchio(kind, place, tmp_path):
    """With a wrench on the body of the joint and on one that it carries."""
    path = tmp_path / "robot.urdf"
    path.write_text(text_of(kind, place))
    robot = urdf.load(path)
    theirs = pinocchio_model(path.read_text())
    assert (robot.nq, robot.nv, robot.warnings) == (theirs.nq, theirs.nv, ())
    small, rng = reduced(robot), np.random.default_rng(9)
    pushed = {k: JOINTS[x.name] for k, x in enumerate(robot.links) if x.name in "bd"}
    wrenches = {name: rng.uniform(-1, 1, STATES) for name in force_columns(pushed)}
    errors = {}
    for function, entry in FUNCTIONS.items():
        table = robot_calls.random_states(robot, function, STATES, seed=9)
        table |= wrenches if entry.forces else {}
        expected = by_pinocchio(theirs, robot, function, table, pushed)
        for method in entry.methods:
            kernel = recorded(small, function, method, tuple(pushed) if entry.forces else ())
            found = kernel.evaluate(Float64Arrays(), table)
            found = {name: np.broadcast_to(x, STATES) for name, x in found.items()}
            found = robot_calls.full_table(small, function, found, STATES)
            errors[function, method] = relative_error(found, expected)
    assert max(errors.values()) < SAME, errors


def test_the_links_are_pinocchios_joints(tmp_path):
    """What `hdca robot` compares with is the same model."""
    path = tmp_path / "robot.urdf"
    for kind in ("planar oblique", "floating", "spherical", "screw"):
        path.write_text(text_of(kind, "inside"))
        robot, theirs = urdf.load(path), pinocchio_model(path.read_text())
        table = robot_calls.random_states(robot, "dFD", 3, seed=2)
        found = pinocchio_reference.call(robot, "dFD", table)
        data = theirs.createData()
        q, qd, tau = (
            np.stack([table[f"{name}{k}"] for k in range(size)], axis=-1)
            for name, size in (("q", theirs.nq), ("qd", theirs.nv), ("tau", theirs.nv))
        )
        for row in range(3):
            pinocchio.computeABADerivatives(theirs, data, q[row], qd[row], tau[row])
            own = [
                [found[f"dqdd_dq{i}_{k}"][row] for k in range(theirs.nv)] for i in range(theirs.nv)
            ]
            assert np.abs(own - data.ddq_dq).max() < 1e-10 * np.abs(data.ddq_dq).max()


def test_with_a_screw_that_mimics_a_hinge(tmp_path):
    """Coordinates of all kinds, of which the mimic joint has none."""
    path = tmp_path / "robot.urdf"
    follows = "<mimic joint='j3' multiplier='-0.5' offset='0.2'/>"
    text = (
        "<robot name='r'><link name='world'/>"
        + "".join(link(name, 1 + k / 3) for k, name in enumerate("abcde"))
        + joint("j0", "planar", "world", "a")
        + joint("j1", "ball", "a", "b", "")
        + joint("j2", "screw", "b", "c", TYPES["screw"] + follows)
        + joint("j3", "revolute", "b", "d")
        + joint("j4", "floating", "d", "e", "")
        + "</robot>"
    )
    path.write_text(text)
    robot = urdf.load(path)
    assert (robot.nq, robot.nv) == (3 + 4 + 1 + 7, 3 + 3 + 1 + 6)
    for function in ("FD", "dID"):
        table = robot_calls.random_states(robot, function, STATES, seed=1)
        found = robot_calls.call(reduced(robot), function, table).table
        assert relative_error(found, pinocchio_reference.call(robot, function, table)) < SAME
    for leader in ("j0", "j1", "j1.rx"):
        path.write_text(text.replace("mimic joint='j3'", f"mimic joint='{leader}'"))
        said = f"joint {leader[:2]}: it has several coordinates, and is mimicked by joint j2"
        with pytest.raises(urdf.RobotError, match=said):
            urdf.load(path)
    path.write_text(text.replace("<child link='b'/>", f"<child link='b'/>{follows}"))
    with pytest.raises(urdf.RobotError, match="joint j1: it has several coordinates, and mimics"):
        urdf.load(path)


def test_planar_as_pinocchios_own(tmp_path):
    """About z, its velocity stands in the axes of the body, ours in those of the joint."""
    path = tmp_path / "robot.urdf"
    path.write_text(text_of("planar", "ground").replace("rpy='0.4 -0.3 0.7'", "rpy='0 0 0'"))
    robot, theirs = (
        urdf.load(path),
        pinocchio.buildModelFromXML(
            path.read_text().replace("</joint>", "<limit effort='1' velocity='1'/></joint>")
        ),
    )
    table = robot_calls.random_states(robot, "FD", 5, seed=3)
    found = robot_calls.call(robot, "FD", table).table
    for row in range(5):
        q, qd, tau = (
            np.array([table[f"{name}{k}"][row] for k in range(robot.nv)])
            for name in ("q", "qd", "tau")
        )
        turn = np.eye(robot.nv)
        cosine, sine = np.cos(q[2]), np.sin(q[2])
        turn[:2, :2] = [[cosine, -sine], [sine, cosine]]  # from theirs to ours
        angle = np.array([np.cos(q[3]), np.sin(q[3])])  # of the continuous joint
        position = np.concatenate((q[:2], [cosine, sine], angle, q[4:]))
        own = pinocchio.aba(theirs, theirs.createData(), position, turn.T @ qd, turn.T @ tau)
        x, y = (turn.T @ qd)[:2]
        own[:2] += qd[2] * np.array([-y, x])  # the axes of the body turn
        qdd = np.array([found[f"qdd{k}"][row] for k in range(robot.nv)])
        assert np.abs(turn @ own - qdd).max() < 1e-11 * np.abs(qdd).max()


def test_segments_as_pinocchio():
    """What the array runs of dFD."""
    robot = urdf.load(EXAMPLES[0])
    states = robot_calls.random_states(robot, "dFD", STATES, seed=9)
    expected = pinocchio_reference.call(robot, "dFD", states)
    (row,) = chained(reduced(robot)).evaluate(Float64Arrays(), states)
    found = {key: row.get(key, 0.0) + np.zeros(STATES) for key in expected}
    assert relative_error(found, expected) < SAME


@pytest.mark.nightly("mobile_arm-numbers", "mobile_arm-data", "tethered-numbers")
@pytest.mark.parametrize("as_data", [False, True], ids=["numbers", "data"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_text_and_kernel_agree_bit_for_bit(path, as_data):
    robot = reduced(urdf.load(path))
    for function in ("FD", "dFD"):
        rng = np.random.default_rng(7)
        state = {name: rng.uniform(-1, 1) for name in inputs(robot, function)}

        def on(arithmetic, state=state):
            return {name: arithmetic.const(x) for name, x in state.items()}

        direct, by_graph = BitExact(BINARY32), BitExact(BINARY32)
        found = evaluate(function, robot, direct, on(direct), parameters_as_data=as_data)
        kernel = recorded(robot, function, FUNCTIONS[function].methods[0], (), as_data)
        again = kernel.evaluate(by_graph, on(by_graph))
        assert {k: x.bits for k, x in found.items()} == {k: x.bits for k, x in again.items()}


@pytest.mark.parametrize("target", [robot_calls.NATIVE, robot_calls.TWIN])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.nightly("mobile_arm-native", "tethered-twin")
def test_targets_give_the_bits_of_the_model(path, target):
    robot = reduced(urdf.load(path))
    for function in ("ID", "dID"):
        table = robot_calls.random_states(robot, function, 2, seed=4)
        model = robot_calls.call(robot, function, table, "float32").table
        found = robot_calls.call(robot, function, table, "float32", target).table
        assert all(np.array_equal(found[name], x) for name, x in model.items())
