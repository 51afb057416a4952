"""Parameters of the RTL: each is varied, each legal value is drawn or a reason is given, and what
is illegal is refused.

One that has to keep its default would be a `localparam`.
"""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.hardware import step_array, step_engine
from pymodel.hardware.simulators import SIMULATORS
from scripts.evidence.parameters import elaborate, runs
from scripts.evidence.parameters.document import DOC, document, gaps, missing, spans
from scripts.evidence.parameters.elaborate import (
    beyond,
    combinations,
    edges,
    elaborated,
    least,
    limits,
    problem,
)
from scripts.evidence.parameters.legal import NOT_RUN, SPACES, UNBOUNDED, Values
from scripts.kernel.benches import all_benches
from tb.common.fp_bench import FloatBench

RANDOM = [bench for bench in all_benches() if bench.random]
#: Tops whose parameters make a machine of the model.
MACHINES = {"step_engine": step_engine, "step_array": step_array}
#: Contexts that round even less than no stages up to a depth that a unit can have.
BARREL = {"CONTEXTS": 16, "READ_STAGES": 2, "OPERAND_STAGES": 1}
SPACE_OF = {
    bench.name: SPACES[module]
    for bench in RANDOM
    if (module := bench.unit if isinstance(bench, FloatBench) else bench.device.toplevel) in SPACES
}


def varied_by_benches():
    """(module, parameter) that has more than one value in the configurations of its benches."""
    found = {}
    for bench in all_benches():
        top = bench.device.toplevel
        for name in runs.parameters()[top]:
            values = found.setdefault((top, name), set())
            values |= {c.params.get(name) for c in bench.configs.values()}  # None: the default
            values |= set(bench.random.ranges.get(name, ()) if bench.random else ())
            simulated = [bench.simulated_params(simulator, False) for simulator in SIMULATORS]
            values |= {params[name] for params in simulated if name in params}
    return {at for at, values in found.items() if len(values) > 1}


def unvaried():
    known = varied_by_benches() | set(runs.parents())
    all_ = {(module, name) for module, has in runs.parameters().items() for name in has}
    return {f"{module}.{name}" for module, name in all_ - known}


def test_every_parameter_is_varied():
    remedy = "each needs a second value in a configuration of a bench (tb/*/bench.py)"
    assert unvaried() == set(), remedy


@pytest.mark.parametrize("removed", ["DSP_W", "TRACE_DEPTH"])
def test_a_parameter_that_no_bench_sets_is_found(monkeypatch, removed):
    """Both ways: an instance that does not pass it on, and configurations without it."""
    for bench in all_benches():
        for config in bench.configs.values():
            monkeypatch.delitem(config.params, removed, raising=False)
        if bench.random:  # its ranges have an order, so they are not changed in place
            ranges = {name: x for name, x in bench.random.ranges.items() if name != removed}
            monkeypatch.setattr(bench, "random", replace(bench.random, ranges=ranges))
    assert any(name.endswith(f".{removed}") for name in unvaried())


def test_the_document_is_current():
    assert DOC.read_text() == document(), "run `make parameters`"


def test_every_legal_value_is_drawn_or_has_its_reason():
    assert gaps().keys() == NOT_RUN.keys()


def test_a_value_that_is_drawn_no_more_is_found(monkeypatch):
    bench = next(bench for bench in RANDOM if bench.name == "hdca_engine")
    ranges = bench.random.ranges | {"REC_STAGES": range(7)}
    monkeypatch.setattr(bench, "random", replace(bench.random, ranges=ranges))
    assert gaps()["hdca_engine", "REC_STAGES"] == "7-8"


@pytest.mark.parametrize("name", SPACE_OF)
def test_what_is_drawn_is_legal(name):
    bench = next(bench for bench in RANDOM if bench.name == name)
    space, rng = SPACE_OF[name], np.random.default_rng(1)
    for _ in range(100):
        params = bench.random.draw_one(rng).params
        given = elaborate.least(space) | {n: params[n] for n in space.values.keys() & params}
        assert space.is_legal(given), given


@pytest.mark.parametrize(
    "module", [pytest.param(module, marks=pytest.mark.rtl_of(module)) for module in SPACES]
)
@pytest.mark.nightly(every=3)
def test_legal_is_taken_and_illegal_refused(module):
    """Two random combinations, one at or beyond a limit; `make parameters COUNT=` takes more."""
    space = SPACES[module]
    for parameters in combinations(space, np.random.default_rng([1, *module.encode()]), 2):
        said = problem(space, parameters)
        assert not said, f"{said}\n  rerun  make parameters COUNT=2 SEED=1"


@pytest.mark.parametrize(
    ("module", "given", "said"),
    [
        ("step_engine", {"CONTEXTS": 0}, "CONTEXTS 0 must be 1 to 16"),
        ("step_engine", {"PROGRAM_DEPTH": 1}, "PROGRAM_DEPTH 1 must be at least 2"),
        ("step_array", {"DATAPATHS": 0}, "DATAPATHS 0 must be 1 to"),
        ("ldup_coprocessor", {"N": 1}, "N is 1, must lie in 2..8"),
        ("ldup_coprocessor", {"REC_STAGES": 8}, "REC_STAGES 8 does not fit register CONFIG"),
        ("fp_recip", {"DSP_W": 16}, "DSP_W is 16, must be at least 17"),
        ("fp_recip_stream", {"METHOD": 2, "STAGES": 9}, "STAGES is 9, must lie in 0..8"),
        ("fp_recip_stream", {"METHOD": 2, "STAGES": -1}, "STAGES is -1, must lie in 0..8"),
        ("step_engine", BARREL | {"ADD_STAGES": -1}, "STAGES is -1, must lie in 0..6"),
        ("step_engine", BARREL | {"SINCOS_STAGES": -3}, "STAGES is -3, must lie in 0..16"),
        ("step_engine", BARREL | {"SINCOS_STAGES": 17}, "STAGES is 17, must lie in 0..16"),
        ("step_array", BARREL | {"MUL_STAGES": -1}, "STAGES is -1, must lie in 0..6"),
        ("step_array", BARREL | {"REC_STAGES": -1}, "STAGES is -1, must lie in 0..8"),
        ("step_engine", {"READ_STAGES": 1, "BLOCK_RAM": 2}, "BLOCK 2 must be 0 or 1"),
        ("step_array", {"READ_STAGES": 1, "BLOCK_RAM": -1}, "BLOCK -1 must be 0 or 1"),
        ("step_array", {"IN_DEPTH": 1 << 17}, "IN_DEPTH 131072 must be a power of two, 2 to 65536"),
        ("step_array", {"OUT_DEPTH": 1 << 17}, "OUT_DEPTH 131072 must be a power of two, 2 to 655"),
        ("step_array", {"SCRATCH_DEPTH": 1}, "SCRATCH_DEPTH 1 must be 0 or a power of two, 2 to"),
        ("step_array", {"SCRATCH_DEPTH": 1 << 17}, "SCRATCH_DEPTH 131072 must be 0 or a power of"),
        ("step_engine", {"CONTEXTS": 2, "DEPTH": 1}, "DEPTH 1 must be a power of two, at least 2"),
        ("step_engine", {"PROGRAM_DEPTH": 0}, "PROGRAM_DEPTH 0 must be at least 2"),
        ("step_engine", {"PROGRAMS": 0}, "PROGRAMS 0 must be at least 2"),
        ("step_engine", {"TRACE_DEPTH": 0}, "DEPTH 0 must be a power of two, at least 2"),
        ("step_engine", {"TRACE_REGISTERS": 0}, "TRACE_REGISTERS 0 must be at least 2"),
        ("step_array", {"PROGRAM_DEPTH": 0}, "DEPTH 0 must be at least 2"),
        ("step_array", {"IN_DEPTH": 0}, "IN_DEPTH 0 must be a power of two, 2 to 65536"),
        ("step_array", {"OUT_DEPTH": 0}, "IN_DEPTH 4 and OUT_DEPTH 0 must both be 0, or none"),
        ("step_array", {"SEGMENTS": 0}, "SEGMENTS 0 and FUNCTIONS 2 must be at least 2"),
        ("step_array", {"FUNCTIONS": 0}, "SEGMENTS 2 and FUNCTIONS 0 must be at least 2"),
    ],
)
@pytest.mark.nightly(every=4)
def test_a_check_speaks_before_a_tool_stops(module, given, said):
    """Widths that would be zero or negative are none: an illegal value comes to its check."""
    space = SPACES[module]
    parameters = elaborate.least(space) | given
    assert not space.is_legal(parameters)
    answer = elaborated(module, parameters)
    assert answer.verdict == elaborate.REFUSED, f"{answer}\n  rerun  make parameters COUNT=1"
    assert said in answer.text


def test_what_no_check_refuses_is_what_the_document_says():
    bits = {(m, n) for m, space in SPACES.items() for n, v in space.values.items() if v.bit}
    assert {name for _, name in bits} == {"PARALLEL", "SPECIALS"}
    for module, name in bits:
        assert elaborated(module, least(SPACES[module]) | {name: 2}).verdict == elaborate.TAKEN
    answer = elaborated("fp_add", least(SPACES["fp_add"]) | {"MAN_W": 0})
    assert answer.verdict == elaborate.BROKEN and "is out of order" in answer.text
    for words in ("`PARALLEL`, `SPECIALS`", "`MAN_W` of 0"):
        assert words in DOC.read_text()


def test_both_kinds_of_wrong_answers_are_found():
    space = SPACES["fp_add"]
    narrow = replace(space, values=space.values | {"STAGES": Values(0, 5)})
    wide = replace(space, values=space.values | {"STAGES": Values(0, 7)})
    given = {"EXP_W": 4, "MAN_W": 2}
    assert problem(narrow, given | {"STAGES": 6}) == (
        "fp_add EXP_W=4 MAN_W=2 STAGES=6: illegal, taken"
    )
    assert "STAGES=7: legal, refused: " in problem(wide, given | {"STAGES": 7})


@pytest.mark.parametrize(("said", "status"), [("", 0), ("fp_add STAGES=7: illegal, taken", 1)])
def test_a_wrong_answer_is_status_1(said, status, monkeypatch, capsys):
    monkeypatch.setattr(elaborate, "SPACES", {"fp_add": SPACES["fp_add"]})
    monkeypatch.setattr(elaborate, "require_usable", lambda simulator: None)
    monkeypatch.setattr(elaborate, "problem", lambda space, parameters: said)
    assert elaborate.main(["--count", "1"]) == status
    assert said in capsys.readouterr().out


def test_limits_and_what_is_beyond():
    tried = {parameters["N"] for parameters in limits(SPACES["ldup_engine"])}
    assert tried == {1, 2, 8, 9}
    assert edges(Values(2, 64, power=True, places=True)) == [0, 1, 2, 3, 64, 128]
    assert edges(Values(0, 64, power=True, places=True)) == [-1, 0, 1, 3, 64, 128]
    assert edges(Values(2, UNBOUNDED, places=True)) == [0, 1, 2]


@pytest.mark.parametrize("module", SPACES)
@pytest.mark.nightly(every=4)
def test_what_is_beyond_a_limit_is_all_that_is_illegal(module):
    """Whatever the others are, each parameter is tried at all that lies beyond its limits."""
    space, tried = SPACES[module], set()
    for parameters in beyond(space, np.random.default_rng(1)):
        (name,) = (n for n, values in space.values.items() if parameters[n] not in values)
        legal = [x for x in edges(space.values[name]) if x in space.values[name]]
        assert any(space.is_legal(parameters | {name: x}) for x in legal), parameters
        tried.add((name, parameters[name]))
    every = {(n, x) for n, values in space.values.items() if not values.bit for x in edges(values)}
    illegal = {(n, x) for n, x in every if x not in space.values[n]}
    lanes = {
        name: space.values[name].most for name in ("NUM_ADD", "NUM_MUL") if name in space.values
    }
    slow = {(name, most + 1) for name, most in lanes.items()}
    assert tried == illegal - slow


@pytest.mark.parametrize("module", MACHINES)
def test_the_model_takes_as_little_as_the_rtl(module):
    """A machine that the model takes can be built, at the low end of each parameter.

    At the high end, too, but for memories, which the model may make larger to see what fits.
    """
    space, machine_of = SPACES[module], MACHINES[module].machine_of
    smallest = least(space)
    machine_of(smallest)
    for name in MACHINES[module].PARAMETERS:
        value = space.values[name].least
        machine_of(smallest | {name: value})
        with pytest.raises(ValueError, match="must"):
            machine_of(smallest | {name: value - 1})
        most = space.values[name].most
        if name.endswith(("_STAGES", "_W")) or name.startswith(("NUM_", "CONTEXTS", "DATAPATHS")):
            machine_of(smallest | {name: most})
            with pytest.raises(ValueError, match="must"):
                machine_of(smallest | {name: most + 1})


def test_words_for_values():
    assert Values(2, 64).text == "2 to 64"
    assert Values(2, 64, power=True).text == "powers of two, 2 to 64"
    assert Values(0, 64, power=True).text == "0, or powers of two, 2 to 64"
    assert spans({0, 1, 2, 5, 7, 8}) == "0-2, 5, 7-8"
    assert missing(Values(0, 8), {0, 1, 2}) == "3 to 8"
    assert missing(Values(2, 64, power=True), {2, 8}) == "4, 16 to 64"
    assert missing(Values(0, 3), {0, 1, 2, 3}) == ""
