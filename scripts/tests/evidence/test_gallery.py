"""The gallery of scenarios, against the files."""

from PIL import Image

from scripts.evidence import gallery
from scripts.kernel.places import ROOT

BYTES, BYTES_OF_ALL = 400_000, 3_000_000  # of pictures, which every clone has to load


def test_the_gallery_is_not_stale():
    """`make gallery` writes it."""
    stale = f"{gallery.DOC.relative_to(ROOT)} is stale or was edited: `make gallery` writes it"
    assert gallery.DOC.read_text() == gallery.document(), stale


def test_every_scenario_is_seen_in_motion():
    motions = [gallery.motion_of(path) for path in gallery.scenario_files()]
    shown = set(gallery.MOTIONS.iterdir())
    missing, extra = (
        [x.name for x in sorted(y)] for y in (set(motions) - shown, shown - set(motions))
    )
    where = gallery.MOTIONS.relative_to(ROOT)
    assert not missing, f"{where} lacks {missing}: `make gallery` writes them"
    assert not extra, f"{where} has {extra} of no scenario: delete them"
    sizes = [motion.stat().st_size for motion in motions]
    assert max(sizes) < BYTES and sum(sizes) < BYTES_OF_ALL
    for motion in motions:
        with Image.open(motion) as image:
            assert image.n_frames >= 20


def test_every_scenario_says_what_it_is():
    for path in gallery.scenario_files():
        assert gallery.about(path).endswith("."), path.name
