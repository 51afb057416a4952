"""What two devices have, and what they have too little of."""

from collections.abc import Mapping

#: The paper's, in cells of xc7.
ZYNQ_7020 = {"lut": 53_200, "dsp": 220, "bram": 140, "ff": 106_400}
LFE5U_85F = {"lut": 83_640, "dsp": 156, "bram": 208, "ff": 83_640}


def too_much(counts: Mapping[str, float], device: Mapping[str, int]) -> str:
    """What a device has too little of, as text: `216 of 156 DSP`; empty if all fits."""
    over = (name for name, limit in device.items() if counts[name] > limit)
    return ", ".join(f"{counts[name]:g} of {device[name]} {name.upper()}" for name in over)


def ecp5_note(counts: Mapping[str, float]) -> str | None:
    """What an LFE5U-85F has too little of; None if all fits."""
    over = too_much(counts, LFE5U_85F)
    return f"does not fit: {over}" if over else None


def zynq_note(counts: Mapping[str, float]) -> str | None:
    """Shares of a Zynq 7020, where a LUT of a memory is one of its LUTs."""
    over = too_much({**counts, "lut": counts["lut"] + counts["lutram"]}, ZYNQ_7020)
    return f"does not fit a Zynq 7020: {over}" if over else None
