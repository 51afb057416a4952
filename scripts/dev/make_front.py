"""What make's targets take and run: the Makefile calls this with its variables as they stand.

`MAKE_GOAL` is the target, `MAKE_GOALS` are all that were asked for, `MAKE_GIVEN` names the
variables of the command line; their values stand in the environment. It needs Python 3.8 and the
standard library until a target runs.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SETUP = "scripts/dev/setup.sh"
BAD_INPUT, INTERRUPTED, UNREAD = 2, 130, 141
Variables = dict[str, str]

#: What any target takes: where tools are, and what they read from the environment.
ALWAYS = ("CI", "PYTHON", "CC", "CXX", "HOME", "PATH", "TMPDIR", "OPENBLAS_NUM_THREADS")
ALWAYS += ("PYMODEL_CACHE", "PYTEST_ADDOPTS")
ALWAYS_IN = ("CCACHE_", "DASK_", "PIP_", "UV_", "XDG_")
LISTS = ("UNITS", "BENCHES")  # arguments without dashes: words between spaces
SWITCHES = ("CHANGED", "CHECK", "FAST", "FIRST", "PLANT", "WAVES", "WHOLE")  # 0 or 1
SIMULATORS = ("icarus", "verilator")


class RefusedError(Exception):
    """What is given makes no sense; a line that says why."""


class Target(NamedTuple):
    """A target of make.

    Attributes
    ----------
    group
        Where `make help` lists it.
    text
        What it is for.
    takes
        Variables, between spaces.
    run
        Takes them and gives the exit status.
    """

    group: str
    text: str
    takes: str
    run: Callable[[Variables], int]


# --- steps ----------------------------------------------------------------------------------------


def set_up(*parts: str) -> None:
    """Install parts; it says itself what it cannot, and ends make with its status."""
    done = subprocess.run([SETUP, *parts], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def simulators(name: str | None) -> tuple[str, ...]:
    """What a simulator's name needs: both where it does not say which."""
    return (name,) if name in SIMULATORS else SIMULATORS


def words(given: Variables) -> list[str]:
    """Variables as a program of scripts/ takes them."""
    found = []
    for name, value in given.items():
        option = "--" + name.lower().replace("_", "-")
        if name in SWITCHES:
            found += [option] * (value == "1")
        elif name not in LISTS:
            found.append(f"{option}={value}")
    return found + [word for name in LISTS for word in given.get(name, "").split()]


def remove(path: str) -> None:
    """Remove a folder or file, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def program(module: str, arguments: Sequence[str]) -> int:
    """Run a program of the repository in this process."""
    from pymodel.app.start import run_command

    return run_command(module, list(arguments))


def pytest(*arguments: str) -> int:
    """Run pytest in the place of this process, which is the last that there is to do."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])


def programs(*modules: str, parts: str = "", **fixed: str) -> Callable[[Variables], int]:
    """A target that sets up parts and runs programs, one after the other, until one fails."""

    def run(given: Variables) -> int:
        if parts:
            set_up(*parts.split())
        for module in modules:
            options = [f"--{name.replace('_', '-')}={value}" for name, value in fixed.items()]
            if status := program(module, [*options, *words(given)]):
                return status
        return 0

    return run


# --- targets --------------------------------------------------------------------------------------


def command(name: str, **fixed: str) -> Callable[[Variables], int]:
    """A target that is a subcommand of `hdca`, which knows its variables."""

    def run(given: Variables) -> int:
        from pymodel.app.options import SIMULATED

        def before(asked: Any) -> None:
            if name == "demo" or getattr(asked, "target", None) in SIMULATED:
                set_up(*simulators(asked.simulator))

        from pymodel.app.command import of_make

        return of_make(name, {**fixed, **given}, before)

    return run


def variables_of(target: Target) -> list[str]:
    """The variables that a target takes."""
    if not target.takes.startswith("hdca "):
        return target.takes.split()
    from pymodel.app.table import NAMED

    return [name for name in NAMED[target.takes[5:]].variables.split() if name != "NAME"]


def need(given: Variables, names: str, example: str) -> None:
    """Refuse a target without the variables that it cannot do without."""
    missing = [name for name in names.split() if name not in given]
    if missing:
        raise RefusedError(f"say {' and '.join(missing)}: {example}")


def of_bench(name: str) -> Target:
    """The target of a bench."""

    def run(given: Variables) -> int:
        set_up(*simulators(given.get("SIM")))
        first = ["--exitfirst"] if given.pop("FIRST", "0") == "1" else []
        test = given.pop("TEST", None)
        chosen = [f"--cocotb-test={test}"] if test else []
        return pytest(f"tb/{name}", *words(given), *chosen, *first)

    return Target("", "", "SIM SEED TEST CONFIG WAVES SETTINGS FIRST", run)


def test(given: Variables) -> int:
    """The regression."""
    set_up(*SIMULATORS)
    changed = given.get("CHANGED") == "1"
    if not changed:
        kept = glob.glob("build/coverage/code*")
        for path in ("build/results", "build/report", *glob.glob("build/coverage/*")):
            if path not in kept:
                remove(path)
    # What is installed is set up before tests need it: it compiles where the user's cache is gone.
    tools = [tool for tool in ("formal", "synth") if os.path.exists(f".venv/.stamp-{tool}")]
    if tools:
        subprocess.run([SETUP, *tools], cwd=ROOT, check=False)
    plugins = ["-p", "scripts.dev.report.plugin", "-p", "scripts.dev.changed.plugin"]
    options = ["-n", "2", "--maxschedchunk", "1", "--junitxml=build/report/junit.xml"]
    options += [] if given.get("WHOLE") == "1" else ["--daily"]
    return pytest(*options, *plugins, *["--changed"] * changed)


def check(given: Variables) -> int:
    """Every unit once."""
    records = [sys.executable, "-m", "scripts.kernel.unit_check"]  # a module that nobody verifies
    if status := subprocess.run(records, check=False).returncode:
        return status
    set_up(*SIMULATORS)
    return pytest("--quick", "-x", "-n", "2", "--maxschedchunk", "1", *QUICK)


#: What `make check` runs: all benches, which choose their quickest configuration, and the tests of
#: the model that take a second.
QUICK = (
    "tb",
    "pymodel/tests/machine/test_registers.py",
    "pymodel/tests/mechanism/test_scenario.py",
)


def regress(given: Variables) -> int:
    """Seeds of all benches."""
    set_up(*simulators(given.get("SIM")))
    return program("scripts.dev.regress.command", words(given))


def parameters(given: Variables) -> int:
    """The page, or combinations of legal values."""
    if "COUNT" not in given:
        if "SEED" in given:
            raise RefusedError(f"SEED={given['SEED']}: only with COUNT")
        return program("scripts.evidence.parameters.document", [])
    set_up("icarus")
    return program("scripts.evidence.parameters.elaborate", words(given))


def coverage(given: Variables) -> int:
    """What simulations have met; they run if there are none."""
    set_up(*SIMULATORS)
    if not glob.glob("build/coverage/met/*"):
        line = [sys.executable, "-m", "pytest", "-n", "2", "--maxschedchunk", "1", "tb"]
        if status := subprocess.run(line, check=False).returncode:
            return status
    return program("scripts.evidence.coverage.command", [])


def example_robots(given: Variables) -> int:
    """Functions of many robots."""
    set_up("robots")
    folder = "pymodel/tests/mechanism"
    names = "test_example_robots.py", "test_example_mjcf.py", "test_sdf.py"
    return pytest("-m", "example_robots", *(f"{folder}/{name}" for name in names))


def mutate(given: Variables) -> int:
    """Planted faults; several seeds at once."""
    seeds = given.pop("SEED", "").split()
    given = {"SET_UP": "synth formal verilator", **given}
    options = [*words(given), *(["--seed", *seeds] if seeds else [])]
    return program("scripts.evidence.mutate.run", options)


def board_sim(given: Variables) -> int:
    """A host's program on a simulated board."""
    set_up(*simulators(given.get("SIM")))
    return program("scripts.evidence.board_sim", words(given))


def gate_level(given: Variables) -> int:
    """Benches on a netlist."""
    set_up("verilator")
    return program("scripts.evidence.gates", words({"SET_UP": "synth", **given}))


def bench(given: Variables) -> int:
    """Benchmarks; their peers may be missing."""
    set_up(*SIMULATORS)
    if given.get("ONLY", "native") == "native":
        subprocess.run([SETUP, "bench"], cwd=ROOT, check=False)
    return program("scripts.evidence.benchmarks.bench", words(given))


def debug(given: Variables) -> int:
    """A red test again."""
    line = "make debug BENCH= CONFIG= SIM= TEST= [SEED=]; the line is in build/report/index.html"
    need(given, "BENCH CONFIG SIM TEST", line)
    set_up(*simulators(given["SIM"]))
    name = given.pop("BENCH")
    return program("scripts.dev.waves.debug", [*words(given), "--", name])


def waves(given: Variables) -> int:
    """A waveform in a viewer."""
    need(given, "BENCH", f"make waves BENCH=<bench>; benches: {' '.join(benches())}")
    name = given.pop("BENCH")
    return program("scripts.dev.waves.command", [*words(given), "--", name])


def docs(given: Variables) -> int:
    """The site."""
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-b", "html"]
    status = subprocess.run([*line, ".", "build/site"], check=False).returncode
    if not status:
        print("build/site/index.html")
    return status


def setup(given: Variables) -> int:
    """Packages and simulators."""
    name = given.get("SIM", "all")
    if name not in (*SIMULATORS, "all"):
        raise RefusedError(f"SIM={name}: must be icarus, verilator or all")
    set_up(*simulators(name))
    return 0


def doctor(given: Variables) -> int:
    """What is installed, by the Python that .venv is or will be made with."""
    found = subprocess.run([SETUP, "python"], stdout=subprocess.PIPE, text=True, check=False)
    python = found.stdout.strip() or "python3"
    return subprocess.run([python, "-m", "pymodel.app.doctor"], check=False).returncode


def clean(given: Variables) -> int:
    """Remove what is made."""
    remove("build")
    return 0


def distclean(given: Variables) -> int:
    """Remove what is made and installed."""
    for folder in ("build", ".venv", ".tools"):
        remove(folder)
    return 0


def show_help(given: Variables) -> int:
    """All targets."""
    group = ""
    for name, target in TARGETS.items():
        if target.group != group:
            group = target.group
            print(f"\n{group}")
        print(f"  make {name:21} {target.text}")
    print("\nBenches: make <bench> [SIM=icarus|verilator SEED= TEST= CONFIG= WAVES=1 FIRST=1]")
    print(f"  {' '.join(benches())}")
    return 0


RUNS, PROOF, HOUSE = "Demos and runs", "Verification", "Housekeeping"
_E = "scripts.evidence."
TARGETS = {
    "pendulum": Target(
        RUNS,
        "double pendulum on co-processor and step engine, into build/pendulum",
        "hdca demo",
        command("demo", NAME="pendulum"),
    ),
    "fourbar": Target(
        RUNS,
        "four-bar on co-processor and step engine, into build/fourbar",
        "hdca demo",
        command("demo", NAME="fourbar"),
    ),
    "run": Target(
        RUNS,
        "SCENARIO=f.toml [TARGET=model|native|twin|coprocessor|engine SIM= ARITH= STEPS= OUT=]",
        "hdca run",
        command("run"),
    ),
    "sweep": Target(
        RUNS,
        'SCENARIO=f.toml VARY="body[0].mass=1:2:11" [TARGET=model|native|twin|engine COUNT= OUT=]',
        "hdca sweep",
        command("sweep"),
    ),
    "robot": Target(
        RUNS,
        "URDF=f.urdf FUNCTION=dFD [TARGET=model|native|twin|engine|array FLOATING=1 ROWS= OUT=]",
        "hdca robot",
        command("robot"),
    ),
    "closed-loop": Target(
        RUNS,
        "URDF=f.urdf [TARGET=model|native|twin|engine STEPS=1000 SIM= OUT=]: PD control, 1 s",
        "hdca loop",
        command("closed-loop"),
    ),
    "mpc": Target(
        RUNS,
        "URDF=f.urdf [TASK=reach LINK= KNOTS=100 LIMIT= TICKS= NOISE= OUT=]: plan, and drive",
        "hdca mpc",
        command("mpc"),
    ),
    "notebook": Target(
        RUNS,
        "docs/notebook.ipynb from top to bottom, with its outputs into build/notebook.ipynb",
        "",
        programs(f"{_E}notebook", parts="icarus"),
    ),
    "test": Target(
        PROOF,
        "regression, both simulators, build/report/index.html [CHANGED=1: quick; WHOLE=1: all]",
        "CHANGED WHOLE",
        test,
    ),
    "check": Target(PROOF, "a quick case of every bench, the first failure at once", "", check),
    "regress": Target(
        PROOF,
        'seeds x configurations x simulators [BENCHES="fp_add" SEEDS=10 SEED= HOURS=1 SIM=]',
        "BENCHES SEEDS SEED HOURS SIM WORKERS SCHEDULER",
        regress,
    ),
    "parameters": Target(
        PROOF,
        "docs/parameters.md: legal values, where run [COUNT=20 SEED=: elaborate so many]",
        "COUNT SEED",
        parameters,
    ),
    "coverage": Target(
        PROOF,
        "functional coverage: what the last regression met, what is missing, into build/coverage",
        "",
        coverage,
    ),
    "code-coverage": Target(
        PROOF,
        "lines, branches, toggles under Verilator, each hole explained; resumable [WORKERS=]",
        "WORKERS",
        programs(f"{_E}coverage.code.command", parts="verilator"),
    ),
    "code-coverage-results": Target(
        PROOF,
        "docs/code_coverage.md from what `make code-coverage` left in build/",
        "",
        programs(f"{_E}coverage.code.document"),
    ),
    "example-robots": Target(
        PROOF,
        "functions of 40 robots of PyPI's example-robot-data, a large download, and gymnasium's",
        "",
        example_robots,
    ),
    "robots-of-others": Target(
        PROOF,
        "docs/robots_of_others.md: functions of robots of public packages, right or refused",
        "",
        programs(f"{_E}robots.others", parts="robots"),
    ),
    "readers": Target(
        PROOF,
        "what other readers of robot files make of the same text, and docs/readers.md",
        "",
        programs(f"{_E}readers.measure", f"{_E}readers.document"),
    ),
    "formats": Target(
        PROOF,
        'all float formats of up to 32 bits under Icarus [UNITS="fp_add" FORMATS="4/20 5/26"]',
        "UNITS FORMATS SEED",
        programs(f"{_E}formats", parts="icarus"),
    ),
    "mutate": Target(
        PROOF,
        'how many planted faults are found, resumable [UNITS="fp_add" COUNT= SEED="1 2" WORKERS=]',
        "UNITS COUNT SEED WORKERS",
        mutate,
    ),
    "mutation": Target(
        PROOF,
        "docs/mutation.md from what `make mutate` left in build/",
        "",
        programs(f"{_E}mutate.document"),
    ),
    "debug": Target(
        PROOF,
        "BENCH= CONFIG= SIM= SEED= TEST=, from the report: a red test again, its waveform",
        "BENCH CONFIG SIM SEED TEST",
        debug,
    ),
    "faults": Target(
        PROOF,
        'flipped bits in the tops\' registers, resumable [UNITS="step_engine" COUNT= SEED= AT=]',
        "UNITS COUNT SEED WORKERS AT WAVES",
        programs(f"{_E}faults.run", parts="verilator"),
    ),
    "fuzz": Target(
        PROOF,
        'random accesses of the tops\' registers [UNITS="step_engine" COUNT=1000000 SEED=1 WAVES=]',
        "UNITS COUNT SEED WAVES",
        programs(f"{_E}fuzz.run", parts="verilator"),
    ),
    "faults-results": Target(
        PROOF,
        "docs/faults.md from what `make faults fuzz` left in build/",
        "",
        programs(f"{_E}faults.document"),
    ),
    "waves": Target(
        PROOF,
        "BENCH=<bench> [CONFIG= FILE=]: open its last waveform with the bench's layout",
        "BENCH CONFIG FILE",
        waves,
    ),
    "bench": Target(
        PROOF,
        "speeds, cycles of step engine and array, native kernels, waiting, planning [ONLY=native]",
        "ONLY",
        bench,
    ),
    "native-results": Target(
        PROOF,
        "docs/native_results.md from what `make bench ONLY=native` left in build/",
        "",
        programs(f"{_E}benchmarks.native_document"),
    ),
    "mpc-results": Target(
        PROOF,
        "docs/mpc.md from what `make bench ONLY=mpc`, `hdca mpc` and `hdca robot` left in build/",
        "",
        programs(f"{_E}benchmarks.mpc_document"),
    ),
    "array-results": Target(
        PROOF,
        "docs/array_results.md from what `make bench ONLY=array` left in build/",
        "",
        programs(f"{_E}benchmarks.array_document"),
    ),
    "sincos": Target(
        PROOF,
        "worst errors of sine and cosine over every binary32 angle, about a minute",
        "",
        programs("pymodel.arith.sincos_error"),
    ),
    "longrun": Target(
        PROOF,
        "100 s of the four-bar as it is, re-based and projected, into build/longrun",
        "",
        programs(f"{_E}benchmarks.longrun"),
    ),
    "results": Target(
        PROOF,
        "docs/results.md from what `make test bench longrun WHOLE=1` left in build/",
        "",
        programs(f"{_E}results.document"),
    ),
    "reference": Target(
        PROOF,
        "docs/scenario.md and docs/commands.md, the references of files and commands",
        "",
        programs(f"{_E}scenario_reference", "scripts.dev.commands_page"),
    ),
    "gallery": Target(
        PROOF,
        "docs/gallery.md, all shipped scenarios in motion, half a minute",
        "",
        programs(f"{_E}gallery"),
    ),
    "study": Target(
        PROOF,
        "docs/study.md: HDCA against DCA (Chadaj and others, 2017) [ONLY=runs|depth|thin|amounts]",
        "ONLY",
        programs(f"{_E}study.command"),
    ),
    "robots-tables": Target(
        PROOF,
        "docs/robots_results.md: errors, cycles, times; after make closed-loop TARGET=engine",
        "",
        programs(f"{_E}robots.measure", f"{_E}robots.document"),
    ),
    "synth": Target(
        PROOF,
        'area and clock of hardware [UNITS="fp_add step_engine:2+2" FAMILY=ecp5 SEEDS=3]',
        "UNITS FAMILY SEEDS",
        programs(f"{_E}cost.synth", set_up="synth"),
    ),
    "bitstream": Target(
        PROOF,
        "build/bitstream/<board>/top.bit, with a report [BOARD=ulx3s TOP=array CLOCK=85 CHECK=1]",
        "BOARD TOP LANES ARITH CONTEXTS DATAPATHS CLOCK SEEDS CHECK",
        programs(f"{_E}bitstream", set_up="synth"),
    ),
    "board-sim": Target(
        PROOF,
        "a host's program over a pty, a board's simulated pins behind it [TOP=array HOST=c STEPS=]",
        "SIM TOP STEPS HOST ROWS FUNCTION",
        board_sim,
    ),
    "litex-sim": Target(
        PROOF,
        "the step engine on the bus of a LiteX SoC, driven by its processor [STEPS= BUS=axi-lite]",
        "STEPS BUS",
        programs(f"{_E}litex_sim", set_up="litex verilator"),
    ),
    "gate-level": Target(
        PROOF,
        "proofs and benches of the netlist of ECP5 cells [ONLY=proofs|engine|pendulum|board]",
        "ONLY BOARD CONFIG",
        gate_level,
    ),
    "families": Target(
        PROOF,
        "the step engine through Yosys for eight families, xilinx to polarfire [FAMILY=ice40]",
        "FAMILY",
        programs(f"{_E}families", set_up="synth"),
    ),
    "cost": Target(
        PROOF,
        "docs/hardware_cost.md from what `make synth` left in build/, errors by format",
        "",
        programs(f"{_E}cost.pareto", f"{_E}cost.formats", f"{_E}cost.document"),
    ),
    "formal": Target(
        PROOF,
        'proofs about the RTL, into build/formal [UNITS="fp_add" FAST=1: as CI; PLANT=1: bugs]',
        "UNITS FAST PLANT",
        programs(f"{_E}formal.command", set_up="formal"),
    ),
    "formal-results": Target(
        PROOF,
        "docs/formal.md from what `make formal` left in build/",
        "",
        programs(f"{_E}formal.document"),
    ),
    "lint": Target(
        PROOF,
        "Verilator -Wall and verible over the RTL, ruff and mypy over the Python",
        "",
        programs("scripts.dev.lint", parts="verilator"),
    ),
    "docs": Target(
        PROOF,
        "build/site, the pages of docs/ with search and an API reference; links are checked",
        "",
        docs,
    ),
    "manifests": Target(
        PROOF,
        "hdca.core (FuseSoC), Bender.yml, rtl/hdca.f, IP-XACT, vivado.tcl, from rtl/rtl.f",
        "",
        programs("scripts.dev.manifests"),
    ),
    "report": Target(
        PROOF,
        "build/report/index.html from the results at hand",
        "",
        programs("scripts.dev.report.command"),
    ),
    "setup": Target(
        HOUSE,
        "Python packages and simulators (done by the others when needed) [SIM=]",
        "SIM",
        setup,
    ),
    "venv": Target(HOUSE, "Python packages alone", "", lambda given: 0),
    "doctor": Target(HOUSE, "what is installed, what is missing, how to get it", "", doctor),
    "clean": Target(HOUSE, "remove build/", "", clean),
    "distclean": Target(HOUSE, "remove .venv and .tools too", "", distclean),
    "help": Target(HOUSE, "this text", "", show_help),
}


def benches() -> list[str]:
    """All benches, by their folders."""
    return sorted(Path(path).parent.name for path in glob.glob("tb/*/Makefile"))


def target_named(name: str) -> Target:
    """A target, or a bench; refuses what is neither."""
    if name in TARGETS:
        return TARGETS[name]
    if name in benches():
        return of_bench(name)
    raise RefusedError(f"{name}: no such target; `make help` lists them")


def given_to(goal: str, goals: Sequence[str], names: Sequence[str]) -> Variables:
    """The variables for a target, of the command line and of the environment.

    Raises
    ------
    RefusedError
        If a variable of the command line is for none of the targets that were asked for.
    """
    takes = {name: variables_of(target_named(name)) for name in goals}
    every = list(dict.fromkeys(name for each in takes.values() for name in each))
    for name in names:
        if name not in (*every, *ALWAYS) and not name.startswith(ALWAYS_IN):
            known = " ".join(every) or "no variables"
            raise RefusedError(f"{name}={os.environ[name]}: make {' '.join(goals)} takes {known}")
    found = {name: os.environ[name] for name in takes[goal] if os.environ.get(name)}
    for name, value in found.items():
        if name in SWITCHES and value not in ("0", "1"):
            raise RefusedError(f"{name}={value}: must be 0 or 1")
    return found


def main() -> int:
    """Run the target that make names, and return its exit status."""
    os.chdir(ROOT)
    goal, goals = os.environ["MAKE_GOAL"], os.environ["MAKE_GOALS"].split()
    names = os.environ["MAKE_GIVEN"].split()
    try:
        given = given_to(goal, goals, names)
        for name in ("MAKE_GOAL", "MAKE_GOALS", "MAKE_GIVEN"):
            del os.environ[name]
        return target_named(goal).run(given)
    except RefusedError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # nobody reads
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


if __name__ == "__main__":
    sys.exit(main())
