"""Tensor lists at run time: persistent (immutable) data structures that share buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import ListType, Shape, TensorType, shape_text

Item = Any  # np.ndarray, or None for an unwritten element
_APPEND_LOCK = new_lock()  # held while a thread appends to a buffer


def missing_element_text(index: int, length: int, writes: bool) -> str:
    """Return the text of the error for a read, or with `writes` a write, at a position that a list does not have."""
    return f"Trying to {'modify' if writes else 'access'} element {index} in a list with {length} elements."


class ListValue:
    """A tensor list: `length` elements at the start of a buffer that several values may share.

    `dtype` and `shape` are those of every element. An append writes into the shared buffer if this value reaches
    the buffer's end; otherwise it copies the buffer. A loop that appends therefore takes linear time.

    Unwritten elements read as zeros. An unwritten element has the shape of the element at its position in `like`,
    another list; if there is none, that of `element_shape`. A `weak` list holds Python numbers; an element of another
    dtype converts the list to that dtype.
    """

    __slots__ = ("_buffer", "dtype", "length", "like", "shape", "weak")

    def __init__(
        self, items: Sequence[Item] = (), *, dtype: DType, shape: Shape = None, like: ListValue | None = None,
        weak: bool = False,
    ) -> None:  # fmt: skip
        self._buffer = list(items)
        self.length = len(self._buffer)
        self.dtype = dtype
        self.shape = shape
        self.like = like
        self.weak = weak

    @property
    def type(self) -> ListType:
        return ListType(TensorType(self.dtype, self.shape, self.weak))

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.get(i) for i in range(self.length))

    def __repr__(self) -> str:
        return f"<ListValue of {self.length} {self.dtype.name}[{shape_text(self.shape)}]>"

    def __eq__(self, other: object) -> bool:
        """Return whether the lists are of one type and have equal elements, unwritten ones in the same places."""
        if not isinstance(other, ListValue) or (self.type, self.length) != (other.type, other.length):
            return False
        pairs = zip(self.items(), other.items(), strict=True)
        return all(x is y if x is None or y is None else np.array_equal(x, y) for x, y in pairs)

    __hash__ = None  # type: ignore[assignment]

    def items(self) -> list[Item]:
        """Return the elements, None for unwritten ones."""
        return self._buffer[: self.length]

    def with_items(self, items: Sequence[Item]) -> ListValue:
        """Return a list of the same dtype and element shape with other elements."""
        return ListValue(items, dtype=self.dtype, shape=self.shape, like=self.like, weak=self.weak)

    def alias(self) -> ListValue:
        """Return the same list as another object."""
        result = self.with_items(())
        result._buffer, result.length = self._buffer, self.length
        return result

    def with_shape(self, shape: Shape) -> ListValue:
        """Return the same elements with a static element shape (None: unchanged)."""
        if shape is None or shape == self.shape:
            return self
        result = ListValue(dtype=self.dtype, shape=shape, like=self.like, weak=self.weak)
        result._buffer, result.length = self._buffer, self.length
        return result

    def append(self, item: Any) -> ListValue:
        """Return the list with one more element; raises InvalidArgumentError for a dtype that cannot be converted."""
        base, array = self._with_common_dtype(item)
        result = base.with_items(())
        with _APPEND_LOCK:
            is_at_end = len(base._buffer) == base.length
            result._buffer = base._buffer if is_at_end else base.items()
            result._buffer.append(array)
        result.length = base.length + 1
        return result

    def pop(self) -> tuple[ListValue, np.ndarray]:
        """Return the list without its last element, and that element; raises IndexOutOfRangeError for an empty list."""
        if not self.length:
            raise IndexOutOfRangeError("Trying to pop from an empty list.")
        shorter = self.with_items(())
        shorter._buffer = self._buffer
        shorter.length = self.length - 1
        return shorter, self.get(self.length - 1)

    def get(self, index: int) -> np.ndarray:
        """Return the element, zeros if unwritten; raises IndexOutOfRangeError for a position out of range."""
        if not 0 <= index < self.length:
            raise IndexOutOfRangeError(missing_element_text(index, self.length, writes=False))
        item = self._buffer[index]
        return self._zeros(index) if item is None else item

    def set(self, index: int, item: Any, resize: bool = False) -> ListValue:
        """Return a copy with `item` at the position `index`.

        For a position past the end, `resize` lengthens the copy; without it, IndexOutOfRangeError is raised.
        """
        if index < 0 or (index >= self.length and not resize):
            raise IndexOutOfRangeError(missing_element_text(index, self.length, writes=True))
        base, array = self._with_common_dtype(item)
        items = base.items()
        items.extend([None] * (index + 1 - len(items)))
        items[index] = array
        return base.with_items(items)

    def _with_common_dtype(self, item: Any) -> tuple[ListValue, np.ndarray]:
        """Return list and item with one dtype: a weak list is converted to that of the item, else the item is."""
        if isinstance(item, ListValue):  # a list of lists, stored by differentiation
            return self, item  # type: ignore[return-value]
        array = np.asarray(item)
        dtype = as_dtype(array.dtype)
        if dtype is self.dtype:
            return self, array
        if self.weak:
            items = [None if x is None else x.astype(array.dtype) for x in self.items()]
            return ListValue(items, dtype=dtype, shape=self.shape, like=self.like), array
        if not np.can_cast(array.dtype, self.dtype.numpy, "same_kind"):
            raise InvalidArgumentError(f"a list of {self.dtype.name} cannot hold an element of {dtype.name}")
        return self, array.astype(self.dtype.numpy)

    def element_shape(self) -> tuple[int, ...] | None:
        """Return the shape of the elements: the static one, or that of a written element; None if unknown."""
        if self.shape is not None and all(isinstance(dimension, int) for dimension in self.shape):
            return self.shape  # type: ignore[return-value]
        written_shape = next((item.shape for item in self.items() if item is not None), None)
        return self.like.element_shape() if written_shape is None and self.like is not None else written_shape

    def stack(self) -> np.ndarray:
        """Stack all elements into one array; raises InvalidArgumentError when shapes differ or are unknown."""
        items = list(self)
        if not items:
            shape = self.element_shape()
            if shape is None:
                raise InvalidArgumentError(
                    "Tried to stack elements of an empty list with non-fully-defined element_shape: "
                    f"[{shape_text(self.shape)}]"
                )
            return np.zeros((0, *shape), self.dtype.numpy)
        for item in items:
            if item.shape != items[0].shape:
                raise InvalidArgumentError(
                    "the elements of a list can be stacked when they have one shape, found "
                    f"{list(items[0].shape)} and {list(item.shape)}"
                )
        return np.stack(items)

    def _zeros(self, index: int) -> np.ndarray:
        """Return the value of the unwritten element; raises InvalidArgumentError if its shape is unknown."""
        if self.like is not None and index < self.like.length:
            if isinstance(like := self.like.get(index), ListValue):
                return ListValue([None] * like.length, dtype=like.dtype, shape=like.shape, like=like)  # type: ignore[return-value]
            shape: tuple[int, ...] | None = self.like.get(index).shape
        else:
            shape = self.element_shape()
        if shape is None:
            raise InvalidArgumentError(
                "Trying to read an uninitialized tensor but element_shape is not fully defined: "
                f"[{shape_text(self.shape)}]"
            )
        return np.full(shape, b"", object) if self.dtype.is_string else np.zeros(shape, self.dtype.numpy)
