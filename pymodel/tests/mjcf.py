"""Robots as MJCF: an arm with several joints in a body and all that compiles away, a quadruped.

And what is as MuJoCo has it.
"""

import numpy as np

from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.runs.mujoco_reference import Peer
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import random_state
from pymodel.tests.spatial import inverse_dynamics

SAME = 1e-10  # relative to the largest entry
STATES = 100

BOX = '<geom type="box" size="0.1 0.2 0.05"/>'
ARM = f"""
<compiler angle="degree" eulerseq="zyx"/>
<default>
  <joint armature="0.02" damping="0.5"/>
  <default class="slider"><joint type="slide" armature="0.3" axis="1 2 -1" ref="0.2"/></default>
</default>
<worldbody>
  <geom type="plane" size="1 1 1"/>
  <body name="stand" pos="0 0 1" euler="10 20 30">
    {BOX}
    <frame pos="0.1 0 0" euler="0 90 0">
      <body name="upper" pos="0 0.2 0">
        <inertial pos="0.1 0 0.02" mass="2" fullinertia="0.03 0.04 0.05 0.001 -0.002 0.003"/>
        <joint name="shoulder" axis="0 0.6 0.8" pos="0.05 -0.1 0.02" ref="40"/>
        <body name="wrist" pos="0.3 0 0" quat="0.8 0.2 -0.4 0.4">
          <joint name="yaw" axis="0 0 1" pos="0.01 0.02 0.03"/>
          <joint name="reach" class="slider"/>
          <joint name="pitch" axis="0 1 0" pos="-0.1 0 0.2" ref="-70" armature="0"/>
          {BOX}
          <body name="tool" pos="0 0 0.2" euler="5 6 7"><geom size="0.05"/></body>
        </body>
      </body>
    </frame>
  </body>
  <body name="other"><joint name="alone" type="hinge" axis="1 0 0"/>{BOX}</body>
</worldbody>
"""

LEG = """
<frame pos="{x} {y} 0">
  <body name="{name}_hip">
    <joint name="{name}_haa" axis="1 0 0"/><geom size="0.03"/>
    <body name="{name}_thigh" pos="0 {out} 0">
      <joint name="{name}_hfe" axis="0 1 0" ref="0.4"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2"/>
      <body name="{name}_shank" pos="0 0 -0.2">
        <joint name="{name}_kfe" axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2"/>
      </body>
    </body>
  </body>
</frame>
"""
LEGS = {"rh": (-1, -1), "lf": (1, 1), "rf": (1, -1), "lh": (-1, 1)}  # in no order of names
QUADRUPED = f"""
<compiler angle="radian"/>
<default><joint armature="0.01"/></default>
<worldbody>
  <body name="trunk" pos="0 0 0.4">
    <freejoint/>
    <geom type="box" size="0.2 0.1 0.05" pos="0.01 0.02 0.03"/>
    {"".join(LEG.format(name=n, x=0.2 * x, y=0.1 * y, out=0.05 * y) for n, (x, y) in LEGS.items())}
  </body>
</worldbody>
"""


def mjcf(elements: str) -> str:
    """The text of a file, whose robot is r."""
    return f'<mujoco model="r">{elements}</mujoco>'


def assert_as_mujoco(robot: Robot, states: int = STATES) -> None:
    """Inverse dynamics and M, against MuJoCo's own of the file."""
    peer, rng = Peer(robot), np.random.default_rng(5)
    model = RobotModel(robot)
    assert (peer.model.nq, peer.model.nv) == (robot.nq, robot.nv)
    for _ in range(states):
        q, qd, qdd, wrenches = random_state(robot, rng)
        want = peer.inverse_dynamics(q, qd, qdd)
        for one in (robot, reduced(robot)):
            found = inverse_dynamics(one, q, qd, qdd, 0 * wrenches)
            assert np.abs(found - want).max() < SAME * np.abs(want).max()
        bias = peer.inverse_dynamics(q, qd, 0 * qdd)
        mass = peer.mass_matrix(q)
        assert np.abs(mass - model.mass_matrix(q)).max() < SAME * np.abs(mass).max()
        assert np.abs(bias + mass @ qdd - want).max() < SAME * np.abs(want).max()
