"""Results of a regression as one JUnit file."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

from pymodel.runs.whole import whole_file
from scripts.kernel.journal import Row

OUTSIDE = "simulation"  # the case of what went wrong besides the tests


def write_junit(path: Path, rows: Sequence[Row], minimal: Mapping[str, Row]) -> None:
    """Write it: a suite for each bench, a case for each test of each unit.

    Parameters
    ----------
    path
        The file.
    rows
        Result rows of :meth:`pymodel.hardware.bench.Bench.run`.
    minimal
        ``<key of the row> <test>`` -> row of :class:`scripts.dev.regress.minimal.Minimal`.
    """
    root = ET.Element("testsuites")
    suites: dict[str, ET.Element] = {}
    for row in rows:
        if row["bench"] not in suites:
            suites[row["bench"]] = ET.SubElement(root, "testsuite", name=row["bench"])
        suite = suites[row["bench"]]
        name = f"{row['bench']}.{row['config']}-{row['simulator']}-seed{row['seed']}"
        for test in row["tests"]:
            case = _case(suite, name, test["name"], test["wall_s"])
            if test["result"] == "skip":
                ET.SubElement(case, "skipped", message=test["message"])
            elif test["result"] != "pass":
                text = [test["message"], f"rerun: {row['rerun']} TEST={test['name']}"]
                found = minimal.get(f"{row['key']} {test['name']}")
                if found:
                    text.append(f"shortest ({found['how']}): {found['rerun']}")
                    text += [f"waveform: {found['waves']}"] if found["waves"] else []
                _fail(case, text)
        if row["problems"]:
            case = _case(suite, name, OUTSIDE, row["wall_s"])
            _fail(case, [*row["problems"], f"rerun: {row['rerun']}"])
    for suite in (root, *suites.values()):
        suite.set("tests", str(len(list(suite.iter("testcase")))))
        suite.set("failures", str(len(list(suite.iter("failure")))))
        suite.set("errors", "0")
        suite.set("skipped", str(len(list(suite.iter("skipped")))))
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.indent(root)
    with whole_file(path) as beside:
        ET.ElementTree(root).write(beside, encoding="utf-8", xml_declaration=True)


def _case(suite: ET.Element, unit: str, test: str, seconds: float) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=unit, name=test, time=f"{seconds:.3f}")


def _fail(case: ET.Element, text: Sequence[str]) -> None:
    """XML has no characters for most control codes; a message may quote a simulator's."""
    said = "".join(x if x.isprintable() or x in "\n\t" else "?" for x in "\n".join(text))
    ET.SubElement(case, "failure", message=said.splitlines()[0]).text = said
