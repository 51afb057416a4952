"""`make litex-sim`: a LiteX SoC whose processor runs the double pendulum on a step engine.

The SoC is a VexRiscv with ROM, RAM and UART of LiteX, and the engine on its bus
(pymodel/hardware/litex_engine.py). Its program is boards/litex/main.c with the C driver of sw,
compiled for RV32IM by Zig's clang; LiteX' own Verilator simulation runs it. What it sends over the
UART is compared with the model, word for word. Exit status 1 if anything differs, 2 for bad input
or where something is missing.
"""

import logging
import os
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pymodel.app.options import OptionParser, one_of, whole
from pymodel.arith.errors import Error
from pymodel.hardware.cosim.board import SAME, SCENARIO, c_files
from pymodel.hardware.simulators import require_usable
from pymodel.machine.isa import Machine
from scripts.kernel.errors import CostError
from scripts.kernel.places import BUILD, ROOT
from scripts.kernel.set_up import add_set_up, set_up

STEPS, MOST_STEPS = 200, 10_000
WISHBONE, AXI_LITE = BUSES = ("wishbone", "axi-lite")
OUT = BUILD / "litex-sim"
SOURCES = tuple(ROOT / file for file in ("boards/litex/main.c", "sw/step_engine.c"))
TARGET = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-mabi=ilp32")
FLAGS = ("-std=gnu11", "-Os", "-ffunction-sections", "-fno-sanitize=undefined", "-Wall", "-Werror")
CLOCK_HZ = 1_000_000  # of LiteX' simulation, which takes it for nothing but its UART's time
ROM_BYTES, RAM_BYTES, WORD_BYTES = 1 << 16, 1 << 13, 4
COMPILE_LIMIT_S, BUILD_LIMIT_S = 900, 1800
RUN_LIMIT_S, STEP_LIMIT_S = 600, 5  # a run, and what each step may take besides
DONE, DIFFERS, BAD_INPUT = 0, 1, 2
HEX = "[0-9a-f]{8}"
END = re.compile("done" + f" ({HEX})" * 4)


class Said(NamedTuple):
    """What the SoC's program sent.

    Attributes
    ----------
    words
        Of the trace.
    steps, cycles, flags, interrupts
        Of its last line.
    """

    words: list[int]
    steps: int
    cycles: int
    flags: int
    interrupts: int


def system(machine: Machine, bus: str) -> Any:
    """The SoC, finalized, with an empty ROM.

    Parameters
    ----------
    machine
        Of the engine on it.
    bus
        Standard of the SoC's own bus, one of `BUSES`.
    """
    from litex.build.generic_platform import Pins, Subsignal
    from litex.build.io import CRG
    from litex.build.sim import SimPlatform
    from litex.soc.integration.soc_core import SoCCore

    from pymodel.hardware.litex_engine import add_step_engine

    serial = [
        Subsignal(f"{side}_{name}", Pins(bits))
        for side in ("source", "sink")
        for name, bits in (("valid", 1), ("ready", 1), ("data", 8))
    ]
    platform = SimPlatform("SIM", [("sys_clk", 0, Pins(1)), ("serial", 0, *serial)])
    soc = SoCCore(
        platform,
        clk_freq=CLOCK_HZ,
        cpu_type="vexriscv",
        bus_standard=bus,
        integrated_rom_size=ROM_BYTES,
        integrated_sram_size=RAM_BYTES,
        uart_name="sim",
        with_timer=False,
    )
    soc.crg = CRG(platform.request("sys_clk"))
    platform.add_debug(soc)  # `sim_finish`, by which the program ends the simulation
    add_step_engine(soc, machine=machine)
    soc.finalize()
    return soc


def firmware(soc: Any, image: bytes, folder: Path) -> list[int]:
    """Words of the ROM: the program, compiled for the SoC's processor, with an image.

    Raises
    ------
    CostError
        If the compiler has something to say.
    """
    import litex
    from litex.soc.integration import export

    generated = folder / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    regions, csr = soc.mem_regions, soc.mem_regions["csr"].origin
    texts = {
        "output_format.ld": export.get_linker_output_format(soc.cpu),
        "regions.ld": export.get_linker_regions(regions),
        "mem.h": export.get_mem_header(regions),
        "soc.h": export.get_soc_header(soc.constants),
        "csr.h": export.get_csr_header(soc.csr_regions, soc.constants, csr),
    }
    for name, text in texts.items():
        (generated / name).write_text(text)
    numbers = ",".join(map(str, image))
    (folder / "image.c").write_text(
        f"const unsigned char image_bytes[] __attribute__((aligned(4))) = {{{numbers}}};\n"
        "const unsigned int image_size = sizeof image_bytes;\n"
    )
    theirs = Path(litex.__file__).parent / "soc"
    cpu, software = theirs / "cores" / "cpu" / "vexriscv", theirs / "software"
    includes = [ROOT / "sw", folder, cpu, software / "include", software]
    files = [cpu / "crt0.S", *SOURCES, folder / "image.c"]
    program = folder / "firmware.elf"
    script = ["-T", software / "bios" / "linker.ld", "-L", folder, "-o", program]
    options = [*TARGET, *FLAGS, *(f"-I{path}" for path in includes)]
    command = [sys.executable, "-m", "ziglang", "cc", *options, *files, *script]
    _run([str(word) for word in command], folder, "firmware.log", COMPILE_LIMIT_S)
    return rom_words(program)


def rom_words(program: Path) -> list[int]:
    """Words from address 0 on of what an ELF file says is to be loaded."""
    from elftools.elf.elffile import ELFFile

    rom = bytearray()
    with program.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            start, data = segment["p_paddr"], segment.data()
            if data:
                rom.extend(bytes(max(0, start + len(data) - len(rom))))
                rom[start : start + len(data)] = data
    rom.extend(bytes(-len(rom) % WORD_BYTES))
    return [word for (word,) in struct.iter_unpack("<I", rom)]


def _run(command: list[str], folder: Path, log: str, limit_s: float) -> str:
    """Run a command in a folder; what it says goes to a file there.

    Raises
    ------
    CostError
        If it fails, or takes too long.
    """
    with (folder / log).open("w") as file:
        kept = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": subprocess.STDOUT}
        try:
            status = subprocess.run(command, cwd=folder, timeout=limit_s, **kept).returncode
        except subprocess.TimeoutExpired:
            raise CostError(f"still running after {limit_s:.0f} s ({folder / log})") from None
    said = (folder / log).read_text(errors="replace")
    if status:
        errors = [line for line in said.splitlines() if re.search("error", line, re.I)]
        raise CostError(f"{(errors or ['exit status ' + str(status)])[0]} ({folder / log})")
    return said


def build(soc: Any, folder: Path) -> None:
    """Have LiteX write the Verilog and its harness, and compile them with Verilator.

    Raises
    ------
    CostError
        If Verilator or the compiler fails.
    """
    from litex.build.sim.config import SimConfig

    config = SimConfig()
    config.add_clocker("sys_clk", freq_hz=CLOCK_HZ)
    config.add_module("serial2console", "serial")
    options = {"jobs": os.cpu_count(), "opt_level": "O1", "sim_config": config}
    soc.build(build_dir=str(folder), run=False, **options)
    _run(["bash", "build_sim.sh"], folder, "build.log", BUILD_LIMIT_S)


def said_by(output: str) -> Said:
    """What the SoC's program sent, in all that the simulation prints.

    Raises
    ------
    CostError
        If it says that it failed, or did not come to its end.
    """
    lines = [line.strip() for line in output.splitlines()]
    failed = next((line for line in lines if line.startswith("status ")), "no last line")
    end = next(filter(None, (END.fullmatch(line) for line in lines)), None)
    if end is None:
        raise CostError(f"the program did not come to its end: {failed}")
    words = [int(line, 16) for line in lines if re.fullmatch(HEX, line)]
    return Said(words, *(int(word, 16) for word in end.groups()))


def difference(got: Sequence[int], wanted: Sequence[int]) -> str | None:
    """The first word that differs, or that there are more or fewer; None if all are the same."""
    for at, (word, model) in enumerate(zip(got, wanted, strict=False)):
        if word != model:
            return f"word {at} is {word:08x}, the model's {model:08x}"
    return None if len(got) == len(wanted) else f"{len(got)} words, the model has {len(wanted)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.litex_sim", description=__doc__.splitlines()[0])
    add = parser.add_argument
    steps = whole("STEPS", 1, MOST_STEPS)
    add("--steps", type=steps, default=STEPS, help=f"of the pendulum (default {STEPS})")
    add("--bus", type=one_of("BUS", *BUSES), default=WISHBONE, help="of the SoC (default wishbone)")
    add_set_up(parser)
    try:
        asked = parser.parse_args(arguments)
        set_up(asked.set_up)
        require_usable("verilator")
        return _simulated(OUT / asked.bus, asked.steps, asked.bus)
    except Error as error:
        print(f"litex-sim: {error}", file=sys.stderr)
        return BAD_INPUT


def _simulated(folder: Path, steps: int, bus: str) -> int:
    logging.disable(logging.INFO)  # LiteX describes the SoC in 200 lines
    machine = Machine()
    image, file = (Path(name) for name in c_files(folder, machine, steps))
    wanted = [int(line, 16) for line in file.read_text().split()]
    soc = system(machine, bus)
    soc.init_rom("rom", firmware(soc, image.read_bytes(), folder))
    build(soc, folder)
    command = [str(folder / "obj_dir" / "Vsim")]
    said = said_by(_run(command, folder, "run.log", RUN_LIMIT_S + STEP_LIMIT_S * steps))
    if differs := difference(said.words, wanted):
        print(f"litex-sim: {differs}", file=sys.stderr)
        return DIFFERS
    print(
        f"{SCENARIO}, {said.steps} steps by a VexRiscv over {bus}: {said.cycles} cycles of the "
        f"engine, {said.interrupts} interrupt, {len(wanted)} words {SAME}"
    )
    return DONE
