"""A robot under control: model, engine and Pinocchio take the same steps."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.control import closed_loop
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact, Float64
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.runs import pinocchio_reference
from pymodel.runs.closed_loop import as_floats, bent, prepare, simulate, warnings_of
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import ROBOTS

IIWA, HYQ = (urdf.load(ROBOTS / f"{name}.urdf") for name in ("iiwa14", "hyq"))
SNAPPED = urdf.load(ROBOTS / "iiwa14.urdf", snap=SNAP)  # it fits the smallest engine
SAME = 1e-12  # of float64 and Pinocchio: rad, rad/s; of torques relative to the largest


def motion(loop, arithmetic):
    return loop.table(list(as_floats(arithmetic, simulate(loop, arithmetic))))


def largest_difference(loop, name, one, other):
    columns = [f"{name}{k}" for k in range(loop.robot.nv)]
    return max(np.abs(one[column] - other[column]).max() for column in columns)


@pytest.mark.parametrize("robot", [IIWA, HYQ], ids=str)
def test_a_second_is_that_of_pinocchio(robot):
    loop = bent(robot)
    found, expected = motion(loop, Float64()), pinocchio_reference.closed_loop(loop)
    for name in ("q", "qd"):
        assert largest_difference(loop, name, found, expected) < SAME
    tau = max(np.abs(expected[f"tau{k}"]).max() for k in range(robot.nv))
    assert largest_difference(loop, "tau", found, expected) < SAME * tau


@pytest.mark.nightly
def test_float32_follows_float64():
    loop = bent(IIWA)
    found, exact = motion(loop, BitExact()), motion(loop, Float64())
    assert largest_difference(loop, "q", found, exact) < 1e-6
    assert largest_difference(loop, "qd", found, exact) < 1e-5


@pytest.mark.parametrize(
    ("fmt", "changed", "said"),
    [
        (BINARY32, {}, []),
        (BINARY32, {"steps": 0}, []),
        (BINARY32, {"target": bent(IIWA).start, "steps": 2}, []),
        (
            Format(6, 6),
            {"steps": 400},
            [r"rounding reaches 0\.\d+, more than 1% of .* 6/6"],
        ),
        (
            BINARY32,
            {"kp": -bent(IIWA).kp},
            [r"a joint ends \d.* from its target, at most 0.4"],
        ),
    ],
    ids=["settles", "no step", "stays", "too few digits", "pushed away"],
)
def test_warnings(fmt, changed, said):
    arithmetic, loop = BitExact(fmt), replace(bent(IIWA, steps=100), **changed)
    found = motion(loop, arithmetic)
    warnings = warnings_of(loop, found, motion(loop, Float64()), arithmetic.name)
    assert len(warnings) == len(said)
    for pattern, warning in zip(said, warnings, strict=True):
        assert re.search(f"iiwa14.urdf: warning: {pattern}", warning)


def test_it_settles_at_the_target():
    loop = bent(IIWA, steps=3000)
    found = motion(loop, Float64())
    end = [found[f"q{k}"][-1] for k in range(IIWA.nv)]
    assert np.abs(end - loop.target).max() < 1e-4 * np.abs(loop.start - loop.target).max()


def test_torques_are_those_of_inverse_dynamics():
    """Without Pinocchio: ID of the acceleration that a step has taken gives its torques."""
    loop = bent(IIWA, steps=50)
    rows = np.array(simulate(loop, Float64()))
    q, qd, tau = np.split(rows, 3, axis=1)
    qdd = np.diff(qd, axis=0) / loop.step
    again = RobotModel(IIWA).inverse_dynamics(q[:-1], qd[:-1], qdd)
    assert np.allclose(again, tau[:-1], rtol=0, atol=1e-9 * np.abs(tau).max())
    assert np.allclose(np.diff(q, axis=0), loop.step * qd[1:], rtol=0, atol=1e-15)


def test_the_controller_holds_the_robot_at_its_target():
    """At rest at the target the torques are the weight, and nothing moves."""
    loop = bent(IIWA, steps=5)
    loop = replace(loop, start=loop.target)
    rows = np.array(simulate(loop, Float64()))
    still = np.zeros(IIWA.nv)
    weight = RobotModel(IIWA).inverse_dynamics(loop.target, still, still)
    assert np.allclose(rows[:, 14:], weight, rtol=0, atol=1e-9)
    assert np.allclose(rows[:, :7], loop.target, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fmt", [Format(8, 23), Format(5, 10)], ids=str)
def test_the_kernel_is_the_text(fmt):
    loop, arithmetic = bent(IIWA, steps=3), BitExact(fmt)
    values = {
        name: arithmetic.const(x)
        for name, x in (loop.initial | loop.kernel.parameters).items()
        if name in loop.initial or name.startswith(("target", "kp", "kd", "step"))
    }
    for row in simulate(loop, arithmetic):
        found = closed_loop(reduced(IIWA), arithmetic, values)
        got = [*(values[name] for name in loop.initial), *(found[n] for n in loop.kernel.outputs)]
        assert [x.bits for x in got] == [x.bits for x in row]
        values |= {name: found[name] for name in loop.initial}


@pytest.mark.parametrize("lanes", [2, 4])
def test_the_engine_takes_the_steps_of_the_model(lanes):
    machine = Machine(adders=lanes, multipliers=lanes)
    loop = bent(SNAPPED, steps=20)
    rows, twin = prepare(machine, loop).on_twin()
    assert not twin.stopped
    assert rows == [[x.bits for x in row] for row in simulate(loop, BitExact())]


def test_other_gains_targets_and_gravity_leave_the_program():
    loop = bent(IIWA, steps=1)
    moon = replace(IIWA, gravity=1.62)
    other = replace(
        loop, robot=moon, target=loop.target / 2, kp=loop.kp / 2, kd=loop.kd / 3, step=5e-4
    )
    assert loop.kernel.graph.nodes == other.kernel.graph.nodes
    changed = {
        name for name, x in loop.kernel.parameters.items() if other.kernel.parameters[name] != x
    }
    assert {"gravity", "step", "target0", "kp3", "kd6"} <= changed


def test_cycles_of_a_step():
    assert prepare(Machine(), bent(SNAPPED)).program.main <= 314
    assert prepare(Machine(4, 4), bent(SNAPPED)).program.main <= 209


def test_a_floating_base_is_refused():
    robot = urdf.load(ROBOTS / "hyq.urdf", floating=True)
    with pytest.raises(InputError, match="needs a fixed base"):
        bent(robot)
    with pytest.raises(InputError, match="needs joints of angles and ways, head is ball"):
        bent(urdf.load(ROBOTS / "mobile_arm.urdf"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"start": np.zeros(3)}, r"start: shape \(3,\), must be \(7,\)"),
        ({"start": np.zeros(9)}, r"start: shape \(9,\), must be \(7,\)"),
        ({"target": 0.0}, r"target: shape \(\), must be \(7,\)"),
        ({"kp": np.zeros((7, 1))}, r"kp: shape \(7, 1\), must be \(7,\)"),
        ({"kd": np.full(7, np.nan)}, "kd: must be finite"),
        ({"kp": ["1"] * 7}, "kp: must be a number, or an array of numbers"),
        ({"step": None}, "step: must be positive and finite, got None"),
        ({"step": 0.0}, "step: must be positive and finite, got 0.0"),
        ({"step": float("inf")}, "step: must be positive and finite, got inf"),
        ({"steps": -2}, "steps: must be a whole number of 0 or more, got -2"),
        ({"steps": 1.5}, "steps: must be a whole number of 0 or more, got 1.5"),
    ],
)
def test_what_makes_no_loop_is_refused(changed, said):
    with pytest.raises(InputError, match=said):
        replace(bent(IIWA), **changed)
