"""Running SymbiYosys: what it is given, and what it says."""

import functools
import os
import re
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pymodel.hardware.rtl_files import rtl_files
from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.maps import map_module
from scripts.evidence.formal.ports import ports_module
from scripts.evidence.formal.proof import Proof
from scripts.kernel.digest import key_of, pinned, rtl_text
from scripts.kernel.modules import files_by_name
from scripts.kernel.places import ROOT
from scripts.kernel.tools import BIN, YOSYS

SBY = "yowasp-sby"
GROUP = "formal"  # of pyproject.toml, which pins the tools
ENGINE = "smtbmc yices"
#: Where it works. The tools see no path outside the folder they run in: it is relative to ROOT.
OUT = Path("build/formal")
HARNESSES = "formal"
#: Modules of harnesses that are generated from a register map.
GENERATED = {"register_map": map_module, "register_ports": ports_module}
#: A proof that takes longer ends as `UNKNOWN`.
LIMIT_S = 1800
#: How long Ctrl-C has to reach it without us, as it does from a terminal.
GRACE_S = 0.5

_lock = threading.Lock()
_running: set[subprocess.Popen[str]] = set()
_ended = False  # nothing may start any more

PROVED, DISPROVED, UNKNOWN = "proved", "disproved", "unknown"


@dataclass(frozen=True)
class Outcome:
    """What SymbiYosys found.

    Attributes
    ----------
    status : str
        `PROVED`, `DISPROVED`, or `UNKNOWN`: an induction that does not close, or no time left.
    seconds : float
        How long it took, on the clock on the wall.
    failed : tuple of str
        The properties that do not hold, without their harness.
    step : int or None
        The step of the counterexample in which they do not.
    trace : str
        Its waveform, relative to ROOT; empty without one.
    """

    status: str
    seconds: float
    failed: tuple[str, ...] = ()
    step: int | None = None
    trace: str = ""


@functools.cache
def _words_of(file: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the modules and packages that a file declares, and all words of it."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", (ROOT / file).read_text(), flags=re.S)
    declared = re.findall(r"^\s*(?:module|package)\s+(\w+)", text, re.M)
    return frozenset(declared), frozenset(re.findall(r"\w+", text))


def sources(proof: Proof) -> list[str]:
    """RTL and harness files of a proof, in compile order, relative to ROOT.

    Those whose modules and packages the harness names, and what these name in turn.

    Raises
    ------
    FormalError
        If formal/ has no such harness.
    """
    harnesses = {path.stem: f"{HARNESSES}/{path.name}" for path in (ROOT / HARNESSES).glob("*.sv")}
    if proof.harness not in harnesses:
        raise FormalError(f"{HARNESSES}/ has no harness {proof.harness}")
    own = {name: file for file in harnesses.values() for name in _words_of(file)[0]}
    known = files_by_name() | own
    needed, new = set(), {harnesses[proof.harness]}
    if "register_ports" in generated(proof):
        new.add(known[f"{proof.map}_regs"])
    while new:
        needed |= new
        new = {known[word] for file in new for word in _words_of(file)[1] if word in known} - needed
    return [file for file in rtl_files() if file in needed] + sorted(needed & set(own.values()))


def _read(proof: Proof, rtl: Sequence[str], files: Sequence[str]) -> list[str]:
    """The commands that read a proof's netlist.

    Parameters
    ----------
    rtl, files : sequence of str
        `sources` and the generated modules, as the tool finds them.
    """
    options = "".join(f" -G {name}={value}" for name, value in proof.values.items())
    options += "".join(f" --blackboxed-module {box}" for box in proof.boxes)
    names = [*rtl[:-1], *files, rtl[-1]]
    read = f"read_slang -j1 --top {proof.harness}{options} {' '.join(names)}"
    cut = ["cutpoint -blackbox"] if proof.boxes else []
    return [read, *cut, f"prep -flatten -top {proof.harness}"]


def reading(proof: Proof) -> list[str]:
    """The commands that read a proof's netlist in ROOT; its generated modules are written."""
    write_generated(proof)
    return _read(proof, sources(proof), [str(file) for file in generated(proof).values()])


def script(
    proof: Proof,
    edited: Mapping[str, str] | None = None,
    only: str = "",
    planted: Sequence[str] = (),
) -> str:
    """The file that SymbiYosys reads.

    Parameters
    ----------
    edited : mapping, optional
        Source file -> the file that is read instead.
    only : str, optional
        The one property that is checked; all if there is none.
    planted : sequence of str, optional
        Commands that change the netlist.
    """
    rtl, more = sources(proof), list(generated(proof).values())
    lines = [f"{Path(file).name} {(edited or {}).get(file, file)}" for file in rtl]
    lines += [f"{file.name} {file}" for file in more]
    read = _read(proof, [Path(file).name for file in rtl], [file.name for file in more])
    select = f"t:$check c:{only} c:*.{only} %u %d"
    drop = [f"chformal -assert -remove {select}"] if only else []
    return "\n".join(
        [
            *("[options]", f"mode {proof.mode}", f"depth {proof.depth}", f"timeout {LIMIT_S}"),
            *("[engines]", ENGINE),
            *("[script]", *read, *drop, *planted),
            *("[files]", *lines, ""),
        ]
    )


def generated(proof: Proof) -> dict[str, Path]:
    """The generated modules that a proof's harness names -> their files, relative to ROOT."""
    words = _words_of(f"{HARNESSES}/{proof.harness}.sv")[1] if proof.map else ()
    return {name: OUT / f"{proof.map}_{name}.sv" for name in GENERATED if name in words}


def write_generated(proof: Proof) -> None:
    """Write the generated modules that a proof's harness names."""
    (ROOT / OUT).mkdir(parents=True, exist_ok=True)
    for module, file in generated(proof).items():
        (ROOT / file).write_text(GENERATED[module](proof.map))


def key(proof: Proof) -> str:
    """Changes with all that the tools are given."""
    made = (rtl_text(GENERATED[name](proof.map)) for name in generated(proof))
    return key_of(sources(proof), pinned(GROUP), script(proof), *made)[:16]


def run(
    proof: Proof,
    name: str = "",
    edited: Mapping[str, str] | None = None,
    only: str = "",
    planted: Sequence[str] = (),
) -> Outcome:
    """Check a proof.

    Parameters
    ----------
    name : str, optional
        The folder of `OUT` to work in; the proof's if there is none.
    edited, only, planted : optional
        As for `script`.

    Raises
    ------
    FormalError
        If a tool is missing or cannot read what it is given.
    """
    folder = OUT / (name or proof.name)
    write_generated(proof)
    config = ROOT / f"{folder}.sby"
    config.write_text(script(proof, edited, only, planted))
    tools = ["--yosys", YOSYS, "--smtbmc", f"{YOSYS}-smtbmc", "--witness", f"{YOSYS}-witness"]
    command = [str(BIN / SBY), "-f", "--prefix", str(folder), *tools, f"{folder}.sby"]
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    started = time.monotonic()
    log = ROOT / f"{folder}.log"
    try:
        said = _said(command, environment)
    except OSError:
        raise FormalError(
            f"{SBY} is missing: run `make formal`, or uv pip install --group {GROUP}"
        ) from None
    log.write_text(said)
    return outcome(said, round(time.monotonic() - started, 1), str(folder))


def _said(command: list[str], environment: Mapping[str, str]) -> str:
    """Run a command that `end` ends; all that it prints."""
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with _lock:
        if _ended:
            raise FormalError("ended")
        process = subprocess.Popen(command, cwd=ROOT, env=environment, **output)
        _running.add(process)
    try:
        return process.communicate()[0]
    finally:
        _running.discard(process)


def end() -> None:
    """End all that runs, in other threads; nothing starts any more in this process."""
    global _ended
    with _lock:
        _ended = True
        left = list(_running)
    for process in left:
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.terminate()  # it ends those that it has started, which are in other groups


def outcome(said: str, seconds: float, folder: str) -> Outcome:
    """What the output of SymbiYosys says.

    Parameters
    ----------
    said : str
    seconds : float
    folder : str
        Where it worked: its output stands in the file of this name that ends in .log.

    Raises
    ------
    FormalError
        If it ended without a result.
    """
    done = re.search(r"DONE \((\w+), rc=\d+\)", said)
    verdict = done[1] if done else "ERROR"
    found = re.findall(r"failed assertion (\S+) at \S+(?: step (\d+))?", said)
    failed = tuple(sorted({property_of(path) for path, _ in found}))
    if verdict == "PASS":
        return Outcome(PROVED, seconds)
    trace = re.search(r"counterexample trace(?: \[\w+\])?: (\S+\.vcd)", said)
    waves = trace[1] if trace else ""
    if verdict == "FAIL":
        step = min((int(step) for _, step in found if step), default=0)  # which is not said
        return Outcome(DISPROVED, seconds, failed, step, waves)
    if verdict in ("TIMEOUT", "UNKNOWN"):
        return Outcome(UNKNOWN, seconds, failed, None, waves)
    raise FormalError(f"{folder}: {complaint(said)} ({folder}.log)")


def property_of(path: str) -> str:
    """The name of an assertion: the last part of its path, between dots and backslashes."""
    return re.split(r"[.\\]", path)[-1]


def complaint(said: str) -> str:
    """The line that says why it ended."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b", line, re.I)]
    line = errors[0] if errors else lines[-1] if lines else "it said nothing"
    return re.sub(r"^SBY [\d:]+ \[[^]]*\] ", "", line)
