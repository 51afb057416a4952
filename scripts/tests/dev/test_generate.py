"""The generator: it writes below the folder that it is given, and the package writes nothing."""

import shutil
import subprocess
import sys

import pytest

from scripts.dev import generate
from scripts.kernel.places import ROOT

pytestmark = pytest.mark.rtl_of()


def test_all_files_are_written(tmp_path, capsys):
    generate.write(tmp_path)
    files = generate.generated_files()
    assert capsys.readouterr().out.split() == list(files)
    assert all((tmp_path / path).read_text() == text for path, text in files.items())
    assert {path.split("/")[0] for path in files} == {"rtl", "sw", "docs"}


@pytest.mark.parametrize("module", ["pymodel.machine.register_files", "pymodel.arith.sincos"])
def test_no_module_of_the_package_writes_into_its_folder(tmp_path, module):
    """Where it is installed, that would be beside it."""
    left_out = shutil.ignore_patterns("__pycache__", "tests")
    shutil.copytree(ROOT / "pymodel", tmp_path / "pymodel", ignore=left_out)
    command = [sys.executable, "-B", "-m", module, "--help"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == ["pymodel"]
