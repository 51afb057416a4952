"""The same of an array behind its serial line: calls of a robot's function stream through it.

Settings: ``command`` and ``out``, as of :mod:`pymodel.hardware.cosim.board`.
"""

from collections.abc import Sequence

from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import board
from pymodel.hardware.cosim.board import CLOCK_HZ, USB_BAUD

ROBOT, FUNCTION = "iiwa14", "FD"
ROWS = 20  # calls, so that the last batch is not a full one
USB = board.USB


def command(rows: int, function: str = FUNCTION, robot: str = ROBOT) -> list[str]:
    """The host's command: calls of a robot's function."""
    return ["robot", robot, "--function", function, "--rows", str(rows)]


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench("cosim_board_array", "board_array", configs, module=module)


_USB = {"CLOCK_HZ": CLOCK_HZ, "BAUD": USB_BAUD}
BENCH = bench([Config(USB, _USB, {"command": command(ROWS)}, long=True)], __name__)
host_program = board.test_of(BENCH)
