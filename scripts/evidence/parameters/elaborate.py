"""Elaborate modules with given parameters under Icarus: what takes them, what refuses them.

`make parameters COUNT=20` does so with every module that a user instantiates, at and just beyond
the limits of each parameter, the others small and, beyond the limits, also drawn; and with random
combinations. Legal ones must be taken, others refused by a check of the RTL, in its words. Exit
status 1 if one is not, 2 for bad input.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pymodel.app.options import OptionParser, whole
from pymodel.app.start import status_of
from pymodel.hardware.bench import DEFAULT_SEED, MAX_SEED
from pymodel.hardware.rtl_files import needed, rtl_files
from pymodel.hardware.simulators import require_usable
from pymodel.runs.progress import progress
from scripts.evidence.parameters.legal import SPACES, UNBOUNDED, Space, Values
from scripts.kernel.places import ROOT

LIMIT_S = 120
MOST_COUNT = 10**6  # combinations of a module
TAKEN, REFUSED, BROKEN = "taken", "refused", "broken"
FATAL = "FATAL: "


class Answer(NamedTuple):
    """What happens to parameters.

    Attributes
    ----------
    verdict
        :data:`TAKEN`; :data:`REFUSED`, by a check of the RTL that names what is wrong; or
        :data:`BROKEN`, a tool has failed.
    text
        The check's message, or the first that a tool said.
    """

    verdict: str
    text: str


@cache
def _files(module: str) -> tuple[str, ...]:
    return tuple(map(str, needed(module, [ROOT / file for file in rtl_files()])))


def elaborated(module: str, parameters: Mapping[str, int]) -> Answer:
    """Elaborate a module, and start its hardware: that is when checks speak.

    Parameters
    ----------
    module
        Of rtl/rtl.f.
    parameters
        The others have their default values.
    """
    values = [f"-P{module}.{name}={value}" for name, value in parameters.items()]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "elaborated"
        command = ["iverilog", "-g2012", "-s", module, *values, "-o", str(out), *_files(module)]
        said = _run(command)
        if said.returncode:
            errors = [x for x in said.stdout.splitlines() if "sorry: constant selects" not in x]
            return Answer(BROKEN, (errors or [f"status {said.returncode}"])[0])
        said = _run(["vvp", "-n", str(out)])
    fatal = [x for x in said.stdout.splitlines() if x.startswith(FATAL)]
    if fatal:
        return Answer(REFUSED, fatal[0].removeprefix(FATAL))
    return Answer(BROKEN if said.returncode else TAKEN, said.stdout.strip())


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S
    )


#: Largest values that are drawn: what is larger elaborates no other hardware, only longer.
MODERATE = {"DEPTH": 32, "PROGRAM_DEPTH": 99, "TRACE_DEPTH": 32, "TRACE_REGISTERS": 20}
MODERATE |= {"PROGRAMS": 20, "SEGMENTS": 20, "FUNCTIONS": 20, "DSP_W": 60}
MODERATE |= {"CLOCK_HZ": 4000, "BAUD": 16}  # their ratio is what counts
MODERATE |= dict.fromkeys(("IN_DEPTH", "OUT_DEPTH", "SCRATCH_DEPTH"), 32)
MODERATE |= dict.fromkeys(("NUM_ADD", "NUM_MUL", "CONTEXTS", "DATAPATHS"), 3)
CHOOSING = ("METHOD", "PARALLEL")  # at most one of a module; what each chooses is tried
DRAWN = 3  # parameters of a combination that are not at their least values
MOST_LANES = 8  # where Icarus takes seconds to elaborate them
MOST_SYSTEMS = 40


def least(space: Space) -> dict[str, int]:
    """Legal parameters whose hardware is small."""
    return {name: values.least for name, values in space.values.items()} | dict(space.small)


def is_quick(parameters: Mapping[str, int]) -> bool:
    """Whether Icarus elaborates it in seconds."""
    lanes = parameters.get("NUM_ADD", 0) + parameters.get("NUM_MUL", 0)
    systems = parameters.get("CONTEXTS", 1) * parameters.get("DATAPATHS", 1)
    wide = parameters.get("PARALLEL", 0) and parameters.get("N", 0) > 3
    return lanes <= MOST_LANES and systems <= MOST_SYSTEMS and not wide


def edges(values: Values) -> list[int]:
    """A parameter's limits, and what lies just beyond them; of a memory also no place at all."""
    tried = {values.least - 1, values.least}
    if values.places:
        tried.add(0)
    if values.power:
        tried |= {1, 3}
    if values.most < UNBOUNDED:
        tried |= {values.most, 2 * values.most if values.power else values.most + 1}
    return sorted(tried)


def limits(space: Space) -> Iterator[dict[str, int]]:
    """Each parameter at and just beyond its limits, the others small."""
    for name, values in space.values.items():
        for value in [] if values.bit else edges(values):
            parameters = least(space) | {name: value}
            if name == "BLOCK_RAM" and value:
                parameters["READ_STAGES"] = 1  # without it, another check refuses
            if is_quick(parameters):
                yield parameters


def beyond(space: Space, rng: np.random.Generator) -> Iterator[dict[str, int]]:
    """Each parameter just beyond its limits, the others random and legal together.

    Together they may make a legal thing of an illegal value: contexts round stages up.
    """
    for name, values in space.values.items():
        illegal = [x for x in edges(values) if x not in values and not values.bit]
        for value, choice in product(illegal, choices(space, name)):
            if not is_quick(least(space) | choice | {name: value}):
                continue
            while True:
                parameters = drawn(space, space.values, rng) | choice
                if space.is_legal(parameters) and is_quick(parameters | {name: value}):
                    break
            yield parameters | {name: value}


def choices(space: Space, name: str) -> list[dict[str, int]]:
    """What another parameter chooses the hardware by; nothing where there is no choice."""
    others = [(n, space.values[n]) for n in CHOOSING if n in space.values and n != name]
    return [{n: x} for n, v in others for x in range(v.least, v.most + 1)] or [{}]


def drawn(space: Space, names: Iterable[str], rng: np.random.Generator) -> dict[str, int]:
    """Random values of some parameters, each legal by itself; the others are small."""
    parameters = least(space)
    for name in names:
        values = space.values[name]
        most = min(values.most, MODERATE.get(name, values.most))
        parameters[name] = int(
            rng.choice([x for x in range(values.least, most + 1) if x in values])
        )
    return parameters


def combinations(space: Space, rng: np.random.Generator, count: int) -> Iterator[dict[str, int]]:
    """Random parameters, every other time one of them at or just beyond a limit."""
    names, at = list(space.values), list(limits(space))
    for number in range(count):
        while True:
            parameters = drawn(space, rng.choice(names, DRAWN, replace=False), rng)
            if number % 2:
                edge = at[int(rng.integers(len(at)))]
                parameters |= {n: x for n, x in edge.items() if x != least(space)[n]}
            if is_quick(parameters):
                break
        yield parameters


def problem(space: Space, parameters: Mapping[str, int]) -> str:
    """What is wrong with the RTL's answer to parameters; empty if it is right."""
    legal, answer = space.is_legal(parameters), elaborated(space.module, parameters)
    if answer.verdict == (TAKEN if legal else REFUSED):
        return ""
    words = " ".join(f"{name}={value}" for name, value in parameters.items())
    said = f": {answer.text}" if answer.text else ""
    return f"{space.module} {words}: {'legal' if legal else 'illegal'}, {answer.verdict}{said}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(
        prog="scripts.evidence.parameters.elaborate", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--count", type=whole("COUNT", 1, MOST_COUNT), required=True)
    parser.add_argument("--seed", type=whole("SEED", 0, MAX_SEED), default=DEFAULT_SEED)
    return status_of(lambda: run(parser.parse_args(arguments)))


def run(options: argparse.Namespace) -> int:
    """Elaborate every module at and beyond all limits, and random ones; the exit status.

    Raises
    ------
    InputError
        If Icarus is not installed.
    """
    require_usable("icarus")
    asked = []
    for space in SPACES.values():
        rng = np.random.default_rng([options.seed, *space.module.encode()])
        asked += [(space, parameters) for parameters in limits(space)]
        asked += [(space, parameters) for parameters in beyond(space, rng)]
        asked += [(space, parameters) for parameters in combinations(space, rng, options.count)]
    wrong = []
    with progress("parameters", unit="elaborations") as update:
        for number, (space, parameters) in enumerate(asked, 1):
            if said := problem(space, parameters):
                wrong.append(said)
                print(said)
            update(number, len(asked))
    print(f"{len(asked)} elaborations of {len(SPACES)} modules, {len(wrong)} wrong")
    return int(bool(wrong))
