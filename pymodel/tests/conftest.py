"""Tests keep what others need, too: recordings of millions of objects."""

import gc

#: Allocations before a collection of the youngest objects, and such collections before one of the
#: next generation. Python's own, 700, 10 and 10, spend a third of the time on looking at what stays.
THRESHOLDS = 50_000, 20, 20


def pytest_configure():
    gc.set_threshold(*THRESHOLDS)
