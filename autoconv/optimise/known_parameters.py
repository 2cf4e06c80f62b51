"""Replacement of parameters by constants, for arguments that are fixed.

    before   graph f(%x: array<float64[?]>, %steps: int64) { … }
    after    graph f(%x: array<float64[?]>) {              with steps = 5
               %steps = constant(value=5)
               …

Not in the table of optimisations: it is called when a graph is exported with some of its arguments fixed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autoconv.graph.graph import Graph
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.ops import OPS


def fix_parameters(graph: Graph, values: Mapping[int, object]) -> Graph:
    """Return the graph with constants in place of the tensor parameters at the positions in `values`."""
    rewriter = Rewriter(graph, shared=None)
    parameter_copies = set()  # those that constants replace
    for position, value in values.items():
        parameter = graph.parameters[position]
        assert isinstance(parameter.type, TensorType)
        array = np.asarray(value, parameter.type.dtype.numpy)
        constant = rewriter.copy.add(OPS["constant"], (), {"value": array, "weak": parameter.type.weak})
        parameter_copies.add(rewriter.values[parameter])
        rewriter.values[parameter] = constant.results[0]
    rewriter.copy.parameters = [value for value in rewriter.copy.parameters if value not in parameter_copies]
    return rewriter.run()
