"""`tensorflow.queue`: queues of tensors between threads. They work outside of graphs."""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Sequence
from typing import Any

import autoconv
from autoconv.errors import CancelledError, InvalidArgumentError, OutOfRangeError, StagingError
from autoconv.forks import new_lock
from autoconv.runtime.recording.regions import current_region

_POLL_INTERVAL = 0.002  # seconds between two checks of a full or empty queue


class QueueBase:
    """A queue of elements, each a tensor or several; `names` makes them dicts.

    `enqueue` waits where the queue is full, `dequeue` where it is empty. After `close` nothing can be enqueued, and an
    empty queue raises OutOfRangeError.
    """

    def __init__(
        self, capacity: int, dtypes: object, shapes: object = None, names: Any = None, shared_name: str | None = None,
        name: str = "queue",
    ) -> None:  # fmt: skip
        self.capacity = int(capacity)
        dtype_list = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
        self._dtypes = [autoconv.as_dtype(dtype) for dtype in dtype_list]
        shape_list = shapes if isinstance(shapes, (list, tuple)) and len(shapes) == len(self._dtypes) else None
        default_shapes = [shapes] * len(self._dtypes) if shapes is not None else [None] * len(self._dtypes)
        self._shapes = [
            autoconv.TensorShape(shape) for shape in (shape_list if shape_list is not None else default_shapes)
        ]
        self._names = None if names is None else list(names) if isinstance(names, (list, tuple)) else [names]
        self.name = name
        self._elements: list[Any] = []
        self._is_closed = False
        self._lock = new_lock()

    @property
    def dtypes(self) -> list[Any]:
        return list(self._dtypes)

    @property
    def shapes(self) -> list[Any]:
        return list(self._shapes)

    @property
    def names(self) -> list[str] | None:
        return self._names

    def enqueue(self, vals: object, name: str | None = None) -> None:
        """Add an element."""
        _check_eager()
        element = self._convert_element(vals)
        while not self._try_add(element):
            time.sleep(_POLL_INTERVAL)

    def enqueue_many(self, vals: object, name: str | None = None) -> None:
        """Add the rows of tensors."""
        columns = [autoconv.unstack(part) for part in self._convert_element(vals, is_batch=True)]
        for row in zip(*columns, strict=True):
            self.enqueue(dict(zip(self._names, row, strict=True)) if self._names else list(row))

    def dequeue(self, name: str | None = None) -> Any:
        """Remove an element and return it."""
        _check_eager()
        while (element := self._try_take()) is None:
            time.sleep(_POLL_INTERVAL)
        if self._names:
            return dict(zip(self._names, element, strict=True))
        return element[0] if len(element) == 1 else list(element)

    def dequeue_many(self, n: int, name: str | None = None) -> Any:
        """Remove `n` elements and return them, stacked."""
        return self._stack_values([self.dequeue() for _ in range(int(n))])

    def dequeue_up_to(self, n: int, name: str | None = None) -> Any:
        """Remove `n` elements, or fewer of a closed queue, and return them, stacked."""
        elements: list[Any] = []
        for _ in range(int(n)):
            if self._is_closed and not self._elements and elements:
                break
            elements.append(self.dequeue())
        return self._stack_values(elements)

    def _stack_values(self, elements: Sequence[Any]) -> Any:
        if self._names:
            return {key: autoconv.stack([element[key] for element in elements]) for key in self._names}
        if len(self._dtypes) == 1:
            return self._join_column(list(elements))
        return [self._join_column(list(column)) for column in zip(*elements, strict=True)]

    def _join_column(self, column: list[Any]) -> Any:
        return autoconv.stack(column)

    def size(self, name: str | None = None) -> Any:
        """Return the number of elements, an int32 tensor."""
        return autoconv.constant(len(self._elements))

    def is_closed(self, name: str | None = None) -> Any:
        """Return whether the queue was closed, a bool tensor."""
        return autoconv.constant(self._is_closed)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Refuse further elements."""
        self._is_closed = True

    def _try_add(self, element: object) -> bool:
        with self._lock:
            if self._is_closed:
                raise CancelledError(f"Queue {self.name!r} is closed.")
            if len(self._elements) >= self.capacity:
                return False
            self._add(element)
            return True

    def _try_take(self) -> Any:
        with self._lock:
            if len(self._elements) <= self._reserve():
                return None
            if not self._elements:
                raise OutOfRangeError(f"Queue {self.name!r} is closed and has insufficient elements")
            return self._take()

    def _convert_element(self, vals: object, is_batch: bool = False) -> list[Any]:
        if self._names:
            if not isinstance(vals, dict) or set(vals) != set(self._names):
                raise ValueError(f"Keys in dictionary to enqueue do not match names of Queue {self._names}")
            vals = [vals[key] for key in self._names]
        elif not isinstance(vals, (list, tuple)) or (len(self._dtypes) == 1 and len(vals) != 1):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(f"Expected {len(self._dtypes)} tensors for an element, found {len(vals)}")
        result = [autoconv.convert_to_tensor(part, dtype) for part, dtype in zip(vals, self._dtypes, strict=True)]
        for part, shape in zip(result, self._shapes, strict=True):
            if not shape.is_compatible_with(part.shape[1:] if is_batch else part.shape):
                raise InvalidArgumentError(f"Shape mismatch in tuple component. Expected {shape}, got {part.shape}")
        return result

    def _reserve(self) -> int:
        """Return the number of elements that stay in the queue: -1 for one that may be found empty."""
        return -1 if self._is_closed else 0

    def _add(self, element: object) -> None:
        self._elements.append(element)

    def _take(self) -> Any:
        return self._elements.pop(0)


class FIFOQueue(QueueBase):
    """A queue whose elements are dequeued in the order in which they were enqueued."""


class PaddingFIFOQueue(FIFOQueue):
    """A queue whose elements are padded with zeros to one size where several are dequeued."""

    def _join_column(self, column: list[Any]) -> Any:
        padded_sizes = [max(sizes) for sizes in zip(*(part.shape.as_list() for part in column), strict=True)]
        padded_values = []
        for part in column:
            sizes = zip(padded_sizes, part.shape.as_list(), strict=True)
            padded_values.append(autoconv.pad(part, [[0, padded_size - size] for padded_size, size in sizes]))
        return autoconv.stack(padded_values)


class PriorityQueue(QueueBase):
    """A queue whose elements are dequeued in the order of their first parts, int64 scalars, the smallest first."""

    def __init__(
        self, capacity: int, types: object, shapes: object = None, names: object = None, shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:  # fmt: skip
        dtype_list = [autoconv.int64, *(types if isinstance(types, (list, tuple)) else [types])]
        all_shapes = [[], *shapes] if isinstance(shapes, (list, tuple)) and len(shapes) == len(dtype_list) - 1 else None
        super().__init__(capacity, dtype_list, all_shapes, names, shared_name, name)
        self._insertion_count = 0

    def _add(self, element: Any) -> None:
        self._insertion_count += 1
        heapq.heappush(self._elements, (int(element[0]), self._insertion_count, element))

    def _take(self) -> Any:
        return heapq.heappop(self._elements)[2]


class RandomShuffleQueue(QueueBase):
    """A queue whose elements are dequeued in random order; `min_after_dequeue` remain, until it is closed."""

    def __init__(
        self, capacity: int, min_after_dequeue: int, dtypes: object, shapes: object = None, names: object = None,
        seed: int | None = None, shared_name: str | None = None, name: str = "random_shuffle_queue",
    ) -> None:  # fmt: skip
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)
        self._min_after_dequeue, self._random = int(min_after_dequeue), random.Random(seed)

    def _reserve(self) -> int:
        return -1 if self._is_closed else self._min_after_dequeue

    def _take(self) -> Any:
        return self._elements.pop(self._random.randrange(len(self._elements)))


def _check_eager() -> None:
    if current_region() is not None:
        raise StagingError("queues work outside of graphs", remedy="a dataset, autoconv.data.Dataset")
