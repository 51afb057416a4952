"""What a motion costs: how far a link is from its goal, posture and rates, and torques."""

from __future__ import annotations

import numpy as np

from pymodel.algorithms.rigid_body.functions import columns, suited
from pymodel.compile import native
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import recorded
from pymodel.control import se3
from pymodel.control.motion import Approximation
from pymodel.mechanism.robot import Robot, at_link


class Link:
    """Placements of a link and its Jacobians in many states at once, as native code.

    Parameters
    ----------
    robot : Robot
        As it was read, not reduced.
    name : str
        Of the link.
    """

    def __init__(self, robot: Robot, name: str) -> None:
        self._robot = suited(at_link(robot, name), "FK")
        self._placement = native.build(recorded(self._robot, "FK"), "float64")
        self._jacobian = native.build(recorded(self._robot, "Jbody"), "float64")

    def placement(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations, row by row, and positions: q (nq, N) -> (9, N), (3, N), m."""
        values = self._evaluated(self._placement, q)
        return self._whole(values, "r"), self._whole(values, "p")

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Jacobians in the link's own axes, linear first, row by row: q (nq, N) -> (6 nv, N)."""
        return self._whole(self._evaluated(self._jacobian, q), "j")

    @staticmethod
    def _evaluated(built: native.NativeKernel, q: np.ndarray) -> dict[str, np.ndarray]:
        kernel: Kernel = built.kernel
        own = [int(name[1:]) for name in kernel.inputs]  # those that the link depends on
        return dict(zip(kernel.results, built.evaluate_rows(q[own]), strict=True))

    def _whole(self, values: dict[str, np.ndarray], kind: str) -> np.ndarray:
        """All columns of a kind, zeros by structure included."""
        zero = np.zeros_like(next(iter(values.values())))
        return np.stack([values.get(name, zero) for name in columns(self._robot, kind)])


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
    state : ndarray, shape (nx,)
        Weights of coordinates and rates, in the last knot, too.
    control : float
        Weight of the torques.
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
        self._link, self._rotation, self._position = link, rotation, position
        self._rest = np.concatenate([posture, np.zeros(len(posture))])
        self._step, self._places, self._control = step, (step * place, place_at_end), control
        self._state = np.broadcast_to(state, self._rest.shape)

    def _scales(self, knots: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the placement, and factors of those of the state, of all knots."""
        places, states = np.full(knots, self._places[0]), np.full(knots, self._step)
        places[-1], states[-1] = self._places[1], 1.0
        return places, states

    def missing(self, q: np.ndarray) -> np.ndarray:
        """Logarithms of the placements that are missing: q (nq, N) -> (6, N)."""
        R, p = self._link.placement(q)
        turned = self._rotation.T
        away = turned @ (p - self._position[:, None])
        return se3.log6((turned @ R.reshape(3, -1)).reshape(9, -1), away)

    @np.errstate(over="ignore", invalid="ignore")  # of a motion that diverges it is not finite
    def value(self, xs: np.ndarray, us: np.ndarray) -> np.ndarray:
        """Costs of motions: see :class:`pymodel.control.ddp.Cost`."""
        knots, nx, lanes = xs.shape
        places, states = self._scales(knots)
        q = np.moveaxis(xs[:, : nx // 2], 1, 0).reshape(nx // 2, -1)
        away = (self.missing(q) ** 2).sum(axis=0).reshape(knots, lanes)
        left = (xs - self._rest[:, None]) ** 2
        posture = np.einsum("i,kil->kl", self._state, left)
        torques = self._step * self._control * (us**2).sum(axis=(0, 1))
        return np.asarray(0.5 * (places @ away + states @ posture + torques))

    def approximated(self, xs: np.ndarray, us: np.ndarray) -> Approximation:
        """Derivatives at the knots of a motion: see :class:`pymodel.control.ddp.Cost`."""
        (knots, nx), (count, nu) = xs.shape, us.shape
        places, states = self._scales(knots)
        q = xs[:, : nx // 2].T
        missing = self.missing(q)
        moved = self._link.jacobian(q).reshape(6, nu, knots).transpose(2, 0, 1)
        J = se3.jacobian_log6(missing).reshape(6, 6, knots).transpose(2, 0, 1) @ moved
        weighted = places[:, None, None] * J
        lx = states[:, None] * self._state * (xs - self._rest)
        lx[:, : nx // 2] += (missing.T[:, None, :] @ weighted)[:, 0]
        lxx = np.zeros((knots, nx, nx))
        lxx[:, range(nx), range(nx)] = states[:, None] * self._state
        lxx[:, : nx // 2, : nx // 2] += np.swapaxes(J, 1, 2) @ weighted
        scale = self._step * self._control
        luu = np.broadcast_to(scale * np.eye(nu), (count, nu, nu))
        return Approximation(lx, lxx, scale * us, luu)
