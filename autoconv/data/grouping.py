"""Datasets that group elements by keys."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.data.batching import Batch, PaddedBatch
from autoconv.data.functions import ElementFunction
from autoconv.data.nodes import Bindings, BoundDataset, ComputedElements, Element, Node, Run, integer_tensor
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.calls.call import call as callable_for
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply

_KEY_SPEC = TensorSpec([], int64)


class GroupByWindow(Node):
    """The elements of the datasets reduce(key, group), for groups of elements of equal key.

    A group is reduced when it is as long as its window. Groups left at the end follow in the order of their keys.
    `dataset_spec` makes the spec of a dataset from the spec of its elements.
    """

    name = "group_by_window"

    def __init__(
        self, source: Node, key: Callable[..., Any], reduce: Callable[..., Any], window_size: Any,
        window_size_function: Callable[[Any], Any] | None, dataset_spec: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        if (window_size is None) == (window_size_function is None):
            raise ValueError("group_by_window takes either `window_size` or `window_size_func`")
        self.key_function = ElementFunction(_with_integer_result(key), source.spec, "group_by_window")
        self.reduce_function = ElementFunction(reduce, (_KEY_SPEC, dataset_spec(source.spec)), "group_by_window")
        if not isinstance(self.reduce_function.result_spec, type(dataset_spec(source.spec))):
            raise TypeError(
                "the `reduce_func` of group_by_window has to return a dataset, found "
                f"{self.reduce_function.result_spec}"
            )
        fixed_window_size = None if window_size is None else integer_tensor(window_size)
        self.window_size_of = ElementFunction(
            _with_integer_result(window_size_function or (lambda key: fixed_window_size)), _KEY_SPEC, "group_by_window"
        )
        functions = (self.key_function, self.reduce_function, self.window_size_of)
        super().__init__(
            self.reduce_function.result_spec.element_spec, [source],
            [x for function in functions for x in function.values],
        )

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        key_of, reduce = self.key_function.runner(bindings), self.reduce_function.runner(bindings)
        window_size_of = self.window_size_of.runner(bindings)

        def size_of(key: int) -> int:
            result = _integer_result(window_size_of, [np.int64(key)])
            if result < 1:
                raise ValueError(f"the window of key {key} has to be a positive number, found {result}")
            return result

        elements = self.inputs[0].iterate(bindings)
        for key, group in _full_groups(elements, functools.partial(_integer_result, key_of), size_of):
            group_dataset = BoundDataset(ComputedElements(self.inputs[0].spec, group))
            (reduced_dataset,) = reduce([np.int64(key), group_dataset])
            yield from reduced_dataset.iterate()


@dataclass(frozen=True)
class Padding:
    """Padding of the elements of a bucket; with `pads_to_boundary`, open sizes become the bucket's largest length.

    `shapes` and `values` are the arguments `padded_shapes` and `padding_values`.
    """

    shapes: Any
    values: Any
    pads_to_boundary: bool


class BucketByLength(Node):
    """Batches of elements whose lengths lie between the same two boundaries."""

    name = "bucket_by_sequence_length"

    def __init__(
        self, source: Node, length_function: Callable[..., Any], boundaries: Sequence[int], batch_sizes: Sequence[int],
        padding: Padding | None, drop_remainder: bool,
    ) -> None:  # fmt: skip
        if len(batch_sizes) != len(boundaries) + 1:
            raise ValueError(
                f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1`, found {len(batch_sizes)} and "
                f"{len(boundaries)}"
            )
        self.length_function = ElementFunction(_with_integer_result(length_function), source.spec, self.name)
        self.boundaries, self.batch_sizes = list(map(int, boundaries)), list(map(int, batch_sizes))
        self.padding, self.drop_remainder = padding, drop_remainder
        batches_of_any_size = self._make_batches(source, size=1, max_length=None, drop_remainder=False)
        super().__init__(batches_of_any_size.spec, [source], self.length_function.values)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        length_of = self.length_function.runner(bindings)

        def bucket_of(element: Element) -> int:
            return bisect.bisect_right(self.boundaries, _integer_result(length_of, element))

        elements = self.inputs[0].iterate(bindings)
        for bucket, group in _full_groups(elements, bucket_of, self.batch_sizes.__getitem__):
            yield from self._iterate_bucket(bucket, group, bindings)

    def _iterate_bucket(self, bucket: int, group: list[Element], bindings: Bindings) -> Iterator[Element]:
        """Yield the batches of a bucket's elements, which are padded if necessary."""
        max_length = None
        if self.padding is not None and self.padding.pads_to_boundary:
            if bucket == len(self.boundaries):
                raise InvalidArgumentError(
                    "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).", self.place
                )
            max_length = self.boundaries[bucket] - 1
        elements = ComputedElements(self.inputs[0].spec, group)
        return self._make_batches(elements, self.batch_sizes[bucket], max_length, self.drop_remainder).iterate(bindings)

    def _make_batches(self, source: Node, size: int, max_length: int | None, drop_remainder: bool) -> Node:
        """Return the node that batches the source; with `max_length`, open sizes are padded to it."""
        if self.padding is None:
            return Batch(source, size, drop_remainder)
        result = PaddedBatch(source, size, self.padding.shapes, self.padding.values, drop_remainder)
        if max_length is not None:
            result.padded_shapes = [_limit_sizes(shape, max_length) for shape in result.padded_shapes]
        return result


def _full_groups(
    elements: Iterator[Element], key_of: Callable[[Element], int], size_of: Callable[[int], int]
) -> Iterator[tuple[int, list[Element]]]:
    """Yield (key, group) as soon as a group has size_of(key) elements; at the end, the other groups sorted by key."""
    groups: dict[int, list[Element]] = {}
    for element in elements:
        key = key_of(element)
        size = size_of(key)
        group = groups.setdefault(key, [])
        group.append(element)
        if len(group) >= size:
            yield key, groups.pop(key)
    yield from sorted(groups.items(), key=lambda item: item[0])


def _limit_sizes(shape: TensorShape, limit: int) -> TensorShape:
    """Return the shape with `limit` for each open size."""
    return shape if shape.rank is None else TensorShape([limit if size is None else size for size in shape.as_list()])


def _with_integer_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of an element that casts the result of `function` to int64."""
    return lambda *element: apply("cast", convert_to_tensor(callable_for(function)(*element)), dtype=int64)


def _integer_result(run: Run, leaves: Element) -> int:
    """Return the result of a function of leaves whose only result is an integer."""
    (number,) = run(leaves)
    return int(np.asarray(number))
