"""Ops that differentiation inserts: placeholders for arrays that are read for their shape only, empty lists, and custom
gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, float32
from autoconv.graph.types import ListType, TensorType, Type, leaves
from autoconv.ops.gradients import no_cotangents
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.values.list_value import ListValue


def _shape_placeholder(x: Any) -> Any:
    """Return zeros of the operand's shape that share one element in memory; for a list, a list of such arrays."""
    if isinstance(x, ListValue):
        return x.with_items([None if item is None else _shape_placeholder(item) for item in x.items()])
    return np.broadcast_to(np.zeros((), x.dtype), np.shape(x))


def _list_empty_of(*, element: Type) -> ListValue:
    return ListValue(dtype=_dtype_in(element))


def _dtype_in(type_: Type) -> DType:
    """Return the dtype of the first tensor in a type; float32 if there is no tensor."""
    return next((leaf.dtype for leaf in leaves(type_)), float32)


def _forward_types(*inputs: Type, argument_count: int, result_count: int, **_: Any) -> Sequence[Type]:
    return inputs[argument_count : argument_count + result_count]


def _forward_results(*inputs: Any, argument_count: int, result_count: int, **_: Any) -> tuple[Any, ...]:
    return tuple(inputs[argument_count : argument_count + result_count])


shape_placeholder = define(
    name="shape_placeholder", graphdef="ZerosLike", result=lambda x: x, kernel=_shape_placeholder,
    gradient=no_cotangents, shape_only=(0,), samples=(sample(np.array([[1.5, 2.0]])),),
)  # fmt: skip
"""An array of the operand's shape without memory for elements; it reads as zeros."""

list_empty_of = define(
    name="list_empty_of", graphdef="EmptyTensorList", result=lambda *, element: ListType(element),
    kernel=_list_empty_of, gradient=no_cotangents,
    samples=(sample(element=ListType(TensorType(float32, ()))),),
)  # fmt: skip
"""An empty list with elements of any type, lists included."""

custom_gradient = define(
    name="custom_gradient", graphdef="IdentityN", result=_forward_types, kernel=_forward_results,
    gradient=no_gradient("its region computes the cotangents"),
)  # fmt: skip
"""`custom_gradient(*arguments, *results, *captures)` returns the results. Its region maps their cotangents and the
captures to the cotangents of the arguments at the positions in the attribute `reached`."""
