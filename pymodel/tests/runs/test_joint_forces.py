"""Forces of the joints: against other formulations, by the laws of mechanics, and their files."""

import dataclasses
import json

import numpy as np
import pinocchio
import pytest

from pymodel.app import command as cli
from pymodel.app.start import BAD_INPUT
from pymodel.arith.scalars import Float64
from pymodel.compile.rivals import ALGORITHMS
from pymodel.mechanism import kinematics
from pymodel.mechanism.frames import own_frame
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.scenario import GROUND, REVOLUTE, SPHERICAL
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied, write_scenario
from pymodel.runs import files, lagrangian, plots
from pymodel.runs.force_plot import FEW, plot_forces
from pymodel.runs.input_error import InputError
from pymodel.runs.joint_forces import joint_forces, read_forces, write_forces
from pymodel.runs.options import PROJECT
from pymodel.runs.simulate import simulate
from pymodel.runs.trajectory import Trajectory, TrajectoryError
from pymodel.tests import loops, space
from pymodel.tests.mechanisms import random_tree
from pymodel.tests.pinocchio_scenario import PinocchioTree
from pymodel.tests.places import SCENARIOS

BOUND = 1e-9  #: relative, float64
EXACT = 1e-11
SEEDS = range(6)
SHIPPED = ["andrews", "coupled_loops", "driven_arm", "slider_crank", "bennett", "tree"]


def at_states(scenario, q, qd, t=None):
    """A trajectory of given states, of which nothing else is known."""
    q, qd = np.atleast_2d(q), np.atleast_2d(qd)
    none = np.zeros(len(q))
    return Trajectory(none if t is None else t, q, qd, np.zeros_like(qd), *[none] * 4)


def difference(found, expected):
    """The largest, as a share of the largest expected value or of 1."""
    return np.abs(found - expected).max() / max(1.0, np.abs(expected).max())


def at_start(scenario):
    return joint_forces(scenario, at_states(scenario, scenario.q0, scenario.qd0))


# --- against other formulations -------------------------------------------------------------------


def pinocchio_wrenches(scenario):
    """Accelerations (nv,), and force and moment (n, 3) at handle 1 of each joint that moves."""
    tree, q, qd = PinocchioTree(scenario), scenario.q0, scenario.qd0
    own_q, own_qd = tree.state(q, qd)
    data, model = tree.data, tree.model
    tau = np.zeros(scenario.nv)
    for body, at, rate in zip(scenario.bodies, scenario.q_slices, scenario.v_slices, strict=True):
        if rate.stop - rate.start == 1:
            tau[rate] = body.torque - body.spring * (q[at] - body.rest) - body.damping * qd[rate]
    own_tau = tree.state(q, tau)[1]
    own_qdd = pinocchio.aba(model, data, own_q, own_qd, own_tau)
    pinocchio.rnea(model, data, own_q, own_qd, own_qdd)
    pinocchio.forwardKinematics(model, data, own_q)
    wrenches = {}
    for k in range(len(scenario.bodies)):
        if model.existJointName(str(k)):
            joint = model.getJointId(str(k))
            turn, wrench = data.oMi[joint].rotation, data.f[joint]
            wrenches[k] = turn @ wrench.linear, turn @ wrench.angular
    return tree.ours(own_qdd), wrenches


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.nightly(every=3)
def test_trees_of_all_joints_against_pinocchio(seed, spatial):
    """Accelerations as of the articulated-body algorithm, forces as of recursive Newton-Euler.

    Pinocchio has no joint where bodies are fixed to each other.
    """
    scenario = space.random_mechanism(np.random.default_rng([16, seed]), 2 + 2 * seed, spatial)
    found, (exact, wrenches) = at_start(scenario), pinocchio_wrenches(scenario)
    assert difference(found.acceleration[0], exact) < BOUND
    for k, (force, moment) in wrenches.items():
        if not spatial:
            force, moment = force[:2], moment[2:]
        assert difference(found.force[0, k], force) < BOUND
        assert difference(found.moment[0, k], moment) < BOUND


@pytest.mark.parametrize("shape", ["left", "right"])
def test_other_assembly_orders_in_space(shape):
    scenario = space.random_mechanism(np.random.default_rng(3), 9)
    exact, _ = pinocchio_wrenches(scenario)
    values = scenario.q0.tolist(), scenario.qd0.tolist()
    found = ALGORITHMS["dca"].evaluate(Float64(), scenario, *values, shape)["qdd"]
    assert difference(found, exact) < BOUND


CLOSED = space.closed_mechanisms()


TURNING = space.turning_planes()


@pytest.mark.parametrize("name", CLOSED | TURNING)
def test_loops_in_space_against_the_reference(name):
    """Accelerations, and forces in the loops as multipliers."""
    scenario = (CLOSED | TURNING)[name]
    found, d = at_start(scenario), len(scenario.gravity)
    equations = lagrangian.equations_of(scenario)
    qdd, multipliers = equations.constrained_accelerations(scenario.q0, scenario.qd0)
    assert difference(found.acceleration[0], qdd) < BOUND
    forces = np.zeros((len(scenario.loops), 5 if scenario.spatial else 2))
    rows = kinematics.loop_rows(scenario)
    for row, value in zip(kinematics.kept_rows(scenario), multipliers, strict=True):
        (loop,) = (k for k, own in enumerate(rows) if own.start <= row < own.stop)
        forces[loop, row - rows[loop].start] = value
    forces = forces[:, :d]
    turns = kinematics.body_rotations(scenario, scenario.q0)
    for loop, force in zip(scenario.loops, forces, strict=True):
        if loop.axes_turn:
            force[:] = turns[loop.to] @ own_frame(scenario, loop.to) @ force
    assert difference(found.loop_force[0], forces) < BOUND


def test_planar_loops_against_the_reference():
    for seed in range(3):
        scenario = loops.random_loop(np.random.default_rng(seed), 5)
        equations = lagrangian.equations_of(scenario)
        q, qd = equations.onto_loops(scenario.q0, scenario.qd0)
        found = joint_forces(scenario, at_states(scenario, q, qd))
        qdd, multipliers = equations.constrained_accelerations(q, qd)
        assert difference(found.acceleration[0], qdd) < BOUND
        assert difference(found.loop_force[0].ravel(), multipliers) < BOUND


# --- Newton's and Euler's laws --------------------------------------------------------------------

STEP = 3e-5  # s, of the differences
WEIGHTS = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * STEP)
MECHANISMS = {name: load(SCENARIOS / f"{name}.toml") for name in SHIPPED} | CLOSED
MECHANISMS |= {
    f"{name} tree": space.random_mechanism(np.random.default_rng(5), 8, spatial)
    for name, spatial in (("planar", False), ("spatial", True))
}


def turned(r, f):
    """r x f."""
    return np.cross(r, f) if len(r) == 3 else np.array([r[0] * f[1] - r[1] * f[0]])


def spring_pulls(scenario, q, qd):
    """Place and force of each spring that the ground holds."""
    for spring in scenario.springs:
        if spring.to == GROUND:
            end = kinematics.point_position(scenario, q, spring.body, spring.point)
            rate = kinematics.point_velocity(scenario, q, qd, spring.body, spring.point)
            line = end - spring.at
            length = np.linalg.norm(line)
            tension = spring.stiffness * (length - spring.length)
            tension += spring.damping * (line @ rate) / length
            yield end, -tension * line / length


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.nightly(every=4)
def test_newton_and_euler_for_whole_mechanisms(name):
    """What the ground and gravity exert is the rate of the momenta, by differences along a run."""
    scenario = dataclasses.replace(
        MECHANISMS[name], integrator="DOP853", tolerance=1e-13, step=STEP, end=4 * STEP, save=1
    )
    run = simulate(scenario)
    found, q, qd = joint_forces(scenario, run), run.q[2], run.qd[2]
    force, moment = np.zeros(len(scenario.gravity)), np.zeros(found.moment.shape[-1])
    on_ground = [k for k, body in enumerate(scenario.bodies) if body.parent == GROUND]
    handles = kinematics.handle_positions(scenario, q)
    pulls = [(handles[k], found.force[2, k], found.moment[2, k]) for k in on_ground]
    for k, loop in enumerate(scenario.loops):
        if loop.to == GROUND:
            end = kinematics.point_position(scenario, q, loop.body, loop.point)
            pulls.append((end, found.loop_force[2, k], found.loop_moment[2, k]))
    pulls += [(end, pull, 0.0) for end, pull in spring_pulls(scenario, q, qd)]
    centres = kinematics.centres_of_mass(scenario, q)
    for body, centre in zip(scenario.bodies, centres, strict=True):
        pulls.append((centre, body.mass * np.array(scenario.gravity), 0.0))
    for place, own, turning in pulls:
        force += own
        moment += turned(place, own) + turning
    for rate, momenta in zip(
        (force, moment), kinematics.total_momenta(scenario, run.q, run.qd), strict=True
    ):
        assert difference(rate, WEIGHTS @ momenta) < 1e-7


def test_a_slider_cranks_forces_by_hand():
    """Free-body diagrams of slider, rod and crank, at every posture of the shipped run."""
    asked = {"integrator": "DOP853", "tolerance": 1e-10, "step": 0.005, "save": 1}
    scenario = varied(load(SCENARIOS / "slider_crank.toml"), **asked)
    run = simulate(scenario)
    found = joint_forces(scenario, run)
    (crank, rod, slider), g = scenario.bodies, -scenario.gravity[1]
    (r, _), (length, _) = crank.tip, rod.tip
    theta, lean, _ = np.cumsum(run.q, axis=1).T
    rate, turning, _ = np.cumsum(run.qd, axis=1).T
    turn_up, turning_up, _ = np.cumsum(found.acceleration, axis=1).T
    x_dot, x_ddot = run.qd[:, 2], found.acceleration[:, 2]

    def upward(at, rate, up):
        """Acceleration of the end of a unit bar."""
        return np.array(
            (-np.sin(at) * up - np.cos(at) * rate**2, np.cos(at) * up - np.sin(at) * rate**2)
        )

    tip = r * upward(theta, rate, turn_up)
    ax, ay = tip + 0.5 * length * upward(lean, turning, turning_up)
    # The slider: m x'' = -c x' - F_x; the rod's moments about its centre give F_y.
    fx = -slider.mass * x_ddot - slider.damping * x_dot
    arm = 2.0 * rod.inertia * turning_up / length + np.sin(lean) * (2.0 * fx - rod.mass * ax)
    fy = 0.5 * (arm / np.cos(lean) + rod.mass * (ay + g))
    np.testing.assert_allclose(found.loop_force[:, 0].T, (fx, fy), rtol=0, atol=1e-9)
    bx, by = rod.mass * ax - fx, rod.mass * (ay + g) - fy
    np.testing.assert_allclose(found.force[:, 1].T, (bx, by), rtol=0, atol=1e-9)
    guide = -slider.damping * x_dot, slider.mass * g + fy
    np.testing.assert_allclose(found.force[:, 2].T, guide, rtol=0, atol=1e-9)
    ox, oy = crank.mass * 0.5 * tip + ((0.0,), (crank.mass * g,)) + (bx, by)
    np.testing.assert_allclose(found.force[:, 0].T, (ox, oy), rtol=0, atol=1e-9)
    # The crank's moments about its bearing give its acceleration.
    moment = -0.5 * r * crank.mass * g * np.cos(theta)
    moment -= r * (np.cos(theta) * by - np.sin(theta) * bx)
    inertia = crank.inertia + crank.mass * (0.5 * r) ** 2
    np.testing.assert_allclose(inertia * turn_up, moment, rtol=0, atol=1e-10)
    assert np.ptp(theta) > 4.0 and not found.moment.any()


def test_drives_are_a_part():
    """A motor that holds a bar at rest: its torque, and the weight."""
    bar = {"mass": 2.0, "inertia": 0.1, "com": [0.5, 0.0], "tip": [1.0, 0.0]}
    bar |= {"torque": 10.0, "q": 0.0}
    time = {"step": 1e-3, "end": 2e-3}
    scenario = load({"name": "held", "gravity": [0.0, -10.0], "time": time, "body": [bar]})
    found = joint_forces(scenario, simulate(scenario))
    np.testing.assert_allclose(found.force[:, 0], [[0.0, 20.0]] * 3, atol=1e-12)
    np.testing.assert_allclose(found.moment[:, 0], [[10.0]] * 3)
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-12)


def test_drives_in_time():
    """Row by row as all at once: the torques are those of each row's own time."""
    scenario = load(SCENARIOS / "driven_arm.toml", steps=50)
    run = simulate(scenario)
    whole = joint_forces(scenario, run).columns()
    for row in (0, len(run) // 2, len(run) - 1):
        one = at_states(scenario, run.q[row], run.qd[row], run.t[row : row + 1])
        for name, column in joint_forces(scenario, one).columns().items():
            assert column[0] == whole[name][row]


# --- redundant and singular -----------------------------------------------------------------------


def test_redundant_constraints_exert_nothing():
    scenario = CLOSED["bennett"]
    (loop,) = scenario.loops
    run = simulate(dataclasses.replace(scenario, end=0.01))
    force = joint_forces(scenario, run).loop_force[:, 0]
    for axis in range(3):
        assert np.any(force[:, axis]) == (axis in loop.kept)
    assert len(loop.kept) < 5


def test_a_planar_mechanism_built_in_space_has_its_forces_in_the_plane():
    planar = space.slider_crank(qd=3.0)
    found = at_start(planar)
    other = at_start(with_kept_rows(space.in_space(planar)))
    assert len(with_kept_rows(space.in_space(planar)).loops[0].kept) < 5
    assert difference(other.acceleration, found.acceleration) < EXACT
    assert difference(other.force[..., :2], found.force) < EXACT
    assert difference(other.moment[..., 2:], found.moment) < EXACT
    assert difference(other.loop_force[..., :2], found.loop_force) < EXACT
    assert np.abs(other.force[..., 2]).max() < EXACT


def test_a_singular_posture_is_not_a_number():
    """Rows around it are what they are alone."""
    scenario = load(SCENARIOS / "four_bar.toml", steps=2)
    run = simulate(scenario)
    q = np.insert(run.q, 1, 0.0, axis=0)  # the bars in one line
    qd = np.insert(run.qd, 1, 0.0, axis=0)
    found = joint_forces(scenario, at_states(scenario, q, qd)).columns()
    alone = joint_forces(scenario, run).columns()
    for name in found.keys() - {"t"}:
        assert np.isnan(found[name][1])
        np.testing.assert_array_equal(found[name][[0, 2, 3]], alone[name])


def test_floating_bodies_exert_nothing():
    scenario = space.random_floating(np.random.default_rng(2), 4, (REVOLUTE, SPHERICAL))
    found = at_start(scenario)
    assert not found.force[0, 0].any() and not found.moment[0, 0].any()
    assert np.abs(found.force[0, 1:]).max() > 0.1


# --- as a user has them ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["slider_crank", "bennett", "tree"])
def test_the_table_keeps_every_bit(tmp_path, name):
    scenario = load(SCENARIOS / f"{name}.toml", steps=5)
    found = joint_forces(scenario, simulate(scenario))
    write_forces(tmp_path / "forces.csv", found)
    assert read_forces(tmp_path / "forces.csv") == found
    assert dataclasses.replace(found, force=found.force + 1.0) != found != "forces.csv"
    header = (tmp_path / "forces.csv").read_text().partition("\n")[0].split(",")
    assert header[:2] == ["t", "qdd0"] and header[scenario.nv + 1] == "joint0_force_x"
    own = found.force[:, 1, 1]
    np.testing.assert_array_equal(found.columns()["joint1_force_y"], own)
    if scenario.loops:
        own = found.loop_moment[:, 0, -1]
        np.testing.assert_array_equal(found.columns()["loop0_moment_z"], own)


def test_what_is_no_table(tmp_path):
    path = tmp_path / "forces.csv"
    for text in ("t,q0\n0.0,1.0\n", "t,qdd0,joint0_force_x\n", ""):
        path.write_text(text)
        with pytest.raises(TrajectoryError, match="line 1: not the header of joint forces"):
            read_forces(path)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "bennett"])
def test_no_rows(tmp_path, name):
    scenario = load(SCENARIOS / f"{name}.toml", steps=1)
    forces = joint_forces(scenario, simulate(scenario).first(0))
    write_forces(tmp_path / "forces.csv", forces)
    found = read_forces(tmp_path / "forces.csv")
    assert found.moved == forces.moved == ()
    for own, value in (vars(forces) | {"moved": np.zeros(0)}).items():
        assert np.shape(getattr(found, own)) == value.shape and len(value) == 0
    assert plot_forces(found, scenario).axes
    with pytest.raises(InputError, match="joint forces of no rows: none is the largest"):
        found.largest(scenario)


def test_what_are_no_forces(tmp_path):
    scenario = load(SCENARIOS / "four_bar.toml", steps=1)
    run = simulate(scenario)
    said = "must be a JointForces, as pymodel.joint_forces makes one, got Trajectory"
    with pytest.raises(InputError, match=said):
        write_forces(tmp_path / "forces.csv", run)
    with pytest.raises(InputError, match=said):
        plot_forces(run, scenario)
    with pytest.raises(InputError, match="must be a Scenario, as pymodel.load makes one"):
        plot_forces(joint_forces(scenario, run), None)
    assert not list(tmp_path.iterdir())


def test_of_another_mechanism(tmp_path):
    scenario = load(SCENARIOS / "slider_crank.toml", steps=2)
    run, other = simulate(scenario), load(SCENARIOS / "double_pendulum.toml")
    with pytest.raises(InputError, match="2 coordinates, the trajectory has 3"):
        joint_forces(other, run)
    with pytest.raises(InputError, match="not the mechanism of these forces"):
        plot_forces(joint_forces(scenario, run), other)


@pytest.mark.nightly
def test_a_run_with_forces(tmp_path, capsys, monkeypatch):
    """Of a run in float32: the files, the summary, the picture drawn again."""
    path = str(SCENARIOS / "slider_crank.toml")
    words = ["simulate", path, "--steps", "20", "--no-reference", "--out", str(tmp_path)]
    assert cli.main([*words, "--forces"]) == 0
    assert "largest force: joint 0 (crank)" in capsys.readouterr().out
    scenario = load(path, steps=20)
    expected = joint_forces(scenario, simulate(scenario, "float32", project=PROJECT))
    found = read_forces(tmp_path / files.FORCES)
    for name, column in found.columns().items():
        assert column.tobytes() == expected.columns()[name].tobytes()
    summary = json.loads((tmp_path / "summary.json").read_text())["joint_forces_max"]
    assert list(summary) == ["joint 0 (crank)", "joint 1 (rod)", "joint 2 (slider)", "loop 0"]
    sizes = np.linalg.norm(found.force[:, 1], axis=1)
    worst = {"max": sizes.max(), "unit": "N", "time_s": found.t[sizes.argmax()]}
    assert summary["joint 1 (rod)"]["force"] == worst
    picture = tmp_path / files.FORCE_PLOT
    picture.unlink()
    monkeypatch.setattr(plots, "plot_run", lambda *arguments, **options: [])
    assert files.replot(tmp_path) == [picture] and picture.stat().st_size > 10_000
    assert cli.main(words) == 0
    assert not picture.exists() and not (tmp_path / files.FORCES).exists(), "those of another run"


def test_where_nothing_is_held(tmp_path, capsys):
    body = {"mass": 1.0, "inertia": 0.1, "com": [0.0, 0.0], "tip": [1.0, 0.0], "joint": "free"}
    time = {"step": 1e-3, "end": 2e-3}
    scenario = load({"name": "thrown", "gravity": [0.0, -10.0], "time": time, "body": [body]})
    write_scenario(tmp_path / "thrown.toml", scenario)
    words = ["simulate", str(tmp_path / "thrown.toml"), "--forces", "--out", str(tmp_path / "out")]
    assert cli.main(words) == BAD_INPUT
    error = "--forces: only for a mechanism with joints that hold something\n"
    assert capsys.readouterr().err == error
    assert not (tmp_path / "out").exists()


def test_a_picture_of_many_joints():
    scenario = random_tree(np.random.default_rng(1), 12)
    figure = plot_forces(at_start(scenario), scenario)
    assert [axes.get_ylabel() for axes in figure.axes] == ["|force| [N]", "|moment| [N m]"]
    assert len(figure.axes[0].lines) == 12


@pytest.mark.parametrize("count", [3, 8, 14, 45])
def test_one_legend_names_every_joint_and_pushes_no_panel_apart(count):
    scenario = random_tree(np.random.default_rng(1), count)
    named = [
        dataclasses.replace(body, name=f"a rather long name {k}")
        for k, body in enumerate(scenario.bodies)
    ]
    scenario = dataclasses.replace(scenario, bodies=tuple(named))
    figure = plot_forces(at_start(scenario), scenario)
    figure.draw_without_rendering()
    (legend,) = [*figure.legends, *(axes.legend_ for axes in figure.axes if axes.legend_)]
    assert len(legend.get_texts()) == count
    whole, box = figure.bbox, legend.get_window_extent()
    assert box.y0 >= 0 and box.y1 <= whole.height and box.x1 <= whole.width
    upper, lower = (axes.get_tightbbox() for axes in figure.axes)
    assert 0 <= upper.y0 - lower.y1 < 0.05 * whole.height
    assert upper.width > 0.4 * whole.width
    inside = figure.axes[0].bbox
    if count <= FEW:  # in the upper panel, above its curves
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0
    else:
        assert max(upper.x1, lower.x1) <= box.x0
