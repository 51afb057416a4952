"""Mechanisms by HDCA: a bit-exact model of the hardware, and what compiles programs for it.

What a user needs has a flat name here; docs/python_api.md shows it at work::

    import pymodel

    run = pymodel.simulate(pymodel.load("scenarios/four_bar.toml"), "float32")
    print(run.t.shape, run.q.shape)

Angles are in rad, lengths in m, momenta in N m s or N s, everything else in SI units; arrays are
numpy's, float64. All exceptions derive from :class:`Error`, or are a ``ValueError``; their text is
one line. A module is imported when one of its names is used first: ``__init__.pyi`` lists them.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

#: Public name -> module, and its name there.
_HOMES = {
    alias.asname: (node.module, alias.name)
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text()).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Find a public name in its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _HOMES[name]
    return getattr(import_module(module), own)


def __dir__() -> list[str]:
    """List the public names alone."""
    return sorted(__all__)
