"""What is written by hand about the numbers, compared with the generated tables."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.machine.isa import Machine
from scripts.cost.sections.lanes import CHOICE

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = Machine()
STAGES = (DEFAULT.add_stages, DEFAULT.mul_stages, DEFAULT.rec_stages, DEFAULT.sincos_stages)
README, RESULTS, COST = "README.md", "docs/results.md", "docs/hardware_cost.md"
NATIVE = "docs/native_results.md"

#: (what README says, the number in it in groups), (where it stands, too), as regular expressions.
QUOTED = [
    (r"([\d.]+) mJ from .* at worst", RESULTS, r"run − reference, largest \[mJ\] \| ([\d.]+)"),
    (r"of which ([\d.]+) mJ is rounding and", RESULTS, r"that is rounding \[mJ\] \| ([\d.]+)"),
    (r"closed to ([\d.e-]+) m\.", RESULTS, r"vector loop length, largest \[m\] \| ([\d.e-]+)"),
    (r"step costs (\d+) bus", RESULTS, r"bus included \|  \| ([\d.]+)"),
    (r"engine needs (\d+) for", RESULTS, r"\| double_pendulum \| 1 \|(?:[^|]*\|){2} ([\d.]+)"),
    (r"lanes take ([\d.]+) each", RESULTS, r"\| double_pendulum \| 8 \|(?:[^|]*\|){3} ([\d.]+)"),
    (r"estimates (\d+) MHz", COST, r"- 2\+2 lanes: ([\d.]+) MHz"),
    (r"counts (\d+)\s+DSP48E1", COST, r"- 2\+2 lanes: (\d+) DSP48E1"),
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
    assert text + f"{DEFAULT.multipliers} lanes" in CHOICE
    assert CHOICE in (ROOT / COST).read_text()


EXAMPLES = [
    pytest.param(path, code, id=f"{path.stem}-{number}")
    for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "sw/README.md")
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.S))
]


@pytest.mark.rtl_of()
@pytest.mark.parametrize(("path", "code"), EXAMPLES)
def test_examples_run(path, code):
    """The Python that the documents show does something, and ends well."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


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
