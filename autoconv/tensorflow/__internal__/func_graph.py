"""A graph to record in, with a name."""

from __future__ import annotations

from autoconv.api.control.graphs import Graph


class FuncGraph(Graph):
    """A graph of the ops in the block `with graph.as_default():`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._given_name = name

    @property
    def name(self) -> str:
        return self._given_name
