"""FuseSoC, Bender and file lists: what they name, and that the tools take them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pymodel.hardware.rtl_files import ROOT, rtl_files
from pymodel.hardware.simulators import usable
from scripts.dev import manifests
from scripts.dev.make_front import TARGETS

FILES = [ROOT / file for file in rtl_files()]
CORE = yaml.safe_load((ROOT / manifests.CORE).read_text())
LINTS = [name for name in CORE["targets"] if name != "default"]

#: A design of a user's, with names that functions of the RTL use, too.
DESIGN = """module own_design (
  input  logic        clk,
  input  logic [31:0] a,
  input  logic [31:0] b,
  input  logic [31:0] x,
  output logic [31:0] y,
  output logic [31:0] word,
  output logic [31:0] sine,
  output logic [31:0] data,
  output logic [4:0]  flags,
  output logic [4:0]  bits,
  output logic [4:0]  all,
  output logic [9:0]  rows
);
  fp_add #(.STAGES(2)) u_add (.clk_i(clk), .a_i(a), .b_i(b), .y_o(y), .flags_o(flags));
  fp_mul #(.STAGES(1)) u_mul (.clk_i(clk), .a_i(a), .b_i(x), .y_o(word), .flags_o(bits));
  fp_recip #(.STAGES(3)) u_recip (.clk_i(clk), .a_i(x), .y_o(sine), .flags_o(all));
  step_engine u_engine (
    .clk_i(clk), .rst_ni(x[0]),
    .s_axil_awaddr(a[11:0]), .s_axil_awprot(3'b000), .s_axil_awvalid(x[1]),
    .s_axil_awready(rows[0]), .s_axil_wdata(b), .s_axil_wstrb(a[15:12]), .s_axil_wvalid(x[2]),
    .s_axil_wready(rows[1]), .s_axil_bresp(rows[3:2]), .s_axil_bvalid(rows[4]),
    .s_axil_bready(x[3]), .s_axil_araddr(a[11:0]), .s_axil_arprot(3'b000),
    .s_axil_arvalid(x[4]), .s_axil_arready(rows[5]), .s_axil_rdata(data),
    .s_axil_rresp(rows[7:6]), .s_axil_rvalid(rows[8]), .s_axil_rready(x[5]), .irq_o(rows[9])
  );
endmodule
"""

needs_verilator = pytest.mark.skipif(not usable("verilator"), reason="no Verilator")


def run(folder, *command):
    """A command in a folder: its exit status and what it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def fusesoc(folder, *words):
    """FuseSoC with the cores of the repository, building in a folder."""
    program = Path(sys.executable).parent / "fusesoc"
    return run(folder, program, "--cores-root", str(ROOT), "--cores-root", ".", "run", *words)


@pytest.mark.parametrize(("name", "text"), manifests.manifests().items())
def test_none_is_stale(name, text):
    stale = f"{name} is stale or was edited: `{manifests.COMMAND}` writes it"
    assert (ROOT / name).is_file() and (ROOT / name).read_text() == text, stale


def test_the_command_is_one_of_make():
    assert manifests.COMMAND.removeprefix("make ") in TARGETS


def test_all_name_the_same_files():
    """In the same order: packages come first."""
    fileset = CORE["filesets"]["rtl"]
    (group,) = yaml.safe_load((ROOT / manifests.BENDER).read_text())["sources"]
    listed = (ROOT / manifests.LIST).read_text().splitlines()
    relative = [line for line in listed if not line.startswith("//")]
    assert fileset["file_type"] == "systemVerilogSource"
    assert [ROOT / file for file in fileset["files"]] == FILES
    assert [ROOT / file for file in group["files"]] == FILES
    assert [ROOT / "rtl" / file for file in relative] == FILES


def test_bender_knows_all_keys():
    """Those of its manual; without includes, none is to be exported."""
    manifest = yaml.safe_load((ROOT / manifests.BENDER).read_text())
    assert manifest.keys() == {"package", "sources"}
    assert manifest["package"].keys() <= {"name", "authors", "description"}
    assert all(group.keys() == {"files"} for group in manifest["sources"])
    included = re.findall(r'`include "(.*)"', "".join(file.read_text() for file in FILES))
    assert included == [], "folders of includes belong into all manifests"


def test_every_top_has_a_target_of_lint():
    tops = {CORE["targets"][name]["toplevel"] for name in LINTS}
    pages = (ROOT / "docs/parameters.md").read_text()
    assert tops == set(manifests.tops(rtl_files())) and "step_engine" in tops
    assert all(f"### {top}\n" in pages for top in tops)


@needs_verilator
@pytest.mark.parametrize("target", LINTS)
@pytest.mark.nightly("lint_hdca_coprocessor")
def test_fusesoc_lints(target, tmp_path):
    status, said = fusesoc(tmp_path, f"--target={target}", manifests.NAME)
    assert status == 0 and "%Warning" not in said, said
    (options,) = tmp_path.glob(f"build/*/{target}/*.vc")
    assert "-Wall" in options.read_text() and "lint.vlt" in options.read_text()


@needs_verilator
@pytest.mark.nightly
def test_a_core_that_depends_on_ours_is_linted_clean(tmp_path):
    (tmp_path / "own_design.sv").write_text(DESIGN.replace(".clk_i(clk)", ".none(clk)", 1))
    fileset = {"files": ["own_design.sv"], "file_type": "systemVerilogSource"}
    lint = CORE["targets"]["lint"] | {"filesets": ["own"], "toplevel": "own_design"}
    del lint["parameters"]
    core = {"name": "::own:1", "filesets": {"own": fileset | {"depend": [CORE["name"]]}}}
    core["targets"] = {"lint": lint}
    (tmp_path / "own.core").write_text("CAPI=2:\n" + yaml.safe_dump(core))
    status, said = fusesoc(tmp_path, "--target=lint", "own")
    assert status != 0 and "PINNOTFOUND" in said, "a mistake must be found"
    (tmp_path / "own_design.sv").write_text(DESIGN)
    status, said = fusesoc(tmp_path, "--target=lint", "own")
    assert status == 0 and "%Warning" not in said, said


@needs_verilator
def test_the_list_works_from_any_folder(tmp_path):
    for top in ("step_engine", "step_array"):
        command = ["verilator", "--lint-only", "-Wall", str(ROOT / manifests.WAIVERS)]
        status, said = run(
            tmp_path, *command, "-F", str(ROOT / manifests.LIST), "--top-module", top
        )
        assert status == 0, said


@needs_verilator
@pytest.mark.nightly
def test_names_of_a_design_are_free(tmp_path):
    """As docs/on_a_board.md says; among our own modules, hiding one is still a mistake."""
    (tmp_path / "own_design.sv").write_text(DESIGN)
    command = ["verilator", "--lint-only", "-Wall", "--top", "own_design", manifests.WAIVERS]
    command += ["-f", "rtl/rtl.f", str(tmp_path / "own_design.sv")]
    status, said = run(ROOT, *command)
    assert status == 0, said
    hiding = "function automatic logic f(input logic x); return !x; endfunction\nendmodule"
    changed = DESIGN.replace(".rst_ni(x[0])", ".rst_ni(f(x[0]))").replace("endmodule", hiding)
    (tmp_path / "own_design.sv").write_text(changed)
    status, said = run(ROOT, *command)
    assert status != 0 and re.findall(r"%Warning-(.*?):\d", said) == [
        f"VARHIDDEN: {tmp_path}/own_design.sv"
    ]
    (tmp_path / "own_design.sv").write_text(DESIGN)
    status, said = run(ROOT, *command, "-DLINT_ALONE")
    assert status != 0 and set(re.findall(r"%Warning-(\w+)", said)) == {"VARHIDDEN"}


@pytest.mark.skipif(not usable("icarus"), reason="no Icarus")
def test_icarus_takes_the_list_in_its_folder(tmp_path):
    out = ("-o", str(tmp_path / "engine"))
    status, said = run(
        ROOT / "rtl", "iverilog", "-g2012", "-s", "step_engine", *out, "-f", "hdca.f"
    )
    assert status == 0, said
