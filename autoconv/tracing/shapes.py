"""Graphs whose arguments come in several shapes: native code for each of the shapes that are met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.form import CallForm
from autoconv.graph.graph import Graph, Span
from autoconv.graph.types import TensorType
from autoconv.optimise import optimise
from autoconv.optimise.specialise import CannotSpecialise, is_static, specialise

Run = Callable[[Sequence[Any]], list[Any]]
_ENTRIES = 4  # that are tried for a call before its arguments are looked at
Shapes = tuple[tuple[int, ...], ...]
AT_ONCE, MOST_SHAPES = 3, 16  # that have code of their own; others run as the graph was traced, op by op
MOST_SEEN = 256


def depends_on_shapes(graph: Graph) -> bool:
    """Whether the graph was traced for arguments of more than one shape."""
    return any(not is_static(value.type) for value in graph.parameters)


class ByShape:
    """Runs `graph`: called with a list of arguments it answers a list of results. The results do not depend on whether
    a shape has code of its own."""

    def __init__(self, graph: Graph, compile_graph: Callable[..., Run], contract: str, form: CallForm | None) -> None:
        self._graph = graph
        self._compile = compile_graph
        self._contract = contract
        self._form = form
        self._entries: tuple[Callable[..., Any], ...] = ()
        self._open = [i for i, value in enumerate(graph.parameters) if not is_static(value.type)]
        self._runs: dict[Shapes, Run] = {}
        self._seen: set[Shapes] = set()
        self._any: Run | None = None

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        shapes = tuple(np.shape(arguments[i]) for i in self._open)
        run = self._runs.get(shapes)
        if run is None:
            run = self._run_for(shapes) if self._is_worth_it(shapes) else self._for_any()
        return run(arguments)

    def _is_worth_it(self, shapes: Shapes) -> bool:
        """Whether the shapes get code of their own: the first few do at once, others when they come again."""
        if len(self._runs) < AT_ONCE or (shapes in self._seen and len(self._runs) < MOST_SHAPES):
            return True
        if len(self._seen) < MOST_SEEN:
            self._seen.add(shapes)
        return False

    def entry(self, *arguments: Any) -> Any:
        """A user's call, where the code for one of the last few shapes takes it; else NotImplemented."""
        for entry in self._entries:
            found = entry(*arguments)
            if found is not NotImplemented:
                return found
        return NotImplemented

    @property
    def kernel_calls(self) -> list[tuple[str, Span | None]] | None:
        """Of the code for the shapes that were met last: the ops that run by kernels; None where no shape was met."""
        runs = [*self._runs.values()]
        return getattr(runs[-1], "kernel_calls", None) if runs else None

    def _run_for(self, shapes: Shapes) -> Run:
        types = [value.type for value in self._graph.parameters]
        for i, shape in zip(self._open, shapes, strict=True):
            type_ = types[i]
            assert isinstance(type_, TensorType)
            types[i] = replace(type_, shape=shape)
        try:
            narrow = optimise(specialise(self._graph, types), contract=self._contract)
        except CannotSpecialise:
            run = self._for_any()
        else:
            run = self._compile(narrow, self._form)
            entry = getattr(run, "entry", None)
            if entry is not None:
                self._entries = (entry, *self._entries[: _ENTRIES - 1])
        self._runs[shapes] = run
        return run

    def _for_any(self) -> Run:
        if self._any is None:
            self._any = self._compile(self._graph)
        return self._any
