"""Numbers of the tables of robots, into build/robots: a few minutes.

Errors over random states and formats, operations, cycles, memory, and Pinocchio's time on this
machine. Draws build/robots/formats.png, too. Exit status 2, after one line, when something has to
run first.
"""

import argparse
import json
import sys
import timeit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pinocchio

from pymodel.arith.arrays import FormatArrays
from pymodel.arith.errors import Error
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact, Float64, Float64Arrays
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import count, recorded
from pymodel.compile.schedule import bounds
from pymodel.machine.isa import Machine, Program
from pymodel.runs import pinocchio_reference
from pymodel.runs.closed_loop import as_floats, bent, prepare, simulate
from pymodel.runs.progress import progress
from pymodel.runs.robot_calls import prepare as prepare_function
from pymodel.runs.robot_calls import random_states
from scripts.evidence.robots.cases import (
    ARM,
    FORMATS,
    LANES,
    LOOP,
    LOOP_FORMATS,
    MEASURED,
    NAMES,
    OUT,
    PICTURE,
    ROBOTS,
    SEED,
    STATES,
    closed_loop_summary,
    robot,
    small,
)
from scripts.evidence.robots.formats_plot import plot
from scripts.kernel.machine import processor
from scripts.kernel.places import ROOT

Row = dict[str, Any]

REPEATS, CALLS = 7, 2000  # of a call that is timed: the fastest of so many loops


# --- errors ---------------------------------------------------------------------------------------


def errors(name: str, function: str, fmt: Format) -> np.ndarray:
    """Error of each state relative to the state's largest result, rounding of the inputs included.

    Where a result is infinite or not a number, the error is infinite.
    """
    kernel = recorded(small(name), function)
    states = random_states(small(name), function, STATES, SEED)
    given = {column: states[column] for column in kernel.inputs}
    exact = _stacked(kernel.evaluate(Float64Arrays(), given))
    arrays = FormatArrays(fmt)
    rounded = {column: arrays.array(x) for column, x in given.items()}
    results = kernel.evaluate(arrays, rounded)
    found = _stacked({column: x.values for column, x in results.items()})
    with np.errstate(invalid="ignore"):
        error = np.abs(found - exact).max(axis=0) / np.abs(exact).max(axis=0)
    return np.where(np.isfinite(found).all(axis=0), error, np.inf)


def _stacked(results: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.array([np.broadcast_to(x, STATES) for x in results.values()])


def _errors(name: str, function: str, fmt: Format) -> Row:
    found = errors(name, function, fmt)
    finite = found[np.isfinite(found)]
    return {
        "robot": name,
        "function": function,
        "format": str(fmt),
        "finite": len(finite),
        "worst": float(finite.max(initial=0.0)),
        "median": float(np.median(found)) if np.isfinite(np.median(found)) else None,
    }


def _loop_errors(fmt: Format) -> Row:
    """Of the closed loop, against float64."""
    loop, arithmetic = bent(robot(ARM)), BitExact(fmt)
    exact = np.array(simulate(loop, Float64()))
    found = np.array(list(as_floats(arithmetic, simulate(loop, arithmetic))))
    n = loop.robot.nv
    error = np.abs(found - exact)
    return {
        "format": str(fmt),
        "q": float(error[:, :n].max()),
        "tau": float(error[:, 2 * n :].max() / np.abs(exact[:, 2 * n :]).max()),
    }


# --- cost -----------------------------------------------------------------------------------------


def _count(name: str, function: str) -> Row:
    return {"robot": name, "function": function, **count(small(name), function)._asdict()}


def _machine(lanes: int) -> Machine:
    return Machine(adders=lanes, multipliers=lanes)


def _schedule(name: str, function: str, lanes: int) -> Row:
    call = prepare_function(_machine(lanes), small(name), function)
    return {"robot": name, "function": function, **_cost(lanes, call.program, call.kernel)}


def _loop_schedule(lanes: int) -> Row:
    run = prepare(_machine(lanes).boundless, bent(robot(ARM)))
    return {"robot": ARM, "function": LOOP, **_cost(lanes, run.program, run.loop.kernel)}


def _cost(lanes: int, program: Program, kernel: Kernel) -> Row:
    """Cycles and memory of a program."""
    return {
        "lanes": lanes,
        "cycles": program.main,
        "bound": bounds(program.machine, kernel)["both"],
        "registers": max(program.registers),
    }


# --- Pinocchio ------------------------------------------------------------------------------------


def _pinocchio_times(its: pinocchio.Model) -> dict[str, float]:
    """Function -> µs of a call in a loop in Python, all preparation outside."""
    data, rng = its.createData(), np.random.default_rng(SEED)
    q = pinocchio.integrate(its, pinocchio.neutral(its), rng.uniform(-1, 1, its.nv))
    qd, x = rng.uniform(-1, 1, (2, its.nv))
    calls = {
        "ID": lambda: pinocchio.rnea(its, data, q, qd, x),
        "FD": lambda: pinocchio.aba(its, data, q, qd, x),
        "M": lambda: pinocchio.crba(its, data, q),
        "Minv": lambda: pinocchio.computeMinverse(its, data, q),
        "dID": lambda: pinocchio.computeRNEADerivatives(its, data, q, qd, x),
        "dFD": lambda: pinocchio.computeABADerivatives(its, data, q, qd, x),
    }
    return {
        function: 1e6 * min(timeit.repeat(call, number=CALLS, repeat=REPEATS)) / CALLS
        for function, call in calls.items()
    }


def _one_joint() -> pinocchio.Model:
    """A robot with nothing to compute: what it takes is the calling."""
    its = pinocchio.Model()
    its.addJoint(0, pinocchio.JointModelRZ(), pinocchio.SE3.Identity(), "joint")
    its.inertias[1] = pinocchio.Inertia(1.0, np.zeros(3), np.eye(3))
    return its


def _pinocchio() -> Row:
    times = {name: _pinocchio_times(pinocchio_reference.model(robot(name))) for name in ROBOTS}
    return {
        "version": version("pin"),
        "processor": processor(),
        "us": times,
        "calling_us": _pinocchio_times(_one_joint()),
    }


# --- all of it ------------------------------------------------------------------------------------


def jobs() -> list[tuple[str, Callable[[], Row]]]:
    """Table and measurement of each of its rows."""
    found = []
    for name in ROBOTS:
        for function in NAMES:
            found.append(("errors", partial(_errors, name, function, BINARY32)))
            found.append(("counts", partial(_count, name, function)))
            found += [("schedules", partial(_schedule, name, function, n)) for n in LANES]
    for fmt in FORMATS:
        found += [("formats", partial(_errors, ARM, function, fmt)) for function in NAMES]
    found += [("closed_loop", partial(_loop_errors, fmt)) for fmt in LOOP_FORMATS]
    found += [("schedules", partial(_loop_schedule, lanes)) for lanes in LANES]
    return [*found, ("pinocchio", _pinocchio)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        closed_loop_summary()  # the page needs it, too: no minutes before it is missed
    except Error as error:
        print(f"robots-tables: {error}", file=sys.stderr)
        return 2
    tables, todo = {}, jobs()
    with progress("tables of robots", unit="rows") as update:
        for done, (table, job) in enumerate(todo):
            update(done, len(todo))
            tables.setdefault(table, []).append(job())
    OUT.mkdir(parents=True, exist_ok=True)
    MEASURED.write_text(json.dumps(tables, indent=1))
    plot(tables["formats"], tables["closed_loop"], PICTURE)
    print(MEASURED.relative_to(ROOT))
    return 0
