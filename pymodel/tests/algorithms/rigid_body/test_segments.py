"""The columns of dFD that one segment does."""

from pymodel.algorithms.rigid_body.segments import Column, groups
from pymodel.compile.robot_kernels import recorded
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.tests.robots import ROBOTS


def groups_of(name: str, floating: bool = False) -> list:
    robot = reduced(load(ROBOTS / f"{name}.urdf", floating))
    return groups(robot, recorded(robot, "dID").outputs)


def test_limbs_that_are_alike_go_together():
    base, back, arms, neck, legs = groups_of("atlas", floating=True)
    shapes = [(len(x.columns), [len(b.dofs) for b in x.members]) for x in (back, arms, neck, legs)]
    assert shapes == [(6, [3]), (14, [7, 7]), (2, [1]), (12, [6, 6])]
    assert base.columns == tuple((Column("dqd", k),) for k in (3, 4, 5))  # the others are known
    assert [group.ahead for group in (base, back, arms, neck, legs)] == [
        False,
        False,
        True,
        False,
        True,
    ]
    assert {len(rows) for group in (base, back, arms, neck, legs) for rows in group.moved} == {36}
    (limbs,) = groups_of("hyq")
    assert limbs.moved == ((0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11))


def test_a_column_that_is_zero_by_structure_is_not_done():
    (arm,) = groups_of("iiwa14")
    assert len(arm.columns) == 13
    assert (Column("dq", 0),) not in arm.columns  # it turns about the vertical
