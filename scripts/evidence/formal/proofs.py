"""All proofs, of the records in units/, and which ones are asked for."""

from collections.abc import Iterator, Sequence

from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.proof import Proof
from scripts.kernel.units import records


def _proofs() -> Iterator[Proof]:
    for unit, record in records().items():
        for some in record.proofs:
            for values, depth, fast in some.each():
                yield Proof(
                    unit,
                    some.harness,
                    values,
                    depth,
                    some.mode,
                    some.boxes,
                    some.map,
                    fast,
                    some.complete,
                    some.floats,
                )


PROOFS: tuple[Proof, ...] = tuple(_proofs())
UNITS: tuple[str, ...] = tuple(dict.fromkeys(proof.unit for proof in PROOFS))


def chosen(units: Sequence[str], fast: bool = False) -> list[Proof]:
    """The proofs that are asked for.

    Parameters
    ----------
    units : sequence of str
        Modules; all if there is none.
    fast : bool
        Only those that CI runs.

    Raises
    ------
    FormalError
        If there is no proof of a module.
    """
    for unit in units:
        if unit not in UNITS:
            raise FormalError(f"no proof of {unit}; there are those of {', '.join(UNITS)}")
    wanted = [proof for proof in PROOFS if not units or proof.unit in units]
    return [proof for proof in wanted if proof.fast or not fast]


def proof_named(name: str) -> Proof:
    """The proof of a name.

    Raises
    ------
    FormalError
        If there is none.
    """
    found = [proof for proof in PROOFS if proof.name == name]
    if not found:
        raise FormalError(f"no proof is called {name}")
    return found[0]
