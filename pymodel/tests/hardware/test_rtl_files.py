"""The file list of the RTL."""

import pytest

from pymodel.hardware.rtl_files import ROOT, needed, rtl_files, unlisted


def test_list_without_comments(tmp_path):
    (tmp_path / "rtl").mkdir()
    text = "// order\nrtl/fp/a_pkg.sv\n\n  rtl/fp/b.sv  // unit\n//rtl/fp/c.sv\n"
    (tmp_path / "rtl/rtl.f").write_text(text)
    assert rtl_files(tmp_path) == ["rtl/fp/a_pkg.sv", "rtl/fp/b.sv"]


def test_list_names_every_file_once():
    files = rtl_files()
    assert len(set(files)) == len(files) and all((ROOT / file).is_file() for file in files)
    assert unlisted() == []


def test_what_a_module_needs(tmp_path):
    texts = {
        "units_pkg": "package units_pkg; endpackage",
        "leaf": "module leaf import units_pkg::*; (); endmodule",
        "other": "module other (); leaf u_leaf (); endmodule",
        "top": "module top (); leaf u_leaf (); // and no other\nendmodule",
    }
    files = [tmp_path / f"{name}.sv" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text)
    assert [file.stem for file in needed("top", files)] == ["units_pkg", "leaf", "top"]
    assert [file.stem for file in needed("other", files)] == ["units_pkg", "leaf", "other"]
    with pytest.raises(KeyError, match=r"no module nothing: is its file in rtl/rtl\.f\?"):
        needed("nothing", files)
