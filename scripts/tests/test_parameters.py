"""Every parameter of the RTL is varied by a bench, or set by the module above.

One that has to keep its default would be a `localparam`.
"""

import importlib
import re
from collections import defaultdict
from dataclasses import replace

import pytest

from scripts.lint import bench_files, modules
from scripts.places import ROOT
from tb.common.rtl_files import rtl_files

FILES = [ROOT / file for file in (*rtl_files(), *bench_files())]
PARAMETERS = {name: has for file in FILES for name, has in modules(file).items()}
BENCHES = [
    importlib.import_module(f"tb.{folder.name}.bench").BENCH
    for folder in sorted((ROOT / "tb").iterdir())
    if (folder / "Makefile").exists()
]
TOPS = {bench.device.toplevel: bench.device for bench in BENCHES}
WRAPPERS = [text for device in TOPS.values() if (text := device.around())]
INSTANCE = re.compile(r"^ *(\w+) #\((.*?)\) u_\w+ \(", re.M | re.S)


def varied_by_benches():
    """Module -> parameters that have more than one value in the configurations of its benches."""
    values = defaultdict(set)
    for bench in BENCHES:
        top = bench.device.toplevel
        for config in bench.configs.values():
            for name in PARAMETERS[top]:
                values[top, name].add(config.params.get(name))  # None: the default
        if bench.random:
            for name, range_ in bench.random.ranges.items():
                values[top, name] |= set(range_)
    varied = defaultdict(set)
    for (top, name), found in values.items():
        if len(found) > 1:
            varied[top].add(name)
    return varied


def set_by_modules():
    """Module -> parameters that an instance of it is given."""
    found = defaultdict(set)
    for text in (*(file.read_text() for file in FILES), *WRAPPERS):
        for module, given in INSTANCE.findall(re.sub("//.*", "", text)):
            found[module] |= set(re.findall(r"\.(\w+)\(", given))
    return found


def unvaried():
    varied, given = varied_by_benches(), set_by_modules()
    return {
        f"{module}.{name}"
        for module, has in PARAMETERS.items()
        for name in has - varied[module] - given[module]
    }


def test_every_parameter_is_varied():
    assert unvaried() == set()


@pytest.mark.parametrize("removed", ["DSP_W", "TRACE_DEPTH"])
def test_a_parameter_that_no_bench_sets_is_found(monkeypatch, removed):
    """Both ways: an instance that does not pass it on, and configurations without it."""
    for bench in BENCHES:
        for config in bench.configs.values():
            monkeypatch.delitem(config.params, removed, raising=False)
        if bench.random:  # its ranges have an order, so they are not changed in place
            ranges = {name: x for name, x in bench.random.ranges.items() if name != removed}
            monkeypatch.setattr(bench, "random", replace(bench.random, ranges=ranges))
    assert any(name.endswith(f".{removed}") for name in unvaried())
