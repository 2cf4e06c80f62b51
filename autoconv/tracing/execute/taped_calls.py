"""Calls of a trace that tapes record: each is one differentiable op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.autodiff.memory import replace_memory
from autoconv.errors import StagingError
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType
from autoconv.optimise import optimise
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.recording import tape_recorders
from autoconv.tracing.execute.differentiable import DifferentiableGraph
from autoconv.tracing.execute.recording import PARAMETER_KEYS
from autoconv.tracing.execute.run_values import taped_leaf, to_taped_input
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import Key


class NotDifferentiable(Exception):
    """Raised for a call that a tape cannot differentiate, which then runs as plain Python; its text is the reason."""


class TapedCalls:
    """The differentiable form of a trace's graph, and its calls.

    The differentiable graph has tensors in place of arrays that are traced as memory. Its further outputs are the
    contents of those arrays that the trace's graph writes.
    """

    def __init__(
        self, key: Key, graph: Graph, run: Callable[[Sequence[Any]], list[Any]], name: str, contract: str,
        backend: str | None, runs_plain: bool,
    ) -> None:  # fmt: skip
        self._key = key
        self._runs_plain = runs_plain
        self._output_count = len(graph.outputs)
        self._array_positions = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
        self._written_positions: list[int] = []
        if any(isinstance(leaf, ArrayKey) for leaf in key.leaves):
            try:
                graph_without_memory, self._written_positions = replace_memory(graph)
            except StagingError as error:
                raise NotDifferentiable(error.message) from None
            graph = optimise(graph_without_memory, contract=contract)
            self.graph = DifferentiableGraph(graph, name, contract, backend=backend)
        else:
            self.graph = DifferentiableGraph(graph, name, contract, run, backend)

    def call(self, leaves: Sequence[Any], captures: Sequence[Any]) -> list[Any]:
        """Return the outputs of the graph for the leaves of the arguments; store the contents of written arrays.

        Under `compile`, raises NotDifferentiable for a call that plain Python may differentiate.
        """
        pairs = list(zip(leaves, self._key.leaves, strict=True))
        inputs = [taped_leaf(leaf, key) for leaf, key in pairs if isinstance(key, PARAMETER_KEYS)]
        inputs += [to_taped_input(capture) if isinstance(capture, np.ndarray) else capture for capture in captures]
        for value in inputs:
            variable = value.variable() if isinstance(value, Storage) else None
            if variable is not None:
                tape_recorders.watch_used_variable(variable)
        if self._runs_plain and (reason := self.graph.refusal(inputs)):
            raise NotDifferentiable(reason)
        results = self.graph.call(inputs)
        arrays = [leaf for leaf, key in pairs if isinstance(key, ArrayKey)]
        for position, result in zip(self._written_positions, results[self._output_count :], strict=True):
            arrays[self._array_positions.index(position)][...] = result._array
        return results[: self._output_count]
