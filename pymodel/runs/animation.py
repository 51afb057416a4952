"""The bars of a mechanism in motion, as a GIF or an MP4."""

from __future__ import annotations

import math
import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.input_error import InputError
from pymodel.runs.plots import (
    BLUE,
    JOINT_COLOURS,
    STYLE,
    bars,
    check_mechanism,
    coils,
    ground_pins,
    square_limits,
    traced_points,
)
from pymodel.runs.trajectory import Trajectory

WRITERS = {".gif": PillowWriter, ".mp4": FFMpegWriter}
UNIT_S = 0.01  # in which a GIF counts the time of a frame
SHORTEST_S, LONGEST_S = 0.04, 0.1  # of a frame
FEWEST, MOST = 25, 100  # frames, which keeps a GIF below a megabyte
SIZE_INCHES, DPI = 4.2, 100
ROUNDING = 1e-9  # of a sum of times, relative


def animate(
    trajectory: Trajectory,
    scenario: Scenario,
    path: str | os.PathLike[str],
    *,
    speed: float | None = None,
) -> Path:
    """Draw the mechanism in motion, with the path of its last tip that moves.

    Parameters
    ----------
    trajectory : Trajectory
    scenario : Scenario
        Its mechanism: any tree, with loops or without.
    path : str or path-like
        Ends in ``.gif``, or in ``.mp4`` where ffmpeg is installed.
    speed : float, optional
        Seconds of the motion that a second shows. By default 1, but runs of less than a second are
        slowed down to take one, and those of more than 10 s sped up.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        If the file has another ending, ffmpeg is missing, the trajectory is not of this mechanism,
        nothing moves in it, or the speed is not positive.
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    if path.suffix not in WRITERS:
        raise InputError(f"{path}: must end in {' or '.join(WRITERS)}")
    writer = WRITERS[path.suffix]
    if not writer.isAvailable():
        raise InputError(f"{path}: needs ffmpeg, which is not installed; a .gif does not")
    check_mechanism(trajectory, scenario)
    if len(trajectory) < 2:
        raise InputError(f"{path}: a trajectory of {len(trajectory)} row cannot move")
    rows, frame, speed = frame_rows(trajectory.t, speed)
    with mpl.rc_context(STYLE):
        _write(writer(fps=1.0 / frame), trajectory, scenario, rows, speed, path)
    return path


def frame_rows(t: np.ndarray, speed: float | None = None) -> tuple[np.ndarray, float, float]:
    """Choose the rows of a trajectory that become frames.

    Parameters
    ----------
    t : numpy.ndarray, shape (T,)
        Times, s, ascending.
    speed : float, optional
        As for :func:`animate`.

    Returns
    -------
    rows : numpy.ndarray, shape (frames,)
    frame : float
        Time of a frame, s.
    speed : float

    Raises
    ------
    InputError
        If the speed is not positive, or so low that there were more than :data:`MOST` frames.
    """
    whole = t[-1] - t[0]
    if speed is None:
        least, most = FEWEST * SHORTEST_S, MOST * LONGEST_S
        speed = float(whole / np.clip(whole, least, most))
    elif not (np.isfinite(speed) and speed > 0.0):
        raise InputError(f"speed: must be positive, got {speed!r}")
    shown = whole / speed
    frame = max(UNIT_S * math.ceil(shown / MOST / UNIT_S - ROUNDING), SHORTEST_S)
    if frame > LONGEST_S:
        least = whole / (MOST * LONGEST_S)
        raise InputError(f"speed: {speed:g} takes too many frames, must be at least {least:.3g}")
    frames = max(round(shown / frame), 1)
    times = t[0] + speed * frame * np.arange(frames + 1)
    return np.searchsorted(t, times - ROUNDING * whole).clip(max=len(t) - 1), frame, speed


def _write(
    writer: PillowWriter | FFMpegWriter,
    trajectory: Trajectory,
    scenario: Scenario,
    rows: np.ndarray,
    speed: float,
    path: Path,
) -> None:
    """Draw frame by frame."""
    q = trajectory.q[rows]
    members, springs = bars(scenario, q), coils(scenario, q)
    pins = kinematics.handle_positions(scenario, q)
    for loop in scenario.loops:
        pin = kinematics.point_position(scenario, q, loop.body, loop.point)
        pins = np.concatenate((pins, pin[:, None]), axis=1)
    tip = traced_points(scenario, trajectory)[-1]

    figure = Figure(figsize=(SIZE_INCHES, SIZE_INCHES), layout="constrained")
    axes = figure.subplots()
    _fit(axes, [*(ends for _, ends in members), *springs], tip)
    for place in ground_pins(scenario):
        axes.plot(*place, "^", ms=11, color="black", zorder=2)
    (trace,) = axes.plot([], [], color=BLUE, lw=1.0, zorder=1)
    colours = [JOINT_COLOURS[(1 + body) % len(JOINT_COLOURS)] for body, _ in members]
    lines = LineCollection([], colors=colours, lw=5, capstyle="round", zorder=3)
    axes.add_collection(lines)
    zigzags = [axes.plot([], [], color="black", lw=1.2, zorder=2.5)[0] for _ in springs]
    (dots,) = axes.plot([], [], "o", ms=5, mfc="white", mec="black", zorder=4)
    pace = "" if speed == 1.0 else f"\n{speed:.2g} times real time"
    title = axes.set_title(pace)  # leaves room for its lines
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the frames must not move
    with writer.saving(figure, str(path), DPI):
        for frame, row in enumerate(rows):
            lines.set_segments([ends[frame] for _, ends in members])
            for zigzag, corners in zip(zigzags, springs, strict=True):
                zigzag.set_data(*corners[frame].T)
            dots.set_data(*pins[frame].T)
            trace.set_data(*tip[: row + 1].T)
            title.set_text(f"{scenario.name}: {trajectory.t[row]:.3f} s{pace}")
            writer.grab_frame()


def _fit(axes: Axes, members: list[np.ndarray], tip: np.ndarray) -> None:
    """Fit the axes to all that is drawn at any time."""
    points = np.concatenate([ends.reshape(-1, 2) for ends in (*members, tip)])
    (ghost,) = axes.plot(*points.T, ",")
    axes.margins(0.08)
    square_limits(axes)
    ghost.remove()
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
