"""The reference of scenario files, against the parser."""

import re
import tomllib

import numpy as np
import pytest

from pymodel.mechanism.scenario import FIXED, JOINTS, REVOLUTE, Body, Loop, Spring
from pymodel.mechanism.scenario_file import parse
from pymodel.mechanism.schema import BODY, LOOP, SPRING, TABLES, Default
from pymodel.runs.simulate import simulate
from scripts.evidence import scenario_reference

pytestmark = pytest.mark.rtl_of()


def test_the_reference_is_not_stale():
    """`make reference` writes it."""
    stale = f"{scenario_reference.DOC.name} is stale or was edited: `make reference` writes it"
    assert scenario_reference.DOC.read_text() == scenario_reference.document(), stale


EXAMPLES = re.findall(r"```toml\n(.*?)```", scenario_reference.document(), re.S)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: tomllib.loads(text)["name"])
def test_its_examples_run(example):
    """Mechanisms that are written from the reference alone."""
    scenario = parse(tomllib.loads(example) | {"time": {"step": 1e-4, "end": 0.01}})
    run = simulate(scenario)
    assert len(run) == 101 and run.loop_position.max() < 1e-6
    assert np.isfinite(run.p).all() and np.ptp(run.kinetic) > 0.0


def test_its_examples_show_every_joint():
    """But a fixed one, of which there is nothing to show."""
    bodies = [body for text in EXAMPLES for body in tomllib.loads(text)["body"]]
    assert {body.get("joint", REVOLUTE) for body in bodies} == set(JOINTS) - {FIXED}


def test_every_key_of_the_mechanism_is_in_the_schema():
    assert [key.name for key in BODY] == list(Body.__dataclass_fields__)
    computed = "kept"  # of a loop: what the dynamics use of its constraints
    assert [*(key.name for key in LOOP), computed] == list(Loop.__dataclass_fields__)
    assert [key.name for key in SPRING] == list(Spring.__dataclass_fields__)


def test_defaults_are_those_of_the_mechanism():
    for keys, kind in ((BODY, Body), (SPRING, Spring)):
        for key in keys:
            if not isinstance(key.default, Default):
                assert key.default == kind.__dataclass_fields__[key.name].default, key.name


def test_every_key_says_what_it_means():
    for keys in TABLES.values():
        for key in keys:
            assert key.text and key.kind in scenario_reference.KINDS
            assert key.default is not Default.COMPUTED or key.default_text
