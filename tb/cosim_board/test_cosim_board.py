"""The host's own program runs a scenario on the board, over its pins."""

from pymodel.hardware.cosim import board
from tb.cosim_board.bench import BENCH

host_program = board.test_of(BENCH)
test_cosim_board = BENCH.pytest()
