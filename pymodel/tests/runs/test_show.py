"""Pictures on the screen: windows of matplotlib, the system's viewer, and one line without any."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot

from pymodel.runs import show
from pymodel.runs.input_error import InputError

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="they have a display")


@pytest.fixture
def pictures(tmp_path):
    paths = [tmp_path / "wide.png", tmp_path / "high.png"]
    for path, shape in zip(paths, ((10, 40, 3), (40, 10, 3)), strict=True):
        pyplot.imsave(path, np.linspace(0.0, 1.0, 1200).reshape(shape))
    return paths


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    """A viewer of the system that notes what it is given."""
    folder, seen = tmp_path / "bin", tmp_path / "seen"
    folder.mkdir()
    program = folder / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$1" >> "{seen}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return lambda: seen.read_text().splitlines() if seen.exists() else []


def test_without_a_display_it_is_one_line(pictures, viewer, monkeypatch):
    for name in show.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError) as caught:
        show.show(pictures)
    assert "no display" in str(caught.value) and "\n" not in str(caught.value)
    assert not viewer()


def test_the_viewer_where_matplotlib_has_no_windows(pictures, viewer, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(pyplot, "get_backend", lambda: "agg")
    show.show(pictures)
    assert viewer() == [str(path) for path in pictures]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"wide\.png: nothing opens it here"):
        show.show(pictures)


def test_windows_of_matplotlib_and_animations_beside(pictures, viewer, monkeypatch, tmp_path):
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(pyplot, "get_backend", lambda: "TkAgg")
    waited = []
    monkeypatch.setattr(pyplot, "show", lambda block: waited.append(block))
    animation = tmp_path / "animation.gif"
    animation.write_bytes(b"GIF89a")
    pyplot.close("all")
    show.show([*pictures, animation])
    assert waited == [True] and viewer() == [str(animation)]
    assert pyplot.get_figlabels() == [str(path) for path in pictures]
    for label, path in zip(pyplot.get_figlabels(), pictures, strict=True):
        figure = pyplot.figure(label)
        (image,) = figure.axes[0].images
        shown = pyplot.imread(path)
        assert np.array_equal(image.get_array(), shown)
        height, width, _ = shown.shape
        assert figure.get_figwidth() / figure.get_figheight() == pytest.approx(width / height)
        assert figure.get_figwidth() <= show.INCHES[0] and figure.get_figheight() <= show.INCHES[1]
    pyplot.close("all")


def test_a_file_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":99")
    with pytest.raises(FileNotFoundError):
        show.show([tmp_path / "none.png"])
