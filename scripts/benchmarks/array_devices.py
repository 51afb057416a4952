"""What of the step array fits devices, by count: a section of docs/array_results.md."""

from collections.abc import Mapping

from scripts.benchmarks.array_rows import NONE, Row, Rows, shape_of
from scripts.cost.devices import LFE5U_85F, ZYNQ_7020
from scripts.documents import table

XCVU9P = {"lut": 1_182_240, "dsp": 6840}
FILLED = 0.8  # of a device's LUTs, at most


def fitting(rows: Rows, row: Row, device: Mapping[str, int], lut: str, dsp: str) -> float:
    """How many times the shape's datapaths a device holds, by count.

    With two numbers of datapaths of the same lanes measured it is what one datapath more costs;
    otherwise the whole shape again.
    """
    key = ("adders", "contexts")
    same = {
        other["datapaths"]: other
        for other in rows
        if other[lut] is not None and all(other[k] == row[k] for k in key)
    }
    fewest, most = same[min(same)], same[max(same)]
    if fewest is most:
        return min(FILLED * device["lut"] / row[lut], device["dsp"] / row[dsp])
    more = most["datapaths"] - fewest["datapaths"]
    datapaths = [
        fewest["datapaths"] + (room - fewest[name]) * more / (most[name] - fewest[name])
        for name, room in ((lut, FILLED * device["lut"]), (dsp, device["dsp"]))
    ]
    return int(min(datapaths)) / row["datapaths"]


def devices(rows: Rows) -> str:
    """What fits some devices by count."""
    body = []
    for row in {shape_of(row): row for row in rows}.values():
        cells = []
        for device, lut, dsp in (
            (ZYNQ_7020, "lut6", "dsp48"),
            (LFE5U_85F, "lut", "dsp"),
            (XCVU9P, "lut6", "dsp48"),
        ):
            there = row[lut] is not None
            times = fitting(rows, row, device, lut, dsp) if there else 0
            cells.append(f"{int(times * row['datapaths'])}" if there else NONE)
        body.append((shape_of(row), *cells))
    head = ("lanes, contexts, datapaths measured", "Zynq 7020", "ECP5-85k", "XCVU9P")
    return table(head, body)
