"""Run a scenario on the model, an RTL co-processor or the step engine: what ``make run`` calls.

Exit status: 0 done, 1 the run broke off or the hardware differed from the model, 2 bad input,
told in one line.
"""

import argparse
import sys

from pymodel.mechanism.scenario_file import load
from pymodel.runs.session import run_model
from pymodel.runs.summary import Summary
from scripts.hardware_run import run_hardware
from scripts.hardware_targets import TARGETS
from scripts.run_options import RunOptions, add_options

BAD_INPUT = 2
MODEL = "model"


def run(options: RunOptions) -> tuple[Summary | None, int]:
    """Run a scenario and leave its files; what makes no sense is told on stderr.

    Returns
    -------
    summary : dict or None
        None if not even the first step was kept.
    status : int
        The exit status.
    """
    try:
        if options.target == MODEL:
            scenario = load(options.scenario, options.steps)
            return run_model(
                scenario,
                options.arithmetic,
                options.out,
                rebase=options.rebase,
                with_reference=options.reference,
            )
        return run_hardware(options)
    except ValueError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}" if error.filename else error, file=sys.stderr)
    return None, BAD_INPUT


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="scripts.run", description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", required=True, help="scenario file (TOML)")
    parser.add_argument("--target", choices=(MODEL, *TARGETS), default=RunOptions.target)
    parser.add_argument("--out", required=True, help="folder for the results")
    add_options(parser)
    _, status = run(RunOptions(**vars(parser.parse_args(arguments))))
    return status


if __name__ == "__main__":
    sys.exit(main())
