"""Which rows are kept."""

from scripts.cost import summary
from scripts.cost.source import source
from scripts.cost.summary import add_to_summary, current, ordered, read_summary
from scripts.tests.cost.made import job, row


def test_rows_of_another_source_are_dropped():
    good = row(source=source(job(), 3), seeds=3, lut=1)
    stale = row(stages=1, source="another", seeds=3)
    unknown = row(config="of an older version")
    assert current([stale, unknown, good]) == [good]
    assert ordered([stale, unknown, good, good | {"lut": 2}])[0]["lut"] == 2


def test_rows_are_kept_beside_those_of_other_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(summary, "SUMMARY", tmp_path / "summary.json")
    for stages in (1, 0, 1):
        add_to_summary(job(stages=stages), row(stages=stages, seconds=stages))
    rows, seconds = read_summary()
    assert [r["stages"] for r in rows] == [0, 1]
    assert seconds == {job().name: 0, job(stages=1).name: 1}


def test_seeds_are_part_of_the_source_on_ecp5_alone():
    placed = job(config="speed", family="ecp5")
    assert source(placed, 1) != source(placed, 3)
    assert source(job(), 1) == source(job(), 3)
