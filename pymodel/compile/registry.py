"""What can be recorded: functions of scalars by name, with their inputs, outputs and units.

Each entry says for a mechanism which values its function takes and gives. :func:`recorded` records
it; the rest of the compile path needs nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pymodel.algorithms.integrators import integrate, time_after
from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import BASE, CLOSED_BASES, serve
from pymodel.algorithms.step import Mechanism, prepare, rates
from pymodel.algorithms.unused_options import refuse_unused
from pymodel.arith.errors import InputError, require, require_flag, require_one_of
from pymodel.arith.scalars import S, SupportsPivoting
from pymodel.compile import recording_limit
from pymodel.compile.graph import Graph
from pymodel.compile.kernel import Function, Kernel, record
from pymodel.compile.recording_limit import extrapolated, limited
from pymodel.mechanism.robot import one_line
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.topology import SHAPES
from pymodel.mechanism.units import (
    coordinate_units,
    force_units,
    momentum_units,
    velocity_units,
)

FIRST = (32, 64)  #: bodies whose operations those of many are estimated from

Units = dict[str, str]  #: name of a value -> its unit


@dataclass(frozen=True)
class Signature:
    """Names and units of what a function takes and gives.

    Attributes
    ----------
    inputs, carried, outputs : dict
        Name -> unit.
    """

    inputs: Units
    carried: Units
    outputs: Units


@dataclass(frozen=True)
class Entry:
    """A function that can be recorded for any mechanism.

    Attributes
    ----------
    name, text : str
        What it is called, and what it does in a line.
    signature : callable
        (scenario, **options) -> :class:`Signature`.
    function : callable
        (scenario, **options) -> :data:`pymodel.compile.kernel.Function`.
    """

    name: str
    text: str
    signature: Callable[..., Signature]
    function: Callable[..., Function]


def recorded(
    name: str,
    scenario: Scenario,
    *,
    shape: str | Sequence[Any] = "balanced",
    base: str = BASE,
    rebasing: bool = False,
    rebase_now: bool = False,
    project_now: bool = False,
) -> Kernel:
    """Record a function of the registry.

    Parameters
    ----------
    name : str
        A key of :data:`REGISTRY`.
    scenario : Scenario
    shape, base
        As for :func:`pymodel.algorithms.step.prepare`.
    rebasing, rebase_now : bool
        Of ``step``, of a mechanism with loops: whether the run re-bases momenta in some steps, and
        in this one.
    project_now : bool
        Of ``step``, of a mechanism with loops: whether this one ends with a projection.

    Returns
    -------
    Kernel

    Raises
    ------
    InputError
        If there is no such function, shape or base, or an option would change nothing.
    ScenarioError
        If it is the step of an adaptive integrator.
    pymodel.compile.graph.RecordingError
        If the function decides on data: the base ``ldup`` chooses pivots.
    """
    require_one_of("function", name, REGISTRY)
    require(scenario, Scenario, "load")
    if isinstance(shape, str) or not isinstance(shape, Sequence | int):
        require_one_of("shape", shape, SHAPES)
    require_one_of("base", base, CLOSED_BASES)
    refuse_unused(scenario, shape=shape, base=base)
    for option, given, use in (
        ("rebasing", rebasing, name == "step" and scenario.loops),
        ("rebase_now", rebase_now, rebasing),
        ("project_now", project_now, name == "step" and scenario.loops and not rebasing),
    ):
        if require_flag(option, given) and not use:
            where = "with rebasing" if option == "rebase_now" else "for a step with loops"
            without = " and without rebasing" if option == "project_now" else ""
            raise InputError(f"{option}: only {where}{without}")
    options = {"rebasing": True, "rebase_now": rebase_now} if rebasing else {}
    options |= {"project_now": True} if project_now else {}
    return record_function(name, scenario, shape=shape, base=base, **options)


def record_function(name: str, scenario: Scenario, **options: Any) -> Kernel:
    """As :func:`recorded`, with options that are checked already, or for many scenarios.

    Those of :func:`pymodel.algorithms.step.prepare` may be without an effect.
    """

    def recorded(first: Scenario, **alike: Any) -> Kernel:
        return record_function(name, first, **alike)

    signature = REGISTRY[name].signature(scenario, **options)
    function = REGISTRY[name].function(scenario, **options)
    graph = limited(Graph(), *expected_operations(name, scenario, recorded, options))
    return record(function, signature.inputs, signature.carried, graph=graph)


def expected_operations(
    name: str,
    scenario: Scenario,
    recorded: Callable[..., Kernel],
    options: Mapping[str, Any],
) -> tuple[str, int]:
    """Estimate the operations of a function of a mechanism by those of its first bodies.

    Those of its loops are not in the estimate.

    Parameters
    ----------
    name, scenario
        The function, and the mechanism.
    recorded
        Records it for another mechanism, with such options.
    options
        Those for this one.

    Returns
    -------
    what : str
        Whose operations they are, in words.
    count : int
        0 if it has few bodies, which are just recorded.
    """
    what, bodies = f"{name} of {one_line(scenario.name)}", len(scenario.bodies)
    if bodies <= recording_limit.FEW:
        return what, 0
    of_all = {"shape": str, "base": str}  # a tree is of these bodies
    alike = {x: options[x] for x, kind in of_all.items() if isinstance(options.get(x), kind)}
    counts = [len(recorded(_first(scenario, size), **alike).graph.nodes) for size in FIRST]
    return what, extrapolated(FIRST, counts, bodies)


def _first(scenario: Scenario, size: int) -> Scenario:
    """The mechanism of its first bodies, whose loops are open."""
    springs = tuple(x for x in scenario.springs if max(x.body, x.to) < size)
    return replace(scenario, bodies=scenario.bodies[:size], loops=(), springs=springs)


def _numbered(name: str, units: Sequence[str]) -> Units:
    return {f"{name}[{k}]": unit for k, unit in enumerate(units)}


def _state(scenario: Scenario) -> Units:
    return _numbered("q", coordinate_units(scenario)) | _numbered("p", momentum_units(scenario))


def state_names(scenario: Scenario) -> list[str]:
    """Name the state of a mechanism: coordinates, then momenta."""
    return list(_state(scenario))


def _t_cut(scenario: Scenario) -> Units:
    found: Units = {}
    held = scenario.constraints[len(scenario.bodies) :]
    for loop, (translations, rotations) in enumerate(held):
        units = ["N s"] * translations + ["N m s"] * rotations
        parts = range(len(units)) if scenario.spatial else "xy"
        found |= {f"t_cut[{loop}].{part}": x for part, x in zip(parts, units, strict=True)}
    return found


def clock_names(scenario: Scenario) -> list[str]:
    """Name the number of the step: carried, from 0 on, where a torque depends on time."""
    return ["step_number"] if scenario.is_driven else []


def t_cut_names(scenario: Scenario) -> list[str]:
    """Name the impulses of the joints that close the loops: carried where a run re-bases."""
    return list(_t_cut(scenario))


def split_state(scenario: Scenario, state: Sequence[S]) -> tuple[list[S], list[S]]:
    """Split a state in the order of :func:`state_names` into q and p."""
    return list(state[: scenario.nq]), list(state[scenario.nq : scenario.nq + scenario.nv])


def _vectors(scenario: Scenario, values: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """q and p of a dict of scalars."""
    return split_state(scenario, [values[name] for name in state_names(scenario)])


def clock(
    mechanism: Mechanism[Any], scenario: Scenario, values: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The time of a step from its number, None without one; the number of the next step by name."""
    if not scenario.is_driven:
        return None, {}
    (name,) = clock_names(scenario)
    number = values[name]
    return mechanism.time(number), {name: number + mechanism.arithmetic.const(1.0)}


# --- one time step --------------------------------------------------------------------------------


def _step_signature(scenario: Scenario, rebasing: bool = False, **options: Any) -> Signature:
    carried = _state(scenario)
    outputs = _numbered("qd", velocity_units(scenario))
    if rebasing:
        carried |= _t_cut(scenario)
        outputs |= _numbered("p_used", momentum_units(scenario))
    carried |= dict.fromkeys(clock_names(scenario), "")
    return Signature({}, carried, outputs)


def _step_function(
    scenario: Scenario,
    rebasing: bool = False,
    rebase_now: bool = False,
    project_now: bool = False,
    **options: Any,
) -> Function:
    scenario.require_fixed_steps()

    def step(arithmetic: SupportsPivoting[Any], values: Mapping[str, Any]) -> dict[str, Any]:
        mechanism = prepare(arithmetic, scenario, project=int(project_now), **options)
        q, p = _vectors(scenario, values)
        names = t_cut_names(scenario) if rebasing else []
        t_cut = tuple(values[name] for name in names) if rebase_now else None
        time, later = clock(mechanism, scenario, values)
        q, p, now = serve(arithmetic, integrate(mechanism, q, p, t_cut, time))
        if project_now:
            end = time_after(time, mechanism.step)
            q, p = serve(arithmetic, projected(mechanism, q, p, end))
        found = {f"q[{k}]": x for k, x in enumerate(q)} | {f"p[{k}]": x for k, x in enumerate(p)}
        found |= {f"qd[{k}]": x for k, x in enumerate(now.q_dot)}
        if rebasing:
            found |= zip(names, now.t_cut, strict=True)
            found |= {f"p_used[{k}]": x for k, x in enumerate(now.p)}
        return found | later

    return step


# --- one evaluation of the rates ------------------------------------------------------------------


def _rates_signature(scenario: Scenario, **options: Any) -> Signature:
    outputs = _numbered("qd", velocity_units(scenario)) | _numbered("pd", force_units(scenario))
    if scenario.quaternions:
        outputs |= {f"dq[{k}]": "" for k in range(scenario.nq)}
    inputs = _state(scenario) | ({"t": "s"} if scenario.is_driven else {})
    return Signature(inputs, {}, outputs)


def _rates_function(scenario: Scenario, **options: Any) -> Function:
    def evaluate(arithmetic: SupportsPivoting[Any], values: Mapping[str, Any]) -> dict[str, Any]:
        mechanism = prepare(arithmetic, scenario, **options)
        q, p = _vectors(scenario, values)
        now = serve(arithmetic, rates(mechanism, q, p, time=values.get("t")))
        found = {f"qd[{k}]": x for k, x in enumerate(now.q_dot)}
        found |= {f"pd[{k}]": x for k, x in enumerate(now.p_dot)}
        if scenario.quaternions:
            found |= {f"dq[{k}]": x for k, x in enumerate(now.q_rate)}
        return found

    return evaluate


#: All functions that can be recorded.
REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "step",
            "one time step of a scenario, with its integrator: carries coordinates and momenta",
            _step_signature,
            _step_function,
        ),
        Entry(
            "rates",
            "joint velocities and rates of the momenta, and of coordinates that are quaternions",
            _rates_signature,
            _rates_function,
        ),
    )
}
