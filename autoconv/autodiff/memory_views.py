"""Views in differentiated code, where a tensor holds an array's contents: read a view of it, and write one back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import Gather


class ViewStep(NamedTuple):
    """One op that makes a view of an array."""

    op: str
    attributes: Mapping[str, Any]
    operands: tuple[Value, ...]
    base_type: ArrayType  # the type of the array that is viewed


def read_view(b: GraphBuilder, x: Value, step: ViewStep) -> Value:
    """Return the part of x, the contents of an array, that the step views."""
    name, attributes, operands, base_type = step
    if name == "array_view":
        return b.get_item(x, *operands, spec=attributes["spec"])  # type: ignore[no-any-return]
    if name == "array_transpose":
        return b.transpose(x, perm=attributes["perm"])  # type: ignore[no-any-return]
    if name == "array_diagonal":
        return b.diag_part(x, offset=attributes["offset"])  # type: ignore[no-any-return]
    if name == "array_part":
        return getattr(b, attributes["part_name"])(x)  # type: ignore[no-any-return]
    if name == "array_windows":
        return b.sliding_windows(x, **attributes)  # type: ignore[no-any-return]
    return b.get_item(b.reshape(x, shape=(-1,)), _flat_positions(b, attributes, base_type), spec=(Gather(),))  # type: ignore[no-any-return]


def write_view(b: GraphBuilder, outer: Value, inner: Value, step: ViewStep) -> Value:
    """Return `outer`, the contents of an array, with `inner` in the part that the step views."""
    name, attributes, operands, base_type = step
    if name == "array_view":
        return b.set_item(outer, inner, *operands, spec=attributes["spec"])  # type: ignore[no-any-return]
    if name == "array_transpose":
        return b.transpose(inner, perm=tuple(np.argsort(attributes["perm"]).tolist()))  # type: ignore[no-any-return]
    if name == "array_part":
        real_and_imaginary = (inner, b.imag(outer)) if attributes["part_name"] == "real" else (b.real(outer), inner)
        return b.complex(*real_and_imaginary)  # type: ignore[no-any-return]
    if name in ("array_diagonal", "array_windows") or attributes.get("read_only"):
        return outer  # nothing is written through a read-only view
    positions = _flat_positions(b, attributes, base_type)
    flat_outer = b.set_item(b.reshape(outer, shape=(-1,)), inner, positions, spec=(Gather(),))
    return b.reshape(flat_outer, shape=base_type.shape)  # type: ignore[no-any-return]


def _flat_positions(b: GraphBuilder, attributes: Mapping[str, Any], base_type: ArrayType) -> Value:
    """Return, for each element of a strided view, its position in the flattened array."""
    if None in base_type.shape or None in base_type.strides:
        raise_no_gradient("an array is viewed in another shape and its sizes are known only at run time")
    dimensions: list[Any] = list(zip(base_type.shape, base_type.strides, strict=True))
    lowest_offset = sum(min(0, (size - 1) * stride) for size, stride in dimensions if size)
    offsets = np.zeros([size for size, _ in dimensions], np.int64)
    for axis, (size, stride) in enumerate(dimensions):
        offsets += (np.arange(size) * stride).reshape([-1 if i == axis else 1 for i in range(len(dimensions))])
    # An address is a number of elements after the lowest one; -1 marks an address without an element.
    address_count = (int(offsets.max(initial=0)) - lowest_offset) // base_type.dtype.size + 1
    position_at_address = np.full(address_count, -1, np.int64)
    position_at_address[(offsets.reshape(-1) - lowest_offset) // base_type.dtype.size] = np.arange(offsets.size)
    addresses = np.full(attributes["shape"], attributes["offset"] - lowest_offset, np.int64)
    for axis, (size, stride) in enumerate(zip(attributes["shape"], attributes["strides"], strict=True)):
        addresses += (np.arange(size) * stride).reshape([-1 if i == axis else 1 for i in range(addresses.ndim)])
    return b.constant(value=position_at_address[addresses // base_type.dtype.size], weak=False)  # type: ignore[no-any-return]


def raise_no_gradient(reason: str) -> NoReturn:
    """Raise StagingError for a use of arrays that cannot be expressed by tensors."""
    raise StagingError(f"no gradient is defined where {reason}")
