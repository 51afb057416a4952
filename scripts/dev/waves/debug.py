"""`make debug BENCH=<bench> ... TEST=<test>`: a red test again, its waveform opened where it fails.

The regression report has the line for every test that failed. The bench runs just this test, with
the same configuration, seed and simulator, so that it fails at the same place.

Exit status 1, after one line, where it passes or leaves no waveform; 2 where there is no such
test, simulator, viewer or display.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymodel.app.options import OptionParser, whole
from pymodel.hardware.bench import DEFAULT_SEED, MAX_SEED, Bench
from pymodel.runs.input_error import InputError
from scripts.dev.waves.choose import shown
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.viewer import open_waveform
from scripts.dev.waves.waveform import Waveform
from scripts.kernel.places import BUILD, ROOT


def named(name: str, simulator: str, config: str, test: str) -> Bench:
    """A bench, if it has such a test and configuration.

    Raises
    ------
    Problem
        If not.
    """
    known = sorted(path.parent.name for path in (ROOT / "tb").glob("*/Makefile"))
    if name not in known:
        raise Problem(f"BENCH={name}: must be one of {', '.join(known)}")
    bench = importlib.import_module(f"tb.{name}.test_{name}").BENCH
    if test not in bench.tests:
        raise Problem(f"TEST={test}: must be one of {', '.join(bench.tests)}")
    try:
        sims = bench.config_named(config).sims
    except KeyError as error:
        raise Problem(error.args[0]) from None
    if simulator not in sims:
        raise Problem(f"SIM={simulator}: must be {' or '.join(sims)} for CONFIG={config}")
    return bench


def waveform_of(bench: Bench, simulator: str, config: str, test: str) -> Path:
    """Where a run leaves the waveform of a test."""
    return BUILD / "waves" / bench.name / f"{config}-{simulator}-{test}.fst"


def again(bench: Bench, simulator: str, config: str, seed: int, test: str) -> dict[str, Any]:
    """Run a test with waves; the result row, without leaving it among the regression's results."""
    waveform_of(bench, simulator, config, test).unlink(missing_ok=True)
    return bench.run(simulator, config, seed=seed, testcase=test, waves=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    text = "A red test once more, with waves."
    parser = OptionParser(prog="scripts.dev.waves.debug", description=text)
    parser.add_argument("bench")
    parser.add_argument("--config", required=True)
    parser.add_argument("--sim", required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--seed", type=whole("SEED", 0, MAX_SEED), default=DEFAULT_SEED)
    try:
        options = parser.parse_args(arguments)
        case = (options.sim, options.config)
        bench = named(options.bench, *case, options.test)
        print(f"debug: {bench.name} {' '.join(case)} {options.test}, built with waves", flush=True)
        row = again(bench, *case, options.seed, options.test)
        if row["result"] == "pass":
            print("debug: it passes now", file=sys.stderr)
            return 1
        print(row["message"])
        path = waveform_of(bench, *case, options.test)
        if not path.exists():
            print("debug: it left no waveform", file=sys.stderr)
            return 1
        wave = Waveform.read(path)
        print(f"debug: {shown(wave.path)}", flush=True)
        return open_waveform(wave, bench.name)
    except (Problem, InputError) as problem:
        print(f"debug: {problem}", file=sys.stderr)
        return 2
