"""Proofs that a netlist of ECP5 cells does what its RTL does: part `proofs` of `make gate-level`.

The netlist is made as for a bitstream, registers moved into multipliers; what its cells do says
Yosys' library, and boards/cells. Yosys proves it against its RTL:

- Pipelines of the float units, in small formats: both get the same operands in every cycle, any
  ones, and start with any content of their registers. From the cycle on that the first operands
  have left both, all outputs are equal. As neither has a loop, that is complete.
- State machines: registers are matched by their names. From equal registers, whatever they hold,
  the same inputs lead to equal outputs and equal registers. That both are equal behind a reset is
  left to the benches.

Memories have no registers to match, so units that hold one are not among them.
"""

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from scripts.evidence.ecp5_cells import CELLS
from scripts.evidence.netlists import Netlist, rtl_of, synthesised
from scripts.kernel import tools
from scripts.kernel.places import ROOT
from scripts.kernel.tools import YOSYS

#: What says that outputs are equal, of a pipeline and of a state machine.
EQUAL, MATCHED = "model found: SUCCESS!", "Equivalence successfully proven!"
LIMIT_S = 1800


@dataclass(frozen=True)
class Case:
    """A module whose netlist is compared with it.

    Attributes
    ----------
    module : str
    parameters : dict
        Those that are not the default.
    pipeline : bool
        Whether it is one, of STAGES clocks; else it is a state machine.
    """

    module: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    pipeline: bool = False

    @property
    def name(self) -> str:
        """For people."""
        return " ".join([self.module, *(f"{k}={v}" for k, v in self.parameters.items())])

    def netlist(self) -> Netlist:
        """Its netlist; it is made if it is not there."""
        return synthesised(rtl_of(self.module), self.parameters)


def _float(module: str, exp_w: int, man_w: int, stages: int) -> Case:
    return Case(module, {"EXP_W": exp_w, "MAN_W": man_w, "STAGES": stages}, pipeline=True)


#: The multiplier of six stages has registers moved into MULT18X18D.
CASES = (
    _float("fp_add", 4, 3, 0),
    _float("fp_add", 4, 3, 3),
    _float("fp_mul", 4, 4, 2),
    _float("fp_mul", 4, 4, 6),
    _float("fp_recip", 4, 4, 2),
    Case("axil_slave"),
    Case("coprocessor_control"),
)


@dataclass(frozen=True)
class Outcome:
    """What Yosys found.

    Attributes
    ----------
    proved : bool
    text : str
        What was compared, or what differs.
    seconds : float
        On the clock on the wall.
    """

    proved: bool
    text: str
    seconds: float


def _commands(case: Case, netlist: Netlist) -> str:
    """The commands of Yosys that read both sides and compare them."""
    values = "".join(f" -G {name}={value}" for name, value in case.parameters.items())
    rtl = " ".join(str(path.relative_to(ROOT)) for path in netlist.rtl)
    cells = sorted(path for path in CELLS.glob("*.sv") if path.stem != "EHXPLLL")
    gates = " ".join(str(path.relative_to(ROOT)) for path in (*cells, netlist.written()))
    both = f"""
        read_slang -j1 -D FP_MUL_DSP_W=18 --top {case.module}{values} {rtl}
        prep -flatten -top {case.module}
        memory_map
        rename {case.module} gold
        design -stash gold
        read_slang -j1 --ignore-initial --top {netlist.gates} {gates}
        prep -flatten -top {netlist.gates}
        memory_map
        rename {netlist.gates} gate
        design -copy-from gold gold
    """
    if case.pipeline:
        stages = case.parameters["STAGES"]
        return f"""{both}
            miter -equiv -flatten -make_outputs gold gate miter
            hierarchy -top miter
            opt -full
            sat -seq {stages + 1} -prove-skip {stages} -prove trigger 0 -set-def-inputs miter
        """
    return f"""{both}
        dffunmap gold gate
        opt_clean gold gate
        equiv_make gold gate equiv
        hierarchy -top equiv
        opt -full -purge
        equiv_simple
        equiv_induct
        equiv_status
    """


def prove(case: Case, netlist: Netlist | None = None) -> Outcome:
    """Compare a netlist with its RTL.

    Parameters
    ----------
    case
        The module.
    netlist
        The one that is compared; that of the module unless given.

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    """
    netlist, start = netlist or case.netlist(), time.monotonic()
    script = f"{netlist.folder}/proof.ys"
    (ROOT / netlist.folder).mkdir(parents=True, exist_ok=True)
    (ROOT / script).write_text(_commands(case, netlist))
    try:
        said = tools.run(YOSYS, ["-Q", "-s", script], netlist.folder / "proof.log", LIMIT_S)
    except subprocess.TimeoutExpired:
        return Outcome(False, f"no answer in {LIMIT_S} s", LIMIT_S)
    seconds = time.monotonic() - start
    if case.pipeline:
        proved = EQUAL in said
        text = "outputs are equal for all operands" if proved else "outputs differ"
        return Outcome(proved, text, seconds)
    (count,) = re.findall(r"Found (\d+) \$equiv cells in equiv", said)
    names = re.findall(r"Unproven \$equiv \S+: (\\\S+)_gold", said)
    proved = MATCHED in said
    what = f"{count} bits of registers, outputs and wires"
    return Outcome(proved, what if proved else f"not proved: {', '.join(names[:4])}", seconds)
