"""Records of units: each module of the RTL has one, and what is missing or wrong is named."""

import re
import shutil

import pytest

from scripts.kernel import unit_check
from scripts.kernel.expression import ExpressionError, value
from scripts.kernel.places import ROOT
from scripts.kernel.unit_check import problems
from scripts.kernel.units import FOLDER, UnitError, read, records

NEW = "module fp_new #(parameter int EXP_W = 8) (input logic a_i, output logic y_o);\nendmodule\n"


def test_every_module_is_verified_or_says_why_not():
    found = problems()
    assert not found, "\n".join(found)


@pytest.fixture
def tree(tmp_path):
    """RTL, harnesses and records, to be changed."""
    for folder in ("rtl", "formal", FOLDER):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def said(tree):
    """What is said of them; records are read once a process."""
    records.cache_clear()
    try:
        return problems(tree)
    finally:
        records.cache_clear()


def edit(tree, module, before, after):
    file = tree / FOLDER / f"{module}.toml"
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))


def add_module(tree, record=None):
    (tree / "rtl/fp/fp_new.sv").write_text(NEW)
    (tree / "rtl/rtl.f").write_text((ROOT / "rtl/rtl.f").read_text() + "rtl/fp/fp_new.sv\n")
    if record is not None:
        (tree / FOLDER / "fp_new.toml").write_text(record)


def test_a_module_without_a_record_is_named(tree):
    add_module(tree)
    assert said(tree) == ["rtl/fp/fp_new.sv: module fp_new has no record: write units/fp_new.toml"]


def test_all_that_a_record_lacks_is_named(tree):
    add_module(tree, "")
    (line,) = said(tree)
    assert line.startswith("units/fp_new.toml: fp_new has ")
    for words in unit_check.ASPECTS:
        assert f"{unit_check.WORDS[words]}" in line


def without(*names):
    """The table of a record, with a reason for each name."""
    return "[without]\n" + "".join(f'{name} = "a sketch"\n' for name in names)


@pytest.mark.parametrize("lacking", unit_check.ASPECTS)
def test_each_reason_counts_for_itself(tree, lacking):
    """A record with all reasons is complete; without one of them it is that which is missing."""
    add_module(tree, without(*unit_check.ASPECTS))
    assert not said(tree)
    add_module(tree, without(*(name for name in unit_check.ASPECTS if name != lacking)))
    (line,) = said(tree)
    assert f"fp_new has {unit_check.WORDS[lacking]}: write {lacking}," in line


@pytest.mark.parametrize(
    ("module", "before", "after", "what"),
    [
        ("fp_add", 'benches = ["fp_add"]', 'benches = ["fp_ad"]', "there is no bench tb/fp_ad"),
        (
            "fp_add",
            'benches = ["fp_add"]',
            'benches = ["fp_add", "fp_mul"]',
            "not built from fp_add",
        ),
        ("fp_add", "STAGES = { least = 0, most = 6 }", "", "STAGES of fp_add has no legal values"),
        ("fp_mul", "SPECIALS = {", "SPECIAL = {", "parameters: fp_mul has no parameter SPECIAL"),
        ("fp_recip_table", "CUTS = 5", "CUT = 5", "lint[1]: fp_recip_table has no parameter CUT"),
        (
            "fp_recip",
            'holds = "METHOD',
            'holds = "KIND',
            "rules[1].holds: fp_recip has no parameter KIND",
        ),
        ("fp_recip", "METHOD != 1 or", "METHOD ! 1 or", "rules[1].holds: not an expression"),
        ("fp_recip", 'holds = "METHOD != 1 or MAN_W <= 23"', "", "rules[1]: must have one of"),
        ("step_trace", "DATA_STAGES = 2", "DATA_STAGE = 2", "no parameter DATA_STAGE"),
        ("axil_slave", 'boxes = ["axil_held"]', 'boxes = ["held"]', "there is no module held"),
        ("axil_slave", 'config = "pipelined"', 'config = "piped"', "has no configuration piped"),
        (
            "hdca_engine",
            "assembly.POINTS",
            "assembly.POINT",
            "no tb.common.coverage.assembly.POINT",
        ),
        (
            "hdca_engine",
            "assembly.POINTS",
            "assemble.POINTS",
            "no tb.common.coverage.assemble.POINTS",
        ),
        ("step_array", 'model = "Array"', 'model = "Arrays"', "there is no tb.fuzz.model.Arrays"),
        ("step_array", 'workload = "Array"', 'workload = "No"', "no tb.faults.workloads.No"),
        ("step_array", "rules.step_array_word", "rules.word", "rules[3].function: there is no"),
        ("step_rare", 'part_of = ["step_engine"]', 'part_of = ["step"]', "there is no unit step"),
        (
            "step_rare",
            'part_of = ["step_engine"]',
            'part_of = ["fp_add"]',
            "fp_add is not built from",
        ),
        (
            "fp_sincos",
            "[without]",
            '[without]\nmutation = "x"',
            "without.mutation: but it is there",
        ),
        ("fp_sincos", "[without]", '[without]\nbench = "x"', "without.bench: must be one of"),
        (
            "axil_held",
            "[without]\nmutation = ",
            "[without]\nproofs = ",
            "no mutation campaign: write",
        ),
    ],
)
def test_what_is_not_there_is_named(tree, module, before, after, what):
    edit(tree, module, before, after)
    found = [line for line in said(tree) if what in line]
    assert found and all(line.startswith(f"units/{module}.toml: ") for line in found)


def test_a_harness_that_is_not_there_is_named(tree):
    (tree / "formal/step_trace_formal.sv").unlink()
    assert said(tree)[0] == (
        "units/step_trace.toml: proofs[1].harness: there is no formal/step_trace_formal.sv"
    )


def test_a_record_of_no_module_and_a_bench_of_no_record_are_named(tree):
    (tree / FOLDER / "fp_new.toml").write_text("")
    edit(tree, "fp_recip_stream", 'benches = ["fp_recip_stream"]', "")
    found = said(tree)
    assert "units/fp_new.toml: rtl/rtl.f has no module fp_new" in found
    assert "tb/fp_recip_stream: no record in units/ names this bench" in found


def test_what_is_boxed_is_not_proved_by_what_it_is_part_of(tree):
    """The memory of the trace is cut out of the engine's campaign: that one does not count."""
    edit(tree, "step_trace", "[without]\nmutation", "[other]\nmutation")
    (tree / FOLDER / "step_trace.toml").write_text(
        re.sub(r"\[other\]\n.*", "", (tree / FOLDER / "step_trace.toml").read_text())
    )
    (line,) = said(tree)
    assert line.startswith("units/step_trace.toml: step_trace has no mutation campaign")


def test_a_bus_is_fuzzed_and_disturbed(tree):
    file = tree / FOLDER / "step_array.toml"
    file.write_text(re.sub(r"\[(fuzz|faults)\]\n.*\n.*\n", "", file.read_text()))
    (line,) = (line for line in said(tree) if "step_array.toml" in line)
    assert "write fuzz, faults," in line


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("bench = []", "bench: no such key; there are benches, part_of,"),
        ("benches = 'fp_add'", "benches: must be a list"),
        ("benches = [1]", "benches[1]: must be a text"),
        ("[parameters]\nN = 3", "parameters.N: must be a table"),
        ("[parameters]\nN = { most = 3 }", "parameters.N.least: is missing"),
        ("[parameters]\nN = { least = 1.5 }", "parameters.N.least: must be a whole number"),
        ("[parameters]\nN = { least = true }", "parameters.N.least: must be a whole number"),
        ("[[proofs]]\nharness = 'a'\ndepth = []", "depth: must be a whole number or a text"),
        (
            "[[proofs]]\nharness = 'a'\ndepth = 1\nfast = 1",
            "fast: must be true or false or a table",
        ),
        ("fuzz = 'no'", "fuzz: must be a table"),
        ("a = ", "Invalid value"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_line(tmp_path, text, what):
    file = tmp_path / FOLDER / "fp_new.toml"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(UnitError, match=re.escape(what)) as error:
        read(file)
    assert str(error.value).startswith("units/fp_new.toml: ")
    assert "\n" not in str(error.value)


def test_the_command_is_red(monkeypatch, capsys):
    assert unit_check.main() == 0
    monkeypatch.setattr(unit_check, "problems", lambda: ["fp_new has no bench"])
    assert unit_check.main() == 1
    assert capsys.readouterr().out == "fp_new has no bench\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N + 1", 4),
        ("2 * (N - 1)", 4),
        ("N != 3 or M <= 5", True),
        ("not N > 2", False),
        ("N < 3 and M == 5", False),
    ],
)
def test_expressions(text, expected):
    assert value(text, {"N": 3, "M": 5}) == expected


@pytest.mark.parametrize(
    "text",
    ["", "N +", "N ** 9", "1.5", "True", "N < 3 < 4", "f(N)", "N.real", "__import__('os')", "-N"],
)
def test_what_is_no_expression(text):
    with pytest.raises(ExpressionError, match="not an expression"):
        value(text, {"N": 3})


def test_a_name_without_a_value():
    with pytest.raises(ExpressionError, match="K has no value"):
        value("N + K", {"N": 3})
