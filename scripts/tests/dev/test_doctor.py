"""The doctor against machines made of fake tools."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.app import doctor
from pymodel.app.doctor import (
    MISSING,
    NOTE,
    OK,
    VERILATOR_NEEDED,
    dotted,
    icarus,
    packages,
    pinned,
    verilator_and_what_misleads_it,
)
from scripts.kernel.places import ROOT

pytestmark = pytest.mark.rtl_of()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """An empty PATH; call the result with a name and what its --version or -V prints."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("VERILATOR_ROOT", raising=False)

    def add(name: str, says: str) -> Path:
        tool = folder / name
        tool.write_text(f"#!/bin/sh\necho '{says}'\n")
        tool.chmod(0o755)
        return tool

    return add


def test_old_verilator_is_caught(machine, tmp_path):
    machine("verilator", "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)")
    (finding,) = verilator_and_what_misleads_it(tmp_path)
    assert finding.state == NOTE
    assert "too old: 5.006" in finding.found and "5.044" in finding.found
    assert finding.fix == "pymodel/hardware/get_verilator.sh"


@pytest.mark.parametrize("version", ["5.044", "5.048", "6.000"])
def test_new_verilator_is_fine(machine, tmp_path, version):
    machine("verilator", f"Verilator {version} 2026-04-26 rev v{version}")
    (finding,) = verilator_and_what_misleads_it(tmp_path)
    assert finding.state == OK and version in finding.found


def test_fetched_verilator_is_found_beside_an_old_one(machine, tmp_path):
    machine("verilator", "Verilator 5.006 2023-01-22")
    own = tmp_path / "verilator/usr/bin"
    own.mkdir(parents=True)
    machine("new", "Verilator 5.048 2026-04-26").rename(own / "verilator")
    (finding,) = verilator_and_what_misleads_it(tmp_path)
    assert finding.state == OK and "5.048" in finding.found


def test_no_verilator_builds_where_a_path_has_a_space(machine, tmp_path):
    machine("verilator", "Verilator 5.048 2026-04-26")
    place = tmp_path / "with a space"
    (finding,) = verilator_and_what_misleads_it(place)
    assert finding.state == NOTE and "a space in its path" in finding.found


def test_no_verilator_is_looked_for_where_a_path_has_a_space(tmp_path):
    place = tmp_path / "with a space"
    (place / "pymodel" / "hardware").mkdir(parents=True)
    shutil.copy(ROOT / "pymodel" / "hardware" / "get_verilator.sh", place / "pymodel" / "hardware")
    script = [place / "pymodel" / "hardware" / "get_verilator.sh"]
    for words in ([], ["--check"]):
        done = subprocess.run([*script, *words], capture_output=True, text=True)
        said = f"get_verilator: it cannot build in a folder with a space in its path: {place}\n"
        assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_stale_verilator_root_is_noted(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("VERILATOR_ROOT", "/gone")
    first, _ = verilator_and_what_misleads_it(tmp_path)
    assert first.what == "VERILATOR_ROOT" and first.fix == "unset VERILATOR_ROOT"


def test_missing_icarus_is_caught(machine):
    finding = icarus()
    assert finding.state == MISSING
    assert finding.fix.endswith("apt-get install -y iverilog")


def test_icarus_version_is_read(machine):
    machine("vvp", "")
    machine("iverilog", "Icarus Verilog version 11.0 (stable) ()")
    assert icarus().state == OK
    machine("iverilog", "Icarus Verilog version 10.3 (stable) ()")
    assert icarus().state == MISSING


def test_missing_venv_and_wrong_package_are_caught(tmp_path):
    (tmp_path / "requirements.txt").write_text("pytest==0.0.1  # not this one\n# comment\n")
    assert packages(tmp_path).fix == "make setup"
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    finding = packages(tmp_path)
    assert finding.state == MISSING and "pinned: 0.0.1" in finding.found


def test_requirements_are_all_pinned():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert len(pinned(ROOT / "requirements.txt")) == len(wanted) > 0


def test_exit_status_without_icarus(machine):
    """As `make doctor` runs it."""
    done = subprocess.run(
        [sys.executable, "-S", "-m", "pymodel.app.doctor"],
        env={"PATH": os.environ["PATH"]},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "MISSING Icarus Verilog" in done.stdout
    assert "MISSING make" in done.stdout


def test_an_installed_package_does_with_one_simulator(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "IS_CHECKOUT", False)

    def states():
        return {it.what: it.state for it in doctor.examine(tmp_path, tmp_path)}

    found = states()
    assert found["Icarus Verilog"] == MISSING and ".venv" not in found and "verible" not in found
    machine("verilator", "Verilator 5.048 2026-04-26")
    assert states()["Icarus Verilog"] == NOTE


def test_verilator_is_fetched_where_it_is_asked_for(monkeypatch, capsys):
    for fetched, status in ((True, 0), (False, 1)):
        monkeypatch.setattr(doctor.verilator, "fetch", lambda fetched=fetched: fetched)
        assert doctor.main(["--get", "verilator"]) == status
    with pytest.raises(SystemExit, match="2"):
        doctor.main(["--get", "anything"])


def test_the_oldest_verilators_agree():
    needed = dotted(VERILATOR_NEEDED)
    assert f"need={needed} " in (ROOT / "pymodel/hardware/get_verilator.sh").read_text()
    assert f"Verilator >= {needed} " in (ROOT / "CONTRIBUTING.md").read_text()
