"""The study of paper 001: its cases, its runs, and what its page says of them."""

import numpy as np
import pytest

from pymodel.mechanism import kinematics
from pymodel.runs.lagrangian import Lagrangian
from scripts.study import depth, document
from scripts.study.cases import CASES, CONTESTANTS, END, METHODS, TOLERANCES
from scripts.study.runs import Job, right_hand_side, solved

SIZES = {"1": (4, 1), "2": (8, 1), "3": (8, 2)}


@pytest.mark.parametrize("case", CASES)
def test_cases_are_symmetric_at_rest_and_far_from_singular(case):
    _, scenario, point, middle = CASES[case]
    q = scenario.q0
    assert (len(scenario.bodies), len(scenario.loops)) == SIZES[case]
    assert kinematics.loop_position(scenario, q) < 1e-15
    assert Lagrangian(scenario).condition(q) < 100
    centres = kinematics.centres_of_mass(scenario, q)
    assert centres[:, 0].mean() == pytest.approx(middle, abs=1e-12)
    tip = kinematics.point_position(scenario, q, point, scenario.bodies[point].tip)
    assert tip[0] == pytest.approx(middle, abs=1e-12)
    assert all((b.mass, b.inertia, b.qd) == (1.0, 1.0, 0.0) for b in scenario.bodies)


@pytest.mark.parametrize("case", CASES)
def test_right_hand_sides_are_of_the_same_motion(case):
    """The accelerations that HDCA's rates have, by differences, are those of DCA."""
    scenario, step = CASES[case].scenario, 1e-5
    hdca, dca = (right_hand_side(case, name) for name in ("hdca", "dca"))
    n = hdca.size
    before, after = (
        hdca.velocities((hdca.start + sign * step * hdca.rates(0.0, hdca.start))[:, None])
        for sign in (-1, 1)
    )
    exact = Lagrangian(scenario).constrained_accelerations(scenario.q0, np.zeros(n))[0]
    np.testing.assert_allclose((after - before)[:, 0] / (2 * step), exact, rtol=0, atol=1e-6)
    np.testing.assert_allclose(dca.rates(0.0, dca.start)[n:], exact, rtol=0, atol=1e-12)


def test_runs():
    """HDCA's loops keep their velocities, DCA's do not; a run is the same motion for all."""
    found = {name: solved(Job("1", name, "RK45", 1e-7)) for name in CONTESTANTS}
    found["adams"] = solved(Job("1", "hdca", "VODE Adams", 1e-7))
    for series, row in found.values():
        assert series.t[0] == 0.0 and row["end"] == series.t[-1] == END
        assert row["energy"] < 2e-3
        assert series.y[-1] == pytest.approx(found["dca"][0].y[-1], abs=1e-3)
    for name in ("hdca", "rebased", "adams"):
        assert found[name][1]["velocity"] < 1e-12
        assert found[name][1]["position"] < found["dca"][1]["position"]
    assert found["dca"][1]["velocity"] > 1e-7
    assert found["rebased"][1]["largest"] < 0.2 * found["hdca"][1]["largest"]


def row(case, contestant, method, tolerance, scale):
    numbers = dict.fromkeys(
        ("energy", "position", "velocity", "x", "seconds", "largest"), scale * tolerance
    )
    job = {"case": case, "contestant": contestant, "method": method, "tolerance": tolerance}
    return job | numbers | {"evaluations": int(scale / tolerance), "end": END}


def test_wins_and_equal_energy():
    """DCA's errors are twice as large and it takes twice the work: at equal errors four times."""
    rows = document.Rows(
        row(case, name, method, tolerance, 2.0 if name == "dca" else 1.0)
        for case in CASES
        for name in CONTESTANTS
        for method in METHODS
        for tolerance in TOLERANCES
    )
    assert rows.wins("energy", list(METHODS)) == (84, 84)
    assert rows.wins("energy", ["RK45"], cases="1", tolerances=[1e-6]) == (1, 1)
    assert rows.ratio("evaluations", "RK23", 1e-6) == "2.00, 2.00, 2.00"
    assert "| 1, HDCA | 4.00 | 4.00 | 4.00 | 4.00 |" in document._equal_energy(rows)
    rows.rows["1", "hdca", "RK45", 1e-6] |= {"end": 3.0}
    assert rows.wins("energy", list(METHODS)) == (83, 84)
    assert "HDCA of case 1 with RK45 at δ = 1e-06, after 3.0 s" in document._gave_up(rows)


def test_where_log_n_wins():
    """A path of 60 cycles with 32 n additions against one of 10 n with 8 n."""

    def rows():
        for n in depth.SIZES:
            for name in ("hdca", "dca", "aba", "naudet"):
                recursive = name in depth.RECURSIVE
                work = (8 if recursive else 32) * n
                yield {
                    "n": n,
                    "algorithm": name,
                    "path": 10 * n if recursive else 60,
                    "add": work,
                    "mul": work // 2,
                }

    found = list(rows())
    assert [depth.first_win(found, "hdca", lanes) for lanes in (1, 2, 4)] == [None, None, 8]
    assert "never on 1 + 1, 2 + 2 lanes; from 8 bodies on 4 + 4" in depth.section(
        [row | {"rec": 1, "sincos": 1} for row in found]
    )
