"""Ops on tensor lists: values of type `ListType`, at run time `ListValue`.

No op changes a list: a push or a set returns a new list. The cotangent of a list is a list of the same length, in which
elements that were never written count as zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, float64, int32
from autoconv.graph.effects import Effects
from autoconv.graph.types import (
    ListType,
    Shape,
    TensorType,
    Type,
    are_shapes_compatible,
    has_all_sizes,
    is_static_shape,
    join,
)
from autoconv.ops.gradients import dtype_of, no_cotangents
from autoconv.ops.lists.positions import checked_length
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.values.list_value import ListValue

ROWS = ListValue(
    [np.array([1.5, 2.0]), np.array([-0.5, 0.25]), np.array([3.0, 4.0])], dtype=float64, shape=(2,)
)


def element_type(op: str, list_: Type) -> Type:
    """Return the type of the list's elements; raises TypeError for other types than lists."""
    if not isinstance(list_, ListType):
        raise TypeError(f"{op} takes a list, found {list_}")
    return list_.element


def tensor_element_type(op: str, list_: Type) -> TensorType:
    """Return the type of the list's elements; raises TypeError unless it is a tensor type."""
    element = element_type(op, list_)
    if not isinstance(element, TensorType):
        raise TypeError(f"{op} takes a list of tensors, found {list_}")
    return element


def element_type_with_shape(op: str, list_: Type, shape: Shape) -> TensorType:
    """Return the type of the list's elements, which are tensors.

    Their shape is `shape`, unless that is None or the list's own type has a compatible one with all sizes.
    """
    element = tensor_element_type(op, list_)
    is_known = has_all_sizes(element.shape) and are_shapes_compatible(element.shape, shape)
    return element if shape is None or is_known else element.with_shape(shape)


def _check_scalar(op: str, role: str, x: Type) -> None:
    """Raise TypeError unless `x` is an integer scalar; `role` names it in the error."""
    if not (isinstance(x, TensorType) and x.dtype.is_integer and are_shapes_compatible(x.shape, ())):
        raise TypeError(f"{op}: the {role} has to be an integer scalar, found {x}")


def list_type_of_first(list_: Type, *_: Type, **__: Any) -> Type:
    """Type rule of ops whose result has the type of their first operand, a list."""
    element_type("a list op", list_)
    return list_


# ---- construction


def _list_empty(*, dtype: DType, shape: Shape = None, weak: bool = False) -> Any:
    return ListValue(dtype=dtype, shape=shape, weak=weak)


def _list_empty_type(*, dtype: DType, shape: Shape = None, weak: bool = False) -> ListType:
    return ListType(TensorType(dtype, shape, weak))


def _list_reserve_type(num: TensorType, *, dtype: DType, shape: Shape = None) -> ListType:
    _check_scalar("list_reserve", "length", num)
    return ListType(TensorType(dtype, shape))


def _list_reserve(num: Any, *, dtype: DType, shape: Shape = None) -> Any:
    return ListValue([None] * int(checked_length(num)), dtype=dtype, shape=shape)


list_empty = define(
    name="list_empty", graphdef="EmptyTensorList", result=_list_empty_type, kernel=_list_empty, gradient=no_cotangents,
    samples=(sample(dtype=float64, shape=(2,)),),
)  # fmt: skip
list_reserve = define(
    name="list_reserve", graphdef="TensorListReserve", result=_list_reserve_type, kernel=_list_reserve,
    gradient=no_cotangents,
    samples=(sample(np.array(3, np.int32), dtype=float64, shape=(2,)),),
)  # fmt: skip


# ---- elements


def _list_push_type(list_: Type, x: Type) -> ListType:
    return ListType(join(element_type("list_push", list_), x))


def _list_push_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return tuple(b.list_pop(cotangents[0]))


def _list_pop_type(list_: Type) -> tuple[Type, Type]:
    return list_, element_type("list_pop", list_)


def _list_pop_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Push the cotangent of the element to that of the shorter list; zeros stand for a missing cotangent."""
    (shorter_list, x), (shorter_list_cotangent, x_cotangent) = results, cotangents
    return (
        b.list_push(
            b.list_zeros_like(shorter_list) if shorter_list_cotangent is None else shorter_list_cotangent,
            b.zeros_like(x) if x_cotangent is None else x_cotangent,
        ),
    )


def _normalise_index(list_: ListValue, index: Any, wrap: bool) -> int:
    """Return the position for an index; with `wrap` a negative one counts from the end."""
    position = int(index)
    return position + list_.length if wrap and -list_.length <= position < 0 else position


def _list_get_type(list_: Type, index: Type, *, wrap: bool = False, shape: Shape = None) -> Type:
    _check_scalar("list_get", "index", index)
    element = element_type("list_get", list_)
    return element if shape is None else element_type_with_shape("list_get", list_, shape)


def _list_get(list_: ListValue, index: Any, *, wrap: bool = False, shape: Shape = None) -> Any:
    return list_.with_shape(shape).get(_normalise_index(list_, index, wrap))


def _list_get_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return a list of zeros with the cotangent at the index."""
    list_, index = inputs
    element = list_.type.element
    shape = attributes.get("shape") or getattr(element, "shape", None)
    if isinstance(element, TensorType) and not element.weak and is_static_shape(shape):
        zeros = b.list_reserve(b.list_length(list_), dtype=element.dtype, shape=shape)  # reads only the length
    else:
        zeros = b.list_zeros_like(list_)
    return b.list_set(zeros, index, cotangents[0], wrap=attributes.get("wrap", False)), None


def _list_set_type(
    list_: Type, index: Type, x: Type, *, resize: bool = False, wrap: bool = False
) -> ListType:
    _check_scalar("list_set", "index", index)
    return ListType(join(element_type("list_set", list_), x))


def _list_set(list_: ListValue, index: Any, x: Any, *, resize: bool = False, wrap: bool = False) -> Any:
    return list_.set(_normalise_index(list_, index, wrap), x, resize)


def _list_set_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangents of the list, with zeros at the index and the length before `resize`, and of the element."""
    (cotangent,), (list_, index, x) = cotangents, inputs
    wrap = attributes.get("wrap", False)
    list_cotangent = b.list_set(cotangent, index, b.zeros_like(x), resize=False, wrap=wrap)
    if attributes.get("resize"):
        list_cotangent = b.list_resize(list_cotangent, b.list_length(list_))
    return list_cotangent, None, b.list_get(cotangent, index, wrap=wrap)


_INDEX = np.array(1, np.int32)
_ROW = np.array([7.0, 8.0])
list_push = define(
    name="list_push", graphdef="TensorListPushBack", result=_list_push_type,
    kernel=lambda list_, x: list_.append(x), gradient=_list_push_gradient, samples=(sample(ROWS, _ROW),),
)  # fmt: skip
list_pop = define(
    name="list_pop", graphdef="TensorListPopBack", result=_list_pop_type, kernel=lambda list_: list_.pop(),
    gradient=_list_pop_gradient, effects=Effects.RAISE, samples=(sample(ROWS),),
)  # fmt: skip
list_get = define(
    name="list_get", graphdef="TensorListGetItem", result=_list_get_type,
    kernel=_list_get, gradient=_list_get_gradient, effects=Effects.RAISE,
    samples=(
        sample(ROWS, _INDEX), sample(ROWS, np.array(-1), wrap=True), sample(ROWS, _INDEX, shape=(2,)),
    ),
)  # fmt: skip
list_set = define(
    name="list_set", graphdef="TensorListSetItem", result=_list_set_type, kernel=_list_set,
    gradient=_list_set_gradient, effects=Effects.RAISE,
    samples=(sample(ROWS, _INDEX, _ROW), sample(ROWS, np.array(4), _ROW, resize=True)),
)  # fmt: skip


# ---- whole lists


def _length_type(list_: Type) -> TensorType:
    element_type("list_length", list_)
    return TensorType(int32, ())


def _join_lists_type(first: Type, second: Type) -> ListType:
    return ListType(join(element_type("list_concat", first), element_type("list_concat", second)))


def _list_concat(first: ListValue, second: ListValue) -> Any:
    second_items = second.items()
    if second.like is not None:  # `like` has the shapes of unwritten elements, by positions that change
        second_items = list(second)  # iteration gives unwritten elements as zeros of their shapes
    return first.with_items([*first.items(), *second_items])


def _list_concat_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (first, _) = cotangents, inputs
    first_length, zero = b.list_length(first), b.constant(value=np.array(0, np.int32))
    return b.list_slice(cotangent, zero, first_length), b.list_slice(cotangent, first_length, b.list_length(cotangent))


def _list_slice_type(list_: Type, start: Type, stop: Type) -> Type:
    _check_scalar("list_slice", "start", start)
    _check_scalar("list_slice", "stop", stop)
    return list_type_of_first(list_)


def _list_slice(list_: ListValue, start: Any, stop: Any) -> Any:
    bounds = slice(int(start), int(stop))
    if list_.like is None:
        return list_.with_items(list_.items()[bounds])
    like = list_.like.with_items(list_.like.items()[bounds])
    return ListValue(list_.items()[bounds], dtype=list_.dtype, shape=list_.shape, like=like)


def _list_slice_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    list_, start, _ = inputs
    return b.list_slice_back(cotangents[0], start, list_), None, None


def _list_slice_back(sublist: ListValue, start: Any, like: ListValue) -> Any:
    """Return a list of zeros like `like`, but with the elements of `sublist` from position `start` on."""
    items: list[Any] = [None] * like.length
    first_position = slice(int(start), None).indices(like.length)[0]
    items[first_position : first_position + sublist.length] = sublist.items()
    return ListValue(items, dtype=sublist.dtype, shape=like.shape, like=like)


def _slice_end(b: Builder, sublist: Any, start: Any) -> Any:
    """Return the position after the last element of `sublist`, which begins at `start`."""
    return b.add(start, b.cast(b.list_length(sublist), dtype=dtype_of(start)))


def _list_resize_type(list_: Type, length: Type) -> Type:
    _check_scalar("list_resize", "length", length)
    return list_type_of_first(list_)


def _list_resize(list_: ListValue, length: Any) -> Any:
    items = list_.items()[: int(length)]
    return list_.with_items(items + [None] * (int(length) - len(items)))


def _list_zeros_like(list_: ListValue) -> Any:
    return ListValue([None] * list_.length, dtype=list_.dtype, shape=list_.shape, like=list_)


def _list_add(first: ListValue, second: ListValue) -> Any:
    """Return the sums of the elements of two lists; an unwritten element counts as zeros."""
    if first.length != second.length:
        raise InvalidArgumentError(f"list_add: the lists have {first.length} and {second.length} elements")
    items = [
        y if x is None else x if y is None else x + y for x, y in zip(first.items(), second.items(), strict=True)
    ]
    return (second if first.like is None else first).with_items(items)


list_length = define(
    name="list_length", graphdef="TensorListLength", result=_length_type,
    kernel=lambda list_: np.int32(list_.length), gradient=no_gradient("a length is an integer"), shape_only=(0,),
    samples=(sample(ROWS),),
)  # fmt: skip
list_concat = define(
    name="list_concat", graphdef="TensorListConcatLists", result=_join_lists_type, kernel=_list_concat,
    gradient=_list_concat_gradient, samples=(sample(ROWS, ROWS),),
)  # fmt: skip
list_slice = define(
    name="list_slice", graphdef="TensorListSlice", result=_list_slice_type, kernel=_list_slice,
    gradient=_list_slice_gradient, samples=(sample(ROWS, np.array(1), np.array(3)),),
)  # fmt: skip
list_slice_back = define(
    name="list_slice_back", graphdef="TensorListSlice", result=lambda sublist, start, like: list_type_of_first(like),
    kernel=_list_slice_back, shape_only=(2,),
    gradient=lambda b, inputs, results, cotangents, attributes: (
        b.list_slice(cotangents[0], inputs[1], _slice_end(b, *inputs[:2])), None, None,
    ),
    samples=(sample(ListValue([_ROW], dtype=float64, shape=(2,)), np.array(1), ROWS),),
)  # fmt: skip
list_resize = define(
    name="list_resize", graphdef="TensorListResize", result=_list_resize_type, kernel=_list_resize,
    gradient=lambda b, inputs, results, cotangents, attributes: (
        b.list_resize(cotangents[0], b.list_length(inputs[0])), None,
    ),
    samples=(sample(ROWS, np.array(2)), sample(ROWS, np.array(5))),
)  # fmt: skip
list_zeros_like = define(
    name="list_zeros_like", graphdef="ZerosLike", result=list_type_of_first, kernel=_list_zeros_like,
    gradient=no_cotangents, shape_only=(0,),
    samples=(sample(ROWS),),
)  # fmt: skip
list_add = define(
    name="list_add", graphdef="AddN", result=_join_lists_type, kernel=_list_add,
    gradient=lambda b, inputs, results, cotangents, attributes: (cotangents[0], cotangents[0]),
    samples=(sample(ROWS, ROWS),),
)  # fmt: skip
