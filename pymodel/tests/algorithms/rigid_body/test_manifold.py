"""Coordinates along displacements, against Pinocchio's ``integrate`` and ``dIntegrate``."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body import manifold
from pymodel.arith.scalars import Float64
from pymodel.arith.terms import Terms
from pymodel.mechanism import robot_file
from pymodel.tests.robots import ROBOTS

pinocchio = pytest.importorskip("pinocchio")


def by_ours(robot, q, way):
    """Configuration and derivatives, by the text in float64."""
    terms = Terms(Float64())
    given, along = ([terms.given(float(x)) for x in some] for some in (q, way))
    after = [terms.value(x) for x in manifold.moved(terms, robot, given, along)]
    found = []
    for entries in manifold.changes(terms, robot, along):
        found.append(np.zeros((len(way), len(way))))
        for place, x in entries.items():
            found[-1][place] = terms.value(x)
    return np.array(after), *found


@pytest.mark.parametrize(
    ("angle", "within"), [(0.0, 1e-15), (1e-5, 1e-14), (0.1, 1e-14), (0.5, 1e-14), (1.0, 5e-12)]
)
@pytest.mark.parametrize(("file", "size"), [("mobile_arm.urdf", 4), ("tethered.urdf", 7)])
def test_as_pinocchio_integrates(file, size, angle, within):
    """A ball joint, a floating one."""
    robot = robot_file.load(ROBOTS / file)
    rng = np.random.default_rng(9)
    groups = {4: pinocchio.liegroups.SO3(), 7: pinocchio.liegroups.SE3()}
    joints = manifold.joints(robot)
    assert [len(joint.coordinates) for joint in joints] == [size]
    q, way = rng.uniform(-1, 1, robot.nq), rng.uniform(-1, 1, robot.nv)
    for joint in joints:
        q[joint.coordinates[-4:]] /= np.linalg.norm(q[joint.coordinates[-4:]])
        way[joint.turns] *= angle / np.linalg.norm(way[joint.turns])
    after, by_q, by_way = by_ours(robot, q, way)
    for joint in joints:
        own, dofs, group = joint.coordinates, joint.dofs, groups[len(joint.coordinates)]
        given, block = (q[own], way[dofs]), np.ix_(dofs, dofs)
        np.testing.assert_allclose(after[own], group.integrate(*given), atol=within)
        np.testing.assert_allclose(by_q[block], group.dIntegrate_dq(*given), atol=within)
        np.testing.assert_allclose(by_way[block], group.dIntegrate_dv(*given), atol=within)
    others = set(range(robot.nq)).difference(*(joint.coordinates for joint in joints))
    adding = set(range(robot.nv)).difference(*(joint.dofs for joint in joints))
    np.testing.assert_array_equal(after[sorted(others)], q[sorted(others)] + way[sorted(adding)])
