"""Linear algebra."""

from autoconv.api.matrices.bands import diag, diag_part, set_diag
from autoconv.api.matrices.diagonals import tensor_diag, tensor_diag_part
from autoconv.api.matrices.factor_solutions import (
    banded_triangular_solve,
    eigh_tridiagonal,
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
)
from autoconv.api.matrices.factors import eig, eigvals, lu, matrix_rank, normalize
from autoconv.api.matrices.functions import expm, logm, lstsq, sqrtm
from autoconv.api.matrices.linalg import (
    adjoint,
    band_part,
    cholesky,
    cholesky_solve,
    cross,
    det,
    eigh,
    eigvalsh,
    einsum,
    inv,
    logdet,
    matmul,
    matrix_transpose,
    matvec,
    outer,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    tensordot,
    trace,
    triangular_solve,
)
from autoconv.api.matrices.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from autoconv.api.tensors.comparison import global_norm
from autoconv.api.tensors.constants import eye
from autoconv.api.tensors.norms import l2_normalize, norm
from autoconv.linear_operators import experimental as experimental
from autoconv.linear_operators.base import LinearOperator
from autoconv.linear_operators.blocks import LinearOperatorBlockDiag
from autoconv.linear_operators.compositions import (
    LinearOperatorAdjoint,
    LinearOperatorComposition,
    LinearOperatorInversion,
    LinearOperatorKronecker,
)
from autoconv.linear_operators.dense import (
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
    LinearOperatorTridiag,
)
from autoconv.linear_operators.diagonals import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from autoconv.linear_operators.structured import (
    LinearOperatorCirculant,
    LinearOperatorHouseholder,
    LinearOperatorLowRankUpdate,
    LinearOperatorPermutation,
    LinearOperatorToeplitz,
)
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorCirculant",
    "LinearOperatorComposition", "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder",
    "LinearOperatorIdentity", "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros", "adjoint", "band_part",
    "banded_triangular_solve", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eig", "eigh",
    "eigh_tridiagonal", "eigvals", "eigvalsh", "einsum", "expm", "eye", "global_norm", "inv", "l2_normalize", "logdet",
    "logm", "lstsq", "lu", "lu_matrix_inverse", "lu_reconstruct", "lu_solve", "matmul", "matrix_rank",
    "matrix_transpose", "matvec", "norm", "normalize", "outer", "pinv", "qr", "set_diag", "slogdet", "solve", "sqrtm",
    "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace", "triangular_solve", "tridiagonal_matmul",
    "tridiagonal_solve",
]  # fmt: skip

_wrap_public_functions(globals())
