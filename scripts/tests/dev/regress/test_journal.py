"""A journal outlives whoever writes it."""

import json

from scripts.kernel.journal import Journal


def test_rows_are_read_again(tmp_path):
    file = tmp_path / "unit" / "journal.jsonl"
    journal = Journal(file)
    journal.add({"key": "a", "result": "pass"})
    journal.add({"key": "b", "result": "fail"})
    journal.add({"key": "a", "result": "fail"})
    assert Journal(file).rows == journal.rows
    assert {key: row["result"] for key, row in journal.rows.items()} == {"a": "fail", "b": "fail"}


def test_a_line_that_was_cut_short_counts_as_not_written(tmp_path):
    """After `kill -9` in the middle of a line: what came before stays, what comes next is whole."""
    file = tmp_path / "journal.jsonl"
    Journal(file).add({"key": "a"})
    Journal(file).add({"key": "b"})
    file.write_bytes(file.read_bytes()[:-5])
    journal = Journal(file)
    assert list(journal.rows) == ["a"]
    journal.add({"key": "c"})
    assert list(Journal(file).rows) == ["a", "c"]
    assert json.loads(file.read_text().splitlines()[-1]) == {"key": "c"}
