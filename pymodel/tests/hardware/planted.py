"""A bench one of whose files has a bug."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pymodel.hardware.bench import Bench
from pymodel.hardware.places import ROOT


def planted(bench: Bench, folder: Path, file: str, changes: Mapping[str, str]) -> Bench:
    """A copy of a bench that runs a changed copy of a file.

    Parameters
    ----------
    bench, folder
        The bench; where the changed file goes.
    file
        The file, relative to the repository.
    changes
        Its text, which must occur once -> what stands there instead.
    """
    text = (ROOT / file).read_text()
    for right, wrong in changes.items():
        assert text.count(right) == 1, f"{file} must have once: {right}"
        text = text.replace(right, wrong)
    changed = folder / file.rpartition("/")[2]
    changed.write_text(text)
    sources = tuple(changed if path == ROOT / file else path for path in bench.device.sources)
    broken = copy.copy(bench)
    broken.device = replace(bench.device, sources=sources)
    return broken
