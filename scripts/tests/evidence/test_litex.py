"""`make litex-sim`: the engine on the bus of a LiteX SoC, and the words of its program."""

import importlib.util
import re
import struct
from pathlib import Path

import pytest

from pymodel.arith.errors import InputError
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from scripts.evidence import litex_sim
from scripts.evidence.litex_sim import BUSES, difference, rom_words, said_by
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT

pytestmark = pytest.mark.rtl_of("step_engine")
needs_litex = pytest.mark.skipif(
    importlib.util.find_spec("litex") is None, reason="no LiteX: `make litex-sim` installs it"
)
needs_elftools = pytest.mark.skipif(
    importlib.util.find_spec("elftools") is None, reason="no pyelftools: as LiteX"
)
PRINTED = "[clocker] loaded\n3f800000\r\n00000001\r\ndone 00000003 000000ff 00000001 00000001\n"


def test_the_words_that_a_program_sends():
    said = said_by(PRINTED)
    assert said.words == [0x3F800000, 1]
    assert said[1:] == (3, 255, 1, 1)


@pytest.mark.parametrize("printed", ["3f800000\n", "3f800000\nstatus 00000006\n", "done 3\n", ""])
def test_a_program_without_an_end_fails(printed):
    with pytest.raises(CostError, match="status 00000006" if "status" in printed else "no last"):
        said_by(printed)


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ([1, 2, 3], None),
        ([1, 2], "2 words, the model has 3"),
        ([1, 2, 3, 3], "4 words, the model has 3"),
        ([1, 6, 4], "word 1 is 00000006, the model's 00000002"),
    ],
)
def test_what_differs_is_named(got, said):
    assert difference(got, [1, 2, 3]) == said


def test_refused(capsys):
    assert litex_sim.main(["--bus", "pci"]) == litex_sim.main(["--steps", "0"]) == 2
    assert "axi-lite" in capsys.readouterr().err


def test_the_nightly_runs_it():
    nightly = (ROOT / ".github/workflows/nightly.yml").read_text()
    assert all(f"make litex-sim BUS={bus}" in nightly for bus in BUSES)


@needs_elftools
def test_a_rom_has_all_segments_at_their_places(tmp_path):
    """Where they are loaded, not where they run; without memory that is only cleared."""
    parts = [(0, 0, b"\1\2\3\4\5"), (0x1000, 12, b"\7" * 6), (0x2000, 0x2000, b"")]
    at = 52 + 32 * len(parts)
    headers, data = b"", b""
    for virtual, physical, part in parts:
        header = (1, at + len(data), virtual, physical, len(part), len(part) or 64, 5, 4)
        headers, data = headers + struct.pack("<8I", *header), data + part
    elf = b"\x7fELF\1\1\1" + bytes(9)
    elf += struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, 0, 52, 0, 0, 52, 32, len(parts), 40, 0, 0)
    (tmp_path / "x.elf").write_bytes(elf + headers + data)
    assert rom_words(tmp_path / "x.elf") == [0x04030201, 5, 0, 0x07070707, 0x0707]


class Platform:
    """What the wrapper needs of LiteX' platforms."""

    def __init__(self):
        self.sources = []

    def add_source(self, file, language):
        self.sources.append((file, language))


@needs_litex
def test_all_ports_are_connected():
    """Verilator only warns of one that is open, and LiteX ignores its warnings."""
    from migen import Instance

    from pymodel.hardware.litex_engine import StepEngine

    machine, platform = Machine(adders=1, multipliers=3), Platform()
    engine = StepEngine(platform, machine, TRACE_DEPTH=64)
    (instance,) = (x for x in engine.get_fragment().specials if isinstance(x, Instance))
    head = (ROOT / "rtl/top/step_engine.sv").read_text().partition("\n);")[0]
    ports = re.findall(r"^  (input|output) +logic (?:\[.*\])? *(\w+)", head, re.M)
    kinds = {"input": Instance.Input, "output": Instance.Output}
    given = {x.name: type(x) for x in instance.items if not isinstance(x, Instance.Parameter)}
    assert len(ports) == 22 and given == {name: kinds[kind] for kind, name in ports}
    parameters = {x.name: x.value for x in instance.items if isinstance(x, Instance.Parameter)}
    assert parameters == rtl_parameters(machine) | {"TRACE_DEPTH": 64}
    (addresses,) = {len(x.expr) for x in instance.items if x.name.endswith("addr")}
    assert addresses == 12
    first, last = (Path(platform.sources[at][0]).name for at in (0, -1))
    assert (first, last) == ("fp_pkg.sv", "step_engine.sv")
    with pytest.raises(InputError, match="NUM_ADD: not one of TRACE_DEPTH, BLOCK_RAM"):
        StepEngine(platform, machine, NUM_ADD=2)


@needs_litex
@pytest.mark.parametrize("bus", BUSES)
def test_a_soc_has_a_window_and_an_interrupt(bus):
    soc = litex_sim.system(Machine(), bus)
    window = soc.bus.regions["step_engine"]
    assert window.size == 4096 and not window.cached
    assert soc.irq.locs["step_engine"] != soc.irq.locs["uart"]
