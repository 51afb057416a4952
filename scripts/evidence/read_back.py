"""What bits say of memories and multipliers, next to the netlist that they were made from.

nextpnr's configuration names the tiles of each block and its settings; of the same tiles
`ecpunpack` reads settings out of the bits. Zero bits stand for a default, which it leaves out; some
settings have bits in common, of which it names all.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Group = tuple[Sequence[str], dict[str, str]]  # tiles, settings
Mode = tuple[str, ...]

#: What zero bits stand for.
DEFAULTS = {
    f"{name}{n}{tail}": value
    for n in range(4)
    for name, tail, value in (
        ("CLK", "MUX", f"CLK{n}"),
        ("CLK", "_DIV", "ENABLED"),
    )
}
DEFAULTS |= {
    f"{name}{port}MUX": f"{name}{port}" for name in ("CLK", "CE", "OCE", "WE") for port in "AB"
}
DEFAULTS |= {
    f"{name}_{port}": value
    for port in "AB"
    for name, value in (
        ("CSDECODE", "111"),
        ("REGMODE", "NOREG"),
        ("DATA_WIDTH", "18"),
        ("WRITEMODE", "NORMAL"),
    )
}
DEFAULTS |= {"REG_OUTPUT_CLK": "NONE", "GSR": "ENABLED", "RESETMODE": "SYNC"}
DEFAULTS |= {"ASYNC_RESET_RELEASE": "SYNC"}
BLOCK = re.compile(r"(EBR\d|MULT18_\d)\.(.*)")
REGISTERS = ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
WIDE = "36"


def parsed(text: str) -> tuple[list[Group], dict[str, str]]:
    """The settings of a configuration's tiles and groups of tiles, and the contents of memories."""
    groups: list[Group] = []
    contents: dict[str, str] = {}
    for part in re.split(r"^(?=\.)", text, flags=re.M):
        head, _, body = part.partition("\n")
        kind, *names = head.split() or [""]
        if kind in (".tile", ".tile_group"):
            lines = (line.split() for line in body.splitlines())
            groups.append((names, {w[1]: w[2] for w in lines if w and w[0] in ("enum:", "word:")}))
        elif kind == ".bram_init":
            contents[names[0]] = " ".join(body.split())
    return groups, contents


def _mode(name: str, value: Mapping[str, str]) -> Mode:
    """Kind, widths and registers of a block, by its settings."""
    if name.startswith("MULT18"):
        return ("MULT18X18D", *(value.get(f"REG_{place}_CLK", "") for place in REGISTERS))
    if value.get("MODE") == "PDPW16KD":
        widths = (WIDE, value.get("PDPW16KD.DATA_WIDTH_R", ""))
    else:
        widths = tuple(value.get(f"DP16KD.DATA_WIDTH_{port}", "") for port in "AB")
    return ("DP16KD", *widths, *(value.get(f"REGMODE_{port}", "") for port in "AB"))


def modes_of_netlist(cells: Iterable[Mapping[str, Any]]) -> Counter[Mode]:
    """How many memories and multipliers of each mode a netlist of Yosys has."""
    found: Counter[Mode] = Counter()
    for cell in cells:
        value = cell.get("parameters", {})
        if cell["type"] == "MULT18X18D":
            clocks = (value.get(f"REG_{place}_CLK", "NONE") for place in REGISTERS)
            found["MULT18X18D", *clocks] += 1
        elif cell["type"] == "DP16KD":
            widths = (str(int(value[f"DATA_WIDTH_{port}"], 2)) for port in "AB")
            registers = (value.get(f"REGMODE_{port}", "NOREG") for port in "AB")
            found["DP16KD", *widths, *registers] += 1
    return found


def compared(cells: Iterable[Mapping[str, Any]], placed: str, unpacked: str) -> dict[str, Any]:
    """Compare bits with what they were made from.

    Parameters
    ----------
    cells
        Of the netlist, as Yosys' JSON has them.
    placed
        The configuration that nextpnr wrote.
    unpacked
        The one that ecpunpack read out of the bits.

    Returns
    -------
    dict
        ``memories``, ``multipliers`` and ``settings`` that were compared, ``wrong``: what differs.
    """
    groups, contents = parsed(placed)
    tiles, read = parsed(unpacked)
    of_tile = {name: settings for names, settings in tiles for name in names}
    found: Counter[Mode] = Counter()
    wrong, settings = [], 0
    for names, own in groups:
        blocks: dict[str, dict[str, str]] = {}
        for key, want in own.items():
            match = BLOCK.fullmatch(key)
            if not match or match[2] == "WID":  # which contents: their numbers are compared
                continue
            seen = {of_tile[name][key] for name in names if key in of_tile.get(name, {})}
            default = DEFAULTS.get(match[2].split(".")[-1], "nothing")
            got = want if want in seen else min(seen, default=default)
            blocks.setdefault(match[1], {})[match[2]] = got
            settings += 1
            if got != want:
                wrong.append(f"{names[0]} {key}: {got} instead of {want}")
        found.update(_mode(name, value) for name, value in blocks.items())
    wanted = modes_of_netlist(cells)
    for mode in sorted(found.keys() | wanted.keys()):
        if found[mode] != wanted[mode]:
            wrong.append(f"{' '.join(mode)}: {found[mode]} instead of {wanted[mode]}")
    for number in sorted(contents.keys() | read.keys()):
        if contents.get(number) != read.get(number):
            wrong.append(f"contents of memory {number} differ")
    count: Counter[str] = Counter()
    for mode, times in found.items():
        count[mode[0]] += times
    sizes = {"memories": count["DP16KD"], "multipliers": count["MULT18X18D"]}
    return {**sizes, "settings": settings, "wrong": wrong}
