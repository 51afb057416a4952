"""Right-hand sides of HDCA and its rivals as kernels, to be counted, compared and built."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.requests import serve
from pymodel.algorithms.rivals import recursive_space
from pymodel.algorithms.rivals.acceleration_dca import accelerations
from pymodel.algorithms.rivals.recursive import Linkage, articulated_body, canonical_momenta
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import S, SupportsPivoting
from pymodel.compile.kernel import Kernel, record
from pymodel.mechanism.scenario import Scenario, ScenarioError

Results = dict[str, Sequence[Any]]  #: name -> n scalars


class Algorithm(NamedTuple):
    """A right-hand side of first order.

    Attributes
    ----------
    title : str
    state : str
        What the state has besides the angles ``q``: momenta ``p`` or rates ``qd``.
    evaluate : callable
        (arithmetic, scenario, q, p or qd, shape of the assembly) -> what it computes: ``qd`` and
        ``pd``, or ``qdd``.
    loops : bool
        Whether it takes mechanisms with loops.
    """

    title: str
    state: str
    evaluate: Callable[..., Results]
    loops: bool


def _hdca(
    arithmetic: SupportsPivoting[S], scenario: Scenario, q: list[S], p: list[S], shape: Any
) -> Results:
    now = serve(arithmetic, rates(prepare(arithmetic, scenario, shape), q, p))
    return {"qd": now.q_dot, "pd": now.p_dot}


def _dca(
    arithmetic: SupportsPivoting[S], scenario: Scenario, q: list[S], q_dot: list[S], shape: Any
) -> Results:
    mechanism = prepare(arithmetic, scenario, shape)
    return {"qdd": serve(arithmetic, accelerations(mechanism, q, q_dot)).q_ddot}


def _aba(
    arithmetic: SupportsPivoting[S], scenario: Scenario, q: list[S], q_dot: list[S], _: Any
) -> Results:
    if scenario.pins_only:
        return {"qdd": articulated_body(Linkage(arithmetic, scenario), q, q_dot)}
    return {"qdd": recursive_space.articulated_body(arithmetic, scenario, q, q_dot)}


def _naudet(
    arithmetic: SupportsPivoting[S], scenario: Scenario, q: list[S], p: list[S], _: Any
) -> Results:
    if scenario.pins_only:
        q_dot, p_dot = canonical_momenta(Linkage(arithmetic, scenario), q, p)
    else:
        q_dot, p_dot = recursive_space.canonical_momenta(arithmetic, scenario, q, p)
    return {"qd": q_dot, "pd": p_dot}


ALGORITHMS = {
    "hdca": Algorithm("HDCA", "p", _hdca, True),
    "dca": Algorithm("DCA", "qd", _dca, True),
    "aba": Algorithm("articulated bodies", "qd", _aba, False),
    "naudet": Algorithm("Naudet", "p", _naudet, False),
}


def recorded(name: str, scenario: Scenario, shape: str | Sequence[Any] = "balanced") -> Kernel:
    """Record a right-hand side.

    Parameters
    ----------
    name : str
        A key of :data:`ALGORITHMS`.
    scenario : Scenario
    shape : str or sequence
        Order of assembly of HDCA and DCA, see :func:`pymodel.algorithms.step.prepare`.

    Returns
    -------
    Kernel
        Inputs ``q[k]``, and ``p[k]`` or ``qd[k]``; outputs ``qd[k]`` and ``pd[k]``, or ``qdd[k]``.

    Raises
    ------
    ScenarioError
        If the mechanism has loops and the algorithm takes none, or a torque depends on time.
    """
    if scenario.is_driven:
        raise ScenarioError(scenario.source, "body", "torques in time cannot be compared")
    algorithm = ALGORITHMS[name]
    sizes = {"q": scenario.nq, algorithm.state: scenario.nv}
    names = {kind: [f"{kind}[{k}]" for k in range(size)] for kind, size in sizes.items()}

    def text(arithmetic: SupportsPivoting[S], values: Mapping[str, S]) -> dict[str, S]:
        q, x = ([values[name] for name in some] for some in names.values())
        found = algorithm.evaluate(arithmetic, scenario, q, x, shape)
        return {f"{kind}[{k}]": x for kind, all_x in found.items() for k, x in enumerate(all_x)}

    return record(text, [name for some in names.values() for name in some])
