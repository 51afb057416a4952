"""A scoreboard is red for all that may not be."""

import pytest

pytestmark = pytest.mark.rtl_of()


def seen_after(board, expected, got):
    board.expect("y_o", expected)
    board.observe("y_o", got)


def left_behind(board):
    board.compare("x_o", 1, 1)
    board.expect("y_o", 1)
    board.finish()


#: What is wrong -> how a scoreboard meets it, what it says.
WRONG = {
    "a value": (lambda board: board.compare("y_o", 1, 2), "y_o differs"),
    "a word of many": (lambda board: board.compare_all("y_o", [1, 2], [1, 3]), r"y_o\[1\] differs"),
    "too few words": (lambda board: board.compare_all("y_o", [1], [1, 2]), "words of y_o differs"),
    "too many words": (lambda board: board.compare_all("y_o", [1, 2], [1]), "words of y_o differs"),
    "a lane": (lambda board: board.compare_lanes("y_o", 0x21, [1, 3], 4), r"y_o\[1\] differs"),
    "what came": (lambda board: seen_after(board, 2, 1), "y_o differs"),
    "that it came": (lambda board: board.observe("y_o", 1), "nothing was expected"),
    "that it never came": (left_behind, "expected but never came: {'y_o': 1}"),
    "nothing checked": (lambda board: board.finish(), "no transaction was checked"),
    "unknown bits": (lambda board: board.known("y_o", "1x"), "y_o has unknown bits"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_red(board, what):
    meet, said = WRONG[what]
    with pytest.raises(AssertionError, match=said):
        meet(board)


def test_what_is_right_is_counted(board):
    board.compare("y_o", 1, 1)
    board.compare_all("y_o", [1, 2], [1, 2])
    board.compare_lanes("y_o", 0x21, [1, 2], 4)
    seen_after(board, 1, 1)
    board.finish()
    assert board.transactions == 6
