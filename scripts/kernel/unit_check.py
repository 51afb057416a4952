"""What is missing or wrong in the records of units: each module is verified, or says why not.

``python -m scripts.kernel.unit_check`` prints it, one line each; a test asks for none.
"""

import functools
import re
import sys
from collections.abc import Callable, Iterator, Set
from pathlib import Path

from pymodel.hardware.bench import Bench
from pymodel.hardware.rtl_files import needed, rtl_files
from scripts.kernel import expression
from scripts.kernel.benches import all_benches
from scripts.kernel.expression import ExpressionError
from scripts.kernel.modules import modules
from scripts.kernel.places import ROOT
from scripts.kernel.units import (
    ASPECTS,
    BUS_ASPECTS,
    FOLDER,
    Record,
    UnitError,
    files,
    named,
    records,
)

WORDS = {
    "benches": "no bench",
    "parameters": "no legal values of its parameters",
    "coverage": "no points of functional coverage",
    "code_coverage": "no simulation that code coverage is merged from",
    "proofs": "no proof",
    "mutation": "no mutation campaign",
    "cost": "no cost configuration",
    "fuzz": "a register bus that is not fuzzed",
    "faults": "registers behind a bus that no fault is injected into",
}
BUS = "s_axil_"
#: Where the classes are that records name.
MODELS, WORKLOADS = "tb.fuzz.model", "tb.faults.workloads"


class Checker:
    """The records of a repository, held against its RTL, benches and harnesses.

    Parameters
    ----------
    root
        Of the repository.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.records = records(root)
        self.benches = {bench.name: bench for bench in all_benches()}
        declared = [(file, modules(root / file)) for file in rtl_files(root)]
        self.file_of = {name: file for file, has in declared for name in has}
        self.parameters = {name: has for _, all_ in declared for name, has in all_.items()}

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        """Module -> its file's text without comments."""
        texts = {file: (self.root / file).read_text() for file in set(self.file_of.values())}
        return {name: re.sub("//.*", "", texts[file]) for name, file in self.file_of.items()}

    @functools.cached_property
    def _inside(self) -> dict[str, Set[str]]:
        """Module -> the other modules that its text names."""
        words = {name: set(re.findall(r"\w+", text)) for name, text in self._texts.items()}
        return {name: words[name] & words.keys() - {name} for name in words}

    def below(self, module: str, boxes: tuple[str, ...] = ()) -> set[str]:
        """What a module is built from, itself included, but for what is in boxes."""
        found, new = set(), {module}
        while new:
            found |= new
            new = {inner for name in new for inner in self._inside[name]} - found - set(boxes)
        return found

    def part_of(self, module: str) -> set[str]:
        """The units that a module is part of, and what these are part of."""
        found, new = set(), {module}
        while new:
            known = [self.records[name] for name in new if name in self.records]
            new = {unit for record in known for unit in record.part_of} - found - {module}
            found |= new
        return found & self.records.keys()

    @functools.cached_property
    def _built(self) -> dict[str, set[str]]:
        """Bench -> modules that its device is built from."""
        return {name: _modules_of(bench) for name, bench in self.benches.items()}

    # --- what is missing ------------------------------------------------------------------------

    def _has(self, module: str, aspect: str) -> bool:
        """Whether a module has it by its record, or by a unit that it is part of."""
        own = self.records[module]
        if aspect in own.without or getattr(own, aspect):
            return True
        if aspect == "parameters" and not self.parameters[module]:
            return True
        if aspect == "code_coverage":
            runs = (run for record in self.records.values() for run in record.code_coverage)
            return any(module in self._built.get(run.bench, ()) for run in runs)
        above = [(unit, self.records[unit]) for unit in self.part_of(module)]
        if aspect in ("proofs", "mutation"):
            return any(
                module in self.below(unit, some.boxes)
                for unit, record in above
                for some in getattr(record, aspect)
            )
        return any(getattr(record, aspect) for _, record in above)

    def missing(self) -> Iterator[str]:
        """Records that are not there, and what they lack."""
        for module, file in self.file_of.items():
            if module not in self.records:
                yield f"{file}: module {module} has no record: write {FOLDER}/{module}.toml"
                continue
            bus = BUS_ASPECTS if BUS in self._texts[module] else ()
            lacking = [name for name in (*ASPECTS, *bus) if not self._has(module, name)]
            if lacking:
                yield (
                    f"{FOLDER}/{module}.toml: {module} has {', '.join(WORDS[x] for x in lacking)}: "
                    f"write {', '.join(lacking)}, what it is part_of, or the reasons in without"
                )
        for bench in self.benches.keys() - {b for r in self.records.values() for b in r.benches}:
            yield f"tb/{bench}: no record in {FOLDER}/ names this bench"

    # --- what is wrong --------------------------------------------------------------------------

    def wrong(self) -> Iterator[str]:
        """What records name that is not there, and reasons for lacking what is."""
        for module in files(self.root).keys() - self.file_of.keys():
            yield f"{FOLDER}/{module}.toml: rtl/rtl.f has no module {module}"
        checks: tuple[Callable[[str, Record], Iterator[str]], ...] = (
            self._places,
            self._of_benches,
            self._of_parameters,
            self._of_harnesses,
            self._of_names,
        )
        for module, record in self.records.items():
            for check in checks:
                for said in check(module, record):
                    yield f"{FOLDER}/{module}.toml: {said}"

    def _places(self, module: str, record: Record) -> Iterator[str]:
        for unit in record.part_of:
            if unit not in self.records:
                yield f"part_of: there is no unit {unit}"
            elif module not in self.below(unit) or unit == module:
                yield f"part_of: {unit} is not built from {module}"
        for name, why in record.without.items():
            if name not in (*ASPECTS, *BUS_ASPECTS):
                yield f"without.{name}: must be one of {', '.join((*ASPECTS, *BUS_ASPECTS))}"
            elif getattr(record, name):
                yield f"without.{name}: but it is there"
            elif not why.strip():
                yield f"without.{name}: a reason is missing"

    def _of_benches(self, module: str, record: Record) -> Iterator[str]:
        for bench in record.benches:
            if bench not in self.benches:
                yield f"benches: there is no bench tb/{bench}"
            elif module not in self._built[bench]:
                yield f"benches: tb/{bench} is not built from {module}"
        for key in ("code_coverage", "mutation"):
            for some in getattr(record, key):
                if some.bench not in self.benches:
                    yield f"{key}: there is no bench tb/{some.bench}"
                elif some.config not in self.benches[some.bench].configs:
                    yield f"{key}: tb/{some.bench} has no configuration {some.config}"
                elif module not in self._built[some.bench]:
                    yield f"{key}: tb/{some.bench} is not built from {module}"

    def _of_parameters(self, module: str, record: Record) -> Iterator[str]:
        has, legal = self.parameters[module], record.parameters.keys()
        for name in sorted(has - legal) if legal else ():
            yield f"parameters: {name} of {module} has no legal values"
        given = {"parameters": legal}
        given |= {f"lint[{i}]": some.keys() for i, some in enumerate(record.lint, 1)}
        given |= {f"cost[{i}]": some.parameters.keys() for i, some in enumerate(record.cost, 1)}
        given |= {
            f"mutation.variants[{i}]": values.keys()
            for some in record.mutation
            for i, values in enumerate(some.variants, 1)
        }
        given |= {"fuzz": record.fuzz.params.keys()} if record.fuzz else {}
        given |= {"faults": record.faults.params.keys()} if record.faults else {}
        for key, names in given.items():
            for name in sorted(names - has):
                yield f"{key}: {module} has no parameter {name}"
        for i, rule in enumerate(record.rules, 1):
            try:
                used = expression.names(rule.holds) if rule.holds else set()
            except ExpressionError as error:
                yield f"rules[{i}].holds: {error}"
                continue
            for name in sorted(used - has):
                yield f"rules[{i}].holds: {module} has no parameter {name}"
            if bool(rule.holds) == bool(rule.function):
                yield f"rules[{i}]: must have one of `holds` and `function`"

    def _of_harnesses(self, module: str, record: Record) -> Iterator[str]:
        for i, some in enumerate(record.proofs, 1):
            file = self.root / "formal" / f"{some.harness}.sv"
            if not file.exists():
                yield f"proofs[{i}].harness: there is no formal/{some.harness}.sv"
                continue
            for name in sorted(some.values.keys() - modules(file)[some.harness]):
                yield f"proofs[{i}].values: {some.harness} has no parameter {name}"
            try:
                list(some.each())
            except ExpressionError as error:
                yield f"proofs[{i}].depth: {error}"
            except KeyError as error:
                yield f"proofs[{i}].fast: {some.harness} is given no {error.args[0]}"
            if some.map and not (some.map in self.records and self.records[some.map].register_map):
                yield f"proofs[{i}].map: {some.map} has no register_map"
        for key in ("proofs", "mutation"):
            for box in {box for some in getattr(record, key) for box in some.boxes}:
                if box not in self.file_of:
                    yield f"{key}: boxes: there is no module {box}"

    def _of_names(self, module: str, record: Record) -> Iterator[str]:
        dotted = {f"coverage[{i}]": name for i, name in enumerate(record.coverage, 1)}
        dotted |= {
            f"rules[{i}].function": rule.function
            for i, rule in enumerate(record.rules, 1)
            if rule.function
        }
        if record.register_map:
            dotted["register_map.of"] = record.register_map.of
        if record.fuzz:
            dotted["fuzz.model"] = f"{MODELS}.{record.fuzz.model}"
        if record.faults:
            dotted["faults.workload"] = f"{WORKLOADS}.{record.faults.workload}"
        for key, name in dotted.items():
            try:
                named(name)
            except UnitError as error:
                yield f"{key}: {error}"


@functools.cache
def _modules_of(bench: Bench) -> set[str]:
    return {path.stem for path in needed(bench.device.toplevel, bench.device.sources)}


def problems(root: Path = ROOT) -> list[str]:
    """All that is missing or wrong, one line each; a record that cannot be read is the only one."""
    try:
        checker = Checker(root)
    except UnitError as error:
        return [str(error)]
    return [*checker.missing(), *checker.wrong()]


def main() -> int:
    """The command: exit status 1 if there is anything to say."""
    found = problems()
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
