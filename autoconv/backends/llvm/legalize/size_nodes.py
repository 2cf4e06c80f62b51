"""Ops that compute sizes at run time, and views of computed sizes; they are not in the registry of ops.

    sizes_bound       the tensor, C-contiguous; its sizes become the values of the symbols in its type
    sizes_forgotten   the tensor with unknown dimensions, for values that leave the scope of the symbols
    size_sum          a polynomial of sizes, or 0 where it is negative
    slice_sizes       start and length of a slice by Python's rules
    range_size        the number of integers in a range
    reshape_sizes     the sizes that a reshape leaves open; raises where the numbers of elements differ
    number_sizes      numbers of the program that are sizes; negative ones raise
    common_sizes      the broadcast sizes, and for each operand size a factor: 0 if it is stretched, else 1
    some_elements     raises where a reduction without a neutral element has no elements
    stretched         a tensor broadcast along sizes that may be 1: indices are multiplied by factors of common_sizes
    resized           the same tensor, with equal sizes under other symbols
    reshaped          the elements in the same order under another shape
    counted_range     start + i * step, for integers
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.ops import OPS
from autoconv.ops.record import Op, no_gradient
from autoconv.ops.traits import Traits

_MAX_INPUTS = 64  # most inputs of an op that reads only their shapes
_NO_TRAITS = Traits()
_READS_SHAPES = Traits(shape_only=tuple(range(_MAX_INPUTS)))


def _size_op(
    name: str, kernel: Callable[..., Any], traits: Traits = _NO_TRAITS, effects: Effects = Effects.PURE
) -> Op:  # fmt: skip
    """Return an op whose result type is given where a node is added.

    An op without results binds symbols that the types of later nodes mention, or only checks sizes.
    """
    graphdef = "".join(map(str.capitalize, name.split("_")))
    return Op(
        name=name, graphdef=graphdef, result=lambda *_, **__: (), kernel=kernel, effects=effects, traits=traits,
        gradient=no_gradient("made by the native backend"),
    )  # fmt: skip


def _check_by_kernel(*inputs: Any, op: str, options: tuple[tuple[str, Any], ...], **_: Any) -> tuple[()]:
    """Run the kernel of the op named `op`, for which the sizes are computed; it raises where its operands do not fit.
    """
    kernel = OPS[op].kernel
    assert kernel is not None
    kernel(*inputs, **dict(options))
    return ()


def _check_fill(*numbers: Any, op: str, shape: tuple[Any, ...], **_: Any) -> tuple[()]:
    """Fill an array of these sizes by the kernel of the op named `op`, which raises for negative and too large sizes.
    """
    remaining_numbers = iter(numbers)
    vector = np.array([next(remaining_numbers) if size is None else size for size in shape], np.int64)
    kernel = OPS[op].kernel
    assert kernel is not None
    kernel(np.zeros(()), vector, shape=(None,) * len(shape))
    return ()


def _check_reshape(x: np.ndarray, *numbers: Any, requested: tuple[Any, ...], **attributes: Any) -> tuple[()]:
    """Reshape by the kernel of `reshape`, which raises where the numbers of elements differ."""
    remaining_numbers = iter(numbers)
    vector = np.array([next(remaining_numbers) if size is None else size for size in requested], np.int64)
    kernel = OPS["reshape"].kernel
    assert kernel is not None
    kernel(x, vector, shape=(None,) * len(requested), infers_without_zeros="old_sizes" in attributes)
    return ()


def _no_kernel(*_: Any, **__: Any) -> tuple[()]:
    """Stand in for the kernel of an op that native code always lowers itself."""
    return ()


SIZES_BOUND = _size_op("sizes_bound", lambda x, **_: np.ascontiguousarray(x), Traits(may_alias=True))
SIZES_FORGOTTEN = _size_op("sizes_forgotten", lambda x: x, Traits(may_alias=True))
SIZE_SUM = _size_op("size_sum", _no_kernel)
SLICE_SIZES = _size_op("slice_sizes", _no_kernel)
RANGE_SIZE = _size_op("range_size", _check_by_kernel, effects=Effects.RAISE)
RESHAPE_SIZES = _size_op("reshape_sizes", _check_reshape, Traits(shape_only=(0,)), Effects.RAISE)
NUMBER_SIZES = _size_op("number_sizes", _check_fill, effects=Effects.RAISE)
COMMON_SIZES = _size_op("common_sizes", _check_by_kernel, _READS_SHAPES, Effects.RAISE)
SOME_ELEMENTS = _size_op("some_elements", _check_by_kernel, _READS_SHAPES, Effects.RAISE)
STRETCHED = _size_op("stretched", lambda x, **_: x, Traits(may_alias=True))
RESIZED = _size_op("resized", lambda x, **_: x, Traits(may_alias=True, same_order=True))
RESHAPED = _size_op("reshaped", lambda x, **_: x, Traits(may_alias=True, same_order=True))
COUNTED_RANGE = _size_op("counted_range", _no_kernel, Traits(generates=True))
