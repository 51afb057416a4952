"""Verilator's model in one text, with each function of the RTL once.

    python once.py -D<name>=<value> <file>... > all.cpp

It takes the place of `verilator_includer`, see model.mk; files other than *.cpp are only what
all.cpp depends on. Verilator writes a function of the RTL once for each instance of its module: a
design of a hundred float units has a hundred copies of each of theirs, under a hundred names. They
are most of what a compiler has to do. Here a function that uses nothing of its instance is a member
of no class; of those that are the same but for their names, and for the names of such functions
that they call, only the first stays, and all call it.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

NAME = re.compile(r"__VnoInFunc_\w+")
FUNCTION = re.compile(
    r"^void \w+::(?P<name>__VnoInFunc_\w+)(?P<arguments>\([^\n]*\)) \{\n(?P<body>.*?)^\}\n",
    re.MULTILINE | re.DOTALL,
)
DEBUG = re.compile(r"^ *VL_DEBUG_IF\(.*\);\n", re.MULTILINE)  # says the function's name
OF_INSTANCE = re.compile(r"this|vlSelf")
GLOBAL = "::"  # in front of the name of a free function where it is called
INSTANCES = ("this->", "vlSelf->", "vlSelfRef.")
OTHER_INSTANCE = re.compile(rf"vlSymsp->\w+\.{GLOBAL}(?=__VnoInFunc_)")


def once(texts: Sequence[str]) -> str:
    """The texts of C++ files as one, each function of the RTL once."""
    found = [function for text in texts for function in FUNCTION.finditer(text)]
    head = {function["name"]: function["arguments"] for function in found}
    body = {function["name"]: DEBUG.sub("", function["body"]) for function in found}

    # All are taken for free first; then those are not that use their instance, or call such ones.
    free: dict[str, str] = {name: name for name in head}
    before: dict[str, str] = {}
    while len(free) != len(before):
        before = free
        free = {name: name for name in free if not OF_INSTANCE.search(_calling(body[name], before))}
    # All are taken for different first; then those are the same that call the same ones.
    called, before = free, {}
    while called != before:
        first: dict[tuple[str, str], str] = {}
        before = called
        called = {
            name: first.setdefault((head[name], _calling(body[name], before)), name)
            for name in free
        }

    def moved(function: re.Match[str]) -> str:
        return "" if function["name"] in free else function[0]

    kept = list(dict.fromkeys(called.values()))
    declared = [f"static void {name}{head[name]};" for name in kept]
    rest = [_calling(FUNCTION.sub(moved, text), called) for text in texts]
    defined = [
        f"static void {name}{head[name]} {{\n{_calling(body[name], called)}}}" for name in kept
    ]
    return "\n".join(["class Vtop__Syms;", *declared, *rest, *defined])


def _calling(text: str, called: Mapping[str, str]) -> str:
    """A text that calls free functions: for each name the one that is called."""
    text = NAME.sub(lambda name: GLOBAL + called[name[0]] if name[0] in called else name[0], text)
    for instance in INSTANCES:
        text = text.replace(f"{instance}{GLOBAL}", GLOBAL)
    return OTHER_INSTANCE.sub(GLOBAL, text)


def main(words: Sequence[str]) -> None:
    """Print definitions of macros, then the files' texts."""
    for word in words:
        if word.startswith("-D"):
            print("#define", word.removeprefix("-D").replace("=", " ", 1))
    print(once([Path(word).read_text() for word in words if word.endswith(".cpp")]))


if __name__ == "__main__":
    main(sys.argv[1:])
