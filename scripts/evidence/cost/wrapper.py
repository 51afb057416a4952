"""The generated module that a float unit is measured in."""

from scripts.evidence.cost.job import Job

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
