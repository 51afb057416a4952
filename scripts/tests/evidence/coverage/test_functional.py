"""Merging of what simulations met, on points made up for it; and the points that there are."""

import json
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from pymodel.algorithms.linalg import inv_ldup
from pymodel.arith.fp import Format
from pymodel.hardware.results import add_coverage
from pymodel.machine.registers import MAPS
from scripts.evidence.coverage import command
from scripts.evidence.coverage.functional import CoverageError, by_unit, fill, holes, read_met, rows
from scripts.evidence.coverage.units import all_points
from scripts.tests.evidence.coverage.made import NEVER, POINT
from tb.common.coverage import assembly, bus, engine, float_units, pivots, streams

pytestmark = pytest.mark.rtl_of()

SMALL = Format(4, 3)


def test_files_of_simulations_are_merged(tmp_path):
    add_coverage(tmp_path / "one.jsonl", {("unit", "pairs"): {(1, 3)}})
    add_coverage(tmp_path / "one.jsonl", {("unit", "pairs"): {(1, 4)}})
    add_coverage(tmp_path / "two.jsonl", {("unit", "pairs"): {(1, 3)}, ("other", "x"): {(True,)}})
    assert read_met(tmp_path) == {("unit", "pairs"): {(1, 3), (1, 4)}, ("other", "x"): {(True,)}}


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "one.jsonl").write_text('["unit", "pairs", [[1, ')
    with pytest.raises(CoverageError, match=r"one\.jsonl is damaged: remove it"):
        read_met(tmp_path)


def test_the_database_is_one_of_xml(tmp_path):
    file = tmp_path / "functional.xml"
    fill(all_points(), {}).export_to_xml(filename=str(file))
    points = [x for x in ElementTree.parse(file).iter() if x.get("abs_name", "").count(".") == 2]
    assert len(points) == len(all_points())


def test_what_was_not_met_is_named():
    met = {("unit", "pairs"): {(1, 3), (2, 4)}}
    database = fill([POINT], met)
    assert database["unit"].size == 3 and database["unit"].coverage == 2
    (row,) = rows([POINT])
    assert row == ("unit", "pairs", 3, 2, 1)
    assert by_unit([row]) == [{"unit": "unit", "bins": 3, "hit": 2, "excluded": 1}]
    assert [POINT.text(bin_) for bin_ in holes(POINT, met)] == ["a: 1, b: 4"]


@pytest.mark.parametrize(
    ("met", "what"),
    [
        ({("unit", "pairs"): {(2, 3)}}, NEVER),
        ({("unit", "pairs"): {(5, 3)}}, "no such bin.*run `make test` again"),
        ({("unit", "triples"): {(1,)}}, "no point 'triples'.*run `make test` again"),
    ],
)
def test_what_cannot_be_met_is_refused(met, what):
    with pytest.raises(CoverageError, match=what):
        fill([POINT], met)


def test_the_command_says_what_is_missing(tmp_path, met, capsys):
    assert command.main([]) == 2
    assert capsys.readouterr().err == "met is empty: run `make test` first\n"
    add_coverage(met / "one.jsonl", {("unit", "pairs"): {(1, 3), (1, 4)}})
    assert command.main([]) == 1
    assert "not met: unit, pairs: a: 2, b: 4" in capsys.readouterr().out
    add_coverage(met / "two.jsonl", {("unit", "pairs"): {(2, 4)}})
    assert command.main([]) == 0
    assert "coverage: 3 of 3 bins met, 1 unreachable" in capsys.readouterr().out
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary == [{"unit": "unit", "bins": 3, "hit": 3, "excluded": 1}]
    assert NEVER in (tmp_path / "index.html").read_text()
    database = ElementTree.parse(tmp_path / "functional.xml")
    assert [bin_.get("hits") for bin_ in database.iter() if "hits" in bin_.attrib].count("1") == 3


def test_every_unit_has_points_and_every_exclusion_a_reason():
    points = all_points()
    units = {point.unit for point in points}
    assert units >= {"fp_add", "fp_mul", "fp_recip", "fp_sincos", "inv_ldup", "hdca_engine"}
    assert units >= {map_.name for map_ in MAPS[1:]}
    names = [(point.unit, point.name) for point in points]
    assert len(set(names)) == len(names)
    for point in points:
        assert point.bins and all(point.excluded.values())


def bins_of(unit, point, *operands):
    columns = [np.array([x], dtype=np.uint64) for x in operands]
    return dict(float_units.sample(SMALL, unit, columns, np.zeros(1, int)))[point]


def test_bins_of_sums():
    fmt = SMALL
    one, half, ulp = (fmt.from_float(x) for x in (1.0, 0.0625, 0.125))
    same = ("add", "MAN_W + 1", "a", "tie, down to even")
    assert bins_of("fp_add", "rounding", one, half) == {same}
    assert bins_of("fp_add", "rounding", one | 1, half) == {(*same[:3], "tie, up to even")}
    assert bins_of("fp_add", "rounding", ulp, one) == {("add", "MAN_W", "b", "exact")}
    minus_half = half | fmt.sign_mask
    bins = bins_of("fp_add", "normalisation", one, minus_half)
    assert bins == {("subtract", "one left", "exact", False)}
    bins = bins_of("fp_add", "operands", fmt.inf, fmt.sign_mask | 1)
    assert bins == {("infinity", "+", "subnormal", "-", 0)}
    assert bins_of("fp_add", "rounding", one, fmt.inf) == set()
    assert bins_of("fp_add", "result", one, one | fmt.sign_mask) == {("subtract", "zero", "+")}


def test_bins_of_products_reciprocals_and_angles():
    fmt = SMALL
    x = fmt.from_float(1.125)
    bins = bins_of("fp_mul", "rounding", x, x)
    assert bins == {("below 2", "below half", False, "normal")}
    assert bins_of("fp_mul", "result", 8, 8 | fmt.sign_mask) == {("underflow", "-")}
    assert bins_of("fp_recip", "rounding", fmt.one) == {("exact", "normal")}
    for number in range(fmt.one, 2 * fmt.one):
        bits, _ = fmt.recip(number)
        exact = 1 / fmt.to_float(number)
        side = "rounded down" if fmt.to_float(bits) < exact else "rounded up"
        side = "exact" if fmt.to_float(bits) == exact else side
        bins = bins_of("fp_recip", "rounding", number)
        if fmt.to_float(bits) >= fmt.to_float(fmt.min_normal):
            assert {bin_[0] for bin_ in bins} == {side}
    angle = fmt.from_float(-1.625)
    assert bins_of("fp_sincos", "angle", angle) == {("-", "3", "below a turn")}


def test_pivots_are_counted_from_the_first_row_that_is_left():
    watched = pivots.Watched(Format(8, 23))
    matrix = [[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]
    inverse, singular = inv_ldup(watched, [[watched.const(x) for x in row] for row in matrix])
    assert watched.ranks(3) == [2, 1, 0] and not singular
    told = []
    pivots.cover(lambda point, bin_: told.append((point.name, bin_)), 3, 1, watched, inverse)
    assert ("sequence of pivots", (3, 5, "parallel")) in told
    assert ("outcome", ("parallel", pivots.REGULAR)) in told


def test_an_inverse_with_one_entry_that_is_not_finite():
    fmt = Format(8, 23)
    arithmetic, told = pivots.Watched(fmt), []
    entries = [[arithmetic.const(float(i == j)) for j in range(3)] for i in range(3)]
    infinite = arithmetic.const(float("inf"))

    def tell(point, bin_):
        if point is pivots.STATUS:
            told.append(bin_[1])

    for place in ((1, 1), (1, 2), (0, 0)):
        watched = pivots.Watched(fmt)
        inv_ldup(watched, entries)
        inverse = [list(row) for row in entries]
        inverse[place[0]][place[1]] = infinite
        pivots.cover(tell, 3, 0, watched, inverse)
    inverse[2][2] = infinite
    pivots.cover(tell, 3, 0, watched, inverse)
    assert told == [pivots.ONE_ON, pivots.ONE_OFF, pivots.ONE_ON, pivots.NOT_FINITE]


def test_answers_of_registers_are_the_maps():
    step = next(map_ for map_ in MAPS if map_.name == "step_engine")
    assert bus.responses(step, bus.NOTHING, "read", bus.IDLE) == ("SLVERR",)
    assert bus.responses(step, "ID", "write", bus.IDLE) == ("SLVERR",)
    assert bus.responses(step, "STEPS", "write", bus.BUSY) == ("SLVERR",)
    assert bus.responses(step, "STEPS", "write", bus.DONE) == ("OKAY",)
    assert bus.responses(step, "FILE_DATA", "read", bus.BUSY) == ("SLVERR",)
    assert bus.responses(step, "CTRL", "write", bus.BUSY) == ("OKAY",)
    assert bus.responses(step, "PROGRAM", "write", bus.IDLE) == ("OKAY", "SLVERR")


def test_distances():
    assert [engine.distance_of(x) for x in (0, 1, 2, 3, 9)] == ["0", "1", "2", "more", "more"]


def bins_told(cover, *arguments):
    """What a function tells, in its order: (name of the point, bin)."""
    told = []
    cover(lambda point, bin_: told.append((point.name, bin_)), *arguments)
    return told


def test_a_word_of_a_result_is_one_bin():
    params = {"PASSES": 2, "ADD_STAGES": 0, "MUL_STAGES": 1, "REC_STAGES": 0}
    for number, value in ((-1.5, "number"), (-0.0, "zero"), (float("nan"), "not finite")):
        words = [SimpleNamespace(bits=SMALL.from_float(number))]
        told = bins_told(assembly.cover_words, params, "disassembly", SMALL, words)
        assert told == [("results", (2, "disassembly", "some", value))]


def test_a_run_is_one_bin_of_each_of_its_points():
    told = bins_told(engine.cover_run, 1, 0, 3, 2, 0, True)
    assert told == [
        ("segments of a run", ("none", "one", "stopped")),
        ("trace of a run", ("every other step or less", "registers", "empty")),
    ]


def test_a_cycle_of_a_stream_is_one_handshake(monkeypatch):
    """And a beat that moves has waited before, or not."""
    monkeypatch.setattr(streams.cocotb, "start_soon", lambda running: running.close())
    monkeypatch.setattr(streams, "inside", lambda dut: dut)
    ports = [
        f"{prefix}_t{name}"
        for prefix in ("s_axis", "m_axis")
        for name in ("valid", "ready", "last")
    ]
    names = ("clk_i", "rst_ni", "parts_rst_n", "busy", "done_state", *ports)
    dut, told = SimpleNamespace(**{name: SimpleNamespace(value=0) for name in names}), []
    watch = streams.Watch(dut, (4, 4), lambda point, bin_: told.append((point.name, *bin_)))

    def cycle(**values):
        for name, value in values.items():
            getattr(dut, name).value = value
        told.clear()
        watch._cycle()
        return told

    assert cycle() == [
        ("handshakes", "calls", streams.QUIET, bus.IDLE),
        ("handshakes", "results", streams.QUIET, bus.IDLE),
    ]
    assert cycle(busy=1, s_axis_tvalid=1, m_axis_tready=1) == [
        ("handshakes", "calls", streams.HELD, bus.BUSY),
        ("handshakes", "results", streams.STARVED, bus.BUSY),
    ]
    assert cycle(s_axis_tready=1) == [
        ("handshakes", "calls", streams.MOVES, bus.BUSY),
        ("beats held back", "calls", "first", True),
    ]
    assert cycle(s_axis_tlast=1) == [("beats held back", "calls", "last", False)]
