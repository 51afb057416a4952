"""`make bench ONLY=waiting`: its table, and by night some small robots."""

import json

import pytest
from rich.console import Console

from scripts.evidence.benchmarks import waiting

pytestmark = pytest.mark.rtl_of()


def test_the_table(capsys):
    stages = {"record": 1.5, "schedule": 2.0, "native_record": 1.0, "emit": 0.5, "compile": 7.25}
    read = {"reader": 0.25, "read_record": 1.5, "list": 0.5}
    whole = {"robot": "atlas", "function": "dFD", "operations": 84677}
    whole |= {f"{name}_s": x for name, x in (stages | read).items()}
    whole |= {f"{name}_mb": 200.0 for name in stages | read}
    columns = {name: x for name, x in whole.items() if name[:-2] not in ("emit", "compile")}
    columns |= {"robot": "128", "function": "dFD, columns"}
    Console(width=180).print(waiting._table([whole, columns]))
    lines = [line.split("│") for line in capsys.readouterr().out.splitlines() if "dFD" in line]
    begin = ["84,677", "1.50 (200)", "2.00 (200)", "0.50 (200)", "2.25"]
    assert [[x.strip() for x in line[1:-1]] for line in lines] == [
        ["atlas", "dFD", *begin, "0.50 (200)", "7.25 (200)", "8.75"],
        ["chain of 128", "dFD, columns", *begin, "", "", ""],
    ]


@pytest.mark.nightly
def test_small_robots(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(waiting, "OUT", tmp_path)
    monkeypatch.setattr(waiting, "ROOT", tmp_path)
    waiting.main(waiting.SHORT)
    dfd, fd, columns = json.loads((tmp_path / "waiting.json").read_text())
    assert "make bench ONLY=waiting" in capsys.readouterr().out
    assert dfd["operations"] > fd["operations"] > 100
    assert dfd["words"] > fd["words"] and dfd["pieces"] >= 1 and "pieces" not in fd
    assert columns["function"] == "dFD, columns" and columns["words"] > fd["words"]
    for stage in ("record", "schedule", "list", "native_record", "emit", "compile"):
        assert dfd[f"{stage}_s"] > 0 and 20 < dfd[f"{stage}_mb"] < 1000
    assert dfd["schedule_mb"] >= dfd["record_mb"]
