"""Tables read back bit for bit, or are refused by line."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.runs.input_error import InputError
from pymodel.runs.trajectory import (
    Trajectory,
    TrajectoryError,
    column_names,
    read_csv,
    write_csv,
)


def trajectory(table, joints):
    """A trajectory whose columns are those of `table`, shape (T, 5 + 3 joints)."""
    table = np.asarray(table, dtype=np.float64)
    t, *joint, kinetic, potential, position, velocity = table.T
    q, qd, p = (np.transpose(joint[k * joints : (k + 1) * joints]) for k in range(3))
    return Trajectory(t, q, qd, p, kinetic, potential, position, velocity)


def bits(run):
    return {name: column.tobytes() for name, column in run.columns().items()}


def test_columns_are_those_of_the_contract(tmp_path):
    run = trajectory([np.arange(11.0), np.arange(11.0) / 10], 2)
    path = tmp_path / "run.csv"
    write_csv(path, run)
    assert path.read_text() == (
        "t,q0,q1,qd0,qd1,p0,p1,kinetic,potential,loop_position,loop_velocity\n"
        "0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0\n"
        "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0\n"
    )
    assert list(run.columns()) == column_names(2, 2)
    assert (len(run), run.nq, run.nv, run.flags) == (2, 2, 2, 0)


@pytest.mark.parametrize("joints", [1, 3])
def test_random_bit_patterns_read_back_bit_for_bit(tmp_path, joints):
    rng = np.random.default_rng(joints)
    patterns = rng.integers(0, 2**64, size=(2000, 5 + 3 * joints), dtype=np.uint64)
    table = patterns.view(np.float64)
    table[~np.isfinite(table)] = -0.0
    run = trajectory(table, joints)
    write_csv(tmp_path / "run.csv", run)
    assert bits(read_csv(tmp_path / "run.csv")) == bits(run)


def test_what_is_no_run_is_not_written(tmp_path):
    with pytest.raises(InputError, match="must be a Trajectory, as pymodel.simulate makes one"):
        write_csv(tmp_path / "run.csv", None)
    assert not list(tmp_path.iterdir())


@given(st.lists(st.floats(allow_nan=False), min_size=8, max_size=8))
def test_any_number_reads_back_bit_for_bit(tmp_path_factory, row):
    path = tmp_path_factory.getbasetemp() / "row.csv"
    run = trajectory([row], 1)
    write_csv(path, run)
    assert bits(read_csv(path)) == bits(run)


def test_float32_values_survive(tmp_path):
    table = np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32)
    run = trajectory(table, 1)
    write_csv(tmp_path / "run.csv", run)
    back = read_csv(tmp_path / "run.csv")
    assert (back.q.astype(np.float32) == table[:, 1:2]).all()


def test_more_coordinates_than_velocities(tmp_path):
    table = np.random.default_rng(2).normal(size=(5, 24))
    t, q, qd, p, *scalars = np.split(table, [1, 8, 14, 20, 21, 22, 23], axis=1)
    run = Trajectory(t[:, 0], q, qd, p, *(x[:, 0] for x in scalars))
    assert (run.nq, run.nv, run.size_text) == (7, 6, "7 coordinates and 6 velocities")
    write_csv(tmp_path / "run.csv", run)
    header = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    assert header == list(run.columns()) == column_names(7, 6)
    assert header[7:10] == ["q6", "qd0", "qd1"] and header[13:15] == ["qd5", "p0"]
    back = read_csv(tmp_path / "run.csv")
    assert bits(back) == bits(run) and (back.nq, back.nv) == (7, 6)


def test_no_rows(tmp_path):
    run = trajectory(np.zeros((0, 8)), 1)
    write_csv(tmp_path / "run.csv", run)
    assert len(read_csv(tmp_path / "run.csv")) == 0


def test_shapes_are_checked():
    with pytest.raises(TrajectoryError, match=r"^p has shape \(2, 2\), not \(2, 1\)$"):
        Trajectory([0, 1], np.zeros((2, 2)), np.zeros((2, 1)), np.zeros((2, 2)), *[np.zeros(2)] * 4)
    with pytest.raises(TrajectoryError, match=r"must be \(T,\), \(T, nq\) and \(T, nv\)"):
        Trajectory([0, 1], [0, 1], [[0], [1]], *[np.zeros(2)] * 5)
    with pytest.raises(TrajectoryError, match=r"must be \(T,\), \(T, nq\) and \(T, nv\)"):
        Trajectory([0, 1], [[0], [1]], [0, 1], *[np.zeros(2)] * 5)


@pytest.mark.parametrize("p", ["p", None, [[1j], [0]], np.ma.masked_less([[0.0], [1.0]], 1.0)])
def test_what_is_no_column(p):
    with pytest.raises(TrajectoryError, match="^p: (must be a number|has masked entries)"):
        Trajectory([0, 1], [[0], [1]], [[0], [1]], p, *[np.zeros(2)] * 4)


def test_equal_is_what_is_the_same_bit_for_bit():
    table = np.arange(24.0).reshape(3, 8)
    table[1, 4], table[2, 4] = np.nan, 0.0
    run, again = trajectory(table, 1), trajectory(table, 1)
    assert run == again and run == replace(run) and run != run.first(2) and run != "run.csv"
    assert run != replace(run, flags=1) and run != replace(run, condition=2.0)
    for name in ("t", "q", "kinetic"):
        assert run != replace(run, **{name: getattr(run, name) + 1.0})
    minus = table.copy()
    minus[2, 4] = -0.0
    assert run != trajectory(minus, 1)
    assert again in [run] and [run, again].index(again) == 0


def test_first_rows_keep_flags_and_condition_of_the_whole_run():
    run = trajectory(np.arange(24.0).reshape(3, 8), 1)
    run.flags, run.condition, run.condition_time = 5, 2e6, 8.0
    run.kinetic[2] = np.inf
    for cut in (run.first(2), run.finite_part()):
        assert cut.t.tolist() == [0.0, 8.0]
        assert (cut.flags, cut.condition, cut.condition_time) == (5, 2e6, 8.0)


BROKEN = {
    "header": ("a,b\n1,2\n", "line 1: not the header of a run (t, q0.., qd0.., p0.., ..)"),
    "empty": ("", "line 1: not the header of a run (t, q0.., qd0.., p0.., ..)"),
    "short": (",".join(column_names(1, 1)) + "\n1,2\n", "line 2: 2 values for 8 columns"),
    "text": (
        ",".join(column_names(1, 1)) + "\n" + "1,2,3,4,5,6,7,8\n" + "1,2,3,x,5,6,7,8\n",
        "line 3: could not convert string to float: 'x'",
    ),
    "letter": (",".join(column_names(1, 1)) + "\n1,2,3,\u00e4,5,6,7,8\n", "line 2: not ASCII text"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_tables_are_refused_in_one_line(tmp_path, kind):
    text, reason = BROKEN[kind]
    path = tmp_path / "run.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TrajectoryError) as caught:
        read_csv(path)
    assert str(caught.value) == f"{path}: {reason}"


def test_missing_table(tmp_path):
    with pytest.raises(TrajectoryError, match="cannot read: No such file or directory$"):
        read_csv(tmp_path / "none.csv")
