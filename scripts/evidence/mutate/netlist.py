"""Mutated netlists: Yosys plants the mutations, a wrapper puts them into the unit's place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from scripts.evidence.mutate.server import NUMBER_FILE
from scripts.evidence.mutate.units import Unit
from scripts.kernel import tools
from scripts.kernel.journal import Journal
from scripts.kernel.modules import file_of, needed_files, parameters_of
from scripts.kernel.places import ROOT

#: The control input of a mutated netlist: number of the mutation that is active, 0 for none.
SELECT, SELECT_W = "mutant", 16
#: Ports that no memory here uses; Yosys does not write memories with a fault there.
RESETS_OF_MEMORIES = r" -port RD_[AS]RST "


@dataclass(frozen=True)
class Mutation:
    """One fault.

    Attributes
    ----------
    number
        From 1, in the order of the list.
    variant
        Index of the unit's netlist that has it.
    line
        Yosys' command that plants it, without the control input.
    """

    number: int
    variant: int
    line: str

    @property
    def controlled(self) -> str:
        """Yosys' command that plants it behind the control input."""
        return self.line.replace("mutate", f"mutate -ctrl {SELECT} {SELECT_W} {self.number}", 1)

    def option(self, name: str) -> str:
        """Value of an option of `line`, the last one if there are some; empty if none."""
        found = re.findall(rf" -{name} (\S+)", self.line)
        return found[-1] if found else ""

    @property
    def text(self) -> str:
        """Where it is, for people: `rtl/fp/fp_add.sv:173 inv $12.Y[3] (y_o[3])`."""
        file, _, place = self.option("src").partition(":")
        line = place.partition(".")[0]
        pin = f"{self.option('cell')}.{self.option('port')}[{self.option('portbit')}]"
        wire = self.option("wire")
        wire = f" ({wire}[{self.option('wirebit')}])" if wire else ""
        control = self.option("ctrlbit")
        mode = self.option("mode") + (f" by bit {control}" if control else "")
        return f"{file}:{line} {mode} {pin}{wire}"


def yosys(script: str, log: Path, limit_s: float | None = None) -> str:
    """Run Yosys commands in ROOT; what it said.

    Parameters
    ----------
    script
        Commands, one a line; paths in it are relative to ROOT, which is all that Yosys sees.
    log
        File that commands and output go to (and, next to it, the script).

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    subprocess.TimeoutExpired
        After `limit_s` seconds.
    """
    file = log.with_suffix(".ys")
    file.write_text(script)
    arguments = ["-Q", "-s", str(file.relative_to(ROOT))]
    return tools.run(tools.YOSYS, arguments, log.relative_to(ROOT), limit_s)


class Netlists:
    """The netlists of a unit, one a variant, without and with mutations.

    Parameters
    ----------
    unit
    folder
        Where their files are kept.
    """

    def __init__(self, unit: Unit, folder: Path) -> None:
        self.unit, self.folder = unit, folder
        self.parameters = unit.parameters(parameters_of(unit.module))

    def clean(self, variant: int) -> Path:
        """RTLIL of a variant without mutations."""
        return self.folder / f"clean_{variant}.il"

    def with_tables(self, variant: int) -> Path:
        """Likewise, with logic in place of memories that nothing writes."""
        return self.folder / f"tables_{variant}.il"

    def mutated(self, variant: int) -> Path:
        """Verilog of a variant with all its mutations."""
        return self.folder / f"{self.unit.module}_mutated_{variant}.v"

    def read(self) -> None:
        """Make the netlists without mutations."""
        boxes = "".join(f" --blackboxed-module {box}" for box in self.unit.boxes)
        forget = "; ".join(_forget_local_parameters(box) for box in self.unit.boxes)
        files = " ".join(needed_files(self.unit.module))
        for variant, parameters in enumerate(self.parameters):
            values = "".join(f" -G {name}={value}" for name, value in parameters.items())
            script = f"""
                read_slang -j1 --top {self.unit.module}{values}{boxes} {files}
                prep -run coarse:  # no hierarchy: it makes equal boxes' ports equally wide
                flatten
                bwmuxmap  # Verilator does not know the cell
                chtype -set $shift t:$shiftx  # zeros, where Verilog has x of its own kinds
                opt_clean
                {forget}
                write_rtlil {self.clean(variant).relative_to(ROOT)}
                memory_map -rom-only
                opt_clean
                write_rtlil {self.with_tables(variant).relative_to(ROOT)}
            """
            yosys(script, self.folder / f"read_{variant}.log")

    def mutations(self, count: int, seeds: Sequence[int], digest: str) -> list[Mutation]:
        """Draw mutations, as many of each variant as of any other.

        Parameters
        ----------
        count
            Of each seed.
        seeds
            That Yosys draws them from, one after the other; what two draw counts once.
        digest
            Of what the netlists are made of. What was drawn of it stays, whatever its lines are.
        """
        found: dict[tuple[int, str], Mutation] = {}
        variants = len(self.parameters)
        for seed, variant in product(seeds, range(variants)):
            share = count * (variant + 1) // variants - count * variant // variants
            for line in self._drawn(variant, share, seed, digest):
                if not re.search(RESETS_OF_MEMORIES, line):
                    found.setdefault((variant, line), Mutation(len(found) + 1, variant, line))
        return list(found.values())

    def _drawn(self, variant: int, share: int, seed: int, digest: str) -> list[str]:
        """Yosys' commands that plant the mutations drawn from a seed."""
        kept = Journal(self.folder / "drawn.jsonl")
        key = f"{digest} {variant} {share} {seed}"
        if key not in kept.rows:
            file = self.folder / f"list_{variant}.txt"
            script = f"""
                read_rtlil {self.clean(variant).relative_to(ROOT)}
                mutate -list {share} -seed {seed} -o {file.relative_to(ROOT)}
            """
            yosys(script, self.folder / f"list_{variant}.log")
            kept.add({"key": key, "lines": file.read_text().splitlines()})
        return kept.rows[key]["lines"]

    def plant(self, mutations: Sequence[Mutation]) -> list[Path]:
        """Write the mutated netlists, and the module that takes the unit's place.

        Returns
        -------
        list of Path
            Files in compile order, in the place of the unit's own.
        """
        files = []
        for variant in range(len(self.parameters)):
            commands = [m.controlled for m in mutations if m.variant == variant]
            name = self.name(variant)
            lines = [
                f"read_rtlil {self.clean(variant).relative_to(ROOT)}",
                *commands,
                f"rename {self.unit.module} {name}",
                f"splitnets -driver {name}",  # no loops that are loops of vectors only
                f"opt_clean {name}",
                f"select {name}",
                f"write_verilog -noattr -selected {self.mutated(variant).relative_to(ROOT)}",
            ]
            yosys("\n".join(lines) + "\n", self.folder / f"plant_{variant}.log")
            text = self.mutated(variant).read_text()
            for port in _outputs(text):
                text = re.sub(
                    rf"^(  wire .*\b{port});", r"\1 /* verilator split_var */;", text, flags=re.M
                )
            self.mutated(variant).write_text(text)
            files.append(self.mutated(variant))
        wrapper = self.folder / f"{self.unit.module}.sv"
        wrapper.write_text(self._wrapper())
        return [*files, wrapper]

    def name(self, variant: int) -> str:
        """Module of a mutated netlist."""
        return f"{self.unit.module}_mutated_{variant}"

    def _wrapper(self) -> str:
        """A module with the unit's name, parameters and ports."""
        header = _header(self.unit.module)
        parts = []
        for variant, parameters in enumerate(self.parameters):
            fixed = {k: v for k, v in parameters.items() if not (self.unit.lanes and k == "STAGES")}
            match = " && ".join(f"{k} == {int(v)}" for k, v in fixed.items()) or "1"
            parts.append(
                f"if ({match}) begin : gen_{variant}\n{self._instance(variant)}  end else "
            )
        shown = "".join(f"  logic {net};\n" for net in self.unit.shows)
        return f"""{header}

{shown}  logic [{SELECT_W - 1}:0] {SELECT};
  initial begin : read_number
    int file;
    {SELECT} = '0;
    file = $fopen("{NUMBER_FILE}", "r");
    if (file != 0) begin
      if ($fscanf(file, "%d", {SELECT}) != 1) $fatal(1, "{NUMBER_FILE} is no number");
      $fclose(file);
    end
  end

  {"".join(parts)}begin : gen_none
    initial $fatal(1, "%m: no netlist of these parameters");
  end

endmodule
"""

    def _instance(self, variant: int) -> str:
        text = self.mutated(variant).read_text()
        ports = re.search(rf"^module {self.name(variant)}\((.*?)\);", text, re.M | re.S)[1]
        ports = [port.strip() for port in ports.split(",")]
        outputs = _outputs(text) if self.unit.lanes else ()
        now = {port: f"{port}_now" for port in outputs}
        pins = ", ".join(f".{port}({now.get(port, port)})" for port in ports)
        lines = [f"logic [$bits({port})-1:0] {name};" for port, name in now.items()]
        if SELECT not in ports:  # without mutations there is no such input
            lines += [f"wire unused = ^{SELECT};"]
        lines += [f"{self.name(variant)} u_mutated ({pins});"]
        if now:
            late, early = ", ".join(now), ", ".join(now.values())
            lines += [
                f"logic [STAGES:0][$bits({{{early}}})-1:0] delayed;",
                f"assign delayed[0] = {{{early}}};",
                "for (genvar i = 0; i < STAGES; i++) begin : gen_stage",
                f"  fp_pipe #(.WIDTH($bits({{{early}}}))) u_pipe (",
                "    .clk_i, .enable_i(1'b1), .data_i(delayed[i]), .data_o(delayed[i+1])",
                "  );",
                "end",
                f"assign {{{late}}} = delayed[STAGES];",
            ]
        lines += [f"assign {net} = u_mutated.{net};" for net in self.unit.shows]
        return "".join(f"    {line}\n" for line in lines)


def _header(module: str) -> str:
    """The text of a module from its name to its ports."""
    text = (ROOT / file_of(module)).read_text()
    return re.search(rf"^module {module}\b.*?^\);", text, re.M | re.S)[0]


def _forget_local_parameters(module: str) -> str:
    """The command that takes the constants from instances that only a module itself may set."""
    text = (ROOT / file_of(module)).read_text()
    names = re.findall(r"\b(?:localparam\b[^=;]*?|genvar\s+)(\w+)\s*=", text)
    return f"setparam{''.join(f' -unset {name}' for name in names)} t:{module}" if names else ""


def _outputs(text: str) -> list[str]:
    """Output ports of the module in a netlist."""
    return re.findall(r"^  output (?:\[.*?\] )?(\w+);", text, re.M)


def describe(parameters: dict[str, Any]) -> str:
    """Parameters as `EXP_W=8 MAN_W=23`."""
    return " ".join(f"{name}={int(value)}" for name, value in parameters.items())
