"""Files that commands keep between their runs."""

import json

import pytest

from pymodel.runs.input_error import InputError
from scripts.alone import alone_in
from scripts.journal import read_units, replace_unit

pytestmark = pytest.mark.rtl_of()

ORDER = ("first", "second", "third")


def test_a_summary_has_one_row_a_unit_in_their_order(tmp_path):
    file = tmp_path / "build" / "summary.json"
    assert read_units(file) == {}
    for row in ({"unit": "second", "n": 1}, {"unit": "first", "n": 2}, {"unit": "second", "n": 3}):
        replace_unit(file, row["unit"], row, ORDER)
    assert json.loads(file.read_text()) == [{"unit": "first", "n": 2}, {"unit": "second", "n": 3}]
    replace_unit(file, "second", None, ORDER)
    replace_unit(file, "third", None, ORDER)
    assert read_units(file) == {"first": {"unit": "first", "n": 2}}
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("text", ["", '[{"unit": "fir', '{"unit": 1}', "[1]"])
def test_what_is_no_summary_is_named(tmp_path, text):
    file = tmp_path / "summary.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"summary\.json is not a summary: remove it$"):
        read_units(file)


def test_one_process_works_in_a_folder(tmp_path):
    folder = tmp_path / "build"
    with alone_in(folder):
        with alone_in(folder / "other"):
            pass
        with (
            pytest.raises(InputError, match="another process works in .*build: wait until"),
            alone_in(folder),
        ):
            pass
    with alone_in(folder):
        pass
