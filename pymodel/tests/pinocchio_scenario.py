"""Trees of scenarios as models of Pinocchio, to compare with; needs the package ``pin``.

Planar mechanisms become spatial ones in the plane z = 0. Pinocchio's free joint moves in a frame
that is turned by a body's ``rotation``; ours does not, so coordinates differ. Velocities do not.
"""

import numpy as np
import pinocchio

from pymodel.mechanism.rotations import from_angles
from pymodel.mechanism.scenario import (
    FIXED,
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Scenario,
    inertia_matrix,
)

UP = (0.0, 0.0, 1.0)


class PinocchioTree:
    """The tree of a scenario by Pinocchio, one state at a time.

    Its loops, drives and springs are not in it.

    Parameters
    ----------
    scenario : Scenario

    Attributes
    ----------
    model : pinocchio.Model
        Joints are called by the numbers of their bodies.
    data : pinocchio.Data
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.model = pinocchio.Model()
        self.model.gravity.linear = _vector(scenario.gravity)
        self._order = []  # of the bodies: Pinocchio wants them depth first
        for root, body in enumerate(scenario.bodies):
            if body.parent == GROUND:
                self._add(root, 0, pinocchio.SE3.Identity())
        self.data = self.model.createData()
        self._q = self._ordered(scenario.q_slices)
        self._v = self._ordered(scenario.v_slices)

    def _add(self, k: int, joint: int, place: pinocchio.SE3) -> None:
        """Add body k and what it carries to a body that is at ``place`` on a joint."""
        body, spatial = self.scenario.bodies[k], self.scenario.spatial
        angles = body.rotation if spatial else (0.0, 0.0, body.rotation)
        attach = np.zeros(3) if body.joint == FREE else _vector(body.attach)
        place = place * pinocchio.SE3(from_angles(angles), attach)
        if body.joint == FREE and not spatial:
            for axis in np.eye(3)[:2]:
                slide = pinocchio.JointModelPrismaticUnaligned(axis)
                still = pinocchio.SE3.Identity()
                joint = self.model.addJoint(joint, slide, still, f"{k} along {axis}")
        if body.joint != FIXED:
            joint = self.model.addJoint(joint, _joint(body, spatial), place, str(k))
            place = pinocchio.SE3.Identity()
        moments = inertia_matrix(body.inertia) if spatial else np.diag((0.0, 0.0, body.inertia))
        inertia = pinocchio.Inertia(body.mass, _vector(body.com), moments)
        self.model.appendBodyToJoint(joint, inertia, place)
        self._order.append(k)
        for child, other in enumerate(self.scenario.bodies):
            if other.parent == k:
                self._add(child, joint, place)

    def _ordered(self, slices: list[slice]) -> np.ndarray:
        return np.concatenate([np.r_[slices[k]] for k in self._order])

    def state(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (nq,) and velocities (nv,) as Pinocchio has them."""
        q = q.copy()
        for body, own in zip(self.scenario.bodies, self.scenario.q_slices, strict=True):
            if body.joint == FREE and self.scenario.spatial:
                place = slice(own.start, own.start + 3)
                q[place] = from_angles(body.rotation).T @ q[place]
        return q[self._q], qd[self._v]

    def ours(self, vector: np.ndarray) -> np.ndarray:
        """Velocities or forces (nv,) of Pinocchio in our order."""
        found = np.zeros_like(vector)
        found[self._v] = vector
        return found

    def mass_matrix(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Joint-space mass matrix, shape (nv, nv)."""
        upper = np.triu(pinocchio.crba(self.model, self.data, self.state(q, qd)[0]))
        found = np.zeros_like(upper)
        found[np.ix_(self._v, self._v)] = upper + np.triu(upper, 1).T
        return found

    def momentum_rates(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """C^T qd - g, shape (nv,)."""
        state = self.state(q, qd)
        coriolis = pinocchio.computeCoriolisMatrix(self.model, self.data, *state)
        weight = pinocchio.computeGeneralizedGravity(self.model, self.data, state[0])
        return self.ours(coriolis.T @ state[1] - weight)


def _vector(values: tuple[float, ...]) -> np.ndarray:
    return np.array((*values, 0.0)[:3])


def _joint(body: Body, spatial: bool) -> pinocchio.JointModel:
    if body.joint == PRISMATIC:
        return pinocchio.JointModelPrismaticUnaligned(_vector(body.axis))
    if body.joint == REVOLUTE or not spatial:
        return pinocchio.JointModelRevoluteUnaligned(np.array(body.axis or UP))
    if body.joint == SPHERICAL:
        return pinocchio.JointModelSpherical()
    return pinocchio.JointModelFreeFlyer()
