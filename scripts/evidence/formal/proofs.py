"""All proofs, and which ones are asked for."""

from collections.abc import Collection, Sequence
from typing import Any

from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.proof import INDUCTION, Proof

ADD, MUL, RECIP = range(3)  # numbers of the units (fp_pkg)
ARRAY, TABLE, ITERATIVE = range(3)  # methods of the reciprocal
#: Register stages of an adder or multiplier, of a reciprocal.
STAGES, RECIP_STAGES = range(7), range(9)
#: Formats that are compared with the specification at every depth, and combinational only. Three
#: mantissa bits have every case of an adder, but no product has a tie to be rounded up.
ADDER, OTHERS, MORE = ((4, 2), (4, 3)), ((4, 2), (4, 4)), ((5, 3), (5, 4))
BINARY32 = (8, 23)
#: SETUP of the tops' slaves: none, the step array, the step engine with its READ_STAGES.
SETUPS = (0, 1, 3, 4, 5)

FLOATS = ("a", "b", "y", "expected_y")
TOPS = {
    "hdca_coprocessor": ("hdca_engine",),
    "ldup_coprocessor": ("ldup_engine",),
    "step_engine": (
        "step_sequencer",
        "step_program",
        "step_datapath",
        "step_rare",
        "step_trace",
    ),
    "step_array": ("array_loader", "array_sequencer", "array_core", "array_drain"),
}


def _float(
    name: str, unit: int, form: tuple[int, int], stages: int, fast: bool, **more: int
) -> Proof:
    values = {"UNIT": unit, "EXP_W": form[0], "MAN_W": form[1], "STAGES": stages, **more}
    return Proof(name, "fp_formal", values, stages + 1, complete=True, fast=fast, floats=FLOATS)


def _adders(
    stages: Sequence[int], form: tuple[int, int], fast: Collection[int], **more: int
) -> list[Proof]:
    return [_float("fp_add", ADD, form, n, n in fast, **more) for n in stages]


def _others(
    stages: Sequence[int],
    recip_stages: Sequence[int],
    form: tuple[int, int],
    fast: Collection[int],
    **more: int,
) -> list[Proof]:
    """Multiplier, and the reciprocal by both methods."""
    return [
        *(_float("fp_mul", MUL, form, n, n in fast, **more) for n in stages),
        *(
            _float("fp_recip", RECIP, form, n, n in fast, METHOD=method, **more)
            for method in (ARRAY, TABLE)
            for n in recip_stages
        ),
    ]


def _float_proofs() -> list[Proof]:
    proofs = []
    for form in ADDER:
        proofs += _adders(STAGES, form, (0, 1, 3))
    for form in OTHERS:
        proofs += _others(STAGES, RECIP_STAGES, form, (0, 1, 3))
    for form in MORE:
        proofs += _adders((0,), form, ()) + _others((0,), (0,), form, ())
    proofs += _adders(STAGES[1:], BINARY32, (2, 3), COMBINATIONAL=1)
    proofs += _others(STAGES[1:], RECIP_STAGES[1:], BINARY32, (2, 3), COMBINATIONAL=1)
    # The products cut in four and two, as for multipliers of 18 x 18.
    proofs.append(_float("fp_mul", MUL, BINARY32, 3, False, COMBINATIONAL=1, DSP_W=18))
    return proofs


def _bus_proofs() -> list[Proof]:
    proofs = []
    for setup in SETUPS:
        values, k = {"SETUP": setup}, 2 * setup + 6
        proofs.append(Proof("axil_slave", "axil_slave_formal", values, k, INDUCTION))
    for setup in (0, 3):
        values = {"SETUP": setup}
        proofs.append(
            Proof("coprocessor_control", "coprocessor_control_formal", values, 3, INDUCTION)
        )
    for number, (top, boxes) in enumerate(TOPS.items()):
        k = 12 if top.startswith("step") else 4
        slow = top == "step_array"  # with its many registers
        if slow:
            proofs.append(Proof(top, "top_formal", {"TOP": number}, k, INDUCTION, boxes, top))
        values = {"TOP": number, "HELD": 1}
        proofs.append(Proof(top, "top_formal", values, k, INDUCTION, boxes, top, fast=not slow))
        registered = int(top.startswith("step"))  # answers
        values, unit = {"REGISTERED": registered}, f"{top}_regs"
        large = top == "hdca_coprocessor"
        proofs.append(
            Proof(unit, "registers_formal", values, 3, map=top, fast=not large, complete=True)
        )
    return proofs


def _part_proofs() -> list[Proof]:
    def several(unit: str, depth: int, *values: dict[str, int], **more: Any) -> list[Proof]:
        return [Proof(unit, f"{unit}_formal", each, depth, **more) for each in values]

    def engine(unit: str, depth: int, **values: int) -> Proof:
        return Proof(unit, "engine_formal", values, depth, boxes=("fp_units", "fp_recip"))

    def counts(unit: str, **more: Any) -> Proof:
        return Proof(unit, f"{unit}_counts_formal", {}, 3, **more)

    iterative, array, table = ({"METHOD": n} for n in (ITERATIVE, ARRAY, TABLE))
    return [
        *several("fp_recip_stream", 14, iterative, floats=FLOATS),
        *several("fp_recip_stream", 10, *(array | {"STAGES": n} for n in (1, 2)), floats=FLOATS),
        *several("fp_recip_stream", 14, table | {"STAGES": 4}, fast=False, floats=FLOATS),
        engine("hdca_engine", 34, ENGINE=0, PASSES=1),
        engine("hdca_engine", 34, ENGINE=0, PASSES=2),
        engine("ldup_engine", 36, ENGINE=1, N=2),
        engine("ldup_engine", 30, ENGINE=2, N=2),
        *several("step_sequencer", 17, {"CONTEXTS": 1}),
        *several("step_sequencer", 22, {"CONTEXTS": 2}, fast=False),
        counts("step_sequencer", mode=INDUCTION),
        *several(
            "step_trace",
            16,
            {"DEPTH": 2, "DATA_STAGES": 0},
            {"DEPTH": 4, "DATA_STAGES": 1},
            {"DEPTH": 4, "DATA_STAGES": 2},
        ),
        *several("array_loader", 12, {"CONTEXTS": 1, "DATAPATHS": 2}),
        *several("array_loader", 14, {"CONTEXTS": 2, "DATAPATHS": 1}, fast=False),
        counts("array_loader", mode=INDUCTION),
        counts("array_sequencer", boxes=("array_program",), complete=True),
        *several("array_sequencer", 22, {"CONTEXTS": 1}, fast=False),
        *several(
            "array_sequencer",
            18,
            {"CONTEXTS": 2},
            {"CONTEXTS": 1, "SCRATCH_DEPTH": 4},
            fast=False,
        ),
        *several(
            "array_drain",
            14,
            {"CONTEXTS": 1, "DATAPATHS": 2},
            {"CONTEXTS": 2, "DATAPATHS": 1},
            fast=False,
        ),
        counts("array_drain", complete=True),
    ]


PROOFS: tuple[Proof, ...] = (*_float_proofs(), *_bus_proofs(), *_part_proofs())
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
