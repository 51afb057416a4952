"""Arithmetic: floats of any format, and the scalars that the algorithm text is written in."""
