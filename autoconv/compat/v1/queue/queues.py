"""Queues of elements through which threads exchange data, in sessions or with eager execution."""

from __future__ import annotations

import heapq
import threading
from collections import abc
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autoconv.api.control.graphs import graph_being_built
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.compat.v1.operations import as_operation
from autoconv.compat.v1.session import is_session_running, running_session
from autoconv.errors import CancelledError, InvalidArgumentError, OutOfRangeError, StagingError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import as_dtype, bool_, int32, int64
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.static_values import static_value


class QueueBase:
    """Base of the queues. Each session has elements of its own; with eager execution, methods run at once.

    An element is a tuple of arrays, one for each dtype, of the given `shapes` or by default of any shape. With `names`
    elements are dicts. At most `capacity` elements are in the queue; a negative capacity is no limit. Queues of a graph
    that have the same `shared_name` share their elements.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.FIFOQueue(10, [autoconv.int32, autoconv.string])
    ...     session.run(queue.enqueue_many([[1, 2], ["a", "b"]]))
    ...     session.run(queue.dequeue()), session.run(queue.size())
    ([np.int32(1), b'a'], np.int32(1))
    """

    _default_name = "queue"
    _pads_batches = False

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, name: str | None = None,
        shared_name: str | None = None,
    ) -> None:  # fmt: skip
        self.dtypes = [as_dtype(item) for item in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
        self.shapes = _shape_list(shapes, len(self.dtypes))
        self.names = [names] if isinstance(names, str) else None if names is None else list(names)
        if self.names is not None and len(self.names) != len(self.dtypes):
            raise ValueError(f"Length of names ({len(self.names)}) has to be that of dtypes ({len(self.dtypes)}).")
        graph, region = graph_being_built(), current_region()
        if graph is None and region is not None:
            raise StagingError("a queue is made in a function", current_place(), "a queue that is made outside of it")
        self.name = name or self._default_name
        if graph is not None:
            self.name = graph.unique_name(self.name)
        self._capacity = capacity if capacity >= 0 else np.inf
        self._buffers: WeakKeyDictionary[Any, Buffer] = WeakKeyDictionary()
        if graph is not None and shared_name:
            self._buffers = graph.attachments.setdefault(("queue", shared_name), self._buffers)
        self._lock = new_lock()

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Return the operation that adds an element, a value for each dtype. A run waits while the queue is full.

        A run raises CancelledError if the queue is closed.
        """
        return self._enqueue(self._tensors(vals), lambda *values: [values], name or f"{self.name}_enqueue")

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Return the operation that adds the elements along the first axis of the values."""
        return self._enqueue(self._tensors(vals), lambda *values: list(zip(*values, strict=True)), name)

    def dequeue(self, name: str | None = None) -> Any:
        """Return the tensors of the next element. A run removes the element, and waits while there is none.

        A run raises OutOfRangeError if the queue is closed and empty.
        """
        specs = list(map(TensorSpec, self.shapes, self.dtypes))
        return self._dequeue([], specs, lambda: self.buffer().take(1)[0], name or f"{self.name}_Dequeue")

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Return n elements, stacked along a new first axis. Raises ValueError unless their shapes are known."""
        return self._dequeue_batch(n, lambda count: self.buffer().take(int(count)), static_value(n), name)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Return n elements as `dequeue_many`, or fewer but at least one if the queue is closed and has no more."""
        return self._dequeue_batch(n, lambda count: self.buffer().take(int(count), allow_fewer=True), None, name)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Return the operation that closes the queue for further elements, and optionally cancels waiting enqueues."""
        close = lambda: self.buffer().close(cancel_pending_enqueues)
        return as_operation(lambda: numpy_function(close, [], Tout=None, name=name or f"{self.name}_Close"))

    def is_closed(self, name: str | None = None) -> Any:
        """Return a bool tensor: whether the queue is closed."""
        return numpy_function(
            lambda: np.bool_(self.buffer().is_closed), [], [TensorSpec((), bool_)], name=name or f"{self.name}_Closed"
        )[0]

    def size(self, name: str | None = None) -> Any:
        """Return the number of elements as an int32 tensor."""
        count = lambda: np.int32(len(self.buffer().elements))
        return numpy_function(count, [], [TensorSpec((), int32)], name=name or f"{self.name}_Size")[0]

    def buffer(self) -> Buffer:
        """Return the buffer of the running session, or without one the buffer of eager execution."""
        session = running_session() if is_session_running() else None
        owner = self if session is None else session
        with self._lock:
            if owner not in self._buffers:
                self._buffers[owner] = buffer = self._new_buffer()
                if session is not None:
                    session.call_at_close(buffer.cancel)
            return self._buffers[owner]

    def _new_buffer(self) -> Buffer:
        """Return an empty buffer, whose class determines the order of the elements."""
        return Buffer(self.name, self._capacity)

    def _tensors(self, vals: Any) -> list[Any]:
        """Return an element's values as tensors, in the order of the dtypes."""
        if self.names is not None:
            if not isinstance(vals, dict) or set(vals) != set(self.names):
                raise ValueError(f"Keys in dictionary to enqueue have to be the queue's names {self.names}: {vals!r}")
            vals = [vals[name] for name in self.names]
        values = vals if isinstance(vals, (list, tuple)) else [vals]
        if len(values) != len(self.dtypes):
            raise ValueError(f"Expected {len(self.dtypes)} values, one for each dtype, found {len(values)}.")
        return [convert_to_tensor(value, dtype) for value, dtype in zip(values, self.dtypes, strict=True)]

    def _enqueue(self, tensors: list[Any], split_elements: abc.Callable[..., list[Any]], name: str | None) -> Any:
        """Return the operation that adds the list of elements `split_elements(*values)` for the tensors' values."""

        def put(*values: Any) -> None:
            elements = split_elements(*map(copy_if_array, values))
            for element in elements:
                self._check_shapes(element)
            self.buffer().put(elements)

        return as_operation(lambda: numpy_function(put, tensors, Tout=None, name=name or f"{self.name}_EnqueueMany"))

    def _check_shapes(self, element: abc.Sequence[Any]) -> None:
        """Raise InvalidArgumentError for an element whose values do not have the queue's shapes."""
        for value, shape in zip(element, self.shapes, strict=True):
            if not shape.is_compatible_with(np.shape(value)):
                raise InvalidArgumentError(
                    f"{self.name}: a value of an element has the shape {TensorShape(np.shape(value))}; "
                    f"the queue expects {shape}"
                )

    def _dequeue_batch(
        self, n: Any, take: abc.Callable[[Any], list[Any]], size: Any, name: str | None
    ) -> Any:
        """Return the stacked tensors of the elements of `take(n)`; `size` is their number, None if unknown."""
        if not all(shape.is_fully_defined() or self._pads_batches for shape in self.shapes):
            raise ValueError(f"{self.name}: dequeue_many and dequeue_up_to need the shapes of elements: shapes=…")
        batch_size = None if size is None else int(size)
        specs = [
            TensorSpec([batch_size, *shape.as_list()], dtype)
            for shape, dtype in zip(self.shapes, self.dtypes, strict=True)
        ]
        batch = lambda count: [self._stack(list(column)) for column in zip(*take(count), strict=True)]
        return self._dequeue([convert_to_tensor(n, int32)], specs, batch, name or f"{self.name}_DequeueMany")

    def _stack(self, values: list[Any]) -> Any:
        """Return the values that several elements have at one position as one array, with a new first axis."""
        return np.stack([np.asarray(value, object if isinstance(value, bytes) else None) for value in values])

    def _dequeue(self, inputs: list[Any], specs: list[TensorSpec], take: abc.Callable[..., Any], name: str) -> Any:
        """Return tensors of the values that take(*inputs) removes.

        They are a dict for a queue with names, a single tensor for one dtype, and else a list.
        """

        def take_values(*arguments: Any) -> list[Any]:
            return list(take(*arguments))

        tensors = numpy_function(take_values, inputs, specs, name=name)
        if self.names is not None:
            return dict(zip(self.names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors


class FIFOQueue(QueueBase):
    """A queue that returns elements in the order in which they were added.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.FIFOQueue(3, autoconv.float32, shapes=[[]])
    ...     session.run(queue.enqueue_many([[0.5, 1.5]]))
    ...     session.run(queue.dequeue_many(2))
    array([0.5, 1.5], dtype=float32)
    """

    _default_name = "fifo_queue"

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:  # fmt: skip
        super().__init__(capacity, dtypes, shapes, names, name, shared_name)


class PaddingFIFOQueue(QueueBase):
    """A queue in the order of addition, whose batches are padded with zeros along axes of unknown size.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.PaddingFIFOQueue(3, [autoconv.int32], shapes=[[None]])
    ...     session.run([queue.enqueue([[1, 2]]), queue.enqueue([[3]])])
    ...     session.run(queue.dequeue_many(2))
    [None, None]
    array([[1, 2],
           [3, 0]], dtype=int32)
    """

    _pads_batches = True

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:  # fmt: skip
        super().__init__(capacity, dtypes, shapes, names, name, shared_name)

    def _stack(self, values: list[Any]) -> Any:
        """Return the values as one array, with zeros, or empty strings, where an array is shorter."""
        arrays = [np.asarray(value, object if isinstance(value, bytes) else None) for value in values]
        shape = np.max([array.shape for array in arrays], 0).astype(int)
        result = np.zeros((len(arrays), *shape), arrays[0].dtype)
        if result.dtype == object:
            result[...] = b""
        for i, array in enumerate(arrays):
            position: Any = (i, *map(slice, array.shape))
            result[position] = array
        return result


class RandomShuffleQueue(QueueBase):
    """A queue that returns elements in random order, and keeps `min_after_dequeue` of them until it is closed.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.RandomShuffleQueue(10, 0, autoconv.int32, shapes=[[]])
    ...     session.run(queue.enqueue_many([[3, 1, 2]]))
    ...     sorted(session.run(queue.dequeue_many(3)).tolist())
    [1, 2, 3]
    """

    def __init__(
        self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None, names: Any = None,
        seed: int | None = None, shared_name: str | None = None, name: str = "random_shuffle_queue",
    ) -> None:  # fmt: skip
        super().__init__(capacity, dtypes, shapes, names, name, shared_name)
        self._min_after_dequeue, self._seed = min_after_dequeue, seed

    def _new_buffer(self) -> Buffer:
        return _ShuffledBuffer(self.name, self._capacity, self._min_after_dequeue, np.random.default_rng(self._seed))


class PriorityQueue(QueueBase):
    """A queue that returns the element of the lowest priority first; the priority is an element's first value, int64.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.PriorityQueue(10, [autoconv.string], [[]])
    ...     session.run(queue.enqueue_many([[2, 1], ["second", "first"]]))
    ...     session.run(queue.dequeue())
    [np.int64(1), b'first']
    """

    def __init__(
        self, capacity: int, types: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:  # fmt: skip
        types = list(types) if isinstance(types, (list, tuple)) else [types]
        value_shapes = None if shapes is None else [(), *_shape_list(shapes, len(types))]
        super().__init__(capacity, [int64, *types], value_shapes, names, name, shared_name)

    def _new_buffer(self) -> Buffer:
        return _PriorityBuffer(self.name, self._capacity)


class Buffer:
    """The elements of a queue in a session. Threads wait for elements and for space.

    `min_remaining` elements remain in the buffer until it is closed.

    >>> buffer = autoconv.compat.v1.queue.queues.Buffer("queue", capacity=2)
    >>> buffer.put([1, 2])
    >>> buffer.take(1)
    [1]
    """

    def __init__(self, name: str, capacity: float, min_remaining: int = 0) -> None:
        self.elements: list[Any] = []
        self.is_closed = False
        self._is_cancelled = False
        self._name, self._capacity, self._min_remaining = name, capacity, min_remaining
        self._change = threading.Condition(new_lock())

    def put(self, elements: list[Any]) -> None:
        """Add elements, waiting for space; raise CancelledError if the queue is closed."""
        with self._change:
            if self.is_closed:
                raise CancelledError(f"{self._name} is closed.")
            for element in elements:
                self._change.wait_for(lambda: self._is_cancelled or len(self.elements) < self._capacity)
                if self._is_cancelled:
                    raise CancelledError(f"{self._name}: the wait for space was cancelled.")
                self._add(element)
                self._change.notify_all()

    def take(self, count: int, allow_fewer: bool = False) -> list[Any]:
        """Wait for elements, remove and return them; raise OutOfRangeError if the queue is closed with too few."""
        with self._change:
            self._change.wait_for(lambda: self.is_closed or len(self.elements) >= count + self._min_remaining)
            available = len(self.elements)
            has_enough = available >= count or (allow_fewer and available > 0)
            if not has_enough:
                raise OutOfRangeError(
                    f"{self._name} is closed and has insufficient elements "
                    f"(requested {count}, current size {available})"
                )
            result = [self._remove() for _ in range(min(count, available))]
            self._change.notify_all()
            return result

    def close(self, cancel_pending: bool) -> None:
        """Accept no more elements; with `cancel_pending`, threads that wait for space fail."""
        with self._change:
            self.is_closed = True
            self._is_cancelled = self._is_cancelled or cancel_pending
            self._change.notify_all()

    def cancel(self) -> None:
        """Close the queue, and end all waits."""
        self.close(cancel_pending=True)

    def _add(self, element: Any) -> None:
        """Add an element; the caller has checked that there is space."""
        self.elements.append(element)

    def _remove(self) -> Any:
        """Remove the next element and return it."""
        return self.elements.pop(0)


class _ShuffledBuffer(Buffer):
    """A buffer that removes elements in random order."""

    def __init__(self, name: str, capacity: float, min_remaining: int, generator: np.random.Generator) -> None:
        super().__init__(name, capacity, min_remaining)
        self._generator = generator

    def _remove(self) -> Any:
        return self.elements.pop(int(self._generator.integers(len(self.elements))))


class _PriorityBuffer(Buffer):
    """A buffer that removes the lowest priority first, and elements of one priority in the order of addition."""

    _count = 0  # number of elements that were added so far

    def _add(self, element: Any) -> None:
        self._count += 1
        heapq.heappush(self.elements, (int(element[0]), self._count, element))

    def _remove(self) -> Any:
        return heapq.heappop(self.elements)[2]


def _shape_list(shapes: Any, count: int) -> list[TensorShape]:
    """Return the shape of each value of an element, from a list of shapes or a single shape; None is any shape."""
    if shapes is None:
        return [TensorShape(None)] * count
    if isinstance(shapes, TensorShape) or all(size is None or isinstance(size, int) for size in shapes):
        shapes = [shapes]
    if len(shapes) != count:
        raise ValueError(f"Queue shapes must have the same length as dtypes: {len(shapes)} and {count}.")
    return [TensorShape(shape) for shape in shapes]


def copy_if_array(value: Any) -> Any:
    """Return a copy of an array, to which later runs do not write; other values unchanged."""
    return value.copy() if isinstance(value, np.ndarray) else value
