"""Names and units of states of all kinds of joints."""

import re
from dataclasses import replace

import pytest

from pymodel.compile import graph, recording_limit, registry
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.compile.registry import (
    REGISTRY,
    record_function,
    split_state,
    state_names,
    t_cut_names,
)
from pymodel.compile.watched_step import watched_step
from pymodel.mechanism.scenario import FREE, PRISMATIC, REVOLUTE, SPHERICAL, Spring
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.units import coordinate_units, motions
from pymodel.tests.every_joint import every_joint
from pymodel.tests.places import SCENARIOS


def signature(name, scenario, **options):
    return REGISTRY[name].signature(scenario, **options)


def test_names_of_planar_pins():
    scenario = load(SCENARIOS / "four_bar.toml")
    numbered = range(len(scenario.bodies))
    assert state_names(scenario) == [f"{name}[{k}]" for name in "qp" for k in numbered]
    assert t_cut_names(scenario) == ["t_cut[0].x", "t_cut[0].y"]
    step = signature("step", scenario, rebasing=True)
    assert step.carried["q[2]"] == "rad" and step.carried["t_cut[0].y"] == "N s"
    assert step.outputs["qd[0]"] == "rad/s" and step.outputs["p_used[0]"] == "N m s"
    assert signature("rates", scenario).outputs["pd[0]"] == "N m"


def test_names_and_units_in_space():
    scenario = every_joint()
    assert (scenario.nq, scenario.nv) == (13, 11)
    names = state_names(scenario)
    assert names == [f"q[{k}]" for k in range(13)] + [f"p[{k}]" for k in range(11)]
    q, p = split_state(scenario, names)
    assert (q[-1], p[0], p[-1]) == ("q[12]", "p[0]", "p[10]")
    assert coordinate_units(scenario) == ["m"] * 3 + [""] * 4 + ["rad", "m"] + [""] * 4
    assert motions(scenario) == ["m"] * 3 + ["rad"] * 4 + ["m"] + ["rad"] * 3
    rates = signature("rates", scenario)
    assert (rates.outputs["qd[0]"], rates.outputs["qd[3]"]) == ("m/s", "rad/s")
    assert (rates.outputs["pd[0]"], rates.outputs["pd[3]"]) == ("N", "N m")
    assert (rates.inputs["p[0]"], rates.inputs["p[3]"]) == ("N s", "N m s")


def test_impulses_in_space():
    scenario = every_joint((REVOLUTE, SPHERICAL), loops=(SPHERICAL, REVOLUTE))
    names = [f"t_cut[0].{i}" for i in range(3)] + [f"t_cut[1].{i}" for i in range(5)]
    assert t_cut_names(scenario) == names
    carried = signature("step", scenario, rebasing=True).carried
    assert [carried[name] for name in names] == ["N s"] * 6 + ["N m s"] * 2


def test_constraints_that_follow_from_others_are_left_out():
    scenario = every_joint((REVOLUTE, REVOLUTE), loops=(REVOLUTE,))
    (hinge,) = scenario.loops
    scenario = replace(scenario, loops=(replace(hinge, kept=(0, 2, 4)),))
    assert [sum(held) for held in scenario.constraints[len(scenario.bodies) :]] == [3]
    carried = signature("step", scenario, rebasing=True).carried
    assert [carried[f"t_cut[0].{i}"] for i in range(3)] == ["N s", "N s", "N m s"]


def test_what_joints_hold():
    assert every_joint().constraints == [(0, 0), (3, 2), (2, 3), (3, 0), (3, 3)]
    scenario = load(SCENARIOS / "four_bar.toml")
    slider = replace(scenario.bodies[1], joint=PRISMATIC, axis=(1.0, 0.0))
    floating = replace(scenario.bodies[0], joint=FREE, q=(0.0,) * 3, qd=(0.0,) * 3)
    scenario = replace(scenario, bodies=(floating, slider, scenario.bodies[2]))
    assert scenario.constraints == [(0, 0), (1, 1), (2, 0), (2, 0)]
    assert coordinate_units(scenario) == ["m", "m", "rad", "m", "rad"]


def test_names_of_coordinates():
    scenario = every_joint((SPHERICAL, REVOLUTE))
    assert scenario.coordinate_names == [
        *(f"joint 0 quaternion {part}" for part in "xyzw"),
        "joint 1",
    ]
    planar = load(SCENARIOS / "andrews.toml")
    assert planar.coordinate_names == planar.joint_names


RECORDINGS = {
    "step": lambda scenario: record_function("step", scenario, shape="balanced").graph,
    "rates": lambda scenario: record_function("rates", scenario).graph,
    "watched": lambda scenario: watched_step(scenario, base="adjugate").kernel.graph,
}


@pytest.fixture
def long_chain(monkeypatch):
    """One whose recording is estimated, and told of; with springs between bodies far apart."""
    monkeypatch.setattr(recording_limit, "FEW", 9)
    monkeypatch.setattr(registry, "FIRST", (4, 8))
    monkeypatch.setattr(graph, "WATCHED", 500)
    scenario = load(SCENARIOS / "chain_8.toml")
    bodies = [replace(scenario.bodies[k % 8], parent=k - 1) for k in range(24)]
    springs = [
        Spring(body=b, to=a, point=(0.1, 0), at=(0, 0), stiffness=1.0) for a, b in ((1, 6), (2, 20))
    ]
    return replace(scenario, name="a\nchain", bodies=tuple(bodies), springs=tuple(springs))


@pytest.mark.parametrize("name", RECORDINGS)
def test_operations_of_many_bodies_are_estimated_told_and_limited(long_chain, monkeypatch, name):
    record, told = RECORDINGS[name], []
    with recording_limit.watched(lambda *now: told.append(now)):
        found = len(record(long_chain).nodes)
    (expected,) = {expected for done, expected in told if expected != done}
    assert expected == pytest.approx(found, rel=0.1)
    assert [done for done, _ in told] == list(range(500, found + 1, 500))
    monkeypatch.setattr(recording_limit, "MOST", expected - 1)
    said = "rates" if name == "rates" else "step"
    with pytest.raises(TooManyOperationsError) as caught:
        record(long_chain)
    reason = re.match(f"{said} of a chain: about (.*) operations, at ", str(caught.value))
    assert expected - 1 < float(reason[1]) < 1.1 * expected
    few = replace(long_chain, bodies=long_chain.bodies[:9], springs=())
    monkeypatch.setattr(recording_limit, "MOST", 1)  # few bodies are just recorded
    assert record(few).nodes


def test_what_an_estimate_is_below_is_limited_all_the_same(long_chain, monkeypatch):
    monkeypatch.setattr(registry, "extrapolated", lambda *_: 1000)
    monkeypatch.setattr(recording_limit, "MOST", 3000)
    with pytest.raises(
        TooManyOperationsError, match=r"more than 3.5e\+03 operations, at most 3e\+03"
    ):
        record_function("step", long_chain)
