"""Dataset: an immutable description of a sequence of elements, which can be iterated over several times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from autoconv.data import batching, combining, files, grouping, shuffling, sources, transforms
from autoconv.data.derived import ResamplingMethods, StorageMethods
from autoconv.data.elements import components, element_type
from autoconv.data.iterables import DatasetV2, Iterable
from autoconv.data.iterators import IteratorSpec
from autoconv.data.nodes import Nested, Node
from autoconv.data.options import Options, WithOptions
from autoconv.data.stored import FileCache
from autoconv.graph.dtypes import as_dtype, int64
from autoconv.graph.types import IterableType
from autoconv.hooks import Hook
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike
from autoconv.runtime.recording.tracebacks import wrap_public_methods
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flat_leaves, flatten, pack
from autoconv.runtime.support.type_spec import is_composite


class DatasetSpec(IteratorSpec):
    """The spec of a dataset, in cache keys of functions and in the element_spec of a dataset of datasets.

    >>> autoconv.data.DatasetSpec(autoconv.TensorSpec([], autoconv.int32)).element_spec
    TensorSpec(shape=(), dtype=autoconv.int32, name=None)
    """

    __slots__ = ()

    @staticmethod
    def from_value(value: Iterable) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def type(self) -> IterableType:  # type: ignore[override]
        return IterableType(element_type(self.element_spec))

    def __call__(self, value: Any) -> Dataset:  # type: ignore[override]
        """The dataset for a graph value, or for a value that a graph has returned."""
        return Dataset(Nested(self.element_spec, value))


GRAPH_ITERATOR_HOOK = Hook("autoconv.compat.v1.data")  # (dataset, initializable: bool) -> an iterator for sessions


@wrap_public_methods
class Dataset(StorageMethods, ResamplingMethods, DatasetV2):
    """A sequence of elements: tensors, or structures (tuples, dicts, named tuples) of tensors of known types.

    Create one with `from_tensor_slices`, `range`, `from_generator` and the like; each method returns a new one.
    Functions of elements are traced once, like those of `autoconv.function`; a tuple is passed as several arguments. A
    loop over a dataset in a converted function is part of its graph.

    >>> dataset = autoconv.data.Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> [batch.numpy().tolist() for batch in dataset]
    [[0, 1], [4, 9], [16]]
    """

    _spec_class = DatasetSpec

    @classmethod
    def _of_node(cls, node: Node) -> Self:
        return Dataset(node)  # type: ignore[return-value]

    def make_one_shot_iterator(self) -> Any:
        """Return an iterator for sessions of version 1; each session iterates over the dataset once."""
        return GRAPH_ITERATOR_HOOK(self, initializable=False)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """Return an iterator for sessions of version 1, which begins anew when its `initializer` runs."""
        return GRAPH_ITERATOR_HOOK(self, initializable=True)

    # ---- sources

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset with the structure `tensors` as its only element."""
        return Dataset(sources.Tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of a tensor, or of the tensors in a structure. Memory-mapped arrays are not copied.

        Raises ValueError for scalars and for tensors of different lengths.
        """
        has_composites = any(map(is_composite, flat_leaves(tensors, is_composite)))
        return Dataset(sources.CompositeSlices(tensors) if has_composites else sources.Slices(tensors))

    @staticmethod
    def range(*args: Any, output_type: Any = int64, name: str | None = None) -> Dataset:
        """range(stop), range(start, stop) or range(start, stop, step), of int64 by default."""
        return Dataset(sources.Range(args, as_dtype(output_type)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The values that `generator(*args)` yields, called anew for each pass; `args` are passed as arrays.

        `output_signature` is a structure of TensorSpecs. Iterating raises TypeError for a value that does not fit it,
        and the errors of the generator.
        """
        if not callable(generator):
            raise TypeError(f"`generator` must be a Python callable, found {generator!r}. Give the function itself.")
        spec = sources.signature_of(output_signature, output_types, output_shapes)
        return Dataset(sources.FromGenerator(generator, spec, tuple(args or ())))

    @staticmethod
    def from_npy(path: Any, mmap_mode: str | None = "r") -> Dataset:
        """The rows of the array in a .npy file, which is memory-mapped, not read."""
        return Dataset(sources.Slices(sources.load_arrays(path, mmap_mode)))

    @staticmethod
    def from_npz(path: Any) -> Dataset:
        """The rows of the arrays in a .npz file, as dicts by array name."""
        return Dataset(sources.Slices(sources.load_arrays(path, mmap_mode=None)))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        """The files that match one or more patterns, in random order unless `shuffle` is False.

        Raises InvalidArgumentError if there are none.
        """
        paths = files.match_patterns(file_pattern)
        path_dataset = Dataset(sources.Slices(np.array([path.encode() for path in paths], object)))
        return path_dataset if shuffle is False else path_dataset.shuffle(len(paths), seed=seed)

    @staticmethod
    def random(
        seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random int64 numbers from 0 to 2**32 - 1, endlessly."""
        return Dataset(shuffling.RandomNumbers(seed, bool(rerandomize_each_iteration)))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """The elements of datasets, in the structure of the datasets; `zip(dataset)` has the elements unchanged."""
        positional = args[0] if len(args) == 1 else args
        leaves, template = flatten(positional if datasets is None else datasets)
        return Dataset(combining.Zip([_dataset_node(leaf, "zip") for leaf in leaves], template))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of several datasets, each from a dataset that is drawn with these weights.

        With `rerandomize_each_iteration`, each pass has its own draws.

        >>> small, large = autoconv.data.Dataset.range(3), autoconv.data.Dataset.range(100, 103)
        >>> mixed = autoconv.data.Dataset.sample_from_datasets([small, large], weights=[0.5, 0.5], seed=1)
        >>> sorted(map(int, mixed))
        [0, 1, 2, 100, 101, 102]
        """
        nodes = [_dataset_node(dataset, "sample_from_datasets") for dataset in datasets]
        if not nodes:
            raise ValueError("sample_from_datasets takes one or more datasets, found none")
        return Dataset(combining.Sample(nodes, stop_on_empty_dataset, weights, seed, rerandomize_each_iteration))

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of `datasets[i]`, for each element i of `choice_dataset`.

        >>> small, large = autoconv.data.Dataset.range(3), autoconv.data.Dataset.range(100, 103)
        >>> choice = autoconv.data.Dataset.range(2).repeat(2)
        >>> list(map(int, autoconv.data.Dataset.choose_from_datasets([small, large], choice)))
        [0, 100, 1, 101]
        """
        nodes = [_dataset_node(dataset, "choose_from_datasets") for dataset in datasets]
        choice = _dataset_node(choice_dataset, "choose_from_datasets")
        return Dataset(combining.Sample(nodes, stop_on_empty_dataset, choice_dataset=choice))

    # ---- transformations

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """map_func(element) for every element, computed by `num_parallel_calls` threads.

        The order is that of the elements unless `deterministic` is False. `map_func` may modify a dict that it gets.
        """
        return Dataset(transforms.Map(self.node, map_func, num_parallel_calls, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which predicate(element), a bool scalar, is true."""
        return Dataset(transforms.Filter(self.node, predicate))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which predicate(element) is false."""
        return Dataset(transforms.Filter(self.node, predicate, stops_at_false=True))

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Stacks of `batch_size` consecutive elements. Raises InvalidArgumentError for elements of different shapes."""
        return Dataset(batching.Batch(self.node, batch_size, drop_remainder))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """`batch` of elements padded to `padded_shapes`, by default to the largest in the batch."""
        return Dataset(batching.PaddedBatch(self.node, batch_size, padded_shapes, padding_values, drop_remainder))

    def ragged_batch(
        self,
        batch_size: IntLike,
        drop_remainder: bool = False,
        row_splits_dtype: DTypeLike = int64,
        name: str | None = None,
    ) -> Dataset:
        """`batch` of elements of different sizes as ragged tensors; components of one known shape are stacked."""
        return Dataset(batching.RaggedBatch(self.node, batch_size, drop_remainder, row_splits_dtype))

    def sparse_batch(self, batch_size: IntLike, row_shape: ShapeLike, name: str | None = None) -> Dataset:
        """`batch` of single tensors of any size up to `row_shape`, as sparse tensors."""
        return Dataset(batching.SparseBatch(self.node, batch_size, row_shape))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of every element, as elements."""
        return Dataset(batching.Unbatch(self.node))

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, each drawn from a buffer of `buffer_size` elements.

        With a seed (this one, or the global one) the order is the same in every run of the program. Each pass has a
        different order unless `reshuffle_each_iteration` is False.
        """
        return Dataset(shuffling.Shuffle(self.node, buffer_size, seed, reshuffle_each_iteration is not False))

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The dataset repeated `count` times; endlessly for None and -1."""
        return Dataset(transforms.Repeat(self.node, count))

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; all for -1."""
        return Dataset(transforms.Take(self.node, count))

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first `count` elements; none for -1."""
        return Dataset(transforms.Skip(self.node, count))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, starting at index `index`."""
        return Dataset(transforms.Shard(self.node, num_shards, index))

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs (position, element) with int64 positions."""
        return Dataset(transforms.Enumerate(self.node, start))

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Datasets of `size` elements that lie `stride` apart.

        Each dataset begins `shift` elements (by default `size`) after the one before. Elements that are structures
        give structures of datasets.
        """
        return Dataset(transforms.Window(self.node, size, shift, stride, drop_remainder, DatasetSpec))

    def group_by_window(
        self, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """The elements of the datasets reduce_func(key, group), for groups of `window_size` elements of equal key.

        `window_size_func(key)` may give the size instead. Smaller groups at the end are reduced, too.
        """
        return Dataset(
            grouping.GroupByWindow(self.node, key_func, reduce_func, window_size, window_size_func, DatasetSpec)
        )

    def bucket_by_sequence_length(
        self, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Batches of elements whose lengths lie between the same two boundaries, padded as by `padded_batch`.

        `bucket_batch_sizes` has a size for each bucket. Raises ValueError unless it is one longer than the boundaries.
        """
        padding = None if no_padding else grouping.Padding(padded_shapes, padding_values, pad_to_bucket_boundary)
        boundaries, sizes = bucket_boundaries, bucket_batch_sizes
        return Dataset(
            grouping.BucketByLength(self.node, element_length_func, boundaries, sizes, padding, drop_remainder)
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets map_func(element), one dataset after the other."""
        return Dataset(
            combining.Interleave(
                self.node, map_func, cycle_length=1, block_length=1, num_parallel_calls=None, method_name="flat_map"
            )
        )

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets map_func(element), in turns of `block_length` elements each.

        `cycle_length` of the datasets (10 by default) are open at a time. With `num_parallel_calls`, threads compute
        their elements ahead.
        """
        cycle = 10 if cycle_length in (None, transforms.AUTOTUNE) else cycle_length
        return Dataset(combining.Interleave(self.node, map_func, cycle, block_length, num_parallel_calls, "interleave"))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements; a thread computes up to `buffer_size` of them ahead, with AUTOTUNE if they take long."""
        return Dataset(transforms.Prefetch(self.node, buffer_size))

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, kept in memory or in a file after the first complete pass.

        Iterating raises DataLossError for a file that is damaged or contains other elements.
        """
        return Dataset(FileCache(self.node, filename) if filename else transforms.Cache(self.node))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, followed by those of another dataset of the same spec; raises TypeError for another spec."""
        return Dataset(combining.Concatenate([self.node, _dataset_node(dataset, "concatenate")]))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The outputs of `state, output = scan_func(state, element)`, starting from `initial_state`."""
        leaves, template = components(initial_state)
        spec = pack(template, [TensorSpec.from_type(leaf.type) for leaf in leaves])
        return Dataset(transforms.Scan(self.node, leaves, spec, scan_func))

    def unique(self, name: str | None = None) -> Dataset:
        """The distinct elements, which must be single tensors."""
        return Dataset(transforms.Unique(self.node))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """transformation_func(self), which must return a dataset."""
        result = transformation_func(self)
        _dataset_node(result, "apply")
        return result

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, with options, which `options()` returns and which have no other effect."""
        return Dataset(WithOptions(self.node, options))


def _dataset_node(dataset: Any, method: str) -> Node:
    """Return the node of a dataset; raise TypeError, which names the `method`, for any other object."""
    node = getattr(dataset, "node", None)
    if not isinstance(node, Node):
        raise TypeError(f"{method} takes datasets, found {type(dataset).__name__}: {dataset!r}")
    return node
