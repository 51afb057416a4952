"""The proof that two versions of a module behave the same, by Yosys.

A register or memory of one version is that of the other which has its name, or which stands in its
place (:mod:`scripts.equivalence.renaming`). Instances and memories are cut out. Proved is: for all
known inputs, register values, data read from memories and outputs of instances, both versions drive
the same outputs, next register values, memory ports and inputs of instances. Where one drives an
unknown bit, so does the other. Unknown bits that come in are not looked at. What is not proved need
not differ: it has to be simulated. Registers that nothing can see are left out.

What is not shown in this way is looked at once more, if it is a pipeline with all that is below it
(:mod:`scripts.equivalence.pipelines`): its registers may be anywhere on the way.
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from scripts.cost.tools import BIN, YOSYS, complaint
from scripts.equivalence import memories, pipelines, renaming
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.memories import as_ports
from scripts.equivalence.pipelines import NoPipelineError, pipeline
from scripts.equivalence.renaming import renamed, with_memories_renamed
from scripts.formal.sby import REQUIREMENTS
from scripts.places import BUILD, ROOT

OUT = BUILD / "changed" / "proofs"
SAME = Path("scripts/equivalence/same.v")
STRAIGHT = Path("scripts/equivalence/straight.v")
#: What an answer depends on besides both versions.
DECIDING = (
    *(Path(__file__), ROOT / SAME, ROOT / STRAIGHT, ROOT / REQUIREMENTS),
    *(Path(module.__file__) for module in (memories, pipelines, renaming)),
)
#: Yosys is given up when it takes longer.
LIMIT_S = 60
TOO_LONG = "it takes too long"
#: Selections that are not as they must be, as Yosys complains of them -> what that means.
REFUSED = {
    r"is not empty: \S+/t:\$check$": "it has an assertion",
    r"is not empty: .* a:init %i$": "it has a start value",
    r"less than the minimum number 1: ": "a signal that is read is not in it",
}
RESET = "rst_ni"
SIDES = BEFORE, NOW = "before", "now"
EQUAL, DIFFERS = "equal", "differs"

#: No assertion, no start value: a proof would not see them. Text that is printed is left out, as it
#: decides nothing: what ends a simulation (`$error`, `$fatal`, `$finish`, `$stop`) is refused.
_ELABORATE = """\
design -reset
read_slang -j1 --top {module} {params} {hierarchy} {files}
hierarchy -top {module}
select -assert-none {module}/t:$check
proc
delete {module}/t:$print
select -assert-none {module}/w:* a:init %i
{watched}"""
_WRITE = """\
opt_clean {module}
rename {module} {side}
select {side}
write_rtlil -selected {netlist}
select -clear
"""
#: Instances below and registers become ports. Of the cells, those stay that have a part in what
#: comes out, goes to instances, or to memories.
_READ = f"""\
{_ELABORATE}cd {{module}}
select -set seen o:* c:* t:$* %d %u t:$mem* %u
cd
delete {{module}}/c:* @seen %ci* %d
expose -evert-dff {{module}}/c:*
expose -evert {{module}}/c:* {{module}}/t:$* %d
{_WRITE}"""
#: Registers become wires; how many there were on the way is written before.
_READ_STRAIGHT = f"""\
{_ELABORATE}memory_map -rom-only
opt_clean {{module}}
techmap -map {{straight}} t:$mux
opt_dff -nosdff -keepdc
opt_clean {{module}}
write_json {{netlist}}.json
techmap -map {{straight}} {" ".join(f"t:{kind}" for kind in pipelines.REGISTERS)}
{_WRITE}"""
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
    flat : bool
        Whether it is compared with all that is below it, rather than alone.
    read_below : bool
        Whether somebody reads signals below it, which must be the same, too.
    """

    module: str
    params: tuple[tuple[str, str], ...]
    before: tuple[Path, ...]
    now: tuple[Path, ...]
    watched: tuple[str, ...] = ()
    flat: bool = False
    read_below: bool = False

    def __str__(self) -> str:
        params = ", ".join(f"{name}={value}" for name, value in self.params)
        name = f"{self.module} with all below" if self.flat else self.module
        return f"{name} ({params})" if params else name


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
            found[todo[0]] = EQUAL if _same_pipeline(todo[0]) else reason
            todo.pop(0)
        for proof, answer in found.items():
            if answer in (EQUAL, DIFFERS):
                part = _answer(proof).with_suffix(f".{os.getpid()}")
                part.write_text(answer)
                part.replace(_answer(proof))
        answers |= found
    return answers


def _answer(proof: Proof) -> Path:
    """The file of an answer. Its name changes with all that the answer depends on."""
    told = [*(_read(proof, side, "") for side in SIDES), *map(_content, DECIDING)]
    told += [f"{proof.read_below}", *map(_content, (*proof.before, *proof.now))]
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
            before, now = ((ROOT / file[side]).read_text() for side in SIDES)
            now = as_ports(with_memories_renamed(before, now))
            before = as_ports(before)
            (ROOT / file[BEFORE]).write_text(before)
            (ROOT / file[NOW]).write_text(renamed(before, now))
        text = "".join(_COMPARE.format(same=SAME, **file) for file in read)
        differs = _yosys(text, ROOT / folder / "compare.ys")
        shown = sum((ROOT / file["shown"]).exists() for file in read)
    return shown, differs if shown < len(read) else unread


def _same_pipeline(proof: Proof) -> bool:
    """Whether both versions, with all that is below, are pipelines that behave the same.

    One with a reset is not looked at: it has other registers, and may be large.
    """
    if proof.read_below or any(
        RESET in file.read_text() for file in proof.now if file.stem == proof.module
    ):
        return False
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name).relative_to(ROOT)
        file = {word: f"{folder}/{word}" for word in (*SIDES, "shown")}
        flat = replace(proof, flat=True)
        text = "".join(_read(flat, side, file[side], _READ_STRAIGHT) for side in SIDES)
        if _yosys(text, ROOT / folder / "read.ys"):
            return False
        texts = ((ROOT / f"{file[side]}.json").read_text() for side in SIDES)
        try:
            before, now = (pipeline(json.loads(text)["modules"][proof.module]) for text in texts)
        except NoPipelineError:
            return False
        compare = _COMPARE.format(same=SAME, **file)
        return before.matches(now) and not _yosys(compare, ROOT / folder / "compare.ys")


def _read(proof: Proof, side: str, netlist: str, how: str = _READ) -> str:
    files = proof.before if side == BEFORE else proof.now
    inside = f"{proof.module}/w:"
    forms = ("{}", "{}[[]*", "*.{}", "*.{}[[]*")  # elements of an array, in a generate block
    signals = [" ".join(inside + form.format(name) for form in forms) for name in proof.watched]
    watched = (f"select -assert-min 1 {one}\nexpose {one}\n" for one in signals)
    return how.format(
        module=proof.module,
        params=" ".join(f"-G {name}={value}" for name, value in proof.params),
        hierarchy="" if proof.flat else "--keep-hierarchy",
        files=" ".join(str(file.relative_to(ROOT)) for file in files),
        watched="".join(watched),
        side=side,
        netlist=netlist,
        straight=STRAIGHT,
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
    if "proof did fail" in said:
        return DIFFERS
    why = complaint(said).removeprefix("ERROR: ")
    return next((words for form, words in REFUSED.items() if re.search(form, why)), why)
