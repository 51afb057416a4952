"""Time of a step against area."""

import pytest

from scripts.evidence.cost.pareto import plot
from scripts.evidence.cost.points import check, front, told
from scripts.kernel.errors import CostError
from scripts.tests.evidence.cost.made import measured_rows


def test_front_keeps_what_nothing_beats():
    points = [{"us": us, "lut": lut} for us, lut in ((1, 9), (2, 5), (2, 7), (3, 6), (4, 1))]
    assert [(p["us"], p["lut"]) for p in front(points, "lut")] == [(1, 9), (2, 5), (4, 1)]


def test_estimates_equal_the_measured_engine_in_area_and_use_the_slowest_unit(points):
    engines = [point for point in points if point["measured"]]
    assert [point["lanes"] for point in engines] == [1, 2, 4, 8]
    for engine in engines:
        same = next(
            p
            for p in points
            if not p["measured"]
            and p["lanes"] == engine["lanes"]
            and p["stages"] == engine["stages"]
        )
        assert (same["lut"], same["dsp"]) == (engine["lut"], engine["dsp"])
        assert same["fmax_mhz"] == 30.0 + 20 * min(engine["stages"])
        assert same["us"] == pytest.approx(same["cycles"] / same["fmax_mhz"])
    fastest = told(points)[2][0]
    assert all(fastest["us"] <= p["us"] for p in points if p["lanes"] == 2 and not p["measured"])


def test_pareto_says_what_is_not_measured():
    rows = measured_rows()
    check(rows)
    with pytest.raises(CostError, match="fp_mul"):
        check([row for row in rows if row["unit"] != "fp_mul"])
    with pytest.raises(CostError, match="step_engine"):
        check([row for row in rows if row["unit"] != "step_engine"])


def test_the_picture_is_drawn(tmp_path, points):
    plot(points, tmp_path / "pareto.png")
    assert (tmp_path / "pareto.png").exists()
