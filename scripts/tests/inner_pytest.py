"""pytest in a test, with what has passed kept in a file of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.kernel.places import ROOT

COMMAND = """
import sys
from pathlib import Path
import pytest
from scripts.dev.changed import plugin
plugin.PASSED = Path(sys.argv[1])
sys.exit(pytest.main(["-q", "-p", "scripts.dev.changed.plugin", *sys.argv[2:]]))
"""


def pytest_of(passed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """pytest without workers, in the repository, with these arguments."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, passed, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def pytest_of_module(passed: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """:func:`pytest_of` on a module of this text, in a file that is nobody's input."""
    module = module_of(passed)
    module.parent.mkdir(parents=True)
    try:
        module.write_text(text)
        return pytest_of(passed, str(module), *words)
    finally:
        shutil.rmtree(module.parent)


def module_of(passed: Path) -> Path:
    """Where :func:`pytest_of_module` writes it: in the repository, as all tests are.

    The session and its worker are in the name: another one may run a test of the same name.
    """
    return ROOT / "build" / "tests" / "-".join(passed.parent.parts[-3:]) / "test_inner.py"
