"""What pyproject.toml says of the package, compared with its files and with the pinned versions."""

import ast
import sys
import tomllib

import pytest
from packaging.requirements import Requirement

from pymodel.tests.places import ROOT

PACKAGE = ROOT / "pymodel"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
DEPENDENCIES = [Requirement(line) for line in (*PROJECT["dependencies"], *OPTIONAL)]
MODULES = {"pin": "pinocchio"}  # of packages that are not called as they are imported
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "tests" not in path.parents]


def pins():
    """The version of each package in requirements.txt."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=str)
def test_dependency_is_pinned_at_a_version_that_satisfies_it(dependency):
    assert dependency.specifier, "a lower bound is missing"
    assert pins()[dependency.name] in dependency.specifier


def imported(path):
    """Top-level names of all that a file imports, functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def test_dependencies_are_what_the_package_imports():
    names = {name for path in SOURCES for name in imported(path)}
    assert names - sys.stdlib_module_names - {"pymodel"} == {
        MODULES.get(d.name, d.name) for d in DEPENDENCIES
    }


def test_every_folder_of_the_package_is_installed():
    folders = {path.parent for path in SOURCES}
    assert len(folders) > 5
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]
