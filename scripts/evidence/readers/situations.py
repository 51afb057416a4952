"""Files that readers of robots take in different ways, as small as they can be."""

HEAD = "<robot name='r'>"
LIMIT = "<limit lower='-1' upper='1' effort='1' velocity='1'/>"


def link(name: str, mass: float = 1.0, moments: tuple[float, float, float] = (1, 1, 1)) -> str:
    """A link whose centre of mass is at its origin."""
    x, y, z = moments
    inertia = f"<inertia ixx='{x}' ixy='0' ixz='0' iyy='{y}' iyz='0' izz='{z}'/>"
    return f"<link name='{name}'><inertial><mass value='{mass}'/>{inertia}</inertial></link>"


def joint(
    name: str, kind: str, parent: str, child: str, axis: str = "0 0 1", more: str = LIMIT
) -> str:
    """A joint at its parent's origin."""
    ends = f"<parent link='{parent}'/><child link='{child}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}<axis xyz='{axis}'/>{more}</joint>"


def robot(*parts: str) -> str:
    """A URDF."""
    return f"{HEAD}{''.join(parts)}</robot>"


ROOT = "<link name='root'/>"
ARM = joint("a", "revolute", "root", "arm")
BOX = "<collision><geometry><box size='1 1 1'/></geometry></collision>"
MIMIC = "<mimic joint='{}' multiplier='2'/>"

#: Situation -> URDF.
FILES = {
    "axis_length": robot(ROOT, link("arm"), joint("a", "prismatic", "root", "arm", "0 0 2")),
    "axis_zero": robot(ROOT, link("arm"), joint("a", "revolute", "root", "arm", "0 0 0")),
    "continuous_limits": robot(ROOT, link("arm"), joint("a", "continuous", "root", "arm")),
    "mimic": robot(
        ROOT,
        *map(link, ("arm", "two")),
        ARM,
        joint("b", "revolute", "arm", "two", more=MIMIC.format("a") + LIMIT),
    ),
    "mimic_chain": robot(
        ROOT,
        *map(link, ("arm", "two", "three")),
        ARM,
        joint("b", "revolute", "arm", "two", more=MIMIC.format("a") + LIMIT),
        joint("c", "revolute", "two", "three", more=MIMIC.format("b") + LIMIT),
    ),
    "mimic_continuous": robot(
        ROOT,
        *map(link, ("arm", "two")),
        joint("a", "continuous", "root", "arm"),
        joint("b", "continuous", "arm", "two", more=MIMIC.format("a") + LIMIT),
    ),
    "collision_mass": robot(
        ROOT,
        link("arm"),
        f"<link name='tool'>{BOX}</link>",
        ARM,
        joint("t", "fixed", "arm", "tool", more=""),
    ),
    "moments_of_no_body": robot(ROOT, link("arm", moments=(1, 1, 3)), ARM),
    "root_inertia": robot(link("root"), link("arm"), ARM),
    "same_name": robot(ROOT, *map(link, ("arm", "two")), ARM, joint("a", "revolute", "arm", "two")),
    "joint_order": robot(
        ROOT,
        *map(link, ("arm", "two")),
        joint("b", "revolute", "root", "two"),
        joint("a", "revolute", "root", "arm"),
    ),
    "effort_zero": robot(
        ROOT,
        link("arm"),
        joint(
            "a",
            "revolute",
            "root",
            "arm",
            more="<limit lower='-1' upper='1' effort='0' velocity='1'/>",
        ),
    ),
    "planar_axis": robot(ROOT, link("arm"), joint("a", "planar", "root", "arm", "1 0 0")),
    "floating_inside": robot(
        ROOT, *map(link, ("arm", "two")), ARM, joint("b", "floating", "arm", "two")
    ),
    "undeclared_prefix": robot(ROOT, link("arm"), "<drake:thing/>", ARM),
    "pendulum": robot(
        ROOT,
        "<link name='arm'><inertial><origin xyz='1 0 0'/><mass value='1'/><inertia ixx='0' ixy='0' "
        "ixz='0' iyy='0' iyz='0' izz='0'/></inertial></link>",
        joint("a", "continuous", "root", "arm", "0 1 0", ""),
    ),
}
