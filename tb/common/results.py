"""What a simulation says of its tests: cocotb's JUnit file, and the counts of the scoreboards."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

NANOSECONDS = {"fs": 1e-6, "ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}


def add_count(file: str | Path, test: str, transactions: int) -> None:
    """Add what the scoreboard of a test has counted to a file, one JSON line a test."""
    with open(file, "a") as lines:
        lines.write(json.dumps([test, transactions]) + "\n")


def read_results(junit: Path, counts: Path) -> list[dict[str, Any]]:
    """The tests of a simulation.

    Parameters
    ----------
    junit
        What cocotb wrote; may be missing.
    counts
        What :func:`add_count` wrote; may be missing.

    Returns
    -------
    list of dict
        For each test that ran: ``name``, ``result`` ("pass" or "fail"), ``wall_s``, ``sim_ns``,
        ``transactions`` and ``message`` (why it failed).
    """
    if not junit.exists():
        return []
    counted = {}
    if counts.exists():
        counted = dict(json.loads(line) for line in counts.read_text().splitlines())
    tests = []
    for case in ET.parse(junit).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        message = "" if bad is None else (bad.text or bad.get("message") or bad.get("error_msg"))
        tests.append(
            {
                "name": case.get("name"),
                "result": "pass" if bad is None else "fail",
                "wall_s": float(case.get("time") or 0),
                "sim_ns": _sim_ns(case),
                "transactions": counted.get(case.get("name"), 0),
                "message": message or "",
            }
        )
    return tests


def _sim_ns(case: ET.Element) -> float:
    """Simulated time of a test case, which cocotb 2.1 keeps in two properties."""
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    unit = NANOSECONDS.get(properties.get("sim_time_unit"), 0.0)
    return float(properties.get("sim_time_duration") or 0) * unit


def problems_of(tests: list[dict[str, Any]]) -> list[str]:
    """What is wrong with tests: those that failed, and those that passed without a check."""
    failed = [f"{t['name']}: {t['message']}" for t in tests if t["result"] != "pass"]
    idle = [t["name"] for t in tests if t["result"] == "pass" and not t["transactions"]]
    return failed + [f"{name}: passed without a single transaction" for name in idle]
