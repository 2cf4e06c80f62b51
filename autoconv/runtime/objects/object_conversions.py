"""Objects of the graph read as numbers, arrays or truth values."""

from __future__ import annotations

from typing import Any

from autoconv.graph.types import TensorType
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, record_object
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def unbox(value: object, type_: TensorType, **options: Any) -> SymbolicTensor:
    """Unbox an object that is known to be a number or an array of the type."""
    return record_object("object_unbox", [value], type=type_, **options)


def truth_of(value: SymbolicObject) -> Any:
    """Return the truth value of an object, as a symbolic bool."""
    return record_object("object_truth", [value])
