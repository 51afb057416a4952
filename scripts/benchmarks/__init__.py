"""Measurements: `make benchmarks` and `make longrun`. A bench is a testbench, see tb/."""
