"""Transformations of datasets as functions for `Dataset.apply`, the earlier form of TensorFlow's methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.tensors.arguments import static_int
from autoconv.data.combining import Concatenate
from autoconv.data.dataset import Dataset
from autoconv.data.sources import Tensors
from autoconv.data.transforms import KnownCount
from autoconv.errors import OutOfRangeError
from autoconv.runtime.annotations import IntLike

Transformation = Callable[[Dataset], Dataset]


def assert_cardinality(expected_cardinality: IntLike) -> Transformation:
    """Set the cardinality of a dataset; iterating raises FailedPreconditionError for another number of elements.

    >>> dataset = autoconv.data.Dataset.range(3).apply(autoconv.data.experimental.assert_cardinality(3))
    >>> len(list(dataset))
    3
    """
    return lambda dataset: Dataset(KnownCount(dataset.node, expected_cardinality))


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int], bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: bool = False,
    no_padding: bool = False, drop_remainder: bool = False,
) -> Transformation:  # fmt: skip
    """Batch elements of similar length; see `Dataset.bucket_by_sequence_length`.

    >>> dataset = autoconv.data.Dataset.range(4).map(lambda x: autoconv.range(x))
    >>> bucketed = autoconv.data.experimental.bucket_by_sequence_length(autoconv.size, [2], [2, 2])
    >>> [batch.shape.as_list() for batch in dataset.apply(bucketed)]
    [[2, 1], [2, 3]]
    """
    options = (padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, *options
    )


def enumerate_dataset(start: IntLike = 0) -> Transformation:
    """Number the elements; see `Dataset.enumerate`.

    >>> dataset = autoconv.data.Dataset.range(2).apply(autoconv.data.experimental.enumerate_dataset(5))
    >>> [(int(i), int(x)) for i, x in dataset]
    [(5, 0), (6, 1)]
    """
    return lambda dataset: dataset.enumerate(start)


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None, window_size_func: Any = None
) -> Transformation:
    """Group elements of one key, up to a number of them; see `Dataset.group_by_window`.

    >>> grouped = autoconv.data.experimental.group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2)
    >>> [batch.numpy().tolist() for batch in autoconv.data.Dataset.range(4).apply(grouped)]
    [[0, 2], [1, 3]]
    """
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """Return a function for `Dataset.apply`; see Dataset.ignore_errors.

    >>> dataset = autoconv.data.Dataset.from_tensor_slices([0.0, 1.0, 2.0])
    >>> dataset = dataset.map(lambda x: autoconv.debugging.check_numerics(1.0 / x, "x is 0"))
    >>> len(list(dataset.apply(autoconv.data.experimental.ignore_errors())))
    2
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None
) -> Transformation:
    """Return a function for `Dataset.apply`; see Dataset.rejection_resample.

    >>> halve = autoconv.data.experimental.rejection_resample(lambda x: x % 2, [1.0, 0.0], [0.5, 0.5])
    >>> [int(x) for _, x in autoconv.data.Dataset.range(5).apply(halve)]
    [0, 2, 4]
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def snapshot(path: str, compression: str | None = "AUTO", **options: Any) -> Transformation:
    """Return a function for `Dataset.apply`; see Dataset.snapshot.

    >>> import tempfile
    >>> keep = autoconv.data.experimental.snapshot(tempfile.mkdtemp())
    >>> [int(x) for x in autoconv.data.Dataset.range(2).apply(keep)]
    [0, 1]
    """
    return lambda dataset: dataset.snapshot(path, compression, **options)


def map_and_batch(
    map_func: Callable[..., Any], batch_size: IntLike, num_parallel_batches: Any = None, drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:  # fmt: skip
    """Map, then batch.

    >>> dataset = autoconv.data.Dataset.range(4).apply(autoconv.data.experimental.map_and_batch(lambda x: 2 * x, 2))
    >>> [batch.numpy().tolist() for batch in dataset]
    [[0, 2], [4, 6]]
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: IntLike, block_length: IntLike = 1, sloppy: bool = False,
    buffer_output_elements: Any = None, prefetch_input_elements: Any = None,
) -> Transformation:  # fmt: skip
    """Take elements of several datasets in turns; see `Dataset.interleave`.

    >>> twice = autoconv.data.experimental.parallel_interleave(lambda x: autoconv.data.Dataset.from_tensors(x), 2)
    >>> [int(x) for x in autoconv.data.Dataset.range(3).apply(twice)]
    [0, 1, 2]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, deterministic=not sloppy)


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """Prefetch elements; there is one device.

    >>> dataset = autoconv.data.Dataset.range(2).apply(autoconv.data.experimental.prefetch_to_device("/cpu:0"))
    >>> [int(x) for x in dataset]
    [0, 1]
    """
    return lambda dataset: dataset.prefetch(1 if buffer_size is None else buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Return the dataset; there is one device.

    >>> dataset = autoconv.data.Dataset.range(2).apply(autoconv.data.experimental.copy_to_device("/cpu:0"))
    >>> [int(x) for x in dataset]
    [0, 1]
    """
    return lambda dataset: dataset


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """Map with a state passed from element to element; see `Dataset.scan`.

    >>> sums = autoconv.data.experimental.scan(autoconv.constant(0, autoconv.int64), lambda s, x: (s + x, s + x))
    >>> [int(x) for x in autoconv.data.Dataset.range(4).apply(sums)]
    [0, 1, 3, 6]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: IntLike, count: Any = None, seed: int | None = None) -> Transformation:
    """Shuffle, then repeat.

    >>> dataset = autoconv.data.Dataset.range(3).apply(autoconv.data.experimental.shuffle_and_repeat(3, 2))
    >>> sorted(int(x) for x in dataset)
    [0, 0, 1, 1, 2, 2]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """Take the elements before the first one for which the predicate is false.

    >>> dataset = autoconv.data.Dataset.range(5).apply(autoconv.data.experimental.take_while(lambda x: x < 2))
    >>> [int(x) for x in dataset]
    [0, 1]
    """
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """Split batches into rows; see `Dataset.unbatch`.

    >>> dataset = autoconv.data.Dataset.range(4).batch(2).apply(autoconv.data.experimental.unbatch())
    >>> [int(x) for x in dataset]
    [0, 1, 2, 3]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """Drop repeated elements; see `Dataset.unique`.

    >>> dataset = autoconv.data.Dataset.from_tensor_slices([1, 2, 1]).apply(autoconv.data.experimental.unique())
    >>> [int(x) for x in dataset]
    [1, 2]
    """
    return lambda dataset: dataset.unique()


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """Return the dataset of a list of structures; raises ValueError for an empty one.

    >>> [int(part["a"]) for part in autoconv.data.experimental.from_list([{"a": 1}, {"a": 2}])]
    [1, 2]
    """
    if not isinstance(elements, (list, tuple)):
        raise TypeError("elements must be a list.")
    if not elements:
        raise ValueError("Empty `elements` cannot be a dataset.")
    return Dataset(Concatenate([Tensors(element) for element in elements]))


def at(dataset: Dataset, index: IntLike) -> Any:
    """Return the element of a dataset at an index; raises OutOfRangeError where there is none.

    >>> int(autoconv.data.experimental.at(autoconv.data.Dataset.range(5, 8), 1))
    6
    """
    position = static_int(index, "index")
    if position >= 0:
        for element in dataset.skip(position).take(1):
            return element
    count: Any = dataset.cardinality()
    raise OutOfRangeError(f"Index out of range [0, {int(count)}): {position}")


def get_single_element(dataset: Dataset) -> Any:
    """Return the only element of a dataset; see `Dataset.get_single_element`.

    >>> int(autoconv.data.experimental.get_single_element(autoconv.data.Dataset.from_tensors(3)))
    3
    """
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """Return the spec of the elements of a dataset or iterator.

    >>> autoconv.data.experimental.get_structure(autoconv.data.Dataset.range(3))
    TensorSpec(shape=(), dtype=autoconv.int64, name=None)
    """
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator: Any) -> Any:
    """Return the next element of an iterator as an Optional, empty at its end.

    >>> iterator = iter(autoconv.data.Dataset.range(1))
    >>> autoconv.data.experimental.get_next_as_optional(iterator).get_value().numpy()
    np.int64(0)
    """
    return iterator.get_next_as_optional()


class RandomDataset(Dataset):
    """A dataset of random int64 numbers without end; see `Dataset.random`.

    >>> next(iter(autoconv.data.experimental.RandomDataset(seed=1).take(1))).dtype.name
    'int64'
    """

    def __new__(cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: Any = None) -> Any:
        return Dataset.random(seed=seed, rerandomize_each_iteration=rerandomize_each_iteration)
