"""What the tests of the C driver share: an engine's registers, and hosts under the sanitizers."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymodel.machine.c_driver import STRICT
from pymodel.machine.isa import Location, Machine, Program, Word
from pymodel.machine.model import Twin
from pymodel.machine.program_image import identity
from pymodel.machine.registers import WORD_BYTES as BUS_BYTES
from pymodel.machine.registers import Register, step_engine
from pymodel.tests.places import ROOT

SW = ROOT / "sw"


def constants(machine: Machine) -> dict[str, int]:
    """Name -> word of the registers that say which engine it is."""
    config, lanes, depth = identity(machine)
    return {
        "ID": int.from_bytes(b"STEP", "big"),
        "VERSION": 0x0001_0001,
        "CONFIG": config,
        "LANES": lanes,
        "FILE_DEPTH": depth,
        "PROGRAM_DEPTH": machine.program_depth,
        "TRACE_REGISTERS": machine.trace_registers,
        "PROGRAMS": machine.programs,
    }


def sanitized(folder: Path, text: str, access: str, images: list[bytes]) -> str:
    """What a host in C prints, given these images, under the sanitizers, which find nothing.

    Parameters
    ----------
    folder
        Where it is built.
    text, access
        The host; its header of accesses.
    images
        Those whose paths it is given.
    """
    (folder / "access.h").write_text(access)
    (folder / "host.c").write_text(text)
    names = [str(folder / f"{k}.image") for k in range(len(images))]
    for name, data in zip(names, images, strict=True):
        Path(name).write_bytes(data)
    command = ["gcc", *STRICT, "-O1", "-g", '-DSTEP_ACCESS="access.h"']
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += ["-I", str(folder), "-I", str(SW), "-o", str(folder / "host")]
    command += [str(folder / "host.c"), str(SW / "step_engine.c")]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run([str(folder / "host"), *names], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


class RegisterFile:
    """The registers of an engine whose runs its twin does, at once or ``polls`` later.

    ``programs`` are those that its memory can hold. What they consist of runs as the registers
    say, without a prologue that nobody has asked for.
    """

    def __init__(self, machine: Machine, programs: Sequence[Program], polls: int = 0) -> None:
        self.machine = machine
        self.known = {machine.encode(word): word for p in programs for word in p.words}
        self.map = step_engine(machine.bus_words)
        self.twin = Twin(machine)
        self.held: dict[Any, int] = {}  # name -> word, of the program or of all
        self.rows: list[dict[str, int]] = [{} for _ in range(machine.programs)]
        self.words: dict[int, int] = {}
        self.list: dict[int, Location] = {}
        self.trace: list[int] = []
        self.status = 0
        self.polls, self.busy = polls, 0
        self.moves = self.stores = 0  # writes of FILE_ADDRESS and FILE_DATA
        self.looks = 0  # reads of STATUS
        self.given = constants(machine)

    def name(self, offset: int) -> tuple[Register, int]:
        """The register at an offset, and which of its words."""
        for register in self.map.registers:
            if 0 <= offset - register.offset < BUS_BYTES * register.words:
                return register, (offset - register.offset) // BUS_BYTES
        raise AssertionError(f"nothing at {offset:#x}")

    def location(self) -> Location:
        """Where FILE_ADDRESS points, which moves on."""
        word = self.held["FILE_ADDRESS"]
        location = Location(word >> 16, word & 0xFFFF)
        position = location.address * self.machine.banks + location.bank + 1
        address, bank = divmod(position, self.machine.banks)
        addresses = self.machine.contexts * self.machine.depth
        self.held["FILE_ADDRESS"] = bank << 16 | address % addresses
        return location

    def read(self, offset: int) -> int:
        """A read access."""
        register, _ = self.name(offset)
        if register.name == "STATUS":
            self.looks += 1
            self.busy = max(self.busy - 1, 0)
            return self.status | self.twin.flags << 8 | (2 if self.busy else 0)
        if register.name == "TRACE_COUNT":
            return 0 if self.busy else len(self.trace)
        if register.name == "TRACE_DATA":
            return self.trace.pop(0)
        if register.name == "FILE_DATA":
            assert not self.busy
            return self.twin.read(self.location())
        if register.name in ("STEPS_DONE", "CYCLES"):
            return getattr(self.twin, register.name.lower())
        return self.given[register.name]

    def write(self, offset: int, word: int) -> None:
        """A write access."""
        register, index = self.name(offset)
        name = register.name
        if name == "CTRL" and word == 2:
            self.trace, self.busy, self.status, self.twin.flags = [], 0, 0, 0
            return
        if name == "STATUS":
            self.status &= ~word
            self.twin.flags &= ~(word >> 8)
            return
        assert not self.busy, name
        if name == "CTRL":
            self.run()
        elif name == "FILE_DATA":
            self.stores += 1
            self.twin.load({self.location(): word})
        elif name == "PROGRAM_WORD":
            self.held[name, index] = word
        elif name == "PROGRAM_STORE":
            parts = (self.held["PROGRAM_WORD", k] << 32 * k for k in range(self.machine.bus_words))
            self.words[word] = sum(parts)
        elif name == "TRACE_ENTRY":
            self.list[self.held["TRACE_INDEX"]] = Location(word >> 16, word & 0xFFFF)
            self.held["TRACE_INDEX"] += 1
        elif register.per:
            self.rows[self.held[register.per]][name] = word
        else:
            self.moves += name == "FILE_ADDRESS"
            self.held[name] = word

    def decoded(self, segment: range) -> list[Word]:
        """The words that stand there."""
        return [self.known[self.words[k]] for k in segment]

    def run(self) -> None:
        """The program whose words stand where the chosen row says."""
        row, held = self.rows[self.held["PROGRAM"]], self.held
        start, length = row.get("MAIN_START", 0), row.get("MAIN_LENGTH", 0)
        if not length:
            self.status |= 8
            return
        segments = [range(start, start + length)]
        if held["EVERY"]:
            special = row["SPECIAL_START"]
            segments.append(range(special, special + row["SPECIAL_LENGTH"]))
        words = [word for segment in segments for word in self.decoded(segment)]
        program = Program(self.machine, words, main=length, registers=[])
        first, before, after = (row.get(f"TRACE_{x}", 0) for x in ("START", "BEFORE", "AFTER"))
        traced = [self.list[k] for k in range(first, first + before + after)]
        self.trace += self.twin.run(
            program, held["STEPS"], held["EVERY"], held["SAVE"], traced[:before], traced[before:]
        )
        self.status |= 16 if self.twin.stopped else 0
        self.twin.stopped = False
        self.busy = self.polls
