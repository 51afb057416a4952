"""Whole runs in simulated RTL: benches that a command gives its configuration, and their tests.

Each module is the bench of one piece of hardware: ``BENCH``, whose one configuration :data:`CONFIG`
a run derives its parameters and settings from, and the cocotb tests beside it. The benches of the
same names in ``tb/`` are made of the same parts with the configurations of the regression.
"""
