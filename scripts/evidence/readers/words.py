"""Words for what was seen: a cell that has none here is an error, so that none are out of date."""

DOFS = {f"nv = {n}": f"{n} degrees of freedom" for n in (1, 2, 3)}
REFUSED = {"refused": "refuses it"}

#: Situation -> what was seen -> words.
WORDS: dict[str, dict[str, str]] = {
    "axis_length": {
        "q = 1 moves it by 1": "scales the axis to length 1",
        "q = 1 moves it by 2": "moves a slide by the axis as written",
    },
    "axis_zero": {
        "M = 0": "takes it, M = 0",
        "M = 1": "takes another axis",
        "turns by nan": "turns by nan",
    },
    "continuous_limits": {
        "[-1.01, -1.01] to [1.01, 1.01]": "limits the cosine and sine to ±1.01",
        "none": "reads no limit",
        "[-1.0] to [1.0]": "takes the limits",
        "-1 to 1": "takes the limits",
    },
    "mimic": {
        "nv = 1 with mimic=True, 2 without": "with mimic=True it follows, else two joints",
        "nv = 2, 1 equality constraints": "two joints and an equality constraint",
        "nv = 2, 1 constraints": "two joints and a constraint of discrete plants; M leaves it out",
        "nv = 2": "two joints",
        "nv = 1": "follows",
    },
    "mimic_chain": {
        "refused": "refuses it with mimic=True",
        "nv = 3, 2 equality constraints": "three joints and two equality constraints",
        "nv = 3, 2 constraints": "three joints and two constraints",
        "nv = 3": "three joints",
        "nv = 1": "the last one stays at its offset",
    },
    "mimic_continuous": {
        "refused": "refuses it with mimic=True",
        "nv = 1 with mimic=True, 2 without": "with mimic=True it follows, else two joints",
        "nv = 2, 1 equality constraints": "two joints and an equality constraint",
        "nv = 2, 1 constraints": "two joints and a constraint",
        "nv = 2": "two joints",
        "nv = 1": "follows",
    },
    "collision_mass": {
        "M = 1": "takes no mass",
        "M = 168": "takes 1000 kg/m³ of the shape: M = 168 in place of 1",
    },
    "moments_of_no_body": {
        "M = 3": "keeps them, M = 3",
        "M = 0.00154": "takes a ball of water of that mass: M = 0.00154 in place of 3",
        "refused; with balanceinertia moments [1.667, 1.667, 1.667]": (
            "refuses them; with balanceinertia evens them out: M = 1.67"
        ),
    },
    "root_inertia": {
        "total mass 1": "does not count it",
        "total mass 2": "counts it in the total mass",
    },
    "same_name": {"nv = 2": "takes both"},
    "joint_order": {"a, b": "by the names of joints", "b, a": "as in the file"},
    "effort_zero": {
        "limit 0": "a limit of 0",
        "limited: False": "no limit",
        "0 actuators": "makes no actuator",
    },
    "planar_axis": {
        "falls with 0 m/s²": "moves in x-y, whatever the axis says",
        "falls with 9.81 m/s²": "moves across the axis",
        "nv = 0": "drops all joints",
        "nv = 2": "takes two coordinates",
    },
    "floating_inside": {
        "nv = 7, hangs on joint a": "six degrees of freedom on its parent",
        "nv = 7, a free body of its own": "a free body that does not hang on its parent",
        "nv = 0": "drops all joints",
        "nv = 7": "six coordinates on its parent",
    },
    "undeclared_prefix": {"nv = 1": "passes over it"},
    "base_velocity": {
        "linear first, linear in the base's axes": "linear first, in the base's axes",
        "linear first, linear in the world's axes": "linear first, in the world's axes",
        "angular first, linear in the world's axes": "angular first, in the world's axes",
    },
    "integrator_Euler": {"semi-implicit Euler": "semi-implicit Euler, here `semi-implicit`"},
    "integrator_implicitfast": {"semi-implicit Euler": "semi-implicit Euler without damping"},
    "integrator_implicit": {"another": "another rule, none of those here"},
    "integrator_RK4": {"rk4": "Runge and Kutta's rule of order 4, here `rk4`"},
    "discrete_plant": {"semi-implicit Euler": "semi-implicit Euler, here `semi-implicit`"},
}


def worded(situation: str, cell: str) -> str:
    """Say in words what was seen.

    Raises
    ------
    KeyError
        If there are none for it.
    """
    known = DOFS | REFUSED | WORDS[situation]
    if situation.startswith("integrator_"):
        what, _, energy = cell.partition("; ")
        return f"{known[what]}; {energy}"
    return known[cell]
