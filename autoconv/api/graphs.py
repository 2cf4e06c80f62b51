"""`Graph`: ops that are recorded in a block, for looking at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.runtime.recording import FUNCTION, new_trace, recording
from autoconv.tracing.func_graph import FuncGraph
from autoconv.tracing.trace import LOCK


class Graph(FuncGraph):
    """Ops in the block `with graph.as_default():` are recorded into the graph, whose tensors are symbolic.

    There are no sessions: a graph of this kind is there to be looked at. What is to run is a `function`.
    """

    def __init__(self) -> None:
        self._trace = new_trace("graph", FUNCTION)
        super().__init__(self._trace.root.graph, ())

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Has the ops of the block recorded here; the block gets the graph."""
        with LOCK, recording(self._trace.root):
            yield self
        self._captured = tuple(captured for captured, _ in self._trace.captures.values())

    @property
    def captures(self) -> list[tuple[Any, Any]]:
        """Pairs of what the graph took from outside, and its placeholder."""
        return list(zip(self._captured, self.inputs, strict=False))


__all__ = ["Graph"]
