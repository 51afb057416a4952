"""What `make bench` measured."""

from collections import defaultdict

from scripts.kernel.documents import read, table
from scripts.kernel.places import BUILD


def step_engine() -> str:
    """Cycles a system and step, by lanes and systems."""
    report = read(BUILD / "bench" / "step_engine.json", "make bench")
    lanes = sorted({row["adders"] for row in report})
    found = defaultdict(dict)
    for row in report:
        found[row["scenario"], row["contexts"]][row["adders"]] = row
    rows = []
    for (scenario, contexts), by_lanes in found.items():
        one = by_lanes[lanes[0]]
        cells = (f"{by_lanes[n]['cycles_per_system_step']:.1f}" for n in lanes)
        rows.append((scenario, contexts, one["operations"], *cells, one["critical_path"]))
    widest = max(row["cycles"] / row["bound_dependencies_or_lanes"] for row in report)
    within = sum(row["cycles"] <= 1.1 * row["bound_dependencies_or_lanes"] for row in report)
    tight = max(report, key=lambda row: row["cycles"] / row["bound_both"])
    text = (
        f"{len(report)} runs, all identical to the model: "
        f"{'yes' if all(row['identical'] for row in report) else 'NO'}. Against max(longest path, "
        f"operations / lanes): {within} within 10 %, the worst {widest:.2f} times as long. Against "
        f"the bound of both together, the worst is {tight['cycles'] / tight['bound_both']:.2f} "
        f"({tight['scenario']}, {tight['contexts']} systems, {tight['adders']} + "
        f"{tight['multipliers']} lanes)."
    )
    widths = (f"{n} + {n} lanes" for n in lanes)
    head = ("scenario", "systems", "operations", *widths, "longest path")
    return text + "\n\n" + table(head, rows)


def speed() -> str:
    """Steps per second of the simulations."""
    report = read(BUILD / "bench" / "speed.json", "make bench")
    rows = [(row["what"], f"{row['steps_per_s']:,.0f}", f"{row['ratio']:.2f}") for row in report]
    return table(("double pendulum", "steps/s", "ratio to the float64 model"), rows)
