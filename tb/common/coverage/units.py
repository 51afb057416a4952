"""All points, by unit."""

from collections.abc import Iterator

from tb.common import step_array, step_engine
from tb.common.array_tables import StreamCoverage
from tb.common.configs import MAX_STAGES, RECIP_MAX_STAGES
from tb.common.coverage import assembly, bus, engine, float_units, pivots
from tb.common.coverage.point import Point
from tb.common.step_programs import Coverage
from tb.step_array.bench import BENCH as STEP_ARRAY
from tb.step_engine.bench import BENCH as STEP_ENGINE

SINCOS_MAX_STAGES = 16


def _of_engines() -> Iterator[Point]:
    machine = step_engine.machine_of(STEP_ENGINE.configs[engine.CONFIGS[engine.ENGINE]].params)
    yield engine.cases(engine.ENGINE, machine, Coverage(machine).wanted)
    yield engine.hazards(machine)
    yield from (engine.SEGMENTS, engine.TRACES)
    machine = step_array.machine_of(STEP_ARRAY.configs[engine.CONFIGS[engine.ARRAY]].params)
    yield engine.cases(engine.ARRAY, machine, StreamCoverage(machine).wanted)


def all_points() -> list[Point]:
    """Every point of every unit; finding what is unreachable takes seconds."""
    return [
        *float_units.points("fp_add", MAX_STAGES),
        *float_units.points("fp_mul", MAX_STAGES),
        *float_units.points("fp_recip", RECIP_MAX_STAGES),
        *float_units.points("fp_sincos", SINCOS_MAX_STAGES),
        *pivots.POINTS,
        *assembly.POINTS,
        *_of_engines(),
        *bus.points(),
    ]
