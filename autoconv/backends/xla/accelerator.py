"""Accelerators as devices: they run the eager ops and graphs that a `device` block requests for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.protocol import CompiledGraph
from autoconv.backends.xla.backend import XlaBackend, XlaGraph
from autoconv.backends.xla.device_array import DeviceArray
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.graph.types import TensorType, Type

_MAX_GRAPHS = 1024  # graphs whose code is kept


class Accelerator:
    """A GPU or TPU of XLA's. Results stay in the device's memory until they are fetched."""

    def __init__(self, backend: XlaBackend) -> None:
        self._backend = backend
        self._compiled: dict[str, CompiledGraph] = {}

    def compile(self, graph: object) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a function that runs a graph on the device, or natively if the graph has no form for XLA."""
        assert isinstance(graph, Graph)
        text = to_text(graph)
        compiled = self._compiled.get(text)
        if compiled is None:
            compiled = self._backend.compile(graph)
            if len(self._compiled) < _MAX_GRAPHS and "<opaque" not in text:  # the text does not identify opaque objects
                self._compiled[text] = compiled
        types = [value.type for value in graph.outputs]

        def run(arguments: Sequence[Any]) -> list[Any]:
            if isinstance(compiled, XlaGraph):
                results = compiled.run(arguments, keep_on_device=True)
            else:
                results = compiled([x.fetch() if isinstance(x, DeviceArray) else x for x in arguments])
            return [_as_device_array(value, type_) for value, type_ in zip(results, types, strict=True)]

        return run


def _as_device_array(value: Any, type_: Type) -> Any:
    """Return an array that native code made as a DeviceArray, and other values unchanged."""
    is_local = isinstance(value, (np.ndarray, np.generic)) and isinstance(type_, TensorType)
    return DeviceArray(None, type_, None, np.asarray(value)) if is_local else value
