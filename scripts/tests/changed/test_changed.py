import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from scripts.changed import inputs
from scripts.changed.reading import read_files, strangers
from scripts.places import ROOT
from tb.fp_add.bench import BENCH as FP_ADD
from tb.step_engine.bench import BENCH as STEP_ENGINE

TESTS = "pymodel/tests/mechanism/test_urdf.py"
# With what has passed kept in a file of its own.
COMMAND = """
import sys
from pathlib import Path
import pytest
from scripts.changed import plugin
plugin.PASSED = Path(sys.argv[1])
sys.exit(pytest.main(["-q", "-p", "scripts.changed.plugin", *sys.argv[2:]]))
"""


def item(bench=None, path="scripts/tests/test_x.py", reads=()):
    marks = [SimpleNamespace(args=reads)]
    return SimpleNamespace(
        function=SimpleNamespace(bench=bench),
        path=ROOT / path,
        iter_markers=lambda name: marks,
    )


def test_a_simulation_depends_on_its_own_rtl():
    small, large = (inputs.places_of(item(bench)) for bench in (FP_ADD, STEP_ENGINE))
    assert "rtl/fp/fp_add.sv" in small and "rtl/step/step_bank.sv" not in small
    assert {"rtl/fp/fp_mul.sv", "rtl/step/step_bank.sv", "rtl/axil/axil_slave.sv"} < set(large)
    assert {"tb", "pymodel", "sw", "tb/common/axil_batch.sv"} < {*small, *large}
    assert not any(place.startswith("rtl/hdca") for place in large)


def test_other_tests_depend_on_what_they_say():
    model = item(path="pymodel/tests/machine/test_isa.py", reads=("rtl",))
    assert inputs.places_of(model) == (*inputs.MODEL, "rtl")
    assert inputs.places_of(item()) == inputs.EVERYTHING


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A small one, and the digest of its folder `a` with a seed of 1."""
    for name in ("a/one.py", "a/__pycache__/one.pyc", "b/two.py", "a/.hidden", "build/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(inputs, "ROOT", tmp_path)

    def digest():
        inputs._digest.cache_clear()
        inputs._files.cache_clear()
        return inputs._digest(("a",), 1)

    yield tmp_path, digest
    inputs._digest.cache_clear()
    inputs._files.cache_clear()


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("a/one.py", True),
        ("a/new.py", True),
        ("b/two.py", False),
        ("a/__pycache__/one.pyc", False),
        ("a/.hidden", False),
    ],
)
def test_a_digest_changes_with_its_files_only(repository, file, changes):
    root, digest = repository
    before = digest()
    (root / file).write_text("changed")
    assert (digest() != before) == changes


def test_a_place_that_is_not_there_is_an_error(repository):
    with pytest.raises(FileNotFoundError, match="depends on c, which is not there"):
        inputs._digest(("c",), 1)


def test_what_is_read_is_seen():
    with read_files() as seen:
        (ROOT / "docs" / "glossary.md").read_text()
        (ROOT / "pymodel" / "cli.py").read_text()
        list((ROOT / "rtl").iterdir())
    assert strangers(seen, inputs.MODEL) == ["docs/glossary.md", "rtl"]
    assert strangers(seen, (*inputs.MODEL, "docs", "rtl")) == []


def run(passed, *options):
    """pytest's status and last line."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, passed, TESTS, *options],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout.strip().splitlines()[-1]


def test_what_passed_as_it_is_does_not_run_again(tmp_path):
    passed = tmp_path / "passed.json"
    assert run(passed)[0] == 0
    status, line = run(passed, "--changed")
    assert status == 0 and "deselected" in line and " passed" not in line
    digests = json.loads(passed.read_text())
    passed.write_text(json.dumps(dict.fromkeys(digests, "other inputs")))
    status, line = run(passed, "--changed")
    assert status == 0 and f"{len(digests)} passed" in line
    assert json.loads(passed.read_text()) == digests
