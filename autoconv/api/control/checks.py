"""Assertions about tensors. A condition known while tracing is checked at once, any other one when the graph runs.

A false condition raises AssertionFailedError, an InvalidArgumentError and an AssertionError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.control.output import argument_piece
from autoconv.api.tensors.reductions import reduce_all
from autoconv.api.tensors.shaping import reshape
from autoconv.graph.dtypes import bool_
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.name_scopes import name_scope
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def Assert(condition: TensorLike, data: TensorLike, summarize: int | None = None, name: str | None = None) -> None:
    """Raise AssertionFailedError, with `data` in the message, unless all elements of the bool `condition` are true.

    Of each tensor in `data`, the message has the first and last `summarize` elements, by default 3.

    >>> autoconv.Assert(autoconv.constant(True), ["never shown"])
    """
    condition = convert_to_tensor(condition)
    if not condition.dtype.is_bool:
        condition = apply("cast", condition, dtype=bool_)
    operands: list[Any] = []
    values = data if isinstance(data, (list, tuple)) else [data]
    shown_count = 3 if summarize is None else int(summarize)
    message = tuple(argument_piece(value, operands, shown_count) for value in values)
    with name_scope(name or "Assert"):
        apply("assert_true", condition, *operands, message=message, summarize=shown_count, name="Assert")


def _compare(
    op: str, relation: str, x: TensorLike, y: TensorLike, message: str | None, summarize: int | None, name: str | None
) -> None:
    """Assert the comparison `op` of all elements; `relation` is its sign in the error."""
    text = f"Condition x {relation} y did not hold element-wise:"
    with name_scope(name or f"assert_{'none_equal' if op == 'not_equal' else op}"):
        first, second = convert_to_tensor(x), convert_to_tensor(y)
        Assert(apply(op, first, second), [message or "", text, "x = ", first, "y = ", second], summarize)


def assert_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x == y for all elements, broadcast.

    >>> autoconv.assert_equal([1, 2], [1, 2])
    """
    _compare("equal", "==", x, y, message, summarize, name)


def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Assert x != y for all elements, broadcast.

    >>> autoconv.debugging.assert_none_equal([1, 2], [3, 4])
    """
    _compare("not_equal", "!=", x, y, message, summarize, name)


def assert_less(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x < y for all elements, broadcast.

    >>> autoconv.assert_less([3, 4], 5)
    """
    _compare("less", "<", x, y, message, summarize, name)


def assert_less_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x <= y for all elements, broadcast.

    >>> autoconv.debugging.assert_less_equal([3, 4], 4)
    """
    _compare("less_equal", "<=", x, y, message, summarize, name)


def assert_greater(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x > y for all elements, broadcast.

    >>> autoconv.assert_greater([3, 4], 2)
    """
    _compare("greater", ">", x, y, message, summarize, name)


def assert_greater_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x >= y for all elements, broadcast.

    >>> autoconv.debugging.assert_greater_equal([3, 4], 3)
    """
    _compare("greater_equal", ">=", x, y, message, summarize, name)


def _compare_with_zero(
    op: str, relation: str, x: TensorLike, message: str | None, summarize: int | None, name: str | None
) -> None:
    """Assert the comparison `op` of all elements with 0; `relation` is its sign in the error."""
    tensor = convert_to_tensor(x)
    text = f"Condition x {relation} 0 did not hold element-wise:"
    inner_scope = "assert_less_equal" if op.endswith("equal") else "assert_less"  # as in graphs of TensorFlow
    with name_scope(name or _FUNCTION_BY_COMPARISON[op]), name_scope(inner_scope):
        condition = apply(op, tensor, np.zeros((), tensor.dtype.numpy))
        Assert(condition, [message or "", text, "x = ", tensor], summarize)


_FUNCTION_BY_COMPARISON = {
    "greater": "assert_positive", "less": "assert_negative",
    "greater_equal": "assert_non_negative", "less_equal": "assert_non_positive",
}  # fmt: skip


def assert_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x > 0 for all elements.

    >>> autoconv.debugging.assert_positive([1, 2])
    """
    _compare_with_zero("greater", ">", x, message, summarize, name)


def assert_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x < 0 for all elements.

    >>> autoconv.debugging.assert_negative([-1, -2])
    """
    _compare_with_zero("less", "<", x, message, summarize, name)


def assert_non_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x >= 0 for all elements.

    >>> autoconv.debugging.assert_non_negative([0, 1])
    """
    _compare_with_zero("greater_equal", ">=", x, message, summarize, name)


def assert_non_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x <= 0 for all elements.

    >>> autoconv.debugging.assert_non_positive([0, -1])
    """
    _compare_with_zero("less_equal", "<=", x, message, summarize, name)


def assert_near(
    x: TensorLike, y: TensorLike, rtol: float | None = None, atol: float | None = None, message: str | None = None,
    summarize: int | None = None, name: str | None = None,
) -> None:  # fmt: skip
    """Assert |x - y| <= atol + rtol * |y| for all elements; both default to 10 times the dtype's spacing at 1.

    >>> autoconv.debugging.assert_near(1.0, 1.0000001)
    """
    first = convert_to_tensor(x)
    default_tolerance = 10 * float(np.finfo(first.dtype.real_dtype.numpy).eps)
    absolute, relative = (default_tolerance if tolerance is None else tolerance for tolerance in (atol, rtol))
    difference = apply("abs", apply("subtract", first, y))
    allowed_difference = apply(
        "add", apply("multiply", apply("abs", convert_to_tensor(y, first.dtype)), relative), absolute
    )
    text = "x and y not equal to tolerance rtol, atol"
    condition = apply("less_equal", difference, allowed_difference)
    Assert(condition, [message or "", text, "x = ", first, "y = ", convert_to_tensor(y)], summarize, name)


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Return `x` after checking that it contains no infinity and no nan.

    >>> autoconv.debugging.assert_all_finite(autoconv.constant([1.0]), "x").numpy()
    array([1.], dtype=float32)
    """
    tensor = convert_to_tensor(x)
    apply("assert_true", apply("is_finite", tensor), message=(message,), failure="check", name=name)
    return tensor


def assert_proper_iterable(values: TensorLike) -> None:
    """Raise TypeError unless `values` is a list, tuple or other Python iterable that is no tensor, array or string.

    >>> autoconv.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument 'values' to be a 'proper' iterable. Found: {type(values)}.")


# ---- predicates


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """A bool scalar: True if no element of `x`, in row-major order, is less than the one before.

    >>> autoconv.math.is_non_decreasing([1, 1, 2]).numpy()
    np.True_
    """
    return _compare_neighbours("less_equal", x, name)


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """A bool scalar: True if each element of `x`, in row-major order, is greater than the one before.

    >>> autoconv.math.is_strictly_increasing([1, 1, 2]).numpy()
    np.False_
    """
    return _compare_neighbours("less", x, name)


def _compare_neighbours(op: str, x: TensorLike, name: str | None) -> Tensor:
    """Return whether the comparison `op` holds for each element and the next one, in row-major order."""
    elements = reshape(x, [-1])
    return reduce_all(apply(op, elements[:-1], elements[1:]), name=name)


def with_message(message: str | None, text: str) -> str:
    """Return an error text, after the user's message if there is one."""
    return f"{message}. {text}" if message else text


def name_of(tensor: Tensor) -> str:
    """Return the name of a tensor in errors; eager tensors have none."""
    return getattr(tensor, "name", "x")
