"""Setting up by a command itself, once it has refused what it refuses: make asks it to."""

import argparse
import subprocess
import sys

from scripts.kernel.places import ROOT


def add_set_up(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the parts of scripts/dev/setup.sh."""
    parser.add_argument("--set-up", default="", metavar="PARTS", help="install these first")


def set_up(parts: str) -> None:
    """Install them; setup.sh says what it cannot, and ends the command with its status."""
    if parts:
        done = subprocess.run([ROOT / "scripts" / "dev" / "setup.sh", *parts.split()])
        if done.returncode:
            sys.exit(done.returncode)
