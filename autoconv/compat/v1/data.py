"""Datasets of version 1: iterators in a graph, whose next elements are tensors."""

from __future__ import annotations

from collections import abc
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autoconv import data, nest
from autoconv.api.control.graph_variable import outside_of_control_flow
from autoconv.api.control.graphs import graph_being_built
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.compat.v1.collections import GraphKeys, add_to_collection
from autoconv.compat.v1.operations import StartOperation, as_operation
from autoconv.compat.v1.session import running_session
from autoconv.data.dataset import GRAPH_ITERATOR_HOOK
from autoconv.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from autoconv.graph.dtypes import string
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


class Iterator:
    """An iterator of a dataset in a graph: each session has its own position in the dataset.

    `from_structure` returns an iterator for several datasets; the operations that `make_initializer` returns start it
    on one of them. An iterator of `from_string_handle` gives the elements of another iterator, whose `string_handle`
    is fed.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     element = autoconv.compat.v1.data.make_one_shot_iterator(autoconv.data.Dataset.range(3)).get_next()
    ...     [session.run(element), session.run(element)]
    [np.int64(0), np.int64(1)]
    """

    def __init__(
        self, dataset: data.Dataset | None, initializable: bool, element_spec: Any = None, handle: Any = None
    ) -> None:
        graph = graph_being_built()
        if graph is None:
            raise RuntimeError("an iterator of version 1 needs a graph: where ops run eagerly, write iter(dataset).")
        self.element_spec = element_spec if dataset is None else dataset.element_spec
        # The dataset on which the iterator starts by itself.
        self._dataset = None if dataset is None or initializable else _dataset_value(dataset, graph)
        self._states: WeakKeyDictionary[Any, abc.Iterator[Any]] = WeakKeyDictionary()
        self._handle = handle
        self._name = graph.unique_name("Iterator")
        self._iterators_by_name: dict[bytes, Iterator] = graph.attachments.setdefault("iterators", {})
        self._iterators_by_name[self._name.encode()] = self
        self.initializer: Any = None
        if initializable and dataset is not None:
            self.initializer = self.make_initializer(dataset)
            add_to_collection(GraphKeys.TABLE_INITIALIZERS, self.initializer)

    @classmethod
    def from_structure(cls, output_types: Any, output_shapes: Any = None, *_: Any, **__: Any) -> Iterator:
        """Return an iterator without a dataset, for elements of these dtypes and shapes."""
        return cls(None, initializable=True, element_spec=_element_spec(output_types, output_shapes))

    @classmethod
    def from_string_handle(
        cls, string_handle: Any, output_types: Any, output_shapes: Any = None, *_: Any, **__: Any
    ) -> Iterator:
        """Return an iterator whose elements are those of the iterator with this handle, a string tensor."""
        spec = _element_spec(output_types, output_shapes)
        return cls(None, initializable=False, element_spec=spec, handle=convert_to_tensor(string_handle))

    def make_initializer(self, dataset: data.Dataset, name: str | None = None) -> Any:
        """Return the operation that starts the iterator on a dataset; raises TypeError for incompatible elements."""
        specs, expected_specs = nest.flatten(dataset.element_spec), nest.flatten(self.element_spec)
        pairs = zip(specs, expected_specs, strict=False)
        if len(specs) != len(expected_specs) or not all(spec.is_compatible_with(other) for spec, other in pairs):
            raise TypeError(f"Expected elements {self.element_spec} but got dataset with {dataset.element_spec}.")
        graph = graph_being_built()
        assert graph is not None
        name = graph.unique_name(name or "MakeIterator")
        return StartOperation(name, graph, _dataset_value(dataset, graph), self._start)

    def string_handle(self, name: str | None = None) -> Any:
        """Return a scalar string tensor to feed to an iterator of `from_string_handle`."""
        return constant(self._name, string, name=name or "IteratorToStringHandle")

    def get_next(self, name: str | None = None) -> Any:
        """Return the tensors of the next element, in its structure.

        A run raises OutOfRangeError after the last element, and FailedPreconditionError before the initializer has run.
        """
        specs = nest.flatten(self.element_spec)
        inputs = [] if self._handle is None else [self._handle]
        elements = as_operation(lambda: numpy_function(self._next, inputs, specs, name=name or "IteratorGetNext"))
        return nest.pack_sequence_as(self.element_spec, list(elements))

    def _start(self, session: Any, dataset_value: Any) -> None:
        """Begin a pass over a dataset in a session, where the dataset has the run-time value `dataset_value`."""
        with recording(region=None):
            self._states[session] = iter(data.DatasetSpec(self.element_spec)(dataset_value))

    def _next(self, handle: bytes | None = None) -> list[Any]:
        """Return the next element's arrays in the running session, of this iterator or the one named `handle`."""
        if handle is not None:
            if handle not in self._iterators_by_name:
                raise InvalidArgumentError(f"the handle {handle!r} is that of no iterator of this graph")
            return self._iterators_by_name[handle]._next()
        session = running_session()
        if session not in self._states:
            if self._dataset is None:
                raise FailedPreconditionError("the iterator has not been initialized: run its initializer first")
            self._start(session, session.run_value(self._dataset))
        try:
            element = next(self._states[session])
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None
        return [np.asarray(component) for component in nest.flatten(element)]


def _dataset_value(dataset: data.Dataset, graph: Any) -> Any:
    """Return the value of a dataset in the graph, recorded outside of loops and conditionals."""
    with outside_of_control_flow(graph):
        return dataset.__autoconv_graph_value__()


def _element_spec(types: Any, shapes: Any) -> Any:
    """Return the specs of elements from the structures of their dtypes and shapes; without shapes, of any shape."""
    if isinstance(types, dict):
        return {key: _element_spec(types[key], None if shapes is None else shapes[key]) for key in types}
    if isinstance(types, (list, tuple)):
        specs = map(_element_spec, types, [None] * len(types) if shapes is None else shapes)
        return nest.pack_sequence_as(types, nest.flatten(list(specs)))
    return TensorSpec(shapes, types)


def make_one_shot_iterator(dataset: data.Dataset) -> Iterator:
    """Return an iterator that passes over the dataset once in each session.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.data.make_one_shot_iterator(autoconv.data.Dataset.range(3)).get_next().dtype
    autoconv.int64
    """
    return Iterator(dataset, initializable=False)


def make_initializable_iterator(dataset: data.Dataset, shared_name: str | None = None) -> Iterator:
    """Return an iterator that restarts each time its `initializer` runs.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     iterator = autoconv.compat.v1.data.make_initializable_iterator(autoconv.data.Dataset.range(3))
    ...     element = iterator.get_next()
    ...     session.run(iterator.initializer)
    ...     session.run(element)
    np.int64(0)
    """
    return Iterator(dataset, initializable=True)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Return the dtypes of the elements, in their structure.

    >>> autoconv.compat.v1.data.get_output_types(autoconv.data.Dataset.range(3))
    autoconv.int64
    """
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Return the shapes of the elements, in their structure.

    >>> autoconv.compat.v1.data.get_output_shapes(autoconv.data.Dataset.range(6).batch(2))
    TensorShape([None])
    """
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Return the classes of the elements, in their structure.

    >>> autoconv.compat.v1.data.get_output_classes(autoconv.data.Dataset.range(3)).__name__
    'Tensor'
    """
    specs = dataset_or_iterator.element_spec
    return nest.map_structure(lambda spec: Tensor if type(spec) is TensorSpec else spec.value_type, specs)


GRAPH_ITERATOR_HOOK.set(Iterator)


def __getattr__(name: str) -> Any:
    """Return a name of `autoconv.data`, whose meaning is the same in both versions."""
    return getattr(data, name)
