"""Names of ops and values in messages, and of the scopes where values are defined."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Value
from autoconv.graph.python_operators import ARITHMETIC
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.runtime.support.spans import place_of

_DISPLAY_NAMES = {op: entry.name for entry in ARITHMETIC for op in (entry.tensor_op, entry.number_op)}


def display_name(op_name: str) -> str:
    """Return the name of an op's nodes in printed tensors: TensorFlow's name."""
    return _DISPLAY_NAMES.get(op_name) or OPS[op_name].graphdef


def scope_message(value: Value, graph: Graph | None = None) -> str:
    """Return the error message for a value used in that graph, or where ops run eagerly."""
    place_of_use = "here, where ops run eagerly" if graph is None else _scope_text(graph)
    return (
        f"{_tensor_text(value)} is out of scope and cannot be used here. "
        f"Use return values, explicit Python locals or arguments of functions to access it.{definition_text(value)}"
        f"The tensor cannot be accessed from {place_of_use}, because it was defined in {_scope_text(value.graph)}, "
        "which is out of scope."
    )


def _tensor_text(value: Value) -> str:
    """Return the value as its tensor is printed."""
    if not isinstance(value.type, TensorType):
        return f"<{value.full_name}: {value.type}>"
    shape = value.type.shape
    sizes = "<unknown>" if shape is None else str(tuple(size if isinstance(size, int) else None for size in shape))
    return f"<autoconv.Tensor '{value.full_name}' shape={sizes} dtype={value.type.dtype.name}>"


def definition_text(value: Value) -> str:
    """Return a paragraph with the source line that defines a value; a blank where it is unknown."""
    span = value.node.span if value.node is not None else None
    if span is None:
        return " "
    place = place_of(span)
    return "\n\n".join(("", "It was defined here:\n" + "\n".join(filter(None, (f"  {place}", place.caret()))), ""))


_SCOPE_DESCRIPTIONS = {
    "cond_true": "a branch of a condition", "cond_false": "a branch of a condition",
    "while_cond": "the condition of a loop", "while_body": "the body of a loop",
}  # fmt: skip


def _scope_text(graph: Graph) -> str:
    """Return a phrase for a graph or region, as the scope of values."""
    return _SCOPE_DESCRIPTIONS.get(graph.name, repr(graph.name))
