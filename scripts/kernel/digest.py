"""One rule for "has it changed": what every cache of the repository is keyed by.

A result stands as long as these are the same: the tokens of the RTL that it was found with, the
other files byte by byte, and what else decides on it, given as text (parameters, scripts, versions
of tools). Comments and the layout of RTL are none of it.

Nothing is elaborated for this, as two texts of the same tokens cannot mean different hardware: a
tool's lexer drops exactly what is dropped here. Kept is all that a tool reads besides: comments
that are orders to it (``verilator lint_off``, ``synthesis translate_off``), attributes, strings as
they stand, and the lines that a directive ends with. A text that asks for its own line numbers
counts as it stands.
"""

import functools
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pymodel.hardware.places import ROOT

RTL_SUFFIXES = (".sv", ".svh", ".v")
#: First words of comments that tools obey.
ORDERS = ("verilator", "synthesis", "synopsys", "pragma", "yosys", "xilinx", "altera", "slang")
#: Directives of the preprocessor whose line ends them: its layout is kept.
LINES = ("define", "pragma", "line", "protect", "begin_keywords", "include")
_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = r"//[^\n]*|/\*.*?\*/"
#: Of more than one character, IEEE 1800-2017: a lexer takes the longest that fits.
_OPERATORS = (
    r"<<<=|>>>=|&&&|<<=|>>=|<<<|>>>|===|!==|==\?|!=\?|<->|->>|\|->|\|=>|#-#|#=#|\[->|==|!=|<=|>=|&&"
    r"|\|\||\*\*|<<|>>|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|->|=>|\*>|~&|~\||~\^|\^~|::|:=|:/|\+:|-:"
    r"|\.\*|##|\(\*|\*\)|@@|\[\*|\[=|\[\+|'\{|``|`\""
)
_WORDS = (
    r"\d[\d_]*\.\d[\d_]*(?:[eE][+-]?\d[\d_]*)?\w*",  # 1.5, 2.5e-3, 1.5ns
    r"\d[\d_]*[eE][+-]?\d[\d_]*\w*",  # 1e-3
    r"(?:\d[\d_]*)?'(?:[sS]?[bodhBODH][\w?]+|[01xXzZ]\b)",  # 8'hff, 4'b1??0, '0
    r"`\w+",
    r"\\\S+",  # an escaped identifier ends at a space
    r"[\w$]+",
)
_LEXER = re.compile(
    rf"(?P<comment>{_COMMENT})"
    rf"|(?P<line>`(?:{'|'.join(LINES)})\b(?:{_STRING}|{_COMMENT}|\\\n|[^\n])*)"
    rf"|(?P<token>{_STRING}|{'|'.join(_WORDS)}|{_OPERATORS}|\S)",
    re.S,
)
_ORDER = re.compile(rf"(?://|/\*)\s*(?P<said>(?:{'|'.join(ORDERS)})\b.*?)\s*(?:\*/|//.*)?", re.S)
_OWN_PLACE = re.compile(r"`__(?:LINE|FILE)__\b")


class Token(NamedTuple):
    """A token of SystemVerilog, and where it begins in its text."""

    text: str
    at: int


def tokens(text: str) -> Iterator[Token]:
    """What a tool reads of SystemVerilog, comments and layout left out.

    A comment that is an order to a tool is one token, as is a directive that its line ends.
    """
    for found in _LEXER.finditer(text):
        if found["comment"]:
            if order := _ORDER.fullmatch(found["comment"]):
                yield Token(f"/*{' '.join(order['said'].split())}*/", found.start())
        elif found["line"]:
            yield Token(_directive(found["line"]), found.start())
        else:
            yield Token(found["token"], found.start())


def _directive(line: str) -> str:
    """The line of a directive without comments, ended as it was."""
    kept = re.sub(rf"({_STRING})|{_COMMENT}", lambda m: m[1] or " ", line, flags=re.S)
    return re.sub(r"[ \t]+", " ", kept).strip() + "\n"


def rtl_text(text: str) -> str:
    """What counts of a file of SystemVerilog: its tokens, a line each."""
    if _OWN_PLACE.search(text):
        return text
    return "\n".join(token.text for token in tokens(text))


@functools.cache
def digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(file: str | Path) -> str:
    """The digest of a file's content: the tokens of RTL, the bytes of all else.

    Parameters
    ----------
    file
        Its path, relative to the repository or absolute.
    """
    path = ROOT / file
    now = path.stat()
    return _file_digest(path, now.st_mtime_ns, now.st_size, now.st_ino)


@functools.lru_cache(1 << 14)
def _file_digest(path: Path, *_: int) -> str:
    if path.suffix in RTL_SUFFIXES:
        return digest(rtl_text(path.read_text()))
    return bytes_digest(path)


def bytes_digest(file: str | Path) -> str:
    """The digest of a file byte by byte, for what reads RTL as a text."""
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()


def key_of(files: Iterable[str | Path], *given: str) -> str:
    """The key of a result: changes with the content of files, their names, and what is given.

    Parameters
    ----------
    files
        In an order that is always the same, relative to the repository or absolute.
    given
        All else that decides on the result.

    Returns
    -------
    str
        64 digits. As many of them as a name may be long are a key, too.
    """
    lines = [f"{_name(file)} {file_digest(file)}" for file in files]
    return digest("\n".join([*lines, *map(digest, given)]))


def _name(file: str | Path) -> str:
    path = ROOT / file
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def pinned(group: str, project: Path = ROOT / "pyproject.toml") -> str:
    """The versions that a dependency group of pyproject.toml pins, one a line."""
    groups = tomllib.loads(project.read_text())["dependency-groups"]

    def lines(name: str) -> Iterator[str]:
        for one in groups[name]:
            if isinstance(one, str):
                yield one
            else:
                yield from lines(one["include-group"])

    return "\n".join(lines(group))
