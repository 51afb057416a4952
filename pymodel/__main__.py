"""`python -m pymodel`, and the command `hdca`."""

import sys

from pymodel.app.start import run_command


def main() -> int:
    """Run the command line and return its exit status."""
    return run_command("pymodel.app.command", sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
