"""Synthesis with Yosys: what it is told, and what it finds."""

import json
import subprocess

from scripts.evidence.cost.counts import Counts, ecp5_counts, logic_delay, xc7_counts
from scripts.evidence.cost.job import AREA, Job, path_of, read_output
from scripts.evidence.cost.jobs import BOXES
from scripts.kernel import tools
from scripts.kernel.modules import needed_files, parameters_of
from scripts.kernel.places import ROOT
from scripts.kernel.tools import OUT, YOSYS, command_line

TOP = "bench"


def wrapper(job: Job) -> str:
    """A module around a unit; on ecp5 with registers before and behind it.

    Flags that are no output of the job stay open.
    """
    inputs, outputs = job.widths(job.inputs), job.widths(job.outputs)
    widths = inputs | outputs
    ports = ["input logic clk_i"]
    ports += [f"input logic [{bits - 1}:0] {port}" for port, bits in inputs.items()]
    ports += [f"output logic [{bits - 1}:0] {port}" for port, bits in outputs.items()]
    links = [".clk_i(clk_i)", *(f".{port}({port}_w)" for port in widths)]
    if "flags_o" not in widths:
        links.append(".flags_o()")
    values = ", ".join(f".{name}({value})" for name, value in job.values.items())
    pairs = [(f"{port}_w", port) for port in inputs] + [(port, f"{port}_w") for port in outputs]
    if job.family == "ecp5":
        form = "  always_ff @(posedge clk_i) {} <= {};"
    else:
        form = "  assign {} = {};"
    lines = [
        f"module {TOP}({', '.join(ports)});",
        *(f"  logic [{bits - 1}:0] {port}_w;" for port, bits in widths.items()),
        f"  {job.unit} #({values}) u_unit({', '.join(links)});",
        *(form.format(*pair) for pair in pairs),
        "endmodule",
        "",
    ]
    return "\n".join(lines)


#: The device's multipliers, told to the RTL (fp_mul).
DEFINES = {"xc7": "", "ecp5": " -D FP_MUL_DSP_W=18"}
#: One abc9 delay target so long that it minimises area, in ps.
FOR_AREA = "scratchpad -set abc9.D 60000"
#: `sta` takes very long where paths are long and many.
STA_LIMIT_S = 900
COUNTS = {"xc7": xc7_counts, "ecp5": ecp5_counts}


def synthesis_script(job: Job) -> str:
    """The commands that make the netlist of a job and count its cells."""
    top = TOP if job.is_unit else job.unit
    base = OUT / job.name
    stat = f"tee -q -o {base}.stat.json stat -json -top {top}"
    script = [_read(job, top)]
    script += [_forget_parameters(unit) for unit in BOXES if job.boxed]
    if job.family == "xc7":
        script += [FOR_AREA] if AREA in job.config else []
        script.append(f"synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top {top}")
        script += [stat, f"select {top}", f"write_rtlil -selected {base}.il"]
    else:
        script += [f"synth_ecp5 -top {top}", stat, f"write_json {base}.json"]
    return "; ".join(script)


def _read(job: Job, top: str) -> str:
    files = needed_files(job.unit)
    options = ""
    if job.is_unit:  # the wrapper sets the parameters
        files = [*files, str(path_of(job, "sv"))]
    else:
        options = "".join(f" -G {name}={value}" for name, value in job.values.items())
    if job.boxed:
        options += "".join(f" --blackboxed-module {unit}" for unit in BOXES)
    return f"read_slang -j1{DEFINES[job.family]} --top {top}{options} {' '.join(files)}"


def _forget_parameters(unit: str) -> str:
    """The command that takes the parameters from boxes: with them abc9 wants the module's RTL."""
    return f"setparam{''.join(f' -unset {name}' for name in parameters_of(unit))} t:{unit}"


def delay_script(job: Job) -> str:
    """The commands that find the delay of a finished netlist of xc7.

    On its own: what abc9 leaves in Yosys' memory has lost the delays of the registers.
    """
    base = OUT / job.name
    library = "read_verilog -specify -lib +/xilinx/cells_sim.v"
    return f"read_rtlil {base}.il; {library}; tee -q -o {base}.sta.txt sta"


def command(script: str) -> str:
    """The command line that runs a script."""
    return command_line(YOSYS, _arguments(script))


def _arguments(script: str) -> list[str]:
    return ["-q", "-p", script]


def synthesise(job: Job) -> Counts:
    """Make the netlist of a job.

    Returns
    -------
    dict
        Its LUT, DSP, FF and memories.

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    """
    if job.is_unit:
        (ROOT / path_of(job, "sv")).write_text(wrapper(job))
    tools.run(YOSYS, _arguments(synthesis_script(job)), path_of(job, "yosys.log"))
    return COUNTS[job.family](stat(job))


def stat(job: Job) -> dict:
    """What Yosys' `stat` says of the netlist of a job."""
    return json.loads(read_output(job, "stat.json"))


def find_delay(job: Job) -> float | None:
    """The logic delay of the netlist of a job in ns; None if it takes too long to find.

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    """
    log = path_of(job, "sta.log")
    try:
        tools.run(YOSYS, _arguments(delay_script(job)), log, STA_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    return logic_delay(read_output(job, "sta.txt"))
