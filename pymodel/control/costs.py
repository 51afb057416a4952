"""What a motion costs: how far a link is from its goal, posture and rates, and torques."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body.functions import columns, evaluate, inputs, suited
from pymodel.compile import native
from pymodel.compile.kernel import Kernel, record
from pymodel.compile.robot_kernels import recorded
from pymodel.control.c_library import Library, doubles
from pymodel.control.motion import Approximation
from pymodel.control.states import States
from pymodel.mechanism.robot import Robot, at_link


class Link:
    """Placements of a link and its Jacobians in its own axes, as native code.

    Parameters
    ----------
    robot : Robot
        As it was read, not reduced.
    name : str
        Of the link.

    Attributes
    ----------
    robot : Robot
        With the link named.
    places : native.NativeKernel
        Gives the placement.
    moves : native.NativeKernel
        Gives the Jacobian, too.
    """

    def __init__(self, robot: Robot, name: str) -> None:
        self.robot = suited(at_link(robot, name), "FK")
        self.places = native.build(recorded(self.robot, "FK"), "float64")
        self.moves = native.build(_with_jacobian(self.robot), "float64")

    @property
    def columns(self) -> list[str]:
        """Names of all results: position, rotation row by row, Jacobian row by row."""
        return [name for kind in ("p", "r", "j") for name in columns(self.robot, kind)]

    def placement(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and position (3,), m, at coordinates (nq,)."""
        found = dict(
            zip(
                self.places.kernel.results,
                self.places.evaluate_rows(q[coordinates(self.places.kernel)]),
                strict=True,
            )
        )
        values = np.array([found.get(name, 0.0) for name in self.columns[:12]])
        return values[3:].reshape(3, 3), values[:3]


def coordinates(kernel: Kernel) -> list[int]:
    """Number those that a kernel depends on."""
    return [int(name[1:]) for name in kernel.inputs]


def _with_jacobian(robot: Robot) -> Kernel:
    def text(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: x
            for function in ("FK", "Jbody")
            for name, x in evaluate(function, robot, arithmetic, values).items()
        }

    return record(text, inputs(robot, "FK"))


class Reach:
    """Bring a link to a placement.

    In each knot but the last h times, in the last once: half of the square of the logarithm of the
    placement that is missing, with a weight; of the state's distance from a posture at rest; and,
    not in the last, of the torques. Second derivatives are Gauss-Newton's.

    Parameters
    ----------
    link : Link
    rotation : ndarray, shape (3, 3)
        Of the goal, in the ground's frame.
    position : ndarray, shape (3,)
        Of the goal, m.
    posture : ndarray, shape (nq,)
    step : float
        h, s.
    place, place_at_end : float
        Weights of the placement: 1/m^2 and 1/rad^2 a second, and in the last knot.
    state : ndarray, shape (ndx,)
        Weights of coordinates and rates, in the last knot, too.
    control : float
        Weight of the torques.

    Attributes
    ----------
    goal : tuple of ndarray
        Rotation and position.
    """

    def __init__(
        self,
        link: Link,
        rotation: np.ndarray,
        position: np.ndarray,
        posture: np.ndarray,
        step: float,
        place: float = 1.0,
        place_at_end: float = 1e3,
        state: np.ndarray | float = 1e-3,
        control: float = 1e-4,
    ) -> None:
        states = States(link.robot)
        self.goal = rotation, position
        rest = np.concatenate([posture, np.zeros(states.nv)])
        sizes = {**states.sizes, "LANES": link.places.lanes}
        self._library = Library("reach", "states", "se3", **sizes)
        self._luu, self._ndx = step * control * np.eye(states.nu), states.ndx
        self._goal = self._library.struct(
            "Goal",
            rotation=doubles(rotation),
            position=doubles(position),
            rest=doubles(rest),
            state=doubles(np.broadcast_to(state, states.ndx)),
            place=step * place,
            place_at_end=place_at_end,
            step=step,
            control=control,
        )
        self._places, self._moves = (self._kernel(link, x) for x in (link.places, link.moves))

    def _kernel(self, link: Link, built: native.NativeKernel) -> Any:
        order = {name: k for k, name in enumerate(link.columns)}
        return self._library.struct(
            "Kernel",
            evaluate=built.address("evaluate"),
            fixed=built.fixed(),
            inputs=len(built.kernel.inputs),
            results=len(built.kernel.results),
            coordinates=np.array(coordinates(built.kernel), np.uintp),
            places=np.array([order[name] for name in built.kernel.results], np.uintp),
        )

    def missing(self, xs: np.ndarray) -> np.ndarray:
        """Logarithms of the placements that are missing in states: xs (N, nx) -> (N, 6)."""
        found = np.empty((len(xs), 6))
        self._call("missing", self._places, (len(xs),), xs, found)
        return found

    def value(self, xs: np.ndarray, us: np.ndarray, lanes: slice = slice(None)) -> np.ndarray:
        """Costs of motions: see :class:`pymodel.control.ddp.Cost`."""
        some = range(xs.shape[2])[lanes]
        found = np.empty(len(some))
        sizes = len(us), xs.shape[2], some.start, len(some)
        self._call("value", self._places, sizes, xs, us, found)
        return found

    def approximated(self, xs: np.ndarray, us: np.ndarray) -> Approximation:
        """Derivatives at the knots of a motion: see :class:`pymodel.control.ddp.Cost`."""
        (count, nu), n = us.shape, self._ndx
        lx, lu = np.empty((count + 1, n)), np.empty((count, nu))
        lxx, luu = np.zeros((count + 1, n, n)), np.broadcast_to(self._luu, (count, nu, nu))
        self._call("approximated", self._moves, (count,), xs, us, lx, lxx, lu)
        return Approximation(lx, lxx, lu, luu)

    def _call(self, name: str, kernel: Any, sizes: tuple[int, ...], *arrays: np.ndarray) -> None:
        self._library.call(name, kernel, self._goal, *sizes, *map(doubles, arrays))
