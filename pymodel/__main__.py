"""`python -m pymodel`."""

import sys

from pymodel.commands import run_command

sys.exit(run_command("pymodel.cli", sys.argv[1:]))
