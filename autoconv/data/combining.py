"""Nodes that combine datasets: zip, concatenate, flat_map, interleave, sample_from_datasets."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.data.elements import join_element_specs
from autoconv.data.functions import ElementFunction
from autoconv.data.nodes import INFINITE, UNKNOWN, Bindings, Element, Node, check_positive
from autoconv.data.shuffling import RandomStream
from autoconv.data.threads import prefetch
from autoconv.data.transforms import thread_count
from autoconv.ops.random.philox import Philox
from autoconv.runtime.support.structure import Template, pack


class Zip(Node):
    """The elements of several datasets in a structure, up to the end of the shortest dataset.

    `strict` raises ValueError if they do not end together, as Python's zip does.
    """

    name = "zip"

    def __init__(self, sources: Sequence[Node], template: Template | None, strict: bool = False) -> None:
        self.strict = strict
        super().__init__(pack(template, [source.spec for source in sources]), sources)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        sources = [source.iterate(bindings) for source in self.inputs]
        for elements in zip(*sources, strict=self.strict):
            yield [leaf for element in elements for leaf in element]

    def count(self, bindings: Bindings) -> int:
        counts = [source.count(bindings) for source in self.inputs]
        finite_counts = [count for count in counts if count != INFINITE]
        if not finite_counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in finite_counts else min(finite_counts)


class Concatenate(Node):
    """The elements of each dataset, one dataset after the other."""

    name = "concatenate"

    def __init__(self, sources: Sequence[Node]) -> None:
        super().__init__(_joined_spec(sources), sources)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        for source in self.inputs:
            yield from source.iterate(bindings)

    def count(self, bindings: Bindings) -> int:
        counts = [source.count(bindings) for source in self.inputs]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)


def _joined_spec(sources: Sequence[Node]) -> Any:
    """Return the spec that the elements of all datasets have in common; raise TypeError if there is none."""
    return functools.reduce(join_element_specs, [source.spec for source in sources])


class Interleave(Node):
    """Elements of the datasets that a function returns for each element of the source.

    `cycle_length` of these datasets are open at a time and take turns of `block_length` elements each. An exhausted
    dataset is replaced by the dataset of the next source element. flat_map is an interleave with a cycle length of one.
    """

    name = "interleave"

    def __init__(
        self, source: Node, function: Any, cycle_length: Any, block_length: Any, num_parallel_calls: Any,
        method_name: str,
    ) -> None:  # fmt: skip
        self.function = ElementFunction(function, source.spec, method_name)
        if not hasattr(self.function.result_spec, "element_spec"):
            raise TypeError(
                f"The function of `{method_name}` must return a dataset. Got {self.function.result_spec}. "
                "Dataset.from_tensors(value) makes one of a single element."
            )
        self.cycle_length = check_positive("cycle_length", cycle_length)
        self.block_length = check_positive("block_length", block_length)
        self.uses_threads = thread_count(num_parallel_calls) > 0
        values = [*self.function.values, self.cycle_length, self.block_length]
        super().__init__(self.function.result_spec.element_spec, [source], values)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        dataset_of, source = self.function.runner(bindings), self.inputs[0].iterate(bindings)
        cycle_length, block_length = bindings.number(self.cycle_length), bindings.number(self.block_length)
        if min(cycle_length, block_length) < 1:
            raise ValueError(
                f"cycle_length and block_length have to be positive, found {cycle_length} and {block_length}"
            )
        open_datasets: list[Iterator[Element] | None] = [None] * cycle_length
        position = taken_count = 0
        is_exhausted = False
        while not is_exhausted or any(open_datasets):
            element_iterator = open_datasets[position]
            if element_iterator is None:
                source_element = None if is_exhausted else next(source, None)
                if source_element is not None:
                    (dataset,) = dataset_of(source_element)
                    open_datasets[position] = self._start_pass(dataset)
                    continue
                is_exhausted = True
            else:
                element = next(element_iterator, None)
                if element is not None:
                    yield element
                    taken_count += 1
                    if taken_count < block_length:
                        continue
                else:
                    open_datasets[position] = None
            position, taken_count = (position + 1) % cycle_length, 0

    def _start_pass(self, dataset: Any) -> Iterator[Element]:
        """Return the elements of a dataset; with `uses_threads`, a thread of its own computes two of them ahead."""
        elements: Iterator[Element] = dataset.iterate()
        return prefetch(elements, 2) if self.uses_threads else elements


class Sample(Node):
    """Elements of several datasets: each is the next element of a dataset that is drawn at random.

    `weights` are the probabilities up to a factor. If there is a `choice_dataset`, its integers choose the datasets
    instead. With `stops_at_end`, the first end of a dataset ends the sample; otherwise the other datasets continue. If
    it `redraws`, each pass has its own draws.
    """

    name = "sample_from_datasets"

    def __init__(
        self, sources: Sequence[Node], stops_at_end: bool, weights: Any = None, seed: Any = 0,
        redraws: bool | None = False, choice_dataset: Node | None = None,
    ) -> None:  # fmt: skip
        spec = _joined_spec(sources)
        self.weights = np.ones(len(sources)) if weights is None else np.asarray(weights, np.float64)
        if self.weights.shape != (len(sources),) or (self.weights < 0).any() or not self.weights.sum():
            raise ValueError(f"one weight of at least 0 is needed for each of {len(sources)} datasets, found {weights}")
        self.stream = RandomStream(seed, reshuffles=bool(redraws))
        self.stops_at_end = stops_at_end
        self.choice_dataset = choice_dataset
        super().__init__(spec, [*sources, *([choice_dataset] if choice_dataset is not None else [])])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        sources = self.inputs[: len(self.weights)]
        open_iterators: dict[int, Iterator[Element]] = {i: source.iterate(bindings) for i, source in enumerate(sources)}
        for choice in self._choices(open_iterators, bindings):
            if choice not in open_iterators:
                if not 0 <= choice < len(sources):
                    raise ValueError(f"the choice dataset chose {choice}, and there are {len(sources)} datasets")
                continue
            element = next(open_iterators[choice], None)
            if element is not None:
                yield element
            elif self.stops_at_end:
                return
            else:
                del open_iterators[choice]
                if not open_iterators:
                    return

    def count(self, bindings: Bindings) -> int:
        if self.choice_dataset is not None:
            return UNKNOWN
        drawn_sources = [source for source, weight in zip(self.inputs, self.weights, strict=True) if weight > 0]
        are_infinite = [source.count(bindings) == INFINITE for source in drawn_sources]
        return INFINITE if (all if self.stops_at_end else any)(are_infinite) else UNKNOWN

    def _choices(self, open_iterators: dict[int, Any], bindings: Bindings) -> Iterator[int]:
        """Yield for each element the index of the dataset from which it is taken."""
        if self.choice_dataset is not None:
            for element in self.choice_dataset.iterate(bindings):
                yield int(element[0])
            return
        # Like TensorFlow's op for categorical draws: from float32 logits, with sums in float64.
        candidates = [i for i in range(len(self.weights)) if self.weights[i] > 0]
        logits = np.log(self.weights[candidates].astype(np.float32))
        cumulative_weights = np.cumsum(np.exp(logits - logits.max()), dtype=np.float64)
        draws = self.stream.begin()
        while any(i in open_iterators for i in candidates):
            high_word, low_word = Philox.of_seed(draws.draw_word(), draws.draw_word()).words(2).tolist()
            # 52 random bits as a number from 0 to 1, exclusive: TensorFlow's uniform float64.
            fraction = ((high_word & 0xFFFFF) << 32 | low_word) * 2.0**-52
            index = int(np.searchsorted(cumulative_weights, fraction * cumulative_weights[-1], "right"))
            yield candidates[min(index, len(candidates) - 1)]
