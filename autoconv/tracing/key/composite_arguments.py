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

# (leaves of a value, its template): the template is the structure that the leaves are in, None for a single leaf.
Flattened = tuple[list[Any], Template | None]


def open_component_types(template: Template | None, start: int) -> dict[int, TensorType]:
    """Return the types of the components of composites, as their specs give them, by the position of their leaf.

    The first leaf of the argument with this template has position `start`. In these types the number of elements of a
    sparse tensor is an open size, so calls with different numbers share a trace.
    """
    if not contains_composite(template):
        return {}
    specs = enumerate(leaf_specs(template), start)
    return {position: spec.type for position, spec in specs if isinstance(spec, TensorSpec)}


def fit_composites(value: Any, fit: Callable[[list[Any]], list[Any]], specs: Sequence[Any]) -> Flattened:
    """Return the leaves and the template of a value, fitted to `specs`.

    `specs` has a spec from the input signature for each leaf; a composite counts as one leaf. `fit` takes such leaves,
    and returns leaves of the types that the specs describe.
    """
    leaves, template = flatten(value, is_composite)
    parts = [_flatten_to_spec(leaf, spec) for leaf, spec in zip(fit(leaves), specs, strict=True)]
    return _join_parts(parts, template)


def _join_parts(flattened_parts: Sequence[Flattened], template: Template | None) -> Flattened:
    """Return the leaves of all parts, and the template with the template of each part in its place."""
    leaves = [leaf for leaves_of_part, _ in flattened_parts for leaf in leaves_of_part]
    return leaves, replace_leaves(template, iter([template_of_part for _, template_of_part in flattened_parts]))


def _flatten_to_spec(leaf: Any, spec: Any) -> Flattened:
    """Return the leaves and template of a composite, which may be given by its spec; any other leaf stays as it is."""
    if not is_composite_spec(spec):
        return [leaf], None
    if is_composite_spec(leaf):
        return spec_parts(spec)
    leaves, template = flatten(leaf)
    return leaves, replace_spec(template, spec)


def convert_lists_to_tensors(value: Any, spec: Any, to_tensor: Callable[[Any, TensorSpec], Any]) -> Any:
    """Return an argument in which lists of numbers are tensors where the nested `spec` has a TensorSpec.

    `to_tensor(list, spec)` returns the tensor, or None if there is none that fits the spec. Parts that do not fit stay.
    """
    if isinstance(spec, TensorSpec):
        tensor = to_tensor(value, spec) if isinstance(value, (list, tuple)) else None
        return value if tensor is None else tensor
    if type(spec) is dict and type(value) is dict and spec.keys() == value.keys():
        return {key: convert_lists_to_tensors(part, spec[key], to_tensor) for key, part in value.items()}
    if type(spec) in (list, tuple) and type(value) is type(spec) and len(value) == len(spec):
        pairs = zip(value, spec, strict=True)
        return type(spec)(convert_lists_to_tensors(part, part_spec, to_tensor) for part, part_spec in pairs)
    return value
