"""`Graph`: ops recorded in a block, for inspection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.runtime.recording.regions import new_trace, recording
from autoconv.tracing.specialise.trace import LOCK
from autoconv.tracing.views.func_graph import FuncGraph


class Graph(FuncGraph):
    """A graph of the ops in the block `with graph.as_default():`, whose tensors are symbolic.

    There are no sessions: such a graph is for inspection only. To run ops, use a `function`.

    >>> graph = autoconv.Graph()
    >>> with graph.as_default():
    ...     x = autoconv.constant(2.0) * 3.0
    >>> [op.name for op in graph.get_operations()]
    ['Const', 'mul/y', 'mul']
    """

    def __init__(self) -> None:
        self._trace = new_trace("graph")
        super().__init__(self._trace.root.graph, ())

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Record the ops of the block in this graph, which is the value of the block's `as` clause."""
        with LOCK, recording(self._trace.root):
            yield self
        self._captured = tuple(captured for captured, _ in self._trace.captures.values())

    @property
    def captures(self) -> list[tuple[Any, Any]]:
        """Pairs of each captured value and its placeholder."""
        return list(zip(self._captured, self.inputs, strict=False))


__all__ = ["Graph"]
