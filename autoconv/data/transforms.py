"""Transformations of a dataset, element by element: map, filter, take, skip, repeat, window, cache and others."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autoconv.data.elements import component_leaf_counts, map_specs, spec_leaves
from autoconv.data.functions import ElementFunction
from autoconv.data.nodes import (
    INFINITE,
    SKIPPED,
    UNKNOWN,
    Bindings,
    BoundDataset,
    ComputedElements,
    CountPreservingNode,
    Element,
    Node,
    check_positive,
    integer_tensor,
)
from autoconv.data.threads import map_in_threads, prefetch, use_threads_if_slow
from autoconv.errors import FailedPreconditionError, InvalidArgumentError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import int64
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.static_values import static_value

AUTOTUNE = -1  # instead of a number of threads or elements: the node chooses the number; as in TensorFlow


class Map(CountPreservingNode):
    """function(element) for each element, computed by threads if `num_parallel_calls` is set.

    With AUTOTUNE, threads are used only if the elements take long.
    """

    name = "map"

    def __init__(
        self, source: Node, function: Any, num_parallel_calls: Any = None, deterministic: bool | None = None
    ) -> None:
        self.function = ElementFunction(function, source.spec, "map")
        self.thread_count = thread_count(num_parallel_calls)
        self.chooses_threads = num_parallel_calls is not None and int(num_parallel_calls) == AUTOTUNE
        self.keeps_order = deterministic is not False
        super().__init__(self.function.result_spec, [source], self.function.values)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        run, source = bindings.skip_errors(self.function.runner(bindings)), self.inputs[0].iterate(bindings)
        results: Iterator[Element] = map(run, source)
        if self.thread_count:

            def in_threads() -> Iterator[Element]:
                return map_in_threads(source, run, self.thread_count, self.keeps_order)

            results = use_threads_if_slow(results, in_threads) if self.chooses_threads else in_threads()
        yield from (element for element in results if element is not SKIPPED)


class Filter(Node):
    """The elements for which the predicate is true; with `stops_at_false`, those before the first false one."""

    name = "filter"

    def __init__(self, source: Node, predicate: Any, stops_at_false: bool = False) -> None:
        self.predicate = ElementFunction(predicate, source.spec, "take_while" if stops_at_false else "filter")
        spec = self.predicate.result_spec
        if not isinstance(spec, TensorSpec) or not spec.dtype.is_bool or spec.shape.rank not in (0, None):
            raise ValueError(
                "Invalid `predicate`: it has to return a bool scalar tensor, but its return type is "
                f"{spec}. Write a comparison, or autoconv.reduce_all(…) of several."
            )
        self.stops_at_false = stops_at_false
        super().__init__(source.spec, [source], self.predicate.values)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        evaluate = bindings.skip_errors(self.predicate.runner(bindings))
        for element in self.inputs[0].iterate(bindings):
            result = evaluate(element)
            if result is SKIPPED:
                continue
            if bool(result[0]):
                yield element
            elif self.stops_at_false:
                return


class Take(Node):
    """The first `limit` elements; all of them for -1."""

    name = "take"

    def __init__(self, source: Node, limit: Any) -> None:
        self.limit = integer_tensor(limit)
        super().__init__(source.spec, [source], [self.limit])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        limit = bindings.number(self.limit)
        source = self.inputs[0].iterate(bindings)
        # islice takes no further element from the source, which may have side effects.
        yield from source if limit < 0 else itertools.islice(source, limit)

    def count(self, bindings: Bindings) -> int:
        limit, source_count = bindings.number(self.limit), self.inputs[0].count(bindings)
        if limit < 0 or source_count == UNKNOWN:
            return source_count if limit != 0 else 0
        return limit if source_count == INFINITE else min(limit, source_count)


class Skip(Node):
    """All elements but the first `skipped_count`; no elements for -1."""

    name = "skip"

    def __init__(self, source: Node, skipped_count: Any) -> None:
        self.skipped_count = integer_tensor(skipped_count)
        super().__init__(source.spec, [source], [self.skipped_count])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        skipped_count = bindings.number(self.skipped_count)
        if skipped_count >= 0:
            yield from itertools.islice(self.inputs[0].iterate(bindings), skipped_count, None)

    def count(self, bindings: Bindings) -> int:
        skipped_count, source_count = bindings.number(self.skipped_count), self.inputs[0].count(bindings)
        if skipped_count < 0:
            return 0
        return source_count if source_count < 0 else max(source_count - skipped_count, 0)


class Shard(Node):
    """Every `shard_count`-th element, starting at index `index`."""

    name = "shard"

    def __init__(self, source: Node, shard_count: Any, index: Any) -> None:
        self.shard_count, self.index = integer_tensor(shard_count), integer_tensor(index)
        static_numbers = static_value(self.shard_count), static_value(self.index)
        if None not in static_numbers:
            _check_shard(*map(int, static_numbers))  # type: ignore[arg-type]
        super().__init__(source.spec, [source], [self.shard_count, self.index])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        shard_count, index = bindings.number(self.shard_count), bindings.number(self.index)
        _check_shard(shard_count, index)
        yield from itertools.islice(self.inputs[0].iterate(bindings), index, None, shard_count)

    def count(self, bindings: Bindings) -> int:
        shard_count, index = bindings.number(self.shard_count), bindings.number(self.index)
        source_count = self.inputs[0].count(bindings)
        return source_count if source_count < 0 else len(range(index, source_count, shard_count))


def _check_shard(shard_count: int, index: int) -> None:
    """Raise InvalidArgumentError unless 0 <= index < shard_count."""
    if not 0 <= index < shard_count:
        raise InvalidArgumentError(f"shard takes an index from 0 to num_shards - 1, found {index} of {shard_count}")


class Repeat(Node):
    """The dataset repeated `count` times; endlessly for None and negative counts."""

    name = "repeat"

    def __init__(self, source: Node, count: Any = None) -> None:
        self.times = integer_tensor(-1 if count is None else count)
        super().__init__(source.spec, [source], [self.times])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        times = bindings.number(self.times)
        for _ in itertools.count() if times < 0 else range(times):
            is_empty = True
            for element in self.inputs[0].iterate(bindings):
                is_empty = False
                yield element
            if is_empty and times < 0:
                return  # an empty dataset would loop forever

    def count(self, bindings: Bindings) -> int:
        times, source_count = bindings.number(self.times), self.inputs[0].count(bindings)
        if times == 0 or source_count == 0:
            return 0
        if times < 0:  # an unknown number counts as above 0, as in TensorFlow
            return INFINITE
        return source_count if source_count < 0 else source_count * times


class Enumerate(CountPreservingNode):
    """Pairs (position, element); the position is an int64, counted from `start`."""

    name = "enumerate"

    def __init__(self, source: Node, start: Any = 0) -> None:
        self.start = integer_tensor(start)
        super().__init__((TensorSpec((), int64), source.spec), [source], [self.start])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        for position, element in enumerate(self.inputs[0].iterate(bindings), bindings.number(self.start)):
            yield [np.int64(position), *element]


class Prefetch(CountPreservingNode):
    """The same elements, computed ahead by a thread; with AUTOTUNE, if they take long."""

    name = "prefetch"

    def __init__(self, source: Node, size: Any) -> None:
        self.size = integer_tensor(size)
        super().__init__(source.spec, [source], [self.size])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        size = bindings.number(self.size)
        source = self.inputs[0].iterate(bindings)
        if size == AUTOTUNE:
            yield from use_threads_if_slow(source, lambda: prefetch(source, 2))
        else:
            yield from prefetch(source, size) if size else source


class Cache(CountPreservingNode):
    """The same elements, computed by the first complete pass and kept for later ones."""

    name = "cache"

    def __init__(self, source: Node) -> None:
        super().__init__(source.spec, [source])
        self._lock = new_lock()
        self._elements: list[Element] | None = None
        self._cached_bindings: Any = None

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        with self._lock:
            # Elements that depend on values of a graph are cached only for one pass over the whole dataset.
            cached_elements = self._elements if not self.graph_operands or self._cached_bindings is bindings else None
        if cached_elements is not None:
            yield from cached_elements
            return
        elements = []
        for element in self.inputs[0].iterate(bindings):
            elements.append(element)
            yield element
        with self._lock:
            self._elements, self._cached_bindings = elements, bindings


class Window(Node):
    """Datasets of `size` consecutive elements each, `stride` apart; each begins `shift` after the one before.

    `dataset_spec` makes the spec of a dataset from the spec of its elements.
    """

    name = "window"

    def __init__(
        self, source: Node, size: Any, shift: Any, stride: Any, drop_remainder: bool, dataset_spec: Callable[[Any], Any]
    ) -> None:
        self.size = check_positive("the size of a window", size)
        self.stride = check_positive("the stride of a window", stride)
        self.shift = self.size if shift is None else check_positive("the shift of a window", shift)
        self.drop_remainder = drop_remainder
        super().__init__(map_specs(dataset_spec, source.spec), [source], [self.size, self.shift, self.stride])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        size, shift, stride = (bindings.number(x) for x in (self.size, self.shift, self.stride))
        if min(size, shift, stride) < 1:
            raise ValueError(f"window takes positive numbers, found size {size}, shift {shift} and stride {stride}")
        source = self.inputs[0].iterate(bindings)
        components = component_leaf_counts(self.inputs[0].spec)
        leaf_ends = list(itertools.accumulate(leaf_count for _, leaf_count in components))
        extent = (size - 1) * stride + 1  # source elements from the first to the last of a window
        window: deque[Element] = deque()
        is_exhausted = False
        while True:
            while not is_exhausted and len(window) < extent:
                element = next(source, None)
                if element is None:
                    is_exhausted = True
                else:
                    window.append(element)
            is_remainder = is_exhausted and len(window) < extent
            if not window or (is_remainder and self.drop_remainder):
                return
            elements = list(itertools.islice(window, 0, extent, stride))
            yield [
                BoundDataset(ComputedElements(spec, [element[end - leaf_count : end] for element in elements]))
                for (spec, leaf_count), end in zip(components, leaf_ends, strict=True)
            ]
            for _ in range(shift):
                if window:
                    window.popleft()
                elif not is_exhausted and next(source, None) is None:
                    is_exhausted = True

    def count(self, bindings: Bindings) -> int:
        size, shift, stride = (bindings.number(x) for x in (self.size, self.shift, self.stride))
        source_count = self.inputs[0].count(bindings)
        if source_count < 0:
            return source_count
        last_start = source_count - (size - 1) * stride - 1 if self.drop_remainder else source_count - 1
        return len(range(0, last_start + 1, shift))



class Scan(CountPreservingNode):
    """The outputs of function(state, element), which also returns the next state, beginning with `initial_state`."""

    name = "scan"

    def __init__(self, source: Node, initial_state: Any, state_spec: Any, function: Any) -> None:
        self.function = ElementFunction(function, (state_spec, source.spec), "scan")
        result_spec = self.function.result_spec
        if not isinstance(result_spec, tuple) or len(result_spec) != 2:
            raise TypeError(f"the function of scan has to return (new state, output), found {result_spec}")
        next_state_spec, output_spec = result_spec
        if [spec.dtype for spec in spec_leaves(next_state_spec)] != [spec.dtype for spec in spec_leaves(state_spec)]:
            raise TypeError(f"the state of scan is {state_spec} before an element, and {next_state_spec} after it")
        self.initial_state = [convert_to_tensor(leaf) for leaf in initial_state]
        super().__init__(output_spec, [source], [*self.function.values, *self.initial_state])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        run, state = self.function.runner(bindings), [bindings.resolve(leaf) for leaf in self.initial_state]
        for element in self.inputs[0].iterate(bindings):
            result = run([*state, *element])
            state = list(result[: len(state)])
            yield result[len(state) :]


class Unique(Node):
    """The distinct elements, one tensor each, in order of first occurrence."""

    name = "unique"

    def __init__(self, source: Node) -> None:
        if len(spec_leaves(source.spec)) != 1:
            raise TypeError(f"unique takes a dataset of single tensors, found {source.spec}")
        super().__init__(source.spec, [source])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        distinct_keys = set()
        for element in self.inputs[0].iterate(bindings):
            array = np.asarray(element[0])
            key = (array.shape, tuple(array.flat) if array.dtype == object else array.tobytes())
            if key not in distinct_keys:
                distinct_keys.add(key)
                yield element


class KnownCount(Node):
    """The same elements; iterating raises FailedPreconditionError if there are not `expected_count` of them."""

    name = "assert_cardinality"

    def __init__(self, source: Node, expected_count: Any) -> None:
        self.expected_count = integer_tensor(expected_count)
        super().__init__(source.spec, [source], [self.expected_count])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        expected_count, count = bindings.number(self.expected_count), 0
        for element in self.inputs[0].iterate(bindings):
            count += 1
            if 0 <= expected_count < count:
                break
            yield element
        if count != expected_count and expected_count >= 0:
            prefix = "at least " if count > expected_count else ""
            raise FailedPreconditionError(
                f"Input dataset was expected to contain {expected_count} elements but contained {prefix}{count}."
            )

    def count(self, bindings: Bindings) -> int:
        return bindings.number(self.expected_count)


def thread_count(num_parallel_calls: Any) -> int:
    """Return the number of threads for `num_parallel_calls`: 0 for None, the number of cores for AUTOTUNE."""
    if num_parallel_calls is None:
        return 0
    count = int(num_parallel_calls)
    if count == AUTOTUNE:
        return os.cpu_count() or 1
    if count < 1:
        raise ValueError(f"num_parallel_calls has to be positive, or autoconv.data.AUTOTUNE; found {count}")
    return count
