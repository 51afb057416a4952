"""Pictures on the screen: those that a run has written, each in a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pymodel.runs.input_error import InputError

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")  # what the environment says where there is one
READ = {".png"}  # endings that matplotlib's windows show
INCHES = 12.0, 8.0  # of a window at most


def require_display() -> None:
    """Refuse to show pictures where nobody would see them, before the work that leads to them.

    Raises
    ------
    InputError
        If there is no display.
    """
    if sys.platform in ("win32", "darwin"):
        return
    if not any(os.environ.get(name) for name in DISPLAYS):
        raise InputError(f"no display to show pictures on: none of {', '.join(DISPLAYS)} is set")


def show(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Show pictures until their windows are closed; where matplotlib has none, by the viewer.

    Parameters
    ----------
    paths : sequence of str or path-like
        Files that exist: PNG, or what the system's viewer opens, such as an animation.

    Raises
    ------
    InputError
        If there is no display, or nothing that opens a picture.
    OSError
        If a file cannot be read.
    """
    require_display()
    files = [Path(path) for path in paths]
    for file in files:
        file.open("rb").close()
    windows = _windows()
    others = [file for file in files if not windows or file.suffix.lower() not in READ]
    for file in others:
        _view(file)
    if len(others) < len(files):
        _show([file for file in files if file not in others])


def _windows() -> bool:
    """Whether matplotlib can open windows here."""
    from matplotlib import pyplot
    from matplotlib.backends.registry import BackendFilter, backend_registry

    known = {name.lower() for name in backend_registry.list_builtin(BackendFilter.INTERACTIVE)}
    return pyplot.get_backend().lower() in known


def _show(files: Sequence[Path]) -> None:
    """Open windows, and wait until all are closed."""
    from matplotlib import pyplot

    for file in files:
        picture = pyplot.imread(file)
        height, width, *_ = picture.shape
        scale = min(INCHES[0] / width, INCHES[1] / height)
        figure = pyplot.figure(str(file), figsize=(scale * width, scale * height))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.imshow(picture)
        axes.set_axis_off()
    pyplot.show(block=True)


def _view(file: Path) -> None:
    """Hand a file to the system's viewer."""
    if sys.platform == "win32":
        os.startfile(file)  # noqa: S606
        return
    name = "open" if sys.platform == "darwin" else "xdg-open"
    viewer = shutil.which(name)
    if viewer is None:
        raise InputError(f"{file}: nothing opens it here, neither matplotlib's windows nor {name}")
    subprocess.run([viewer, str(file)], check=False, stdout=subprocess.DEVNULL)
