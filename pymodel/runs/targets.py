"""Runs and functions on a target: the model, native code, or the model of the step engine.

What a user of the package calls: arrays in, arrays out. Everything here is elsewhere; this module
chooses by the target's name, and checks what a user may mistype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from pymodel.algorithms.requests import BASE, RECORDED_BASES
from pymodel.algorithms.unused_options import refuse_unused
from pymodel.arith import scalars
from pymodel.arith.errors import RunError
from pymodel.compile import native
from pymodel.compile.graph import RecordingError
from pymodel.compile.kernel import Kernel
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import engine_calls, engine_runs, native_runs
from pymodel.runs import simulate as model_runs
from pymodel.runs.input_error import InputError, require, require_function
from pymodel.runs.judgement import ENERGY_NOT_FINITE, warnings_of
from pymodel.runs.loss import with_loss
from pymodel.runs.options import algorithm_options, projection
from pymodel.runs.recorder import NonFiniteError
from pymodel.runs.robot_calls import MODEL, NATIVE, OLD_NAMES, TWIN, machine_of
from pymodel.runs.robot_model import RobotModel
from pymodel.runs.trajectory import Trajectory

#: A kernel's evaluation: name -> float or array (N,) of every input in, array (N,) of outputs out.
Evaluation = Callable[[Mapping[str, ArrayLike]], dict[str, np.ndarray]]
#: A scenario's run; it takes other numbers, as :func:`pymodel.mechanism.scenario_writer.varied`.
Run = Callable[..., Trajectory]
#: A robot's function: the arrays of :class:`pymodel.runs.robot_model.RobotModel`'s method.
RobotFunction = Callable[..., Any]

_SIMULATE = {MODEL: model_runs.simulate, NATIVE: native_runs.simulate}


def simulate(
    scenario: Scenario,
    arithmetic: str = "float64",
    *,
    target: str = MODEL,
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    project: int | None = None,
    progress: model_runs.Progress | None = None,
    limit: float | None = None,
    **values: ArrayLike,
) -> Trajectory:
    """Run a scenario.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.
    target : str
        ``model``, or ``native`` for compiled C with the same bits, which takes one to five
        microseconds a step of most planar mechanisms once it is built.
    shape : str
        Tree of the assembly: ``balanced``, ``left`` or ``right``.
    base : str
        How the base of a closed chain is solved: ``ldl``, ``blocks`` or ``ldup``.
    rebase : int
        Re-base the momenta of a mechanism with loops every so many steps, at most
        :data:`pymodel.runs.options.MAX_REBASE`; 0 never.
    project : int, optional
        Project the coordinates of a mechanism with loops onto these every so many steps, which
        re-bases as well; 0 never. By default never in float64; in other formats every
        :data:`pymodel.runs.options.PROJECT` steps, or when it re-bases.
    progress : callable(steps done, steps), optional
    limit : float, optional
        Condition number of a joint matrix from which the run ends, above 1; by default what the
        arithmetic can bear.
    **values
        Numbers in place of the scenario's: ``q``, shape (nq,), and ``qd``, (nv,), in the units of
        its joints, ``mass``, ``gravity`` and so on, as for
        :func:`pymodel.mechanism.scenario_writer.varied`.

    Returns
    -------
    Trajectory
        Its ``flags`` are the sticky float flags of the run; 0 for float64. Its ``loss`` says
        how much rounding is magnified, its ``warnings`` what to beware of. To judge the rounding, a
        run that is not in float64 runs in float64, too: about a third more time of the model, twice
        as much of native code.

    Raises
    ------
    ScenarioError
        If the values do not fit the scenario, or the mechanism cannot be run.
    InputError, ValueError
        If another argument is none of those above, or would change nothing.
    SingularError, NonFiniteError, ToleranceError
        If the run cannot go on; the exception's ``trajectory`` holds the steps so far.
    NoCompilerError
        If the target is ``native`` and there is no C compiler.
    """
    require(scenario, Scenario, "load")
    require_function("progress", progress)
    run = _SIMULATE[_one_of("target", target, tuple(_SIMULATE))]
    name = _name(arithmetic)
    options = _options(scenario, shape, base, rebase, project, name)
    scenario = varied(scenario, **values)
    try:
        found = _finite(scenario, run(scenario, name, progress=progress, limit=limit, **options))
    except RunError as error:
        if error.trajectory is not None:
            error.trajectory = _judged(scenario, error.trajectory, name, options)
        raise
    twin = None if name == "float64" else _twin(run, scenario, options)
    return _judged(scenario, found, name, options, twin)


def _finite(scenario: Scenario, run: Trajectory) -> Trajectory:
    """A run with all its energies; a NonFiniteError, with what is before, if one is not finite."""
    finite = run.finite_part()
    if len(finite) == len(run):
        return run
    error = NonFiniteError(f"{scenario.source}: {ENERGY_NOT_FINITE}")
    error.trajectory = finite if len(finite) else None
    raise error


def _twin(run: Run, scenario: Scenario, options: Mapping[str, Any]) -> Trajectory | None:
    """The same run in float64; None if it ends early."""
    try:
        twin = run(scenario, "float64", **options)
    except RunError:
        return None
    return twin if len(twin.finite_part()) == len(twin) else None


def _judged(
    scenario: Scenario,
    run: Trajectory,
    arithmetic: str,
    options: Mapping[str, Any],
    twin: Trajectory | None = None,
) -> Trajectory:
    """A run with its loss and its warnings."""
    run = with_loss(scenario, run, twin, **options)
    return replace(run, warnings=warnings_of(scenario, run, arithmetic, twin))


@overload
def compiled(
    what: Kernel, target: str = ..., arithmetic: str = ..., *, lanes: str | None = ...
) -> Evaluation: ...
@overload
def compiled(
    what: Scenario,
    target: str = ...,
    arithmetic: str = ...,
    *,
    lanes: str | None = ...,
    shape: str = ...,
    base: str = ...,
    rebase: int = ...,
    project: int | None = ...,
) -> Run: ...
@overload
def compiled(
    what: RobotModel,
    target: str = ...,
    arithmetic: str = ...,
    *,
    function: str,
    lanes: str | None = ...,
) -> RobotFunction: ...
def compiled(
    what: Kernel | Scenario | RobotModel,
    target: str = NATIVE,
    arithmetic: str = "float32",
    *,
    function: str | None = None,
    lanes: str | None = None,
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    project: int | None = None,
) -> Evaluation | Run | RobotFunction:
    """Compile a kernel, the steps of a scenario, or a robot's function into something to call.

    Parameters
    ----------
    what : Kernel, Scenario or RobotModel
    target : str
        ``native`` for C, or ``twin`` for a program on the cycle-accurate model of the step engine,
        whose memories are made as large as the program needs. Both give the same bits.
    arithmetic : str
        ``float32`` or ``<EXP_W>/<MAN_W>`` up to 8/23; ``native`` has ``float64``, too.
    function : str
        Of a robot: ID, FD, M, Minv, dID, dFD, diFD, FK, J, Jbody, energy, com or Y.
    lanes : str, optional
        Adders + multipliers of the engine, as ``8+8``; default 2+2.
    shape, base, rebase, project
        Of a scenario, as for :func:`simulate`.

    Returns
    -------
    callable
        Of a kernel: dict of floats or arrays (N,) by input -> dict of arrays (N,) by output. Of a
        scenario: the values of :func:`simulate` in place of its own -> Trajectory. Of a robot: what
        the method of the :class:`pymodel.runs.robot_model.RobotModel` takes and returns. A kernel's
        result that is not finite stays so in native code; on the engine it is a NonFiniteError.

    Raises
    ------
    InputError, ValueError
        If the target, the arithmetic or another argument is none of those above, or would change
        nothing.
    ScenarioError
        If the integrator is adaptive.
    RecordingError
        If the base is ``ldup``, which decides on data.
    NoCompilerError
        If the target is ``native`` and there is no C compiler.
    """
    named = OLD_NAMES.get(target, target) if isinstance(target, str) else target
    target = _one_of("target", named, (NATIVE, TWIN))
    if lanes is not None and target != TWIN:
        raise InputError(f"lanes {lanes!r}: only for the target {TWIN}")
    name = _name(arithmetic)
    if not isinstance(what, Kernel | Scenario | RobotModel):
        found = type(what).__name__
        raise InputError(f"must be a Kernel, a Scenario or a RobotModel, got {found}")
    if not isinstance(what, Scenario):
        given = {"shape": shape != "balanced", "base": base != BASE, "rebase": rebase != 0}
        given["project"] = project is not None
        for option in filter(given.get, given):
            raise InputError(f"{option}: only for a scenario")
    if isinstance(what, RobotModel):
        if function is None:
            raise InputError("function: needed for a robot, such as FD")
        return what.on(target, name, machine_of(lanes)).function(function)
    if function is not None:
        raise InputError(f"function {function!r}: only for a robot")
    if not native_runs.narrow(scalars.parse(name)):
        raise InputError(f"arithmetic {name!r}: native code and the engine have formats up to 8/23")
    machine = _machine(name, lanes) if target == TWIN else None
    if isinstance(what, Kernel):
        if machine is None:
            return _evaluation(native.build(what, name))
        return engine_calls.prepare_fitting_call(machine, what).evaluate
    what.require_fixed_steps()
    options = _options(what, shape, base, rebase, project, name)
    if base not in RECORDED_BASES and what.loops:
        known = ", ".join(RECORDED_BASES)
        raise RecordingError(f"base {base!r}: decides on data, as no program can; take {known}")

    def run(**values: ArrayLike) -> Trajectory:
        scenario = varied(what, **values)
        if machine is None:
            return _finite(scenario, native_runs.simulate(scenario, name, **options))
        try:
            found = _finite(scenario, engine_runs.simulate(machine, scenario, **options))
        except RunError as error:
            if error.trajectory is not None:
                error.trajectory = _judged(scenario, error.trajectory, name, options)
            raise
        twin = _twin(native_runs.fastest, scenario, options)
        return _judged(scenario, found, name, options, twin)

    return run


def _evaluation(kernel: native.NativeKernel) -> Evaluation:
    """The call of native code, with float64 numbers outside as all others."""

    def evaluate(inputs: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
        return {name: x.astype(np.float64) for name, x in kernel.evaluate(inputs).items()}

    return evaluate


def _options(
    scenario: Scenario, shape: str, base: str, rebase: int, project: int | None, arithmetic: str
) -> dict[str, Any]:
    """Options of the algorithm, all of which the scenario has a use for."""
    algorithm_options(shape, base, rebase)  # before what is made of them
    every = projection(project, scenario, arithmetic, rebase)
    options = algorithm_options(shape, base, rebase, every)
    refuse_unused(scenario, **options)
    return options


def _name(arithmetic: str) -> str:
    return scalars.parse(str(arithmetic)).name


def _machine(arithmetic: str, lanes: str | None) -> Machine:
    found = scalars.parse(arithmetic)
    if isinstance(found, scalars.Float64):
        raise InputError(f"arithmetic {arithmetic!r}: the engine has formats up to 8/23")
    return replace(machine_of(lanes), fmt=found.fmt)


def _one_of(what: str, name: str, allowed: Any) -> str:
    if not isinstance(name, str) or name not in allowed:
        raise InputError(f"{what} {name!r}: must be one of {', '.join(allowed)}")
    return name
