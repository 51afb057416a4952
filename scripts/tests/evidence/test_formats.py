"""The sweep over float formats; no simulator runs here."""

import pytest
from rich.console import Console

from scripts.evidence import formats

DIFFERS = "AssertionError: y_o[3] differs at cycle 7\n  got 0x1"


def row(unit, config, result="pass", message=""):
    params = formats.UNITS[unit].config_named(config).params
    return {
        "bench": unit,
        "config": config,
        "params": params,
        "result": result,
        "message": message,
        "rerun": f"make {unit} CONFIG={config}",
    }


def test_every_format_of_up_to_32_bits_is_a_job():
    jobs = formats.chosen_jobs([], [], seed=1)
    counts = {unit: sum(job.unit == unit for job in jobs) for unit in formats.UNITS}
    assert counts == {"fp_add": 180, "fp_mul": 180, "fp_recip": 180, "fp_sincos": 110}
    assert len(set(jobs)) == len(jobs)
    widest = formats.Job("fp_add", "random-11.20", 1)
    assert widest in jobs


def test_units_and_formats_are_chosen():
    jobs = formats.chosen_jobs(["fp_mul", "fp_sincos"], [(4, 20), (9, 5)], seed=3)
    assert [job.unit for job in jobs] == ["fp_mul", "fp_mul", "fp_sincos"]
    params = [formats.UNITS[job.unit].config_named(job.config).params for job in jobs]
    assert [(each["EXP_W"], each["MAN_W"]) for each in params] == [(4, 20), (9, 5), (4, 20)]
    assert params[0].keys() - params[2].keys() == {"SPECIALS"}
    assert jobs == formats.chosen_jobs(["fp_mul", "fp_sincos"], [(4, 20), (9, 5)], seed=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fp_ad"], "formats: no float unit 'fp_ad': must be one of fp_add, "),
        (["--formats", "4-2"], "formats: format '4-2': must be <EXP_W>/<MAN_W>, such as 5/10"),
        (["--formats", "4/20 4/28"], "formats: 4/28: no format of up to 32 bits of these units"),
        (["fp_sincos", "--formats", "9/5"], "formats: 9/5: no format of up to 32 bits of"),
        (["--seed", "-1"], "formats: SEED=-1: must be a whole number, 0 to 2147483647"),
        (["--seed", "x"], "formats: SEED=x: must be a whole number, 0 to 2147483647"),
    ],
)
def test_bad_input_is_one_line(monkeypatch, capsys, arguments, said):
    monkeypatch.setattr(formats, "require_usable", lambda simulator: None)
    assert formats.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1


def test_failed_formats_are_listed_with_the_command(monkeypatch, capsys):
    failed = [row("fp_add", "random-4.20", "fail", f"many_operands: [/x]\n{DIFFERS}")]
    monkeypatch.setattr(formats, "require_usable", lambda simulator: None)
    monkeypatch.setattr(formats, "run_all", lambda jobs, workers, console: failed)
    assert formats.main(["fp_add"]) == 1
    said = capsys.readouterr().out
    assert "4/20" in said
    assert "y_o[3] differs at cycle 7" in said
    assert "make fp_add CONFIG=random-4.20" in said
    assert "180 formats, 1 failed" in said


def test_no_failure_is_status_0(monkeypatch):
    monkeypatch.setattr(formats, "require_usable", lambda simulator: None)
    monkeypatch.setattr(formats, "run_all", lambda jobs, workers, console: [])
    assert formats.main([]) == 0


def test_failed_runs_are_collected_in_order(monkeypatch):
    jobs = formats.chosen_jobs(["fp_add"], [(4, 2), (4, 3), (5, 2)], seed=1)
    rows = [row("fp_add", job.config, "fail", "x") for job in reversed(jobs[1:])]
    rows.append(row("fp_add", jobs[0].config))

    class Pool:
        def __init__(self, workers, initializer):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def imap_unordered(self, function, jobs):
            return iter(rows)

        def close(self):
            pass

        join = close

    monkeypatch.setattr(formats.multiprocessing, "Pool", Pool)
    failed = formats.run_all(jobs, 1, Console(quiet=True))
    assert [one["config"] for one in failed] == ["random-4.3", "random-5.2"]
