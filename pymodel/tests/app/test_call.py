"""Subcommands about robots: tables in and out, one line for bad input, counts."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, suited
from pymodel.app.command import main
from pymodel.compile import graph, recording_limit, robot_kernels
from pymodel.mechanism.urdf import load
from pymodel.runs.robot_calls import call as call_table
from pymodel.runs.robot_calls import random_states, read_table, write_table
from pymodel.runs.robot_model import load_robot
from pymodel.tests.mjcf import ARM, mjcf
from pymodel.tests.robots import ROBOTS

IIWA, HYQ = str(ROBOTS / "iiwa14.urdf"), str(ROBOTS / "hyq.urdf")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pymodel.app.call.PATIENCE", 3600.0)  # a busy machine says no more


def inputs(function, rows=3, path=IIWA, floating=False, **changed):
    """Write random states, with some columns changed; a column that is None is left out."""
    table = random_states(load(path, floating), function, rows, seed=1)
    table |= {name: np.broadcast_to(x, rows) for name, x in changed.items() if x is not None}
    write_table(
        "in.csv", {name: x for name, x in table.items() if changed.get(name, 0) is not None}
    )
    return table


def call(function, *options, path=IIWA):
    return main(["call", function, path, "--inputs", "in.csv", "--out", "out.csv", *options])


def test_what_is_read_is_not_overwritten(capsys):
    inputs("ID")
    before = Path("in.csv").read_bytes()
    Path("link.csv").symlink_to("in.csv")
    robot = shutil.copy(IIWA, "arm.urdf")
    for out in ("in.csv", "./link.csv", "./arm.urdf"):
        assert call("ID", "--out", out, path=robot) == 2
        assert capsys.readouterr().err.splitlines()[-1] == f"--out: {out} is what is read"
    assert Path("in.csv").read_bytes() == before


@pytest.mark.parametrize("function", ["ID", "FD", "M", "Minv", "dID", "dFD", "diFD"])
@pytest.mark.parametrize("floating", [False, True])
def test_tables_are_what_arrays_give(function, floating, capsys):
    table = inputs(function, path=HYQ, floating=floating)
    assert call(function, *["--floating"] * floating, path=HYQ) == 0
    found, model = read_table("out.csv"), load_robot(HYQ, floating)

    def array(kind):
        width = model.nq if kind == "q" else model.nv
        if kind == "minv":
            names = [f"minv{i}_{j}" for i in range(width) for j in range(width)]
            return np.stack([table[name] for name in names], -1).reshape(-1, width, width)
        return np.stack([table[f"{kind}{k}"] for k in range(width)], -1)

    takes, method, prefixes = {
        "ID": (("q", "qd", "qdd"), model.inverse_dynamics, ("tau",)),
        "FD": (("q", "qd", "tau"), model.forward_dynamics, ("qdd",)),
        "M": (("q",), model.mass_matrix, ("m",)),
        "Minv": (("q",), model.inverse_mass_matrix, ("minv",)),
        "dID": (
            ("q", "qd", "qdd"),
            model.inverse_dynamics_derivatives,
            ("dtau_dq", "dtau_dqd"),
        ),
        "dFD": (
            ("q", "qd", "tau"),
            model.forward_dynamics_derivatives,
            ("dqdd_dq", "dqdd_dqd"),
        ),
        "diFD": (
            ("q", "qd", "qdd", "minv"),
            model.forward_dynamics_derivatives_given,
            ("dqdd_dq", "dqdd_dqd"),
        ),
    }[function]
    results = method(*map(array, takes))
    for prefix, result in zip(
        prefixes, results if isinstance(results, tuple) else (results,), strict=True
    ):
        for index in np.ndindex(result.shape[1:]):
            column = found.pop(prefix + "_".join(map(str, index)))
            assert column.tobytes() == result[(slice(None), *index)].tobytes()
    assert not found
    out, err = capsys.readouterr()
    assert out == f"out.csv: 3 calls of {function}, float64\n"
    assert f"{model.nv} degrees of freedom" in err


@pytest.mark.parametrize(("lanes", "target"), [("2+2", "twin"), ("8+8", "step")])
@pytest.mark.parametrize("function", ["ID", "FD"])
def test_the_twin_gives_the_bits_of_the_model(function, lanes, target, capsys):
    """By its old name, too."""
    inputs(function)
    assert call(function, "--arith", "float32") == 0
    model = Path("out.csv").read_text()
    assert call(function, "--arith", "float32", "--target", target, "--lanes", lanes) == 0
    assert Path("out.csv").read_text() == model
    assert "cycles each" in capsys.readouterr().out.splitlines()[1]
    with Path("out.csv").open() as file:
        numbers = [float(x) for row in list(csv.reader(file))[1:] for x in row]
    assert numbers and all(x == np.float32(x) for x in numbers)


def test_wrenches_on_links():
    force = {f"fext3_{k}": x for k, x in enumerate((1.0, -2.0, 0.5, 0.1, 0.2, -0.3))}
    table = inputs("ID", rows=2, **force)
    assert call("ID") == 0
    model = load_robot(IIWA)
    q, qd, qdd = (
        np.stack([table[f"{kind}{k}"] for k in range(7)], -1) for kind in ("q", "qd", "qdd")
    )
    wrench = np.tile(list(force.values()), (2, 1))
    pushed = model.inverse_dynamics(q, qd, qdd, {model.robot.links[3].name: wrench})
    found = np.stack(list(read_table("out.csv").values()), -1)
    assert found.tobytes() == pushed.tobytes()
    assert np.abs(pushed - model.inverse_dynamics(q, qd, qdd)).max() > 0.1


def test_a_byte_order_mark_is_no_column(capsys):
    inputs("ID")
    Path("in.csv").write_bytes(b"\xef\xbb\xbf" + Path("in.csv").read_bytes())
    assert call("ID") == 0


def test_warnings_leave_the_status(capsys):
    inputs("M", rows=2, path=HYQ, floating=True, q3=1.0, q4=1.0, q5=0.0, q6=0.0)
    assert call("M", "--floating", path=HYQ) == 0
    assert "rows 1, 2: quaternions differ from length 1 by up to 0.414" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [(), ("--target", "twin")], ids=["model", "twin"])
def test_results_that_are_not_finite_stay_in_the_table(options, capsys):
    """Torques that half precision holds, and accelerations that it does not."""
    inputs("FD", rows=3, tau6=[0.1, 6e4, 0.2])
    assert call("FD", "--arith", "5/10", *options) == 1
    assert "row 2: a result is infinite or not a number" in capsys.readouterr().err.splitlines()
    rows = np.array(list(read_table("out.csv").values())).T
    assert [bool(np.isfinite(row).all()) for row in rows] == [True, False, True]


NO_INERTIA = """<robot name='bare'><link name='a'/><link name='b'/>
<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint>
</robot>"""
BAD = {
    "missing column": ({"qd3": None}, "FD", [], "FD of iiwa14: missing columns qd3"),
    "unknown column": ({"speed": 1.0}, "FD", [], "FD of iiwa14: unknown columns speed"),
    "wrong size": ({"q7": 1.0}, "FD", [], "FD of iiwa14: unknown columns q7"),
    "half a wrench": ({"fext2_0": 1.0}, "FD", [], "missing columns fext2_1, fext2_2, fext2_3, "),
    "wrench on no link": ({"fext7_0": 1.0}, "FD", [], "unknown columns fext7_0"),
    "useless wrench": ({"fext2_0": 1.0}, "M", [], "M of iiwa14: unknown columns fext2_0"),
    "not a number": ({"q0": np.nan}, "FD", [], "in.csv: row 1: q0 is nan, must be finite"),
    "infinite": ({"q0": np.inf}, "FD", [], "in.csv: row 1: q0 is inf, must be finite"),
    "not symmetric": (
        {"minv2_1": 9.0},
        "diFD",
        [],
        "row 1: minv2_1 and minv1_2 differ, must be symmetric",
    ),
    "function": ({}, "IK", [], "FUNCTION IK: must be ID, FD, M, Minv, dID, dFD, diFD, FK, J, "),
    "link": ({}, "FD", ["--link", "iiwa_link_7"], "--link: changes nothing in FD"),
    "arithmetic": ({}, "FD", ["--arith", "half"], "--arith half: must be float32"),
    "target": ({}, "FD", ["--target", "gpu"], "--target gpu: must be model, native or twin"),
    "engine's format": ({}, "FD", ["--target", "twin"], "target twin: the engine has no float64"),
    "lanes": ({}, "FD", ["--target", "twin", "--lanes", "2x2"], "--lanes 2x2: must be"),
    "lanes without engine": ({}, "FD", ["--lanes", "2+2"], "--lanes 2+2: only for --target twin"),
    "armature": ({}, "FD", ["--armature", "-1"], "armature"),
    "floating": ({}, "FD", ["--floating"], "missing columns q7, q8, q9, q10, ... (19 in all)"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line_and_status_2(kind, capsys):
    changed, function, options, said = BAD[kind]
    inputs(function if function != "IK" else "FD", **changed)
    assert call(function, *options) == 2
    out, err = capsys.readouterr()
    assert not out and said in err and len(err.splitlines()) == 1
    assert not Path("out.csv").exists()


@pytest.mark.nightly(every=7)
@pytest.mark.parametrize("function", [*FUNCTIONS, "FK", "energy", "com", "Y"])
@pytest.mark.parametrize("option", [["--damping"], ["--armature", "0.1"], ["--friction", "0.2"]])
def test_options_that_change_nothing_are_refused(function, option, capsys):
    """So those that change something, and only those, are taken."""
    path = "damped.urdf"
    text = (
        Path(IIWA).read_text().replace("</joint>", "<dynamics damping='0.5' friction='2'/></joint>")
    )
    Path(path).write_text(text)
    inputs(function, path=path)
    assert call(function, path=path) == 0
    plain = Path("out.csv").read_text()
    capsys.readouterr()
    if call(function, *option, path=path) == 0:
        assert Path("out.csv").read_text() != plain
    else:
        assert capsys.readouterr().err == f"{option[0]}: changes nothing in {function}\n"
        robot = load(path, False, option == ["--damping"], 0.1 * (option[0] == "--armature"))
        answer = call_table(suited(robot, function), function, read_table("in.csv"))
        write_table("out.csv", answer.table)
        assert Path("out.csv").read_text() == plain


def test_damping_of_a_file_that_has_none_is_refused(capsys):
    inputs("ID")
    assert call("ID", "--damping") == 2
    assert capsys.readouterr().err == f"--damping: no joint of {IIWA} has damping\n"
    assert call("ID", "--friction", "0.1") == 2
    assert capsys.readouterr().err == f"--friction: no joint of {IIWA} has dry friction\n"


def test_armature_is_in_decimal_digits(capsys):
    for command in (["call", "FD", IIWA, "--inputs", "x", "--out", "x"], ["compile", IIWA]):
        assert main([*command, "--armature", "1_0"]) == 2
        assert capsys.readouterr().err == "--armature 1_0: must be a number\n"


NAMES = [f"{kind}{k}" for kind in ("q", "qd", "qdd") for k in range(7)]
FILES = {
    "no row": (f"{','.join(NAMES)}\n", "ID of iiwa14: no row"),
    "empty": ("", "in.csv: empty"),
    "word": ("q0\nx\n", "in.csv: line 2: q0 is 'x', must be a number"),
    "short row": ("q0,q1\n1\n", "in.csv: line 2: 1 values under 2 names"),
    "underscore": ("q0\n1_0\n", "in.csv: line 2: q0 is '1_0', must be a number"),
    "twice": ("q0,q0\n1,1\n", "in.csv: columns twice: q0"),
}


@pytest.mark.parametrize("kind", FILES)
def test_bad_tables_are_one_line_and_status_2(kind, capsys):
    text, said = FILES[kind]
    Path("in.csv").write_text(text)
    assert call("ID") == 2
    assert capsys.readouterr().err == f"{said}\n"


def test_bad_robots_are_one_line_and_status_2(capsys):
    Path("bare.urdf").write_text(NO_INERTIA)
    inputs("ID")
    for words in (["call", "ID", "bare.urdf", "--inputs", "in.csv", "--out", "out.csv"],) + tuple(
        [name, "bare.urdf"] for name in ("count", "joints")
    ):
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert not out and "link b: no inertia" in err and len(err.splitlines()) == 1
    assert main(["count", "none.urdf"]) == 2
    assert capsys.readouterr().err.startswith("none.urdf: cannot read")


def test_what_has_too_many_operations_is_not_counted(capsys, monkeypatch):
    monkeypatch.setattr(recording_limit, "MOST", 1500)
    monkeypatch.setattr(graph, "WATCHED", 100)
    monkeypatch.setattr(recording_limit, "FEW", 7)
    monkeypatch.setattr(robot_kernels, "FIRST", (4, 5, 6, 7))
    hyq = str(ROBOTS / "hyq.urdf")
    assert main(["count", hyq, "--markdown"]) == 0
    said = capsys.readouterr()
    counted = {line.split("|")[1].strip(" `") for line in said.out.splitlines() if "|" in line}
    refused = {
        line.split()[2] for line in said.err.splitlines() if line.startswith("not counted: ")
    }
    assert {"ID", "M"} <= counted and {"dID", "drk4"} <= refused and not counted & refused
    monkeypatch.setattr(recording_limit, "MOST", 1)
    assert main(["count", hyq]) == 2
    assert re.fullmatch(r"ID of hyq: about .*", capsys.readouterr().err.splitlines()[-1])


@pytest.mark.nightly
def test_count_prints_all_functions(capsys):
    assert main(["count", IIWA, "--snap", "1e-5", "--markdown"]) == 0
    out, err = capsys.readouterr()
    title, _, headings, _, *rows = out.splitlines()
    assert title == "### iiwa14: 7 degrees of freedom, fixed base"
    assert headings == "| function | method | x | + | 1/x | sincos | longest path [cycles] |"
    assert rows[0] == "| ID |  | 218 | 190 | 0 | 6 | 152 |" and len(rows) == 15
    assert rows[1] == "| FD | factors | 438 | 369 | 5 | 6 | 194 |"
    assert "7 degrees of freedom" in err and "rounded" in err
    assert "snap 1e-05: inverse dynamics take 414 operations, without it 612" in err
    assert main(["count", "--floating"]) == 2
    assert "only for a robot file" in capsys.readouterr().err


@pytest.mark.nightly
def test_count_takes_a_floating_base_and_a_link(capsys):
    options = ["--floating", "--parameters-as-data", "--link", "left_tip"]
    assert main(["count", str(ROBOTS / "gripper.urdf"), *options]) == 0
    assert "gripper: 8 degrees of freedom, floating base, parameters as data" in " ".join(
        (out := capsys.readouterr().out).split()
    )
    assert "Jbody" in out and "drk4" in out


def test_a_robot_is_one_by_what_its_file_holds(capsys):
    """Of any name: XML, also after a byte order mark and lines, is no scenario."""
    Path("arm.model.xml").write_text(f"\ufeff\n\n{mjcf(ARM)}")
    assert main(["count", "arm.model.xml", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("### r: 5 degrees of freedom, fixed base\n")
    Path("arm").write_text(Path(IIWA).read_text())
    compiled = ["compile", "arm", "--function", "ID", "--out", "a.img"]
    assert main(compiled) == 0
    assert "iiwa14: 7 degrees of freedom" in capsys.readouterr().err
    assert main(["joints", "arm", "--order", "sorted"]) == 2
    assert capsys.readouterr().err == "--order sorted: must be pinocchio or file\n"


def test_joints_in_the_order_of_the_file(capsys):
    text = Path(IIWA).read_text()
    names = [f"iiwa_joint_{k}" for k in range(1, 8)]
    first, second = (f'<joint name="{name}"' for name in ("z", "a"))
    arms = "".join(
        f'{joint} type="revolute"><parent link="iiwa_link_7"/><child link="l{k}"/></joint>'
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        f'iyz="0" izz="1"/></inertial></link>'
        for k, joint in enumerate((first, second))
    )
    Path("hand.urdf").write_text(text.replace("</robot>", f"{arms}</robot>"))
    for options, last in (([], ["a", "z"]), (["--order", "file"], ["z", "a"])):
        assert main(["joints", "hand.urdf", *options]) == 0
        assert capsys.readouterr().out.split() == [*names, *last]


def test_coordinates_of_joints_of_several_freedoms(capsys):
    names = ["wheels.x", "wheels.y", "wheels.rz", "spindle", "head.rx", "head.ry", "head.rz"]
    for order in ("pinocchio", "file"):
        assert main(["joints", str(ROBOTS / "mobile_arm.urdf"), "--order", order]) == 0
        out, err = capsys.readouterr()
        assert out.split() == names
    planar, ball = err.splitlines()[1:]
    assert planar.startswith("wheels, planar: q0..q2, qd0..qd2: x, y (m) and angle (rad) in the ")
    assert ball == (
        "head, ball: q4..q7, qd4..qd6: quaternion x, y, z, w; angular velocity (rad/s) in the "
        "body's axes"
    )


def test_names_are_lines(capsys):
    """With a line break they would break those of what is printed."""
    inertial = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
    inertial += "izz='1'/></inertial>"
    Path("arm.urdf").write_text(
        f"<robot name='a&#10;r'><link name='base'/><link name='l&#10;m'>{inertial}</link>"
        f"<link name='&#x9d;n'>{inertial}</link>"
        "<joint name='b&#10;j' type='revolute'><parent link='base'/><child link='l&#10;m'/></joint>"
        "<joint name='b&#x9d;k' type='revolute'><parent link='l&#10;m'/><child link='&#x9d;n'/>"
        "<mimic joint='b&#10;j'/></joint></robot>"
    )
    assert main(["joints", "arm.urdf"]) == 0
    out, err = capsys.readouterr()
    assert out == "b j\nb\\x9dk = b j\n" and err.startswith("a r: 1 degrees of freedom")
    assert main(["compile", "arm.urdf", "--function", "ID", "--out", "a.img"]) == 0
    out, err = capsys.readouterr()
    assert main(["compile", "--show", "a.img"]) == 0
    assert all(line.isprintable() for line in (out + err + capsys.readouterr().out).splitlines())
