"""What tools say about themselves."""

import re
import subprocess

LIMIT_S = 30  # for an answer


def output(*command: str, env: "dict[str, str] | None" = None) -> str:
    """What a command prints, standard error included; empty when it cannot be run."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def version_in(text: str, pattern: str = r"(\d+)\.(\d+)") -> "tuple[int, ...]":
    """The first version number in a text as a tuple, () when there is none."""
    match = re.search(pattern, text)
    return tuple(int(part) for part in match.groups()) if match else ()


def dotted(version: "tuple[int, ...]") -> str:
    """As Verilator writes it: `5.036`."""
    return f"{version[0]}.{version[1]:03d}" if version else "unknown version"
