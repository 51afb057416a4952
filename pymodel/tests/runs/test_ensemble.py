"""Variations of a scenario: which there are, and what is refused."""

import numpy as np
import pytest

from pymodel.mechanism.kinematics import loop_position
from pymodel.mechanism.scenario import ScenarioError
from pymodel.mechanism.scenario_file import load, read
from pymodel.runs.ensemble import REAL, Normal, Uniform, ensemble, kinds, place_of, variation
from pymodel.runs.input_error import InputError
from pymodel.tests.places import SCENARIOS

DOUBLE_PENDULUM, FOUR_BAR = SCENARIOS / "double_pendulum.toml", SCENARIOS / "four_bar.toml"
ANDREWS = SCENARIOS / "andrews.toml"


def made(vary, count=None, seed=None, path=DOUBLE_PENDULUM):
    return ensemble(read(path), "file", vary, count, seed)


def test_a_grid_is_the_product_and_its_last_key_changes_fastest():
    asked = made({"body[0].mass": "1:2:3", "time.integrator": "euler,rk4"})
    columns = asked.columns()
    assert len(asked) == 6
    assert columns["body[0].mass"].tolist() == [1.0, 1.0, 1.5, 1.5, 2.0, 2.0]
    assert columns["time.integrator"].tolist() == ["euler", "rk4"] * 3


def test_texts_and_objects_mean_the_same():
    written = {"body[0].q": "random(-1,2)", "body[1].q": "normal(0.5,0.1)", "body[0].mass": "1,3"}
    built = {"body[0].q": Uniform(-1.0, 2.0), "body[1].q": Normal(0.5, 0.1)}
    built["body[0].mass"] = np.array([1.0, 3.0])
    assert made(written, 5) == made(built, 5)


def test_the_number_of_a_body_that_was_named_is_told():
    """Not that of the body whose key is spelt most like it."""
    data = read(DOUBLE_PENDULUM)
    for k, name in enumerate(("bob", "arm")):
        data["body"][k]["name"] = name
    for k, name in enumerate(("bob", "arm")):
        with pytest.raises(InputError, match=rf"did you mean body\[{k}\]\.mass\?"):
            ensemble(data, "file", {f"body[{name}].mass": "1"}, None, None)


def test_a_larger_count_only_adds_and_keys_do_not_disturb_each_other():
    few = made({"body[0].q": "random(-1,2)", "body[0].mass": "1,2"}, 10, 7).columns()
    many = made({"body[1].q": "normal(0,1)", "body[0].q": "random(-1,2)"}, 50, 7).columns()
    assert np.array_equal(few["body[0].q"], many["body[0].q"][:20])
    other = made({"body[0].q": "random(-1,2)"}, 50, 8).columns()
    assert not np.array_equal(other["body[0].q"], many["body[0].q"])


def test_draws_have_their_distribution():
    drawn = made({"body[0].q": "random(-1,3)", "body[1].q": "normal(2,0.5)"}, 20_000).columns()
    uniform, normal = drawn["body[0].q"], drawn["body[1].q"]
    assert -1.0 <= uniform.min() < -0.99 and 2.99 < uniform.max() <= 3.0
    assert abs(uniform.mean() - 1.0) < 0.05
    assert abs(normal.mean() - 2.0) < 0.02 and abs(normal.std() - 0.5) < 0.02


def test_every_value_reaches_its_place():
    for path in (DOUBLE_PENDULUM, FOUR_BAR, ANDREWS):
        data = read(path)
        for key, kind in kinds(data, load(path)).items():
            if kind in REAL:
                *way, last = place_of(key)
                table = data
                for name in way:
                    table = table.get(name, ()) if isinstance(table, dict) else table[name]
                old = table[last] if isinstance(last, int) or last in table else 0.0
                needed = {"rest": "spring", "friction_scale": "friction"}.get(last)
                if needed and needed not in table:
                    with pytest.raises(ScenarioError, match=f"no {needed} in this joint"):
                        variation(data, str(path), {key: old})
                    continue
                assert variation(data, str(path), {key: old}) == load(path)


def test_a_crank_turns_the_mechanism_with_it():
    """Joints whose angles are guesses follow; a spring's natural length may be drawn."""
    vary = {"body[0].q": "-0.1:0.1:3", "spring[0].length": "random(0.07,0.08)"}
    asked = made(vary, 2, path=ANDREWS)
    columns = asked.columns()
    for index in range(len(asked)):
        values = {key: column[index] for key, column in columns.items()}
        scenario = variation(asked.data, "file", values)
        assert scenario.bodies[0].q == values["body[0].q"]
        assert scenario.springs[0].length == values["spring[0].length"]
        assert loop_position(scenario, scenario.q0) < 1e-12


def test_a_variation_is_checked_as_a_file_is():
    data = read(DOUBLE_PENDULUM)
    heavy = variation(data, "file", {"body[1].mass": 7.0, "gravity[1]": -1.0}, steps=12)
    assert (heavy.bodies[1].mass, heavy.gravity, heavy.steps) == (7.0, (0.0, -1.0), 12)
    assert data == read(DOUBLE_PENDULUM)
    with pytest.raises(ScenarioError, match=r"file: body\[1\].mass: must be positive, got -1.0"):
        variation(data, "file", {"body[1].mass": -1.0})
    with pytest.raises(ScenarioError, match=r"loop\[0\]: does not close at the initial posture"):
        variation(read(FOUR_BAR), "file", {"body[0].q": 0.7})


def test_a_spring_that_is_varied_down_to_none():
    """The joint has no rest then; one that is given is refused."""
    data = read(DOUBLE_PENDULUM)
    data["body"][1] |= {"spring": 2.0, "rest": 0.3}
    found = variation(data, "file", {"body[0].spring": 1.0, "body[1].spring": 0.0})
    assert [(body.spring, body.rest) for body in found.bodies] == [(1.0, 0.0), (0.0, 0.0)]
    with pytest.raises(ScenarioError, match=r"body\[1\].rest: there is no spring in this joint"):
        variation(data, "file", {"body[1].spring": 0.0, "body[1].rest": 0.3})


def test_a_natural_length_is_varied_of_a_stiff_spring_alone():
    data = read(ANDREWS)
    data["spring"][0]["damping"] = 1.0
    assert variation(data, "file", {"spring[0].stiffness": 0.0}).springs[0].length == 0.0
    del data["spring"][0]["stiffness"], data["spring"][0]["length"]
    for length in (0.07, 300.0):
        with pytest.raises(ScenarioError, match=r"spring\[0\].length: there is no stiffness in"):
            variation(data, "file", {"spring[0].length": length})


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ({}, "--vary: say what to vary"),
        ({"body[0].mas": "1"}, "no value of this name, did you mean body[0].mass?"),
        ({"body[2].mass": "1"}, "--vary body[2].mass: the scenario has no body[2]"),
        ({"spring[0].stiffness": "1"}, "--vary spring[0].stiffness: the scenario has no spring[0]"),
        ({"body[rod].mass": "1"}, "--vary body[rod].mass: the scenario has no body[rod]"),
        ({"body[0].com": "1"}, "no value of this name, but body[0].com[0] and body[0].com[1]"),
        ({"body[1].attach[0]": "1"}, "attach[0]: the file leaves attach out: write it there to "),
        ({"body[1].attach": "1"}, "the file leaves attach out: write it there to vary it"),
        ({"body[0].contact": "1"}, "body[0].contact: the scenario has no value of this name$"),
        ({"body[0].joint": "1"}, "body[0].joint: the scenario has no value of this name$"),
        ({"bdy[0].mass": "1"}, "no value of this name, did you mean body[0].mass?"),
        ({"gravity[2]": "1"}, "no value of this name, but gravity[0] and gravity[1]"),
        ({"body[0].mass": "1:2"}, "must be <first>:<last>:<count>, <value>,<value>.."),
        ({"body[0].mass": "heavy"}, "got 'heavy'"),
        ({"body[0].mass": "1:2:1"}, "a range has 2 to 10000000 values, got 1"),
        ({"body[0].mass": "1:2:999999999"}, " values, got 999999999"),
        ({"body[0].mass": "1,nan"}, "must be finite numbers, got nan"),
        ({"body[0].q": "-1e308:1e308:3"}, "--vary body[0].q: from -1e308 to 1e308 is further than"),
        ({"body[0].q": "inf:2:3"}, "--vary body[0].q: must be finite numbers, got inf"),
        ({"body[0].q": "0:-inf:3"}, "must be finite numbers, got -inf"),
        ({"body[0].mass": [True]}, "must be finite numbers, got True"),
        ({"body[0].mass": [None]}, "must be finite numbers, got None"),
        ({"body[0].mass": [[1, 2], [3]]}, "must be finite numbers, got [1, 2]"),
        ({"body[0].mass": [10**400]}, "must be finite numbers, got 1000"),
        ({"body[0].mass": [1j]}, "must be finite numbers, got 1j"),
        ({"body[0].mass": np.ma.array([1.0, 2.0], mask=[0, 1])}, "mass: has masked entries"),
        ({"body[0].mass": [1.0, np.ma.masked]}, "--vary body[0].mass: has masked entries"),
        ({"body[0].mass": []}, "--vary body[0].mass: has no values"),
        ({"body[0].mass": np.array([])}, "--vary body[0].mass: has no values"),
        ({1: [1]}, "--vary 1: the scenario has no value of this name"),
        (["body[0].mass"], "--vary: say what to vary"),
        ({"time.save": "1,2.5"}, "must be whole numbers, got 2.5"),
        ({"time.integrator": [1]}, "must be words, got 1"),
        ({"time.save": "random(1,9)"}, "takes no random values"),
        ({"body[0].q": "random(2,1)"}, "--vary body[0].q: low must be below high, both finite"),
        ({"body[0].q": "normal(0,0)"}, "--vary body[0].q: deviation must be positive, both finite"),
        ({"body[0].q": "random(0,1)"}, "--count: say how many to draw, body[0].q is random"),
        ({"body[0].q": "0:1:9999", "body[1].q": "0:1:9999"}, "99980001 variations, of at most"),
    ],
)
def test_what_makes_no_sense_is_refused(vary, said):
    with pytest.raises(InputError) as caught:
        made(vary)
    assert said in f"{caught.value}$" and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "numbers", [(2, 1), (1, 1), ("a", 2), (0.0, np.inf), (np.nan, 1), (1, None)]
)
def test_a_uniform_law_is_refused_when_it_is_made(numbers):
    with pytest.raises(InputError, match="^low must be below high, both finite, got ") as caught:
        Uniform(*numbers)
    assert str(caught.value).endswith("got {!r} and {!r}".format(*numbers))


@pytest.mark.parametrize("numbers", [(0, -1), (0, 0.0), ("a", 2), (0.0, np.inf), (1, None)])
def test_a_normal_law_is_refused_when_it_is_made(numbers):
    with pytest.raises(InputError, match="^deviation must be positive, both finite, ") as caught:
        Normal(*numbers)
    assert str(caught.value).endswith("got {!r} and {!r}".format(*numbers))


def test_a_scenario_with_tuples_and_arrays():
    data = read(DOUBLE_PENDULUM) | {"gravity": (0.0, -9.8)}
    asked = ensemble(data, "file", {"gravity[1]": [-1, -2]})
    assert variation(asked.data, "file", {"gravity[1]": -1.0}).gravity == (0.0, -1.0)
    assert variation(data, "file", {"gravity[1]": -1.0}).gravity == (0.0, -1.0)
    assert data["gravity"] == (0.0, -9.8)
    assert ensemble(data | {"gravity": np.array([0.0, -9.8])}, "file", asked.varied) == asked


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        ("1:2:3", {"count": 5}, "--count: only with random values"),
        ("1:2:3", {"seed": 5}, "--seed: only with random values"),
        ("random(1,2)", {"count": 0}, "--count: must be a whole number of 1 to 10000000, got 0"),
        ("random(1,2)", {"count": 1.5}, "--count: must be a whole number of 1 to 10000000, got"),
        ("random(1,2)", {"count": 10**30}, "--count: must be a whole number of 1 to 10000000, got"),
        ("random(1,2)", {"count": 1, "seed": -1}, "--seed: must be a whole number of 0 or more,"),
        ("random(1,2)", {"count": 1, "seed": 1.5}, "--seed: must be a whole number of 0 or more,"),
    ],
)
def test_counts_and_seeds_that_make_no_sense(values, options, said):
    with pytest.raises(InputError, match=said):
        made({"body[0].mass": values}, **options)
