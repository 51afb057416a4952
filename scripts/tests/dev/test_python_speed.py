"""Which Python .venv is made with."""

import subprocess
import sys

import pytest

from pymodel.hardware.places import ROOT

pytestmark = pytest.mark.rtl_of()


@pytest.fixture
def chosen(tmp_path):
    """What set-up chooses of Pythons by their folders: what each prints as its speed, or None."""

    def choose(**speeds):
        folders = []
        for name, speed in speeds.items():
            folders.append(tmp_path / name)
            folders[-1].mkdir()
            python = folders[-1] / "python3.11"
            python.write_text(f"#!/bin/sh\n{'exit 1' if speed is None else f'echo {speed}'}\n")
            python.chmod(0o755)
        path = ":".join([*map(str, folders), "/usr/bin", "/bin"])
        command = [ROOT / "scripts" / "dev" / "setup.sh", "python"]
        # Those of the machine take thousands.
        said = subprocess.run(
            command, env={"PATH": path}, capture_output=True, text=True, check=True
        )
        return said.stdout.removeprefix(f"{tmp_path}/").strip()

    return choose


def test_the_quickest_is_chosen(chosen):
    assert chosen(slow=30, quick=20, slower=100) == "quick/python3.11"


def test_one_that_cannot_make_a_venv_is_not(chosen):
    assert chosen(broken=None, slow=30) == "slow/python3.11"


def test_this_python_tells_its_speed():
    script = ROOT / "scripts" / "dev" / "python_speed.py"
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert int(said.stdout) > 0
