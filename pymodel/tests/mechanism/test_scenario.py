"""Scenario files: what the good ones mean, and the exact line that each kind of mistake earns."""

import dataclasses
import math
import tomllib

import numpy as np
import pytest

from pymodel.mechanism.kinematics import loop_position, loop_velocity
from pymodel.mechanism.scenario import Body, Loop, Scenario, ScenarioError, Spring, Table
from pymodel.mechanism.scenario_file import MAX_STEPS, load, parse, read
from pymodel.mechanism.scenario_writer import varied, write_scenario
from pymodel.tests.places import SCENARIOS

HEAD = """\
name = "test"
gravity = [0.0, -9.8]
"""
TIME = """\
[time]
step = 0.001
end = 1.0
"""
BODY = """\
[[body]]
mass = 1.0
inertia = 0.01
com = [0.2, 0.0]
tip = [0.4, 0.0]
"""
# A rhombus of side 0.4 with right angles, its last pin on the ground.
BARS = BODY + "q = 1.570796327\n" + 2 * (BODY + "q = -1.570796327\n")
LOOP = """\
[[loop]]
body = 2
point = [0.4, 0.0]
to = -1
at = [0.4, 0.0]
"""
SPRING = """\
[[spring]]
body = 1
point = [0.4, 0.0]
to = -1
at = [0.4, 1.0]
stiffness = 10.0
"""
PLAIN = HEAD + TIME + BODY + BODY
GUESSED = HEAD + TIME + BODY + 'q = 1.5\nqd = 2\nname = "crank"\n'
GUESSED += BODY + 'q = -1.4\nguess = true\nname = "rod"\n'
GUESSED += BODY + 'q = -1.7\nguess = true\nparent = "rod"\n'
GUESSED += LOOP.replace("-1", '"ground"')
SPRUNG = PLAIN + SPRING
CLOSED = HEAD + TIME + BARS + LOOP


def written(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_defaults(tmp_path):
    path = written(tmp_path, PLAIN)
    first = Body(mass=1.0, inertia=0.01, com=(0.2, 0.0), tip=(0.4, 0.0))
    second = dataclasses.replace(first, parent=0, attach=(0.4, 0.0))
    assert load(path) == Scenario(
        name="test",
        gravity=(0.0, -9.8),
        step=0.001,
        end=1.0,
        bodies=(first, second),
        loops=(),
        integrator="euler",
        save=1,
        source=str(path),
    )
    for value in (first.parent, first.attach, first.q, first.qd, first.torque):
        assert value in (-1, (0.0, 0.0), 0.0)
    assert (first.spring, first.rest, first.damping) == (0.0, 0.0, 0.0)


def test_every_key(tmp_path):
    text = CLOSED.replace("end = 1.0", 'end = 1\nintegrator = "rk4"\nsave = 10').replace(
        "q = 1.570796327",
        "parent = -1\nattach = [0, 0]\nq = 1.570796327\nqd = 0\ntorque = 1.5\n"
        "spring = 2\nrest = 0.25\ndamping = 0.5",
    )
    scenario = load(written(tmp_path, text))
    assert (scenario.end, scenario.integrator, scenario.save) == (1.0, "rk4", 10)
    assert isinstance(scenario.end, float) and isinstance(scenario.bodies[0].spring, float)
    body = scenario.bodies[0]
    assert (body.torque, body.spring, body.rest, body.damping) == (1.5, 2.0, 0.25, 0.5)
    assert scenario.loops == (Loop(2, (0.4, 0.0), -1, (0.4, 0.0)),)
    assert scenario.steps == 1000
    assert scenario.times.tolist() == [10 * k * 0.001 for k in range(101)]
    assert scenario.q0.tolist() == [1.570796327, -1.570796327, -1.570796327]
    assert scenario.qd0.tolist() == [0.0, 0.0, 0.0]


def test_tree_attaches_to_the_parents_tip_by_default(tmp_path):
    branch = BODY.replace("0.4", "0.3") + "parent = 0\n"
    scenario = load(written(tmp_path, PLAIN + branch + branch + "attach = [0.1, 0.2]\n"))
    assert [body.parent for body in scenario.bodies] == [-1, 0, 0, 0]
    assert scenario.bodies[2].attach == (0.4, 0.0)
    assert scenario.bodies[3].attach == (0.1, 0.2)
    assert not scenario.is_chain
    assert load(written(tmp_path, PLAIN)).is_chain


def test_springs_between_points(tmp_path):
    path = written(tmp_path, SPRUNG + "length = 0.5\ndamping = 2\n" + SPRING)
    first = Spring(1, (0.4, 0.0), -1, (0.4, 1.0), 10.0, 0.5, 2.0)
    scenario = load(path)
    assert scenario.springs == (first, dataclasses.replace(first, length=0.0, damping=0.0))
    found = varied(scenario, stiffness=[1.0, 2.0], length=0.25)
    assert [(spring.stiffness, spring.length) for spring in found.springs] == [(1, 0.25), (2, 0.25)]
    write_scenario(path, found)
    assert dataclasses.replace(load(path), source=found.source) == found


def test_torques_in_time(tmp_path):
    text = PLAIN + 'torque = " 2*sin(t) "\n' + BODY + 'torque = "pi/2"\n'
    text += BODY + "torque = { times = [0, 1, 2.5], values = [0, 1.0, -1] }\n"
    path = written(tmp_path, text)
    scenario = load(path)
    table = Table((0.0, 1.0, 2.5), (0.0, 1.0, -1.0))
    assert [body.torque for body in scenario.bodies] == [0.0, "2*sin(t)", math.pi / 2, table]
    assert scenario.is_driven and not load(SCENARIOS / "four_bar.toml").is_driven
    write_scenario(path, scenario)
    assert load(path) == scenario
    assert varied(scenario, mass=2.0).bodies[3].torque == table
    given = {"times": np.array([1, 2]), "values": [3.0, 4.0]}
    found = varied(scenario, torque=["t", given, 1.5, 0])
    assert [body.torque for body in found.bodies] == ["t", Table((1, 2), (3, 4)), 1.5, 0.0]
    assert {body.torque for body in varied(scenario, torque="t**2").bodies} == {"t**2"}


def test_names_stand_for_numbers(tmp_path):
    path = written(tmp_path, GUESSED + SPRING.replace("body = 1", 'body = "rod"'))
    scenario = load(path)
    assert [body.name for body in scenario.bodies] == ["crank", "rod", ""]
    assert [body.parent for body in scenario.bodies] == [-1, 0, 1]
    assert scenario.loops[0].to == -1 and scenario.springs[0].body == 1
    assert scenario.joint_names == ["joint 0 (crank)", "joint 1 (rod)", "joint 2"]


def test_guesses_close_the_loops(tmp_path):
    """The rhombus: the crank keeps its angle and velocity, the others are as in a parallelogram."""
    path = written(tmp_path, GUESSED)
    scenario = load(path)
    assert scenario.bodies[0].q == 1.5 and scenario.bodies[0].qd == 2.0
    np.testing.assert_allclose(scenario.q0, [1.5, -1.5, 1.5 - math.pi], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scenario.qd0, [2.0, -2.0, 2.0], rtol=0, atol=1e-12)
    turned = varied(scenario, q=[1.2, *scenario.q0[1:]])
    np.testing.assert_allclose(turned.q0, [1.2, -1.2, 1.2 - math.pi], rtol=0, atol=1e-12)
    write_scenario(path, turned)
    assert dataclasses.replace(load(path), source=turned.source) == turned


@pytest.mark.parametrize("name", ["four_bar", "general_four_bar", "five_bar", "coupled_loops"])
def test_guesses_near_a_closed_posture_lead_back_to_it(name):
    scenario = load(SCENARIOS / f"{name}.toml")
    fixed = len(scenario.bodies) - 2 * len(scenario.loops)
    data = dictionary(name)
    for k, body in enumerate(data["body"][fixed:]):
        body |= {"q": body["q"] + 0.03 * (-1) ** k, "qd": 0.0, "guess": True}
    solved = load(data)
    np.testing.assert_allclose(solved.q0, scenario.q0, rtol=0, atol=1e-7)
    np.testing.assert_allclose(solved.qd0, scenario.qd0, rtol=0, atol=1e-6)
    assert loop_position(solved, solved.q0) < 1e-12
    assert loop_velocity(solved, solved.q0, solved.qd0) < 1e-12


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "andrews"])
def test_guessed_velocities_of_what_nothing_drives_are_zero(name):
    rng = np.random.default_rng(1)
    data = dictionary(name)
    data["body"][0]["qd"] = 0.0
    for body in data["body"][1:]:
        qd = rng.normal(size=np.shape(body.get("qd", 0.0)))
        body |= {"qd": qd.tolist(), "guess": True}
    assert not load(data).qd0.any()


def test_guessed_velocities_next_to_a_slow_drive_fit_it():
    data = dictionary("four_bar")
    data["body"][0]["qd"] = 1e-13
    for body in data["body"][1:]:
        body |= {"qd": 1.0, "guess": True}
    np.testing.assert_allclose(load(data).qd0, [1e-13, -1e-13, 1e-13], rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_hinge_loop_that_only_slides_closes(seed):
    """Its carriage moves with the ground's hinge; the arm on it does not turn."""
    qd = float(np.random.default_rng(seed).normal())
    body = {"mass": 1.0, "inertia": [0.01, 0.012, 0.013], "com": [0.2, 0, 0], "tip": [0.4, 0, 0]}
    carriage = body | {"name": "carriage", "joint": "prismatic", "axis": [1.0, 0, 0], "qd": 0.2}
    arm = body | {"axis": [0, 0, 1.0], "qd": qd, "guess": True}
    axis = [0.3, 0, 1.0]
    loop = {"body": 1, "point": [0.4, 0, 0.1], "to": "carriage", "at": [0.8, 0, 0.1]}
    loop |= {"axis": axis, "to_axis": axis}
    data = {"name": "slides", "gravity": [0, 0, -9.8], "body": [carriage, arm], "loop": [loop]}
    solved = load(data | {"time": {"step": 1e-3, "end": 0.1, "integrator": "rk4"}})
    assert solved.qd0[0] == 0.2 and abs(solved.qd0[1]) < 1e-15


def test_an_inertia_with_a_negative_moment_is_refused():
    """Not one that is singular but for rounding, as of a thin bar in any direction."""
    data = dictionary("bennett")
    data["body"] = data["body"][:1]  # an open chain loads in no time
    del data["loop"]
    for value in np.random.default_rng(1).uniform(0.1, 1.0, 50).tolist():
        data["body"][0]["inertia"] = [value] * 6
        assert load(data).bodies[0].inertia == (value,) * 6
        data["body"][0]["inertia"] = [value * (1.0 - 1e-12), *[value] * 5]
        with pytest.raises(
            ScenarioError, match=r"body\[0\].inertia: must be positive semidefinite"
        ):
            load(data)
    data["body"][0]["inertia"] = [1e-9, 0.0, 0.0, 1.0, 0.0, 1.0]
    assert load(data).bodies[0].inertia[0] == 1e-9


def test_scenario_is_frozen():
    scenario = load(SCENARIOS / "four_bar.toml")
    with pytest.raises(dataclasses.FrozenInstanceError):
        scenario.step = 1.0


def test_the_contracts_example_with_six_decimals_closes(tmp_path):
    text = CLOSED.replace("1.570796327", "0.785398", 1)
    text = text.replace("-1.570796327", "-0.785398", 1).replace("-1.570796327", "-2.356194")
    assert len(load(written(tmp_path, text)).loops) == 1


def test_demo_files():
    names = sorted(path.stem for path in SCENARIOS.glob("*.toml"))
    assert {"chain_8", "compound_pendulum", "double_pendulum", "four_bar"} <= set(names)
    for name in names:
        said = load(SCENARIOS / f"{name}.toml").name
        assert said == name, f"scenarios/{name}.toml: its `name` is {said!r}, must be the file's"
    pendulum = load(SCENARIOS / "double_pendulum.toml")
    assert pendulum.steps == 10_000 and len(pendulum.bodies) == 2 and pendulum.is_chain
    linkage = load(SCENARIOS / "four_bar.toml")
    assert linkage.gravity == (0.0, 9.80665)
    expected = [math.pi / 4, -math.pi / 4, math.pi / 4 - math.pi]
    np.testing.assert_allclose(linkage.q0, expected, rtol=1e-15)
    for body in pendulum.bodies + linkage.bodies:
        assert (body.mass, body.com, body.tip) == (1.0, (0.2, 0.0), (0.4, 0.0))
        assert body.inertia == pytest.approx(0.4**2 / 12, rel=1e-15)
    chain = load(SCENARIOS / "chain_8.toml")
    assert len(chain.bodies) == 8 and all(chain.qd0) and len({b.mass for b in chain.bodies}) == 8


def edit(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


def second(new):
    """The plain file with more keys in its second body."""
    return PLAIN + new + "\n"


NO_BODY = "body[1].parent: must be the name or the number of a body, got "
BODY_KEYS = "known: mass, inertia, com, tip, parent, attach, joint, axis, rotation, q, qd, guess, "
BODY_KEYS += "torque, spring, rest, damping, friction, friction_scale, motion, mimic, name"
TOP_KEYS = "known: name, gravity, lend, time, body, loop, spring"
MISTAKES = {
    # unknown keys
    "unknown_top": ("colour = 1\n" + PLAIN, f"colour: unknown key ({TOP_KEYS})"),
    "unknown_top_close": (
        edit(PLAIN, "gravity", "gravty"),
        f'gravty: unknown key, did you mean "gravity"? ({TOP_KEYS})',
    ),
    "unknown_top_far": ("motion = 1\n" + PLAIN, f"motion: unknown key ({TOP_KEYS})"),
    "friction_without_scale": (
        second("friction = 0.1"),
        "body[1].friction_scale: required key is missing: the velocity (rad/s, m/s) about which "
        "friction reverses",
    ),
    "scale_without_friction": (
        second("friction_scale = 0.1"),
        "body[1].friction_scale: there is no friction in this joint",
    ),
    "friction_that_drives": (
        second("friction = -0.1\nfriction_scale = 0.1"),
        "body[1].friction: must not be negative, got -0.1",
    ),
    "unknown_body_far_too": (
        second('actuator = "t"'),
        f"body[1].actuator: unknown key ({BODY_KEYS})",
    ),
    "unknown_time": (
        edit(PLAIN, "step", "setp"),
        'time.setp: unknown key, did you mean "step"? (known: step, end, integrator, '
        "tolerance, save)",
    ),
    "unknown_body": (
        edit(PLAIN, "mass", "mas"),
        f'body[0].mas: unknown key, did you mean "mass"? ({BODY_KEYS})',
    ),
    "unknown_loop": (
        edit(CLOSED, "point", "points"),
        'loop[0].points: unknown key, did you mean "point"? (known: body, point, to, at, '
        "joint, axis, to_axis)",
    ),
    "unknown_odd": ('"two\\nlines" = 1\n' + PLAIN, f'"two\\nlines": unknown key ({TOP_KEYS})'),
    # missing keys
    "no_name": (edit(PLAIN, 'name = "test"\n', ""), "name: required key is missing"),
    "no_time": (HEAD + BODY, "time: required key is missing"),
    "no_step": (edit(PLAIN, "step = 0.001\n", ""), "time.step: required key is missing"),
    "no_mass": (edit(PLAIN, "mass = 1.0\n", ""), "body[0].mass: required key is missing"),
    "no_to": (edit(CLOSED, "to = -1\n", ""), "loop[0].to: required key is missing"),
    # wrong types
    "name_number": (edit(PLAIN, '"test"', "5"), "name: must be a string, got an integer"),
    "mass_bool": (
        edit(PLAIN, "mass = 1.0", "mass = true"),
        "body[0].mass: must be a number, got a boolean",
    ),
    "mass_string": (
        edit(PLAIN, "mass = 1.0", 'mass = "1.0"'),
        "body[0].mass: must be a number, got a string",
    ),
    "q_array": (second("q = [1.0]"), "body[1].q: must be a number, got an array"),
    "q_date": (second("q = 2020-01-01"), "body[1].q: must be a number, got a date or time"),
    "torque_array": (
        second("torque = [1.0]"),
        "body[1].torque: must be a number, a formula or a table in time, got an array",
    ),
    "torque_name": (
        second('torque = "2*x"'),
        "body[1].torque: unknown name x in a formula (known: t, pi, sin, cos)",
    ),
    "torque_odd": (
        second('torque = "2*\\u03c0"'),
        "body[1].torque: a formula is a line of ASCII characters",
    ),
    "torque_infinite": (
        second('torque = "1/t"'),
        "body[1].torque: the formula is not finite at t = 0",
    ),
    "table_key": (
        second("torque = { times = [0, 1], vales = [0, 1] }"),
        'body[1].torque.vales: unknown key, did you mean "values"? (known: times, values)',
    ),
    "table_without": (
        second("torque = { times = [0, 1] }"),
        "body[1].torque.values: required key is missing",
    ),
    "table_number": (
        second("torque = { times = [0, 1], values = 2 }"),
        "body[1].torque.values: must be an array of numbers, got an integer",
    ),
    "table_short": (
        second("torque = { times = [0], values = [0] }"),
        "body[1].torque.times: must be 2 to 1000 times, got 1",
    ),
    "table_order": (
        second("torque = { times = [0, 1, 1], values = [0, 1, 2] }"),
        "body[1].torque.times: must ascend from 0 or later",
    ),
    "table_negative": (
        second("torque = { times = [-1, 1], values = [0, 1] }"),
        "body[1].torque.times: must ascend from 0 or later",
    ),
    "table_lengths": (
        second("torque = { times = [0, 1], values = [0, 1, 2] }"),
        "body[1].torque.values: must be one for each time, 2, got 3",
    ),
    "table_steep": (
        second("torque = { times = [0, 1e-9], values = [0, 1e300] }"),
        "body[1].torque.times: are too close together",
    ),
    "table_infinite": (
        second("torque = { times = [0, inf], values = [0, 1] }"),
        "body[1].torque.times: must be finite, got inf",
    ),
    "save_float": (
        edit(PLAIN, "end = 1.0", "end = 1.0\nsave = 2.0"),
        "time.save: must be an integer, got a float",
    ),
    "parent_bool": (second("parent = true"), NO_BODY + "a boolean"),
    "time_number": (HEAD + "time = 1\n" + BODY, "time: must be a table [time], got an integer"),
    "body_table": (
        HEAD + TIME + edit(BODY, "[[body]]", "[body]"),
        "body: must be an array of tables [[body]], got a table",
    ),
    "integrator_number": (
        edit(PLAIN, "end = 1.0", "end = 1.0\nintegrator = 4"),
        "time.integrator: must be a string, got an integer",
    ),
    # vectors
    "vector_number": (
        edit(PLAIN, "[0.0, -9.8]", "-9.8"),
        "gravity: must be a vector of 2 or 3 numbers, got a float",
    ),
    "vector_short": (
        edit(PLAIN, "com = [0.2, 0.0]", "com = [0.2]"),
        "body[0].com: must be a vector of 2 numbers, got 1",
    ),
    "vector_long": (
        edit(CLOSED, "at = [0.4, 0.0]", "at = [0.4, 0.0, 0.0]"),
        "loop[0].at: must be a vector of 2 numbers, got 3",
    ),
    "vector_of_bool": (
        edit(PLAIN, "tip = [0.4, 0.0]", "tip = [0.4, false]"),
        "body[0].tip: must be a vector of 2 numbers, got a boolean",
    ),
    # not finite
    "nan": (second("qd = nan"), "body[1].qd: must be finite, got nan"),
    "inf": (edit(PLAIN, "mass = 1.0", "mass = inf"), "body[0].mass: must be finite, got inf"),
    "vector_inf": (edit(PLAIN, "-9.8", "-inf"), "gravity: must be finite, got -inf"),
    "huge": (second("q = 1" + 400 * "0"), "body[1].q: must be finite, got inf"),
    "huge_negative": (second("q = -1" + 400 * "0"), "body[1].q: must be finite, got -inf"),
    # ranges
    "name_empty": (
        edit(PLAIN, '"test"', '" "'),
        "name: must be a line of printable text, got ' '",
    ),
    "mass_zero": (
        edit(PLAIN, "mass = 1.0", "mass = 0"),
        "body[0].mass: must be positive, got 0.0",
    ),
    "mass_negative": (
        HEAD + TIME + BODY + edit(BODY, "mass = 1.0", "mass = -1.0"),
        "body[1].mass: must be positive, got -1.0",
    ),
    "inertia_of_space": (
        edit(PLAIN, "inertia = 0.01", "inertia = [0.01, 0.01, 0.01]"),
        "body[0].inertia: must be a number: a gravity of two numbers is planar",
    ),
    "inertia_negative": (
        edit(PLAIN, "inertia = 0.01", "inertia = -0.01"),
        "body[0].inertia: must not be negative, got -0.01",
    ),
    "step_zero": (edit(PLAIN, "0.001", "0.0"), "time.step: must be positive, got 0.0"),
    "end_negative": (
        edit(PLAIN, "end = 1.0", "end = -1.0"),
        "time.end: must be positive, got -1.0",
    ),
    "end_short": (
        edit(PLAIN, "end = 1.0", "end = 0.0005"),
        "time.end: must be at least one step (0.001 s), got 0.0005",
    ),
    "step_tiny": (
        edit(PLAIN, "0.001", "1e-320"),
        "time.step: too small for an end of 1.0 s, got 1e-320",
    ),
    "steps_beyond_the_engine": (
        edit(PLAIN, "0.001", "1e-10"),
        "time.step: too small for an end of 1.0 s, got 1e-10",
    ),
    "save_zero": (
        edit(PLAIN, "end = 1.0", "end = 1.0\nsave = 0"),
        "time.save: must lie in 1..4294967294, got 0",
    ),
    "save_beyond_the_engine": (
        edit(PLAIN, "end = 1.0", "end = 1.0\nsave = 5000000000"),
        "time.save: must lie in 1..4294967294, got 5000000000",
    ),
    "integrator": (
        edit(PLAIN, "end = 1.0", 'end = 1.0\nintegrator = "verlet"'),
        "time.integrator: must be one of euler, semi-implicit, rk4, implicit-midpoint, RK45, RK23, "
        'DOP853, LSODA, Radau, BDF, got "verlet"',
    ),
    "tolerance_of_a_fixed_step": (
        edit(PLAIN, "end = 1.0", 'end = 1.0\nintegrator = "rk4"\ntolerance = 1e-6'),
        "time.tolerance: only for an adaptive integrator (RK45, RK23, DOP853, LSODA, Radau, BDF)",
    ),
    "tolerance_too_small": (
        edit(PLAIN, "end = 1.0", 'end = 1.0\nintegrator = "RK45"\ntolerance = 1e-15'),
        "time.tolerance: must lie in 1e-13..0.1, got 1e-15",
    ),
    "tolerance_kind": (
        edit(PLAIN, "end = 1.0", 'end = 1.0\nintegrator = "RK45"\ntolerance = "tight"'),
        "time.tolerance: must be a number, got a string",
    ),
    # parents
    "parent_self": (second("parent = 1"), "body[1].parent: cycle of parents: 1 -> 1"),
    "parent_cycle": (
        HEAD + TIME + BODY + BODY + "parent = 2\n" + BODY,
        "body[1].parent: cycle of parents: 1 -> 2 -> 1",
    ),
    "parent_later": (
        HEAD + TIME + BODY + BODY + "parent = 2\n" + BODY + "parent = 0\n",
        "body[1].parent: must be an earlier body or -1 for ground, got 2",
    ),
    "parent_unknown": (
        second("parent = 7"),
        "body[1].parent: no body 7: bodies are 0 to 1, ground is -1",
    ),
    "parent_below_ground": (
        second("parent = -2"),
        "body[1].parent: no body -2: bodies are 0 to 1, ground is -1",
    ),
    # names
    "parent_called": (
        second('name = "rod"\nparent = "rid"'),
        'body[1].parent: no body is called "rid" (names: "ground", "rod")',
    ),
    "parent_own_name": (
        second('name = "rod"\nparent = "rod"'),
        "body[1].parent: cycle of parents: 1 -> 1",
    ),
    "name_twice": (
        HEAD + TIME + 2 * (BODY + 'name = "rod"\n'),
        'body[1].name: "rod" is the name of body 0',
    ),
    "name_of_the_ground": (
        second('name = "ground"'),
        'body[1].name: "ground" is the name of the ground',
    ),
    "name_blank": (second('name = " "'), "body[1].name: must be a line of printable text, got ' '"),
    "loop_called": (
        edit(CLOSED, "to = -1", 'to = "rod"'),
        'loop[0].to: no body is called "rod" (names: "ground")',
    ),
    "loop_float": (
        edit(CLOSED, "body = 2", "body = 2.0"),
        "loop[0].body: must be the name or the number of a body, got a float",
    ),
    "no_bodies": (HEAD + TIME, "body: no bodies: at least one [[body]] is required"),
    # loops
    "loop_itself": (
        edit(CLOSED, "to = -1", "to = 2"),
        "loop[0].to: a loop cannot join body 2 to itself",
    ),
    "loop_body": (
        edit(CLOSED, "body = 2", "body = 3"),
        "loop[0].body: no body 3: bodies are 0 to 2",
    ),
    "loop_ground": (
        edit(CLOSED, "body = 2", "body = -1"),
        "loop[0].body: no body -1: bodies are 0 to 2",
    ),
    "loop_to": (
        edit(CLOSED, "to = -1", "to = 5"),
        "loop[0].to: no body 5: bodies are 0 to 2, ground is -1",
    ),
    "loop_open": (
        edit(CLOSED, "at = [0.4, 0.0]", "at = [0.4, 0.01]"),
        "loop[0]: does not close at the initial posture: its ends are 0.01 m apart",
    ),
    "loop_slips": (
        edit(CLOSED, "q = 1.570796327", "q = 1.570796327\nqd = 1.0"),
        "loop[0]: initial velocities do not fit: its ends part at 0.4 m/s",
    ),
    "loop_flat": (
        HEAD + TIME + BODY + BODY + BODY + "q = 3.14159265358979\n" + LOOP,
        "loop: constraints depend on each other at the initial posture (a singular one)",
    ),
    # guesses
    "guess_number": (second("guess = 1"), "body[1].guess: must be true or false, got an integer"),
    "guess_without_loops": (
        second("guess = true"),
        "body[1].guess: there is no loop to solve it from",
    ),
    "rest_without_spring": (
        second("rest = 0.3"),
        "body[1].rest: there is no spring in this joint",
    ),
    "rest_of_no_stiffness": (
        second("spring = 0.0\nrest = 0.2"),
        "body[1].rest: there is no spring in this joint",
    ),
    "damping_that_drives": (
        second("damping = -0.5"),
        "body[1].damping: must not be negative, got -0.5",
    ),
    "spring_that_does_nothing": (
        edit(SPRUNG, "stiffness = 10.0", "length = 1.0"),
        "spring[0].stiffness: required key is missing, unless there is damping",
    ),
    "guess_too_far": (
        edit(GUESSED, "at = [0.4, 0.0]", "at = [1.5, 0.0]"),
        "loop: the guesses of q close no posture: pins stay 0.725 m apart",
    ),
    "guess_velocities": (
        edit(CLOSED, "q = 1.570796327", "guess = true\nq = 1.570796327")
        .replace("1.570796327", repr(math.pi / 2))
        .replace("[[loop]]", "qd = 1.0\n[[loop]]"),
        "loop: no velocities of the guessed joints fit the others: ends part at 0.4 m/s",
    ),
    # springs
    "unknown_spring": (
        edit(SPRUNG, "stiffness", "stifness"),
        'spring[0].stifness: unknown key, did you mean "stiffness"? (known: body, point, to, at, '
        "stiffness, length, damping)",
    ),
    "spring_itself": (
        edit(SPRUNG, "to = -1", "to = 1"),
        "spring[0].to: a spring cannot join body 1 to itself",
    ),
    "spring_body": (
        edit(SPRUNG, "body = 1", "body = 2"),
        "spring[0].body: no body 2: bodies are 0 to 1",
    ),
    "spring_length": (
        SPRUNG + "length = -0.1\n",
        "spring[0].length: must not be negative, got -0.1",
    ),
    "damper_that_drives": (
        edit(SPRUNG, "stiffness = 10.0", "damping = -3.0"),
        "spring[0].damping: must not be negative, got -3.0",
    ),
    "length_without_stiffness": (
        edit(SPRUNG, "stiffness = 10.0", "damping = 3.0\nlength = 300.0"),
        "spring[0].length: there is no stiffness in this spring",
    ),
    "length_of_no_stiffness": (
        edit(SPRUNG, "stiffness = 10.0", "damping = 3.0\nlength = 0.3\nstiffness = 0"),
        "spring[0].length: there is no stiffness in this spring",
    ),
    # not a scenario at all
    "not_toml": (
        "name = \n",
        "not TOML: Invalid value (at line 1, column 8)",
    ),
    "not_text": (b'name = "\xff"\n', "not TOML: byte 8 is not UTF-8 text"),
    "empty": ("", "name: required key is missing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_one_line_with_file_key_and_reason(tmp_path, mistake):
    text, line = MISTAKES[mistake]
    path = written(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert str(caught.value) == f"{path}: {line}"


@pytest.mark.parametrize("steps", [0, -1, MAX_STEPS + 1, 10**300])
def test_numbers_of_steps_that_nothing_runs(tmp_path, steps):
    path = written(tmp_path, PLAIN)
    with pytest.raises(ScenarioError) as caught:
        load(path, steps)
    assert str(caught.value) == f"{path}: steps: must lie in 1..4294967294, got {steps}"


def test_no_such_file(tmp_path):
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "none.toml")
    assert str(caught.value) == f"{tmp_path / 'none.toml'}: cannot read: No such file or directory"
    with pytest.raises(ScenarioError, match="cannot read: Is a directory$"):
        load(tmp_path)
    with pytest.raises(ScenarioError, match="the path of a file, got a text of many lines$"):
        load('name = "x"\ngravity = [0, 0]\n')


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("body", "parent"),
        ("body", "joint"),
        ("body", "name"),
        ("time", "integrator"),
        ("body", "k" * 5000),
        ("body", "k k" * 5000),
    ],
)
def test_messages_show_the_beginning_of_a_long_text(table, key):
    body = {"mass": 1.0, "inertia": 1.0, "com": [0.0, 0.0], "tip": [1.0, 0.0]}
    data = {"name": "x", "gravity": [0, 0], "time": {"step": 1.0, "end": 1.0}, "body": [body]}
    place = body if table == "body" else data[table]
    place[key] = "x" * 5000 + "\n"
    with pytest.raises(ScenarioError) as caught:
        parse(data)
    said = str(caught.value)
    assert len(said) < 500 and "..." in said and len(said.splitlines()) == 1


def test_parse_names_its_source():
    with pytest.raises(ScenarioError) as caught:
        parse({"name": "a", "gravity": [0, 0]}, "here")
    assert str(caught.value) == "here: time: required key is missing"


def test_a_moving_loop_with_fitting_velocities_is_accepted(tmp_path):
    # The rhombus stays a parallelogram: opposite bars turn together, the coupler does not turn.
    text = HEAD + TIME
    for q, qd in (("1.570796327", 2), ("-1.570796327", -2), ("-1.570796327", 2)):
        text += BODY + f"q = {q}\nqd = {qd}\n"
    assert load(written(tmp_path, text + LOOP)).qd0.tolist() == [2.0, -2.0, 2.0]


def test_an_end_that_is_no_multiple_of_the_step_is_refused():
    text = (SCENARIOS / "double_pendulum.toml").read_text()
    for step, end, near in ((0.03, 0.05, "0.03 or 0.06"), (0.3, 1.0, "0.9 or 1.2")):
        data = tomllib.loads(text)
        data["time"] = {"step": step, "end": end}
        with pytest.raises(ScenarioError) as caught:
            parse(data, "a.toml")
        reason = f"must be a multiple of the step ({step} s): {near}, got {end}"
        assert str(caught.value) == f"a.toml: time.end: {reason}"
    for step, end, steps in ((1e-4, 1.0, 10_000), (0.1, 0.3, 3), (1e-3, 8.191, 8191)):
        data["time"] = {"step": step, "end": end}
        assert parse(data).steps == steps


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("change", [("at", [1e308, -1.5e308]), ("point", [1.7e308, 1.7e308])])
def test_pins_beyond_float64_are_refused(change):
    data = tomllib.loads((SCENARIOS / "four_bar.toml").read_text())
    key, value = change
    data["loop"][0][key] = value
    with pytest.raises(ScenarioError, match=r"loop\[0\]: (?!.*inf)"):
        parse(data)


# --- scenarios in Python --------------------------------------------------------------------------

FILES = sorted(SCENARIOS.glob("*.toml"))


def dictionary(name="double_pendulum"):
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_dictionary_is_as_good_as_its_file(path):
    data = tomllib.loads(path.read_text())
    assert dataclasses.replace(load(data, steps=7), source=str(path)) == load(path, steps=7)


def test_a_dictionary_may_hold_what_numpy_gives():
    data, plain = dictionary(), load(dictionary())
    data["gravity"] = np.array(data["gravity"])
    data["time"] |= {"save": np.int64(1), "step": np.float64(1e-4)}
    data["body"][0] |= {"com": np.array([0.2, 0.0]), "parent": np.int32(-1)}
    found = load(data, steps=np.int64(plain.steps))
    assert found == plain and all(type(x) is float for x in found.gravity)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": []}, "body: no bodies: at least one [[body]] is required"),
        ({"body": {}}, "body: must be an array of tables [[body]], got a table"),
        ({"bodies": []}, 'bodies: unknown key, did you mean "body"?'),
        ({1: 2}, "1: unknown key (known:"),
        ({"name": None}, "name: must be a string, got NoneType"),
        ({"gravity": np.zeros(4)}, "gravity: must be a vector of 2 or 3 numbers, got 4"),
        ({"gravity": {1.0, 2.0}}, "gravity: must be a vector of 2 or 3 numbers, got set"),
        ({"time": {"step": 0.1}}, "time.end: required key is missing"),
    ],
)
def test_mistakes_in_a_dictionary(change, said):
    with pytest.raises(ScenarioError) as caught:
        load(dictionary() | change)
    assert str(caught.value).startswith(f"<scenario>: {said}")


@pytest.mark.parametrize("source", [12, None, [1, 2]])
def test_neither_file_nor_dictionary(source):
    with pytest.raises(ScenarioError, match="^<scenario>: must be a table, got "):
        load(source)


@pytest.mark.parametrize(("steps", "said"), [(1.5, "1.5"), ("9", "'9'"), (True, "True")])
def test_steps_are_whole(steps, said):
    with pytest.raises(ScenarioError, match=f"steps: must be an integer, got {said}"):
        load(dictionary(), steps)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_written_is_what_is_read(path, tmp_path):
    scenario = load(path)
    assert varied(scenario) == scenario
    scenario = varied(scenario, name='a "name" \\ é', save=2, step=scenario.step / 3)
    written = tmp_path / "scenario.toml"
    write_scenario(written, scenario)
    assert dataclasses.replace(load(written), source=scenario.source) == scenario


def test_varied_numbers():
    scenario = load(SCENARIOS / "double_pendulum.toml")
    found = varied(
        scenario, q=np.array([0.5, 1.0]), mass=2, com=[0.1, 0.0], tip=np.ones((2, 2)), end=0.5
    )
    assert found.q0.tolist() == [0.5, 1.0] and found.steps == 5000
    assert [body.mass for body in found.bodies] == [2.0, 2.0]
    assert [body.com for body in found.bodies] == [(0.1, 0.0)] * 2
    assert [body.attach for body in found.bodies] == [body.attach for body in scenario.bodies]
    closed = load(SCENARIOS / "four_bar.toml")
    assert varied(closed, at=[0.4, 0.0], gravity=(0, 0)).loops == closed.loops


def test_varied_inertia_in_space():
    scenario = load(SCENARIOS / "bennett.toml")
    count, tensor = len(scenario.bodies), (0.1, 0.0, 0.0, 0.2, 0.01, 0.25)
    for inertia in (tensor, [tensor] * count):
        assert {body.inertia for body in varied(scenario, inertia=inertia).bodies} == {tensor}
    principal = varied(scenario, inertia=[(0.1, 0.2, 0.25)] * count)
    assert {body.inertia for body in principal.bodies} == {(0.1, 0.0, 0.0, 0.2, 0.0, 0.25)}
    with pytest.raises(ScenarioError, match=r"inertia: must have the shape .* or \(6,\), got \(\)"):
        varied(scenario, inertia=0.1)


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"q": [1, 2, 3]}, r"q: must have the shape \(2,\) or \(\), got \(3,\)"),
        ({"com": [1, 2, 3]}, r"com: must have the shape \(2, 2\) or \(2,\), got \(3,\)"),
        ({"com": [[0.1], [0.2]]}, r"com: must have the shape .* or \(2,\), got \(2, 1\)"),
        ({"com": 0.3}, r"com: must have the shape \(2, 2\) or \(2,\), got \(\)"),
        ({"tip": [0.3]}, r"tip: must have the shape \(2, 2\) or \(2,\), got \(1,\)"),
        ({"mass": [3.0]}, r"mass: must have the shape \(2,\) or \(\), got \(1,\)"),
        ({"q": [0.1]}, r"q: must have the shape \(2,\) or \(\), got \(1,\)"),
        ({"gravity": [0, 0, 0]}, r"toml: gravity: must have the shape \(2,\), got \(3,\)"),
        ({"tip": [np.ones((2, 2)), np.ones((2, 3))]}, "tip: must be an array with a shape"),
        ({"q": [1, [2, 3]]}, r"body\[1\].q: must be a number, got an array"),
        ({"mass": [1, "2"]}, r"body\[1\].mass: must be a number, got a string"),
        ({"mass": -1}, r"body\[0\].mass: must be positive, got -1.0"),
        (
            {"masses": 1},
            r"masses: unknown key \(known: name, gravity, lend, step, end, .*, length\)",
        ),
        ({"body": []}, "body: unknown key"),
        ({"step": 0.3}, "time.end: must be a multiple of the step"),
        ({"at": [5, 5]}, "double_pendulum.toml: at: nothing in this mechanism has it"),
        ({"point": []}, r"point: must have the shape \(0, 2\) or \(2,\), got \(0,\)"),
        ({"stiffness": 3.0}, "double_pendulum.toml: stiffness: nothing in this mechanism has it"),
        ({"length": [7]}, "double_pendulum.toml: length: nothing in this mechanism has it"),
        ({"mass": MASKED}, "double_pendulum.toml: mass: has masked entries, which are no numbers"),
        ({"q": [0.0, MASKED[1]]}, "double_pendulum.toml: q: has masked entries"),
        ({"gravity": MASKED}, "double_pendulum.toml: gravity: has masked entries"),
        ({"step": MASKED[1]}, "double_pendulum.toml: step: has masked entries"),
    ],
)
def test_varied_mistakes(values, said):
    with pytest.raises(ScenarioError, match=said):
        varied(load(SCENARIOS / "double_pendulum.toml"), **values)


def test_no_number_is_that_of_all_coordinates_of_a_free_joint():
    body = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0], "com": [0.0] * 3, "tip": [1.0, 0.0, 0.0]}
    time = {"step": 1e-3, "end": 1.0}
    free = {"name": "free", "gravity": [0.0] * 3, "time": time, "body": [body | {"joint": "free"}]}
    for name, size in (("q", 7), ("qd", 6)):
        with pytest.raises(ScenarioError, match=rf"{name}: must have the shape \({size},\), got"):
            varied(load(free), **{name: 0.5})
    assert varied(load(free), qd=np.arange(6)).qd0.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_rest_is_of_a_spring(tmp_path):
    """Refused of a joint without one; 0 is what is written of such a joint."""
    path = written(tmp_path, PLAIN + "spring = 0.0\nrest = 0\n")
    scenario = load(path)
    write_scenario(path, scenario)
    assert load(path) == scenario == varied(scenario, spring=0.0, rest=0.0)
    for values in ({"rest": 0.5}, {"rest": [0.0, 0.5], "spring": [1.0, 0.0]}):
        with pytest.raises(ScenarioError, match=r"body\[.\].rest: there is no spring"):
            varied(scenario, **values)


def test_a_joint_loses_its_spring():
    """And its rest with it; that of another joint stays."""
    sprung = varied(load(SCENARIOS / "double_pendulum.toml"), spring=2.0, rest=[0.1, 0.2])
    found = varied(sprung, spring=np.array([0.0, 3.0], np.float32))
    assert [(body.spring, body.rest) for body in found.bodies] == [(0.0, 0.0), (3.0, 0.2)]


def test_a_length_is_of_a_stiffness(tmp_path):
    """Refused of a damper alone; 0 is what is written of it."""
    path = written(tmp_path, edit(SPRUNG, "stiffness = 10.0", "damping = 3.0"))
    scenario = load(path)
    write_scenario(path, scenario)
    assert load(path) == scenario == varied(scenario, stiffness=0.0, length=0.0)
    for values in ({"length": 0.5}, {"length": 300.0, "stiffness": 0.0}):
        with pytest.raises(ScenarioError, match=r"spring\[0\].length: there is no stiffness"):
            varied(scenario, **values)
    sprung = varied(scenario, stiffness=5.0, length=0.5)
    assert varied(sprung, stiffness=0) == scenario


def test_no_values_of_what_a_mechanism_has_none_of():
    scenario = load(SCENARIOS / "double_pendulum.toml")
    assert varied(scenario, at=np.zeros((0, 2)), stiffness=[]) == scenario


def test_what_is_no_scenario(tmp_path):
    for call in (lambda: varied(None, mass=1.0), lambda: write_scenario(tmp_path / "x", None)):
        with pytest.raises(ScenarioError, match="<scenario>: must be a Scenario, as pymodel.load"):
            call()


def test_an_initial_state_that_opens_a_loop_is_refused():
    with pytest.raises(ScenarioError, match=r"loop\[0\]: does not close at the initial posture"):
        varied(load(SCENARIOS / "four_bar.toml"), q=0.0)


def test_a_file_that_an_editor_has_marked(tmp_path):
    """With a byte order mark, as tables may have one."""
    path, plain = tmp_path / "marked.toml", SCENARIOS / "double_pendulum.toml"
    path.write_text(plain.read_text(), encoding="utf-8-sig")
    assert read(path) == read(plain)


@pytest.mark.parametrize("text", [f"x{'.y' * 5000} = 1", f"x = {'[{y=' * 60}0{'}]' * 60}"])
def test_tables_in_tables_without_end(tmp_path, text):
    path = tmp_path / "deep.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match="deep.toml: x: tables inside each other, more than 50"):
        load(path)
    endless = {}
    endless["x"] = endless
    with pytest.raises(ScenarioError, match="<scenario>: x: tables inside each other, more than"):
        parse(endless)
