"""Parser of types and attribute values in the format of `attribute_text`."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from autoconv.graph.attribute_classes import find_attribute_class
from autoconv.graph.attribute_text import builtin_exception
from autoconv.graph.dtypes import DTYPES, DType
from autoconv.graph.scanner import Scanner
from autoconv.graph.types import (
    ArrayType,
    Dimension,
    IterableType,
    IteratorType,
    ListType,
    MapType,
    ObjectType,
    ResourceType,
    Shape,
    Symbol,
    TensorType,
    TupleType,
    Type,
    VariantType,
)

_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?(?:inf\b|nan\b|\d+(\.\d*)?([eE][+-]?\d+)?)")
_HEX = re.compile(r"0x[0-9a-f]+")
_DIMENSION = re.compile(r"[^\s,()<>{}\[\]]+")
_CLASS_NAME = re.compile(r"\w+")
_STRIDE = re.compile(r"\?|-?\d+")
_TAG = re.compile(r"[^:<>,\n]+")
_Item = TypeVar("_Item")


def parse_value(scanner: Scanner) -> Any:
    """Parse and return the next attribute value; raises GraphSyntaxError."""
    text = scanner.parse_string()
    if text is not None:
        return text
    number = _parse_number(scanner)
    if number is not None:
        return number
    for opening, parse in _BRACKET_PARSERS.items():
        if scanner.take(opening):
            return parse(scanner)
    if scanner.is_at("<opaque"):
        scanner.fail("an opaque object has no text that it could be made from")
    start = scanner.position
    word = scanner.match(_WORD)
    if word is None:
        scanner.fail(f"expected a value, found {scanner.next_text()}")
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word in _CALL_PARSERS and scanner.is_at("("):
        scanner.expect("(")
        value = _CALL_PARSERS[word](scanner)
        scanner.expect(")")
        return value
    class_ = find_attribute_class(word)
    if class_ is not None and scanner.take("("):
        return _parse_instance(scanner, class_, start)
    if word in DTYPES and not scanner.is_at("["):
        return DTYPES[word]
    scanner.position = start
    return parse_type(scanner)


def parse_type(scanner: Scanner) -> Type:
    """Parse and return the next type; raises GraphSyntaxError."""
    scanner.skip_space()
    start = scanner.position
    word = scanner.match(_WORD)
    if word in _TYPE_PARSERS:
        scanner.expect("<")
        type_ = _TYPE_PARSERS[word](scanner)
        scanner.expect(">")
        return type_
    is_weak = word == "weak"
    if is_weak:
        word = scanner.match(_WORD)
    if word not in DTYPES:
        scanner.fail(f"expected a type, found {scanner.text[start : start + 20]!r}", start)
    scanner.expect("[")
    return TensorType(DTYPES[word], _parse_shape(scanner), is_weak)


def _parse_shape(scanner: Scanner) -> Shape:
    """Return the shape up to the closing bracket, None for an unknown rank; the opening bracket is consumed."""
    if scanner.take("*"):
        scanner.expect("]")
        return None
    return tuple(_parse_separated(scanner, "]", _parse_dimension))


def _parse_dimension(scanner: Scanner) -> Dimension:
    """Return the dimension that comes next: an int, a symbol, or None for an unknown one."""
    word = scanner.match(_DIMENSION)
    if word is None:
        scanner.fail(f"expected a dimension, found {scanner.next_text()}")
    if word == "?":
        return None
    return int(word) if word.isdecimal() else Symbol(word)


def _parse_separated(scanner: Scanner, closing: str, parse_item: Callable[[Scanner], _Item]) -> list[_Item]:
    """Return the items up to and including `closing`; commas separate them, and none follows the last one."""
    items: list[_Item] = []
    while not scanner.take(closing):
        if items:
            scanner.expect(",")
        items.append(parse_item(scanner))
    return items


def _parse_items(scanner: Scanner, closing: str, parse_item: Callable[[Scanner], Any]) -> tuple[list[Any], bool]:
    """Parse items up to and including `closing`; return the items, and whether a comma follows the last one."""
    items: list[Any] = []
    has_comma = False
    while not scanner.is_at(closing):
        if items and not has_comma:
            scanner.fail(f"expected ',' or {closing!r}, found {scanner.next_text()}")
        items.append(parse_item(scanner))
        has_comma = scanner.take(",")
    scanner.expect(closing)
    return items, has_comma


def _parse_type_arguments(scanner: Scanner, parse_argument: Callable[[Scanner], Any] = parse_type) -> tuple[Any, ...]:
    """Return the types, or other arguments of a type, up to the closing angle bracket."""
    arguments: list[Any] = []
    while not scanner.is_at(">"):
        if arguments:
            scanner.expect(",")
        arguments.append(parse_argument(scanner))
    return tuple(arguments)


def _parse_map_type(scanner: Scanner) -> MapType:
    key_type = parse_type(scanner)
    scanner.expect(",")
    return MapType(key_type, parse_type(scanner))


def _parse_array_type(scanner: Scanner) -> ArrayType:
    """Return the type of an array in memory: flags, dtype and shape, and strides."""
    is_shared, is_read_only = scanner.take("shared"), scanner.take("read_only")
    element_type = parse_type(scanner)
    if not isinstance(element_type, TensorType) or element_type.shape is None:
        scanner.fail("expected the dtype and the shape of an array")
    scanner.expect(",")
    scanner.expect("[")
    strides = tuple(_parse_separated(scanner, "]", _parse_stride))
    return ArrayType(element_type.dtype, element_type.shape, strides, is_shared, is_read_only)


def _parse_stride(scanner: Scanner) -> int | None:
    """Return the stride that comes next; None for an unknown one."""
    stride_text = scanner.match(_STRIDE)
    if stride_text is None:
        scanner.fail(f"expected a stride, found {scanner.next_text()}")
    return None if stride_text == "?" else int(stride_text)


def _parse_arm(scanner: Scanner) -> tuple[str, Type]:
    """Return the tag and the type of an arm of a variant."""
    tag = scanner.match(_TAG)
    if tag is None:
        scanner.fail(f"expected the tag of an arm, found {scanner.next_text()}")
    scanner.expect(":")
    return tag, parse_type(scanner)


def _parse_object_type(scanner: Scanner) -> ObjectType:
    class_name = scanner.match(_CLASS_NAME)
    if class_name is None:
        scanner.fail(f"expected the name of a class, found {scanner.next_text()}")
    return ObjectType(class_name)


# Parsers of the text between the angle brackets, by the word before `<`.
_TYPE_PARSERS: dict[str | None, Callable[[Scanner], Type]] = {
    "tuple": lambda scanner: TupleType(_parse_type_arguments(scanner)),
    "list": lambda scanner: ListType(parse_type(scanner)),
    "map": _parse_map_type,
    "resource": lambda scanner: ResourceType(parse_type(scanner)),
    "iterator": lambda scanner: IteratorType(parse_type(scanner)),
    "iterable": lambda scanner: IterableType(parse_type(scanner)),
    "variant": lambda scanner: VariantType(_parse_type_arguments(scanner, _parse_arm)),
    "object": _parse_object_type,
    "array": _parse_array_type,
}


def _parse_number(scanner: Scanner) -> int | float | None:
    """Return the number that comes next, None if there is none."""
    scanner.skip_space()
    start = scanner.position
    number_text = scanner.match(_NUMBER)
    if number_text is None:
        return None
    try:
        return int(number_text) if number_text.lstrip("-").isdecimal() else float(number_text)
    except ValueError as error:  # more digits than Python converts
        scanner.fail(str(error), start)


def _parse_tuple(scanner: Scanner) -> Any:
    items, has_comma = _parse_items(scanner, ")", parse_value)
    if len(items) == 1 and not has_comma:
        scanner.fail("a tuple of one item has a comma behind it")
    return tuple(items)


def _parse_dict(scanner: Scanner) -> dict[Any, Any]:
    """Return the dict up to the closing brace."""
    def parse_pair(scanner: Scanner) -> tuple[Any, Any]:
        """Parse a key, which must be hashable, and its value."""
        start = scanner.position
        key = parse_value(scanner)
        try:
            hash(key)
        except TypeError as error:
            scanner.fail(str(error), start)
        scanner.expect(":")
        return key, parse_value(scanner)

    return dict(_parse_items(scanner, "}", parse_pair)[0])


def _parse_instance(scanner: Scanner, class_: type, start: int) -> Any:
    """Return an instance of an attribute class, made from its fields' values up to the closing parenthesis."""
    field_values, _ = _parse_items(scanner, ")", parse_value)
    try:
        return class_(*field_values)
    except TypeError as error:
        scanner.fail(str(error), start)


def _parse_complex(scanner: Scanner) -> complex:
    real, imag = _parse_complex_parts(scanner, DTYPES["float64"])
    return complex(float(real), float(imag))


def _parse_symbol(scanner: Scanner) -> Symbol:
    return Symbol(scanner.parse_name("the name of a dimension"))


def _parse_float_bits(scanner: Scanner) -> float:
    (value,) = struct.unpack("<d", struct.pack("<Q", _parse_bits(scanner, 64)))
    return value


def _parse_bits(scanner: Scanner, width: int) -> int:
    """Return an int of up to `width` bits, written in hexadecimal."""
    hex_text = scanner.match(_HEX)
    if hex_text is None or int(hex_text, 16) >> width:
        scanner.fail(f"expected {width} bits in hexadecimal, found {hex_text or scanner.next_text()}")
    return int(hex_text, 16)


def _parse_dtype(scanner: Scanner) -> DType:
    """Parse a dtype by its name; other words fail at their position."""
    scanner.skip_space()
    start = scanner.position
    word = scanner.match(_WORD)
    if word not in DTYPES:
        scanner.fail(f"expected a dtype, found {word or scanner.next_text()}", start)
    return DTYPES[word]


def _parse_array(scanner: Scanner) -> np.ndarray:
    """Return an array, whose text has its dtype, its shape and its nested elements."""
    dtype = _parse_dtype(scanner)
    scanner.expect("[")
    shape = _parse_shape(scanner)
    if shape is None or not all(isinstance(size, int) for size in shape):
        scanner.fail("an array has a shape of numbers")
    scanner.expect(",")
    elements: list[Any] = []
    _parse_elements(scanner, dtype, shape, elements)
    array = np.empty(len(elements), dtype.numpy)
    for position, element in enumerate(elements):
        array[position] = element
    return array.reshape(shape)  # type: ignore[arg-type]


def _parse_elements(scanner: Scanner, dtype: DType, shape: Any, elements: list[Any]) -> None:
    """Parse nested elements in brackets, and append them to `elements`."""
    if not shape:
        elements.append(_parse_element(scanner, dtype))
        return
    scanner.expect("[")
    for position in range(shape[0]):
        if position:
            scanner.expect(",")
        _parse_elements(scanner, dtype, shape[1:], elements)
    scanner.expect("]")


def _parse_scalar(scanner: Scanner) -> Any:
    """Return a scalar of NumPy, whose text has its dtype and its value."""
    dtype = _parse_dtype(scanner)
    scanner.expect(",")
    element = _parse_element(scanner, dtype)
    if dtype.is_string:
        return np.str_(element) if isinstance(element, str) else np.bytes_(element)
    return element


def _parse_element(scanner: Scanner, dtype: DType) -> Any:
    """Parse one element as NumPy's scalar of the dtype; `bytes` or `str` for a string."""
    scanner.skip_space()
    start = scanner.position
    if dtype.is_complex and scanner.take("complex"):
        scanner.expect("(")
        value = np.zeros((), dtype.numpy)
        value.real, value.imag = _parse_complex_parts(scanner, dtype.real_dtype)
        scanner.expect(")")
        return value[()]
    if dtype.is_floating and scanner.take("bits"):
        scanner.expect("(")
        data = _parse_bits(scanner, dtype.size * 8).to_bytes(dtype.size, "little")
        scanner.expect(")")
        return np.frombuffer(data, dtype.numpy.newbyteorder("<")).astype(dtype.numpy)[0]
    value = parse_value(scanner)
    if dtype.is_string:
        is_allowed = isinstance(value, (str, bytes))
    elif dtype.is_bool:
        is_allowed = isinstance(value, bool)
    elif dtype.is_integer:
        is_allowed = type(value) is int and dtype.min <= value <= dtype.max
    else:
        is_allowed = type(value) in (int, float) and dtype.is_floating
    if not is_allowed:
        text = scanner.text[start : scanner.position]
        scanner.fail(f"expected an element of {dtype.name}, found {text}", start)
    if dtype.is_string:
        return value
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype.numpy)[()]


def _parse_complex_parts(scanner: Scanner, dtype: DType) -> tuple[Any, Any]:
    """Return the real and the imaginary part, of the dtype."""
    real = _parse_element(scanner, dtype)
    scanner.expect(",")
    return real, _parse_element(scanner, dtype)


def _parse_error(scanner: Scanner) -> Any:
    """Return an exception of Python's own, or its class if no arguments follow."""
    scanner.skip_space()
    start = scanner.position
    name = scanner.match(_WORD) or ""
    class_ = builtin_exception(name)
    if class_ is None:
        scanner.fail(f"{name or scanner.next_text()} is no exception of Python's own", start)
    if not scanner.take(","):
        return class_
    arguments = parse_value(scanner)
    try:
        return class_(*arguments)
    except (TypeError, ValueError) as error:
        scanner.fail(f"{name} cannot be made from {arguments!r}: {error}", start)


_CONSTANTS = {"None": None, "True": True, "False": False}
_BRACKET_PARSERS: dict[str, Callable[[Scanner], Any]] = {
    "(": _parse_tuple,
    "[": lambda scanner: _parse_items(scanner, "]", parse_value)[0],
    "{": _parse_dict,
}
# Parsers of the text between the parentheses, by the word before `(`.
_CALL_PARSERS: dict[str, Callable[[Scanner], Any]] = {
    "complex": _parse_complex,
    "bits": _parse_float_bits,
    "array": _parse_array,
    "scalar": _parse_scalar,
    "symbol": _parse_symbol,
    "error": _parse_error,
}
