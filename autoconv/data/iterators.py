"""Iterators over datasets: Python iterators when eager, graph values with a position in a function."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from autoconv.api.ragged.tensor import RaggedTensor
from autoconv.api.sparse.conversion import to_dense
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.data.elements import component_leaf_counts, element_type, rebuild
from autoconv.data.nodes import RunningIterator
from autoconv.data.optional import Optional, zeros_of
from autoconv.errors import OperatorNotAllowedInGraphError, OutOfRangeError
from autoconv.graph.graph import Value
from autoconv.graph.types import IteratorType
from autoconv.operators.control.conditionals import if_exp
from autoconv.operators.support.dataset_protocol import Stream, stream_of
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.recording.tracebacks import present
from autoconv.runtime.support.shape import TypeSpec
from autoconv.runtime.support.structure import flatten, pack
from autoconv.runtime.support.type_spec import is_composite_spec
from autoconv.runtime.tensors.tensor import EagerTensor


class IteratorSpec(TypeSpec):
    """The spec of an iterator: part of the cache key of functions that take one.

    >>> autoconv.data.IteratorSpec(autoconv.TensorSpec([], autoconv.int64)).element_spec
    TensorSpec(shape=(), dtype=autoconv.int64, name=None)
    """

    __slots__ = ("_key", "element_spec")

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec
        self._key: Any = None  # of the element_spec, from the first comparison on

    @property
    def type(self) -> IteratorType:
        return IteratorType(element_type(self.element_spec))

    def __call__(self, value: Any) -> Iterator:
        """Return the iterator for a graph value, or for the `RunningIterator` that a graph has returned."""
        return Iterator(value, self.element_spec)

    def __autoconv_spec__(self) -> IteratorSpec:
        return self

    @property
    def key(self) -> Any:
        """A hashable key that is the same for equal specs."""
        if self._key is None:
            self._key = spec_key(self.element_spec)
        return self._key

    def __eq__(self, other: object) -> bool:
        return other is self or (type(other) is type(self) and self.key == other.key)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.key))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.element_spec!r},)"


class Iterator:
    """An iterator for one pass over a dataset.

    At the end, `next` raises StopIteration. In a graph it raises EndOfSequenceError, which is both an OutOfRangeError
    and a StopIteration.

    >>> iterator = iter(autoconv.data.Dataset.range(3))
    >>> next(iterator).numpy(), next(iterator).numpy()
    (np.int64(0), np.int64(1))
    """

    def __init__(self, value: RunningIterator | Value, element_spec: Any) -> None:
        self._value = value
        self._spec = element_spec
        self._iterator_spec = IteratorSpec(element_spec)

    @property
    def element_spec(self) -> Any:
        return self._spec

    def next(self) -> Any:
        """The next element, as the builtin `next` returns it; raises StopIteration at the end."""
        return self.__next__()

    def get_next(self) -> Any:
        """The next element; raises EndOfSequenceError, an OutOfRangeError, at the end."""
        if current_region() is not None:
            return self.__autoconv_stream__().take()
        assert isinstance(self._value, RunningIterator)
        try:
            return rebuild(self._spec, self._value.take())
        except BaseException as error:
            present(error)
            raise

    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, which has no value at the end."""
        spec = self._spec
        if current_region() is not None:
            stream = self.__autoconv_stream__()
            has_next = stream.advance()
            return Optional(has_next, if_exp(has_next, stream.current, lambda: zeros_of(spec)))
        try:
            return Optional.from_value(self.get_next())
        except OutOfRangeError:
            return Optional.empty(spec)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if current_region() is not None:
            raise OperatorNotAllowedInGraphError(
                "Iterating over a dataset in a graph is not allowed where the code is not converted, as the number of "
                "elements is unknown. Write a for statement in a converted function, or iterator.get_next()."
            )
        assert isinstance(self._value, RunningIterator)
        try:
            has_next = self._value.advance()
        except BaseException as error:
            present(error)
            raise
        if not has_next:
            raise StopIteration
        return rebuild(self._spec, self._value.current())

    def close(self) -> None:
        """End the iterator early, together with its threads."""
        if isinstance(self._value, RunningIterator):
            self._value.close()

    def __repr__(self) -> str:
        return f"<autoconv.data.Iterator element_spec={self._spec}>"

    # ---- protocol of checkpoints

    def _serialize_to_tensors(self) -> dict[str, Any]:
        assert isinstance(self._value, RunningIterator)
        return {"ITERATOR_STATE": np.int64(self._value.position)}

    def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
        assert isinstance(self._value, RunningIterator)
        self._value.move_to(int(tensors["ITERATOR_STATE"].numpy()))

    # ---- protocol for tracing

    __autoconv_builtins__: ClassVar[dict[Any, Callable[..., Any]]] = {}

    def __autoconv_spec__(self) -> IteratorSpec:
        return self._iterator_spec

    @property
    def __autoconv_graph_type__(self) -> IteratorType:
        return self._iterator_spec.type

    def __autoconv_run_value__(self) -> Any:
        return self._value

    def __autoconv_resource__(self, region: Region) -> Value:
        if isinstance(self._value, Value):
            return self._value
        return region.trace.capture(self._value, self._iterator_spec.type, "iterator")

    def __autoconv_graph_value__(self) -> Value:
        region = current_region()
        assert region is not None
        return self.__autoconv_resource__(region)

    def __autoconv_wrap__(self) -> IteratorSpec:
        return self._iterator_spec

    def __autoconv_stream__(self) -> Stream:
        return Stream(self.__autoconv_graph_value__(), lambda leaves: rebuild(self._spec, leaves))


def _next(iterator: Any, *default: Any) -> Any:
    """Return next(iterator, *default) in a graph."""
    stream = stream_of(iterator)
    return if_exp(stream.advance(), stream.current, lambda: default[0]) if default else stream.take()


Iterator.__autoconv_builtins__.update({builtins.next: _next, builtins.iter: builtins.iter})


def spec_key(spec: Any) -> Any:
    """Return a hashable key that is the same for equal specs."""
    leaves, template = flatten(spec)
    return template, tuple(leaves)


def as_numpy(spec: Any, leaves: Any) -> Any:
    """Return an element with arrays and NumPy scalars in place of tensors, and iterators in place of datasets."""
    _, template = flatten(spec)
    values, start = [], 0
    for component_spec, count in component_leaf_counts(spec):
        component_leaves, start = leaves[start : start + count], start + count
        if is_composite_spec(component_spec):
            values.append(_composite_as_numpy(component_spec, component_leaves))
        else:
            values.append(_leaf_as_numpy(component_spec, component_leaves[0]))
    return pack(template, values)


def _composite_as_numpy(spec: TypeSpec, leaves: Sequence[Any]) -> Any:
    """Return the value of a composite spec as an array if it is a tensor of any kind, otherwise unchanged."""
    value = rebuild(spec, leaves)
    if isinstance(value, SparseTensor):
        value = to_dense(value, validate_indices=False)
    return value.numpy() if isinstance(value, (EagerTensor, RaggedTensor)) else value


def _leaf_as_numpy(spec: Any, leaf: Any) -> Any:
    """Return an array, or an iterator over the dataset of a nested spec."""
    return spec(leaf).as_numpy_iterator() if hasattr(spec, "element_spec") else EagerTensor(leaf).numpy()
