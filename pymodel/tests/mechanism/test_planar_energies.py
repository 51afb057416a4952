"""Energies by columns have the bits of the vectors of kinematics, in rows."""

import numpy as np
import pytest

from pymodel.mechanism import frames, kinematics, planar_energies
from pymodel.mechanism.scenario_file import load
from pymodel.tests.places import SCENARIOS

PLANAR = ("chain_8", "tree", "slider_crank", "four_bar")


def by_rows(scenario, q, qd):
    """Kinetic and potential energy as they are defined, body by body in each row."""
    velocity = kinematics.centre_of_mass_velocities(scenario, q, qd)
    rate = frames.turning(scenario, frames.orientations(scenario, q), qd)
    mass, inertia = (
        np.array([getattr(b, x) for b in scenario.bodies]) for x in ("mass", "inertia")
    )
    turning = (rate[..., 0] ** 2 * inertia).sum(axis=-1)
    kinetic = 0.5 * (((velocity**2).sum(axis=-1) * mass).sum(axis=-1) + turning)
    weight = mass[:, None] * scenario.gravity
    return kinetic, -(kinematics.centres_of_mass(scenario, q) * weight).sum(axis=(-1, -2))


@pytest.mark.parametrize("name", PLANAR)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (planar_energies.TOGETHER * 2 + 1,)])
def test_bits(name, shape):
    scenario = load(SCENARIOS / f"{name}.toml", steps=1)
    rng = np.random.default_rng(7)
    q, qd = rng.normal(size=(*shape, scenario.nq)), rng.normal(size=(*shape, scenario.nv))
    given = q.copy(), qd.copy()
    kinetic, height = by_rows(scenario, q, qd)
    found = planar_energies.Planar(scenario).energies(
        q.reshape(-1, scenario.nq), qd.reshape(-1, scenario.nv)
    )
    for x, want in zip(found, (kinetic, height), strict=True):
        assert np.array_equal(x.reshape(shape).view(np.uint64), np.asarray(want).view(np.uint64))
    assert np.array_equal(q, given[0]) and np.array_equal(qd, given[1])
    assert np.array_equal(kinematics.kinetic_energy(scenario, q, qd), kinetic)
    both = kinematics.energies(scenario, q, qd)
    assert np.array_equal(both[0], kinetic)
    assert np.array_equal(both[1], kinematics.potential_energy(scenario, q))


@pytest.mark.parametrize("name", ["bennett", "tree"])
def test_energies_are_numbers_for_one_posture(name):
    scenario = load(SCENARIOS / f"{name}.toml", steps=1)
    assert all(np.ndim(x) == 0 for x in kinematics.energies(scenario, scenario.q0, scenario.qd0))
