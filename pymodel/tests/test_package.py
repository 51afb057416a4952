"""What pyproject.toml says of the package, compared with its files and with the pinned versions."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import numpy
import pytest
from packaging.requirements import Requirement

from pymodel.tests.places import ROOT

#: A package is built of what the repository holds.
pytestmark = pytest.mark.reads(".")

PACKAGE = ROOT / "pymodel"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
OPTIONAL = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
DEPENDENCIES = [Requirement(line) for line in (*PROJECT["dependencies"], *OPTIONAL)]
#: Modules of packages that are not called as they are imported.
MODULES = {
    "drake": "pydrake",
    "pin": "pinocchio",
    "cocotb-test": "cocotb_test",
    "cocotbext-axi": "cocotbext",
    "pyserial": "serial",
}
PARTS = {"mpl_toolkits": "matplotlib"}  # modules that come with another one's package
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "tests" not in path.parents]


def pins():
    """The version of each package in requirements.txt, or else in a group of pyproject.toml."""
    grouped = [line for lines in PYPROJECT["dependency-groups"].values() for line in lines]
    lines = [*grouped, *(ROOT / "requirements.txt").read_text().splitlines()]
    return dict(line.split("==") for line in lines if isinstance(line, str) and "==" in line)


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=str)
def test_dependency_is_pinned_at_a_version_that_satisfies_it(dependency):
    assert dependency.specifier, "a lower bound is missing"
    assert pins()[dependency.name] in dependency.specifier


def imported(path):
    """Top-level names of all that a file imports or looks for, functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0].replace("mpl_toolkits", "matplotlib")
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "find_spec":
            yield from (x.value for x in node.args if isinstance(x, ast.Constant))


def test_dependencies_are_what_the_package_imports():
    names = {PARTS.get(name, name) for path in SOURCES for name in imported(path)}
    assert names - sys.stdlib_module_names - {"pymodel"} == {
        MODULES.get(d.name, d.name) for d in DEPENDENCIES
    }


def test_every_folder_of_the_package_is_installed():
    folders = {path.parent for path in SOURCES}
    assert len(folders) > 5
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    listed = PYPROJECT["tool"]["setuptools"]["packages"]
    assert names == {name for name in listed if not name.startswith("pymodel.data.")}


DATA = ("rtl", "sw", "scenarios", "robots")  # folders of the repository that are installed


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of a fresh environment with the package, and with what it depends on."""
    work = tmp_path_factory.mktemp("package")
    source = work / "source"  # pip leaves files where it builds
    for name in ("pymodel", *DATA):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", source)
    env = work / "env"
    venv.create(env, symlinks=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--prefix", env]
    subprocess.run([*pip, *options, source], check=True)
    (site,) = env.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    return env / "bin" / "python"


EXAMPLE = """
import pymodel
bar = {"mass": 1.0, "inertia": 0.01, "com": [0.2, 0.0], "tip": [0.4, 0.0]}
time = {"step": 1e-3, "end": 0.1}
pendulum = {"name": "pendulum", "gravity": [0.0, -9.81], "time": time, "body": [bar]}
scenario = pymodel.load(pendulum)
run = pymodel.simulate(scenario, "float32", q=[0.5])
print(pymodel.__file__)
print(pymodel.compare(run, pymodel.compiled(scenario, "step")(q=[0.5])))
print(pymodel.animate(run, scenario, "pendulum.gif"))
"""


def test_the_installed_package_runs_outside_the_repository(installed, tmp_path):
    command = [installed, "-I", "-c", EXAMPLE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    place, compared, picture = done.stdout.splitlines()
    assert place.startswith(str(installed.parents[1]))
    assert (compared, picture) == ("bit-identical: 101 rows", "pendulum.gif")
    assert (tmp_path / picture).stat().st_size > 1000


def test_the_installed_package_is_marked_as_typed(installed):
    (package,) = installed.parents[1].glob("lib/python*/site-packages/pymodel")
    assert (package / "py.typed").exists() and (package / "__init__.pyi").exists()
    assert not (package / "tests").exists()


def contents(folder):
    """Of all files below a folder: name, time of change, size."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in found}


def test_all_hardware_is_installed(installed):
    (data,) = installed.parents[1].glob("lib/python*/site-packages/pymodel/data")
    for folder in DATA:
        wanted = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
        assert wanted
        for path in wanted:
            assert (data / path.relative_to(ROOT)).read_bytes() == path.read_bytes()


RUNS = (
    ("run", "double_pendulum", "--target", "engine", "--steps", "5", "--no-reference"),
    ("robot", "iiwa14", "--function", "FD", "--target", "engine", "--rows", "1"),
)


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.nightly
def test_the_installed_command_runs_its_hardware_in_an_empty_folder(installed, tmp_path):
    """And writes nothing where it is installed."""
    empty, cache = tmp_path / "empty", tmp_path / "cache"
    empty.mkdir()
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache)}
    before = contents(installed.parents[1])
    said = []
    for words in RUNS:
        command = [installed, "-I", "-m", "pymodel", *words, "--sim", "icarus"]
        done = subprocess.run(command, cwd=empty, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.splitlines()[-1])
    assert said[0].endswith(": bit-identical to the model")
    assert said[1] == "1 calls, 7 words: identical to the text"
    assert (empty / "build/runs/double_pendulum/run.csv").exists()
    assert [path.name for path in empty.iterdir()] == ["build"]
    assert contents(installed.parents[1]) == before
    assert list(cache.glob("pymodel/build-*/sim/cosim_step/*"))


def test_the_installed_package_says_how_to_get_a_simulator(installed, tmp_path):
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    ways = {"icarus": "sudo apt-get install iverilog", "verilator": "hdca doctor --get verilator"}
    for name, way in ways.items():
        command = [installed, "-I", "-m", "pymodel", *RUNS[0], "--sim", name]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        said = f"--sim {name}: not installed; get it by `{way}`\n"
        assert (done.returncode, done.stderr) == (2, said)
