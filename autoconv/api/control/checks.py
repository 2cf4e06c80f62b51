"""Assertions about tensors. Those decidable while tracing raise at once, the others when the graph runs.

A false condition raises AssertionFailedError, an InvalidArgumentError and an AssertionError.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.control.output import top_piece
from autoconv.api.tensors.reductions import reduce_all, reduce_any
from autoconv.api.tensors.shaping import reshape, stack
from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.recording.name_scopes import name_scope
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def Assert(condition: TensorLike, data: TensorLike, summarize: int | None = None, name: str | None = None) -> None:
    """Raise, with `data` in the message, unless all elements of the bool `condition` are true.

    >>> autoconv.Assert(autoconv.constant(True), ["never shown"])
    """
    operands: list[Any] = []
    parts = data if isinstance(data, (list, tuple)) else [data]
    message = tuple(top_piece(part, operands) for part in parts)
    shown = 3 if summarize is None else int(summarize)
    with name_scope(name or "Assert"):
        apply("assert_true", condition, *operands, message=message, kind="assert", summarize=shown, name="Assert")


def _compare(
    op: str, sign: str, x: TensorLike, y: TensorLike, message: str | None, summarize: int | None, name: str | None
) -> None:
    text = f"Condition x {sign} y did not hold element-wise:"
    with name_scope(name or f"assert_{'none_equal' if op == 'not_equal' else op}"):
        condition = apply(op, x, y)
        Assert(condition, [message or "", text, "x = ", _shown(x), "y = ", _shown(y)], summarize)


def _shown(value: TensorLike) -> Tensor:
    return convert_to_tensor(value)


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


def _against_zero(
    op: str, sign: str, x: TensorLike, message: str | None, summarize: int | None, name: str | None
) -> None:
    tensor = convert_to_tensor(x)
    text = f"Condition x {sign} 0 did not hold element-wise:"
    inner = "assert_less_equal" if op.endswith("equal") else "assert_less"  # as in TensorFlow
    with name_scope(name or _AGAINST_ZERO[op]), name_scope(inner):
        condition = apply(op, tensor, np.zeros((), tensor.dtype.numpy))
        Assert(condition, [message or "", text, "x = ", tensor], summarize)


_AGAINST_ZERO = {
    "greater": "assert_positive", "less": "assert_negative",
    "greater_equal": "assert_non_negative", "less_equal": "assert_non_positive",
}  # fmt: skip


def assert_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x > 0 for all elements.

    >>> autoconv.debugging.assert_positive([1, 2])
    """
    _against_zero("greater", ">", x, message, summarize, name)


def assert_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x < 0 for all elements.

    >>> autoconv.debugging.assert_negative([-1, -2])
    """
    _against_zero("less", "<", x, message, summarize, name)


def assert_non_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x >= 0 for all elements.

    >>> autoconv.debugging.assert_non_negative([0, 1])
    """
    _against_zero("greater_equal", ">=", x, message, summarize, name)


def assert_non_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Assert x <= 0 for all elements.

    >>> autoconv.debugging.assert_non_positive([0, -1])
    """
    _against_zero("less_equal", "<=", x, message, summarize, name)


def assert_near(
    x: TensorLike, y: TensorLike, rtol: float | None = None, atol: float | None = None, message: str | None = None,
    summarize: int | None = None, name: str | None = None,
) -> None:  # fmt: skip
    """Assert |x - y| <= atol + rtol * |y| for all elements; both default to 10 times the dtype's spacing at 1.

    >>> autoconv.debugging.assert_near(1.0, 1.0000001)
    """
    first = convert_to_tensor(x)
    default = 10 * float(np.finfo(first.dtype.real_dtype.numpy).eps)
    absolute, relative = (default if t is None else t for t in (atol, rtol))
    difference = apply("abs", apply("subtract", first, y))
    allowed = apply(
        "add", apply("multiply", apply("abs", convert_to_tensor(y, first.dtype)), relative), absolute
    )
    text = "x and y not equal to tolerance rtol, atol"
    condition = apply("less_equal", difference, allowed)
    Assert(condition, [message or "", text, "x = ", first, "y = ", _shown(y)], summarize, name)


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Return `x` after checking that it contains no infinity and no nan.

    >>> autoconv.debugging.assert_all_finite(autoconv.constant([1.0]), "x").numpy()
    array([1.], dtype=float32)
    """
    tensor = convert_to_tensor(x)
    operands = [apply("is_finite", tensor)]
    apply("assert_true", *operands, message=(message,), kind="check", name=name)
    return tensor


# ---- shapes and dtypes


def assert_rank(x: TensorLike, rank: IntLike, message: str | None = None, name: str | None = None) -> None:
    """Assert that `x` has that many dimensions. Raises ValueError while tracing if the rank is known.

    >>> autoconv.assert_rank([[1, 2]], 2)
    """
    _assert_rank("equal", "", x, rank, message, name)


def assert_rank_at_least(x: TensorLike, rank: IntLike, message: str | None = None, name: str | None = None) -> None:
    """Assert that `x` has at least that many dimensions. Raises ValueError while tracing if the rank is known.

    >>> autoconv.debugging.assert_rank_at_least([[1, 2]], 1)
    """
    _assert_rank("greater_equal", "at least ", x, rank, message, name)


def _assert_rank(op: str, least: str, x: TensorLike, rank: IntLike, message: str | None, name: str | None) -> None:
    tensor, wanted = convert_to_tensor(x), static_value(rank)
    found = tensor.shape.rank
    if found is None or wanted is None:
        shown = [f"the rank has to be {least}", _shown(rank), "the shape is", apply("shape", tensor)]
        Assert(apply(op, apply("rank", tensor), rank), [message or "", *shown], name=name)
    elif found < int(wanted) or (found > int(wanted) and not least):
        text = f"Tensor {_name(tensor)} must have rank {least}{int(wanted)}."
        raise ValueError(_because(message, f"{text} Received rank {found}, shape {tensor.shape}"))


def assert_rank_in(x: TensorLike, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Assert that the rank of `x` is one of `ranks`. Raises ValueError while tracing if the rank is known.

    >>> autoconv.debugging.assert_rank_in([[1, 2]], [1, 2])
    """
    tensor, wanted = convert_to_tensor(x), [static_value(rank) for rank in ranks]
    found = tensor.shape.rank
    if found is None or builtins.any(rank is None for rank in wanted):
        actual, several = apply("rank", tensor), stack(list(ranks))
        shown = ["the rank has to be one of", several, "the shape is", apply("shape", tensor)]
        Assert(reduce_any(apply("equal", actual, several)), [message or "", *shown], name=name)
    elif found not in map(int, wanted):
        text = f"Tensor {_name(tensor)} must have rank in {tuple(map(int, wanted))}."
        raise ValueError(_because(message, f"{text} Received rank {found}, shape {tensor.shape}"))


def assert_proper_iterable(values: TensorLike) -> None:
    """Raise TypeError unless `values` is a list, tuple or other Python iterable that is no tensor, array or string.

    >>> autoconv.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument 'values' to be a 'proper' iterable. Found: {type(values)}.")


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> Tensor:
    """Return `tensor` as a tensor. Raises ValueError if it has dimensions.

    >>> _ = autoconv.debugging.assert_scalar(3)
    """
    found = convert_to_tensor(tensor)
    if found.shape.rank not in (0, None):
        raise ValueError(_because(message, f"Expected scalar shape, saw shape: {found.shape}."))
    return found


def assert_shapes(
    shapes: Any,
    data: TensorLike | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Assert the shapes of tensors: sizes, None or "..." for anything, names for sizes that must agree.

    `shapes` is a dict from references of tensors, or a list of pairs (tensor, shape). Raises ValueError while tracing.

    >>> autoconv.debugging.assert_shapes([(autoconv.ones([2, 3]), ("N", 3))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    sizes: dict[str, Any] = {}
    for key, shape in pairs:
        tensor = convert_to_tensor(key.deref() if hasattr(key, "deref") else key)
        _assert_shape(tensor, shape, sizes, message, summarize)


def _assert_shape(
    tensor: Tensor, shape: ShapeLike, sizes: dict[str, Any], message: str | None, summarize: int | None
) -> None:
    """Check one tensor; `sizes` collects the sizes of named dimensions."""
    wanted = tuple(shape) if isinstance(shape, (list, tuple, str)) else (shape,)
    starred = [i for i, size in enumerate(wanted) if size in ("...", "*", Ellipsis)]
    count = len(wanted) - len(starred)
    if tensor.shape.rank is None:
        raise ValueError(_because(message, "assert_shapes needs tensors of known rank"))
    if tensor.shape.rank < count or (not starred and tensor.shape.rank != count):
        raise ValueError(_because(message, f"the shape {tensor.shape} does not match {wanted}"))
    if starred:
        fill = tensor.shape.rank - count
        wanted = (*wanted[: starred[0]], *(None,) * fill, *wanted[starred[0] + 1 :])
    for axis, size in enumerate(wanted):
        if size is None or size == ".":
            continue
        found: Any = tensor.shape[axis]
        actual = apply("dimension", tensor, axis=axis) if found is None else found
        if isinstance(size, str) and not size.isdigit():
            size = sizes.setdefault(size, actual)
        elif isinstance(size, str):
            size = int(size)
        _same_size(actual, size, axis, tensor, message, summarize)


def _same_size(
    actual: Any, size: ShapeLike, axis: int, tensor: Tensor, message: str | None, summarize: int | None
) -> None:
    if isinstance(actual, int) and isinstance(size, int):
        if actual != size:
            raise ValueError(
                _because(
                    message, f"dimension {axis} of the shape {tensor.shape} has to be {size}, found {actual}"
                )
            )
        return
    Assert(
        apply("equal", actual, size),
        [message or "", f"dimension {axis} has to be", size, "found", actual],
        summarize,
    )


def assert_type(tensor: TensorLike, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless the tensor has that dtype.

    >>> autoconv.debugging.assert_type(autoconv.constant([1, 2]), autoconv.int32)
    """
    found, wanted = convert_to_tensor(tensor), as_dtype(tf_type)
    if found.dtype is not wanted:
        raise TypeError(_because(message, f"{_name(found)} must be of type {wanted!r}; got {found.dtype!r}"))


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless `x` has an integer dtype.

    >>> autoconv.debugging.assert_integer(autoconv.constant([1, 2]))
    """
    found = convert_to_tensor(x)
    if not found.dtype.is_integer:
        raise TypeError(_because(message, f"Expected 'x' to be integer type. Found: {found.dtype!r}"))


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DTypeLike | None = None) -> Any:
    """Return the floating dtype that all tensors (and `dtype`) have in common; raises ValueError if there is none.

    >>> autoconv.debugging.assert_same_float_dtype([autoconv.constant(1.0), autoconv.constant(2.0)])
    autoconv.float32
    """
    found = [convert_to_tensor(t).dtype for t in tensors or ()] + (
        [as_dtype(dtype)] if dtype is not None else []
    )
    if builtins.any(d is not found[0] for d in found):
        raise ValueError(f"the dtypes differ: {', '.join(d.name for d in found)}")
    if found and not found[0].is_floating:
        raise ValueError(f"Expected floating point type, got {found[0].name}.")
    return found[0] if found else as_dtype("float32")


# ---- predicates


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Return whether this is a tensor of numbers: False for bools, strings, and other objects.

    >>> autoconv.debugging.is_numeric_tensor(autoconv.constant(1))
    True
    >>> autoconv.debugging.is_numeric_tensor(autoconv.constant("a"))
    False
    """
    return isinstance(tensor, Tensor) and not (tensor.dtype.is_bool or tensor.dtype.is_string)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """A bool scalar: True if no element of `x`, in row-major order, is less than the one before.

    >>> autoconv.math.is_non_decreasing([1, 1, 2]).numpy()
    np.True_
    """
    return _goes_up("less_equal", x, name)


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """A bool scalar: True if each element of `x`, in row-major order, is greater than the one before.

    >>> autoconv.math.is_strictly_increasing([1, 1, 2]).numpy()
    np.False_
    """
    return _goes_up("less", x, name)


def _goes_up(op: str, x: TensorLike, name: str | None) -> Tensor:
    flat = reshape(x, [-1])
    return reduce_all(apply(op, flat[:-1], flat[1:]), name=name)


def _because(message: str | None, text: str) -> str:
    return f"{message}. {text}" if message else text


def _name(tensor: Tensor) -> str:
    return getattr(tensor, "name", "x")
