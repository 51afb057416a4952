"""The files import each other in one direction only: tests, scripts, tb, pymodel and its packages.

Inside scripts the folders have no circle and few floors.

And what a command of make is given is refused in make's words.

Read from the syntax trees of all Python files, imports inside functions included.
"""

import ast
import functools
import graphlib
import importlib
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.rtl_of()

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("pymodel", "scripts", "tb")

#: Lowest first: a file imports from its own floor and those below.
FLOORS = (
    "pymodel/arith/",
    "pymodel/mechanism/",
    "pymodel/algorithms/",
    "pymodel/machine/",
    "pymodel/compile/",
    "pymodel/runs/",
    "pymodel/control/",
    "pymodel/hardware/",
    "pymodel/app/",
    "pymodel/",  # what starts it
    "tb/common/",
    "tb/",
    "scripts/kernel/",
    "scripts/evidence/",
    "scripts/dev/",
    "scripts/",
)


#: Of the folders of scripts, one above the other.
MOST_FLOORS = 6


@dataclass(frozen=True)
class Import:
    """One file imports another; paths are relative to the root."""

    line: int
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: imports {self.target}"


class Sources:
    """All Python files below a root."""

    def __init__(self, root: Path) -> None:
        found = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py")))
        self.texts = {path.relative_to(root).as_posix(): path.read_text() for path in found}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}

    def file_of(self, module: str) -> str | None:
        """The file of a module, None if it is not one of ours."""
        stem = module.replace(".", "/")
        return next((x for x in (f"{stem}.py", f"{stem}/__init__.py") if x in self.trees), None)

    def imports(self, source: str) -> Iterator[Import]:
        """What a file imports of the others."""
        for node in ast.walk(self.trees[source]):
            for module in _modules(node, source):
                target = self.file_of(module)
                if target:
                    yield Import(node.lineno, source, target)

    @functools.cached_property
    def all_imports(self) -> list[Import]:
        """All imports of all files."""
        return [found for source in self.trees for found in self.imports(source)]


def _modules(node: ast.AST, source: str) -> list[str]:
    """Names of the modules that a node may import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = source.split("/")[: -node.level] if node.level else []
        package = ".".join([*above, *([node.module] if node.module else [])])
        return [package, *(f"{package}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call) and _is(node.func, "importlib", "import_module"):
        return [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return []


def _is(node: ast.AST, owner: str, name: str) -> bool:
    """Whether a node is ``owner.name``."""
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return False
    return isinstance(node.value, ast.Name) and node.value.id == owner


def is_test(file: str) -> bool:
    """Whether pytest or cocotb looks for tests in a file."""
    name = file.rpartition("/")[2]
    return name.startswith("test_") or name == "conftest.py"


def of_tests(file: str) -> bool:
    """Whether a file is a test, or one that tests share."""
    return is_test(file) or "/tests/" in file


def floor(file: str) -> int:
    """How high a file stands in the order of the folders; tests stand above what they test."""
    if file.startswith("pymodel/tests/hardware/"):
        file = "tb/"  # tests of what benches are made of: they may use any bench
    elif of_tests(file):
        file = "pymodel/" if file.startswith("pymodel/") else "scripts/"
    return next(i for i, folder in enumerate(FLOORS) if file.startswith(folder))


# --- the rules: each gives the violations as lines of text ----------------------------------------


def cycles(sources: Sources) -> list[str]:
    """Files that import each other in a circle."""
    edges: dict[str, list[Import]] = {name: [] for name in sources.trees}
    for found in sources.all_imports:
        if found.target != found.source:
            edges[found.source].append(found)
    state: dict[str, int] = {}  # 1: on the path, 2: done
    path: list[Import] = []
    said = []

    def visit(name: str) -> None:
        state[name] = 1
        for edge in edges[name]:
            path.append(edge)
            if state.get(edge.target) == 1:
                first = next(i for i, e in enumerate(path) if e.source == edge.target)
                said.append("circle: " + "; ".join(map(str, path[first:])))
            elif edge.target not in state:
                visit(edge.target)
            path.pop()
        state[name] = 2

    for name in edges:
        if name not in state:
            visit(name)
    return said


def imports_of_tests(sources: Sources) -> list[str]:
    """Imports of a test by anything, and of what tests share by anything but tests."""
    return [
        f"{found}, a test"
        for found in sources.all_imports
        if is_test(found.target) or (of_tests(found.target) and not of_tests(found.source))
    ]


def upward_imports(sources: Sources) -> list[str]:
    """Imports against the order of the folders."""
    return [
        f"{found}, which stands above"
        for found in sources.all_imports
        if floor(found.target) > floor(found.source)
    ]


def rooms(sources: Sources) -> list[str]:
    """Folders of scripts that import each other in a circle, or stand on too many floors."""
    below: dict[str, set[str]] = {}
    for found in sources.all_imports:
        source, target = (file.rpartition("/")[0] for file in (found.source, found.target))
        inside = source.startswith("scripts") and target.startswith("scripts")
        if inside and source != target and not of_tests(found.source):
            below.setdefault(source, set()).add(target)
    try:
        order = list(graphlib.TopologicalSorter(below).static_order())
    except graphlib.CycleError as error:
        return [f"circle of rooms: {', '.join(error.args[1])}"]
    towers: dict[str, list[str]] = {}  # room -> the longest way down from it
    for room in order:
        under = max((towers[other] for other in below.get(room, ())), key=len, default=[])
        towers[room] = [room, *under]
    highest = max(towers.values(), key=len, default=[])
    if len(highest) <= MOST_FLOORS:
        return []
    return [f"{len(highest)} floors, at most {MOST_FLOORS}: {', '.join(highest)}"]


def path_edits(sources: Sources) -> list[str]:
    """Uses of sys.path: scripts run with ``-m``, pytest has its setting."""
    said = []
    for file, tree in sources.trees.items():
        if "sys" not in sources.texts[file]:  # to walk takes long
            continue
        for node in ast.walk(tree):
            by_name = isinstance(node, ast.ImportFrom) and node.module == "sys"
            if _is(node, "sys", "path") or (by_name and "path" in {a.name for a in node.names}):
                said.append(f"{file}:{node.lineno}: sys.path")
    return said


def waivers(sources: Sources) -> list[str]:
    """Waivers of the order of imports."""
    said = []
    for file, text in sources.texts.items():
        if "E402" not in text:  # tokens take long
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and "noqa" in token.string and "E402" in token.string:
                said.append(f"{file}:{token.start[0]}: {token.string}")
    return said


def plain_options(sources: Sources) -> list[str]:
    """Options whose refusals argparse words: with its usage, not as make names the variable."""
    said = []
    for file, tree in sources.trees.items():
        if not file.startswith("scripts/") or "add_argument" not in sources.texts[file]:
            continue
        for node in (keyword for keyword in ast.walk(tree) if isinstance(keyword, ast.keyword)):
            plain = isinstance(node.value, ast.Name) and node.value.id in ("int", "float")
            if node.arg == "choices" or (node.arg == "type" and plain):
                said.append(f"{file}:{node.value.lineno}: {node.arg} of argparse")
    return said


RULES = (cycles, imports_of_tests, upward_imports, rooms, path_edits, waivers, plain_options)


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_structure(sources, rule):
    found = rule(sources)
    assert not found, "\n".join(found)


def test_all_files_are_read(sources):
    assert len(sources.trees) > 100
    assert len({found.source for found in sources.all_imports}) > 80


#: (rule, files of a small project, what is said of it)
PLANTED = {
    "cycle": (
        cycles,
        {"tb/a.py": "import tb.b", "tb/b.py": "def f():\n    from tb import a"},
        "circle: tb/a.py:1: imports tb/b.py; tb/b.py:2: imports tb/a.py",
    ),
    "cycle, relative": (
        cycles,
        {"tb/a.py": "from . import b", "tb/b.py": "from .a import x"},
        "circle: tb/a.py:1: imports tb/b.py; tb/b.py:1: imports tb/a.py",
    ),
    "product imports a test": (
        imports_of_tests,
        {"scripts/run.py": "\nfrom tb.x import test_x", "tb/x/test_x.py": ""},
        "scripts/run.py:2: imports tb/x/test_x.py, a test",
    ),
    "a test imports a test": (
        imports_of_tests,
        {"tb/x/test_y.py": "from tb.x.test_x import y", "tb/x/test_x.py": ""},
        "tb/x/test_y.py:1: imports tb/x/test_x.py, a test",
    ),
    "a bench imports a test by name": (
        imports_of_tests,
        {
            "tb/x/bench.py": "importlib.import_module('tb.x.test_x')",
            "tb/x/test_x.py": "",
        },
        "tb/x/bench.py:1: imports tb/x/test_x.py, a test",
    ),
    "product imports what tests share": (
        imports_of_tests,
        {"pymodel/a.py": "import pymodel.tests.b", "pymodel/tests/b.py": ""},
        "pymodel/a.py:1: imports pymodel/tests/b.py, a test",
    ),
    "upward, packages": (
        upward_imports,
        {"pymodel/machine/a.py": "from pymodel.compile.b import x", "pymodel/compile/b.py": ""},
        "pymodel/machine/a.py:1: imports pymodel/compile/b.py, which stands above",
    ),
    "upward, folders": (
        upward_imports,
        {"tb/common/a.py": "def f():\n    from scripts import b", "scripts/b.py": ""},
        "tb/common/a.py:2: imports scripts/b.py, which stands above",
    ),
    "upward, tests of the bench kit": (
        upward_imports,
        {
            "pymodel/tests/hardware/a.py": "import scripts.b, tb.a.b",
            "scripts/b.py": "",
            "tb/a/b.py": "",
        },
        "pymodel/tests/hardware/a.py:1: imports scripts/b.py, which stands above",
    ),
    "upward, tests": (
        upward_imports,
        {"pymodel/tests/test_a.py": "import tb.common.b", "tb/common/b.py": ""},
        "pymodel/tests/test_a.py:1: imports tb/common/b.py, which stands above",
    ),
    "circle of rooms": (
        rooms,
        {
            "scripts/dev/a/b.py": "import scripts.dev.c.d",
            "scripts/dev/a/e.py": "",
            "scripts/dev/c/d.py": "",
            "scripts/dev/c/f.py": "from scripts.dev.a.e import g",
        },
        "circle of rooms: scripts/dev/",
    ),
    "too many floors": (
        rooms,
        {f"scripts/r{i}/a.py": f"import scripts.r{i + 1}.a" for i in range(7)}
        | {"scripts/r7/a.py": ""},
        "8 floors, at most 6: scripts/r0, scripts/r1, scripts/r2",
    ),
    "path": (path_edits, {"scripts/a.py": "import sys\nsys.path[:0] = ['x']"}, "2: sys.path"),
    "path by name": (path_edits, {"tb/a.py": "from sys import path"}, "tb/a.py:1: sys.path"),
    "number": (
        plain_options,
        {"scripts/a.py": "parser.add_argument('--seed', type=int)"},
        "scripts/a.py:1: type of argparse",
    ),
    "choice": (
        plain_options,
        {"scripts/a.py": "parser.add_argument('--only', choices=['a'])"},
        "scripts/a.py:1: choices of argparse",
    ),
    "waiver": (waivers, {"tb/a.py": "x = 1\nimport b  # noqa: E402"}, "tb/a.py:2: # noqa"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_violations_are_found(tmp_path, kind):
    rule, files, said = PLANTED[kind]
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (found,) = rule(Sources(tmp_path))
    assert said in found


MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "scripts").rglob("*.py")
    if "tests" not in path.parts and path.name != "__init__.py"
)


def test_every_module_of_scripts_can_be_imported():
    """But for packages that are not installed, of commands that install them."""
    missing = set()
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            assert error.name and error.name.split(".")[0] not in FOLDERS, name
            missing.add(error.name.split(".")[0])
    assert missing <= {"crocoddyl"}
