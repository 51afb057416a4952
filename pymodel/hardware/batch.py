"""Batches of accesses to registers: many words, one wait (``axil_batch.sv``)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cocotb.utils import get_sim_time

from pymodel.hardware import wide
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.on_bus import OPERATIONS
from pymodel.hardware.waiting import AnswerError, BusHangError, HangError
from pymodel.machine.registers import WORD_BYTES

# The bits of operations and answers
ADDRESS_AT, RESPONSE_AT, STAMP_AT = 32, 32, 40
WRITE, LAST, POLL = 1 << 48, 1 << 49, 1 << 50
WORD_MASK, ADDRESS_MASK, RESPONSE_MASK = 0xFFFF_FFFF, 0xFFFF, 3
OCTETS, BITS = 8, 64  # of one

OKAY, SLVERR = 0, 2
REFUSED = "SLVERR, not OKAY"
ACCESS_CYCLES = 600  # that the master waits for a response, its parameter


def now() -> int:
    """Clock cycles since the simulation began."""
    return round(get_sim_time("ns") / PERIOD_NS)


def packed(operations: Iterable[int]) -> int:
    """Operations as the port takes them."""
    return int.from_bytes(b"".join(op.to_bytes(OCTETS, "little") for op in operations), "little")


class Answers:
    """What ``axil_batch.sv`` says of a batch that is over.

    Attributes
    ----------
    hung, failed
        Whether it waited in vain; whether a response was not OKAY.
    silent
        Whether it waited for a response, not for a poll that the bus answers.
    early
        Whether a response came before its request was taken.
    """

    def __init__(self, dut: Any, count: int) -> None:
        self._dut, self._count = dut, count
        status = int(dut.batch_status_o.value)
        self.early, self.silent, self.hung, self.failed = (
            bool(status >> i & 1) for i in (3, 2, 1, 0)
        )

    @property
    def answered(self) -> int:
        """How many operations have been answered."""
        return int(self._dut.batch_answered_o.value)

    @property
    def polls(self) -> int:
        """How many reads the polls have made."""
        return int(self._dut.batch_polls_o.value)

    def each(self) -> tuple[list[int], list[str]]:
        """The answers, one an operation; with unknown bits, which read as 1, all words as text."""
        unknown, answers = [], self._dut.batch_answers_o
        try:
            octets = wide.octets(answers, OCTETS * self._count)
        except ValueError:
            text = str(answers.value)[-BITS * self._count :]
            places = range(len(text) - BITS, -1, -BITS)
            unknown = [text[i + ADDRESS_AT : i + BITS] for i in places]
            value = int(re.sub("[^01]", "1", text), 2)
            octets = value.to_bytes(OCTETS * self._count, "little")
        return memoryview(octets).cast("Q").tolist(), unknown


class _Group(NamedTuple):
    """Accesses of one direction that do not wait for each other."""

    name: str
    operations: list[int]
    is_read: bool = False
    poll_cycles: int = 0
    may_fail: bool = False  # SLVERR is an answer


class Batch:
    """Accesses to registers, in groups: within a group they do not wait for each other.

    Parameters
    ----------
    registers : pymodel.hardware.axil.Registers
        That are accessed.

    Attributes
    ----------
    ends : list of int
        After the run: clock cycle in which each group was over, see :func:`now`.
    polls : int
        Reads that polls have made.
    """

    def __init__(self, registers: Any) -> None:
        self._registers = registers
        self._groups: list[_Group] = []
        self.ends: list[int] = []
        self.polls = 0

    def write(self, name: str, *words: int) -> "Batch":
        """Write consecutive words from the start of a register, a group."""
        return self.write_all([(name, words)])

    def write_all(self, writes: Iterable[tuple[str, Sequence[int]]]) -> "Batch":
        """Make several such writes in one group."""
        operations, map_, name = [], self._registers.map, ""
        for name, words in writes:
            at = map_[name].offset
            operations += [
                WRITE | at + WORD_BYTES * i << ADDRESS_AT | word for i, word in enumerate(words)
            ]
        return self._add(_Group(name, operations))

    def write_each(self, name: str, words: Iterable[int]) -> "Batch":
        """Write words to one register, one after the other, a group."""
        operation = WRITE | self._registers.map[name].offset << ADDRESS_AT
        return self._add(_Group(name, [operation | word for word in words]))

    def read(self, name: str) -> "Batch":
        """Read all words of a register, a group."""
        register = self._registers.map[name]
        words = range(register.offset, register.offset + WORD_BYTES * register.words, WORD_BYTES)
        return self._add(_Group(name, [at << ADDRESS_AT for at in words], is_read=True))

    def read_each(self, name: str, count: int) -> "Batch":
        """Read one register so many times, a group."""
        operation = self._registers.map[name].offset << ADDRESS_AT
        return self._add(_Group(name, [operation] * count, is_read=True))

    def try_each(self, name: str, count: int) -> "Batch":
        """The same, a last group, in which an answer may be SLVERR: None instead of a word."""
        operation = self._registers.map[name].offset << ADDRESS_AT
        return self._add(_Group(name, [operation] * count, is_read=True, may_fail=True))

    def poll(self, name: str, field: str, cycles: int) -> "Batch":
        """Read a register until a field of it is zero; a hang if that takes more cycles."""
        mask = self._registers.mask(name, field)
        operation = POLL | self._registers.map[name].offset << ADDRESS_AT | mask
        return self._add(_Group(name, [operation], is_read=True, poll_cycles=cycles))

    def _add(self, group: _Group) -> "Batch":
        if group.operations:
            self._groups.append(group)
        return self

    async def run(self, timed: bool = False) -> list[list[Any]]:
        """Do all of them.

        Parameters
        ----------
        timed
            Fill in :attr:`ends`.

        Returns
        -------
        list of list of int
            The words of each group of reads; of a poll, the last one. None only in those of
            :meth:`try_each`.

        Raises
        ------
        BusHangError
            If a response does not come, or comes before its request was taken.
        HangError
            If a poll takes too long.
        AnswerError
            If a response is not OKAY, or a word that was read has unknown bits.
        """
        if not self._registers.batches:
            return await self._run_over_master()
        found: list[list[Any]] = [[] for _ in self._groups]
        self.ends = [0] * len(self._groups)
        for spans, operations in self._parts():
            cycles = max(self._groups[n].poll_cycles for n, _ in spans)
            begin = now()
            answers = await self._registers.do(operations, cycles)
            if answers.hung:
                self._hang(self._group_of(answers.answered, spans), answers, now() - begin)
            if not (timed or answers.failed or any(self._groups[n].is_read for n, _ in spans)):
                continue
            each, unknown = answers.each()
            if answers.failed:
                self._check(spans, each[: answers.answered])
            if cycles:
                self.polls += answers.polls
            start, since = now() - (each[-1] >> STAMP_AT), 0
            for number, count in spans:
                until = since + count
                if self._groups[number].is_read:
                    for word in unknown[since:until]:
                        self._registers.check_known(self._groups[number].name, word)
                    found[number] += [
                        answer & WORD_MASK if _response(answer) == OKAY else None
                        for answer in each[since:until]
                    ]
                self.ends[number] = start + (each[until - 1] >> STAMP_AT)
                since = until
        return [words for group, words in zip(self._groups, found, strict=True) if group.is_read]

    def _parts(self) -> Iterator[tuple[list[tuple[int, int]], list[int]]]:
        """What is done at once: numbers of groups and how many operations of each; these."""
        spans: list[tuple[int, int]] = []
        operations: list[int] = []
        for number, group in enumerate(self._groups):
            if operations and len(operations) + len(group.operations) > OPERATIONS:
                yield spans, operations
                spans, operations = [], []
            for start in range(0, len(group.operations), OPERATIONS):
                if len(operations) == OPERATIONS:
                    yield spans, operations
                    spans, operations = [], []
                part = group.operations[start : start + OPERATIONS]
                operations += part
                operations[-1] |= LAST
                spans.append((number, len(part)))
        if operations:
            yield spans, operations

    def _group_of(self, operation: int, spans: Iterable[tuple[int, int]]) -> _Group:
        numbers = [number for number, count in spans for _ in range(count)]
        return self._groups[numbers[operation]]

    def _check(self, spans: Iterable[tuple[int, int]], answers: Iterable[int]) -> None:
        for number, response in enumerate(map(_response, answers)):
            group = self._group_of(number, spans)
            if response == OKAY or (response == SLVERR and group.may_fail):
                continue
            what = REFUSED if response == SLVERR else "a response that is reserved or unknown"
            raise AnswerError(_access(group), group.name, what)

    def _hang(self, group: _Group, answers: Answers, taken: int) -> None:
        if group.poll_cycles and not answers.silent:
            each, unknown = answers.each()
            for word in unknown[answers.answered :][:1]:
                self._registers.check_known(group.name, word)
            last = each[answers.answered] & WORD_MASK
            raise HangError(self._registers.unfinished(group.name, last), group.poll_cycles)
        what = self._registers.waiting(_access(group), group.name)()
        if answers.early:
            raise BusHangError(f"{what}, answered before it was taken", taken)
        raise BusHangError(what, ACCESS_CYCLES + group.poll_cycles)

    async def _run_over_master(self) -> list[list[int]]:
        """The same over cocotbext-axi's master."""
        registers, found = self._registers, []
        for group in self._groups:
            if group.poll_cycles:
                (word,) = group.operations
                found.append([await self._poll(group, word & WORD_MASK)])
            elif group.is_read:
                words = await registers.answers(group.name, registers.begin(group.operations))
                if None in words and not group.may_fail:
                    raise AnswerError("read", group.name, REFUSED)
                found.append(words)
            else:
                await registers.written(group.name, registers.begin(group.operations))
            self.ends.append(now())
        return found

    async def _poll(self, group: _Group, mask: int) -> int:
        registers, end, word = self._registers, now() + group.poll_cycles, mask
        while word & mask:
            if self.polls and now() > end:
                raise HangError(registers.unfinished(group.name, word), group.poll_cycles)
            (word,) = await registers.answers(group.name, registers.begin(group.operations))
            if word is None:
                raise AnswerError("read", group.name, REFUSED)
            self.polls += 1
        return word


def _response(answer: int) -> int:
    return answer >> RESPONSE_AT & RESPONSE_MASK


def _access(group: _Group) -> str:
    return "read" if group.is_read else "write"
