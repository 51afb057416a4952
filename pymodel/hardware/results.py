"""What a simulation says of its tests.

Three files have it: cocotb's JUnit file, the notes that the tests leave, and the log.
"""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pymodel.hardware.coverage_point import Bin

NANOSECONDS = {"fs": 1e-6, "ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}


# A line of cocotb's own in the log, and the further lines of one.
COCOTB_LINE = re.compile(r" *[-.\d]+ns (DEBUG|INFO|WARNING|ERROR|CRITICAL) | {40}")
# The lines of a traceback, without the exception at its end.
TRACEBACK = re.compile(r"(Traceback \(most recent call last\):\n(?:  .*\n)+)")
# What cocotb says of every test that was still to run when the simulator ended by itself.
ENDED = "the simulation ended prematurely"
#: Why a test does not run on a netlist.
LEFT_OUT = "looks inside the RTL, and this is a netlist"


def add_note(
    file: str | Path,
    test: str,
    transactions: int = 0,
    skipped: str = "",
    failure: dict[str, Any] | None = None,
    model: Iterable[str] = (),
    reached: dict[str, Any] | None = None,
    read: Iterable[str] = (),
) -> None:
    """Add to a file, as one JSON line, what a test has checked.

    Parameters
    ----------
    file, test
        The file; the name of the test.
    transactions
        Values that it has checked.
    skipped
        Why it was skipped.
    failure
        When and where it failed: see :func:`scripts.dev.waves.failure.failure_group`.
    model
        Paths in the RTL of which the waveform has the model's values, too.
    reached
        How far it was then: :attr:`pymodel.hardware.scoreboard.Scoreboard.reached`.
    read
        Names of those settings, of the ones given, that the bench has read so far.
    """
    note = {"transactions": transactions, "message": skipped, "failure": failure}
    note |= {"read": sorted(read)}
    note |= {"model": sorted(model)} | ({"reached": reached} if failure else {})
    with open(file, "a") as lines:
        lines.write(json.dumps([test, note]) + "\n")


def read_notes(file: Path) -> dict[str, dict[str, Any]]:
    """What :func:`add_note` wrote, by test; the file may be missing."""
    return dict(map(json.loads, file.read_text().splitlines())) if file.exists() else {}


def add_coverage(file: str | Path, covered: Mapping[tuple[str, str], Iterable[Bin]]) -> None:
    """Add to a file, as one JSON line a point, the bins that a test has met."""
    with open(file, "a") as lines:
        for (unit, point), bins in covered.items():
            lines.write(json.dumps([unit, point, sorted(bins, key=repr)]) + "\n")


def read_results(junit: Path, notes: Path, log: Path, ended: str = "") -> list[dict[str, Any]]:
    """The tests of a simulation.

    Parameters
    ----------
    junit
        What cocotb wrote; may be missing.
    notes
        What :func:`add_note` wrote; may be missing.
    log
        The output of the simulator.
    ended
        Why it was ended from outside, if it was; the first line counts.

    Returns
    -------
    list of dict
        For each test: ``name``, ``result`` ("pass", "fail" or "skip"), ``wall_s``, ``sim_ns``,
        ``transactions``, ``message`` (why it failed or was skipped), ``read`` (names of given
        settings) and ``traceback``; of one that a check has failed, ``why`` (in one line), ``ns``
        (when) and ``reached``.
    """
    if not junit.exists():
        return []
    noted = read_notes(notes)
    tests = []
    for case in ET.parse(junit).iter("testcase"):
        note = noted.get(case.get("name", ""), {"transactions": 0, "message": "", "read": []})
        result, message, traceback = "pass", "", ""
        if case.find("skipped") is not None:
            result, message = "skip", note["message"]
        for bad in (*case.findall("failure"), *case.findall("error")):
            result, (traceback, message) = "fail", _reason(bad)
        tests.append(
            {
                "name": case.get("name"),
                "result": result,
                "wall_s": float(case.get("time") or 0),
                "sim_ns": _sim_ns(case),
                "transactions": note["transactions"],
                "read": note["read"],
                "message": message,
                "traceback": traceback,
            }
        )
        if note.get("failure"):
            failure = note["failure"]
            tests[-1] |= {key: failure[key] for key in ("why", "ns")} | {"reached": note["reached"]}
        if result == "pass" and not note["transactions"]:
            tests[-1] |= {"result": "fail", "message": "passed without a single transaction"}
    _explain_end(tests, log, ended)
    return tests


def _reason(bad: ET.Element) -> tuple[str, str]:
    """The traceback of a failure, if there is one, and the exception with its text."""
    text = (bad.text or bad.get("message") or bad.get("error_msg") or "").strip()
    found = TRACEBACK.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def _explain_end(tests: list[dict[str, Any]], log: Path, why: str) -> None:
    """Where the simulator ended: why, or its own message, for one test; the others are skipped."""
    ended = [test for test in tests if ENDED in test["message"]]
    for test in ended[:1]:
        words = why.partition("\n")[0] or last_words(log.read_text())
        test["message"] = f"the simulator ended the run:\n{words}"
    for test in ended[1:]:
        test |= {"result": "skip", "message": f"the simulator had ended in {ended[0]['name']}"}


def last_words(log: str) -> str:
    """What a simulator printed last before cocotb noticed that it had ended."""
    before = log[: log.find(ENDED)].splitlines()[:-2]  # cocotb names the test, then the failure
    words: list[str] = []
    while before and not COCOTB_LINE.match(before[-1]):
        words.insert(0, before.pop())
    return "\n".join(words) or "it said nothing"


def _sim_ns(case: ET.Element) -> float:
    """Simulated time of a test case, which cocotb 2.1 keeps in two properties."""
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    unit = NANOSECONDS.get(properties.get("sim_time_unit") or "", 0.0)
    return float(properties.get("sim_time_duration") or 0) * unit


def problems_of(tests: list[dict[str, Any]], rerun: Callable[[str], str]) -> list[str]:
    """What is wrong with tests: those that failed or were skipped, but for LEFT_OUT.

    A mismatch and a hang say by themselves where to look, when, and how to run them again; to any
    other failure that is added, and its traceback. ``rerun`` gives the command of a test.
    """
    failed = []
    for test in (t for t in tests if t["result"] == "fail"):
        said = f"{test['name']}: {test['message']}"
        if "rerun" in said:
            failed.append(said)
            continue
        lines = [said, *([f"  at     {test['ns']} ns"] if "ns" in test else [])]
        failed.append("\n".join([*lines, f"  rerun  {rerun(test['name'])}"]))
        failed += [test["traceback"]] if test["traceback"] else []
    skipped: dict[str, list[str]] = {}
    for test in (t for t in tests if t["result"] == "skip" and t["message"] != LEFT_OUT):
        skipped.setdefault(test["message"], []).append(test["name"])
    return [
        *failed,
        *(f"not run, as {reason}: {', '.join(names)}" for reason, names in skipped.items()),
    ]
