"""Rigid-body functions of robots in space, as algorithm text."""
