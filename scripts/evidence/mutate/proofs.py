"""Whether a proof of `make formal` is red with a mutation: then it is killed, by that proof.

Benches do not count far enough to see a fault in a high bit of a counter; proofs hold for every
number. The mutation's cell is looked up in the netlist of each proof that has it, with the same
parameters, and the mutation is planted there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.evidence.formal import sby
from scripts.evidence.formal.proof import BOUNDED, Proof
from scripts.evidence.formal.proofs import PROOFS
from scripts.evidence.mutate.equivalence import REGISTER
from scripts.evidence.mutate.netlist import Mutation, yosys
from scripts.kernel.places import ROOT

#: Steps from reset on in which a counterexample is looked for where an induction does not close.
STEPS = 12


@dataclass(frozen=True)
class Cell:
    """A cell of a netlist, as far as it does not depend on what is around it.

    Attributes
    ----------
    kind
        Its type.
    places
        Files, without their folders, lines and columns that it was made of.
    parameters
        As RTLIL has them, widths of its ports among them.
    register
        Name in its module; empty if it is no register.
    """

    kind: str
    places: str
    parameters: tuple[str, ...]
    register: str


def cells_of(netlist: Path) -> dict[str, Cell]:
    """The cells of a netlist in RTLIL by their names, in the order in which they were made."""
    attributes, head = r'^  attribute \\src "(.*)"\n(?:  attribute .*\n)*', r"  cell (\S+) (\S+)\n"
    cell = rf"{attributes}{head}((?:    .*\n)*)  end$"
    found = re.findall(cell, netlist.read_text(), re.M)
    cells = {}
    for places, kind, name, body in sorted(found, key=lambda cell: _number(cell[2])):
        places = re.sub(r"[^|]*/", "", places)
        parameters = tuple(re.findall(r"^    parameter (.*)$", body, re.M))
        register = re.split(r"[.$]", name)[-1] if name.startswith(REGISTER) else ""
        cells[name] = Cell(kind, places, parameters, register)
    return cells


def _number(name: str) -> int:
    """Cells without a name are counted."""
    number = re.search(r"\$(\d+)$", name)
    return int(number[1]) if number else 0


def same_cell(name: str, cells: dict[str, Cell], others: dict[str, Cell]) -> str:
    """The cell of another netlist that one stands for there; empty if there is none.

    Of cells that are alike, the one in the same place of their order, if there are as many.
    """
    alike, found = (
        [one for one, cell in some.items() if cell == cells[name]] for some in (cells, others)
    )
    return found[alike.index(name)] if len(alike) == len(found) else ""


def planted(proof: Proof, cell: str, places: str, mutation: Mutation) -> list[str]:
    """The commands that plant a mutation in the netlist of a proof, if the cell is there."""
    line = re.sub(r" -(?:src|wire|wirebit) \S+", "", mutation.line)
    line = re.sub(r" -module \S+", f" -module {proof.harness}", line)
    line = re.sub(r" -cell \S+", lambda _: f" -cell {cell}", line)
    return [f"select -assert-count 1 c:{cell} a:src={places} %i", line]


def killed_by(clean: Path, mutation: Mutation, name: str, folder: Path) -> str:
    """A property that fails with a mutation, and its proof; empty if all proofs hold.

    A counterexample, or else an induction that does not close any more, which is told.

    Parameters
    ----------
    clean
        RTLIL of the unit's netlist without mutations.
    mutation
    name
        Of the folder in `sby.OUT` to work in.
    folder
        For the netlists of proofs.

    Raises
    ------
    FormalError, CostError
        If a tool is missing or fails.
    """
    cells, cell = cells_of(clean), mutation.option("cell")
    for proof in _about(mutation) if cell in cells else ():
        there = same_cell(cell, cells, cells_of(_netlist(proof, name, folder)))
        if not there:
            continue
        commands = planted(proof, there, cells[cell].places, mutation)
        outcome = sby.run(proof, name, planted=commands)
        if outcome.status == sby.UNKNOWN and outcome.failed:
            bounded = replace(proof, mode=BOUNDED, depth=max(proof.depth, STEPS))
            shown = sby.run(bounded, name, planted=commands)
            if shown.status != sby.DISPROVED:
                return f"{_said(outcome, proof)}, whose induction does not close"
            outcome = shown
        if outcome.status == sby.DISPROVED:
            return _said(outcome, proof)
    return ""


def _said(outcome: sby.Outcome, proof: Proof) -> str:
    lemmas_last = sorted(outcome.failed, key=lambda name: name.startswith("lemma_"))
    return f"`{lemmas_last[0]}` of `{proof.name}`"


def _about(mutation: Mutation) -> Iterator[Proof]:
    """Proofs that read the file of a mutation."""
    file = mutation.option("src").partition(":")[0]
    return (proof for proof in PROOFS if file in sby.sources(proof))


def _netlist(proof: Proof, name: str, folder: Path) -> Path:
    """RTLIL of a proof, made unless it is there."""
    netlist = folder / f"{proof.name}-{sby.key(proof)}.il"
    if not netlist.exists():
        new = folder / f"{name}.il"  # others may be making it, too
        commands = [*sby.reading(proof), f"write_rtlil {new.relative_to(ROOT)}", ""]
        yosys("\n".join(commands), new.with_suffix(".log"))
        new.replace(netlist)
    return netlist
