"""``make code-coverage``: Verilator's line, branch and toggle coverage, merged over the benches.

``runs`` says which configurations are simulated, ``points`` reads what Verilator counted,
``waivers`` says why a hole is none (``waivers.toml``), ``command`` does it all and ``document``
writes docs/code_coverage.md.
"""
