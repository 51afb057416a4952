"""What the commands that write documents share."""

import json

import pytest

from scripts.kernel import documents
from scripts.kernel.journal import Summary

pytestmark = pytest.mark.rtl_of()


@pytest.fixture
def doc(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    return tmp_path / "about.md"


@pytest.mark.parametrize(
    ("text", "is_what"), [(None, "missing"), ("", "damaged"), ("[", "damaged")]
)
def test_what_no_document_can_be_made_of(doc, capsys, text, is_what):
    file = doc.with_name("rows.json")
    if text is not None:
        file.write_text(text)
    assert documents.write_document(doc, lambda: documents.read(file, "make it"), []) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith(f"about: rows.json is {is_what}: run `make it` ")
    assert err.count("\n") == 1 and not doc.exists()


def test_a_document_is_written_and_named(doc, capsys):
    assert documents.write_document(doc, lambda: "text", []) == 0
    assert doc.read_text() == "text" and capsys.readouterr().out == "about.md\n"


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"a": 3, "b": 7}, ""),
        ({"a": 2, "b": 7}, 'a has 2 of 3 things or more: run `measure UNITS="a"` first'),
        ({"b": 1}, 'a has 0, b has 1 of 3 things or more: run `measure UNITS="a b"` first'),
    ],
    ids=["whole", "few", "not all"],
)
def test_a_trial_makes_no_page(doc, sizes, said):
    summary = Summary(doc.with_name("rows.json"), ("a", "b"))
    rows = [{"unit": unit, "size": size} for unit, size in sizes.items()]
    summary.file.write_text(json.dumps(rows))
    sized = (summary, "measure", 3, "things", lambda row: row["size"])
    if not said:
        assert documents.read_all(*sized) == rows
        return
    with pytest.raises(documents.MissingError) as refused:
        documents.read_all(*sized)
    assert str(refused.value) == said
