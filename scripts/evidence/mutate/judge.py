"""Whether a unit's bench finds a mutation: the regression's own run, on the mutated netlist."""

import contextlib
import copy
import dataclasses
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from pymodel.hardware.simulation import TASK_ENV, Task, build_folder
from pymodel.hardware.simulators import make_simulator
from scripts.evidence.mutate.errors import MutateError
from scripts.evidence.mutate.server import ANSWER, ORDERS_ENV
from scripts.evidence.mutate.units import Unit
from scripts.kernel.modules import file_of
from scripts.kernel.places import ROOT
from scripts.kernel.sources import module_of, sources_of

SIMULATOR = "verilator"
#: Rules that netlists may break, besides those that "lint_off" alone turns off.
ALLOWED = (" -rule UNOPTFLAT", " -rule SELRANGE")
#: A mutant's simulation that takes longer counts as found: its bench's own limit is no higher.
LIMIT_S = 900.0


class Verdict(NamedTuple):
    """What the bench said of a mutation.

    Attributes
    ----------
    by
        The test that failed, and the first line of what it said; empty if none did.
    seconds
        That the simulation took.
    """

    by: str
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether a check failed."""
        return bool(self.by)


class Judge:
    """The bench of a unit with mutated netlists in the unit's place.

    Parameters
    ----------
    unit
    files
        What takes the place of the unit's file.
    seed
        Of the stimulus.
    """

    def __init__(self, unit: Unit, files: Sequence[Path], seed: int) -> None:
        self.unit, self.seed = unit, seed
        self._bench = copy.copy(unit.shared_bench())  # others go on with theirs
        self._place = f"-{unit.name}-mutated"
        self._built: Path | None = None
        self._toplevel = ""
        device = self._bench.device
        replaced = ROOT / file_of(unit.module)
        swaps = [files if source == replaced else (source,) for source in device.sources]
        rules = files[0].parent / "lint.vlt"
        allow = [f'lint_off{rule} -file "{file}"' for file in files for rule in ("", *ALLOWED)]
        rules.write_text("\n".join(["`verilator_config", *allow, ""]))
        sources = (rules, *(file for swap in swaps for file in swap))
        self._bench.device = dataclasses.replace(device, sources=sources, signals=unit.shows)

    def build(self) -> None:
        """Build the bench, and see that it passes without a mutation.

        Raises
        ------
        MutateError
            If it does not pass.
        """
        row = self._bench.run(SIMULATOR, self.unit.config, seed=self.seed, place=self._place)
        if row["result"] != "pass":
            said = row["message"].splitlines()[0]
            raise MutateError(f"{self.unit.name}: its bench fails without a mutation: {said}")
        self._toplevel, _ = self._bench.device.simulated()
        self._built = build_folder(self._task) / self._toplevel

    @property
    def _task(self) -> Task:
        return self._bench.task(self.unit.config, SIMULATOR, self.seed, place=self._place)

    @contextlib.contextmanager
    def server(self, name: str) -> Iterator["Server"]:
        """A process that runs the bench on mutants, for the length of a ``with``.

        It has passed without a mutation, so that what it calls killed is a mutant's fault.

        Parameters
        ----------
        name
            Of its folder, next to the build.

        Yields
        ------
        Server

        Raises
        ------
        MutateError
            If it does not pass without a mutation.
        """
        bench, folder = self._bench, self._built.parent / name
        tests = bench.module
        imports = [module_of(file) for file in sources_of(tests)]
        orders = {
            "folder": str(folder),
            "imports": [name for name in imports if not name.startswith(f"tb.{bench.name}.")],
            "tests": bench.tests,
            "limit_s": LIMIT_S,
        }
        simulator = make_simulator(
            SIMULATOR,
            log=folder / "server.log",
            limit_s=LIMIT_S,
            watch=print,
            built=self._built,
            toplevel=self._toplevel,
            module=f"scripts.evidence.mutate.server,{tests}",
            python_search=[str(ROOT)],
            verilog_sources=[],
            sim_build=str(self._built.parent),
            seed=self.seed,
        )
        simulator.set_env()
        simulator.env |= {
            TASK_ENV: json.dumps(asdict(self._task)),
            ORDERS_ENV: json.dumps(orders),
            "COCOTB_RESULTS_FILE": str(folder / "results.xml"),
            "COCOTB_MAX_FAILURES": "1",  # the other tests need not run
        }
        (command,) = simulator.build_command()
        process = subprocess.Popen(
            command,
            cwd=self._built.parent,
            env=simulator.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            server = Server(process)
            none = server.judge(0)
            if none.killed:
                raise MutateError(
                    f"{self.unit.name}: its bench fails without a mutation: {none.by}"
                )
            yield server
        finally:
            process.stdin.close()
            process.terminate()
            process.wait()


class Server:
    """The other end of :mod:`scripts.evidence.mutate.server`."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process

    def judge(self, number: int) -> Verdict:
        """Run the bench on a mutant.

        Raises
        ------
        MutateError
            If the simulator ends instead of answering.
        """
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{number}\n")
            self._process.stdin.flush()
        said = ""
        for line in self._process.stdout:
            if line.startswith(ANSWER):
                answer = json.loads(line.removeprefix(ANSWER))
                return Verdict(answer["by"], answer["seconds"])
            said = line.strip() or said
        raise MutateError(f"the simulator ended: {said}")
