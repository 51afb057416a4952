"""The filters through which GTKWave shows floats and flags: scripts around `float_filter`."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.dev.waves.lines import Group
from scripts.dev.waves.waveform import Waveform
from scripts.kernel.places import ROOT


def filter_arguments(radix: str, float_format: tuple[int, int] | None) -> tuple[str, ...]:
    """What `float_filter` gets to show values of this kind; () for none."""
    if radix == "flags":
        return ("flags",)
    if radix == "float" and float_format:
        return tuple(map(str, float_format))
    return ()


def filter_name(arguments: tuple[str, ...]) -> str:
    """The script with these arguments, relative to the waveform's folder."""
    return f"./wave_{'_'.join(arguments)}.sh"


def filter_scripts(groups: Sequence[Group], wave: Waveform) -> dict[str, str]:
    """The filters that lines need, as file name and text."""
    scripts = {}
    for line in (line for group in groups for line in group.lines):
        arguments = filter_arguments(line.radix, wave.float_format)
        if arguments:
            command = shlex.join(
                [sys.executable, "-m", "scripts.dev.waves.float_filter", *arguments]
            )
            text = f"#!/bin/sh\ncd {shlex.quote(str(ROOT))} && exec {command}\n"
            scripts[Path(filter_name(arguments)).name] = text
    return scripts
