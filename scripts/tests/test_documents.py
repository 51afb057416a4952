"""What the commands that write documents share."""

import pytest

from scripts import documents

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
