"""All points, by unit."""

from collections.abc import Iterator

from pymodel.hardware import step_array, step_engine
from pymodel.hardware.coverage_point import Point
from tb.common.array_tables import StreamCoverage
from tb.common.coverage import assembly, bus, engine, float_units, pivots, streams
from tb.common.step_programs import Coverage
from tb.fp_add.bench import BENCH as FP_ADD
from tb.fp_mul.bench import BENCH as FP_MUL
from tb.fp_recip.bench import BENCH as FP_RECIP
from tb.fp_sincos.bench import BENCH as FP_SINCOS
from tb.step_array.bench import BENCH as STEP_ARRAY
from tb.step_engine.bench import BENCH as STEP_ENGINE


def all_points() -> list[Point]:
    """Every point of every unit; finding what is unreachable takes seconds."""
    return [
        *_of_float_units(),
        *pivots.POINTS,
        *assembly.POINTS,
        *_of_engines(),
        *bus.points(),
    ]


def _of_float_units() -> Iterator[Point]:
    for bench in (FP_ADD, FP_MUL, FP_RECIP, FP_SINCOS):
        yield from float_units.points(bench.unit, bench.max_stages)


def _of_engines() -> Iterator[Point]:
    machine = step_engine.machine_of(STEP_ENGINE.configs[engine.CONFIGS[engine.ENGINE]].params)
    yield engine.cases(engine.ENGINE, machine, Coverage(machine).wanted)
    yield engine.hazards(machine)
    yield from (engine.SEGMENTS, engine.TRACES)
    machine = step_array.machine_of(STEP_ARRAY.configs[engine.CONFIGS[engine.ARRAY]].params)
    yield engine.cases(engine.ARRAY, machine, StreamCoverage(machine).wanted)
    yield from streams.POINTS
