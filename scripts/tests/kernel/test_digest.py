"""Has it changed: comments and layout of RTL are no change, all else is, for every cache."""

import random
import re
from pathlib import Path

import pytest

from pymodel.hardware.rtl_files import rtl_files
from scripts.evidence.cost.jobs import JOBS
from scripts.evidence.cost.measure import source
from scripts.evidence.coverage.code.runs import RUNS
from scripts.evidence.faults.campaign import Campaign
from scripts.evidence.faults.units import UNITS as FLIPPED
from scripts.evidence.formal import sby
from scripts.evidence.formal.proofs import PROOFS
from scripts.evidence.mutate import campaign as mutants
from scripts.evidence.mutate.units import UNITS as MUTATED
from scripts.kernel import digest, inputs, simulations
from scripts.kernel.digest import key_of, pinned, rtl_text, tokens
from scripts.kernel.measured_rtl import rtl_digest
from scripts.kernel.places import ROOT
from tb.fp_add.bench import BENCH

ADDER = "rtl/fp/fp_add.sv"
TEXT = """\
// An adder.
`define WIDTH(x) (x) + 1  // bits
module m #(parameter int W = 8'h1f) (  (* keep *) input logic [W-1:0] a_i, output logic y_o);
  /* of
     two lines */
  // verilator lint_off UNUSEDSIGNAL  // the rest
  initial $display("// no comment, \\" /* none */");
  assign y_o = a_i <<< 2 >= -1.5e-3 && \\odd+name != '{default: '0};
endmodule
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("// An adder.\n", ""),
        ("// An adder.", '// An adder of `WIDTH, \\n "and /* more'),
        ("  // bits", ""),
        ("`define WIDTH(x) (x) + 1", "`define  WIDTH(x)   (x) + 1"),
        ("of\n", "of // three\n\n"),
        ("  // the rest", "  // other words"),
        (
            "// verilator lint_off UNUSEDSIGNAL  // the rest",
            "/*verilator   lint_off UNUSEDSIGNAL*/",
        ),
        ("<<< 2", "<<<2"),
        (">= -1", ">=- 1"),
        ("\n  assign y_o = ", " assign\n\n\ty_o/**/="),
        ("\n", "\r\n"),
    ],
)
def test_comments_and_layout_are_no_change(old, new):
    assert old in TEXT and rtl_text(TEXT.replace(old, new)) == rtl_text(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<<< 2", "<< < 2"),
        ("<<< 2", "<<2"),
        ("-1.5e-3", "-1.5e-4"),
        ("\\odd+name", "\\odd +name"),
        ("8'h1f", "8'h1e"),
        ("8'h1f", "8'h1 f"),
        ("'0", "'1"),
        ("keep", "keep_out"),
        ("(* keep *)", ""),
        ("lint_off", "lint_on"),
        ("// verilator lint_off", "// Verilator lint_off"),
        ("// no comment", "//  no comment"),
        ("/* none */", ""),
        ("WIDTH(x) (x)", "WIDTH (x) (x)"),
        ("(x) + 1  // bits\n", "(x) + 1 "),
        ("a_i,", "a_i;"),
        ("a_i <<<", "a _i <<<"),
        ("  /* of\n     two lines */\n", "  // synthesis translate_off\n"),
    ],
)
def test_a_token_is_a_change(old, new):
    changed = TEXT.replace(old, new)
    assert changed != TEXT and rtl_text(changed) != rtl_text(TEXT)


def test_a_text_that_asks_for_its_lines_counts_as_it_stands():
    text = "module m;\n  initial $display(`__LINE__);\nendmodule\n"
    assert rtl_text(text) != rtl_text("\n" + text)


@pytest.mark.nightly(every=5)
@pytest.mark.parametrize("file", rtl_files())
def test_every_file_of_the_rtl_may_be_laid_out_anew(file):
    """And no token of it may be left out, or another."""
    text = (ROOT / file).read_text()
    found, rng = list(tokens(text)), random.Random(file)
    gaps = [" ", "\n", "\t", " // a comment\n", " /* one\nmore */ "]
    anew = "".join(token.text + rng.choice(gaps) for token in found)
    assert rtl_text(anew) == rtl_text(text)
    kept = re.sub(r"\s", "", "".join(t.text for t in found if not t.text.startswith("/*verilator")))
    plain = re.sub(r"//[^\n]*|/\*.*?\*/|\s", "", text)  # no string holds // or /*
    assert kept == plain
    for at in rng.sample(range(len(found)), 20):
        token = found[at]
        other = text[: token.at] + "other" + text[token.at + len(token.text) :]
        assert rtl_text(other) != rtl_text(text)


#: What is kept between runs, each of an adder, or of something that has one.
KEYS = {
    "synthesis": lambda _: source(next(job for job in JOBS if job.unit == "fp_add"), 3),
    "proofs": lambda _: sby.key(next(proof for proof in PROOFS if proof.unit == "fp_add")),
    "mutants": lambda _: mutants.digest(MUTATED["fp_add"]),
    "code coverage": lambda _: next(run for run in RUNS if run.bench == "fp_add").key(),
    "regression": lambda _: simulations.digest_of("fp_add", "icarus"),
    "simulations": lambda _: inputs.digest_of_bench(BENCH, 1),
    "flipped bits": lambda folder: Campaign(FLIPPED["hdca_coprocessor"], 1, folder)._digest,
    "documents": lambda _: rtl_digest("fp_add"),
}


@pytest.fixture
def edited(monkeypatch):
    """Lets the adder's file hold another text."""
    read = Path.read_text

    def edit(change):
        def read_text(path, *arguments, **named):
            text = read(path, *arguments, **named)
            return change(text) if path == ROOT / ADDER else text

        monkeypatch.setattr(Path, "read_text", read_text)
        digest._file_digest.cache_clear()

    yield edit
    digest._file_digest.cache_clear()


@pytest.mark.parametrize("what", KEYS)
def test_every_key_follows_the_tokens_of_the_rtl(what, edited, tmp_path):
    before = KEYS[what](tmp_path)
    edited(lambda text: "/* fp_mul */ // fp_recip\n" + text.replace(";\n", ";  // why\n\n"))
    assert KEYS[what](tmp_path) == before
    edited(lambda text: text.replace("endmodule", "logic other; endmodule"))
    assert KEYS[what](tmp_path) != before


def test_a_key_follows_names_and_what_is_given(tmp_path):
    (tmp_path / "a.sv").write_text("module m;")
    (tmp_path / "a.py").write_text("# a comment")
    both = [tmp_path / "a.sv", tmp_path / "a.py"]
    keys = {key_of(both), key_of(both, "W=8"), key_of(both, "W=8", ""), key_of(both[:1])}
    (tmp_path / "a.py").write_text("# another")
    keys.add(key_of(both))
    (tmp_path / "a.sv").rename(tmp_path / "b.sv")
    keys.add(key_of([tmp_path / "b.sv", both[1]]))
    assert len(keys) == 6


def test_versions_of_a_group_are_told_with_those_that_it_includes(tmp_path):
    groups = """
[dependency-groups]
formal = ["solver==2", { include-group = "yosys" }] # a comment
yosys = ["yosys==1"]
"""
    (tmp_path / "project.toml").write_text(groups)
    assert pinned("formal", tmp_path / "project.toml") == "solver==2\nyosys==1"


def test_the_groups_of_the_repository_are_pinned():
    """Proofs are about what is synthesised, read by the same version."""
    for group in ("bench", "formal", "robots", "synth"):
        assert all("==" in line for line in pinned(group).splitlines())
    (yosys,) = (line for line in pinned("formal").splitlines() if "yosys" in line)
    assert yosys in pinned("synth").splitlines()
