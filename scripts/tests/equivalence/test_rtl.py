"""That the repository's RTL can be compared at all."""

from pathlib import Path

from scripts.equivalence.proofs import check_readable
from scripts.places import ROOT
from tb.common.rtl_files import rtl_files


def test_all_of_the_rtl_can_be_compared():
    for file in rtl_files():
        text = (ROOT / file).read_text()
        check_readable(Path(file).stem, text, text)
