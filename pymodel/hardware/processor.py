"""The processor's side of a co-simulated step as native code.

A step asks the hardware something, a few times, and goes on with the answers. It is recorded as one
function: of the state and of all answers, with all that is sent as outputs. Evaluated again after
each answer, it gives what is to be sent next, and in the end the new state.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import answer
from pymodel.algorithms.step import Mechanism, Requests, prepare
from pymodel.arith.scalars import BitExact
from pymodel.compile import native
from pymodel.compile.graph import Graph
from pymodel.compile.kernel import Kernel, record
from pymodel.compile.registry import split_state, state_names, t_cut_names
from pymodel.mechanism.scenario import Scenario

TIME = "t"  #: of a step, s: among what it is given, where a torque depends on it


class Sent(NamedTuple):
    """Words that the hardware is sent.

    Attributes
    ----------
    kind : type
        Of the request that they belong to.
    words : list of int
        Bits.
    """

    kind: type
    words: list[int]


class Start(NamedTuple):
    """What a run keeps of the start of a step, as in :class:`pymodel.algorithms.step.Rates`."""

    q_dot: list
    p: list
    t_cut: tuple | None
    eta: list | None


class NativeProcessor:
    """Steps of a scenario whose requests the hardware answers.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : BitExact
        Whose bits and flags the steps have.
    hardware : type
        A subclass of :class:`pymodel.hardware.cosim.co_simulation.Hardware`.
    options
        ``base`` and ``rebase`` of :func:`pymodel.algorithms.step.prepare`.
    """

    def __init__(
        self, scenario: Scenario, arithmetic: BitExact, hardware: Any, options: Mapping[str, Any]
    ) -> None:
        self.scenario, self.arithmetic = scenario, arithmetic
        self.hardware, self.options = hardware, options
        self._steps: dict[bool, _NativeStep] = {}

    def integrate(
        self,
        mechanism: Mechanism,
        q: list,
        p: list,
        t_cut: tuple | None = None,
        time: Any = None,
    ) -> Requests:
        """Do a step, as :func:`pymodel.algorithms.integrators.integrate`; yields :class:`Sent`."""
        rebases = t_cut is not None
        if rebases not in self._steps:
            self._steps[rebases] = _NativeStep(self, rebases)
        step = self._steps[rebases]
        known = [x.bits for x in (*q, *p, *(t_cut or ()), *([] if time is None else [time]))]
        for kind, names in step.requests:
            found = step.evaluate(known)
            known += yield Sent(kind, [found[name] for name in names])
        step.code.flags = 0
        found = step.evaluate(known)
        self.arithmetic.flags |= step.code.flags
        scalar = self.arithmetic.scalar

        def vector(name: str, size: int) -> list:
            return [scalar(found[f"{name}[{k}]"]) for k in range(size)]

        now = Start(
            q_dot=vector("qd", len(p)),
            p=vector("p_used", len(p)),
            t_cut=tuple(scalar(found[name]) for name in step.cuts) or None,
            eta=[[scalar(found[name]) for name in row] for row in step.eta] or None,
        )
        return vector("q", len(q)), vector("p", len(p)), now


class _NativeStep:
    """A step, re-based or not.

    Attributes
    ----------
    code : NativeKernel
        Its inputs are the state, then the words of the answers.
    requests : list of (type, list of str)
        Kind of each request, and the names of the words that are sent.
    cuts, eta : list of str, list of list of str
        Names of the impulses on cut pins and of the entries of eta.
    """

    def __init__(self, processor: NativeProcessor, rebases: bool) -> None:
        self.requests: list[tuple[type, list[str]]] = []
        self.eta: list[list[str]] = []
        scenario = processor.scenario
        self.cuts = t_cut_names(scenario)
        cuts, clock = self.cuts if rebases else [], [TIME] if scenario.is_driven else []
        kernel = self._record(processor, [*state_names(scenario), *cuts, *clock], rebases)
        self.code = native.build(kernel, processor.arithmetic, lanes=1, flags=True)
        self.names = list(kernel.results)

    def evaluate(self, known: Sequence[int]) -> dict[str, int]:
        """Evaluate with what is known; answers that have not come count as zero."""
        missing = len(self.code.kernel.inputs) - len(known)
        found = self.code.evaluate_bits([*known, *[0] * missing])
        return dict(zip(self.names, found, strict=True))

    def _record(self, processor: NativeProcessor, state: list[str], rebases: bool) -> Kernel:
        graph, hardware = Graph(fold=False), processor.hardware
        sent: dict[str, Any] = {}
        answers: list[str] = []

        def reply_to(request: Any) -> Any:
            if not isinstance(request, hardware.ANSWERS):
                return answer(graph, request)
            number = len(self.requests)
            words = hardware.words_to_send(request)
            names = [f"sent[{number}][{i}]" for i in range(len(words))]
            sent.update(zip(names, words, strict=True))
            self.requests.append((type(request), names))
            own = [f"answer[{number}][{i}]" for i in range(hardware.words_of_answer(request))]
            answers.extend(own)
            return hardware.reply(request, tuple(graph.input(name) for name in own))

        def step(arithmetic: Graph, values: Mapping[str, Any]) -> dict[str, Any]:
            mechanism = prepare(arithmetic, processor.scenario, **processor.options)
            given = [values[name] for name in state if name != TIME]
            t_cut = tuple(values[name] for name in self.cuts) if rebases else None
            q, p = split_state(processor.scenario, given)
            steps = integrate(mechanism, q, p, t_cut, values.get(TIME))
            reply = None
            while True:
                try:
                    reply = reply_to(steps.send(reply))
                except StopIteration as stop:
                    q, p, now = stop.value
                    break
            found: dict[str, Any] = {}
            for name, vector in (("q", q), ("p", p), ("qd", now.q_dot), ("p_used", now.p)):
                found |= {f"{name}[{k}]": x for k, x in enumerate(vector)}
            if self.cuts:
                found |= zip(self.cuts, now.t_cut, strict=True)
            for i, row in enumerate(now.eta or ()):
                self.eta.append([f"eta[{i}][{j}]" for j in range(len(row))])
                found |= zip(self.eta[-1], row, strict=True)
            return found | sent

        kernel = record(step, state, graph=graph)
        kernel.inputs.update((name, graph.input(name)) for name in answers)
        return kernel
