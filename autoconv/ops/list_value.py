"""The value of a tensor list while a graph runs: never changed in place, as far as its users can see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError, ListReadError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import ListType, Shape, TensorType, shape_text

Item = Any  # np.ndarray, or None where nothing was written yet
_APPENDING = new_lock()  # held while one of two threads claims the end of a shared buffer


class ListValue:
    """`length` elements at the start of a buffer that several values may share.

    `dtype` and `shape` are what is known of every element. An append goes into the shared buffer when this
    value is the one that reaches its end, else it copies; so a loop that appends is linear in time. What was
    never written reads as zeros; `like` is the list whose elements then tell its shape when `shape` does not.
    A `weak` list holds Python numbers until an element of another dtype makes it one of that dtype.
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
        """Whether the lists are of one kind and hold equal elements, unwritten ones in the same places."""
        if not isinstance(other, ListValue) or (self.type, self.length) != (other.type, other.length):
            return False
        pairs = zip(self.items(), other.items(), strict=True)
        return all(x is y if x is None or y is None else np.array_equal(x, y) for x, y in pairs)

    __hash__ = None  # type: ignore[assignment]

    def items(self) -> list[Item]:
        """The elements, None for what was never written."""
        return self._buffer[: self.length]

    def with_items(self, items: Sequence[Item]) -> ListValue:
        """A list of the same kind with other elements."""
        return ListValue(items, dtype=self.dtype, shape=self.shape, like=self.like, weak=self.weak)

    def alias(self) -> ListValue:
        """The same list as another object."""
        result = self.with_items(())
        result._buffer, result.length = self._buffer, self.length
        return result

    def with_shape(self, shape: Shape) -> ListValue:
        """The same elements, known to be of that shape (None: as before)."""
        if shape is None or shape == self.shape:
            return self
        result = ListValue(dtype=self.dtype, shape=shape, like=self.like, weak=self.weak)
        result._buffer, result.length = self._buffer, self.length
        return result

    def append(self, item: Any) -> ListValue:
        """The list with one more element; raises InvalidArgumentError when its dtype does not fit."""
        base, array = self._ready_for(item)
        result = base.with_items(())
        with _APPENDING:
            shared = len(base._buffer) == base.length
            result._buffer = base._buffer if shared else base.items()
            result._buffer.append(array)
        result.length = base.length + 1
        return result

    def pop(self) -> tuple[ListValue, np.ndarray]:
        """The list without its last element, and that; raises ListReadError for an empty list."""
        if not self.length:
            raise ListReadError("Trying to pop from an empty list.")
        shorter = self.with_items(())
        shorter._buffer = self._buffer
        shorter.length = self.length - 1
        return shorter, self.get(self.length - 1)

    def get(self, index: int) -> np.ndarray:
        """The element, zeros if it was never written; raises ListReadError when there is none."""
        if not 0 <= index < self.length:
            raise ListReadError(f"Tried to read from index {index} but array size is: {self.length} ")
        item = self._buffer[index]
        return self._zeros(index) if item is None else item

    def set(self, index: int, item: Any, resize: bool = False) -> ListValue:
        """A copy with that element; `resize` makes it as long as needed. Raises ListReadError."""
        if index < 0 or (index >= self.length and not resize):
            raise ListReadError(f"Trying to modify element {index} in a list with {self.length} elements.")
        base, array = self._ready_for(item)
        items = base.items()
        items.extend([None] * (index + 1 - len(items)))
        items[index] = array
        return base.with_items(items)

    def _ready_for(self, item: Any) -> tuple[ListValue, np.ndarray]:
        """The list, made one of the item's dtype if it is weak, and the item in the dtype of that."""
        if isinstance(item, ListValue):  # a list of lists, which differentiation keeps
            return self, item  # type: ignore[return-value]
        array = np.asarray(item)
        dtype = as_dtype(array.dtype)
        if dtype is self.dtype:
            return self, array
        if self.weak:
            cast = [None if x is None else x.astype(array.dtype) for x in self.items()]
            return ListValue(cast, dtype=dtype, shape=self.shape, like=self.like), array
        if not np.can_cast(array.dtype, self.dtype.numpy, "same_kind"):
            raise InvalidArgumentError(f"a list of {self.dtype.name} cannot hold an element of {dtype.name}")
        return self, array.astype(self.dtype.numpy)

    def element_shape(self) -> tuple[int, ...] | None:
        """The one shape that the elements have, as far as it can be told from the written ones."""
        if self.shape is not None and all(isinstance(d, int) for d in self.shape):
            return self.shape  # type: ignore[return-value]
        written = next((item.shape for item in self.items() if item is not None), None)
        return self.like.element_shape() if written is None and self.like is not None else written

    def stacked(self) -> np.ndarray:
        """All elements in one array; raises InvalidArgumentError when shapes differ or are not known."""
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
