"""What is shown to behave the same, and that nothing else is."""

import re

import pytest

from scripts.equivalence import proof as proof_module
from scripts.equivalence.elaboration import Instance, instances, packages_of
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.memories import as_ports
from scripts.equivalence.proof import EQUAL, prove
from scripts.equivalence.proofs import proofs_of

pytestmark = pytest.mark.rtl_of()

#: A bit of everything: registers with and without reset, a memory, a table, an instance, a package.
CHILD = """
module child #(parameter int W = 4, parameter bit INVERT = 0) (
  input logic [W-1:0] data_i, output logic [W-1:0] data_o
);
  assign data_o = INVERT ? ~data_i : data_i;
endmodule
"""
PACKAGE = """
package tables;
  localparam int TOP = 9;
  function automatic logic [3:0] square(input logic [1:0] x);
    case (x)
      2'd0: square = 4'd0;
      2'd1: square = 4'd1;
      2'd2: square = 4'd4;
      default: square = 4'(TOP);
    endcase
  endfunction
endpackage
"""
MODULE = """
module unit #(parameter int W = 4) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic write_i,
  input  logic [1:0] address_i,
  input  logic [W-1:0] data_i,
  output logic [W-1:0] data_o,
  output logic valid_o
);
  logic [W-1:0] words[4];
  logic [W-1:0] read, inverse, held_q;
  logic [1:0] count_q;
  assign read = words[address_i];
  child #(.W(W), .INVERT(1'b1)) u_child (.data_i(read), .data_o(inverse));
  always_ff @(posedge clk_i) begin
    if (write_i) words[address_i] <= data_i;
    held_q <= inverse ^ W'(tables::square(address_i));
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= 2'd0;
    else if (write_i && count_q != 2'd3) count_q <= count_q + 2'd1;
  end
  assign data_o = held_q;
  assign valid_o = count_q == 2'd3;
endmodule
"""


TEXTS = {"tables": PACKAGE, "child": CHILD, "unit": MODULE}


def files_of(folder, version, **changes):
    """The files of a version in compile order; those without a change are the same ones in all."""
    files = []
    for name, text in (TEXTS | changes).items():
        file = folder / (version if name in changes else "both") / f"{name}.sv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        files.append(file)
    return files


def answer(before, now, watched=()):
    """What comes of the proofs of the unit."""
    proofs = proofs_of("unit", {}, before, now, watched)
    answers = prove(proofs)
    assert proofs and set(answers) <= proofs
    (found,) = set(answers.values()) - {EQUAL} or {EQUAL}
    return found


EQUAL_CHANGES = {
    "other operators": ("write_i && count_q != 2'd3", "write_i & ~(&count_q)"),
    "other order": ("  assign read = words[address_i];\n", ""),
    "other arithmetic": ("count_q + 2'd1", "{count_q[1] ^ count_q[0], ~count_q[0]}"),
    "another name of a wire": ("inverse", "flipped"),
    "another name of a register": ("count_q", "counted_q"),
    "another name of a memory": ("words", "stored"),
    "other words for a reset": (
        "if (!rst_ni) count_q <= 2'd0;\n    else if (write_i",
        "count_q <= 2'd0;\n    if (rst_ni) count_q <= count_q;\n    if (rst_ni && write_i",
    ),
    "text that is printed": (
        "if (write_i) words",
        'if (write_i) $display("%t %m: %h", $time, data_i);\n    if (!rst_ni) $write("reset\\n");\n'
        "    if (write_i) words",
    ),
    "a register more that nothing reads": (
        "assign valid_o",
        "logic more_q;\n  always_ff @(posedge clk_i) more_q <= write_i;\n  assign valid_o",
    ),
    "a counter more that nothing else reads": (
        "assign valid_o",
        "logic [7:0] more_q;\n  always_ff @(posedge clk_i) begin\n"
        "    if (!rst_ni) more_q <= 8'd0;\n    else more_q <= more_q + 8'd1;\n  end\n"
        "  assign valid_o",
    ),
}


@pytest.mark.parametrize("name", EQUAL_CHANGES)
def test_what_behaves_the_same_is_shown(folder, name):
    old, new = EQUAL_CHANGES[name]
    text = MODULE.replace(old, new)
    assert text != MODULE
    if name == "other order":
        text = text.replace("endmodule", f"{old}endmodule")
    before, now = files_of(folder, "before"), files_of(folder, "now", unit=text)
    assert answer(before, now) == EQUAL
    if "more" in name:
        assert answer(now, before) == EQUAL


OTHER_CHANGES = {
    "a function": ("count_q != 2'd3", "count_q != 2'd2"),
    "an output": ("valid_o = count_q == 2'd3", "valid_o = count_q >= 2'd2"),
    "an edge": ("always_ff @(posedge clk_i)", "always_ff @(negedge clk_i)"),
    "a reset's value": ("count_q <= 2'd0", "count_q <= 2'd1"),
    "a reset's kind": (
        "@(posedge clk_i) begin\n    if (!rst_ni)",
        "@(posedge clk_i or negedge rst_ni) begin\n    if (!rst_ni)",
    ),
    "a write": ("if (write_i) words", "if (write_i && rst_ni) words"),
    "what is written": ("words[address_i] <= data_i", "words[address_i] <= ~data_i"),
    "where": ("words[address_i] <= data_i", "words[~address_i] <= data_i"),
    "what is read": ("read = words[address_i]", "read = words[address_i ^ 2'd1]"),
    "the size of a memory": ("words[4]", "words[8]"),
    "what an instance is told": (".data_i(read)", ".data_i(~read)"),
    "what is done with its answer": ("held_q <= inverse", "held_q <= ~inverse"),
    "unknown bits": ("valid_o = count_q == 2'd3", "valid_o = count_q == 2'd3 ? 1'b1 : 1'bx"),
    "a table": ("2'd2: square = 4'd4", "2'd2: square = 4'd5"),
    "a constant": ("TOP = 9", "TOP = 8"),
    "a start value": ("logic [1:0] count_q;", "logic [1:0] count_q = 2'd0;"),
    "text in place of a condition": (
        "if (write_i) words",
        'if (write_i) $display("x");\n    words',
    ),
    **{
        name: ("if (write_i) words", f"if (&data_i) {name};\n    if (write_i) words")
        for name in ('$error("x")', '$fatal(1, "x")', "$finish", "$stop")
    },
    "an assertion": ("assign valid_o", "always_comb assert (count_q < 2'd3);\n  assign valid_o"),
    "a value that is refused": (
        "valid_o\n);",
        'valid_o\n);\n  if (W == 4) begin : gen_bad\n    initial $fatal(1, "W");\n  end',
    ),
    "a register more": (
        "assign valid_o =",
        "logic more_q;\n  always_ff @(posedge clk_i) more_q <= write_i;\n"
        "  assign valid_o = more_q ^",
    ),
}


#: Those that are not the same kind of change in the other direction.
ONE_SIDED = {"unknown bits", "a start value", "$finish", "an assertion"}


@pytest.mark.parametrize("name", OTHER_CHANGES)
def test_what_does_not_is_not_shown(folder, name):
    old, new = OTHER_CHANGES[name]
    (file,) = (file for file, text in TEXTS.items() if old in text)
    ours = files_of(folder, "before")
    other = files_of(folder, "now", **{file: TEXTS[file].replace(old, new)})
    assert answer(ours, other) != EQUAL
    if name in ONE_SIDED:
        assert answer(other, ours) != EQUAL


@pytest.mark.parametrize("name", ["an assertion", "a start value"])
def test_what_is_refused_is_named(folder, name):
    now = files_of(folder, "now", unit=MODULE.replace(*OTHER_CHANGES[name]))
    assert answer(files_of(folder, "before"), now) == f"it has {name}"


def answer_with_names(folder, lines, before, now, order):
    """What comes of two names that differ between versions, whose declarations come first."""
    texts = [lines.format(*names).splitlines(keepends=True) for names in (before, now)]
    texts[1][1:3] = texts[1][1:3][::order]
    versions = (
        files_of(folder, name, unit=MODULE.replace("  assign data_o = held_q;\n", "".join(text)))
        for name, text in zip("ab", texts, strict=True)
    )
    return answer(*versions)


#: Two registers of the same width, whose names differ between versions.
TWO_REGISTERS = """
  logic [1:0] {0};
  logic [1:0] {1};
  always_ff @(posedge clk_i) begin
    {0} <= address_i;
    {1} <= ~address_i;
  end
  assign data_o = held_q ^ {{{0}, {1}}};
"""


@pytest.mark.parametrize(
    ("names", "order", "found"),
    [
        (("a_q", "b_q"), 1, EQUAL),
        (("a_q", "c_q"), 1, EQUAL),
        (("c_q", "d_q"), 1, EQUAL),
        (("c_q", "a_q"), 1, "differs"),  # the guess is wrong: of b is what was of a
        (("c_q", "d_q"), -1, "differs"),
        (("b_q", "a_q"), 1, "differs"),
    ],
)
def test_registers_with_other_names(folder, names, order, found):
    """What is declared first is taken for what was; it may be something else."""
    assert answer_with_names(folder, TWO_REGISTERS, ("a_q", "b_q"), names, order) == found


#: Two memories of the same size, whose names differ between versions.
TWO_MEMORIES = """
  logic [W-1:0] {0}[8];
  logic [W-1:0] {1}[8];
  always_ff @(posedge clk_i) begin
    {0}[{{1'b1, address_i}}] <= data_i;
    {1}[{{1'b0, address_i}}] <= ~data_i;
  end
  assign data_o = held_q ^ {0}[{{address_i, rst_ni}}] ^ ~{1}[{{rst_ni, address_i}}];
"""


@pytest.mark.parametrize(
    ("names", "order", "same"),
    [
        (("a", "b"), 1, True),
        (("a", "c"), 1, True),
        (("c", "d"), 1, True),
        (("c", "a"), 1, False),
        (("c", "d"), -1, False),
        (("b", "a"), 1, False),
    ],
)
def test_memories_with_other_names(folder, names, order, same):
    """As with registers."""
    found = answer_with_names(folder, TWO_MEMORIES, ("a", "b"), names, order)
    assert (found == EQUAL) == same


def test_registers_of_other_widths_with_other_names_may_change_places(folder):
    text = MODULE.replace("read, inverse, held_q;\n  logic [1:0] count_q;", "read, inverse;")
    text = text.replace(
        "  assign read", "  logic [1:0] counted_q;\n  logic [W-1:0] kept_q;\n  assign read"
    )
    text = text.replace("held_q", "kept_q").replace("count_q", "counted_q")
    assert answer(files_of(folder, "before"), files_of(folder, "now", unit=text)) == EQUAL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kept_q <= inverse", "kept_q <= ~inverse"),
        (", kept_q;", ";\n  logic [W:0] kept_q;"),
        ("kept_q <=", "if (rst_ni) kept_q <="),
    ],
)
def test_a_register_with_another_name_that_does_something_else(folder, old, new):
    text = MODULE.replace("held_q", "kept_q")
    assert old in text
    before, now = files_of(folder, "before"), files_of(folder, "now", unit=text.replace(old, new))
    assert answer(before, now) != EQUAL


def test_a_signal_that_is_read_must_be_the_same(folder):
    """Here one that has no effect outside."""
    text = MODULE.replace("assign data_o", "logic spare;\n  assign spare = {};\n  assign data_o")
    before, now = (
        files_of(folder, version, unit=text.format(value))
        for version, value in (("before", "write_i"), ("now", "!write_i"))
    )
    assert answer(before, now) == EQUAL
    assert answer(before, now, ["unit.spare"]) == "differs"
    assert answer(before, now, ["child.data_i", "unit.inverse"]) == EQUAL
    assert answer(before, now, ["unit.gone"]) == "a signal that is read is not in it"


def test_signals_in_generate_blocks_and_of_arrays_are_found(folder):
    spare = "logic [1:0] spare[2];\n  assign spare[0] = {0};\n  assign spare[1] = {0};\n"
    block = "if (W == 4) begin : gen_four\n" + spare + "end\n  assign data_o"
    before, now = (
        files_of(folder, version, unit=MODULE.replace("assign data_o", block.format(value)))
        for version, value in (("before", "address_i"), ("now", "address_i + 2'd1"))
    )
    assert answer(before, now) == EQUAL
    assert answer(before, now, ["unit.spare"]) == "differs"


OTHERS = "it has other parameters, ports or signals"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("output logic [W-1:0] data_o", "output logic signed [W-1:0] data_o", OTHERS),
        ("parameter int W = 4", "parameter int W = 5", OTHERS),
        ("module unit", "`define W 3\nmodule unit", "unit has '`'"),
        ("  child", "  // synthesis translate_off\n  child", "unit has '// synthesis'"),
        ("always_ff @(posedge clk_i)", "always @(clk_i)", "unit has 'always @'"),
        ("endmodule", "endmodule\nmodule more; endmodule", "unit is no file of the one module"),
        ("endmodule", "endmodul", "slang finds an error in unit"),
    ],
)
def test_what_cannot_be_compared_is_said(folder, old, new, reason):
    before = files_of(folder, "before")
    now = files_of(folder, "now", unit=MODULE.replace(old, new))
    with pytest.raises(EquivalenceError, match=reason):
        proofs_of("unit", {}, before, now)
    for others in (now[1:], now[::-1]):
        with pytest.raises(EquivalenceError, match="made of other files"):
            proofs_of("unit", {}, before, others)


#: The unit's line with its instance, and lines in its place.
INSTANCE = "  child #(.W(W), .INVERT(1'b1)) u_child (.data_i(read), .data_o(inverse));\n"
PORTS = "input logic [W-1:0] data_i, output logic [W-1:0] data_o"


def with_instance(line, child=CHILD):
    """The unit with other instances, the child with another text."""
    assert INSTANCE in MODULE
    return {"unit": MODULE.replace(INSTANCE, line), "child": child}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        (with_instance(INSTANCE.replace("u_child", "u_other")), True),
        (with_instance(INSTANCE.replace("1'b1", "1'b0")), False),
        (with_instance(INSTANCE.replace("1'b1", "1'b0").replace("(read)", "(~read)")), True),
        (with_instance("  assign inverse = ~read;\n"), True),
        (with_instance("  assign inverse = read;\n"), False),
        (with_instance(INSTANCE.replace("(read)", "()")), False),
        (with_instance(INSTANCE, CHILD.replace("output logic", "output logic signed")), True),
        (with_instance(INSTANCE, CHILD.replace(PORTS, f"{PORTS}, output logic spare_o")), True),
        (
            with_instance(
                INSTANCE.replace("#(", "#(.MORE(3), "),
                CHILD.replace("#(", "#(parameter int MORE = 0, "),
            ),
            True,
        ),
        (
            with_instance(
                INSTANCE.replace("#(", "#(.MORE(3), "),
                CHILD.replace("#(", "#(parameter int MORE = 0, ").replace("~data", "MORE ^ data"),
            ),
            False,
        ),
    ],
)
def test_where_instances_are_others_all_below_is_compared(folder, changes, same):
    before, now = files_of(folder, "before"), files_of(folder, "now", **changes)
    assert [proof.flat for proof in proofs_of("unit", {}, before, now)] == [True]
    assert (answer(before, now) == EQUAL) == same


#: Words, each kind in an instance of its own, one of which was written longer ago.
ABOVE = """
module above (
  input logic clk_i, input logic [1:0] at_i, input logic [3:0] data_i,
  output logic [3:0] one_o, output logic [3:0] two_o
);
  words u_{0} (.clk_i, .at_i, .data_i(data_i), .data_o({0}_o));
  words u_{1} (.clk_i, .at_i, .data_i(~data_i), .data_o({1}_o));
endmodule
"""
WORDS = """
module words{} (
  input logic clk_i, input logic [1:0] at_i, input logic [3:0] data_i,
  output logic [3:0] data_o
);
  logic [3:0] words[4];
  always_ff @(posedge clk_i) words[at_i] <= data_i;
  assign data_o = words[at_i];
endmodule
"""


def test_memories_below_are_told_apart(folder):
    """By the names of their instances, wherever these stand."""
    more = WORDS.format(" #(parameter int MORE = 0)")
    texts = {
        "before": (ABOVE.format("one", "two"), WORDS.format("")),
        "now": (ABOVE.format("two", "one"), more),
        "same": (ABOVE.format("one", "two"), more),
    }
    versions = {}
    for name, (above, words) in texts.items():
        versions[name] = [folder / name / "words.sv", folder / name / "above.sv"]
        (folder / name).mkdir()
        for file, text in zip(versions[name], (words, above), strict=True):
            file.write_text(text)
    for name, found in (("same", EQUAL), ("now", "differs")):
        proofs = proofs_of("above", {}, versions["before"], versions[name])
        assert [(proof.module, proof.flat) for proof in proofs] == [("above", True)]
        assert list(prove(proofs).values()) == [found]


def test_names_of_memories_stay_different():
    """Here of `x` in an instance `u_`, and of `u_x` beside that."""
    read = '  cell $memrd_v2 $r{}\n    parameter \\MEMID "\\\\{}"\n    connect \\CLK \\c\n  end\n'
    ports = as_ports("".join(read.format(*one) for one in enumerate(("u_.x", "u_x"))) + "end\n")
    first, second = re.findall(r"(\w+\.\w+)\S+\.CLK\n", ports)  # the names and digests
    assert first.split(".")[0] == second.split(".")[0] == "u_x" and first != second


def test_what_an_instance_is_told_that_says_nothing(folder):
    """Somebody may read it there."""
    spare = INSTANCE + INSTANCE.replace("u_child", "u_spare").replace("(inverse)", "()")
    before = files_of(folder, "before", **with_instance(spare))
    told = spare[: len(INSTANCE)] + spare[len(INSTANCE) :].replace("(read)", "(~read)")
    assert answer(before, files_of(folder, "now", **with_instance(told))) == "differs"


@pytest.mark.parametrize("signal", ["child.data_i", "child.data_o"])
def test_a_signal_that_is_read_below_other_instances(folder, signal):
    before = files_of(folder, "before")
    now = files_of(folder, "now", **with_instance(INSTANCE.replace("1'b1", "1'b0")))
    with pytest.raises(EquivalenceError, match="a signal is read where instances are others"):
        proofs_of("unit", {}, before, now, [signal])
    same = files_of(folder, "same", **with_instance(INSTANCE.replace("u_child", "u_other")))
    assert answer(before, same, ["unit.inverse"]) == EQUAL
    assert answer(before, now, ["unit.inverse"]) != EQUAL


def test_a_port_with_a_default(folder):
    child = CHILD.replace("[W-1:0] data_i, out", "[W-1:0] data_i = 1, out")
    versions = (
        files_of(folder, name, child=child.replace("= 1", value))
        for name, value in (("a", "= 1"), ("b", "= 2"))
    )
    with pytest.raises(EquivalenceError, match="has a default"):
        proofs_of("unit", {}, *versions)


def test_a_gate_is_seen(folder):
    texts = (
        MODULE.replace(
            "assign valid_o = count_q == 2'd3", f"{gate} g (valid_o, count_q[0], count_q[1])"
        )
        for gate in ("and", "or")
    )
    and_, or_ = (files_of(folder, name, unit=text) for name, text in zip("ab", texts, strict=True))
    assert answer(files_of(folder, "c"), and_) == EQUAL
    assert answer(and_, or_) == "differs"


def test_which_port_of_a_memory_has_which_clock_edge(folder):
    """Two that write, at either edge."""
    write = "always_ff @({}edge clk_i) if (write_i) words[address_i] <= data_i;\n"
    text = MODULE.replace("    if (write_i) words[address_i] <= data_i;\n", "")
    texts = (
        text.replace("endmodule", write.format(first) + write.format(second) + "endmodule")
        for first, second in (("pos", "neg"), ("neg", "pos"))
    )
    one, other = (files_of(folder, name, unit=text) for name, text in zip("ab", texts, strict=True))
    assert answer(one, other) != EQUAL


def test_the_type_of_a_signal_that_is_read(folder):
    text = MODULE.replace("inverse, held_q;", "held_q;\n  logic [0:W-1] inverse;")
    before, now = files_of(folder, "before"), files_of(folder, "now", unit=text)
    assert answer(before, now) == EQUAL
    with pytest.raises(EquivalenceError, match=OTHERS):
        proofs_of("unit", {}, before, now, ["unit.inverse"])


def test_an_answer_is_that_of_the_content_of_the_files(folder):
    child = CHILD.replace("~data_i", "~(data_i)")
    before, now = files_of(folder, "before"), files_of(folder, "now", child=child)
    assert answer(before, now) == EQUAL
    files_of(folder, "now", child=CHILD.replace("~data_i", "-data_i"))
    proof_module._content.cache_clear()
    assert answer(before, now) == "differs"


def test_a_module_is_compared_with_the_parameters_that_it_has(folder):
    text = CHILD.replace("~data_i", "data_i ^ {W{1'b1}}")
    proofs = proofs_of("unit", {"W": 5}, files_of(folder, "a"), files_of(folder, "b", child=text))
    assert [(proof.module, dict(proof.params)) for proof in proofs] == [
        ("child", {"W": "5", "INVERT": "1'b1"})
    ]
    assert set(prove(proofs).values()) == {EQUAL}


def test_many_proofs_at_once(folder):
    """The answers are kept."""
    text = CHILD.replace("~data_i", "W == 4 ? ~data_i : data_i")
    before, now = files_of(folder, "a"), files_of(folder, "b", child=text)
    widths = [4, 3, 5, 4, 2]
    proofs = [proof for w in widths for proof in proofs_of("unit", {"W": w}, before, now)]
    for _ in range(2):
        answers = prove(proofs)
        assert answers == {
            proof: EQUAL if w == 4 else "differs" for w, proof in zip(widths, proofs, strict=True)
        }
    assert len(list(proof_module.OUT.iterdir())) == len({*widths})


def test_a_proof_that_takes_too_long_is_given_up(folder, monkeypatch):
    monkeypatch.setattr(proof_module, "LIMIT_S", 0.01)
    text = MODULE.replace("inverse", "flipped")
    found = answer(files_of(folder, "before"), files_of(folder, "now", unit=text))
    assert found == proof_module.TOO_LONG


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("TOP = 9", "TOP = 3 * 3", True),
        (
            "  localparam int TOP",
            "  localparam int NEW = 1;  // not named\n  localparam int TOP",
            True,
        ),
        ("case (x)\n", "case (x)\n\n", True),
        ("TOP = 9", "TOP = 8", False),
        ("int TOP", "byte TOP", False),
        ("4'd4", "4'h4", False),
        ("  localparam int TOP", "  localparam int count_q = 1;\n  localparam int TOP", False),
        ("  localparam int TOP = 9;\n", "", False),
        ("square = 4'd0;\n", "square = 4'd0;  //\n", False),
    ],
)
def test_a_package_that_declares_the_same_changes_no_module(folder, old, new, same):
    package = PACKAGE.replace("4'(TOP)", "4'd9")
    assert old in package
    before = files_of(folder, "before", tables=package)
    now = files_of(folder, "now", tables=package.replace(old, new))
    modules = {proof.module for proof in proofs_of("unit", {}, before, now)}
    assert modules == (set() if same else {"unit"})


def test_instances(folder):
    found = instances("unit", {"W": 6}, files_of(folder, "a"))
    assert found == [
        Instance("unit", "unit", (("W", "6"),), found[0].ports),
        Instance(
            "unit.u_child",
            "child",
            (("W", "6"), ("INVERT", "1'b1")),
            (
                ("data_i", "ArgumentDirection.In", "logic[5:0]"),
                ("data_o", "ArgumentDirection.Out", "logic[5:0]"),
            ),
        ),
    ]
    assert [name for name, _, _ in found[0].ports][-2:] == ["data_o", "valid_o"]


def test_packages_that_packages_name():
    texts = {
        "m": "module m; localparam A = p::A; n u_n (); endmodule",
        "n": "module n; localparam C = r::C; endmodule",
        "p": "package p; localparam A = q::B; endpackage",
        "q": "package q; endpackage",
        "r": "package automatic r; endpackage",
    }
    assert packages_of("m", texts) == {"p", "q"}
    assert packages_of("n", texts) == {"r"}
