"""The seven functions against Pinocchio, in float64, on the repository's robots."""

from types import SimpleNamespace

import numpy as np
import pinocchio
import pytest

from pymodel.runs.robot_model import load
from pymodel.tests.robots import NAMES, ROBOTS, pinocchio_configuration, pinocchio_model

STATES = 200
SAME = 1e-12  # relative to the largest entry of all states


def states(robot, rng):
    q = rng.uniform(-1, 1, (STATES, robot.nq))
    if robot.floating:
        q[:, 3:7] = rng.normal(size=(STATES, 4))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    qd, qdd, tau = rng.uniform(-1, 1, (3, STATES, robot.nv))
    wrenches = rng.uniform(-1, 1, (STATES, len(robot.links), 6))
    return SimpleNamespace(q=q, qd=qd, qdd=qdd, tau=tau, wrenches=wrenches)


def reference(robot, given):
    """Pinocchio's seven functions, state by state."""
    model = pinocchio_model(robot)
    data, found = model.createData(), {}
    for k in range(STATES):
        q = pinocchio_configuration(model, given.q[k])
        qd, qdd, tau = given.qd[k], given.qdd[k], given.tau[k]
        upper = np.triu(pinocchio.crba(model, data, q))
        m = upper + np.triu(upper, 1).T
        minv = np.linalg.inv(m)
        forward = pinocchio.aba(model, data, q, qd, tau).copy()
        derivatives = []
        for accelerations in (qdd, forward):
            pinocchio.computeRNEADerivatives(model, data, q, qd, accelerations)
            derivatives.append((data.dtau_dq.copy(), data.dtau_dv.copy()))
        forces = pinocchio.StdVec_Force()
        forces.extend([pinocchio.Force.Zero(), *map(pinocchio.Force, given.wrenches[k])])
        row = {
            "ID": pinocchio.rnea(model, data, q, qd, qdd).copy(),
            "ID, pushed": pinocchio.rnea(model, data, q, qd, qdd, forces).copy(),
            "FD": forward,
            "FD, pushed": pinocchio.aba(model, data, q, qd, tau, forces).copy(),
            "M": m,
            "Minv": minv,
            "dID": np.array(derivatives[0]),
            "dFD": -minv @ np.array(derivatives[1]),
            "diFD": -minv @ np.array(derivatives[0]),
        }
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
def test_functions_as_pinocchio(name, floating):
    model = load(ROBOTS / f"{name}.urdf", floating)
    robot = model.robot
    given = states(robot, np.random.default_rng(9))
    expected = reference(robot, given)
    q, qd, qdd, tau = given.q, given.qd, given.qdd, given.tau
    pushed = {link.name: given.wrenches[:, k] for k, link in enumerate(robot.links)}
    found = {
        "ID": model.inverse_dynamics(q, qd, qdd),
        "ID, pushed": model.inverse_dynamics(q, qd, qdd, pushed),
        "FD": model.forward_dynamics(q, qd, tau),
        "FD, pushed": model.forward_dynamics(q, qd, tau, pushed),
        "M": model.mass_matrix(q),
        "Minv": model.inverse_mass_matrix(q),
        "dID": np.stack(model.inverse_dynamics_derivatives(q, qd, qdd), axis=1),
        "dFD": np.stack(model.forward_dynamics_derivatives(q, qd, tau), axis=1),
        "diFD": np.stack(
            model.forward_dynamics_derivatives_given(q, qd, qdd, expected["Minv"]), axis=1
        ),
    }
    errors = {
        key: np.abs(found[key] - value).max() / np.abs(value).max()
        for key, value in expected.items()
    }
    assert max(errors.values()) < SAME, errors
