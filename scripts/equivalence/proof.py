"""The proof that two versions of a module behave the same, by Yosys.

Both get the same inputs, and the same state: a register of one is a register of the other that has
its name. Instances below are cut out, and memories: what they answer is the same on both sides.
Proved is that for any of that both give the same outputs, the same next state, and tell the
instances and memories the same, also which bits are unknown. Inputs and state have no unknown bits:
what happens before reset is not looked at. What is not proved need not differ: it has to be
simulated.
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.cost.tools import BIN, YOSYS
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.memories import as_ports
from scripts.places import BUILD, ROOT

OUT = BUILD / "changed" / "proofs"
SAME = Path("scripts/equivalence/same.v")
#: Yosys is given up when it takes longer, over all proofs of a call.
LIMIT_S = 60
SIDES = BEFORE, NOW = "before", "now"
EQUAL = "equal"

#: A module alone: instances below and registers are ports. No assertion, no output of text, no
#: start value: a proof would not see them.
_READ = """\
design -reset
read_slang -j1 --top {module} {params} --keep-hierarchy {files}
hierarchy -top {module}
select -assert-none {module}/t:$check {module}/t:$print
proc
select -assert-none {module}/w:* a:init %i
{watched}expose -evert-dff {module}/c:*
expose -evert {module}/c:*
opt_clean {module}
rename {module} {side}
select {side}
write_rtlil -selected {netlist}
select -clear
"""
#: `opt_merge` finds what both have in common; what is left is for the solver.
_COMPARE = """\
design -reset
read_rtlil {before}
read_rtlil {now}
miter -equiv -flatten before now miter
hierarchy -top miter
opt_merge
techmap -map {same} t:$eqx
opt_expr -keepdc
opt_clean
sat -enable_undef -set-def-inputs -verify -prove trigger 0 miter
tee -q -o {shown} log {shown}
"""


@dataclass(frozen=True)
class Proof:
    """What is to be shown.

    Attributes
    ----------
    module : str
        The module.
    params : tuple
        Names and values of its parameters.
    before, now : tuple of Path
        All files of either version, in compile order. A path stands for its content.
    watched : tuple of str
        Signals inside that somebody reads: they must be the same, too.
    """

    module: str
    params: tuple[tuple[str, str], ...]
    before: tuple[Path, ...]
    now: tuple[Path, ...]
    watched: tuple[str, ...] = ()

    def __str__(self) -> str:
        params = ", ".join(f"{name}={value}" for name, value in self.params)
        return f"{self.module} ({params})" if params else self.module


def prove(proofs: Iterable[Proof]) -> dict[Proof, str]:
    """Proofs -> `EQUAL`, up to the first that does not hold -> why not. Answers are kept.

    Raises
    ------
    EquivalenceError
        If Yosys is missing.
    """
    proofs = list(proofs)
    kept = {proof: file.read_text() for proof in proofs if (file := _answer(proof)).exists()}
    todo = [proof for proof in proofs if proof not in kept]
    if not todo or any(answer != EQUAL for answer in kept.values()):
        return kept
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        found = _run(todo, Path(name).relative_to(ROOT))
    for proof, answer in found.items():
        _answer(proof).write_text(answer)
    return kept | found


def _answer(proof: Proof) -> Path:
    """The file of an answer. It changes with all that Yosys is told."""
    OUT.mkdir(parents=True, exist_ok=True)
    told = [*(_read(proof, side, "") for side in SIDES), _COMPARE, (ROOT / SAME).read_text()]
    return OUT / hashlib.sha256("".join(told).encode()).hexdigest()[:16]


def _run(proofs: Sequence[Proof], folder: Path) -> dict[Proof, str]:
    """The answers, by one process that reads and one that compares."""
    names = [
        {word: f"{folder}/{i}.{word}" for word in (*SIDES, "shown")} for i in range(len(proofs))
    ]
    reads = zip(proofs, names, strict=True)
    text = "".join(_read(proof, side, name[side]) for proof, name in reads for side in SIDES)
    said = _yosys(text, ROOT / folder / "read.ys")
    read = sum((ROOT / name[NOW]).exists() for name in names)
    for name in names[:read]:
        for side in SIDES:
            netlist = ROOT / name[side]
            netlist.write_text(as_ports(netlist.read_text()))
    text = "".join(_COMPARE.format(same=SAME, **name) for name in names[:read])
    differs = _yosys(text, ROOT / folder / "compare.ys")
    shown = sum((ROOT / name["shown"]).exists() for name in names)
    answers = dict.fromkeys(proofs[:shown], EQUAL)
    if shown < len(proofs):
        answers[proofs[shown]] = said if shown == read else differs
    return answers


def _read(proof: Proof, side: str, netlist: str) -> str:
    files = proof.before if side == BEFORE else proof.now
    inside = f"{proof.module}/w:"
    forms = ("{}", "{}[[]*", "*.{}", "*.{}[[]*")  # elements of an array, in a generate block
    signals = [" ".join(inside + form.format(name) for form in forms) for name in proof.watched]
    watched = (f"select -assert-min 1 {one}\nexpose {one}\n" for one in signals)
    return _READ.format(
        module=proof.module,
        params=" ".join(f"-G {name}={value}" for name, value in proof.params),
        files=" ".join(str(file.relative_to(ROOT)) for file in files),
        watched="".join(watched),
        side=side,
        netlist=netlist,
    )


def _yosys(commands: str, script: Path) -> str:
    """Run commands; empty if all went well, otherwise why not.

    Raises
    ------
    EquivalenceError
        If Yosys is missing.
    """
    script.write_text(commands)
    command = [str(BIN / YOSYS), "-q", str(script.relative_to(ROOT))]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    except OSError:
        raise EquivalenceError(f"{YOSYS} is missing (make formal installs it)") from None
    except subprocess.TimeoutExpired:
        return f"not shown within {LIMIT_S} s"
    if not done.returncode:
        return ""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if any("proof did fail" in line for line in lines):
        return "differs"
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["Yosys fails"])[0].removeprefix("ERROR: ")
