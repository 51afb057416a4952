"""Measurements: `make bench` and `make longrun`. A testbench is a folder of tb, not of this."""
