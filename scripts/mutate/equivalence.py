"""Whether a mutation changes anything that can be seen: a proof by SAT, register by register."""

import subprocess
from pathlib import Path

from scripts.cost.errors import CostError
from scripts.mutate.netlist import Mutation, yosys
from scripts.places import ROOT

EQUIVALENT, DIFFERENT, OPEN = "equivalent", "different", "open"
SOLVER_LIMIT_S, YOSYS_LIMIT_S = 20, 60
PROVED, REFUTED = "no model found: SUCCESS!", "model found: FAIL!"


def compare(clean: Path, module: str, mutation: Mutation, log: Path) -> str:
    """Compare a netlist with and without a mutation.

    Both are cut at registers and at the modules that stayed as they are: what goes into these is
    compared as outputs, what comes from them is any input, the same for both. Equal so means
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

    Returns
    -------
    str
        EQUIVALENT, DIFFERENT (in some state, reached or not) or OPEN.
    """
    script = f"""
        read_rtlil {clean.relative_to(ROOT)}
        copy {module} gate
        rename {module} gold
        {mutation.line.replace(f"-module {module} ", "-module gate ")}
        expose -dff -evert -evert-dff gold gate
        opt_clean gold gate
        miter -equiv -flatten gold gate miter
        hierarchy -top miter
        opt_expr
        opt_merge -share_all
        opt_clean
        sat -timeout {SOLVER_LIMIT_S} -prove trigger 0 -show-inputs miter
    """
    try:
        said = yosys(script, log, YOSYS_LIMIT_S)
    except (CostError, subprocess.TimeoutExpired):  # a register that only one of them has
        return OPEN
    if PROVED in said:
        return EQUIVALENT
    return DIFFERENT if REFUTED in said else OPEN
