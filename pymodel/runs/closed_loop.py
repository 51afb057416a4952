"""A robot under control, for whole seconds: PD control with gravity compensation.

The same run is evaluated in any arithmetic (:func:`simulate`), and step by step by an engine
(:func:`prepare`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np

from pymodel.algorithms.rigid_body import control
from pymodel.arith.numbers import numbers
from pymodel.arith.scalars import S, SupportsArithmetic, SupportsValues
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import closed_loop
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Location, Machine, Program
from pymodel.machine.model import Twin
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot, one_line
from pymodel.runs.input_error import InputError, require_whole
from pymodel.runs.judgement import ROUNDING_WARNING
from pymodel.runs.recorder import NonFiniteError
from pymodel.runs.robot_calls import Table
from pymodel.runs.robot_model import RobotModel

STEP = 1e-3  # s
SECONDS = 1.0
BENT = 0.2  # rad or m, of the joints at the start, in turn to either side; the target mirrors it
FREQUENCY = 12.0  # rad/s, of a joint that its own inertia alone holds back
AWAY = 1e-3  # rad or m farther from the target than at the start: no noise of a joint at rest
DAMPING = 1.5  # of the critical, of such a joint


@dataclass(frozen=True)
class ClosedLoop:
    """A motion under control.

    Attributes
    ----------
    robot : Robot
        With a fixed base.
    start, target : ndarray, shape (nv,)
        Configurations, rad and m. It starts at rest.
    kp, kd : ndarray, shape (nv,)
        Gains, N m/rad and N m s/rad, or N/m and N s/m.
    step : float
        s.
    steps : int

    Raises
    ------
    InputError
        If the robot's base floats, or it has a ball or floating joint; if start, target or gains
        have another shape or are not finite; if the step is not positive, or the number of steps
        not a whole one, 0 or more.
    """

    robot: Robot
    start: np.ndarray
    target: np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    step: float = STEP
    steps: int = round(SECONDS / STEP)

    def __post_init__(self) -> None:
        _require_angles_and_ways(self.robot)
        for name in ("start", "target", "kp", "kd"):
            try:
                array = numbers(name, getattr(self, name))
            except ValueError as error:
                raise InputError(str(error)) from None
            if array.shape != (self.robot.nv,):
                raise InputError(f"{name}: shape {array.shape}, must be ({self.robot.nv},)")
            if not np.isfinite(array).all():
                raise InputError(f"{name}: must be finite")
        if not (isinstance(self.step, Real) and math.isfinite(self.step) and self.step > 0):
            raise InputError(f"step: must be positive and finite, got {self.step}")
        require_whole("steps", self.steps, 0)

    @cached_property
    def kernel(self) -> Kernel:
        """A time step."""
        settings = {
            f"{name}{k}": float(x)
            for name in control.SETTINGS
            for k, x in enumerate(getattr(self, name))
        }
        return closed_loop(reduced(self.robot), settings | {control.STEP: self.step})

    @property
    def initial(self) -> dict[str, float]:
        """Name -> value of what a step carries, at the start."""
        still = dict.fromkeys(self.kernel.carried, 0.0)
        return still | {f"q{k}": float(x) for k, x in enumerate(self.start)}

    @property
    def columns(self) -> list[str]:
        """Names of what is kept of a step: its state ``q``, ``qd``, and the torques ``tau``."""
        return [*self.kernel.carried, *self.kernel.outputs]

    def table(self, rows: Sequence[Sequence[float]]) -> Table:
        """Name the columns of rows: ``t`` (s), ``q0`` (rad, m), ... ``qd0``, ... ``tau0``, ..."""
        values = np.array(rows, float).reshape(len(rows), len(self.columns))
        time = {"t": self.step * np.arange(len(rows))}
        return time | {name: values[:, k] for k, name in enumerate(self.columns)}


def _require_angles_and_ways(robot: Robot) -> None:
    """Refuse a robot whose coordinates are no angles and ways, as the controller takes them.

    Raises
    ------
    InputError
        If its base floats, or it has a ball or floating joint.
    """
    if robot.floating:
        raise InputError(f"{robot}: a closed loop needs a fixed base")
    for link in robot.links:
        if link.part and link.part.by_quaternion:
            which = f"{one_line(link.part.joint)} is {link.part.kind}"
            raise InputError(f"{robot}: a closed loop needs joints of angles and ways, {which}")


def bent(robot: Robot, steps: int = round(SECONDS / STEP), step: float = STEP) -> ClosedLoop:
    """A motion for any robot: from bent joints to the mirrored posture.

    The gains are scaled with the diagonal of the mass matrix M at the start: as M is at most nv
    times its diagonal, no mode has less than 1 / sqrt(nv) of a single joint's damping there.

    Parameters
    ----------
    robot : Robot
        With a fixed base.
    steps : int
        Number of steps.
    step : float
        Time step, s.

    Raises
    ------
    InputError
        If the base floats, or there is a ball or floating joint; if the number of steps or the step
        is none, as for :class:`ClosedLoop`.
    """
    start = np.where(np.arange(robot.nv) % 2, -BENT, BENT)
    _require_angles_and_ways(robot)
    inertia = np.diag(RobotModel(robot).mass_matrix(start))
    kp, kd = FREQUENCY**2 * inertia, 2 * DAMPING * FREQUENCY * inertia
    return ClosedLoop(robot, start, -start, kp, kd, step, steps)


def simulate(
    loop: ClosedLoop,
    arithmetic: SupportsArithmetic[S],
    update: Callable[[int, int], None] = lambda done, total: None,
) -> list[list[S]]:
    """Evaluate the steps, and the one that follows the last for its torques.

    Parameters
    ----------
    loop : ClosedLoop
    arithmetic : SupportsArithmetic
    update : callable
        Is told the steps done and all steps, now and then.

    Returns
    -------
    list
        Rows of scalars, :attr:`ClosedLoop.columns` of each step; ``steps`` + 1 of them.

    Raises
    ------
    NonFiniteError
        If a step gives what is infinite or not a number.
    """
    rows, kernel = [], loop.kernel
    state = {name: arithmetic.const(x) for name, x in loop.initial.items()}
    for step in range(loop.steps + 1):
        found = kernel.evaluate(arithmetic, state)
        if not all(map(arithmetic.is_finite, found.values())):
            raise NonFiniteError(f"step {step}: a result is infinite or not a number")
        rows.append([*state.values(), *(found[name] for name in kernel.outputs)])
        state = {name: found[name] for name in state}
        update(step, loop.steps)
    return rows


def as_floats(arithmetic: SupportsValues[S], rows: Sequence[Sequence[S]]) -> Iterator[list[float]]:
    """Rows of scalars as rows of Python floats."""
    return ([arithmetic.to_float(x) for x in row] for row in rows)


def warnings_of(loop: ClosedLoop, found: Table, exact: Table, arithmetic: str) -> list[str]:
    """What to beware of in a run: its rounding, and a control that leads away from the target.

    Parameters
    ----------
    loop : ClosedLoop
    found, exact : dict
        The run and its float64 twin, which may be longer, as :meth:`ClosedLoop.table` gives them.
    arithmetic : str
        Name of the run's arithmetic.

    Returns
    -------
    list of str
        A line each.
    """
    rows = len(found["t"])
    q, twin = (
        np.array([table[f"q{k}"][:rows] for k in range(loop.robot.nv)]) for table in (found, exact)
    )
    before, after = (np.abs(at - loop.target).max() for at in (loop.start, twin[:, -1]))
    rounding, moved = np.abs(q - twin).max(), np.abs(twin - loop.start[:, None]).max()
    moved = max(moved, before)  # of few steps, what they are on the way to
    texts = []
    if rounding > ROUNDING_WARNING * moved > 0.0:
        texts.append(
            f"rounding reaches {rounding:.3g}, more than {ROUNDING_WARNING:.0%} of the motion "
            f"({moved:.3g} rad or m): {arithmetic} has too few digits for this run"
        )
    if after > before + AWAY:
        texts.append(
            f"a joint ends {after:.3g} from its target, at most {before:.3g} rad or m at the "
            "start: gains or step do not fit what the joints move"
        )
    return [f"{loop.robot.source}: warning: {text}" for text in texts]


# --- on an engine ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoopRun:
    """A closed loop on one engine.

    Attributes
    ----------
    loop : ClosedLoop
    program : Program
    image : dict
        Location -> bits: all registers to load.
    """

    loop: ClosedLoop
    program: Program
    image: dict[Location, int]

    @property
    def steps(self) -> int:
        """Steps of the engine: one more than those of the loop, which its last torques need."""
        return self.loop.steps + 1

    @property
    def before(self) -> dict[str, Location]:
        """Name -> Location of what is traced before a step."""
        return self.program.carried

    @property
    def after(self) -> dict[str, Location]:
        """Name -> Location of what is traced after a step."""
        return self.program.outputs

    def rows(self, words: Sequence[int]) -> list[list[int]]:
        """Rows of a trace, as :func:`simulate` gives them; one that is not whole is left out."""
        size = len(self.loop.columns)
        return [list(words[i : i + size]) for i in range(0, len(words) - size + 1, size)]

    def on_twin(self) -> tuple[list[list[int]], Twin]:
        """Run on the engine's model: rows of bits, and the engine afterwards."""
        twin = Twin(self.program.machine)
        twin.load(self.image)
        registers = self.before.values(), self.after.values()
        return self.rows(twin.run(self.program, self.steps, 0, 1, *registers)), twin


def prepare(machine: Machine, loop: ClosedLoop) -> LoopRun:
    """Schedule a closed loop, and put its parameters and its start in place.

    Raises
    ------
    pymodel.machine.isa.ProgramError
        If the machine is too small for it.
    """
    program = schedule(machine, loop.kernel, thorough=True)
    start = {name: machine.fmt.from_float(x) for name, x in loop.initial.items()}
    return LoopRun(loop, program, program.image(start))
