"""`python -m pymodel sweep`: what it prints, its exit status, and one line for bad input."""

import shlex
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

import pymodel
from pymodel.app.command import main
from pymodel.tests.places import SCENARIOS

FILE = str(SCENARIOS / "double_pendulum.toml")


def called(tmp_path, *words, out="one.csv"):
    words = ("sweep", FILE, "--workers", "0", "--steps", "5", *words)
    return main([*words, "--out", str(tmp_path / out)])


def test_a_sweep(tmp_path, capsys):
    vary = ("--vary", "body[0].mass=1:2:3", "--vary", "body[1].q=random(-3,3)", "--count", "2")
    assert called(tmp_path, *vary, out="one.parquet") == 0
    said = capsys.readouterr()
    assert "6 variations: 6 done, 0 stopped, 0 failed" in said.out and not said.err
    table = pymodel.read_table(tmp_path / "one.parquet")
    assert table["index"].tolist() == list(range(6)) and set(table["flags"]) == {1}
    again = pymodel.sweep(
        FILE,
        {"body[0].mass": [1.0, 1.5, 2.0], "body[1].q": pymodel.Uniform(-3.0, 3.0)},
        count=2,
        steps=5,
        arithmetic="float32",
        workers=0,
    )
    assert table["qd1"].tolist() == again["qd1"].tolist()


def test_what_was_there_already_is_told(tmp_path, capsys):
    vary = ("--vary", "body[0].mass=1,2,3")
    for there in ("", "3 of them were there already; ", "2 of them were there already; "):
        assert called(tmp_path, *vary) == 0
        said = capsys.readouterr().out
        assert said == f"3 variations: 3 done, 0 stopped, 0 failed; {there}{tmp_path}/one.csv\n"
        if there:
            table = tmp_path / "one.csv"
            table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))


def test_failures_are_told(tmp_path, capsys):
    assert called(tmp_path, "--vary", "body[0].mass=1,-1,0") == 1
    said = capsys.readouterr()
    assert "3 variations: 1 done, 0 stopped, 2 failed" in said.out
    (line,) = said.err.splitlines()
    assert line.startswith("variation 1 failed: ") and "(1 more failed: column reason)" in line


@pytest.mark.usefixtures("unlent")
@pytest.mark.parametrize("target", ["model", "native"])
def test_rows_that_rounding_has_spoiled_are_told(tmp_path, capsys, target):
    vary = ("--vary", "body[1].inertia=0.01,1e-6,1e-6", "--target", target)
    assert called(tmp_path, "--vary", "body[0].inertia=0.01", *vary) == 0
    said = capsys.readouterr()
    assert "3 variations: 3 done, 0 stopped, 0 failed" in said.out
    table = pymodel.read_table(tmp_path / "one.csv")
    good, bad, same = table["reason"].tolist()
    assert not good and bad == same and "joint matrix (33) reaches" in bad
    (line,) = said.err.splitlines()
    assert line == f"2 done with a warning (column reason), variation 1 is the first: {bad}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["body[0].mass"], "--vary body[0].mass: must be KEY=VALUES"),
        (["body[0].mass=1", "body[0].mass=2"], "--vary body[0].mass: is given twice"),
        (["body[0].mas=1"], "did you mean body[0].mass?"),
    ],
)
def test_what_is_refused_is_one_line_and_status_2(tmp_path, capsys, words, said):
    assert called(tmp_path, *(word for text in words for word in ("--vary", text))) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and said in err


def test_rows_of_the_twin_are_those_of_the_model(tmp_path, capsys):
    """And cycles; what cannot run is a row, too."""
    vary = ("--vary", "body[0].mass=1,2,-1", "--arith", "5/10")
    assert called(tmp_path, *vary, "--target", "twin", "--lanes", "1+2") == 1
    found = pymodel.read_table(tmp_path / "one.csv")
    assert called(tmp_path, *vary, out="model.csv") == 1
    want = pymodel.read_table(tmp_path / "model.csv")
    assert found["status"].tolist() == ["done", "done", "failed"]
    for name in ("q0", "q1", "qd0", "qd1", "p0", "p1", "energy_change"):
        assert found[name][:2].tolist() == want[name][:2].tolist()
    assert (found["cycles"][:2] > 5 * 100).all() and not want["cycles"].any()


def test_a_sweep_names_the_command_that_draws_it(tmp_path, capsys):
    grid = ("--vary", "body[0].mass=1,2", "--vary", "body[1].q=-1:1:3")
    assert called(tmp_path, *grid, out="a table.csv") == 0
    *_, line = capsys.readouterr().out.splitlines()
    said, _, command = line.partition(": ")
    assert said == "to draw it" and command.startswith("python -m pymodel sweep-map ")
    assert main(shlex.split(command)[3:]) == 0
    assert (tmp_path / "a table.png").stat().st_size > 10_000
    capsys.readouterr()
    none = grid[:2], (*grid, "--vary", "gravity[0]=0,1"), (*grid[:2], "--vary", "gravity[0]=0")
    for number, others in enumerate(none):
        assert called(tmp_path, *others, out=f"{number}.csv") == 0
        assert "sweep-map" not in capsys.readouterr().out


def test_a_map(tmp_path, capsys):
    grid = ("--vary", "body[0].mass=1,-1", "--vary", "body[1].q=-1:1:3")
    assert called(tmp_path, *grid) == 1
    table, picture = str(tmp_path / "one.csv"), tmp_path / "map.png"
    words = ["sweep-map", table, "--x", "body[1].q", "--y", "body[0].mass", "--out", str(picture)]
    assert main([*words, "--value", "q0"]) == 0
    assert picture.stat().st_size > 10_000
    capsys.readouterr()
    for column, said in (
        ("q2", "q2: no column; there are index, body[0].mass"),
        ("reason", "reason: holds words, not numbers"),
    ):
        assert main([*words, "--value", column]) == 2
        assert said in capsys.readouterr().err
    for options, said in (
        (("--y", "index"), "body[1].q, index: not a grid"),
        (("--out", "map.foo"), "map.foo: must end in "),
    ):
        assert main([*words, "--value", "q0", *options]) == 2
        out, err = capsys.readouterr()
        assert said in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.csv", b"", "x.csv: line 1: not the header of a table"),
        ("x.csv", b"a,b\n1", "x.csv: line 2: 1 values for 2 columns"),
        ("x.csv", b"\xff\xfe\x00", "x.csv: not a table: 'utf-8' codec can't decode"),
        ("x.csv", b"a,b,a\n1,2,3\n", "x.csv: two columns a"),
        ("x.csv", b"a,b\n1,2\n", "status: no column; there are a, b"),
        ("x.parquet", b"PAR1", "x.parquet: not a table: "),
        ("x.parquet", b"", "x.parquet: not a table: "),
        ("none.csv", None, "none.csv: No such file or directory"),
        ("none.parquet", None, "none.parquet: No such file or directory"),
        ("x", None, "x: must end in .parquet or .csv"),
    ],
)
def test_a_map_of_what_is_no_table(tmp_path, monkeypatch, capsys, name, data, said):
    monkeypatch.chdir(tmp_path)
    if data is not None:
        Path(name).write_bytes(data)
    words = ["--x", "a", "--y", "b", "--value", "a", "--out", "map.png"]
    assert main(["sweep-map", name, *words]) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith(said) and err.count("\n") == 1


def test_a_parquet_table_with_a_column_twice(tmp_path):
    table = pyarrow.table([[1], [2]], names=["a", "a"])
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(pymodel.InputError, match="x.parquet: two columns a"):
        pymodel.read_table(tmp_path / "x.parquet")
