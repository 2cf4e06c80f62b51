"""LAPACK routines as native code, for the C libraries that `autoconv build` writes: these do not link LAPACK."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.library.linear_systems import write_gesv, write_getrf, write_potrf, write_trtrs
from autoconv.backends.llvm.library.matrices import RoutineText
from autoconv.backends.llvm.library.reflections import write_geqrf, write_orgqr
from autoconv.backends.llvm.library.spectra import write_eigenvalues, write_singular_values
from autoconv.graph.dtypes import complex128, float64

# The parameters and the writer of each routine; names of routines for complex numbers begin with z.
_ROUTINES: dict[str, tuple[str, Callable[[RoutineText], None]]] = {
    "dgetrf": ("m n a lda ipiv info", write_getrf),
    "zgetrf": ("m n a lda ipiv info", write_getrf),
    "dgesv": ("n nrhs a lda ipiv b ldb info", write_gesv),
    "zgesv": ("n nrhs a lda ipiv b ldb info", write_gesv),
    "dtrtrs": ("uplo trans diag n nrhs a lda b ldb info", write_trtrs),
    "ztrtrs": ("uplo trans diag n nrhs a lda b ldb info", write_trtrs),
    "dpotrf": ("uplo n a lda info", write_potrf),
    "zpotrf": ("uplo n a lda info", write_potrf),
    "dgeqrf": ("m n a lda tau work lwork info", write_geqrf),
    "zgeqrf": ("m n a lda tau work lwork info", write_geqrf),
    "dorgqr": ("m n k a lda tau work lwork info", write_orgqr),
    "zungqr": ("m n k a lda tau work lwork info", write_orgqr),
    "dsyevd": ("jobz uplo n a lda w work lwork iwork liwork info", write_eigenvalues),
    "zheevd": ("jobz uplo n a lda w work lwork rwork lrwork iwork liwork info", write_eigenvalues),
    "dgesdd": ("jobz m n a lda s u ldu vt ldvt work lwork iwork info", write_singular_values),
    "zgesdd": ("jobz m n a lda s u ldu vt ldvt work lwork rwork iwork info", write_singular_values),
}
LINEAR_ALGEBRA = frozenset(f"lapack_{name}" for name in _ROUTINES)


def write_linear_algebra(module: ModuleText, names: frozenset[str]) -> None:
    """Write the routines of these names."""
    module.has_loops = True  # the routines are worth a thorough compilation
    for name, (parameters, write) in _ROUTINES.items():
        if f"lapack_{name}" in names:
            routine = RoutineText(module, name, parameters, complex128 if name.startswith("z") else float64)
            write(routine)
            routine.finish()
