"""Measurements of float units."""

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scripts.evidence.cost.float_formats import BINARY32, FloatFormat, format_name
from scripts.evidence.cost.job import AREA, SPEED, Job, config_of

#: The configuration with the flags connected.
FLAGS = "flags"
#: A multiplier without infinities and NaN.
ZERO_ONLY = "zero only"
#: Name and METHOD of the reciprocal by table: fp_pkg::RECIP_TABLE.
TABLE = "table"
RECIP_TABLE = 1


class Ports(NamedTuple):
    """Inputs and outputs of a unit besides `clk_i`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


UNARY = Ports(("a_i",), ("y_o",))
BINARY = Ports(("a_i", "b_i"), ("y_o",))
SINCOS = Ports(("a_i",), ("sin_o", "cos_o"))
HANDSHAKE = Ports(("rst_ni", "valid_i", "a_i", "ready_i"), ("ready_o", "valid_o", "y_o"))


def unit_jobs(
    unit: str,
    ports: Ports,
    all_stages: Iterable[int | None],
    variant: str = "",
    fmt: FloatFormat = BINARY32,
    **parameters: int,
) -> Iterator[Job]:
    """A unit on xc7 for speed and for least area, and placed on ecp5.

    Parameters
    ----------
    unit : str
        The module.
    ports : Ports
    all_stages : iterable of int or None
        Its STAGES, each measured; None: without that parameter.
    variant : str
        What the configurations are called besides `speed` and `area`.
    fmt : tuple of int
    parameters
        Others of the module, with their values.
    """
    extra = (variant, format_name(fmt) if fmt != BINARY32 else "")
    flagged = (*ports.outputs, "flags_o")
    for stages in all_stages:
        values = ({} if stages is None else {"STAGES": stages}) | parameters
        job = functools.partial(
            Job, unit, stages=stages, inputs=ports.inputs, parameters=values, fmt=fmt
        )
        yield job(config_of(SPEED, *extra), "xc7", outputs=ports.outputs)
        yield job(config_of(AREA, *extra), "xc7", outputs=ports.outputs)
        if stages == 0:
            yield job(config_of(AREA, FLAGS, *extra), "xc7", outputs=flagged)
        yield job(config_of(SPEED, *extra), "ecp5", outputs=ports.outputs)
