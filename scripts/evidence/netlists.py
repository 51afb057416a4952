"""Netlists of ECP5 cells that take the place of their RTL, in simulations and in proofs."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.evidence.cost import fold
from scripts.evidence.ecp5_cells import CELLS, check_cells, library
from scripts.kernel import tools
from scripts.kernel.digest import key_of
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT
from scripts.kernel.tools import YOSYS

OUT = Path("build/gates")
#: Rules of Verilator that the texts of Yosys and names of cells do not keep.
ALLOWED = tuple(
    f" -rule {rule}"
    for rule in ("WIDTH", "WIDTHCONCAT", "PINMISSING", "UNOPTFLAT", "INITIALDLY", "MULTIDRIVEN")
)


def rtl_of(module: str) -> tuple[Path, ...]:
    """The files of a module and what it needs, in compile order."""
    return tuple(ROOT / name for name in needed_files(module))


def header(file: Path) -> str:
    """The text of the module that a file has, from its name to its ports."""
    found = re.search(rf"^module {file.stem}\b.*?^\);", file.read_text(), re.M | re.S)
    assert found, file
    return found[0]


@dataclass(frozen=True)
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
    pins: Mapping[str, str] = field(default_factory=dict)

    @property
    def gates(self) -> str:
        """The module of the netlist."""
        return f"{self.rtl[-1].stem}_gates"

    @property
    def folder(self) -> Path:
        """Where its files are, relative to ROOT."""
        return OUT / f"{self.file.parent.name}-{self.file.stem}"

    def written(self, first: str = "") -> Path:
        """The netlist as Verilog, with what its cells do, but those of boards/cells.

        Parameters
        ----------
        first
            Commands of Yosys that change it.

        Raises
        ------
        CostError
            If Yosys fails, or there is a cell without a model.
        """
        (ROOT / self.folder).mkdir(parents=True, exist_ok=True)
        file = ROOT / self.folder / f"{self.gates}.v"
        check_cells(json.loads((ROOT / self.file).read_text())["modules"][self.top]["cells"])
        script = f"read_json {self.file}; {first}rename {self.top} {self.gates}; "
        script += f"select {self.gates}; write_verilog -noattr -selected {file.relative_to(ROOT)}"
        tools.run(YOSYS, ["-q", "-p", script], self.folder / "yosys.log")
        file.write_text(library() + file.read_text())
        return file

    def sources(self) -> list[Path]:
        """Write what is simulated in the module's place; all files, in compile order.

        Raises
        ------
        CostError
            If Yosys fails, or there is a cell without a model.
        """
        module, gates, place = self.rtl[-1].stem, self.gates, self.folder
        shell, rules = (ROOT / place / name for name in (f"{module}.sv", "lint.vlt"))
        file = self.written("splitnets; ")
        design = json.loads((ROOT / self.file).read_text())["modules"][self.top]
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
