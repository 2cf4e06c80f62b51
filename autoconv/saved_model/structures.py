"""Nested structures of arguments and results as JSON, and back."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from autoconv.api.extension_specs import ExtensionTypeSpec
from autoconv.api.extension_types import find_extension_type
from autoconv.api.ragged.tensor import RaggedTensorSpec
from autoconv.api.sparse.tensor import SparseTensorSpec
from autoconv.errors import DataLossError
from autoconv.graph.attribute_parser import parse_value
from autoconv.graph.attribute_text import value_text
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.scanner import GraphSyntaxError, Scanner
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.type_spec import TypeSpec, from_parts, is_composite, parts_of
from autoconv.tracing.key.cache_key import Reference


class NotStorable(Exception):
    """A structure contains an object that cannot be stored; `str()` names it."""


def encode(value: object, encode_leaf: Callable[[Any], Any] = lambda value: None) -> Any:
    """Return the structure as JSON values; `encode_leaf` returns the JSON values of leaves that only the caller
    can encode, and None for other values.

    Containers are lists, tuples, named tuples, dicts, sparse and ragged tensors, and extension types that
    define `__name__`; the leaves are specs, shapes and Python's literals. Raises NotStorable for anything else.
    """
    encoded_leaf = encode_leaf(value)
    if encoded_leaf is not None:
        return encoded_leaf
    if isinstance(value, TensorSpec):
        shape = None if value.shape.rank is None else value.shape.as_list()
        return {"spec": [value.dtype.name, shape, value.name]}
    if isinstance(value, TensorShape):
        return {"shape": None if value.rank is None else value.as_list()}
    if isinstance(value, TypeSpec) and _is_storable(value):
        return _encode_composite_spec(value)
    if is_composite(value) and _is_storable(value._type_spec):
        parts = [encode(part, encode_leaf) for part in parts_of(value)]
        return {**_encode_composite_spec(value._type_spec), "parts": parts}
    fields = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {"named": [type(value).__name__, list(fields)], "items": [encode(item, encode_leaf) for item in value]}
    if isinstance(value, (list, tuple)):
        tag = "list" if isinstance(value, list) else "tuple"
        return {tag: [encode(item, encode_leaf) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_literal_text(key), encode(item, encode_leaf)] for key, item in value.items()]}
    return {"literal": _literal_text(value)}


def decode(stored: Any, decode_leaf: Callable[[dict[str, Any]], Any] = lambda stored: None) -> Any:
    """Return the structure that `encode` stored; `decode_leaf` reverses the function that encoded leaves."""
    try:
        return _decode(stored, decode_leaf)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise DataLossError(f"a stored structure is damaged: {error!r}") from None


def _decode(stored: dict[str, Any], decode_leaf: Callable[[dict[str, Any]], Any]) -> Any:
    """Return the structure that `encode` stored; damage raises various errors, which `decode` converts."""
    if "spec" in stored:
        dtype, shape, name = stored["spec"]
        return TensorSpec(shape, as_dtype(dtype), name)
    if "shape" in stored:
        return TensorShape(stored["shape"])
    if "composite" in stored or "extension" in stored:
        spec = _decode_composite_spec(stored)
        return from_parts(spec, [_decode(part, decode_leaf) for part in stored["parts"]]) if "parts" in stored else spec
    if "named" in stored:
        name, fields = stored["named"]
        return collections.namedtuple(name, fields)(*(_decode(item, decode_leaf) for item in stored["items"]))
    if "list" in stored:
        return [_decode(item, decode_leaf) for item in stored["list"]]
    if "tuple" in stored:
        return tuple(_decode(item, decode_leaf) for item in stored["tuple"])
    if "dict" in stored:
        return {_parse_literal(key): _decode(item, decode_leaf) for key, item in stored["dict"]}
    return _parse_literal(stored["literal"]) if "literal" in stored else decode_leaf(stored)


# Composite tensors that a file can hold, by the names of their specs.
_SPEC_BY_NAME: dict[str, Any] = {class_.__name__: class_ for class_ in (SparseTensorSpec, RaggedTensorSpec)}


def _is_storable(spec: TypeSpec) -> bool:
    """Return whether a file can hold values of a spec: not those of extension types without a name."""
    is_named = isinstance(spec, ExtensionTypeSpec) and "__name__" in vars(spec.value_type)
    return is_named or type(spec) in _SPEC_BY_NAME.values()


def _decode_composite_spec(stored: dict[str, Any]) -> TypeSpec:
    """Return the spec that `_encode_composite_spec` stored.

    Raises FailedPreconditionError for an extension type that is not defined.
    """
    if "extension" in stored:
        fields = {name: decode(value) for name, value in stored["fields"]}
        return find_extension_type(stored["extension"]).Spec._from_field_values(fields)  # type: ignore[no-any-return]
    name, shape, dtype, *options = stored["composite"]
    return _SPEC_BY_NAME[name](shape, as_dtype(dtype), *options)  # type: ignore[no-any-return]


def _encode_composite_spec(spec: TypeSpec) -> dict[str, Any]:
    """Return the spec of a composite tensor as JSON values."""
    if isinstance(spec, ExtensionTypeSpec):
        fields = [[name, encode(value)] for name, value in spec._serialize()]
        return {"extension": vars(spec.value_type)["__name__"], "fields": fields}
    shape, dtype, *options = spec._serialize()
    sizes = None if shape.rank is None else shape.as_list()
    encoded_options = [option.name if isinstance(option, DType) else option for option in options]
    return {"composite": [type(spec).__name__, sizes, dtype.name, *encoded_options]}


def _literal_text(value: object) -> str:
    """Return a literal of Python as text; raises NotStorable for other values."""
    text = value_text(value)
    try:
        _parse_literal(text)
    except GraphSyntaxError:
        raise NotStorable(_class_description(value)) from None
    return text


def _parse_literal(text: str) -> Any:
    """Return the value of a literal's text; raises GraphSyntaxError or ValueError for other texts."""
    scanner = Scanner(text)
    value = parse_value(scanner)
    if scanner.position != len(text):
        raise ValueError(f"{text!r} is no literal")
    return value


def _class_description(value: object) -> str:
    """Return the description of a value in messages; a reference names the class of its object."""
    class_name = value.name if isinstance(value, Reference) else type(value).__name__
    return f"an object of the class {class_name}"
