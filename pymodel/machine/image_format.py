"""The format of program images, written once, as data.

A program image is a file with all that a step engine is loaded with, and the names of its values.
:mod:`pymodel.machine.program_image` writes and reads images by these tables;
:mod:`pymodel.machine.register_files` writes from them the C header of the driver and the
documentation.
"""

from collections.abc import Sequence
from typing import NamedTuple

MAGIC = int.from_bytes(b"STPI", "little")
VERSION = 2
WORD_BYTES = 4
PIPE = "\\|"  # in a cell of a table


class Field(NamedTuple):
    """A 32-bit word of a record, lowest byte first."""

    name: str
    text: str


class Record(NamedTuple):
    """Words that belong together."""

    name: str
    text: str
    fields: tuple[Field, ...]

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return WORD_BYTES * len(self.fields)

    def place(self, name: str) -> int:
        """Place of a field."""
        return next(k for k, field in enumerate(self.fields) if field.name == name)


HEADER = Record(
    "HEADER",
    "The file begins with it.",
    (
        Field("MAGIC", "ASCII `STPI`"),
        Field("VERSION", f"of the format: {VERSION}"),
        Field("SIZE", "bytes of the file"),
        Field("CHECK", "CRC-32 of all bytes behind this word, that of zlib and Ethernet"),
        Field("CONFIG", "what this register of the engine reads as"),
        Field("LANES", "likewise"),
        Field("FILE_DEPTH", "likewise"),
        Field("WORD_W", "bits of a program word"),
        Field("WORDS", "program words"),
        Field("ENTRIES", "entries of the trace list"),
        Field("PROGRAMS", "program records"),
        Field("PARAMETERS", "value records at the beginning that are parameters"),
        Field("VALUES", "value records"),
        Field("NAMES", "bytes of the names, a multiple of 4"),
    ),
)

PROGRAM = Record(
    "PROGRAM",
    "A program; its number is its place.",
    (
        Field("NAME", "where its name begins"),
        Field("START", "address of the main segment"),
        Field("MAIN", "words of the main segment"),
        Field("SPECIAL", "words of the re-basing segment, which stands behind it; 0: none"),
        Field("PROLOGUE", "words of the prologue, which stands behind them; 0: none"),
        Field("EVERY", "the re-basing segment runs in steps EVERY, 2 EVERY, ...; 0: never"),
        Field("STEPS", "steps of the run that it was compiled for; 1: a call"),
        Field("SAVE", "trace steps 0, SAVE, 2 SAVE, ..."),
        Field("ENTRY", "its first entry of the trace list"),
        Field("FIRST", "its first value record: inputs, carried values, BEFORE, AFTER"),
        Field("INPUTS", "inputs"),
        Field("CARRIED", "carried values"),
        Field("BEFORE", "values traced before a step"),
        Field("AFTER", "values traced after it: the outputs"),
    ),
)

VALUE = Record(
    "VALUE",
    "A value with its register.",
    (
        Field("NAME", "where its name begins"),
        Field("LOCATION", "bank << 16 | address"),
        Field("BITS", "what is loaded: of parameters and carried values; 0 of the others"),
    ),
)

RECORDS = (HEADER, PROGRAM, VALUE)

#: What stands in the file, one behind the other.
SECTIONS = (
    ("header", "one record"),
    ("programs", "PROGRAMS records"),
    ("values", "VALUES records"),
    ("program words", "WORDS times WORD_W / 32 words, rounded up; lowest bits first"),
    ("names", "NAMES bytes of UTF-8; each name ends with a zero byte, and so does the section"),
)

_PAGE = """\
# Program images

<!-- {generated} -->

A program image is a file with all that one [step engine](step_engine.md) holds: programs, trace
list, parameters, initial values, the names of everything, and what kind of engine it is for.

```
.venv/bin/python -m pymodel compile scenarios/four_bar.toml --rebase 10 --out build/loop
.venv/bin/python -m pymodel compile robots/iiwa14.urdf --function ID --function M --out build/arm
.venv/bin/python -m pymodel compile --show build/arm
```

`compile` prints which engine (`rtl/top/step_engine.sv`) the image is for. Where the engine is there
already, `--lanes`, `--stages`, `--read-stages`, `--operand-stages`, `--arith` and `--depth` are its
parameters; the header has all of them. `--show` also lists the parameters, and of each program
inputs, carried values and traced ones, in their order. Functions of a scenario or robot make one
library; the first `--function` is program 0. A time step by itself keeps steps, saving interval and
re-basing of its scenario and options.

With other masses or lengths the same options give an image of the same programs, whose parameters
can be exchanged on a loaded engine; a robot needs `--parameters-as-data` for that. The programs
are others where a number becomes zero or stops being zero: a coordinate of a center of mass or of
gravity, for example ([what stays the same](step_engine.md#other-parameters-the-same-program)).

[`sw/step_engine.c`](../sw/README.md) reads images on a host, `pymodel/machine/program_image.py` in
Python. Both refuse a file that is no image (`MAGIC`), of another `VERSION`, not `SIZE` bytes long,
with another `CHECK`, and one whose counts, places or locations lead outside. The driver also
refuses an image whose `CONFIG`, `LANES` and `FILE_DEPTH` are not the engine's.

All is made of 32-bit words, lowest byte first. One behind the other, without gaps:

{sections}

A step may compute at its end what the next one begins with. The first one finds it from a
*prologue*: words that run for one step, without a trace, before every run, as the carried values or
parameters may have changed. The driver does that; these registers are not among the values.

Parameters are the first values; those of the programs follow. An engine has a bank for each adder
and multiplier of `LANES`, and two more. A change of the format that a reader must know of gets
another `VERSION`.
{records}
"""


def c_header(generated: str) -> str:
    """The C header: numbers of the words in each record, and their count."""
    lines = [f"/* {generated} */", "#ifndef STEP_IMAGE_H", "#define STEP_IMAGE_H", ""]
    lines += [f"#define STEP_IMAGE_MAGIC 0x{MAGIC:08x}u"]
    lines += [f"#define STEP_IMAGE_VERSION {VERSION}u"]
    for record in RECORDS:
        lines += ["", f"/* {record.text} */"]
        for number, field in enumerate(record.fields):
            name = f"STEP_IMAGE_{record.name}_{field.name}"
            lines.append(f"#define {name} {number}u /* {field.text} */")
        lines.append(f"#define STEP_IMAGE_{record.name}_LENGTH {len(record.fields)}u")
    return "\n".join([*lines, "", "#endif", ""])


def markdown(generated: str) -> str:
    """The documentation of the format."""
    records = []
    for record in RECORDS:
        rows = [(str(k), *field) for k, field in enumerate(record.fields)]
        title = f"## {record.name.capitalize()}"
        records += ["", title, "", record.text, "", *_table(("word", "name", "what"), rows)]
    return _PAGE.format(
        generated=generated,
        sections="\n".join(_table(("section", "what"), SECTIONS)),
        records="\n".join(records),
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(x.replace('|', PIPE) for x in row)} |" for row in (head, *rows)]
    return [lines[0], f"|{' --- |' * len(head)}", *lines[1:]]
