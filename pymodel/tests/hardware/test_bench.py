"""A test of a bench: its random numbers are those of the run's seed, and it has an end."""

import asyncio
import contextlib
import itertools

import pytest

from pymodel.hardware import bench as benches
from pymodel.hardware import simulation
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.results import LEFT_OUT, read_notes
from pymodel.hardware.waiting import HangError

pytestmark = pytest.mark.rtl_of()

CONFIG = "only"


@pytest.fixture
def run_in_simulator(monkeypatch, sim_time, tmp_path):
    """Run a test's body as a simulator would."""
    monkeypatch.setattr(benches.cocotb, "test", lambda: lambda body: body)
    monkeypatch.setattr(benches, "get_sim_time", lambda unit: sim_time[0])
    monkeypatch.setattr(benches.Pulse, "start", lambda pulse: None)

    def run(body, seed=1, inside=False, netlist=False):
        bench = Bench("tb/fp_add/bench.py", "fp_lanes", [Config(CONFIG, {})])
        bench = bench.on_netlist([]) if netlist else bench
        bench._told = bench.task(CONFIG, "icarus", seed, notes=str(tmp_path / "notes.jsonl"))
        asyncio.run(bench.test(timeout_us=3, inside=inside)(body)(None))

    return run


async def at_once(cycles, awaitable, what):
    return await awaitable


def test_the_seed_of_the_run_reaches_the_stimulus(run_in_simulator, monkeypatch):
    """And the name of the test: a test run alone sees the same."""
    drawn = []

    async def first(dut, board):
        drawn.append(int(board.rng.integers(1 << 62)))
        board.compare("y_o", 1, 1)

    async def second(dut, board):
        await first(dut, board)

    monkeypatch.setattr(benches, "within", at_once)
    for seed, body in ((1, first), (1, first), (2, first), (1, second)):
        run_in_simulator(body, seed)
    assert drawn[0] == drawn[1] and len(set(drawn)) == 3


def test_the_seed_of_the_run_reaches_the_simulator(monkeypatch, tmp_path):
    """It draws the start values of registers."""
    seeds = []

    class Simulator:
        def __init__(self, *_, seed, **options):
            seeds.append(seed)

        def run(self):
            raise SystemExit(1)

    monkeypatch.setattr(simulation, "require_usable", lambda name: None)
    monkeypatch.setattr(simulation, "make_simulator", Simulator)
    monkeypatch.setattr(simulation, "build_folder", lambda *_: tmp_path / "build")
    bench = Bench("tb/fp_add/bench.py", "fp_lanes", [Config(CONFIG, {})])
    monkeypatch.setattr(type(bench.device), "simulated", lambda *_: ("fp_lanes", ()))
    for seed in (3, 4):
        assert bench.run("icarus", CONFIG, seed)["result"] == "fail"
    assert seeds == [3, 4]


def test_a_test_that_never_ends_has_an_end(run_in_simulator, monkeypatch):
    """After its cycles it hangs, and is red."""
    told = []

    async def too_late(cycles, awaitable, what):
        awaitable.close()
        told.append(cycles)
        raise HangError(what(), cycles)

    async def body(dut, board):
        board.compare("y_o", 1, 1)

    monkeypatch.setattr(benches, "within", too_late)
    with pytest.raises(AssertionError, match="after 300 cycles: the end of the test"):
        run_in_simulator(body)
    assert told == [3 * benches.CYCLES_PER_US]


@pytest.mark.parametrize("passes", [True, False])
def test_bins_count_only_if_the_test_passes(run_in_simulator, monkeypatch, tmp_path, passes):
    """What a red test has told of may not have been compared."""

    async def body(dut, board):
        board.cover("unit", "point", [(1,)])
        board.compare("y_o", 1, 1)
        board.compare("y_o", int(passes), 1)

    monkeypatch.setattr(benches, "within", at_once)
    with contextlib.nullcontext() if passes else pytest.raises(AssertionError, match="y_o"):
        run_in_simulator(body)
    assert (tmp_path / simulation.COVERAGE).exists() == passes


def test_a_whole_configuration_replaces_what_it_had_met(monkeypatch, tmp_path):
    """Also with nothing, as where it no longer builds; a part leaves it."""
    monkeypatch.setattr(benches, "COVERED", tmp_path / "met")
    monkeypatch.setattr(benches, "simulate", lambda *_: ([], "does not build", ""))
    bench = Bench("tb/fp_add/bench.py", "fp_lanes", [Config(CONFIG, {})])
    kept = tmp_path / "met" / f"fp_add-{CONFIG}-icarus.jsonl"
    kept.parent.mkdir()
    kept.write_text("[]\n")
    bench.run("icarus", CONFIG, 1, results=tmp_path, part=True)
    assert kept.exists()
    bench.run("icarus", CONFIG, 1, results=tmp_path)
    assert not kept.exists()


@pytest.mark.parametrize(("inside", "netlist"), [*itertools.product((False, True), repeat=2)])
def test_what_looks_inside_is_left_out_on_a_netlist(
    run_in_simulator, monkeypatch, tmp_path, inside, netlist
):
    """On RTL it runs, as does on both what does not look inside."""

    async def body(dut, board):
        board.compare("y_o", 1, 1)

    monkeypatch.setattr(benches, "within", at_once)
    left_out = inside and netlist
    with pytest.raises(pytest.skip.Exception) if left_out else contextlib.nullcontext():
        run_in_simulator(body, inside=inside, netlist=netlist)
    note = read_notes(tmp_path / "notes.jsonl")["body"]
    found = note["message"], note["transactions"]
    assert found == ((LEFT_OUT, 0) if left_out else ("", 1))


def test_a_test_that_checks_nothing_is_red(run_in_simulator, monkeypatch):
    async def body(dut, board):
        pass

    monkeypatch.setattr(benches, "within", at_once)
    with pytest.raises(AssertionError, match="no transaction was checked"):
        run_in_simulator(body)
