"""Fault injection: registers found, input refused, rows counted, hangs named, the document."""

import contextlib
import dataclasses
import json
import os
import re
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from pymodel.tests import processes
from scripts.evidence.faults import campaign as campaigns
from scripts.evidence.faults import document, run
from scripts.evidence.faults.campaign import Campaign, FaultsError, counts, is_bad
from scripts.evidence.faults.units import UNITS
from scripts.kernel.measured_rtl import rtl_digest
from scripts.kernel.places import ROOT
from tb.faults.registers import BUS, MEMORY, Register, names_of
from tb.faults.verdicts import CRASH, DETECTED, HANG, MASKED, SILENT, STOPPED, Place

FORMAT = {"EXP_W": 5, "MAN_W": 10}
STAGES = {"ADD_STAGES": 0, "MUL_STAGES": 0, "REC_STAGES": 0}
SMALL = dataclasses.replace(
    UNITS["ldup_coprocessor"], params={"N": 2, "PARALLEL": 0} | FORMAT | STAGES
)
HELD = "rtl/axil/axil_held.sv"
VOTE = "(plain_q & inverse) | (plain_q & turned) | (inverse & turned)"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["step"], "faults: no unit step; units: hdca_coprocessor, ldup_coprocessor,"),
        (["--count", "0"], "faults: COUNT=0: must be a whole number, 1 to 1000000\n"),
        (["--count", "x"], "faults: COUNT=x: must be a whole number, 1 to 1000000\n"),
        (["--seed", "0"], "faults: SEED=0: must be a whole number, 1 to 2147483647\n"),
        (["--workers", "65"], "faults: WORKERS=65: must be a whole number, 1 to 64\n"),
        (["--waves"], "faults: WAVES=1: only with AT"),
        (["--at", "a[0]@1"], "faults: AT=a[0]@1: name one of UNITS"),
        (["step_engine", "--at", "a[0]@1", "--seed", "2"], "faults: SEED=2: not with AT"),
    ],
)
def test_bad_input_is_refused_in_one_line(words, said, capsys):
    assert run.main(words) == 2
    out, err = capsys.readouterr()
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert not out


def test_without_verilator_it_is_refused_in_one_line(no_simulator, tmp_path, monkeypatch, capsys):
    for module in ("campaign", "run"):
        monkeypatch.setattr(f"scripts.evidence.faults.{module}.FOLDER", tmp_path)
    assert run.main(["ldup_coprocessor", "--count", "5"]) == 2
    said = "faults: Verilator is not installed, or too old: `make doctor` says how to get it\n"
    assert capsys.readouterr().err == said


def test_registers_are_what_is_assigned_at_clock_edges():
    text = """
      // old_q <= 1
      if (count_q <= 3) begin
        state_q <= idle;
        memory_q[W*i+:W] <= data;
      end
      {first_q, second_q[1]} <= both;
      assign less = a_q <= b_q;
    """
    assert names_of(text) == {"state_q", "memory_q", "first_q", "second_q"}


def test_a_register_has_a_kind_and_names_its_bits():
    assert Register("u_control.u_axil.rdata_q", 32).kind == BUS
    bank = Register("u_bank.memory_q", 32, words=16)
    assert (bank.kind, bank.total, bank.place(33)) == (MEMORY, 512, "u_bank.memory_q[1][1]")


def row(verdict, **more):
    return {"verdict": verdict, "kind": BUS} | more


def test_rows_are_counted_and_some_are_bad():
    rows = [
        row(MASKED),
        row(DETECTED, differs=False),
        row(SILENT, found=True),
        row(SILENT, found=False),
        row(STOPPED, recovered="rst_ni"),
        row(STOPPED, recovered=""),
        row(HANG),
        row(CRASH),
    ]
    found = counts(rows)
    assert found["injections"] == len(rows)
    assert [found[name] for name in ("masked", "detected", "alarms")] == [1, 1, 1]
    assert [found[name] for name in ("silent", "undetected_with_residual")] == [2, 1]
    assert [found[name] for name in ("stopped", "by_pin", "hangs", "crashes")] == [2, 1, 1, 1]
    assert list(map(is_bad, rows)) == [False] * 5 + [True] * 3


@pytest.mark.parametrize("of_handshakes", [False, True])
@pytest.mark.parametrize("verdict", [HANG, CRASH])
def test_a_summary_names_what_is_bad(tmp_path, verdict, of_handshakes):
    """Among the injections that were drawn, and among those into handshakes."""
    campaign = Campaign(SMALL, 1, tmp_path)
    register = {"path": "u_control.done_q", "bits": 1}
    campaign.listing = {"registers": [register], "cycles": 9, "checks": "", "residual": 0.0}
    places = [Place(register["path"], 0, cycle) for cycle in range(2)]
    rows = [row(MASKED), row(verdict, why="no response")]
    lines = [
        json.dumps(one | place._asdict() | {"digest": campaign._digest})
        for one, place in zip(rows, places, strict=True)
    ]
    (tmp_path / "new.jsonl").write_text("\n".join(lines) + "\n")
    drawn, handshakes = (places[:1], places[1:]) if of_handshakes else (places, [])
    bad = campaign.summary(drawn, handshakes, seed=1)["bad"]
    assert bad == [{"at": "u_control.done_q[0]@1", "verdict": verdict, "why": "no response"}]


@pytest.mark.parametrize(("verdict", "status"), [(MASKED, 0), (HANG, 1)])
def test_a_flip_that_is_bad_is_status_1(verdict, status, tmp_path, monkeypatch, capsys):
    """In a campaign, and where it is done again alone."""
    one = row(verdict, at="a_q[0]@3", why="no response", bad=bool(status))
    bad = [one] if status else []
    monkeypatch.setattr(run, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "SUMMARY", dataclasses.replace(run.SUMMARY, file=tmp_path / "s.json"))
    monkeypatch.setattr(run, "inject", lambda campaign, *_: campaign.found)
    found = counts([one]) | {"unit": "step_engine", "bad": bad}
    campaign = SimpleNamespace(found=found, look=lambda: None, place=str, again=lambda *_: one)
    monkeypatch.setattr(run, "Campaign", lambda *_: campaign)
    assert run.main(["step_engine"]) == status
    assert run.main(["step_engine", "--at", one["at"]]) == status
    assert capsys.readouterr().out.count("step_engine: hang after a flip") == len(bad)


@pytest.mark.nightly
def test_every_injection_ends_and_no_bus_hangs(tmp_path):
    campaign = Campaign(SMALL, workers=1, folder=tmp_path)
    campaign.look()
    drawn, handshakes = campaign.draw(14, seed=1), campaign.handshakes(30, seed=1)
    assert (drawn, handshakes) == (campaign.draw(14, seed=1), campaign.handshakes(30, seed=1))
    done = []
    campaign.run([*drawn, *handshakes], lambda: done.append(1))
    summary = campaign.summary(drawn, handshakes, seed=1)
    assert len(done) == len({*drawn, *handshakes}) == len(campaign.known())
    assert (summary["injections"], summary["handshakes"]["injections"]) == (14, 6)
    assert not summary["bad"] and summary["rtl"] == rtl_digest(SMALL.name)
    last = f"u_control.done_q[0]@{summary['cycles'] - 1}"
    assert campaign.place(last) == Place("u_control.done_q", 0, summary["cycles"] - 1)
    for at, said in {
        "nope": r"must be register\[bit\]@cycle, such as u_control.done_q\[0\]@78$",
        "u_control.done_q[0]@x": "must be register",
        "u_nope.done_q[0]@78": "ldup_coprocessor has no such register$",
        "u_control.done_q[9]@78": r"bit, .* of ldup_coprocessor ends at u_control.done_q\[0\]$",
        f"u_control.done_q[0]@{summary['cycles']}": f"no such cycle, .* has {summary['cycles']}$",
    }.items():
        with pytest.raises(FaultsError, match=f"^AT={re.escape(at)}: .*{said}"):
            campaign.place(at)
    campaign.run(drawn, pytest.fail)  # nothing is left to do
    with pytest.raises(FaultsError, match="ldup_coprocessor: 2 injections left no row$"):
        campaign.summary([*drawn, Place("x_q", 0, 1), Place("x_q", 0, 2)], [], seed=1)


@pytest.mark.nightly
@processes.NEEDED
def test_a_process_that_ctrl_c_meets_ends_at_once(tmp_path):
    """It must not take the simulator's exit, which waits for threads that it does not have."""
    campaign = Campaign(SMALL, workers=2, folder=tmp_path)
    campaign.look()
    places = campaign.draw(40, seed=1)

    def interrupt():
        for simulator in processes.children(os.getpid()):
            for process in processes.children(simulator):
                with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                    os.kill(process, signal.SIGINT)

    campaign.run(places, interrupt)
    rows = campaign.known().values()
    why = {row["why"] for row in rows if row["verdict"] == CRASH}
    assert len(rows) == len(set(places)) and why == {f"status -{signal.SIGINT:d}"}


def test_the_waveform_of_an_injection_has_its_command(tmp_path, monkeypatch):
    said = []

    def simulate(device, task, test, waves, watch):
        said.append(task.rerun(test, waves))
        (tmp_path / "new.jsonl").write_text(json.dumps(row(MASKED)))
        return [{"result": "pass"}], None, ""

    monkeypatch.setattr(campaigns, "simulate", simulate)
    campaign = Campaign(SMALL, 1, tmp_path)
    campaign.listing = {"registers": [{"path": "u_control.done_q", "bits": 1}], "cycles": 79}
    at = "u_control.done_q[0]@78"
    campaign.again(campaign.place(at), waves=True)
    assert said == [f"make faults UNITS=ldup_coprocessor 'AT={at}' WAVES=1"]


def broken(folder, file, right, wrong):
    """A campaign on a top one of whose files has a bug."""
    text = (ROOT / file).read_text()
    assert text.count(right) == 1
    planted = folder / Path(file).name
    planted.write_text(text.replace(right, wrong))
    own = SMALL.device.sources
    sources = tuple(planted if source == ROOT / file else source for source in own)
    return Campaign(dataclasses.replace(SMALL, sources=sources), 1, folder / "rows")


@pytest.mark.nightly(every=2)
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("bvalid = bvalid_q", "bvalid = 1'b0", "hang at .* write of .*, channel B"),
        ("bvalid = bvalid_q", "bvalid = 1'b0; initial $fatal(1)", "simulator ended the run"),
    ],
)
def test_a_top_that_fails_without_a_flip_is_told_in_one_line(right, wrong, said, tmp_path):
    with pytest.raises(FaultsError, match=said) as error:
        broken(tmp_path, "rtl/axil/axil_slave.sv", right, wrong).look()
    said = str(error.value)
    assert "\n" not in said
    assert said.endswith("(without a flip); rerun: make ldup_coprocessor SIM=verilator WAVES=1")


@pytest.mark.nightly
def test_a_flip_that_hangs_the_bus_is_named(tmp_path):
    """One copy of what waits on the bus alone, without a vote: a lost bit is a lost response."""
    campaign = broken(tmp_path, HELD, VOTE, "plain_q | (inverse & turned & '0)")
    campaign.look()
    register = "u_control.u_axil.u_held.u_plain.data_q"
    places = [Place(register, bit, cycle) for bit in range(5) for cycle in (4, 5)]
    campaign.run(places, lambda: None)
    bad = campaign.summary(places, [], seed=1)["bad"]
    assert bad and {one["verdict"] for one in bad} == {HANG}
    said = run.complaint(SMALL.name, bad[0])
    name, _, cycle = bad[0]["at"].rpartition("@")
    assert said.startswith(f"ldup_coprocessor: hang after a flip of {name} in cycle {cycle}: hang")
    rerun = f'make faults UNITS=ldup_coprocessor AT="{bad[0]["at"]}" WAVES=1'
    assert said.endswith(f"rerun  {rerun}")
    assert campaign.place(bad[0]["at"]) in places


def test_the_document_is_made_of_the_rows_alone():
    numbers = counts([row(MASKED), row(SILENT, found=False), row(STOPPED, recovered="rst_ni")])
    kinds = dict.fromkeys(("bus", "control", "arithmetic", "memory"), counts([])) | {"bus": numbers}
    top = numbers | {
        "unit": "step_engine",
        "rtl": rtl_digest("step_engine"),
        "cycles": 12,
        "checks": "energy",
        "residual": 1e-6,
        "bits": dict.fromkeys(kinds, 7),
        "kinds": kinds,
        "handshakes": numbers,
        "bad": [{"at": "a_q[0]@3", "verdict": HANG, "why": "no response"}],
    }
    fuzzed = {"unit": "step_engine", "reads": 5, "writes": 6, "cycles": 70, "cpu_s": 0.8}
    text = document.document([top], [fuzzed])
    assert "| `step_engine` | 3 | 1 | 0 | 1 | 1 | 0 | 1 | 0 |" in text
    assert "| `step_engine` | bus | 7 | 3 |" in text
    assert "the reset pin in 1." in text
    assert "| `step_engine` | 12 | energy | 1.0e-06 | 1.6e-05 |" in text
    assert "- `step_engine`: hang after `a_q[0]@3`: no response" in text
    assert (
        "| `step_engine` (RTL has changed since) | 5 | 6 | 0 | 0 | 0 | 0 | 0 | 0 | 70 | 0.8 |"
        in text
    )
