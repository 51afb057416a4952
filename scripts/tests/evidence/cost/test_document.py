"""docs/hardware_cost.md, and what has to run before it."""

import dataclasses
import json
import re

import pytest

from scripts.evidence.cost import document, formats, measure, pareto
from scripts.evidence.cost.formats import arithmetics, costs, plot
from scripts.evidence.cost.jobs import JOBS, NOT_TIMED
from scripts.kernel.places import BUILD, DEMOS
from scripts.tests.evidence.cost.made import measured_rows


def swept():
    """Made-up runs of all formats; the first stops early, the second cannot start."""
    rows = []
    for demo in DEMOS:
        for name in arithmetics():
            rounding = 1e-4 if name in ("8/23", "8/19") else 0.5
            rows.append(
                {
                    "demo": demo,
                    "arith": name,
                    "stopped": None,
                    "end_s": 1.0,
                    "kinetic_difference_max_J": 0.01 + rounding,
                    "kinetic_rounding_max_J": rounding,
                    "kinetic_difference_float64_max_J": 0.01,
                    "loop_position_max_m": 1e-6,
                    "loop_velocity_max_m_s": 1e-5,
                    "angle_max_rad": 1e-3,
                }
            )
    rows[0] |= {"stopped": "singular", "end_s": 0.5}
    rows[1] = dict.fromkeys(rows[1]) | {"demo": rows[1]["demo"], "arith": rows[1]["arith"]}
    rows[1]["stopped"] = "singular"
    return rows


def test_document_holds_every_top_and_goal(monkeypatch, tmp_path, points):
    rows = measured_rows()
    (tmp_path / "pareto.json").write_text(json.dumps(points))
    monkeypatch.setattr(document, "JSON", tmp_path / "pareto.json")
    text = document.document(rows, swept())
    for name in {one.unit for one in JOBS}:
        assert f"`{name}`" in text
    said = re.findall(r'`make synth UNITS="(.*?)"`', text)
    assert sorted(" ".join(said).split()) == sorted({one.unit for one in JOBS})
    assert "MHz ≥ 95: **missed**" in text and "LUT ≤ 345: met" in text
    assert "not measured" not in text
    rest = [row for row in rows if row["unit"] != "fp_recip_iterative"]
    assert "not measured" in document.document(rest, swept())
    assert "at 0.5 s" in text and "at once" in text
    assert "double pendulum: from 8/19 on" in text
    assert NOT_TIMED in text and "41 `fp_add`, 54 `fp_mul`, 1 `fp_recip`" in text
    lines = [line for line in text.splitlines() if line.startswith("| `hdca_coprocessor`")]
    assert any("| 90.0 | slowest unit |" in line for line in lines if "3, 3, 6" in line)
    assert not any("slowest unit" in line for line in lines if "combinational" in line)
    assert "measurements were not made" not in text


@pytest.mark.nightly
def test_clocks_of_folded_tops_are_told_with_their_median():
    placed = {"fmax_mhz_of_seeds": [91.0, 86.0, 88.5], "moved": {"flip_flops": 266}}
    row = next(x for x in measured_rows() if x["config"] == "2+2 lanes" and x["family"] == "ecp5")
    (line,) = document.clocks([*measured_rows(), row | placed]).splitlines()[2:]
    assert line.startswith("| `step_engine`, 2+2 lanes | 3 | 88.5 | 91, 86, 88.5 | 6400 |")
    assert line.endswith("| 266 |")
    assert document.clocks(measured_rows()) == "None was."


@pytest.mark.nightly
def test_the_picture_is_drawn(tmp_path):
    plot(swept(), costs(measured_rows()), tmp_path / "formats.png")
    assert (tmp_path / "formats.png").exists()


def test_what_has_to_run_first_is_one_line_and_status_2(monkeypatch, capsys, tmp_path):
    file = tmp_path / "summary.json"
    monkeypatch.setattr(measure, "SUMMARY", dataclasses.replace(measure.SUMMARY, file=file))
    monkeypatch.setattr(formats, "RESULT", BUILD / "nothing.json")
    assert pareto.main([]) == 2
    assert document.main([]) == 2
    assert formats.main(["--replot"]) == 2
    assert formats.main(["--steps", "0"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and "make synth" in lines[0] and "make synth" in lines[1]


def test_a_run_that_cannot_start_says_why(monkeypatch, tmp_path):
    monkeypatch.setattr(formats, "OUT", tmp_path)
    row = formats.study(("four_bar", "8/7", 1))
    assert "singular posture" in row["stopped"] and row["end_s"] is None
    row = formats.study(("double_pendulum", "8/23", 3))
    assert row["stopped"] is None and row["angle_max_rad"] < 1e-3
