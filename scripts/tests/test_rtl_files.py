"""The file list of the RTL."""

from tb.common.rtl_files import ROOT, rtl_files


def test_list_without_comments(tmp_path):
    (tmp_path / "rtl").mkdir()
    text = "// order\nrtl/fp/a_pkg.sv\n\n  rtl/fp/b.sv  // unit\n//rtl/fp/c.sv\n"
    (tmp_path / "rtl/rtl.f").write_text(text)
    assert rtl_files(tmp_path) == ["rtl/fp/a_pkg.sv", "rtl/fp/b.sv"]


def test_list_names_every_file_once():
    files = rtl_files()
    assert sorted(files) == sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("rtl/*/*.sv"))
