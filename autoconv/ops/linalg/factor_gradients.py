"""Gradients of matrix decompositions, real and complex.

The cotangent of a complex number is dL/d(real) + i·dL/d(imag); the cotangent of a matrix X is written X'. LAPACK
chooses the phases of vectors of complex matrices: gradients are those of functions that do not depend on the phases.
Derivations: Walter and Lehmann (Algorithmic differentiation of linear algebra functions, 2012) for QR, Wan and Zhang
(Automatic differentiation for complex valued SVD, 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import UnimplementedError
from autoconv.graph.types import are_shapes_compatible
from autoconv.ops.gradients import as_dtype_of, conjugate, dtype_of, shape_of
from autoconv.ops.index_spec import Rest, Slice
from autoconv.ops.record import Builder


def adjoint_of(b: Builder, x: Any) -> Any:
    """Return x^H."""
    return b.matrix_transpose(conjugate(b, x))


def _project(b: Builder, x: Any, y: Any) -> Any:
    """Return x^H·y."""
    return b.matmul(conjugate(b, x), y, transpose_a=True)


def _times_adjoint(b: Builder, x: Any, y: Any) -> Any:
    """Return x·y^H."""
    return b.matmul(x, conjugate(b, y), transpose_b=True)


def cholesky_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return low(S + Sᴴ), where S = L⁻ᴴ·low(Lᴴ·L')·L⁻¹, and low(M) is the lower triangle of M with half its diagonal.

    The op reads only the lower triangle. With `symmetric_gradient`, the result is a self-adjoint matrix, (S + Sᴴ) / 2.
    """
    (cotangent,), (factor,) = cotangents, results
    middle = _half_lower(b, _project(b, factor, cotangent))
    left_solution = b.triangular_solve(factor, middle, lower=True, adjoint=True)
    solution = adjoint_of(b, b.triangular_solve(factor, adjoint_of(b, left_solution), lower=True, adjoint=True))
    total = b.add(solution, adjoint_of(b, solution))
    if not attributes.get("symmetric_gradient"):
        return (_half_lower(b, total),)
    return (b.multiply(total, b.constant(value=np.array(0.5, dtype_of(solution).numpy))),)


def _half_lower(b: Builder, x: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    lower = b.matrix_band_part(x, num_lower=-1, num_upper=0)
    diagonal = b.matrix_band_part(x, num_lower=0, num_upper=0)
    return b.subtract(lower, b.multiply(diagonal, b.constant(value=np.array(0.5, dtype_of(x).numpy))))


def svd_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent of x = U·diag(s)·Vᴴ: U·core·Vᴴ, plus parts orthogonal to the singular vectors."""
    (x,) = inputs
    s_cotangent, u_cotangent, v_cotangent = (*cotangents, None, None)[:3]
    needs_vectors = u_cotangent is not None or v_cotangent is not None
    if needs_vectors and attributes.get("full_matrices"):
        raise UnimplementedError(
            "the gradient of svd with full_matrices=True is defined for singular values only"
        )
    has_reduced_factors = len(results) == 3 and not attributes.get("full_matrices")
    s, u, v = results if has_reduced_factors else b.svd(x, full_matrices=False, compute_uv=True, nan_on_failure=True)
    core = as_dtype_of(b, b.diag(b.zeros_like(s) if s_cotangent is None else s_cotangent, offset=0), x)
    if not needs_vectors:
        return (_times_adjoint(b, b.matmul(u, core), v),)
    gaps = as_dtype_of(b, _gaps(b, b.multiply(s, s)), x)
    s_row, s_column = (as_dtype_of(b, b.expand_dims(s, axis=axis), x) for axis in (-2, -1))
    outer_parts = []
    if u_cotangent is not None:
        product = _project(b, u, u_cotangent)
        core = b.add(core, b.multiply(b.divide(_skew(b, product), gaps), s_row))
        orthogonal_part = b.subtract(u_cotangent, b.matmul(u, product))
        outer_parts.append(_times_adjoint(b, b.divide(orthogonal_part, s_row), v))
    if v_cotangent is not None:
        product = _project(b, v, v_cotangent)
        core = b.add(core, b.multiply(b.divide(_skew(b, product), gaps), s_column))
        if dtype_of(x).is_complex:  # a left and a right singular vector share their phase
            rotation = b.divide(b.negative(b.imag(b.diag_part(product, offset=0))), s)
            core = b.add(core, b.diag(b.complex(b.zeros_like(rotation), rotation), offset=0))
        orthogonal_part = b.subtract(v_cotangent, b.matmul(v, product))
        outer_parts.append(_times_adjoint(b, b.divide(u, s_row), orthogonal_part))
    total = _times_adjoint(b, b.matmul(u, core), v)
    for part in outer_parts:
        total = b.add(total, part)
    return (total,)


def _skew(b: Builder, x: Any) -> Any:
    """Return x - x^H."""
    return b.subtract(x, adjoint_of(b, x))


def _gaps(b: Builder, values: Any) -> Any:
    """Return values[j] - values[i] at [i, j], and ones on the diagonal."""
    gaps = b.subtract(b.expand_dims(values, axis=-2), b.expand_dims(values, axis=-1))
    return b.set_diag(gaps, b.ones_like(values), offset=0)


def qr_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent of x = Q·R, where x may have more columns than rows.

    Then x = [X, Y] and R = [U, V] with square X and U: Y = Q·V has the cotangent Q·V', and adds Y·V'ᴴ to Q'.
    """
    (x,), (q, r), (q_cotangent, r_cotangent) = inputs, results, cotangents
    q_cotangent = b.zeros_like(q) if q_cotangent is None else q_cotangent
    r_cotangent = b.zeros_like(r) if r_cotangent is None else r_cotangent
    shape = shape_of(r)
    if shape is None or are_shapes_compatible(shape[-2:-1], shape[-1:]):
        return (_square_qr_gradient(b, q, r, q_cotangent, r_cotangent),)
    if attributes.get("full_matrices"):
        raise UnimplementedError("the gradient of qr with full_matrices is defined for no more columns than rows")
    first, last = (Rest(), Slice(None, shape[-2], None)), (Rest(), Slice(shape[-2], None, None))
    last_cotangent = b.get_item(r_cotangent, spec=last)
    q_cotangent = b.add(q_cotangent, _times_adjoint(b, b.get_item(x, spec=last), last_cotangent))
    first_gradient = _square_qr_gradient(
        b, q, b.get_item(r, spec=first), q_cotangent, b.get_item(r_cotangent, spec=first)
    )
    return (b.concat(first_gradient, b.matmul(q, last_cotangent), axis=-1),)


def _square_qr_gradient(b: Builder, q: Any, r: Any, q_cotangent: Any, r_cotangent: Any) -> Any:
    """Return the cotangent of Q·R with a square R: (Q' + Q·M)·R⁻ᴴ.

    M is the self-adjoint matrix whose lower triangle is that of R·R'ᴴ - Q'ᴴ·Q.
    """
    middle = b.subtract(_times_adjoint(b, r, r_cotangent), _project(b, q_cotangent, q))
    lower = b.matrix_band_part(middle, num_lower=-1, num_upper=0)
    diagonal = b.matrix_band_part(middle, num_lower=0, num_upper=0)
    strict_lower = b.subtract(lower, diagonal)
    if dtype_of(q).is_complex:  # the diagonal of R is real
        lower = b.add(strict_lower, as_dtype_of(b, b.real(diagonal), q))
    numerator = b.add(q_cotangent, b.matmul(q, b.add(lower, adjoint_of(b, strict_lower))))
    return adjoint_of(b, b.triangular_solve(r, adjoint_of(b, numerator), lower=False, adjoint=False))


def eigh_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return V·core·Vᴴ, with the upper triangle added to the lower one, which is all that the op reads.

    `core` has the cotangents of the eigenvalues on its diagonal, and (Vᴴ·V') / gaps elsewhere.
    """
    (values, vectors), (values_cotangent, vectors_cotangent) = results, cotangents
    diagonal = b.zeros_like(values) if values_cotangent is None else values_cotangent
    core = as_dtype_of(b, b.diag(diagonal, offset=0), vectors)
    if vectors_cotangent is not None:
        product = b.divide(_project(b, vectors, vectors_cotangent), as_dtype_of(b, _gaps(b, values), vectors))
        core = b.add(core, b.set_diag(product, as_dtype_of(b, b.zeros_like(values), vectors), offset=0))
    gradient = _times_adjoint(b, b.matmul(vectors, core), vectors)
    return (_half_lower(b, b.add(gradient, adjoint_of(b, gradient))),)
