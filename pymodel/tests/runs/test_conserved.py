"""What is conserved is found, and nothing else; runs keep it to their truncation."""

import dataclasses

import numpy as np
import pytest

from pymodel.mechanism.scenario import GROUND, Loop, Spring
from pymodel.mechanism.scenario_file import load
from pymodel.runs import pictures, plots
from pymodel.runs.conserved import conserved
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS

MOMENTUM = "angular momentum about joint 0"
WORK = "energy less work of the motors"
FLOATING = {"gravity": (0.0, 0.0)}


def shipped(name, *, first=None, last=None, **changes):
    """A scenario without motors and dampers, and keys of its first and last bodies."""
    scenario = load(SCENARIOS / f"{name}.toml")
    plain = [dataclasses.replace(x, torque=0.0, damping=0.0) for x in scenario.bodies]
    head, *middle, tail = plain
    bodies = (
        dataclasses.replace(head, **(first or {})),
        *middle,
        dataclasses.replace(tail, **(last or {})),
    )
    return dataclasses.replace(scenario, bodies=bodies, **changes)


def spring(body, to, **keys):
    return (Spring(body, (0.1, 0.0), to, (0.3, 0.4), stiffness=5.0, **keys),)


FOUND = {
    "a pendulum": (shipped("double_pendulum"), ["energy"]),
    "a motor": (shipped("double_pendulum", last={"torque": 0.1}), [WORK]),
    "a damper": (shipped("double_pendulum", last={"damping": 0.1}), []),
    "without gravity": (shipped("double_pendulum", **FLOATING), ["energy", MOMENTUM]),
    "a damper inside": (shipped("double_pendulum", last={"damping": 0.1}, **FLOATING), [MOMENTUM]),
    "a motor inside": (shipped("tree", last={"torque": 0.1}, **FLOATING), [WORK, MOMENTUM]),
    "a motor on the ground": (shipped("tree", first={"torque": 0.1}, **FLOATING), [WORK]),
    "a spring on the ground": (shipped("tree", first={"spring": 0.1}, **FLOATING), ["energy"]),
    "a spring inside": (shipped("tree", springs=spring(3, 1), **FLOATING), ["energy", MOMENTUM]),
    "a spring to the ground": (shipped("tree", springs=spring(3, GROUND), **FLOATING), ["energy"]),
    "a damper between points": (shipped("tree", springs=spring(3, 1, damping=1.0)), []),
    "a loop to the ground": (shipped("four_bar", **FLOATING), ["energy"]),
    "two trees": (
        shipped("double_pendulum", last={"parent": GROUND}, **FLOATING),
        ["energy", MOMENTUM, "angular momentum about joint 1"],
    ),
    "two trees with a loop": (
        shipped(
            "double_pendulum",
            last={"parent": GROUND},
            loops=(Loop(0, (0.1, 0.0), 1, (0.1, 0.0)),),
            **FLOATING,
        ),
        ["energy"],
    ),
}


@pytest.mark.parametrize("what", FOUND)
def test_what_is_conserved(what):
    scenario, names = FOUND[what]
    assert [quantity.name for quantity in conserved(scenario)] == names


MOVING = {"step": 2e-3, "end": 0.4, "integrator": "rk4"}


@pytest.mark.nightly(every=3)
@pytest.mark.parametrize("what", ["a damper inside", "a motor inside", "a spring inside"])
def test_runs_keep_it(what):
    scenario, names = FOUND[what]
    bodies = [dataclasses.replace(body, qd=3.0 - k) for k, body in enumerate(scenario.bodies)]
    scenario = dataclasses.replace(scenario, bodies=tuple(bodies), **MOVING)
    run = simulate(scenario)
    energy = run.kinetic + run.potential
    assert np.ptp(run.q) > 1.0 and np.ptp(run.kinetic) > 1e-3
    if "energy" not in names:
        assert np.ptp(energy) > 1e-3  # it is not what is conserved
    for quantity in conserved(scenario):
        assert np.abs(quantity.change(run)).max() < 1e-7 * quantity.scale(run)


def test_angular_momentum_is_that_of_the_first_joint():
    scenario = dataclasses.replace(FOUND["two trees"][0], **MOVING)
    run = simulate(scenario)
    for k, quantity in enumerate(conserved(scenario)[1:]):
        np.testing.assert_allclose(quantity.values(run), run.p[:, k], rtol=0, atol=1e-12)


def test_one_panel_a_quantity_and_no_picture_without_any(tmp_path):
    scenario = dataclasses.replace(FOUND["without gravity"][0], end=1e-2)
    run = simulate(scenario)
    assert len(plots.plot(run, scenario, "conserved", twin=simulate(scenario)).axes) == 2
    damped = dataclasses.replace(FOUND["a damper"][0], end=1e-2)
    with pytest.raises(ValueError, match="kind 'conserved': needs a scenario that conserves its"):
        plots.plot(run, damped, "conserved")
    drawn = plots.plot_run(run, None, tmp_path, "damped", scenario=damped)
    assert [path.name for path in drawn] == list(pictures.FILES)
