"""Typed lists: graph-internal lists that hold numbers of one kind, in place of Python lists.

At run time a typed list is a bytearray with contiguous items: 8 bytes for an int or a float, one for a bool, the
dtype's size for a NumPy number; two values may alias. The attribute `element` is the type of an item. Ops have the
results and errors of Python's list; `typed_list_object` converts to a Python list. Typed lists are never visible
outside of a graph, so that their changes need no undo. Neither do those of arguments: `typed_list_store`, the only op
that writes to an argument, is the last step of a run.

A cursor, the iterator of a loop, is a bytearray too: the position of the next item (8 bytes), then the current item.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from autoconv.errors import OtherKindError
from autoconv.graph.effects import Effects
from autoconv.graph.types import ObjectType, TensorType, TupleType, Type
from autoconv.ops.elementwise.python_numbers import bool_type, int_type, to_python_array
from autoconv.ops.lists.item_layout import ItemType, as_item, columns, fields, has_floats, item_size, numpy_dtype
from autoconv.ops.record import define, no_gradient

NUMBERS = ObjectType("numbers")
CURSOR = ObjectType("cursor")
NO_GRADIENT = no_gradient("it went through a list whose length the graph does not know")
_READ = Effects.READ
_READ_WRITE = Effects.READ | Effects.WRITE
_INT64 = np.dtype(np.int64)
_EXHAUSTED = np.iinfo(np.int64).max  # the next position of an exhausted cursor


def items_of(x: bytearray, element: ItemType) -> list[Any]:
    """Return the items as Python or NumPy numbers, or as tuples of Python's."""
    array = np.frombuffer(x, numpy_dtype(element)).copy()
    return list(array if isinstance(element, TensorType) and not element.weak else array.tolist())


def to_bytes(items: Any, element: ItemType) -> bytes:
    """Return numbers or tuples as the bytes of a typed list."""
    return np.array(items, numpy_dtype(element)).tobytes()


def item_bytes(numbers: Sequence[Any], element: ItemType) -> bytes:
    """Return the bytes of the item with these numbers."""
    return to_bytes(as_item(iter(numbers), element), element)


def _length(x: bytearray, element: ItemType) -> int:
    """Return the number of items."""
    return len(x) // item_size(element)


def _byte_slice_of(x: bytearray, index: Any, element: ItemType, error: str) -> slice:
    """Return the bytes of the item at an index, as a slice; raises IndexError(error) if there is none."""
    size = item_size(element)
    position = int(index)
    position += _length(x, element) * (position < 0)
    if not 0 <= position < _length(x, element):
        raise IndexError(error)
    return slice(position * size, (position + 1) * size)


def _read_item(x: bytearray, byte_slice: slice, element: ItemType) -> Any:
    """Return the item in the bytes of the slice: a scalar array, or a tuple of them for a tuple."""
    array = np.frombuffer(bytes(x[byte_slice]), numpy_dtype(element))
    numbers = tuple(column.reshape(()) for column in columns(array, element))
    return numbers[0] if isinstance(element, TensorType) else numbers


def _list_type(*_: Type, **__: Any) -> ObjectType:
    return NUMBERS


def no_results(*_: Type, **__: Any) -> tuple[()]:
    return ()


def _item_type(*_: Type, element: ItemType, **__: Any) -> tuple[TensorType, ...]:
    return fields(element)


def _make(*numbers: Any, element: ItemType) -> tuple[Any]:
    remaining_numbers = iter(numbers)
    items = [as_item(remaining_numbers, element) for _ in range(len(numbers) // len(fields(element)))]
    return (bytearray(to_bytes(items, element)),)


def _repeat(x: bytearray, count: Any, *, element: ItemType) -> tuple[Any]:
    return (x * max(int(count), 0),)


def _range(start: Any, stop: Any, step: Any, *, element: ItemType) -> tuple[Any]:
    return (bytearray(np.arange(int(start), int(stop), int(step), dtype=np.int64).tobytes()),)


def _from_array(x: Any, *, element: ItemType) -> tuple[Any]:
    return (bytearray(np.asarray(x, numpy_dtype(element)).tobytes()),)


def _get(x: bytearray, index: Any, *, element: ItemType, error: str = "list index out of range") -> Any:
    return _read_item(x, _byte_slice_of(x, index, element, error), element)


def _set(x: bytearray, index: Any, *numbers: Any, element: ItemType) -> tuple[()]:
    x[_byte_slice_of(x, index, element, "list assignment index out of range")] = item_bytes(numbers, element)
    return ()


def _append(x: bytearray, *numbers: Any, element: ItemType) -> tuple[()]:
    x.extend(item_bytes(numbers, element))
    return ()


def pop(x: bytearray, *index: Any, element: ItemType, error: str = "pop from empty list") -> Any:
    """Remove and return the last item, or the one at an index; `error` is the text for an empty list."""
    if not x:
        raise IndexError(error)
    byte_slice = _byte_slice_of(x, index[0] if index else -1, element, "pop index out of range")
    result = _read_item(x, byte_slice, element)
    del x[byte_slice]
    return result


def _slice_of_operands(bounds: tuple[Any, ...], has_bounds: tuple[bool, ...]) -> slice:
    """Return the slice of the operands `bounds`; `has_bounds` tells for start, stop and step which are operands."""
    remaining_bounds = iter(bounds)
    return slice(*(int(next(remaining_bounds)) if has_bound else None for has_bound in has_bounds))


def _slice(x: bytearray, *bounds: Any, has_bounds: tuple[bool, bool, bool], element: ItemType) -> tuple[Any]:
    """Return the list of the items in a slice; `_slice_of_operands` explains its bounds."""
    return (bytearray(np.frombuffer(x, numpy_dtype(element))[_slice_of_operands(bounds, has_bounds)].tobytes()),)


def _replace(
    x: bytearray, y: bytearray, *bounds: Any, has_bounds: tuple[bool, bool, bool], element: ItemType
) -> tuple[()]:
    """Replace the items in a slice by those of `y`; raises ValueError if a slice with a step has another length."""
    items = items_of(x, element)
    items[_slice_of_operands(bounds, has_bounds)] = items_of(y, element)
    x[:] = to_bytes(items, element)
    return ()


def _extend(x: bytearray, y: bytearray, *, element: ItemType) -> tuple[()]:
    x += bytes(y)
    return ()


def _clear(x: bytearray, *, element: ItemType) -> tuple[()]:
    x.clear()
    return ()


def _change(x: bytearray, *operands: Any, method: str, element: ItemType) -> tuple[()]:
    """Apply a method that changes the list and returns None, "delete" for `del`, or "sort_down" for a reversed sort.

    NumPy sorts as Python does, except with nan.
    """
    array = np.frombuffer(x, numpy_dtype(element))
    if method.startswith("sort") and isinstance(element, TupleType):
        refuse_nan(x, element)
        # A reversed sort is stable too: it is a sort of the reversed list, reversed.
        view = array if method == "sort" else array[::-1]
        view[:] = view[np.lexsort(columns(view, element)[::-1])]  # the last key of `lexsort` is compared first
        return ()
    if method == "sort" and not np.isnan(array).any():
        array.sort(kind="stable")
        return ()
    del array  # a bytearray cannot change its size while an array shares its memory
    items = items_of(x, element)
    if method == "delete":
        del items[int(operands[0])]
    elif method == "insert":
        items.insert(int(operands[0]), as_item(iter(operands[1:]), element))
    elif method == "sort_down":
        items.sort(reverse=True)
    else:
        getattr(items, method)(*([as_python(operands, element)] if operands else []))
    x[:] = to_bytes(items, element)
    return ()


def as_python(numbers: Sequence[Any], element: ItemType) -> Any:
    """Return the item with these numbers as Python's number or tuple."""
    return np.array(as_item(iter(numbers), element), numpy_dtype(element)).item()


def refuse_nan(x: bytearray, element: ItemType) -> None:
    """Raise OtherKindError for a NaN in tuples that are compared: Python takes identical items of tuples as equal."""
    if isinstance(element, TupleType):
        for column in columns(np.frombuffer(x, numpy_dtype(element)), element):
            if np.isnan(column).any():
                raise OtherKindError("tuples with a NaN are compared, whose identity is not part of a graph")


def _reduce(x: bytearray, *, function: str, element: ItemType) -> Any:
    """Apply the builtin of that name (`sum`, `min`, `max`, `any`, `all`) to the items."""
    items = items_of(x, element)
    if isinstance(element, TupleType):
        refuse_nan(x, element)
        return _read_item(bytearray(to_bytes(getattr(builtins, function)(items), element)), slice(None), element)
    if function == "sum" and not items and element.dtype.is_floating:
        raise OtherKindError("the sum of an empty list is an int, where this graph expected a float")
    return to_python_array(getattr(builtins, function)(items))


def _reduction_type(_: Type, *, function: str, element: ItemType) -> Type | tuple[TensorType, ...]:
    if function in ("any", "all"):
        return bool_type()
    return int_type() if function == "sum" and not has_floats(element) else fields(element)


def _find(x: bytearray, *numbers: Any, method: str, element: ItemType) -> np.ndarray:
    """Call a list's method that searches for an item, such as `index`, `count` or `__contains__`."""
    return np.array(getattr(items_of(x, element), method)(as_python(numbers, element)))


def _search_type(*_: Type, method: str, **__: Any) -> TensorType:
    return bool_type() if method == "__contains__" else int_type()


def _advance(x: bytearray, cursor: bytearray, *, element: ItemType) -> np.ndarray:
    """Copy the next item into the cursor and return True; at the end of the list, and ever after, return False."""
    position = np.frombuffer(cursor, _INT64)[0]
    has_item = position < _length(x, element)
    size = item_size(element)
    cursor[:8] = np.int64(position + 1 if has_item else _EXHAUSTED).tobytes()
    if has_item:
        cursor[8 : 8 + size] = x[position * size : (position + 1) * size]
    return np.array(has_item)


def _define(
    name: str, result: Callable[..., Any], kernel: Callable[..., Any], effects: Effects, graphdef: str = ""
) -> None:
    """Define an op without gradient; by default, its name in GraphDefs is `name` in camel case."""
    define(
        name=name, graphdef=graphdef or "".join(map(str.capitalize, name.split("_"))), result=result, kernel=kernel,
        gradient=NO_GRADIENT, effects=effects,
    )  # fmt: skip


_define("typed_list_make", _list_type, _make, _READ_WRITE)
_define("typed_list_repeat", _list_type, _repeat, _READ_WRITE)
_define("typed_list_range", _list_type, _range, _READ_WRITE | Effects.RAISE)
_define("typed_list_from_array", _list_type, _from_array, _READ_WRITE)
_define("typed_list_slice", _list_type, _slice, _READ_WRITE | Effects.RAISE)
_define(
    "typed_list_column", _list_type, lambda x, *, element, position: (
        bytearray(to_bytes([item[position] for item in items_of(x, element)], element.items[position])),
    ), _READ_WRITE,
)  # fmt: skip
_define("typed_list_replace", no_results, _replace, _READ_WRITE | Effects.RAISE)
_define("typed_list_length", int_type, lambda x, *, element: np.array(_length(x, element)), _READ)
_define("typed_list_get", _item_type, _get, _READ | Effects.RAISE)
_define("typed_list_set", no_results, _set, _READ_WRITE | Effects.RAISE)
_define("typed_list_append", no_results, _append, _READ_WRITE)
_define("typed_list_pop", _item_type, pop, _READ_WRITE | Effects.RAISE)
_define("typed_list_extend", no_results, _extend, _READ_WRITE)
_define("typed_list_clear", no_results, _clear, _READ_WRITE)
_define("typed_list_change", no_results, _change, _READ_WRITE | Effects.RAISE)
_define("typed_list_reduce", _reduction_type, _reduce, _READ | Effects.RAISE)
_define("typed_list_find", _search_type, _find, _READ | Effects.RAISE)
_define(
    "typed_list_cursor", lambda *_, **__: CURSOR,
    lambda start, *, element: (bytearray(np.int64(start).tobytes() + bytes(max(item_size(element), 8))),), _READ_WRITE,
)  # fmt: skip
_define("typed_list_advance", bool_type, _advance, _READ_WRITE)
_define(
    "typed_list_current", _item_type,
    lambda cursor, *, element: _read_item(cursor, slice(8, 8 + item_size(element)), element), _READ,
)  # fmt: skip
# The number of items before the cursor's current one.
_define(
    "typed_list_position", int_type, lambda cursor: np.array(np.frombuffer(cursor, _INT64)[0] - 1), _READ
)
_define(
    "typed_list_object", lambda *_, **__: ObjectType("list"), lambda x, *, element: (items_of(x, element),), _READ_WRITE
)


def convert_rows(x: Any, element: ItemType, rows_by_id: dict[int, list[Any]]) -> list[Any]:
    """Convert the typed lists in nested lists; lists that occur twice stay shared."""
    if id(x) not in rows_by_id:
        rows_by_id[id(x)] = (
            items_of(x, element) if isinstance(x, bytearray) else [
                convert_rows(item, element, rows_by_id) for item in x
            ]
        )
    return rows_by_id[id(x)]


# Converts a Python list of typed lists, nested to any depth.
_define(
    "typed_list_rows", lambda *_, **__: ObjectType("list"), lambda x, *, element: (
        convert_rows(x, element, {}),
    ), _READ_WRITE
)

_CLASS_BY_DTYPE_KIND = {"i": int, "f": float, "b": bool}


def _is_item(x: Any, element: ItemType) -> bool:
    """Return whether an object is a number of the element's class, or a tuple of such numbers."""
    if isinstance(element, TensorType):
        return type(x) is _CLASS_BY_DTYPE_KIND[element.dtype.numpy.kind]
    is_tuple = type(x) is tuple and len(x) == len(element.items)
    return is_tuple and all(map(_is_item, x, element.items))  # type: ignore[arg-type]


def _item_name(element: ItemType) -> str:
    if isinstance(element, TensorType):
        name = _CLASS_BY_DTYPE_KIND[element.dtype.numpy.kind].__name__
        return "int of at most 64 bits" if name == "int" else name
    return f"tuple ({', '.join(map(_item_name, element.items))})"  # type: ignore[arg-type]


def _as_typed_list(x: Any, *, element: ItemType) -> tuple[Any]:
    """Convert an argument, a Python list of numbers of the element's kind.

    Raises OtherKindError if an item is of another class. No side effect precedes the conversion, so that the call can
    rerun as plain Python (`_autoconv_undone`); `_autoconv_items` marks a wrong guess of the items' class.
    """
    if type(x) is list and all(_is_item(item, element) for item in x):
        with suppress(OverflowError):
            return (bytearray(to_bytes(x, element)),)
    error = OtherKindError(
        f"a list holds an item that is no {_item_name(element)}, where this graph expected only such items"
    )
    error.__dict__.update(_autoconv_undone=True, _autoconv_items=True)
    raise error


def _as_typed_rows(x: Any, *, element: ItemType, depth: int) -> tuple[Any]:
    """Convert the lists of numbers in a nested list of this depth; lists that occur twice stay shared."""
    converted_by_id: dict[int, Any] = {}

    def convert(value: Any, depth: int) -> Any:
        """Return a list with the inner lists at `depth` as typed lists; a list with two names is converted once."""
        if id(value) not in converted_by_id:
            if depth > 1 and type(value) is list:
                converted_by_id[id(value)] = [convert(item, depth - 1) for item in value]
            else:
                (converted_by_id[id(value)],) = _as_typed_list(value, element=element)
        return converted_by_id[id(value)]

    return (convert(x, depth),)


def _as_list_or_argument(x: Any, *pairs: Any, element: ItemType) -> tuple[Any]:
    """Convert to a Python list; a typed list that was made of an argument, or of a list in it, becomes that list.

    `pairs` are a typed list, the argument it was made of, another typed list, its argument …
    """
    lists_by_id: dict[int, list[Any]] = {}

    def add(typed_list: Any, argument: list[Any]) -> None:
        lists_by_id[id(typed_list)] = argument
        if not isinstance(typed_list, bytearray):
            for typed_row, row in zip(typed_list, argument, strict=True):
                add(typed_row, row)

    for typed_list, argument in zip(pairs[::2], pairs[1::2], strict=True):
        add(typed_list, argument)
    return (convert_rows(x, element, lists_by_id),)


# Conversion of arguments, and of results that may be arguments.
_define("typed_list_of", _list_type, _as_typed_list, _READ_WRITE | Effects.RAISE)
_define("typed_list_of_rows", lambda *_, **__: ObjectType("list"), _as_typed_rows, _READ_WRITE | Effects.RAISE)
_define("typed_list_or_given", lambda *_, **__: ObjectType("list"), _as_list_or_argument, _READ_WRITE)
# Converts a matrix to a Python list of typed lists.
_define(
    "typed_lists_from_rows", lambda *_, **__: ObjectType("list"),
    lambda x, *, element: ([row for (row,) in (_from_array(row, element=element) for row in x)],), _READ_WRITE,
)  # fmt: skip
# Reads the inner list at an index.
_define("typed_list_row", lambda *_, **__: NUMBERS, lambda x, index: (x[int(index)],), _READ | Effects.RAISE)
# Marks a list that is known, while tracing, to hold numbers of one kind, or such lists.
define(
    name="object_numbers", graphdef="ObjectNumbers", result=lambda x, **_: x, kernel=lambda x, *, element, depth: (x,),
    gradient=NO_GRADIENT, effects=Effects.PURE,
)  # fmt: skip
