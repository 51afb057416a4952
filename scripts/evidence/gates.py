"""`make gate-level`: benches on the netlist that is placed, in the place of the RTL.

Yosys makes the netlist as for a bitstream, and registers are moved into its multipliers and block
RAM (evidence.cost.fold). Its cells come from Yosys' library (LUT4, CCU2C,
TRELLIS_FF, ...); block RAM, multipliers and the PLL are empty boxes there, and come from
boards/cells, whose models are ours. Verilator simulates.

- `engine`: the step engine's bench, its configuration `default` unless CONFIG names another;
- `pendulum`: the double pendulum on that netlist, 200 steps, every word compared with the model;
- `board`, if asked for: the netlist that `make bitstream` has left, the one that it places, at its
  pins, and a host's program at the other end of the line that runs the pendulum, 20 steps.

Exit status 1 if anything differs, 2 for bad input or a tool that is missing or fails.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodel.app.options import OptionParser, one_of
from pymodel.arith.errors import Error
from pymodel.hardware.cosim import board, step
from pymodel.hardware.results import LEFT_OUT
from scripts.evidence import bitstream
from scripts.evidence.cost import fold
from scripts.evidence.ecp5_cells import CELLS, check_cells, library
from scripts.kernel import tools
from scripts.kernel.digest import key_of
from scripts.kernel.errors import CostError
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT
from scripts.kernel.set_up import add_set_up, set_up
from scripts.kernel.tools import YOSYS
from tb.step_engine.bench import BENCH as ENGINE

OUT = Path("build/gates")
SIMULATOR = "verilator"
PARTS = ("engine", "pendulum", "board")
TOP = "step_engine"
STEPS, BOARD_STEPS = 200, 20
DONE, DIFFERS, BAD_INPUT = 0, 1, 2
#: Rules of Verilator that the texts of Yosys and names of cells do not keep.
ALLOWED = tuple(
    f" -rule {rule}"
    for rule in ("WIDTH", "WIDTHCONCAT", "PINMISSING", "UNOPTFLAT", "INITIALDLY", "MULTIDRIVEN")
)


def header(file: Path) -> str:
    """The text of the module that a file has, from its name to its ports."""
    found = re.search(rf"^module {file.stem}\b.*?^\);", file.read_text(), re.M | re.S)
    assert found, file
    return found[0]


@dataclasses.dataclass(frozen=True)
class Netlist:
    """A netlist that takes a module's place.

    Attributes
    ----------
    rtl : tuple of Path
        Files of the module and what it needs, in compile order; the last one is the module's.
    file : Path
        The netlist as Yosys' JSON, relative to ROOT.
    top : str
        The netlist's top.
    pins : dict
        Port of the netlist -> that of the module; empty: the same names.
    """

    rtl: tuple[Path, ...]
    file: Path
    top: str
    pins: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def sources(self) -> list[Path]:
        """Write what is simulated in the module's place; all files, in compile order.

        Raises
        ------
        CostError
            If Yosys fails, or there is a cell without a model.
        """
        module, place = self.rtl[-1].stem, OUT / f"{self.file.parent.name}-{self.file.stem}"
        (ROOT / place).mkdir(parents=True, exist_ok=True)
        gates = f"{module}_gates"
        file, shell, rules = (
            ROOT / place / name for name in (f"{gates}.v", f"{module}.sv", "lint.vlt")
        )
        design = json.loads((ROOT / self.file).read_text())["modules"][self.top]
        check_cells(design["cells"])
        script = f"read_json {self.file}; splitnets; rename {self.top} {gates}; "
        script += f"select {gates}; write_verilog -noattr -selected {place}/{gates}.v"
        tools.run(YOSYS, ["-q", "-p", script], place / "yosys.log")
        file.write_text(library() + file.read_text())
        pins = {name: self.pins.get(name, "" if self.pins else name) for name in design["ports"]}
        links = ", ".join(f".{pin}({port})" for pin, port in pins.items())
        shell.write_text(f"{header(self.rtl[-1])}\n  {gates} u_gates ({links});\nendmodule\n")
        lines = ["`verilator_config"]
        for path in (file, shell, f"{CELLS}/*"):
            lines += [f'lint_off{rule} -file "{path}"' for rule in ("", *ALLOWED)]
        rules.write_text("\n".join([*lines, ""]))
        packages = [path for path in self.rtl if path.stem.endswith("_pkg")]
        return [rules, *packages, *sorted(CELLS.glob("*.sv")), file, shell]


def synthesised(rtl: Sequence[Path], parameters: Mapping[str, int]) -> Netlist:
    """The netlist of a module, made as for a bitstream; one of the same sources is taken as it is.

    Parameters
    ----------
    rtl
        Its files, as of :class:`Netlist`.
    parameters
        Of the module.

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    """
    module, sources = rtl[-1].stem, [path.relative_to(ROOT).as_posix() for path in rtl]
    values = "".join(f" -G {name}={value}" for name, value in parameters.items())
    script = f"read_slang -j1 -D FP_MUL_DSP_W=18 --top {module}{values} {' '.join(sources)}; "
    script += f"synth_ecp5 -top {module} -json {{}}"
    base = OUT / f"{module}-{key_of([*sources, fold.__file__], script)[:12]}"
    file, mapped, folded = (base.with_suffix(f".{end}") for end in ("json", "yosys", "folded"))
    if not (ROOT / file).exists():
        (ROOT / OUT).mkdir(parents=True, exist_ok=True)
        tools.run(YOSYS, ["-q", "-p", script.format(mapped)], base.with_suffix(".log"))
        print(f"{module}: {fold.fold_file(ROOT / mapped, ROOT / folded)}", flush=True)
        (ROOT / folded).replace(ROOT / file)
    return Netlist(tuple(rtl), file, module)


def of_engine(config: str) -> Netlist:
    """The netlist of the step engine of a configuration of its bench."""
    return synthesised(_rtl_of(TOP), ENGINE.configs[config].params)


def of_board(name: str) -> tuple[Netlist, int]:
    """The netlist of a board's bitstream, and its clock in Hz.

    Raises
    ------
    CostError
        If `make bitstream` has left none.
    """
    folder = bitstream.OUT / name
    file = folder / "top.json"
    if not (ROOT / file).exists():
        raise CostError(f"{file} is missing: run make bitstream BOARD={name}")
    clock = bitstream.clock_of_pll((ROOT / folder / "pll.v").read_text())
    pins = {"clk": "clk_i", "rx": "rx_i", "tx": "tx_o"}
    return Netlist(_rtl_of(bitstream.ENGINE), file, bitstream.TOP, pins), round(clock * 1e6)


def _rtl_of(module: str) -> tuple[Path, ...]:
    return tuple(ROOT / name for name in needed_files(module))


def run_part(part: str, board_name: str, engine: str) -> Mapping[str, Any]:
    """Run a part; the bench's result. `engine` is a configuration of the step engine's bench."""
    if part == "board":
        netlist, clock_hz = of_board(board_name)
        asked = {"command": board.command(BOARD_STEPS)}
        line = {"CLOCK_HZ": clock_hz, "BAUD": bitstream.board_named(board_name)["baud"]}
        bench, config, given = board.BENCH, board.USB, {"params": line, "settings": asked}
    elif part == "pendulum":
        netlist = of_engine(engine)
        runs = [{"scenario": "scenarios/double_pendulum.toml", "steps": STEPS}]
        bench, config = step.BENCH, step.CONFIG
        given = {"params": dict(ENGINE.configs[engine].params), "settings": {"runs": runs}}
        given["testcase"] = "co_simulation"
    else:
        netlist, bench, config, given = of_engine(engine), ENGINE, engine, {}
    command = f"make gate-level ONLY={part} CONFIG={engine} BOARD={board_name}"
    return bench.on_netlist(netlist.sources()).run(
        SIMULATOR, config, place="-gates", command=command, **given
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.gates", description=__doc__.splitlines()[0])
    text = f"one of {', '.join(PARTS)} (default: {' and '.join(PARTS[:2])})"
    parser.add_argument("--only", type=one_of("ONLY", *PARTS), help=text)
    configs = one_of("CONFIG", *ENGINE.configs)
    text = "of the step engine's bench (default: default)"
    parser.add_argument("--config", type=configs, default="default", help=text)
    known = ", ".join(bitstream.boards())
    parser.add_argument("--board", default="ulx3s", help=f"one of {known} (default ulx3s)")
    add_set_up(parser)
    status = DONE
    try:
        asked = parser.parse_args(arguments)
        bitstream.board_named(asked.board)
        set_up(asked.set_up)
        for part in [asked.only] if asked.only else PARTS[:2]:
            row = run_part(part, asked.board, asked.config)
            said = f"{row['transactions']} words compared, {row['wall_s']:.0f} s"
            print(f"{'ok  ' if row['result'] == 'pass' else 'FAIL'} {part}: {said}", flush=True)
            if left_out := [test["name"] for test in row["tests"] if test["result"] == "skip"]:
                print(f"     not run: {', '.join(left_out)} ({LEFT_OUT})", flush=True)
            if row["result"] != "pass":
                print(row["message"], file=sys.stderr)
                status = DIFFERS
    except Error as error:
        print(f"gate-level: {error}", file=sys.stderr)
        return BAD_INPUT
    return status
