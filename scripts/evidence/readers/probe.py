"""What the packages that this Python has make of each situation: JSON on standard output.

Stands alone: it is run by the Python of an environment with a package, given a folder of files.
Each cell is what is seen, in a few words; ``refused`` where an exception ends the reading.
"""

# ruff: noqa: PLC0415
import json
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

Cells = dict[str, str]


def number(x: Any) -> str:
    """Three digits; of an array the only entry."""
    return f"{float(np.asarray(x).reshape(-1)[0]):.3g}"


def seen(look: Callable[[], str]) -> str:
    """What is seen, or that it is refused."""
    try:
        return look()
    except (AttributeError, TypeError):  # a mistake of this file
        raise
    except Exception:  # noqa: BLE001 # each library has its own
        return "refused"


def with_pinocchio(files: dict[str, Path]) -> Cells:
    """Pinocchio."""
    import pinocchio as pin

    def model(name: str, **options: Any) -> Any:
        return pin.buildModelFromUrdf(str(files[name]), **options)

    def mass_matrix(name: str) -> str:
        its = model(name)
        return f"M = {number(pin.crba(its, its.createData(), pin.neutral(its)))}"

    def displaced(name: str) -> str:
        its = model(name)
        data = its.createData()
        pin.forwardKinematics(its, data, np.ones(its.nq))
        return f"q = 1 moves it by {number(data.oMi[1].translation[2])}"

    def limits(name: str) -> str:
        its = model(name)
        low, high = its.lowerPositionLimit.round(2), its.upperPositionLimit.round(2)
        return f"{low.tolist()} to {high.tolist()}"

    def mimics(name: str) -> str:
        its = model(name, mimic=True)
        return f"nv = {its.nv} with mimic=True, {model(name).nv} without"

    def planar(name: str) -> str:
        its = model(name)
        down = pin.aba(its, its.createData(), pin.neutral(its), np.zeros(3), np.zeros(3))
        return f"falls with {number(np.abs(down[:2]).max())} m/s²"

    def inside(name: str) -> str:
        its = model(name)
        return f"nv = {its.nv}, hangs on joint {its.names[its.parents[its.getJointId('b')]]}"

    return {
        "axis_length": seen(lambda: displaced("axis_length")),
        "axis_zero": seen(lambda: mass_matrix("axis_zero")),
        "continuous_limits": seen(lambda: limits("continuous_limits")),
        "mimic": seen(lambda: mimics("mimic")),
        "mimic_chain": seen(lambda: mimics("mimic_chain")),
        "mimic_continuous": seen(lambda: mimics("mimic_continuous")),
        "collision_mass": seen(lambda: mass_matrix("collision_mass")),
        "moments_of_no_body": seen(lambda: mass_matrix("moments_of_no_body")),
        "root_inertia": seen(
            lambda: f"total mass {number(pin.computeTotalMass(model('root_inertia')))}"
        ),
        "same_name": seen(lambda: f"nv = {model('same_name').nv}"),
        "joint_order": seen(lambda: ", ".join(list(model("joint_order").names)[1:])),
        "effort_zero": seen(lambda: f"limit {number(model('effort_zero').effortLimit)}"),
        "planar_axis": seen(lambda: planar("planar_axis")),
        "floating_inside": seen(lambda: inside("floating_inside")),
        "undeclared_prefix": seen(lambda: f"nv = {model('undeclared_prefix').nv}"),
        "base_velocity": _pinocchio_base(),
    }


def _pinocchio_base() -> str:
    import pinocchio as pin

    its = pin.Model()
    its.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    turn = pin.Quaternion(pin.utils.rotate("z", np.pi / 2)).coeffs()
    q = np.array([0, 0, 0, *turn])
    return _axes(lambda v: pin.integrate(its, q, 1e-6 * v)[:3] / 1e-6, 6)


def _axes(moved: Callable[[np.ndarray], np.ndarray], n: int) -> str:
    """Of a base turned by 90 degrees about z: which unit velocity moves its origin along y."""
    for k in range(n):
        found = moved(np.eye(n)[k])
        if np.linalg.norm(found) > 0.5:
            place = "linear first" if k < 3 else "angular first"
            axes = "base's axes" if abs(found[1]) > 0.5 else "world's axes"
            return f"{place}, linear in the {axes}"
    return "unknown"


def with_mujoco(files: dict[str, Path]) -> Cells:
    """MuJoCo."""
    import mujoco

    def model(name: str) -> Any:
        return mujoco.MjModel.from_xml_path(str(files[name]))

    def mass_matrix(name: str) -> str:
        its = model(name)
        data, full = mujoco.MjData(its), np.zeros((its.nv, its.nv))
        mujoco.mj_forward(its, data)
        for column, unit in zip(full, np.eye(its.nv), strict=True):
            mujoco.mj_mulM(its, data, column, unit)
        return f"M = {number(full)}"

    def displaced(name: str) -> str:
        its = model(name)
        data = mujoco.MjData(its)
        data.qpos[:] = 1
        mujoco.mj_kinematics(its, data)
        return f"q = 1 moves it by {number(data.body('arm').xpos[2])}"

    def limits(name: str) -> str:
        its = model(name)
        return f"{its.jnt_range[0].tolist()}" if its.jnt_limited[0] else "none"

    def mimics(name: str) -> str:
        its = model(name)
        return f"nv = {its.nv}, {its.neq} equality constraints"

    def planar(name: str) -> str:
        its = model(name)
        data = mujoco.MjData(its)
        mujoco.mj_forward(its, data)
        return f"falls with {number(np.abs(data.qacc).max())} m/s²"

    def balanced(name: str) -> str:
        try:
            return mass_matrix(name)
        except ValueError:
            spec = mujoco.MjSpec.from_file(str(files[name]))
            spec.compiler.balanceinertia = True
            its = spec.compile()
            return (
                f"refused; with balanceinertia moments {its.body('arm').inertia.round(3).tolist()}"
            )

    def order(name: str) -> str:
        its = model(name)
        return ", ".join(its.joint(k).name for k in range(its.njnt))

    def base() -> str:
        text = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
        its = mujoco.MjModel.from_xml_string(text)

        def moved(v: np.ndarray) -> np.ndarray:
            q = np.array([0, 0, 0, *np.sqrt([0.5, 0, 0, 0.5])])
            mujoco.mj_integratePos(its, q, v, 1e-6)
            return q[:3] / 1e-6

        return _axes(moved, 6)

    return {
        "axis_length": seen(lambda: displaced("axis_length")),
        "axis_zero": seen(lambda: mass_matrix("axis_zero")),
        "continuous_limits": seen(lambda: limits("continuous_limits")),
        "mimic": seen(lambda: mimics("mimic")),
        "mimic_chain": seen(lambda: mimics("mimic_chain")),
        "mimic_continuous": seen(lambda: mimics("mimic_continuous")),
        "collision_mass": seen(lambda: mass_matrix("collision_mass")),
        "moments_of_no_body": seen(lambda: balanced("moments_of_no_body")),
        "root_inertia": seen(lambda: f"total mass {number(model('root_inertia').body_mass.sum())}"),
        "same_name": seen(lambda: f"nv = {model('same_name').nv}"),
        "joint_order": seen(lambda: order("joint_order")),
        "effort_zero": seen(lambda: f"limited: {bool(model('effort_zero').jnt_actfrclimited[0])}"),
        "planar_axis": seen(lambda: planar("planar_axis")),
        "floating_inside": seen(lambda: f"nv = {model('floating_inside').nv}"),
        "undeclared_prefix": seen(lambda: f"nv = {model('undeclared_prefix').nv}"),
        "base_velocity": seen(base),
        **_mujoco_integrators(),
    }


STEP = 0.01  # s
Acceleration = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _semi_implicit(q: np.ndarray, v: np.ndarray, a: Acceleration) -> np.ndarray:
    after = v + STEP * a(q, v)
    return np.concatenate([q + STEP * after, after])


def _rk4(q: np.ndarray, v: np.ndarray, a: Acceleration) -> np.ndarray:
    start, n = np.concatenate([q, v]), len(q)

    def rates(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], a(x[:n], x[n:])])

    k1 = rates(start)
    k2 = rates(start + STEP / 2 * k1)
    k3 = rates(start + STEP / 2 * k2)
    k4 = rates(start + STEP * k3)
    return start + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _mujoco_integrators() -> Cells:
    """The names of integrators, compared with semi-implicit Euler on a double pendulum."""
    import mujoco

    text = """<mujoco><option timestep='0.01' integrator='{}'/><worldbody>
    <body><joint axis='0 1 0'/>
    <geom size='.1' pos='1 0 0' contype='0' conaffinity='0'/><body pos='1 0 0'><joint axis='0 1 0'/>
    <geom size='.1' pos='1 0 0' contype='0' conaffinity='0'/></body></body></worldbody></mujoco>"""
    found = {}
    for name in ("Euler", "implicitfast", "implicit", "RK4"):
        its = mujoco.MjModel.from_xml_string(text.format(name))
        its.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        data = mujoco.MjData(its)
        mujoco.mj_forward(its, data)
        other = mujoco.MjData(its)

        def acceleration(q: np.ndarray, v: np.ndarray, its: Any = its, other: Any = other) -> Any:
            other.qpos[:], other.qvel[:] = q, v
            mujoco.mj_forward(its, other)
            return other.qacc.copy()

        start, differs = float(data.energy.sum()), {"semi-implicit Euler": 0.0, "rk4": 0.0}
        for _ in range(1000):
            state = data.qpos.copy(), data.qvel.copy()
            mujoco.mj_step(its, data)
            after = np.concatenate([data.qpos, data.qvel])
            for rule, step in (("semi-implicit Euler", _semi_implicit), ("rk4", _rk4)):
                error = np.abs(step(*state, acceleration) - after).max() / np.abs(after).max()
                differs[rule] = max(differs[rule], float(error))
        mujoco.mj_forward(its, data)
        lost = float(data.energy.sum()) - start
        what = min(differs, key=lambda rule: differs[rule])
        what = what if differs[what] < 1e-9 else "another"
        found[f"integrator_{name}"] = f"{what}; energy changes by {lost:+.2g} J in 10 s"
    return found


def with_drake(files: dict[str, Path]) -> Cells:
    """Drake."""
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import JointIndex
    from pydrake.systems.analysis import Simulator

    def plant(name: str, weld: bool = True, step: float = 0.0) -> Any:
        its = MultibodyPlant(step)
        (instance,) = Parser(its).AddModels(str(files[name]))
        if weld:
            its.WeldFrames(its.world_frame(), its.GetFrameByName("root", instance))
        its.Finalize()
        return its

    def mass_matrix(name: str) -> str:
        its = plant(name)
        return f"M = {number(its.CalcMassMatrixViaInverseDynamics(its.CreateDefaultContext()))}"

    def displaced(name: str) -> str:
        its = plant(name)
        context = its.CreateDefaultContext()
        its.SetPositions(context, np.ones(its.num_positions()))
        place = its.EvalBodyPoseInWorld(context, its.GetBodyByName("arm"))
        return f"q = 1 moves it by {number(place.translation()[2])}"

    def limits(name: str) -> str:
        its = plant(name)
        low, high = its.GetPositionLowerLimits(), its.GetPositionUpperLimits()
        return f"{low.tolist()} to {high.tolist()}"

    def mimics(name: str) -> str:
        its = plant(name, step=0.001)
        return f"nv = {its.num_velocities()}, {its.num_constraints()} constraints"

    def planar(name: str) -> str:
        its = plant(name)
        context = its.CreateDefaultContext()
        forces = its.CalcGravityGeneralizedForces(context)
        matrix = its.CalcMassMatrixViaInverseDynamics(context)
        return f"falls with {number(np.abs(np.linalg.solve(matrix, forces)).max())} m/s²"

    def order(name: str) -> str:
        its = plant(name)
        joints = [its.get_joint(JointIndex(k)) for k in range(its.num_joints())]
        return ", ".join(x.name() for x in joints if x.num_velocities())

    def inside(name: str) -> str:
        its = plant(name)
        parts = [f"nv = {its.num_velocities()}"]
        floats = its.GetBodyByName("two").is_floating_base_body()
        return ", ".join([*parts, *(["a free body of its own"] if floats else [])])

    def base() -> str:
        its = plant("pendulum", weld=False)
        context = its.CreateDefaultContext()
        body = its.GetBodyByName("root")
        turned = RigidTransform(RotationMatrix.MakeZRotation(np.pi / 2), [0, 0, 0])
        its.SetFreeBodyPose(context, body, turned)

        def moved(v: np.ndarray) -> np.ndarray:
            whole = np.concatenate([v, np.zeros(its.num_velocities() - 6)])
            return its.MapVelocityToQDot(context, whole)[4:7]

        return _axes(moved, 6)

    def discrete() -> str:
        its = plant("pendulum", step=STEP)
        simulator = Simulator(its)
        context = simulator.get_mutable_context()

        def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            still = its.CreateDefaultContext()
            its.SetPositions(still, q)
            its.SetVelocities(still, v)
            bias = its.CalcBiasTerm(still) - its.CalcGravityGeneralizedForces(still)
            return np.linalg.solve(its.CalcMassMatrixViaInverseDynamics(still), -bias)

        worst = 0.0
        for k in range(100):
            state = its.GetPositions(context).copy(), its.GetVelocities(context).copy()
            simulator.AdvanceTo((k + 1) * STEP)
            after = its.GetPositionsAndVelocities(context)
            error = np.abs(_semi_implicit(*state, acceleration) - after).max()
            worst = max(worst, float(error / np.abs(after).max()))
        return "semi-implicit Euler" if worst < 1e-9 else "another"

    def total(name: str) -> str:
        its = plant(name)
        return f"total mass {number(its.CalcTotalMass(its.CreateDefaultContext()))}"

    return {
        "axis_length": seen(lambda: displaced("axis_length")),
        "axis_zero": seen(lambda: mass_matrix("axis_zero")),
        "continuous_limits": seen(lambda: limits("continuous_limits")),
        "mimic": seen(lambda: mimics("mimic")),
        "mimic_chain": seen(lambda: mimics("mimic_chain")),
        "mimic_continuous": seen(lambda: mimics("mimic_continuous")),
        "collision_mass": seen(lambda: mass_matrix("collision_mass")),
        "moments_of_no_body": seen(lambda: mass_matrix("moments_of_no_body")),
        "root_inertia": seen(lambda: total("root_inertia")),
        "same_name": seen(lambda: f"nv = {plant('same_name').num_velocities()}"),
        "joint_order": seen(lambda: order("joint_order")),
        "effort_zero": seen(lambda: f"{plant('effort_zero').num_actuators()} actuators"),
        "planar_axis": seen(lambda: planar("planar_axis")),
        "floating_inside": seen(lambda: inside("floating_inside")),
        "undeclared_prefix": seen(lambda: f"nv = {plant('undeclared_prefix').num_velocities()}"),
        "base_velocity": seen(base),
        "discrete_plant": seen(discrete),
    }


def with_idyntree(files: dict[str, Path]) -> Cells:
    """iDynTree."""
    import idyntree.bindings as tree

    def model(name: str) -> Any:
        loader = tree.ModelLoader()
        if not loader.loadModelFromFile(str(files[name])):
            raise ValueError(name)
        return loader.model().copy()

    def computed(name: str) -> Any:
        its = tree.KinDynComputations()
        if not its.loadRobotModel(model(name)):
            raise ValueError(name)
        return its

    def mass_matrix(name: str) -> str:
        its = computed(name)
        n = its.getNrOfDegreesOfFreedom()
        whole = tree.MatrixDynSize(6 + n, 6 + n)
        its.setRobotState(np.zeros(n), np.zeros(n), np.array([0, 0, -9.81]))
        its.getFreeFloatingMassMatrix(whole)
        return f"M = {number(whole.toNumPy()[6:, 6:])}"

    def limits(name: str) -> str:
        its = model(name)
        joint = its.getJoint(0)
        if not joint.hasPosLimits():
            return "none"
        return f"{number(joint.getMinPosLimit(0))} to {number(joint.getMaxPosLimit(0))}"

    def order(name: str) -> str:
        its = model(name)
        return ", ".join(its.getJointName(k) for k in range(its.getNrOfDOFs()))

    def total(name: str) -> str:
        return f"total mass {number(model(name).getTotalMass())}"

    def dofs(name: str) -> str:
        return f"nv = {model(name).getNrOfDOFs()}"

    def displaced(name: str) -> str:
        its = computed(name)
        its.setRobotState(np.ones(1), np.zeros(1), np.array([0, 0, -9.81]))
        place = its.getWorldTransform("arm").getPosition().toNumPy()
        return f"q = 1 moves it by {number(place[2])}"

    found = {
        "axis_length": seen(lambda: displaced("axis_length")),
        "axis_zero": seen(lambda: mass_matrix("axis_zero")),
        "continuous_limits": seen(lambda: limits("continuous_limits")),
        "collision_mass": seen(lambda: mass_matrix("collision_mass")),
        "moments_of_no_body": seen(lambda: mass_matrix("moments_of_no_body")),
        "root_inertia": seen(lambda: total("root_inertia")),
        "joint_order": seen(lambda: order("joint_order")),
    }
    names = ("mimic", "mimic_chain", "mimic_continuous", "same_name", "planar_axis")
    names += ("floating_inside", "undeclared_prefix")
    return found | {name: seen(lambda name=name: dofs(name)) for name in names}


def with_yourdfpy(files: dict[str, Path]) -> Cells:
    """yourdfpy, which has placements only."""
    from yourdfpy import URDF

    def model(name: str) -> Any:
        return URDF.load(str(files[name]), load_meshes=False, build_scene_graph=True)

    def displaced(name: str) -> str:
        its = model(name)
        its.update_cfg(np.ones(len(its.actuated_joint_names)))
        return f"q = 1 moves it by {number(its.get_transform('arm', 'root')[2, 3])}"

    def turned(name: str) -> str:
        its = model(name)
        its.update_cfg(np.ones(1))
        return "turns by nan" if np.isnan(its.get_transform("arm", "root")).any() else "turns"

    def dofs(name: str) -> str:
        return f"nv = {model(name).num_dofs}"

    found = {
        "axis_length": seen(lambda: displaced("axis_length")),
        "axis_zero": seen(lambda: turned("axis_zero")),
        "joint_order": seen(lambda: ", ".join(model("joint_order").actuated_joint_names)),
    }
    names = ("mimic", "mimic_chain", "mimic_continuous", "same_name", "planar_axis")
    names += ("floating_inside", "undeclared_prefix")
    return found | {name: seen(lambda name=name: dofs(name)) for name in names}


#: Package of PyPI -> name, and what looks at it.
READERS = {
    "pin": ("Pinocchio", with_pinocchio),
    "mujoco": ("MuJoCo", with_mujoco),
    "drake": ("Drake", with_drake),
    "idyntree": ("iDynTree", with_idyntree),
    "yourdfpy": ("yourdfpy", with_yourdfpy),
}


def main() -> None:
    """Look with the packages that are named, or those that there are."""
    folder, *asked = sys.argv[1:]
    files = {path.stem: path for path in Path(folder).glob("*.urdf")}
    found = {}
    for package in asked or READERS:
        name, look = READERS[package]
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        found[name] = {"package": package, "version": version, "cells": look(files)}
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
