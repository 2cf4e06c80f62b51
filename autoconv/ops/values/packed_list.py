"""Tensor lists whose elements are the rows of one array: the form of the operands and results of native code."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import Shape
from autoconv.ops.values.list_value import Item, ListValue


class PackedList(ListValue):
    """The rows of a read-only array as the elements of a list.

    Native code reads the array. The first access from Python copies each element to a separate array: a write to an
    element must not change the others, and a reference to an element must not keep the others alive.
    """

    __slots__ = ("_items", "_rows")

    def __init__(self, rows: np.ndarray, weak: bool = False) -> None:
        self._rows: np.ndarray | None = rows
        self._items: list[Item] | None = None
        self.length = len(rows)
        self.dtype = as_dtype(rows.dtype)
        self.shape = rows.shape[1:]
        self.like = None
        self.weak = weak

    @property
    def _buffer(self) -> list[Item]:  # type: ignore[override]
        """The elements as separate arrays; the first access makes these, and releases the array of all rows."""
        rows = self._rows
        if self._items is None and rows is not None:
            self._items = [np.array(rows[i]) for i in range(len(rows))]
        self._rows = None
        return self._items  # type: ignore[return-value]

    def alias(self) -> ListValue:
        rows = self._rows
        return super().alias() if rows is None else PackedList(rows, self.weak)

    def with_shape(self, shape: Shape) -> ListValue:
        return self if shape is None or shape == self.shape else super().with_shape(shape)


def rows_of(list_: ListValue, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Return the elements, of that dtype and shape, as one contiguous array."""
    rows = list_._rows if isinstance(list_, PackedList) else None
    if rows is not None and rows.dtype == dtype and rows.shape[1:] == shape:
        return rows
    result = np.empty((len(list_), *shape), dtype)
    for i, element in enumerate(list_):
        result[i] = element
    return result
