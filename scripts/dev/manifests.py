"""`make manifests`: the RTL for those who build hardware, from rtl/rtl.f.

Writes hdca.core (FuseSoC), Bender.yml (Bender), rtl/hdca.f, which names files from its own
folder, for the option ``-F`` of Verilator and Slang, IP-XACT components, and a script for Vivado.
"""

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

import pymodel
from pymodel.hardware.places import ROOT
from pymodel.hardware.rtl_files import FILE_LIST, rtl_files
from scripts.dev import ipxact

NAME = "hdca"
CORE, BENDER, LIST = f"{NAME}.core", "Bender.yml", f"rtl/{NAME}.f"
COMMAND = "make manifests"
SCRIPT, CONSTRAINTS = "rtl/vivado.tcl", "rtl/out_of_context.xdc"
WAIVERS = "rtl/lint.vlt"
TOPS = "rtl/top"
PARTS = ("_pkg", "_regs")  # of a top, by the ends of their names
LINT_TOP = "step_engine"  # of the target `lint`
DSP_W = "FP_MUL_DSP_W"
WIDTH = 100
VIVADO = """\
# Synthesis of a top out of context, for the xc7z020 unless PART says otherwise, in any folder:
#
#   vivado -mode batch -source <repository>/rtl/vivado.tcl -tclargs step_engine ?NAME=VALUE ...?
#
# Parameters of the top are NAME=VALUE. Leaves <top>.dcp, <top>_utilization.rpt and
# <top>_timing.rpt in the current folder. The clock is that of out_of_context.xdc, 100 MHz.

set here [file dirname [file normalize [info script]]]
set part xc7z020clg400-1
if {[info exists env(PART)]} {
  set part $env(PART)
}
if {$argc < 1} {
  error "say a top: -tclargs step_engine ?NAME=VALUE ...?"
}
set top [lindex $argv 0]
set options {}
foreach parameter [lrange $argv 1 end] {
  if {![regexp {^[A-Z]\\w*=\\d+$} $parameter]} {
    error "$parameter: not of the form NAME=VALUE"
  }
  lappend options -generic $parameter
}

set sources {
FILES}
create_project -in_memory -part $part
foreach source $sources {
  read_verilog -sv [file join $here $source]
}
read_xdc -mode out_of_context [file join $here out_of_context.xdc]
synth_design -top $top -part $part -mode out_of_context {*}$options
write_checkpoint -force $top.dcp
report_utilization -file ${top}_utilization.rpt
report_timing_summary -file ${top}_timing.rpt
"""


def project(root: Path = ROOT) -> dict[str, Any]:
    """Name and description of pyproject.toml, and the version of the package."""
    about = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return about | {"version": pymodel.__version__}


def tops(files: Sequence[str]) -> list[str]:
    """The modules that a user instantiates."""
    stems = [Path(file).stem for file in files if Path(file).parent.as_posix() == TOPS]
    return [stem for stem in stems if not stem.endswith(PARTS)]


def _yaml(comment: str, manifest: dict[str, Any]) -> str:
    return comment + yaml.safe_dump(manifest, sort_keys=False, width=WIDTH)


def _generated(mark: str) -> str:
    return f"{mark} Generated from {FILE_LIST} by `{COMMAND}`; do not edit.\n"


def core(files: Sequence[str], about: dict[str, Any]) -> str:
    """The FuseSoC core, in its format CAPI2: sources, waivers, and a target of lint for each top.

    Waivers are in the default target, too: a core that depends on this one is linted with them.

    Parameters
    ----------
    files : sequence of str
        In compile order, relative to the repository.
    about : dict
        Of :func:`project`.
    """
    usual = {"filesets": ["waivers", "rtl"], "parameters": [DSP_W]}

    def lint(top: str) -> dict[str, Any]:
        options = {"tool": "verilator", "verilator_options": ["-Wall"]}
        return {
            "description": f"{top} under Verilator -Wall",
            **usual,
            "flow": "lint",
            "flow_options": options,
            "toplevel": top,
        }

    targets = {"default": usual, "lint": lint(LINT_TOP)}
    targets |= {f"lint_{top}": lint(top) for top in tops(files) if top != LINT_TOP}
    manifest = {
        "name": f"::{NAME}:{about['version']}",
        "description": about["description"],
        "filesets": {
            "rtl": {"files": [*files], "file_type": "systemVerilogSource"},
            "waivers": {"files": [WAIVERS], "file_type": "vlt"},
        },
        "parameters": {
            DSP_W: {
                "datatype": "int",
                "paramtype": "vlogdefine",
                "description": "18 where the device's multipliers take 18 x 18 bits, as on ECP5",
            }
        },
        "targets": targets,
    }
    return _yaml("CAPI=2:\n" + _generated("#"), manifest)


def bender(files: Sequence[str], about: dict[str, Any]) -> str:
    """The Bender manifest: one group of sources, which exports no folder of includes.

    Parameters
    ----------
    files : sequence of str
        In compile order, relative to the repository.
    about : dict
        Of :func:`project`.
    """
    package = {"name": NAME, "description": about["description"]}
    return _yaml(_generated("#"), {"package": package, "sources": [{"files": [*files]}]})


def vivado(files: Sequence[str]) -> str:
    """A script for Vivado that reads the sources and synthesises a top out of context.

    Parameters
    ----------
    files : sequence of str
        In compile order, relative to the repository.
    """
    folder = Path(SCRIPT).parent
    names = "".join(f"  {Path(file).relative_to(folder).as_posix()}\n" for file in files)
    return _generated("#") + VIVADO.replace("FILES", names)


def relative_list(files: Sequence[str]) -> str:
    """The files named from the folder of the list, one a line."""
    folder = Path(LIST).parent
    names = [Path(file).relative_to(folder).as_posix() for file in files]
    return _generated("//") + "".join(f"{name}\n" for name in names)


def manifests(root: Path = ROOT) -> dict[str, str]:
    """All of them: path relative to the repository -> text."""
    files, about = rtl_files(root), project(root)
    texts = {CORE: core(files, about), BENDER: bender(files, about), LIST: relative_list(files)}
    comment = f"Generated from {FILE_LIST}, units and registers by `{COMMAND}`; do not edit."
    for top in ipxact.MAPS:
        text = ipxact.component(top, files, about["version"], comment)
        texts[ipxact.path_of(top)] = text
    return texts | {SCRIPT: vivado(files)}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    for name, text in manifests().items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(text)
        print(name)
    return 0
