"""Names and limits of simulations, which nothing has to be imported for."""

SIMULATORS = ("icarus", "verilator")
MAX_SEED = 2**31 - 1
