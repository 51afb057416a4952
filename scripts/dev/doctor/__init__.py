"""`make doctor`: what is installed, what is missing, and the command that gets it.

It runs before set-up, so it needs the standard library of Python 3.6 and nothing else; annotations
that this Python does not know are quoted.
"""
