"""The memory order of arrays that NumPy makes of others: its elementwise functions keep the order of their operands.

NumPy itself decides, over samples: arrays with sizes of 1 and 2 only, whose strides are in the order of those of an
array of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import At, Gather, Mask, NewAxis, Rest, Spec

Layout = tuple[tuple[Any, ...], tuple[Any, ...]]  # shape and strides


def kept_order(operands: Sequence[Any]) -> tuple[int, ...] | None:
    """Return the axes of an elementwise result from the outermost to the innermost in memory; None for C order.

    `operands` are arrays of the graph, NumPy's, and others without an order. Operands with unknown strides count as
    arrays in C order: their views are refused.
    """
    layouts = [layout for layout in map(_layout, operands) if layout is not None]
    if not any(map(_has_other_order, layouts)):
        return None
    samples = list(map(_make_sample, layouts))
    flags: list[Any] = [["readonly"] for _ in samples] + [["writeonly", "allocate"]]
    with np.nditer([*samples, None], op_flags=flags, order="K", op_dtypes=[np.int8] * len(flags)) as iterator:
        result = iterator.operands[-1]
    order = tuple(sorted(range(result.ndim), key=lambda axis: -result.strides[axis]))
    axes_with_sizes = [axis for axis in order if result.shape[axis] != 1]
    return order if axes_with_sizes != sorted(axes_with_sizes) else None


def sample_of(operand: Any) -> np.ndarray:
    """Return a sample of an array, or of another operand: a number, a tensor, or nested lists."""
    if isinstance(operand, (list, tuple)):
        return np.stack([sample_of(item) for item in operand[:2]]) if operand else np.empty(0, np.int8)
    shape = getattr(getattr(operand, "type", operand), "shape", ())
    return _make_sample(_layout(operand) or (shape, tuple(range(len(shape), 0, -1))))


def indexed_sample(array: Any, spec: Spec, operands: Sequence[Any]) -> np.ndarray:
    """Return what NumPy makes of a sample of the array by an index with arrays of positions, or masks.

    Without a result where a mask of unknown size does not fit the sample, return an array without elements.
    """
    remaining_operands = iter(operands)
    index: list[Any] = []
    for entry in spec:
        if isinstance(entry, (Gather, Mask)):
            operand = sample_of(next(remaining_operands))
            index.append(np.full(operand.shape, isinstance(entry, Mask), bool if isinstance(entry, Mask) else int))
        else:
            index.append({At: 0, NewAxis: None, Rest: ...}.get(type(entry), slice(None)))
            remaining_operands = islice(remaining_operands, entry.operand_count, None)
    with suppress(IndexError):
        return sample_of(array)[tuple(index)]  # type: ignore[no-any-return]
    return np.empty(0, np.int8)


def is_in_fortran_order(operand: Any) -> bool:
    """Return whether an array of the graph is known to lie in Fortran order only."""
    layout = None if isinstance(operand, np.ndarray) else _layout(operand)
    return layout is not None and None not in layout[0] and (
        not operand.type.is_contiguous and operand.T.type.is_contiguous
    )


def _layout(operand: Any) -> Layout | None:
    if isinstance(operand, np.ndarray):
        return operand.shape, operand.strides
    type_ = getattr(operand, "type", None)
    return (type_.shape, type_.strides) if isinstance(type_, ArrayType) and None not in type_.strides else None


def _has_other_order(layout: Layout) -> bool:
    strides = [abs(stride or 0) for size, stride in zip(*layout, strict=True) if size != 1]
    return strides != sorted(strides, reverse=True)


def _make_sample(layout: Layout) -> np.ndarray:
    strides = [abs(stride or 0) for stride in layout[1]]
    ranks = {stride: rank for rank, stride in enumerate(sorted({0, *strides}))}
    shape = [1 if size == 1 else 2 for size in layout[0]]
    return np.ndarray(shape, np.int8, bytes(sum(ranks.values()) * len(shape) + 1), 0, [ranks[x] for x in strides])
