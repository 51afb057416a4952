"""Summaries are plain JSON or refused by key."""

import json
from pathlib import Path

import numpy as np
import pytest

from pymodel.runs.summary import write_summary
from pymodel.runs.trajectory import TrajectoryError


def test_summary_keeps_its_order_and_takes_numpy(tmp_path):
    summary = {
        "z": np.float64(0.1),
        "a": np.int32(3),
        "flag": np.bool_(True),
        "array": np.arange(3),
        "nested": {"none": None, "path": Path("x")},
        "list": (1, "two"),
    }
    path = tmp_path / "summary.json"
    write_summary(path, summary)
    text = path.read_text()
    assert json.loads(text) == {
        "z": 0.1,
        "a": 3,
        "flag": True,
        "array": [0, 1, 2],
        "nested": {"none": None, "path": "x"},
        "list": [1, "two"],
    }
    assert list(json.loads(text)) == list(summary)
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        ({"a": {"b": [1.0, np.nan]}}, "summary: a.b[1]: nan is not a finite number"),
        ({"a": np.array([np.inf])}, "summary: a[0]: inf is not a finite number"),
        ({"a": {1: 2}}, "summary: a.1: keys must be strings, got 1"),
        ({"a": object()}, "summary: a: no JSON form for object"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_key(tmp_path, summary, line):
    path = tmp_path / "summary.json"
    with pytest.raises(TrajectoryError) as caught:
        write_summary(path, summary)
    assert str(caught.value) == line
    assert not path.exists()
