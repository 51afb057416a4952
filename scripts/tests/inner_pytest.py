"""pytest in a test, with what has passed kept in a file of its own."""

import os
import subprocess
import sys
from pathlib import Path

from scripts.places import ROOT

COMMAND = """
import sys
from pathlib import Path
import pytest
from scripts.changed import plugin
plugin.PASSED = Path(sys.argv[1])
sys.exit(pytest.main(["-q", "-p", "scripts.changed.plugin", *sys.argv[2:]]))
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
