"""Norms of vectors and matrices, and normalisation by them."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.axis_choice import any_axis
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


@any_axis()
def norm(
    tensor: TensorLike,
    ord: object = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm over `axis`: of vectors for an int, of all elements for None, of matrices for a pair of axes.

    `ord` is "euclidean", 1 or inf; also "fro" for matrices and all elements, and any positive number unless for
    matrices. Raises ValueError for other values.

    >>> autoconv.norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    x = convert_to_tensor(tensor)
    axes, keeps_dimensions = static_axes(axis), bool(keepdims)
    is_matrix = axes is not None and len(axes) == 2
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        if ord == "fro" and not (is_matrix or axes is None):
            raise ValueError("norm: 'fro' is a norm of matrices; give two axes")
        return apply("reduce_euclidean_norm", x, axis=axes, keepdims=keeps_dimensions, name=name)
    magnitudes = apply("abs", x)
    if is_matrix:
        return _matrix_norm(magnitudes, ord, axes, keeps_dimensions, name)
    if ord == 1:
        return apply("reduce_sum", magnitudes, axis=axes, keepdims=keeps_dimensions, name=name)
    if ord == float("inf"):
        return apply("reduce_max", magnitudes, axis=axes, keepdims=keeps_dimensions, name=name)
    if isinstance(ord, (int, float)) and ord > 0:
        power_sum = apply("reduce_sum", apply("power", magnitudes, ord), axis=axes, keepdims=keeps_dimensions)
        return apply("power", power_sum, 1.0 / ord, name=name)
    raise ValueError(f"norm: 'ord' must be 'euclidean', 'fro' or a positive number, got {ord!r}")


def _matrix_norm(magnitudes: Tensor, order: Any, axes: Any, keepdims: bool, name: str | None) -> Tensor:
    """Return the norm of matrices of absolute values: the largest sum of a column (order 1) or of a row (inf)."""
    if order not in (1, float("inf")):
        raise ValueError(f"norm: of matrices there are 'fro', 1 and inf, got {order!r}; see linalg.svd for 2")
    sum_axis, max_axis = axes if order == 1 else axes[::-1]
    sums = apply("reduce_sum", magnitudes, axis=(sum_axis,), keepdims=True)
    max_sum = apply("reduce_max", sums, axis=(max_axis,), keepdims=True)
    return max_sum if keepdims else apply("squeeze", max_sum, axis=tuple(axes), name=name)


@any_axis()
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
