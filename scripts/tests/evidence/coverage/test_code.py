"""Code coverage: reading of what Verilator counts, and the judgement of holes and waivers."""

import fnmatch
import json
from collections import Counter

import pytest
from rich.console import Console

from pymodel.hardware.rtl_files import rtl_files
from scripts.evidence.coverage.code import command
from scripts.evidence.coverage.code.moved import Moved, moved_counts
from scripts.evidence.coverage.code.points import BRANCH, LINE, TOGGLE, Place, merged, read
from scripts.evidence.coverage.code.runs import RUNS
from scripts.evidence.coverage.code.waivers import FILE, Sources, judge, load
from scripts.evidence.coverage.functional import CoverageError
from scripts.kernel import simulations as units
from scripts.kernel.places import ROOT

SOURCE = """module m;
  assign y = a ? b : c ? d : e;
  function automatic int ends();
    return 1;
  endfunction
  assign z = x;
endmodule
"""
LINES = {number: Place("m.sv", number, 0, LINE, "") for number in range(1, 8)}
FIRST = Place("m.sv", 2, 14, BRANCH, "cond_then")
SECOND = Place("m.sv", 2, 22, BRANCH, "cond_then")
BITS = [Place("m.sv", 6, 9, TOGGLE, f"x[{bit}]:{edge}") for bit in range(4) for edge in ("0->1",)]


def point(file, line, column, page, what, lines="", count=0, module="m"):
    """A line of a file of Verilator."""
    fields = {"f": file, "l": line, "n": column, "page": f"v_{page}/{module}", "o": what}
    fields |= {"S": lines} if lines else {}
    return "C '" + "".join(f"\x01{k}\x02{v}" for k, v in fields.items()) + f"' {count}\n"


def test_counts_are_merged_over_parameters_and_by_line(tmp_path):
    file, data = tmp_path / "m.sv", tmp_path / "one.dat"
    file.write_text(SOURCE)
    data.write_text(
        "# SystemC::Coverage-3\n"
        + point(file, 2, 3, "line", "block", "2,4-5", 0)
        + point(file, 2, 14, "branch", "cond_then", "2", 0, "m__W8")
        + point(file, 2, 14, "branch", "cond_then", "2", 7, "m__W9")
        + point(file, 6, 9, "toggle", "x[0]:0->1", count=3)
        + point("/elsewhere/m.sv", 1, 1, "line", "block", "1", 0)
    )
    counts = merged(read(data, tmp_path))
    assert counts == {LINES[2]: 7, LINES[4]: 0, LINES[5]: 0, FIRST: 7, BITS[0]: 3}
    assert LINES[4] in counts  # a hole is there, with 0


@pytest.fixture
def waivers(tmp_path):
    """Judges made-up counts by the text of some waivers."""
    (tmp_path / "m.sv").write_text(SOURCE)

    def judged(counts, *texts, file="m.sv"):
        head = f'[[waiver]]\nfile = "{file}"\ngroup = "constant"\nreason = "so it is"\n'
        path = tmp_path / "waivers.toml"
        path.write_text("\n".join(head + text for text in texts) or "waiver = []")
        return judge(Counter(counts), load(path), Sources(tmp_path, counts))

    return judged


def test_a_hole_needs_a_waiver(waivers):
    counts = {BITS[0]: 1, BITS[1]: 0, BITS[2]: 0, BITS[3]: 0}
    judged = waivers(counts, 'kind = "toggle"\nat = ["x[2:1]"]')
    assert [*judged.waived] == BITS[1:3] and judged.holes == [BITS[3]] and judged.wrong == []
    assert waivers(counts).holes == BITS[1:]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "toggle"\nat = ["x[1:0]"]', "fits 1 that were met, such as x[0]:0->1 (m.sv:6)"),
        ('kind = "toggle"\nat = ["y[0]"]', "'y[0]' fits nothing"),
        ('kind = "toggle"\nat = ["x[1]:1->0"]', "'x[1]:1->0' fits nothing"),
        ('kind = "line"\nat = ["x[1]"]', "fits nothing"),
        ('kind = "toggle"\nat = ["x[1]", "x[1:1]"]', ""),
    ],
)
def test_a_waiver_that_does_not_apply_is_wrong(waivers, text, said):
    wrong = waivers({BITS[0]: 1, BITS[1]: 0}, text).wrong
    assert any(said in line for line in wrong) if said else not wrong


def test_a_constant_may_begin(waivers):
    back = BITS[0]._replace(what="x[0]:1->0")
    text = 'kind = "toggle"\nat = "x[0]"'
    assert not waivers({BITS[0]: 1, back: 0}, text).wrong
    assert waivers({BITS[0]: 1, back: 0}, text.replace("0]", "0]:0->1")).holes == [back]
    assert waivers({BITS[0]: 0, back: 1}, text).wrong


def test_words_of_a_memory_are_one(tmp_path):
    file, data = tmp_path / "m.sv", tmp_path / "one.dat"
    file.write_text("logic [7:0] memory_q[DEPTH];\nlogic [1:0][7:0] packed_q;\n")
    data.write_text(
        "".join(
            point(file, line, 3, "toggle", f"gen[2].{name}[{word}][5]:0->1", count=word)
            for line, name in ((1, "memory_q"), (2, "packed_q"))
            for word in range(2)
        )
    )
    counts = {place.what: n for place, n in merged(read(data, tmp_path)).items()}
    packed = {f"gen[2].packed_q[{word}][5]:0->1": word for word in range(2)}
    assert counts == {"gen[2].memory_q[*][5]:0->1": 1} | packed


def test_counts_follow_what_they_counted(tmp_path):
    now = "// A comment.\n" + SOURCE.replace(" b : c", "\n    // why\n    b : c")
    counts = (
        point("m.sv", 2, 3, "line", "block", "2,4-5", 1)
        + point("m.sv", 2, 22, "branch", "cond_then", "2", 2)
        + point("m.sv", 6, 10, "toggle", "z:0->1", count=3)
        + point("other.sv", 2, 3, "line", "block", "2", 4)
    )
    moved = moved_counts(counts, {"m.sv": Moved(SOURCE, now)})
    assert moved == (
        point("m.sv", 3, 3, "line", "block", "3,5,7,8", 1)
        + point("m.sv", 5, 9, "branch", "cond_then", "3,5", 2)
        + point("m.sv", 9, 10, "toggle", "z:0->1", count=3)
        + point("other.sv", 2, 3, "line", "block", "2", 4)
    )


def test_two_waivers_of_a_place_are_wrong(waivers):
    text = 'kind = "toggle"\nat = "x[1]"'
    (wrong,) = waivers({BITS[1]: 0}, text, text).wrong
    assert "x[1]:0->1 has another waiver already" in wrong


def test_branches_of_a_line_are_told_apart(waivers):
    text = 'kind = "branch"\nat = "cond_then{}: assign y = *"'
    judged = waivers({FIRST: 1, SECOND: 0}, text.format(" #2"))
    assert [*judged.waived] == [SECOND] and not judged.wrong and not judged.holes
    assert waivers({FIRST: 1, SECOND: 0}, text.format("")).wrong


def test_a_part_of_a_file_is_named_by_its_lines(waivers):
    text = 'kind = ["line"]\nlines = ["function automatic int ends();", "endfunction"]'
    counts = {LINES[2]: 0} | {LINES[number]: 0 for number in (3, 4)}
    judged = waivers(counts, text)
    assert [*judged.waived] == [LINES[3], LINES[4]] and judged.holes == [LINES[2]]
    assert waivers(counts | {LINES[4]: 1}, text).wrong
    with pytest.raises(CoverageError, match="no such lines"):
        waivers(counts, text.replace("ends", "begins"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "toggles"\nat = "x"', "no such kind: 'toggles'"),
        ('kind = "toggle"', "neither at nor lines"),
        ('kind = "toggle"\nat = "x"\nwhy = "so"', "unknown key 'why'"),
        ('at = "x"', "no kind"),
        ('kind = "toggle', "waivers.toml: "),
    ],
)
def test_what_is_no_waiver_is_refused(waivers, text, said):
    with pytest.raises(CoverageError, match=said):
        waivers({BITS[0]: 0}, text)


def test_a_file_that_is_gone_is_refused(waivers):
    with pytest.raises(CoverageError, match=r"gone\.sv.*no such file"):
        waivers({BITS[0]: 0}, 'kind = "toggle"\nat = "x"', file="gone.sv")


@pytest.fixture
def merged_counts(tmp_path, monkeypatch):
    """Gives the command counts, in place of simulations, and the text of its waivers."""
    (tmp_path / "m.sv").write_text(SOURCE)
    for name in ("ROWS", "INFO", "WAIVED"):
        monkeypatch.setattr(command, name, tmp_path / getattr(command, name).name)
    for name, value in {
        "ROOT": tmp_path,
        "RUNS": (),
        "FILE": tmp_path / "waivers.toml",
        "simulate": lambda runs, workers, console: [],
        "require_usable": lambda simulator: None,
    }.items():
        monkeypatch.setattr(command, name, value)

    def give(counts, text="waiver = []"):
        (tmp_path / "waivers.toml").write_text(text)
        monkeypatch.setattr(command, "merge", lambda runs: Counter(counts))
        return command.main([])

    return give


def test_the_command_is_red_without_a_waiver(merged_counts, tmp_path, capsys):
    counts = {LINES[2]: 1, FIRST: 3, SECOND: 1, BITS[0]: 1, BITS[1]: 0}
    assert merged_counts(counts) == 1
    assert "not met: m.sv:6: toggle x[]: [1] 0->1" in capsys.readouterr().out
    waiver = '[[waiver]]\nfile = "m.sv"\nkind = "toggle"\nat = "x[1]"\n'
    waiver += 'group = "constant"\nreason = "so it is"\n'
    assert merged_counts(counts, waiver) == 0
    assert "0 holes without a waiver, 1 with one" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "code.json").read_text())
    found = {"lines": 1, "lines_hit": 1, "branches": 2, "branches_hit": 2}
    found |= {"toggles": 1, "toggles_hit": 1, "excluded": 1}
    assert row == {"file": "m.sv"} | found
    assert merged_counts(counts | {BITS[1]: 5}, waiver) == 1
    assert "wrong waiver: m.sv, toggle: 'x[1]' fits 1 that were met" in capsys.readouterr().out
    assert merged_counts(counts, "waivers = []") == 2
    assert command.main(["--workers", "0"]) == 2
    assert "code coverage: WORKERS=0: must be a whole number, 1 to 64\n" in capsys.readouterr().err


def test_a_run_that_fails_is_red(monkeypatch, merged_counts, capsys):
    monkeypatch.setattr(command, "simulate", lambda runs, workers, console: ["m failed: y is 3"])
    assert merged_counts({}) == 1
    assert "m failed: y is 3" in capsys.readouterr().out


class Simulation:
    """Ends with a message, or passes."""

    def __init__(self, name, message="", done=False):
        self.name, self.message, self.done = name, message, done

    def is_done(self):
        return self.done

    def do(self):
        return self.message


def test_what_fails_of_the_runs_is_told():
    some = [Simulation("a"), Simulation("b", "y is 3"), Simulation("c", "not again", done=True)]
    assert command.simulate(some, 1, Console(quiet=True)) == ["b failed: y is 3"]


def test_a_run_is_done_again_on_other_rtl(tmp_path, monkeypatch):
    file, keys = tmp_path / "m.sv", set()
    monkeypatch.setattr(units, "_files", lambda bench: [file])
    monkeypatch.setattr(units, "version_of", lambda simulator: "5")
    for text in ("one", "other"):
        file.write_text(text)
        keys.add(RUNS[0].key())
    assert len(keys) == 2


def test_the_shipped_runs_and_waivers():
    assert len({run.name for run in RUNS}) == len(RUNS)
    waivers = load(FILE)
    sources = Sources(ROOT, ())
    for waiver in waivers:
        for name in waiver.files:
            files = fnmatch.filter(rtl_files(), name)
            assert waiver.reason and files, waiver
            assert all(sources.part(file, waiver) for file in files)
