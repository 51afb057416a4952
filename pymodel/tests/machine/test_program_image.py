"""Program images: what was written is read, and what is damaged is refused."""

import re
import struct

import pytest

from pymodel.compile.kernel import record
from pymodel.machine.image_format import HEADER, RECORDS, WORD_BYTES
from pymodel.machine.isa import Machine, ProgramError
from pymodel.machine.program_image import ImageError, ProgramImage, identity
from pymodel.mechanism.scenario_file import load
from pymodel.runs.compiled import library_image, run_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.runs.engine_runs import prepare
from pymodel.tests.places import ROOT, SCENARIOS

pytestmark = pytest.mark.reads("docs")


def scaled(arithmetic, values):
    return {"ä": values["k"] * values["a"], "sum": values["a"] + values["x"], "x": values["a"]}


@pytest.fixture
def image():
    kernel = record(scaled, "a", "x", {"k": 2.0})
    library = prepare_library(Machine(1, 1), {"one": kernel, "two": kernel})
    return library_image(library, {"two": {"x": 7}})


def test_what_is_written_is_read(image):
    assert ProgramImage.decode(image.encode()) == image
    one, two = image.programs
    assert (one.initial, two.initial) == ({"x": 0}, {"x": 7})
    assert two.start == one.main and two.entry == one.traced == 3
    assert [*two.after] == ["ä", "sum"] and [*two.before] == ["x"]


def test_a_run_is_written_and_read():
    scenario = load(SCENARIOS / "four_bar.toml")
    run = prepare(Machine(), [scenario], rebase=4)
    image = run_image(run)
    assert ProgramImage.decode(image.encode()) == image
    (program,) = image.programs
    assert (program.steps, program.save, program.every) == (run.steps, run.save, 4)
    assert program.main + program.special + program.prologue == len(image.words)
    assert program.prologue, "nothing to gain?"
    assert "q[0]" in program.before and image.machine == Machine()
    homes = image.parameters | program.carried
    bits = image.bits | program.initial
    assert {homes[name]: bits[name] for name in homes} == run.image


def test_interleaved_runs_keep_their_systems_apart():
    scenario = load(SCENARIOS / "double_pendulum.toml")
    image = run_image(prepare(Machine(), [scenario, scenario]))
    assert {"0: q[0]", "1: q[0]"} <= image.programs[0].carried.keys()


@pytest.mark.parametrize(
    "machine", [Machine(), Machine(7, 9, 0, 1, 2, 4, depth=256)], ids=lambda m: f"{m.adders}"
)
def test_the_machine_is_found_in_it(machine):
    kernel = record(scaled, "a", "x", {"k": 2.0})
    image = library_image(prepare_library(machine, {"one": kernel}))
    assert ProgramImage.decode(image.encode()).machine == machine


def test_machines_that_no_engine_is():
    assert identity(Machine(255, 255)) != identity(Machine())
    for lanes, said in (((2, 256), "multipliers is 256"), ((256, 2), "adders is 256")):
        with pytest.raises(ValueError, match=f"{said}, must be 1 to 255"):
            Machine(*lanes)
    kernel = record(scaled, "a", "x", {"k": 2.0})
    wide = library_image(prepare_library(Machine(40, 40), {"one": kernel}))
    with pytest.raises(ProgramError, match=r"words of \d+ bits; an engine takes 2048"):
        wide.encode()


def test_a_barrel_has_no_image():
    barrel, kernel = Machine(contexts=2), record(scaled, "a", "x", {"k": 2.0})
    library = prepare_library(barrel, {"one": kernel})
    with pytest.raises(ProgramError, match="for one context, the engine has 2"):
        library_image(library)
    with pytest.raises(ProgramError, match="for one context, the engine has 2"):
        run_image(prepare(barrel, [load(SCENARIOS / "double_pendulum.toml")] * 2))


def test_a_trace_list_that_is_too_short():
    kernel = record(scaled, "a", "x", {"k": 2.0})
    library = prepare_library(Machine(trace_registers=2), {"one": kernel})
    with pytest.raises(ProgramError, match="3 registers are traced, the engine's list has 2"):
        library_image(library)


def test_every_truncation_and_every_changed_byte_is_refused(image):
    data = image.encode()
    for size in range(len(data)):
        with pytest.raises(ImageError, match="cut short"):
            ProgramImage.decode(data[:size])
    with pytest.raises(ImageError, match="cut short: 0 bytes, 56 or more when written"):
        ProgramImage.decode(b"")
    with pytest.raises(ImageError, match="cut short"):
        ProgramImage.decode(data + b"\0")
    said = {0: "no program image", 1: "version", 2: "cut short"}
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        with pytest.raises(ImageError, match=said.get(at // WORD_BYTES, "checksum")):
            ProgramImage.decode(changed)


def test_the_format_is_as_documented():
    """Header and C constants say the same words; the checksum covers what stands behind it."""
    page = (ROOT / "docs" / "program_image.md").read_text()
    header = (ROOT / "sw" / "step_image.h").read_text()
    for record_ in RECORDS:
        for number, field in enumerate(record_.fields):
            text = field.text.replace("|", "\\|")
            assert f"| {number} | {field.name} | {text} |" in page
            assert re.search(rf"STEP_IMAGE_{record_.name}_{field.name} {number}u ", header)
    assert struct.pack("<I", 0x49505453) == b"STPI" and "0x49505453u" in header
    assert HEADER.place("CHECK") == 3
