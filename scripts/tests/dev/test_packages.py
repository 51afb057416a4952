"""How requirements are installed."""

import sys

import pytest

from scripts.dev import packages

SETTINGS = """\
:env:.index-url='https://own/simple'
:env:.timeout='180'
global.cert='/a file.crt'
global.extra-index-url='\\nfile:///a/simple\\nfile:///b/simple'
global.find-links='/wheels /more'
global.index-url='https://other/simple'
install.find-links='/few'
"""


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Commands that pip and uv are asked for, each named; what is in ``failing`` fails."""
    calls, failing = tmp_path / "calls", tmp_path / "failing"
    failing.touch()
    text = f"""
import os, sys
words = " ".join(sys.argv[1:])
with open({str(calls)!r}, "a") as file:
    print(words, os.environ.get("UV_FIND_LINKS", ""), file=file)
if words == "pip config list":
    print("global.find-links='/wheels'")
elif words in open({str(failing)!r}).read().splitlines():
    sys.exit("broken\\nvery")
"""
    fake = (sys.executable, "-c", text)
    monkeypatch.setattr(packages, "PIP", (*fake, "pip"))
    monkeypatch.setattr(packages, "UV", (*fake, "uv"))
    monkeypatch.setattr(packages, "OF_UV", "uv.txt")

    def installed(*fail):
        failing.write_text("\n".join(fail))
        status = packages.install(["r.txt"])
        return status, [line.rstrip() for line in calls.read_text().splitlines()]

    return installed


def test_uv_looks_where_pip_does():
    assert packages.environment(SETTINGS) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://own/simple",
        "UV_INDEX": "file:///a/simple file:///b/simple",
        "UV_FIND_LINKS": "/few",
        "SSL_CERT_FILE": "/a file.crt",
    }


LISTED, OF_UV, BY_UV = "pip config list", "pip install -qq -r uv.txt", "uv -q -r r.txt"
BY_PIP = "pip install -qq -r r.txt"


def test_uv_installs(commands):
    assert commands() == (0, [LISTED, f"{OF_UV} /wheels", f"{BY_UV} /wheels"])


@pytest.mark.parametrize("fails", [OF_UV, BY_UV], ids=["uv is missing", "uv fails"])
def test_pip_does_what_uv_cannot(commands, fails, capfd):
    status, called = commands(fails)
    assert (status, called[-1]) == (0, BY_PIP)
    assert capfd.readouterr().err == "set-up: pip goes on without uv: broken\n"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("WARNING: Retrying\nWARNING: Retrying\nERROR: none found\nmore\n", "ERROR: none found"),
        ("WARNING: only this\nWARNING: and this", "WARNING: only this"),
        (" \n", "no reason given"),
    ],
)
def test_a_reason_is_no_warning_of_another_try(said, why):
    assert packages.reason(said) == why


def test_that_nothing_was_installed_is_said(commands, capfd):
    status, _ = commands(BY_UV, BY_PIP)
    assert status == 1 and capfd.readouterr().err.endswith("broken\nvery\n")
