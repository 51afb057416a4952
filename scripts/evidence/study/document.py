"""docs/study.md: paper 001's claims next to what was measured. Numbers are never typed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from scripts.evidence.study import amounts, depth, thin
from scripts.evidence.study.cases import (
    CASES,
    CONTESTANTS,
    END,
    GRAVITY,
    INERTIA,
    LEFT,
    LENGTH,
    MASS,
    METHODS,
    SHOWN,
    TOLERANCES,
)
from scripts.evidence.study.runs import MEASURED
from scripts.kernel.documents import table
from scripts.kernel.pages import render

PAGE = Path(__file__).with_name("study.md.jinja")
CLAIMS = PAGE.with_name("study_claims.md.jinja")
COMMAND = "make study"
EQUAL = 1e-4  # J, of the energy, at which evaluations are compared
Row = Mapping[str, Any]
Key = tuple[str, str, str, float]  #: case, contestant, method, tolerance

#: Numbers of the tables by tolerance: key of a row -> title, format.
QUANTITIES = {
    "energy": ("Largest error of the total energy [J]", ".1e"),
    "position": ("Largest loop position error [m]", ".1e"),
    "velocity": ("Largest loop velocity error [m/s]", ".1e"),
    "x": ("Largest distance of K from the plane of symmetry [m]", ".1e"),
    "evaluations": ("Evaluations of the right-hand side", "d"),
    "seconds": ("Time of a run [s]", ".2f"),
}


class Rows:
    """The runs by what they are of."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows: dict[Key, Row] = {
            (row["case"], row["contestant"], row["method"], row["tolerance"]): row for row in rows
        }

    def get(self, key: str, case: str, contestant: str, method: str, tolerance: float) -> Any:
        """One number."""
        return self.rows[case, contestant, method, tolerance][key]

    def values(self, key: str, contestant: str) -> list[float]:
        """A number of all complete runs of a contestant."""
        return [
            row[key]
            for (_, name, _, _), row in self.rows.items()
            if name == contestant and row["end"] == END
        ]

    def wins(
        self,
        key: str,
        methods: Sequence[str],
        cases: Iterable[str] = CASES,
        tolerances: Sequence[float] = TOLERANCES,
        contestant: str = "hdca",
    ) -> tuple[int, int]:
        """In how many runs, of how many, a number is smaller than DCA's."""
        grid = list(product(cases, methods, tolerances))
        won = 0
        for case, method, tolerance in grid:
            own = self.rows[case, contestant, method, tolerance]
            other = self.rows[case, "dca", method, tolerance]
            won += own["end"] == END and own[key] < other[key]
        return won, len(grid)

    def ratio(self, key: str, method: str, tolerance: float, contestant: str = "hdca") -> str:
        """DCA's number by another's, one of each case."""
        found = [
            self.get(key, case, "dca", method, tolerance)
            / self.get(key, case, contestant, method, tolerance)
            for case in CASES
        ]
        return ", ".join(f"{x:.2f}" for x in found)


def _verdict(won: int, of: int) -> str:
    if won == of:
        return f"**holds** ({won} of {of} runs)"
    return f"**{'does not hold' if 2 * won <= of else 'mostly holds'}** ({won} of {of} runs)"


def _tolerances(case_rows: Callable[[str, str, str], list[str]]) -> str:
    head = ("case, integrator", "algorithm", *(f"{tolerance:.0e}" for tolerance in TOLERANCES))
    return table(
        head,
        [
            (f"{case}, {method}", CONTESTANTS[name].title, *case_rows(case, name, method))
            for case, method, name in product(CASES, METHODS, CONTESTANTS)
        ],
    )


def _quantity(rows: Rows, key: str) -> str:
    title, form = QUANTITIES[key]

    def cells(case: str, name: str, method: str) -> list[str]:
        found = [rows.rows[case, name, method, tolerance] for tolerance in TOLERANCES]
        return [
            format(row[key], form) if row["end"] == END else f"gave up at {row['end']:.1f} s"
            for row in found
        ]

    return f"<details><summary>{title}</summary>\n\n{_tolerances(cells)}\n\n</details>"


def _shown(rows: Rows) -> str:
    keys = ("energy", "velocity", "position", "evaluations", "seconds")
    head = (f"δ = {SHOWN:g}", "energy [J]", "velocity [m/s]", "position [m]", "evaluations", "s")
    return table(
        ("case, integrator, algorithm", *head[1:]),
        [
            (
                f"{case}, {method}, {CONTESTANTS[name].title}",
                *(
                    format(rows.get(key, case, name, method, SHOWN), QUANTITIES[key][1])
                    for key in keys
                ),
            )
            for case, method, name in product(CASES, METHODS, CONTESTANTS)
        ],
    )


def _evaluations(found: Sequence[Row]) -> str:
    return table(
        ("case, algorithm", "×", "+", "1/x", "sin/cos", "longest path", "µs"),
        [
            (
                f"{CASES[row['case']].title}, {CONTESTANTS[row['algorithm']].title}",
                *(row[key] for key in ("mul", "add", "rec", "sincos", "path")),
                f"{row['microseconds']:.2f}",
            )
            for row in found
        ],
    )


def _growth(growth: Mapping[str, Mapping[str, float]], name: str, key: str) -> str:
    return ", ".join(f"{growth[f'{case} {name}'][key]:.1f}" for case in CASES)


def _claims(results: Mapping[str, Any], rows: Rows) -> str:
    difference, growth = results["difference"], results["growth"]
    time = {(row["case"], row["algorithm"]): row["microseconds"] for row in results["evaluations"]}
    worst = {name: max(rows.values("velocity", name)) for name in CONTESTANTS}
    largest = {name: max(rows.values("largest", name)) for name in CONTESTANTS}
    share = max(
        difference["y"] / difference["range"], difference["y_dot"] / difference["range_dot"]
    )
    speed = [
        [rows.get("seconds", case, name, method, tolerance) for method in METHODS]
        for case, name, tolerance in product(CASES, ("hdca", "dca"), TOLERANCES)
    ]
    names = list(METHODS)
    slowest = sum(row[names.index("RK23")] == max(row) for row in speed)
    fastest = sum(min(row) in row[2:] for row in speed)
    faster = sum(time[case, "hdca"] < time[case, "dca"] for case in ("1", "2"))
    tight = TOLERANCES[-1]
    leaves = {
        name: ", ".join(f"{rows.get('x', case, name, 'RK45', SHOWN):.1e}" for case in CASES)
        for name in CONTESTANTS
    }
    claims = [
        (
            "Section 3.1: the motion should stay symmetric",
            f"RK45, δ = {SHOWN:g}: K leaves its plane by {leaves['hdca']} m with HDCA, re-based by "
            f"{leaves['rebased']}, with DCA by {leaves['dca']}",
        ),
        (
            f"Figure 5: HDCA keeps the energy better in all cases (ode45, δ = {SHOWN:g})",
            _verdict(*rows.wins("energy", ["RK45"], tolerances=[SHOWN]))
            + "; with all integrators and tolerances in {} of {}, re-based in {} of {}".format(
                *rows.wins("energy", names), *rows.wins("energy", names, contestant="rebased")
            ),
        ),
        (
            "Figures 6, 7: HDCA reproduces the motion of K in case 1",
            f"{'**holds**' if share < 1e-3 else '**does not hold**'}: within "
            f"{difference['y']:.1e} m and {difference['y_dot']:.1e} m/s of Lagrange's equations, "
            f"{share:.1e} of the range",
        ),
        (
            "Figure 8: HDCA satisfies the velocity constraints within numerical accuracy, DCA does "
            "not",
            f"{_verdict(*rows.wins('velocity', names))}: at worst {worst['hdca']:.1e} m/s, "
            f"re-based {worst['rebased']:.1e}, DCA {worst['dca']:.1e}",
        ),
        (
            "Figure 9: HDCA's loops drift less in position",
            _verdict(*rows.wins("position", names))
            + ": "
            + ", ".join(
                "{} {} of {}".format(method, *rows.wins("position", [method])) for method in names
            ),
        ),
        (
            "Figure 9: DCA's position error grows as the square of time",
            f"from {END / 2:g} to {END:g} s with exponents {_growth(growth, 'dca', 'position')} "
            f"in the three cases (velocity error: {_growth(growth, 'dca', 'velocity')}); HDCA's "
            f"position error with {_growth(growth, 'hdca', 'position')}",
        ),
        (
            "Figures 10, 11: with ode45 HDCA is mostly slower than DCA",
            _verdict(*_lost(rows.wins("seconds", ["RK45"])))
            + f"; evaluations DCA/HDCA at {tight:g}: {rows.ratio('evaluations', 'RK45', tight)}",
        ),
        (
            f"Figure 10: at δ = {tight:g} HDCA is faster in one case with ode45",
            _verdict(*rows.wins("seconds", ["RK45"], tolerances=[tight])),
        ),
        (
            "Figures 10, 11: with ode113 HDCA needs fewer evaluations and less time",
            _verdict(*rows.wins("evaluations", names[2:]))
            + " in evaluations; DCA/HDCA at {:g}: LSODA {}, VODE {}; re-based {} and {}".format(
                tight,
                rows.ratio("evaluations", "LSODA", tight),
                rows.ratio("evaluations", "VODE Adams", tight),
                rows.ratio("evaluations", "LSODA", tight, "rebased"),
                rows.ratio("evaluations", "VODE Adams", tight, "rebased"),
            ),
        ),
        (
            "Figure 11: with ode23 HDCA is better in cases 1 and 2, a little worse in case 3",
            _verdict(*rows.wins("evaluations", ["RK23"], cases="12"))
            + " in evaluations of cases 1 and 2; in case 3 it is better in {} of {}".format(
                *rows.wins("evaluations", ["RK23"], cases="3")
            ),
        ),
        (
            "Table 1: one right-hand side of HDCA takes less time in cases 1 and 2, about the same "
            "in case 3",
            f"{_verdict(faster, 2)}; HDCA/DCA "
            + ", ".join(f"{time[case, 'hdca'] / time[case, 'dca']:.2f}" for case in CASES)
            + " as native code: HDCA has more operations (below)",
        ),
        (
            "Table 2: ode23 is the slowest, ode113 the fastest",
            f"RK23 slowest in {slowest}, one of the Adams methods fastest in {fastest} of "
            f"{len(speed)} comparisons",
        ),
    ]
    text = table(("The paper", "Here"), claims, numbers=False)
    return render(
        CLAIMS,
        text=text,
        gave_up=_gave_up(rows),
        hdca=f"{largest['hdca']:.0f}",
        dca=f"{largest['dca']:.0f}",
        rebased=f"{largest['rebased']:.0f}",
        better_energy=_better(rows, "energy"),
        fewer_evaluations=_better(rows, "evaluations"),
        equal=f"{EQUAL:g}",
        equal_energy=_equal_energy(rows),
    )


def _gave_up(rows: Rows) -> str:
    found = [
        f"{CONTESTANTS[name].title} of case {case} with {method} at δ = {tolerance:g}, "
        f"after {row['end']:.1f} s"
        for (case, name, method, tolerance), row in rows.rows.items()
        if row["end"] < END
    ]
    if not found:
        return "All runs came to their end."
    return f"Runs that lost the motion and gave up, as steps got too small: {'; '.join(found)}."


def _equal_energy(rows: Rows) -> str:
    def evaluations(case: str, name: str, method: str) -> float:
        found = [rows.rows[case, name, method, tolerance] for tolerance in TOLERANCES[::-1]]
        energy, count = np.log([[row["energy"], row["evaluations"]] for row in found]).T
        order = np.argsort(energy)
        return float(np.exp(np.interp(np.log(EQUAL), energy[order], count[order])))

    def ratio(case: str, name: str, method: str) -> str:
        return f"{evaluations(case, 'dca', method) / evaluations(case, name, method):.2f}"

    own = [name for name in CONTESTANTS if name != "dca"]
    return table(
        ("case, algorithm", *METHODS),
        [
            (
                f"{case}, {CONTESTANTS[name].title}",
                *(ratio(case, name, method) for method in METHODS),
            )
            for case, name in product(CASES, own)
        ],
    )


def _lost(found: tuple[int, int]) -> tuple[int, int]:
    won, of = found
    return of - won, of


def _better(rows: Rows, key: str) -> str:
    """In how many runs re-basing makes a number smaller."""
    grid = list(product(CASES, METHODS, TOLERANCES))
    better = sum(
        rows.rows[case, "rebased", method, tolerance][key]
        < rows.rows[case, "hdca", method, tolerance][key]
        for case, method, tolerance in grid
    )
    return f"{better} of {len(grid)}"


def _left(name: str) -> str:
    return ", ".join(f"{angle:g}" for angle in LEFT[name])


def document(results: Mapping[str, Any]) -> str:
    """The page.

    Parameters
    ----------
    results : dict
        What `make study` wrote to build/study/study.json.
    """
    rows = Rows(results["rows"])
    quantities = "\n\n".join(_quantity(rows, key) for key in QUANTITIES)
    return render(
        PAGE,
        command=COMMAND,
        mass=f"{MASS:g}",
        length=f"{LENGTH:g}",
        inertia=f"{INERTIA:g}",
        gravity=f"{-GRAVITY[1]:g}",
        end=f"{END:g}",
        left_four=_left("four"),
        left_eight=_left("eight"),
        left_inner=_left("inner"),
        loosest=f"{TOLERANCES[0]:g}",
        tightest=f"{TOLERANCES[-1]:g}",
        claims=_claims(results, rows),
        latencies=depth.latencies(),
        measured=MEASURED,
        evaluations=_evaluations(results["evaluations"]),
        chains=depth.section(results["depth"]),
        thin=thin.section(results["thin"]),
        amounts=amounts.section(results["amounts"]),
        shown=_shown(rows),
        quantities=quantities,
    )
