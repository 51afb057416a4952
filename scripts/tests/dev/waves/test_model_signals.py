"""The model's values in a waveform: beside the RTL's, at the same times, up to the mismatch."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pymodel.hardware import times
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.model_signals import ModelSignals, outputs_of, signal_name, with_model
from pymodel.tests.hardware.planted import planted
from scripts.dev.waves.failure import failure_group, window
from scripts.dev.waves.gtkwave import gtkwave_save
from scripts.dev.waves.lines import arrange
from scripts.dev.waves.surfer import surfer_commands
from scripts.dev.waves.waveform import Waveform
from scripts.kernel.places import BUILD, ROOT
from scripts.tests.dev.waves.made import scope, variable
from scripts.tests.dev.waves.values import Values
from tb.cosim_step.bench import BENCH as COSIM_STEP
from tb.cosim_step.bench import SHORT
from tb.fp_add.bench import BENCH as FP_ADD
from tb.inv_ldup.bench import BENCH as INV_LDUP
from tb.ldup_coprocessor.bench import BENCH as LDUP
from tb.step_array.bench import BENCH as STEP_ARRAY

PS = 1000  # in a nanosecond
LIMIT_S = 60  # of a simulation that takes a few seconds
LEAST_CHANGES = 20  # of an output
LEAST_STORES = 20  # before a mismatch, for the comparison to mean something
DATAPATH, ADDER = "rtl/step/step_datapath.sv", "rtl/fp/fp_add.sv"
BANK = "u_datapath.gen_bank[1].u_bank"
#: What bank 1 is offered does not reach the second of its read ports.
NO_FORWARDING = {
    "    localparam int SECOND_AT": (
        "    localparam bit FORWARDS = bank != 1;\n    localparam int SECOND_AT"
    ),
    "{word_i[SECOND_AT+ADDRESS_W],": "{word_i[SECOND_AT+ADDRESS_W] && FORWARDS,",
}
ROUNDING = {"sticky || mantissa[0]};": "1'b1};"}


def red(bench, folder, test, config, file, changes, simulator="icarus", **options):
    """The message of a test that a bug makes fail, and its waveform."""
    options |= {"place": "-model", "testcase": test, "waves": True}
    row = planted(bench, folder, file, changes).run(simulator, config, **options)
    assert row["result"] == "fail"
    for ending in ("fst", "json"):
        name = f"{config}-{simulator}-{test}.{ending}"
        shutil.move(BUILD / "waves" / bench.name / name, folder / name)
    return row["message"], Waveform.read(folder / f"{config}-{simulator}-{test}.fst")


#: What is run, and what is wrong with it: bench, test, configuration, file, changes, options.
RUNS = {
    "step_engine": (
        *(COSIM_STEP, "co_simulation", "short", DATAPATH, NO_FORWARDING),
        {"settings": {"runs": SHORT[:1]}},
    ),
    "step_array": (STEP_ARRAY, "random_tables", "least-half", ADDER, ROUNDING, {}),
}


@pytest.mark.nightly("step_array")
@pytest.mark.parametrize("run", [pytest.param(top, marks=pytest.mark.rtl_of(top)) for top in RUNS])
def test_a_red_run(tmp_path, run):
    """Every store of every bank is the model's up to the mismatch, which is where the marker is."""
    bench, test, config, file, changes, options = RUNS[run]
    message, wave = red(bench, tmp_path, test, config, file, changes, **options)
    failure, values = wave.about["failure"], Values(wave.path)
    failed = round(failure["ns"] * PS)
    assert f"{failure['signal']} differs at {times.text(failure['ns'])}" in message
    assert window(wave)[1] == failed
    assert f" {failed} {failed} -1" in gtkwave_save([], wave)
    assert f"marker_set failure {failed}\n" in surfer_commands([], wave)

    clock, half = f"{wave.top}.clk_i", PERIOD_NS * PS // 2
    edges = [time for time in values.times(clock) if values.at(clock, time) == 1]
    shown = {path: wave.modelled(path) for path in wave.about["model"] if "write_" in path}
    memories = {path.rpartition(".")[0] for path in shown}
    params = bench.config_named(config).params
    assert sum("gen_bank" in path for path in memories) == banks_of(params)
    for said, _ in shown.values():  # they change with the RTL, at rising edges
        assert set(values.times(said)) <= {0, *edges}
    first = min(time for said, _ in shown.values() for time in values.times(said) if time)
    stores, differences = 0, []
    for edge in (edge for edge in edges if first <= edge <= failed):
        for memory in memories:
            stored = values.at(shown[f"{memory}.write_i"][0], edge)
            stores += stored
            ports = ("write_i", "write_address_i", "write_data_i") if stored else ("write_i",)
            for path in (f"{memory}.{port}" for port in ports):
                said, differs = shown[path]
                got, want = (values.at(x, edge) for x in (f"{wave.top}.{path}", said))
                assert values.at(differs, edge) == (got != want), (path, edge, got, want)
                if got != want:
                    differences.append((path, edge + half, f"{got:#x}", f"{want:#x}"))
    said = (failure[key].split()[0] for key in ("got", "expected"))
    assert differences == [(failure["signal"], failed, *said)]
    assert stores > LEAST_STORES

    (group,) = failure_group(wave)
    assert [line.name for line in group.lines] == [
        *("clk_i", "write_address_i", "model", "write_i", "model"),
        *("write_data_i", "model", "differs"),
    ]
    assert [line.radix for line in group.lines[-3:]] == ["float", "float", "auto"]


def banks_of(params):
    """Lanes of the adders and multipliers have one each; reciprocal, sine and cosine two."""
    return params["NUM_ADD"] + params["NUM_MUL"] + 2


@pytest.mark.rtl_of("step_engine")
@pytest.mark.nightly
def test_what_follows_a_wrong_store_runs(tmp_path):
    """The watched run is cut short; the scenarios behind it find the engine ready."""
    broken = planted(COSIM_STEP, tmp_path, DATAPATH, NO_FORWARDING)
    broken.device = replace(broken.device, wall_limit_s=LIMIT_S)
    row = broken.run("icarus", "short", testcase="variations", place="-follows")
    (test,) = row["tests"]
    assert row["result"] == "fail" and "write_data_i differs at" in test["message"]


@pytest.mark.rtl_of("fp_add", "fp_mul", "fp_recip", "fp_sincos")
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.nightly("icarus")
def test_a_red_unit(tmp_path, simulator):
    """Of a vector of lanes the one that differs is shown, with the model's below it."""
    _, wave = red(FP_ADD, tmp_path, "corners", "e5m2", ADDER, ROUNDING, simulator)
    failure, values = wave.about["failure"], Values(wave.path)
    (group,) = failure_group(wave)
    clock, rtl, model, differs = group.lines
    assert (clock.name, model.name, differs.name) == ("clk_i", "model", "differs")
    assert rtl.name == failure["signal"] and rtl.name.startswith("y_o[")
    failed = round(failure["ns"] * PS)

    def word(line, time):
        return values.at(line.signal.path, time) >> line.low & (1 << line.width) - 1

    assert f"{word(rtl, failed):#x}" == failure["got"].split()[0]
    assert f"{word(model, failed):#x}" == failure["expected"].split()[0]
    assert (word(differs, failed - 1), word(differs, failed)) == (0, 1)
    begin = min(values.times(model.signal.path)[1:])
    last = failed - PERIOD_NS * PS  # what is wrong shows up to a clock before it is compared
    before = [time for time in values.times(rtl.signal.path) if begin <= time < last]
    assert len(before) > LEAST_CHANGES  # at all times, not only where they are compared
    pairs = [(x, word(rtl, x), word(model, x)) for x in before]
    assert [pair for pair in pairs if pair[1] != pair[2]] == []
    said = [time for time in values.times(model.signal.path) if begin < time < last]
    assert set(said) <= set(before)


@pytest.mark.rtl_of("ldup_engine")
def test_the_results_of_an_engine_stand_where_they_are_the_models(tmp_path):
    """From the clock edge that ends a run, not from where the bench compares them."""
    options = {"place": "-model", "testcase": "random_matrices", "waves": True}
    row = INV_LDUP.run("icarus", "serial-4", **options)
    assert row["result"] == "pass"
    for ending in ("fst", "json"):
        name = f"serial-4-icarus-random_matrices.{ending}"
        shutil.move(BUILD / "waves" / INV_LDUP.name / name, tmp_path / name)
    wave = Waveform.read(tmp_path / "serial-4-icarus-random_matrices.fst")
    values, (said, _) = Values(wave.path), wave.modelled("y_o")
    rtl, done = f"{wave.top}.y_o", f"{wave.top}.done_o"
    changes = [time for time in values.times(said) if time]
    assert len(changes) > LEAST_CHANGES
    ends = {time for time in values.times(done) if time and not values.at(done, time)}
    assert set(changes) <= ends
    assert all(values.at(rtl, time) == values.at(said, time) for time in changes)


def test_the_text_of_the_scope():
    text = (ROOT / "tb/common/fp_lanes.sv").read_text()
    assert list(outputs_of(text)) == ["y_o", "z_o", "flags_o"]
    streams = outputs_of((ROOT / "rtl/top/step_array.sv").read_text())
    assert "m_axis_tdata" in streams and not any("axil" in name for name in streams)
    more = with_model(text, {"y_o": "[LANES-1:0][W-1:0]"}, {f"{BANK}.write_data_i": 16})
    added = [line.strip() for line in more.splitlines() if line not in text.splitlines()]
    public = "/* verilator public_flat_rw */ = '0;"
    name = "u_datapath_gen_bank_1_u_bank_write_data_i"
    assert added == [
        "if (1) begin : model",
        f"logic [LANES-1:0][W-1:0] y_o {public}",
        f"logic y_o_differs {public}",
        f"logic [15:0] {name} {public}",
        f"logic {name}_differs {public}",
    ]
    assert signal_name(f"{BANK}.write_data_i") == name
    assert with_model(text, {}, {}) == text


class Handle:
    """A signal of a simulation."""

    def __init__(self, width):
        self.width, self.value = width, 0

    def __len__(self):
        return self.width


class Top:
    """A top level with the scope."""

    class model:
        y_o, y_o_differs = Handle(32), Handle(1)


def test_a_mismatch_is_shown_where_the_bench_said_nothing():
    signals = ModelSignals(Top)
    signals.show({"y_o": 0x01020304, "other": 1})
    signals.mismatch("y_o[2] = xi_11[0][0]", 0xFF, 8)
    assert (Top.model.y_o.value, Top.model.y_o_differs.value) == (0x01FF0304, 1)
    signals.mismatch("busy cycles", 7)  # no signal
    signals.show({"y_o": 1 << 32})  # no such value
    assert Top.model.y_o.value == 0x01FF0304 and signals.shown == {"y_o"}
    assert not ModelSignals()
    ModelSignals().mismatch("y_o", 1)
    assert not ModelSignals(SimpleNamespace())


@pytest.mark.rtl_of("ldup_coprocessor")
@pytest.mark.nightly
def test_a_device_with_nothing_but_a_bus_dumps_waves():
    """The model says nothing of its ports."""
    row = LDUP.run("verilator", "serial", testcase="identity", waves=True, place="-of-a-bus")
    assert row["result"] == "pass", row["message"]


def test_a_layout_has_the_model_below_each_signal_that_it_speaks_of(wave):
    hierarchy = scope(
        "top",
        scope("dut", variable("x_i [63:0]", 64), variable("clk_i", 1)),
        scope("model", variable("x_i [63:0]", 64), variable("x_i_differs", 1)),
    )
    entry = {"path": "x_i", "radix": "float", "words": ["v[2]"]}
    layout = {"group": [{"name": "all", "signals": ["clk_i", entry]}]}
    (group,), _ = arrange(layout, wave(8, 23, hierarchy, model=["x_i"]))
    assert [(line.name, line.signal.path, line.low) for line in group.lines] == [
        ("clk_i", "top.dut.clk_i", 0),
        ("v[0]", "top.dut.x_i", 0),
        ("model", "top.model.x_i", 0),
        ("v[1]", "top.dut.x_i", 32),
        ("model", "top.model.x_i", 32),
    ]
    (group,), _ = arrange(layout, wave(8, 23, hierarchy))  # it says nothing
    assert [line.name for line in group.lines] == ["clk_i", "v[0]", "v[1]"]
