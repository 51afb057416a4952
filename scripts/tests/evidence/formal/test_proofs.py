"""The lists of proofs and planted bugs, and what is made of SymbiYosys' output."""

import re
from dataclasses import replace

import pytest
from rich.console import Console

from pymodel.arith.fp import Format
from pymodel.machine.registers import Home
from scripts.evidence.formal import command, document, plants, sby, summary
from scripts.evidence.formal.errors import FormalError
from scripts.evidence.formal.maps import MAPS, map_module
from scripts.evidence.formal.ports import ports_module
from scripts.evidence.formal.proof import BOUNDED, INDUCTION
from scripts.evidence.formal.proofs import PROOFS, chosen, proof_named
from scripts.evidence.formal.waveform import show
from scripts.kernel import digest
from scripts.kernel.places import ROOT

PROOF = "axil_slave_formal-axil_slave-SETUP0"
QUIET = Console(quiet=True)
PROPERTY = re.compile(r"^\s*(\w+): assert\b", re.M)
LEMMA = "lemma_"

FAILED = """\
SBY 1:02:03 [build/formal/x] engine_0: ##   0:00:00  BMC failed!
SBY 1:02:03 [build/formal/x] summary: counterexample trace: build/formal/x/engine_0/trace.vcd
SBY 1:02:03 [build/formal/x] summary:   failed assertion x.\\u_rules.b_stable at a.sv:1 step 7
SBY 1:02:03 [build/formal/x] DONE (FAIL, rc=2)
"""
OPEN = """\
SBY 1:02:03 [x] summary: counterexample trace [induction]: build/formal/x/engine_0/trace_induct.vcd
SBY 1:02:03 [x] summary:   failed assertion x_formal.b_stable at a.sv:1.2-3.4
SBY 1:02:03 [x] DONE (UNKNOWN, rc=4)
"""
NO_TIME = """\
SBY 1:02:03 [x] engine_0: terminating process
SBY 1:02:03 [x] DONE (TIMEOUT, rc=8)
"""
KILLED = """\
SBY 1:02:03 [x] engine_0: ##   0:00:00  Status: passed
"""
BROKEN = """\
SBY 1:02:03 [x] base: a.sv:97: ERROR: expected identifier
SBY 1:02:03 [x] DONE (ERROR, rc=16)
"""
MISFIT = """\
[[plant]]
proof = "axil_slave_formal-axil_slave-SETUP0"
property = "b_stable"
file = "rtl/axil/axil_slave.sv"
before = "nowhere"
after = ""
"""
TRACE = """\
$var integer 32 t smt_step $end
$scope module x_formal $end
$var wire 8 n0 a $end
$var wire 1 n1 due $end
$scope module u_dut $end
$var wire 1 n2 inside $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
b00000000 n0
b0 n1
b1 n2
#5
#10
b01000011 n0
b1 n1
#15
#20
"""


def properties(file):
    """Names of the properties of a harness file, without the lemmas."""
    names = PROPERTY.findall((ROOT / file).read_text())
    return {name for name in names if not name.startswith(LEMMA)}


def test_names_are_those_of_one_proof():
    names = [proof.name for proof in PROOFS]
    assert len(set(names)) == len(names)
    assert all(proof_named(name).name == name for name in names)


def test_ci_proves_something_of_every_kind():
    fast = {proof.harness for proof in chosen([], fast=True)}
    assert fast | {"array_drain_formal", "array_sequencer_formal"} == {
        proof.harness for proof in PROOFS
    }


def test_a_writes_address_is_assumed_to_stand_only_where_it_is_decoded_ahead():
    proofs = [proof for proof in PROOFS if proof.harness == "registers_formal"]
    ahead = {proof.map: bool(proof.values.get("DECODED_AHEAD")) for proof in proofs}
    assert ahead == {name: MAPS[name].decoded_ahead for name in ahead}
    assert set(ahead.values()) == {False, True}


def test_plants_fit_and_name_proofs():
    assert plants.read_plants()


def test_every_property_has_a_plant():
    """In each harness, those of the files that it is made of."""
    planted = {(proof_named(plant.proof).harness, plant.property) for plant in plants.read_plants()}
    seen = {name for _, name in planted}
    missing = []
    for harness in {proof.harness for proof in PROOFS}:
        own = properties(f"formal/{harness}.sv")
        missing += [f"{harness}.{name}" for name in own if (harness, name) not in planted]
    missing += [f"axil_rules.{name}" for name in properties("formal/axil_rules.sv") - seen]
    assert not missing


def test_a_plant_that_does_not_fit(tmp_path, monkeypatch):
    (tmp_path / "formal").mkdir()
    (tmp_path / plants.PLANTS).write_text(MISFIT)
    (tmp_path / "rtl").symlink_to(ROOT / "rtl")
    monkeypatch.setattr(plants, "ROOT", tmp_path)
    with pytest.raises(FormalError, match="text of plant 1 stands 0 times in rtl/axil/axil_slave"):
        plants.read_plants()


@pytest.mark.parametrize("options", [[], ["--fast"], ["--plant"]])
def test_an_unknown_unit_is_one_line_before_anything_is_installed(options, capsys, monkeypatch):
    monkeypatch.setattr(command, "set_up", pytest.fail)
    assert command.main(["nope", *options, "--set-up", "formal"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and "no proof of nope; there are those of fp_add" in lines[0]


def test_a_property_that_fails(tmp_path, monkeypatch):
    found = sby.outcome(FAILED, 1.5, "build/formal/x")
    assert found.status == sby.DISPROVED and found.failed == ("b_stable",)
    assert (found.step, found.trace) == (7, "build/formal/x/engine_0/trace.vcd")
    (tmp_path / found.trace).parent.mkdir(parents=True)
    (tmp_path / found.trace).write_text(TRACE)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    proof = proof_named(PROOF)
    head, *signals = command.explain(proof, found)
    assert head == (
        f"{proof.name}: b_stable fails in step 7; waveform: {found.trace}; "
        'again: make formal UNITS="axil_slave"'
    )
    assert "    a = 43 (step before: 0)" in signals or "    a = 43" in signals


def test_an_induction_that_does_not_close_is_no_proof():
    found = sby.outcome(OPEN, 1.5, "build/formal/x")
    assert (found.status, found.failed) == (sby.UNKNOWN, ("b_stable",))
    lines = command.explain(proof_named(PROOF), found)
    assert "unknown, does not follow: b_stable; waveform of the induction" in lines[0]


def test_a_proof_without_time_left_is_no_proof():
    assert sby.outcome(NO_TIME, 1.5, "build/formal/x").status == sby.UNKNOWN


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (BROKEN, r"a\.sv:97: ERROR: expected identifier"),
        (KILLED, "engine_0: ## .* Status: passed"),
        ("", "it said nothing"),
    ],
    ids=["cannot be read", "killed", "said nothing"],
)
def test_without_a_result_nothing_is_proved(said, told):
    with pytest.raises(FormalError, match=rf"{told} \(build/formal/x.log\)$"):
        sby.outcome(said, 1.5, "build/formal/x")


@pytest.fixture
def outcome_of_all(monkeypatch, tmp_path):
    """Gives every proof that is run this outcome; what is kept of it is kept elsewhere."""
    for module in (command, document):
        kept = replace(summary.SUMMARY, file=tmp_path / "summary.json")
        monkeypatch.setattr(module, "SUMMARY", kept)

    def give(*outcome):
        monkeypatch.setattr(command, "run", lambda proof: sby.Outcome(*outcome))

    return give


@pytest.mark.parametrize("status", [sby.DISPROVED, sby.UNKNOWN])
def test_a_proof_that_does_not_hold_is_red_until_it_does(status, outcome_of_all, monkeypatch):
    monkeypatch.setattr(document, "PROOFS", [proof_named(PROOF)])
    outcome_of_all(status, 1.0, ("b_stable",), 3)
    for _ in range(2):
        assert command.prove([proof_named(PROOF)], False, QUIET) == 1
        with pytest.raises(FormalError, match=f"{PROOF} was not proved on these sources"):
            document.measured()
    outcome_of_all(sby.PROVED, 1.0)
    assert command.prove([proof_named(PROOF)], False, QUIET) == 0
    assert document.measured().keys() == {PROOF}


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ((sby.DISPROVED, 1.0, ("a_bug", "b_stable"), 3), 0),
        ((sby.DISPROVED, 1.0, ("a_bug",), 3), 1),
        ((sby.UNKNOWN, 1.0, ("b_stable",)), 1),
        ((sby.PROVED, 1.0), 1),
    ],
    ids=["found", "another property", "unknown", "proved"],
)
def test_a_plant_is_found_where_its_property_fails(outcome, status, monkeypatch):
    bug = plants.Plant(1, PROOF, "b_stable", "rtl/axil/axil_slave.sv", "", "")
    monkeypatch.setattr(plants, "read_plants", lambda units: [bug])
    found = (proof_named(PROOF), sby.Outcome(*outcome))
    monkeypatch.setattr(plants, "check", lambda plant: found)
    assert command.plant([], QUIET) == status


@pytest.mark.parametrize("mode", [BOUNDED, INDUCTION])
def test_the_tool_is_told_how_and_how_far_to_prove(mode):
    proof = next(proof for proof in PROOFS if proof.mode == mode)
    told = sby.script(proof).splitlines()
    assert {f"mode {mode}", f"depth {proof.depth}"} <= set(told)
    others = [replace(proof, mode="live"), replace(proof, depth=proof.depth + 1)]
    assert sby.key(proof) not in map(sby.key, others)


def test_signals_of_a_counterexample(tmp_path):
    trace = tmp_path / "trace.vcd"
    trace.write_text(TRACE)
    assert show(trace, 1, ("a",), Format(4, 3)) == [
        "a = 43 = 2.75 (step before: 00 = 0)",
        "due = 1 (step before: 0)",
    ]


def test_a_change_of_the_source_is_proved_again(tmp_path, monkeypatch):
    proof = proof_named(PROOF)
    before = sby.key(proof)
    for file in sby.sources(proof):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text((ROOT / file).read_text())
    files = sby.sources(proof)
    monkeypatch.setattr(sby, "sources", lambda _: files)
    monkeypatch.setattr(digest, "ROOT", tmp_path)
    assert sby.key(proof) == before
    slave = tmp_path / "rtl/axil/axil_slave.sv"
    slave.write_text(slave.read_text().replace("bready", "ready"))
    assert sby.key(proof) != before


@pytest.mark.parametrize("name", MAPS)
def test_a_register_map_as_a_module(name):
    text = map_module(name)
    assert "(address_i >= 10'd0 && address_i <= 10'd0)" in text  # ID
    assert text.count("assign ") == 3


@pytest.mark.parametrize("name", MAPS)
def test_a_choice_of_registers_as_a_module(name):
    text = ports_module(name)
    shown = next(line for line in text.splitlines() if "assign shown_o" in line)
    homes = (Home.GIVEN, Home.THROUGH)
    assert shown.count("chosen_i ==") == sum(
        one.words for one in MAPS[name].registers if one.home in homes
    )
    assert f"{name}_regs #(" in text
