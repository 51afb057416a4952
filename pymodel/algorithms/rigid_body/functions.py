"""Functions of robots, from named scalars to named scalars.

The seven rigid-body functions (paper 002, section II), and further ones that controllers need.

Names are those of the columns of a call: ``q0``, ``qd0``, ``qdd0``, ``tau0``, ``m0_0``,
``minv0_0``, ``dtau_dq0_0``, ``dtau_dqd0_0``, ``dqdd_dq0_0``, ``dqdd_dqd0_0`` (row_column), and
``fext<link>_0`` to ``_5`` for the force and the moment on a link. Matrices are full.

Of the further ones: ``p0``, ``r0_0`` (of all links ``p<link>_0``, ``r<link>_0_0``), ``j0_0``,
``kinetic``, ``potential``, ``c0``, ``jc0_0``, ``y0_0``.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymodel.algorithms.rigid_body import articulated_body, frames, steps
from pymodel.algorithms.rigid_body.coupling import Coupling, Sparse
from pymodel.algorithms.rigid_body.derivatives import inverse_dynamics_derivatives
from pymodel.algorithms.rigid_body.hybrid import FreePart
from pymodel.algorithms.rigid_body.inverse_dynamics import External, inverse_dynamics
from pymodel.algorithms.rigid_body.loops import (
    Constrained,
    accelerations,
    actuated_torques,
    loop_derivatives,
)
from pymodel.algorithms.rigid_body.mass_matrix import (
    Factors,
    factorised,
    inverse,
    inverse_of_L,
    mass_matrix,
    multiplied,
    solved,
    solved_by_inverse,
)
from pymodel.algorithms.rigid_body.regressor import PARAMETERS, regressor
from pymodel.algorithms.rigid_body.tree import Tree
from pymodel.algorithms.rigid_body.vectors import cross
from pymodel.arith.errors import InputError
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_loops import grounded

FACTORS = "factors"  #: solve by the factors of M
ARTICULATED = "articulated"  #: articulated bodies
INVERSE_FACTORS = "inverse factors"  #: multiply by the inverses of the factors of M

NEEDS_LINK, TAKES_LINK = "needs", "takes"  # of a signature

#: Beginnings of the names of columns: what is a vector, and what a symmetric matrix.
VECTORS = ("q", "qd", "qdd", "tau")
SYMMETRIC = ("m", "minv")


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives: beginnings of the names of its columns.

    Attributes
    ----------
    name, text : str
        What it is called, and what it does in a line.
    takes, gives : tuple of str
    methods : tuple of str
        Ways to evaluate it, for a user to choose from; the first is the default.
    forces : bool
        Whether external wrenches on links change it.
    damping, armature : bool
        Whether those of the joints change it.
    gravity : bool
        Whether it changes it.
    whole : bool
        Whether it tells of the links as they were read, so that the robot must not be reduced.
    link : str
        Whether it tells of one link: :data:`NEEDS_LINK`; :data:`TAKES_LINK`, without one it tells
        of all that move; or empty.
    """

    name: str
    text: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    methods: tuple[str, ...] = ("",)
    forces: bool = True
    damping: bool = True
    armature: bool = True
    gravity: bool = True
    whole: bool = False
    link: str = ""


#: The seven functions.
FUNCTIONS: dict[str, Signature] = {
    entry.name: entry
    for entry in (
        Signature("ID", "inverse dynamics: tau from q, qd, qdd", ("q", "qd", "qdd"), ("tau",)),
        Signature(
            "FD",
            "forward dynamics: qdd from q, qd, tau",
            ("q", "qd", "tau"),
            ("qdd",),
            (FACTORS, ARTICULATED),
        ),
        Signature(
            "M", "mass matrix from q", ("q",), ("m",), forces=False, damping=False, gravity=False
        ),
        Signature(
            "Minv",
            "inverse of the mass matrix from q",
            ("q",),
            ("minv",),
            forces=False,
            damping=False,
            gravity=False,
        ),
        Signature(
            "dID",
            "derivatives of inverse dynamics by q and qd, from q, qd, qdd",
            ("q", "qd", "qdd"),
            ("dtau_dq", "dtau_dqd"),
            armature=False,
        ),
        Signature(
            "dFD",
            "derivatives of forward dynamics by q and qd, from q, qd, tau",
            ("q", "qd", "tau"),
            ("dqdd_dq", "dqdd_dqd"),
            (FACTORS, INVERSE_FACTORS),
        ),
        Signature(
            "diFD",
            "derivatives of forward dynamics by q and qd, from q, qd, qdd and the inverse of M",
            ("q", "qd", "qdd", "minv"),
            ("dqdd_dq", "dqdd_dqd"),
            armature=False,
        ),
    )
}


def _further(name: str, text: str, takes: str, gives: str, **more: Any) -> Signature:
    """A function of the links as they were read, which neither wrenches nor friction change."""
    plain = {"forces": False, "damping": False, "armature": False, "gravity": False, "whole": True}
    return Signature(name, text, tuple(takes.split()), tuple(gives.split()), **(plain | more))


#: What controllers need beside the seven.
FURTHER: dict[str, Signature] = {
    entry.name: entry
    for entry in (
        _further("FK", "placement of a link or of all, from q", "q", "p r", link=TAKES_LINK),
        _further(
            "J",
            "Jacobian of a link's origin, in the ground's axes, linear first, from q",
            "q",
            "j",
            link=NEEDS_LINK,
        ),
        _further("Jbody", "the same in the link's own axes, from q", "q", "j", link=NEEDS_LINK),
        _further(
            "energy",
            "kinetic and potential energy, from q and qd",
            "q qd",
            "kinetic potential",
            armature=True,
            gravity=True,
        ),
        _further("com", "centre of mass and its Jacobian, from q", "q", "c jc"),
        _further(
            "Y",
            "regressor: ID is Y times the inertial parameters, from q, qd, qdd",
            "q qd qdd",
            "y",
            gravity=True,
        ),
    )
}


def _step(name: str, text: str, gives: str) -> Signature:
    return Signature(
        name, f"{text}, from q, qd, tau and h", ("q", "qd", "tau", "h"), tuple(gives.split())
    )


#: Constrained dynamics of robots with loops.
CONSTRAINED: dict[str, Signature] = {
    entry.name: entry
    for entry in (
        Signature(
            "FDc", "forward dynamics with loops: qdd from q, qd, tau", ("q", "qd", "tau"), ("qdd",)
        ),
        Signature(
            "dFDc",
            "derivatives of forward dynamics with loops by q and qd, from q, qd, tau",
            ("q", "qd", "tau"),
            ("dqdd_dq", "dqdd_dqd"),
        ),
        Signature(
            "IDc",
            "inverse dynamics with loops: tau of actuated joints from q, qd, qdd",
            ("q", "qd", "qdd"),
            ("tau",),
        ),
        _step("stepc", "step with loops", "qnext qdnext"),
        _step("dstepc", "derivatives A by (q, qd) and B by tau of stepc", "a b"),
    )
}


#: Discrete time steps, for controllers that look ahead.
STEPS: dict[str, Signature] = {
    entry.name: entry
    for entry in (
        _step("step", "q and qd after a semi-implicit Euler step of h", "qnext qdnext"),
        _step("dstep", "its derivatives A by (q, qd) and B by tau", "a b"),
        _step("rk4", "q and qd after a Runge-Kutta step of h, order 4", "qnext qdnext"),
        _step("drk4", "its derivatives A by (q, qd) and B by tau", "a b"),
    )
}

#: Of robots of whose joints some have given accelerations, and the others given torques.
HYBRID: dict[str, Signature] = {
    entry.name: entry
    for entry in (
        Signature(
            "HD",
            "hybrid dynamics: tau of joints with given qdd, and qdd of those with given tau",
            ("q", "qd", "qdd", "tau"),
            ("tau", "qdd"),
        ),
        Signature(
            "dHD",
            "derivatives of hybrid dynamics by q and qd",
            ("q", "qd", "qdd", "tau"),
            ("dtau_dq", "dtau_dqd", "dqdd_dq", "dqdd_dqd"),
        ),
    )
}

ALL: dict[str, Signature] = FUNCTIONS | FURTHER | CONSTRAINED | STEPS | HYBRID


def shape(robot: Robot, name: str) -> tuple[int, ...]:
    """Shape of a scalar, vector or matrix by the beginning of its columns' names."""
    links = () if robot.frame else (len(robot.bodies),)
    n = robot.nv
    shapes: dict[str, tuple[int, ...]] = {
        "q": (robot.nq,),
        "p": (*links, 3),
        "r": (*links, 3, 3),
        "j": (6, n),
        "kinetic": (),
        "potential": (),
        "c": (3,),
        "jc": (3, n),
        "y": (n, PARAMETERS * len(robot.bodies)),
        "h": (),
        "qnext": (robot.nq,),
        "qdnext": (n,),
        "a": (2 * n, 2 * n),
        "b": (2 * n, n),
    }
    return (n,) if name in VECTORS and name != "q" else shapes.get(name, (n, n))


def methods(robot: Robot, function: str) -> tuple[str, ...]:
    """Name the ways to evaluate a function: not by articulated bodies where joints mimic others."""
    left_out = {ARTICULATED} if robot.mimics else set()
    return tuple(x for x in ALL[function].methods if x not in left_out)


def columns(robot: Robot, name: str) -> list[str]:
    """Name the columns of a vector or matrix: ``q0``, ... or ``m0_0``, ..."""
    indices = itertools.product(*map(range, shape(robot, name)))
    return [name + "_".join(map(str, index)) for index in indices]


def taken(robot: Robot, function: str, name: str) -> list[str]:
    """Name the columns of a vector or matrix that a function takes."""
    return _parted(robot, function, name, qdd_of_held=True)


def given(robot: Robot, function: str, name: str) -> list[str]:
    """Name the columns of a vector or matrix that a function gives."""
    return _parted(robot, function, name, qdd_of_held=False)


def _parted(robot: Robot, function: str, name: str, qdd_of_held: bool) -> list[str]:
    """Columns; of hybrid dynamics the rows of the joints that are held, or of the others."""
    found = columns(robot, name)
    kind = name.removeprefix("d").partition("_")[0] if name not in VECTORS else name
    if function not in HYBRID or kind not in ("tau", "qdd"):
        return found
    held = (kind == "qdd") == qdd_of_held
    each = len(found) // robot.nv
    return [x for k, x in enumerate(found) if (k // each in robot.held) == held]


def suited(robot: Robot, function: str) -> Robot:
    """The robot that a function is evaluated of: reduced, unless it tells of links as they are.

    Raises
    ------
    InputError
        If it tells of one link, and :func:`pymodel.mechanism.robot.at_link` has named none; if it
        is ``com``, and what moves has no mass; if it is of constrained dynamics, as
        :func:`require_loops` says.
    """
    signature = ALL[function]
    if function in CONSTRAINED:
        require_loops(robot, function)
    if function in HYBRID and not robot.fixed_acceleration:
        reason = "no joint's acceleration is given: name some, as --fixed-acceleration=a,b"
        raise InputError(f"{function} of {robot.name}: {reason}")
    if signature.link == NEEDS_LINK and robot.frame is None:
        raise InputError(f"{function} of {robot.name}: needs the name of a link")
    if function == "com" and not sum(link.mass for link in robot.links) > 0:
        raise InputError(f"com of {robot.name}: what moves has no mass")
    return robot if signature.whole else reduced(robot)


def force_columns(links: Iterable[int]) -> list[str]:
    """Name the columns of external wrenches: force, then moment."""
    return [f"fext{link}_{k}" for link in links for k in range(6)]


def inputs(robot: Robot, function: str, external: Iterable[int] = ()) -> list[str]:
    """Name the scalars that a function takes; of a symmetric matrix the lower triangle."""
    n, found = robot.nv, []
    for name in ALL[function].takes:
        if name in SYMMETRIC:
            found += [f"{name}{i}_{j}" for i in range(n) for j in range(i + 1)]
        else:
            found += taken(robot, function, name)
    return found + force_columns(external)


def outputs(robot: Robot, function: str) -> list[str]:
    """Name the columns that a function gives."""
    return [name for kind in ALL[function].gives for name in given(robot, function, kind)]


def evaluate(
    function: str,
    robot: Robot,
    arithmetic: SupportsArithmetic[S],
    values: Mapping[str, S],
    method: str = "",
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> dict[str, S]:
    """Evaluate a function on any arithmetic.

    Parameters
    ----------
    function : str
        A key of :data:`ALL`.
    robot : Robot
        As :func:`suited` gives it; the seven also take others.
    arithmetic : SupportsArithmetic
    values : dict
        Name -> scalar of :func:`inputs`; SI units, Pinocchio's conventions.
    method : str
        One of the function's; by default its first.
    external : sequence of int
        Links with external wrenches, given in the frames of URDF's links.
    parameters_as_data : bool
        As for :class:`pymodel.arith.terms.Terms`.

    Returns
    -------
    dict
        Column -> scalar of what is not zero by structure; of a symmetric matrix the lower triangle.
    """
    terms = Terms(arithmetic, parameters_as_data, identities=True)
    given = {name: terms.given(values[name]) for name in inputs(robot, function, external)}
    found = _EVALUATE[function](Arguments(terms, robot, given, external), method)
    found = {name: term for name, term in found.items() if not term.is_zero}
    return dict(zip(found, terms.results(found.values()), strict=True))


@dataclass(frozen=True)
class Arguments:
    """Terms of a call.

    Attributes
    ----------
    terms : Terms
    robot : Robot
    given : dict
        Name of a column -> term.
    links : sequence of int
        Those with external wrenches.
    """

    terms: Terms[Any]
    robot: Robot
    given: Mapping[str, Term]
    links: Sequence[int]

    def vector(self, name: str) -> list[Term]:
        """Columns of a vector."""
        return [self.given[column] for column in columns(self.robot, name)]

    def symmetric(self, name: str) -> Sparse:
        """A symmetric matrix, of which the lower triangle is given."""
        n = range(self.robot.nv)
        return {(i, j): self.given[f"{name}{max(i, j)}_{min(i, j)}"] for i in n for j in n}

    @property
    def tree(self) -> Tree:
        """The robot in its state."""
        rates = self.vector("qd") if "qd0" in self.given else None
        return Tree(self.terms, self.robot, self.vector("q"), rates)

    @property
    def external(self) -> External:
        """Wrenches on links."""
        names = {link: force_columns([link]) for link in self.links}
        return {link: [self.given[name] for name in some] for link, some in names.items()}


def _named(name: str, vector: Sequence[Term]) -> dict[str, Term]:
    return {f"{name}{k}": x for k, x in enumerate(vector)}


def _matrix(name: str, entries: Sparse) -> dict[str, Term]:
    return {f"{name}{i}_{j}": x for (i, j), x in sorted(entries.items())}


def _lower(name: str, entries: Sparse) -> dict[str, Term]:
    return _matrix(name, {(i, j): x for (i, j), x in entries.items() if j <= i})


def _id(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    qdd = tree.coupling.spread(given.vector("qdd"))
    tau = inverse_dynamics(tree, qdd, given.external)
    return _named("tau", tree.coupling.gathered(tau))


def _fd(given: Arguments, method: str) -> dict[str, Term]:
    return _named("qdd", forward_dynamics(given.tree, given.vector("tau"), given.external, method))


def forward_dynamics(
    tree: Tree, tau: Sequence[Term], external: External | None = None, method: str = FACTORS
) -> list[Term]:
    """qdd of the robot's degrees of freedom, on which tau acts."""
    if method == ARTICULATED:
        return articulated_body.forward_dynamics(tree, tau, external)
    factors = factors_of(tree)
    return solved(tree.coupling.ancestors, factors, driving_forces(tree, tau, external))


def factors_of(tree: Tree) -> Factors:
    """Factors of the robot's mass matrix."""
    matrix = tree.coupling.of_symmetric(mass_matrix(tree))
    return factorised(tree.coupling.ancestors, matrix)


def driving_forces(tree: Tree, tau: Sequence[Term], external: External | None) -> list[Term]:
    """tau - C: what accelerates the robot's degrees of freedom."""
    still = inverse_dynamics(tree, [tree.zero] * tree.nv, external)
    return [x - c for x, c in zip(tau, tree.coupling.gathered(still), strict=True)]


def derivatives(
    tree: Tree, qdd: Sequence[Term], external: External | None
) -> tuple[Sparse, Sparse]:
    """dtau/dq and dtau/dqd of the robot's degrees of freedom, which move with qdd."""
    coupling = tree.coupling
    _, found = inverse_dynamics_derivatives(tree, coupling.spread(qdd), external)
    return coupling.of_matrix(found.dq), coupling.of_matrix(found.dqd)


def _m(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    return _lower("m", tree.coupling.of_symmetric(mass_matrix(tree)))


def _minv(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    return _lower("minv", inverse(tree.coupling, factors_of(tree)))


def _did(given: Arguments, method: str) -> dict[str, Term]:
    by_q, by_qd = derivatives(given.tree, given.vector("qdd"), given.external)
    return _matrix("dtau_dq", by_q) | _matrix("dtau_dqd", by_qd)


def _dfd(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    solve = _solver(tree.coupling, factors_of(tree), method)
    qdd = solve(driving_forces(tree, given.vector("tau"), given.external))
    return _accelerations(tree, derivatives(tree, qdd, given.external), solve)


def _solver(
    coupling: Coupling, factors: Factors, method: str
) -> Callable[[list[Term]], list[Term]]:
    if method == INVERSE_FACTORS:
        W = inverse_of_L(coupling, factors.L)
        return lambda b: solved_by_inverse(coupling, W, factors.d, b)
    return lambda b: solved(coupling.ancestors, factors, b)


def _difd(given: Arguments, method: str) -> dict[str, Term]:
    tree, minv = given.tree, given.symmetric("minv")
    found = derivatives(tree, given.vector("qdd"), given.external)
    return _accelerations(tree, found, lambda b: multiplied(tree.coupling, minv, b))


def _accelerations(
    tree: Tree,
    found: tuple[Sparse, Sparse],
    solve: Callable[[list[Term]], list[Term]],
) -> dict[str, Term]:
    """-M^-1 dtau: derivatives of qdd; those by a floating base's own motion are known."""
    result: dict[str, Term] = {}
    names, n = ("dqdd_dq", "dqdd_dqd"), tree.coupling.nv
    for name, matrix in zip(names, found, strict=True):
        for k in range(n):
            known = known_column(tree, name, k)
            if known is None:
                column = solve([matrix.get((i, k), tree.zero) for i in range(n)])
                known = [-x for x in column]
            result |= {f"{name}{i}_{k}": x for i, x in enumerate(known)}
    return {name: result[name] for kind in names for name in columns(tree.coupling.robot, kind)}


def known_column(tree: Tree, name: str, k: int) -> list[Term] | None:
    """Derivatives by a floating base's position, orientation and velocity.

    Only the base's own acceleration depends on these, as its frame turns: by its position nothing,
    by its orientation gravity's part, by its velocity what turning adds.
    """
    if not tree.robot.floating or k >= (6 if name == "dqdd_dq" else 3):
        return None
    rest = [tree.zero] * (tree.coupling.nv - 3)
    if name == "dqdd_dqd":
        return [*(-x for x in cross(tree.qd[3:6], tree.axes[k])), *rest]
    if k < 3:
        return [tree.zero] * tree.coupling.nv
    return [*cross(tree.axes[k - 3], tree.gravity), *rest]


def _fk(given: Arguments, method: str) -> dict[str, Term]:
    found, one = frames.frame_placements(given.tree), given.robot.frame is not None
    result: dict[str, Term] = {}
    for k, (rotation, origin) in enumerate(found):
        p, r = ("p", "r") if one else (f"p{k}_", f"r{k}_")
        result |= _named(p, origin)
        result |= {f"{r}{i}_{j}": x for i, row in enumerate(rotation) for j, x in enumerate(row)}
    return result


def _com(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    centre, jacobian = frames.centre_of_mass(tree)
    return _named("c", centre) | _matrix("jc", tree.coupling.of_columns(jacobian))


def _jacobian(tree: Tree, of_joints: Callable[[Tree], Sparse]) -> dict[str, Term]:
    return _matrix("j", tree.coupling.of_columns(of_joints(tree)))


def _y(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    whole = regressor(tree, tree.coupling.spread(given.vector("qdd")))
    return _matrix("y", tree.coupling.of_rows(whole))


def _energy(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    return {"kinetic": frames.kinetic_energy(tree), "potential": frames.potential_energy(tree)}


def _fdc(given: Arguments, method: str) -> dict[str, Term]:
    return _named("qdd", _constrained(given, given.tree)[1])


def _constrained(given: Arguments, tree: Tree) -> tuple[Constrained, list[Term], list[Term]]:
    """What solves for the accelerations, these, and the forces of the loops."""
    system = Constrained(tree, factors_of(tree))
    forces = driving_forces(tree, given.vector("tau"), given.external)
    gamma = accelerations(tree, [tree.zero] * tree.coupling.nv, system.states)
    return (system, *system.solve(forces, gamma))


def _dfdc(given: Arguments, method: str) -> dict[str, Term]:
    q, qd = given.vector("q"), given.vector("qd")
    _, _, by_q, by_qd = _constrained_derivatives(given, q, qd)
    result = _matrix("dqdd_dq", by_q) | _matrix("dqdd_dqd", by_qd)
    return {name: result[name] for name in outputs(given.robot, "dFDc")}


def _constrained_derivatives(
    given: Arguments, q: list[Term], qd: list[Term]
) -> tuple[Constrained, list[Term], Sparse, Sparse]:
    """What solves for the accelerations, these, and their derivatives by q and qd."""
    tree = Tree(given.terms, given.robot, q, qd)
    system, qdd, f = _constrained(given, tree)
    zero = tree.zero
    found = derivatives(tree, qdd, given.external)
    forces, rows = loop_derivatives(tree, q, qd, qdd, f)
    result: dict[str, Sparse] = {}
    n, none = tree.coupling.nv, [zero] * len(system.rows)
    for kind, matrix in zip(("dq", "dqd"), found, strict=True):
        result[kind] = {}
        for k in range(n):
            known = known_column(tree, f"dqdd_{kind}", k) if _by_itself(tree, kind) else None
            if known is None:
                own = forces.get((kind, k), [zero] * n)
                b = [x - matrix.get((i, k), zero) for i, x in enumerate(own)]
                known, _ = system.solve(b, rows.get((kind, k), none))
            result[kind] |= {(i, k): x for i, x in enumerate(known)}
    return system, qdd, result["dq"], result["dqd"]


def _by_itself(tree: Tree, kind: str) -> bool:
    """Whether a floating base's own motion changes qdd as :func:`known_column` says.

    Where a loop holds it to the ground, as it turns so does gravity; but a steady velocity of all
    changes no acceleration, unless a loop's damping acts on it.
    """
    robot = tree.coupling.robot
    held = [loop for loop, on in zip(robot.loops, grounded(robot), strict=True) if on]
    return not held or (kind == "dqd" and not any(loop.gains[1] for loop in held))


def _idc(given: Arguments, method: str) -> dict[str, Term]:
    tree = given.tree
    qdd = tree.coupling.spread(given.vector("qdd"))
    tau = tree.coupling.gathered(inverse_dynamics(tree, qdd, given.external))
    found = actuated_torques(tree, tau, driven(given.robot))
    return {f"tau{k}": x for k, x in found.items()}


def driven(robot: Robot) -> list[int]:
    """Degrees of freedom that are driven: those of actuated joints, and of a base in the air."""
    own = {robot.dof(link) for link in robot.actuated or ()}
    return sorted(own | set(range(6 * _counts_as_driven(robot))))


def _counts_as_driven(robot: Robot) -> bool:
    """Whether a floating base does: unless loops hold it to the ground."""
    return robot.floating and not any(grounded(robot))


def require_loops(robot: Robot, function: str) -> None:
    """Refuse a function of constrained dynamics that a robot has not.

    Raises
    ------
    InputError
        If it has no loops; if IDc is to find torques, and the file does not say which joints are
        actuated, or other ones than the loops leave free to move, in number.
    """
    if not robot.loops:
        reason = "it has no loops: an MJCF's <connect> and <weld>, or FILE.loops.toml, say them"
        raise InputError(f"{function} of {robot.name}: {reason}")
    if function != "IDc":
        return
    if robot.actuated is None:
        reason = "nothing says which joints are actuated: actuators of an MJCF, or FILE.loops.toml"
        raise InputError(f"{function} of {robot.name}: {reason}")
    free = robot.nv - sum(len(loop.rows) for loop in robot.loops)
    found = len(driven(robot))
    if found != free:
        base = ", six of them the base's" if _counts_as_driven(robot) else ""
        reason = f"{found} degrees of freedom are driven{base}, must be {free}: as many as can move"
        raise InputError(f"{function} of {robot.name}: {reason}")


def _hybrid(given: Arguments) -> tuple[Tree, list[Term], dict[str, Term], FreePart]:
    """The tree, its accelerations, the torques of joints that are held, and what solves for free.

    M_FF qdd_F = tau_F - h_F with h of the held joints' accelerations; the torques are h_K + M_KF
    qdd_F.
    """
    tree, robot = given.tree, given.robot
    n, zero = tree.coupling.nv, tree.zero
    qdd = [given.given[f"qdd{k}"] if k in robot.held else zero for k in range(n)]
    still = inverse_dynamics(tree, tree.coupling.spread(qdd), given.external)
    h = tree.coupling.gathered(still)
    matrix = tree.coupling.of_symmetric(mass_matrix(tree))
    free = FreePart(tree, robot.held, matrix)
    qdd_free = free.solve([given.given[f"tau{k}"] - h[k] for k in free.own])
    for k, x in zip(free.own, qdd_free, strict=True):
        qdd[k] = x
    tau = {f"tau{k}": tree.terms.total([h[k], *free.felt(k, qdd_free)]) for k in robot.held}
    return tree, qdd, tau, free


def _hd(given: Arguments, method: str) -> dict[str, Term]:
    _, qdd, tau, free = _hybrid(given)
    return tau | {f"qdd{k}": qdd[k] for k in free.own}


def _dhd(given: Arguments, method: str) -> dict[str, Term]:
    tree, qdd, _, free = _hybrid(given)
    held, n, zero = given.robot.held, tree.coupling.nv, tree.zero
    result: dict[str, Term] = {}
    found = derivatives(tree, qdd, given.external)
    for kind, matrix in zip(("dq", "dqd"), found, strict=True):
        for i in range(n):
            by = free.solve([-matrix.get((k, i), zero) for k in free.own])
            result |= {f"dqdd_{kind}{k}_{i}": x for k, x in zip(free.own, by, strict=True)}
            for k in held:
                terms = [matrix.get((k, i), zero), *free.felt(k, by)]
                result[f"dtau_{kind}{k}_{i}"] = tree.terms.total(terms)
    return {name: result[name] for name in outputs(given.robot, "dHD")}


def _next(given: Arguments, method: str) -> dict[str, Term]:
    def dynamics(q: list[Term], qd: list[Term]) -> steps.Dynamics:
        tree = Tree(given.terms, given.robot, q, qd)
        return steps.Dynamics(forward_dynamics(tree, given.vector("tau"), given.external))

    found = _advanced(given, dynamics, method)
    return _named("qnext", found.q) | _named("qdnext", found.qd)


def _sensitivities(given: Arguments, method: str) -> dict[str, Term]:
    terms = given.terms

    def dynamics(q: list[Term], qd: list[Term]) -> steps.Dynamics:
        tree = Tree(terms, given.robot, q, qd)
        inverse_mass = inverse(tree.coupling, factors_of(tree))
        forces = driving_forces(tree, given.vector("tau"), given.external)
        qdd = multiplied(tree.coupling, inverse_mass, forces)
        by_q, by_qd = (
            _by_motion(tree, name, inverse_mass, matrix)
            for name, matrix in zip(
                ("dqdd_dq", "dqdd_dqd"), derivatives(tree, qdd, given.external), strict=True
            )
        )
        return steps.Dynamics(qdd, by_q, by_qd, inverse_mass)

    return _by_state_and_torque(given, _advanced(given, dynamics, method))


def _by_state_and_torque(given: Arguments, found: steps.State) -> dict[str, Term]:
    """A and B of a step."""
    n = given.robot.nv
    both = found.by_q | {(n + i, k): x for (i, k), x in found.by_qd.items()}
    by_state = {(i, k): x for (i, k), x in both.items() if k < 2 * n}
    by_torque = {(i, k - 2 * n): x for (i, k), x in both.items() if k >= 2 * n}
    return _matrix("a", by_state) | _matrix("b", by_torque)


def _next_with_loops(given: Arguments, method: str) -> dict[str, Term]:
    def dynamics(q: list[Term], qd: list[Term]) -> steps.Dynamics:
        tree = Tree(given.terms, given.robot, q, qd)
        return steps.Dynamics(_constrained(given, tree)[1])

    found = _advanced(given, dynamics, steps.EULER)
    return _named("qnext", found.q) | _named("qdnext", found.qd)


def _sensitivities_with_loops(given: Arguments, method: str) -> dict[str, Term]:
    n = given.robot.nv

    def dynamics(q: list[Term], qd: list[Term]) -> steps.Dynamics:
        system, qdd, by_q, by_qd = _constrained_derivatives(given, q, qd)
        none = [system.tree.zero] * len(system.rows)
        by_torque: Sparse = {}
        for k in range(n):  # symmetric
            unit = [given.terms.one if i == k else given.terms.zero for i in range(n)]
            column, _ = system.solve(unit, none)
            by_torque |= {place: column[i] for i in range(k, n) for place in ((i, k), (k, i))}
        return steps.Dynamics(qdd, by_q, by_qd, by_torque)

    return _by_state_and_torque(given, _advanced(given, dynamics, steps.EULER))


def _by_motion(tree: Tree, name: str, inverse_mass: Sparse, matrix: Sparse) -> Sparse:
    """-M^-1 dtau, but for columns of a floating base that are known."""
    known = {k: known_column(tree, name, k) for k in range(tree.coupling.nv)}
    others = {(i, k): x for (i, k), x in matrix.items() if known[k] is None}
    product = steps.product(tree.terms, inverse_mass, others)
    found = {place: -x for place, x in product.items()}
    for k, column in known.items():
        found |= {(i, k): x for i, x in enumerate(column or []) if not x.is_zero}
    return found


def _advanced(given: Arguments, dynamics: steps.StateDynamics, method: str) -> steps.State:
    q, qd, h = given.vector("q"), given.vector("qd"), given.given["h"]
    return steps.advanced(given.terms, given.robot, q, qd, h, dynamics, method)


_EVALUATE: dict[str, Callable[[Arguments, str], dict[str, Any]]] = {
    "ID": _id,
    "FD": _fd,
    "M": _m,
    "Minv": _minv,
    "dID": _did,
    "dFD": _dfd,
    "diFD": _difd,
    "FK": _fk,
    "J": lambda given, method: _jacobian(given.tree, frames.jacobian),
    "Jbody": lambda given, method: _jacobian(given.tree, frames.body_jacobian),
    "energy": _energy,
    "com": _com,
    "Y": _y,
    "FDc": _fdc,
    "dFDc": _dfdc,
    "IDc": _idc,
    "stepc": _next_with_loops,
    "dstepc": _sensitivities_with_loops,
    "HD": _hd,
    "dHD": _dhd,
    "step": lambda given, method: _next(given, steps.EULER),
    "dstep": lambda given, method: _sensitivities(given, steps.EULER),
    "rk4": lambda given, method: _next(given, steps.RUNGE_KUTTA),
    "drk4": lambda given, method: _sensitivities(given, steps.RUNGE_KUTTA),
}
