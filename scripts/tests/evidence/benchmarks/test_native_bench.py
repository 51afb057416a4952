"""`make bench ONLY=native` without its timing: options, models of peers, goals, the document."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from pymodel.compile import native as native_code
from pymodel.mechanism.scenario_file import load
from pymodel.runs.lagrangian import Lagrangian
from scripts.evidence.benchmarks import bench, native, native_document, native_plot, native_work
from scripts.evidence.benchmarks.native_goals import casadi_call, goal, pinocchio_call
from scripts.evidence.benchmarks.peers import building
from scripts.evidence.benchmarks.peers.building import PeerError
from scripts.evidence.benchmarks.peers.mjcf import mjcf
from scripts.evidence.benchmarks.peers.states import accelerations, moving
from scripts.kernel.places import scenario_file

pytestmark = pytest.mark.rtl_of()

MACHINE = {
    "processor": "a processor",
    "compiler": "gcc 1",
    "pin": "4",
    "mujoco": "none",
    "casadi": "3",
}


def row(work, fmt, mode, ns, peer, peer_ns):
    return {
        "work": work,
        "format": fmt,
        "mode": mode,
        "ns_per_call": ns,
        "peer": peer,
        "peer_ns": peer_ns,
        "ratio": peer_ns / ns if peer else None,
        "identical": True,
        "systems": 1 if mode == "one" else 64,
        "ns_by_systems": {"1": ns} if mode == "one" else {"64": ns, "256": ns, "4096": 2 * ns},
    }


ROWS = [
    row("double_pendulum step", "float32", "one", 80.0, "Pinocchio aba", 400.0),
    row("double_pendulum step", "float32", "one", 80.0, "MuJoCo mj_step", 500.0),
    row("four_bar step", "float64", "one", 300.0, "Pinocchio constraintDynamics", 1200.0),
    row("iiwa14 ID", "float64", "one", 100.0, pinocchio_call("ID"), 200.0),
    row("iiwa14 dFD", "float64", "one", 400.0, pinocchio_call("dFD"), 800.0),
    row("iiwa14 dFD", "float32", "batch", 100.0, pinocchio_call("dFD"), 2000.0),
    row("atlas FD", "float32", "batch", 200.0, None, None),
    row("hyq FD", "float64", "one", 300.0, casadi_call("FD"), 500.0),
    row("hyq FD", "float32", "batch", 100.0, casadi_call("FD"), 500.0),
]


def test_an_unknown_part_is_refused(capsys):
    assert bench.main(["--only", "all"]) == 2
    said = capsys.readouterr().err
    assert said == "ONLY=all: must be speed, step_engine, array, native, waiting or mpc\n"


def test_goals():
    assert [goal(one) for one in ROWS] == [4, 1, 6, 1, None, 10, 15, 2, None]
    verdicts = [native.verdict(one) for one in ROWS]
    assert verdicts == [
        ">= 4: yes",
        ">= 1: yes",
        ">= 6: NO",
        ">= 1: yes",
        "–",
        ">= 10: yes",
        "–",
        ">= 2: NO",
        "–",
    ]


def test_the_table_and_the_picture(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    native.print_table(ROWS, MACHINE)
    said = capsys.readouterr().out
    assert "a processor" in said and "batch of 64" in said and "RTX 3080" in said
    native_plot.plot(ROWS, tmp_path / "native.png")
    assert (tmp_path / "native.png").stat().st_size > 10_000


def test_the_document(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(native, "NATIVE", native.NATIVE.parent / "none.json")
    assert native_document.main([]) == 2
    assert capsys.readouterr().err.endswith("run `make bench ONLY=native` first\n")
    text = native_document.document(json.loads(json.dumps(ROWS)), MACHINE)
    assert "4 of 6 goals are reached. Missed: four_bar step (float64 one, 4.0), hyq FD" in text
    assert "| iiwa14 dFD | float32 | 100.0 | 100.0 | 200.0 |" in text


@pytest.mark.parametrize(
    ("name", "bodies", "pins"), [("double_pendulum", 2, 0), ("four_bar", 3, 1)]
)
def test_mjcf(name, bodies, pins):
    root = ElementTree.fromstring(mjcf(load(scenario_file(name))))
    assert len(root.findall(".//worldbody//body")) == len(root.findall(".//joint")) == bodies
    assert len(root.findall(".//connect")) == pins
    assert len(root.find("keyframe/key").get("qpos").split()) == bodies


def test_mjcf_of_joint_forces_is_refused():
    with pytest.raises(ValueError, match="joint forces have no place"):
        mjcf(load(scenario_file("tree")))


def test_states_fit_the_loops():
    scenario = load(scenario_file("four_bar"))
    q, qd = moving(scenario, 3)
    gap, jacobian = Lagrangian(scenario).gaps(q)
    assert np.abs(gap).max() < 1e-14
    assert np.abs(jacobian @ qd[..., None]).max() < 1e-14
    assert np.isfinite(accelerations(scenario, q, qd)).all()


def test_a_peer_that_computes_something_else():
    right = np.array([[1.0, 2.0], [3.0, 4.0]])
    building.check("it", right * (1 + 1e-12), right, 1e-9)
    with pytest.raises(PeerError, match="it differs from the model by 0.5, more than 1e-09"):
        building.check("it", right * 1.5, right, 1e-9)
    with pytest.raises(PeerError, match="it differs"):
        building.check("it", right * np.nan, right, 1e-9)


def test_a_program_is_new_with_what_it_includes(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "OUT", tmp_path)
    source, beside = tmp_path / "x.c", tmp_path / "beside.h"
    source.write_text('#include "beside.h"\nint main(void) { return VALUE; }\n')
    beside.write_text("#define VALUE 0\n")
    first = building.compiled(source, "gcc", (), ["cffi"])
    assert building.compiled(source, "gcc", (), ["cffi"]) == first
    beside.write_text("#define VALUE 3\n")
    assert building.compiled(source, "gcc", (), ["cffi"]) != first


def test_without_compiler_or_package(tmp_path):
    with pytest.raises(PeerError, match="the package no-such-peer is missing"):
        building.compiled(tmp_path / "x.c", "gcc", (), ["no-such-peer"])
    with pytest.raises(PeerError, match="no compiler: no-such-cc is missing"):
        building.compiled(tmp_path / "x.c", "no-such-cc", (), [])


@pytest.mark.parametrize(
    "work", [native_work.Step("double_pendulum"), native_work.Call("hyq", "ID")]
)
def test_work_is_compared_and_timed(work):
    try:
        built = native_work.build(work, "float64", native_work.ONE)
    except native_code.NoCompilerError as error:
        pytest.skip(str(error))
    assert work.identical(built)
    assert work.ns(built, 1, 1e-4) > 0
