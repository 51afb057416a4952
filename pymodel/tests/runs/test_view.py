"""Pages for a browser: places in each frame, names that are no markup, and what a browser shows."""

import base64
import hashlib
import json
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from pymodel.app.command import main
from pymodel.control import standing
from pymodel.mechanism import kinematics, robot_file
from pymodel.mechanism.robot_loops import LoopGeometry
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import scene, view
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_model import RobotModel
from pymodel.runs.simulate import simulate
from pymodel.tests.places import SCENARIOS
from pymodel.tests.robots import HOPPER, ROBOTS

NEAR = 1e-12
BROWSERS = "chromium", "chromium-browser", "google-chrome"
SIZE = 800, 600
FOV = 75.0  # of MeshCat's camera, degrees
STRANGE = (
    "</script><script>document.title = 'ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    "<!-- \u2028 & ' \" \\",
    "__proto__",
    "a/b",
    "__proto__",
)


def run_of(name, steps=20):
    scenario = varied(load(SCENARIOS / f"{name}.toml"), step=0.01, end=0.01 * steps, save=1)
    return scenario, simulate(scenario)


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.titles, self.within = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        if self.within == "script":
            self.scripts[-1] += data
        elif self.within in ("title", "h1"):
            self.titles.append(data)

    @property
    def data(self):
        (at,) = (k for k, (_, has) in enumerate(self._scripts()) if has.get("id") == "data")
        return json.loads(self.scripts[at])

    def _scripts(self):
        return [tag for tag in self.tags if tag[0] == "script"]


def page_of(found, tmp_path):
    path = tmp_path / "view.html"
    view.write(found, path)
    return Page(path.read_text(encoding="utf-8"))


def placements(data):
    """Where things are in each frame: name -> matrices (T, 4, 4), in the ground's axes, m."""
    found = {}
    for thing in data["things"]:
        whole = np.zeros((len(data["times"]), 4, 4))
        turn = Rotation.from_quat(np.array(thing["quaternion"]).reshape(-1, 4)).as_matrix()
        whole[:, :3, :3], whole[:, 3, 3] = turn, 1.0
        whole[:, :3, 3] = np.array(thing["position"]).reshape(-1, 3)
        found[thing["name"]] = whole
    return found


def ends(thing):
    """Where capsules end, in the thing's frame: centres of its balls, (N, 3)."""
    balls = {x["uuid"] for x in thing["object"]["geometries"] if x["type"] == "SphereGeometry"}
    children = thing["object"]["object"]["children"]
    return np.array([x["matrix"][12:15] for x in children if x["geometry"] in balls])


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "slider_crank", "bennett"])
def test_bodies_are_where_the_kinematics_have_them(tmp_path, name):
    scenario, run = run_of(name)
    data = page_of(scene.of_mechanism(run, scenario), tmp_path).data
    np.testing.assert_allclose(data["times"], run.t)
    found, size = placements(data), len(scenario.gravity)
    tips = kinematics.tip_positions(scenario, run.q)
    for k, body in enumerate(scenario.bodies):
        tip = np.zeros(4)
        tip[:size], tip[3] = body.tip, 1.0
        whole = found[f"{k} {body.name}"]
        np.testing.assert_allclose((whole @ tip)[:, :size], tips[:, k], rtol=0, atol=NEAR)
        (thing,) = (x for x in data["things"] if x["name"].startswith(f"{k} "))
        assert np.abs(ends(thing) - tip[:3]).max(axis=1).min() < NEAR
    for loop in scenario.loops:  # bars meet where they are held together
        points = []
        for k, place in ((loop.body, loop.point), (loop.to, loop.at)):
            whole = np.eye(4)[None] if k < 0 else found[f"{k} {scenario.bodies[k].name}"]
            own = np.zeros(4)
            own[:size], own[3] = place, 1.0
            points.append((whole @ own)[:, :size])
            want = kinematics.point_position(scenario, run.q, k, place)
            np.testing.assert_allclose(
                np.broadcast_to(points[-1], want.shape), want, rtol=0, atol=NEAR
            )
        assert np.abs(points[0] - points[1]).max() < 1e-5  # which the integrator leaves


@pytest.mark.parametrize("name", ["iiwa14.urdf", "hyq.urdf", "closed_leg.urdf", "tethered.urdf"])
def test_links_are_where_the_model_has_them(tmp_path, name):
    robot = robot_file.load(ROBOTS / name, floating=name == "hyq.urdf")
    rng = np.random.default_rng(1)
    q = rng.uniform(-1.0, 1.0, (4, robot.nq))
    for own in robot.quaternions:
        q[:, own] /= np.linalg.norm(q[:, own], axis=1, keepdims=True)
    if robot.loops:
        geometry = LoopGeometry(robot)
        q = np.array([geometry.closed(x) for x in q])
    t = np.array([0.0, 0.1, 0.4, 0.5])
    data = page_of(scene.of_robot(robot, q, t), tmp_path).data
    assert data["times"] == t.tolist() and not data["stepwise"]
    found, model = placements(data), RobotModel(robot)
    for n, k in enumerate(robot.bodies):
        link = robot.links[k].name
        position, rotation = model.placement(q, link)
        whole = found[f"{n} {link}"]
        np.testing.assert_allclose(whole[:, :3, 3], position, rtol=0, atol=NEAR)
        np.testing.assert_allclose(whole[:, :3, :3], rotation, rtol=0, atol=NEAR)
    if robot.floating:
        base = found[f"0 {robot.links[0].name}"]
        np.testing.assert_allclose(base[:, :3, 3], q[:, :3], rtol=0, atol=NEAR)
        turn = Rotation.from_quat(q[:, 3:7]).as_matrix()
        np.testing.assert_allclose(base[:, :3, :3], turn, rtol=0, atol=NEAR)
    things = [x for x in data["things"] if x["name"] != "ground"]
    joined = 0
    for child, link in ((n, robot.links[k]) for n, k in enumerate(robot.bodies)):
        if link.parent in robot.bodies and link.kind == "revolute" and not link.part:
            n = robot.bodies.index(link.parent)  # a capsule of which ends at the joint
            whole, joint = found[things[n]["name"]][1], found[things[child]["name"]][1, :3, 3]
            reached = ends(things[n]) @ whole[:3, :3].T + whole[:3, 3]
            assert np.abs(reached - joint).max(axis=1).min() < NEAR
            joined += 1
    assert joined or name == "tethered.urdf"
    for loop in robot.loops:
        points = []
        for k, offset in zip(loop.links, loop.offsets, strict=True):
            n = robot.bodies.index(k)
            assert np.abs(ends(things[n]) - offset).max(axis=1).min() < NEAR
            whole = found[f"{n} {robot.links[k].name}"]
            points.append(whole[:, :3, :3] @ offset + whole[:, :3, 3])
        np.testing.assert_allclose(*points, atol=1e-9)


def test_pinned_feet_are_balls_on_the_ground(tmp_path):
    (tmp_path / "hopper.urdf").write_text(HOPPER)
    robot = robot_file.load(tmp_path / "hopper.urdf", floating=True)
    q = standing.bent_legs(robot, ["foot"])
    foot = RobotModel(robot).placement(q, "foot")[0]
    robot = standing.pinned(robot, ["foot"], q)
    (ground, *_) = page_of(scene.of_robot(robot, q[None]), tmp_path).data["things"]
    assert ground["name"] == "ground"
    np.testing.assert_allclose(ends(ground), [foot], rtol=0, atol=NEAR)
    assert {x["type"] for x in ground["object"]["geometries"]} == {"SphereGeometry"}


def test_postures_are_shown_for_a_second_each(tmp_path):
    robot = robot_file.load(ROBOTS / "iiwa14.urdf")
    data = page_of(scene.of_robot(robot, np.eye(3, robot.nq)), tmp_path).data
    assert data["stepwise"] and data["times"] == [0.0, 1.0, 2.0, 3.0]
    assert data["facts"][0] == "3 postures, a second each"


def test_a_spring_reaches_from_end_to_end(tmp_path):
    scenario = load(SCENARIOS / "andrews.toml", steps=5)
    run = simulate(scenario)
    data = page_of(scene.of_mechanism(run, scenario), tmp_path).data
    (thing,), (spring,) = (x for x in data["things"] if x["name"] == "spring 0"), scenario.springs
    whole, length = placements(data)["spring 0"], np.array(thing["scale"]).reshape(-1, 3)[:, 2]
    points = [kinematics.point_position(scenario, run.q, spring.to, spring.at)]
    points.append(kinematics.point_position(scenario, run.q, spring.body, spring.point))
    np.testing.assert_allclose(whole[:, :2, 3], points[0], rtol=0, atol=NEAR)
    tips = whole[:, :3, 3] + length[:, None] * whole[:, :3, 2]
    np.testing.assert_allclose(tips[:, :2], points[1], rtol=0, atol=NEAR)


def test_long_runs_are_thinned_to_frames_that_are_even_in_time():
    t = np.sort(np.random.default_rng(2).uniform(0.0, 50.0, 20_000))
    rows = scene.frames(t, things=2)
    assert 900 < len(rows) <= scene.MOST_FRAMES and rows[0] == 0 and rows[-1] == len(t) - 1
    assert np.abs(np.diff(t[rows]) - 50.0 / 999).max() < 0.02
    many = scene.frames(t, things=200)
    assert len(many) * 200 * scene.NUMBERS_OF_A_PLACE <= scene.MOST_NUMBERS
    assert np.array_equal(scene.frames(t[:1000], 2), np.arange(1000))


@pytest.mark.parametrize(
    ("gravity", "down"),
    [
        ((0.0, -9.81), (0.0, -1.0, 0.0)),
        ((0.0, 9.81), (0.0, 1.0, 0.0)),
        ((9.81, 1.0), (1.0, 0.0, 0.0)),
        ((0.0, 0.0), (0.0, -1.0, 0.0)),
        ((0.0, 0.0, -9.81), (0.0, 0.0, -1.0)),
        ((0.0, 0.0, 1.62), (0.0, 0.0, 1.0)),
        ((1.0, -9.0, 2.0), (0.0, -1.0, 0.0)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)),
    ],
)
def test_gravity_points_down(gravity, down):
    turn = scene.upright(np.array(gravity))
    np.testing.assert_array_equal(turn @ down, (0.0, 0.0, -1.0))
    np.testing.assert_array_equal(turn @ turn.T, np.eye(3))
    assert np.linalg.det(turn) == 1.0


def strangely_named():
    scenario, run = run_of("four_bar", 3)
    bodies = [replace(x, name=STRANGE[k]) for k, x in enumerate(scenario.bodies)]
    return replace(scenario, bodies=tuple(bodies), name=STRANGE[0]), run


def robot_strangely_named():
    robot = robot_file.load(ROBOTS / "closed_leg.urdf")
    links = [replace(x, name=STRANGE[k % len(STRANGE)]) for k, x in enumerate(robot.links)]
    return replace(robot, links=tuple(links), name=STRANGE[1])


def test_names_are_no_markup(tmp_path):
    scenario, run = strangely_named()
    robot = robot_strangely_named()
    plain = page_of(scene.of_mechanism(*run_of("four_bar", 3)[::-1]), tmp_path)
    for found in (
        scene.of_mechanism(run, scenario),
        scene.of_robot(robot, np.zeros((2, robot.nq)), facts=STRANGE),
    ):
        page = page_of(found, tmp_path)
        elements = [(tag, sorted(has)) for tag, has in page.tags]
        assert elements == [(tag, sorted(has)) for tag, has in plain.tags]
        assert page.data["title"] == found.title
        assert [x["name"] for x in page.data["things"]] == [x.name for x in found.things if x.parts]
    names = [x["name"] for x in page.data["things"]]
    assert len(set(names)) == len(names)  # or MeshCat would take them for one


def test_a_browser_runs_the_scripts_of_the_page_alone_and_loads_nothing(tmp_path):
    page = page_of(scene.of_mechanism(*run_of("double_pendulum", 3)[::-1]), tmp_path)
    (policy,) = (has["content"] for _, has in page.tags if "http-equiv" in has)
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'" and "connect-src" not in parts
    scripts = [x for x, (_, has) in zip(page.scripts, page._scripts(), strict=True) if not has]
    digests = [base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in scripts]
    assert parts["script-src"] == " ".join(f"'sha256-{x}'" for x in digests)
    assert not any({"src", "href"} & has.keys() for _, has in page.tags)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "double_pendulum", "--steps", "3"],
        ["robot", "iiwa14", "--function", "FK"],
        ["loop", "iiwa14", "--steps", "3"],
        ["mpc", "iiwa14"],
    ],
)
def test_without_the_viewer_a_line_names_the_extra(tmp_path, capsys, monkeypatch, words):
    monkeypatch.setattr(view, "find_spec", lambda name: None)
    out = tmp_path / "out"
    assert main([*words, "--view", "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "--view needs MeshCat's viewer: pip install 'hdca-accelerator[view]'"
    assert not out.exists()
    with pytest.raises(InputError, match="needs MeshCat"):
        view.require_viewer()


@pytest.mark.usefixtures("undrawn")
def test_commands_leave_a_page(tmp_path, capsys):
    words = ["double_pendulum", "--steps", "3", "--no-reference"]
    for command, file in (
        (["run", *words], "run.csv"),
        (["robot", "iiwa14", "--function", "FK", "--rows", "3"], "inputs.csv"),
        (["loop", str(ROBOTS / "gripper.urdf"), "--steps", "3"], "motion.csv"),
    ):
        out = tmp_path / command[0]
        assert main([*command, "--view", "--out", str(out)]) == 0
        assert f"for a browser: {out / 'view.html'}" in capsys.readouterr().out.replace("\n", "")
        assert (out / file).exists()
        data = Page((out / "view.html").read_text(encoding="utf-8")).data
        assert len(data["times"]) == 4
    assert main(["run", *words, "--out", str(tmp_path / "run")]) == 0
    assert not (tmp_path / "run" / "view.html").exists()  # it was of the run before


# --- in a browser ---------------------------------------------------------------------------------


def browsed(page, at, *options):
    """What a browser with WebGL by software makes of a page that stands still at a time."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser here, none of {', '.join(BROWSERS)}")
    words = ["--headless", "--no-sandbox", "--hide-scrollbars", "--use-angle=swiftshader"]
    words += ["--enable-unsafe-swiftshader", "--virtual-time-budget=3000"]
    words += [f"--window-size={SIZE[0]},{SIZE[1]}", f"--user-data-dir={page.parent / 'browser'}"]
    done = subprocess.run(
        [browser, *words, *options, f"{page.as_uri()}#t={at}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout


def shown_at(data, place):
    """The pixel of a place in the ground's axes."""
    root = np.array(data["root"]).reshape(4, 4).T
    eye, centre = np.array(data["eye"]), np.array(data["centre"])
    point = view.Y_UP @ (root @ [*place, 1.0])[:3]
    back = (eye - centre) / np.linalg.norm(eye - centre)
    right = np.cross((0.0, 1.0, 0.0), back)
    right /= np.linalg.norm(right)
    x, y, depth = np.array((right, np.cross(back, right), -back)) @ (point - eye)
    scale = SIZE[1] / 2 / np.tan(np.radians(FOV) / 2) / depth
    return round(SIZE[0] / 2 + scale * x), round(SIZE[1] / 2 - scale * y)


def is_like(pixel, colour):
    """Whether a pixel is of a colour in some light."""
    seen, want = (np.array(x, float) for x in (pixel[:3], [*bytes.fromhex(colour[1:])]))
    return seen @ want > 0.97 * np.linalg.norm(seen) * np.linalg.norm(want) and np.ptp(seen) > 40


@pytest.mark.nightly
def test_a_browser_draws_each_link_where_it_is(tmp_path):
    robot = robot_file.load(ROBOTS / "iiwa14.urdf")
    q = np.zeros((3, robot.nq))
    q[1:, 1], q[1:, 3] = (0.4, 0.9), (-0.6, -1.4)
    found, page = scene.of_robot(robot, q, np.array([0.0, 1.0, 2.0])), tmp_path / "view.html"
    view.write(found, page)
    data = Page(page.read_text(encoding="utf-8")).data
    for at in range(3):
        picture = tmp_path / "view.png"
        browsed(page, at, f"--screenshot={picture}")
        with Image.open(picture) as image:
            pixels = image.convert("RGB")
        for n in (0, 2, 4):  # in the middle of their links
            (thing,) = (x for x in data["things"] if x["name"].startswith(f"{n} "))
            far = max(ends(thing), key=np.linalg.norm)
            middle = (placements(data)[thing["name"]][at] @ [*(far / 2), 1.0])[:3]
            seen = pixels.getpixel(shown_at(data, middle))
            assert is_like(seen, scene.COLOURS[n]), (at, n, seen)


@pytest.mark.nightly
def test_a_browser_takes_names_for_text(tmp_path):
    scenario, run = strangely_named()
    page = tmp_path / "view.html"
    view.write(scene.of_mechanism(run, scenario), page)
    shown = Page(browsed(page, 0.01, "--dump-dom"))
    title = shown.tags.index(("h1", {}))
    assert [tag for tag, _ in shown.tags].count("script") == 4
    assert ("img", {"src": "x"}) not in [(tag, has) for tag, has in shown.tags] and title
    assert "canvas" in [tag for tag, _ in shown.tags]
    assert "ran" not in shown.titles and scenario.name in shown.titles
