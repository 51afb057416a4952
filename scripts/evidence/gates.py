"""`make gate-level`: benches on the netlist that is placed, in the place of the RTL.

Yosys makes the netlist as for a bitstream, and registers are moved into its multipliers and block
RAM (evidence.cost.fold). Its cells come from Yosys' library (LUT4, CCU2C,
TRELLIS_FF, ...); block RAM, multipliers and the PLL are empty boxes there, and come from
boards/cells, whose models are ours. Verilator simulates.

- `engine`: the step engine's bench, its configuration `default` unless CONFIG names another;
- `pendulum`: the double pendulum on that netlist, 200 steps, every word compared with the model;
- `proofs`: that netlists of float units in small formats, and of state machines on the bus, are
  equal to their RTL (evidence.gate_proofs);
- `board`, if asked for: the netlist that `make bitstream` has left, the one that it places, at its
  pins, and a host's program at the other end of the line that runs the pendulum, 20 steps.

Exit status 1 if anything differs, 2 for bad input or a tool that is missing or fails.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pymodel.app.options import OptionParser, one_of
from pymodel.arith.errors import Error
from pymodel.hardware.cosim import board, step
from pymodel.hardware.results import LEFT_OUT
from scripts.evidence import bitstream, gate_proofs
from scripts.evidence.netlists import Netlist, rtl_of, synthesised
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT
from scripts.kernel.set_up import add_set_up, set_up
from tb.step_engine.bench import BENCH as ENGINE

SIMULATOR = "verilator"
PARTS = ("proofs", "engine", "pendulum", "board")
TOP = "step_engine"
STEPS, BOARD_STEPS = 200, 20
DONE, DIFFERS, BAD_INPUT = 0, 1, 2


def of_engine(config: str) -> Netlist:
    """The netlist of the step engine of a configuration of its bench."""
    return synthesised(rtl_of(TOP), ENGINE.configs[config].params)


def of_board(name: str) -> tuple[Netlist, int]:
    """The netlist of a board's bitstream, and its clock in Hz.

    Raises
    ------
    CostError
        If `make bitstream` has left none.
    """
    folder = bitstream.folder_of(name, bitstream.ENGINE)
    file = folder / "top.json"
    if not (ROOT / file).exists():
        raise CostError(f"{file} is missing: run make bitstream BOARD={name}")
    clock = bitstream.clock_of_pll((ROOT / folder / "pll.v").read_text())
    pins = {"clk": "clk_i", "rx": "rx_i", "tx": "tx_o"}
    return Netlist(rtl_of(bitstream.MODULES[bitstream.ENGINE]), file, bitstream.TOP, pins), round(
        clock * 1e6
    )


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


def run_proofs() -> int:
    """Prove all cases; DONE, or DIFFERS."""
    status = DONE
    for case in gate_proofs.CASES:
        found = gate_proofs.prove(case)
        mark = "ok  " if found.proved else "FAIL"
        print(f"{mark} proof of {case.name}: {found.text}, {found.seconds:.0f} s", flush=True)
        status = status if found.proved else DIFFERS
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.gates", description=__doc__.splitlines()[0])
    text = f"one of {', '.join(PARTS)} (default: all but board)"
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
        for part in [asked.only] if asked.only else PARTS[:-1]:
            if part == "proofs":
                status = max(status, run_proofs())
                continue
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
