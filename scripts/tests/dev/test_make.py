"""The Makefile as a user calls it: what it refuses, what it sets up, and Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from pymodel.hardware.on_bus import name_of
from pymodel.hardware.simulators import UNFINISHED
from scripts.kernel.places import BUILD, ROOT
from scripts.tests import outer_make
from scripts.tests.processes import NEEDED, session_members

pytestmark = pytest.mark.rtl_of()

PENDULUM = "SCENARIO=scenarios/double_pendulum.toml"
IIWA = ("URDF=robots/iiwa14.urdf", "FUNCTION=dFD")
CASE = ("SIM=icarus", "TEST=corners")
OF_STEP = pytest.mark.rtl_of("step_engine")
LIMIT_S = 300
CTRL_C_LIMIT_S = 60  # of a loaded machine; alone it takes a second


def set_to(bench, config, **settings):
    return [bench, f"CONFIG={config}", f"SETTINGS={json.dumps(settings)}"]


@pytest.fixture
def environment():
    return outer_make.environment()


@pytest.fixture
def make(environment):
    def run(*words):
        return subprocess.run(
            ["make", *words],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )

    return run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", PENDULUM, "STEPS=0"], "STEPS=0: must be a whole number, 1 to 4294967294"),
        (["run", PENDULUM, "LANES=3+3"], "LANES=3+3: only for TARGET=step"),
        (["run", PENDULUM, "TEST=x"], "TEST=x: make run takes SCENARIO TARGET SIM ARITH"),
        (["fourbar", "BASE=ldup"], "BASE=ldup: must be ldl or blocks for TARGET=step"),
        (["fourbar", "TARGET=model"], "TARGET=model: make fourbar takes SIM ARITH STEPS"),
        (["fourbar", "ANIMATE=1"], "ANIMATE=1: make fourbar takes SIM ARITH STEPS"),
        (["fourbar", "FORCES=1"], "FORCES=1: make fourbar takes SIM ARITH STEPS"),
        (["robot", *IIWA, "LANES=2+2"], "LANES=2+2: only for TARGET=step"),
        (
            ["robot", *IIWA, "STEPS=3"],
            "STEPS=3: make robot takes URDF FUNCTION FLOATING TARGET ROWS",
        ),
        (["run", PENDULUM, "ROWS=3"], "ROWS=3: make run takes SCENARIO TARGET SIM ARITH"),
        (["bench", "ONLY=all"], "ONLY=all: must be speed, step_engine, array or native"),
        (["test", "SIM=icarus"], "SIM=icarus: make test takes CHANGED"),
        (["run", PENDULUM, "STEP=5"], "STEP=5: make run takes SCENARIO TARGET SIM ARITH"),
        (["lint", "SIM=icarus"], "SIM=icarus: make lint takes no variables"),
        (["synth", "cost", "UNIT=x"], "UNIT=x: make synth cost takes UNITS FAMILY SEEDS"),
        (["run", PENDULUM, "REFERENCE=no"], "REFERENCE=no: must be 0 or 1"),
        (["robot", *IIWA, "FLOATING=yes"], "FLOATING=yes: must be 0 or 1"),
        (["run", "SCENARIO=no such.toml"], "no such.toml: "),
        (["fp_add", "LANES=2+2"], "LANES=2+2: make fp_add takes SIM SEED TEST CONFIG WAVES"),
        (["fp_add", "BENCHES=fp_mul"], "BENCHES=fp_mul: make fp_add takes SIM SEED TEST CONFIG"),
        (["regress", "TEST=x"], "TEST=x: make regress takes BENCHES SEEDS SEED HOURS SIM"),
        (["regress", "BENCHES=nope"], "BENCHES=nope: must be of cosim_array, "),
        (["parameters", "SEED=2"], "SEED=2: only with COUNT"),
        (["fp_add", "CONFIG=half", "SETTINGS={}x"], "SETTINGS={}x: must be JSON, as"),
        (
            ["fp_add", "CONFIG=half", 'SETTINGS={"runs": 3}'],
            "SETTINGS: no 'runs'; CONFIG=half has vectors, first, items, state",
        ),
        (
            ["fp_add", "CONFIG=half", 'SETTINGS={"items": 3, "first": 1, "items": 4}'],
            "SETTINGS: 'items' is given twice",
        ),
        (
            set_to("fp_add", "half", first=-1),
            "SETTINGS, first=-1: must be a whole number, at least 0",
        ),
        (
            set_to("fp_add", "half", items=0),
            "SETTINGS, items=0: must be a whole number, at least 1",
        ),
        (
            set_to("step_engine", "least-half", programs="a"),
            "SETTINGS, programs=a: must be a whole",
        ),
        (set_to("step_engine", "least-half", programs=2.5), "SETTINGS, programs=2.5: must be a wh"),
        (set_to("step_engine", "least-half", programs=0), "SETTINGS, programs=0: must be a whole"),
        (set_to("step_engine", "least-half", programs={"icarus": 3}), "SETTINGS, programs={'ica"),
        (set_to("cosim_driver", "short", steps=0), "SETTINGS, steps=0: must be a whole number, at"),
        (set_to("cosim_loop", "short", robot=1), "SETTINGS, robot=1: must be a text"),
        (set_to("cosim_step", "short", runs=1), "SETTINGS, runs=1: must be a list"),
        (set_to("cosim_array", "iiwa", stalls="a"), "SETTINGS, stalls=a: must be a number"),
        (set_to("cosim_array", "segments", quick=1), "SETTINGS, quick=1: must be true or false"),
        (["fp_add", "SIM=vcs"], "SIM=vcs: must be icarus, verilator or all"),
        (["fp_add", "CONFIG=nope"], "CONFIG=nope: must be one of binary32, half, "),
        (["fp_add", "TEST=nope"], "TEST=nope: must be one of corners, classes, many_operands"),
        (["fp_add", "SIM=icarus verilator"], "SIM=icarus verilator: must be icarus, verilator or"),
        (["fp_add", "CONFIG=half tb/fp_recip"], "CONFIG=half tb/fp_recip: must be one of binary32"),
        (["fp_add", "CONFIG=half --co"], "CONFIG=half --co: must be one of binary32, half, "),
        (["fp_add", "TEST=corners classes"], "TEST=corners classes: must be one of corners, "),
        (["fp_add", "SEED=1 2"], "SEED=1 2: must be a whole number, 0 to 2147483647, or random"),
        (["waves", "BENCH=fp_add x"], "there is no bench 'fp_add x'"),
        (
            ["waves", "BENCH=fp_add", "CONFIG=half x"],
            "CONFIG=half x: must be one of binary32, half",
        ),
        (["debug", "BENCH=fp_add", "CONFIG=half x", *CASE], "CONFIG=half x: must be one of binary"),
        (["debug", "BENCH=fp_add", "CONFIG=-x", *CASE], "CONFIG=-x: must be one of binary32, "),
        (["run", PENDULUM, "TARGET=model step"], "TARGET=model step: must be model, native, "),
        (["formal", "UNITS=fp_add axil_slave", "FAST=1 0"], "FAST=1 0: must be 0 or 1"),
        (["run", "SCENARIO=it's.toml"], "SCENARIO=it's.toml: must be without an apostrophe"),
        (["setup", "SIM=vcs"], "SIM=vcs: must be icarus, verilator or all"),
        (["fp_add", "SEED=²"], "SEED=²: must be a whole number, 0 to 2147483647, or random"),
    ],
)
def test_what_is_refused_is_one_line_and_status_2(make, words, said):
    done = make(*words)
    assert done.returncode == 2 and not done.stdout
    # Make adds a line of its own after a command that failed, pytest an empty one.
    lines = [line for line in done.stderr.splitlines() if line and "Error" not in line]
    assert len(lines) == 1 and said in lines[0]


@NEEDED
@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            (*set_to("fp_recip", "e5m2", first=10**5, items=1), "TEST=many_operands"),
            "many_operands: AssertionError: first=100000: no item is left",
            marks=pytest.mark.rtl_of("fp_add", "fp_mul", "fp_recip", "fp_sincos"),
            id="vectors",
        ),
        pytest.param(
            (*set_to("step_engine", "least-half", first=10**5), "TEST=random_programs"),
            "random_programs: AssertionError: first=100000: no item is left",
            marks=OF_STEP,
            id="items",
        ),
        pytest.param(
            (*set_to("step_engine", "least-half", first=5, items=1), "TEST=every_access"),
            "SETTINGS: first, items not used by every_access",
            marks=OF_STEP,
            id="no items",
        ),
        pytest.param(
            (*set_to("step_engine", "least-half", first=6), "TEST=random_programs"),
            "random_programs: AssertionError: random_programs: no transaction was checked",
            marks=OF_STEP,
            id="nothing checked",
        ),
    ],
)
def test_a_part_without_an_item_is_red_without_a_traceback(make, words, said):
    done = make(*words, "SIM=icarus")
    assert done.returncode == 2 and said in done.stdout and "Traceback" not in done.stdout


def test_a_file_that_fails_is_one_line_whatever_the_command():
    """Of all that have a `main`, not only of those that catch it themselves."""
    started = re.findall(r"[$][(]PY[)] -m (\S+)", (ROOT / "Makefile").read_text())
    assert set(started) == {"pytest", "scripts.kernel.start"}
    words = ("scripts.kernel.start", "scripts.dev.report.command", "--build", "/dev/null")
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "/dev/null/report: Not a directory\n"


ELSEWHERE = """
import sys
from pathlib import Path
import pytest
from pymodel.hardware import places
places.BUILD = Path("/dev/null")
sys.exit(pytest.main(["tb/fp_recip", "--sim=icarus", "--config=e5m2"]))
"""


def test_a_bench_refuses_a_folder_that_cannot_be_written():
    command = [sys.executable, "-c", ELSEWHERE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR and not done.stdout
    assert done.stderr.strip() == "ERROR: /dev/null/sim: Not a directory"


def test_one_of_several_targets_has_a_use_for_the_variable(make):
    assert "--family 'xc7'" in make("-n", "synth", "cost", "FAMILY=xc7").stdout


def test_what_is_a_list_stays_one(make):
    said = make("-n", "mutate", "UNITS=fp_add fp_mul", "SEED=1 2").stdout
    assert " fp_add fp_mul " in said and " --seed 1 2 " in said
    assert " fp_add fp_mul " in make("-n", "regress", "BENCHES=fp_add fp_mul").stdout


def test_a_target_that_does_not_exist_is_named_rather_than_its_variables(make):
    assert "No rule to make target 'fp_ad'" in make("fp_ad", "SIM=icarus").stderr


@pytest.mark.parametrize(
    ("bench", "sim", "config", "other"),
    [
        ("cosim_step", "icarus", "half", "verilator"),
        ("step_array", "verilator", "two-of-2-half", "icarus"),  # a file with other tests, too
    ],
)
def test_a_simulator_that_does_not_run_the_configuration(make, bench, sim, config, other):
    done = make(bench, f"SIM={sim}", f"CONFIG={config}")
    assert done.returncode == 2
    assert f"SIM={sim}: must be {other} for CONFIG={config}" in done.stderr


@pytest.mark.parametrize(
    ("variables", "parts"),
    [
        ((), "icarus verilator"),
        (("SIM=all",), "icarus verilator"),
        (("SIM=icarus",), "icarus"),
        (("SIM=verilator",), "verilator"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        ("fp_add",),
        ("pendulum",),
        ("run", PENDULUM, "TARGET=step"),
        ("robot", *IIWA, "TARGET=step"),
    ],
)
def test_only_the_simulator_that_runs_is_set_up(make, words, variables, parts):
    said = make("-n", *words, *variables).stdout.splitlines()
    assert f"scripts/dev/setup.sh {parts}" in said


def test_the_model_needs_no_simulator(make):
    said = make("-n", "run", PENDULUM).stdout + make("-n", "robot", *IIWA).stdout
    assert "icarus" not in said and "verilator" not in said


@pytest.mark.parametrize("words", [(), ("CHANGED=1",)], ids=["all", "changed"])
def test_tools_that_are_installed_are_set_up_before_tests_run_them(make, words):
    said = make("-n", "test", *words).stdout.splitlines()
    tools = [tool for tool in ("formal", "synth") if (ROOT / f".venv/.stamp-{tool}").exists()]
    line = f"scripts/dev/setup.sh {' '.join(tools)} || true"
    assert said.count(line) == bool(tools)
    assert not tools or said.index(line) < len(said) - 2  # two lines of pytest


@NEEDED
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(  # WAVES: a build folder that no other test uses
            ("fp_recip", "SIM=icarus", "WAVES=1"),
            marks=pytest.mark.rtl_of("fp_add", "fp_mul", "fp_recip", "fp_sincos"),
            id="fp_recip",
        ),
        pytest.param(("run", PENDULUM, "TARGET=step", "SIM=icarus"), marks=OF_STEP, id="run"),
        pytest.param(("robot", *IIWA, "TARGET=step", "SIM=icarus"), marks=OF_STEP, id="robot"),
    ],
)
def test_ctrl_c_ends_everything(environment, tmp_path, words):
    out = tmp_path / "out"
    if words[0] in ("run", "robot"):
        words = (*words, f"OUT={out}")
    process = subprocess.Popen(
        ["make", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + LIMIT_S
    while "vvp" not in session_members(process.pid):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    try:
        said, _ = process.communicate(timeout=CTRL_C_LIMIT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGINT  # a shell's 130
    assert session_members(process.pid) == []
    assert said.count("ended by Ctrl-C") == 1 and "Traceback" not in said
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.rtl_of("step_engine")
def test_a_build_that_was_cut_short_is_built_again(make, tmp_path):
    """As if a power cut had left half of what Icarus compiles to."""
    words = ("run", PENDULUM, "TARGET=step", "SIM=icarus", "LANES=1+3", "STEPS=2")
    words += (f"OUT={tmp_path}",)
    assert make(*words).returncode == 0
    logs = (BUILD / "sim" / "cosim_step").glob("programs-icarus-*/sim.log")
    folder = max(logs, key=lambda log: log.stat().st_mtime).parent
    compiled = folder / f"{name_of('step_engine')}.vvp"
    compiled.write_text(compiled.read_text()[:1000])
    (folder / UNFINISHED).touch()
    done = make(*words)
    assert done.returncode == 0 and "bit-identical" in done.stdout
