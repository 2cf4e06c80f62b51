"""Types of the arrays that hold parameters in other runtimes."""

from __future__ import annotations

from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.types import ArrayType, ResourceType, TensorType, Type


def array_type(type_: Type) -> TensorType:
    """Return the type of the array that holds a parameter's elements. Raises GraphUnfit for other parameters."""
    if isinstance(type_, ResourceType):
        return array_type(type_.value)
    if isinstance(type_, ArrayType) and type_.shared:
        raise GraphUnfit("parameter", "arrays among the arguments may overlap")
    if isinstance(type_, ArrayType):
        return TensorType(type_.dtype, type_.shape)
    if not isinstance(type_, TensorType) or type_.shape is None:
        raise GraphUnfit("parameter", f"a value of type {type_} has no form")
    return type_
