"""The doctor against machines made of fake tools."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.dev.doctor.finding import MISSING, NOTE, OK
from scripts.dev.doctor.python import check_packages, pinned
from scripts.dev.doctor.simulators import VERILATOR_NEEDED, check_icarus, check_verilator
from scripts.dev.doctor.versions import dotted
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
    (finding,) = check_verilator(tmp_path)
    assert finding.state == NOTE
    assert "too old: 5.006" in finding.found and "5.044" in finding.found
    assert finding.fix == "scripts/dev/get_verilator.sh"


@pytest.mark.parametrize("version", ["5.044", "5.048", "6.000"])
def test_new_verilator_is_fine(machine, tmp_path, version):
    machine("verilator", f"Verilator {version} 2026-04-26 rev v{version}")
    (finding,) = check_verilator(tmp_path)
    assert finding.state == OK and version in finding.found


def test_fetched_verilator_is_found_beside_an_old_one(machine, tmp_path):
    machine("verilator", "Verilator 5.006 2023-01-22")
    own = tmp_path / ".tools/verilator/usr/bin"
    own.mkdir(parents=True)
    machine("new", "Verilator 5.048 2026-04-26").rename(own / "verilator")
    (finding,) = check_verilator(tmp_path)
    assert finding.state == OK and "5.048" in finding.found


def test_no_verilator_builds_where_a_path_has_a_space(machine, tmp_path):
    machine("verilator", "Verilator 5.048 2026-04-26")
    place = tmp_path / "with a space"
    (finding,) = check_verilator(place)
    assert finding.state == NOTE and "a space in its path" in finding.found


def test_no_verilator_is_looked_for_where_a_path_has_a_space(tmp_path):
    place = tmp_path / "with a space"
    (place / "scripts" / "dev").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "dev" / "get_verilator.sh", place / "scripts" / "dev")
    script = [place / "scripts" / "dev" / "get_verilator.sh"]
    for words in ([], ["--check"]):
        done = subprocess.run([*script, *words], capture_output=True, text=True)
        said = f"get_verilator: it cannot build in a folder with a space in its path: {place}\n"
        assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_stale_verilator_root_is_noted(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("VERILATOR_ROOT", "/gone")
    first = check_verilator(tmp_path)[0]
    assert first.what == "VERILATOR_ROOT" and first.fix == "unset VERILATOR_ROOT"


def test_missing_icarus_is_caught(machine):
    finding = check_icarus()
    assert finding.state == MISSING
    assert finding.fix.endswith("apt-get install -y iverilog")


def test_icarus_version_is_read(machine):
    machine("vvp", "")
    machine("iverilog", "Icarus Verilog version 11.0 (stable) ()")
    assert check_icarus().state == OK
    machine("iverilog", "Icarus Verilog version 10.3 (stable) ()")
    assert check_icarus().state == MISSING


def test_missing_venv_and_wrong_package_are_caught(tmp_path):
    (tmp_path / "requirements.txt").write_text("pytest==0.0.1  # not this one\n# comment\n")
    assert check_packages(tmp_path).fix == "make setup"
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    finding = check_packages(tmp_path)
    assert finding.state == MISSING and "pinned: 0.0.1" in finding.found


def test_requirements_are_all_pinned():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert len(pinned(ROOT / "requirements.txt")) == len(wanted) > 0


def test_exit_status_without_icarus(machine):
    """As `make doctor` runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.dev.doctor"],
        env={"PATH": os.environ["PATH"]},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "MISSING Icarus Verilog" in done.stdout
    assert "MISSING make" in done.stdout


def test_the_oldest_verilators_agree():
    needed = dotted(VERILATOR_NEEDED)
    assert f"need={needed} " in (ROOT / "scripts/dev/get_verilator.sh").read_text()
    assert f"Verilator >= {needed} " in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize(
    "path",
    [ROOT / "scripts/kernel/places.py", *sorted((ROOT / "scripts/dev/doctor").glob("*.py"))],
    ids=str,
)
def test_old_pythons_can_read_it(path):
    ast.parse(path.read_text(), feature_version=(3, 6))
