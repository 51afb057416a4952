"""`make test CHANGED=1`: leaves out tests that have passed with the same inputs.

What these are is in :mod:`scripts.kernel.inputs`; docs/changed.md has the rules.
"""
