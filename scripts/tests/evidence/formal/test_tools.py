"""The tools themselves, on one small proof: it holds, and a planted bug is found and told."""

import os
import signal
import subprocess
import sys
import time

import pytest

from pymodel.app.start import INTERRUPTED
from pymodel.tests.processes import NEEDED, session_members
from scripts.evidence.formal import command, plants, sby
from scripts.evidence.formal.proofs import proof_named
from scripts.kernel.places import ROOT
from scripts.kernel.tools import YOSYS

PROOF = "axil_slave_formal-axil_slave-SETUP0"
COMMAND = (
    sys.executable,
    "-m",
    "scripts.kernel.start",
    "scripts.evidence.formal.command",
    "fp_add",
    "--again",
)
LIMIT_S = 60  # of a loaded machine; alone it takes a second

pytestmark = pytest.mark.skipif(
    not all((sby.BIN / tool).exists() for tool in (sby.SBY, "yices-smt2")),
    reason="the tools of the group formal are not installed (make formal does that)",
)


def test_a_proof_holds():
    assert sby.run(proof_named(PROOF), "test-holds").status == sby.PROVED


def test_a_planted_bug_is_found_and_told():
    plant = next(one for one in plants.read_plants() if one.property == "b_stable")
    assert plant.proof == PROOF
    proof, outcome = plants.check(plant)
    assert plants.is_found(plant, outcome)
    assert (ROOT / outcome.trace).is_file()
    head, *signals = command.explain(proof, outcome)
    assert f"{PROOF}: b_stable fails in step {outcome.step}; waveform: {outcome.trace}" in head
    shown = dict(line.strip().split(" = ", 1) for line in signals)
    assert shown["bvalid"].startswith("1") and "step before" in shown["bresp"]


def test_a_harness_that_cannot_be_read():
    proof = proof_named(PROOF)
    with pytest.raises(sby.FormalError, match="test-broken: .*axil_slave.sv:1: ERROR"):
        sby.run(proof, "test-broken", {"rtl/axil/axil_slave.sv": "pyproject.toml"})


@NEEDED
def test_ctrl_c_ends_all_proofs():
    """From a terminal it reaches the tools, too; otherwise they are ended.

    One after the other, not two tests: the command works alone in its folder.
    """
    for kill in (os.killpg, os.kill):
        _check_ctrl_c(kill)


def _check_ctrl_c(kill):
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(COMMAND, cwd=ROOT, start_new_session=True, **output)
    until = time.monotonic() + LIMIT_S
    try:
        while YOSYS not in session_members(process.pid):  # which sby has started
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < until
            time.sleep(0.1)
        kill(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=LIMIT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == INTERRUPTED
    assert said.count("ended by Ctrl-C") == 1 and "Traceback" not in said
    while members := session_members(process.pid):
        assert time.monotonic() < until, members
