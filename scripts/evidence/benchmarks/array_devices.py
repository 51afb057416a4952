"""What of the step array fits devices, by count: a section of docs/array_results.md."""

import itertools
import math
from collections.abc import Mapping

from pymodel.machine.isa import MAX_DATAPATHS
from scripts.evidence.benchmarks.array_rows import NONE, Row, Rows, shape_of
from scripts.evidence.cost.counts import LFE5U_85F, ZYNQ_7020
from scripts.kernel.documents import table

XCVU9P = {"lut": 1_182_240, "dsp": 6840, "bram": 2160}
FILLED = 0.8  # of a device's LUTs, at most
#: What a shape takes of a device -> the column of its row.
XC7 = {"lut": "lut6", "dsp": "dsp48", "bram": "bram36"}
ECP5 = {"lut": "lut", "dsp": "dsp", "bram": "bram"}


def fitting(
    rows: Rows, row: Row, device: Mapping[str, int], columns: Mapping[str, str]
) -> int | None:
    """How many of the shape's datapaths a device holds, by count; None if it was not measured.

    With two numbers of datapaths of the same lanes measured it is in as few arrays as can be, by
    what one datapath more costs; otherwise in arrays as the measured one.
    """
    measured = [other for other in rows if other[columns["lut"]] is not None]
    if row not in measured:
        return None
    same = {
        other["datapaths"]: other
        for other in measured
        if all(other[key] == row[key] for key in ("adders", "contexts"))
    }
    fewest, most = same[min(same)], same[max(same)]
    room = {columns[name]: device[name] for name in columns}
    room[columns["lut"]] *= FILLED
    if fewest is most:
        return row["datapaths"] * int(min(room[name] / row[name] for name in room))

    def cost(name: str, datapaths: int) -> float:
        """Of so many datapaths in arrays as large as can be."""
        more = most["datapaths"] - fewest["datapaths"]
        each = (most[name] - fewest[name]) / more
        alone = fewest[name] - fewest["datapaths"] * each
        return math.ceil(datapaths / MAX_DATAPATHS) * alone + datapaths * each

    return next(n for n in itertools.count() if any(cost(x, n + 1) > room[x] for x in room))


def devices(rows: Rows, besides: Rows = ()) -> str:
    """What fits some devices by count; `besides` are costs of shapes that are not shown."""
    measured = [*rows, *besides]
    body = []
    for row in {shape_of(row): row for row in rows}.values():
        found = [
            fitting(measured, row, device, columns)
            for device, columns in ((ZYNQ_7020, XC7), (LFE5U_85F, ECP5), (XCVU9P, XC7))
        ]
        body.append((shape_of(row), *(NONE if count is None else count for count in found)))
    head = ("lanes, contexts, datapaths measured", "Zynq 7020", "ECP5-85k", "XCVU9P")
    return table(head, body)
