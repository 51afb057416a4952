"""`make debug`: what it refuses, and what it says of a test that passes or leaves no waveform."""

import json

import pytest

from scripts.dev.waves import debug
from scripts.tests.dev.waves.made import words, write
from tb.fp_add.bench import BENCH

CASE = {"--config": "half", "--sim": "icarus", "--test": "corners"}


def arguments(**given):
    options = CASE | {f"--{name}": value for name, value in given.items()}
    return ["fp_add", *(word for option in options.items() for word in option)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"config": "nope"}, "CONFIG=nope: must be one of binary32, half, "),
        ({"test": "nope"}, "TEST=nope: must be one of corners, classes, many_operands"),
        ({"sim": "vcs"}, "SIM=vcs: must be icarus or verilator for CONFIG=half"),
        ({"seed": "-1"}, "SEED=-1: must be a whole number, 0 to 2147483647"),
    ],
)
def test_a_case_that_there_is_not_is_one_line(capsys, given, said):
    assert debug.main(arguments(**given)) == 2
    assert capsys.readouterr().err.startswith(f"debug: {said}")
    assert debug.main(arguments(config="random-4.53")) == 2
    *_, last = BENCH.configs
    assert capsys.readouterr().err.endswith(f", {last}, random-<EXP_W>.<MAN_W>\n")
    assert debug.main(["nope", *arguments()[1:]]) == 2
    assert capsys.readouterr().err.startswith("debug: BENCH=nope: must be one of ")


def test_without_the_simulator_it_is_refused_in_one_line(no_simulator, capsys):
    assert debug.main(arguments()) == 2
    said = "debug: Icarus is not installed, or too old: `make doctor` says how to get it\n"
    assert capsys.readouterr().err == said


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """In place of a run: a row, and a waveform if there is a failure to put into it."""
    asked = []

    def run(result, failure=None):
        def again(bench, *case):
            asked.append((bench.name, *case))
            if failure:
                folder = tmp_path / "build" / "waves" / "fp_add"
                folder.mkdir(parents=True)
                path = folder / "half-icarus-corners.fst"
                write(path, words(5, 10))
                about = {"toplevel": "dut", "rerun": "make it", "params": {"LANES": 1}}
                about["failure"] = failure
                path.with_suffix(".json").write_text(json.dumps(about))
            return {"result": result, "message": "corners: y_o[0] differs at 79 ns"}

        monkeypatch.setattr(debug, "again", again)
        return asked

    monkeypatch.setattr(debug, "BUILD", tmp_path / "build")
    return run


def test_a_test_that_passes_now(capsys, ran):
    asked = ran("pass")
    assert debug.main(arguments(seed="7")) == 1
    assert asked == [("fp_add", "icarus", "half", 7, "corners")]
    assert capsys.readouterr().err == "debug: it passes now\n"


def test_a_test_that_left_no_waveform(capsys, ran):
    ran("fail")
    assert debug.main(arguments()) == 1
    said = capsys.readouterr()
    assert "y_o[0] differs at 79 ns" in said.out and said.err == "debug: it left no waveform\n"


def test_without_a_viewer_one_line_has_file_and_time(capsys, ran, monkeypatch, tmp_path):
    ran("fail", {"ns": 79.0, "why": "y_o[0] differs at 79 ns"})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert debug.main(arguments()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("debug: no waveform viewer; install GTKWave")
    assert line.endswith("half-icarus-corners.fst at 79 ns")
