"""The process of a task: it runs graphs that arrive as text, each compiled once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from autoconv.backends import compile_graph
from autoconv.backends.protocol import CompiledGraph
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS


class Worker:
    """A task's state: the graphs that it has compiled, by their text."""

    def __init__(self) -> None:
        self._compiled: dict[str, CompiledGraph] = {}

    def ready(self) -> int:
        """Return the number of the process."""
        return os.getpid()

    def run(self, text: str, *arguments: Any) -> Any:
        """Run a graph on arrays; return an array, or as many as the graph has outputs. Raises the graph's errors."""
        if text not in self._compiled:
            self._compiled[text] = compile_graph(from_text(text, OPS))
        # Arrays of another process have dtypes of their own, which native code does not take.
        results = self._compiled[text]([_own_copy(argument) for argument in arguments])
        return results[0] if len(results) == 1 else tuple(results)


def _own_copy(argument: Any) -> Any:
    return np.array(argument) if isinstance(argument, np.ndarray) else argument

