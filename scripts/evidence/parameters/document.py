"""`make parameters`: docs/parameters.md, which parameter values are legal and where each is run."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from scripts.evidence.parameters.legal import NOT_RUN, SPACES, UNBOUNDED, Values
from scripts.evidence.parameters.runs import Use, checks, defaults, files, uses
from scripts.kernel.documents import table, write_document
from scripts.kernel.modules import modules
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS, ROOT

DOC = DOCS / "parameters.md"
PAGE = Path(__file__).with_name("parameters.md.jinja")


def spans(values: Collection[int]) -> str:
    """Numbers as ranges: `0-3, 8`."""
    found: list[list[int]] = []
    for value in sorted(values):
        if found and value == found[-1][1] + 1:
            found[-1][1] = value
        else:
            found.append([value, value])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in found)


def missing(values: Values, run: Collection[int]) -> str:
    """Legal values that are not among those, in words; empty if all are."""
    most = min(values.most, max(run, default=values.least))
    inside = [x for x in range(values.least, most + 1) if x in values and x not in run]
    beyond = most + 1 if values.most > most else None
    while beyond is not None and values.power and beyond not in values:
        beyond += 1
    words = [spans(inside)] if inside else []
    if beyond is not None:
        end = "up" if values.most >= UNBOUNDED else str(values.most)
        words.append(f"{beyond} and up" if end == "up" else spans({beyond, values.most}))
        if end != "up" and values.most > beyond + 1:
            words[-1] = f"{beyond} to {values.most}"
    return ", ".join(words)


def _of_benches(values: dict[str, set[int]]) -> str:
    """Values, with their benches if there are several."""
    return "; ".join(f"{spans(found)} (`{bench}`)" for bench, found in sorted(values.items()))


def user_table(module: str, found: dict[tuple[str, str], Use], default: dict[str, str]) -> str:
    """The parameters of a module that a user instantiates."""
    space, cells = SPACES[module], []
    for name, values in space.values.items():
        use = found[module, name]
        gap = missing(values, set().union(*use.drawn.values()) | _all_fixed(module, name, use))
        cells.append(
            (
                f"`{name}`",
                values.text,
                default.get(name, ""),
                _of_benches(use.fixed),
                _of_benches(use.drawn),
                f"{gap}: {NOT_RUN[module, name]}" if gap else "",
            )
        )
    head = ("parameter", "legal", "default", "fixed", "drawn", "not drawn")
    return table(head, cells, numbers=False)


def _all_fixed(module: str, name: str, use: Use) -> set[int]:
    """Values of a float unit's lanes, which every run has side by side."""
    lanes = (module, name) in [("fp_recip", "METHOD")] or name == "STAGES"
    return set().union(*use.fixed.values()) if lanes and not use.drawn else set()


def gaps() -> dict[tuple[str, str], str]:
    """(module, parameter) -> legal values that no seed draws."""
    found, all_ = {}, uses()
    for module, space in SPACES.items():
        for name, values in space.values.items():
            use = all_[module, name]
            run = set().union(*use.drawn.values()) | _all_fixed(module, name, use)
            if gap := missing(values, run):
                found[module, name] = gap
    return found


def inner_table(names: Iterable[str], module: str, found: dict[tuple[str, str], Use]) -> str:
    """The parameters of a module inside others."""
    cells = []
    for name in names:
        use = found[module, name]
        parents = ", ".join(f"`{parent}`" for parent in sorted(use.parents))
        cells.append((f"`{name}`", parents, _of_benches(use.fixed), _of_benches(use.drawn)))
    return table(("parameter", "set by", "fixed", "drawn"), cells, numbers=False)


def document() -> str:
    """The text."""
    found, users, inner = uses(), [], []
    for file in files():
        default, declared = defaults(file), modules(ROOT / file)
        for module, has in declared.items():
            names = [name for name in default if name in has]
            if module in SPACES:
                parents = sorted(set().union(*(found[module, n].parents for n in names)))
                rows = user_table(module, found, default)
                rules = [rule.text for rule in SPACES[module].rules]
                users.append({"name": module, "parents": parents, "table": rows, "rules": rules})
            elif names:
                rows = inner_table(names, module, found)
                inner.append({"name": module, "table": rows, "checks": checks(file)})
    return render(PAGE, users=users, inner=inner)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, document, arguments)
