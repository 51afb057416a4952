"""What figures say, and that it can be read; how they look is seen by eye."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import proj3d

from pymodel.mechanism.kinematics import loop_angle_error, tip_positions
from pymodel.mechanism.scenario import REVOLUTE, SPHERICAL
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import legends, plots, sweep_plot
from pymodel.runs.force_plot import plot_forces
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.mechanism_plot import extent
from pymodel.runs.simulate import simulate
from pymodel.runs.sweep_plot import plot_map
from pymodel.tests.every_joint import every_joint
from pymodel.tests.places import SCENARIOS

MARKUP = "$x^{$ costs $5 & $6"


@pytest.fixture(scope="module")
def scenario():
    """Ten steps; its names would be formulas that cannot be read."""
    scenario = load(SCENARIOS / "double_pendulum.toml", steps=10)
    bodies = tuple(replace(body, name=MARKUP) for body in scenario.bodies)
    return replace(scenario, name=MARKUP, bodies=bodies)


@pytest.fixture(scope="module")
def run(scenario):
    return simulate(scenario, "float64")


def figures(scenario, run):
    yield plot_forces(joint_forces(scenario, run), scenario)
    for kind in ("overview", "joints", "kinetic_energy", "conserved"):
        yield plots.plot(run, scenario, kind, label=MARKUP)


def test_a_dollar_in_a_name_begins_no_formula(scenario, run):
    for figure in figures(scenario, run):
        figure.draw_without_rendering()
        assert MARKUP in figure.get_suptitle().replace(r"\$", "$")


def test_a_long_name_is_wrapped_and_cut(scenario, run):
    for figure in figures(replace(scenario, name="a double pendulum " * 20), run):
        figure.draw_without_rendering()
        box = figure._suptitle.get_window_extent()
        assert 0 < box.x0 and box.x1 < figure.bbox.x1 and box.height < figure.bbox.height / 4


@pytest.mark.parametrize("metres", [1e-3, 1e3])
def test_small_and_large_mechanisms_have_room_for_their_numbers(metres):
    """No factor stands where the legend is; the names of ticks keep apart."""
    body = {"mass": metres**3, "inertia": metres**5, "com": [metres / 2, 0.0], "tip": [metres, 0.0]}
    time = {"step": 1e-4, "end": 1e-2}
    data = {"name": "scaled", "gravity": [0.0, -9.8], "time": time, "body": [body | {"q": 2.0}] * 2}
    scaled = load(data)
    figure = plots.plot(simulate(scaled, "float64"), scaled)
    figure.draw_without_rendering()
    motion = figure.axes[0]
    (energy,) = (axes for axes in figure.axes if axes.get_ylabel() == "energy [J]")
    assert not energy.yaxis.get_offset_text().get_text()
    boxes = [label.get_window_extent() for label in motion.get_xticklabels() if label.get_text()]
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:], strict=False))


def test_a_thousand_is_written_as_its_neighbours():
    """Not as 1e+03 beside 500."""
    data = {"name": "fast", "gravity": [0.0, 0.0], "time": {"step": 1e-3, "end": 2e-3}}
    bar = {"mass": 1.0, "inertia": 1.0, "com": [0.0, 0.0], "tip": [0.1, 0.0]}
    fast = load(data | {"body": [bar]})
    run = simulate(fast, "float64")
    figure = plots.plot(replace(run, kinetic=np.array([0.0, 500.0, 1800.0])), fast)
    figure.draw_without_rendering()
    (energy,) = (axes for axes in figure.axes if axes.get_ylabel() == "energy [J]")
    shown = [label.get_text() for label in energy.get_yticklabels()]
    assert {"500", "1000"} <= set(shown)


def test_coordinates_of_many_joints_differ_in_their_dash():
    """A colour is a joint's, a dash a component's."""
    scenario = every_joint((SPHERICAL, SPHERICAL, SPHERICAL, REVOLUTE))
    run = simulate(replace(scenario, end=scenario.step * 2), "float64")
    quaternions, angle, rates = plots.plot(run, scenario, "joints").axes[:3]
    for axes, count in ((quaternions, 12), (rates, 10)):
        looks = {(str(line.get_color()), str(line._unscaled_dash_pattern)) for line in axes.lines}
        assert len(looks) == len(axes.lines) == count
    texts = [text.get_text() for text in rates.get_legend().get_texts()]
    assert texts == ["single axis", *(f"about own {axis}" for axis in "xyz")]
    assert angle.get_legend() is None
    assert quaternions.get_title(loc="left") == "in colour: run"
    with_reference = plots.plot(run, scenario, "joints", reference=run).axes[0]
    assert with_reference.get_title(loc="left") == "in colour: run, black dots: reference"


def test_few_joints_of_many_coordinates_have_colours_of_their_own():
    """A hub in space with an arm: eleven coordinates, of two joints."""
    body = {"mass": 1.0, "inertia": [1.0] * 3, "com": [0.0] * 3, "tip": [1.0, 0.0, 0.0]}
    joints = [{"joint": "free", "name": "hub"}, {"joint": "spherical"}]
    time = {"step": 1e-3, "end": 2e-3}
    bodies = [body | joint for joint in joints]
    satellite = load({"name": "satellite", "gravity": [0.0] * 3, "time": time, "body": bodies})
    figure = plots.plot(simulate(satellite, "float64"), satellite, "joints")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "joint 0 (hub)",
        "joint 1",
    ]
    assert "joint" not in {axes.get_ylabel() for axes in figure.axes}  # no bar of colours
    drawn = {line.get_color() for axes in figure.axes for line in axes.lines}
    assert len(drawn) == 2
    looks = [
        {(line.get_color(), str(line._unscaled_dash_pattern)) for line in axes.lines}
        for axes in figure.axes
    ]
    assert [len(own) for own in looks] == [len(axes.lines) for axes in figure.axes]


def test_the_angle_of_loops_is_that_of_the_worst():
    scenario = load(SCENARIOS / "coupled_loops.toml", steps=1)
    run = simulate(scenario, "float64")
    scenario = replace(scenario, loops=scenario.loops[::-1])  # the worst one last
    q = run.q + [[0.0], [1e-3]]
    opened = replace(run, q=q)
    alone = [abs(loop_angle_error(replace(scenario, loops=(loop,)), q)) for loop in scenario.loops]
    assert len(alone) > 1 and alone[0][1] < alone[1][1]
    figure = plots.plot(opened, scenario, "loop")
    (line,) = figure.axes[-1].lines
    assert line.get_ydata().tolist() == np.max(alone, axis=0).tolist()


def test_few_joints_are_solid(scenario, run):
    axes = plots.plot(run, scenario, "joints", reference=run).axes[0]
    assert axes.get_title(loc="left") == "solid: run, dotted: reference"


def test_each_panel_of_joints_names_its_curves():
    """Where the panel above has others: those of the slider are not the pins'."""
    crank = load(SCENARIOS / "slider_crank.toml", steps=2)
    legends = [axes.get_legend() for axes in plots.plot(simulate(crank), crank, "joints").axes]
    names = [[text.get_text() for text in legend.get_texts()] for legend in legends]
    assert names == 2 * [["joint 0 (crank)", "joint 1 (rod)"], ["joint 2 (slider)"]]


def test_forces_of_many_joints_and_loops_differ():
    scenario = load(SCENARIOS / "andrews.toml", steps=1)
    run = simulate(scenario, "float64")
    axes = plot_forces(joint_forces(scenario, run), scenario).axes[0]
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in axes.lines}
    assert len(looks) == len(axes.lines) == 10
    assert {colour for colour, _ in looks} <= set(plots.JOINT_COLOURS)


@pytest.mark.parametrize(
    ("angles", "label", "limits"),
    [
        ([0.0, 5e-4, 1e-3], "q0 [rad]", (0.0, 1e-3)),
        ([7.0, 7.1, 7.2], "q0 [rad]", (7.0, 7.2)),
        ([-3.0, 0.0, 3.0], "q0 [rad]", (-np.pi, np.pi)),
        ([-3.0, 0.0, 3.5], "q0 [rad], turned into ±π", (-np.pi, np.pi)),
    ],
)
def test_a_map_of_angles(monkeypatch, angles, label, limits):
    """Small ones are not lost in a whole turn; cells of uneven values are of one size."""
    x, y = (grid.ravel() for grid in np.meshgrid([1e-3, 1.0, 1e3], [0.0, 1.0]))
    table = {"x": x, "y": y, "q0": np.array(2 * angles), "status": np.full(6, "done", "<U6")}
    drawn = []
    monkeypatch.setattr(plots, "save", lambda figure, _: drawn.append(figure))
    plot_map(table, ("x", "y"), "q0", "map.png", MARKUP)
    drawn[0].draw_without_rendering()
    axes, bar = drawn[0].axes
    assert (bar.get_ylabel(), axes.collections[0].get_clim()) == (label, limits)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["", "0.001", "1", "1000", ""]
    assert axes.get_ylim() == (-0.5, 1.5)
    assert not drawn[0].legends
    table["status"][4] = "failed"
    plot_map(table, ("x", "y"), "q0", "map.png", MARKUP)
    (legend,) = drawn[1].legends
    assert [text.get_text() for text in legend.get_texts()] == ["no value"]


def legends_of(figure):
    """Axes with a legend, and its box."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        if legend := axes.get_legend():
            yield axes, legend.get_window_extent()


def simulated(name, **changes):
    scenario = load(SCENARIOS / f"{name}.toml", **changes)
    return scenario, simulate(scenario, "float64")


def reached(axes):
    """Pixels that lines of axes reach, of those with units of the data."""
    return np.concatenate(
        [
            axes.transData.transform(
                np.column_stack([np.asarray(x, float) for x in line.get_data()])
            )
            for line in axes.lines
            if line.get_transform() == axes.transData
        ]
    )


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "tree", "andrews"])
@pytest.mark.nightly("four_bar", "bennett")
def test_legends_stand_inside_their_axes_and_hide_nothing(name):
    scenario, run = simulated(name, steps=20)
    kinds = [kind for kind in plots.KINDS if plots._drawn(kind, scenario)]
    drawn = [plots.plot(run, scenario, kind, reference=run) for kind in kinds]
    for figure in (*drawn, plot_forces(joint_forces(scenario, run), scenario)):
        found = list(legends_of(figure))
        for axes, box in found:
            frame = axes.get_window_extent()
            assert frame.x0 <= box.x0 and box.x1 <= frame.x1, axes.get_ylabel()
            assert frame.y0 <= box.y0 and box.y1 <= frame.y1, axes.get_ylabel()
            if axes.lines and axes.axison:
                assert reached(axes)[:, 1].max() <= box.y0 + 1, axes.get_ylabel()
        assert found or figure.legends


def test_a_legend_that_is_too_high_stands_beside():
    figure = Figure(figsize=(8, 2), layout="constrained")
    axes = figure.subplots()
    curves = [
        axes.plot([0, 1], [k, 1], label="a long name of a curve" + 20 * "x")[0] for k in "abcdefgh"
    ]
    legends.place(figure, [(axes, curves)])
    ((_, box),) = legends_of(figure)
    assert box.x0 >= axes.get_window_extent().x1


@pytest.mark.nightly(every=3)
@pytest.mark.parametrize("name", ["bennett", "every joint", "ball chain"])
def test_a_mechanism_in_space_fills_its_panel(name):
    if name == "bennett":
        scenario = varied(load(SCENARIOS / "bennett.toml"), step=0.025, end=0.5)
    elif name == "every joint":
        scenario = every_joint((SPHERICAL, REVOLUTE, SPHERICAL))
        scenario = replace(scenario, end=scenario.step * 50)
    else:
        bar = {"mass": 1.0, "inertia": [0.1] * 3, "com": [0.5, 0.0, 0.0], "tip": [1.0, 0.0, 0.0]}
        bodies = [bar | {"joint": "spherical", "qd": [0.0, 1.0, 2.0]}] * 2
        time = {"step": 1e-2, "end": 0.5}
        scenario = load(
            {"name": "balls", "gravity": [0.0, 0.0, -9.8], "time": time, "body": bodies}
        )
    figure = plots.plot(simulate(scenario, "float64"), scenario)
    figure.draw_without_rendering()
    panel, legend = next(legends_of(figure))
    (axes,) = (axes for axes in figure.axes if axes.name == "3d")
    frame = panel.get_window_extent()
    drawn = extent(axes)
    assert frame.x0 - 1 <= drawn.x0 and drawn.x1 <= frame.x1 + 1
    assert frame.y0 - 1 <= drawn.y0 and drawn.y1 <= legend.y0 + 1
    whole = max(drawn.width / frame.width, drawn.height / (legend.y0 - frame.y0))
    assert whole > 0.98
    x, y, _ = proj3d.proj_transform(
        *np.concatenate([np.transpose(line.get_data_3d()) for line in axes.lines]).T,
        axes.get_proj(),
    )
    mechanism = np.ptp(axes.transData.transform(np.column_stack((x, y))), axis=0)
    assert np.prod(mechanism / frame.size) > 0.18  # of the area: a box hangs over its diagonal


@pytest.mark.parametrize(
    ("name", "tips"),
    [
        ("double_pendulum", ["tip of body 1"]),
        ("tree", ["tip of body 3", "tip of body 4", "tip of body 5"]),
        ("four_bar", ["tip of body 0", "tip of body 1"]),
        ("slider_crank", ["tip of body 0 (crank)", "tip of body 1 (rod)"]),
        ("bennett", ["tip of body 0 (crank)", "tip of body 1 (coupler)"]),
    ],
)
@pytest.mark.nightly("tree-tips1")
def test_paths_of_tips_are_drawn_and_named(name, tips):
    scenario, run = simulated(name, steps=50)
    figure = plots.plot(run, scenario)
    panel, _ = next(legends_of(figure))
    legend = panel.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == tips
    axes = next((axes for axes in figure.axes if axes.name == "3d"), panel)
    places = tip_positions(scenario, run.q)
    for text, handle in zip(tips, legend.get_lines(), strict=True):
        body = int(text.split()[3])
        get = "get_data_3d" if scenario.spatial else "get_data"
        paths = [
            np.transpose(getattr(line, get)())
            for line in axes.lines
            if (line.get_color(), line.get_linestyle())
            == (handle.get_color(), handle.get_linestyle())
        ]
        assert any(np.array_equal(path, places[:, body]) for path in paths)


def test_forces_say_that_they_are_magnitudes():
    scenario, run = simulated("bennett", steps=10)
    figure = plot_forces(joint_forces(scenario, run), scenario)
    assert "magnitudes" in figure.get_suptitle()
    assert [axes.get_ylabel() for axes in figure.axes] == ["|force| [N]", "|moment| [N m]"]
    scenario, run = simulated("slider_crank", steps=10)
    figure = plot_forces(joint_forces(scenario, run), scenario)
    assert figure.axes[0].get_title(loc="left") == "no joint exerts a moment"
    assert [axes.get_ylabel() for axes in figure.axes] == ["|force| [N]"]


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("q0", "double_pendulum: q0 at the end"),
        ("energy_change", "double_pendulum: largest change of energy"),
    ],
)
def test_a_map_has_a_title(monkeypatch, value, title):
    x, y = (grid.ravel() for grid in np.meshgrid([0.0, 1.0], [0.0, 1.0]))
    table = {"x": x, "y": y, value: x + y, "status": np.full(4, "done", "<U6")}
    drawn = []
    monkeypatch.setattr(plots, "save", lambda figure, _: drawn.append(figure))
    scenario = load(SCENARIOS / "double_pendulum.toml")
    monkeypatch.setattr(sweep_plot, "unit_of", lambda column, scenario: "")
    plot_map(table, ("x", "y"), value, "map.png", scenario=scenario)
    plot_map(table, ("x", "y"), value, "map.png", "given", scenario)
    assert [figure.axes[0].get_title(loc="left") for figure in drawn] == [title, "given"]
