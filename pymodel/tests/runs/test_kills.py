"""A short version of the campaign of kills."""

from pymodel.tests.processes import NEEDED
from pymodel.tests.runs import kills


@NEEDED
def test_kills_leave_nothing_that_is_taken_for_whole():
    """The other kinds take longer: test_whole.py and test_sweep.py kill what they write with."""
    ends = kills.campaign(6, seed=3, kinds=[kills.Call])
    assert ends.total() == 6 and any("killed" in ended for ended in ends)
