#!/bin/sh
# pywellen 0.25.7: an element of an unpacked array has another name than in the file, or none.
#
# One would have guessed: a variable's full name is that of its scopes and its own. Verilator 5.048
# writes the elements of `logic [7:0] memory [0:1]` and `wide [1:0][1:0]` as `memory.memory[0]` and
# `wide.[0].wide[0][1]`. pywellen makes a scope of what stands before an index: below it is
# `memory.memory.[0]`; of Verilator's own files it said `memory.[0]`, `wide.[0].[1]`, and of one
# element `wide.[0].wide.[0].`, whose own name is empty.
#
# It matters to who looks signals up by the names that GTKWave shows, as our layouts of waves do. So
# FST files are read by pylibfst here, GTKWave's own library, which gives names as they stand.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install pywellen==0.25.7 pylibfst==0.2.1

cat >look.py <<'PYTHON'
import pylibfst
import pywellen
from pylibfst import ffi, lib

writer = lib.fstWriterCreate(b"a.fst", 1)
scopes = {b"memory": (b"memory[0] [7:0]", b"memory[1] [7:0]")}
inner = (b"wide[0][0] [7:0]", b"wide[0][1] [7:0]")


def begin(name):
    lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, name, ffi.NULL)


def variable(name):
    return lib.fstWriterCreateVar(writer, lib.FST_VT_VCD_WIRE, 0, 8, name, 0)


begin(b"top")
begin(b"memory")
for name in (b"memory[0] [7:0]", b"memory[1] [7:0]"):
    first = variable(name)
lib.fstWriterSetUpscope(writer)
begin(b"wide")
begin(b"[0]")
for name in inner:
    variable(name)
for _ in range(3):
    lib.fstWriterSetUpscope(writer)
lib.fstWriterEmitTimeChange(writer, 0)
lib.fstWriterEmitValueChange(writer, first, ffi.new("char[]", b"00000000"))
lib.fstWriterEmitTimeChange(writer, 1)
lib.fstWriterClose(writer)

reader = lib.fstReaderOpen(b"a.fst")
print("in the file:", *sorted(pylibfst.get_scopes_signals2(reader)[1].by_name), sep="\n  ")
found = sorted(one.full_name for one in pywellen.Waveform("a.fst").all_vars())
print("pywellen:", *found, sep="\n  ")
assert "top.memory.memory[0]" not in found, "it is mended"
PYTHON
sed -i '/^scopes = /d' look.py
venv/bin/python look.py
