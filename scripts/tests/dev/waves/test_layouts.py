"""The layouts of the benches, and what their tests read below the top level."""

import importlib
import re
from pathlib import Path

import pytest

from pymodel.algorithms import two_handles
from scripts.dev.waves.layout import RADIXES, expand, layout_file, read_layout
from scripts.kernel.places import ROOT

LAYOUTS = sorted((ROOT / "tb").glob("*/waves.toml"))
BENCHES = sorted(path.parent.name for path in (ROOT / "tb").glob("*/Makefile"))


def module_text(bench, name: str) -> str:
    """The source of a module, without comments."""
    for source in bench.sources:
        text = re.sub(r"//[^\n]*", "", Path(source).read_text())
        if re.search(rf"^module {name}\b", text, re.M):
            return text
    raise AssertionError(f"no module {name}")


def declared(bench, toplevel: str, path: str) -> bool:
    """Does a path name something that the RTL declares? Follows instances and generate blocks."""
    text = module_text(bench, toplevel)
    *scopes, name = path.split(".")
    for part in scopes:
        part = part.split("[")[0]
        block_start = re.search(rf"begin\s*:\s*{part}\b", text)
        if block_start:
            text = text[block_start.end() :]
            continue
        parameters = r"(?:#\s*\((?:[^()]|\([^()]*\))*\)\s*)?"
        instance = re.search(rf"(\w+)\s+{parameters}{part}\s*\(", text)
        if not instance:
            return False
        text = module_text(bench, instance[1])
    return re.search(rf"\blogic\b[^;()]*\b{name}\b", text) is not None


@pytest.mark.parametrize("name", BENCHES)
def test_what_is_read_below_the_top_level_is_in_the_rtl(name):
    """Some of it is read only to say what went wrong: no green run would miss it."""
    device = importlib.import_module(f"tb.{name}.bench").BENCH.device
    for signal in device.public:
        module, own = signal.split(".")
        assert declared(device, module, own), f"{module} has no {own}, which {name} reads"


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.parent.name)
def test_layout_names_what_the_rtl_has(path):
    name = path.parent.name
    bench = importlib.import_module(f"tb.{name}.bench").BENCH.device
    layout = read_layout(path)
    named = 0
    for group in layout["group"]:
        assert set(group) <= {"name", "closed", "repeat", "signals"}
        for item in group["signals"]:
            item = {"path": item} if isinstance(item, str) else item
            assert set(item) <= {"path", "radix", "name", "words"}
            assert item.get("radix", "auto") in RADIXES
            assert declared(bench, bench.toplevel, item["path"]), item["path"]
            named += 1
    assert named
    assert not declared(bench, bench.toplevel, "no_such_signal")


def test_every_bench_has_a_layout():
    assert {path.parent.name for path in LAYOUTS} >= {
        "fp_add",
        "fp_mul",
        "fp_recip",
        "inv_adjugate_2x2",
        "hdca_engine",
        "hdca_coprocessor",
    }


@pytest.mark.parametrize("bench", ["hdca_engine", "hdca_coprocessor"])
def test_a_body_has_all_its_words(bench):
    names = expand(read_layout(layout_file(bench))["words"]["body"], {})
    assert len(names) == len(set(names)) == two_handles.WORDS


def test_another_bench_has_the_layout_only_if_it_has_the_top_level():
    assert layout_file("cosim_step", "step_engine") == ROOT / "tb" / "step_engine" / "waves.toml"
    assert layout_file("my_adder", "fp_add") is None  # that of fp_add is for its lanes
    assert layout_file("my_lanes", "fp_lanes") is None
