"""What the algorithm text asks of whoever runs it: assembly, disassembly, connection of the base.

The text is written as generators (:mod:`pymodel.algorithms.step`) that *request* (``yield``) these
steps, so that the same text runs on the model alone (:func:`serve`) and with the RTL answering
(the co-simulation benches).
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms import linalg, two_handles
from pymodel.algorithms.many_handles import Compound, Elimination, eliminate, recover
from pymodel.arith.errors import RunError
from pymodel.arith.scalars import Matrix, Scalar, SupportsArithmetic, SupportsPivoting, Vector
from pymodel.arith.terms import Terms

#: How the base of a closed chain is connected where nobody says otherwise.
BASE = "ldl"
#: Ways that need no pivoting, as eta is symmetric positive definite: a recording can have them.
RECORDED_BASES = (BASE, "blocks")
#: All ways to connect the base of a closed chain; ``ldup`` is the paper's inverse.
CLOSED_BASES = (*RECORDED_BASES, "ldup")

#: name -> (arithmetic, matrix, right-hand side) -> (x, singular); ``adjugate`` is for open chains.
_SOLVERS: dict[str, Callable[..., tuple[Vector[Any], bool]]] = {
    "adjugate": linalg.solve_adjugate_2x2,
    "ldup": linalg.solve_ldup,
    "ldl": linalg.solve_ldl,
    "blocks": linalg.solve_blocks,
}


class Assemble(NamedTuple):
    """Request: assemble A and B; the answer is (compound, joint)."""

    a: two_handles.Coefficients
    b: two_handles.Coefficients


class Disassemble(NamedTuple):
    """Request: impulses of the joint inside a compound body; the answer is T_1^B (2-vector)."""

    joint: two_handles.Joint
    t_1c: Vector[Scalar]
    t_2c: Vector[Scalar]


class ConnectBase(NamedTuple):
    """Request: connect the ends of the chain to the ground, (40) or (42).

    The answer is t with matrix t = rhs: the impulses t_1, or t_1 and t_2, in one tuple.
    """

    matrix: Matrix[Scalar]  # 2x2, or eta (43), 4x4
    rhs: Vector[Scalar]  # 2 or 4
    base: str  # how: adjugate, or one of CLOSED_BASES


class Eliminate(NamedTuple):
    """Request: eliminate the joint between two handles; the answer is (Compound, Elimination)."""

    parts: Sequence[Compound]  # of the handles; one if it is the same or a is the ground
    a: Any  # handle, None for the ground
    b: Any
    terms: Terms[Any] | None = None  # what its scalars belong to, if not to the run's arithmetic


class Recover(NamedTuple):
    """Request: impulse on handle b of a joint that was eliminated, along what the joint takes."""

    elimination: Elimination
    impulses: Mapping[Any, Vector[Scalar]]  # handle -> the same


#: Why a run ends: the solvers see that an inverse is not finite, whichever of the two it is.
NOT_FINITE = "result is not finite"
JOINT_SINGULAR = "joint matrix (33) is singular or not finite"
BASE_SINGULAR = "the matrix of the base connection is singular or not finite"


class SingularError(RunError):
    """A joint or base matrix has determinant zero or a non-finite inverse."""


class NonFiniteMatrixError(SingularError):
    """A joint or base matrix, or a summand of it, is not finite, as where a step diverges."""


def answer(arithmetic: SupportsPivoting[Any], request: Any) -> Any:
    """The model's own answer to one request.

    Raises
    ------
    SingularError
        If a joint's matrix, or that of the closed base, cannot be inverted.
    """
    if isinstance(request, Assemble):
        both, joint, singular = two_handles.assemble(arithmetic, request.a, request.b)
        if singular:
            raise singular_error(arithmetic, JOINT_SINGULAR, request.a.xi_22, request.b.xi_11)
        return both, joint
    if isinstance(request, ConnectBase):
        t, singular = _SOLVERS[request.base](arithmetic, request.matrix, request.rhs)
        if singular:
            raise singular_error(arithmetic, BASE_SINGULAR, request.matrix)
        return t
    if isinstance(request, Eliminate):
        terms = request.terms
        own: SupportsArithmetic[Any] = terms or arithmetic
        compound, elimination, singular = eliminate(own, request.parts, request.a, request.b)
        if singular:
            raise singular_error(own, JOINT_SINGULAR, elimination.matrix)
        if terms is not None:  # only to be looked at
            matrix = tuple(tuple(map(terms.value, row)) for row in elimination.matrix)
            elimination = elimination._replace(matrix=matrix)
        return compound, elimination
    if isinstance(request, Recover):
        return recover(*request)
    return two_handles.disassemble(*request)


def singular_error(
    arithmetic: SupportsArithmetic[Any], reason: str, *matrices: Matrix[Any]
) -> SingularError:
    """The error of a matrix, or of the sum of some, that cannot be inverted.

    Parameters
    ----------
    arithmetic
        What the entries belong to.
    reason
        What to say if all entries are finite: their sum may be infinite, too.
    *matrices
        The matrix, or its summands.
    """
    finite = all(arithmetic.is_finite(x) for matrix in matrices for row in matrix for x in row)
    return SingularError(reason) if finite else NonFiniteMatrixError(NOT_FINITE)


def joint_matrix(request: Any, reply: Any) -> list[Matrix[Any]] | None:
    """The bracket of (33) that a request made the model invert, as matrices that add up to it.

    Of an open chain's pin on the ground that is the matrix in (40); a closed one's is eta, which is
    watched by itself. 1/kg of translations; None for other requests. They are to be added in
    float64, apart from the algorithm: the sum takes part in no result.
    """
    if isinstance(request, Assemble):
        return [tuple(row[:2] for row in m[:2]) for m in (request.a.xi_22, request.b.xi_11)]
    if isinstance(request, Eliminate):
        return [reply[1].matrix]
    if isinstance(request, ConnectBase) and len(request.matrix) == 2:
        return [request.matrix]
    return None


def serve(
    arithmetic: SupportsPivoting[Any],
    generator: Generator[Any, Any, Any],
    watch: Callable[[Any, Any], None] = lambda request, reply: None,
) -> Any:
    """Run a generator of requests to its end with the model answering; returns its value.

    Parameters
    ----------
    arithmetic : Float64, BitExact or Graph
    generator : Generator
    watch : callable, optional
        Is shown every request and its answer.
    """
    reply = None
    while True:
        try:
            request = generator.send(reply)
        except StopIteration as stop:
            return stop.value
        reply = answer(arithmetic, request)
        watch(request, reply)
