"""Results of pytest, build/report/junit.xml, summed by file."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class PytestFile:
    """The cases of one test file, summed.

    Attributes
    ----------
    name : str
        The file's path.
    passed, skipped : int
        Numbers of cases.
    seconds : float
        Time of all.
    failures : list of tuple
        Case, message in a line, and full text of those that failed.
    """

    name: str
    passed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether a case did."""
        return bool(self.failures)


def _file_of(classname: str) -> str:
    """The file of a test class: pymodel/tests/test_arith.py of pymodel.tests.test_arith.TestAdd."""
    parts = classname.split(".")
    ends = [i for i, part in enumerate(parts) if part.startswith("test_")]
    return "/".join(parts[: ends[-1] + 1]) + ".py" if ends else classname


def read_junit(path: Path) -> list[PytestFile]:
    """pytest's cases summed per file, files with failures first."""
    if not path.exists():
        return []
    files: dict[str, PytestFile] = {}
    for case in ET.parse(path).iter("testcase"):
        name = _file_of(case.get("classname") or case.get("name", "?"))
        entry = files.setdefault(name, PytestFile(name))
        entry.seconds += float(case.get("time") or 0)
        bad = [e for e in case if e.tag in ("failure", "error")]
        if bad:
            short = bad[0].get("message") or ""
            text = (bad[0].text or short).strip()
            entry.failures.append((case.get("name", "?"), short.partition("\n")[0], text))
        elif case.find("skipped") is not None:
            entry.skipped += 1
        else:
            entry.passed += 1
    return sorted(files.values(), key=lambda f: (not f.failed, f.name))
