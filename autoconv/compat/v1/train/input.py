"""Input pipelines of queues: producers of file names and rows, and batches in order or shuffled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autoconv import nest
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.constants import range as range_
from autoconv.api.tensors.gather import gather
from autoconv.api.tensors.shaping import shape as shape_of
from autoconv.compat.v1.operations import as_operation
from autoconv.compat.v1.queue.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue, copy_if_array
from autoconv.compat.v1.session import running_session
from autoconv.compat.v1.train.queue_runner import QueueRunner, add_queue_runner
from autoconv.errors import OutOfRangeError
from autoconv.graph.dtypes import string
from autoconv.runtime.tensors.conversion import convert_to_tensor


def input_producer(
    input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True,
    seed: int | None = None, capacity: int = 32, shared_name: str | None = None, summary_name: str | None = None,
    name: str | None = None, cancel_op: Any = None,
) -> FIFOQueue:  # fmt: skip
    """Return a queue that a queue runner fills with the rows of a tensor, `num_epochs` times or for ever.

    The queue is closed after the last epoch. With `shuffle` the rows of each epoch have a random order.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.train.input_producer([1, 2], num_epochs=1, shuffle=False)
    ...     threads = v1.train.start_queue_runners(session)
    ...     session.run(queue.dequeue_many(2))
    array([1, 2], dtype=int32)
    """
    tensor = convert_to_tensor(input_tensor)
    shape = tensor.shape[1:] if element_shape is None else element_shape
    queue = FIFOQueue(capacity, [tensor.dtype], [shape], shared_name=shared_name, name=name or "input_producer")
    generator = np.random.default_rng(seed)
    epochs: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    def enqueue_epoch(rows: Any) -> None:
        session = running_session()
        epoch = epochs.get(session, 0)
        if num_epochs is not None and epoch >= num_epochs:
            raise OutOfRangeError(f"Reached limit of {num_epochs}")
        epochs[session] = epoch + 1
        order = generator.permutation(len(rows)) if shuffle else range(len(rows))
        queue.buffer().put([(copy_if_array(rows[i]),) for i in order])

    enqueue = as_operation(lambda: numpy_function(enqueue_epoch, [tensor], Tout=None, name=f"{queue.name}_EnqueueMany"))
    add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
    return queue


def string_input_producer(
    string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None, cancel_op: Any = None,
) -> FIFOQueue:  # fmt: skip
    """Return a queue of strings, such as names of files, for the readers; see `input_producer`.

    Raises ValueError for an empty list.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.string_input_producer(["a.csv", "b.csv"]).dtypes
    [autoconv.string]
    """
    if isinstance(string_tensor, (list, tuple)) and not string_tensor:
        raise ValueError("string_input_producer requires a non-null input tensor")
    strings = convert_to_tensor(string_tensor, string)
    return input_producer(
        strings, [], num_epochs, shuffle, seed, capacity, shared_name, name=name or "input_producer",
        cancel_op=cancel_op,
    )  # fmt: skip


def range_input_producer(
    limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None, capacity: int = 32,
    shared_name: str | None = None, name: str | None = None,
) -> FIFOQueue:  # fmt: skip
    """Return a queue of the integers below a limit; see `input_producer`.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.range_input_producer(5).dtypes
    [autoconv.int32]
    """
    return input_producer(
        range_(limit), [], num_epochs, shuffle, seed, capacity, shared_name, name=name or "input_producer"
    )


def slice_input_producer(
    tensor_list: Sequence[Any], num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None,
) -> list[Any]:  # fmt: skip
    """Return one row of each tensor, at a common index from `range_input_producer`. Raises ValueError for no tensors.

    >>> with autoconv.Graph().as_default():
    ...     images, labels = autoconv.compat.v1.train.slice_input_producer([np.ones([5, 2], "f"), [1, 2, 3, 4, 5]])
    ...     images.shape, labels.shape
    (TensorShape([2]), TensorShape([]))
    """
    if not tensor_list:
        raise ValueError("Expected at least one tensor in slice_input_producer().")
    tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
    count = shape_of(tensors[0])[0]
    row = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name, name).dequeue()
    return [gather(tensor, row) for tensor in tensors]


def batch(
    tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
    shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return batches of tensors, in their structure: `num_threads` threads compute the tensors and fill a queue.

    With `enqueue_many` the tensors have several elements, along the first axis. With `dynamic_pad` axes of unknown size
    are padded with zeros. A run raises OutOfRangeError if the queue is closed and has fewer elements than a batch, or
    with `allow_smaller_final_batch` has none.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     number = v1.train.range_input_producer(4, shuffle=False).dequeue()
    ...     numbers = v1.train.batch(number, 3)
    ...     threads = v1.train.start_queue_runners(session)
    ...     session.run(numbers)
    array([0, 1, 2], dtype=int32)
    """
    queue_class = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    make_queue = lambda dtypes, element_shapes: queue_class(
        capacity, dtypes, element_shapes, shared_name=shared_name, name=name or "batch"
    )
    return _batches([tensors] * num_threads, batch_size, make_queue, enqueue_many, shapes, allow_smaller_final_batch)


def batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
    shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return batches as `batch`, with a thread for each of the structures of tensors.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.batch_join([[autoconv.constant(1)], [autoconv.constant(2)]], 4)[0].shape
    TensorShape([4])
    """
    queue_class = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    make_queue = lambda dtypes, element_shapes: queue_class(
        capacity, dtypes, element_shapes, shared_name=shared_name, name=name or "batch_join"
    )
    return _batches(tensors_list, batch_size, make_queue, enqueue_many, shapes, allow_smaller_final_batch)


def shuffle_batch(
    tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return batches as `batch`, of elements drawn at random from a queue that keeps `min_after_dequeue` elements.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.shuffle_batch([autoconv.constant([1, 2])], 4, 100, 10)[0].shape
    TensorShape([4, 2])
    """
    return shuffle_batch_join(
        [tensors] * num_threads, batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name or "shuffle_batch",
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list: Sequence[Any], batch_size: Any, capacity: int, min_after_dequeue: int, seed: int | None = None,
    enqueue_many: bool = False, shapes: Any = None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return batches as `shuffle_batch`, with a thread for each of the structures of tensors.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.shuffle_batch_join([[autoconv.constant(1)]], 4, 100, 10)[0].shape
    TensorShape([4])
    """
    make_queue = lambda dtypes, element_shapes: RandomShuffleQueue(
        capacity, min_after_dequeue, dtypes, element_shapes, None, seed, shared_name, name or "shuffle_batch_join"
    )
    return _batches(tensors_list, batch_size, make_queue, enqueue_many, shapes, allow_smaller_final_batch)


def _batches(
    structures: Sequence[Any], batch_size: Any, make_queue: Callable[[Any, Any], Any], enqueue_many: bool,
    shapes: Any, allows_smaller_batch: bool,
) -> Any:  # fmt: skip
    """Return batches from the queue `make_queue(dtypes, shapes)`, which one thread for each of the structures fills."""
    if not structures or not nest.flatten(structures[0]):
        raise ValueError("Expected at least one tensor to batch.")
    tensors = [[convert_to_tensor(tensor) for tensor in nest.flatten(structure)] for structure in structures]
    element_shapes = shapes
    if shapes is None:
        element_shapes = [tensor.shape[1:] if enqueue_many else tensor.shape for tensor in tensors[0]]
    queue = make_queue([tensor.dtype for tensor in tensors[0]], element_shapes)
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    add_queue_runner(QueueRunner(queue, [enqueue(values) for values in tensors]))
    result = queue.dequeue_up_to(batch_size) if allows_smaller_batch else queue.dequeue_many(batch_size)
    return nest.pack_sequence_as(structures[0], result if isinstance(result, list) else [result])
