"""The Makefile as a user calls it: what it refuses, what it sets up, and Ctrl-C."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from pymodel.app.table import COMMANDS
from pymodel.hardware.on_bus import name_of
from pymodel.hardware.simulators import UNFINISHED
from pymodel.tests.processes import NEEDED, session_members
from scripts.dev import make_front as front
from scripts.kernel.places import BUILD, ROOT
from scripts.tests import outer_make

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
        (["run", PENDULUM, "LANES=3+3"], "LANES=3+3: only for TARGET=twin or engine"),
        (["run", PENDULUM, "TEST=x"], "TEST=x: make run takes SCENARIO TARGET OUT ARITH"),
        (["fourbar", "BASE=ldup"], "BASE=ldup: must be ldl or blocks"),
        (["fourbar", "TARGET=model"], "TARGET=model: make fourbar takes OUT ARITH STEPS"),
        (["fourbar", "ANIMATE=1"], "ANIMATE=1: make fourbar takes OUT ARITH STEPS"),
        (["fourbar", "FORCES=1"], "FORCES=1: make fourbar takes OUT ARITH STEPS"),
        (["robot", *IIWA, "LANES=2+2"], "LANES=2+2: only for TARGET=twin, engine or array"),
        (
            ["robot", *IIWA, "STEPS=3"],
            "STEPS=3: make robot takes URDF FUNCTION LINK TARGET OUT FLOATING SNAP GRAVITY",
        ),
        (["run", PENDULUM, "ROWS=3"], "ROWS=3: make run takes SCENARIO TARGET OUT ARITH"),
        (
            ["bench", "ONLY=all"],
            "ONLY=all: must be speed, step_engine, array, native, waiting or mpc",
        ),
        (["test", "SIM=icarus"], "SIM=icarus: make test takes CHANGED"),
        (["run", PENDULUM, "STEP=5"], "STEP=5: make run takes SCENARIO TARGET OUT ARITH"),
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
        (
            ["run", PENDULUM, "TARGET=model step"],
            "TARGET=model step: must be model, native, twin, ",
        ),
        (["formal", "UNITS=fp_add axil_slave", "FAST=1 0"], "FAST=1 0: must be 0 or 1"),
        (["run", "SCENARIO=it's $v.toml"], "it's $v.toml: cannot read: No such file"),
        (["setup", "SIM=vcs"], "SIM=vcs: must be icarus, verilator or all"),
        (["fp_add", "SEED=²"], "SEED=²: must be a whole number, 0 to 2147483647, or random"),
    ],
)
@pytest.mark.nightly(every=3)
def test_what_is_refused_is_one_line_and_status_2(make, words, said):
    done = make(*words)
    assert done.returncode == 2 and not done.stdout
    # Make adds a line of its own after a command that failed.
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make")]
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
@pytest.mark.nightly("vectors", "no items")
def test_a_part_without_an_item_is_red_without_a_traceback(make, words, said):
    done = make(*words, "SIM=icarus")
    assert done.returncode == 2 and said in done.stdout and "Traceback" not in done.stdout


def test_a_file_that_fails_is_one_line_whatever_the_command(make, tmp_path):
    """Of all that are run, not only of those that catch it themselves."""
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
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == "/dev/null/sim: Not a directory\n"


@pytest.fixture
def done(monkeypatch):
    """What a target does: parts that are set up, programs with their words, pytest, subcommands."""
    found = []

    def note(kind, status=0):
        return lambda *words: found.append((kind, *words)) or status

    monkeypatch.setattr(front, "set_up", note("set up"))
    monkeypatch.setattr(front, "program", note("program"))
    monkeypatch.setattr(front, "pytest", note("pytest"))
    monkeypatch.setattr(front, "remove", note("remove"))
    monkeypatch.setattr(front.subprocess, "run", lambda words, **_: found.append(("also", *words)))
    for command in COMMANDS:
        module, _, function = command.runs.partition(":")
        run = note("hdca")
        monkeypatch.setattr(f"{module}.{function}", lambda asked, run=run: run(asked) or 0)
    return found


def goal(monkeypatch, name, *words):
    """Run a target as the Makefile does."""
    given = dict(word.split("=", 1) for word in words)
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    return front.target_named(name).run(front.given_to(name, [name], list(given)))


def test_one_of_several_targets_has_a_use_for_the_variable(monkeypatch):
    monkeypatch.setenv("FAMILY", "xc7")
    assert front.given_to("synth", ["synth", "cost"], ["FAMILY"]) == {"FAMILY": "xc7"}
    assert front.given_to("cost", ["synth", "cost"], ["FAMILY"]) == {}
    with pytest.raises(front.RefusedError, match="FAMILY=xc7: make cost takes no variables"):
        front.given_to("cost", ["cost"], ["FAMILY"])


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (
            ("mutate", "UNITS=fp_add fp_mul", "SEED=1 2", "WORKERS=3"),
            "scripts.evidence.mutate.run --set-up=synth formal verilator --workers=3 fp_add fp_mul"
            " --seed 1 2",
        ),
        (("regress", "BENCHES=fp_add fp_mul"), "scripts.dev.regress.command fp_add fp_mul"),
        (("synth", "FAMILY=xc7"), "scripts.evidence.cost.synth --set-up=synth --family=xc7"),
        (("formal", "FAST=1", "PLANT=0"), "scripts.evidence.formal.command --set-up=formal --fast"),
        (("waves", "BENCH=fp_add", "FILE=-x"), "scripts.dev.waves.command --file=-x -- fp_add"),
        (("parameters", "COUNT=3"), "scripts.evidence.parameters.elaborate --count=3"),
        (("parameters",), "scripts.evidence.parameters.document"),
    ],
)
def test_what_a_target_hands_on(monkeypatch, done, words, ran):
    assert goal(monkeypatch, *words) == 0
    kind, module, arguments = done[-1]
    assert kind == "program" and " ".join([module, *arguments]) == ran


def test_a_bench_gets_all_that_is_asked_for(monkeypatch, done):
    words = ("SIM=icarus", "SEED=3", "TEST=corners", "CONFIG=half", "WAVES=1", "FIRST=1")
    goal(monkeypatch, "fp_add", *words, 'SETTINGS={"items": 3}')
    assert done == [
        ("set up", "icarus"),
        (
            "pytest",
            "tb/fp_add",
            "--sim=icarus",
            "--seed=3",
            "--config=half",
            "--waves",
            '--settings={"items": 3}',
            "--cocotb-test=corners",
            "--exitfirst",
        ),
    ]


def test_every_program_that_a_target_runs_is_there():
    """Also what `make help` says: no target without a text."""
    text = (ROOT / "scripts/dev/make_front.py").read_text()
    modules = set(re.findall(r'"((?:scripts|pymodel)\.[\w.]+)"', text))
    modules |= {f"scripts.evidence.{name}" for name in re.findall(r'\{_E\}([\w.]+)"', text)}
    assert len(modules) > 30
    for module in modules - {"scripts.evidence."}:
        assert importlib.util.find_spec(module), module
    assert all(target.text for target in front.TARGETS.values())


def test_the_makefile_is_a_table_of_nothing():
    assert (ROOT / "Makefile").stat().st_size <= 6000


def test_a_target_that_does_not_exist_is_named_rather_than_its_variables(make):
    assert "fp_ad: no such target" in make("fp_ad", "SIM=icarus").stderr


HOSTILE = ["a$(shell touch {0}).toml", "arm$v2.toml", 'it\'s "a b".toml', "`touch {0}`;x#y.toml"]


@pytest.mark.parametrize("name", HOSTILE, ids=["shell", "dollar", "quotes", "backticks"])
@pytest.mark.parametrize("by", ["file", "folder", "variable"])
@pytest.mark.nightly("variable-shell")
def test_what_stands_in_a_variable_is_data(make, environment, tmp_path, name, by):
    """It is neither expanded nor run, by make or a shell, from the bench's folder, too."""
    ran = tmp_path / "ran"
    name = name.format(os.path.relpath(ran, ROOT).replace("/", "/"))
    if by == "variable":
        done = subprocess.run(
            ["make", f"CONFIG={name}"],
            cwd=ROOT / "tb" / "fp_add",
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == 2 and f"CONFIG={name}: must be one of" in done.stderr
    else:
        base = name.rpartition("/")[2] if by == "file" else name.replace("/", "_")
        file = tmp_path / base if by == "file" else tmp_path / base / "x.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((ROOT / "scenarios/double_pendulum.toml").read_text())
        done = make("run", f"SCENARIO={file}", "STEPS=2", "REFERENCE=0", f"OUT={file.parent}/out")
        assert done.returncode == 0, done.stderr
        assert json.loads((file.parent / "out/summary.json").read_text())["steps"] == 2
    assert not ran.exists()


@pytest.mark.parametrize(
    ("bench", "sim", "config", "other"),
    [
        ("cosim_step", "icarus", "half", "verilator"),
        ("step_array", "verilator", "two-of-2-half", "icarus"),  # a file with other tests, too
    ],
)
@pytest.mark.nightly("cosim_step-icarus-half-verilator")
def test_a_simulator_that_does_not_run_the_configuration(make, bench, sim, config, other):
    done = make(bench, f"SIM={sim}", f"CONFIG={config}")
    assert done.returncode == 2
    assert f"SIM={sim}: must be {other} for CONFIG={config}" in done.stderr


@pytest.mark.parametrize(
    ("variables", "parts"),
    [
        ((), ("icarus", "verilator")),
        (("SIM=icarus",), ("icarus",)),
        (("SIM=verilator",), ("verilator",)),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        ("fp_add",),
        ("pendulum",),
        ("run", PENDULUM, "TARGET=step"),
        ("run", PENDULUM, "TARGET=coprocessor"),
        ("robot", *IIWA, "TARGET=array"),
        ("closed-loop", IIWA[0], "TARGET=engine"),
    ],
)
def test_only_the_simulator_that_runs_is_set_up(monkeypatch, done, words, variables, parts):
    assert not goal(monkeypatch, *words, *variables)
    assert done[0] == ("set up", *parts) and len(done) == 2


@pytest.mark.parametrize("target", ["model", "native", "twin"])
def test_the_others_need_no_simulator(monkeypatch, done, target):
    goal(monkeypatch, "run", PENDULUM, f"TARGET={target}")
    goal(monkeypatch, "robot", *IIWA, f"TARGET={target}")
    assert [kind for kind, *_ in done] == ["hdca", "hdca"]


@pytest.mark.parametrize("words", [(), ("CHANGED=1",)], ids=["all", "changed"])
def test_tools_that_are_installed_are_set_up_before_tests_run_them(monkeypatch, done, words):
    goal(monkeypatch, "test", *words)
    tools = [tool for tool in ("formal", "synth") if (ROOT / f".venv/.stamp-{tool}").exists()]
    kinds = [kind for kind, *_ in done if kind != "remove"]
    assert kinds == ["set up", *(["also"] if tools else []), "pytest"]
    assert ("--changed" in done[-1]) == bool(words)
    assert bool(words) != any(kind == "remove" for kind, *_ in done)


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
@pytest.mark.nightly("run")
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
@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_command_without_a_target_runs(make, tmp_path):
    done = make("mpc", "URDF=robots/gripper.urdf", "KNOTS=5", f"OUT={tmp_path}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "plan.csv").exists()
