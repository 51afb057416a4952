"""Which rows are kept."""

import dataclasses

from scripts.evidence.cost.measure import SUMMARY, current, source
from scripts.tests.evidence.cost.made import job, row


def test_rows_of_another_source_are_dropped():
    good = row(source=source(job(), 3), seeds=3, lut=1)
    stale = row(stages=1, source="another", seeds=3)
    unknown = row(config="of an older version")
    assert current([stale, unknown, good]) == [good]


def test_rows_are_kept_beside_those_of_other_runs(tmp_path):
    summary = dataclasses.replace(SUMMARY, file=tmp_path / "summary.json")
    for stages, lut in ((1, 5), (0, 6), (1, 7)):
        summary.replace(job(stages=stages).key, row(stages=stages, lut=lut))
    assert {key: row["lut"] for key, row in summary.read().items()} == {
        job(stages=0).key: 6,
        job(stages=1).key: 7,
    }


def test_seeds_are_part_of_the_source_on_ecp5_alone():
    placed = job(config="speed", family="ecp5")
    assert source(placed, 1) != source(placed, 3)
    assert source(job(), 1) == source(job(), 3)
