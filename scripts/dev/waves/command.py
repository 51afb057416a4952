"""`make waves BENCH=<bench>`: open a waveform of the bench with the bench's layout.

Which of the layout's signals a waveform has, how wide they are and which float format they hold
depends on simulator and configuration, so GTKWave's save file and Surfer's command file are made
from it each time, next to the waveform. Standard library only, except to say which configurations
there are.

Exit status 2, after one line, when there is nothing to open or nothing to open it with.
"""

import argparse
import sys
from collections.abc import Sequence

from scripts.dev.waves.choose import choose, shown
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.viewer import open_waveform, write
from scripts.dev.waves.waveform import Waveform


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Open a waveform of a bench with its layout.")
    parser.add_argument("bench")
    parser.add_argument("--config", help="the newest of this configuration")
    parser.add_argument("--file", help="this one")
    parser.add_argument("--no-viewer", action="store_true", help="only write the viewers' files")
    options = parser.parse_args(arguments)
    try:
        path = choose(options.bench, options.config, options.file)
        wave = Waveform.read(path)
        print(f"waves: {shown(path)}" + (f"   ({wave.about['rerun']})" if wave.about else ""))
        if options.no_viewer:
            write(wave, options.bench)
            return 0
        return open_waveform(wave, options.bench)
    except Problem as problem:
        print(f"waves: {problem}", file=sys.stderr)
        return 2
