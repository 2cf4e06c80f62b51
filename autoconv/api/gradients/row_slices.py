"""Gradients of rows that `gather` selected, as IndexedSlices in graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.graph.graph import Value
from autoconv.graph.types import Shape
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def row_slices(region: Region, value: Value) -> IndexedSlices | None:
    """Return the gradient `value` as IndexedSlices if it is a sum of rows selected along the first dimension.

    Return None for any other gradient, and where sizes are known only at run time. `value` itself remains the dense
    gradient.
    """
    shape: Any = getattr(value.type, "shape", None)
    terms = None if not shape or None in shape else _selected_rows(region, value, shape)
    if terms is None:
        return None
    rows = [
        apply("reshape", row, shape=(_position_count(positions_shape), *shape[1:])) for row, _, positions_shape in terms
    ]
    indices = [apply("reshape", index, shape=(-1,)) for _, index, _ in terms]
    if len(terms) > 1:
        widest_dtype = max((index.dtype for index in indices), key=lambda dtype: dtype.size)
        indices = [apply("concat", *(apply("cast", index, dtype=widest_dtype) for index in indices), axis=0)]
        rows = [apply("concat", *rows, axis=0)]
    result = IndexedSlices(rows[0], indices[0], constant(np.array(shape, np.int32)))
    object.__setattr__(result, "whole", SymbolicTensor(value))  # the dataclass is frozen
    return result


def _selected_rows(region: Region, value: Value, shape: Shape) -> list[tuple[Tensor, Tensor, Shape]] | None:
    """Return (rows, their positions, shape of the positions) for each term of a sum; None for a term that is no
    `ungather`.
    """
    node = value.node
    if node is None or value.graph is not region.graph or getattr(value.type, "shape", None) != shape:
        return None
    if node.op.name == "add":
        first, second = (_selected_rows(region, part, shape) for part in node.inputs)
        return None if first is None or second is None else first + second
    attributes = node.attributes
    if node.op.name != "ungather" or attributes.get("axis", 0) != 0 or attributes.get("batch_dims", 0) != 0:
        return None
    rows, indices, _ = node.inputs
    return [(SymbolicTensor(rows), SymbolicTensor(indices), indices.type.shape)]  # type: ignore[union-attr]


def _position_count(shape: Shape) -> int:
    """Return the number of positions; -1 if it is unknown."""
    sizes = [size for size in shape or (None,) if isinstance(size, int)]
    return math.prod(sizes) if shape is not None and len(sizes) == len(shape) else -1
