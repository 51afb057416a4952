#!/bin/sh
# Zig 0.15.1: `zig objcopy -O binary` shifts the bytes of an ELF file whose sections follow closely.
#
# One would have guessed: the bytes from the lowest load address on, at their load addresses, as
# objcopy of GNU and LLVM give them. With a section of 2 bytes at address 0 and one at 2, which the
# linker puts into segments of their own, two bytes of zeros come first and all others 2 too late.
#
# It matters to our users: a processor that starts from such a ROM runs nothing. So `make litex-sim`
# reads the segments with pyelftools.
#
# Source: https://github.com/ziglang/zig/issues/25653 (open)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip -qq install ziglang==0.15.1 pyelftools==0.33
zig() { ZIG_GLOBAL_CACHE_DIR="$folder/cache" venv/bin/python -m ziglang "$@"; }

echo 'void _start(void) { for (;;) {} }' >part.c
cat >part.ld <<'SCRIPT'
MEMORY { rom : ORIGIN = 0, LENGTH = 0x1000 }
SECTIONS {
  .text : { *(.text*) } > rom
  .rodata : { . = ALIGN(8); *(.rodata*) LONG(0x11223344) } > rom
}
SCRIPT
zig cc -target riscv32-freestanding-none -Os -T part.ld part.c -o part.elf
zig objcopy -O binary part.elf part.bin

venv/bin/python - <<'CHECK'
import sys
from elftools.elf.elffile import ELFFile

wanted = bytearray()
for segment in ELFFile(open("part.elf", "rb")).iter_segments("PT_LOAD"):
    start, data = segment["p_paddr"], segment.data()
    wanted.extend(bytes(max(0, start + len(data) - len(wanted))))
    wanted[start : start + len(data)] = data
found = open("part.bin", "rb").read()
print("ziglang 0.15.1, a file of", len(wanted), "bytes from address 0 on")
print("  its segments  ", wanted.hex(" "))
print("  zig objcopy   ", found.hex(" "))
sys.exit(found == wanted)
CHECK
