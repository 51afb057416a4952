"""The parts of the RTL dialect (CONTRIBUTING.md) that verible has no rule for.

Lines are looked at one by one: a check that needs to parse belongs into verible's rules.
"""

import re

COLUMNS = 100
INDENT = 2

# What no line of code may have, and what is asked for instead.
BANNED = {
    re.compile(r"\bbegin\s*:\s*(?!gen_)\w+"): "a generate block is named gen_...",
    re.compile(r"\.([a-z]\w*)\s*\(\s*\1\s*\)"): "a port and a net of one name connect as `.name`",
    re.compile(r'\$fatal\((?!\d, "%m: )'): 'an error names the instance: $fatal(1, "%m: ..."',
    re.compile(r"^\s*(begin|else)\b"): "`begin` and `end else begin` stand on the line before",
}
# A list or a block that the line opens.
OPENS = re.compile(r"(\(|\bbegin(\s*:\s*\w+)?)$")


def violations(text: str) -> list[tuple[int, str]]:
    """What a file has against the dialect.

    Parameters
    ----------
    text : str
        SystemVerilog.

    Returns
    -------
    list of (int, str)
        Line, counted from 1, and what is asked for there.
    """
    found = []
    inside = None  # indentation that a line before asks for
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0].rstrip()
        if len(line) > COLUMNS:
            found.append((number, f"at most {COLUMNS} columns, not {len(line)}"))
        found += [(number, message) for banned, message in BANNED.items() if banned.search(code)]
        if not code:
            continue
        indent = len(code) - len(code.lstrip())
        if inside is not None and indent != inside:
            found.append((number, f"{INDENT} spaces inside a list or a block"))
        inside = indent + INDENT if OPENS.search(code) else None
    return found
