"""Gradients in graphs with respect to tensors that `gather` reads, as IndexedSlices of the rows that it selected."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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
    """Return the gradient `value` as IndexedSlices if it is a sum of gradients of `gather` along the first dimension.

    Return None for any other gradient, and where sizes are known only at run time. Attribute `whole` is the dense
    gradient.
    """
    shape: Any = getattr(value.type, "shape", None)
    terms = None if not shape or None in shape else _selected_rows(region, value, shape)
    if terms is None:
        return None
    rows = [
        apply("reshape", term.rows, shape=(_position_count(term.positions_shape), *shape[1:])) for term in terms
    ]
    indices = [apply("reshape", term.positions, shape=(-1,)) for term in terms]
    if len(terms) > 1:
        widest_dtype = max((index.dtype for index in indices), key=lambda dtype: dtype.size)
        indices = [apply("concat", *(apply("cast", index, dtype=widest_dtype) for index in indices), axis=0)]
        rows = [apply("concat", *rows, axis=0)]
    result = IndexedSlices(rows[0], indices[0], constant(np.array(shape, np.int32)))
    object.__setattr__(result, "whole", SymbolicTensor(value))  # the dataclass is frozen
    return result


class _SelectedRows(NamedTuple):
    """The gradient of a `gather`: rows, and the index of each in the dense gradient."""

    rows: Tensor
    positions: Tensor
    positions_shape: Shape


def _selected_rows(region: Region, value: Value, shape: Shape) -> list[_SelectedRows] | None:
    """Return the terms of the sum `value`, which are gradients of `gather`; None if one of them is another value.

    `shape` is the static shape of the sum.
    """
    node = value.node
    if node is None or value.graph is not region.graph or getattr(value.type, "shape", None) != shape:
        return None
    if node.op.name == "add":
        first, second = (_selected_rows(region, addend, shape) for addend in node.inputs)
        return None if first is None or second is None else first + second
    attributes = node.attributes
    if node.op.name != "ungather" or attributes.get("axis", 0) != 0 or attributes.get("batch_dims", 0) != 0:
        return None
    rows, indices, _ = node.inputs
    positions = SymbolicTensor(indices)
    return [_SelectedRows(SymbolicTensor(rows), positions, indices.type.shape)]  # type: ignore[union-attr]


def _position_count(shape: Shape) -> int:
    """Return the number of positions in a tensor of this shape; -1 if the number is not static."""
    is_static = shape is not None and all(isinstance(size, int) for size in shape)
    return math.prod(shape) if is_static else -1  # type: ignore[arg-type]
