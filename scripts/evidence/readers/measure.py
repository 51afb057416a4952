"""Run the readers of robot files on each situation; writes pymodel/mechanism/readers.json.

Pinocchio and MuJoCo are those of this environment, the others are installed into one of their own
in build/readers, by the Python that is asked for. Exit status 2, after one line, if one is missing.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodel.mechanism.readers import SEEN, SITUATIONS
from scripts.evidence.readers.situations import FILES
from scripts.evidence.readers.words import worded
from scripts.kernel.places import BUILD, ROOT

OUT = BUILD / "readers"
PROBE = Path(__file__).with_name("probe.py")
HERE = ("pin", "mujoco")
#: Drake: the last release for Python 3.11, that of this environment.
OTHERS = {"drake": "1.51.1", "idyntree": "15.1.0", "yourdfpy": "0.0.60"}


def _looked(python: str | Path, packages: Sequence[str]) -> dict[str, Any]:
    """What packages of a Python make of the files."""
    command = [str(python), str(PROBE), str(OUT / "files"), *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=OUT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(packages)}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    missing = len(packages) - len(found)
    if missing:
        raise RuntimeError(f"{python}: {missing} of {', '.join(packages)} are not installed")
    return found


def _others(python: str) -> Path:
    """The Python of an environment with the other packages."""
    folder = OUT / "venv"
    if not folder.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    there = folder / "bin" / "python"
    wanted = [f"{name}=={version}" for name, version in OTHERS.items()]
    subprocess.run([there, "-m", "pip", "install", "-q", *wanted], check=True)
    return there


def table(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of the runs: versions, and words by situation and reader."""
    return {
        "readers": {name: its["version"] for name, its in found.items()},
        "situations": {
            key: {
                name: worded(key, its["cells"][key])
                for name, its in found.items()
                if key in its["cells"]
            }
            for key in SITUATIONS
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="of the environment of others")
    options = parser.parse_args(arguments)
    files = OUT / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (files / f"{name}.urdf").write_text(text)
    try:
        found = _looked(sys.executable, HERE)
        found |= _looked(_others(options.python), [*OTHERS])
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"readers: {error}", file=sys.stderr)
        return 2
    SEEN.write_text(json.dumps(table(found), indent=1, ensure_ascii=False) + "\n")
    print(SEEN.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
