"""Functions of words as native code, with the pivots that the data ask for."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pymodel.arith.scalars import BitExact
from pymodel.compile import native
from pymodel.compile.graph import Graph, Ref
from pymodel.compile.kernel import record

Function = Callable[[Any, tuple], Sequence]
WORTH_BUILDING = 20  # times that the same comparisons have come out


class NativeFunction:
    """A function of scalars, evaluated as native code where that is possible.

    What is recorded cannot compare. So the code is that of one outcome of all comparisons, and
    gives out what was compared; where that says otherwise the model itself evaluates.

    Parameters
    ----------
    function
        Maps an arithmetic and its scalars to scalars.
    arithmetic
        The model: it gets the flags.
    """

    def __init__(self, function: Function, arithmetic: BitExact) -> None:
        self._function, self._model = function, arithmetic
        self._codes: dict[tuple[bool, ...], native.NativeKernel] = {}
        self._seen: Counter[tuple[bool, ...]] = Counter()
        self._last: tuple[bool, ...] = ()

    def direct(self, words: Sequence[int]) -> list[int]:
        """Evaluate on the model, from bits to bits."""
        return [x.bits for x in self._function(self._model, tuple(map(self._model.scalar, words)))]

    def __call__(self, words: Sequence[int]) -> list[int]:
        """Evaluate, from bits to bits.

        Raises
        ------
        pymodel.compile.native.NoCompilerError
            If there is no C compiler.
        """
        code = self._codes.get(self._last)
        if code:
            code.flags = 0
            found = code.evaluate_bits(words)
            results = len(found) - 2 * len(self._last)
            scalars = [self._model.scalar(x) for x in found[results:]]
            pairs = zip(scalars[::2], scalars[1::2], strict=True)
            if self._last == tuple(self._model.larger(*pair) for pair in pairs):
                self._model.flags |= code.flags
                return found[:results]
        watched = _Watched(self._model)
        given = tuple(map(self._model.scalar, words))
        found = [x.bits for x in self._function(watched, given)]
        self._last = tuple(watched.outcomes)
        self._seen[self._last] += 1
        if self._last not in self._codes and self._seen[self._last] >= WORTH_BUILDING:
            self._codes[self._last] = self._built(len(words), self._last)
        return found

    def _built(self, inputs: int, outcomes: Sequence[bool]) -> native.NativeKernel:
        names = [f"word[{i}]" for i in range(inputs)]
        decided = _Decided(outcomes)

        def outputs(graph: Graph, values: Mapping[str, Any]) -> dict[str, Any]:
            found = [*self._function(graph, tuple(values[name] for name in names))]
            return {f"result[{i}]": x for i, x in enumerate([*found, *decided.compared])}

        kernel = record(outputs, names, graph=decided)
        return native.build(kernel, self._model, lanes=1, flags=True)


class _Watched:
    """An arithmetic that keeps how its comparisons come out."""

    def __init__(self, arithmetic: BitExact) -> None:
        self._arithmetic = arithmetic
        self.outcomes: list[bool] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arithmetic, name)

    def larger(self, x: Any, y: Any) -> bool:
        """|x| > |y|."""
        self.outcomes.append(self._arithmetic.larger(x, y))
        return self.outcomes[-1]


class _Decided(Graph):
    """A recording in which comparisons come out as told."""

    def __init__(self, outcomes: Sequence[bool]) -> None:
        super().__init__(fold=False)
        self._outcomes = iter(outcomes)
        self.compared: list[Ref] = []

    def larger(self, x: Ref, y: Ref) -> bool:
        """Give the outcome that is next."""
        self.compared += [x, y]
        return next(self._outcomes)
