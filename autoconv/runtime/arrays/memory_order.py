"""The memory order of arrays that NumPy makes of others: its elementwise functions keep the order of their operands.

NumPy itself decides, over samples. The sample of an array has sizes of 1 and 2 only, and strides in the same order.
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

    `operands` are arrays of the graph, NumPy's, and others, which have no order. Arrays with unknown strides count as
    arrays in C order, as views of them are refused.
    """
    layouts = [layout for layout in map(_layout, operands) if layout is not None]
    if all(map(_is_in_c_order, layouts)):
        return None
    samples = list(map(_make_sample, layouts))
    flags: list[Any] = [["readonly"] for _ in samples] + [["writeonly", "allocate"]]
    with np.nditer([*samples, None], op_flags=flags, order="K", op_dtypes=[np.int8] * len(flags)) as iterator:
        result = iterator.operands[-1]
    order = tuple(sorted(range(result.ndim), key=lambda axis: -result.strides[axis]))
    ordered_axes = [axis for axis in order if result.shape[axis] != 1]  # an axis of size 1 may be anywhere
    return order if ordered_axes != sorted(ordered_axes) else None


def memory_order_operands(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arrays whose elementwise result lies in memory as the result of the function does; () for C order."""
    is_flattened = function is np.roll and len(args) < 3 and options.get("axis") is None
    if options.get("order", "K") != "K" or is_flattened:
        return ()
    if function in _JOINING_FUNCTIONS:
        with suppress(ValueError):  # samples of unknown sizes do not fit together
            if function is np.append:
                return (np.append(*map(_sample_of, args[:2]), *args[2:], **options),)
            return (function(_samples(args[0], is_block=function is np.block), *args[1:], **options),)
    if function in (np.triu, np.tril):
        return np.ones((2, 2)), args[0]  # NumPy selects elements by a mask in C order
    rounds_to_decimals = function in (np.round, np.around) and (*args[1:], *options.values())
    if function in _FORTRAN_KEEPING_FUNCTIONS or rounds_to_decimals:
        return args[:1] if _is_in_fortran_order(args[0]) else ()
    is_elementwise = isinstance(function, np.ufunc) and function.signature is None
    return args if is_elementwise or function in _ORDER_KEEPING_FUNCTIONS else ()


def sample_of_indexed_array(array: Any, spec: Spec, operands: Sequence[Any]) -> np.ndarray:
    """Return a sample of the array, indexed by arrays of positions, or masks, in the memory order that NumPy gives it.

    Return an array without elements where a mask of unknown size does not fit the sample.
    """
    remaining_operands = iter(operands)
    index: list[Any] = []
    for entry in spec:
        if isinstance(entry, (Gather, Mask)):
            operand = _sample_of(next(remaining_operands))
            is_mask = isinstance(entry, Mask)
            index.append(np.full(operand.shape, is_mask, bool if is_mask else int))
        else:
            index.append(_SAMPLE_BY_ENTRY.get(type(entry), slice(None)))
            remaining_operands = islice(remaining_operands, entry.operand_count, None)
    with suppress(IndexError):
        return _sample_of(array)[tuple(index)]  # type: ignore[no-any-return]
    return np.empty(0, np.int8)


# Kinds of entries of an index -> an entry of that kind; all others are slices.
_SAMPLE_BY_ENTRY: dict[type, Any] = {At: 0, NewAxis: None, Rest: ...}


def _samples(arrays: Any, is_block: bool) -> Any:
    """Return samples of the arrays to join, which for `np.block` are in nested lists."""
    if not isinstance(arrays, (list, tuple)):
        return _sample_of(arrays)
    return [_samples(array, is_block) if is_block else _sample_of(array) for array in arrays]


def _sample_of(operand: Any) -> np.ndarray:
    """Return a sample of an array, or of an operand without an order, in C order: a number, a tensor, nested lists."""
    if isinstance(operand, (list, tuple)):
        return np.stack([_sample_of(item) for item in operand[:2]]) if operand else np.empty(0, np.int8)
    shape = getattr(getattr(operand, "type", operand), "shape", ())
    return _make_sample(_layout(operand) or (shape, tuple(range(len(shape), 0, -1))))


def _is_in_fortran_order(operand: Any) -> bool:
    """Return whether an array of the graph is known to lie in Fortran order only."""
    layout = None if isinstance(operand, np.ndarray) else _layout(operand)
    if layout is None or None in layout[0]:
        return False
    return not operand.type.is_contiguous and operand.T.type.is_contiguous


def _layout(operand: Any) -> Layout | None:
    """Return shape and strides of an array of NumPy, or of the graph; None for other operands and unknown strides."""
    if isinstance(operand, np.ndarray):
        return operand.shape, operand.strides
    type_ = getattr(operand, "type", None)
    return (type_.shape, type_.strides) if isinstance(type_, ArrayType) and None not in type_.strides else None


def _is_in_c_order(layout: Layout) -> bool:
    strides = [abs(stride or 0) for size, stride in zip(*layout, strict=True) if size != 1]
    return strides == sorted(strides, reverse=True)


def _make_sample(layout: Layout) -> np.ndarray:
    """Return the sample of an array with this layout: each stride becomes its rank among the strides, in bytes."""
    strides = [abs(stride or 0) for stride in layout[1]]
    ranks = {stride: rank for rank, stride in enumerate(sorted({0, *strides}))}
    shape = [1 if size == 1 else 2 for size in layout[0]]
    memory = bytes(sum(ranks.values()) * len(shape) + 1)  # at least up to the last element
    return np.ndarray(shape, np.int8, memory, 0, [ranks[stride] for stride in strides])


# Functions, apart from elementwise ones, whose results lie in memory as those of elementwise functions do.
_ORDER_KEEPING_FUNCTIONS = frozenset({
    np.where, np.sort, np.partition, np.cumsum, np.cumprod, np.nancumsum, np.nancumprod, np.nan_to_num, np.i0,
    np.round, np.around, np.clip, np.roll, np.gradient, np.unwrap, np.fix, np.sinc, np.angle, np.fft.fft, np.fft.ifft,
})  # fmt: skip
_FORTRAN_KEEPING_FUNCTIONS = frozenset({np.pad, np.insert, np.delete})
_JOINING_FUNCTIONS = frozenset({
    np.append, np.block, np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack,
})  # fmt: skip
