"""Whether a mutation changes anything that can be seen: all inputs are tried.

For modules with few bits of input, where SAT finds no answer. The gates of the miter become C on
vectors, each bit of which is another input.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cffi import FFI

from pymodel.arith.c_build import compiler, opened
from scripts.evidence.mutate.equivalence import DIFFERENT, miter_of
from scripts.evidence.mutate.errors import MutateError
from scripts.evidence.mutate.netlist import Mutation, yosys
from scripts.kernel.places import ROOT

SAME = "all inputs tried"
INPUT_BITS = 32  # at most
LANE_BITS, WORD_BITS = 9, 6  # of an input: they tell a vector's bits apart, and a word's
WORDS = 1 << (LANE_BITS - WORD_BITS)
GATES = {
    "$_NOT_": "~{A}",
    "$_AND_": "{A} & {B}",
    "$_OR_": "{A} | {B}",
    "$_XOR_": "{A} ^ {B}",
    "$_XNOR_": "~({A} ^ {B})",
    "$_MUX_": "({S} & {B}) | (~{S} & {A})",
}
DIGITS = {"0": "zeros", "1": "ones"}
PART = 500  # gates of one C function: compilers take much longer for longer ones
OPTIONS = ["-std=gnu11", "-O1", "-march=native", "-fPIC"]
DECLARED = "int differs(uint64_t vectors);"


def compare(netlist: Path, module: str, mutation: Mutation, log: Path) -> str:
    """Compare a netlist with and without a mutation for each input.

    Both are cut as for :func:`scripts.evidence.mutate.equivalence.compare`: what comes from
    registers, memories and the modules that stayed as they are counts as input.

    Parameters
    ----------
    netlist
        RTLIL.
    module
        Its module.
    mutation
    log
        File that Yosys' output goes to; the gates stand next to it.

    Returns
    -------
    str
        SAME or DIFFERENT.

    Raises
    ------
    MutateError
        If what is compared depends on more than `INPUT_BITS` bits, or is of gates without C text.
    NoCompilerError
        If there is no C compiler.
    """
    file = log.with_suffix(".json")
    script = f"""{miter_of(netlist, module, mutation)}
        delete gold gate
        techmap
        opt_expr
        opt_merge -share_all
        opt_expr
        opt_merge -share_all
        opt_clean
        write_json {file.relative_to(ROOT)}
    """
    yosys(script, log)
    miter = Miter(json.loads(file.read_text())["modules"]["miter"])
    return DIFFERENT if differs(miter) else SAME


def differs(miter: "Miter") -> bool:
    """Whether some input tells a difference.

    Raises
    ------
    NoCompilerError
        If there is no C compiler.
    """
    ffi = FFI()
    ffi.cdef(DECLARED)
    files = {"miter.c": "\n".join(miter.program())}
    with tempfile.TemporaryDirectory() as folder:  # not kept: no other mutation needs it
        path = Path(folder, "miter.so")
        compiler().build(files, OPTIONS, path, {}, {})
        return bool(opened(ffi, path).differs(1 << max(len(miter.inputs) - LANE_BITS, 0)))


class Miter:
    """Gates between inputs and the bit that tells a difference.

    Parameters
    ----------
    netlist
        The module, as Yosys writes JSON.

    Attributes
    ----------
    inputs
        Nets without a driver, by number, that the difference depends on.
    gates
        Net -> C text of its value; each behind those that it needs.
    """

    def __init__(self, netlist: dict[str, Any]) -> None:
        (self._trigger,) = netlist["ports"]["trigger"]["bits"]
        self._drivers = {
            cell["connections"]["Y"][0]: cell
            for cell in netlist["cells"].values()
            if "Y" in cell["connections"]
        }
        self.gates: dict[int, str] = {}
        self.inputs: list[int] = []
        for net in self._in_order():
            if cell := self._drivers.get(net):
                pins = {pin: _value(bits[0]) for pin, bits in cell["connections"].items()}
                if cell["type"] not in GATES:
                    raise MutateError(f"all inputs: no C for a gate of type {cell['type']}")
                self.gates[net] = GATES[cell["type"]].format(**pins)
            elif isinstance(net, str):
                raise MutateError(f"all inputs: a gate is given {net}")
            else:
                self.inputs.append(net)
        if len(self.inputs) > INPUT_BITS:
            raise MutateError(f"not all inputs can be tried: they are {len(self.inputs)} bits")

    def _in_order(self) -> Iterator[Any]:
        """The nets that the difference depends on, each behind those that it needs."""
        seen, waiting = set(DIGITS), [(self._trigger, False)]
        while waiting:
            net, ready = waiting.pop()
            if ready:
                yield net
            elif net not in seen:
                seen.add(net)
                waiting.append((net, True))
                pins = self._drivers.get(net, {}).get("connections", {})
                waiting += [(bits[0], False) for pin, bits in pins.items() if pin != "Y"]

    def program(self) -> Iterator[str]:
        """Lines of C: a function that says whether some input tells a difference."""
        yield "#include <stdint.h>"
        yield f"typedef uint64_t vector __attribute__((vector_size({8 * WORDS})));"
        nets = [*self.inputs, *self.gates]
        yield f"static vector {', '.join([*DIGITS.values(), *map(_value, nets)])};"
        lines = [f"  {_value(net)} = {text};" for net, text in self.gates.items()]
        parts = [lines[at : at + PART] for at in range(0, len(lines), PART)]
        for i, part in enumerate(parts):
            yield from (f"static void part_{i}(void) {{", *part, "}")
        yield f"{DECLARED.removesuffix(';')} {{"
        yield "  ones = ~zeros;"
        lanes, counted = self.inputs[:LANE_BITS], self.inputs[LANE_BITS:]
        for bit, net in enumerate(lanes):
            yield f"  {_value(net)} = (vector){{{', '.join(map(hex, _lanes(bit)))}}};"
        yield "  for (uint64_t i = 0; i < vectors; i++) {"
        for bit, net in enumerate(counted):
            yield f"    {_value(net)} = i >> {bit} & 1 ? ones : zeros;"
        yield from (f"    part_{i}();" for i in range(len(parts)))
        words = " | ".join(f"{_value(self._trigger)}[{word}]" for word in range(WORDS))
        yield from (f"    if ({words}) return 1;", "  }", "  return 0;", "}", "")


def _value(bit: Any) -> str:
    """C text of a bit of a netlist: the number of a net, or a digit."""
    return DIGITS.get(bit, f"n{bit}")


def _lanes(bit: int) -> list[int]:
    """A bit of the numbers of all lanes, as words."""
    number = sum((lane >> bit & 1) << lane for lane in range(1 << LANE_BITS))
    return [number >> (i << WORD_BITS) & 0xFFFFFFFFFFFFFFFF for i in range(WORDS)]
