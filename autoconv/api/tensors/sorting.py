"""Sorting, largest elements, distinct elements, and binary search."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.api.tensors.accepted_dtypes import as_indices, check_dtype
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.api.tensors.shaping import transpose
from autoconv.graph.dtype_sets import REAL
from autoconv.graph.dtypes import as_dtype, float32, int32
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


class TopKV2(NamedTuple):
    """The result of `top_k`: the largest elements and their indices."""

    values: Tensor
    indices: Tensor


class ApproxTopK(NamedTuple):
    """The result of `approx_max_k` and `approx_min_k`: elements and their indices."""

    values: Tensor
    indices: Tensor


class Unique(NamedTuple):
    """The result of `unique`: the distinct elements `y`, and for each element of the input its index in `y`."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The result of `unique_with_counts`: that of `unique`, and how often each distinct element occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


@accepts_run_time_axes()
def sort(values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The elements sorted along `axis`; `direction` is ASCENDING or DESCENDING; nan counts as largest.

    >>> autoconv.sort([3, 1, 2]).numpy()
    array([1, 2, 3], dtype=int32)
    """
    check_dtype("sort", REAL, values)
    return apply("sort", values, axis=static_int(axis, "axis"), descending=_is_descending(direction), name=name)


@accepts_run_time_axes()
def argsort(
    values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The indices that sort the tensor, int32; the sort is always stable.

    `stable` has no effect.

    >>> autoconv.argsort([3, 1, 2]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    check_dtype("argsort", REAL, values)
    return apply(
        "argsort", values, axis=static_int(axis, "axis"), descending=_is_descending(direction), name=name
    )


def _is_descending(direction: str) -> bool:
    """Return whether the direction is DESCENDING; raise ValueError for a name that is no direction."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction has to be 'ASCENDING' or 'DESCENDING', found {direction!r}")
    return direction == "DESCENDING"


def top_k(
    input: TensorLike, k: IntLike = 1, sorted: bool = True, index_type: Any = int32, name: str | None = None
) -> TopKV2:
    """The `k` largest elements along the last axis, in descending order; of equal ones, the earlier comes first.

    Raises ValueError or InvalidArgumentError when there are fewer than `k`. `sorted` has no effect.

    >>> values, positions = autoconv.math.top_k([1, 5, 3], k=2)
    >>> values.numpy(), positions.numpy()
    (array([5, 3], dtype=int32), array([1, 2], dtype=int32))
    """
    check_dtype("top_k", REAL, input)
    known_k = static_value(k)
    operands, static_k = ((), int(known_k)) if known_k is not None else ((convert_to_tensor(k),), None)
    values, indices = apply("top_k", input, *operands, k=static_k, name=name)
    dtype = as_dtype(index_type)
    return TopKV2(values, indices if dtype is int32 else apply("cast", indices, dtype=dtype))


def in_top_k(targets: TensorLike, predictions: TensorLike, k: IntLike, name: str | None = None) -> Tensor:
    """True where the prediction for a row's target is among the row's `k` largest; one bool for each row.

    The result is False for a target that is out of range.

    >>> autoconv.math.in_top_k([1], [[0.1, 0.9, 0.5]], k=1).numpy()
    array([ True])
    """
    targets = as_indices("in_top_k", targets)
    scores = as_tensor(predictions)
    if scores is None:  # arrays of other dtypes are converted, as in TensorFlow
        scores = convert_to_tensor(predictions, float32)
    check_dtype("in_top_k", frozenset({float32}), scores)
    target_ids = apply("expand_dims", convert_to_tensor(targets), axis=-1)
    class_count = apply("cast", apply("shape", scores)[-1], dtype=target_ids.dtype)
    is_class = apply("logical_and", apply("greater_equal", target_ids, 0), apply("less", target_ids, class_count))
    valid_ids = apply("select", is_class, target_ids, apply("zeros_like", target_ids))
    target_scores = apply("take_along_axis", scores, valid_ids, axis=-1)
    is_greater = apply("cast", apply("greater", scores, target_scores), dtype=int32)
    greater_count = apply("reduce_sum", is_greater, axis=(-1,), keepdims=False)
    is_valid = apply("squeeze", apply("logical_and", apply("is_finite", target_scores), is_class), axis=(-1,))
    return apply(
        "logical_and", apply("less", greater_count, apply("cast", convert_to_tensor(k), dtype=int32)), is_valid
    )


def unique(x: TensorLike, out_idx: Any = int32, name: str | None = None) -> Unique:
    """The distinct elements of a vector in order of first occurrence.

    >>> values, positions = autoconv.unique([3, 1, 3])
    >>> values.numpy(), positions.numpy()
    (array([3, 1], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    return Unique(*apply("unique", x, dtype=as_dtype(out_idx), name=name)[:2])


def unique_with_counts(x: TensorLike, out_idx: Any = int32, name: str | None = None) -> UniqueWithCounts:
    """The distinct elements of a vector in order of first occurrence, and the number of occurrences of each.

    >>> values, positions, counts = autoconv.unique_with_counts([3, 1, 3])
    >>> values.numpy(), counts.numpy()
    (array([3, 1], dtype=int32), array([2, 1], dtype=int32))
    """
    return UniqueWithCounts(*apply("unique", x, dtype=as_dtype(out_idx), name=name))


def searchsorted(
    sorted_sequence: Any, values: TensorLike, side: str = "left", out_type: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """The insertion index of each value in the sorted last axis: before ("left") or after ("right") equal ones.

    >>> autoconv.searchsorted([1, 3, 5], [2, 5]).numpy()
    array([1, 2], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"side has to be 'left' or 'right', found {side!r}")
    return apply("searchsorted", sorted_sequence, values, side=side, dtype=as_dtype(out_type), name=name)


def approx_max_k(
    operand: TensorLike, k: IntLike, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, name: str | None = None,
) -> ApproxTopK:  # fmt: skip
    """The `k` largest elements along a dimension, in descending order, and their indices, both exact.

    `recall_target`, `reduction_input_size_override` and `aggregate_to_topk` have no effect.

    >>> values, indices = autoconv.math.approx_max_k([1.0, 3.0, 2.0], 2)
    >>> values.numpy(), indices.numpy()
    (array([3., 2.], dtype=float32), array([1, 2], dtype=int32))
    """
    x = convert_to_tensor(operand)
    rank = len(x.shape)
    order = [i for i in range(rank) if i != reduction_dimension % rank] + [reduction_dimension % rank]
    inverse_order = [order.index(i) for i in range(rank)]
    values, indices = top_k(transpose(x, order), k)
    return ApproxTopK(transpose(values, inverse_order), transpose(indices, inverse_order))


def approx_min_k(
    operand: TensorLike, k: IntLike, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, name: str | None = None,
) -> ApproxTopK:  # fmt: skip
    """The `k` smallest elements along a dimension, in ascending order, and their indices, both exact.

    `recall_target`, `reduction_input_size_override` and `aggregate_to_topk` have no effect.

    >>> autoconv.math.approx_min_k([1.0, 3.0, 2.0], 2)[0].numpy()
    array([1., 2.], dtype=float32)
    """
    values, indices = approx_max_k(apply("negative", convert_to_tensor(operand)), k, reduction_dimension)
    return ApproxTopK(apply("negative", values), indices)
