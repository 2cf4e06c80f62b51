"""Finite differences: numpy.gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import axes_of, cast, computes, is_weak, rank_of, refuse, tensor
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.ops.index_spec import Slice
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


@computes("gradient")
def gradient(f: object, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Compute central differences, one-sided at the ends. NumPy itself computes them for uneven coordinates."""
    x = tensor(f)
    rank = rank_of(x)
    if not rank:
        refuse("is given a scalar")
    axes = axes_of(axis, rank)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    shape = x.type.shape
    sizes = () if shape is None else tuple(shape[a] for a in axes)
    has_constant_steps = len(steps) == len(axes) and all(type(h) in (int, float) or is_weak(h) for h in steps)
    has_enough_elements = len(sizes) == len(axes) and all(isinstance(d, int) and d > edge_order for d in sizes)
    if not has_constant_steps or not has_enough_elements or edge_order not in (1, 2) or x.dtype.is_bool:
        return call_numpy("gradient", False, x, *varargs, axis=axis, edge_order=edge_order)
    if x.dtype.is_integer:
        x = cast(x, np.float64)
    gradients = tuple(_gradient_along(x, a, h, edge_order) for a, h in zip(axes, steps, strict=True))
    return gradients[0] if len(gradients) == 1 else gradients


def _gradient_along(x: Tensor, axis: int, step: TensorLike, edge_order: int) -> Any:
    def part_of_axis(start: int | None, stop: int | None) -> Tensor:
        return apply("get_item", x, spec=(*[Slice()] * axis, Slice(start, stop, None)))

    def difference_quotient(later: Tensor, earlier: Tensor, distance: Any) -> Any:
        return call_ufunc(np.true_divide, call_ufunc(np.subtract, later, earlier), distance)

    def weighted_sum(*terms: tuple[float, Tensor]) -> Any:
        products = [call_ufunc(np.multiply, call_ufunc(np.true_divide, c, step), y) for c, y in terms]
        return call_ufunc(np.add, call_ufunc(np.add, products[0], products[1]), products[2])

    interior = difference_quotient(part_of_axis(2, None), part_of_axis(None, -2), call_ufunc(np.multiply, 2.0, step))
    if edge_order == 1:
        first = difference_quotient(part_of_axis(1, 2), part_of_axis(0, 1), step)
        last = difference_quotient(part_of_axis(-1, None), part_of_axis(-2, -1), step)
    else:
        first = weighted_sum((-1.5, part_of_axis(0, 1)), (2.0, part_of_axis(1, 2)), (-0.5, part_of_axis(2, 3)))
        last = weighted_sum((0.5, part_of_axis(-3, -2)), (-2.0, part_of_axis(-2, -1)), (1.5, part_of_axis(-1, None)))
    return apply("concat", *(cast(y, x.dtype.numpy) for y in (first, interior, last)), axis=axis)
