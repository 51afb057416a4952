"""A library of programs as constants of C, for a host that uses sw/step_engine.h."""

import re
from collections.abc import Iterable, Mapping, Sequence

from pymodel.machine.isa import Location, Machine
from pymodel.machine.registers import BUS_W, STEP_ENGINE
from pymodel.runs.engine_runs import Library

BANK_AT = 16  # of a location on the bus: bank << 16 | address


def c_library(name: str, library: Library) -> str:
    """Write a library as a header that defines ``<name>_library``.

    Parameters
    ----------
    name : str
        An identifier of C; all that is defined begins with it. The number of a program is
        ``<NAME>_<PROGRAM>``.
    library : Library

    Raises
    ------
    ValueError
        If two programs would have one name in C.
    """
    calls = library.calls
    machine = library.call(0).program.machine
    numbers = {_identifier(f"{name}_{program}").upper(): k for k, program in enumerate(calls)}
    if len(numbers) < len(calls):
        raise ValueError(f"names of programs that C cannot tell apart: {', '.join(calls)}")
    words = library.encoded()
    lines = [f"#ifndef {name.upper()}_H", f"#define {name.upper()}_H", ""]
    lines += ['#include "step_engine.h"', ""]
    lines += [f"enum {{ {', '.join(f'{key} = {k}' for key, k in numbers.items())} }};", ""]
    programs = []
    for key, (program, call) in zip(numbers, calls.items(), strict=True):
        fields = [call.start, len(call.program.words), call.entry]
        groups = {
            "input": call.program.inputs,
            "state": call.program.carried,
            "output": call.program.outputs,
        }
        fields += map(len, groups.values())
        for what, homes in groups.items():
            lines += _locations(f"{key.lower()}_{what}", f"{program}: {what}", homes)
            fields.append(f"{key.lower()}_{what}" if homes else "NULL")
        programs.append(f"{{ {', '.join(map(str, fields))} }}")
    lines += _array(f"struct step_program {name}_programs", programs)
    bus_words = [part for word in words for part in _parts(word, machine.bus_words)]
    lines += _array(f"uint32_t {name}_words", map(_hex, bus_words))
    if library.image:
        lines += [c_registers(f"{name}_parameters", library.image)]
    entries = sum(len(call.outputs) for call in calls.values())
    sizes = (len(calls), len(words), machine.bus_words, entries, len(library.image))
    fields = [*map(_hex, _kind(machine)), *map(str, sizes)]
    fields += [f"{name}_programs", f"{name}_words"]
    fields.append(f"{name}_parameters" if library.image else "NULL")
    lines += [f"static const struct step_library {name}_library = {{ {', '.join(fields)} }};"]
    return "\n".join([*lines, "", "#endif", ""])


def c_registers(name: str, registers: Mapping[Location, int]) -> str:
    """Write registers with their bits as an array of ``struct step_word``, for ``step_set``.

    Raises
    ------
    ValueError
        If there are none: C has no empty arrays.
    """
    if not registers:
        raise ValueError(f"{name}: no registers to write")
    banks_first = sorted(registers, key=lambda x: (x.address, x.bank))
    rows = (f"{{ {_hex(_on_bus(x))}, {_hex(registers[x])} }}" for x in banks_first)
    return "\n".join(_array(f"struct step_word {name}", rows))


def _kind(machine: Machine) -> tuple[int, int, int]:
    """CONFIG, LANES and FILE_DEPTH of an engine that is this machine."""
    config = {
        "EXP_W": machine.fmt.exp_w,
        "MAN_W": machine.fmt.man_w,
        "ADD_STAGES": machine.add_stages,
        "MUL_STAGES": machine.mul_stages,
        "REC_STAGES": machine.rec_stages,
    }
    lanes = {
        "NUM_ADD": machine.adders,
        "NUM_MUL": machine.multipliers,
        "SINCOS_STAGES": machine.sincos_stages,
    }
    words = (
        sum(value << STEP_ENGINE[register].field(name).low for name, value in fields.items())
        for register, fields in (("CONFIG", config), ("LANES", lanes))
    )
    return (*words, machine.depth)


def _locations(name: str, text: str, homes: Mapping[str, Location]) -> list[str]:
    if not homes:
        return []
    lines = [f"/* {text}: {', '.join(homes)} */"]
    return lines + _array(f"uint32_t {name}", (_hex(_on_bus(x)) for x in homes.values()))


def _array(declaration: str, rows: Iterable[str]) -> list[str]:
    return [f"static const {declaration}[] = {{", *(f"  {row}," for row in rows), "};", ""]


def _parts(word: int, count: int) -> Sequence[int]:
    """A program word as words of the bus, lowest bits first."""
    return [word >> BUS_W * k & ((1 << BUS_W) - 1) for k in range(count)]


def _on_bus(location: Location) -> int:
    return location.bank << BANK_AT | location.address


def _hex(word: int) -> str:
    return f"0x{word:x}u"


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
