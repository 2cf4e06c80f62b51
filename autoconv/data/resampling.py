"""Changes of the sequence of elements: batches of other sizes, another class distribution, no failing elements."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.data.elements import map_specs, spec_leaves
from autoconv.data.functions import ElementFunction
from autoconv.data.nodes import Bindings, Element, Node
from autoconv.data.shuffling import RandomStream
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.tensors.static_values import static_value

_PRIOR_COUNT = 10  # initial count of each class in an estimated distribution


class Rebatch(Node):
    """The rows of batches in new batches, whose sizes are those of `batch_size` in turns."""

    name = "rebatch"

    def __init__(self, source: Node, batch_size: Any, drop_remainder: bool) -> None:
        static_sizes = static_value(batch_size) if not isinstance(batch_size, (list, tuple)) else np.asarray(batch_size)
        if static_sizes is None:
            raise ValueError(f"the sizes of batches have to be known when a dataset is made, found {batch_size!r}")
        self.sizes = np.atleast_1d(static_sizes).astype(np.int64).tolist()
        if not self.sizes or min(self.sizes) < 1:
            raise InvalidArgumentError(f"Batch size must be positive: {self.sizes}")
        for leaf in spec_leaves(source.spec):
            if not isinstance(leaf, TensorSpec) or leaf.shape.rank == 0:
                raise ValueError(f"rebatch takes elements made of tensors with rows, found {leaf}: batch them first")
        self.drop_remainder = bool(drop_remainder)
        static_size = self.sizes[0] if self.drop_remainder and len(set(self.sizes)) == 1 else None
        super().__init__(map_specs(lambda leaf: _with_rows(leaf, static_size), source.spec), [source])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        size_index, pending_batches, row_count = 0, [], 0
        for element in self.inputs[0].iterate(bindings):
            batch = [np.asarray(leaf) for leaf in element]
            pending_batches.append(batch)
            row_count += len(batch[0]) if batch else 0
            while row_count >= self.sizes[size_index]:
                joined_rows, size = _concat_rows(pending_batches), self.sizes[size_index]
                yield [leaf[:size] for leaf in joined_rows]
                pending_batches, row_count = [[leaf[size:] for leaf in joined_rows]], row_count - size
                size_index = (size_index + 1) % len(self.sizes)
        if row_count and not self.drop_remainder:
            yield _concat_rows(pending_batches)


def _concat_rows(elements: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Return for each component the rows of all elements, joined."""
    return [np.concatenate(leaves) for leaves in zip(*elements, strict=True)]


def _with_rows(spec: TensorSpec, rows: int | None) -> TensorSpec:
    """Return the spec with `rows` rows, an open number for None."""
    return spec if spec.shape.rank is None else TensorSpec(TensorShape([rows, *spec.shape.as_list()[1:]]), spec.dtype)


class RejectionResample(Node):
    """Pairs of the class of an element and the element, dropped at random to give the classes a distribution.

    An element of class c is kept with a probability in proportion to target[c] / initial[c]; the largest probability
    is 1. Without an initial distribution, that of the elements so far is used.
    """

    name = "rejection_resample"

    def __init__(
        self, source: Node, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any, seed: int | None
    ) -> None:
        self.class_function = ElementFunction(class_func, source.spec, self.name)
        class_spec = self.class_function.result_spec
        if not isinstance(class_spec, TensorSpec) or not class_spec.dtype.is_integer:
            raise TypeError(f"class_func has to give the number of a class, found {class_spec}")
        self.target_distribution = np.asarray(target_dist, np.float64)
        self.initial_distribution = None if initial_dist is None else np.asarray(initial_dist, np.float64)
        self.stream = RandomStream(seed)
        super().__init__((class_spec, source.spec), [source], self.class_function.values)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        class_function, draws = self.class_function.runner(bindings), self.stream.begin()
        class_counts = np.full(self.target_distribution.shape, _PRIOR_COUNT)
        for element in self.inputs[0].iterate(bindings):
            (class_number,) = class_function(element)
            class_counts[int(class_number)] += 1
            probabilities = self._probabilities_of_keeping(class_counts / class_counts.sum())
            if draws.draw_word() < 2**32 * probabilities[int(class_number)]:
                yield [class_number, *element]

    def _probabilities_of_keeping(self, estimated_probabilities: np.ndarray) -> np.ndarray:
        """Return for each class the probability with which an element of it is kept."""
        distribution = estimated_probabilities if self.initial_distribution is None else self.initial_distribution
        ratio: np.ndarray = self.target_distribution / np.maximum(distribution, np.finfo(np.float32).tiny)
        return ratio / max(ratio.max(), np.finfo(np.float32).tiny)


class IgnoreErrors(Node):
    """The elements for which the functions of `map` and `filter` in the steps before this one raise no error."""

    name = "ignore_errors"

    def __init__(self, source: Node, log_warning: bool) -> None:
        self.log_warning = log_warning
        super().__init__(source.spec, [source])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        source = self.inputs[0].iterate(bindings.with_on_error(self._log_error))
        while True:
            try:
                element = next(source, None)
            except Exception as error:  # raised by the source itself, which ends it
                self._log_error(error)
                return
            if element is None:
                return
            yield element

    def _log_error(self, error: Exception) -> None:
        """Log an error of an element if `log_warning` is set."""
        if self.log_warning:
            logging.getLogger("autoconv").warning("Error raised with error message %s", error)
