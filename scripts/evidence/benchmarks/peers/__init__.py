"""Other libraries' times for what the native kernels do, their loops in C++ and C.

Each peer is a small program that is compiled here, run on its own, and checked against this
project's model before its time counts.
"""
