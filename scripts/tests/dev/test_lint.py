"""What lint finds to lint."""

import ast
import tomllib
from functools import partial

import pytest

from pymodel.hardware.rtl_files import rtl_files
from pymodel.hardware.simulators import usable
from scripts.dev import lint

KINDS = ("verilator_checks", "dialect_checks", "python_checks")
FP_UNIT = """// module comment (
module fp_unit
  import fp_pkg::*;
#(
  parameter int EXP_W = 8,  // parameter int NOT_ME = 1
  parameter int MAN_W = 23
) (
  input logic clk_i
);
  localparam int W = 1 + EXP_W + MAN_W;
endmodule
"""


def make_tree(root):
    for name, text in {
        "rtl/fp/fp_pkg.sv": "package fp_pkg;\nendpackage\n",
        "rtl/fp/fp_unit.sv": FP_UNIT,
        "rtl/top/plain.sv": "module plain (\n  input logic clk_i\n);\nendmodule\n",
        "rtl/rtl.f": "rtl/fp/fp_pkg.sv\nrtl/fp/fp_unit.sv\nrtl/top/plain.sv\n",
        "units/fp_unit.toml": "lint = [{ EXP_W = 4, MAN_W = 2 }, { EXP_W = 11, MAN_W = 52 }]\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_modules_and_their_parameters(tmp_path):
    make_tree(tmp_path)
    assert lint.modules(tmp_path / "rtl/fp/fp_unit.sv") == {"fp_unit": {"EXP_W", "MAN_W"}}
    assert lint.modules(tmp_path / "rtl/fp/fp_pkg.sv") == {}


def test_parameters_are_those_of_a_module_s_record(tmp_path):
    make_tree(tmp_path)
    jobs = dict(lint.lint_jobs(tmp_path))
    names = ["fp_unit", "fp_unit EXP_W=4 MAN_W=2", "fp_unit EXP_W=11 MAN_W=52", "plain"]
    assert list(jobs) == names
    assert jobs[names[1]] == ["--top-module", "fp_unit", "-GEXP_W=4", "-GMAN_W=2"]


def test_style_tells_file_and_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    make_tree(tmp_path)
    file = "rtl/top/plain.sv"
    assert lint.check_style(file) == (True, "")
    (tmp_path / file).write_text("module plain (\n    input logic clk_i\n);\nendmodule\n")
    good, said = lint.check_style(file)
    assert not good and said.startswith(f"{file}:2: 2 spaces")


@pytest.fixture
def checks(monkeypatch):
    """No checks, no Verilator, and not in CI."""
    for kind in KINDS:
        monkeypatch.setattr(lint, kind, list)
    monkeypatch.setattr(lint, "find_verilator", lambda: False)
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tool", "status"), [("true", 0), ("false", 1)])
def test_a_check_that_fails_is_red(kind, tool, status, checks, monkeypatch, capsys):
    monkeypatch.setattr(lint, "find_verilator", lambda: True)
    monkeypatch.setattr(lint, kind, lambda: [("a tool", partial(lint.run, [tool]))])
    assert lint.main() == status
    assert ("FAIL a tool\n" in capsys.readouterr().out) == (status == 1)


PLANTED = """import pymodel

run = pymodel.simulate(pymodel.load("x.toml"), "float32")
run.t.shape
run.duration
pymodel.write_csv(12, run)
pymodel.load()
"""


def test_mypy_tells_what_is_wrong_in_a_use_of_the_package(tmp_path):
    """It takes the package's own types: neither calls nor names are Any."""
    file = tmp_path / "use.py"
    file.write_text(PLANTED)
    good, said = lint.mypy(file)
    assert not good
    lines = [line.partition(": error: ")[2] for line in said.splitlines() if ": error: " in line]
    wrong = ('"Trajectory" has no attribute "duration"', 'Argument 1 to "write_csv"', "Missing pos")
    assert len(lines) == len(wrong)
    for line, start in zip(lines, wrong, strict=True):
        assert line.startswith(start)


def test_the_public_modules_are_checked_strictly():
    """All modules that pymodel/__init__.pyi names, and those alone."""
    tree = ast.parse((lint.ROOT / "pymodel/__init__.pyi").read_text())
    public = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    settings = tomllib.loads((lint.ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    (strict,) = (part for part in settings["overrides"] if part.get("disallow_any_generics"))
    assert set(strict["module"]) == public
    assert not any(part.get("ignore_errors") for part in [settings, *settings["overrides"]])


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_without_verilator_it_is_red_in_ci(ci, status, checks, monkeypatch, capsys):
    monkeypatch.setenv("CI", ci)
    assert lint.main() == status
    assert "skipped: verilator (" in capsys.readouterr().out


@pytest.mark.skipif(not usable("verilator"), reason="no Verilator, or too old")
def test_verilator_tells_what_only_its_warnings_find(tmp_path, monkeypatch):
    make_tree(tmp_path)
    (tmp_path / lint.WAIVERS).write_text("`verilator_config\n")
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    monkeypatch.setattr(lint, "lint_jobs", lambda: [("plain", ["--top-module", "plain"])])
    ((_, check),) = lint.verilator_checks()
    good, said = check()
    assert not good and "UNUSEDSIGNAL" in said


def test_rtl_that_is_not_in_the_list_is_named(tmp_path, monkeypatch, capsys):
    make_tree(tmp_path)
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    monkeypatch.setattr(lint, "rtl_files", lambda: rtl_files(tmp_path))
    monkeypatch.setattr(lint, "find_verilator", lambda: False)
    (tmp_path / "rtl/fp/fp_new.sv").write_text("module fp_new;\nendmodule\n")
    assert lint.main() == 1
    assert capsys.readouterr().out == "lint: rtl/rtl.f does not name: rtl/fp/fp_new.sv\n"
