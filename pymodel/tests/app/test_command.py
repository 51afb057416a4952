"""The command line: what the subcommands do, their exit status, and one line for bad input."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pymodel.app.command import main
from pymodel.app.table import COMMANDS
from pymodel.mechanism.scenario_file import load
from pymodel.runs.simulate import simulate
from pymodel.runs.trajectory import column_names, read_csv, write_csv
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.usefixtures("undrawn")

SCENARIO = (
    (ROOT / "scenarios" / "double_pendulum.toml").read_text().replace("end = 1.0", "end = 0.01")
)


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(SCENARIO)
    return path


def lines(capsys):
    """stderr as lines; stdout must be empty."""
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


@pytest.mark.usefixtures("drawn")
def test_simulate_writes_what_the_contract_asks_for(scenario, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["simulate", str(scenario), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "short" not in text and "double_pendulum: float32 on model" in text and "mJ" in text
    summary = json.loads((out / "summary.json").read_text())
    run = read_csv(out / "run.csv")
    assert (summary["steps"], summary["arith"], len(run)) == (100, "float32", 101)
    assert summary["flags"] == ["NX"]
    assert np.array_equal(run.t, load(scenario).times)
    assert 0 < summary["kinetic_rounding_max_J"] < 1e-4
    for name in ("joints", "kinetic_energy", "overview"):
        assert (out / f"{name}.png").stat().st_size > 10_000
    # What stands in the table is the run itself, bit for bit.
    again = simulate(load(scenario), "float32")
    for name, column in run.columns().items():
        assert column.tobytes() == again.columns()[name].tobytes()


def test_trace_lists_every_operation(capsys):
    assert main(["trace", str(ROOT / "scenarios" / "double_pendulum.toml")]) == 0
    text = capsys.readouterr().out.splitlines()
    assert sum(" = add " in line for line in text) == 56
    assert sum(" = mul " in line for line in text) == 89
    assert [line.split(" := ")[0] for line in text[-6:]] == [
        f"{name}[{k}]" for name in ("q", "p", "qd") for k in range(2)
    ]
    assert any(re.fullmatch(r"%\d+ = mul step, %\d+", line) for line in text)


def test_schedule_reports_and_draws(tmp_path, capsys):
    words = ["schedule", str(ROOT / "scenarios" / "four_bar.toml"), "--lanes", "3+2"]
    words += ["--stages", "2,2,7,15", "--contexts", "2", "--base", "blocks"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    cycles = int(re.search(r"program *│ *(\d+)", text)[1])
    shortest = int(re.search(r"lower bound of any schedule *│ *(\d+)", text)[1])
    assert shortest <= cycles <= 1.1 * shortest
    assert "longest path, retimed" in text
    assert f"{cycles / 2:.1f}" in text and "3+2 lanes, 2" in text
    program = (tmp_path / "program.hex").read_text().splitlines()
    bits = int(re.search(r"program words of (\d+) bits", text)[1])
    prologue = int(re.search(r"the last (\d+) words are a prologue", text)[1])
    assert len(program) == cycles + prologue and {len(word) for word in program} == {-(-bits // 4)}
    assert (tmp_path / "gantt.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        *(
            ("--lanes", text, f"--lanes {text}: must be <adders>+<multipliers>, 1+1 to 255+255")
            for text in ("2", "0+2", "9999+1", "1+256")
        ),
        ("--stages", "1,2", "stages '1,2': must be four numbers, such as 3,2,6,13"),
        ("--contexts", "0", "--contexts 0: must be a whole number, 1 to 16"),
        ("--contexts", "17", "--contexts 17: must be a whole number, 1 to 16"),
    ],
)
def test_machines_that_make_no_sense(scenario, capsys, option, value, said):
    assert main(["schedule", str(scenario), option, value]) == 2
    assert lines(capsys) == [said]


@pytest.mark.parametrize(("arith", "name"), [("float64", "float64"), ("8/23", "float32")])
def test_arithmetics(scenario, tmp_path, arith, name):
    out = tmp_path / "run"
    arguments = ["simulate", str(scenario), "--arith", arith, "--out", str(out), "--no-reference"]
    assert main(arguments) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["arith"] == name and summary["reference"] is None
    assert (out / "float64.csv").exists() == (name != "float64")
    assert not (out / "reference.csv").exists()


def test_compare(scenario, tmp_path, capsys):
    run = simulate(load(scenario), "float64")
    a, b, c = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    write_csv(a, run)
    write_csv(b, run)
    assert main(["compare", str(a), str(b)]) == 0
    assert "bit-identical" in capsys.readouterr().out

    run.qd[7, 1] += 0.25
    run.p[0, 0] = -0.0  # the same number, but not the same bits
    write_csv(b, run)
    assert main(["compare", str(a), str(b)]) == 1
    rows = {line.split()[1]: line for line in capsys.readouterr().out.splitlines() if "│" in line}
    assert "0.25" in rows["qd1"] and "differ" in rows["qd1"] and "0.0007" in rows["qd1"]
    assert "differ" in rows["p0"]
    assert "identical" in rows["qd0"] and "identical" in rows["t"]

    c.write_text("".join(a.read_text().splitlines(keepends=True)[:-1]))
    assert main(["compare", str(a), str(c)]) == 1
    assert f"rows: 101 in {a}, 100 in {c}" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.usefixtures("drawn")
def test_plot_draws_again(scenario, tmp_path, capsys):
    out = tmp_path / "run"
    main(["simulate", str(scenario), "--arith", "float64", "--out", str(out)])
    (out / "overview.png").unlink()
    capsys.readouterr()
    assert main(["plot", str(out)]) == 0
    assert str(out / "overview.png") in capsys.readouterr().out
    assert (out / "overview.png").exists()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("arith", ["5/10", "float64"])
def test_a_run_that_breaks_off_keeps_what_it_has(tmp_path, capsys, arith):
    """A spring so stiff that explicit Euler leaves the range of the format after some steps."""
    path = tmp_path / "stiff.toml"
    text = SCENARIO.replace("step = 1e-4", "step = 1e-3").replace("end = 0.01", "end = 0.1")
    path.write_text(text + "spring = 1e4\nrest = 1.0\n")
    out = tmp_path / "run"
    arguments = ["simulate", str(path), "--arith", arith, "--out", str(out), "--no-reference"]
    assert main(arguments) == 1
    text, err = capsys.readouterr()
    assert "stopped at" in text
    err = err.splitlines()
    narrow = [line for line in err[1:] if "in 5/10 2.4 digits of the velocities are left" in line]
    assert len(narrow) == len(err) - 1 == (arith == "5/10")
    assert err[0].startswith(f"{path}: ") and "the run ends there" in err[0]
    summary = json.loads((out / "summary.json").read_text())
    assert err[0] == f"{summary['stopped']}; the run ends there"
    assert 1 < summary["rows"] == len(read_csv(out / "run.csv")) < 101


def markdown_tables(text):
    """Rows of cells by title."""
    tables = {}
    for line in text.splitlines():
        if line.startswith("### "):
            rows = tables[line[4:]] = []
        elif line:
            rows.append([cell.strip() for cell in line.split("|")[1:-1]])
    return tables


def test_count_prints_the_subdesigns_and_the_pool(capsys):
    assert main(["count", "--markdown"]) == 0
    designs, units = markdown_tables(capsys.readouterr().out).values()
    assert designs[0] == ["no.", "sub-design", "eq.", "equation", "+", "x", "1/x", "pass"]
    assert [row[0] for row in designs[2:]] == [*map(str, range(1, 12)), ""]
    for row in (
        ["1", "joint_inverse", "(33)", "`C = -[D^T (xi_11^B + xi_22^A) D]^-1`", *"561", "1"],
        ["9", "compound_xi_12", "(28)", "`xi_12^C = -xi_12^A D W^B`", "9", "18", "0", "2"],
        [
            "10",
            "compound_xi_22",
            "(30)",
            "`xi_22^C = xi_22^B + xi_21^B D W^B`",
            "12",
            "12",
            "0",
            "2",
        ],
        [
            "11",
            "disassemble",
            "(45)",
            "`T_1^B = -T_2^A = D (W^B T_2^C - W^A T_1^C + beta_hat)`",
            *"880",
            "own units",
        ],
        ["", "total", "", "", "74", "96", "1", ""],
    ):
        assert row in designs
    assert units[2:] == [
        ["two passes", "41", "54", "1"],
        ["one pass", "74", "96", "1"],
        ["Turno and Malczyk, 2022, two passes", "57", "75", "-"],
    ]


def test_count_of_a_scenario(capsys):
    path = str(ROOT / "scenarios" / "double_pendulum.toml")
    assert main(["count", path, "--markdown"]) == 0
    title, step = markdown_tables(capsys.readouterr().out).popitem()
    assert title == "One step of double_pendulum: 2 bodies, euler, balanced tree"
    assert step[2:] == [
        ["+", "56", "16", "4"],
        ["x", "89", "14", "3"],
        ["1/x", "2", "2", "7"],
        ["sincos", "2", "1", "14"],
        ["cycles", "", "134", ""],
    ]
    chain = str(ROOT / "scenarios" / "chain_8.toml")
    cycles = []
    for shape in ("balanced", "left"):
        main(["count", chain, "--markdown", "--shape", shape])
        title, step = markdown_tables(capsys.readouterr().out).popitem()
        assert title.endswith(f"{shape} tree")
        cycles.append(int(step[-1][2]))
    assert cycles[0] < cycles[1]


def test_count_draws_the_same_tables(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    path = str(ROOT / "scenarios" / "double_pendulum.toml")
    main(["count", path, "--markdown"])
    expected = markdown_tables(capsys.readouterr().out)
    assert main(["count", path]) == 0
    out = capsys.readouterr().out
    drawn = [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
        for line in out.splitlines()
        if line[0] in "│┃"
    ]
    rows = [
        [cell.strip("`") for cell in row]
        for table in expected.values()
        for row in table
        if "---" not in row
    ]
    assert drawn == rows
    assert all(title in out for title in expected)


BAD = {
    "count_tree": (
        ["count", "short.toml", "--shape", "bushy"],
        "--shape bushy: must be balanced, left or right",
    ),
    "count_no_file": (["count", "--shape", "left"], "--shape: only for a scenario"),
    "count_robot": (["count", "arm.urdf", "--shape", "balanced"], "--shape: only for a scenario"),
    "count_macros": (["count", "arm.urdf.xacro"], "arm.urdf.xacro: has macros: make a URDF of it"),
    "compile_macros": (
        ["compile", "arm.urdf.xacro", "--function", "ID", "--out", "o"],
        "arm.urdf.xacro: has macros: make a URDF of it",
    ),
    "count_none": (["count", "none.toml"], "none.toml: cannot read: No such file"),
    "no_file": (["simulate", "none.toml", "--out", "o"], "none.toml: cannot read: No such file"),
    "arith": (
        ["simulate", "short.toml", "--out", "o", "--arith", "half"],
        "--arith half: must be float32, ",
    ),
    "format": (
        ["simulate", "short.toml", "--out", "o", "--arith", "3/99"],
        "--arith 3/99: must be float32, ",
    ),
    "shape": (
        ["simulate", "loop.toml", "--out", "o", "--shape", "round"],
        "--shape round: must be balanced, left or right",
    ),
    "shape of one body": (
        ["simulate", "single.toml", "--out", "o", "--shape", "left"],
        "--shape left: only for a mechanism like this of three or more bodies",
    ),
    "shape of a chain of two": (
        ["simulate", "short.toml", "--out", "o", "--shape", "right"],
        "--shape right: only for a mechanism like this of three or more bodies",
    ),
    "count_one": (
        ["count", "single.toml", "--shape", "right"],
        "--shape right: only for a mechanism like this of three or more bodies",
    ),
    "base": (
        ["simulate", "short.toml", "--out", "o", "--base", "ldl"],
        "--base ldl: only for a chain of bodies that is closed to the ground",
    ),
    "base of a schedule": (
        ["schedule", "short.toml", "--base", "blocks"],
        "--base blocks: only for a chain of bodies that is closed to the ground",
    ),
    "rebase": (
        ["simulate", "short.toml", "--out", "o", "--rebase", "3"],
        "--rebase 3: only for a mechanism with loops",
    ),
    "rebase beyond 32 bits": (
        ["simulate", "loop.toml", "--out", "o", "--rebase", "9" * 23],
        "--rebase 99999999999999999999999: must be a whole number, 0 to 4294967294",
    ),
    "rebase beyond 32 bits, native": (
        ["simulate", "loop.toml", "--out", "o", "--rebase", "9" * 23, "--target", "native"],
        "--rebase 99999999999999999999999: must be a whole number, 0 to 4294967294",
    ),
    "out": (["simulate", "short.toml", "--out", "short.toml"], "short.toml: File exists"),
    "no_run": (["compare", "none.csv", "none.csv"], "none.csv: cannot read: No such file"),
    "no_table": (["compare", "short.toml", "short.toml"], "short.toml: line 1: not the header"),
    "joints": (["compare", "one.csv", "two.csv"], "two.csv: 2 coordinates, but one.csv has 1"),
    "no_robot": (["joints", "none.urdf"], "none.urdf: cannot read: No such file"),
    "no_urdf": (["joints", "short.toml"], "short.toml: not XML: "),
    "no_rows": (["plot", "empty"], "empty/run.csv: has no rows, there is nothing to draw"),
    "no_dir": (["plot", "nowhere"], "nowhere/run.csv: cannot read: No such file"),
    "cut": (
        ["plot", "cut"],
        "the run in cut is not whole: it has no summary.json, which is written",
    ),
    "cut_a": (
        ["compare", "cut/run.csv", "one.csv"],
        "the run in cut is not whole: it has no summary",
    ),
    "mistake": (
        ["simulate", "bad.toml", "--out", "o"],
        'bad.toml: body[0].mas: unknown key, did you mean "mass"? (known: mass, inertia, com, ',
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line_and_status_2(scenario, tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text(SCENARIO.replace("mass", "mas", 1))
    Path("loop.toml").write_text((ROOT / "scenarios" / "four_bar.toml").read_text())
    single = ROOT / "scenarios" / "compound_pendulum.toml"
    Path("single.toml").write_text(single.read_text())
    Path("arm.urdf.xacro").write_text(
        "<robot name='arm' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arm/></robot>"
    )
    Path("one.csv").write_text(",".join(column_names(1, 1)) + "\n")
    Path("two.csv").write_text(",".join(column_names(2, 2)) + "\n")
    Path("empty").mkdir()
    Path("cut").mkdir()
    Path("cut/run.csv").write_text(Path("one.csv").read_text())
    Path("empty/run.csv").write_text(Path("one.csv").read_text())
    Path("empty/summary.json").write_text('{"rows": 0}')
    arguments, text = BAD[kind]
    assert main(arguments) == 2
    err = lines(capsys)
    assert len(err) == 1 and text in err[0]
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "python -m pymodel: say what to do (see --help)"),
        (["run"], "run: say SCENARIO: python -m pymodel run scenarios/double_pendulum.toml"),
        (["compare", "a.csv"], "compare: say B"),
        (["fly"], "python -m pymodel: fly: no such subcommand (see --help)"),
        (["sweeep"], "python -m pymodel: sweeep: no such subcommand, did you mean sweep? (see"),
        (["run", "x.toml", "--flap"], "unrecognized arguments: --flap"),
        (["run", "x.toml", "--steps"], "argument --steps: expected one argument"),
        (["run", "x.toml", "--step", "3"], "unrecognized arguments: --step 3"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(capsys, arguments, said):
    assert main(arguments) == 2
    (line,) = lines(capsys)
    assert line.startswith(said)


def test_the_overview_names_every_subcommand_once(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert re.search(rf"^  {command.name} +{re.escape(command.help)}$", out, re.M)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_subcommand_is_there(command, capsys):
    """Its help names all that it takes; what runs it is a function."""
    with pytest.raises(SystemExit, match="0"):
        main([command.name, "--help"])
    out = capsys.readouterr().out
    assert "``" not in out
    for option in command.options:
        assert (f"--{option.name}" in out) == (not option.hidden)
    module, _, function = command.runs.partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_help_has_choices_and_defaults(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    out = capsys.readouterr().out
    for said in (
        "where it runs: model, native, twin, coprocessor, engine or board (default: model)",
        "auto, icarus or verilator; only for coprocessor or engine (default: auto",
        "ldl, blocks or ldup",
    ):
        assert said in out


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hdca ")


QUICK = """
import sys
from pymodel.app.command import main
from pymodel.app.table import COMMANDS
assert main(["run", "x.toml", "--steps", "0"]) == 2 and main(["--help"]) == 0
print([name for name in ("cocotb", "matplotlib", "scipy", "dask") if name in sys.modules])
"""


def test_a_mistake_is_told_before_anything_large_is_imported():
    done = subprocess.run([sys.executable, "-c", QUICK], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[]"


def test_joints_are_one_a_line(capsys):
    path = str(ROOT / "robots" / "iiwa14.urdf")
    names = [f"iiwa_joint_{k}" for k in range(1, 8)]
    for options, base, want in (
        ([], ["7 degrees of freedom, fixed base"], names),
        (
            ["--floating"],
            ["13 degrees of freedom, floating base", "root_joint, floating: q0..q6, qd0..qd5: "],
            ["root_joint", *names],
        ),
    ):
        assert main(["joints", path, *options]) == 0
        out, err = capsys.readouterr()
        assert out.splitlines() == want
        first, *more = err.splitlines()
        assert first == f"iiwa14: {base[0]}" and len(more) == len(base) - 1
        assert all(line.startswith(text) for line, text in zip(more, base[1:], strict=True))


def test_as_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pymodel", "simulate", str(tmp_path / "x.toml"), "--out", "o"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"{tmp_path / 'x.toml'}: cannot read: No such file or directory\n"
