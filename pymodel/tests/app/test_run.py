"""What `hdca run` and the demos refuse, and how they say it; runs in hardware are benches'."""

import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from pymodel.algorithms.requests import CLOSED_BASES, RECORDED_BASES
from pymodel.app import demo, hardware_run, start, words
from pymodel.app.command import main, of_make
from pymodel.app.options import COPROCESSOR, ENGINE, SIMULATED, OptionParser, whole
from pymodel.app.table import BASES, NAMED
from pymodel.hardware import simulators
from pymodel.hardware.cosim import co_simulation
from pymodel.hardware.handover import Handover, print_progress, read_progress
from pymodel.mechanism.scenario import GROUND, Spring
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied, write_scenario
from pymodel.runs.joint_forces import read_forces
from pymodel.runs.simulate import simulate
from pymodel.runs.trajectory import read_csv
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

BAD_INPUT, DIFFERS = 2, 1


def attempt(tmp_path, name, *options):
    return main(["run", str(SCENARIOS / f"{name}.toml"), "--out", str(tmp_path / "out"), *options])


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("chain_8", ["--target", "coprocessor"], "the co-processors run open chains of two"),
        ("tree", ["--target", "coprocessor"], "the co-processors run open chains of two"),
        ("coupled_loops", ["--target", "coprocessor"], "the co-processors run open chains of two"),
        (
            "tree",
            ["--target", "engine", "--arith", "float64"],
            "--arith float64: not in hardware",
        ),
        (
            "tree",
            ["--target", "engine", "--arith", "11/52"],
            "--arith 11/52: wider than the 32-bit",
        ),
        ("tree", ["--target", "engine", "--arith", "9/20"], "--arith 9/20: sine and cosine end at"),
        (
            "double_pendulum",
            ["--target", "coprocessor", "--arith", "5/26"],
            "--arith 5/26: sine and cosine end at",
        ),
        (
            "driven_arm",
            ["--target", "coprocessor", "--arith", "4/2", "--steps", "20"],
            "time.end: 4/2 cannot count 20 steps",
        ),
        ("tree", ["--target", "engine", "--arith", "x"], "--arith x: must be float32, float64 or"),
        ("tree", ["--target", "engine", "--lanes", "2x2"], "--lanes 2x2: must be <adders>+<multip"),
        ("tree", ["--target", "engine", "--lanes", "0+1"], "--lanes 0+1: must be <adders>+<multip"),
        ("tree", ["--target", "engine", "--lanes", "30+30"], "--lanes 30+30: a program word of 2"),
        (
            "tree",
            ["--target", "engine", "--lanes", f"{10**30}+1"],
            "must be <adders>+<multipliers>, 1+1 to 255",
        ),
        (
            "tree",
            ["--target", "fpga"],
            "--target fpga: must be model, native, twin, coprocessor, engine or",
        ),
        ("tree", ["--steps", "0"], "--steps 0: must be a whole number, 1 to 4294967294"),
        ("tree", ["--steps", "-1"], "--steps -1: must be a whole number, 1 to"),
        ("tree", ["--steps", "9" * 300], f"--steps {'9' * 300}: must be a whole number, 1 to"),
        ("tree", ["--steps", "١"], "--steps ١: must be a whole number, 1 to"),
        ("tree", ["--arith", "٨/٢٣"], "--arith ٨/٢٣: must be float32, float64 or"),
        ("tree", ["--lanes", "2+2"], "--lanes 2+2: only for --target twin or engine"),
        ("tree", ["--seed", "2"], "--seed 2: only for --target coprocessor or engine"),
        ("tree", ["--sim", "icarus"], "--sim icarus: only for --target coprocessor or engine"),
        ("tree", ["--sim", "vcs"], "--sim vcs: must be auto, icarus or verilator"),
        ("tree", ["--waves"], "--waves: only for --target coprocessor or engine"),
        ("tree", ["--base", "qr"], "--base qr: must be ldl, blocks or ldup for --target model"),
        (
            "tree",
            ["--target", "engine", "--base", "ldup"],
            "--base ldup: must be ldl or blocks for",
        ),
        ("four_bar", ["--target", "coprocessor", "--base", "ldl"], "--base ldl: must be ldup for"),
        (
            "four_bar",
            ["--target", "coprocessor", "--lanes", "2+2"],
            "--lanes 2+2: only for --target",
        ),
        ("tree", ["--base", "blocks"], "--base blocks: only for a chain of bodies that is closed"),
        ("coupled_loops", ["--base", "ldl"], "--base ldl: only for a chain of bodies that is"),
        ("tree", ["--rebase", "3"], "--rebase 3: only for a mechanism with loops"),
        (
            "double_pendulum",
            ["--target", "coprocessor", "--base", "ldup"],
            "--base ldup: only for a chain of bodies",
        ),
        (
            "double_pendulum",
            ["--target", "engine", "--rebase", "1"],
            "--rebase 1: only for a mechanism with loops",
        ),
        ("four_bar", ["two", "words"], "unrecognized arguments: two words"),
        (
            "four_bar",
            ["--target", "engine", "--rebase", "-1"],
            "--rebase -1: must be a whole number, 0 to",
        ),
    ],
)
def test_what_cannot_run_is_one_line_and_status_2(tmp_path, capsys, name, options, said):
    assert attempt(tmp_path, name, *options) == BAD_INPUT
    out, err = capsys.readouterr()
    assert not out and said in err and len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("base", [None, "blocks", "ldup"])
@pytest.mark.nightly("blocks")
def test_the_model_takes_every_base_and_names_it(tmp_path, base):
    """The trajectory is that of the base, and the default is the step engine's."""
    options = ["--steps", "20", *(["--base", base] if base else [])]
    assert attempt(tmp_path, "four_bar", *options) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["base"] == (base or BASES[ENGINE][0])
    scenario = load(SCENARIOS / "four_bar.toml", steps=20)
    expected = simulate(scenario, "float32", base=base or "ldl")
    assert read_csv(tmp_path / "out" / "run.csv").q.tobytes() == expected.q.tobytes()


MOMENTS = (
    "pymodel.app.run.run_model",
    "pymodel.runs.plots.plot_run",
    "pymodel.runs.animation.animate",
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_leaves_no_files(tmp_path, capsys, monkeypatch, moment):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, interrupt)
    status = attempt(tmp_path, "double_pendulum", "--steps", "3", "--no-reference", "--animate")
    assert status == start.INTERRUPTED == 130
    assert capsys.readouterr().err == "ended by Ctrl-C; this run leaves no files\n"
    assert not list(tmp_path.rglob("*.csv")) and not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "options", [("--arith", "float64"), ("--base", "blocks"), ("--rebase", "2")]
)
def test_a_demo_that_cannot_run_stops_there(tmp_path, capsys, options):
    assert main(["demo", "pendulum", "--out", str(tmp_path / "out"), *options]) == BAD_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


COMPARED = {
    "in_hardware": "assembly",
    "cycles": 50,
    "cycles_computing": 10,
    "registers_traced": 0,
    "registers_moved": {"a": 5},
    "evaluations": 10,
    "float_units": {"add": 41, "mul": 54, "rec": 1},
    "identical_to_model": True,
    "identical_to_native": "yes",
    "kinetic_difference_max_J": 9.1e-3,
    "kinetic_difference_float64_max_J": 9e-3,
}


def test_the_comparison_of_a_demo():
    coprocessor = COMPARED
    step = coprocessor | {"float_units": {"add": 2, "sincos": 1}, "identical_to_model": False}
    both = coprocessor, step
    step["registers_traced"] = 60
    rows = {row[0]: row[1:] for row in demo.rows(*both)}
    assert rows["cycles per step, bus included"] == ("", "5.0", "5.0")
    assert rows["of which computing"] == ("", "1.0", "1.0")
    assert rows["of which tracing registers"] == ("", "0.0", "6.0")
    assert rows["float units"] == ("", "41 +, 54 ×, 1 1/x", "2 +, 1 sin cos")
    assert rows["identical to the model"] == ("", "yes", "NO")
    assert rows["identical to native code"] == ("", "yes", "yes")
    assert rows["max kinetic energy error [mJ]"] == ("9.000 (float64)", "9.100", "9.100")

    left_out = {"kinetic_difference_max_J": None, "kinetic_difference_float64_max_J": None}
    assert demo.rows(*(summary | left_out for summary in both))[-1][1:] == ("", "", "")

    console = Console(file=io.StringIO(), width=150)
    console.print(demo.comparison(*({"scenario": "[b]x[/i]", "steps": 9} | s for s in both)))
    shown = console.file.getvalue()
    assert "[b]x[/i]: 9 steps" in shown and "max kinetic energy error [mJ]" in shown


@pytest.mark.parametrize("target", [COPROCESSOR, ENGINE])
@pytest.mark.parametrize(
    ("native", "status"), [("yes", 0), ("no C compiler", 0), ("NO", demo.DIFFERS)]
)
def test_a_demo_that_is_not_native_code_is_status_1(
    tmp_path, capsys, monkeypatch, native, status, target
):
    """Whichever of its runs it is."""

    def compared(options):
        return native if options.target == target else "yes"

    summary = COMPARED | {"scenario": "x", "steps": 9}
    monkeypatch.setattr(demo, "trial", lambda options: 0)
    monkeypatch.setattr(demo, "run_and_tell", lambda options: (summary, 0))
    monkeypatch.setattr(demo, "identical_to_native", compared)
    assert main(["demo", "pendulum", "--out", str(tmp_path)]) == status
    assert native in capsys.readouterr().out


@pytest.mark.parametrize("target", [COPROCESSOR, ENGINE])
def test_a_demo_whose_hardware_hangs_says_so_before_it_runs(tmp_path, capsys, monkeypatch, target):
    """Whichever of the two it is: the other one takes minutes under Icarus."""
    asked = []

    def watched(bench, simulator, config, name, **options):
        hangs = (bench.name == "cosim_step") == (target == ENGINE)
        asked.append((bench.name, "--steps 2 " in f"{options['command']} "))
        return {"result": "fail" if hangs else "pass", "message": "hang"}

    monkeypatch.setattr(hardware_run, "watched", watched)
    monkeypatch.setattr(hardware_run, "usable_simulator", lambda name: "icarus")
    monkeypatch.setattr(demo, "run_and_tell", lambda options: pytest.fail("it runs"))
    assert main(["demo", "pendulum", "--out", str(tmp_path)]) == DIFFERS
    assert capsys.readouterr().err == "hang\n"
    assert asked == [("cosim_hdca", True), ("cosim_step", True)][: 1 + (target == ENGINE)]


@pytest.mark.parametrize(("result", "status"), [("pass", 0), ("fail", hardware_run.DIFFERS)])
def test_a_run_that_differs_from_the_model_is_status_1(
    tmp_path, capsys, monkeypatch, result, status
):
    """It is not called identical, neither on the terminal nor in its summary."""
    trajectory = simulate(load(SCENARIOS / "double_pendulum.toml", steps=3), "float32")
    left = Handover(3, trajectory, None, 4, {"a run": 9}, {"a": 5}, {"a run": 6}, 77)
    row = {"result": result, "message": "" if result == "pass" else "q0 differs\nrerun: it"}
    monkeypatch.setattr("pymodel.runs.plots.plot_run", lambda *_, **__: None)
    monkeypatch.setattr(hardware_run, "_cosimulate", lambda *_: (row, left))
    monkeypatch.setattr(hardware_run, "usable_simulator", lambda name: "icarus")
    monkeypatch.setattr(hardware_run, "simulator_version", lambda name: "1")
    options = ("--target", "coprocessor", "--steps", "3", "--no-reference")
    assert attempt(tmp_path, "double_pendulum", *options) == status
    out, err = capsys.readouterr()
    assert ("4 rows, 77 words: bit-identical to the model" in out) == (result == "pass")
    assert err == (f"{row['message']}\n" if row["message"] else "")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["identical_to_model"] is (result == "pass")


RERUN = {
    "coprocessor": (
        "run",
        dict(scenario="a$b c.toml", target=COPROCESSOR, arithmetic="4/2", steps=3, seed=7),
    ),
    "engine": (
        "run",
        dict(scenario="a.toml", target=ENGINE, lanes="1+3", rebase=2, base="blocks", seed=7),
    ),
    "no reference": (
        "run",
        dict(scenario="it's.toml", target=ENGINE, reference=False, forces=True),
    ),
    "twin": ("run", dict(scenario="-a.toml", target="twin", shape="left")),
    "robot": (
        "robot",
        dict(urdf="a$b.urdf", function="FD", target="array", floating=True, contexts=3, stalls=0),
    ),
    "loop": (
        "loop",
        dict(urdf="a$b c.urdf", target=ENGINE, arithmetic="5/10", lanes="1+3", steps=9, seed=7),
    ),
    "sweep": ("sweep", dict(scenario="a.toml", vary=["x=1:2:3", "y=random(1,2)"], count=3)),
    "call": (
        "call",
        dict(function="FD", urdf="a.urdf", inputs="i.csv", armature=0.5, target="twin"),
    ),
}


@pytest.mark.parametrize("kind", RERUN)
def test_the_command_that_runs_it_again_asks_for_the_same(kind):
    """Of hdca, and of make, whose variables are data."""
    name, values = RERUN[kind]
    command = NAMED[name]
    asked = command.asked(**values)
    changed = {"simulator": "icarus", "waves": True} if asked.target in SIMULATED else {}
    changed = {key: x for key, x in changed.items() if key in vars(asked)}
    program, python, module, own, *texts = shlex.split(
        asked.again(**changed).replace("-a.", "./-a.")
    )
    assert (program, python, module, own) == ("python", "-m", "pymodel", name)
    expected = {key: x for key, x in vars(asked.but(**changed)).items() if key != "command"}
    again = vars(command.parse(texts))
    assert {key: str(again[key]).replace("./", "") for key in expected} == {
        key: str(x) for key, x in expected.items()
    }
    spoke = words.speak_as(words.MAKE)
    try:
        make, goal, *texts = shlex.split(asked.again(**changed))
        assert (make, goal) == ("make", name)
        again = vars(command.of_make(dict(text.split("=", 1) for text in texts)))
    finally:
        words.speak_as(spoke)
    assert {key: again[key] for key in expected} == expected


def test_a_run_leaves_the_command_that_runs_it_again(tmp_path, monkeypatch):
    """Not that of the bench, which has other settings and parameters."""
    asked = []
    monkeypatch.setattr(
        hardware_run, "watched", lambda *_, **options: asked.append(options) or {"message": "no"}
    )
    monkeypatch.setattr(hardware_run, "usable_simulator", lambda name: "icarus")
    assert attempt(tmp_path, "double_pendulum", "--target", "engine", "--steps", "3") == 1
    (only,) = asked
    assert only["command"].startswith("python -m pymodel run ") and "--steps 3" in only["command"]


def test_a_run_is_handed_over_bit_for_bit(tmp_path):
    scenario = load(SCENARIOS / "four_bar.toml", steps=3)
    spring = Spring(0, (0.4, 0.0), GROUND, (0.1, 0.0), stiffness=1.0, length=0.1)
    scenario = replace(scenario, springs=(spring,))
    trajectory = simulate(scenario, "float32", rebase=1)
    given = Handover(3, trajectory, "why", 4, {"a run": 1}, {"a": 1}, {"a run": 2}, 5, [{"b": 6}])
    given.write(tmp_path)
    taken = Handover.read(tmp_path)
    for name, column in trajectory.columns().items():
        assert column.tobytes() == taken.trajectory.columns()[name].tobytes()
    for name in ("flags", "condition", "condition_time", "spring_lengths"):
        assert getattr(trajectory, name) not in (None, [])
        assert getattr(taken.trajectory, name) == getattr(trajectory, name)
    rest = vars(given) | {"trajectory": None}
    assert vars(taken) | {"trajectory": None} == rest
    Handover.forget(tmp_path)
    assert Handover.read(tmp_path) is None
    Handover(**rest).write(tmp_path)
    assert Handover.read(tmp_path).trajectory is None


@pytest.mark.nightly
def test_an_animation_on_request(tmp_path, capsys):
    options = ("--steps", "3", "--no-reference")
    assert attempt(tmp_path, "four_bar", *options, "--animate") == 0
    picture = tmp_path / "out" / "animation.gif"
    assert picture.stat().st_size > 10_000
    assert capsys.readouterr().out.endswith(f"motion in {picture}\n")
    assert attempt(tmp_path, "four_bar", *options) == 0
    assert not picture.exists(), "that of another run"


def test_forces_on_request(tmp_path, capsys):
    assert attempt(tmp_path, "four_bar", "--steps", "3", "--no-reference", "--forces") == 0
    found = read_forces(tmp_path / "out" / "forces.csv")
    assert found.force.shape == (4, 3, 2) and found.loop_force.shape == (4, 1, 2)
    assert (tmp_path / "out" / "forces.png").stat().st_size > 10_000
    assert "joint_forces_max" in json.loads((tmp_path / "out" / "summary.json").read_text())


def test_forces_of_a_free_body_are_refused(tmp_path, capsys):
    pendulum = load(SCENARIOS / "compound_pendulum.toml")
    thrown = replace(pendulum.bodies[0], joint="free", q=(0.0,) * 3, qd=(0.0,) * 3)
    write_scenario(tmp_path / "thrown.toml", replace(pendulum, bodies=(thrown,)))
    words = ["run", str(tmp_path / "thrown.toml"), "--out", str(tmp_path / "out")]
    for target in ("model", "twin", "engine"):
        assert main([*words, "--forces", "--target", target]) == BAD_INPUT
        assert capsys.readouterr().err.startswith("--forces: only for a mechanism with joints that")


def test_an_animation_of_a_start_is_refused(tmp_path, capsys):
    scenario = varied(load(SCENARIOS / "four_bar.toml"), save=10)
    write_scenario(tmp_path / "start.toml", scenario)
    words = ["run", str(tmp_path / "start.toml"), "--out", str(tmp_path / "out")]
    assert main([*words, "--steps", "9", "--animate"]) == BAD_INPUT
    assert capsys.readouterr().err.startswith("--animate: only for a run that keeps more than its")
    assert not (tmp_path / "out").exists()


def test_progress_goes_over_the_output(capsys):
    print_progress(50, 1000)
    print_progress(51, 1000)
    assert [read_progress(line) for line in capsys.readouterr().out.splitlines()] == [(50, 1000)]
    assert read_progress("a line") is None


def test_the_reference_can_be_left_out(tmp_path, capsys):
    assert attempt(tmp_path, "double_pendulum", "--steps", "3", "--no-reference") == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["reference_missing"] == "not asked for"
    assert not (tmp_path / "out" / "reference.csv").exists()


def test_the_twin_gives_the_bits_of_the_model(tmp_path, capsys):
    """And the engine's flags, of the operations alone; steps that re-base project as well."""
    options = ("--steps", "5", "--no-reference", "--rebase", "2", "--base", "blocks")
    assert attempt(tmp_path, "four_bar", *options, "--target", "twin", "--lanes", "1+2") == 0
    assert "four_bar: float32 on twin" in capsys.readouterr().out
    found = read_csv(tmp_path / "out" / "run.csv")
    scenario = load(SCENARIOS / "four_bar.toml", steps=5)
    expected = simulate(scenario, "float32", project=2, base="blocks")
    for name, column in expected.columns().items():
        assert column.tobytes() == found.columns()[name].tobytes(), name
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["target"], summary["base"]) == ("twin", "blocks")


def test_a_run_that_breaks_off_on_the_twin_keeps_what_it_has(tmp_path, capsys):
    text = (SCENARIOS / "double_pendulum.toml").read_text().replace("step = 1e-4", "step = 1e-3")
    (tmp_path / "stiff.toml").write_text(text + "spring = 1e4\nrest = 1.0\n")
    words = ["run", str(tmp_path / "stiff.toml"), "--out", str(tmp_path / "out"), "--no-reference"]
    assert main([*words, "--arith", "5/10", "--target", "twin", "--steps", "50"]) == 1
    assert "the run ends there" in capsys.readouterr().err
    assert 0 < len(read_csv(tmp_path / "out" / "run.csv")) < 51


def test_results_go_below_build_runs_by_default(tmp_path, monkeypatch, capsys):
    """So that no name of a scenario replaces what another command of make has left."""
    (tmp_path / "synth.toml").write_text((SCENARIOS / "double_pendulum.toml").read_text())
    monkeypatch.chdir(tmp_path)
    assert main(["run", "synth.toml", "--steps", "3", "--no-reference"]) == 0
    assert {path.parent for path in Path().rglob("*.csv")} == {Path("build/runs/synth")}


@pytest.mark.usefixtures("drawn")
def test_pictures_are_shown_on_request(tmp_path, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr("pymodel.runs.show.show", shown.extend)
    options = ("--steps", "3", "--no-reference", "--show")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert attempt(tmp_path, "four_bar", *options) == BAD_INPUT
    assert capsys.readouterr().err.startswith("no display")
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("DISPLAY", ":0")
    assert attempt(tmp_path, "four_bar", *options) == 0
    assert {path.name for path in shown} >= {"joints.png", "kinetic_energy.png", "overview.png"}


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"STEPS": "0"}, "STEPS=0: must be a whole number, 1 to 4294967294"),
        ({"STEPS": "3 --waves"}, "STEPS=3 --waves: must be a whole number"),
        ({"WAVES": "1"}, "WAVES=1: only for TARGET=coprocessor or engine"),
        ({"WAVES": "yes"}, "WAVES=yes: must be 0 or 1"),
        ({"FORCES": "1", "SCENARIO": "thrown.toml"}, "FORCES=1: only for a mechanism with joints"),
        ({"REBASE": "2"}, "REBASE=2: only for a mechanism with loops"),
        ({"TARGET": "step", "ARITH": "float64"}, "ARITH=float64: not in hardware"),
        (
            {"TARGET": "array"},
            "TARGET=array: must be model, native, twin, coprocessor, engine or board",
        ),
        ({"SCENARIO": ""}, "run: say SCENARIO: make run SCENARIO=scenarios/double_pendulum.toml"),
    ],
)
def test_make_is_answered_in_its_words(tmp_path, monkeypatch, capsys, variables, said):
    pendulum = load(SCENARIOS / "compound_pendulum.toml")
    thrown = replace(pendulum.bodies[0], joint="free", q=(0.0,) * 3, qd=(0.0,) * 3)
    write_scenario(tmp_path / "thrown.toml", replace(pendulum, bodies=(thrown,)))
    monkeypatch.chdir(tmp_path)
    variables = {"SCENARIO": str(SCENARIOS / "double_pendulum.toml")} | variables
    assert of_make("run", variables) == BAD_INPUT
    out, err = capsys.readouterr()
    assert not out and err.startswith(said) and err.count("\n") == 1


def test_a_narrow_terminal_folds_the_table_of_cycles():
    parts = {"assembly write": 100, "assembly run": 1000}
    hardware = SimpleNamespace(
        evaluations=7,
        registers_moved=dict.fromkeys(parts, 10),
        cycles_by_part=parts,
        cycles=1100,
        computing=0,
        registers_traced=0,
    )
    console = Console(file=io.StringIO(), width=50)
    hardware_run._print_cycles(hardware, console)
    assert "assembly" in console.file.getvalue() and "…" not in console.file.getvalue()


def test_a_simulator_without_a_commit_has_no_empty_brackets(monkeypatch):
    done = SimpleNamespace(stdout="Icarus Verilog version 11.0 (stable) ()\n\nmore\n")
    monkeypatch.setattr(simulators.subprocess, "run", lambda *_, **__: done)
    assert simulators.simulator_version("icarus") == "Icarus Verilog version 11.0 (stable)"


def test_of_a_list_what_stands_twice_counts_once():
    parser = OptionParser()
    parser.add_argument("units", nargs="*")
    parser.add_argument("--seed", type=whole("SEED", 1, 9), nargs="+", default=(1,))
    words = ["fp_mul", "fp_add", "fp_mul", "--seed", "7", "2", "7"]
    assert vars(parser.parse_args(words)) == {"units": ["fp_mul", "fp_add"], "seed": [7, 2]}
    assert vars(parser.parse_args([])) == {"units": [], "seed": (1,)}


def test_bases_are_those_of_the_algorithm_and_the_hardware():
    assert BASES["model"] == CLOSED_BASES and BASES[COPROCESSOR] == (co_simulation.BASE,)
    assert {BASES[name] for name in ("native", "twin", ENGINE)} == {RECORDED_BASES}
