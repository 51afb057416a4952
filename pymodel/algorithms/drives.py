"""Torques and motions in time: algorithm text, generic over its scalars.

The time of a step is t = n h: its number n, which a format holds exactly, times the step h. So it
does not drift.

A formula is evaluated as it is written; x / y is x (1 / y).

A table needs to know between which of its times t is, but the hardware decides nothing. Whether t
has passed t_i is found by rounding: r(t) = 1 / (1 + t / T) descends from 1 towards 0, so that

    passed_i = round((1/2 + r(t_i)) - r(t))

is 0 before t_i and 1 after it. A large number, added and taken away, rounds to a whole one. All
lines between the times but one are then multiplied by zero, and their sum is exact. T is the length
of the table: t_i is met to T times a few units of the last place.
"""

from collections.abc import Callable, Sequence
from itertools import count, pairwise
from typing import Any, Generic

from pymodel.algorithms.sums import tree_sum
from pymodel.arith.scalars import S, SupportsArithmetic, SupportsValues
from pymodel.arith.terms import Terms
from pymodel.mechanism import formula
from pymodel.mechanism.formula import Formula, Operation
from pymodel.mechanism.motions import check_curves, spline
from pymodel.mechanism.scenario import Curve, Scenario, ScenarioError, Table

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda arithmetic, x, y: x + y,
    "sub": lambda arithmetic, x, y: x - y,
    "mul": lambda arithmetic, x, y: x * y,
    "neg": lambda arithmetic, x: -x,
    "recip": lambda arithmetic, x: arithmetic.recip(x),
    "sin": lambda arithmetic, x: arithmetic.sincos(x)[0],
    "cos": lambda arithmetic, x: arithmetic.sincos(x)[1],
    "power": lambda arithmetic, x, exponent: _power(x, exponent),
}


class FormulaDrive(Generic[S]):
    """A torque that is a formula in time; its numbers are each rounded once from float64.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
    name : str
        Of the torque: its parameters are this with their number.
    tree : Formula
        As :func:`pymodel.mechanism.formula.parse` reads it.

    Attributes
    ----------
    structure : object
        What drives of the same operations have in common: all but their numbers.
    """

    def __init__(self, arithmetic: SupportsArithmetic[S], name: str, tree: Formula) -> None:
        self.arithmetic = arithmetic
        self.structure = _replaced(tree, lambda x: None)
        names = (f"{name}[{number}]" for number in count())
        self.tree = _replaced(tree, lambda x: arithmetic.parameter(next(names), x))

    def torque(self, t: S) -> S:
        """The torque (N m) at the time t (s)."""
        return self._value(self.tree, t)

    def _value(self, node: Any, t: S) -> Any:
        if isinstance(node, Operation):
            operands = (self._value(operand, t) for operand in node.operands)
            return _OPERATIONS[node.name](self.arithmetic, *operands)
        return t if isinstance(node, str) else node


def _replaced(tree: Formula, number: Callable[[float], Any]) -> Any:
    """A formula with something else for each of its numbers."""
    if isinstance(tree, Operation):
        return Operation(tree.name, tuple(_replaced(x, number) for x in tree.operands))
    return number(tree) if isinstance(tree, float) else tree


def _power(x: S, exponent: int) -> S:
    """A power from the first one on, by squares."""
    if exponent == 1:
        return x
    root = _power(x, exponent // 2)
    return root * root * x if exponent % 2 else root * root


class TableDrive(Generic[S]):
    """A torque that is a table in time: lines between its values, constant before and after.

    Parameters and attributes are those of :class:`FormulaDrive`.
    """

    def __init__(self, arithmetic: SupportsArithmetic[S], name: str, table: Table) -> None:
        self.arithmetic = arithmetic
        times, values = list(table.times), list(table.values)
        if times[0] > 0.0:
            times, values = [0.0, *times], [values[0], *values]
        self.structure = len(times)

        def parameter(kind: str, number: int, x: float) -> S:
            return arithmetic.parameter(f"{name}.{kind}[{number}]", x)

        last = times[-1]
        self.rate = arithmetic.parameter(f"{name}.rate", 1.0 / last)
        self.times = [parameter("times", i, t) for i, t in enumerate(times[:-1])]
        self.values = [parameter("values", i, x) for i, x in enumerate(values)]
        slopes = [(y - x) / (b - a) for (a, x), (b, y) in pairwise(zip(times, values, strict=True))]
        self.slopes = [parameter("slopes", i, slope) for i, slope in enumerate(slopes)]
        shares = [0.5 + 1.0 / (1.0 + t / last) for t in times[1:]]
        self.shares = [parameter("shares", i, share) for i, share in enumerate(shares, start=1)]
        self.one = arithmetic.const(1.0)
        self.large = _large(arithmetic)

    def torque(self, t: S) -> S:
        """The torque (N m) at the time t (s), from 0 on."""
        r = self.arithmetic.recip(self.one + t * self.rate)
        passed = [self.one, *(((x - r) + self.large) - self.large for x in self.shares)]
        within = [a - b for a, b in pairwise(passed)]
        lines = zip(within, self.times, self.values[:-1], self.slopes, strict=True)
        parts = [w * x + slope * (w * (t - start)) for w, start, x, slope in lines]
        return tree_sum([*parts, passed[-1] * self.values[-1]])


def _large(arithmetic: SupportsArithmetic[S]) -> S:
    """A number between whose neighbours there is 1: 3/2 over the unit in the last place of 1.

    4/3 is rounded by a third of that unit, up or down: the sign is of no account. Terms would
    compute with their own numbers in float64; what counts here is how the format rounds.
    """
    if isinstance(arithmetic, Terms):
        return arithmetic.given(_large(arithmetic.arithmetic))
    one = arithmetic.const(1.0)
    third = arithmetic.const(4.0 / 3.0) - one
    unit = ((third + third) + third) - one
    return arithmetic.const(1.5) * arithmetic.recip(unit)


Drive = FormulaDrive[S] | TableDrive[S]


def prepare(arithmetic: SupportsArithmetic[S], scenario: Scenario) -> dict[int, Drive[S]]:
    """The drives of a scenario by their bodies; constant torques are none."""
    found: dict[int, Drive[S]] = {}
    for k, body in enumerate(scenario.bodies):
        name = f"body[{k}].torque"
        if isinstance(body.torque, Table):
            found[k] = TableDrive(arithmetic, name, body.torque)
        elif isinstance(body.torque, str):
            found[k] = FormulaDrive(arithmetic, name, formula.parse(body.torque))
    return found


class CurveMotion(Generic[S]):
    """A joint's motion, a curve through values, and its derivatives.

    Of the polynomials between the times the one that counts is found as the line of a
    :class:`TableDrive`: its start and coefficients are sums of which all but one are zero. Which of
    two is taken right at a time that both have is of no account, as they agree there.

    Parameters
    ----------
    arithmetic, name
        As for :class:`FormulaDrive`.
    curve : Curve

    Attributes
    ----------
    structure : object
        As of :class:`FormulaDrive`.
    """

    def __init__(self, arithmetic: SupportsArithmetic[S], name: str, curve: Curve) -> None:
        self.arithmetic = arithmetic
        times, self.structure = curve.times, ("curve", len(curve.times))

        def parameters(kind: str, values: Sequence[float]) -> list[S]:
            return [arithmetic.parameter(f"{name}.{kind}[{i}]", x) for i, x in enumerate(values)]

        last = times[-1]
        self.rate = arithmetic.parameter(f"{name}.rate", 1.0 / last)
        self.starts = parameters("times", times[:-1])
        d, c, b, a = spline(curve).c.tolist()
        orders = ("values", a), ("velocities", b), ("halves", c), ("sixths", d)
        self.coefficients = [parameters(*order) for order in orders]
        self.shares = parameters("shares", [0.5 + 1.0 / (1.0 + t / last) for t in times[1:-1]])
        self.one = arithmetic.const(1.0)
        self.large = _large(arithmetic)

    def _at(self, t: S) -> list[S]:
        """Time since the start of the polynomial at the time t, and its coefficients."""
        r = self.arithmetic.recip(self.one + t * self.rate)
        passed = [self.one, *(((x - r) + self.large) - self.large for x in self.shares)]
        within = [*(a - b for a, b in pairwise(passed)), passed[-1]]
        start, *found = (
            tree_sum([w * x for w, x in zip(within, numbers, strict=True)])
            for numbers in (self.starts, *self.coefficients)
        )
        return [t - start, *found]

    def position(self, t: S) -> S:
        """The coordinate (rad or m) at the time t (s)."""
        s, a, b, c, d = self._at(t)
        return a + s * (b + s * (c + s * d))

    def velocity(self, t: S) -> S:
        """Its rate, rad/s or m/s."""
        s, _, b, c, d = self._at(t)
        return b + s * ((c + c) + s * (d + (d + d)))

    def acceleration(self, t: S) -> S:
        """The rate of that, rad/s^2 or m/s^2, which no step needs."""
        s, _, _, c, d = self._at(t)
        third = d + (d + d)
        return (c + c) + s * (third + third)


class Motion(Generic[S]):
    """A joint's motion, a number or a formula in time, and its derivatives.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
    name : str
        As for :class:`FormulaDrive`.
    motion : float or str

    Attributes
    ----------
    structure : object
        As of :class:`FormulaDrive`.
    """

    def __init__(self, arithmetic: SupportsArithmetic[S], name: str, motion: float | str) -> None:
        self.arithmetic, self.name = arithmetic, name
        place = formula.parse(motion) if isinstance(motion, str) else motion
        self._velocity = formula.derivative(place)
        self._drives = [
            FormulaDrive(arithmetic, name, place),
            FormulaDrive(arithmetic, f"{name}.rate", self._velocity),
        ]
        self.structure = [drive.structure for drive in self._drives]

    def position(self, t: S) -> S:
        """The coordinate (rad or m) at the time t (s)."""
        return self._drives[0].torque(t)

    def velocity(self, t: S) -> S:
        """Its rate, rad/s or m/s."""
        return self._drives[1].torque(t)

    def acceleration(self, t: S) -> S:
        """The rate of that, rad/s^2 or m/s^2, which no step needs."""
        second = formula.derivative(self._velocity)
        return FormulaDrive(self.arithmetic, f"{self.name}.second_rate", second).torque(t)


def motions(
    arithmetic: SupportsArithmetic[S], scenario: Scenario
) -> dict[int, Motion[S] | CurveMotion[S]]:
    """The motions of a scenario's joints by their bodies."""
    found: dict[int, Motion[S] | CurveMotion[S]] = {}
    for k in scenario.moved:
        name, motion = f"body[{k}].motion", scenario.bodies[k].motion
        if isinstance(motion, Curve):
            found[k] = CurveMotion(arithmetic, name, motion)
        elif motion is not None:
            found[k] = Motion(arithmetic, name, motion)
    return found


def check(arithmetic: SupportsValues[S], scenario: Scenario, drives: dict[int, Drive[S]]) -> None:
    """Refuse a run that is too long for its format, and tables where that has too few exponents.

    Raises
    ------
    ScenarioError
    """
    if not scenario.is_driven:
        return
    steps = scenario.steps
    counted = [arithmetic.to_float(arithmetic.const(float(n))) for n in (steps, steps + 1)]
    if counted != [steps, steps + 1]:
        what = "torque" if drives else "motion"
        reason = f"{arithmetic.name} cannot count {steps} steps, which a {what} in time needs"
        raise ScenarioError(scenario.source, "time.end", reason)
    check_curves(scenario)
    for k, body in enumerate(scenario.bodies):
        for key in ("torque", "motion"):
            tabled = isinstance(getattr(body, key), Table | Curve)
            if tabled and not arithmetic.is_finite(_large(arithmetic)):
                reason = f"{arithmetic.name} has too few exponents for a table in time"
                raise ScenarioError(scenario.source, f"body[{k}].{key}", reason)
