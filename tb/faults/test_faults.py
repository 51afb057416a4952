"""Flips registers of a top while a host uses it, and says what the host has seen.

Settings: ``workload`` (class of :mod:`tb.faults.workloads`), ``names`` (registers of the top's
modules), ``listing`` (file). Without ``orders`` the
listing is written: the registers, the session's cycles and results. With ``orders`` (file), a list
of [path, number of the bit, cycle], each of them is done in a process of its own, forked from the
simulation in that cycle; ``rows`` (file) gets a line of JSON for each, ``workers`` run at once.
With ``waves`` in the task the one order is done in this process.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer

from pymodel.hardware import clock
from pymodel.hardware.batch import now
from pymodel.hardware.on_bus import inside
from pymodel.hardware.results import add_note
from pymodel.hardware.simulation import Task
from tb.faults import workloads
from tb.faults.injections import IDENTITY, Injections
from tb.faults.registers import found_in


@cocotb.test()
async def inject(dut: Any) -> None:
    """See the module's docstring."""
    task = Task.told()
    await clock.hold_reset(dut)
    workload = getattr(workloads, task.settings["workload"])(dut, task.params)
    await clock.release_reset(dut)
    await workload.load()
    await RisingEdge(dut.clk_i)
    await Timer(1, "ns")
    registers = dict(found_in(inside(dut), task.settings["names"]))
    add_note(task.notes, "inject", len(registers))
    if "orders" in task.settings:
        await Injections(dut, task, workload, registers).run()
        return
    since = now()
    seen = await workload.session()
    cycles = now() - since
    listing = {
        "cycles": cycles,
        "identity": [await workload.host.read(name) for name in IDENTITY],
        "registers": [asdict(register) for register in registers],
        "seen": asdict(seen),
        "residual": workload.residual(seen.words),
        "checks": workload.RESIDUAL,
    }
    await workload.recover()
    await workload.load()
    assert await workload.session() == seen, "a second session differs from the first"
    Path(task.settings["listing"]).write_text(json.dumps(listing))
