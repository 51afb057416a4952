"""The host's own program streams calls of a robot through the array, over the board's pins."""

from pymodel.hardware.cosim import board
from tb.cosim_board_array.bench import BENCH

host_program = board.test_of(BENCH)
test_cosim_board_array = BENCH.pytest()
