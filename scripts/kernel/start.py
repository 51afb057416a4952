"""``python -m scripts.kernel.start <module> ...``: a command that Ctrl-C ends in one line."""

import sys

from pymodel.app.start import run_command

if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1], sys.argv[2:]))
