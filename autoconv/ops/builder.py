"""Builder that applies ops by name to the values of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Span, Value
from autoconv.graph.types import TensorType
from autoconv.ops.record import OPS, Op


class GraphBuilder:
    """A builder that records ops into `graph`: `GraphBuilder(graph).add(x, y)` appends a node and returns its result.

    A method returns a tuple of Values for an op with several results. Python numbers and arrays among the operands
    become constants; a number takes the dtype of the first Value among the operands that must have one dtype. Nodes
    get the span `span`. Raises AttributeError for an unknown op, and the errors of the op's type rule.
    """

    def __init__(self, graph: Graph, span: Span | None = None) -> None:
        self.graph = graph
        self.span = span

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = OPS.get(name)
        if op is None:
            raise AttributeError(f"there is no op named {name!r}")
        known_op: Op = op

        def apply(*operands: Any, **attributes: Any) -> Any:
            inputs = [self._operand_value(known_op, operand, i, operands) for i, operand in enumerate(operands)]
            results = self.graph.add(known_op, inputs, attributes, span=self.span).results
            return results[0] if len(results) == 1 else results

        return apply

    def _operand_value(self, op: Op, operand: Any, position: int, operands: Sequence[Any]) -> Value:
        """Return an operand as a value of the graph."""
        if isinstance(operand, Value):
            return operand
        if isinstance(operand, (np.ndarray, np.generic)):
            return self.constant(value=np.asarray(operand))
        shared_type = _type_to_share(op, position, operands)
        if shared_type is None:
            return self.constant(value=np.asarray(operand))
        return self.constant(value=np.asarray(operand, shared_type.dtype.numpy), weak=shared_type.weak)


def _type_to_share(op: Op, position: int, operands: Sequence[Any]) -> TensorType | None:
    """Return the type of the first value whose dtype the operand at `position` has to share; None if there is none."""
    positions = range(len(operands)) if op.unify == "all" else op.unify
    if position not in positions:
        return None
    types = (operands[int(i)].type for i in positions if isinstance(operands[int(i)], Value))
    return next((type_ for type_ in types if isinstance(type_, TensorType)), None)
