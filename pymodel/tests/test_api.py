"""The public names of the package, and what they are good for beyond their modules' tests."""

import dataclasses
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import pymodel
from pymodel.tests.places import ROOT, SCENARIOS

PAGE = (ROOT / "docs" / "python_api.md").read_text()
DOUBLE_PENDULUM = SCENARIOS / "double_pendulum.toml"


def three(arithmetic, values):
    a, b, c = (values[name] for name in "abc")
    return {"product": a * b, "sum": a * b + c, "reciprocal": arithmetic.recip(a + c)}


@pytest.mark.parametrize("name", pymodel.__all__)
def test_public_name(name):
    thing = getattr(pymodel, name)
    assert thing.__doc__ and name in dir(pymodel)
    if inspect.isfunction(thing):
        assert "Parameters" in thing.__doc__ and "return" in thing.__annotations__


@pytest.mark.parametrize("name", [n for n in pymodel.__all__ if n != "Twin"])
def test_public_name_is_on_the_page(name):
    assert re.search(rf"\b{name}\b", PAGE)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        pymodel.simulat  # noqa: B018, the look-up is the test


def test_the_package_alone_imports_little():
    """Processes that need one module do not load scipy for the others."""
    code = "import sys, pymodel; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_call_with_numbers():
    call = pymodel.prepare_call(pymodel.Machine(), pymodel.record(three, inputs="abc"))
    a = np.array([0.1, 0.2, 0.3])
    found = call.evaluate({"a": a, "b": 3.0, "c": [0.25, 0.5, 1.0]})
    single = np.float32
    want = a.astype(single) * single(3.0)
    np.testing.assert_array_equal(found["product"], want)
    np.testing.assert_array_equal(found["sum"], want + np.array([0.25, 0.5, 1.0], single))
    assert found["reciprocal"].dtype == np.float64 and found["reciprocal"].shape == (3,)
    assert call.evaluate({"a": 1.0, "b": 2.0, "c": 1.0})["sum"].tolist() == [3.0]


def test_calls_with_numbers_that_cannot_be():
    call = pymodel.prepare_call(pymodel.Machine(), pymodel.record(three, inputs="abc"))
    with pytest.raises(ValueError, match="inputs must be a, b, c; missing or unknown: c"):
        call.evaluate({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="shape"):
        call.evaluate({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0], "c": 0.0})
    with pytest.raises(pymodel.NonFiniteError, match="evaluation 1: a result is infinite"):
        call.evaluate({"a": [1.0, 0.0, 1.0], "b": 1.0, "c": 0.0})


def test_other_parameters_in_the_same_program():
    scenario = pymodel.load(DOUBLE_PENDULUM)
    kernel, machine = pymodel.recorded("rates", scenario), pymodel.Machine()
    call = pymodel.prepare_call(machine, kernel)
    heavy = dataclasses.replace(scenario.bodies[1], mass=2.0, com=(0.11, 0.0))
    other = dataclasses.replace(scenario, bodies=(scenario.bodies[0], heavy))
    fresh = pymodel.recorded("rates", other)
    image = call.program.image(kernel.values(machine.fmt, fresh.parameters))
    at = {"q[0]": 0.5, "q[1]": -0.2, "p[0]": 0.3, "p[1]": 0.1}
    found = dataclasses.replace(call, image=image).evaluate(at)
    assert found == pymodel.prepare_call(machine, fresh).evaluate(at) != call.evaluate(at)


def test_parameters_of_another_structure():
    scenario = pymodel.load(DOUBLE_PENDULUM)
    kernel = pymodel.recorded("rates", scenario)
    damped = dataclasses.replace(scenario.bodies[1], damping=0.1)
    other = dataclasses.replace(scenario, bodies=(scenario.bodies[0], damped))
    parameters = pymodel.recorded("rates", other).parameters
    with pytest.raises(ValueError, match=r"missing or unknown: body\[1\].damping"):
        kernel.values(pymodel.Format(8, 23), parameters)
    with pytest.raises(ValueError, match="missing or unknown"):
        kernel.values(pymodel.Format(8, 23), {})
