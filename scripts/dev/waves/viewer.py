"""The viewers, and the files that are written for them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pymodel.hardware import times
from scripts.dev.waves.choose import shown
from scripts.dev.waves.failure import failure_group
from scripts.dev.waves.filters import filter_scripts
from scripts.dev.waves.gtkwave import gtkwave_save
from scripts.dev.waves.layout import is_of, layout_file, read_layout
from scripts.dev.waves.lines import Group, arrange, ports
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.surfer import surfer_commands
from scripts.dev.waves.waveform import Waveform

VIEWERS = ("gtkwave", "surfer")  # the first one found is used
MISSING = 3  # names of what a waveform does not have


def write(wave: Waveform, bench: str) -> dict[str, Path]:
    """Write the files of each viewer next to the waveform; says what the layout names in vain.

    Returns
    -------
    dict
        Viewer -> its file.

    Raises
    ------
    Problem
        If it is of another top level, or the layout is wrong.
    """
    _check_bench(wave, bench)
    groups, missing = _arranged(wave, bench)
    groups = [*failure_group(wave), *groups]
    if missing:
        more = len(missing) - MISSING
        text = "; ".join(missing[:MISSING]) + (f"; {more} more" if more > 0 else "")
        print(f"waves: not in this waveform: {text}")
    if not wave.about:
        print(f"waves: no {wave.path.with_suffix('.json').name}, so floats stay hexadecimal")
    for name, text in filter_scripts(groups, wave).items():
        script = wave.path.with_name(name)
        script.write_text(text)
        script.chmod(0o755)
    files = {"gtkwave": wave.path.with_suffix(".gtkw"), "surfer": wave.path.with_suffix(".sucl")}
    files["gtkwave"].write_text(gtkwave_save(groups, wave))
    files["surfer"].write_text(surfer_commands(groups, wave))
    return files


def _check_bench(wave: Waveform, bench: str) -> None:
    """Refuse the waveform of another top level, whose signals the bench's layout does not name."""
    own, toplevel = wave.about.get("bench", bench), wave.about.get("toplevel", "")
    if own != bench and not is_of(bench, toplevel):
        raise Problem(f"{shown(wave.path)}: is of {own} (top level {toplevel}), not of {bench}")


def _arranged(wave: Waveform, bench: str) -> tuple[list[Group], list[str]]:
    """The groups of a bench's layout, and what it names in vain; without a layout, the ports."""
    layout = layout_file(bench, wave.about.get("toplevel", ""))
    if layout is None:
        return ports(wave), []
    try:
        return arrange(read_layout(layout), wave)
    except Problem as problem:
        raise Problem(f"{shown(layout)}: {problem}") from problem


def open_waveform(wave: Waveform, bench: str) -> int:
    """Write the viewers' files and open a waveform; the viewer's exit status.

    Raises
    ------
    Problem
        As :func:`write` and :func:`viewer_command`.
    """
    failure = wave.about.get("failure")
    at = f" at {times.text(failure['ns'])}" if failure else ""
    place = f"{shown(wave.path)}{at}"
    command = viewer_command(wave.path, write(wave, bench), place)
    return subprocess.run(command, cwd=wave.path.parent).returncode


def viewer_command(wave: Path, files: dict[str, Path], place: str = "") -> list[str]:
    """The command that opens a waveform, to be run in its folder.

    Parameters
    ----------
    wave, files
        The waveform; the file of each viewer.
    place
        What to open and where, for who has to do it by hand; default: the waveform.

    Raises
    ------
    Problem
        Without a viewer, or without a display.
    """
    place = place or str(shown(wave))
    found = next((viewer for viewer in VIEWERS if shutil.which(viewer)), None)
    if found is None:
        raise Problem(
            "no waveform viewer; install GTKWave (apt-get install gtkwave, brew install gtkwave) "
            f"or Surfer (https://surfer-project.org), then open {place}"
        )
    needs_display = sys.platform.startswith("linux")
    if needs_display and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Problem(
            f"no display (DISPLAY is not set): on a machine with one, open {place} "
            f"with {found} and {files[found].name}"
        )
    if found == "gtkwave":
        return [found, wave.name, files[found].name]
    return [found, "--command-file", files[found].name, wave.name]
