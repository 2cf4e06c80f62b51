"""Decision, by the forms of arguments and results, whether a native entry can take a user's call."""

from __future__ import annotations

from autoconv.backends.call_form import CallForm, Captured, InstanceParameter, ListParameter, output_kinds
from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_represented, is_scalar, sizes
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType, Type


def is_eligible(graph: Graph, form: CallForm) -> bool:
    """Return whether a native entry can unwrap the arguments and build the results of calls of this form."""
    parameters = zip(form.parameters, graph.parameters, strict=True)
    for parameter, value in parameters:
        if isinstance(parameter, (Captured, ListParameter, InstanceParameter)):
            continue
        if not is_represented(value.type) or (parameter == "array" and _is_complex_number(value)):
            return False
    return all(_can_build(kind, graph.outputs[i].type) for i, kind in output_kinds(form.result).items())


def _can_build(kind: str, type_: Type) -> bool:
    """Return whether a native entry can build the user's object of a kind from an output of the type."""
    if kind in ("memory", "object") or is_scalar(type_):
        return True
    if kind == "number":
        return is_complex(type_)
    return kind in ("tensor", "array") and (is_dense(type_) or _is_array(type_))


def _is_array(type_: Type) -> bool:
    """Return whether the type is a numeric tensor of rank 1 or more, whose array is returned unchanged."""
    return isinstance(type_, TensorType) and bool(type_.shape) and type_.dtype.numpy.kind in "biufc"


def _is_complex_number(value: Value) -> bool:
    """Return whether the value is a complex number, which graphs represent by an array of rank 0."""
    return is_complex(value.type) and sizes(value.type) == ()
