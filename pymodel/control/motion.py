"""A robot in discrete time, as native code: motions under a policy, and their linearisation."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cffi import FFI

from pymodel.arith.c_build import opened, shared_library
from pymodel.compile import native
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import recorded
from pymodel.control.se3 import OPTIONS
from pymodel.mechanism.robot import Robot
from pymodel.runs.input_error import InputError

_SOURCE = Path(__file__).with_name("ddp.c")
_DECLARATIONS = """
typedef unsigned (*Step)(const {number} *, {number} *, const {number} *, size_t);
typedef void (*Round)(const double *, {number} *, size_t);
size_t backward_work(void);
size_t backward(size_t T, const double *A, const double *B, const double *lx,
                const double *lxx, const double *lu, const double *luu, const double *low,
                const double *high, double regular, double *k, double *K, double *expected,
                void *work, size_t *rows);
unsigned linearised(Step changes, Round rounded, const {number} *fixed, size_t lanes, size_t T,
                    size_t results, const size_t *places, const double *xs, const double *us,
                    double h, double *A, double *B, double *given, {number} *in, {number} *out);
unsigned forward(Step step, Round rounded, const {number} *fixed, size_t lanes, size_t T,
                 const double *shares, const double *x, const double *xs, const double *us,
                 const double *k, const double *K, const double *low, const double *high,
                 double *given, {number} *in, {number} *out, double *xs_new, double *us_new);
"""


class Policy(NamedTuple):
    """Controls u + share k + K (x - xs) of T knots.

    Attributes
    ----------
    xs : ndarray, shape (T + 1, nx)
    us : ndarray, shape (T, nu)
    k : ndarray, shape (T, nu)
    K : ndarray, shape (T, nu, nx)
    """

    xs: np.ndarray
    us: np.ndarray
    k: np.ndarray
    K: np.ndarray

    @classmethod
    def open(cls, us: np.ndarray, nx: int) -> Policy:
        """Controls without feedback."""
        count, nu = us.shape
        return cls(np.zeros((count + 1, nx)), us, np.zeros((count, nu)), np.zeros((count, nu, nx)))

    def later(self) -> Policy:
        """The policy from the next knot on; the last knot's repeats."""
        return Policy(*(np.concatenate([array[1:], array[-1:]]) for array in self))


class Approximation(NamedTuple):
    """First and second derivatives of a cost by state and control.

    Attributes
    ----------
    lx : ndarray, shape (T + 1, nx)
    lxx : ndarray, shape (T + 1, nx, nx)
    lu : ndarray, shape (T, nu)
    luu : ndarray, shape (T, nu, nu)
    """

    lx: np.ndarray
    lxx: np.ndarray
    lu: np.ndarray
    luu: np.ndarray


def _array(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float64)


class Motion:
    """A robot in discrete time, x = (q, qd), u = tau, both held over a step.

    Parameters
    ----------
    robot : Robot
        Reduced, with a fixed base and coordinates that add.
    step : float
        s.
    method : str
        ``step`` (semi-implicit Euler) or ``rk4``.
    arithmetic : str
        Of the robot's functions: ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``. All else is in
        float64.

    Raises
    ------
    InputError
        If the robot has a quaternion.
    """

    def __init__(self, robot: Robot, step: float, method: str, arithmetic: str = "float64") -> None:
        if robot.nq != robot.nv:
            raise InputError(f"plans of {robot.name}: take a fixed base, and no quaternions")
        self.robot, self.step = robot, step
        self.nx, self.nu = 2 * robot.nv, robot.nv
        self._moves = native.build(recorded(robot, method), arithmetic)
        self._changes = native.build(recorded(robot, f"d{method}"), arithmetic)
        self._places = np.array(_places(self._changes.kernel, self.nx, self.nu), np.uintp)
        self._ffi = FFI()
        self._number = "float" if self._moves.dtype == np.float32 else "double"
        self._ffi.cdef(_DECLARATIONS.replace("{number}", self._number))
        sizes = f"-DNX={self.nx}", f"-DNU={self.nu}", f"-DNUMBER={self._number}"
        library = shared_library({_SOURCE.name: _SOURCE.read_text()}, [*OPTIONS, *sizes])
        self._library = opened(self._ffi, library)
        self._move = self._ffi.cast("Step", self._moves.address("evaluate"))
        self._change = self._ffi.cast("Step", self._changes.address("evaluate"))
        self._round = self._ffi.cast("Round", self._moves.address("from_doubles"))
        self._fixed, self._changes_fixed = self._moves.fixed(), self._changes.fixed()

    @property
    def lanes(self) -> int:
        """Motions that are computed at once."""
        return self._moves.lanes

    def _pointer(self, array: np.ndarray, kind: str = "double") -> Any:
        return self._ffi.cast(f"{kind} *", array.ctypes.data)

    def linearised(self, xs: np.ndarray, us: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the next state by state and control at some knots.

        Parameters
        ----------
        xs : ndarray, shape (T, nx)
        us : ndarray, shape (T, nu)

        Returns
        -------
        A : ndarray, shape (T, nx, nx)
        B : ndarray, shape (T, nx, nu)
        """
        count, lanes = len(us), self._changes.lanes
        A, B = np.zeros((count, self.nx, self.nx)), np.zeros((count, self.nx, self.nu))
        given = np.empty((self.nx + self.nu + 1, lanes))
        numbers = np.empty(given.shape, self._moves.dtype)
        found = np.empty((len(self._places), lanes), self._moves.dtype)
        self._library.linearised(
            self._change,
            self._round,
            self._pointer(self._changes_fixed, self._number),
            lanes,
            count,
            len(self._places),
            self._pointer(self._places, "size_t"),
            *map(self._pointer, (xs := _array(xs), us := _array(us))),
            self.step,
            *map(self._pointer, (A, B, given)),
            *(self._pointer(x, self._number) for x in (numbers, found)),
        )
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
        given = np.full((self.nx + self.nu + 1, lanes), self.step)
        numbers = np.empty(given.shape, self._moves.dtype)
        after = np.empty((self.nx, lanes), self._moves.dtype)
        arrays = [_array(a) for a in (shares, x, *policy, low, high)]
        self._library.forward(
            self._move,
            self._round,
            self._pointer(self._fixed, self._number),
            lanes,
            count,
            *map(self._pointer, (*arrays, given)),
            *(self._pointer(x, self._number) for x in (numbers, after)),
            *map(self._pointer, (xs, us)),
        )
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
        A : ndarray, shape (T, nx, nx)
        B : ndarray, shape (T, nx, nu)
        cost : Approximation
        low, high : ndarray, shape (T, nu)
            Limits of the change of each control.
        regular : float
            Added to the diagonal of the Hessian by controls.

        Returns
        -------
        k : ndarray, shape (T, nu)
        K : ndarray, shape (T, nu, nx)
        expected : ndarray, shape (2,)
            A share s of the step changes the cost by s a + s^2 b / 2.
        None
            If a Hessian by the controls is not positive definite.
        """
        count, n, m = len(A), self.nx, self.nu
        k, K, expected = np.empty((count, m)), np.empty((count, m, n)), np.empty(2)
        work, rows = np.empty(self._library.backward_work(), np.uint8), np.empty(m, np.uintp)
        given = [_array(a) for a in (A, B, cost.lx, cost.lxx, cost.lu, cost.luu, low, high)]
        left = self._library.backward(
            count,
            *map(self._pointer, given),
            regular,
            *map(self._pointer, (k, K, expected)),
            self._pointer(work, "void"),
            self._pointer(rows, "size_t"),
        )
        return None if left else (k, K, expected)


def _places(kernel: Kernel, nx: int, nu: int) -> list[int]:
    """Of each result its place in A and B, row by row, one behind the other."""
    found = []
    for name in kernel.results:
        row, column = map(int, name[1:].split("_"))
        found.append(row * nx + column if name[0] == "a" else nx * nx + row * nu + column)
    return found
