"""What can be recorded: functions of scalars by name, with their inputs, outputs and units.

Each entry says for a mechanism which values its function takes and gives. :func:`recorded` records
it; the rest of the compile path needs nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import SupportsArithmetic
from pymodel.compile.kernel import Function, Kernel, record
from pymodel.mechanism.scenario import Scenario

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


def recorded(name: str, scenario: Scenario, **options: Any) -> Kernel:
    """Record a function of the registry.

    Parameters
    ----------
    name : str
        A key of :data:`REGISTRY`.
    scenario : Scenario
    options
        ``shape``, ``base`` of :func:`pymodel.algorithms.step.prepare`; ``step`` takes ``rebasing``
        and ``rebase_now``, too: whether the run re-bases momenta in some steps, and in this one.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If there is no such function.
    ScenarioError
        If it is the step of an adaptive integrator.
    pymodel.compile.graph.RecordingError
        If the function decides on data: the base ``ldup`` chooses pivots.
    """
    if name not in REGISTRY:
        raise ValueError(f"function {name!r}: must be one of {', '.join(REGISTRY)}")
    entry = REGISTRY[name]
    signature = entry.signature(scenario, **options)
    return record(entry.function(scenario, **options), signature.inputs, signature.carried)


def _numbered(name: str, scenario: Scenario, unit: str) -> Units:
    return {f"{name}[{k}]": unit for k in range(len(scenario.bodies))}


def _state(scenario: Scenario) -> Units:
    return _numbered("q", scenario, "rad") | _numbered("p", scenario, "N m s")


def state_names(scenario: Scenario) -> list[str]:
    """Name the state of a mechanism: angles, then momenta."""
    return list(_state(scenario))


def t_cut_names(scenario: Scenario) -> list[str]:
    """Name the impulses on the pins that close the loops: carried where a run re-bases."""
    return [f"t_cut[{loop}].{axis}" for loop in range(len(scenario.loops)) for axis in "xy"]


def _vectors(values: Mapping[str, Any], size: int) -> tuple[list, list]:
    """q and p of a dict of scalars."""
    q, p = ([values[f"{name}[{k}]"] for k in range(size)] for name in "qp")
    return q, p


# --- one time step --------------------------------------------------------------------------------


def _step_signature(scenario: Scenario, rebasing: bool = False, **options: Any) -> Signature:
    carried = _state(scenario)
    outputs = _numbered("qd", scenario, "rad/s")
    if rebasing:
        carried |= dict.fromkeys(t_cut_names(scenario), "N s")
        outputs |= _numbered("p_used", scenario, "N m s")
    return Signature({}, carried, outputs)


def _step_function(
    scenario: Scenario, rebasing: bool = False, rebase_now: bool = False, **options: Any
) -> Function:
    scenario.require_fixed_steps()

    def step(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
        mechanism = prepare(arithmetic, scenario, **options)
        q, p = _vectors(values, mechanism.size)
        names = t_cut_names(scenario) if rebasing else []
        t_cut = tuple(values[name] for name in names) if rebase_now else None
        q, p, now = serve(arithmetic, integrate(mechanism, q, p, t_cut))
        found = {f"q[{k}]": x for k, x in enumerate(q)} | {f"p[{k}]": x for k, x in enumerate(p)}
        found |= {f"qd[{k}]": x for k, x in enumerate(now.q_dot)}
        if rebasing:
            found |= zip(names, now.t_cut, strict=True)
            found |= {f"p_used[{k}]": x for k, x in enumerate(now.p)}
        return found

    return step


# --- one evaluation of the rates ------------------------------------------------------------------


def _rates_signature(scenario: Scenario, **options: Any) -> Signature:
    outputs = _numbered("qd", scenario, "rad/s") | _numbered("pd", scenario, "N m")
    return Signature(_state(scenario), {}, outputs)


def _rates_function(scenario: Scenario, **options: Any) -> Function:
    def evaluate(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
        mechanism = prepare(arithmetic, scenario, **options)
        q, p = _vectors(values, mechanism.size)
        now = serve(arithmetic, rates(mechanism, q, p))
        found = {f"qd[{k}]": x for k, x in enumerate(now.q_dot)}
        return found | {f"pd[{k}]": x for k, x in enumerate(now.p_dot)}

    return evaluate


#: All functions that can be recorded.
REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "step",
            "one time step of a scenario, with its integrator: carries angles and momenta",
            _step_signature,
            _step_function,
        ),
        Entry(
            "rates",
            "joint velocities and rates of the momenta, from angles and momenta",
            _rates_signature,
            _rates_function,
        ),
    )
}
