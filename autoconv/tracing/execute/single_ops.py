"""Native code of a single elementwise op, for eager calls on arrays of any length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.backends import compile_graph, get_backend
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops.record import Op
from autoconv.runtime.tensors import native_eager

_LENGTH = Symbol("n")
_CODE_BY_KEY: dict[Any, Callable[..., Any] | None] = {}


def single_op(
    op: Op, attributes: Mapping[str, Any], operands: tuple[tuple[str, bool], ...]
) -> Callable[[Sequence[Any]], Any] | None:
    """Return a function that applies the op to a list of operands; None if it has no native code for these dtypes.

    Each of `operands` is (name of the dtype, is_vector); other operands are numbers.
    """
    backend = get_backend()
    key = backend, op.name, tuple(attributes.items()), operands
    if key not in _CODE_BY_KEY:
        _CODE_BY_KEY[key] = _compile(op, attributes, operands) if backend.symbolic_code is not None else None
    return _CODE_BY_KEY[key]


def _compile(
    op: Op, attributes: Mapping[str, Any], operands: tuple[tuple[str, bool], ...]
) -> Callable[[Sequence[Any]], Any] | None:
    """Compile one op on scalars and vectors of any length; return None if the code would call the op's kernel."""
    graph = Graph(op.name)
    inputs = [
        graph.add_parameter(TensorType(as_dtype(name), (_LENGTH,) if is_vector else ())) for name, is_vector in operands
    ]
    graph.outputs = list(graph.add(op, inputs, attributes).results)
    code = compile_graph(graph)
    if code.kernel_calls is None or code.kernel_calls:
        return None

    def run(arrays: Sequence[Any]) -> Any:
        return np.asarray(code(arrays)[0])

    return run


native_eager.set_compiler(single_op)
