import json
import os
import platform
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from scripts.dev.changed import plugin, session, stamps
from scripts.dev.changed.reading import read_files, strangers
from scripts.kernel import digest as digests
from scripts.kernel import inputs
from scripts.kernel.places import ROOT
from scripts.tests.inner_pytest import module_of, pytest_of, pytest_of_module
from tb.fp_add.bench import BENCH as FP_ADD
from tb.step_engine.bench import BENCH as STEP_ENGINE

TESTS = "pymodel/tests/mechanism/test_formula.py"  # quick ones


def item(bench=None, path="scripts/tests/test_x.py", **marks):
    return SimpleNamespace(
        function=SimpleNamespace(bench=bench),
        path=ROOT / path,
        iter_markers=lambda name: [SimpleNamespace(args=marks[name])] if name in marks else [],
    )


def test_a_simulation_depends_on_its_own_rtl():
    small, large = (inputs.places_of(item(bench)) for bench in (FP_ADD, STEP_ENGINE))
    assert "rtl/fp/fp_add.sv" in small and "rtl/step/step_bank.sv" not in small
    assert {"rtl/fp/fp_mul.sv", "rtl/step/step_bank.sv", "rtl/axil/axil_slave.sv"} < set(large)
    assert {"tb", "pymodel", "sw", "pymodel/hardware/axil_batch.sv"} < {*small, *large}
    assert not any(place.startswith("rtl/hdca") for place in large)


def test_other_tests_depend_on_what_they_say():
    model = item(path="pymodel/tests/machine/test_isa.py", reads=("rtl",))
    assert inputs.places_of(model) == (*inputs.MODEL, "rtl")
    assert inputs.places_of(item()) == inputs.EVERYTHING


def test_of_the_rtl_a_test_depends_on_the_top_levels_that_it_names():
    none, small = (inputs.places_of(item(rtl_of=tops)) for tops in ((), ("fp_add", "fp_mul")))
    assert {"README.md", "docs", "scripts", "tb", "pymodel", "rtl/rtl.f"} < set(none)
    assert not {"rtl", "rtl/fp/fp_add.sv", "build", ".git"} & set(none)
    assert set(small) - set(none) >= {"rtl/fp/fp_add.sv", "rtl/fp/fp_mul.sv"}
    assert "rtl/fp/fp_recip.sv" not in small
    with pytest.raises(pytest.UsageError, match="rtl_of: no module nothing"):
        inputs.places_of(item(rtl_of=("nothing",)))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A small one, and the digest of its folder `a` with a seed of 1, of a simulation or not."""
    for name in (
        "a/one.py",
        "a/__pycache__/one.pyc",
        "b/two.py",
        "a/.hidden",
        ".ci/run",
        "build/c",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for module in (inputs, digests):
        monkeypatch.setattr(module, "ROOT", tmp_path)

    def clear():
        for cached in (inputs._digest, inputs._files):
            cached.cache_clear()

    def digest(simulates=False, seed=1):
        clear()
        return inputs._digest(("a",), seed, simulates)

    yield tmp_path, digest
    clear()


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


def test_what_is_kept_in_git_is_somebodys_input():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    files = [ROOT / name for name in listed.splitlines()]
    assert not [path for path in files if inputs.is_made(path)]
    if files:  # it is a clone
        assert ".ci" in inputs.places_of(item(rtl_of=("fp_add",)))


def test_comments_in_rtl_are_no_inputs_of_a_simulation(repository):
    """Of what reads RTL as a text they are."""
    root, digest = repository
    (root / "a/m.sv").write_text("// Adds.\nmodule m;  // one\nendmodule\n")
    simulation, other = digest(True), digest()
    (root / "a/m.sv").write_text("module m; endmodule")
    assert digest(True) == simulation and digest() != other
    (root / "a/m.sv").write_text("module n; endmodule")
    assert digest(True) != simulation
    (root / "a/m.sv").write_text("module m; endmodule")
    (root / "a/one.py").write_text("# other")
    assert digest(True) != simulation


def test_a_digest_changes_with_the_seed_and_the_tools(repository, monkeypatch):
    _, digest = repository
    versions = {"icarus": "11"}
    monkeypatch.setattr(inputs, "_tools", inputs._tools.__wrapped__)
    monkeypatch.setattr(inputs, "usable", lambda simulator: simulator in versions)
    monkeypatch.setattr(inputs, "simulator_version", lambda simulator: versions[simulator])
    digests = [digest(), digest(seed=2)]
    for name, version in (("icarus", "12"), ("verilator", "5")):
        versions[name] = version
        digests.append(digest())
    monkeypatch.setattr(platform, "python_version", lambda: "3.99")
    digests.append(digest())
    assert len(set(digests)) == len(digests)


def test_a_place_that_is_not_there_is_an_error(repository):
    with pytest.raises(FileNotFoundError, match="depends on c, which is not there"):
        inputs._digest(("c",), 1, False)


def test_what_is_read_is_seen():
    with read_files() as reads:
        (ROOT / "docs" / "glossary.md").read_text()
        (ROOT / "pymodel" / "__main__.py").read_text()
        list((ROOT / "rtl").iterdir())
        seen = reads.all()
    assert strangers(seen, inputs.MODEL) == ["docs/glossary.md", "rtl"]
    assert strangers(seen, (*inputs.MODEL, "docs", "rtl")) == []


def test_a_folder_that_is_removed_elsewhere_is_not_read(tmp_path, monkeypatch):
    """Its parts are named from their own place, which is none of the repository's."""
    monkeypatch.chdir(ROOT)
    (tmp_path / "a" / "storage").mkdir(parents=True)
    with read_files() as reads:
        shutil.rmtree(tmp_path / "a")
        os.close(os.open("docs", os.O_RDONLY))
        assert strangers(reads.all(), inputs.MODEL) == ["docs"]


def test_what_processes_read_is_seen(tmp_path):
    """Python that a shell starts, as `make` does, and a program that is told a file."""
    before = dict(os.environ)
    code = "open('rtl/fp/fp_add.sv'); open('docs/glossary.md')"
    with read_files() as reads:
        subprocess.run(
            ["sh", "-c", f'"$PYTHON" -c "{code}"'],
            cwd=ROOT,
            check=True,
            env=os.environ | {"PYTHON": sys.executable},
        )
        subprocess.run(["true", ROOT / "rtl/fp/fp_mul.sv"], check=True)
        found = ["docs/glossary.md", "rtl/fp/fp_add.sv", "rtl/fp/fp_mul.sv"]
        assert strangers(reads.all(), inputs.MODEL) == found
    assert os.environ == before


READER = """
import sys
for line in sys.stdin:
    open(line.strip()).close()
    print(line, end="", flush=True)
"""


def test_a_process_goes_on_when_the_test_that_started_it_is_over():
    """As the workers of a fixture do; what they read is of no other test."""

    def read(name):
        reader.stdin.write(f"{name}\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == f"{name}\n"

    with read_files() as first:
        reader = subprocess.Popen(
            [sys.executable, "-c", READER],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        read("docs/glossary.md")
        assert strangers(first.all(), inputs.MODEL) == ["docs/glossary.md"]
    with read_files() as second:
        read("docs/array.md")
        assert strangers(second.all(), inputs.MODEL) == []
    reader.communicate()
    assert reader.returncode == 0


MARKED = """
import pytest
from scripts.kernel.places import ROOT

@pytest.mark.rtl_of("fp_mul")
@pytest.mark.parametrize("name", ["fp_mul", "fp_add"])
def test_it(name):
    (ROOT / "rtl/fp" / f"{name}.sv").read_text()
"""


def test_a_test_that_reads_other_rtl_than_it_says_is_red(tmp_path):
    done = pytest_of_module(tmp_path / "passed.json", MARKED)
    assert done.returncode == 1 and done.stdout.count("ERROR at teardown of ") == 1
    assert "reads rtl/fp/fp_add.sv: no input of this test; pytest.mark.rtl_of must" in done.stdout


def test_a_test_of_the_model_that_reads_what_is_no_input_of_it_is_red():
    path = f"{inputs.MODEL_TESTS}machine/test_isa.py"
    test = item(path=path)
    test.nodeid, test.getparent = f"{path}::test_it", lambda kind: test
    test.get_closest_marker = lambda name: None
    with read_files() as reads:
        (ROOT / "docs" / "glossary.md").read_text()
        test.stash = {plugin.READ: reads}
        judging = plugin.pytest_runtest_teardown(test)
        next(judging)
        said = r"^reads docs/glossary.md: .* add pytest.mark.reads\('docs/glossary.md'\)$"
        with pytest.raises(pytest.fail.Exception, match=said):
            judging.send(None)


@pytest.mark.nightly
@pytest.mark.rtl_of()
def test_what_passed_as_it_is_does_not_run_again(tmp_path):
    passed = tmp_path / "passed.json"
    assert pytest_of(passed, TESTS).returncode == 0
    done = pytest_of(passed, TESTS, "--changed")
    *_, said, line = done.stdout.strip().splitlines()
    assert done.returncode == 0 and "deselected" in line and " passed" not in line
    count = len(json.loads(passed.read_text()))
    assert said.startswith(f"changed: {count} tests left out: they have passed with the same ")
    digests = json.loads(passed.read_text())
    passed.write_text(json.dumps(dict.fromkeys(digests, "other inputs")))
    done = pytest_of(passed, TESTS, "--changed")
    assert done.returncode == 0 and f"{len(digests)} passed" in done.stdout.splitlines()[-1]
    assert "left out" not in done.stdout
    assert json.loads(passed.read_text()) == digests


NOT_PASSED = """
import pytest

def test_green():
    pass

def test_red():
    assert False

def test_skipped():
    pytest.skip("no")

@pytest.fixture
def red_at_its_end():
    yield
    assert False

def test_red_at_its_end(red_at_its_end):
    pass

def test_cut_short():
    raise KeyboardInterrupt
"""


@pytest.mark.rtl_of()
def test_only_what_passed_as_a_whole_is_known(tmp_path):
    """Any other test is forgotten, also one that had passed before."""
    passed = tmp_path / "passed.json"
    module = module_of(passed).relative_to(ROOT)
    names = ("green", "red", "skipped", "red_at_its_end", "cut_short")
    tests = {name: f"{module}::test_{name}" for name in names}
    passed.write_text(json.dumps(dict.fromkeys(tests.values(), "before")))
    done = pytest_of_module(passed, NOT_PASSED)
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout + done.stderr
    known = json.loads(passed.read_text())
    assert list(known) == [tests["green"]] and known[tests["green"]] != "before"


TERMINATED = """
import os
import signal
import time

def test_green():
    pass

def test_ended_from_outside():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
"""


@pytest.mark.rtl_of()
@pytest.mark.nightly
def test_sigterm_keeps_what_has_passed(tmp_path):
    passed = tmp_path / "passed.json"
    done = pytest_of_module(passed, TERMINATED, "-p", "tb.conftest")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "ended by SIGTERM" in done.stdout and "1 passed" in done.stdout.splitlines()[-1]
    (known,) = json.loads(passed.read_text())
    assert known.endswith("::test_green")


def test_rows_of_earlier_sessions_are_known(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    for name in ("old", "same", "new"):
        (results / f"{name}.json").touch()
    assert session.of_earlier_sessions(tmp_path, results) == set()
    for name in ("old", "same"):
        os.utime(results / f"{name}.json", (1, 1))
    session.begin(tmp_path, everything=False)
    session.leave_out(tmp_path, ["test_same"], ["same"])
    (results / "new.json").touch()
    assert session.of_earlier_sessions(tmp_path, results) == {"old"}
    assert session.left_out(tmp_path)["tests"] == ["test_same"]
    session.begin(tmp_path, everything=True)
    assert session.of_earlier_sessions(tmp_path, results) == set()
    assert session.left_out(tmp_path)["tests"] == []


@pytest.mark.rtl_of("fp_add")
def test_a_simulation_without_its_result_runs_again(tmp_path, monkeypatch):
    """The report is made from it."""
    monkeypatch.setattr(plugin, "PASSED", tmp_path / "passed.json")
    monkeypatch.setattr(plugin, "RESULTS", tmp_path)
    test, dropped = item(FP_ADD), []
    test.nodeid, test.user_properties = "test_it", []
    test.callspec = SimpleNamespace(params={"config": "half", "simulator": "icarus"})
    config = SimpleNamespace(
        getoption=lambda name: True,
        stash={plugin.KNOWN: {"test_it": inputs.digest_of(test, None)}},
        hook=SimpleNamespace(pytest_deselected=lambda items: dropped.extend(items)),
    )

    def runs():
        items, dropped[:] = [test], []
        plugin.pytest_collection_modifyitems(config, items)
        assert [*items, *dropped] == [test]
        return bool(items)

    assert runs()
    (tmp_path / "fp_add-half-icarus.json").touch()
    assert not runs()


def outcome(passed, text, *options):
    """What pytest prints of a module that is green."""
    done = pytest_of_module(passed, text, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_file_that_changes_is_seen(repository, monkeypatch):
    root, _ = repository
    monkeypatch.setattr(stamps, "ROOT", root)
    seen = stamps.Stamps()
    assert seen.changed() == []
    at = (root / "a/one.py").stat()
    (root / "a/one.py").write_text("A/ONE.PY")
    os.utime(root / "a/one.py", ns=(at.st_atime_ns, at.st_mtime_ns))
    (root / "build/c").write_text("made")
    (root / "b/new.py").write_text("")
    assert seen.changed() == ["a/one.py", "b/new.py"]
    (root / "b/two.py").unlink()
    assert seen.changed() == ["a/one.py", "b/new.py", "b/two.py"]


CHANGING = """
from types import SimpleNamespace
import pytest
from scripts.dev.changed.plugin import STAMPS

@pytest.mark.rtl_of()
def test_of_all_but_rtl(pytestconfig):
    changes = SimpleNamespace(changed=lambda: ["rtl/rtl.md"])
    pytestconfig.stash[STAMPS] = changes

def test_of_everything():
    pass
"""


@pytest.mark.rtl_of()
@pytest.mark.nightly
def test_what_changes_meanwhile_is_not_recorded(tmp_path):
    """What depends on other files is."""
    passed = tmp_path / "passed.json"
    said = outcome(passed, CHANGING)
    assert [test.split("::")[1] for test in json.loads(passed.read_text())] == [
        "test_of_all_but_rtl"
    ]
    assert "changed: 1 passes not recorded: rtl/rtl.md changed meanwhile" in said


SIMULATING = """
from tb.fp_add.bench import BENCH

def test_it(simulator, config):
    pass

test_it.bench = BENCH
"""


@pytest.mark.rtl_of("fp_add")
@pytest.mark.nightly
def test_a_simulation_that_runs_in_part_is_not_recorded(tmp_path):
    """What it has passed with as a whole stays known."""
    passed = tmp_path / "passed.json"
    options = ("-p", "tb.conftest", "--sim=icarus", "--config=e4m3")
    for part in ("--cocotb-test=corners", "--waves"):
        outcome(passed, SIMULATING, *options, part)
        assert json.loads(passed.read_text()) == {}
    outcome(passed, SIMULATING, *options)
    known = json.loads(passed.read_text())
    assert len(known) == 1
    outcome(passed, SIMULATING, *options, "--cocotb-test=corners")
    assert json.loads(passed.read_text()) == known
