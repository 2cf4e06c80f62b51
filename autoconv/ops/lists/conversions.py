"""Conversions between a tensor list and a tensor whose rows are the elements: unstack, stack, gather, scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, float64
from autoconv.graph.effects import Effects
from autoconv.graph.types import ListType, Shape, TensorType, Type, join
from autoconv.ops.lists.tensor_lists import (
    ROWS,
    element_type,
    element_type_with_shape,
    list_type_of_first,
    tensor_element_type,
)
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.values.list_value import ListValue

_RAGGED_ROWS = ListValue([np.array([[1.5]]), np.array([[-0.5], [0.25]])], dtype=float64, shape=(None, 1))


def _list_from_tensor_type(x: TensorType) -> ListType:
    if x.shape == ():
        raise ValueError("a list can be made of a tensor of one or more dimensions, found a scalar")
    return ListType(x.with_shape(None if x.shape is None else x.shape[1:]))


def _list_from_tensor(x: Any) -> Any:
    x = np.asarray(x)
    if not x.ndim:
        raise InvalidArgumentError("a list can be made of a tensor of one or more dimensions, found a scalar")
    return ListValue(list(map(np.asarray, x)), dtype=as_dtype(x.dtype), shape=x.shape[1:])


def _list_split_type(x: TensorType, lengths: TensorType) -> ListType:
    return ListType(x.with_shape(None if not x.shape else (None, *x.shape[1:])))


def _list_split(x: Any, lengths: Any) -> Any:
    """Return a list whose i-th element has the next `lengths[i]` rows of x."""
    x = np.asarray(x)
    if int(np.sum(lengths)) != len(x):
        raise InvalidArgumentError(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{int(np.sum(lengths))} and value's shape is: {list(x.shape)}"
        )
    rows_of_elements = np.split(x, np.cumsum(lengths)[:-1]) if len(lengths) else []
    return ListValue(rows_of_elements, dtype=as_dtype(x.dtype), shape=(None, *x.shape[1:]))


list_from_tensor = define(
    name="list_from_tensor", graphdef="TensorListFromTensor", result=_list_from_tensor_type,
    kernel=_list_from_tensor,
    gradient=lambda b, inputs, results, cotangents, attributes: (
        b.ensure_same_shape(b.list_stack(cotangents[0]), inputs[0]),
    ),
    samples=(sample(np.array([[1.5, 2.0], [0.5, 0.25]])),),
)  # fmt: skip
list_split = define(
    name="list_split", graphdef="TensorListSplit", result=_list_split_type, kernel=_list_split,
    gradient=lambda b, inputs, results, cotangents, attributes: (b.list_flatten(cotangents[0]), None),
    samples=(sample(np.array([[1.5], [2.0], [0.5]]), np.array([2, 1])),),
)  # fmt: skip


def _stack_type(list_: Type, *, shape: Shape = None) -> TensorType:
    element = element_type_with_shape("list_stack", list_, shape)
    return element.with_shape(None if element.shape is None else (None, *element.shape))


def _gather_type(list_: Type, indices: TensorType, *, shape: Shape = None) -> TensorType:
    element = element_type_with_shape("list_gather", list_, shape)
    if element.shape is None or indices.shape is None:
        return element.with_shape(None)
    return element.with_shape((*indices.shape, *element.shape))


def _list_gather(list_: ListValue, indices: Any, *, shape: Shape = None) -> Any:
    """Return the elements at the indices, stacked; `shape` is the elements' shape, None if it is not static."""
    list_ = list_.with_shape(shape)
    elements = list_.with_items([list_.get(int(i)) for i in np.ravel(indices)]).stack()
    return elements.reshape(np.shape(indices) + elements.shape[1:])


def _list_gather_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    list_, indices = inputs
    return b.list_add_at(b.list_zeros_like(list_), indices, cotangents[0]), None


def _list_add_at(list_: ListValue, indices: Any, x: Any) -> Any:
    """Return the list with each row of x added to the element at the row's index; an unwritten element counts as zeros.
    """
    items = list_.items()
    index_rank = np.ndim(indices)
    for i, row in zip(np.ravel(indices), np.reshape(x, (-1, *np.shape(x)[index_rank:])), strict=True):
        list_.get(int(i))  # raises for an index outside of the list
        items[i] = row if items[i] is None else items[i] + row
    return list_.with_items(items)


def _list_scatter_type(list_: Type, indices: Type, x: TensorType, *, resize: bool = False) -> ListType:
    element = x.with_shape(None if x.shape is None else x.shape[1:])
    return ListType(join(element_type("list_scatter", list_), element))


def _list_scatter(list_: ListValue, indices: Any, x: Any, *, resize: bool = False) -> Any:
    """Return the list with each row of x written at the row's index, which may lengthen the list with `resize`."""
    for i, row in zip(indices, x, strict=True):
        list_ = list_.set(int(i), row, resize)
    return list_


def _list_scatter_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (list_, indices, x) = cotangents, inputs
    list_cotangent = b.list_scatter(cotangent, indices, b.zeros_like(x))  # overwritten elements have no effect
    if attributes.get("resize"):
        list_cotangent = b.list_resize(list_cotangent, b.list_length(list_))
    return list_cotangent, None, b.list_gather(cotangent, indices)


def _flatten_type(list_: Type) -> TensorType:
    element = tensor_element_type("list_flatten", list_)
    return element.with_shape((None, *element.shape[1:]) if element.shape else None)


def _list_flatten(list_: ListValue) -> Any:
    """Return the elements, joined along their first dimension."""
    items = list(list_)
    if not items:
        shape = list_.shape
        if not shape or not all(isinstance(size, int) for size in shape[1:]):
            raise InvalidArgumentError("an empty list whose element shape is not known cannot be joined")
        return np.zeros((0, *shape[1:]), list_.dtype.numpy)  # type: ignore[arg-type]
    try:
        return np.concatenate(items)
    except ValueError:
        shapes = ", ".join(str(list(item.shape)) for item in items)
        raise InvalidArgumentError(f"elements of the shapes {shapes} cannot be joined") from None


def _list_split_like(x: Any, list_: ListValue) -> Any:
    """Split the rows of x into a list; element i gets as many rows as element i of `list_` has."""
    return _list_split(x, np.array([len(item) for item in list_], np.int64))


list_stack = define(
    name="list_stack", graphdef="TensorListStack", result=_stack_type,
    kernel=lambda list_, *, shape=None: list_.with_shape(shape).stack(),
    gradient=lambda b, inputs, results, cotangents, attributes: (b.list_from_tensor(cotangents[0]),),
    samples=(sample(ROWS), sample(ROWS, shape=(2,))),
)  # fmt: skip
list_gather = define(
    name="list_gather", graphdef="TensorListGather", result=_gather_type, kernel=_list_gather,
    gradient=_list_gather_gradient, effects=Effects.RAISE, samples=(sample(ROWS, np.array([2, 0, 2])),),
)  # fmt: skip
list_scatter = define(
    name="list_scatter", graphdef="TensorListScatterIntoExistingList", result=_list_scatter_type,
    kernel=_list_scatter, gradient=_list_scatter_gradient, effects=Effects.RAISE,
    samples=(
        sample(ROWS, np.array([2, 0]), np.arange(4.0).reshape(2, 2)),
        sample(ROWS, np.array([4]), np.arange(2.0).reshape(1, 2), resize=True),
    ),
)  # fmt: skip
# The gradient of `list_gather`. TensorFlow has no op that adds to elements, so that GraphDefs show the nearest one.
list_add_at = define(
    name="list_add_at", graphdef="TensorListScatterIntoExistingList",
    result=lambda list_, indices, x: list_type_of_first(list_), kernel=_list_add_at,
    gradient=lambda b, inputs, results, cotangents, attributes: (
        cotangents[0], None, b.list_gather(cotangents[0], inputs[1]),
    ),
    samples=(sample(ROWS, np.array([2, 0, 2]), np.arange(6.0).reshape(3, 2)),),
)  # fmt: skip
list_flatten = define(
    name="list_flatten", graphdef="TensorListConcatV2", result=_flatten_type, kernel=_list_flatten,
    gradient=lambda b, inputs, results, cotangents, attributes: (
        b.list_split_like(cotangents[0], inputs[0]),
    ),
    samples=(sample(_RAGGED_ROWS),),
)  # fmt: skip
list_split_like = define(
    name="list_split_like", graphdef="TensorListSplit", result=lambda x, list_: list_type_of_first(list_),
    kernel=_list_split_like, shape_only=(1,),
    gradient=lambda b, inputs, results, cotangents, attributes: (b.list_flatten(cotangents[0]), None),
    samples=(sample(np.array([[1.5], [2.0], [0.5]]), _RAGGED_ROWS),),
)  # fmt: skip
