"""Write docs/readers.md from pymodel/mechanism/readers.json."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pymodel.mechanism.readers import SITUATIONS, seen
from scripts.kernel.documents import table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "readers.md"
PAGE = Path(__file__).with_name("readers.md.jinja")


def _rows(keys: Sequence[str]) -> str:
    readers = seen()["readers"]
    body = []
    for key in keys:
        what, here = SITUATIONS[key]
        words = seen()["situations"][key]
        body.append((what, *(words.get(name, "–") for name in readers), here))
    head = ("the file has", *(f"{name} {version}" for name, version in readers.items()), "here")
    return table(head, body, numbers=False)


def page() -> str:
    """The text."""
    integrators = [key for key in SITUATIONS if key.startswith(("integrator_", "discrete_"))]
    others = [key for key in SITUATIONS if key not in integrators]
    body = [
        (f"{reader}: {SITUATIONS[key][0]}", words)
        for key in integrators
        for reader, words in seen()["situations"][key].items()
    ]
    head = ("what is asked for", "what it is")
    return render(PAGE, situations=_rows(others), integrators=table(head, body, numbers=False))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, page, arguments)


if __name__ == "__main__":
    sys.exit(main())
