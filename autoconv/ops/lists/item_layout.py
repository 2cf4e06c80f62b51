"""Layout of the items of typed lists: numbers, or tuples of Python's numbers with one 8-byte field for each.

A tuple type may nest, as `tuple<weak int64[], tuple<weak float64[], weak int64[]>>`. Its fields are in the order in
which the text of the tuple shows its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType, TupleType

ItemType = TensorType | TupleType
FIELD_SIZE = 8  # bytes of each number in a tuple


def fields(item: ItemType) -> tuple[TensorType, ...]:
    """Return the types of the numbers in an item."""
    if isinstance(item, TensorType):
        return (item,)
    return tuple(field for part in item.items for field in fields(part))  # type: ignore[arg-type]


def item_size(item: ItemType) -> int:
    """Return the number of bytes of an item."""
    return item.dtype.size if isinstance(item, TensorType) else FIELD_SIZE * len(fields(item))


def numpy_dtype(item: ItemType) -> np.dtype[Any]:
    """Return NumPy's dtype of an item; its `tolist` makes the tuples."""
    if isinstance(item, TensorType):
        return item.dtype.numpy
    dtypes = [numpy_dtype(part) for part in item.items]  # type: ignore[arg-type]
    sizes = [FIELD_SIZE * len(fields(part)) for part in item.items]  # type: ignore[arg-type]
    offsets = [sum(sizes[:i]) for i in range(len(sizes))]
    names = [f"f{i}" for i in range(len(sizes))]
    return np.dtype({"names": names, "formats": dtypes, "offsets": offsets, "itemsize": sum(sizes)})


def as_item(numbers: Iterator[Any], item: ItemType) -> Any:
    """Return the number, or the possibly nested tuple, of the next numbers."""
    if isinstance(item, TensorType):
        return np.asarray(next(numbers))[()]
    return tuple(as_item(numbers, part) for part in item.items)  # type: ignore[arg-type]


def columns(array: np.ndarray, item: ItemType) -> list[np.ndarray]:
    """Return the numbers of an array of items, an array for each field."""
    if isinstance(item, TensorType):
        return [array]
    assert array.dtype.names is not None
    parts = zip(array.dtype.names, item.items, strict=True)
    return [column for name, part in parts for column in columns(array[name], part)]  # type: ignore[arg-type]


def has_floats(item: ItemType) -> bool:
    """Return whether a field is a float, which may be a NaN."""
    return any(field.dtype.is_floating for field in fields(item))


def may_meet_nan(node: Node) -> bool:
    """Return whether the node compares tuples with floats, which raises OtherKindError for a NaN."""
    if node.op.name not in ("typed_list_heap", "typed_list_change", "typed_list_reduce"):
        return False
    element = node.attributes["element"]
    return isinstance(element, TupleType) and has_floats(element)
