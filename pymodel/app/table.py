"""All options and subcommands of `hdca`: each option's name, values, help and default, once.

Nothing here imports what a subcommand runs, so that a mistake is told at once.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from pymodel.app.options import (
    ARRAY,
    BOARD,
    COPROCESSOR,
    ENGINE,
    MODEL,
    NATIVE,
    SIMULATED,
    STEP,
    TWIN,
    Argument,
    Asked,
    Command,
    OneOf,
    Option,
    Whole,
    arithmetic,
    decimal_number,
    decimal_numbers,
    displacement,
    lanes,
    limits,
    names_with_commas,
    positive_number,
    target_option,
    vector,
)
from pymodel.hardware.places import robot_file, scenario_file

AUTO = "auto"  # the fastest simulator that is there
LANES = "2+2"
RUNS = Path("build", "runs")  # where results go
FUNCTIONS = "pymodel.algorithms.rigid_body.functions:ALL"
_BASES = "pymodel.algorithms.requests:"
MAX_ROWS, MOST_STALLS, MAX_LOOP_STEPS, MAX_KNOTS = 1_000_000, 95, 100_000, 10_000

#: How a target can connect the base of a closed chain, its default first.
BASES = {
    MODEL: ("ldl", "blocks", "ldup"),
    NATIVE: ("ldl", "blocks"),
    TWIN: ("ldl", "blocks"),
    COPROCESSOR: ("ldup",),
    ENGINE: ("ldl", "blocks"),
    BOARD: ("ldl", "blocks"),
}


# --- where results go by default ------------------------------------------------------------------


def _of_run(asked: Asked) -> str:
    return str(RUNS / Path(asked.scenario).stem)


def _of_sweep(asked: Asked) -> str:
    kind = "parquet" if find_spec("pyarrow") else "csv"
    return str(RUNS / "sweeps" / f"{Path(asked.scenario).stem}.{kind}")


def _of_robot(asked: Asked) -> str:
    return str(RUNS / "robot" / f"{Path(asked.urdf).stem}-{asked.function}")


def _of_call(asked: Asked) -> str:
    return str(RUNS / "call" / f"{Path(asked.urdf).stem}-{asked.function}.csv")


def _of_loop(asked: Asked) -> str:
    return str(RUNS / "loop" / Path(asked.urdf).stem)


def _of_mpc(asked: Asked) -> str:
    return str(RUNS / "mpc" / Path(asked.urdf).stem)


def _of_demo(asked: Asked) -> str:
    return str(Path("build", asked.name))


def _of_map(asked: Asked) -> str:
    return str(Path(asked.table).with_suffix(".png"))


# --- options --------------------------------------------------------------------------------------

OUT = Option("out", "folder for the results", str, "DIR", _of_run)
SHOW = Option("show", "open the pictures on the screen when they are written")
ARITH = Option(
    "arith",
    "float32, float64 or <EXP_W>/<MAN_W>, such as 5/10",
    arithmetic,
    "FORMAT",
    "float32",
    attribute="arithmetic",
)
STEPS = Option(
    "steps",
    "run this many steps instead of until the end",
    Whole(1, "pymodel.mechanism.limits:MAX_STEPS"),
    "N",
)
REBASE = Option(
    "rebase",
    "re-base the momenta of a mechanism with loops every N steps, 0 never",
    Whole(0, "pymodel.runs.options:MAX_REBASE"),
    "N",
    0,
)
PROJECT = Option(
    "project",
    "project the coordinates of a mechanism with loops onto these every N steps, which re-bases "
    "as well; 0 never (default: 10 in formats narrower than float64, as REBASE if that is given)",
    Whole(0, "pymodel.runs.options:MAX_REBASE"),
    "N",
)
SHAPE = Option(
    "shape",
    "assembly tree",
    OneOf("balanced", "left", "right"),
    "TREE",
    used_by=(MODEL, NATIVE, TWIN),
)
BASE = Option(
    "base",
    "how the base of a closed chain is solved: ldl, blocks or ldup, not all on every target",
    str,
    "METHOD",
    by_target=BASES,
)
RECORDED_BASE = Option(
    "base",
    "how the base of a closed chain is solved",
    OneOf(of=f"{_BASES}RECORDED_BASES"),
    "METHOD",
)
LANE = Option(
    "lanes",
    "adders + multipliers of the engine",
    lanes,
    "A+M",
    LANES,
    used_by=(TWIN, ENGINE, ARRAY),
)
SIM = Option(
    "sim",
    "simulator, auto is the fastest that is there",
    OneOf(AUTO, of="pymodel.hardware.names:SIMULATORS"),
    "NAME",
    AUTO,
    used_by=SIMULATED,
    attribute="simulator",
)
SEED = Option(
    "seed",
    "of random numbers and start values",
    Whole(0, "pymodel.hardware.names:MAX_SEED"),
    "N",
    1,
)
PORT = Option("port", "serial port of the board, as /dev/ttyUSB0", str, "DEVICE", used_by=(BOARD,))
BAUD = Option(
    "baud",
    "bits a second on that port",
    Whole(1200, 12_000_000),
    "N",
    3_000_000,
    used_by=(BOARD,),
)
WAIT = Option(
    "wait",
    "seconds before a frame is sent again",
    decimal_number,
    "S",
    0.25,
    used_by=(BOARD,),
    hidden=True,
)
WAVES = Option("waves", "waveforms (FST) into build/waves", used_by=SIMULATED)
REFERENCE = Option(
    "no-reference",
    "skip the reference solver and comparison",
    attribute="reference",
    off="REFERENCE",
)
ANIMATE = Option("animate", "draw the mechanism in motion, too")
VIEW = Option("view", "write view.html, too: the motion in space, to be turned in a browser")
FORCES = Option("forces", "write the joints' forces, too")
RESULTS = Option("results", "folder for a bench's result row", str, hidden=True)
FLOATING = Option("floating", "let a robot's base float")
DAMPING = Option("damping", "apply the joint damping of a robot's file")
FRICTION = Option(
    "friction",
    "apply the dry friction of a robot's file, reversing about this velocity (rad/s, m/s)",
    decimal_number,
    "SCALE",
    0.0,
)
ARMATURE = Option(
    "armature", "inertia of each joint's drive, kg m^2 or kg", decimal_number, "X", 0.0
)
SNAP = Option(
    "snap",
    "take entries of a robot's joint transforms that are so near 0 or 1 for that, as 1e-5",
    decimal_number,
    "X",
    0.0,
)
GRAVITY = Option(
    "gravity",
    "gravity's acceleration in the axes of a robot's ground, m/s^2; written with =, as "
    "--gravity=0,0,-1.62 (default: the file's, of a URDF 0,0,-9.81)",
    vector,
    "X,Y,Z",
)
MIMIC = Option(
    "no-mimic",
    "take a robot's mimic joints as joints of their own",
    attribute="mimic",
    off="MIMIC",
)
AS_DATA = Option("parameters-as-data", "take a robot's numbers as data instead of constants")
FUNCTION = Option("function", "of the robot", OneOf(of=FUNCTIONS), "NAME", needed=True)
LINK = Option(
    "link",
    "of the robot's file, whose placement or Jacobian FK, J and Jbody give (default of FK: all)",
    str,
    "NAME",
)
FIXED_ACCELERATION = Option(
    "fixed-acceleration",
    "joints whose accelerations are given to HD and dHD, by names with commas",
    names_with_commas,
    "NAMES",
    (),
)
STAGES = Option(
    "stages",
    "register stages of the float units (default: the engine's)",
    str,
    "ADD,MUL,REC,SINCOS",
)
VARY = Option(
    "vary",
    "a key of the file, as body[0].mass, and its values: <first>:<last>:<count>, "
    "<value>,<value>.., random(<low>,<high>) or normal(<mean>,<deviation>); once for each key",
    str,
    "KEY=VALUES",
    needed=True,
    repeated=True,
)
RARE_LOGIC = Option(
    "rare-logic", "with a reciprocal and a sine and cosine of adders, without multipliers"
)
DEPTH = Option(
    "depth",
    "registers of a bank of the engine (default: 64, or what is needed)",
    Whole(1, 2**32),
    "N",
)

#: What scenarios and robots are called on the command line.
SCENARIO = Argument("SCENARIO", "scenario file (TOML), or the name of a shipped one", scenario_file)
URDF = Argument("URDF", "robot file (URDF or MJCF), or the name of a shipped one", robot_file)
RUN = Argument("DIR", "folder with the run.csv of an earlier run")

_PENDULUM, _FOUR_BAR = "scenarios/double_pendulum.toml", "scenarios/four_bar.toml"
_IIWA = "robots/iiwa14.urdf"
_ON_RUN = (MODEL, NATIVE, TWIN, COPROCESSOR, ENGINE, BOARD)
_ON_SWEEP = (MODEL, NATIVE, TWIN, ENGINE)
_ON_ROBOT = (MODEL, NATIVE, TWIN, ENGINE, ARRAY, BOARD)
_ON_CALL = (MODEL, NATIVE, TWIN)
_ON_LOOP = (MODEL, NATIVE, TWIN, ENGINE)

_OF_DEMO = (ARITH, STEPS, REBASE, SIM, SEED, WAVES, REFERENCE)

COMMANDS = (
    Command(
        "run",
        "Run a scenario, compare it with the reference, write tables and plots",
        "pymodel.app.run:run",
        (SCENARIO,),
        (
            target_option(_ON_RUN),
            OUT,
            ARITH,
            STEPS,
            REBASE,
            replace(PROJECT, used_by=(MODEL, NATIVE, TWIN, ENGINE, BOARD)),
            BASE,
            SHAPE,
            LANE,
            PORT,
            BAUD,
            WAIT,
            SIM,
            replace(SEED, used_by=SIMULATED),
            WAVES,
            REFERENCE,
            ANIMATE,
            VIEW,
            FORCES,
            SHOW,
            RESULTS,
        ),
        _ON_RUN,
        {"SCENARIO": _PENDULUM},
        ("simulate",),
        leaves_nothing=True,
    ),
    Command(
        "sweep",
        "Run variations of a scenario, on a grid or at random, on all cores or a cluster",
        "pymodel.app.sweep:sweep",
        (SCENARIO,),
        (
            VARY,
            Option(
                "count",
                "draw so many random values, at each point of the grid if there is one",
                Whole(1, "pymodel.runs.ensemble:MAX_VARIATIONS"),
                "N",
            ),
            replace(SEED, help="of the random values (default: 1)", default=None),
            target_option(_ON_SWEEP),
            replace(
                OUT,
                help="table to write, .parquet or .csv; the same command goes on where it ended",
                metavar="TABLE",
                default=_of_sweep,
            ),
            ARITH,
            STEPS,
            REBASE,
            PROJECT,
            BASE,
            LANE,
            SIM,
            Option(
                "workers",
                "processes (default: one a core; 0: all in this process)",
                Whole(0, 1_000_000),
                "N",
            ),
            Option(
                "scheduler",
                "Dask scheduler whose workers are used instead, as tls://host:8786",
                str,
                "ADDRESS",
            ),
        ),
        _ON_SWEEP,
        {"SCENARIO": _PENDULUM, "vary": ["body[0].q=-3:3:7", "body[1].q=-3:3:7"]},
    ),
    Command(
        "sweep-map",
        "Draw a column of a sweep's table as colours over two of the varied keys",
        "pymodel.app.sweep:sweep_map",
        (Argument("TABLE", "table of a sweep, .parquet or .csv"),),
        (
            Option("x", "varied key to the right", str, "KEY", needed=True),
            Option("y", "varied key upwards", str, "KEY", needed=True),
            Option(
                "value",
                "column that the colours show, as q0 or energy_change",
                str,
                "COLUMN",
                needed=True,
            ),
            replace(OUT, help="picture to write", metavar="PNG", default=_of_map),
            Option("title", "stands above it (default: what is shown)", str, "TEXT"),
            SHOW,
        ),
    ),
    Command(
        "robot",
        "Evaluate a robot's function on random states and compare",
        "pymodel.app.robot:run",
        (URDF,),
        (
            FUNCTION,
            LINK,
            target_option(_ON_ROBOT),
            replace(OUT, default=_of_robot),
            FLOATING,
            SNAP,
            GRAVITY,
            MIMIC,
            DAMPING,
            FRICTION,
            FIXED_ACCELERATION,
            Option("rows", "random states, a call each", Whole(1, MAX_ROWS), "N", 16),
            ARITH,
            LANE,
            PORT,
            BAUD,
            WAIT,
            SIM,
            SEED,
            WAVES,
            replace(RARE_LOGIC, used_by=(ARRAY,)),
            Option(
                "contexts",
                "of a datapath of the array",
                Whole(1, "pymodel.machine.isa:MAX_CONTEXTS"),
                "N",
                8,
                used_by=(ARRAY,),
            ),
            Option(
                "datapaths",
                "of the array",
                Whole(1, "pymodel.machine.isa:MAX_DATAPATHS"),
                "N",
                2,
                used_by=(ARRAY,),
            ),
            Option(
                "stalls",
                "percentage of the cycles in which each stream of the array is held back",
                Whole(0, MOST_STALLS),
                "N",
                30,
                used_by=(ARRAY,),
            ),
            replace(VIEW, help="write view.html, too: the postures, to be turned in a browser"),
        ),
        _ON_ROBOT,
        {"URDF": _IIWA, "function": "dFD"},
        leaves_nothing=True,
    ),
    Command(
        "loop",
        "Move a robot under PD control for a second, and compare",
        "pymodel.app.loop:run",
        (URDF,),
        (
            target_option(_ON_LOOP),
            replace(OUT, default=_of_loop),
            replace(STEPS, help="steps of 1 ms", kind=Whole(1, MAX_LOOP_STEPS), default=1000),
            SNAP,
            GRAVITY,
            MIMIC,
            ARITH,
            LANE,
            SIM,
            replace(SEED, used_by=SIMULATED),
            WAVES,
            VIEW,
            SHOW,
        ),
        _ON_LOOP,
        {"URDF": _IIWA},
        ("closed-loop",),
        leaves_nothing=True,
    ),
    Command(
        "mpc",
        "Plan a robot's motion to a goal, and drive it with a horizon that recedes",
        "pymodel.app.mpc:run",
        (URDF,),
        (
            FLOATING,
            Option("task", "reach: a link goes to a placement", OneOf("reach"), "NAME", "reach"),
            Option(
                "link",
                "that goes to the goal (default: the last; with --feet the floating base)",
                str,
                "NAME",
            ),
            Option(
                "feet",
                "links whose origins are pinned to the ground where they stand at the start, by "
                "names with commas; it needs --floating",
                names_with_commas,
                "NAMES",
                (),
            ),
            Option(
                "posture",
                "at the start: coordinates of all joints but a floating base, rad or m, with "
                "commas (default: bent joints, or with --feet bent legs)",
                decimal_numbers,
                "Q,Q,..",
            ),
            Option(
                "move",
                "where the link goes from its start, in the ground's axes: x,y,z in m and a "
                "rotation vector in rad (default: where the mirrored posture holds it; with --feet "
                "0.1,0,0.05,0,0.1,0)",
                displacement,
                "X,Y,Z,A,B,C",
            ),
            Option("knots", "of the horizon", Whole(1, MAX_KNOTS), "N", 100),
            Option("step", "time between knots, s", positive_number, "S", 0.01),
            Option("method", "of the step", OneOf("step", "rk4"), "NAME", "step"),
            Option("iterations", "at most", Whole(1, MAX_KNOTS), "N", 100),
            Option(
                "limit",
                "of the torques, N m or N: one number, or one for each degree of freedom, as "
                "150,150,28; file: the effort of the URDF's <limit> (default: none)",
                limits,
                "F",
            ),
            replace(
                ARITH, help="of the controller's robot: float64 or a format", default="float64"
            ),
            Option("ticks", "then drive for so many knots", Whole(0, MAX_LOOP_STEPS), "N", 0),
            Option("noise", "standard deviation of what is measured", decimal_number, "S", 0.0),
            Option("heavier", "share by which the true robot is heavier", decimal_number, "S", 0.0),
            SNAP,
            GRAVITY,
            replace(SEED, help="of the noise", used_by=()),
            replace(OUT, default=_of_mpc),
            VIEW,
            SHOW,
        ),
        example={"URDF": _IIWA},
        leaves_nothing=True,
    ),
    Command(
        "call",
        "Evaluate a function of a robot, once for each row of a table",
        "pymodel.app.call:call",
        (Argument("FUNCTION", "of the robot", OneOf(of=FUNCTIONS)), URDF),
        (
            Option(
                "inputs",
                "table (CSV) with a call a row and the columns that the function needs: q0.., "
                "qd0.., qdd0.., tau0.., minv0_0..; fext0_0 to fext0_5 for force and moment on link "
                "0, in its frame, links counted as `joints` lists them",
                str,
                "CSV",
                needed=True,
            ),
            replace(
                OUT,
                help="table to write: all outputs, a call a row",
                metavar="CSV",
                default=_of_call,
            ),
            LINK,
            FLOATING,
            SNAP,
            GRAVITY,
            MIMIC,
            replace(ARITH, default="float64"),
            target_option(_ON_CALL, {STEP: TWIN}),
            LANE,
            DAMPING,
            FRICTION,
            ARMATURE,
            FIXED_ACCELERATION,
        ),
        _ON_CALL,
        {"FUNCTION": "FD", "URDF": _IIWA, "inputs": "in.csv"},
    ),
    Command(
        "joints",
        "List the joints of a robot in the order of the columns",
        "pymodel.app.call:joints",
        (URDF,),
        (
            FLOATING,
            MIMIC,
            Option(
                "order",
                "pinocchio: that of the columns, of a URDF by the joints' names; file: as the file "
                "lists them, depth first, as MuJoCo",
                OneOf("pinocchio", "file"),
                "NAME",
                "pinocchio",
            ),
            Option(
                "check",
                "say instead what of the file other readers (Pinocchio, MuJoCo, Drake, iDynTree, "
                "yourdfpy) take in another way",
            ),
        ),
        example={"URDF": _IIWA},
    ),
    Command(
        "count",
        "Count the float operations of the sub-designs and of a scenario's step, or of a robot",
        "pymodel.app.count:count",
        (
            Argument(
                "SOURCE",
                "scenario file (TOML): count its step too; or a robot file: its functions",
                optional=True,
            ),
        ),
        (
            replace(SHAPE, used_by=()),
            LINK,
            FLOATING,
            SNAP,
            GRAVITY,
            MIMIC,
            AS_DATA,
            Option("markdown", "print markdown tables"),
        ),
    ),
    Command(
        "functions", "List the functions that can be recorded", "pymodel.app.schedule:functions"
    ),
    Command(
        "record",
        "Print a function, by default one time step, as the operations that the engine has to do",
        "pymodel.app.schedule:record",
        (SCENARIO,),
        (
            Option("function", "what to record, see `functions`", str, "NAME", "step"),
            RECORDED_BASE,
        ),
        example={"SCENARIO": _PENDULUM},
        aliases=("trace",),
    ),
    Command(
        "schedule",
        "Schedule a function on the engine's lanes: cycles, limits, use, registers, a picture",
        "pymodel.app.schedule:schedule",
        (SCENARIO,),
        (
            Option("function", "what to schedule, see `functions`", str, "NAME", "step"),
            RECORDED_BASE,
            replace(LANE, used_by=()),
            STAGES,
            Option(
                "contexts",
                "copies interleaved in one longer program, not a barrel",
                Whole(1, "pymodel.machine.isa:MAX_CONTEXTS"),
                "N",
                1,
            ),
            replace(OUT, help="folder for gantt.png and program.hex", default=None),
            SHOW,
        ),
        example={"SCENARIO": _PENDULUM},
    ),
    Command(
        "compile",
        "Compile functions of a scenario or robot into a program image, or show one",
        "pymodel.app.compile:compile",
        (Argument("SOURCE", "scenario file (TOML) or robot file (URDF or MJCF)", optional=True),),
        (
            Option(
                "function",
                "what to compile, again for each program of a library: of a scenario, see "
                "`functions` (default: step); of a robot ID, FD, M, Minv, dID, dFD, diFD, FK, J, "
                "Jbody, energy, com, Y, FDc, dFDc, IDc, stepc, dstepc, step, dstep, rk4 or drk4",
                str,
                "NAME",
                repeated=True,
            ),
            replace(LANE, used_by=(), help=f"{LANE.help} (default: {LANES})", default=None),
            STAGES,
            Option(
                "read-stages",
                "registers behind the engine's banks, 1 or 2 for block RAM (default: 0)",
                Whole(0, 2),
                "N",
            ),
            Option(
                "operand-stages",
                "registers inside the engine's operand multiplexers (default: 0)",
                Whole(0, 1),
                "N",
            ),
            RARE_LOGIC,
            DEPTH,
            replace(ARITH, help="float32 (default), or such as 5/10", default=None),
            RECORDED_BASE,
            replace(REBASE, default=None),
            PROJECT,
            FLOATING,
            LINK,
            replace(SNAP, default=None),
            GRAVITY,
            MIMIC,
            DAMPING,
            replace(FRICTION, default=None),
            replace(ARMATURE, default=None),
            replace(FIXED_ACCELERATION, default=None),
            AS_DATA,
            replace(OUT, help="program image to write", metavar="FILE", default=None),
            Option("show", "program image to show; nothing is compiled", str, "FILE"),
        ),
    ),
    Command(
        "compare",
        "Compare two run.csv column by column; exit status 1 if any bit differs",
        "pymodel.app.compare:compare",
        (Argument("A", "run.csv"), Argument("B", "run.csv to compare with")),
    ),
    Command(
        "plot",
        "Draw the plots of an earlier run again",
        "pymodel.app.run:plot",
        (RUN,),
        (SHOW,),
    ),
    Command(
        "demo",
        "Run a demo on co-processor and step engine, side by side",
        "pymodel.app.demo:run_demo",
        (Argument("NAME", "pendulum or fourbar", OneOf("pendulum", "fourbar")),),
        (
            replace(OUT, default=_of_demo),
            *_OF_DEMO,
            replace(
                BASE,
                by_target=None,
                kind=OneOf(*BASES[ENGINE]),
                help=f"{RECORDED_BASE.help}, on the engine",
            ),
            replace(LANE, used_by=(), default=None),
            SHOW,
            RESULTS,
        ),
        example={"NAME": "pendulum"},
        leaves_nothing=True,
    ),
    Command(
        "board",
        "Try all that a board should do, and compare every word with the model",
        "pymodel.app.selftest:board",
        (Argument("ACTION", "selftest", OneOf("selftest")),),
        (
            replace(PORT, used_by=(), needed=True),
            replace(BAUD, used_by=()),
            replace(WAIT, used_by=()),
            Option("minutes", "go on for so long, once at least", Whole(0, 10_000), "N", 0),
            SEED,
            Option("short", "a few steps, words and operands of each part"),
            Option("report", "file for the report, JSON", str, "FILE", "build/selftest.json"),
        ),
        example={"ACTION": "selftest", "port": "/dev/ttyUSB0"},
    ),
    Command(
        "doctor",
        "Say what is installed, what is missing, and how to get it",
        "pymodel.app.doctor:doctor",
        (),
        (Option("get", "fetch it, into a folder of the user", OneOf("verilator"), "NAME"),),
    ),
)

#: Name or alias -> subcommand.
NAMED = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}
