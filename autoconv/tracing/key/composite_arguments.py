"""Composite tensors among arguments: the sizes that their specs leave open, and how they fit an input signature."""

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

Flat = tuple[list[Any], Template | None]


def open_types(template: Template | None, start: int) -> dict[int, TensorType]:
    """Return the types of components by their positions from `start` on, as the specs of their composites have them.

    A sparse tensor's number of elements is open there, so that calls with another number share a trace.
    """
    if not contains_composite(template):
        return {}
    specs = enumerate(leaf_specs(template), start)
    return {place: spec.type for place, spec in specs if isinstance(spec, TensorSpec)}


def fit_composite(value: Any, fit: Callable[[list[Any]], list[Any]], specs: Sequence[Any]) -> Flat:
    """Fit a value to the part of an input signature with these leaves.

    `fit` takes the value's leaves, where composites are whole, and returns what is taken in their place.
    """
    leaves, template = flatten(value, is_composite)
    return _replace([_as_spec(leaf, spec) for leaf, spec in zip(fit(leaves), specs, strict=True)], template)


def _replace(parts: Sequence[Flat], template: Template | None) -> Flat:
    leaves = [leaf for leaves_of_part, _ in parts for leaf in leaves_of_part]
    return leaves, replace_leaves(template, iter([inner for _, inner in parts]))


def _as_spec(leaf: Any, spec: Any) -> Flat:
    if not is_composite_spec(spec):
        return [leaf], None
    if is_composite_spec(leaf):
        return spec_parts(spec)
    leaves_found, template = flatten(leaf)
    return leaves_found, replace_spec(template, spec)


def with_lists_as_tensors(value: Any, spec: Any, as_spec: Callable[[Any, TensorSpec], Any]) -> Any:
    """Return an argument with a tensor for each list of numbers that stands where a nested spec has a TensorSpec.

    What does not fit stays as it is.
    """
    if isinstance(spec, TensorSpec):
        tensor = as_spec(value, spec) if isinstance(value, (list, tuple)) else None
        return value if tensor is None else tensor
    if type(spec) is dict and type(value) is dict and spec.keys() == value.keys():
        return {key: with_lists_as_tensors(part, spec[key], as_spec) for key, part in value.items()}
    if type(spec) in (list, tuple) and type(value) is type(spec) and len(value) == len(spec):
        return type(spec)(with_lists_as_tensors(v, s, as_spec) for v, s in zip(value, spec, strict=True))
    return value
