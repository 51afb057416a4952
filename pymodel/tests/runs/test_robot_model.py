"""A robot's functions on arrays: shapes, batches, wrenches, arithmetics, and what is refused."""

import gc
import re
from weakref import ref

import numpy as np
import pinocchio
import pytest

from pymodel.app.command import main
from pymodel.compile import native
from pymodel.compile.robot_kernels import chained, recorded
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import FIXED_BASE
from pymodel.mechanism.robot_scenario import scenario_of_robot
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_model import RobotModel, load_robot
from pymodel.tests.robots import ROBOTS, random_state, random_urdf

IIWA, HYQ = ROBOTS / "iiwa14.urdf", ROBOTS / "hyq.urdf"


@pytest.fixture(scope="module")
def iiwa():
    return load_robot(IIWA)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_names_and_sizes():
    model = load_robot(HYQ, floating=True)
    assert (model.nq, model.nv, model.joints[0]) == (19, 18, "root_joint")
    assert repr(model) == "<hyq: 18 degrees of freedom, floating base>"
    assert model.count("FD").method == "articulated"
    snapped = load_robot(HYQ, floating=True, snap=1e-5)
    assert snapped.count("FD").method == "articulated"
    assert snapped.count("FD").mul < model.count("FD").mul
    with pytest.raises(InputError, match="must be one of ID, FD"):
        model.count("IK")


@pytest.mark.nightly
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
def test_results_have_the_batch_of_the_arguments(iiwa, rng, batch):
    q, qd, x = rng.uniform(-1, 1, (3, *batch, 7))
    assert iiwa.inverse_dynamics(q, qd, x).shape == (*batch, 7)
    assert iiwa.mass_matrix(q).shape == (*batch, 7, 7)
    minv = iiwa.inverse_mass_matrix(q)
    for found in (
        iiwa.inverse_dynamics_derivatives(q, qd, x),
        iiwa.forward_dynamics_derivatives(q, qd, x),
        iiwa.forward_dynamics_derivatives_given(q, qd, x, minv),
    ):
        assert [part.shape for part in found] == [(*batch, 7, 7)] * 2
    one = (0,) * len(batch)
    np.testing.assert_array_equal(
        iiwa.forward_dynamics(q, qd, x)[one], iiwa.forward_dynamics(q[one], qd[one], x[one])
    )


@pytest.mark.parametrize("target", ["model", "native", "step"])
@pytest.mark.parametrize("batch", [(0,), (3, 0)])
def test_an_empty_batch_has_empty_results(target, batch):
    model = load_robot(IIWA, arithmetic="float32", target=target)
    none = np.zeros((*batch, 7))
    assert model.forward_dynamics(none, GOOD, GOOD).shape == (*batch, 7)
    assert model.mass_matrix(none).shape == (*batch, 7, 7)
    found = model.inverse_dynamics_derivatives(GOOD, none, GOOD, {"iiwa_link_3": np.zeros(6)})
    assert [part.shape for part in found] == [(*batch, 7, 7)] * 2
    with pytest.raises(InputError, match="q: shape"):
        model.mass_matrix(none[..., :6])


def test_batches_broadcast(iiwa, rng):
    q, qd, tau = rng.uniform(-1, 1, (5, 7)), rng.uniform(-1, 1, 7), np.zeros((4, 1, 7))
    found = iiwa.forward_dynamics(q, qd, tau)
    assert found.shape == (4, 5, 7)
    np.testing.assert_array_equal(found[2, 3], iiwa.forward_dynamics(q[3], qd, np.zeros(7)))


@pytest.mark.parametrize("target", ["model", "native"])
def test_functions_of_links_as_they_are(rng, target):
    """Rates times Jacobians are the differences of placements; the energies' sum stays."""
    arm = load_robot(IIWA, target=target)
    q, qd, qdd = rng.uniform(-1, 1, (3, 2, 5, 7))
    position, rotation = arm.placement(q, "iiwa_link_7")
    assert (position.shape, rotation.shape) == ((2, 5, 3), (2, 5, 3, 3))
    every, turns = arm.placement(q)
    assert (every.shape, turns.shape) == ((2, 5, 7, 3), (2, 5, 7, 3, 3))
    assert np.array_equal(every[..., 6, :], position)
    assert np.array_equal(turns[..., 6, :, :], rotation)

    def rates(at, step=1e-6):
        return (at(q + step * qd) - at(q - step * qd)) / (2 * step)

    velocity = np.einsum("...ij,...j", arm.jacobian(q, "iiwa_link_7"), qd)
    moved = rates(lambda q: arm.placement(q, "iiwa_link_7")[0])
    np.testing.assert_allclose(velocity[..., :3], moved, atol=1e-8)
    turned = rates(lambda q: arm.placement(q, "iiwa_link_7")[1]) @ rotation.swapaxes(-1, -2)
    spin = np.stack([turned[..., 2, 1], turned[..., 0, 2], turned[..., 1, 0]], axis=-1)
    np.testing.assert_allclose(velocity[..., 3:], spin, atol=1e-8)
    body = np.einsum("...ij,...j", arm.body_jacobian(q, "iiwa_link_7"), qd)
    for half in (slice(3), slice(3, 6)):
        ours = np.einsum("...ij,...j", rotation, body[..., half])
        np.testing.assert_allclose(ours, velocity[..., half], atol=1e-14)

    centre, jacobian = arm.centre_of_mass(q)
    assert (centre.shape, jacobian.shape) == ((2, 5, 3), (2, 5, 3, 7))
    shifted = rates(lambda q: arm.centre_of_mass(q)[0])
    np.testing.assert_allclose(np.einsum("...ij,...j", jacobian, qd), shifted, atol=1e-8)
    kinetic, potential = arm.energy(q, qd)
    twice = np.einsum("...i,...ij,...j", qd, arm.mass_matrix(q), qd)
    np.testing.assert_allclose(2 * kinetic, twice, rtol=1e-12)
    mass = sum(link.mass for link in arm.robot.links)
    np.testing.assert_allclose(potential, 9.81 * mass * centre[..., 2], rtol=1e-12)
    torques = arm.regressor(q, qd, qdd) @ arm.inertial_parameters
    np.testing.assert_allclose(torques, arm.inverse_dynamics(q, qd, qdd), atol=1e-11)


def test_functions_agree(rng):
    """FD of ID is the identity, with wrenches on links; derivatives are those of one another."""
    model = load_robot(HYQ, floating=True)
    q, qd, qdd, wrenches = random_state(model.robot, rng)
    pushed = {model.robot.links[k].name: wrenches[k] for k in (0, 3, 7)}
    tau = model.inverse_dynamics(q, qd, qdd, pushed)
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau, pushed), qdd, atol=1e-10)
    minv = model.inverse_mass_matrix(q)
    np.testing.assert_allclose(minv @ model.mass_matrix(q), np.eye(18), atol=1e-12)
    given = model.forward_dynamics_derivatives_given(q, qd, qdd, minv, pushed)
    both = zip(model.forward_dynamics_derivatives(q, qd, tau, pushed), given, strict=True)
    for found, again in both:
        np.testing.assert_allclose(found, again, atol=1e-9)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(4))
def test_wrenches_on_fixed_links_as_pinocchio(seed, floating, tmp_path):
    """On links that move and on those fixed to them, which may be the same body."""
    rng, path = np.random.default_rng(seed), tmp_path / "robot.urdf"
    path.write_text(random_urdf(rng))
    model = load_robot(path, floating=floating)
    q, qd, qdd, moving = random_state(model.robot, rng)
    fixed = [name for name, at in model.robot.fixed.items() if at.carrier != FIXED_BASE]
    assert fixed
    names = [link.name for link in model.robot.links]
    pushed = dict(zip(names, moving, strict=True))
    pushed |= dict(zip(fixed, rng.uniform(-5, 5, (len(fixed), 6)), strict=True))

    its = pinocchio_reference.model(model.robot)
    wrenches = pinocchio.StdVec_Force()
    wrenches.extend([pinocchio.Force.Zero() for _ in range(its.njoints)])
    for name, wrench in pushed.items():
        frame = its.frames[its.getFrameId(name, pinocchio.BODY)]
        wrenches[frame.parentJoint] += frame.placement.act(pinocchio.Force(wrench))
    at = pinocchio_reference.configuration(its, q)
    expected = pinocchio.rnea(its, its.createData(), at, qd, qdd, wrenches)
    found = model.inverse_dynamics(q, qd, qdd, pushed)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    batch = {name: np.tile(wrench, (2, 1, 1)) for name, wrench in pushed.items()}
    many = model.inverse_dynamics(np.tile(q, (3, 1)), qd, qdd, batch)
    np.testing.assert_array_equal(many, np.tile(found, (2, 3, 1)))


def test_the_engine_has_the_bits_of_the_model(rng):
    """Direct float32 and the engine's model; both round what float64 gives."""
    q, qd, x = rng.uniform(-1, 1, (3, 4, 7))
    twin, engine, exact = (
        load_robot(IIWA, arithmetic="float32"),
        load_robot(IIWA, arithmetic="float32", target="step", lanes="8+8"),
        load_robot(IIWA),
    )
    for name in ("inverse_dynamics", "forward_dynamics"):
        found, again = (getattr(model, name)(q, qd, x) for model in (twin, engine))
        assert found.tobytes() == again.tobytes()
        assert (found == found.astype(np.float32)).all()
        np.testing.assert_allclose(found, getattr(exact, name)(q, qd, x), rtol=1e-4, atol=1e-3)


def test_native_code_is_built_once_for_a_robot(rng, monkeypatch):
    """On whatever models of it; each call has its own flags."""
    built, build = [], native.build
    monkeypatch.setattr(native, "build", lambda *a, **k: built.append(a[1]) or build(*a, **k))
    model = RobotModel(urdf.load(IIWA), "5/10", "native")
    q, qd, tau = rng.uniform(-1, 1, (3, 7))
    model.forward_dynamics(q, qd, np.full(7, 6e4))
    assert model.warnings
    found = model.forward_dynamics(q, qd, tau)
    assert not model.warnings and built == ["float64", "5/10"]
    other = model.on("native", "5/10")
    assert other.forward_dynamics(q, qd, tau).tobytes() == found.tobytes()
    other.forward_dynamics(q, qd, tau, {})
    model.on("native", "float64").forward_dynamics(q, qd, tau)
    assert built == ["float64", "5/10"]
    model.forward_dynamics(q, qd, tau, {"iiwa_link_3": np.zeros(6)})
    assert built == ["float64", "5/10"] * 2


@pytest.mark.nightly
def test_what_is_kept_goes_with_the_robot(rng):
    model = RobotModel(urdf.load(IIWA), "float32", "native")
    model.forward_dynamics(*rng.uniform(-1, 1, (3, 7)))
    small = reduced(model.robot)
    assert small is reduced(model.robot)
    kept = [
        recorded(small, "FD"),
        chained(small),
        robot_calls.prepare(Machine(), small, "ID"),
        robot_calls._built(small, "FD", (), "float32"),
    ]
    assert kept[0] is recorded(small, "FD", external=())
    assert kept[0] is recorded(small, "FD", "factors")
    kept = [ref(thing) for thing in (model.robot, small, *kept)]
    del model, small
    gc.collect()
    assert [thing() for thing in kept] == [None] * len(kept)


def test_what_of_a_robot_one_may_not_expect_is_a_warning(tmp_path, capsys):
    """As the command prints it, before any call and after each."""
    path = tmp_path / "arm.urdf"
    text = re.sub(r'izz="[^"]*"', 'izz="9"', IIWA.read_text())
    *first, last = text.rpartition("</joint>")
    path.write_text("".join([*first[:1], '<mimic joint="iiwa_joint_1"/></joint>', last]))
    robot = load_robot(path, mimic=False)
    assert main(["joints", str(path), "--no-mimic"]) == 0
    told = capsys.readouterr().err.splitlines()
    of_mimic, of_inertias = robot.warnings
    assert of_mimic.startswith("mimic joints are joints of their own: ")
    assert of_inertias.startswith("a principal moment of inertia is beyond the sum of the others: ")
    assert told[-2:] == [of_mimic, of_inertias]
    robot.mass_matrix(np.zeros((0, 7)))
    assert robot.warnings == (of_mimic, of_inertias)
    robot.mass_matrix(np.zeros(7))
    assert robot.warnings == (of_mimic, of_inertias)


def test_damping_of_a_file_that_has_none_is_refused():
    with pytest.raises(InputError) as caught:
        load_robot(IIWA, damping=True)
    assert str(caught.value) == f"damping: no joint of {IIWA} has damping"


def test_damping_and_armature(tmp_path, rng):
    q, qd, qdd = rng.uniform(-1, 1, (3, 7))
    path = tmp_path / "damped.urdf"
    path.write_text(IIWA.read_text().replace("</joint>", "<dynamics damping='0.5'/></joint>"))
    plain, damped = load_robot(path), load_robot(path, damping=True, armature=0.1)
    np.testing.assert_allclose(
        damped.inverse_dynamics(q, qd, qdd) - plain.inverse_dynamics(q, qd, qdd),
        0.5 * qd + 0.1 * qdd,
        atol=1e-12,
    )


@pytest.mark.parametrize("target", ["model", "native", "twin"])
def test_friction(tmp_path, target, rng):
    """F tanh(qd / v) to 3.2e-6, in the scenario of the robot, too; off unless asked for."""
    q, qd, qdd = rng.uniform(-1, 1, (3, 7))
    path = tmp_path / "rubbing.urdf"
    path.write_text(IIWA.read_text().replace("</joint>", "<dynamics friction='3'/></joint>"))
    arithmetic = "float32" if target == "twin" else "float64"
    chosen = {"arithmetic": arithmetic, "target": target}
    plain, rubbing = (load_robot(path, friction=x, **chosen) for x in (0, 0.3))
    got = rubbing.inverse_dynamics(q, qd, qdd) - plain.inverse_dynamics(q, qd, qdd)
    tolerance = 1e-4 if target == "twin" else 1e-5
    np.testing.assert_allclose(got, 3 * np.tanh(qd / 0.3), rtol=0, atol=tolerance)
    assert any("dry friction is not applied" in line for line in plain.warnings)
    assert not any("friction" in line for line in rubbing.warnings)
    scenario = scenario_of_robot(rubbing, q=q, qd=qd)
    assert {(body.friction, body.friction_scale) for body in scenario.bodies} == {(3.0, 0.3)}
    assert not any(body.rubs for body in scenario_of_robot(plain).bodies)


@pytest.mark.parametrize("scale", [-0.1, "x", True, np.inf, np.nan])
def test_a_scale_of_friction_that_is_none_is_refused(scale):
    with pytest.raises(InputError, match="friction: must be a velocity from 0 on, got "):
        load_robot(IIWA, friction=scale)


def test_what_is_not_finite_is_warned_of(rng):
    model = RobotModel(urdf.load(IIWA), "4/3")
    q, qd, tau = rng.uniform(-1, 1, (3, 2, 7))
    found = model.forward_dynamics(q, qd, np.array([tau[0], np.full(7, 200.0)]))
    assert not np.isfinite(found[1]).all()
    assert any("a result is infinite or not a number" in line for line in model.warnings)


@pytest.mark.parametrize("target", ["model", "native", "step"])
def test_angles_without_a_sine_are_named(target):
    """Of joints that turn, also behind a floating base's seven coordinates."""
    model = load_robot(HYQ, floating=True, arithmetic="float32", target=target)
    assert model.nq == 19
    q = np.zeros((3, 19))
    q[:, 6], q[1, 8], q[2, 7] = 1.0, -(2.0**17), 131071.0
    model.mass_matrix(q)
    said = "row 2: a result is not a number, as q8 is beyond 2^17 = 131072 rad"
    assert model.warnings[-1] == f"{said}, where sine and cosine end"


@pytest.mark.nightly("float32-model")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", ["model", "native"])
@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_numbers_too_large_are_warned_of_by_the_model_alone(arithmetic, target):
    model = load_robot(IIWA, arithmetic=arithmetic, target=target)
    for size in (1e200, 1.7e308):
        large = np.where(np.arange(7) % 2, size, -size)
        for name in ("ID", "dFD"):
            model.function(name)(GOOD, large, large)
            assert "row 1: a result is infinite or not a number" in model.warnings
    skew = np.where(np.tri(7, k=-1), 1.7e308, -1.7e308)
    with pytest.raises(InputError, match="differ, must be symmetric"):
        model.forward_dynamics_derivatives_given(GOOD, GOOD, GOOD, skew)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("length", [1e308, 1e200, 3.0, 1e-160, 5e-324])
def test_quaternions_of_any_length_are_normalised(length):
    model = load_robot(HYQ, floating=True)
    q, still = np.zeros((2, 19)), np.zeros(18)
    q[:, 3:5] = [[1, 1], [length, length]]  # upside down
    unit, found = model.inverse_dynamics(q, still, still)
    assert np.abs(found - unit).max() < 1e-14 * np.abs(unit).max()
    assert model.warnings[0].startswith("rows 1, 2: quaternions differ from length 1 by up to")


GOOD = np.zeros(7)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((np.zeros(6), GOOD, GOOD), r"q: shape \(6,\), must end with \(7,\)"),
        ((0.0, GOOD, GOOD), r"q: shape \(\), must end with \(7,\)"),
        ((GOOD, np.zeros((7, 1)), GOOD), r"qd: shape \(7, 1\), must end with \(7,\)"),
        ((np.zeros((2, 7)), GOOD, np.zeros((3, 7))), r"batches differ: q \(2, 7\), qd \(7,\), "),
        ((GOOD, np.full(7, np.nan), GOOD), "row 1: qd0 is nan, must be finite"),
        ((GOOD, GOOD, GOOD, {"arm": np.zeros(6)}), "f_ext: no link 'arm'; those that move are"),
        ((GOOD, GOOD, GOOD, {"base": np.zeros(6)}), "f_ext: link 'base' stands on the ground"),
        ((GOOD, GOOD, GOOD, {"iiwa_link_0": GOOD}), "f_ext: link 'iiwa_link_0' stands on the"),
        ((GOOD, GOOD, GOOD, {"iiwa_link_3": np.zeros(5)}), r"f_ext of iiwa_link_3: shape \(5,\)"),
        ((GOOD, GOOD, GOOD, [1]), "f_ext: must be a dict, name of a link -> force and moment"),
        ((GOOD, None, GOOD), "qd: must be a number, or an array of numbers"),
        ((GOOD, GOOD, [[0.0], [0.0, 0.0]]), "qdd: must be a number, or an array of numbers"),
        ((GOOD, GOOD, np.ma.masked_less(GOOD, 1.0)), "qdd: has masked entries"),
    ],
)
def test_what_is_refused(iiwa, arguments, said):
    with pytest.raises(InputError, match=said):
        iiwa.inverse_dynamics(*arguments)


def test_matrices_of_wrong_shape_and_odd_lanes(iiwa):
    with pytest.raises(InputError, match=r"minv: shape \(49,\), must end with \(7, 7\)"):
        iiwa.forward_dynamics_derivatives_given(GOOD, GOOD, GOOD, np.zeros(49))


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"lanes": "8"}, "lanes '8': must be"),
        ({"lanes": 2}, "lanes 2: must be"),
        ({"lanes": "8+8"}, r"lanes '8\+8': only for the target twin"),
        ({"lanes": "8+8", "target": "native"}, r"lanes '8\+8': only for the target twin"),
        ({"arithmetic": None}, "arithmetic None: must be float32, float64 or"),
        ({"arithmetic": 32}, "arithmetic 32: must be float32, float64 or"),
        ({"target": None}, "target None: must be one of"),
        ({"lanes": "", "target": "step", "arithmetic": "float32"}, "lanes '': must be"),
        ({"floating": "yes"}, "floating: must be True or False, got 'yes'"),
        ({"damping": 1}, "damping: must be True or False, got 1"),
    ],
)
def test_options_that_are_refused(option, said):
    with pytest.raises(InputError, match=said):
        load_robot(IIWA, **option)


def test_models_of_what_is_no_robot(iiwa):
    with pytest.raises(InputError, match=r"a Robot, as pymodel.mechanism.robot_file.load makes"):
        RobotModel(str(IIWA))
    with pytest.raises(InputError, match=r"a Machine, as pymodel.Machine makes one, got str"):
        RobotModel(iiwa.robot, "float32", "step", "2+2")
    for name in ([], None):
        with pytest.raises(InputError, match="must be one of ID, FD"):
            iiwa.function(name)
