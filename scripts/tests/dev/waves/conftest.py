"""A made-up waveform with its JSON."""

import json

import pytest

from scripts.dev.waves.waveform import Waveform
from scripts.tests.dev.waves.made import HIERARCHY, write


@pytest.fixture
def wave(tmp_path):
    """A waveform of a made-up bench with its JSON: call it with a float format.

    More entries of the JSON may be given.
    """

    def make(exp_w, man_w, hierarchy=HIERARCHY, **more):
        path = tmp_path / "small-icarus-first.fst"
        write(path, hierarchy)
        about = {
            "toplevel": "dut",
            "params": {"EXP_W": exp_w, "MAN_W": man_w},
            "rerun": "make dut WAVES=1",
        } | more
        path.with_suffix(".json").write_text(json.dumps(about))
        return Waveform.read(path)

    return make
