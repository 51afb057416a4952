"""Benches on a netlist, and proofs: a right one is green, one with a planted bug is red."""

import dataclasses
import json

import pytest

from pymodel.hardware.results import LEFT_OUT
from pymodel.hardware.rtl_files import needed
from pymodel.hardware.simulators import usable
from scripts.evidence import gate_proofs, gates, netlists
from scripts.kernel.places import ROOT
from scripts.kernel.tools import BIN, YOSYS
from tb.fp_mul.bench import BENCH as MULTIPLIER

pytestmark = [
    pytest.mark.skipif(not (BIN / YOSYS).exists(), reason="no Yosys (make bitstream installs it)"),
    pytest.mark.skipif(not usable("icarus"), reason="no Icarus"),
    pytest.mark.rtl_of("axil_slave", "fp_mul", "step_engine"),
]
#: Multipliers of half floats with 0 to 6 stages, side by side.
LANES = {"UNIT": 1, "MAX_STAGES": 6, "EXP_W": 5, "MAN_W": 10, "LANES": 7, "STEPS": 1}
STAGES = "REG_INPUTA_CLK", "REG_INPUTB_CLK", "REG_PIPELINE_CLK", "REG_OUTPUT_CLK"


@pytest.fixture(scope="module")
def lanes():
    """The netlist of LANES."""
    return netlists.synthesised(
        needed("fp_lanes", MULTIPLIER.device.sources), LANES | {"DSP_W": 18}
    )


def run(netlist, place, testcase="many_operands"):
    """The multiplier's bench on a netlist."""
    sources = [path for path in netlist.sources() if path.suffix != ".vlt"]
    more = {"settings": {"vectors": 1000}, "place": f"-{place}", "testcase": testcase}
    return MULTIPLIER.on_netlist(sources).run("icarus", "half", params=LANES, **more)


def planted(netlist, place, change):
    """A netlist with some change to its cells."""
    design = json.loads((ROOT / netlist.file).read_text())
    change(design["modules"][netlist.top]["cells"])
    file = netlists.OUT / f"{netlist.file.stem}-{place}.json"
    (ROOT / file).write_text(json.dumps(design))
    return dataclasses.replace(netlist, file=file)


def cells_of(netlist):
    """The cells of a netlist."""
    return json.loads((ROOT / netlist.file).read_text())["modules"][netlist.top]["cells"].values()


def test_the_netlist_does_what_the_rtl_does(lanes):
    registers = [[cell["parameters"].get(name) for name in STAGES] for cell in cells_of(lanes)]
    assert ["CLK0", "CLK0", None, None] in registers, "no register was moved into a multiplier"
    row = run(lanes, "gates")
    assert row["result"] == "pass", row["message"]
    assert row["transactions"] > 1000


def another_table(cells):
    """The inverse of a LUT's table."""
    values = next(cell for cell in cells.values() if cell["type"] == "LUT4")["parameters"]
    values["INIT"] = values["INIT"].translate(str.maketrans("01", "10"))


def no_register(cells):
    """A multiplier without the registers at its inputs."""
    found = next(cell for cell in cells.values() if cell["parameters"].get("REG_INPUTA_CLK"))
    found["parameters"] |= dict.fromkeys(STAGES[:2], "NONE")


def one_more_register(cells):
    """A multiplier with registers at its outputs, too."""
    found = next(cell for cell in cells.values() if cell["parameters"].get("REG_INPUTA_CLK"))
    found["parameters"]["REG_OUTPUT_CLK"] = "CLK0"


def swapped_pins(cells):
    """Two bits of a factor the wrong way round."""
    pins = next(cell for cell in cells.values() if cell["type"] == "MULT18X18D")["connections"]
    pins["A0"], pins["A1"] = pins["A1"], pins["A0"]


def stuck(cells):
    """A flip-flop that takes a constant."""
    found = next(cell for cell in cells.values() if cell["type"] == "TRELLIS_FF")
    found["connections"]["DI"] = ["1"]


BUGS = [another_table, no_register, one_more_register, swapped_pins, stuck]


@pytest.mark.nightly("another_table")
@pytest.mark.parametrize("change", BUGS, ids=lambda change: change.__name__)
def test_a_wrong_netlist_is_found(lanes, change):
    row = run(planted(lanes, change.__name__, change), change.__name__)
    assert row["result"] == "fail"
    assert "differs" in row["message"]


@pytest.fixture(scope="module")
def multiplier():
    """A multiplier of a small format that has registers moved into its MULT18X18D."""
    (case,) = [one for one in gate_proofs.CASES if one.name == "fp_mul EXP_W=4 MAN_W=4 STAGES=6"]
    return case, case.netlist()


def test_a_netlist_is_proved_equal(multiplier):
    case, netlist = multiplier
    assert any(cell["parameters"].get("REG_INPUTA_CLK") for cell in cells_of(netlist))
    found = gate_proofs.prove(case, netlist)
    assert found.proved, found.text


@pytest.mark.nightly("no_register")
@pytest.mark.parametrize("change", BUGS, ids=lambda change: change.__name__)
def test_a_wrong_netlist_is_not_proved(multiplier, change):
    case, netlist = multiplier
    found = gate_proofs.prove(case, planted(netlist, change.__name__, change))
    assert (found.proved, found.text) == (False, "outputs differ")


@pytest.mark.nightly
def test_a_wrong_state_machine_is_not_proved():
    case = gate_proofs.Case("axil_slave")
    found = gate_proofs.prove(case, planted(case.netlist(), "bug", another_table))
    assert not found.proved
    assert found.text.startswith("not proved: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "array"], "ONLY=array: must be proofs, engine, pendulum or board"),
        (["--config", "leats-half"], "must be default, least-half"),
        (["--board", "ulx3"], "did you mean ulx3s"),
        (["--only", "board"], "top.json is missing: run make bitstream BOARD=ulx3s"),
    ],
)
def test_bad_input_is_one_line(arguments, said, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gates, "ROOT", tmp_path)
    assert gates.main(arguments) == gates.BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.nightly
@pytest.mark.skipif(not usable("verilator"), reason="no Verilator")
def test_an_engine_on_its_netlist(capsys):
    """The smallest engine under its bench, but for the tests that look inside."""
    assert gates.main(["--only", "engine", "--config", "least-half"]) == gates.DONE
    said = capsys.readouterr().out
    assert "ok   engine: " in said
    assert f"not run: full_traces, eager_reads ({LEFT_OUT})" in said


@pytest.mark.nightly
@pytest.mark.skipif(not usable("verilator"), reason="no Verilator")
def test_an_engine_with_a_bug_in_its_netlist_is_found(monkeypatch, capsys):
    netlist = gates.of_engine("least-half")
    wrong = planted(netlist, "bug", another_table)
    monkeypatch.setattr(gates, "of_engine", lambda config: wrong)
    assert gates.main(["--only", "engine", "--config", "least-half"]) == gates.DIFFERS
    assert "FAIL engine" in capsys.readouterr().out
