"""Statistics and Gantt chart of a program."""

import os
from collections import Counter
from typing import Any

from pymodel.compile.kernel import Kernel, storable
from pymodel.compile.schedule import bounds
from pymodel.machine.isa import Program

COLOURS = {"add": "#0072b2", "mul": "#d55e00", "rec": "#009e73", "sincos": "#cc79a7"}
LANE_NAMES = {"add": "+", "mul": "×", "rec": "1/x", "sincos": "sin cos"}


def summary(program: Program, kernel: Kernel) -> dict[str, Any]:
    """Figures of a program's main segment.

    Parameters
    ----------
    program : Program
    kernel : Kernel
        What it was scheduled from.

    Returns
    -------
    dict
        ``cycles``; ``bounds`` (see :func:`pymodel.compile.schedule.bounds`), in cycles;
        ``operations`` and ``use`` (0 to 1) by kind of lane; ``registers`` of the fullest bank;
        ``words`` and ``word_bits`` of the program memory.
    """
    lanes = Counter(lane.op for lane in program.machine.lanes)
    (stored,) = storable([kernel])
    operations = Counter(stored.graph.nodes[index].op for index in stored.operations)
    return {
        "cycles": program.main,
        "bounds": bounds(program.machine, kernel),
        "operations": {op: operations[op] for op in lanes},
        "use": {op: operations[op] / (count * program.main) for op, count in lanes.items()},
        "registers": max(program.registers),
        "words": len(program.words),
        "word_bits": program.machine.word_w,
    }


def plot(program: Program, path: str | os.PathLike[str], title: str) -> None:
    """Draw the main segment: a row for each lane, a bar from an operation's issue to its result.

    Parameters
    ----------
    program : Program
    path : str or path-like
        PNG file to write.
    title : str
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    machine = program.machine
    names = []
    numbers: Counter[str] = Counter()
    for lane in machine.lanes:
        numbers[lane.op] += 1
        single = lane.op in ("rec", "sincos")
        names.append(LANE_NAMES[lane.op] + ("" if single else f" {numbers[lane.op]}"))
    size = (min(24, 4 + program.main / 12), 1.2 + 0.4 * len(names))
    figure, axis = pyplot.subplots(figsize=size, layout="constrained")
    for index, lane in enumerate(machine.lanes):
        issues = [c for c, word in enumerate(program.words[: program.main]) if index in word.issues]
        for length, alpha in ((machine.latency[lane.op], 0.2), (1, 1.0)):
            bars = [(cycle, length) for cycle in issues]
            axis.broken_barh(bars, (index - 0.4, 0.8), color=COLOURS[lane.op], alpha=alpha)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlim(0, program.main)
    axis.set_xlabel("cycle (dark: an operation enters the lane; light: it is under way)")
    axis.set_title(title, parse_math=False)
    axis.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
