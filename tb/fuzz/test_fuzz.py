"""Random accesses of a top's registers, all compared with the model, in batches.

Settings: ``model`` (class of :mod:`tb.fuzz.model`), ``count`` (accesses), ``summary`` (file).
Every batch holds its channels back in another part of the accesses; some end in a reset by the
pin, and behind some all that can be read is.
"""

import json
from pathlib import Path
from typing import Any

import cocotb

from pymodel.hardware.clock import hold_reset, release_reset
from pymodel.hardware.simulation import Task
from tb.fuzz.fuzzer import TEST, Fuzzer


@cocotb.test(name=TEST)
async def fuzz(dut: Any) -> None:
    """See the module's docstring."""
    task = Task.told()
    fuzzer = Fuzzer(dut, task)
    dut.start_i.value = 0
    await hold_reset(dut)
    await release_reset(dut)
    await fuzzer.run(task.settings["count"])
    Path(task.settings["summary"]).write_text(json.dumps(fuzzer.summary()))
