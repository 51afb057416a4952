"""A short version of the campaign of kills."""

from pymodel.tests.processes import NEEDED
from pymodel.tests.runs import kills


@NEEDED
def test_kills_leave_nothing_that_is_taken_for_whole():
    """A run's kind takes longer: what it writes with is killed in test_whole.py."""
    ends = kills.campaign(4, seed=3, kinds=[kills.Call, kills.Sweep])
    assert ends.total() == 4 and any("killed" in ended for ended in ends)
