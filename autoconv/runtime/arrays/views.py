"""Sources of views of arrays, and layouts of views, which NumPy computes for a placeholder of the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import Spec

TRANSPOSED = "T"  # the `spec` of a ViewSource without an index


class ViewSource(NamedTuple):
    """The array `base` of a view, and the index with its operands; TRANSPOSED for the transpose of a matrix."""

    base: Any
    spec: Spec | str
    operands: tuple[Value, ...] = ()


def compute_view_layouts(type_: ArrayType, make_views: Callable[[np.ndarray], Any]) -> Any:
    """Return the layout of each view that `make_views` returns: the attributes of `array_strided`, or None.

    None stands for the operand itself. Return NotImplemented where a result is no view of the operand, or where sizes
    or strides are unknown.
    """
    if None in type_.shape or None in type_.strides:
        return NotImplemented
    array = _placeholder_array(type_)
    result = make_views(array)
    views = result if isinstance(result, (list, tuple)) else [result]
    if not all(isinstance(view, np.ndarray) and _is_view(view, array) for view in views):
        return NotImplemented
    return [None if view is array else _layout(view, _address(array)) for view in views]


def _layout(view: np.ndarray, base_address: int) -> dict[str, Any]:
    """Return the attributes of `array_strided` for a view of the array whose first element has `base_address`."""
    layout = {"offset": _address(view) - base_address, "shape": view.shape, "strides": view.strides}
    return layout if view.flags.writeable else layout | {"read_only": True}


def strided_view(
    array: np.ndarray, shape: tuple[int, ...] | None, strides: tuple[int, ...] | None, writeable: bool
) -> np.ndarray:
    """Return the view that `as_strided` makes of the placeholder `array`.

    Raise ValueError if it reaches beyond the memory. A view whose elements may overlap is read-only.
    """
    memory: Any = array.base
    shape, strides = array.shape if shape is None else shape, array.strides if strides is None else strides
    view = np.ndarray(shape, array.dtype, memory, _address(array) - _address(memory), strides)
    # From the smallest stride up: elements do not overlap if each stride steps over the dimensions before it.
    covered_bytes = array.itemsize
    for size, stride in sorted(zip(shape, strides, strict=True), key=lambda dimension: abs(dimension[1])):
        writeable = writeable and (size <= 1 or abs(stride) >= covered_bytes)
        covered_bytes += (size - 1) * abs(stride)
    view.flags.writeable = writeable
    return view


def _placeholder_array(type_: ArrayType) -> np.ndarray:
    """Return an array of the type's shape and strides, over memory that is never read or written."""
    dimensions: list[Any] = list(zip(type_.shape, type_.strides, strict=True))
    lowest_offset = sum(min(0, (size - 1) * stride) for size, stride in dimensions if size)
    highest_offset = sum(max(0, (size - 1) * stride) for size, stride in dimensions if size)
    memory = np.empty(highest_offset - lowest_offset + type_.dtype.size, np.uint8)
    return np.ndarray(type_.shape, type_.dtype.numpy, memory, -lowest_offset, type_.strides)  # type: ignore[arg-type]


def _is_view(view: np.ndarray, array: np.ndarray) -> bool:
    """Return whether `view` is a view of `array`, of the same dtype."""
    owner: Any = view
    while isinstance(owner, np.ndarray) and owner is not array and owner is not array.base:
        owner = owner.base
    return isinstance(owner, np.ndarray) and view.dtype == array.dtype


def _address(array: np.ndarray) -> int:
    """Return the address of an array's first element."""
    result: int = array.__array_interface__["data"][0]
    return result
