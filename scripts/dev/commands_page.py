"""Write docs/commands.md: the subcommands of `hdca`, their options and make's variables."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pymodel.app.options import Asked, Command, Option
from pymodel.app.table import COMMANDS
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS, ROOT

PAGE = DOCS / "commands.md"
TEMPLATE = Path(__file__).with_name("commands.md.jinja")
#: Subcommand -> the target of make that runs it, where its options are make's variables.
BY_MAKE = {"run": "run", "sweep": "sweep", "robot": "robot", "loop": "closed-loop"}


def default_of(command: Command, option: Option) -> str:
    """What an option is if it is not given."""
    if option.default is None or option.needed:
        return "needed" if option.needed else ""
    if not callable(option.default):
        return f"`{option.default}`"
    names = {argument.key: argument.name for argument in command.arguments}
    given = Asked(command=command, **names, **{x.key: x.name.upper() for x in command.options})
    return f"`{option.default(given)}`"


def row(command: Command, option: Option) -> dict[str, str]:
    """A line of the table of a subcommand's options."""
    word = f"--{option.name}" + (f" {option.metavar}" if option.kind else "")
    variable = option.variable + ("" if option.kind else ("=0" if option.off else "=1"))
    text = option.help
    allowed = getattr(option.kind, "allowed", ())
    if allowed:
        text += f": {', '.join(allowed)}"
    if option.name == "target":
        text += f": {', '.join(command.targets)}"
    if used := [target for target in option.used_by if target in command.targets]:
        text += f" (target {' or '.join(used)})"
    cells = {"word": word, "variable": variable, "default": default_of(command, option)}
    return cells | {"text": text.replace("|", "\\|").replace("<", "\\<")}


def document() -> str:
    """The page's text."""
    sections = [
        {
            "command": command,
            "arguments": " ".join(argument.name for argument in command.arguments),
            "make": BY_MAKE.get(command.name),
            "rows": [row(command, option) for option in command.options if not option.hidden],
        }
        for command in COMMANDS
    ]
    return render(TEMPLATE, sections=sections)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    PAGE.write_text(document())
    print(PAGE.relative_to(ROOT))
    return 0
