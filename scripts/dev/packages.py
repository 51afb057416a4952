"""Install requirements into the environment of this Python: with uv, or where that fails with pip.

    python -m scripts.dev.packages requirements.txt

uv takes seconds where pip takes most of a minute. It does not read pip's settings: it is told here
where pip looks for packages. Nothing but the standard library is needed.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

OF_UV = str(Path(__file__).parents[2] / "requirements-uv.txt")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
UV = (sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable)

#: Setting of pip -> variable of uv.
VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}
BETWEEN = {"extra-index-url": " ", "find-links": ",", "trusted-host": " "}  # several values
#: Of several indexes the best version counts, as for pip.
STRATEGY = {"UV_INDEX_STRATEGY": "unsafe-best-match"}


def environment(settings: str) -> dict[str, str]:
    """Variables that tell uv where to look.

    Parameters
    ----------
    settings
        What ``pip config list`` prints: lines ``<place>.<name>='<value>'``. Where pip has a name
        from several places, ``:env:`` counts most and ``global`` least.
    """
    found = {}
    for line in sorted(settings.splitlines(), key=_weight):
        place, _, value = line.partition("=")
        name = place.rpartition(".")[2]
        if name in VARIABLES:
            value = ast.literal_eval(value)
            several = name in BETWEEN
            found[VARIABLES[name]] = BETWEEN[name].join(value.split()) if several else value
    return STRATEGY | found


def _weight(line: str) -> int:
    """How much a place of pip's settings counts: between the two are those of its commands."""
    place = line.partition(".")[0]
    return {"global": 0, ":env:": 2}.get(place, 1)


def reason(said: str) -> str:
    """The line that says why a command failed: the first that is no warning of another try."""
    lines = said.strip().splitlines()
    errors = (line for line in lines if not line.startswith("WARNING"))
    return next(errors, lines[0] if lines else "no reason given")


def install(requirements: Sequence[str], given: Mapping[str, str] = os.environ) -> int:
    """Install what files of requirements list; returns pip's exit status if it comes to that."""
    files = [word for name in requirements for word in ("-r", name)]
    settings = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True).stdout
    told = environment(settings) | given
    for command in ([*PIP, "install", "-qq", "-r", OF_UV], [*UV, "-q", *files]):
        done = subprocess.run(command, env=told, capture_output=True, text=True)
        if done.returncode:
            print(f"set-up: pip goes on without uv: {reason(done.stderr)}", file=sys.stderr)
            return subprocess.run([*PIP, "install", "-qq", *files]).returncode
    return 0


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
