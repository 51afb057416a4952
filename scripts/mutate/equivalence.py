"""Whether a mutation changes anything that can be seen: a proof by SAT, register by register."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts.cost.errors import CostError
from scripts.mutate.netlist import Mutation, yosys
from scripts.places import ROOT

EQUIVALENT, DIFFERENT, OPEN = "equivalent", "different", "open"
#: Of a proof in all states, and of one in each of the states that are reached.
SOLVER_LIMIT_S, YOSYS_LIMIT_S, REACHED_LIMIT_S = 20, 60, 300
PROVED, REFUTED = "no model found: SUCCESS!", "model found: FAIL!"
CUT, SLOW = r"\$dff|\$mem_v2", r"\$mul"  # types of cells
REGISTER = "$driver$"  # before its name, the cell of one
#: Register -> its value, as binary digits.
State = dict[str, str]


def compare(
    clean: Path, module: str, mutation: Mutation, log: Path, states: Sequence[State] = ()
) -> str:
    """Compare a netlist with and without a mutation.

    Both are cut at registers, memories, the modules that stayed as they are and, where SAT finds no
    answer, at multipliers: what goes into these is compared as outputs, what comes from them is any
    input, the same for both. Equal so means
    equivalent. Where a module without registers differs so, it is different; with registers, it may
    be that the difference needs a state that is never reached.

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
        If there are some: those that are compared; all others are not reached.

    Returns
    -------
    str
        EQUIVALENT, DIFFERENT (in some state, reached or not) or OPEN.
    """
    said = _compare(clean, module, mutation, log, states, CUT)
    if said == OPEN and not states:
        cut = _compare(clean, module, mutation, log, states, f"{CUT}|{SLOW}")
        return EQUIVALENT if cut == EQUIVALENT else OPEN
    return said


def _compare(
    clean: Path, module: str, mutation: Mutation, log: Path, states: Sequence[State], types: str
) -> str:
    """Compare with cuts at cells of some types."""
    names = _names(clean, types)
    cut = "; ".join(f"rename {cell} {name}" for cell, name in names.items())
    miter = f"""
        read_rtlil {clean.relative_to(ROOT)}
        copy {module} gate
        rename {module} gold
        {mutation.line.replace(f"-module {module} ", "-module gate ")}
        {"".join(f"cd {side}; {cut}; cd ..; " for side in ("gold", "gate"))}
        expose -dff -evert gold gate
        opt_clean gold gate
        miter -equiv -flatten gold gate miter
        hierarchy -top miter
        opt_expr
        opt_merge -share_all
        opt_clean
    """
    prove = f"sat -timeout {SOLVER_LIMIT_S} -prove trigger 0 -show-inputs miter\n"
    if not states:
        return _said(miter + prove, 1, YOSYS_LIMIT_S, log)
    each = "".join(f"design -load miter\n{_in_state(state, names)}{prove}" for state in states)
    return _said(miter + f"design -save miter\n{each}", len(states), REACHED_LIMIT_S, log)


def _names(clean: Path, types: str) -> dict[str, str]:
    """New names for the cells that are cut: `expose -evert` cuts those with a name of a user's."""
    cells = re.findall(rf"^  cell (?:{types}) (\$\S+)$", clean.read_text(), re.M)
    return {cell: f"cut_{i}" for i, cell in enumerate(cells)}


def _in_state(state: State, names: dict[str, str]) -> str:
    """The commands that fix registers in the miter."""
    fixed = [
        f"connect -set in_{names[f'{REGISTER}{name}']}.Q {len(bits)}'b{bits}"
        for name, bits in state.items()
    ]
    return "\n".join([*fixed, "opt_expr", "opt_clean", "opt_merge -share_all", "opt_clean", ""])


def _said(script: str, proofs: int, limit_s: float, log: Path) -> str:
    """What so many proofs say together."""
    try:
        said = yosys(script, log, limit_s)
    except (CostError, subprocess.TimeoutExpired):  # a register that only one of them has
        return OPEN
    if said.count(PROVED) == proofs:
        return EQUIVALENT
    return DIFFERENT if REFUTED in said else OPEN


def reached(clean: Path, module: str, control: Sequence[str], log: Path) -> list[State]:
    """The values that some registers take together: from zeros on, which simulations begin with.

    Inputs and all other registers take any values: not each of these states need be reached, but
    no other one is.

    Parameters
    ----------
    clean
        RTLIL of the netlist.
    module
        Its module.
    control
        The registers; SAT counts the steps between their values, so they should be of few bits.
    log
        File that Yosys' output goes to.

    Raises
    ------
    CostError
        If there is no such register.
    """
    now, after = (" ".join(f"-show {name}.{end}" for name in control) for end in "qd")
    script = f"""
        read_rtlil {clean.relative_to(ROOT)}
        expose -dff -evert -evert-dff {module}
        select -set kept {" ".join(f"o:{name}.d" for name in control)}
        delete -output o:* @kept %d
        opt_clean
        sat -all {now} {after} {module}
    """
    steps: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for text in yosys(script, log).split("model found:")[1:]:
        model = _values(text)
        before, then = (tuple(model[f"{name}.{end}"] for name in control) for end in "qd")
        steps.setdefault(before, []).append(then)
    states = [tuple("0" * len(bits) for bits in before)]
    for state in states:  # grows
        states += [then for then in steps[state] if then not in states]
    return [dict(zip(control, state, strict=True)) for state in states]


def _values(model: str) -> dict[str, str]:
    """Signal -> its bits, of one that Yosys found."""
    table = model.split("Solving problem")[0]
    return dict(re.findall(r"^  \\(\S+) .* ([01]+) *$", table, re.M))
