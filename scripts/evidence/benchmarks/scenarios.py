"""What is measured: the demos and chains of bars, on engines of several sizes."""

from pathlib import Path

from scripts.kernel.places import BUILD, DEMOS, scenario_file

OUT = BUILD / "bench"
CHAINS = (2, 4, 8, 16, 32)
#: Adders of the engines, and as many multipliers.
LANES = (1, 2, 4, 8)
#: Systems that run interleaved.
CONTEXTS = (1, 4, 8)


def chain_name(n: int) -> str:
    """That of a chain of n bars."""
    return f"chain_{n}"


def chain_file(n: int) -> Path:
    """A scenario file with the double pendulum's bar n times, written into the build folder."""
    name = chain_name(n)
    text = scenario_file("double_pendulum").read_text()
    head, first, second = text.replace('"double_pendulum"', f'"{name}"').split("[[body]]")
    folder = OUT / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text("[[body]]".join([f"# {n} bars\n{head}", first, *[second] * (n - 1)]))
    return path


def scenario_files() -> dict[str, Path]:
    """Name -> file of everything that is run."""
    files = {name: scenario_file(name) for name in DEMOS}
    return files | {chain_name(n): chain_file(n) for n in CHAINS}
