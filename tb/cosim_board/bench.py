"""The engine behind a serial line, with a host's whole program at the other end of it."""

from pymodel.hardware.cosim.board import FAST, FASTEST_BAUD, bench, config

BENCH = bench([config(FAST, FASTEST_BAUD, 2, NUM_ADD=1, NUM_MUL=1)])
