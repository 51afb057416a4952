"""Measurements: `make bench` and `make longrun`. A bench is a testbench, see tb/."""
