"""What is written by hand about the numbers, compared with the generated tables."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.hardware.simulators import usable
from pymodel.machine.isa import Machine
from scripts.dev import commands_page
from scripts.evidence.cost.document import PAGE

ROOT = Path(__file__).resolve().parents[3]
DEFAULT = Machine()
STAGES = (DEFAULT.add_stages, DEFAULT.mul_stages, DEFAULT.rec_stages, DEFAULT.sincos_stages)
README, RESULTS, COST = "README.md", "docs/results.md", "docs/hardware_cost.md"
NATIVE, BENCHES = "docs/native_results.md", "docs/benches.md"

#: (what README says, the number in it in groups), (where it stands, too), as regular expressions.
QUOTED = [
    (r"([\d.]+) mJ from .* at worst", RESULTS, r"run − reference, largest \[mJ\] \| ([\d.]+)"),
    (r"of which ([\d.]+) mJ is\s+rounding and", RESULTS, r"that is rounding \[mJ\] \| ([\d.]+)"),
    (r"closed to ([\d.e-]+) m\.", RESULTS, r"vector loop length, largest \[m\] \| ([\d.e-]+)"),
    (r"step costs (\d+) bus", RESULTS, r"bus included \|  \| ([\d.]+)"),
    (
        r"takes the engine (\d+) cycles",
        RESULTS,
        r"\| double_pendulum \| 1 \|(?:[^|]*\|){2} ([\d.]+)",
    ),
    (r"lanes take ([\d.]+) each", RESULTS, r"\| double_pendulum \| 8 \|(?:[^|]*\|){3} ([\d.]+)"),
    (r"estimates (\d+) MHz", COST, r"\| `step_engine`, 2\+2 lanes \| \d \| ([\d.]+)"),
    (r"counts\s+(\d+)\s+DSP48E1", COST, r"- 2\+2 lanes: (\d+) DSP48E1"),
    (r"DSP48E1 and (\d\d)00 LUT", COST, r"- 2\+2 lanes: (\d\d)\d\d LUT"),
]


def number(file, pattern):
    """The first number that a pattern finds in a file, as text."""
    found = re.search(pattern, (ROOT / file).read_text())
    assert found, f"{file} has no {pattern}"
    return found[1]


@pytest.mark.rtl_of()
@pytest.mark.parametrize(("quote", "file", "source"), QUOTED, ids=lambda text: text[:24])
def test_readme_quotes_the_tables(quote, file, source):
    said, measured = number(README, quote), number(file, source)
    mantissa = said.partition("e")[0]
    places = len(mantissa.partition(".")[2])
    form = f".{places}{'e' if 'e' in said else 'f'}"
    assert float(said) == float(format(float(measured), form)), f"{file}: {measured}"


@pytest.mark.rtl_of()
@pytest.mark.parametrize(
    ("form", "mode", "quote"),
    [
        ("float32", "batch of", r"1/(\d+) to\s+1/(\d+) of the time of Pinocchio"),
        ("float64", "one", r"they\s+are ([\d.]+) to ([\d.]+) times as fast"),
    ],
)
def test_readme_quotes_the_ratios_to_pinocchio(form, mode, quote):
    """The least and the largest one of ID and FD, of all robots."""
    row = rf"\| \w+ (?:ID|FD) \| {form} \| {mode}[^|]*\| Pinocchio \w+ \|(?:[^|]*\|){{2}} ([\d.]+)"
    found = [float(ratio) for ratio in re.findall(row, (ROOT / NATIVE).read_text())]
    assert len(found) == 6
    said = re.search(quote, (ROOT / README).read_text()).groups()
    for number, ratio in zip(said, (min(found), max(found)), strict=True):
        assert number == format(ratio, f".{len(number.partition('.')[2])}f")


@pytest.mark.rtl_of()
def test_the_tables_are_of_the_default_stages():
    stages = ", ".join(map(str, STAGES))
    assert f"the step engine's have {stages} stages" in (ROOT / RESULTS).read_text()


@pytest.mark.rtl_of()
def test_the_choice_is_that_of_the_defaults():
    *others, last = STAGES
    text = f"{', '.join(map(str, others))} and {last} stages on {DEFAULT.adders} + "
    choice = re.search(r"^The defaults are .*?\n\n", PAGE.read_text(), re.M | re.S)[0]
    assert text + f"{DEFAULT.multipliers} lanes" in choice
    assert choice in (ROOT / COST).read_text()


EXAMPLES = [
    pytest.param(path, code, id=f"{path.stem}-{number}")
    for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / README, ROOT / "sw/README.md")
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.S))
]


@pytest.mark.nightly(every=3)
@pytest.mark.rtl_of()
@pytest.mark.parametrize(("path", "code"), EXAMPLES)
def test_examples_run(path, code):
    """The Python that the documents show does something, and ends well."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.skipif(not usable("verilator"), reason="no Verilator")
def test_the_instance_on_a_board_is_one(tmp_path):
    """It passes Verilator's -Wall, and its parameters are those that `compile` prints."""
    page = (ROOT / "docs/on_a_board.md").read_text()
    (code,) = re.findall(r"```systemverilog\n(.*?)```", page, re.S)
    (tmp_path / "my_top.sv").write_text(code)
    command = ["verilator", "--lint-only", "-Wall", "--top", "my_top", "rtl/lint.vlt"]
    command += ["-f", "rtl/rtl.f", str(tmp_path / "my_top.sv")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (words,) = re.findall(r"pymodel (compile .*?) --out", page)
    image = str(tmp_path / "arm")
    words = [sys.executable, "-m", "pymodel", *words.split(), "--out", image]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (printed,) = re.findall(r"\d+ words of .*\nfor .*\n", said)
    assert f"```\n{printed}```" in page
    numbers = {int(number) for _, number in re.findall(r"\.(\w+)\((\d+)\)", code)}
    assert set(map(int, re.findall(r"\d+", printed.partition("for")[2]))) <= numbers
    for name in ("DEPTH", "PROGRAM_DEPTH", "TRACE_REGISTERS", "PROGRAMS"):
        (number,) = re.findall(rf"\b{name} (\d+)", printed)
        assert f".{name}({number})" in code


def anchors(text):
    """The names of its headings in links, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"\]\(.*?\)", "", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.rtl_of()
def test_links_lead_somewhere():
    """Files and headings that the documents link."""
    pages = [
        ROOT / README,
        ROOT / "CONTRIBUTING.md",
        ROOT / "sw/README.md",
        ROOT / "robots/README.md",
    ]
    pages += (ROOT / "docs").glob("*.md")
    lost = []
    for page in pages:
        for link in re.findall(r"\]\((?!http)([^()\s]+)\)", page.read_text()):
            name, _, heading = link.partition("#")
            file = page.parent / name if name else page
            if not file.exists() or (heading and heading not in anchors(file.read_text())):
                lost.append((str(page.relative_to(ROOT)), link))
    assert not lost


@pytest.mark.rtl_of()
def test_the_page_of_benches_has_every_one():
    """Its table: every folder that `make <bench>` takes."""
    section = (ROOT / BENCHES).read_text().partition("\n## The benches\n")[2]
    first_cells = re.findall(r"^\| (`[^|]*) \|", section.partition("\n```")[0], re.M)
    rows = re.findall(r"`(\w+)`", " ".join(first_cells))
    benches = {file.parent.name for file in (ROOT / "tb").glob("*/Makefile")}
    lacking, others = sorted(benches - set(rows)), sorted(set(rows) - benches)
    assert not lacking, f"{BENCHES}: no row for {lacking}"
    assert not others, f"{BENCHES}: {others} are no folders of tb with a Makefile"
    assert len(rows) == len(benches), f"{BENCHES}: two rows for one"


def test_the_page_of_commands_is_that_of_the_options():
    assert commands_page.PAGE.read_text() == commands_page.document(), "stale: make reference"


def test_readme_is_short():
    assert (ROOT / README).stat().st_size <= 6500


def texts():
    """What names files of the repository: documents, RTL, the Makefile."""
    tops = [ROOT / name for name in (README, "CONTRIBUTING.md", "Makefile")]
    return [*tops, *(ROOT / "docs").glob("*.md"), *(ROOT / "rtl").rglob("*.sv")]


def test_files_that_are_named_exist():
    """A file that moved takes its mentions along."""
    path = re.compile(r"\b(?:scripts|pymodel|tb|rtl|docs|sw)/[\w/]+\.(?:py|svh?|md|sh|h)\b")
    named = [(text, name) for text in texts() for name in path.findall(text.read_text())]
    assert len(named) > 20
    gone = {
        (str(text.relative_to(ROOT)), name) for text, name in named if not (ROOT / name).exists()
    }
    assert not gone
