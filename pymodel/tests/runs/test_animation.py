"""Animations: what is drawn, how fast, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter, PillowWriter
from PIL import Image

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs.animation import FEWEST, LONGEST_S, MOST, SHORTEST_S, animate, frame_rows
from pymodel.runs.input_error import InputError
from pymodel.runs.simulate import simulate
from pymodel.runs.skeleton import bars, coils, ground_pins, traced_tips
from pymodel.tests.places import SCENARIOS


def coarse(name):
    """A second of a scenario in 100 steps, which is good enough for a picture."""
    return varied(load(SCENARIOS / f"{name}.toml"), step=0.01, integrator="rk4")


@pytest.fixture(scope="module")
def scenario():
    return coarse("coupled_loops")


@pytest.fixture(scope="module")
def run(scenario):
    return simulate(scenario)


@pytest.mark.nightly
def test_a_gif_of_a_tree_with_loops(scenario, run, tmp_path):
    path = animate(run, scenario, tmp_path / "loops.gif")
    assert path.stat().st_size < 1_000_000
    with Image.open(path) as image:
        assert image.n_frames == FEWEST + 1
        assert image.info["duration"] == 1000 * SHORTEST_S
        pictures = []
        for frame in (0, FEWEST):
            image.seek(frame)
            pictures.append(np.asarray(image.convert("RGB")))
    assert (pictures[0] != pictures[1]).any()


@pytest.mark.parametrize(
    ("seconds", "speed", "frame"),
    [
        (1e-4, 1e-4, SHORTEST_S),  # slow motion, a second long
        (1.0, 1.0, SHORTEST_S),
        (4.0, 1.0, SHORTEST_S),
        (5.0, 1.0, 0.05),
        (10.0, 1.0, LONGEST_S),
        (100.0, 10.0, LONGEST_S),  # quick motion
    ],
)
def test_pace(seconds, speed, frame):
    t = np.linspace(0.0, seconds, 10_001)
    rows, *found = frame_rows(t)
    assert found == pytest.approx([frame, speed])
    assert FEWEST < len(rows) <= MOST + 1
    assert (rows[0], rows[-1]) == (0, len(t) - 1)
    assert t[rows] == pytest.approx(np.arange(len(rows)) * frame * speed, rel=0, abs=t[1])


def test_a_chosen_speed():
    rows, frame, speed = frame_rows(np.linspace(0.0, 1.0, 101), 0.5)
    assert (len(rows), frame, speed) == (51, SHORTEST_S, 0.5)


def test_what_is_refused(scenario, run, tmp_path, monkeypatch):
    other = load(SCENARIOS / "four_bar.toml")
    for path, arguments, said in (
        ("x.avi", (run, scenario), "must end in .gif or .mp4"),
        ("x.gif", (run, other), "3 coordinates, the trajectory has"),
        ("x.gif", (run, "tree.toml"), "must be a Scenario, as pymodel.load makes one"),
        ("x.gif", (run.first(1), scenario), "a trajectory of 1 row cannot move"),
        ("x.gif", (replace(run, q=run.q * np.nan), scenario), "x.gif: q is not finite in all rows"),
    ):
        with pytest.raises(InputError, match=said):
            animate(*arguments, tmp_path / path)
    for speed, said in (
        (0.0, "must be pos"),
        ("x", "must be pos"),
        (np.nan, "must be"),
        (1e-3, "at least 0.1"),
    ):
        with pytest.raises(InputError, match=f"speed: .*{said}"):
            animate(run, scenario, tmp_path / "x.gif", speed=speed)
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(InputError, match="needs ffmpeg, which is not installed"):
        animate(run, scenario, tmp_path / "x.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "seconds", "speed", "title"),
    [
        ("tree", 1.0, 1.0, "tree: 1.000 s"),
        ("costs $5 & $6", 1e-4, None, "costs $5 & $6: 0.0001 s\n0.0001 times real time"),
        ("$x^{$", 1e3, 100.0, "$x^{$: 1000.000 s\n100 times real time"),
        ("double pendulum of " * 9, 1.0, 1.0, "double pendulum of double pendulum of\n"),
    ],
)
def test_what_stands_above_a_frame(
    scenario, run, tmp_path, monkeypatch, name, seconds, speed, title
):
    """A dollar begins no formula; a long name leaves room for the time and the mechanism."""
    shown = []

    def look(writer):
        axes = writer.fig.axes[0]
        box = axes._left_title.get_window_extent()
        inside = 0 <= box.x0 and box.x1 <= writer.fig.bbox.x1 and box.y1 <= writer.fig.bbox.y1
        shown.append((axes.get_title(loc="left").replace(r"\$", "$"), inside, axes.bbox.width))

    monkeypatch.setattr(PillowWriter, "grab_frame", look)
    monkeypatch.setattr(PillowWriter, "finish", lambda writer: Path(writer.outfile).touch())
    two = replace(run.first(2), t=np.array([0.0, seconds]))
    animate(two, replace(scenario, name=name), tmp_path / "x.gif", speed=speed)
    text, inside, width = shown[-1]
    assert text.startswith(title) and f"{seconds:.3f} s"[:4] in text
    assert inside and width > 200


@pytest.mark.parametrize(
    ("name", "bodies"),
    [("four_bar", [0, 1]), ("double_pendulum", [1]), ("tree", [3, 4, 5])],
)
def test_tips_that_move_are_traced(name, bodies):
    """The last tip of a four-bar is on the ground, and has no path."""
    scenario = coarse(name)
    found = traced_tips(scenario, simulate(scenario))
    assert [body for body, _ in found] == bodies
    for _, path in found:
        assert path.shape == (101, 2) and np.ptp(path, axis=0).max() > 0.1


def test_an_animation_draws_each_path(tmp_path, monkeypatch):
    scenario = coarse("four_bar")
    run = simulate(scenario)
    frames = []

    def look(writer):
        frames.append([np.transpose(line.get_data()) for line in writer.fig.axes[0].lines])

    monkeypatch.setattr(PillowWriter, "grab_frame", look)
    monkeypatch.setattr(PillowWriter, "finish", lambda writer: Path(writer.outfile).touch())
    animate(run, scenario, tmp_path / "x.gif")
    for _, path in traced_tips(scenario, run):
        assert any(np.array_equal(line, path) for line in frames[-1])
        assert not any(np.array_equal(line, path) for line in frames[0])


def test_bars_of_a_mechanism(scenario, run):
    """From handle 1 to the tip and to every other pin, the ends of loops included."""
    found = bars(scenario, run.q)
    tips = kinematics.tip_positions(scenario, run.q)
    starts = kinematics.handle_positions(scenario, run.q)
    assert {body for body, _ in found} == set(range(len(scenario.bodies)))
    ends = [ends for body, ends in found if body == 0]
    np.testing.assert_array_equal(ends[0], np.stack((starts[:, 0], tips[:, 0]), axis=1))
    for loop in scenario.loops:
        pin = kinematics.point_position(scenario, run.q, loop.body, loop.point)
        assert any((ends[:, 1] == pin).all() for body, ends in found if body == loop.body)


def test_springs_are_drawn_between_their_ends():
    scenario = load(SCENARIOS / "andrews.toml", steps=1)
    q = np.stack((scenario.q0, scenario.q0 + 0.3))
    (corners,) = coils(scenario, q)
    own = kinematics.point_position(scenario, q, 2, (0.02, -0.018))
    np.testing.assert_allclose(corners[:, 0], [[0.014, 0.072]] * 2, rtol=0, atol=1e-15)
    np.testing.assert_allclose(corners[:, -1], own, rtol=0, atol=1e-15)
    assert (0.014, 0.072) in ground_pins(scenario)
    assert any((ends[:, 1] == own).all() for body, ends in bars(scenario, q) if body == 2)
    assert coils(load(SCENARIOS / "four_bar.toml"), q[:, :3]) == []
