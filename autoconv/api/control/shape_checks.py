"""Assertions about the ranks, shapes and dtypes of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.control.checks import Assert, name_of, with_message
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.reductions import reduce_any
from autoconv.api.tensors.shaping import stack
from autoconv.graph.dtypes import as_dtype, int32
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def assert_rank(x: TensorLike, rank: IntLike, message: str | None = None, name: str | None = None) -> None:
    """Assert that `x` has `rank` dimensions.

    A mismatch raises ValueError while tracing if both ranks are known; otherwise the graph asserts it when it runs.

    >>> autoconv.assert_rank([[1, 2]], 2)
    """
    check_dtype("assert_rank", frozenset({int32}), rank)
    _assert_rank("equal", "", x, rank, message, name)


def assert_rank_at_least(x: TensorLike, rank: IntLike, message: str | None = None, name: str | None = None) -> None:
    """Assert that `x` has at least `rank` dimensions; see `assert_rank`.

    >>> autoconv.debugging.assert_rank_at_least([[1, 2]], 1)
    """
    _assert_rank("greater_equal", "at least ", x, rank, message, name)


def _assert_rank(
    op: str, comparison_text: str, x: TensorLike, rank: IntLike, message: str | None, name: str | None
) -> None:
    """Assert `op` of the rank of `x` and `rank`; `comparison_text` is "at least " in errors, or "" for equality."""
    tensor, expected_rank = convert_to_tensor(x), static_value(rank)
    actual_rank, may_exceed = tensor.shape.rank, op == "greater_equal"
    if actual_rank is None or expected_rank is None:
        data = [
            f"the rank has to be {comparison_text}", convert_to_tensor(rank), "the shape is", apply("shape", tensor)
        ]
        Assert(apply(op, apply("rank", tensor), rank), [message or "", *data], name=name)
    elif actual_rank < int(expected_rank) or (actual_rank > int(expected_rank) and not may_exceed):
        text = f"Tensor {name_of(tensor)} must have rank {comparison_text}{int(expected_rank)}."
        raise ValueError(with_message(message, f"{text} Received rank {actual_rank}, shape {tensor.shape}"))


def assert_rank_in(x: TensorLike, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Assert that the rank of `x` is one of `ranks`; see `assert_rank`.

    >>> autoconv.debugging.assert_rank_in([[1, 2]], [1, 2])
    """
    tensor, expected_ranks = convert_to_tensor(x), [static_value(rank) for rank in ranks]
    actual_rank = tensor.shape.rank
    if actual_rank is None or any(rank is None for rank in expected_ranks):
        actual, rank_tensor = apply("rank", tensor), stack(list(ranks))
        data = ["the rank has to be one of", rank_tensor, "the shape is", apply("shape", tensor)]
        Assert(reduce_any(apply("equal", actual, rank_tensor)), [message or "", *data], name=name)
    elif actual_rank not in map(int, expected_ranks):
        text = f"Tensor {name_of(tensor)} must have rank in {tuple(map(int, expected_ranks))}."
        raise ValueError(with_message(message, f"{text} Received rank {actual_rank}, shape {tensor.shape}"))


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> Tensor:
    """Return `tensor` as a tensor. Raises ValueError if it has dimensions.

    >>> _ = autoconv.debugging.assert_scalar(3)
    """
    result = convert_to_tensor(tensor)
    if result.shape.rank not in (0, None):
        raise ValueError(with_message(message, f"Expected scalar shape, saw shape: {result.shape}."))
    return result


def assert_shapes(
    shapes: Any,
    data: TensorLike | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Assert the shapes of tensors; dimensions with the same name must be equal.

    A shape has numbers, names, None for any size, and "..." for any number of dimensions. `shapes` is a dict from
    tensors' references (`Tensor.ref`) to shapes, or a list of pairs (tensor, shape). A mismatch of known sizes raises
    ValueError while tracing; unknown sizes are asserted when the graph runs. Ranks must be known. `data` has no effect.

    >>> autoconv.debugging.assert_shapes([(autoconv.ones([2, 3]), ("N", 3))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    size_by_label: dict[str, Any] = {}
    for key, shape in pairs:
        tensor = convert_to_tensor(key.deref() if hasattr(key, "deref") else key)
        _assert_shape(tensor, shape, size_by_label, message, summarize)


def _assert_shape(
    tensor: Tensor, shape: ShapeLike, size_by_label: dict[str, Any], message: str | None, summarize: int | None
) -> None:
    """Assert the shape of one tensor; `size_by_label` collects the sizes of named dimensions."""
    expected_sizes = tuple(shape) if isinstance(shape, (list, tuple, str)) else (shape,)
    ellipsis_axes = [i for i, size in enumerate(expected_sizes) if size in ("...", "*", Ellipsis)]
    size_count = len(expected_sizes) - len(ellipsis_axes)
    if tensor.shape.rank is None:
        raise ValueError(with_message(message, "assert_shapes needs tensors of known rank"))
    has_matching_rank = tensor.shape.rank >= size_count if ellipsis_axes else tensor.shape.rank == size_count
    if not has_matching_rank:
        raise ValueError(with_message(message, f"the shape {tensor.shape} does not match {expected_sizes}"))
    if ellipsis_axes:
        ellipsis_rank = tensor.shape.rank - size_count
        expected_sizes = (
            *expected_sizes[: ellipsis_axes[0]], *(None,) * ellipsis_rank, *expected_sizes[ellipsis_axes[0] + 1 :]
        )
    for axis, size in enumerate(expected_sizes):
        if size is None or size == ".":  # a dot stands for any size, as in TensorFlow
            continue
        static_size: Any = tensor.shape[axis]
        actual_size = apply("dimension", tensor, axis=axis) if static_size is None else static_size
        if isinstance(size, str) and not size.isdigit():
            size = size_by_label.setdefault(size, actual_size)
        elif isinstance(size, str):
            size = int(size)
        _check_size(actual_size, size, axis, tensor, message, summarize)


def _check_size(
    actual_size: Any, expected_size: Any, axis: int, tensor: Tensor, message: str | None, summarize: int | None
) -> None:
    """Raise ValueError unless the sizes are equal; if one is a tensor, assert their equality when the graph runs."""
    if isinstance(actual_size, int) and isinstance(expected_size, int):
        if actual_size != expected_size:
            text = f"dimension {axis} of the shape {tensor.shape} has to be {expected_size}, found {actual_size}"
            raise ValueError(with_message(message, text))
        return
    Assert(
        apply("equal", actual_size, expected_size),
        [message or "", f"dimension {axis} has to be", expected_size, "found", actual_size],
        summarize,
    )


def assert_type(tensor: TensorLike, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless the tensor has the dtype `tf_type`.

    >>> autoconv.debugging.assert_type(autoconv.constant([1, 2]), autoconv.int32)
    """
    x, expected_dtype = convert_to_tensor(tensor), as_dtype(tf_type)
    if x.dtype is not expected_dtype:
        raise TypeError(with_message(message, f"{name_of(x)} must be of type {expected_dtype!r}; got {x.dtype!r}"))


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless `x` has an integer dtype.

    >>> autoconv.debugging.assert_integer(autoconv.constant([1, 2]))
    """
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_integer:
        raise TypeError(with_message(message, f"Expected 'x' to be integer type. Found: {tensor.dtype!r}"))


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DTypeLike | None = None) -> Any:
    """Return the floating dtype that all tensors (and `dtype`) have in common, float32 without any tensor and dtype.

    Raises ValueError if they have several dtypes, or one that is not floating.

    >>> autoconv.debugging.assert_same_float_dtype([autoconv.constant(1.0), autoconv.constant(2.0)])
    autoconv.float32
    """
    dtypes = [convert_to_tensor(tensor).dtype for tensor in tensors or ()]
    if dtype is not None:
        dtypes.append(as_dtype(dtype))
    if any(dtype_ is not dtypes[0] for dtype_ in dtypes):
        raise ValueError(f"the dtypes differ: {', '.join(dtype_.name for dtype_ in dtypes)}")
    if dtypes and not dtypes[0].is_floating:
        raise ValueError(f"Expected floating point type, got {dtypes[0].name}.")
    return dtypes[0] if dtypes else as_dtype("float32")


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Return whether this is a tensor of numbers: False for bools, strings, and other objects.

    >>> autoconv.debugging.is_numeric_tensor(autoconv.constant(1))
    True
    >>> autoconv.debugging.is_numeric_tensor(autoconv.constant("a"))
    False
    """
    return isinstance(tensor, Tensor) and not (tensor.dtype.is_bool or tensor.dtype.is_string)
