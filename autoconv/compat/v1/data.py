"""Datasets of version 1: iterators whose elements are tensors of the graph."""

from __future__ import annotations

from collections import abc  # `Iterator` is a public name of this namespace, that of version 2
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
from autoconv.data.dataset import GRAPH_ITERATOR
from autoconv.errors import FailedPreconditionError, OutOfRangeError
from autoconv.runtime.recording.regions import recording


class GraphIterator:
    """An iterator of a dataset in a graph: each session iterates over the elements by itself.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     element = autoconv.compat.v1.data.make_one_shot_iterator(autoconv.data.Dataset.range(3)).get_next()
    ...     [session.run(element), session.run(element)]
    [np.int64(0), np.int64(1)]
    """

    def __init__(self, dataset: data.Dataset, initializable: bool) -> None:
        graph = graph_being_built()
        if graph is None:
            raise RuntimeError("an iterator of version 1 needs a graph: where ops run at once, write iter(dataset).")
        self.element_spec = dataset.element_spec
        with outside_of_control_flow(graph):
            self._dataset = dataset.__autoconv_graph_value__()
        self._states: WeakKeyDictionary[Any, abc.Iterator[Any]] = WeakKeyDictionary()
        self._is_initializable = initializable
        self.initializer: Any = None
        if initializable:
            self.initializer = StartOperation(graph.unique_name("MakeIterator"), graph, self._dataset, self._start)
            add_to_collection(GraphKeys.TABLE_INITIALIZERS, self.initializer)

    def get_next(self, name: str | None = None) -> Any:
        """Return the tensors of the next element, in its structure.

        A run raises OutOfRangeError after the last element, and FailedPreconditionError before the initializer has run.
        """
        specs = nest.flatten(self.element_spec)
        elements = as_operation(lambda: numpy_function(self._next, [], specs, name=name or "IteratorGetNext"))
        return nest.pack_sequence_as(self.element_spec, list(elements))

    def _start(self, session: Any, dataset_value: Any) -> None:
        with recording(None):
            self._states[session] = iter(data.DatasetSpec(self.element_spec)(dataset_value))

    def _next(self) -> list[Any]:
        session = running_session()
        if session not in self._states:
            if self._is_initializable:
                raise FailedPreconditionError("the iterator has not been initialized: run its initializer first")
            self._start(session, session.run_value(self._dataset))
        try:
            element = next(self._states[session])
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None
        return [np.asarray(part) for part in nest.flatten(element)]


def make_one_shot_iterator(dataset: data.Dataset) -> GraphIterator:
    """Return an iterator over the dataset, which each session runs once.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.data.make_one_shot_iterator(autoconv.data.Dataset.range(3)).get_next().dtype
    autoconv.int64
    """
    return GraphIterator(dataset, initializable=False)


def make_initializable_iterator(dataset: data.Dataset, shared_name: str | None = None) -> GraphIterator:
    """Return an iterator that restarts each time its `initializer` runs.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     iterator = autoconv.compat.v1.data.make_initializable_iterator(autoconv.data.Dataset.range(3))
    ...     element = iterator.get_next()
    ...     session.run(iterator.initializer)
    ...     session.run(element)
    np.int64(0)
    """
    return GraphIterator(dataset, initializable=True)


GRAPH_ITERATOR.set(GraphIterator)

__all__ = ["GraphIterator", "make_initializable_iterator", "make_one_shot_iterator"]


def __getattr__(name: str) -> Any:
    """Return the names that have the same meaning in version 2."""
    return getattr(data, name)
