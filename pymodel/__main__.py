"""`python -m pymodel`."""

import sys

from pymodel.app.start import run_command

sys.exit(run_command("pymodel.app.command", sys.argv[1:]))
