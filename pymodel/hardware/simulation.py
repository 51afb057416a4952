"""One configuration of a bench, built and simulated in a folder of its own."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from pymodel.hardware import fast_casts, on_bus
from pymodel.hardware.model_signals import outputs_of, with_model
from pymodel.hardware.places import BUILD, HARDWARE, PACKAGE, outputs, shown
from pymodel.hardware.results import read_notes, read_results
from pymodel.hardware.rtl_files import needed
from pymodel.hardware.simulators import (
    UNFINISHED,
    Logged,
    TooLongError,
    make_simulator,
    require_usable,
)

TIMESCALE = "1ns/1ps"
TASK_ENV = "BENCH_RUN"
# Files whose assertions pytest explains. cocotb's default, all files, has every module compiled
# anew in each simulation: seconds.
REWRITE = {"COCOTB_REWRITE_ASSERTION_FILES": "test_*.py *_bench.py"}
REWRITE |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # cocotb only has pytest explain assertions
TOPS = BUILD / "sim" / "tops"  # top levels made up around devices
COVERAGE = "coverage.jsonl"  # next to the notes; see pymodel.hardware.results.add_coverage


@dataclass(frozen=True)
class Task:
    """What the simulator's process is to do, told to it through the environment.

    Attributes
    ----------
    bench, config, simulator
        Names.
    seed
        Of the stimulus, and of the simulator's start values.
    params
        Parameters of the top-level module.
    settings
        Settings of the configuration that are overridden.
    module
        The module with the cocotb tests.
    notes
        File that the tests add to, see :func:`pymodel.hardware.results.add_note`.
    waves
        Waves are dumped.
    command
        What does it again, if that is not the bench itself.
    place
        Tells the folder apart from those of the same simulation at the same time.
    folder
        Where it runs and leaves its files, waves too; then it shares what is built with others.
    code_coverage
        File for what Verilator is to count of lines, branches and toggles; empty: it does not.
    long
        As for :class:`pymodel.hardware.configs.Config`.
    netlist
        A netlist stands in the place of the RTL: tests that look inside are left out.
    """

    bench: str
    config: str
    simulator: str
    seed: int
    params: dict[str, Any]
    settings: dict[str, Any]
    module: str
    notes: str = ""
    waves: bool = False
    command: str = ""
    place: str = ""
    folder: str = ""
    code_coverage: str = ""
    long: bool = False
    netlist: bool = False

    @classmethod
    def told(cls) -> "Task | None":
        """The task of this process; None outside a simulator."""
        text = os.environ.get(TASK_ENV)
        return cls(**json.loads(text)) if text else None

    def rerun(self, testcase: str | None = None, waves: bool = False) -> str:
        """The command that does it again."""
        words = [self.command]
        if not self.command:
            words = ["make", self.bench, f"SIM={self.simulator}", f"CONFIG={self.config}"]
            words += [f"SEED={self.seed}"]
            words += [f"TEST={testcase}"] if testcase else []
            words += [f"SETTINGS='{json.dumps(self.settings)}'"] if self.settings else []
        words += ["WAVES=1"] if waves else []
        return " ".join(words)


@dataclass(frozen=True)
class Device:
    """The device under test, and how it is simulated.

    Attributes
    ----------
    toplevel
        Top-level module.
    sources
        All files, in compile order.
    signals
        What the tests read besides the ports of the top level: a name in it, or
        ``<module>.<name>``.
    wall_limit_s
        A simulation that takes longer is killed and has failed.
    modelled
        Parameters of the top level -> paths below it, and their widths, whose values the model
        knows; see :mod:`pymodel.hardware.model_signals`. None: of the device's ports it knows
        nothing, either.
    writable
        What the tests write besides those ports: ``<module>.<name>``. Only for Verilator.
    instance
        In a top level around a device: the device, whose signals a waveform's layout names.
    """

    toplevel: str
    sources: tuple[Path, ...]
    signals: tuple[str, ...]
    wall_limit_s: float
    modelled: Callable[[Mapping[str, Any]], Mapping[str, int]] | None = lambda params: {}
    writable: tuple[str, ...] = ()
    instance: str = ""

    @property
    def public(self) -> list[str]:
        """What the tests read, each as ``<module>.<name>``."""
        return [name if "." in name else f"{self.toplevel}.{name}" for name in self.signals]

    def around(self) -> str:
        """The text of the module around a device with an AXI4-Lite port, otherwise empty."""
        text = self._own.read_text()
        return on_bus.text_of(self.toplevel, text) if on_bus.has_bus(text) else ""

    @property
    def _own(self) -> Path:
        """The file of the top-level module."""
        (own,) = (path for path in self.sources if path.stem == self.toplevel)
        return own

    def simulated(self, params: Mapping[str, Any] | None = None) -> tuple[str, tuple[Path, ...]]:
        """The top level that is simulated, and its files; one that is made up is written.

        The same text has the same place: builds that are alike share what ccache keeps.

        A device with an AXI4-Lite port gets a master beside it, :mod:`pymodel.hardware.on_bus`.
        With its parameters given, the top level has the model's signals,
        :mod:`pymodel.hardware.model_signals`, if there is a model.
        """
        sources = tuple(needed(self.toplevel, self.sources))
        name, text = self.toplevel, self.around()
        if text:
            name = on_bus.name_of(name)
            sources = (*sources, *(HARDWARE / file for file in on_bus.MASTERS))
        if params is not None and self.modelled:
            own = self._own.read_text()
            text = with_model(text or own, outputs_of(own), self.modelled(params))
            if name == self.toplevel:
                sources = tuple(path for path in sources if path != self._own)
        if not text:
            return name, sources
        file = TOPS / hashlib.sha256(text.encode()).hexdigest()[:8] / f"{name}.sv"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_name(f"{name}.{os.getpid()}")
            part.write_text(text)
            part.replace(file)
        return name, (*sources, file)


def build_folder(task: Task, waves: bool = False) -> Path:
    """Where a task is built: what another build is needed for has another folder."""
    built_for: tuple[Any, ...] = (sorted(task.params.items()), waves)
    if task.code_coverage:
        built_for = (*built_for, "code coverage")
    if task.long:
        built_for = (*built_for, "long")
    key = hashlib.sha256(repr(built_for).encode()).hexdigest()[:8]
    return BUILD / "sim" / task.bench / f"{task.config}-{task.simulator}-{key}{task.place}"


def simulate(
    device: Device,
    task: Task,
    testcase: str | None,
    waves: bool,
    watch: Callable[[str], None],
) -> tuple[list[dict[str, Any]], str | None, str]:
    """Build and simulate once; where two do so at once in the same folder, one waits.

    Parameters
    ----------
    device, task
        What is simulated, and what is done with it.
    testcase
        The only cocotb test to run; None for all.
    waves
        Dump waves; with a test case they are kept in build/waves.
    watch
        Sees every line of the output.

    Returns
    -------
    tests : list of dict
        See :func:`pymodel.hardware.results.read_results`.
    problem : str or None
        What went wrong besides them.
    coverage : str
        The bins that were met, see :func:`pymodel.hardware.results.add_coverage`.

    Raises
    ------
    InputError
        If the simulator is not installed, or too old.
    """
    require_usable(task.simulator)
    params, build = task.params, build_folder(task, waves)
    folder = Path(task.folder) if task.folder else build
    folder.mkdir(parents=True, exist_ok=True)
    junit, notes, log = folder / "results.xml", folder / "notes.jsonl", folder / "sim.log"
    coverage = notes.with_name(COVERAGE)
    told = json.dumps(asdict(task) | {"notes": str(notes), "waves": waves})

    def simulator(toplevel: str, sources: tuple[Path, ...], **options: Any) -> Logged:
        return make_simulator(
            task.simulator,
            log=log,
            limit_s=device.wall_limit_s,
            watch=watch,
            signals=device.public,
            writable=device.writable,
            code_coverage=task.code_coverage,
            # The code of a netlist is so much that the compiler takes longest.
            long=task.long and not task.netlist,
            toplevel=toplevel,
            module=task.module,
            python_search=[str(PACKAGE.parent)],
            verilog_sources=[str(source) for source in sources],
            parameters=params,
            sim_build=str(build),
            work_dir=str(folder),
            timescale=TIMESCALE,
            seed=task.seed,
            waves=waves,
            testcase=rf"\.{testcase}$" if testcase else None,
            extra_env={TASK_ENV: told, "COCOTB_RESULTS_FILE": str(junit)}
            | REWRITE
            | fast_casts.environment(task.simulator),
            **options,
        )

    problem = None
    build.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{build}.lock", "w") as alone:
        _wait_for(alone, watch)
        for stale in (junit, notes, coverage):
            stale.unlink(missing_ok=True)
        try:
            with _environment(COCOTB_RESULTS_FILE=str(junit)):
                if (build / UNFINISHED).exists():
                    shutil.rmtree(build)
                build.mkdir(parents=True, exist_ok=True)
                toplevel, sources = device.simulated(params if waves else None)
                built = None
                if task.folder:
                    simulator(toplevel, sources, compile_only=True).run()
                    built = build / toplevel
                    alone.close()
                simulator(toplevel, sources, built=built).run()
        except SystemExit as error:
            if isinstance(error, TooLongError) or not junit.exists():
                problem = f"{error.code}\n{_tail(log)}"
        if waves and testcase:
            _keep_wave(folder, device, task, testcase, read_notes(notes).get(testcase, {}))
        return read_results(junit, notes, log, problem or ""), problem, _text(coverage)


def _keep_wave(
    folder: Path, device: Device, task: Task, testcase: str, note: dict[str, Any]
) -> None:
    """Move what a simulation dumped to build/waves, with a JSON next to it that says what it is."""
    about = {
        "bench": task.bench,
        "config": task.config,
        "simulator": task.simulator,
        "test": testcase,
        "toplevel": device.instance or device.toplevel,
        "params": task.params,
        "seed": task.seed,
        "rerun": task.rerun(testcase, waves=True),
    }
    about |= {key: note[key] for key in ("failure", "model") if note.get(key)}
    waves = Path(task.folder) if task.folder else outputs() / "waves" / task.bench
    waves.mkdir(parents=True, exist_ok=True)
    wave = waves / f"{task.config}-{task.simulator}-{testcase}.fst"
    for dump in (*folder.glob(f"{device.toplevel}*.fst"), folder / "dump.fst"):
        if dump.exists() and dump != wave:
            shutil.move(dump, wave)
            wave.with_suffix(".json").write_text(json.dumps(about, indent=1))
            if not task.folder:
                print(f"waveform: {shown(wave)}")


def _tail(log: Path, lines: int = 25) -> str:
    return "\n".join(_text(log).splitlines()[-lines:])


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""


def _wait_for(alone: IO[str], watch: Callable[[str], None]) -> None:
    """Keep other processes out of a build folder until its file is closed."""
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        folder = shown(Path(alone.name).with_suffix(""))
        watch(f"waiting for another simulation in {folder}\n")
        fcntl.flock(alone, fcntl.LOCK_EX)


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Environment variables for the length of a ``with`` (cocotb-test reads them itself)."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
