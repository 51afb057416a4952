"""Functions of the RTL that Verilator's model has many times."""

import pytest

from pymodel.hardware.once import once

pytestmark = pytest.mark.rtl_of()

HEAD = "(Vtop__Syms* vlSymsp, IData a, IData &out)"


def function(of_class, name, *lines):
    debug = f'    VL_DEBUG_IF(VL_DBG_MSGF("+  {of_class}::__VnoInFunc_{name}\\n"); );\n'
    body = "".join(f"    {line}\n" for line in lines)
    return f"void {of_class}::__VnoInFunc_{name}{HEAD} {{\n{debug}{body}}}\n"


def calls(name, instance="this->"):
    return f"{instance}__VnoInFunc_{name}(vlSymsp, a, out);"


def test_the_same_functions_of_two_classes_are_one():
    text = once(
        [
            function("A", "f_TOP__x", "out = a;") + function("A", "g_TOP__x", calls("f_TOP__x")),
            function("B", "f_TOP__y", "out = a;") + function("B", "g_TOP__y", calls("f_TOP__y")),
            "void B::eval() {\n"
            f"    {calls('g_TOP__y', 'vlSelfRef.')}\n"
            f"    {calls('g_TOP__x', 'vlSymsp->TOP__x.')}\n"
            "}\n",
        ]
    )
    assert text.split("\n") == [
        "class Vtop__Syms;",
        f"static void __VnoInFunc_f_TOP__x{HEAD};",
        f"static void __VnoInFunc_g_TOP__x{HEAD};",
        "",
        "",
        "void B::eval() {",
        "    ::__VnoInFunc_g_TOP__x(vlSymsp, a, out);",
        "    ::__VnoInFunc_g_TOP__x(vlSymsp, a, out);",
        "}",
        "",
        f"static void __VnoInFunc_f_TOP__x{HEAD} {{",
        "    out = a;",
        "}",
        f"static void __VnoInFunc_g_TOP__x{HEAD} {{",
        "    ::__VnoInFunc_f_TOP__x(vlSymsp, a, out);",
        "}",
    ]


@pytest.mark.parametrize(
    "second",
    [
        function("A", "f_TOP__y", "out = ~a;"),
        function("A", "f_TOP__y", "out = a;").replace("IData a", "QData a"),
        function("A", "h_TOP__y", "out = ~a;") + function("A", "f_TOP__y", calls("h_TOP__y")),
    ],
    ids=["body", "type", "callee"],
)
def test_functions_that_differ_stay(second):
    text = once([function("A", "f_TOP__x", "out = a;") + second])
    for name in ("f_TOP__x", "f_TOP__y"):
        assert f"static void __VnoInFunc_{name}" in text


@pytest.mark.parametrize("state", ["this->state", "vlSelf->state", "vlSelfRef.state"])
def test_what_uses_its_instance_stays_as_it_is(state):
    uses = function("A", "f_TOP__x", f"out = {state};") + function(
        "A", "f_TOP__y", f"out = {state};"
    )
    caller = function("A", "g_TOP__x", calls("f_TOP__x")) + function(
        "B", "g_TOP__y", calls("f_TOP__y")
    )
    assert once([uses, caller]) == "\n".join(["class Vtop__Syms;", uses, caller])
