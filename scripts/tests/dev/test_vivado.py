"""rtl/vivado.tcl under Tcl itself, with the commands of Vivado recorded: it was not run."""

import os
import shutil
import subprocess

import pytest

from pymodel.hardware.rtl_files import ROOT, rtl_files
from scripts.dev import ipxact, manifests

TCLSH = shutil.which("tclsh")
pytestmark = pytest.mark.skipif(TCLSH is None, reason="no tclsh")
END = "\x1f"  # of a word
COMMANDS = (
    *("create_project", "read_verilog", "read_xdc", "synth_design", "write_checkpoint"),
    *("report_utilization", "report_timing_summary", "create_clock", "get_ports"),
)
#: Each prints its words; constraints are read as Vivado does.
RECORDER = f"""
foreach command {{{" ".join(COMMANDS)}}} {{
  proc $command args "
    puts \\[join \\[list $command {{*}}\\$args\\] {{{END}}}\\]
    if {{\\"$command\\" eq \\"read_xdc\\"}} {{source \\[lindex \\$args end\\]}}
    return \\[lindex \\$args end\\]
  "
}}
"""


def ran(folder, *arguments, **variables):
    """Exit status, the commands with their words, what it complains of."""
    driver = folder / "driver.tcl"
    driver.write_text(RECORDER + f"source {{{ROOT / manifests.SCRIPT}}}\n")
    known = {name: value for name, value in os.environ.items() if name != "PART"}
    command = [TCLSH, driver, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=known | variables, capture_output=True, text=True, timeout=60
    )
    return done.returncode, [x.split(END) for x in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize("top", [*ipxact.MAPS, "hdca_coprocessor"])
def test_all_files_are_read_once_and_the_top_is_synthesised(tmp_path, top):
    status, calls, said = ran(tmp_path, top, "NUM_ADD=4", "CONTEXTS=8")
    assert (status, said) == (0, "")
    project, *rest = calls
    assert project == ["create_project", "-in_memory", "-part", "xc7z020clg400-1"]
    read, rest = rest[: len(rtl_files())], rest[len(rtl_files()) :]
    assert read == [["read_verilog", "-sv", str(ROOT / file)] for file in rtl_files()]
    constraints = str(ROOT / manifests.CONSTRAINTS)
    generics = ["-generic", "NUM_ADD=4", "-generic", "CONTEXTS=8"]
    assert rest == [
        ["read_xdc", "-mode", "out_of_context", constraints],
        ["get_ports", "clk_i"],
        ["create_clock", "-name", "clk_i", "-period", "10.000", "clk_i"],
        [
            *("synth_design", "-top", top, "-part", "xc7z020clg400-1"),
            *("-mode", "out_of_context", *generics),
        ],
        ["write_checkpoint", "-force", f"{top}.dcp"],
        ["report_utilization", "-file", f"{top}_utilization.rpt"],
        ["report_timing_summary", "-file", f"{top}_timing.rpt"],
    ]
    assert all(ports["clk_i"] == ("in", None) for ports in map(ipxact.ports, ipxact.MAPS))


def test_another_part(tmp_path):
    status, calls, _ = ran(tmp_path, "step_engine", PART="xc7a200tfbg484-2")
    parts = [call[call.index("-part") + 1] for call in calls if "-part" in call]
    assert status == 0 and parts == ["xc7a200tfbg484-2"] * 2


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), "say a top: -tclargs step_engine ?NAME=VALUE ...?"),
        (("step_engine", "NUM_ADD"), "NUM_ADD: not of the form NAME=VALUE"),
        (("step_engine", "NUM_ADD=[exit]"), "NUM_ADD=[exit]: not of the form NAME=VALUE"),
    ],
)
def test_refused(tmp_path, arguments, wanted):
    status, calls, said = ran(tmp_path, *arguments)
    assert (status, calls, said.splitlines()[0]) == (1, [], wanted)
