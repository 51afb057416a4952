"""Limits of what a scenario may ask for."""

MAX_STEPS = 2**32 - 2  # the step engine counts them, and one evaluation more, in 32 bits
