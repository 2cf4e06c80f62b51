"""Comparison of integer elements with a Python int, exact even if the dtype cannot represent the int."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype
from autoconv.numpy.operands import cast, tensor
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_SWAPPED_OPERANDS = {
    "equal": "equal", "not_equal": "not_equal", "less": "greater", "less_equal": "greater_equal", "greater": "less",
    "greater_equal": "less_equal",
}  # fmt: skip
# An int outside of the dtype's range is replaced by the nearest value inside. These are the results for an int
# below and above the range, for comparisons that this replacement would falsify.
_RESULT_BELOW_RANGE = {"equal": False, "not_equal": True, "greater": True, "less_equal": False}
_RESULT_ABOVE_RANGE = {"equal": False, "not_equal": True, "less": True, "greater_equal": False}


def compare_exactly(name: str, x: TensorLike, y: TensorLike, dtype: np.dtype[Any]) -> Tensor | None:
    """Compare, in that dtype, an array or scalar with a Python int that may lie outside of the dtype's range.

    Returns None if no operand is such an int.
    """
    integer_dtype = as_dtype(dtype)
    if not integer_dtype.is_integer:
        return None
    for number, elements, op in ((y, x, name), (x, y, _SWAPPED_OPERANDS.get(name, ""))):
        if op and not _is_int(elements):
            if type(number) is int and not integer_dtype.min <= number <= integer_dtype.max:
                is_below = number < integer_dtype.min
                nearest = tensor(integer_dtype.min if is_below else integer_dtype.max, dtype)
                return _compare_with_nearest(op, tensor(elements, dtype), nearest, is_below, not is_below)
            if _is_int(number) and as_tensor(number) is not None:
                return _compare_with_graph_int(op, tensor(elements, dtype), tensor(number, np.int64), integer_dtype)
    return None


def _is_int(x: TensorLike) -> bool:
    """Return whether the value is a Python int, or stands for one in a graph."""
    x_tensor = as_tensor(x)
    return type(x) is int if x_tensor is None else x_tensor.weak and x_tensor.dtype.is_integer


def _compare_with_graph_int(op: str, x: Tensor, number: Tensor, dtype: DType) -> Tensor | None:
    """Compare elements with an int of the graph; return None if it needs no special treatment."""
    if dtype.numpy == np.int64:
        return None  # int64 represents every int of a graph
    if x.type.shape == () and dtype.size < 8:
        return apply(op, cast(x, np.int64), number)
    low = tensor(max(dtype.min, -(2**63)), np.int64)
    high = tensor(min(dtype.max, 2**63 - 1), np.int64)
    nearest = cast(apply("minimum", apply("maximum", number, low), high), dtype)
    return _compare_with_nearest(op, x, nearest, apply("less", number, low), apply("greater", number, high))


def _compare_with_nearest(op: str, x: Tensor, nearest: Tensor, is_below: Any, is_above: Any) -> Tensor:
    """Compare elements in their own dtype, which is fastest, and correct the result for an int outside of its range."""
    result = apply(op, x, nearest)
    for is_outside, constant_results in ((is_below, _RESULT_BELOW_RANGE), (is_above, _RESULT_ABOVE_RANGE)):
        if constant_results.get(op) is True:
            result = apply("logical_or", result, tensor(is_outside, bool))
        elif constant_results.get(op) is False:
            result = apply("logical_and", result, apply("logical_not", tensor(is_outside, bool)))
    return result  # type: ignore[no-any-return]
