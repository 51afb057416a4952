"""Points of the register bus: every register, every access, every answer, in every state."""

from pymodel.hardware.bench import Bench
from pymodel.hardware.coverage_point import Bin, Point
from pymodel.machine.registers import MAPS, READ_WRITE, Home, Map

ACCESSES = ("read", "write", "write of one byte")
OKAY, SLVERR = RESPONSES = ("OKAY", "SLVERR")
IDLE, BUSY, DONE = STATES = ("idle", "busy", "done")
NOTHING = "no register"
POINT = "accesses"
#: May be read, but there may be nothing to read, in any state.
EMPTY = ("TRACE_DATA",)


def responses(map_: Map, name: str, access: str, state: str) -> tuple[str, ...]:
    """The answers that an access can have: one, or two where it depends on the value.

    Parameters
    ----------
    map_ : Map
    name : str
        Of a register, or `NOTHING`.
    access, state : str
        Of `ACCESSES` and `STATES`.
    """
    if name == NOTHING:
        return (SLVERR,)
    register = map_[name]
    if access == "read":
        if name in EMPTY:
            return RESPONSES
        return (SLVERR,) if register.locked and state == BUSY else (OKAY,)
    if register.access != READ_WRITE:
        return (SLVERR,)
    if register.home is Home.CONTROL:
        return (OKAY,)
    if state == BUSY:
        return (SLVERR,)
    if register.whole:
        return (OKAY,) if access == "write" else (SLVERR,)
    return RESPONSES if register.checked else (OKAY,)


def point(map_: Map) -> Point:
    """The accesses of a top-level module's registers."""

    def why_not(bin_: Bin) -> str:
        name, access, response, state = bin_
        possible = responses(map_, name, access, state)
        return "" if response in possible else f"the map says {possible[0]}"

    names = (*(register.name for register in map_.registers), NOTHING)
    parts = {"register": names, "access": ACCESSES, "response": RESPONSES, "state": STATES}
    return Point(map_.name, POINT, parts, why_not)


def of_bench(bench: Bench) -> Point:
    """That of the top-level module of a bench."""
    return point(next(map_ for map_ in MAPS if map_.name == bench.device.toplevel))
