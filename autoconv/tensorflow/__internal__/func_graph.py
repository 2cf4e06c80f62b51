"""A named graph for recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.api.control.graphs import Graph
from autoconv.runtime.recording.regions import current_region, recording, subregion


class FuncGraph(Graph):
    """A graph of the ops in `with graph.as_default():`, which may use the tensors of the function that is traced."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._graph_name = name

    @property
    def name(self) -> str:
        return self._graph_name

    @property
    def building_function(self) -> bool:
        return True

    @contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """Record the ops of the `with` block in this graph; in a traced function, in a region of the trace."""
        outer_region = current_region()
        if outer_region is None or outer_region.trace is self._trace:
            with super().as_default():
                yield self
            return
        region = subregion(outer_region, self._graph_name)
        region.is_block = True  # placeholders in the `with` block become parameters of this graph, not of the trace
        with recording(region):
            yield self
