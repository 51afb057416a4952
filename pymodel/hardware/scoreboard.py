"""Checking in common code: what was expected, what came, and a mismatch one can read."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import cocotb
import numpy as np

from pymodel.arith.fp import Format
from pymodel.hardware import times
from pymodel.hardware.coverage_point import Bin, Point
from pymodel.hardware.model_signals import ModelSignals


class Scoreboard:
    """Counts and checks the transactions of one test.

    Compare at once with :meth:`compare` (or :meth:`compare_lanes`), or across time with
    :meth:`expect` and :meth:`observe`, which form one first-in first-out queue a channel.
    :meth:`finish`, called after each test, fails if nothing was checked or something expected
    never came.

    Attributes
    ----------
    rng : numpy.random.Generator
        Seeded from the run's seed and the test's name: a test run alone sees the same stimulus.
    transactions : int
        Values checked so far.
    covered : dict
        Unit and name of a point -> its bins that were met (:mod:`tb.common.coverage`). They count
        if the test passes.
    failures : dict
        First line of a mismatch -> what it was and when, for the waveform; see
        :func:`scripts.dev.waves.failure.failure_group`.
    model : ModelSignals
        The model's values beside the RTL's, for the waveform. A mismatch shows what was wanted
        there; a bench that knows more shows it before.
    reached : dict
        ``item``: the number of the item of the stimulus that is under way, and ``states``: where
        the random numbers were at its start, and at those of the items before; see
        :meth:`pymodel.hardware.bench.Bench.items`.
    """

    def __init__(
        self,
        test: str,
        rng: np.random.Generator,
        rerun: str,
        model: ModelSignals | None = None,
    ) -> None:
        self.test = test
        self.rng = rng
        self.rerun = rerun
        self.transactions = 0
        self.failures: dict[str, dict[str, Any]] = {}
        self.model = ModelSignals() if model is None else model
        self.reached: dict[str, Any] = {}
        self.covered: dict[tuple[str, str], set[Bin]] = defaultdict(set)
        self._queues: defaultdict[str, deque[Any]] = defaultdict(deque)

    def compare(
        self,
        signal: str,
        got: int,
        want: int,
        fmt: Format | None = None,
        cycle: int | None = None,
        context: str = "",
    ) -> None:
        """Check one value, bit for bit.

        Parameters
        ----------
        signal
            Name in the RTL.
        got, want
            The values.
        fmt
            If given, the value is a float of this format.
        cycle
            Clock cycle, shown next to the simulated time.
        context
            What led to it, e.g. the operands.

        Raises
        ------
        AssertionError
            If they differ; its text is that of :meth:`mismatch`.
        """
        self.transactions += 1
        if got != want:
            raise AssertionError(self.mismatch(signal, got, want, fmt, cycle, context))

    def compare_all(
        self,
        signal: str,
        got: Sequence[int],
        wants: Sequence[int],
        fmt: Format | None = None,
        context: str = "",
        names: Sequence[str] = (),
    ) -> None:
        """Check all words of a register, a memory or a stream.

        Parameters
        ----------
        signal
            Name in the RTL; the report adds the number of the word.
        got, wants
            As many values each.
        fmt, context
            As for :meth:`compare`.
        names
            Of the words, if they have any.

        Raises
        ------
        AssertionError
            For the first word that differs, or if one side has more of them.
        """
        if got != wants:
            for i, (g, w) in enumerate(zip(got, wants, strict=False)):
                name = f" = {names[i]}" if names else ""
                self.compare(f"{signal}[{i}]{name}", g, w, fmt, context=context)
            self.compare(f"words of {signal}", len(got), len(wants), context=context)
        self.transactions += len(wants)

    def compare_lanes(
        self,
        signal: str,
        got: int,
        wants: Sequence[int],
        width: int,
        fmt: Format | None = None,
        cycle: int | None = None,
        context: Callable[[int], str] | None = None,
        ns: float | None = None,
    ) -> None:
        """Check a packed vector of ``len(wants)`` values of ``width`` bits, lane 0 lowest.

        ``context(lane)`` is called for the first lane that differs, ``ns`` is as for
        :meth:`mismatch`.
        """
        lanes = [(got >> (width * lane)) & ((1 << width) - 1) for lane in range(len(wants))]
        self.transactions += len(wants)
        if lanes == list(wants):
            return
        lane = next(i for i, (g, w) in enumerate(zip(lanes, wants, strict=True)) if g != w)
        text = context(lane) if context else ""
        raise AssertionError(
            self.mismatch(
                *(f"{signal}[{lane}]", lanes[lane], int(wants[lane]), fmt, cycle, text),
                bits=width,
                ns=ns,
            )
        )

    def cover(self, unit: str, point: str, bins: Iterable[Bin]) -> None:
        """Keep that bins of a point of functional coverage were met."""
        self.covered[unit, point].update(bins)

    def met(self, point: Point, bin_: Bin) -> None:
        """Keep that a bin was met."""
        self.cover(point.unit, point.name, [bin_])

    def expect(self, channel: str, want: int, fmt: Format | None = None, context: str = "") -> None:
        """Queue a value that must come next on a channel."""
        self._queues[channel].append((want, fmt, context))

    def observe(self, channel: str, got: int, cycle: int | None = None) -> None:
        """Check a value that came on a channel against the oldest one expected there."""
        if not self._queues[channel]:
            when = _when(cycle, times.now_ns())
            raise AssertionError(
                f"{channel}: {got:#x} came {when} but nothing was expected\n  rerun  {self.rerun}"
            )
        want, fmt, context = self._queues[channel].popleft()
        self.compare(channel, got, want, fmt, cycle, context)

    def known(self, signal: str, value: Any, cycle: int | None = None) -> int:
        """The value of a signal, as it stands there, as an int.

        Raises
        ------
        AssertionError
            If it has unknown bits.
        """
        bits = str(value)
        if bits.strip("01"):
            when = _when(cycle, times.now_ns())
            unknown = f"{signal} has unknown bits {when}: {bits}"
            raise AssertionError(f"{unknown}\n  rerun  {self.rerun}")
        return int(bits, 2)

    def finish(self) -> None:
        """Fail if no transaction was checked or a queue still holds expected values."""
        left = {channel: len(queue) for channel, queue in self._queues.items() if queue}
        assert not left, f"{self.test}: expected but never came: {left}\n  rerun  {self.rerun}"
        none = f"{self.test}: no transaction was checked\n  rerun  {self.rerun}"
        assert self.transactions, none
        cocotb.log.info("%s: %d values checked", self.test, self.transactions)

    def mismatch(
        self,
        signal: str,
        got: int | None,
        want: int,
        fmt: Format | None = None,
        cycle: int | None = None,
        context: str = "",
        details: Sequence[tuple[str, str]] = (),
        bits: int | None = None,
        seen_as: str = "",
        ns: float | None = None,
    ) -> str:
        """The text of a mismatch: both values in every reading, where, and how to see it again.

        Parameters
        ----------
        signal, want, fmt, cycle, context
            As for :meth:`compare`.
        got
            None where bits are unknown.
        details
            Further lines, each with a label.
        bits
            Width of a word of a vector; otherwise that of the format.
        seen_as
            What showed it first, if that was something else.
        ns
            When it was, in nanoseconds; None for now.
        """
        ns = times.now_ns() if ns is None else ns
        lines = [f"{signal} differs {_when(cycle, ns)}{f' ({context})' if context else ''}"]
        bits = bits or (None if fmt is None else fmt.width)
        self.model.mismatch(signal, want, bits)
        self.failures[lines[0]] = {
            "ns": ns,
            "signal": signal,
            "got": reading(got, fmt),
            "expected": reading(want, fmt),
            "float": fmt is not None,
            "bits": bits,
            "details": [f"{label}: {text}" for label, text in details],
        }
        readings = [("got", *_readings(got, fmt)), ("expected", *_readings(want, fmt))]
        columns = list(zip(("", "hex", "decimal", "s/exp/man"), *readings, strict=False))
        width = max(len(got_text) for _, got_text, _ in columns)
        lines += [f"  {name:<10}{g:<{width}}  {w}" for name, g, w in columns]
        if fmt is not None and got is not None:
            distance = fmt.ulp_distance(got, want)
            details = [("ULP", "NaN involved" if distance is None else str(distance)), *details]
        details = [*details, ("seen as", seen_as)] if seen_as else details
        lines += [f"  {label:<10}{text}" for label, text in (*details, ("rerun", self.rerun))]
        return "\n".join(lines)


def reading(bits: int | None, fmt: Format | None = None) -> str:
    """A value in a line: hexadecimal, and decimal, of a float that of the real number."""
    return " = ".join(dict.fromkeys(_readings(bits, fmt)[:2]))


def _readings(bits: int | None, fmt: Format | None) -> list[str]:
    """A value as hexadecimal and decimal; a float in its parts besides."""
    if bits is None:
        return ["x"] * (2 if fmt is None else 3)
    if fmt is None:
        return [f"{bits:#x}", str(bits)]
    parts = "{}/{}/{:#x}".format(*fmt.fields(bits))
    return [f"{bits:#x}", repr(fmt.to_float(bits)), parts]


def _when(cycle: int | None, ns: float) -> str:
    return f"at {'' if cycle is None else f'cycle {cycle}, '}{times.text(ns)}"
