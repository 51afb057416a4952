"""Points of the step engine and the step array, of the configuration that shows all paths."""

from collections.abc import Iterator

from pymodel.hardware import step_array, step_engine
from pymodel.hardware.bench import Bench
from pymodel.hardware.coverage_point import Point
from tb.common.array_tables import StreamCoverage
from tb.common.coverage import engine
from tb.common.step_programs import Coverage


def of_engine(bench: Bench) -> Iterator[Point]:
    """Those of the step engine, by its bench."""
    machine = step_engine.machine_of(bench.configs[engine.CONFIGS[engine.ENGINE]].params)
    yield engine.cases(engine.ENGINE, machine, Coverage(machine).wanted)
    yield engine.hazards(machine)
    yield from (engine.SEGMENTS, engine.TRACES)


def of_array(bench: Bench) -> Iterator[Point]:
    """Those of the step array, by its bench; its streams have their own."""
    machine = step_array.machine_of(bench.configs[engine.CONFIGS[engine.ARRAY]].params)
    yield engine.cases(engine.ARRAY, machine, StreamCoverage(machine).wanted)
