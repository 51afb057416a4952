"""The subcommand `mpc`: what it prints and leaves, and what it refuses."""

import json

import numpy as np
import pytest

from pymodel.app import mpc
from pymodel.app.command import main
from pymodel.mechanism import robot_file
from pymodel.runs import robot_calls
from pymodel.tests.robots import HOPPER, ROBOTS

GRIPPER = str(ROBOTS / "gripper.urdf")
SHORT = ("--knots", "20", "--step", "0.02")


def run(out, *options, robot=GRIPPER):
    return main(["mpc", robot, "--out", str(out), *SHORT, *options])


def test_a_plan_is_made_and_driven(tmp_path, capsys):
    status = run(tmp_path, "--limit", "2", "--ticks", "8", "--noise", "1e-4", "--heavier", "0.1")
    assert status == mpc.DONE
    printed = capsys.readouterr().out
    assert "20 knots of 20 ms" in printed and "left after 8 ticks" in printed
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["converged"] and summary["costs"][-1] < 0.1 * summary["costs"][0]
    assert summary["largest_torque"] <= 2
    for name, rows in (("plan.csv", 21), ("driven.csv", 9)):
        table = robot_calls.read_table(tmp_path / name)
        assert list(table) == ["t", "q0", "q1", "qd0", "qd1", "tau0", "tau1"]
        np.testing.assert_allclose(table["t"], 0.02 * np.arange(rows))
    assert (tmp_path / "mpc.png").stat().st_size > 10_000


def test_a_page_shows_what_was_driven_its_way_and_the_goal(tmp_path):
    assert run(tmp_path, "--ticks", "8", "--iterations", "2", "--view") == mpc.DONE
    text = (tmp_path / "view.html").read_text(encoding="utf-8")
    data = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
    np.testing.assert_allclose(data["times"], 0.02 * np.arange(9))
    things = {thing["name"]: thing for thing in data["things"]}
    link = robot_file.load(GRIPPER).links[-1].name
    assert {f"goal of {link}", f"way of {link}, planned"} < things.keys()
    (line,) = things[f"way of {link}, driven"]["object"]["geometries"]
    way = np.reshape(line["data"]["attributes"]["position"]["array"], (-1, 3))
    (moving,) = (x for name, x in things.items() if name[0].isdigit() and link in name)
    np.testing.assert_allclose(np.reshape(moving["position"], (-1, 3)), way, rtol=0, atol=1e-12)


@pytest.mark.nightly
def test_the_same_seed_drives_the_same_way(tmp_path):
    motions = []
    for name in "ab":
        assert run(tmp_path / name, "--ticks", "4", "--noise", "1e-3", "--seed", "5") == mpc.DONE
        motions.append((tmp_path / name / "driven.csv").read_bytes())
    assert motions[0] == motions[1]


def test_torques_have_limits_of_their_own_and_robots_a_format(tmp_path):
    assert run(tmp_path / "double", "--limit", "0.5,2") == mpc.DONE
    double = json.loads((tmp_path / "double/summary.json").read_text())["costs"]
    assert run(tmp_path, "--limit", "0.5,2", "--arith", "8/17") == mpc.DONE
    table = robot_calls.read_table(tmp_path / "plan.csv")
    assert np.abs(table["tau0"]).max() <= 0.5 and np.abs(table["tau1"]).max() <= 2
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["arithmetic"] == "8/17" and summary["costs"][-1] < 0.1 * summary["costs"][0]
    assert 0 < abs(summary["costs"][0] - double[0]) < 1e-3 * double[0]
    assert abs(summary["costs"][-1] - double[-1]) < 0.01 * double[-1]


BALL = """<robot name="pendulum"><link name="ground"/>
<link name="bob"><inertial><origin xyz="0.1 0.2 -0.4"/><mass value="1.5"/>
<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial></link>
<joint name="ball" type="ball"><parent link="ground"/><child link="bob"/></joint></robot>
"""


def test_a_ball_joint_is_planned_and_driven(tmp_path, capsys):
    path = tmp_path / "pendulum.urdf"
    path.write_text(BALL)
    assert run(tmp_path / "out", "--ticks", "5", robot=str(path)) == mpc.DONE
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["converged"] and summary["missing_rad"] < 1e-2
    table = robot_calls.read_table(tmp_path / "out" / "driven.csv")
    names = [
        f"{kind}{k}" for kind, count in (("q", 4), ("qd", 3), ("tau", 3)) for k in range(count)
    ]
    assert list(table) == ["t", *names]
    turn = np.stack([table[f"q{k}"] for k in range(4)])
    np.testing.assert_allclose(np.linalg.norm(turn, axis=0), 1.0, atol=1e-9)
    angles = 2 * np.arcsin(turn[:3, 0])  # about an axis along which all three parts are as long
    np.testing.assert_allclose(np.abs(angles), np.abs(angles[0]), rtol=1e-9)


def test_what_nothing_drives_is_refused(tmp_path, capsys):
    path = tmp_path / "body.urdf"
    body = BALL[BALL.index("<inertial>") : BALL.index("</link>")]
    based = BALL.replace('name="ground"/>', f'name="ground">{body}</link>')
    path.write_text(based.replace('type="ball"', 'type="fixed"'))
    assert run(tmp_path / "out", "--floating", robot=str(path)) == 2
    assert "nothing is driven" in capsys.readouterr().err


def test_limits_of_the_file_hold_for_a_ur5e(tmp_path):
    """From torques that its wrist cannot give to where they bind."""
    text, path = (ROBOTS / "ur5e.urdf").read_text(), tmp_path / "weak.urdf"
    path.write_text(
        text.replace('effort="28"', 'effort="0.9"').replace('effort="150"', 'effort="60"')
    )
    out = tmp_path / "out"
    assert run(out, "--limit", "file", "--knots", "50", robot=str(path)) == mpc.DONE
    summary = json.loads((out / "summary.json").read_text())
    table = robot_calls.read_table(out / "plan.csv")
    largest = [np.abs(table[f"tau{k}"]).max() for k in range(6)]
    assert summary["converged"] and summary["at_limit"] > 0
    assert np.all(largest <= np.array([60.0, 60, 60, 0.9, 0.9, 0.9]))
    assert summary["missing_m"] < 5e-3 and summary["missing_rad"] < 5e-3


FEET = ("--floating", "--feet", "palm")


def test_a_trunk_moves_on_a_pinned_foot(tmp_path, capsys):
    """It is tilted by what its hip gives, and falls on, as nothing else holds it."""
    path = tmp_path / "hopper.urdf"
    path.write_text(HOPPER)
    options = ("--floating", "--feet", "foot", "--posture", "0.4", "--move", "0,0,0,0,0.05,0")
    more = ("--knots", "8", "--limit", "20", "--ticks", "3", "--view")
    assert run(tmp_path / "out", *options, *more, robot=str(path)) == mpc.DONE
    printed = capsys.readouterr().out
    assert "vertical force on foot" in printed and "loops open, driven, by up to" in printed
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["feet"] == ["foot"] and summary["costs"][-1] < 0.9 * summary["costs"][0]
    assert 0 < summary["loops_open"] < 2e-3 and 0 < summary["driven_loops_open"] < 2e-3
    ((least, most),) = summary["contact_force_z"]
    assert 0 < least < most < 200
    table = robot_calls.read_table(tmp_path / "out" / "plan.csv")
    assert table["q7"][0] == 0.4 and np.abs(table["tau6"]).max() <= 20
    assert not any(table[f"tau{k}"].any() for k in range(6))
    assert (tmp_path / "out" / "view.html").stat().st_size > 10_000


@pytest.mark.nightly
def test_a_quadruped_leans_forward_within_its_torques(tmp_path):
    """Raised, shifted by 0.1 m and tilted, on four feet that stay where they are."""
    feet = "lf_foot,rf_foot,lh_foot,rh_foot"
    options = ("mpc", str(ROBOTS / "hyq.urdf"), "--snap", "1e-5", "--floating", "--feet", feet)
    assert main([*options, "--limit", "file", "--out", str(tmp_path)]) == mpc.DONE
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["converged"] and summary["missing_m"] < 1e-3 and summary["missing_rad"] < 1e-3
    assert summary["loops_open"] < 5e-4 and summary["largest_torque"] < 150
    assert min(least for least, _ in summary["contact_force_z"]) > 0


def test_a_plan_that_has_not_converged_says_so(tmp_path, capsys):
    assert run(tmp_path, "--iterations", "1") == mpc.DONE
    assert capsys.readouterr().err.endswith("not converged in 1 iterations\n")


@pytest.mark.parametrize(
    ("robot", "options", "line"),
    [
        (GRIPPER, ["--feet", "palm"], "feet: of a robot on a fixed base; let it float with "),
        (GRIPPER, [*FEET, "--posture", "1"], "posture: 1 numbers for 2 coordinates of joints"),
        (GRIPPER, ["--move", "1,2"], "--move 1,2: must be six numbers: x,y,z in m, and a "),
        (GRIPPER, [*FEET, "--method", "rk4"], "method rk4: of a robot with loops it must be step"),
        (GRIPPER, ["--link", "nobody"], "link: no link 'nobody'; those that move are palm, "),
        (GRIPPER, ["--limit", "0"], "--limit 0: must be above 0"),
        (GRIPPER, ["--limit", "1,2,3"], "--limit 1.0,2.0,3.0: 3 numbers for 2 degrees of freedom"),
        (str(ROBOTS / "tethered.urdf"), ["--limit", "file"], "no joint has a limit with an effort"),
        (GRIPPER, ["--limit", "all"], "--limit all: "),
        (GRIPPER, ["--step", "-1"], "--step -1: must be above 0"),
        (GRIPPER, ["--task", "walk"], "--task walk: must be reach"),
        (str(ROBOTS / "gripper.urdf"), ["--floating", "--limit", "1,2,3"], "3 numbers for 2"),
    ],
)
def test_what_makes_no_plan_is_refused_in_a_line(tmp_path, capsys, robot, options, line):
    assert run(tmp_path / "out", *options, robot=robot) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert line in said
    assert not (tmp_path / "out").exists()
