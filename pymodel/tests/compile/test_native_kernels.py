"""Native code of any kernel has the model's bits: results of all kinds, of values that stay too."""

from functools import partial

import numpy as np
import pytest

from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile import emit_c, native
from pymodel.compile.kernel import Kernel, record

ROWS, STEPS = 3, 4
CARRIED, INPUTS, PARAMETERS = 60, ("a", "b", "unused"), {"p": 2.0, "q": -0.75, "r": 0.3, "z": 0.0}
SOME = np.array([[0.7, -1.5, 0.0], [np.inf, 0.3, -0.0], [1.0, 1.0, 1.0]])


def random_kernel(seed: int) -> Kernel:
    """Carried values and outputs: all operations of what varies and of what stays, and leaves."""
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(CARRIED)]

    def text(ar, values):
        stays = [ar.const(-0.375), ar.const(1.0), *(values[name] for name in PARAMETERS)]
        varies = [values[name] for name in (*INPUTS[:2], *names)]
        results = []
        for some, others in ((stays, []), (varies, stays)):
            for _ in range(40):
                pool = [*some, *others]
                x, y = (pool[k] for k in rng.integers(len(pool), size=2))
                x, y = (-z if rng.random() < 0.3 else z for z in (x, y))
                kind = rng.integers(4)
                if kind == 0:
                    some.append(x + y)
                elif kind == 1:
                    some.append(x * y)
                elif kind == 2:
                    some.append(ar.recip(x) if x.graph.structure(x) is None else x)
                else:
                    some += ar.sincos(x)
            results += some
        picked = [results[k] for k in rng.integers(len(results), size=2 * CARRIED)]
        picked = [-x if rng.random() < 0.3 else x for x in picked]
        rest = {f"y{k}": x for k, x in enumerate(picked[CARRIED:])}
        return dict(zip(names, picked, strict=False)) | rest

    return record(text, INPUTS, names, PARAMETERS)


def bits(fmt: Format, found: np.ndarray) -> list[int]:
    """Bits of numbers of a format, those of a NaN too."""
    if fmt == BINARY32:
        return found.view(np.uint32).tolist()
    return [
        fmt.from_float(x) | fmt.sign_mask * bool(np.isnan(x) and np.signbit(x))
        for x in found.tolist()
    ]


def check(kernel: Kernel, fmt: Format, **options) -> None:
    """One evaluation, and steps, of some systems."""
    exact, built = BitExact(fmt), native.build(kernel, BitExact(fmt), **options)
    rng = np.random.default_rng(1)
    inputs = {n: np.resize(SOME[k % 3], ROWS) for k, n in enumerate(kernel.inputs)}
    state = {name: rng.normal(size=ROWS) for name in kernel.carried}
    own = {name: rng.normal(size=ROWS) for name in kernel.parameters}
    own = own if options.get("own_parameters") else {}
    found = built.evaluate(inputs | state, own)
    after, trace = built.advance(state, STEPS, inputs=inputs, parameters=own)
    for row in range(ROWS):
        here = {name: exact.const(float(x[row])) for name, x in (inputs | state | own).items()}
        for step in range(STEPS):
            then = kernel.evaluate(exact, here, {name: here[name] for name in own})
            if step == 0:
                assert {n: bits(fmt, x)[row] for n, x in found.items()} == words(then), options
            kept = {name: bits(fmt, x[step])[row] for name, x in trace.items()}
            before = {name: here[name] for name in kernel.carried}
            assert kept == words(before | {name: then[name] for name in kernel.outputs}), step
            here |= {name: then[name] for name in kernel.carried}
        assert {n: bits(fmt, x)[row] for n, x in after.items()} == {
            name: here[name].bits for name in kernel.carried
        }


def words(scalars: dict) -> dict[str, int]:
    """Bits by name."""
    return {name: x.bits for name, x in scalars.items()}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("fmt", "options"),
    [
        (BINARY32, {}),
        (BINARY32, {"lanes": 1, "own_parameters": True}),
        (Format(5, 10), {"own_parameters": True}),
        (Format(5, 10), {"lanes": 1}),
    ],
    ids=str,
)
def test_any_kernel(monkeypatch, fmt, options, seed):
    """In one piece, and in some that hand values on."""
    monkeypatch.setattr(native, "emit", partial(emit_c.emit, piece=500 if seed == 1 else 20))
    check(random_kernel(seed), fmt, **options)


PAIR = {
    "sine": lambda ar, p: ar.sincos(p),
    "cosine": lambda ar, p: ar.sincos(p)[::-1],
    "negative sine": lambda ar, p: (-ar.sincos(p)[0], ar.sincos(p)[0]),
    "product": lambda ar, p: (p * p, -(p * p)),
    "sum": lambda ar, p: (p + p, p),
    "inverse": lambda ar, p: (ar.recip(p), ar.sincos(ar.recip(p))[0]),
    "itself": lambda ar, p: (-p, p),
}


@pytest.mark.parametrize("pair", PAIR)
def test_a_carried_value_that_stays_after_the_first_step(pair):
    """Alone, and with another value of the same operation in what varies."""

    def text(ar, v):
        carried, other = PAIR[pair](ar, v["p"])
        return {"c": carried, "o": v["c"] * other, "again": carried}

    check(record(text, "a", "c", {"p": 2.0}), BINARY32)


def test_a_result_that_nothing_stores_is_no_code(monkeypatch):
    """It would be whatever its memory held before."""
    kernel = record(lambda _, v: {"x": v["a"] + v["b"], "y": v["a"] * v["b"]}, "ab")
    monkeypatch.setattr(emit_c, "in_order", lambda kernel: kernel.operations[:-1])
    with pytest.raises(AssertionError, match="x: 1 of 2 results are stored"):
        emit_c.emit(kernel, "x")
