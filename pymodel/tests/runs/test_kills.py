"""A short version of the campaign of kills."""

from pathlib import Path

import pytest

from pymodel.tests.runs import kills


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_kills_leave_nothing_that_is_taken_for_whole():
    ends = kills.campaign(10, seed=3)
    assert ends.total() == 10 and any("killed" in ended for ended in ends)
