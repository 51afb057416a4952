"""Files that commands keep between their runs."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter

import pytest

from pymodel.runs.alone import alone_in
from pymodel.runs.input_error import InputError
from scripts.kernel.journal import Summary

pytestmark = pytest.mark.rtl_of()

ORDER = ("first", "second", "third")


def test_a_summary_has_one_row_a_unit_in_their_order(tmp_path):
    file = tmp_path / "build" / "summary.json"
    summary = Summary(file, ORDER)
    assert summary.read() == {}
    for row in ({"unit": "second", "n": 1}, {"unit": "first", "n": 2}, {"unit": "second", "n": 3}):
        summary.replace(row["unit"], row)
    assert json.loads(file.read_text()) == [{"unit": "first", "n": 2}, {"unit": "second", "n": 3}]
    summary.replace("second", None)
    summary.replace("third", None)
    assert summary.read() == {"first": {"unit": "first", "n": 2}}


def test_rows_of_commands_that_run_beside_each_other_are_all_kept(tmp_path):
    names = [str(number) for number in range(40)]
    summary = Summary(tmp_path / "summary.json", names)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: summary.replace(name, {"unit": name}), names))
    assert list(summary.read()) == names


def test_rows_stand_inside_and_have_keys_of_their_own(tmp_path):
    file = tmp_path / "summary.json"
    file.write_text('{"rows": [{"name": "b"}, {"name": "gone"}], "other": 1}')
    summary = Summary(file, ("a", "b"), itemgetter("name"), "rows")
    summary.replace("a", {"name": "a"})
    assert json.loads(file.read_text()) == {"rows": [{"name": "a"}, {"name": "b"}]}


@pytest.mark.parametrize("text", ["", '[{"unit": "fir', '{"unit": 1}', "[1]"])
def test_what_is_no_summary_is_named(tmp_path, text):
    file = tmp_path / "summary.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"summary\.json is not a summary: remove it$"):
        Summary(file, ORDER).read()


def test_one_process_works_in_a_folder(tmp_path):
    folder = tmp_path / "build"
    with alone_in(folder):
        with alone_in(folder / "other"):
            pass
        with (
            pytest.raises(InputError, match=f"process {os.getpid()} works in .*build: wait until"),
            alone_in(folder),
        ):
            pass
    assert not (folder / ".lock").exists()
    with alone_in(folder):
        pass
