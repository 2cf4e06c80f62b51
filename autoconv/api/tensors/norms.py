"""Norms of vectors and matrices, and normalisation by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


@accepts_run_time_axes()
def norm(
    tensor: TensorLike,
    ord: object = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm over `axis`: of vectors for an int, of all elements for None, of matrices for a pair of axes.

    `ord` is "euclidean", 1, 2 or inf; also "fro" for matrices, and any other positive number unless for matrices.
    Raises ValueError for other values.

    >>> autoconv.norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    x = convert_to_tensor(tensor)
    is_matrix = isinstance(axis, (list, tuple))
    axes, keeps_dimensions = static_axes(axis), bool(keepdims)
    if is_matrix and (axes is None or len(axes) != 2 or axes[0] == axes[1]):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if is_matrix and ord not in ("euclidean", "fro", 1, 2, float("inf")):
        raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
    if not is_matrix and ord != "euclidean" and not (isinstance(ord, (int, float, np.number)) and ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        return apply("reduce_euclidean_norm", x, axis=axes, keepdims=keeps_dimensions, name=name)
    if axes is not None and is_matrix:
        return _matrix_norm(x, ord, axes, keeps_dimensions, name)
    magnitudes = apply("abs", x)
    if ord == 1:
        return apply("reduce_sum", magnitudes, axis=axes, keepdims=keeps_dimensions, name=name)
    if ord == float("inf"):
        return apply("reduce_max", magnitudes, axis=axes, keepdims=keeps_dimensions, name=name)
    power_sum = apply("reduce_sum", apply("power", magnitudes, ord), axis=axes, keepdims=keeps_dimensions)
    return apply("power", power_sum, 1.0 / ord, name=name)  # type: ignore[operator]


def _matrix_norm(x: Tensor, order: object, axes: Sequence[int], keepdims: bool, name: str | None) -> Tensor:
    """Return the norm of matrices: the largest sum of a column (order 1) or row (inf), or singular value (2)."""
    if order == 2:
        batch_axes = [axis for axis in range(len(x.shape)) if axis not in {number % len(x.shape) for number in axes}]
        matrices = apply("transpose", x, perm=(*batch_axes, *axes))
        svd_results = apply("svd", matrices, full_matrices=False, compute_uv=False, nan_on_failure=True)
        singular_values = svd_results[0] if isinstance(svd_results, (tuple, list)) else svd_results
        result = apply("reduce_max", singular_values, axis=(-1,), keepdims=False, name=name)
        for axis in sorted(number % len(x.shape) for number in axes) if keepdims else ():
            result = apply("expand_dims", result, axis=axis)
        return result
    sum_axis, max_axis = axes if order == 1 else axes[::-1]
    sums = apply("reduce_sum", apply("abs", x), axis=(sum_axis,), keepdims=True)
    max_sum = apply("reduce_max", sums, axis=(max_axis,), keepdims=True)
    return max_sum if keepdims else apply("squeeze", max_sum, axis=tuple(axes), name=name)


@accepts_run_time_axes()
def l2_normalize(x: TensorLike, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """x divided by its Euclidean norm over `axis`, or by sqrt(epsilon) where that is larger.

    >>> autoconv.math.l2_normalize([3.0, 4.0]).numpy().round(3)
    array([0.6, 0.8], dtype=float32)
    """
    tensor = convert_to_tensor(x)
    square_sum = apply("reduce_sum", apply("square", apply("abs", tensor)), axis=static_axes(axis), keepdims=True)
    scale = apply("rsqrt", apply("maximum", square_sum, epsilon))
    if tensor.dtype.is_complex:
        scale = apply("cast", scale, dtype=tensor.dtype)
    return apply("multiply", tensor, scale, name=name)
