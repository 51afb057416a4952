"""A time step together with all that the model watches while it runs.

The model stops at a matrix that is singular or nearly so, and at a result that is not finite. A
recording decides on no data; this one gives what is to be judged as outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pymodel.algorithms.integrators import integrate, time_after
from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import joint_matrix, serve
from pymodel.algorithms.step import prepare
from pymodel.arith.scalars import SupportsPivoting
from pymodel.compile.graph import Graph, Ref
from pymodel.compile.kernel import Kernel, record
from pymodel.compile.recording_limit import limited
from pymodel.compile.registry import (
    clock,
    clock_names,
    expected_operations,
    split_state,
    state_names,
    t_cut_names,
)
from pymodel.mechanism.scenario import Scenario


class AskedGraph(Graph):
    """A graph that remembers what the text asked of its scalars.

    Attributes
    ----------
    zero_or_not, finite_or_not : list of Ref
        Scalars of which the text asked whether they are zero, or finite.
    """

    def __init__(self, fold: bool = True) -> None:
        super().__init__(fold)
        self.zero_or_not: list[Ref] = []
        self.finite_or_not: list[Ref] = []

    def is_zero(self, x: Ref) -> bool:
        """Remember x; answer no, see :meth:`Graph.is_zero`."""
        self.zero_or_not.append(x)
        return super().is_zero(x)

    def is_finite(self, x: Ref) -> bool:
        """Remember x; answer yes, see :meth:`Graph.is_finite`."""
        self.finite_or_not.append(x)
        return super().is_finite(x)


@dataclass(frozen=True)
class WatchedStep:
    """A time step and the names of what is to be watched.

    Attributes
    ----------
    kernel : Kernel
        It carries ``q[k]``, ``p[k]``, the impulses ``t_cut`` where a run re-bases, and
        ``step_number`` where a torque depends on time; its outputs are ``qd[k]``, the momenta
        ``p_used[k]`` that they belong to, and what is watched.
    joint : list
        For each joint matrix (33) the matrices of names that add up to it.
    eta : list of list of str
        Names of the entries of eta (43); empty without loops.
    nonzero, finite : list of str
        What must not be zero, and what must be finite.
    """

    kernel: Kernel
    joint: list[list[list[list[str]]]]
    eta: list[list[str]]
    nonzero: list[str]
    finite: list[str]


def watched_step(
    scenario: Scenario,
    rebasing: bool = False,
    rebase_now: bool = False,
    project_now: bool = False,
    fold: bool = False,
    beside: WatchedStep | None = None,
    **options: Any,
) -> WatchedStep:
    """Record a time step with all that the model watches.

    Parameters
    ----------
    scenario : Scenario
    rebasing, rebase_now : bool
        Whether the run re-bases momenta in some steps, and in this one.
    project_now : bool
        Whether this step ends with a projection. Its matrices are not among those of ``joint``.
    beside : WatchedStep, optional
        One that runs in place of this one in some steps, of whose outputs this one is to have all.
    fold : bool
        As for :class:`Graph`; it must be that of the arithmetic whose bits are wanted.
    options
        ``shape``, ``base`` of :func:`pymodel.algorithms.step.prepare`.

    Raises
    ------
    ScenarioError
        If the integrator is adaptive.
    pymodel.compile.graph.RecordingError
        If the step decides on data: the base ``ldup`` chooses pivots.
    """
    scenario.require_fixed_steps()

    def recorded(first: Scenario, **alike: Any) -> Kernel:
        return watched_step(first, fold=fold, **alike).kernel

    expected = expected_operations("step", scenario, recorded, options)
    graph = limited(AskedGraph(fold), *expected)
    watched: dict[str, Ref] = {}
    names: dict[str, list[Any]] = {"joint": [], "eta": []}

    def noted(name: str, x: Ref) -> str:
        watched[name] = x
        return name

    def watch(request: Any, reply: Any) -> None:
        parts = joint_matrix(request, reply)
        if parts is not None:
            number = len(names["joint"])
            names["joint"].append(
                [
                    [
                        [noted(f"joint[{number}].{part}[{i}][{j}]", x) for j, x in enumerate(row)]
                        for i, row in enumerate(matrix)
                    ]
                    for part, matrix in enumerate(parts)
                ]
            )

    def step(arithmetic: SupportsPivoting[Any], values: Mapping[str, Any]) -> dict[str, Any]:
        mechanism = prepare(arithmetic, scenario, project=int(project_now), **options)
        q, p = split_state(scenario, [values[name] for name in states])
        t_cut = tuple(values[name] for name in cuts) if rebase_now else None
        time, later = clock(mechanism, scenario, values)
        q, p, now = serve(arithmetic, integrate(mechanism, q, p, t_cut, time), watch)
        if project_now:
            end = time_after(time, mechanism.step)
            q, p = serve(arithmetic, projected(mechanism, q, p, end))
        found = dict(zip(states, [*q, *p], strict=True))
        found |= zip(cuts, now.t_cut, strict=True) if cuts else {}
        found |= {f"qd[{k}]": x for k, x in enumerate(now.q_dot)}
        found |= {f"p_used[{k}]": x for k, x in enumerate(now.p)}
        if now.eta is not None:
            names["eta"] = [
                [noted(f"eta[{i}][{j}]", x) for j, x in enumerate(row)]
                for i, row in enumerate(now.eta)
            ]
        for kind in ("zero_or_not", "finite_or_not"):
            asked = {x.node: Ref(graph, x.node) for x in getattr(graph, kind)}
            judged = list(asked.values())
            judged += [arithmetic.const(1.0)] * (others.get(kind, 0) - len(judged))
            names[kind] = [noted(f"{kind}[{k}]", x) for k, x in enumerate(judged)]
        return found | later | watched

    others = (
        {"zero_or_not": len(beside.nonzero), "finite_or_not": len(beside.finite)} if beside else {}
    )
    states, cuts = state_names(scenario), t_cut_names(scenario) if rebasing else []
    kernel = record(step, carried=[*states, *cuts, *clock_names(scenario)], graph=graph)
    kinds = ("joint", "eta", "zero_or_not", "finite_or_not")
    return WatchedStep(kernel, *(names[kind] for kind in kinds))
