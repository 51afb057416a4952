"""What one waits for, part of `make bench`: robots' functions recorded, scheduled, compiled.

Of chains of equal links on joints about alternating axes, and of Atlas. Each is a process of its
own, and others for native code, which reads a list of operations or is compiled: processor time of
each stage, the compiler's with it, and the most memory that the process has held until then, what
it imports included. Prints a table and writes build/bench/waiting.json.
"""

from __future__ import annotations

import json
import os
import re
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.table import Table

from pymodel.arith import c_build, scalars
from pymodel.compile import native, native_list, robot_kernels
from pymodel.compile.chains import Chain
from pymodel.compile.kernel import Kernel
from pymodel.compile.native_chain import NativeChain
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.runs.array_runs import fitting_array
from pymodel.runs.progress import progress
from scripts.evidence.benchmarks.scenarios import OUT
from scripts.kernel.campaign import wide_console
from scripts.kernel.places import ROOT

#: An engine with room for all of it; what runs in columns is scheduled for an array.
MACHINE = Machine(adders=4, multipliers=4, depth=1 << 20, program_depth=1 << 24)
ARRAY = Machine(adders=4, multipliers=4, contexts=8, in_depth=2, out_depth=2)


@dataclass(frozen=True)
class Wait:
    """A function that is waited for.

    Attributes
    ----------
    robot : str
        Name of a shipped one, which floats, or the number of links of a chain.
    function : str
    compiled : bool
        Whether it is compiled, in float64.
    columns : bool
        Whether dFD is evaluated column by column.
    """

    robot: str
    function: str
    compiled: bool = False
    columns: bool = False

    def load(self) -> Robot:
        """The robot."""
        if self.robot.isdigit():
            return reduced(robot_file.load(chain_file(int(self.robot))))
        return reduced(robot_file.load(ROOT / "robots" / f"{self.robot}.urdf", floating=True))

    def record(self, robot: Robot) -> Kernel | Chain:
        """The function of the robot."""
        if self.columns:
            return robot_kernels.in_columns(robot)
        return robot_kernels.recorded(robot, self.function)


#: From the one that is soonest there on.
WAITS = (
    Wait("128", "FD"),
    Wait("16", "dFD", compiled=True),
    Wait("atlas", "dFD", compiled=True),
    Wait("32", "dFD", compiled=True),
    Wait("64", "dFD", columns=True),
    Wait("64", "dFD"),
    Wait("128", "dFD", columns=True),
)
SHORT = (Wait("3", "dFD", compiled=True), Wait("4", "FD"), Wait("4", "dFD", columns=True))


def chain_file(links: int) -> Path:
    """A URDF of a chain, written into the build folder."""
    inertial = (
        "<inertial><origin xyz='0.1 0 0.05'/><mass value='1'/>"
        "<inertia ixx='0.1' ixy='0.01' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial>"
    )
    parts = [
        f"<link name='l{k}'>{inertial}</link><joint name='j{k}' type='revolute'>"
        f"<parent link='l{k - 1}'/><child link='l{k}'/><origin xyz='0.1 0.02 0.2' rpy='0.3 0 0'/>"
        f"<axis xyz='{'1 0 0' if k % 2 else '0 0 1'}'/></joint>"
        for k in range(1, links + 1)
    ]
    folder = OUT / "robots"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"chain_{links}.urdf"
    path.write_text(f"<robot name='chain_{links}'><link name='l0'/>{''.join(parts)}</robot>")
    return path


# --- in a process of its own ----------------------------------------------------------------------


class _Stages:
    """Seconds of processor time and peak memory of stages, one after the other."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def run(self, name: str, stage: Callable[[], Any]) -> Any:
        """Run a stage."""
        before = _spent()
        result = stage()
        self.found |= {f"{name}_s": _spent() - before, f"{name}_mb": _peak_mb()}
        return result


def _spent() -> float:
    """Processor time of this process and of those that it has waited for, s."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak_mb() -> float:
    """The most memory of this process, MB; what it inherited of another's is not in it."""
    (kib,) = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return int(kib) * 1024 / 1e6


def scheduled(wait: Wait) -> dict[str, Any]:
    """Record, and make a program."""
    stages, robot = _Stages(), wait.load()
    what = stages.run("record", lambda: wait.record(robot))

    def words() -> int:
        if isinstance(what, Kernel):
            return len(schedule(MACHINE, what).words)
        return len(fitting_array(ARRAY, {wait.function: what}).words)

    stages.found["words"] = stages.run("schedule", words)
    return stages.found | {"operations": robot_kernels.executed(what)}


def read(wait: Wait) -> dict[str, Any]:
    """Build what reads lists, record, and write the list."""
    stages, robot = _Stages(), wait.load()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[c_build.CACHE_VARIABLE] = folder
        reader = native_list.ListedCode(robot_kernels.recorded(robot, "ID"), scalars.Float64())
        stages.run("reader", lambda: reader.library)
        what = stages.run("read_record", lambda: wait.record(robot))
        build = native_list.build if isinstance(what, Kernel) else NativeChain
        stages.run("list", lambda: build(what, "float64"))
    return stages.found


def compiled(wait: Wait) -> dict[str, Any]:
    """Record, emit and compile; nothing is in the cache before, and nothing is left there."""
    stages, robot = _Stages(), wait.load()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[c_build.CACHE_VARIABLE] = folder
        kernel = stages.run("native_record", lambda: robot_kernels.recorded(robot, wait.function))
        code = native.Code(kernel, scalars.Float64(), lanes=1)
        stages.run("emit", lambda: code.files)
        stages.run("compile", lambda: code.library)
    return stages.found | {"pieces": sum(name.startswith("main_") for name in code.files)}


# --- all of them ----------------------------------------------------------------------------------


def rows(waits: Sequence[Wait]) -> Iterator[dict[str, Any]]:
    """What each takes, one after the other."""
    for wait in waits:
        function = wait.function + ", columns" * wait.columns
        row: dict[str, Any] = {"robot": wait.robot, "function": function}
        for measure in [scheduled, read, *[compiled] * wait.compiled]:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                row |= alone.submit(measure, wait).result()
        yield row


def _table(found: Sequence[dict[str, Any]]) -> Table:
    table = Table(title="processor time, s, and most memory, MB; command: make bench ONLY=waiting")
    for name in ("robot", "function"):
        table.add_column(name)
    columns = ("operations", "record", "schedule", "list", "native, read")
    columns += ("emit", "compile", "native, compiled")
    for name in columns:
        table.add_column(name, justify="right")

    def stage(row: dict[str, Any], name: str) -> str:
        return f"{row[f'{name}_s']:.2f} ({row[f'{name}_mb']:.0f})" if f"{name}_s" in row else ""

    def both(row: dict[str, Any], *names: str) -> str:
        spent = [row.get(f"{name}_s") for name in names]
        return "" if None in spent else f"{sum(spent):.2f}"

    for row in found:
        table.add_row(
            f"chain of {row['robot']}" if row["robot"].isdigit() else row["robot"],
            row["function"],
            f"{row['operations']:,}",
            *(stage(row, name) for name in ("record", "schedule", "list")),
            both(row, "reader", "read_record", "list"),
            *(stage(row, name) for name in ("emit", "compile")),
            both(row, "native_record", "emit", "compile"),
        )
    return table


def main(waits: Sequence[Wait] = WAITS) -> None:
    """The command."""
    found: list[dict[str, Any]] = []
    with progress("waiting", unit="functions") as update:
        update(0, len(waits))
        for row in rows(waits):
            found.append(row)
            update(len(found), len(waits))
    wide_console().print(_table(found))
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "waiting.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(path.relative_to(ROOT))
