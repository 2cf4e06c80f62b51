"""Functions as StableHLO modules, the text that XLA and other compilers read.

A module has one function, `main`. Its parameters are the arguments in order, flattened, then the variables and arrays
from outside that the function uses. Its results are the function's, then the new contents of the variables and arrays
that it writes. The last result is the error word, an int32: 0, or the number of the place that failed first (see
`Module.places`).
"""

from __future__ import annotations

from typing import Any

import autoconv.numpy  # noqa: F401  (its import registers NumPy's functions)
from autoconv.backends.portable import GraphUnfit
from autoconv.backends.stablehlo import Module
from autoconv.graph.graph import Graph
from autoconv.tracing.api.declared_arguments import trace_for_export
from autoconv.tracing.api.exported_calls import replace_numpy_calls
from autoconv.tracing.api.exported_generators import replace_generators
from autoconv.tracing.views.func_graph import STABLEHLO_HOOK
from autoconv.tracing.views.portable import as_stablehlo


def export(function: Any, *specs: Any, capacity: int = 64, contract: str = "function") -> Module:
    """Return a function for arguments of these specs as a StableHLO module.

    `specs` are TensorSpecs, texts such as "float32[n,3]", or Python's values, which are constants of the module. Sizes
    that are None, or names, stay `?` in the text. Sizes of one name are taken to be equal, as are sizes that an op
    requires to be equal. A function that is not decorated is traced under `contract`. Lists that the graph makes, also
    those of gradients through loops, have at most `capacity` elements: a longer one sets the error word. Raises
    GraphUnfit, with the op and its place, for an op that has no form.

    >>> @autoconv.function
    ... def halved(x):
    ...     while autoconv.reduce_max(x) > 1.0:
    ...         x = x / 2.0
    ...     return x
    >>> module = autoconv.stablehlo.export(halved, autoconv.TensorSpec([3], autoconv.float32))
    >>> print(module.text.splitlines()[1])
      func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>) {
    """
    trace = trace_for_export(function, specs, contract)
    with trace.located_refusals():
        return as_stablehlo(trace.graph, capacity, trace.types)


def _write_recorded(graph: Graph, capacity: int) -> Module:
    """Return a graph, as it was recorded, as a module."""
    return as_stablehlo(replace_numpy_calls(replace_generators(graph)), capacity)


STABLEHLO_HOOK.set(_write_recorded)

__all__ = ["GraphUnfit", "Module", "export"]
