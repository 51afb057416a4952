"""Runs that project: by default, in sweeps, with adaptive integrators; what is refused and said."""

import dataclasses

import numpy as np
import pytest

import pymodel
from pymodel import load, simulate, varied
from pymodel.app import demo
from pymodel.app.checks import algorithm
from pymodel.app.command import main
from pymodel.arith.errors import InputError
from pymodel.mechanism.checks import size
from pymodel.runs.judgement import GAP_WARNING, warnings_of
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

GENERAL = str(SCENARIOS / "general_four_bar.toml")
LOOP, CHAIN = str(SCENARIOS / "four_bar.toml"), str(SCENARIOS / "double_pendulum.toml")


def four_bar(steps=45, **changes):
    return varied(load(LOOP, steps), save=1, **changes)


@pytest.mark.parametrize("target", ["model", "native"])
def test_narrow_formats_project_by_default(target):
    one = four_bar()

    def run(arithmetic="float32", **options):
        return simulate(one, arithmetic, target=target, **options)

    assert run() == run(project=10) != run(project=0)
    assert run(rebase=4) == run(project=4) == run(rebase=4, project=4)
    assert run(rebase=4, project=0) not in (run(rebase=4), run(project=0))
    assert run("float64") == run("float64", project=0) != run("float64", project=10)
    chain = load(CHAIN, 20)
    assert simulate(chain, "float32", target=target) == simulate(
        chain, "float32", target=target, project=0
    )


def test_compiled_and_swept_runs_project_alike():
    one = four_bar(40)
    for options in ({}, {"project": 0}):
        want = simulate(one, "float32", target="native", **options).q[-1]
        run = pymodel.compiled(one, arithmetic="float32", **options)()
        np.testing.assert_array_equal(run.q[-1], want)
        table = pymodel.sweep(
            one,
            {"gravity[1]": [one.gravity[1]]},
            arithmetic="float32",
            target="native",
            workers=0,
            **options,
        )
        assert [table[f"q{k}"][0] for k in range(one.nq)] == want.tolist()


def test_adaptive_integrators_project():
    """A rough tolerance opens the loop; a projection closes it."""
    one = varied(load(GENERAL), step=0.01, end=2.0, save=1, integrator="RK23", tolerance=1e-4)
    free, held = (simulate(one, project=every) for every in (0, 5))
    assert held.loop_position.max() < 0.1 * free.loop_position.max()
    after = held.loop_position[5:-1:5]  # rows of projected states
    assert after.max() < 1e-6 < held.loop_position.max()


def test_what_opens_is_told():
    one = four_bar()
    run = simulate(one)
    assert not any("open" in text for text in warnings_of(one, run, "float64"))
    for share, told in ((0.9, 0), (1.1, 1)):
        gaps = run.loop_position.copy()
        gaps[7] = share * GAP_WARNING * size(one)
        opened = dataclasses.replace(run, loop_position=gaps)
        found = [text for text in warnings_of(one, opened, "float64") if "open" in text]
        assert len(found) == told
    (text,) = found
    assert f"t = {run.t[7]:.6g} s" in text
    for name in ("--project N", "PROJECT=N", "--rebase N", "REBASE=N"):
        assert name in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", CHAIN, "--project", "3"], "--project 3: only for a mechanism with loops"),
        (["run", LOOP, "--project", "-1"], "--project"),
        (["run", LOOP, "--rebase", "2", "--project", "3"], "--rebase 2: a projection re-bases"),
        (["run", LOOP, "--target", "coprocessor", "--project", "3"], "only for --target model, na"),
        (["sweep", CHAIN, "--vary", "body[0].q=0,1", "--project", "3"], "--project: only for a me"),
        (
            ["compile", LOOP, "--function", "rates", "--project", "3", "--out", "x"],
            "--project: only for the fun",
        ),
        (["demo", "fourbar", "--project", "3"], "--project"),
    ],
)
def test_what_is_refused_is_one_line(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1 and said in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [{"project": -1}, {"project": 1.5}, {"rebase": 2, "project": 3}])
def test_what_python_refuses(given):
    with pytest.raises(InputError, match=r"^(project|rebase)\b"):
        simulate(four_bar(), "float32", **given)
    with pytest.raises(InputError, match="^project: only for a mechanism with loops"):
        simulate(load(CHAIN), "float32", project=3)


def test_demos_project_on_neither_side(monkeypatch, tmp_path):
    """The co-processor cannot: the step engine is to do the same."""
    asked = []
    monkeypatch.setattr(demo, "trial", lambda each: asked.append(each) or len(asked) - 1)
    assert main(["demo", "fourbar", "--out", str(tmp_path / "out")]) == 1
    found = [algorithm(each, load(LOOP)) for each in asked]
    assert [(each.target, one["project"]) for each, one in zip(asked, found, strict=True)] == [
        ("coprocessor", 0),
        ("engine", 0),
    ]
