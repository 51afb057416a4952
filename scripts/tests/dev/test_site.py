"""`make docs`: every page and public name is in the site, and a link that leads nowhere is red."""

import subprocess
import sys

import pytest

import pymodel
from scripts.kernel.places import DOCS, ROOT

SPHINX = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]


@pytest.mark.reads("rtl")  # files that pages link to
@pytest.mark.nightly
def test_the_site_has_all_pages_and_names(tmp_path):
    words = [*SPHINX, "-c", "docs", "-d", tmp_path / "trees", ".", tmp_path / "site"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert 'url=docs/index.html"' in (site / "index.html").read_text()
    index = (site / "docs" / "index.html").read_text()
    for page in DOCS.glob("*.md"):
        assert page.stem == "index" or f'href="{page.stem}.html"' in index, page
    names = (site / "docs" / "api.html").read_text()
    missing = [name for name in pymodel.__all__ if f'id="pymodel.{name}"' not in names]
    assert not missing
    assert "bennett" in (site / "searchindex.js").read_text()


@pytest.mark.rtl_of()
def test_a_link_that_leads_nowhere_is_red(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "site").mkdir()
    (tmp_path / "docs" / "conf.py").write_text((DOCS / "conf.py").read_text())
    (tmp_path / "docs" / "index.md").write_text("# One page\n\n[another](nothing.md)\n")
    done = subprocess.run(
        [*SPHINX, "-c", "docs", ".", "site"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "cross-reference target not found: 'nothing.md'" in done.stderr
