"""Tests keep what others need, too: recordings of millions of objects."""

import gc
import sys

import pytest

from pymodel.mechanism import lending

#: Allocations before a collection of the youngest objects, and such collections before one of the
#: next generation. With Python's own, 700, 10 and 10, a third of the time goes into what stays.
THRESHOLDS = 50_000, 20, 20


@pytest.fixture
def unlent():
    """Bodies lend each other nothing: joints lose the digits that the watch is there for."""
    with lending.chosen_by(lending.nothing):
        yield


@pytest.fixture
def undrawn(request, monkeypatch):
    """Pictures of runs are empty, which saves seconds, but where a test is `drawn`."""
    if "drawn" in request.fixturenames:
        return
    from matplotlib.figure import Figure

    from pymodel.runs import plots

    monkeypatch.setattr(plots, "KINDS", dict.fromkeys(plots.KINDS, lambda *arguments: Figure()))


@pytest.fixture
def drawn():
    """With its pictures, in a module whose tests are `undrawn`."""


def pytest_configure():
    gc.set_threshold(*THRESHOLDS)


def pytest_sessionfinish():
    """What is kept ends with the process: looking through it at the end takes seconds.

    Not so after tests with pyslang, which says on the terminal what it finds left over.
    """
    if "pyslang" not in sys.modules:
        gc.freeze()
