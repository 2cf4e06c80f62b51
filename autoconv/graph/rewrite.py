"""Helpers of graph passes, which never mutate their input graph."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.attribute_text import is_of_attribute_class
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import Type, is_subtype, leaves


def begin_copy(graph: Graph) -> tuple[Graph, dict[Value, Value]]:
    """Return an empty graph with the parameters of `graph`, and the map from old parameters to new ones."""
    copy = Graph(graph.name)
    return copy, {value: copy.add_parameter(value.type, value.name) for value in graph.parameters}


def _can_replace(narrow: Type, wide: Type) -> bool:
    """Return whether `narrow` can replace `wide`: it is a subtype that differs at most in shapes."""
    dtypes_of_leaves = [[(leaf.dtype, leaf.weak) for leaf in leaves(type_)] for type_ in (narrow, wide)]
    return dtypes_of_leaves[0] == dtypes_of_leaves[1] and is_subtype(narrow, wide)


def can_inline(region: Graph, inputs: Sequence[Value], results: Sequence[Value]) -> bool:
    """Return whether the types allow that `inputs` replace a region's parameters, and its outputs replace `results`."""
    narrow_and_wide = [*zip(inputs, region.parameters, strict=True), *zip(region.outputs, results, strict=True)]
    return all(_can_replace(narrow.type, wide.type) for narrow, wide in narrow_and_wide)


def attributes_key(attributes: Mapping[str, Any]) -> Hashable:
    """Return a key that is equal for equivalent attributes.

    Values of different types differ (1, True and 1.0), and floats are compared by their bits. Objects without value
    semantics, such as functions or exceptions, are compared by identity.
    """
    return frozenset((name, value_key(value)) for name, value in attributes.items())


def value_key(value: Any) -> Hashable:
    """Return a key that is equal for equivalent values. The value has to outlive the key, which may hold its id."""
    class_ = type(value)
    if class_ is float:
        return class_, struct.pack("<d", value)
    if class_ is complex:
        return class_, struct.pack("<dd", value.real, value.imag)
    if class_ in (tuple, list):
        return class_, tuple(map(value_key, value))
    if class_ is dict:
        return class_, tuple((value_key(key), value_key(item)) for key, item in value.items())
    if isinstance(value, (np.ndarray, np.generic)):
        return class_, _array_key(np.asarray(value))
    is_of_graph_package = class_.__module__.startswith("autoconv.graph.")  # types, dtypes and symbols: equal by value
    if class_ in (bool, int, str, bytes, type(None)) or is_of_graph_package or is_of_attribute_class(value):
        return class_, value
    return class_, id(value)


def _array_key(array: np.ndarray) -> Hashable:
    if array.dtype == object:
        return array.shape, tuple(map(value_key, array.flat))
    if array.size > 1 and not any(array.strides):  # a broadcast number: its elements may be many megabytes
        return array.dtype.str, array.shape, "filled", array[(0,) * array.ndim].tobytes()
    return array.dtype.str, array.shape, array.tobytes()
