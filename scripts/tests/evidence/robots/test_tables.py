"""Tables of robots: what they measure, and that each of their functions gives a table."""

import pytest

from pymodel.arith.fp import BINARY32, Format
from pymodel.runs import robot_calls
from scripts.evidence.robots import cases, document, field, measure
from scripts.evidence.robots.cases import FORMATS, LOOP, NAMES, ROBOTS, STATES, robot, small
from scripts.evidence.robots.measure import errors, jobs
from scripts.kernel import documents


def test_errors_are_those_of_calls():
    """The arrays of a format against the bit-exact calls, for the first states."""
    states = robot_calls.random_states(small("iiwa14"), "FD", STATES, 1)
    rows = {name: x[:4] for name, x in states.items()}
    exact = robot_calls.call(small("iiwa14"), "FD", rows).table
    found = robot_calls.call(small("iiwa14"), "FD", rows, "5/10").table
    for k, error in enumerate(errors("iiwa14", "FD", Format(5, 10))[:4]):
        worst = max(abs(found[name][k] - exact[name][k]) for name in exact)
        assert error == pytest.approx(worst / max(abs(x[k]) for x in exact.values()))


def test_float32_errors():
    assert errors("iiwa14", "ID", BINARY32).max() < 5e-7
    assert errors("iiwa14", "FD", BINARY32).max() < 3e-6
    assert errors("hyq", "ID", BINARY32).max() < 5e-7


def test_every_table_has_its_measurements():
    tables = {table for table, _ in jobs()}
    assert tables == {"errors", "counts", "schedules", "formats", "closed_loop", "pinocchio"}


@pytest.mark.parametrize(("lanes", "dsp"), [(2, 12), (4, 16), (8, 24)])
def test_engines_that_were_placed(lanes, dsp):
    found = field.placed(lanes)
    assert 50 < found.mhz < 120
    assert found.dsp == dsp


def test_the_dsp_of_others_are_compared_with_those_of_each_end_of_the_table():
    row = {"robot": "iiwa14", "function": "diFD", "lanes": 8, "cycles": 234}
    text = " ".join(field.verdict({"schedules": [row]}).split())
    assert "diFD on 8+8 lanes 5.4 and 6.7 times" in text
    assert "177 times the DSP of 8+8 lanes, and 353 times those of 2+2." in text


def test_an_engine_that_was_not_placed():
    with pytest.raises(field.MissingError, match="no placed engine of 3"):
        field.placed(3)


def test_formats_that_are_enough():
    rows = [
        {"format": str(fmt), "function": name, "finite": STATES, "worst": 2.0**-fmt.man_w}
        for fmt in FORMATS
        for name in NAMES
    ]
    first, *_ = document.enough(rows).splitlines()[2:]
    assert first.startswith("| 0.01 | 5/10 |")


@pytest.mark.parametrize(
    ("text", "why"), [(None, "is missing"), ('{"target": "model"}', "ran on the model")]
)
def test_what_has_to_run_first_is_missed_before_minutes_of_work(
    tmp_path, monkeypatch, capsys, text, why
):
    if text:
        (tmp_path / "summary.json").write_text(text)
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    monkeypatch.setattr(cases, "CLOSED_LOOP", tmp_path)
    monkeypatch.setattr(measure, "jobs", lambda: pytest.fail("measured"))
    assert measure.main([]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line and "make closed-loop" in line


def test_the_document_is_that_of_the_robots():
    text = document.DOC.read_text()
    for name in ROBOTS:
        assert f"{name} ({robot(name).nv})" in text
        assert f"| {name} dFD |" in text
    assert f"| iiwa14 {LOOP} |" in text
