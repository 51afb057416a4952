"""What every bench is built on: its configurations, its cocotb tests, and how it is run.

A bench is one folder ``tb/<dut>`` with a ``test_<dut>.py`` that holds::

    BENCH = Bench(__file__, toplevel="fp_lanes", configs=[Config("binary32", {"EXP_W": 8})])

    @BENCH.test(timeout_us=100)
    async def corners(dut, board):      # board: a Scoreboard; it must see transactions
        ...

    test_fp_add = BENCH.pytest()

The same file is imported twice: by pytest, which builds and starts a simulator for each
configuration, and inside that simulator by cocotb.
"""

import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import cocotb
import cocotb_test.simulator
import numpy as np
import pytest

from tb.common.scoreboard import Scoreboard

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
RESULTS = BUILD / "results"  # the regression's result rows
SIMULATORS = ("icarus", "verilator")
DEFAULT_SEED = 1
TIMESCALE = "1ns/1ps"
RUN_ENV = "BENCH_RUN"
PORTS = ("*_i", "*_ni", "*_o", "s_axil_*")  # of every top level
GRACE_S = 10  # between asking a simulator to stop and killing it


@dataclass(frozen=True)
class Config:
    """One way to build and run a bench.

    Parameters
    ----------
    name : str
        Shown in reports; chosen with ``CONFIG=``.
    params : dict
        Parameters of the top-level module.
    settings : dict
        Anything JSON that the bench's stimulus reads from ``BENCH.settings`` (vector counts, ...).
    sims : tuple of str
        The simulators it runs under.
    """

    name: str
    params: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    sims: tuple = SIMULATORS


def usable(simulator):
    """Whether a simulator is installed, and new enough for cocotb (Debian's Verilator is not)."""
    if simulator == "icarus":
        return shutil.which("iverilog") is not None
    check = [ROOT / "scripts" / "get_verilator.sh", "--check"]
    return subprocess.run(check, capture_output=True).returncode == 0


def rtl_sources():
    """Every RTL file in compile order, from the one list ``rtl/rtl.f``."""
    lines = (ROOT / "rtl" / "rtl.f").read_text().splitlines()
    return [ROOT / line for line in map(str.strip, lines) if line and not line.startswith("//")]


class Bench:
    """A bench: see the module's docstring.

    Parameters
    ----------
    file : str
        The bench's ``__file__``.
    toplevel : str
        Top-level module.
    configs : list of Config
    sources : list of path
        Files beside ``rtl/rtl.f``, relative to the repository.
    signals : tuple of str
        What the tests read of the top level besides its ports.
    wall_limit_s : float
        A simulation that takes longer is killed and has failed.
    """

    def __init__(self, file, toplevel, configs, sources=(), signals=(), wall_limit_s=900):
        self.name = Path(file).parent.name
        self.toplevel = toplevel
        self.configs = {config.name: config for config in configs}
        self.sources = [*rtl_sources(), *(ROOT / source for source in sources)]
        self.signals = signals
        self.wall_limit_s = wall_limit_s
        self.tests = []
        self._run = json.loads(os.environ.get(RUN_ENV, "null"))

    # --- inside the simulator -------------------------------------------------------------------

    @property
    def config(self):
        """The configuration that this simulation runs."""
        return self.configs[self._run["config"]]

    @property
    def params(self):
        """Parameters of the top-level module, as far as given."""
        return self._run["params"]

    @property
    def settings(self):
        """The configuration's settings, with those given to :meth:`run` on top."""
        return self.config.settings | self._run["settings"]

    @property
    def simulator(self):
        return self._run["simulator"]

    def test(self, timeout_us):
        """Register ``async def test(dut, board)`` as a cocotb test with a simulated-time limit."""

        def decorate(function):
            name = function.__name__
            self.tests.append(name)

            async def body(dut):
                run = self._run
                rng = np.random.default_rng([run["seed"], *name.encode()])
                rerun = rerun_command(
                    self.name, run["simulator"], run["seed"], run["config"], name, waves=True
                )
                board = Scoreboard(name, rng, rerun)
                cocotb.log.info("seed %d: %s", run["seed"], rerun)
                try:
                    await function(dut, board)
                    board.finish()
                finally:
                    with open(run["counts"], "a") as file:
                        file.write(json.dumps([name, board.transactions]) + "\n")

            functools.update_wrapper(body, function)
            del body.__wrapped__  # cocotb must see the signature (dut)
            return cocotb.test(timeout_time=timeout_us, timeout_unit="us")(body)

        return decorate

    # --- outside the simulator ------------------------------------------------------------------

    def pytest(self):
        """The pytest function of the bench: one case for each simulator and configuration."""
        cases = [
            pytest.param(sim, config.name, id=f"{sim}-{config.name}")
            for config in self.configs.values()
            for sim in config.sims
        ]

        @pytest.mark.parametrize(("simulator", "config"), cases)
        def test(simulator, config, bench_options):
            row = self.run(simulator, config, results=RESULTS, **bench_options)
            if row["result"] != "pass":
                pytest.fail(row["message"], pytrace=False)

        return test

    def run(
        self,
        simulator,
        config,
        seed=DEFAULT_SEED,
        testcase=None,
        waves=False,
        live=False,
        settings=None,
        params=None,
        watch=None,
        results=None,
    ):
        """Build and run one configuration.

        Parameters
        ----------
        testcase : str, optional
            Run only this cocotb test.
        waves : bool
            One FST a test, ``build/waves/<bench>/<config>-<simulator>-<test>.fst``.
        live : bool
            Copy the simulator's output to the terminal.
        settings : dict
            Override some of the configuration's settings.
        params : dict
            Override some of the configuration's top-level parameters.
        watch : callable(str)
            Sees every line that the simulator prints.
        results : path, optional
            Folder that the result row is written to.

        Returns
        -------
        dict
            The result row: ``result`` is "pass" or "fail", ``message`` says what failed and how to
            run it again.
        """
        rerun = rerun_command(self.name, simulator, seed, config, testcase)
        row = {
            "bench": self.name,
            "config": config,
            "simulator": simulator,
            "params": self.configs[config].params | (params or {}),
            "seed": seed,
            "rerun": rerun,
        }
        given = {"settings": settings or {}, "params": row["params"]}
        start = time.monotonic()
        # waves are kept apart by running each test by itself
        parts = (testcase,) if testcase or not waves else self.tests
        watch = watch or (_echo if live else lambda line: None)
        outcomes = [
            self._simulate(simulator, config, seed, part, waves, given, watch) for part in parts
        ]
        tests = [test for outcome, _ in outcomes for test in outcome]
        problems = [problem for _, problem in outcomes if problem]
        if not tests and not problems:
            problems = [f"no such test; {self.name} has {', '.join(self.tests)}"]
        problems += [f"{t['name']}: {t['message']}" for t in tests if t["result"] != "pass"]
        problems += [
            f"{t['name']}: passed without a single transaction"
            for t in tests
            if t["result"] == "pass" and not t["transactions"]
        ]
        row |= {
            "transactions": sum(t["transactions"] for t in tests),
            "tests": tests,
            "wall_s": round(time.monotonic() - start, 2),
            "result": "fail" if problems else "pass",
            "message": "\n\n".join([*problems, f"rerun: {rerun}"]) if problems else "",
        }
        if results:
            Path(results).mkdir(parents=True, exist_ok=True)
            file = Path(results) / f"{self.name}-{config}-{simulator}.json"
            file.write_text(json.dumps(row, indent=1))
        return row

    def _simulate(self, simulator, config, seed, testcase, waves, given, watch):
        """One simulator run; returns (list of test results, what went wrong besides them)."""
        params = given["params"]
        key = hashlib.sha256(repr((sorted(params.items()), waves)).encode()).hexdigest()[:8]
        folder = BUILD / "sim" / self.name / f"{config}-{simulator}-{key}"
        folder.mkdir(parents=True, exist_ok=True)
        results, counts, log = folder / "results.xml", folder / "counts.jsonl", folder / "sim.log"
        for stale in (results, counts):
            stale.unlink(missing_ok=True)
        context = {
            "config": config,
            "simulator": simulator,
            "seed": seed,
            **given,
            "counts": str(counts),
        }
        engine = {"icarus": _Icarus, "verilator": _Verilator}[simulator](
            toplevel=self.toplevel,
            module=f"tb.{self.name}.test_{self.name}",
            python_search=[str(ROOT)],
            verilog_sources=[str(source) for source in self.sources],
            parameters=params,
            sim_build=str(folder),
            timescale=TIMESCALE,
            seed=seed,
            waves=waves,
            testcase=rf"\.{testcase}$" if testcase else None,
            extra_env={RUN_ENV: json.dumps(context), "COCOTB_RESULTS_FILE": str(results)},
        )
        engine.log, engine.limit_s = log, self.wall_limit_s
        engine.watch, engine.public = watch, (*PORTS, *self.signals)
        problem = None
        try:
            with _environment(COCOTB_RESULTS_FILE=str(results)):
                engine.run()
        except SystemExit as error:
            if isinstance(error, _TooLong) or not results.exists():
                problem = f"{error.code}\n{_tail(log)}"
        if waves and testcase:
            about = {
                "bench": self.name,
                "config": config,
                "simulator": simulator,
                "test": testcase,
                "toplevel": self.toplevel,
                "params": params,
                "seed": seed,
                "rerun": rerun_command(self.name, simulator, seed, config, testcase, waves=True),
            }
            _keep_wave(folder, about)
        return _read_results(results, counts), problem


def rerun_command(bench, simulator, seed, config, testcase=None, waves=False):
    """The command that runs one configuration of a bench again."""
    words = ["make", bench, f"SIM={simulator}", f"CONFIG={config}", f"SEED={seed}"]
    words += [f"TEST={testcase}"] if testcase else []
    words += ["WAVES=1"] if waves else []
    return " ".join(words)


def _read_results(results, counts):
    if not results.exists():
        return []
    counted = {}
    if counts.exists():
        counted = dict(json.loads(line) for line in counts.read_text().splitlines())
    tests = []
    for case in ET.parse(results).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        message = "" if bad is None else (bad.text or bad.get("message") or bad.get("error_msg"))
        tests.append(
            {
                "name": case.get("name"),
                "result": "pass" if bad is None else "fail",
                "wall_s": float(case.get("time") or 0),
                "sim_ns": _sim_ns(case),
                "transactions": counted.get(case.get("name"), 0),
                "message": message or "",
            }
        )
    return tests


def _sim_ns(case):
    """Simulated time of a test case, which cocotb 2.1 keeps in two properties."""
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    scale = {"fs": 1e-6, "ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}
    unit = scale.get(properties.get("sim_time_unit"), 0.0)
    return float(properties.get("sim_time_duration") or 0) * unit


def _keep_wave(folder, about):
    """Move what a simulation dumped to build/waves, with a JSON beside it that tells what it is."""
    waves = BUILD / "waves" / about["bench"]
    waves.mkdir(parents=True, exist_ok=True)
    wave = waves / f"{about['config']}-{about['simulator']}-{about['test']}.fst"
    for dump in (folder / f"{about['toplevel']}.fst", folder / "dump.fst"):
        if dump.exists():
            shutil.move(dump, wave)
            wave.with_suffix(".json").write_text(json.dumps(about, indent=1))
            print(f"waveform: {wave.relative_to(ROOT)}")


def _echo(line):
    sys.stdout.write(line)
    sys.stdout.flush()


def _tail(log, lines=25):
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""


class _environment:
    """Environment variables for the length of a ``with`` (cocotb-test reads them itself)."""

    def __init__(self, **variables):
        self.variables = variables

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.variables}
        os.environ.update(self.variables)

    def __exit__(self, *_):
        for name, value in self.before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


class _TooLong(SystemExit):
    """A command was stopped at its limit on wall-clock time."""


def _stop(process, expired):
    """End a command that takes too long, gently at first: its waveform is then complete."""
    expired.set()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()


class _Logged:
    """Runs a simulator's commands with their output in a file and a limit on their time."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.logger.propagate = False  # what cocotb-test says of itself is in the log too

    def execute(self, cmds):
        with open(self.log, "w") as log:
            for cmd in cmds:
                log.write(" ".join(cmd) + "\n")
                log.flush()
                process = subprocess.Popen(
                    cmd,
                    cwd=self.work_dir,
                    env=self.env,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                )
                expired = threading.Event()
                watchdog = threading.Timer(self.limit_s, _stop, (process, expired))
                watchdog.start()
                try:
                    for line in process.stdout:
                        log.write(line)
                        self.watch(line)
                    status = process.wait()
                finally:
                    watchdog.cancel()
                    process.kill()
                if expired.is_set():
                    raise _TooLong(f"{Path(cmd[0]).name} took more than {self.limit_s} s")
                if status:
                    raise SystemExit(f"{Path(cmd[0]).name} ended with status {status}")


class _Icarus(_Logged, cocotb_test.simulator.Icarus):
    def run_command(self):
        self.simulation_args = ["-n"]  # no prompt after $stop or an interrupt
        return super().run_command()


class _Verilator(_Logged, cocotb_test.simulator.Verilator):
    def build_command(self):
        # What is public may change from outside: its logic is translated once more for that.
        public = Path(self.sim_dir) / "public.vlt"
        rules = "`verilator_config\n"
        for name in self.public:
            rules += f'public_flat_rw -module "{self.toplevel_module}" -var "{name}"\n'
        if not public.exists() or public.read_text() != rules:
            public.write_text(rules)
        # Optimising for size, Verilator's default, takes longer than most runs gain by it.
        # In one compilation it needs no precompiled header, most of a small model's time.
        self.make_args += ["OPT_FAST=-O1", "VM_PARALLEL_BUILDS=0"]
        # Verilator's own sources are then compiled once, not in every build.
        if shutil.which("ccache"):
            self.env.setdefault("OBJCACHE", "ccache")
        # Registers start, and x is resolved, at random: nothing may depend on either.
        self.compile_args += ["--x-initial", "unique", "--x-assign", "unique"]
        self.compile_args += [str(public), str(ROOT / "rtl" / "lint.vlt")]
        self.plus_args += ["+verilator+rand+reset+2"]
        self.plus_args += [f"+verilator+seed+{int(self.env['COCOTB_RANDOM_SEED']) % 2**31 or 1}"]
        if self.waves:
            self.plus_args += ["--trace"]
        compile_, *rest = super().build_command()
        return [[word for word in compile_ if word != "--public-flat-rw"], *rest]
