"""A scenario as MuJoCo's XML, as lean as the format allows: joints, inertias, pins, no shapes."""

from collections.abc import Iterable
from xml.etree import ElementTree as xml

from pymodel.mechanism.scenario import GROUND, Scenario
from scripts.evidence.benchmarks.peers.building import numbers

#: What MuJoCo would do besides.
DISABLED = ("contact", "limit", "frictionloss", "sensor", "actuation", "island", "eulerdamp")
#: The stiffest pins that it has: each is softened by 1 - 0.9999 of its own inertia.
HARD = "0.9999 0.9999 0.001 0.5 2"


def mjcf(scenario: Scenario) -> str:
    """Write a mechanism without torques, springs and dampers.

    Parameters
    ----------
    scenario : Scenario
        Its initial state becomes the first keyframe.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it has joint forces.
    """
    forces = (any((x.torque, x.spring, x.damping, x.rubs)) for x in scenario.bodies)
    if any(forces):
        raise ValueError(f"{scenario.name}: joint forces have no place in this MJCF")
    root = xml.Element("mujoco", model=scenario.name)
    option = xml.SubElement(
        root,
        "option",
        timestep=repr(scenario.step),
        gravity=numbers((*scenario.gravity, 0)),
        integrator="Euler",
        jacobian="dense",
    )
    unused = (*DISABLED, *(() if scenario.loops else ("constraint",)))
    xml.SubElement(option, "flag", dict.fromkeys(unused, "disable"))
    _tree(xml.SubElement(root, "worldbody"), scenario)
    if scenario.loops:
        pins = xml.SubElement(root, "equality")
        for index in range(len(scenario.loops)):
            sites = {"site1": f"point{index}", "site2": f"place{index}"}
            xml.SubElement(pins, "connect", sites, solimp=HARD)
    start = {"qpos": numbers(scenario.q0), "qvel": numbers(scenario.qd0)}
    xml.SubElement(xml.SubElement(root, "keyframe"), "key", start)
    xml.indent(root)
    return xml.tostring(root, encoding="unicode") + "\n"


def _tree(world: xml.Element, scenario: Scenario) -> None:
    """Add the bodies, and the points that are pinned together."""
    elements = {GROUND: world}
    for index, body in enumerate(scenario.bodies):
        parent = elements[body.parent]
        element = xml.SubElement(parent, "body", name=f"body{index}", pos=_place(body.attach))
        xml.SubElement(element, "joint", type="hinge", axis="0 0 1")
        inertia = numbers([body.inertia] * 3)  # the plane has use for the third only
        xml.SubElement(
            element, "inertial", pos=_place(body.com), mass=repr(body.mass), diaginertia=inertia
        )
        elements[index] = element
    for index, loop in enumerate(scenario.loops):
        xml.SubElement(elements[loop.body], "site", name=f"point{index}", pos=_place(loop.point))
        xml.SubElement(elements[loop.to], "site", name=f"place{index}", pos=_place(loop.at))


def _place(vector: Iterable[float]) -> str:
    return numbers((*vector, 0))
