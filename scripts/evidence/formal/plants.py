"""Bugs that are planted to see the properties fail: formal/plants.toml.

Each is an edit of one RTL file, the proof that must find it, and the property that must not hold.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.proof import BOUNDED, Proof
from scripts.evidence.formal.proofs import UNITS, proof_named
from scripts.evidence.formal.sby import DISPROVED, HARNESSES, OUT, Outcome, run
from scripts.kernel.places import ROOT

PLANTS = f"{HARNESSES}/plants.toml"


@dataclass(frozen=True)
class Plant:
    """A planted bug.

    Attributes
    ----------
    number : int
        Its place in the file, from 1 on.
    proof : str
        Name of the proof.
    property : str
        The property that must fail.
    file : str
        The RTL file that is edited.
    before, after : str
        The text that stands there, once, and what it becomes.
    depth : int
        Steps that are needed to see it; 0: those of the proof.
    """

    number: int
    proof: str
    property: str
    file: str
    before: str
    after: str
    depth: int = 0


def read_plants(units: Sequence[str] = ()) -> list[Plant]:
    """The planted bugs of some units, of all if none is named.

    Raises
    ------
    FormalError
        If a unit has no proof, or a plant does not fit its file or names no proof.
    """
    for unit in units:
        if unit not in UNITS:
            raise FormalError(f"no proof of {unit}; there are those of {', '.join(UNITS)}")
    entries = tomllib.loads((ROOT / PLANTS).read_text())["plant"]
    plants = [Plant(number, **entry) for number, entry in enumerate(entries, 1)]
    for plant in plants:
        proof_named(plant.proof)
        found = (ROOT / plant.file).read_text().count(plant.before)
        if found != 1:
            raise FormalError(
                f"{PLANTS}: the text of plant {plant.number} stands {found} times in {plant.file}"
            )
    return [plant for plant in plants if not units or proof_named(plant.proof).unit in units]


def check(plant: Plant) -> tuple[Proof, Outcome]:
    """Run the proof of a plant on the edited source, for this property alone.

    Always from reset on: an induction that does not close would not be a bug that was found.

    Raises
    ------
    FormalError
        As for `sby.run`.
    """
    proof = proof_named(plant.proof)
    name = f"plant-{plant.number}"
    folder = OUT / f"{name}-source"
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    copy = folder / plant.file.rpartition("/")[2]
    (ROOT / copy).write_text((ROOT / plant.file).read_text().replace(plant.before, plant.after))
    proof = replace(proof, mode=BOUNDED, depth=plant.depth or proof.depth)
    return proof, run(proof, name, {plant.file: str(copy)}, plant.property)


def is_found(plant: Plant, outcome: Outcome) -> bool:
    """Whether the proof failed as it must."""
    return outcome.status == DISPROVED and plant.property in outcome.failed
