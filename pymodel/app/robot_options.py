"""What a robot's function is asked for: the options of ``make robot``."""

from dataclasses import dataclass

from pymodel.algorithms.rigid_body.functions import FUNCTIONS
from pymodel.app.options import (
    ARRAY,
    MODEL,
    NATIVE,
    STEP,
    OptionParser,
    add_engine_options,
    fill_in,
    make_command,
    one_of,
    refuse_unused,
    whole,
)
from pymodel.machine.isa import MAX_CONTEXTS, MAX_DATAPATHS

MAX_ROWS = 1_000_000
#: Options that only the simulated engine can use, as :data:`pymodel.app.options.USED_BY`.
USED_BY = {
    "simulator": ("SIM", (STEP, ARRAY)),
    "waves": ("WAVES", (STEP, ARRAY)),
    "lanes": ("LANES", (STEP, ARRAY)),
    "contexts": ("CONTEXTS", (ARRAY,)),
    "datapaths": ("DATAPATHS", (ARRAY,)),
    "stalls": ("STALLS", (ARRAY,)),
}
#: An array's shape, and the percentage of the cycles in which each stream is held back.
ARRAY_DEFAULTS = {"contexts": 8, "datapaths": 2, "stalls": 30}
MOST_STALLS = 95


@dataclass(frozen=True)
class RobotOptions:
    """A function of a robot on random states.

    Attributes
    ----------
    urdf, out
        Robot file, and folder for the results.
    function
        A key of :data:`pymodel.algorithms.rigid_body.functions.FUNCTIONS`.
    target
        Where it runs: ``model``, ``step``, ``array`` or ``native``.
    floating
        Whether the base floats.
    rows
        Number of states.
    simulator, arithmetic, lanes, seed, waves
        As for :class:`pymodel.app.options.RunOptions`; the seed is that of the states, too.
    contexts, datapaths, stalls
        Of the array; default :data:`ARRAY_DEFAULTS`.

    Raises
    ------
    InputError
        If the target cannot use an option that is given.
    """

    urdf: str
    function: str
    out: str
    target: str = MODEL
    floating: bool = False
    rows: int = 16
    simulator: str | None = None
    arithmetic: str = "float32"
    lanes: str | None = None
    seed: int | None = None
    waves: bool = False
    contexts: int | None = None
    datapaths: int | None = None
    stalls: int | None = None

    def __post_init__(self) -> None:
        refuse_unused(self, USED_BY)
        fill_in(self, ARRAY_DEFAULTS)
        fill_in(self)

    def command(self, simulator: str) -> str:
        """The command that does the same on the engine, under a simulator."""
        words = {
            "URDF": self.urdf,
            "FUNCTION": self.function,
            "TARGET": self.target,
            "LANES": self.lanes,
            "ARITH": self.arithmetic,
            "SIM": simulator,
            "SEED": self.seed,
            "ROWS": self.rows,
        }
        words |= {"FLOATING": 1} if self.floating else {}
        if self.target == ARRAY:
            words |= {name.upper(): getattr(self, name) for name in ARRAY_DEFAULTS}
        return make_command("robot", words)


def options_of(arguments: list[str] | None) -> RobotOptions:
    """Read the command line.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    parser = OptionParser(prog="scripts.robot", description="A robot's function on random states.")
    add = parser.add_argument
    add("--urdf", required=True, help="robot file (URDF)")
    add("--function", required=True, type=one_of("FUNCTION", *FUNCTIONS))
    add("--target", type=one_of("TARGET", MODEL, STEP, ARRAY, NATIVE), default=RobotOptions.target)
    add("--out", required=True, help="folder for the results")
    add("--floating", action="store_true", help="let the base float")
    add("--rows", type=whole("ROWS", 1, MAX_ROWS), default=RobotOptions.rows, help="calls")
    add_engine_options(parser)
    add("--contexts", type=whole("CONTEXTS", 1, MAX_CONTEXTS), help="of a datapath of the array")
    add("--datapaths", type=whole("DATAPATHS", 1, MAX_DATAPATHS), help="of the array")
    text = "percentage of the cycles in which each stream of the array is held back"
    add("--stalls", type=whole("STALLS", 0, MOST_STALLS), help=text)
    return RobotOptions(**vars(parser.parse_args(arguments)))
