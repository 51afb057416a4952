"""Where parameter values are run: fixed configurations, random draws, and parents that set them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pymodel.hardware.bench import Bench
from pymodel.hardware.rtl_files import rtl_files
from scripts.kernel.benches import all_benches
from scripts.kernel.modules import bench_files, modules
from scripts.kernel.places import ROOT
from tb.common.fp_bench import FloatBench

INSTANCE = re.compile(r"^ *(\w+) #\((.*?)\) u_\w+ \(", re.M | re.S)
HEADER = re.compile(r"\bparameter\b[^,=]*?(\w+)\s*=\s*([^,\n]+?)\s*(?:,|//|\n)")
CHECK = re.compile(r'\$fatal\(1, "%m: ([^"]*)"')
#: Parameters of the wrapper around float units that are none of theirs.
LANES = ("UNIT", "LANES", "MAX_STAGES", "STEPS")
#: Wrapper of a bench -> the module that it is there for.
WRAPPED = {"inv_adjugate_2x2_linked": "inv_adjugate_2x2"}


@dataclass
class Use:
    """Where a parameter of a module has which values.

    Attributes
    ----------
    fixed
        Bench -> values of its fixed configurations.
    drawn
        Bench -> values that its random configurations are drawn from.
    parents
        Modules that set it.
    """

    fixed: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    drawn: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    parents: set[str] = field(default_factory=set)

    @property
    def run(self) -> set[int]:
        """All values that a regression may run."""
        return set().union(*self.fixed.values(), *self.drawn.values())


def files() -> list[str]:
    """The RTL, in compile order, and the wrappers of benches."""
    return [*rtl_files(), *bench_files()]


def parameters() -> dict[str, set[str]]:
    """Module -> its parameters, of modules of the RTL and wrappers."""
    return {name: has for file in files() for name, has in modules(ROOT / file).items()}


def texts() -> Iterable[tuple[str, str]]:
    """Module -> its text without comments; wrappers around buses included."""
    for file in files():
        text = (ROOT / file).read_text()
        for name in modules(ROOT / file):
            yield name, re.sub("//.*", "", text)
    devices = {bench.device.toplevel: bench.device for bench in all_benches()}
    for name, device in devices.items():
        if text := device.around():
            yield f"the bench of {name}", re.sub("//.*", "", text)


def parents() -> dict[tuple[str, str], set[str]]:
    """(module, parameter) -> modules that set it in an instance."""
    found = defaultdict(set)
    for parent, text in texts():
        for module, given in INSTANCE.findall(text):
            for name in re.findall(r"\.(\w+)\(", given):
                found[module, name].add(parent)
    return found


def _named(bench: Bench, name: str) -> tuple[str, str] | None:
    """Module and parameter that a bench's parameter is for; None for one of its wrapper only."""
    if isinstance(bench, FloatBench):
        return None if name in LANES else (bench.unit, name)
    return WRAPPED.get(bench.device.toplevel, bench.device.toplevel), name


def uses() -> dict[tuple[str, str], Use]:
    """(module, parameter) -> where it is run, for all that a bench or a parent sets."""
    found: dict[tuple[str, str], Use] = defaultdict(Use)
    for bench in all_benches():
        for config in bench.configs.values():
            for name, value in config.params.items():
                if at := _named(bench, name):
                    found[at].fixed[bench.name].add(value)
        for name, values in (bench.random.ranges if bench.random else {}).items():
            if at := _named(bench, name):
                found[at].drawn[bench.name] |= set(values)
        if isinstance(bench, FloatBench):  # lane i has i % (MAX_STAGES + 1)
            found[bench.unit, "STAGES"].fixed[bench.name] |= set(range(bench.max_stages + 1))
    found["fp_recip", "METHOD"].fixed["fp_recip"] |= {0, 1}  # side by side in each lane
    for at, modules_ in parents().items():
        found[at].parents |= modules_
    return found


def checks(file: str) -> list[str]:
    """What a file's own checks say of parameters that they refuse."""
    return CHECK.findall((ROOT / file).read_text())


def defaults(file: str) -> dict[str, str]:
    """Parameter -> its default value, as a file's modules declare them."""
    text = re.sub("//.*", "", (ROOT / file).read_text())
    return dict(HEADER.findall(text.partition(") (")[0]))
