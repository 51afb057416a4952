"""The study of paper 001: its cases, its runs, and what its page says of them."""

import dataclasses
import json
from itertools import product

import numpy as np
import pytest

from pymodel.arith.scalars import Float64
from pymodel.compile.rivals import ALGORITHMS
from pymodel.mechanism import kinematics, lending
from pymodel.mechanism.scenario import ScenarioError, inertia_matrix
from pymodel.runs.lagrangian import Lagrangian
from scripts.evidence.study import amounts, command, depth, document, thin
from scripts.evidence.study.cases import CASES, CONTESTANTS, END, METHODS, TOLERANCES, hinged_chain
from scripts.evidence.study.runs import Job, right_hand_side, solved

pytestmark = pytest.mark.rtl_of()

SIZES = {"1": (4, 1), "2": (8, 1), "3": (8, 2)}


def test_a_part_that_there_is_not_is_refused_in_one_line(capsys):
    assert command.main(["--only", "nope"]) == 2
    assert capsys.readouterr().err == "ONLY=nope: must be runs, depth, thin or amounts\n"


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


def depth_rows():
    """A path of 60 cycles with 32 n additions against one of 10 n with 8 n."""
    for chain, n, name in product(depth.CHAINS, depth.SIZES, ALGORITHMS):
        recursive = name in depth.RECURSIVE
        work, path = (8 * n, 10 * n) if recursive else (32 * n, 60)
        row = {"chain": chain, "n": n, "algorithm": name, "path": path, "add": work}
        row |= {"mul": work // 2, "rec": n, "sincos": n}
        cycles = {lanes: depth.bound(row, lanes) for lanes in depth.ENGINES}
        shared = depth.SEVERAL if n == depth.SHARED_SIZE else ()
        yield row | {
            "cycles": cycles,
            "registers": dict.fromkeys(cycles, 100),
            "together": {f"{systems}": work / systems for systems in shared},
        }


def test_where_log_n_wins(tmp_path):
    rows = list(depth_rows())
    plane = depth.of_chain(rows, "plane")
    wins = {lanes: depth.first_win(plane, "hdca", lanes) for lanes in depth.ENGINES}
    assert list(wins.values()) == [None, None, 8, 8, 8, 8]
    text = depth.section(rows)
    assert "HDCA beats recursion from 8 bodies and 4+4 lanes on" in text
    assert "HDCA never on 1+1, 2+2, from 8 bodies on 4+4" in text
    depth.draw(rows, tmp_path / "depth.png")
    assert (tmp_path / "depth.png").exists()


def test_a_right_hand_side_is_scheduled_on_all_engines():
    job = depth.Job("plane", 4, "naudet")
    found, row = depth._measured(job)
    assert found == job
    cycles = list(row["cycles"].values())
    assert cycles == sorted(cycles, reverse=True)
    assert all(x > depth.bound(row, lanes) for lanes, x in row["cycles"].items())


def test_a_part_leaves_the_others(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "OUT", tmp_path)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "study.json")
    for number in (1, 2):
        parts = {name: lambda x=f"{name} {number}", k=name: ({k: x}, []) for name in command.PARTS}
        monkeypatch.setattr(command, "PARTS", parts)
        found = command.study(["runs", "depth"] if number == 1 else ["depth"])
    assert found == {"runs": "runs 1", "depth": "depth 2"}
    assert json.loads((tmp_path / "study.json").read_text()) == found


def test_counts_of_paper_003():
    assert depth.paper_003(10) == {"mul": 1605, "add": 1550}


def test_chains_in_space_are_each_others_starts():
    assert hinged_chain(3).bodies == hinged_chain(5).bodies[:3]


def test_all_algorithms_move_a_chain_in_space_alike():
    scenario = hinged_chain(5)
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-3, 3, 5), rng.normal(size=5)
    p = kinematics.joint_momenta(scenario, q, qd)

    def found(name):
        x = p if ALGORITHMS[name].state == "p" else qd
        return ALGORITHMS[name].evaluate(Float64(), scenario, q.tolist(), x.tolist(), "balanced")

    np.testing.assert_allclose(found("aba")["qdd"], found("dca")["qdd"], rtol=1e-9)
    for kind in ("qd", "pd"):
        np.testing.assert_allclose(found("naudet")[kind], found("hdca")[kind], rtol=1e-9)
    np.testing.assert_allclose(found("hdca")["qd"], qd, rtol=1e-9)


@pytest.mark.parametrize("name", thin.COLOURS)
def test_thin_bodies_keep_their_digits_where_they_lend(name):
    scenario = thin.shaft_and_arm(1e-3)
    errors = {kind: thin.error(name, scenario, kind, 0) for kind in thin.FORMATS}
    assert errors["float32"] < 1e-5 and errors["float64"] < 1e-13
    with lending.chosen_by(lending.nothing):
        without = thin.error(name, scenario, "float32", 0)
    assert (without > 1e-3) == (name == "hdca")


def test_lines_and_points_are_refused_where_nothing_is_lent():
    for kind in thin.KINDS.values():
        assert thin.error("hdca", kind.scenario(0.0), "float32", 0) < 1e-4
        with lending.chosen_by(lending.nothing), pytest.raises(ScenarioError, match="inertia: 0"):
            thin.error("hdca", kind.scenario(0.0), "float32", 0)


def test_what_the_page_says_of_thin_bodies(tmp_path):
    keys = "kind", "thickness", "format", "lending", "algorithm"
    every = product(thin.KINDS, thin.THICKNESSES, thin.FORMATS, thin.LENDING, thin.COLOURS)
    rows = [dict(zip(keys, job, strict=True)) | {"median": 1e-7, "worst": 2e-7} for job in every]
    for row in rows:
        if row["lending"] == "without" and row["thickness"] <= 1e-3:
            worst = None if row["thickness"] == 0.0 else thin.NO_DIGIT
            row |= {"median": worst, "worst": worst}
    text = thin.section(rows)
    line = "float32, HDCA | 2e-07 → 2e-07 | 2e-07 → 2e-07 | no digit → 2e-07 | no digit → 2e-07 |"
    assert f"| Shaft and arm on hinges, {line} refused → 2e-07 |" in text
    assert "no error here is above 2e-07 in float32" in text
    thin.draw(rows, tmp_path / "thin.png")
    assert (tmp_path / "thin.png").exists()


def test_isotropic_inertias_by_lending():
    """A box on a hinge across it, its mass centre on a principal axis; a bar gets as thin as is."""
    box = amounts.bar(0.5, (1, 0, 0), (0.0, 1.0, 0.0), attach=amounts.STILL)
    box = dataclasses.replace(box, inertia=(0.3, 0.0, 0.0, 0.4, 0.0, 0.5), rotation=amounts.STILL)
    scenario = amounts._in_space("box", [box])
    with lending.chosen_by(amounts.isotropic):
        (lent,) = lending.lent(scenario).bodies
    moments = inertia_matrix(lent.moments)
    np.testing.assert_allclose(moments, moments[0, 0] * np.eye(3), atol=1e-15)
    assert amounts.error(scenario) < 1e-13
    with lending.chosen_by(amounts.isotropic):
        assert amounts.error(scenario) < 1e-12


def test_operations_by_what_is_lent():
    name, rows = amounts._measured("double_pendulum")
    counts = {row["rule"]: (row["mul"], row["add"]) for row in rows}
    assert counts["conditioned"] == counts["nothing"] == (89, 56)
    assert counts["centred"] == (63, 35)
    assert all(row["error"] < 1e-13 for row in rows)
    text = amounts.section(
        [*rows, *(row | {"mechanism": "other", "mul": 89, "add": 56} for row in rows)]
    )
    assert f"| {name} | 89 × 56 + | 89 × 56 + | 89 × 56 + | 63 × 35 + | 32% |" in text
    assert "32% to 32% in 1 of 2" in text.replace("\n", " ")


@pytest.mark.parametrize("name", amounts.MADE)
def test_mechanisms_that_are_counted_are_closed(name):
    scenario = amounts.MADE[name]()
    assert kinematics.loop_position(scenario, scenario.q0) < 1e-12
