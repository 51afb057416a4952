"""Native code has the bits and the flags of the model."""

import contextlib
import ctypes
import ctypes.util
import os
import platform
import pwd
import re
import shutil
import subprocess
import sys
import textwrap
from array import array
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from cffi import FFI

from pymodel.arith import c_build, scalars
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile import emit_c, native
from pymodel.compile.kernel import record
from pymodel.compile.registry import recorded
from pymodel.compile.robot_kernels import recorded as robot_kernel
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.urdf import load as load_robot
from pymodel.runs.robot_calls import random_states
from pymodel.tests.places import ROOT, SCENARIOS
from pymodel.tests.robots import ROBOTS

FORMATS = [Format(*widths) for widths in ((8, 23), (8, 15), (5, 10), (4, 2))]
LANES = [1, None]


def all_operations(arithmetic, values):
    a, b = values["a"], values["b"]
    sin, cos = arithmetic.sincos(a)
    found = {"sum": a + b, "difference": a - b, "negated": -(a + b), "minus": -a - b}
    return found | {"product": a * b, "inverse": arithmetic.recip(a), "sin": sin, "cos": -cos}


OPERATIONS = record(all_operations, ["a", "b"])


def operands(fmt, count):
    """Numbers of all sizes, pairs of near exponents, corners; as bits."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 1 << fmt.width, (2, count))
    near = (a & ~((1 << fmt.man_w) - 1)) ^ rng.integers(0, 4 << fmt.man_w, count)
    b = np.where(rng.random(count) < 0.5, near % (1 << fmt.width), b)
    angles = [
        fmt.from_float(x) for x in rng.normal(size=count) * 10.0 ** rng.integers(-6, 6, count)
    ]
    ends = [0, fmt.sign_mask, fmt.min_normal, fmt.max_finite, fmt.inf, fmt.one, fmt.canonical_nan]
    corners = [(x, y) for x in ends for y in ends]
    return [
        *zip(a.tolist(), b.tolist(), strict=True),
        *zip(angles, b.tolist(), strict=True),
        *corners,
    ]


def columns(fmt, pairs):
    return {
        name: np.array([fmt.to_float(x) for x in some])
        for name, some in zip("ab", zip(*pairs, strict=True), strict=True)
    }


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("lanes", LANES)
def test_operations(fmt, lanes):
    exact, pairs = BitExact(fmt), operands(fmt, 3000)
    found = native.build(OPERATIONS, exact, lanes=lanes).evaluate(columns(fmt, pairs))
    for k, pair in enumerate(pairs):
        # A number reaches native code by its value: a NaN as the one that there is.
        given = {name: exact.const(fmt.to_float(x)) for name, x in zip("ab", pair, strict=True)}
        for name, want in OPERATIONS.evaluate(exact, given).items():
            assert same(fmt, found[name][k], want.bits), (name, *map(hex, pair))


def same(fmt, value, bits):
    """Whether a number has these bits; a NaN, also a negated one, is the one that there is."""
    want = fmt.to_float(bits)
    if np.isnan(want):
        return bool(np.isnan(value)) and not np.signbit(value)
    return float(value) == want and np.signbit(value) == bool(bits & fmt.sign_mask)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("lanes", LANES)
def test_negated_results_have_the_one_nan(fmt, lanes):
    """Of an operation and of an input."""

    def negated(arithmetic, values):
        return {"product": -(values["a"] * values["b"]), "input": -values["a"]}

    kernel = record(negated, ["a", "b"])
    given = {"a": np.array([np.nan, np.inf, 2.0]), "b": np.array([1.0, 0.0, 3.0])}
    found = native.build(kernel, BitExact(fmt), lanes=lanes).evaluate(given)
    for name, want in (("product", [np.nan, np.nan, -6.0]), ("input", [np.nan, -np.inf, -2.0])):
        np.testing.assert_array_equal(found[name], want)
        assert np.signbit(found[name]).tolist() == np.signbit(want).tolist()


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_flags(fmt):
    code = native.build(OPERATIONS, BitExact(fmt), flags=True)
    one = native.build(OPERATIONS, BitExact(fmt), flags=True, lanes=1)
    for pair in operands(fmt, 150):
        exact = BitExact(fmt)
        given = {name: exact.const(fmt.to_float(x)) for name, x in zip("ab", pair, strict=True)}
        OPERATIONS.evaluate(exact, given)
        for kernel in (code, one):
            kernel.flags = 0
            kernel.evaluate(columns(fmt, [pair]))
            assert kernel.flags == exact.flags, (kernel.lanes, *map(hex, pair))


def test_numbers_are_rounded_once():
    kernel = record(lambda arithmetic, values: {"y": values["x"] * arithmetic.const(1.0)}, ["x"])
    rng = np.random.default_rng(3)
    x = rng.normal(size=4000) * 2.0 ** rng.integers(-160, 160, 4000)
    x[:8] = 2.0**-126 * (1 - 2.0 ** -np.arange(23.0, 27.0, 0.5))  # half way below the normals
    for fmt in FORMATS:
        found = native.build(kernel, BitExact(fmt)).evaluate({"x": x})["y"]
        assert [fmt.from_float(float(y)) for y in found] == [fmt.from_float(float(y)) for y in x]


@pytest.mark.parametrize("function", ["ID", "FD"])
@pytest.mark.parametrize("arithmetic", ["float32", "float64", "5/10"])
@pytest.mark.parametrize("lanes", LANES)
def test_functions_of_a_robot(monkeypatch, function, arithmetic, lanes):
    """In many pieces, of which each hands values on to others."""
    monkeypatch.setattr(native, "emit", partial(emit_c.emit, piece=100))
    robot = reduced(load_robot(ROBOTS / "iiwa14.urdf"))
    kernel, states = robot_kernel(robot, function), random_states(robot, function, 21, seed=4)
    found = native.build(kernel, arithmetic, lanes=lanes).evaluate(states)
    exact = scalars.parse(arithmetic)
    for row in range(0, 21, 5):
        given = {name: exact.const(float(column[row])) for name, column in states.items()}
        for name, want in kernel.evaluate(exact, given).items():
            assert float(found[name][row]) == exact.to_float(want), (name, row)


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_a_large_kernel_is_built_by_fewer_passes(monkeypatch, arithmetic):
    """Some pieces a file, with other options: the bits are those of other kernels."""
    monkeypatch.setattr(native, "emit", partial(emit_c.emit, piece=40))
    robot = reduced(load_robot(ROBOTS / "iiwa14.urdf"))
    kernel, states = robot_kernel(robot, "ID"), random_states(robot, "ID", 5, seed=4)
    usual = native.build(kernel, arithmetic, lanes=1)
    monkeypatch.setattr(native, "LARGE", len(kernel.operations))
    assert not native.build(kernel, arithmetic, lanes=1).code.large
    monkeypatch.setattr(native, "LARGE", len(kernel.operations) - 1)
    large = native.build(kernel, arithmetic, lanes=1)
    files = [[x for x in y.code.files if x.startswith("main_")] for y in (usual, large)]
    assert len(files[0]) > native.PIECES_OF_LARGE > 1
    assert len(files[1]) == -(-len(files[0]) // native.PIECES_OF_LARGE)
    for name, x in usual.evaluate(states).items():
        assert x.tobytes() == large.evaluate(states)[name].tobytes(), name


def stepped(kernel, exact, state, steps, special=None, every=0):
    """Carried values before each step, with its outputs, one kernel after the other."""
    rows = []
    for step in range(steps):
        now = special if every and step and step % every == 0 else kernel
        found = now.evaluate(exact, state)
        rows.append(state | {name: found[name] for name in kernel.outputs})
        state = {name: found[name] for name in kernel.carried}
    return rows, state


@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_steps(arithmetic):
    scenario, exact = load(SCENARIOS / "four_bar.toml"), scalars.parse(arithmetic)
    kernels = [recorded("step", scenario, rebasing=True, rebase_now=now) for now in (False, True)]
    start = dict(zip(kernels[0].carried, [*scenario.q0, 0.1, -0.2, 0.3, 0.0, 0.0], strict=True))
    rows, last = stepped(
        kernels[0], exact, {name: exact.const(x) for name, x in start.items()}, 11, kernels[1], 4
    )
    for lanes in LANES:
        code = native.build(kernels[0], arithmetic, kernels[1], lanes=lanes)
        some, trace = code.advance(start, 6, every=4, save=2)
        after, more = code.advance(some, 5, first=6, every=4, save=2)
        for name in rows[0]:
            got = [*trace[name][:, 0], *more[name][:, 0]]
            assert list(map(float, got)) == [exact.to_float(row[name]) for row in rows[::2]]
        assert {name: float(x[0]) for name, x in after.items()} == {
            name: exact.to_float(x) for name, x in last.items()
        }


@pytest.mark.parametrize("own_parameters", [False, True])
@pytest.mark.parametrize("most", [1, 3000, 10**9])
def test_calls_of_few_operations_change_nothing(monkeypatch, most, own_parameters):
    """One step of one block each, some of some, or all at once."""
    scenario, rows = load(SCENARIOS / "four_bar.toml"), 7
    kernels = [recorded("step", scenario, rebasing=True, rebase_now=now) for now in (False, True)]
    code = native.build(kernels[0], "float64", kernels[1], lanes=2, own_parameters=own_parameters)
    rng = np.random.default_rng(4)
    state = {name: 1.0 + 0.1 * rng.normal(size=rows) for name in kernels[0].carried}
    given = {}
    if own_parameters:
        given = {
            name: x * rng.uniform(0.9, 1.1, rows) for name, x in code.kernel.parameters.items()
        }
    options = {"first": 3, "every": 4, "save": 3, "parameters": given}
    want = code.advance(state, 1, **options | {"first": 3, "save": 0})[0]
    for step in range(4, 14):
        want = code.advance(want, 1, **options | {"first": step, "save": 0})[0]
    monkeypatch.setattr(native, "_CALL", most)
    monkeypatch.setattr(native, "_SOME", 2)  # two steps of two blocks where it is 3000
    found, trace = code.advance(state, 11, **options)
    for name in want:
        np.testing.assert_array_equal(found[name], want[name])
    for row, step in enumerate((3, 6, 9, 12)):
        before = code.advance(state, step - 3, **options | {"save": 0})[0]
        again = code.advance(before, 1, **options | {"first": step, "save": 1})[1]
        for name, x in again.items():
            np.testing.assert_array_equal(trace[name][row], x[0])


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_few_steps_are_one_call_without_counting_its_work(name):
    scenario = load(SCENARIOS / f"{name}.toml")
    special = recorded("step", scenario, rebasing=True, rebase_now=True) if scenario.loops else None
    kernel = recorded("step", scenario, rebasing=True) if special else recorded("step", scenario)
    code = native.build(kernel, "float64", special, lanes=2)
    code.advance(dict.fromkeys(kernel.carried, 0.1), 5)
    assert "work" not in vars(code)
    assert code._most_work >= code.work


def test_steps_end_with_control_c(tmp_path):
    text = """
        import os, signal, threading
        kernel = native.build(record(lambda _, v: {"x": v["x"] + v["x"]}, carried="x"))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the outer may ignore it
        try:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            kernel.advance({"x": 1.0}, 10**13, save=0)
        except KeyboardInterrupt:
            print("ended")
    """
    assert with_compiler("cc", tmp_path, text) == "ended\n"


@pytest.mark.parametrize("arithmetic", ["float32", "5/10"])
def test_systems_with_parameters_of_their_own(arithmetic):
    scenario, exact = load(SCENARIOS / "double_pendulum.toml"), scalars.parse(arithmetic)
    kernel, count, steps = recorded("step", scenario), 19, 4
    rng = np.random.default_rng(2)
    state = {name: rng.normal(size=count) for name in kernel.carried}
    parameters = {name: x * rng.uniform(0.5, 1.5, count) for name, x in kernel.parameters.items()}
    code = native.build(kernel, arithmetic, own_parameters=True)
    after, _ = code.advance(state, steps, save=0, parameters=parameters)
    for k in range(count):
        now = {name: exact.const(float(x[k])) for name, x in state.items()}
        own = {name: exact.const(float(x[k])) for name, x in parameters.items()}
        for _ in range(steps):
            found = kernel.evaluate(exact, now, own)
            now = {name: found[name] for name in now}
        assert {n: float(x[k]) for n, x in after.items()} == {
            n: exact.to_float(x) for n, x in now.items()
        }


def test_kernels_are_built_once(monkeypatch, tmp_path):
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    given = {"a": 1.0, "b": [2.0, 3.0]}
    assert native.build(OPERATIONS).evaluate(given)["sum"].tolist() == [3.0, 4.0]
    assert len(list(tmp_path.glob("*.so"))) == 1
    monkeypatch.setattr(c_build.Compiler, "build", lambda *arguments: pytest.fail("built again"))
    assert native.build(OPERATIONS).evaluate(given)["sum"].tolist() == [3.0, 4.0]


def test_what_all_kernels_have_is_compiled_once(monkeypatch, tmp_path):
    """For each format; other options are another object."""
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    run, words = c_build.Compiler._run, []
    monkeypatch.setattr(
        c_build.Compiler, "_run", lambda *given: (words.extend(given[2:]), run(*given))[1]
    )
    for kernel in (OPERATIONS, record(lambda _, x: {"sum": x["a"] + x["b"]}, ["a", "b"])):
        for arithmetic in ("float32", "float64"):
            assert native.build(kernel, arithmetic).evaluate({"a": 0.0, "b": 2.0})
    assert (words.count("native_run.c"), words.count("native_sincos.c")) == (4, 2)
    assert len(list(tmp_path.glob("*.native_sincos.o"))) == 2


@pytest.mark.parametrize("command", ["no-such-compiler", "false", "cc '", "true", "echo"])
def test_without_a_compiler(monkeypatch, command):
    monkeypatch.setenv("CC", command)
    c_build.compiler.cache_clear()
    try:
        with pytest.raises(native.NoCompilerError, match=f"no C compiler .{command}.: install gcc"):
            native.build(OPERATIONS)
    finally:
        c_build.compiler.cache_clear()


def test_a_compiler_with_options(monkeypatch, tmp_path):
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("CC", "cc -g0")
    c_build.compiler.cache_clear()
    try:
        assert native.build(OPERATIONS).evaluate({"a": 1.0, "b": 2.0})["sum"] == 3.0
    finally:
        c_build.compiler.cache_clear()


def test_folders_of_builds_that_were_killed_go(monkeypatch, tmp_path):
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    old, new = (tmp_path / f"{c_build.BUILDING}{name}" for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir()
        (folder / "piece_0.c").touch()
    os.utime(old, (0, 0))
    native.build(OPERATIONS)
    assert new.exists() and not old.exists()


ROUND_UP = {"x86_64": 0x800, "aarch64": 0x400000}.get(platform.machine())  # of <fenv.h>


@pytest.mark.skipif(ROUND_UP is None, reason="how this processor rounds up is not known here")
@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_how_the_process_rounds_changes_nothing(arithmetic, flags):
    kernel = record(lambda _, v: {"sum": v["a"] + v["b"]}, ["a", "b"])
    built = native.build(kernel, arithmetic, flags=flags)
    numbers = {"a": 1.0, "b": 2.0**-60}
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    before = libm.fegetround()
    assert libm.fesetround(ROUND_UP) == 0
    try:
        assert built.evaluate(numbers)["sum"] == 1.0
        assert libm.fegetround() == ROUND_UP  # as it was
    finally:
        libm.fesetround(before)


LONG_S = 600.0  # a hang is stopped; how long imports and compilers take is not judged


def with_compiler(command, folder, text):
    """What a process says that builds with another compiler."""
    environment = os.environ | {"CC": command, c_build.CACHE_VARIABLE: str(folder)}
    words = [sys.executable, "-c", IMPORTS + textwrap.dedent(text)]
    done = subprocess.run(
        words, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=LONG_S
    )
    return done.stdout + done.stderr


IMPORTS = """
import numpy as np
from pymodel.compile import native
from pymodel.compile.kernel import record
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another processor has no x87")
def test_the_x87_is_not_used(tmp_path):
    """It rounds twice."""
    text = """
        a, b = np.linspace(0.1, 1.0, 200), np.linspace(3.0, 4.0, 200)
        kernel = record(lambda _, v: {"x": v["a"] * v["b"] * v["a"] - v["b"]}, ["a", "b"])
        built = native.build(kernel, "float64", lanes=1)
        print((built.evaluate({"a": a, "b": b})["x"] == a * b * a - b).all())
    """
    assert with_compiler("cc -mfpmath=387", tmp_path, text) == "True\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another processor has no SSE2")
@pytest.mark.parametrize("arithmetic", ["float32", "float64", "5/10"])
def test_a_compiler_without_sse2_is_refused(tmp_path, arithmetic):
    """All that is left is the x87, which keeps more digits."""
    text = f"""
        kernel = record(lambda _, v: {{"x": v["a"] * v["b"] * v["a"] - v["b"]}}, ["a", "b"])
        try:
            native.build(kernel, "{arithmetic}")
        except native.NoCompilerError as error:
            print(str(error).partition("native code: ")[2])
    """
    said = with_compiler("cc -mno-sse2", tmp_path, text)
    assert said.count("\n") == 1 and "floats of this compiler are rounded twice" in said


@pytest.mark.parametrize("option", ["-ffast-math", "-funsafe-math-optimizations"])
def test_options_that_reorder_change_nothing(tmp_path, option):
    """Nor the numbers next to zero of the process that loads what they made."""
    text = """
        kernel = record(lambda _, v: {"x": (v["a"] + v["b"]) - v["a"]}, ["a", "b"])
        built = native.build(kernel, "float64")
        print(built.evaluate({"a": 1e16, "b": 1.0})["x"], np.float64(1e-300) * 1e-15)
    """
    assert with_compiler(f"cc {option}", tmp_path, text) == "[0.] 1e-315\n"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc with its sanitizers")
def test_angles_are_summed_as_c_defines_it(tmp_path):
    """They are fixed point, modulo a turn."""
    text = """
        kernel = record(lambda ar, v: dict(zip("sc", ar.sincos(v["a"]), strict=True)), "a")
        native.build(kernel, lanes=1).evaluate({"a": np.linspace(-1.3e5, 1.3e5, 2001)})
    """
    command = "gcc -fsanitize=undefined -fno-sanitize-recover=all"
    assert with_compiler(command, tmp_path, text) == ""


def test_a_cache_folder_that_cannot_be(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(native.NoCompilerError, match="no folder for native code: .*file/cache: "):
        native.build(OPERATIONS)


@pytest.mark.parametrize("why", ["exists", "write"])
def test_a_cache_folder_that_is_not_ours(monkeypatch, tmp_path, why):
    """Another user's: files in it cannot be looked at, or not written."""

    def refused(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    if why == "exists":
        for name in ("exists", "open", "mkdir"):
            monkeypatch.setattr(c_build.Path, name, refused)
    else:
        monkeypatch.setattr(c_build.tempfile, "TemporaryDirectory", refused)
    text = f"no folder for native code: {tmp_path}: Permission denied; PYMODEL_CACHE names another"
    for ask in (lambda: c_build.shared_library({"x.c": ""}, []), c_build.check):
        with pytest.raises(native.NoCompilerError, match=text):
            ask()


def test_a_relative_cache_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(c_build.CACHE_VARIABLE, "cache")
    assert native.build(OPERATIONS).evaluate({"a": 1.0, "b": 2.0})["sum"] == 3.0
    assert len(list((tmp_path / "cache").glob("*.so"))) == 1


SMALL = {"one.c": "int one(void) { return 1; }\n"}


def test_a_file_of_its_own_options(monkeypatch, tmp_path):
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    files = {"one.c": "int one(void) { return ONE; }\n", "two.c": "int two(void) { return ONE; }\n"}
    libraries = []
    for value in (2, 3):
        more = {"two.c": ["-UONE", f"-DONE={value}"]}
        path = c_build.shared_library(files, ["-fPIC", "-DONE=1"], more=more)
        ffi = FFI()
        ffi.cdef("int one(void); int two(void);")
        libraries.append(c_build.opened(ffi, path))
    assert [(x.one(), x.two()) for x in libraries] == [(1, 2), (1, 3)]


@pytest.mark.parametrize("kind", ["*.so", "*.o"])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.999])
def test_what_was_cut_is_built_again(monkeypatch, tmp_path, kind, left):
    """A full disk, or a crash, in the middle of a file: loading it could end the process."""
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    common = {"two.c": "int two(void) { return 2; }\n"}
    path = c_build.shared_library(SMALL, ["-fPIC"], common)
    (cut,) = tmp_path.glob(kind)
    whole = cut.read_bytes()
    cut.write_bytes(whole[: int(left * len(whole))])
    if kind == "*.o":
        path.unlink()
    assert c_build.shared_library(SMALL, ["-fPIC"], common) == path
    ffi = FFI()
    ffi.cdef("int one(void); int two(void);")
    found = c_build.opened(ffi, path)
    assert (found.one(), found.two()) == (1, 2)


@pytest.mark.parametrize("kind", ["*.so", "*.o"])
@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9, -1])
def test_what_was_changed_is_built_again(monkeypatch, tmp_path, kind, place):
    """A bit of it, anywhere, or another library under its name."""
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    common = {"two.c": "int two(void) { return 2; }\n"}
    path = c_build.shared_library(SMALL, ["-fPIC"], common)
    (changed,) = tmp_path.glob(kind)
    whole = changed.read_bytes()
    data = bytearray(whole)
    data[int(place * len(data)) if place >= 0 else -1] ^= 1
    changed.write_bytes(data)
    if kind == "*.o":
        path.unlink()
    assert c_build.shared_library(SMALL, ["-fPIC"], common) == path
    assert changed.read_bytes() == whole
    other = c_build.shared_library({"one.c": "int one(void) { return 3; }\n"}, ["-fPIC"], common)
    path.write_bytes(other.read_bytes())
    c_build.shared_library(SMALL, ["-fPIC"], common)
    ffi = FFI()
    ffi.cdef("int one(void);")
    assert c_build.opened(ffi, path).one() == 1


@pytest.mark.parametrize("mode", [0o770, 0o707])
@pytest.mark.parametrize("which", ["folder", "above", "link", "library", "object"])
def test_what_others_can_write_is_refused(monkeypatch, tmp_path, which, mode):
    folder = tmp_path / "above" / "cache"
    if which == "link":
        folder.mkdir(0o700, parents=True)
        (tmp_path / "link").symlink_to(folder)
    monkeypatch.setattr(c_build.grp, "getgrgid", lambda gid: SimpleNamespace(gr_name="staff"))
    monkeypatch.setenv(
        c_build.CACHE_VARIABLE, str(tmp_path / "link" if which == "link" else folder)
    )
    common = {"two.c": "int two(void) { return 2; }\n"}
    path = c_build.shared_library(SMALL, ["-fPIC"], common)
    assert folder.stat().st_mode & 0o777 == 0o700 and path.stat().st_mode & 0o777 == 0o600
    (kept,) = folder.glob("*.o")
    bad = {"above": folder.parent, "library": path, "object": kept}.get(which, folder)
    bad.chmod(mode)
    if which == "object":
        path.unlink()
    refused = re.escape(f"not loaded: {bad}: others can write it (chmod go-w); PYMODEL_CACHE")
    with pytest.raises(native.NoCompilerError, match=refused):
        c_build.shared_library(SMALL, ["-fPIC"], common)
    bad.chmod(mode | 0o1000)
    with contextlib.nullcontext() if which == "above" else pytest.raises(native.NoCompilerError):
        c_build.shared_library(SMALL, ["-fPIC"], common)  # nobody renames what is in such a one


@pytest.mark.parametrize(("members", "mode"), [((), 0o770), (("eve",), 0o770), ((), 0o777)])
def test_a_group_of_the_user_alone(monkeypatch, tmp_path, members, mode):
    """It may write above the cache, as it does where the umask is 002."""
    name = pwd.getpwuid(os.geteuid()).pw_name
    group = SimpleNamespace(gr_name=name, gr_mem=[name, *members])
    monkeypatch.setattr(c_build.grp, "getgrgid", lambda gid: group)
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path / "above" / "cache"))
    (tmp_path / "above").mkdir()
    (tmp_path / "above").chmod(mode)
    refused = members or mode == 0o777
    with pytest.raises(native.NoCompilerError) if refused else contextlib.nullcontext():
        c_build.shared_library(SMALL, ["-fPIC"])


@pytest.mark.parametrize("which", ["folder", "above", "library"])
def test_what_is_another_users_is_refused(monkeypatch, tmp_path, which):
    folder = tmp_path / "above" / "cache"
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(folder))
    path = c_build.shared_library(SMALL, ["-fPIC"])
    bad = {"above": folder.parent, "library": path}.get(which, folder)
    stranger = os.geteuid() + 1

    def owned(status):
        return os.stat_result((*status[:4], stranger, *status[5:]))

    theirs, stat, fstat = os.stat(bad).st_ino, c_build.Path.stat, os.fstat
    monkeypatch.setattr(
        c_build.Path, "stat", lambda p: owned(stat(p)) if stat(p).st_ino == theirs else stat(p)
    )
    monkeypatch.setattr(
        c_build.os, "fstat", lambda f: owned(fstat(f)) if fstat(f).st_ino == theirs else fstat(f)
    )
    refused = re.escape(f"not loaded: {bad}: it is another user's; PYMODEL_CACHE")
    with pytest.raises(native.NoCompilerError, match=refused):
        c_build.shared_library(SMALL, ["-fPIC"])


@pytest.mark.parametrize("limit", [1 << 10, 12 << 10])
def test_a_full_disk(tmp_path, limit):
    """Whatever the compiler says of it, it is told by its name, and nothing is left."""
    text = f"""
        import resource
        native.compiler()  # which asks the compiler what it is
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        try:
            native.build(record(lambda _, v: {{"x": v["a"] * v["b"]}}, ["a", "b"]))
        except native.NoCompilerError as error:
            print(error)
    """
    said = with_compiler("cc", tmp_path, text)
    assert said == f"no folder for native code: {tmp_path}: File too large; {NAMES_ANOTHER}\n"
    assert not list(tmp_path.glob("*.so"))


NAMES_ANOTHER = "PYMODEL_CACHE names another folder"


@pytest.mark.parametrize("said", ["ld: final link failed: No space left on device", "ld died"])
def test_a_full_disk_that_the_compiler_meets(monkeypatch, tmp_path, said):
    """By its words, or, where it says nothing, by what else can be written there."""
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    script = tmp_path / "cc"
    script.write_text(f"#!/bin/sh\necho '{said}' >&2\necho 'error: ld returned 1' >&2\nexit 1\n")
    script.chmod(0o700)
    monkeypatch.setattr(c_build, "compiler", lambda: c_build.Compiler(str(script), "a compiler"))
    if said == "ld died":

        def full(dir):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(c_build.tempfile, "TemporaryFile", full)
    text = f"no folder for native code: {tmp_path}: No space left on device; {NAMES_ANOTHER}"
    with pytest.raises(native.NoCompilerError, match=text):
        c_build.check()


def test_what_cannot_be_loaded(tmp_path):
    path = tmp_path / "no.so"
    path.write_bytes(b"no library")
    with pytest.raises(native.NoCompilerError, match="native code cannot be loaded: .*no.so: "):
        c_build.opened(FFI(), path)


def test_threads_build_one_library(monkeypatch, tmp_path):
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(c_build.shared_library, SMALL, ["-fPIC"]) for _ in range(16)]
        (path,) = {one.result() for one in found}
    assert list(tmp_path.iterdir()) == [path]


def test_a_compiler_that_makes_nothing(monkeypatch, tmp_path):
    """It calls that a success: help, or a wrapper that lost what it was to do."""
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(c_build, "compiler", lambda: c_build.Compiler("true", "a compiler"))
    with pytest.raises(native.NoCompilerError, match="true cannot build native code: it makes no"):
        c_build.check()
    assert not list(tmp_path.iterdir())


def test_a_compiler_that_fails(monkeypatch, tmp_path):
    monkeypatch.setenv(c_build.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(native, "OPTIONS", (*native.OPTIONS, "-include", "no_such_file.h"))
    with pytest.raises(native.NoCompilerError, match="cannot build native code: .*error"):
        native.build(OPERATIONS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arithmetic", ["float16", "11/52", "8/24"])
def test_unknown_arithmetic(arithmetic):
    with pytest.raises(ValueError, match=arithmetic):
        native.build(OPERATIONS, arithmetic)


def test_lanes_of_other_types_are_numbers():
    """True is 1; the compiler knows no True."""
    for lanes in (True, np.int8(1)):
        assert native.build(OPERATIONS, lanes=lanes).lanes == 1


@pytest.mark.parametrize("name", ["flags", "own_parameters"])
@pytest.mark.parametrize("value", ["no", None, 1.0, 2])
def test_switches_of_another_type(name, value):
    with pytest.raises(ValueError, match=f"{name}: must be True or False, got {value!r}"):
        native.build(OPERATIONS, **{name: value})


@pytest.mark.parametrize("values", [3.0, None, "12", [[1.0], [2.0, 3.0]], {"a": 1.0, "b": 2.0}])
def test_rows_that_are_none(values):
    with pytest.raises(ValueError, match=r"^values(:| must be those of a, b)"):
        native.build(OPERATIONS).evaluate_rows(values)
    assert np.array_equal(*map(native.build(OPERATIONS).evaluate_rows, ([1.0, 2.0], (1, 2))))


@pytest.mark.parametrize("lanes", [0, 3, -1, 2.0, "4", 128])
def test_wrong_lanes(lanes):
    with pytest.raises(ValueError, match="lanes is "):
        native.build(OPERATIONS, lanes=lanes)


def test_no_arithmetic():
    with pytest.raises(ValueError, match="arithmetic is None"):
        native.build(OPERATIONS, None)


def test_float64_has_no_bits_here():
    with pytest.raises(ValueError, match="not of float64"):
        native.build(OPERATIONS, "float64").evaluate_bits([0, 0])


def test_wrong_values():
    kernel = native.build(OPERATIONS)
    with pytest.raises(ValueError, match="missing or unknown: b"):
        kernel.evaluate({"a": 1.0})
    with pytest.raises(ValueError, match="differ in length: 2, 3"):
        kernel.evaluate({"a": np.ones(2), "b": np.ones(3)})
    with pytest.raises(ValueError, match="has no steps"):
        kernel.advance({}, 3)
    with pytest.raises(ValueError, match="b: must be a number, or an array of numbers"):
        kernel.evaluate({"a": 1.0, "b": None})
    with pytest.raises(ValueError, match="a: has masked entries, which are no numbers"):
        kernel.evaluate({"a": np.ma.array([1.0, 2.0], mask=[True, False]), "b": 1.0})
    with pytest.raises(ValueError, match="values: has masked entries"):
        kernel.evaluate_rows(np.ma.array([1.0, 2.0], mask=[True, False]))


@pytest.mark.parametrize(
    "words",
    [
        *([0], [0, 0, 0], [], [-1, 0], [0, 1 << 32], [0, 1.5], [0, 1 << 64], [0, None]),
        *(b"\x01", bytes(8), "ab", None, 3, np.zeros((2, 1), int), array("d", [0.0, 0.0])),
    ],
)
@pytest.mark.parametrize("arithmetic", ["float32", "5/10"])
@pytest.mark.nightly(every=5)
def test_wrong_bits(words, arithmetic):
    """The code reads as many words as there are inputs, wherever they are."""
    kernel = native.build(OPERATIONS, arithmetic)
    width = kernel.code.arithmetic.fmt.width
    with pytest.raises(ValueError, match=f"words must be 2 numbers of {width} bits: a, b"):
        kernel.evaluate_bits(words)


COUNTER = record(
    lambda ar, v: {"x": v["x"] + ar.parameter("k", 2.0)}, carried="x", parameters={"unused": 1.0}
)


@pytest.mark.parametrize("name", ["steps", "first", "every", "save"])
@pytest.mark.parametrize("value", [-1, 1.5, None, 1 << 63, np.int64(-2)])
@pytest.mark.nightly(every=5)
def test_wrong_steps(name, value):
    """A negative number of rows to keep wrote outside of the array for them."""
    kernel = native.build(COUNTER, special=COUNTER)
    said = rf"{name} is {value}, must (be a whole number|lie in 0\.\.)"
    with pytest.raises(ValueError, match=said):
        kernel.advance({"x": 0.0}, **{"steps": 5, name: value})


def test_steps_of_narrow_numbers():
    """Their sum, as numpy adds them, was negative: no room for the rows."""
    state, trace = native.build(COUNTER).advance({"x": 0.0}, np.int8(100), first=np.int8(100))
    assert state["x"] == 200.0
    assert np.array_equal(trace["x"][:, 0], np.arange(0.0, 200.0, 2.0))


def test_wrong_parameters():
    one, own = native.build(COUNTER), native.build(COUNTER, own_parameters=True)
    for kernel in (one, own):
        assert kernel.evaluate({"x": 1.0}, {"k": 3.0})["x"] == 4.0
        with pytest.raises(ValueError, match="no parameters of this kernel: kk"):
            kernel.evaluate({"x": 1.0}, {"kk": 3.0})
        with pytest.raises(ValueError, match="no parameters of this kernel: kk"):
            kernel.advance({"x": 1.0}, 2, parameters={"kk": 3.0})
        with pytest.raises(ValueError, match="k: must be a number, or an array of numbers"):
            kernel.evaluate({"x": 1.0}, {"k": None})
    with pytest.raises(ValueError, match="k: an array, which takes own_parameters=True"):
        one.evaluate({"x": 1.0}, {"k": [3.0, 4.0]})
    assert own.evaluate({"x": 1.0}, {"k": [3.0, 4.0]})["x"].tolist() == [4.0, 5.0]


def test_parameters_of_the_special_kernel_alone():
    special = record(lambda ar, v: {"x": v["x"] * ar.parameter("factor", 2.0)}, carried="x")
    kernel = native.build(COUNTER, special=special)
    changed = {"k": 1.0, "factor": 10.0}
    after, _ = kernel.advance({"x": 1.0}, 3, every=2, parameters=changed)
    assert after["x"] == 30.0


def test_float64_arrays_have_the_sines_of_float64():
    angles = np.random.default_rng(6).normal(size=1000) * 100.0
    found = scalars.Float64Arrays().sincos(angles)
    want = [Float64().sincos(x) for x in angles.tolist()]
    assert np.array_equal(np.transpose(found), want)


def test_many_systems_equal_arrays():
    """A batch that is no whole number of vectors, and one whose rows would share a cache line."""
    robot = reduced(load_robot(ROBOTS / "iiwa14.urdf"))
    kernel, arrays = robot_kernel(robot, "FD"), FormatArrays(Format(8, 23))
    code = native.build(kernel)
    for rows in (1, 17, 1024):
        states = random_states(robot, "FD", rows, seed=8)
        want = kernel.evaluate(arrays, {name: arrays.array(x) for name, x in states.items()})
        for name, found in code.evaluate(states).items():
            assert np.array_equal(found, want[name].values)


def test_rows_in_place_of_names():
    """One system or many, in any memory layout."""
    kernel = native.build(recorded("rates", load(SCENARIOS / "tree.toml")), "float64")
    names = [*kernel.kernel.inputs]
    rows = np.asfortranarray(np.random.default_rng(1).normal(size=(len(names), 5)))
    by_name = [*kernel.evaluate(dict(zip(names, rows, strict=True))).values()]
    np.testing.assert_array_equal(kernel.evaluate_rows(rows), by_name)
    np.testing.assert_array_equal(kernel.evaluate_rows(rows[:, 2]), np.array(by_name)[:, 2])
    assert kernel.evaluate_rows(rows[:, :0]).shape == (len(by_name), 0)
    with pytest.raises(ValueError, match=r"values must be those of q\[0\]"):
        kernel.evaluate_rows(rows[1:])
    constant = record(lambda ar, _: {"c": ar.const(2.0) * ar.parameter("m", 3.0)}, ())
    assert native.build(constant).evaluate_rows(np.zeros((0, 3))).tolist() == [[6.0] * 3]
