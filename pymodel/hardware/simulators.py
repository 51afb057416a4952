"""The simulators, as cocotb-test drives them, with a log, a limit on time, and our options."""

import hashlib
import logging
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO, Any

import cocotb_test.simulator

from pymodel.arith.errors import InputError
from pymodel.hardware import verilator
from pymodel.hardware.names import SIMULATORS as SIMULATORS
from pymodel.hardware.places import BUILD, HARDWARE, IS_CHECKOUT, ROOT
from pymodel.hardware.standstill import FILE, Watch

NOT_RTL = ("tb", "pymodel", "build")  # what is simulated besides it
PORTS = ("*_i", "*_ni", "*_o", "s_axil_*", "*_axis_*")  # of every top level
MODEL_RULES = HARDWARE / "model.mk"
HEADERS = BUILD / "headers"  # of Verilator, compiled
UNFINISHED = "unfinished"  # file in a build folder while it is being built
# Branches are counted with the lines. All bits of a vector are watched, however wide it is.
COVERAGE_ARGS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", "65536")
# A line that says why a build fails; to Verilator warnings are errors.
REASON = re.compile(r"%(Error|Warning)|\berror:|syntax error")
WAS_KILLED = "was killed from outside, as a system without memory does"
LOOK_S = 1.0  # between two looks at a simulator's pulse
GRACE_S = 10  # between asking a simulator to stop and killing it


class TooLongError(SystemExit):
    """A command was stopped at its limit on wall-clock time."""


def usable(simulator: str) -> bool:
    """Whether a simulator is installed, and new enough for cocotb (Debian's Verilator is not).

    The Verilator that set-up has fetched comes first on `PATH` then, as it does under `make`.
    """
    if simulator == "icarus":
        return shutil.which("iverilog") is not None
    folder = verilator.found()
    if folder and folder not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((folder, os.environ["PATH"]))
    return bool(folder)


@cache
def require_usable(simulator: str) -> None:
    """Refuse a simulator that is not :func:`usable`; what is there is looked for once.

    Raises
    ------
    InputError
        If it is not.
    """
    if not usable(simulator):
        name = simulator.capitalize()
        raise InputError(f"{name} is not installed, or too old: {how_to_get(simulator)}")


def how_to_get(simulator: str) -> str:
    """What to do where a simulator is not installed."""
    if IS_CHECKOUT:
        return "`make doctor` says how to get it"
    command = {"icarus": "sudo apt-get install iverilog", "verilator": verilator.GET}[simulator]
    return f"get it by `{command}`"


def ccache_runs() -> bool:
    """Whether ccache is installed, and its folder can be written: without, it compiles nothing."""
    if shutil.which("ccache") is None:
        return False
    asked = ["ccache", "--get-config", "cache_dir"]
    done = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        os.makedirs(done.stdout.strip(), exist_ok=True)
    except OSError:
        return False
    return os.access(done.stdout.strip(), os.W_OK)


def simulator_version(simulator: str) -> str:
    """First line of what a simulator says about itself."""
    command = {"icarus": ["iverilog", "-V"], "verilator": ["verilator", "--version"]}[simulator]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return text.splitlines()[0].removesuffix("()").strip() if text else "unknown"


def make_simulator(name: str, **options: Any) -> cocotb_test.simulator.Simulator:
    """A simulator whose ``run()`` builds and simulates.

    Parameters
    ----------
    name
        One of :data:`SIMULATORS`.
    options
        Arguments of :class:`Logged`, and of cocotb-test's class.
    """
    return {"icarus": Icarus, "verilator": Verilator}[name](**options)


class Logged:
    """Runs a simulator's commands with their output in a file and a limit on their time.

    Parameters
    ----------
    log
        File for the output.
    limit_s
        Wall-clock seconds after which a command is stopped: TooLongError.
    watch
        Sees every line of the output.
    signals
        What tests read besides the ports of the top level, ``<module>.<name>``.
    writable
        What they write besides, the same way.
    built
        The program that was built already, if nothing is to be built.
    code_coverage
        File for what Verilator is to count of lines, branches and toggles; empty: it does not.
    long
        Whether a simulation takes so long that it pays to optimise Verilator's model.
    options
        Arguments of cocotb-test's class.
    """

    # What cocotb-test's classes have, which this is mixed into.
    compile_only: bool
    env: dict[str, str]
    logger: logging.Logger
    old_sigint_h: Any
    old_sigterm_h: Any
    run: Callable[[], Any]
    sim_dir: str
    work_dir: str

    def __init__(
        self,
        log: Path,
        limit_s: float,
        watch: Callable[[str], None],
        signals: tuple[str, ...] = (),
        writable: tuple[str, ...] = (),
        built: Path | None = None,
        code_coverage: str = "",
        long: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        # cocotb-test's handlers fail the running test, and the next one starts.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self.old_sigint_h)
            signal.signal(signal.SIGTERM, self.old_sigterm_h)
        self.log, self.limit_s, self.watch = log, limit_s, watch
        self.signals, self.writable, self.built = signals, writable, built
        self.code_coverage, self.long = code_coverage, long
        self.logger.handlers = [logging.NullHandler()]
        self.logger.propagate = False  # what cocotb-test says of itself is in the log too

    def execute(self, cmds: list[list[str]]) -> None:
        """Run the commands; SystemExit at the first that fails.

        The last one simulates, unless there is only something to build.

        While the others build, :data:`UNFINISHED` is in the folder.
        """
        unfinished = Path(self.sim_dir) / UNFINISHED
        if not self.built:
            unfinished.touch()
        with open(self.log, "w") as log:
            for cmd in cmds:
                if cmd is cmds[-1] and not self.compile_only and not self.built:
                    unfinished.unlink()
                self._execute_one(cmd, log)
        if self.compile_only:
            unfinished.unlink()

    def _execute_one(self, cmd: list[str], log: IO[str]) -> None:
        """Run a command; SystemExit, with the first error that it names, if it fails."""
        log.write(" ".join(cmd) + "\n")
        log.flush()
        pulse = Watch(Path(self.work_dir) / FILE)
        process = subprocess.Popen(
            cmd,
            cwd=self.work_dir,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        _limit_processor_time(process, int(self.limit_s) + GRACE_S)
        over, why = threading.Event(), ""
        reasons: list[str] = []
        watchdog = threading.Thread(
            target=_watch_over,
            args=(process, self.limit_s, pulse, over, reasons),
            daemon=True,  # Ctrl-C may come before anyone can end it
        )
        try:
            watchdog.start()
            for line in process.stdout or ():
                log.write(line)
                self.watch(line)
                if not why and REASON.search(line):
                    why = f": {line.strip()}"
            status = process.wait()
        finally:
            over.set()
            process.kill()
            process.wait()
        name = Path(cmd[1] if cmd[0] == "perl" else cmd[0]).name
        if reasons:
            raise TooLongError(f"{name} {reasons[0]}")
        if status == -signal.SIGKILL:
            raise SystemExit(f"{name} {WAS_KILLED}")
        if status:
            raise SystemExit(f"{name} ended with status {status}{why}")


def _watch_over(
    process: subprocess.Popen,
    limit_s: float,
    pulse: Watch,
    over: threading.Event,
    reasons: list[str],
) -> None:
    """End a command that takes too long, or whose simulated time stands still, and say why."""
    end = time.monotonic() + limit_s
    while not over.wait(max(0.0, min(LOOK_S, end - time.monotonic()))):
        if time.monotonic() >= end:
            reasons.append(f"took more than {limit_s} s")
        elif pulse.stands():
            reasons.append(f"is ended: {pulse}")
        if reasons:
            _stop(process)
            return


def _limit_processor_time(process: subprocess.Popen, limit_s: int) -> None:
    """Bound what a command takes of a processor, where the system can.

    One that does not end by itself then ends although who started it was killed.
    """
    if hasattr(resource, "prlimit"):
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit_s, limit_s))


def _stop(process: subprocess.Popen) -> None:
    """End a command, gently at first: its waveform is then complete."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()


class Icarus(Logged, cocotb_test.simulator.Icarus):
    """Icarus Verilog."""

    def run_command(self) -> list[str]:
        """The command that simulates."""
        self.simulation_args = ["-n"]  # no prompt after $stop or an interrupt
        return super().run_command()

    def build_command(self) -> list[list[str]]:
        """The commands that build, if one has to, and simulate."""
        if not self.built:
            return super().build_command()
        if self.waves:
            self.plus_args.append("-fst")
        return [self.run_command()]

    def outdated(self, output: str, dependencies: list[str]) -> bool:
        """Whether a build is of other texts; a file that is put back may be older than it."""
        texts = (Path(file).read_bytes() for file in dependencies)
        digest = hashlib.sha256(b"\0".join(texts)).hexdigest()
        built = Path(output).with_suffix(".sha256")
        if Path(output).exists() and built.exists() and built.read_text() == digest:
            return False
        built.write_text(digest)
        return True


class Verilator(Logged, cocotb_test.simulator.Verilator):
    """Verilator."""

    def build_command(self) -> list[list[str]]:
        """The commands that build."""
        # What may change from outside costs time: its logic is translated once more for that.
        public = Path(self.sim_dir) / "public.vlt"
        rules = "`verilator_config\n"
        for name in PORTS:
            rules += f'public_flat_rw -module "{self.toplevel_module}" -var "{name}"\n'
        for signals, rule in ((self.signals, "public_flat_rd"), (self.writable, "public_flat_rw")):
            for signal_ in signals:
                module, _, name = signal_.rpartition(".")
                rules += f'{rule} -module "{module}" -var "{name}"\n'
        if self.code_coverage:
            rules += "".join(f'coverage_off -file "{ROOT}/{place}/*"\n' for place in NOT_RTL)
        if not public.exists() or public.read_text() != rules:
            public.write_text(rules)
        # More optimisation, or none, takes longer than most runs gain by it.
        level = "-O2" if self.long else "-Og"
        # Of Verilator's own sources those for waves are the longest, and no quicker with more.
        library = "-Og" if self.waves else "-O2"
        self.make_args += [f"OPT_GLOBAL={library}", f"OPT_FAST={level}", "VM_PARALLEL_BUILDS=0"]
        self.make_args += ["VK_USER_OBJS="]
        self.make_args += ["-f", str(MODEL_RULES), f"HEADERS={HEADERS}"]
        # Verilator's own sources are then compiled once, not in every build.
        if ccache_runs():
            self.env.setdefault("OBJCACHE", "ccache")
        # A function is compiled once, not where it is called: half of the sine's time. Verilator up
        # to 5.050 then loses stores in front of a call (its issue 7921) unless -fno-life.
        if not self.code_coverage:
            self.compile_args += ["-fno-inline-funcs-eager", "-fno-life"]
        # Registers start, and x is resolved, at random: nothing may depend on either.
        self.compile_args += ["--x-initial", "unique", "--x-assign", "unique"]
        self.compile_args += [str(public), str(ROOT / "rtl" / "lint.vlt")]
        # To leave a random value at the first reset is no toggle that anybody made.
        self.plus_args += [f"+verilator+rand+reset+{0 if self.code_coverage else 2}"]
        self.plus_args += [f"+verilator+seed+{int(self.env['COCOTB_RANDOM_SEED']) % 2**31 or 1}"]
        if self.waves:
            self.plus_args += ["--trace"]
        if self.code_coverage:
            self.compile_args += COVERAGE_ARGS
            self.make_args += ["OPT_SLOW=-O0"]  # the code that lists all points runs once
            self.plus_args += [f"+verilator+coverage+file+{self.code_coverage}"]
        if self.built:
            return [[str(self.built), *self.plus_args]]
        compile_, *rest = super().build_command()
        return [[word for word in compile_ if word != "--public-flat-rw"], *rest]
