"""The proof that two versions of a module behave the same, by Yosys.

A register of one version is the register of the other that has its name, or that stands in its
place (:mod:`scripts.equivalence.registers`). Instances and memories are cut out. Proved is: for all
known inputs, register values, data read from memories and outputs of instances, both versions drive
the same outputs, next register values, memory ports and inputs of instances. Where one drives an
unknown bit, so does the other. Unknown bits that come in are not looked at. What is not proved need
not differ: it has to be simulated.
"""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.cost.tools import BIN, YOSYS, complaint
from scripts.equivalence import memories, registers
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.memories import as_ports
from scripts.equivalence.registers import renamed
from scripts.formal.sby import REQUIREMENTS
from scripts.places import BUILD, ROOT

OUT = BUILD / "changed" / "proofs"
SAME = Path("scripts/equivalence/same.v")
#: Besides what Yosys is told: what it is, and what else an answer depends on.
DECIDING = (
    *(ROOT / SAME, ROOT / REQUIREMENTS),
    *(Path(module.__file__) for module in (memories, registers)),
)
#: Yosys is given up when it takes longer.
LIMIT_S = 60
TOO_LONG = "it takes too long"
SIDES = BEFORE, NOW = "before", "now"
EQUAL, DIFFERS = "equal", "differs"

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
expose -evert {module}/c:* {module}/t:$* %d
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
        All files of either version, in compile order.
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
    """Proofs -> `EQUAL`, or why it is not shown. Answers are kept.

    Raises
    ------
    EquivalenceError
        If Yosys is missing.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    proofs = list(proofs)
    answers = {proof: file.read_text() for proof in proofs if (file := _answer(proof)).exists()}
    todo = [proof for proof in proofs if proof not in answers]
    while todo:
        shown, reason = _run(todo)
        found = dict.fromkeys(todo[:shown], EQUAL)
        todo = todo[shown:]
        if todo and (not shown or reason != TOO_LONG):  # the time may be that of those before
            found[todo.pop(0)] = reason
        for proof, answer in found.items():
            if answer in (EQUAL, DIFFERS):
                part = _answer(proof).with_suffix(f".{os.getpid()}")
                part.write_text(answer)
                part.replace(_answer(proof))
        answers |= found
    return answers


def _answer(proof: Proof) -> Path:
    """The file of an answer. Its name changes with all that the answer depends on."""
    told = [*(_read(proof, side, "") for side in SIDES), _COMPARE, *map(_content, DECIDING)]
    told += map(_content, (*proof.before, *proof.now))
    return OUT / hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


@cache
def _content(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _run(proofs: Sequence[Proof]) -> tuple[int, str]:
    """How many hold before the first that does not, and why that one does not.

    One process reads all of them, and one compares.
    """
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name).relative_to(ROOT)
        files = [
            {word: f"{folder}/{i}.{word}" for word in (*SIDES, "shown")} for i in range(len(proofs))
        ]
        pairs = zip(proofs, files, strict=True)
        text = "".join(_read(proof, side, file[side]) for proof, file in pairs for side in SIDES)
        unread = _yosys(text, ROOT / folder / "read.ys")
        read = [file for file in files if (ROOT / file[NOW]).exists()]
        for file in read:
            before, now = (as_ports((ROOT / file[side]).read_text()) for side in SIDES)
            for side, netlist in ((BEFORE, before), (NOW, renamed(before, now))):
                (ROOT / file[side]).write_text(netlist)
        text = "".join(_COMPARE.format(same=SAME, **file) for file in read)
        differs = _yosys(text, ROOT / folder / "compare.ys")
        shown = sum((ROOT / file["shown"]).exists() for file in read)
    return shown, differs if shown < len(read) else unread


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
        If Yosys is missing, or somebody ends it.
    """
    script.write_text(commands)
    command = [str(BIN / YOSYS), "-q", str(script.relative_to(ROOT))]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    except OSError:
        raise EquivalenceError(f"{YOSYS} is missing (make formal installs it)") from None
    except subprocess.TimeoutExpired:
        return TOO_LONG
    if done.returncode < 0:
        raise EquivalenceError(f"{YOSYS} was ended by signal {-done.returncode}")
    if not done.returncode:
        return ""
    said = done.stdout + done.stderr
    return DIFFERS if "proof did fail" in said else complaint(said).removeprefix("ERROR: ")
