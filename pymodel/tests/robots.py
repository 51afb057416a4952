"""Robots for the tests: the repository's, random ones, and their twins in Pinocchio."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio

from pymodel.mechanism.robot import Robot
from pymodel.runs import pinocchio_reference
from pymodel.tests.places import ROOT

ROBOTS = ROOT / "robots"
NAMES = ("atlas", "hyq", "iiwa14")  # of public robots, whose joints are all of one freedom

AXES = ("1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1", "0 0 2", "0 0.6 0.8", "1 2 -3")
ANGLES = (0, 0, 1.5708, -1.5708, 3.14159, 0.3, -1.1)
TYPES = ("revolute", "continuous", "prismatic", "fixed")


class State(NamedTuple):
    """Arguments of inverse dynamics."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    wrenches: np.ndarray


def random_state(robot: Robot, rng: np.random.Generator) -> State:
    """A state with a wrench on each link; quaternions are unit ones."""
    q = rng.uniform(-1, 1, robot.nq)
    for place in robot.quaternions:
        q[place] /= np.linalg.norm(q[place])
    wrenches = rng.uniform(-5, 5, (len(robot.links), 6))
    return State(q, *rng.uniform(-1, 1, (2, robot.nv)), wrenches)


def random_urdf(rng: np.random.Generator, links: int = 10) -> str:
    """A tree of mixed joints; names in no order, fixed joints and links without mass in between."""
    text = [f"<link name='link0'>{random_inertial(rng)}</link>"]
    for index, order in enumerate(rng.permutation(links - 1), start=1):
        kind = "revolute" if index == 1 else rng.choice(TYPES)
        inertial = "" if kind == "fixed" and rng.random() < 0.5 else random_inertial(rng)
        joint = (
            f"<joint name='joint{order}' type='{kind}'>{random_origin(rng)}"
            f"<parent link='link{rng.integers(index)}'/><child link='link{index}'/>"
            f"<axis xyz='{rng.choice(AXES)}'/>"
            "<limit lower='-3' upper='3' effort='1' velocity='1'/></joint>"
        )
        text += [f"<link name='link{index}'>{inertial}</link>", joint]
    return f"<robot name='random'>{''.join(rng.permutation(text))}</robot>"


def random_origin(rng: np.random.Generator) -> str:
    """A placement, with offsets that are often zero and angles that are often right."""
    offset = rng.uniform(-0.5, 0.5, 3).round(2) * rng.integers(0, 2, 3)
    angles = rng.choice(ANGLES, 3)
    return f"<origin xyz='{' '.join(map(str, offset))}' rpy='{' '.join(map(str, angles))}'/>"


def random_inertial(rng: np.random.Generator) -> str:
    """Mass and moments of inertia of a cloud of points."""
    points = rng.uniform(-0.2, 0.2, (5, 3))
    second = points.T @ points
    moments = np.trace(second) * np.eye(3) - second
    entries = (
        f"i{'xyz'[i]}{'xyz'[j]}='{float(moments[i, j])!r}'" for i in range(3) for j in range(i, 3)
    )
    mass = f"<mass value='{rng.uniform(0.5, 5)}'/>"
    return f"<inertial>{random_origin(rng)}{mass}<inertia {' '.join(entries)}/></inertial>"


def relative_error(found: Mapping, expected: Mapping) -> float:
    """Largest difference of two tables, relative to the largest entry; absolute to all zeros."""
    assert found.keys() == expected.keys()
    found, expected = (np.array([table[name] for name in found]) for table in (found, expected))
    return np.abs(found - expected).max() / (np.abs(expected).max() if found.any() else 1.0)


def pinocchio_inverse_dynamics(model: pinocchio.Model, state: State) -> np.ndarray:
    """Pinocchio's ``rnea``, shape (nv,)."""
    wrenches = pinocchio.StdVec_Force()
    wrenches.extend([pinocchio.Force.Zero(), *map(pinocchio.Force, state.wrenches)])
    q = pinocchio_reference.configuration(model, state.q)
    return pinocchio.rnea(model, model.createData(), q, state.qd, state.qdd, wrenches).copy()


#: A trunk on a leg with one hinge and a foot.
HOPPER = """<robot name="hopper">
<link name="trunk"><inertial><origin xyz="0.02 0.01 0.1"/><mass value="3"/>
<inertia ixx="0.05" ixy="0.002" ixz="-0.003" iyy="0.04" iyz="0.001" izz="0.03"/></inertial></link>
<link name="leg"><inertial><origin xyz="0.01 -0.02 -0.2"/><mass value="1"/>
<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="-0.001" izz="0.01"/></inertial></link>
<link name="foot"/>
<joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/>
<origin xyz="0.03 0 -0.05"/><axis xyz="0 1 0"/></joint>
<joint name="ankle" type="fixed"><parent link="leg"/><child link="foot"/>
<origin xyz="0 0.02 -0.4"/></joint></robot>
"""
