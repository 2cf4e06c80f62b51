"""Attribute values as text; `attribute_parser` restores them exactly."""

from __future__ import annotations

import builtins
import re
import struct
from dataclasses import fields
from typing import Any

import numpy as np

from autoconv.graph.attribute_classes import ATTRIBUTE_CLASSES
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import (
    ArrayType,
    IterableType,
    IteratorType,
    ListType,
    MapType,
    ObjectType,
    ResourceType,
    Symbol,
    TensorType,
    TupleType,
    VariantType,
    shape_text,
)

TYPES = (
    TensorType, TupleType, ListType, MapType, ResourceType, IteratorType, IterableType, VariantType, ObjectType,
    ArrayType,
)  # fmt: skip
_UNQUOTED_NAME = re.compile(r"[A-Za-z0-9_.<>/\-]+")


def is_of_attribute_class(value: Any) -> bool:
    """Return whether the value's class was registered by `attribute_class`."""
    return ATTRIBUTE_CLASSES.get(type(value).__name__) is type(value)


def value_text(value: Any) -> str:
    """Return the text of an attribute's value.

    Python's literals are written as in Python, with `nan`, `inf` and `complex(re, im)` too; dtypes and
    types as they print; arrays as `array(float32[2], [1.0, 2.0])`, NumPy's scalars as `scalar(float32, 1.0)`;
    registered classes as calls; Python's own exceptions as `error(KeyError)` and `error(KeyError, ('message',))`.
    Anything else is `<opaque name>`, which does not parse.
    """
    if value is None or type(value) in (bool, int, str, bytes):
        return repr(value)
    if type(value) is float:
        return _float_text(value)
    if type(value) is complex:
        return f"complex({_float_text(value.real)}, {_float_text(value.imag)})"
    if type(value) is tuple:
        return f"({', '.join(map(value_text, value))}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join(map(value_text, value))}]"
    if type(value) is dict:
        return "{" + ", ".join(f"{value_text(key)}: {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TYPES):
        return str(value)
    if isinstance(value, Symbol):
        return f"symbol({value.name!r})"
    if isinstance(value, (np.ndarray, np.generic)):
        return _array_text(value)
    if is_of_attribute_class(value):
        field_texts = (value_text(getattr(value, field.name)) for field in fields(value))
        return f"{type(value).__name__}({', '.join(field_texts)})"
    return _exception_text(value) or _opaque_text(value)


def quote(name: str) -> str:
    """Return the name, in quotes unless it consists of letters, digits and `_.<>/-`."""
    return name if _UNQUOTED_NAME.fullmatch(name) else repr(name)


def builtin_exception(name: str) -> type[BaseException] | None:
    """Return Python's own exception class of that name, or None."""
    builtin = getattr(builtins, name, None)
    return builtin if isinstance(builtin, type) and issubclass(builtin, BaseException) else None


def _float_text(value: float) -> str:
    text = repr(value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    (restored_bits,) = struct.unpack("<Q", struct.pack("<d", float(text)))
    return text if bits == restored_bits else f"bits({bits:#x})"  # a nan whose bits differ from those of float("nan")


def _array_text(value: Any) -> str:
    """Return the text of an array or scalar of NumPy; that of an opaque object if elements have no text."""
    try:
        dtype = as_dtype(value.dtype)
    except TypeError:
        return _opaque_text(value)
    array = np.asarray(value)
    if array.dtype == object and not all(isinstance(item, (bytes, str)) for item in array.flat):
        return _opaque_text(value)
    if isinstance(value, np.generic):
        return f"scalar({dtype.name}, {element_text(array[()], dtype)})"
    return f"array({dtype.name}[{shape_text(array.shape)}], {_elements_text(array, dtype)})"


def _elements_text(array: np.ndarray, dtype: DType) -> str:
    if not array.ndim:
        return element_text(array[()], dtype)
    return f"[{', '.join(_elements_text(array[i, ...], dtype) for i in range(len(array)))}]"


def element_text(item: Any, dtype: DType) -> str:
    """Return the text of an element: floats have the fewest digits that restore their bits."""
    if dtype.is_string:
        return repr(str(item) if isinstance(item, str) else bytes(item))
    if dtype.is_bool:
        return str(bool(item))
    if dtype.is_integer:
        return str(int(item))
    if dtype.is_complex:
        part_dtype = dtype.real_dtype
        return f"complex({element_text(item.real, part_dtype)}, {element_text(item.imag, part_dtype)})"
    array = np.asarray(item, dtype.numpy)
    for text in (str(array[()]), repr(float(item))):
        restored_array = np.asarray(float(text)).astype(dtype.numpy)
        if restored_array.tobytes() == array.tobytes():
            return text if "." in text or "e" in text or "n" in text else f"{text}.0"  # "n": nan and inf
    return f"bits({int.from_bytes(array.astype(array.dtype.newbyteorder('<')).tobytes(), 'little'):#x})"


def _exception_text(value: Any) -> str | None:
    """Return the text of an exception of Python's own, or of its class; None for other values."""
    if isinstance(value, type):
        name = value.__name__
        return f"error({name})" if builtin_exception(name) is value else None
    if isinstance(value, BaseException) and builtin_exception(type(value).__name__) is type(value):
        return f"error({type(value).__name__}, {value_text(value.args)})"
    return None


def _opaque_text(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or type(value).__qualname__
    return f"<opaque {re.sub('[<>]', '', str(name))}>"
