"""NumPy arrays made from lists of the running graph, with a dtype and rank guessed while tracing.

The items of a list are known at run time, when `np.array(list)` is called. If the result differs from the guess (an
empty list always gives float64), OtherKindError makes the call rerun as plain Python. If the program passes the dtype
to NumPy's function (`has_given_dtype`), only the rank is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import OtherKindError
from autoconv.graph.dtypes import DType, as_dtype, float64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.graph.types import Shape, TensorType, Type
from autoconv.ops.lists.typed_lists import items_of
from autoconv.ops.python.objects import READ_OR_RAISE
from autoconv.ops.record import define, no_gradient

LIST_ARRAY, TYPED_LIST_ARRAY = "list_array", "typed_list_array"
# NumPy's functions that join the items of a list, with and without an axis argument.
JOINS_WITH_AXIS = frozenset({"concatenate", "stack"})
JOINS_WITHOUT_AXIS = frozenset({"column_stack", "hstack", "vstack"})
_NO_GRADIENT = no_gradient("it went through a list whose length the graph does not know")


def is_guess(node: Node) -> bool:
    """Return whether the node makes an array of a guessed type, which may be wrong at run time."""
    return node.op.name in (LIST_ARRAY, TYPED_LIST_ARRAY) and bool(node.effects & Effects.RAISE)


def _result_type(_: Type, *, dtype: DType, shape: Shape, **__: Any) -> TensorType:
    return TensorType(dtype, shape)


def _make_array(
    x: Any, *, dtype: DType, shape: tuple[int | None, ...], has_given_dtype: bool = False, function: str = "array",
    axis: int | None = None,
) -> np.ndarray:  # fmt: skip
    """Make the array by NumPy's `function`; with `has_given_dtype`, `dtype` is passed by the program, else a guess."""
    if function != "array":
        return _check_array(join_items(x, function, axis), dtype, shape)
    return _check_array(np.array(x, dtype.numpy) if has_given_dtype else np.array(x), dtype, shape)


def join_items(x: Any, function: str, axis: int | None) -> np.ndarray:
    """Call NumPy's named function on the items of a list, with the axis if the function takes one."""
    result: np.ndarray = getattr(np, function)(x, **({"axis": axis} if function in JOINS_WITH_AXIS else {}))
    return result


def _check_array(array: np.ndarray, dtype: DType, shape: Sequence[int | None]) -> np.ndarray:
    """Return the array; raises OtherKindError unless it has the dtype and the shape, in which None fits any size."""
    has_shape = len(shape) == array.ndim and all(
        expected_size in (None, size) for expected_size, size in zip(shape, array.shape, strict=True)
    )
    if array.dtype == dtype.numpy and has_shape:
        return array
    list_type, sizes = TensorType(dtype, tuple(shape)), ",".join(map(str, array.shape))
    raise OtherKindError(f"a list became an array of {array.dtype}[{sizes}], where this graph expected {list_type}")


def _array_of_numbers(
    x: Any, *, element: TensorType, dtype: DType, shape: tuple[int | None, ...], has_given_dtype: bool = False
) -> np.ndarray:
    """Make an array of a typed list, or of nested lists of typed lists."""
    if has_given_dtype and not _is_exact_cast(element.dtype, dtype):
        return _make_array(_nested_items(x, element), dtype=dtype, shape=shape, has_given_dtype=True)
    rows = _join_numbers(x, element)
    if rows is None or not rows.size:
        return _make_array(_nested_items(x, element), dtype=dtype, shape=shape, has_given_dtype=has_given_dtype)
    return _check_array(rows.astype(dtype.numpy) if has_given_dtype else rows.copy(), dtype, shape)


def _join_numbers(x: Any, element: TensorType) -> np.ndarray | None:
    """Return the numbers of nested typed lists, one dimension per level; None if lists of a level differ in length.

    The array shares the memory of a typed list that is not nested.
    """
    item_counts = []  # by level from the outside inwards: the number of items of all its lists together
    while not isinstance(x, bytearray):
        item_counts.append(len(x))
        lengths = set(map(len, x))
        if len(lengths) != 1:
            return None
        x = bytearray().join(x) if isinstance(x[0], bytearray) else [row for rows in x for row in rows]
    numbers = np.frombuffer(x, element.dtype.numpy)
    dimensions = [inner // outer for outer, inner in zip([1, *item_counts], item_counts, strict=False)]
    return numbers.reshape(*dimensions, -1) if numbers.size else numbers


def _is_exact_cast(source: DType, target: DType) -> bool:
    """Return whether a cast of an array equals NumPy's conversion of each item, which checks ranges and rounds once."""
    is_to_wide_float = target is float64 or (source.is_floating and target.is_floating)
    return source in (target, as_dtype(bool)) or (is_to_wide_float and not target.is_complex)


def _nested_items(x: Any, element: TensorType) -> list[Any]:
    """Return a typed list, or nested lists of typed lists, as Python's lists of numbers."""
    return items_of(x, element) if isinstance(x, bytearray) else [_nested_items(row, element) for row in x]


def _effects(_: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return READ if the guess is certain, else READ and RAISE.

    The guess is certain for a flat list: if the dtype is float64, which an empty list has too, or if the program passes
    the dtype and the cast to it is exact.
    """
    is_flat = len(attributes["shape"]) == 1
    if attributes.get("has_given_dtype"):
        is_certain = is_flat and _is_exact_cast(attributes["element"].dtype, attributes["dtype"])
    else:
        is_certain = is_flat and attributes["dtype"] is float64
    return Effects.READ if is_certain else READ_OR_RAISE


define(
    name=LIST_ARRAY, graphdef="ListArray", result=_result_type, kernel=_make_array, gradient=_NO_GRADIENT,
    effects=READ_OR_RAISE,
)  # fmt: skip
define(
    name=TYPED_LIST_ARRAY, graphdef="TypedListArray", result=_result_type, kernel=_array_of_numbers,
    gradient=_NO_GRADIENT, effects=_effects,
)  # fmt: skip
