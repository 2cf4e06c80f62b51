"""Arrays that the graph creates, and views of them by strides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType
from autoconv.ops.index_spec import INPUT
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.arrays.array_checks import check_sizes, is_beyond_memory
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray, elements_value, record_array_op
from autoconv.runtime.arrays.views import compute_view_layouts
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def new_array(shape: ShapeLike, dtype: DType, fill: TensorLike | None = None) -> SymbolicArray:
    """Allocate an array; `fill` is a number, or None for uninitialised elements."""
    check_sizes(shape)
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    shape_attribute: list[Any] = []  # ints, and INPUT in place of each symbolic size, which is an operand
    operands = []
    for size in sizes:
        tensor = as_tensor(size)
        if isinstance(tensor, SymbolicTensor):
            _refuse_non_integer_size(tensor)
            shape_attribute.append(INPUT)
            operands.append(elements_value(tensor))
        else:
            shape_attribute.append(operator.index(size))
    if any(size != INPUT and size < 0 for size in shape_attribute):
        raise as_program_error(ValueError("negative dimensions are not allowed"))
    if is_beyond_memory([size for size in shape_attribute if size != INPUT], dtype.size):
        raise StagingError("an array is created that does not fit into memory", current_place())
    node = record_array_op("array_new", operands, shape=tuple(shape_attribute), dtype=dtype, fill=fill)
    return SymbolicArray(node.results[0])


def _refuse_non_integer_size(size: SymbolicTensor) -> None:
    """Refuse a size that is not an integer without dimensions, for which NumPy may raise."""
    if not size.type.dtype.is_integer or size.type.shape != ():
        raise StagingError("an array is created with a size that is not an int", current_place())


def record_strided_views(array: SymbolicArray, make_views: Callable[[np.ndarray], Any]) -> Any:
    """Return a list of the views that `make_views` makes; NotImplemented if it copies, or the layout is unknown."""
    layouts = compute_view_layouts(array.type, make_views)
    if layouts is NotImplemented:
        return NotImplemented
    return [array if layout is None else strided_array(array, layout) for layout in layouts]


def strided_array(array: SymbolicArray, layout: dict[str, Any]) -> SymbolicArray:
    """Return the view of an array that has this layout, the attributes of `array_strided`."""
    return SymbolicArray(record_array_op("array_strided", [array.value_in_graph], **layout).results[0])
