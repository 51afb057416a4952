"""What every bench is built on: its configurations, its cocotb tests, and how it is run.

A bench is one folder ``tb/<dut>``. Its ``bench.py`` says what is built::

    BENCH = Bench(__file__, toplevel="fp_lanes", configs=[Config("binary32", {"EXP_W": 8})])

and its ``test_<dut>.py`` what is done with it::

    @BENCH.test(timeout_us=100)
    async def corners(dut, board):      # board: a Scoreboard; it must see transactions
        ...

    test_fp_add = BENCH.pytest()

Both are imported twice: by pytest, which builds and starts a simulator for each configuration, and
inside that simulator by cocotb.
"""

import atexit
import copy
import functools
import gc
import itertools
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import cocotb
import numpy as np
import pytest
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.configs import Config, RandomConfigs
from pymodel.hardware.model_signals import ModelSignals
from pymodel.hardware.names import MAX_SEED as MAX_SEED
from pymodel.hardware.places import COVERED, RESULTS, ROOT
from pymodel.hardware.results import LEFT_OUT, add_coverage, add_note, problems_of
from pymodel.hardware.rtl_files import rtl_files
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.simulation import COVERAGE, Device, Task, simulate
from pymodel.hardware.simulators import WAS_KILLED
from pymodel.hardware.standstill import FILE, Pulse
from pymodel.hardware.waiting import AnswerError, HangError, within

DEFAULT_SEED = 1
PART = ("first", "items", "state")  # settings of every bench: see Bench.items
CYCLES_PER_US = 1000 // PERIOD_NS
TAIL_NS = 50 * PERIOD_NS  # of a waveform behind a failure: a viewer's window must not end there
#: Allocations before a collection of the youngest objects, and so on: a simulation is a short
#: process with few cycles of objects, and Python's own thresholds take up to a tenth of its time.
COLLECTOR_THRESHOLDS = 10_000, 10, 100
TestBody = Callable[[Any, Scoreboard], Awaitable[None]]
Item = TypeVar("Item")


class Settings(Mapping[str, Any]):
    """Settings that keep the names of those that have been read, in a set."""

    def __init__(self, values: Mapping[str, Any], read: set[str]) -> None:
        self._values, self._read = values, read

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Bench:
    """A bench: see the module's docstring.

    Parameters
    ----------
    name
        Its name, or the ``__file__`` of its bench.py, whose folder has it.
    toplevel
        Top-level module.
    configs
        Its fixed configurations.
    random
        Those that each run draws some of, besides.
    sources
        Files besides ``rtl/rtl.f``, relative to the repository.
    signals
        What the tests read besides the ports of the top level: a name in it, or
        ``<module>.<name>``.
    wall_limit_s
        A simulation that takes longer is killed and has failed.
    modelled
        As for :class:`pymodel.hardware.simulation.Device`.
    module
        The module with its cocotb tests; ``tb.<name>.test_<name>`` unless given.
    """

    def __init__(
        self,
        name: str,
        toplevel: str,
        configs: Sequence[Config],
        random: RandomConfigs | None = None,
        sources: Sequence[str] = (),
        signals: tuple[str, ...] = (),
        wall_limit_s: float = 900,
        modelled: Callable[[Mapping[str, Any]], Mapping[str, int]] = lambda params: {},
        module: str = "",
    ) -> None:
        self.name = Path(name).parent.name or name
        self.module = module or f"tb.{self.name}.test_{self.name}"
        self.configs = {config.name: config for config in configs}
        self.random = random
        self._device = functools.partial(
            Device, toplevel, signals=signals, wall_limit_s=wall_limit_s, modelled=modelled
        )
        self._sources = tuple(sources)
        self.tests: list[str] = []
        told = Task.told()
        self._told = told
        self._netlist = False
        if told:
            gc.set_threshold(*COLLECTOR_THRESHOLDS)
            atexit.register(gc.freeze)  # looking through all objects at the end takes time, too
        self._hang = ""  # the test that has met one
        self._read: set[str] = set()  # names of settings

    @functools.cached_property
    def device(self) -> Device:
        """What is simulated; the list of RTL is read at the first look, not at an import."""
        files = (*rtl_files(), *self._sources)
        return self._device(sources=tuple(ROOT / file for file in files))

    # --- inside the simulator -------------------------------------------------------------------

    @property
    def _task(self) -> Task:
        """What this simulation was told to do."""
        assert self._told is not None
        return self._told

    @functools.cached_property
    def _pulse(self) -> Pulse:
        return Pulse(Path(self._task.notes).with_name(FILE))

    @property
    def config(self) -> Config:
        """The configuration that this simulation runs."""
        return self.config_named(self._task.config)

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the top-level module, as far as given."""
        return self._task.params

    @property
    def settings(self) -> Settings:
        """The configuration's settings, with those given to :meth:`run` on top."""
        own = self.config.settings
        given = for_simulator(own, self._task.settings, self._task.simulator)
        return Settings(own | given, self._read)

    @property
    def whole(self) -> bool:
        """Whether all of the configuration's stimulus runs; a part of it need not cover all."""
        return not self._task.settings

    def items(self, board: Scoreboard, items: Iterable[Item]) -> Iterator[Item]:
        """The items that a test's stimulus consists of, one after the other: rounds, calls, runs.

        With the settings :data:`PART` only some of them, ``items`` from number ``first`` on; the
        first one draws the same random numbers as in the whole test, whose ``state`` is given.

        Parameters
        ----------
        board
            The test's; where its random numbers have been at the start of each is kept there.
        items
            All of them.

        Raises
        ------
        AssertionError
            If there is none behind ``first``.
        """
        given, window = Settings(self._task.settings, self._read), self.window
        states: list[str] = []
        part = itertools.islice(items, window.start, window.stop)
        for number, item in enumerate(part, window.start):
            if not states and "state" in given:
                set_state(board.rng, given["state"])
            states.append(state_of(board.rng))
            board.reached = {"item": number, "states": states}
            yield item
        self.check_part(board, len(states))

    def check_part(self, board: Scoreboard, count: int) -> None:
        """Fail if the setting ``first`` has left none of a test's items: ``count`` are."""
        first = self.window.start
        assert count or not first, f"first={first}: no item is left\n  rerun  {board.rerun}"

    @property
    def window(self) -> slice:
        """The part of a test's items that the settings ``first`` and ``items`` leave, or all."""
        given = Settings(self._task.settings, self._read)
        first, count = given.get("first", 0), given.get("items")
        return slice(first, None if count is None else first + count)

    @property
    def drawn(self) -> bool:
        """Whether the configuration is a random one, not one of the fixed."""
        return self._task.config not in self.configs

    @property
    def simulator(self) -> str:
        """Name of the simulator."""
        return self._task.simulator

    def test(self, timeout_us: int, inside: bool = False) -> Callable[[TestBody], Any]:
        """Register ``async def test(dut, board)`` as a cocotb test with a simulated-time limit.

        After a hang the tests that follow are skipped: what does not answer would not answer them.
        One that looks ``inside``, at signals that are no ports, is left out on a netlist.
        """
        limit = timeout_us * CYCLES_PER_US

        def decorate(function: TestBody) -> Any:
            name = function.__name__
            self.tests.append(name)

            async def body(dut: Any) -> None:
                task = self._task
                if self._hang or (inside and task.netlist):
                    reason = f"{self._hang} hangs" if self._hang else LEFT_OUT
                    add_note(task.notes, name, skipped=reason)
                    pytest.skip(reason)
                rng = np.random.default_rng([task.seed, *name.encode()])
                rerun = task.rerun(name, waves=True)
                board = Scoreboard(name, rng, rerun, ModelSignals(dut if task.waves else None))
                cocotb.log.info("seed %d: %s", task.seed, rerun)
                self._pulse.start()
                failure = None
                try:
                    await within(limit, function(dut, board), lambda: "the end of the test")
                    board.finish()
                except Exception as error:
                    why, *_ = f"{error}".splitlines() or [type(error).__name__]
                    failure = {"ns": get_sim_time("ns"), "why": why} | board.failures.get(why, {})
                    if task.waves:
                        await Timer(TAIL_NS, "ns")
                    if isinstance(error, HangError):
                        self._hang = name
                    elif not isinstance(error, AnswerError):
                        raise
                    raise AssertionError(f"{error}\n  rerun  {rerun}") from None
                else:  # only where all was compared that the bins were told for
                    add_coverage(Path(task.notes).with_name(COVERAGE), board.covered)
                finally:
                    self._pulse.stop()
                    note: dict[str, Any] = {
                        "failure": failure,
                        "model": board.model.shown,
                        "reached": board.reached,
                        "read": self._read & self._task.settings.keys(),
                    }
                    add_note(task.notes, name, board.transactions, **note)

            wrapper: Any = functools.update_wrapper(body, function)
            wrapper.__qualname__ = name  # by which cocotb calls it, wherever it is defined
            del wrapper.__wrapped__  # cocotb must see the signature (dut)
            return cocotb.test()(wrapper)

        return decorate

    # --- outside the simulator ------------------------------------------------------------------

    def config_named(self, name: str) -> Config:
        """The configuration of a name, be it fixed or one of the space of random ones.

        Raises
        ------
        KeyError
            If there is none; its argument says so in the Makefile's words.
        """
        config = self.configs.get(name) or (self.random.named(name) if self.random else None)
        if config is None:
            known = [*self.configs, *([self.random.form] if self.random else [])]
            raise KeyError(f"CONFIG={name}: must be one of {', '.join(known)}")
        return config

    def chosen(self, seed: int, name: str | None = None, daily: bool = False) -> list[Config]:
        """The configurations of a run.

        Parameters
        ----------
        seed
            That random ones are drawn from, the same ones for the same seed.
        name
            If it is that of a random configuration, this one takes the place of those drawn.
        daily
            Only as many random ones as ``make test`` runs.
        """
        random = []
        if self.random:
            one = self.random.named(name) if name else None
            rng = np.random.default_rng([seed, *self.name.encode()])
            random = [one] if one else self.random.draw(rng)[: self.random.daily if daily else None]
        return [*self.configs.values(), *random]

    def task(
        self,
        config: str,
        simulator: str,
        seed: int,
        waves: bool = False,
        params: dict[str, int] | None = None,
        settings: dict[str, Any] | None = None,
        **more: Any,
    ) -> Task:
        """A simulation of a configuration; arguments as of :meth:`run`, ``more`` of the task."""
        chosen = self.config_named(config)
        params = chosen.params | self.simulated_params(simulator, waves) | (params or {})
        asked = (self.name, config, simulator, seed, params, settings or {}, self.module)
        return Task(*asked, long=chosen.long, netlist=self._netlist, **more)

    def on_netlist(self, sources: Sequence[Path]) -> "Bench":
        """The bench with a netlist in the place of the RTL: files with its ports, and nothing else.

        Tests that look inside are left out: their result is "skip", their message LEFT_OUT.
        """
        found = copy.copy(self)
        found.device = replace(self.device, sources=tuple(sources), signals=(), modelled=None)
        found._netlist = True
        return found

    def simulated_params(self, simulator: str, waves: bool) -> dict[str, int]:
        """Parameters of the top level that are not the device's, but of how it is simulated."""
        return {}

    def pytest(self) -> Callable[..., None]:
        """The pytest function of the bench: one case for each simulator and configuration.

        The seed of the session decides which cases there are: ``tb/conftest.py`` makes them.
        """

        def test(simulator: str, config: str, bench_options: dict[str, Any]) -> None:
            options = dict(bench_options)
            part = bool(options["testcase"] or options["settings"])
            if options.pop("daily"):
                by_day = self.config_named(config).daily
                options["settings"] = by_day | (options["settings"] or {})
            row = self.run(simulator, config, results=RESULTS, part=part, **options)
            if row["result"] != "pass":
                pytest.fail(row["message"], pytrace=False)
            tests, given = row["tests"], bench_options["settings"] or {}
            unread = [name for name in given if not any(name in test["read"] for test in tests)]
            if unread:
                names = ", ".join(test["name"] for test in tests)
                pytest.fail(f"SETTINGS: {', '.join(unread)} not used by {names}", pytrace=False)

        marked: Any = test
        marked.bench = self
        return marked

    def run(
        self,
        simulator: str,
        config: str,
        seed: int = DEFAULT_SEED,
        testcase: str | None = None,
        waves: bool = False,
        live: bool = False,
        settings: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
        watch: Callable[[str], None] | None = None,
        results: str | Path | None = None,
        part: bool = False,
        command: str = "",
        place: str = "",
        folder: str | Path = "",
        code_coverage: str | Path = "",
    ) -> dict[str, Any]:
        """Build and run one configuration.

        Parameters
        ----------
        simulator, config
            Names.
        seed
            Of the stimulus.
        testcase
            Run only this cocotb test.
        waves
            One FST a test, ``build/waves/<bench>/<config>-<simulator>-<test>.fst``. Where the
            bench's test module is not imported, the test case must be named.
        live
            Copy the simulator's output to the terminal.
        settings
            Override some of the configuration's settings.
        params
            Override some of the configuration's top-level parameters.
        watch
            Sees every line that the simulator prints.
        results
            Folder that the result row is written to; bins that were met go to :data:`COVERED`.
        part
            This is less than the whole configuration, whose row stays, and whose bins are added to.
        command
            What runs it again, where that takes more than the bench.
        place, code_coverage
            As for :class:`pymodel.hardware.simulation.Task`.
        folder
            Likewise; waves are then in it. What runs there must not run at the same time.

        Returns
        -------
        dict
            The result row: ``result`` is "pass" or "fail", ``problems`` are those besides the
            tests, ``message`` says all that failed and how to run it again.
        """
        extra: dict[str, Any] = {"folder": str(folder), "code_coverage": str(code_coverage)}
        shape = (config, simulator, seed, waves, params, settings)
        task = self.task(*shape, command=command, place=place, **extra)
        rerun = task.rerun(testcase)
        start = time.monotonic()
        # waves are kept apart by running each test by itself
        parts = (testcase,) if testcase or not waves else self.tests
        watch = watch or (_echo if live else lambda line: None)
        outcomes = [simulate(self.device, task, part, waves, watch) for part in parts]
        tests = [test for found, _, _ in outcomes for test in found]
        outside = [problem for _, problem, _ in outcomes if problem]
        if not tests and not outside:
            outside = [f"no such test; {self.name} has {', '.join(self.tests)}"]
        problems = outside + problems_of(tests, functools.partial(task.rerun, waves=True))
        row = {
            "bench": self.name,
            "config": config,
            "simulator": simulator,
            "params": params,
            "seed": seed,
            "rerun": rerun,
            "transactions": sum(t["transactions"] for t in tests),
            "tests": tests,
            "wall_s": round(time.monotonic() - start, 2),
            "result": "fail" if problems else "pass",
            "problems": outside,
            "killed": any(WAS_KILLED in problem for problem in outside),
            "message": "\n\n".join([*problems, f"rerun: {rerun}"]) if problems else "",
        }
        if results:
            file = Path(results) / f"{self.name}-{config}-{simulator}.json"
            if not part:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(row, indent=1))
            found, kept = "".join(met for _, _, met in outcomes), COVERED / f"{file.stem}.jsonl"
            _keep_coverage(found, kept, part)
        return row


def for_simulator(
    settings: dict[str, Any], given: dict[str, Any], simulator: str
) -> dict[str, Any]:
    """Settings that are given, where a number may stand for one by simulator."""
    found = {}
    for name, value in given.items():
        by_simulator = isinstance(settings.get(name), dict) and isinstance(value, int)
        found[name] = {simulator: value} if by_simulator else value
    return found


def state_of(rng: np.random.Generator) -> str:
    """Where a generator of numpy's default kind is in its sequence, in hexadecimal digits."""
    state = rng.bit_generator.state
    half = f".{state['uinteger']:x}" if state["has_uint32"] else ""
    return f"{state['state']['state']:x}{half}"


def set_state(rng: np.random.Generator, text: str) -> None:
    """Put a generator where :func:`state_of` has found one of the same seed."""
    number, _, half = text.partition(".")
    state: Any = rng.bit_generator.state
    state["state"]["state"] = int(number, 16)
    state |= {"has_uint32": int(bool(half)), "uinteger": int(half or "0", 16)}
    rng.bit_generator.state = state


def _keep_coverage(found: str, kept: Path, part: bool) -> None:
    """Bins that a configuration has met; they replace those before, those of a part are added."""
    if found:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a" if part else "w") as file:
            file.write(found)
    elif not part:
        kept.unlink(missing_ok=True)


def _echo(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()
