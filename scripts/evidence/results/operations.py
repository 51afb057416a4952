"""Operations, counted by the model."""

from pymodel.compile import count
from pymodel.mechanism.scenario_file import load
from scripts.evidence.benchmarks.scenarios import chain_file
from scripts.kernel.documents import table

#: Bodies of the chains.
CHAINS = (1, 2, 4, 8, 16, 32, 64)


def subdesigns() -> str:
    """Operations of the assembly engine's sub-designs, and the units that they share."""
    rows = [
        (
            f"{row['name']} ({row['equation']})",
            row["add"],
            row["mul"],
            row["rec"],
            row["pass"] or "always connected",
        )
        for row in count.subdesigns()
    ]
    pool = count.pool(count.subdesigns())
    units = [
        (f"**{text}**", *(pool[op][key] for op in ("add", "mul", "rec")), "")
        for text, key in (("pool, two passes", "two_passes"), ("pool, one pass", "one_pass"))
    ]
    theirs = (count.PAPER_POOL.get(op, "-") for op in ("add", "mul", "rec"))
    paper = [("Turno and Malczyk, 2022, two passes", *theirs, "")]
    return table(("sub-design (equation)", "+", "×", "1/x", "pass"), rows + units + paper)


def operations() -> str:
    """Operations of a whole time step of chains."""
    rows = []
    for n in CHAINS:
        step = count.step(load(chain_file(n)))
        ops, path = step["operations"], step["path"]
        rows.append(
            (
                n,
                ops["mul"],
                ops["add"],
                ops["rec"],
                ops["sincos"],
                " + ".join(f"{path[op]} {op}" for op in ("mul", "add", "rec", "sincos")),
                step["critical_path"],
            )
        )
    latency = ", ".join(f"{op} {cycles}" for op, cycles in count.LATENCY.items())
    head = ("bodies", "×", "+", "1/x", "sin and cos", "dependency path", f"cycles ({latency})")
    return table(head, rows)
