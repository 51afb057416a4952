"""The dynamic_cast that Icarus runs with answers as that of the C++ library."""

import os
import shlex
import subprocess

import pytest

from pymodel.arith import c_build
from pymodel.hardware import fast_casts

pytestmark = pytest.mark.rtl_of()

# Every kind of base, objects in each other's place, and answers from different questions.
PROGRAM = r"""
#include <cstdio>
struct A { virtual ~A() {} int a; };
struct B { virtual ~B() {} int b; };
struct Both : A, B { int c; };
struct Left : virtual A { int d; };
struct Right : virtual A { int e; };
struct Diamond : B, Left, Right { int f; };
struct Twice1 : A { int g; };
struct Twice2 : A { int h; };
struct Twice : B, Twice1, Twice2 { int i; };  // whose A is not one
struct Hidden : B, private A { int j; };
struct Secret : private A { int l; };  // where it begins an A does, too
struct Open : Secret, B { int m; };
struct Alone final : A { int k; };

template <class To, class From> void ask(From *from, void *object) {
  To *to = dynamic_cast<To *>(from);
  std::printf("%ld ", to ? long((char *)to - (char *)object) : -1000L);
}

template <class From> void ask_all(From *from, void *object) {
  ask<A>(from, object); ask<B>(from, object); ask<Both>(from, object); ask<Left>(from, object);
  ask<Right>(from, object); ask<Diamond>(from, object); ask<Twice>(from, object);
  ask<Twice2>(from, object); ask<Hidden>(from, object); ask<Alone>(from, object);
  ask<void>(from, object); std::puts("");
}

int main() {
  for (int round = 0; round < 3; round++) {
    Both both; Diamond diamond; Twice twice; Hidden hidden; Alone alone; Left left; B b;
    Open open;
    ask<B, Secret>(&open, &open); ask<B, A>((A *)(Secret *)&open, &open); std::puts("");
    ask_all<A>(&both, &both); ask_all<B>(&both, &both);
    ask_all<A>(&diamond, &diamond); ask_all<B>(&diamond, &diamond);
    ask_all<Left>(&diamond, &diamond); ask_all<Right>(&diamond, &diamond);
    ask_all<B>(&twice, &twice); ask_all<A>((Twice1 *)&twice, &twice);
    ask_all<A>((Twice2 *)&twice, &twice); ask_all<B>(&hidden, &hidden);
    ask_all<A>(&alone, &alone); ask_all<A>(&left, &left); ask_all<B>(&b, &b);
    ask_all<B>(nullptr, nullptr);
  }
}
"""


@pytest.mark.parametrize("options", [(), ("-DPLACES_LOG2=1",)])
def test_it_answers_as_the_library(tmp_path, monkeypatch, options):
    """Each of its answers, found for the first time and known, and with hardly any memory."""
    monkeypatch.setattr(fast_casts, "OPTIONS", (*fast_casts.OPTIONS, *options))
    fast_casts._library.cache_clear()
    found = fast_casts.environment("icarus")
    fast_casts._library.cache_clear()
    if not found:
        pytest.skip("no C compiler, or not Linux")
    (tmp_path / "casts.cpp").write_text(PROGRAM)
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    subprocess.run([*compiler, "-w", "casts.cpp", "-o", "casts"], cwd=tmp_path, check=True)

    def said(**environment):
        run = subprocess.run(
            ["./casts"], cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True
        )
        assert not run.returncode and not run.stderr
        return run.stdout

    known = said(**found)
    assert known == said()
    assert "-1000" in known
    assert len(known.splitlines()) == 3 * 15  # the program ran to its end


def test_others_are_left_alone(monkeypatch):
    """Verilator's programs are started as ever, and libraries that were there stay."""
    assert fast_casts.environment("verilator") == {}
    monkeypatch.setenv(fast_casts.VARIABLE, "libother.so")
    assert (
        fast_casts.environment("icarus")
        .get(fast_casts.VARIABLE, "libother.so")
        .endswith("libother.so")
    )


def test_a_machine_without_compiler_does_without(monkeypatch):
    """Icarus is then as slow as it is."""
    monkeypatch.setenv("CC", "no-such-compiler")
    c_build.compiler.cache_clear()
    fast_casts._library.cache_clear()
    try:
        assert fast_casts.environment("icarus") == {}
    finally:
        c_build.compiler.cache_clear()
        fast_casts._library.cache_clear()
