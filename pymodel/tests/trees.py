"""Random robots and states, and the functions as arrays, for the tests of rigid-body dynamics."""

from collections.abc import Mapping

import numpy as np

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, columns, evaluate, force_columns
from pymodel.algorithms.rigid_body.functions import inputs as input_names
from pymodel.arith.scalars import Float64Arrays
from pymodel.mechanism.robot import FIXED_BASE, FREE, PRISMATIC, REVOLUTE, Link, Robot


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation, uniform."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    """Pseudo-inertia of five point masses: physical."""
    points = np.c_[rng.uniform(-0.5, 0.5, (5, 3)), np.ones(5)]
    return (points.T * rng.uniform(0.2, 1.0, 5)) @ points


def random_robot(
    seed: int, links: int = 6, floating: bool = False, drives: bool = True, slides: bool = True
) -> Robot:
    """A tree of revolute and prismatic joints with random placements, damping and armature."""
    rng = np.random.default_rng(seed)
    found = []
    if floating:
        found.append(
            Link("base", "root", FREE, FIXED_BASE, np.eye(3), np.zeros(3), random_inertia(rng))
        )
    while len(found) < links:
        k = len(found)
        lowest = 0 if floating else FIXED_BASE
        found.append(
            Link(
                name=f"link{k}",
                joint=f"joint{k}",
                kind=PRISMATIC if slides and rng.random() < 0.3 else REVOLUTE,
                parent=int(rng.integers(max(lowest, k - 3), k)),
                rotation=random_rotation(rng),
                offset=rng.uniform(-0.5, 0.5, 3),
                inertia=random_inertia(rng),
                damping=rng.uniform(0, 0.5) if drives else 0.0,
                armature=rng.uniform(0, 0.3) if drives and rng.random() < 0.5 else 0.0,
                frame_rotation=random_rotation(rng),
                frame_offset=rng.uniform(-0.2, 0.2, 3),
            )
        )
    return Robot(f"random {seed}", tuple(found))


def random_state(robot: Robot, seed: int, external: tuple[int, ...] = ()) -> dict[str, np.ndarray]:
    """q, qd, qdd, tau as vectors, and ``fext<link>``: vectors of six."""
    rng = np.random.default_rng(seed)
    state = {name: rng.uniform(-1, 1, robot.nv) for name in ("qd", "qdd", "tau")}
    state["q"] = rng.uniform(-1, 1, robot.nq)
    if robot.floating:
        state["q"][3:7] /= np.linalg.norm(state["q"][3:7])
    for link in external:
        state[f"fext{link}"] = rng.uniform(-1, 1, 6)
    return state


def moved(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q after a motion v of first order in the tangent space; v may be complex and small."""
    if not robot.floating:
        return q + v
    x, y, z, w = q[3:7]
    a, b, c = v[3:6] / 2
    turned = np.array(
        [
            x + w * a + y * c - z * b,
            y + w * b + z * a - x * c,
            z + w * c + x * b - y * a,
            w - x * a - y * b - z * c,
        ]
    )
    return np.concatenate([q[:3] + v[:3], turned, q[7:] + v[6:]])


def function(
    name: str, robot: Robot, state: Mapping[str, np.ndarray], method: str = "", **options: bool
) -> np.ndarray:
    """A function on float64 or complex vectors: a vector, a matrix, or two matrices.

    Of a vector, also on matrices: of vectors that stand side by side.
    """
    external = tuple(int(key[4:]) for key in state if key.startswith("fext"))
    values = {}
    for kind in FUNCTIONS[name].takes:
        entries = np.ravel(state[kind]) if kind == "minv" else state[kind]
        values |= zip(columns(robot, kind), entries, strict=True)
    for link in external:
        values |= zip(force_columns([link]), state[f"fext{link}"], strict=True)
    values = {key: values[key] for key in input_names(robot, name, external)}
    found = evaluate(name, robot, Float64Arrays(), values, method, external, **options)
    n = robot.nv
    results = []
    for kind in FUNCTIONS[name].gives:
        names = columns(robot, kind)
        if kind in ("tau", "qdd"):
            return np.array(np.broadcast_arrays(*(found.get(column, 0.0) for column in names)))
        entries = np.array([found.get(column, 0.0) for column in names])
        matrix = entries.reshape(n, n)
        if kind in ("m", "minv"):
            matrix = np.tril(matrix) + np.tril(matrix, -1).T
        results.append(matrix)
    return results[0] if len(results) == 1 else np.array(results)
