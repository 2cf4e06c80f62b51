"""Composite tensors (sparse, ragged and others) among arguments: open sizes in their specs, and input signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.graph.types import TensorType
from autoconv.runtime.support.composite_structures import (
    contains_composite,
    leaf_specs,
    replace_leaves,
    replace_spec,
    spec_parts,
)
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import Template, flatten
from autoconv.runtime.support.type_spec import is_composite, is_composite_spec

Flattened = tuple[list[Any], Template | None]  # the leaves of a value, and its template


def open_component_types(template: Template | None, start: int) -> dict[int, TensorType]:
    """Return the types of the components of composites, as their specs give them, by position of the leaf.

    The first leaf has position `start`. In these types the number of elements of a sparse tensor is an open size, so
    calls with different numbers share a trace.
    """
    if not contains_composite(template):
        return {}
    specs = enumerate(leaf_specs(template), start)
    return {position: spec.type for position, spec in specs if isinstance(spec, TensorSpec)}


def fit_composites(value: Any, fit: Callable[[list[Any]], list[Any]], specs: Sequence[Any]) -> Flattened:
    """Return the leaves and the template of a value, fitted to `specs`, the leaves of its part of an input signature.

    `fit` takes the value's leaves, each composite as one leaf, and returns a leaf of the right type for each.
    """
    leaves, template = flatten(value, is_composite)
    parts = [_flatten_to_spec(leaf, spec) for leaf, spec in zip(fit(leaves), specs, strict=True)]
    return _join_parts(parts, template)


def _join_parts(parts: Sequence[Flattened], template: Template | None) -> Flattened:
    """Return the leaves of all parts, and the template with the template of each part in its place."""
    leaves = [leaf for leaves_of_part, _ in parts for leaf in leaves_of_part]
    return leaves, replace_leaves(template, iter([template_of_part for _, template_of_part in parts]))


def _flatten_to_spec(leaf: Any, spec: Any) -> Flattened:
    """Return the leaves and template of a composite value, or of its spec; other leaves stay."""
    if not is_composite_spec(spec):
        return [leaf], None
    if is_composite_spec(leaf):
        return spec_parts(spec)
    leaves, template = flatten(leaf)
    return leaves, replace_spec(template, spec)


def convert_lists_to_tensors(value: Any, spec: Any, as_spec: Callable[[Any, TensorSpec], Any]) -> Any:
    """Return an argument in which lists of numbers are tensors where the nested `spec` has a TensorSpec.

    `as_spec` returns a list as a tensor of the spec, or None if that is impossible. Parts that do not fit stay.
    """
    if isinstance(spec, TensorSpec):
        tensor = as_spec(value, spec) if isinstance(value, (list, tuple)) else None
        return value if tensor is None else tensor
    if type(spec) is dict and type(value) is dict and spec.keys() == value.keys():
        return {key: convert_lists_to_tensors(part, spec[key], as_spec) for key, part in value.items()}
    if type(spec) in (list, tuple) and type(value) is type(spec) and len(value) == len(spec):
        pairs = zip(value, spec, strict=True)
        return type(spec)(convert_lists_to_tensors(part, part_spec, as_spec) for part, part_spec in pairs)
    return value
