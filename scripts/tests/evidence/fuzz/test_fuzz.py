"""The bus fuzzer: input refused, a top like its model, and a top that is not."""

import dataclasses
import json
from pathlib import Path

import pytest

from pymodel.machine import registers
from pymodel.machine.registers import COPROCESSOR, MAPS, Home
from scripts.dev.waves.failure import PS, failure_group, window
from scripts.dev.waves.viewer import write
from scripts.dev.waves.waveform import Waveform
from scripts.evidence.fuzz import run
from scripts.evidence.fuzz.units import UNITS
from scripts.kernel.measured_rtl import rtl_digest
from scripts.kernel.places import BUILD, ROOT
from scripts.tests.dev.waves.values import Values
from tb.fuzz import model as models
from tb.ldup_coprocessor.bench import BENCH

FORMAT = {"EXP_W": 5, "MAN_W": 10}
STAGES = {"ADD_STAGES": 0, "MUL_STAGES": 0, "REC_STAGES": 0}
SMALL = dataclasses.replace(
    UNITS["ldup_coprocessor"], params={"N": 2, "PARALLEL": 0} | FORMAT | STAGES
)
WAVES = BUILD / "waves" / run.BENCH
FILE = "rtl/axil/axil_slave.sv"
RIGHT, WRONG = "write_strb_q <= s_axil_wstrb;", "write_strb_q <= '1;"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["step"], "fuzz: no unit step; units: hdca_coprocessor, ldup_coprocessor,"),
        (["--count", "0"], "fuzz: COUNT=0: must be a whole number, 1 to 1000000000\n"),
        (["--count", "x"], "fuzz: COUNT=x: must be a whole number, 1 to 1000000000\n"),
        (["--seed", "0"], "fuzz: SEED=0: must be a whole number, 1 to 2147483647\n"),
    ],
)
def test_bad_input_is_refused_in_one_line(words, said, capsys):
    assert run.main(words) == 2
    out, err = capsys.readouterr()
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert not out


def test_without_verilator_it_is_refused_in_one_line(no_simulator, capsys):
    assert run.main(["ldup_coprocessor", "--count", "5"]) == 2
    said = "fuzz: Verilator is not installed, or too old: `make doctor` says how to get it\n"
    assert capsys.readouterr().err == said


def test_a_top_that_differs_has_no_row(tmp_path, monkeypatch, capsys):
    file = tmp_path / "summary.json"
    file.write_text(json.dumps([{"unit": name} for name in UNITS]))

    def differs(*_):
        raise run.MismatchError("it differs")

    monkeypatch.setattr(run, "SUMMARY", dataclasses.replace(run.SUMMARY, file=file))
    monkeypatch.setattr(run, "fuzz", differs)
    assert run.main(["step_engine"]) == 1
    assert "it differs" in capsys.readouterr().out
    assert {row["unit"] for row in json.loads(file.read_text())} == UNITS.keys() - {"step_engine"}


@pytest.mark.rtl_of()
def test_every_top_with_registers_is_fuzzed():
    assert {map_.name for map_ in MAPS} - {COPROCESSOR.name} == UNITS.keys()


#: What stands in a memory that nothing resets.
IN_MEMORY = {"FILE_DATA", "TRACE_ENTRY"}


@pytest.mark.rtl_of()
@pytest.mark.parametrize("name", UNITS)
def test_the_model_knows_every_register(name):
    """What each reads as after a reset, but of those that it says why not."""
    unit = UNITS[name]
    model = getattr(models, unit.model)(unit.params)
    unknown = {
        register.name
        for cycle, (address, (register, _)) in enumerate(model.at.items())
        if model.read(cycle, address)[1] is None
    }
    assert unknown - IN_MEMORY <= models.CONSTANTS.keys()


@pytest.mark.rtl_of()
def test_the_model_knows_what_was_written_to_a_memory():
    """A register of the step engine's file: another one stays unknown."""
    unit = UNITS["step_engine"]
    model = getattr(models, unit.model)(unit.params)
    address, data = (model.map[name].offset for name in ("FILE_ADDRESS", "FILE_DATA"))
    for cycle, (at, word) in enumerate([(address, 1), (data, 0x1234_5678), (address, 1)]):
        assert model.write(cycle, at, word, 0b1111)
    assert model.read(3, data) == (True, (0x1234_5678,))
    assert model.read(4, data) == (True, None)


@pytest.mark.rtl_of()
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("home", [Home.GIVEN, Home.CONTROL], ids=lambda home: home.name)
def test_a_register_that_the_model_does_not_know_is_an_error(name, home):
    """It is not taken for one that may be anything."""
    unit = UNITS[name]
    model = getattr(models, unit.model)(unit.params)
    new = dataclasses.replace(registers.given("RUNS", 0xFFC, "runs"), home=home)
    model.at[new.offset] = new, 0
    with pytest.raises(KeyError, match=f"RUNS of {name}: .* does not say what it reads as"):
        model.read(0, new.offset)


# HDCA has the bus and the control of LDUP, and takes longest to build.
TOPS = {name: unit for name, unit in UNITS.items() if name != "hdca_coprocessor"}
TOPS |= {SMALL.name: SMALL}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.rtl_of(TOPS[name].name)) for name in TOPS]
)
@pytest.mark.nightly("ldup_coprocessor", "step_array")
def test_a_top_is_its_model(name):
    row = run.fuzz(TOPS[name], 20_000, seed=2)
    assert row["reads"] + row["writes"] >= 20_000
    assert row["rtl"] == rtl_digest(TOPS[name].name)
    seldom = ["packets discarded"] if name == "step_array" else []
    for what in ("resets", "looks", "runs", "runs ended", "runs refused", "interrupts", *seldom):
        assert row[what], f"no {what}"


def planted(folder, file, right, wrong):
    """The RTL's files with another text in one of them."""
    text = (ROOT / file).read_text()
    assert text.count(right) == 1
    other = folder / Path(file).name
    other.write_text(text.replace(right, wrong))
    return tuple(other if path == ROOT / file else path for path in BENCH.device.sources)


CONTROL = "rtl/axil/coprocessor_control.sv"
BOUNDS = [
    (
        "step_array",
        "rtl/top/step_array.sv",
        "function_last < DATA_W'(segments_q)",
        "function_last <= DATA_W'(segments_q)",
    ),
    (
        "step_array",
        "rtl/top/step_array.sv",
        "discarding_q) && in_packet_d",
        "discarding_q) && in_packet_q",
    ),
    (
        "step_engine",
        "rtl/top/step_engine.sv",
        "fits({1'b0, trace_start} + {1'b0, trace_before},",
        "fits({1'b0, trace_start + trace_before},",
    ),
    ("step_engine", CONTROL, "assign irq_o = irq_q;", "assign irq_o = irq_q && !busy_i;"),
]


@pytest.mark.parametrize(
    ("name", "file", "right", "wrong"),
    [
        pytest.param(*case, marks=pytest.mark.rtl_of(case[0]), id=f"{case[0]}-{k}")
        for k, case in enumerate(BOUNDS)
    ],
)
@pytest.mark.nightly("step_engine-2")
def test_what_is_wrong_at_a_bound_is_found(tmp_path, name, file, right, wrong):
    """One number too many, a beat less, a carry that is lost, an interrupt that is late."""
    sources = planted(tmp_path, file, right, wrong)
    with pytest.raises(run.MismatchError, match=f"{name}: .* differs at "):
        run.fuzz(UNITS[name], 60_000, seed=1, sources=sources)


@pytest.mark.rtl_of("ldup_coprocessor")
@pytest.mark.nightly
def test_strobes_that_are_ignored_are_found(tmp_path, capsys):
    sources = planted(tmp_path, FILE, RIGHT, WRONG)
    with pytest.raises(run.MismatchError) as found:
        run.fuzz(SMALL, 20_000, seed=1, sources=sources, waves=True)
    said = str(found.value)
    assert "ldup_coprocessor: read of 0x" in said and "differs at " in said
    assert "got       0x" in said and "expected  0x" in said
    assert "rerun     make fuzz UNITS=ldup_coprocessor COUNT=" in said
    wave = Waveform.read(WAVES / "ldup_coprocessor-verilator-fuzz.fst")
    failure = wave.about["failure"]
    assert f"differs at {failure['ns']} ns\n  got       {failure['got']}\n" in said
    assert window(wave)[1] == failure["ns"] * PS
    write(wave, SMALL.name)
    assert "not in this waveform" not in capsys.readouterr().out
    clock, rdata = failure_group(wave)[0].lines
    values = Values(wave.path)
    edge = failure["ns"] * PS
    assert edge in values.times(clock.signal.path) and not values.at(clock.signal.path, edge)
    assert f"{values.at(rdata.signal.path, edge):#010x}" == failure["got"]
