"""A handshake or a state machine that stops is found soon, by name."""

import os
import re
import resource
import sys
from types import SimpleNamespace

import pytest

from pymodel.hardware import simulators, standstill, times
from pymodel.hardware.simulators import GRACE_S, Logged, TooLongError
from pymodel.tests.hardware.planted import planted
from tb.ldup_coprocessor.bench import BENCH

pytestmark = pytest.mark.rtl_of("ldup_coprocessor")

BUS = "rtl/axil/axil_slave.sv"
INVERTER = "rtl/linalg/inv_ldup_serial.sv"


def never_ready(channel, ready):
    """What stops a channel of requests."""
    return {
        f"s_axil_{channel}ready = {ready}": f"s_axil_{channel}ready = 1'b0",
        f"_full_d = s_axil_{channel}valid ||": f"_full_d = s_axil_{channel}ready ||",
    }


def answered(channel, ready):
    """What stops a channel of requests, but answers them all the same."""
    return {f"s_axil_{channel}ready = {ready}": f"s_axil_{channel}ready = 1'b0"}


#: Name of a bug -> file, its text -> what stands there instead, what the message says.
PLANTED = {
    "aw-answered": (
        BUS,
        answered("aw", "!aw_full_q || write_o"),
        "write of IRQ_ENABLE, channel AW (valid/ready: aw 1/0, w 0/1, b 1/1, ar 0/1, r 0/1), "
        "answered before it was taken",
    ),
    "w-never-ready": (
        BUS,
        never_ready("w", "!w_full_q || write_o"),
        "channel W (valid/ready: aw 0/0, w 1/0, b 0/1, ar 0/1, r 0/1)",
    ),
    "b-never-valid": (BUS, {"bvalid = bvalid_q": "bvalid = 1'b0"}, "channel B"),
    "ar-never-ready": (BUS, never_ready("ar", "!ar_full_q || read_o"), "channel AR"),
    "r-never-valid": (BUS, {"rvalid = rvalid_q": "rvalid = 1'b0"}, "channel R"),
    "run-never-ends": (
        INVERTER,
        {"end_step = busy_o && count_q == latency(step_q)": "end_step = 1'b0"},
        "a run to end, STATUS IDLE 0, BUSY 1",
    ),
}


@pytest.mark.nightly(every=3)
@pytest.mark.parametrize("bug", PLANTED)
def test_a_stop_is_found_by_name(bug, tmp_path):
    """Under Icarus: where the simulation is slow, so is the end of a wait."""
    file, changes, said = PLANTED[bug]
    row = planted(BENCH, tmp_path, file, changes).run("icarus", "serial", place=f"-{bug}")
    ran = [test for test in row["tests"] if test["result"] != "skip"]
    assert row["result"] == "fail" and [test["result"] for test in ran] == ["fail"]
    assert f"hang at {times.text(ran[0]['sim_ns'])}" in row["message"] and said in row["message"]
    assert (
        f"make ldup_coprocessor SIM=icarus CONFIG=serial SEED=1 TEST={ran[0]['name']}"
        in (row["message"])
    )


def test_a_loop_of_signals_without_delay_is_ended(tmp_path, monkeypatch):
    """No limit of simulated time can see it."""
    monkeypatch.setattr(standstill, "LIMIT", 3)
    changes = {"write_due = aw_full_q": "write_due = !s_axil_wready && aw_full_q"}
    row = planted(BENCH, tmp_path, BUS, changes).run("icarus", "serial", place="-loop")
    assert row["result"] == "fail"
    found = "vvp is ended: simulated time stands still for 3 s, at ([0-9.]+) ns"
    at = float(re.search(found, row["message"])[1])
    (ran,) = (test for test in row["tests"] if test["result"] == "fail")
    assert 0.0 < at <= ran["sim_ns"] and "it said nothing" not in row["message"]
    command = f"make ldup_coprocessor SIM=icarus CONFIG=serial SEED=1 TEST={ran['name']} WAVES=1"
    assert command in row["message"]


@pytest.mark.parametrize(
    ("limit", "beats", "said"),
    [
        (
            20,
            "while :; do sleep 0.05; done",
            "sh is ended: .* still for 2 s, at 7.5 ns or soon",
        ),
        (
            1.0,
            "while :; do sleep 0.05; echo 1 $((n += 1)) >pulse; done",
            "sh took more than 1.0 s$",
        ),
        (1.0, "rm pulse; while :; do sleep 0.05; done", "sh took more than 1.0 s$"),
    ],
    ids=["none", "beating", "not yet or no more"],
)
def test_a_simulation_without_a_pulse_is_ended(tmp_path, monkeypatch, limit, beats, said):
    monkeypatch.setattr(standstill, "LIMIT", 2)
    monkeypatch.setattr(simulators, "LOOK_S", 0.2)
    command = ["sh", "-c", f"echo 1 7.5 >pulse; trap 'exit 0' INT; {beats}"]
    simulator = SimpleNamespace(work_dir=tmp_path, env=os.environ, limit_s=limit, watch=print)
    with open(tmp_path / "log", "w") as log, pytest.raises(TooLongError, match=said):
        Logged._execute_one(simulator, command, log)


TELLS_ITS_LIMIT = """
import resource
while (limit := resource.getrlimit(resource.RLIMIT_CPU)[0]) == resource.RLIM_INFINITY:
    pass
print(limit)
"""


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="this system has no prlimit")
def test_a_simulation_without_an_end_has_one_without_its_runner(tmp_path):
    """The system ends it."""
    told = []
    simulator = SimpleNamespace(work_dir=tmp_path, env=os.environ, limit_s=50, watch=told.append)
    with open(tmp_path / "log", "w") as log:
        Logged._execute_one(simulator, [sys.executable, "-c", TELLS_ITS_LIMIT], log)
    assert told == [f"{simulator.limit_s + GRACE_S}\n"]


def test_a_simulation_that_takes_too_long_is_red_however_it_ends(tmp_path):
    """Some end well, asked to."""
    command = ["sh", "-c", "trap 'exit 0' INT; while :; do sleep 0.05; done"]
    simulator = SimpleNamespace(work_dir=tmp_path, env=os.environ, limit_s=0.3, watch=print)
    with open(tmp_path / "log", "w") as log, pytest.raises(TooLongError, match=r"more than 0.3 s$"):
        Logged._execute_one(simulator, command, log)
