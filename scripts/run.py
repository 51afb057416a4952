"""Run a scenario on the model, an RTL co-processor or the step engine: what `make run` calls.

Exit status: 0 done, 1 the run broke off or the hardware differed from the model, 2 bad input,
130 Ctrl-C; the last two in one line.
"""

import sys
from collections.abc import Callable

from pymodel.app.options import MODEL, NATIVE, OptionParser, RunOptions, add_options, either, one_of
from pymodel.app.start import BAD_INPUT, INTERRUPTED, ended_by, text_of
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.files import animate_run, run_folder
from pymodel.runs.input_error import InputError
from pymodel.runs.session import run_model
from pymodel.runs.summary import Summary
from scripts.hardware_run import run_hardware
from scripts.hardware_targets import TARGETS


def run(options: RunOptions) -> tuple[Summary | None, int]:
    """Run a scenario and leave its files.

    Returns
    -------
    summary : dict or None
        None if not even the first step was kept.
    status : int
        The exit status.

    Raises
    ------
    ValueError, OSError
        If what is asked for cannot be done, or a file cannot be read or written.
    """
    scenario = load(options.scenario, options.steps)
    if options.animate and len(scenario.times) < 2:
        raise InputError("ANIMATE=1: only for a run that keeps more than its start (save, STEPS)")
    with run_folder(options.out, scenario):  # what comes last, too, belongs to the files
        summary, status = _run(scenario, options)
        if options.animate and summary and summary["rows"] > 1:
            print(f"motion in {animate_run(options.out, scenario)}")
    return summary, status


def _run(scenario: Scenario, options: RunOptions) -> tuple[Summary | None, int]:
    if options.target not in (MODEL, NATIVE):
        return run_hardware(options)
    return run_model(
        scenario,
        options.arithmetic,
        options.out,
        target=options.target,
        with_reference=options.reference,
        forces=options.forces,
        **options.algorithm(scenario),
    )


def status_of(command: Callable[[], int]) -> int:
    """Run a command to its exit status; bad input and Ctrl-C are told on stderr in one line."""
    try:
        return command()
    except ValueError as error:
        print(error, file=sys.stderr)
    except BrokenPipeError:
        raise  # no file's: what is printed is not read
    except OSError as error:
        print(text_of(error), file=sys.stderr)
    except KeyboardInterrupt as error:
        print(f"{ended_by(error)}; this run leaves no files", file=sys.stderr)
        return INTERRUPTED
    return BAD_INPUT


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = OptionParser(prog="scripts.run", description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", required=True, help="scenario file (TOML)")
    targets = (MODEL, NATIVE, *TARGETS)
    text = f"where it runs: {either(targets)} (default: {RunOptions.target})"
    parser.add_argument(
        "--target", type=one_of("TARGET", *targets), default=RunOptions.target, help=text
    )
    parser.add_argument("--out", required=True, help="folder for the results")
    parser.add_argument("--animate", action="store_true", help="draw the mechanism in motion, too")
    parser.add_argument("--forces", action="store_true", help="write the joints' forces, too")
    add_options(parser)
    return status_of(lambda: run(RunOptions(**vars(parser.parse_args(arguments))))[1])
