"""`make test CHANGED=1`: leaves out tests whose result should be that of the last green runs.

They passed with the same inputs (:mod:`scripts.changed.inputs`), or are simulations of changed RTL
that is proved to behave as before (:mod:`scripts.changed.carried`). docs/changed.md has the rules.
"""
