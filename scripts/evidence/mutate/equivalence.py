"""Whether a mutation changes anything that can be seen: a proof by SAT, register by register."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts.evidence.mutate.netlist import Mutation, yosys
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT

EQUIVALENT, DIFFERENT, OPEN = "equivalent", "different", "open"
#: Of a proof in all states, and of one in each of the states that are reached.
YOSYS_LIMIT_S, REACHED_LIMIT_S = 60, 300
PROVED, REFUTED = "no model found: SUCCESS!", "model found: FAIL!"
FEW = 4  # states, for all of which SAT looks at gates, too
CUT, SLOW = r"\$dff|\$mem_v2", r"\$mul"  # types of cells
#: The commands that make gates of words, of which `opt` finds equal ones that words hide.
GATES = "wreduce\npeepopt\nopt_expr\nopt_clean\ntechmap\nopt -share_all\n"
REGISTER = "$driver$"  # before its name, the cell of one
APART = "_apart"  # after the name of a register: the mutated netlist's own
#: Signal -> its value, as binary digits: of a register, an input, an output of a module that stayed
#: as it is, or of one bit of these (`flags_o[2]`).
State = dict[str, str]


def compare(
    clean: Path,
    module: str,
    mutation: Mutation,
    log: Path,
    states: Sequence[State] = ({},),
    apart: str = "",
    before: Sequence[str] = (),
) -> str:
    """Compare a netlist with and without a mutation.

    Both are cut at registers, memories and the modules that stayed as they are: what goes into
    these is compared as outputs, what comes from them is any input, the same for both. Where SAT
    finds no answer in a few states, it looks at gates, of which equal ones are one; and then cuts
    at multipliers, too. Equal so means equivalent. Where a module without registers differs so, it
    is different; with registers, it may be that the difference needs a state that is never reached.

    Parameters
    ----------
    clean
        RTLIL of the netlist.
    module
        Its module.
    mutation
    log
        File that Yosys' output goes to.
    states
        Those that are compared; all others are not reached.
    apart
        A register that both have for themselves, see
        :func:`scripts.evidence.mutate.known.reached_apart`.
    before
        Registers that hold what they were given in a cycle before, in which all is free.

    Returns
    -------
    str
        EQUIVALENT, DIFFERENT (in some state, reached or not) or OPEN.
    """

    def said(types: str, simpler: str = "") -> str:
        names = cut_names(clean, types)
        shown, prove = (), "sat -prove trigger 0 -show-inputs miter\n"
        if before:
            kept = {names[f"{REGISTER}{name}"]: width_of(clean, name) for name in before}
            shown = ("trigger", *(f"gold_{cut}.D" for cut in kept))
            prove = f"{_later(kept, log)}sat -seq 2 -prove-skip 1 -prove trigger 0 later\n"
        miter = miter_of(clean, module, mutation, types, apart, shown)
        each = "".join(f"design -load miter\n{_in_state(x, names)}{simpler}{prove}" for x in states)
        limit_s = YOSYS_LIMIT_S if len(states) == 1 else REACHED_LIMIT_S
        return _said(f"{miter}design -save miter\n{each}", len(states), limit_s, log)

    found = said(CUT)
    if found == OPEN and len(states) <= FEW:
        found = said(CUT, GATES)
    if found == OPEN and len(states) == 1:
        return EQUIVALENT if said(f"{CUT}|{SLOW}") == EQUIVALENT else OPEN
    return found


def miter_of(
    clean: Path,
    module: str,
    mutation: Mutation,
    types: str = CUT,
    apart: str = "",
    shown: Sequence[str] = (),
) -> str:
    """The commands that make a module `miter` of the netlists without and with a mutation.

    Its output `trigger` is 1 where they differ. For cells that are cut, see :func:`cut_names`, it
    has inputs like `in_cut_0.Q`.

    Parameters
    ----------
    clean, module, mutation, apart
        As for :func:`compare`. What a register of their own is given is not compared.
    types
        Of the cells that are cut.
    shown
        Outputs that are kept, instead of `trigger` alone: of one netlist, as `gold_cut_0.D` without
        and `gate_cut_0.D` with the mutation.
    """
    names = cut_names(clean, types)
    cut = rename_cut(names)
    return f"""
        read_rtlil {clean.relative_to(ROOT)}
        copy {module} gate
        rename {module} gold
        {mutation.line.replace(f"-module {module} ", "-module gate ")}
        {"".join(f"cd {side}; {cut}; cd ..; " for side in ("gold", "gate"))}
        expose -evert gold/c:* gate/c:*
        setundef -zero gold gate  # what no condition chooses
        opt_clean gold gate
        {_with_own(names[f"{REGISTER}{apart}"], width_of(clean, apart), shown) if apart else ""}
        miter -equiv -flatten {"-make_outputs" if shown else ""} gold gate miter
        hierarchy -top miter
        {keep_outputs(shown) if shown else ""}
        opt_expr
        opt_merge -share_all
        opt_expr
        opt_clean
    """


def keep_outputs(names: Sequence[str]) -> str:
    """The commands that make wires of all outputs but some."""
    kept = " ".join(f"o:{name}" for name in names)
    return f"select -set kept {kept}\ndelete -output o:* @kept %d\nopt_clean"


def cut_names(clean: Path, types: str = CUT) -> dict[str, str]:
    """New names for the cells that are cut: `expose -evert` cuts those with a name of a user's."""
    cells = re.findall(rf"^  cell (?:{types}) (\$\S+)$", clean.read_text(), re.M)
    return {cell: f"cut_{i}" for i, cell in enumerate(cells)}


def rename_cut(names: dict[str, str]) -> str:
    """The commands that give cells their new names."""
    return "; ".join(f"rename {cell} {name}" for cell, name in names.items())


def width_of(clean: Path, register: str) -> int:
    """Bits of a register."""
    cell = re.escape(f"{REGISTER}{register}")
    return int(re.search(rf" {cell}\n +parameter \\WIDTH (\d+)$", clean.read_text(), re.M)[1])


def _with_own(cut: str, width: int, shown: Sequence[str]) -> str:
    """The commands that give the mutated netlist a register of its own."""
    port, own = f"{cut}.Q", f"add -input {cut}.Q{APART} {width}"
    hidden = "" if shown else f"delete -output w:{cut}.D"
    return f"""
        cd gold; {own}; {hidden}; cd ..
        cd gate; rename {port} own; delete -input w:own; add -input {port} {width}; {own}
        connect -set own {port}{APART}; {hidden}; cd ..
    """


def _later(widths: dict[str, int], log: Path) -> str:
    """The commands that put registers that were cut back, around the miter."""
    lines = ["module later(input clk, output trigger);"]
    for cut, width in widths.items():
        lines += [
            f"  reg [{width - 1}:0] {cut}_q;",
            f"  wire [{width - 1}:0] {cut}_d;",
            f"  always @(posedge clk) {cut}_q <= {cut}_d;",
        ]
    pins = [f".\\in_{cut}.Q ({cut}_q), .\\gold_{cut}.D ({cut}_d)" for cut in widths]
    lines += [f"  miter u_miter ({', '.join(pins)}, .trigger(trigger));", "endmodule", ""]
    file = log.with_suffix(".v")
    file.write_text("\n".join(lines))
    return f"""
        read_verilog {file.relative_to(ROOT)}
        hierarchy -top later
        proc
        flatten
        opt_clean
    """


def _in_state(state: State, names: dict[str, str]) -> str:
    """The commands that fix signals in the miter."""
    fixed = []
    for name, bits in state.items():
        signal, index = split_index(name)
        end = APART if signal.endswith(APART) else ""
        cell = names.get(f"{REGISTER}{signal.removesuffix(end)}")
        port = f"{cell}.Q{end}" if cell else signal
        fixed.append(f"connect -set in_{port}{index} {len(bits)}'b{bits}")
    return "\n".join(
        [
            *fixed,
            "opt_expr -fine",
            "opt_clean",
            "opt_merge -share_all",
            "opt_expr -fine",
            "opt_clean",
            "",
        ]
    )


def split_index(name: str) -> tuple[str, str]:
    """A signal and the bit of it that is meant: `flags_o[2]` is `flags_o` and `[2]`."""
    return re.fullmatch(r"(.*?)(\[\d+\])?", name).groups(default="")


def _said(script: str, proofs: int, limit_s: float, log: Path) -> str:
    """What so many proofs say together."""
    try:
        said = yosys(script, log, limit_s)
    except (CostError, subprocess.TimeoutExpired):  # a register that only one of them has
        return OPEN
    if said.count(PROVED) == proofs:
        return EQUIVALENT
    return DIFFERENT if REFUTED in said else OPEN
