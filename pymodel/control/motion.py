"""A robot in discrete time, as native code: motions under a policy, and their linearisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pymodel.arith.errors import InputError
from pymodel.compile import native
from pymodel.compile.robot_kernels import recorded
from pymodel.control.c_library import Library, doubles
from pymodel.control.states import States
from pymodel.mechanism.robot import Robot


class Policy(NamedTuple):
    """Controls u + share k + K (x - xs) of T knots, with differences in the tangent space.

    Attributes
    ----------
    xs : ndarray, shape (T + 1, nx)
    us : ndarray, shape (T, nu)
    k : ndarray, shape (T, nu)
    K : ndarray, shape (T, nu, ndx)
    """

    xs: np.ndarray
    us: np.ndarray
    k: np.ndarray
    K: np.ndarray

    def later(self) -> Policy:
        """The policy from the next knot on; the last knot's repeats."""
        return Policy(*(np.concatenate([array[1:], array[-1:]]) for array in self))


class Approximation(NamedTuple):
    """First and second derivatives of a cost by state, in the tangent space, and by control.

    Attributes
    ----------
    lx : ndarray, shape (T + 1, ndx)
    lxx : ndarray, shape (T + 1, ndx, ndx)
    lu : ndarray, shape (T, nu)
    luu : ndarray, shape (T, nu, nu)
    """

    lx: np.ndarray
    lxx: np.ndarray
    lu: np.ndarray
    luu: np.ndarray


class Motion:
    """A robot in discrete time, x = (q, qd), u the torques of what is driven, held over a step.

    Parameters
    ----------
    robot : Robot
        Reduced. Its loops are kept.
    step : float
        s.
    method : str
        ``step`` (semi-implicit Euler) or ``rk4``, which keeps no loops.
    arithmetic : str
        Of the robot's functions: ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``. All else is in
        float64.
    derivatives : bool
        Whether :meth:`linearised` is asked for: they take longer to compile than the step.

    Attributes
    ----------
    states : States
        What x is: where there are quaternions it is longer than what it changes by.
    nx, ndx, nu : int
        Lengths of a state, of a displacement and of controls.

    Raises
    ------
    InputError
        If the robot has loops, and the method keeps none.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        method: str,
        arithmetic: str = "float64",
        derivatives: bool = True,
    ) -> None:
        if robot.loops:
            if method != "step":
                raise InputError(f"method {method}: of a robot with loops it must be step")
            method = "stepc"
        self.robot, self.step, self.states = robot, step, States(robot)
        self.nx, self.ndx, self.nu = self.states.nx, self.states.ndx, self.states.nu
        self._moves = native.build(recorded(robot, method), arithmetic)
        number = "float" if self._moves.dtype == np.float32 else "double"
        self._library = Library("ddp", "states", "se3", **self.states.sizes, NUMBER=number)
        after = {f"qnext{k}": k for k in range(robot.nq)}
        after |= {f"qdnext{k}": robot.nq + k for k in range(robot.nv)}
        self._move = self._step(self._moves, [after[name] for name in self._moves.kernel.results])
        if derivatives:
            changes = native.build(recorded(robot, f"d{method}"), arithmetic)
            self._change = self._step(changes, [self._place(x) for x in changes.kernel.results])

    def _step(self, built: native.NativeKernel, places: list[int]) -> Any:
        """A compiled function as ``ddp.c`` takes it."""
        order = [f"q{k}" for k in range(self.states.nq)] + [f"qd{k}" for k in range(self.states.nv)]
        order += [f"tau{k}" for k in self.states.driven] + ["h"]
        given = {name: k for k, name in enumerate(order)}
        return self._library.struct(
            "Step",
            evaluate=built.address("evaluate"),
            rounded=built.address("from_doubles"),
            fixed=built.fixed(),
            lanes=built.lanes,
            inputs=len(built.kernel.inputs),
            results=len(places),
            taken=np.array([given.get(name, len(order)) for name in built.kernel.inputs], np.uintp),
            places=np.array(places, np.uintp),
        )

    def _place(self, name: str) -> int:
        """Place of an entry in A and B, row by row, one behind the other; else behind them."""
        n, m = self.ndx, self.nu
        row, column = map(int, name[1:].split("_"))
        if name[0] == "a":
            return row * n + column
        driven = self.states.driven
        return n * n + row * m + driven.index(column) if column in driven else n * (n + m)

    def open(self, us: np.ndarray) -> Policy:
        """Controls (T, nu) without feedback."""
        xs = np.tile(self.states.neutral, (len(us) + 1, 1))
        return Policy(xs, us, np.zeros(us.shape), np.zeros((*us.shape, self.ndx)))

    @property
    def lanes(self) -> int:
        """Motions that are computed at once."""
        return self._moves.lanes

    def linearised(self, xs: np.ndarray, us: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the next state by state and control at some knots.

        Parameters
        ----------
        xs : ndarray, shape (T, nx)
        us : ndarray, shape (T, nu)

        Returns
        -------
        A : ndarray, shape (T, ndx, ndx)
        B : ndarray, shape (T, ndx, nu)
        """
        A = np.zeros((len(us), self.ndx, self.ndx))
        B = np.zeros((len(us), self.ndx, self.nu))
        given = doubles(xs), doubles(us)
        self._library.call("linearised", self._change, len(us), *given, self.step, A, B)
        return A, B

    def under(
        self, policy: Policy, x: np.ndarray, shares: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Motions from a state on under a policy, one for each share of its feed-forward part.

        Parameters
        ----------
        policy : Policy
        x : ndarray, shape (nx,)
        shares : ndarray, shape (lanes,)
        low, high : ndarray, shape (nu,)
            Limits of the controls.

        Returns
        -------
        xs : ndarray, shape (T + 1, nx, lanes)
        us : ndarray, shape (T, nu, lanes)
        """
        count, lanes = len(policy.us), self.lanes
        xs, us = np.empty((count + 1, self.nx, lanes)), np.empty((count, self.nu, lanes))
        given = [doubles(a) for a in (shares, x, *policy, low, high)]
        self._library.call("forward", self._move, count, *given, self.step, xs, us)
        return xs, us

    def backward(
        self,
        A: np.ndarray,
        B: np.ndarray,
        cost: Approximation,
        low: np.ndarray,
        high: np.ndarray,
        regular: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Sweep backwards over the knots.

        Parameters
        ----------
        A : ndarray, shape (T, ndx, ndx)
        B : ndarray, shape (T, ndx, nu)
        cost : Approximation
        low, high : ndarray, shape (T, nu)
            Limits of the change of each control.
        regular : float
            Added to the diagonal of the Hessian by controls.

        Returns
        -------
        k : ndarray, shape (T, nu)
        K : ndarray, shape (T, nu, ndx)
        expected : ndarray, shape (2,)
            A share s of the step changes the cost by s a + s^2 b / 2.
        None
            If a Hessian by the controls is not positive definite.
        """
        count, n, m = len(A), self.ndx, self.nu
        k, K, expected = np.empty((count, m)), np.empty((count, m, n)), np.empty(2)
        work, rows = np.empty(self._library.call("backward_work"), np.uint8), np.empty(m, np.uintp)
        given = [doubles(a) for a in (A, B, cost.lx, cost.lxx, cost.lu, cost.luu, low, high)]
        found = k, K, expected, work, rows
        left = self._library.call("backward", count, *given, regular, *found)
        return None if left else (k, K, expected)
