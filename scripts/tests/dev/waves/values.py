"""The values in a waveform, read by the library that Verilator has with it."""

import os
import shutil
import subprocess
from bisect import bisect_right
from pathlib import Path

SOURCE = Path(__file__).with_name("fst_to_vcd.c")


def build_converter(folder: Path) -> Path:
    """Build the program that writes an FST as VCD."""
    command = ["verilator", "--getenv", "VERILATOR_ROOT"]
    root = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    library = Path(root) / "include" / "gtkwave"
    program = folder / SOURCE.stem
    compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
    options = ["-w", f"-I{library}", "-lz", "-o", program]
    subprocess.run([compiler, SOURCE, *sorted(library.glob("*.c")), *options], check=True)
    return program


class Values:
    """All values of a waveform, by path without range.

    Parameters
    ----------
    program
        What :func:`build_converter` built.
    wave
        The file.
    """

    def __init__(self, program: Path, wave: Path) -> None:
        done = subprocess.run([program, wave], capture_output=True, text=True, check=True)
        self._codes: dict[str, str] = {}
        self._changes: dict[str, tuple[list[int], list[str]]] = {}
        scopes, now = [], 0
        for line in done.stdout.splitlines():
            words = line.split()
            if line.startswith("$scope"):
                scopes.append(words[2])
            elif line.startswith("$upscope"):
                scopes.pop()
            elif line.startswith("$var"):
                self._codes[".".join([*scopes, words[4]])] = words[3]
            elif line.startswith("#"):
                now = int(line[1:])
            elif line and line[0] in "01xzb":
                bits, code = words if line[0] == "b" else (line[0], line[1:])
                times, values = self._changes.setdefault(code, ([], []))
                times.append(now)
                values.append(bits.removeprefix("b"))

    def times(self, path: str) -> list[int]:
        """When a signal changes, ps."""
        return self._changes[self._codes[path]][0]

    def at(self, path: str, time: int) -> int | None:
        """What stands on a signal at a time, ps; None if a bit is unknown."""
        times, values = self._changes[self._codes[path]]
        bits = values[bisect_right(times, time) - 1]
        return int(bits, 2) if set(bits) <= {"0", "1"} else None
