"""A made-up waveform."""

from pathlib import Path

from pylibfst import ffi, lib

# Float formats of all sizes.
FORMATS = [(8, 23), (5, 10), (8, 7), (11, 52), (4, 3), (5, 2), (4, 2)]

#: Variables (name, bits, kind) and scopes (name, what is inside).
Hierarchy = list[tuple]


def variable(name: str, width: int, kind: int = lib.FST_VT_VCD_WIRE) -> Hierarchy:
    """A variable in a hierarchy."""
    return [(name, width, kind)]


def scope(name: str, *inside: Hierarchy) -> Hierarchy:
    """A scope in a hierarchy."""
    return [(name, [item for some in inside for item in some])]


def write(path: Path, hierarchy: Hierarchy) -> None:
    """Write a waveform of which one value is known, of a parameter."""
    writer = lib.fstWriterCreate(str(path).encode(), 1)
    _write(writer, hierarchy)
    changes = lib.fstWriterCreateVar(
        writer, lib.FST_VT_VCD_PARAMETER, lib.FST_VD_IMPLICIT, 1, b"changes", 0
    )
    lib.fstWriterEmitTimeChange(writer, 0)
    lib.fstWriterEmitValueChange(writer, changes, ffi.new("char[]", b"1"))  # a file needs one
    lib.fstWriterEmitTimeChange(writer, 1)
    lib.fstWriterClose(writer)


def _write(writer: ffi.CData, hierarchy: Hierarchy) -> None:
    for name, *about in hierarchy:
        if isinstance(about[0], int):
            width, kind = about
            lib.fstWriterCreateVar(writer, kind, lib.FST_VD_IMPLICIT, width, name.encode(), 0)
        else:
            lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, name.encode(), ffi.NULL)
            _write(writer, about[0])
            lib.fstWriterSetUpscope(writer)


HIERARCHY = scope(
    "dut",
    variable("clk_i", 1),
    variable("EXP_W [31:0]", 32, kind=lib.FST_VT_VCD_PARAMETER),
    variable("x_i [95:0]", 96),
    scope("u_add", variable("y_o [31:0]", 32), variable("memory[3] [7:0]", 8)),
) + scope("$rootio", variable("clk_i", 1))


def words(exp_w: int, man_w: int, count: int = 3) -> Hierarchy:
    """The hierarchy with count floats in x_i."""
    width = count * (1 + exp_w + man_w)
    return scope("dut", variable("clk_i", 1), variable(f"x_i [{width - 1}:0]", width))
