"""IP-XACT components (IEEE 1685-2014) of tops: `make manifests` writes them.

Parameters, their defaults and ports are those of the module's header, limits of parameters those of
units/, the memory map that of `pymodel/machine/registers.py`, files those of rtl/rtl.f.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from pymodel.hardware.places import ROOT
from pymodel.hardware.rtl_files import needed
from pymodel.machine.registers import (
    ADDR_W,
    BUS_W,
    READ_ONLY,
    STEP_ARRAY,
    STEP_ENGINE,
    Field,
    Home,
    Map,
    Register,
)
from scripts.kernel.errors import CostError
from scripts.kernel.units import records

NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
FOLDER = "rtl/ipxact"
VENDOR, LIBRARY = "hdca", "hdca"
MAPS = {map_.name: map_ for map_ in (STEP_ENGINE, STEP_ARRAY)}
#: The names of the packages in widths of ports, in parameters of the component.
WIDTHS = {
    "ADDR_W": str(ADDR_W),
    "DATA_W": str(BUS_W),
    "STRB_W": str(BUS_W // 8),
    "FUNCTION_W": "$clog2(FUNCTIONS)",
}
#: Prefix of ports -> name and version of the bus, whether it is a slave.
BUSES = {
    "s_axil_": ("AXI4-Lite", "r0p0", True),
    "s_axis_": ("AXI4Stream", "r0p0_1", True),
    "m_axis_": ("AXI4Stream", "r0p0_1", False),
}
ONE_TO_CLEAR = "write 1 to"  # in the text of a field
PARAMETER = re.compile(r"^  parameter int (\w+) = (.+?),?$", re.M)
PORT = re.compile(r"^  (input|output) +logic +(?:\[(.+?):0\] +)?(\w+)", re.M)
WORD = re.compile(r"\b[A-Z]\w*")
ET.register_namespace("ipxact", NAMESPACE)


def header(top: str) -> str:
    """The text of a module's parameters and ports."""
    return (ROOT / "rtl" / "top" / f"{top}.sv").read_text().partition("\n);")[0]


def parameters(top: str) -> dict[str, str]:
    """Names and defaults, as the module's header has them."""
    return dict(PARAMETER.findall(header(top)))


def ports(top: str) -> dict[str, tuple[str, str | None]]:
    """Name -> direction, and the highest bit as an expression of the component's parameters.

    Raises
    ------
    CostError
        If a width names something else.
    """
    known = parameters(top)

    def named(match: re.Match[str]) -> str:
        if (name := match[0]) not in known and name not in WIDTHS:
            raise CostError(f"{top}: {name}, in a width, is not known to {__name__}")
        return WIDTHS.get(name, name)

    return {
        name: (direction[:-3], WORD.sub(named, high) if high else None)
        for direction, high, name in PORT.findall(header(top))
    }


def _add(above: ET.Element, tag: str, text: object = None, /, **attributes: str) -> ET.Element:
    element = ET.SubElement(above, f"{{{NAMESPACE}}}{tag}", attributes)
    element.text = None if text is None else str(text)
    return element


def _named(above: ET.Element, kind: str, name: str, text: str = "", **given: str) -> ET.Element:
    element = _add(above, kind, **given)
    _add(element, "name", name)
    if text:
        _add(element, "description", text)
    return element


def _buses(component: ET.Element, top: str) -> None:
    buses = _add(component, "busInterfaces")
    for prefix, (kind, version, slave) in BUSES.items():
        mine = [name for name in ports(top) if name.startswith(prefix)]
        if not mine:
            continue
        bus = _named(buses, "busInterface", prefix.rstrip("_"))
        identity = {"vendor": "amba.com", "library": "AMBA4", "version": version}
        _add(bus, "busType", name=kind, **identity)
        abstraction = _add(_add(bus, "abstractionTypes"), "abstractionType")
        _add(abstraction, "abstractionRef", name=f"{kind}_rtl", **identity)
        maps = _add(abstraction, "portMaps")
        shared = {"ACLK": "clk_i", "ARESETn": "rst_ni"}
        logical = shared | {name.removeprefix(prefix).upper(): name for name in mine}
        for signal, port in logical.items():
            pair = _add(maps, "portMap")
            _named(pair, "logicalPort", signal)
            _named(pair, "physicalPort", port)
        role = _add(bus, "slave" if slave else "master")
        if kind == "AXI4-Lite":
            _add(role, "memoryMapRef", memoryMapRef=top)


def _access(register: Register) -> str:
    return "read-only" if register.access == READ_ONLY else "read-write"


def _field(above: ET.Element, register: Register, field: Field) -> None:
    status = register.name == "STATUS"
    clears = status and ONE_TO_CLEAR in field.text
    element = _named(above, "field", field.name, field.text)
    _add(element, "bitOffset", field.low)
    _add(element, "bitWidth", field.width)
    _add(element, "access", "read-only" if status and not clears else _access(register))
    if clears:
        _add(element, "modifiedWriteValue", "oneToClear")
    if register.read_acts:
        _add(element, "readAction", "modify")


def _memory_map(component: ET.Element, map_: Map) -> None:
    memory = _named(_add(component, "memoryMaps"), "memoryMap", map_.name)
    block = _named(memory, "addressBlock", "registers", map_.text)
    _add(block, "baseAddress", 0)
    _add(block, "range", 1 << map_.addr_w)
    _add(block, "width", BUS_W)
    for register in map_.registers:
        element = _named(block, "register", register.name, register.text)
        if register.words > 1:
            _add(element, "dim", register.words)
        _add(element, "addressOffset", f"'h{register.offset:x}")
        _add(element, "size", BUS_W)
        held = register.home is Home.HELD or register.name in ("ID", "VERSION", "IRQ_ENABLE")
        _add(element, "volatile", str(not held).lower())
        _add(element, "access", _access(register))
        for field in register.fields or (Field("VALUE", 0, BUS_W, ""),):
            _field(element, register, field)
    _add(memory, "addressUnitBits", 8)


def _model(component: ET.Element, top: str) -> None:
    model = _add(component, "model")
    view = _named(_add(model, "views"), "view", "rtl")
    _add(view, "componentInstantiationRef", "rtl")
    rtl = _named(_add(model, "instantiations"), "componentInstantiation", "rtl")
    _add(rtl, "language", "SystemVerilog")
    _add(rtl, "moduleName", top)
    values = _add(rtl, "moduleParameters")
    for name in parameters(top):
        _add(_named(values, "moduleParameter", name, dataType="int"), "value", name)
    _add(_add(rtl, "fileSetRef"), "localName", "rtl")
    all_ports = _add(model, "ports")
    for name, (direction, high) in ports(top).items():
        wire = _add(_named(all_ports, "port", name), "wire")
        _add(wire, "direction", direction)
        if high is not None:
            vector = _add(_add(wire, "vectors"), "vector")
            _add(vector, "left", high)
            _add(vector, "right", 0)


def component(top: str, files: Sequence[str], version: str, comment: str) -> str:
    """The component of a top.

    Parameters
    ----------
    top : str
        Name of the module.
    files : sequence of str
        All of rtl/rtl.f, relative to the repository.
    version : str
        Of the package.
    comment : str
        First line of the file.
    """
    root = ET.Element(f"{{{NAMESPACE}}}component")
    for name, text in (("vendor", VENDOR), ("library", LIBRARY), ("name", top)):
        _add(root, name, text)
    _add(root, "version", version)
    _buses(root, top)
    _memory_map(root, MAPS[top])
    _model(root, top)
    files_of = _named(_add(root, "fileSets"), "fileSet", "rtl")
    for path in needed(top, [ROOT / file for file in files]):
        file = _add(files_of, "file")
        _add(file, "name", f"../{path.relative_to(ROOT / 'rtl').as_posix()}")
        _add(file, "fileType", "systemVerilogSource")
    _add(root, "description", f"{top}, with registers of version {_version(MAPS[top])}")
    limits = records()[top].parameters
    all_parameters = _add(root, "parameters")
    for name, default in parameters(top).items():
        legal = limits[name]
        bounds = {"minimum": legal.least, "maximum": legal.most}
        given = {key: str(value) for key, value in bounds.items() if value is not None}
        fixed = {"parameterId": name, "type": "int", "resolve": "user"}
        _add(_named(all_parameters, "parameter", name, **fixed, **given), "value", default)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {comment} -->\n{text}\n'


def _version(map_: Map) -> str:
    assert map_.version is not None
    return ".".join(map(str, map_.version))


def path_of(top: str) -> str:
    """Where the component of a top is, relative to the repository."""
    return (Path(FOLDER) / f"{top}.xml").as_posix()
