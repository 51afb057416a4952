"""How far runs are from the reference."""

from pymodel.runs.summary import MILLI
from scripts.kernel.documents import read, table
from scripts.kernel.places import BUILD


def _accuracy(demo: str, title: str) -> str:
    """What the summary of a demo says."""
    summary = read(BUILD / demo / "summary.json", f"make {demo}")
    rows = [
        ("steps", f"{summary['steps']} of {summary['step_s']:g} s, explicit Euler"),
        ("identical to the model, bit for bit", "yes" if summary["identical_to_model"] else "NO"),
        ("register words compared", summary["words_compared"]),
        (
            "kinetic energy, run − reference, largest [mJ]",
            f"{MILLI * summary['kinetic_difference_max_J']:.3f}",
        ),
        (
            "of this: the same algorithm in float64 − reference [mJ]",
            f"{MILLI * summary['kinetic_difference_float64_max_J']:.3f}",
        ),
        (
            "run − float64, that is rounding [mJ]",
            f"{MILLI * summary['kinetic_rounding_max_J']:.3f}",
        ),
        ("reference", summary["reference"]),
    ]
    if summary["loop_position_max_m"]:
        rows += [
            ("vector loop length, largest [m]", f"{summary['loop_position_max_m']:.2e}"),
            ("loop velocity error, largest [m/s]", f"{summary['loop_velocity_max_m_s']:.2e}"),
            ("condition of eta, largest", f"{summary['eta_condition_max']:.1f}"),
        ]
    return table((title, "value"), rows)


def pendulum() -> str:
    """The double pendulum's."""
    return _accuracy("pendulum", "double pendulum, float32, RTL assembly and disassembly")


def four_bar() -> str:
    """The four-bar's."""
    return _accuracy("fourbar", "four-bar, float32, closed base by LDUP, eta inverted by the RTL")


def long_run() -> str:
    """Loop errors of the long run, by the time up to which they are the worst."""
    rows = []
    for run in read(BUILD / "longrun" / "errors.json", "make longrun"):
        for key, unit in (("loop_position", "m"), ("loop_velocity", "m/s")):
            worst = (f"{x:.2e}" for x in run[key])
            rows.append((f"{run['name']}: {key.replace('_', ' ')} error [{unit}]", *worst))
    return table(
        ("four-bar, float32, closed base by LDLᵀ, worst up to", "1 s", "10 s", "100 s"), rows
    )
