"""A waveform and what its simulation was."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pymodel.hardware.model_signals import DIFFERS, SCOPE, signal_name
from scripts.dev.waves import fst
from scripts.dev.waves.problem import Problem


@dataclass(frozen=True)
class Waveform:
    """A waveform and what its simulation was (pymodel/hardware/bench.py writes both).

    Attributes
    ----------
    path : Path
    signals : dict
        Path in the hierarchy -> `fst.Signal`.
    about : dict
        What the JSON next to the waveform says; empty without that file.
    """

    path: Path
    signals: dict[str, fst.Signal]
    about: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "Waveform":
        """The waveform of a file.

        Raises
        ------
        Problem
            If it is not a complete waveform.
        """
        try:
            found = fst.signals(path)
        except fst.FstError as error:
            raise Problem(str(error)) from error
        beside = path.with_suffix(".json")
        about = json.loads(beside.read_text()) if beside.exists() else {}
        return cls(path, found, about)

    @property
    def params(self) -> dict[str, int]:
        """Parameters of the top level."""
        return self.about.get("params", {})

    @property
    def float_format(self) -> tuple[int, int] | None:
        """Exponent and mantissa bits, if the top level has them as parameters."""
        if {"EXP_W", "MAN_W"} <= self.params.keys():
            return self.params["EXP_W"], self.params["MAN_W"]
        return None

    def modelled(self, path: str) -> tuple[str, str] | None:
        """Paths of what the model says of a signal, and of whether that differs.

        Parameters
        ----------
        path
            Below the top level.

        Returns
        -------
        tuple of str, or None
            None if the model said nothing of it.
        """
        if path not in self.about.get("model", ()):
            return None
        scope = next((at for at in self._scopes if at.split(".")[-1] == SCOPE), None)
        name = f"{scope}.{signal_name(path)}"
        return (name, name + DIFFERS) if scope else None

    @cached_property
    def _scopes(self) -> list[str]:
        """Its scopes, the uppermost first."""
        scopes = {path.rpartition(".")[0] for path in self.signals}
        return sorted(scopes, key=lambda scope: (scope.count("."), scope))

    @property
    def top(self) -> str:
        """The scope of the top-level module (Verilator has its ports in another one too).

        Raises
        ------
        Problem
            If there is none.
        """
        name = self.about.get("toplevel")
        if name:
            scopes = [scope for scope in self._scopes if scope.split(".")[-1] == name]
        else:
            scopes = [scope for scope in self._scopes if scope and not scope.startswith("$")]
        if not scopes:
            raise Problem(f"{self.path} has no top level {name or ''}".rstrip())
        return scopes[0]
