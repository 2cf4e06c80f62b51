"""Nested structures of arguments and results as JSON, and back."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from autoconv.api.ragged.tensor import RaggedTensorSpec
from autoconv.api.sparse.tensor import SparseTensorSpec
from autoconv.errors import DataLossError
from autoconv.graph.attribute_parser import parse_value
from autoconv.graph.attribute_text import value_text
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.scanner import GraphSyntaxError, Scanner
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.type_spec import TypeSpec, from_parts, is_composite, parts_of
from autoconv.tracing.key.cache_key import Reference


class NotStorable(Exception):
    """A structure holds what a file cannot; `str()` names it."""


def encode(value: object, leaf: Callable[[Any], Any] = lambda value: None) -> Any:
    """Return the structure as JSON values; `leaf` returns those of a leaf of its own, None for any other value.

    Containers are lists, tuples, named tuples, dicts, sparse and ragged tensors; other leaves are specs and Python's
    literals. Raises NotStorable for anything else.
    """
    own = leaf(value)
    if own is not None:
        return own
    if isinstance(value, TensorSpec):
        shape = None if value.shape.rank is None else value.shape.as_list()
        return {"spec": [value.dtype.name, shape, value.name]}
    if isinstance(value, TypeSpec) and type(value) in _SPECS.values():
        return _composite_spec(value)
    if is_composite(value) and type(value._type_spec) in _SPECS.values():
        return {**_composite_spec(value._type_spec), "parts": [encode(part, leaf) for part in parts_of(value)]}
    fields = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {"named": [type(value).__name__, list(fields)], "items": [encode(item, leaf) for item in value]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [encode(item, leaf) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_literal(key), encode(item, leaf)] for key, item in value.items()]}
    return {"literal": _literal(value)}


def decode(stored: Any, leaf: Callable[[dict[str, Any]], Any] = lambda stored: None) -> Any:
    """Return the structure that `encode` stored; `leaf` decodes leaves that are none of this module's."""
    try:
        return _decode(stored, leaf)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise DataLossError(f"a stored structure is damaged: {error!r}") from None


def _decode(stored: dict[str, Any], leaf: Callable[[dict[str, Any]], Any]) -> Any:
    if "spec" in stored:
        dtype, shape, name = stored["spec"]
        return TensorSpec(shape, as_dtype(dtype), name)
    if "composite" in stored:
        name, shape, dtype, *more = stored["composite"]
        spec = _SPECS[name](shape, as_dtype(dtype), *more)
        return from_parts(spec, [_decode(part, leaf) for part in stored["parts"]]) if "parts" in stored else spec
    if "named" in stored:
        name, fields = stored["named"]
        return collections.namedtuple(name, fields)(*(_decode(item, leaf) for item in stored["items"]))
    if "list" in stored:
        return [_decode(item, leaf) for item in stored["list"]]
    if "tuple" in stored:
        return tuple(_decode(item, leaf) for item in stored["tuple"])
    if "dict" in stored:
        return {_parse(key): _decode(item, leaf) for key, item in stored["dict"]}
    return _parse(stored["literal"]) if "literal" in stored else leaf(stored)


# Composite tensors that a file can hold, by the names of their specs.
_SPECS: dict[str, Any] = {kind.__name__: kind for kind in (SparseTensorSpec, RaggedTensorSpec)}


def _composite_spec(spec: TypeSpec) -> dict[str, Any]:
    shape, dtype, *more = spec._serialize()
    sizes = None if shape.rank is None else shape.as_list()
    rest = [one.name if isinstance(one, DType) else one for one in more]
    return {"composite": [type(spec).__name__, sizes, dtype.name, *rest]}


def _literal(value: object) -> str:
    text = value_text(value)
    try:
        _parse(text)
    except GraphSyntaxError:
        raise NotStorable(_name_in_message(value)) from None
    return text


def _parse(text: str) -> Any:
    scanner = Scanner(text)
    value = parse_value(scanner)
    if scanner.position != len(text):
        raise ValueError(f"{text!r} is no literal")
    return value


def _name_in_message(value: object) -> str:
    """Return what a message calls a value: a reference to an object stands for it."""
    kind = value.name if isinstance(value, Reference) else type(value).__name__
    return f"an object of the class {kind}"
