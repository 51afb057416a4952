"""One proof: a harness of formal/ with parameters, how far and how it is checked."""

import re
from dataclasses import dataclass, field

#: Modes of SymbiYosys: all states up to a number of steps, or k-induction, which has no bound.
BOUNDED, INDUCTION = "bmc", "prove"


@dataclass(frozen=True)
class Proof:
    """One proof.

    Attributes
    ----------
    unit : str
        The RTL module that it is about.
    harness : str
        The harness: module and file of formal/.
    values : dict
        Its parameters.
    depth : int
        Steps: the bound, or the k of the induction.
    mode : str
        `BOUNDED` or `INDUCTION`.
    boxes : tuple of str
        Modules that are cut out: their outputs are free in every step.
    map : str
        The register map that the harness looks addresses up in; empty if it has no use for one.
    fast : bool
        Whether CI runs it.
    complete : bool
        Whether a bounded proof holds for all time: nothing older than its steps has an effect.
    floats : tuple of str
        Signals of the harness that are floats of its format.
    """

    unit: str
    harness: str
    values: dict[str, int]
    depth: int
    mode: str = BOUNDED
    boxes: tuple[str, ...] = ()
    map: str = ""
    fast: bool = True
    complete: bool = False
    floats: tuple[str, ...] = field(default=())

    @property
    def config(self) -> str:
        """The parameters as text: `EXP_W=4 MAN_W=3 STAGES=2`."""
        return " ".join(f"{name}={value}" for name, value in self.values.items())

    @property
    def name(self) -> str:
        """What identifies it, and its files: `fp_add-fp_formal-EXP_W4-MAN_W3`."""
        return re.sub(r"[^\w-]", "", "-".join([self.harness, self.unit, *self.config.split()]))

    @property
    def reach(self) -> str:
        """For how long it holds."""
        if self.mode == INDUCTION:
            return f"unbounded (induction, k = {self.depth})"
        if self.complete:
            return f"unbounded (in {self.depth} steps)"
        return f"{self.depth} steps from reset"
