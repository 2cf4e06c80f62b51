"""Elements of datasets: conversion between structures of tensors (and datasets), their specs, and leaves.

The nodes of a dataset pass elements as lists of leaves: arrays, and for nested datasets the objects that create their
iterators. A list in an element is one tensor, as in TensorFlow; tuples, dicts and named tuples are structures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api.value_specs import NoneTensorSpec
from autoconv.graph.types import TupleType, Type, join_shapes
from autoconv.runtime.support.composite_structures import (
    collapse_composites,
    expand_specs,
    replace_leaves,
)
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import Template, flat_leaves, flatten, is_structure, pack
from autoconv.runtime.support.type_spec import is_composite, is_composite_spec
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def components(structure: Any) -> tuple[list[Any], Template | None]:
    """Return the tensors and datasets of a structure, and its template; raises TypeError for other leaves."""
    leaves, template = _flatten_element(_lists_to_tensors(structure))
    return [_convert_component(leaf) for leaf in leaves], template


def _flatten_element(element: object) -> tuple[list[Any], Template | None]:
    """Return the leaves and the template of an element: a None among tensors is a component without leaves."""
    leaves, template = flatten(element)
    if all(leaf is None for leaf in leaves):
        return leaves, template
    element_template = replace_leaves(template, iter([_NONE_TEMPLATE if leaf is None else None for leaf in leaves]))
    return [leaf for leaf in leaves if leaf is not None], element_template


_NONE_TEMPLATE = Template(NoneTensorSpec(), None, ())  # of a component that is None, which has no leaves


def initial_state(structure: Any) -> Any:
    """Return a loop's initial state: Python numbers stay weak, all other leaves become tensors."""
    leaves, template = flatten(_lists_to_tensors(structure))
    return pack(template, [x if isinstance(x, (bool, int, float)) else _convert_component(x) for x in leaves])


def spec_of(leaf: Any) -> Any:
    """Return the spec of one leaf: a TensorSpec, or a dataset's own spec."""
    if hasattr(type(leaf), "__autoconv_spec__"):
        return leaf.__autoconv_spec__()
    return TensorSpec.from_type(leaf.type)


def spec_leaves(spec: Any) -> list[Any]:
    """Return the specs of an element's leaves, in order."""
    leaf_specs, _ = flat_spec(spec)
    return leaf_specs


def flat_spec(spec: object) -> tuple[list[Any], Template | None]:
    """Return the specs of the leaves, and the template of elements, with composites split into components."""
    return expand_specs(*flatten(spec))


def spec_of_leaves(template: Template | None, leaves: Sequence[Any]) -> Any:
    """Return the spec of an element that has these leaves."""
    specs, outer_template = collapse_composites(template, iter([spec_of(leaf) for leaf in leaves]))
    return pack(outer_template, specs)


def component_leaf_counts(spec: object) -> list[tuple[Any, int]]:
    """Return the specs of an element's components (a composite is one), each with the number of its leaves."""
    return [(component, len(spec_leaves(component))) for component in flat_leaves(spec)]


def composite_arrays(value: object) -> list[Any]:
    """Return the arrays of a composite; none for None."""
    return [] if value is None else [np.asarray(leaf) for leaf in flat_leaves(value)]


def element_type(spec: Any) -> TupleType:
    """Return the graph type of elements of that spec."""
    return TupleType(tuple(leaf_type(leaf) for leaf in spec_leaves(spec)))


def leaf_type(spec: Any) -> Type:
    """Return the graph type of a leaf with that spec."""
    type_: Type = spec.type
    return type_


def rebuild(spec: Any, leaves: Sequence[Any]) -> Any:
    """Return the element passed to users: a structure of tensors (symbolic ones for graph values) and datasets."""
    specs, template = flat_spec(spec)
    return pack(template, [_wrap_leaf(leaf_spec, value) for leaf_spec, value in zip(specs, leaves, strict=True)])


def map_specs(function: Callable[[Any], Any], spec: Any) -> Any:
    """Return the structure of specs with `function` applied to each."""
    specs, template = flatten(spec)
    return pack(template, [function(leaf) for leaf in specs])


def join_element_specs(first: Any, second: Any) -> Any:
    """Return the spec that elements of two datasets have in common; raise TypeError for other structures or dtypes."""
    (first_leaves, template), (second_leaves, second_template) = flatten(first), flatten(second)
    if template != second_template or any(
        type(leaf) is not type(other) or not _can_join(leaf, other)
        for leaf, other in zip(first_leaves, second_leaves, strict=True)
    ):
        raise TypeError(f"the elements of two datasets have to be of one kind; found {first} and {second}")
    return pack(template, list(map(_join_leaf_specs, first_leaves, second_leaves)))


def _can_join(first: Any, second: Any) -> bool:
    """Return whether a component with the first spec and one with the second can have a spec in common."""
    if is_composite_spec(first):
        return first.most_specific_common_supertype([second]) is not None
    return first.dtype is second.dtype if isinstance(first, TensorSpec) else bool(first == second)


def _join_leaf_specs(first: Any, second: Any) -> Any:
    """Return the spec of components of either spec, which can be joined (see `_can_join`)."""
    if is_composite_spec(first):
        return first.most_specific_common_supertype([second])
    if not isinstance(first, TensorSpec):
        return first
    return TensorSpec(join_shapes(first.type.shape, second.type.shape), first.dtype)


def _wrap_leaf(spec: Any, value: Any) -> Any:
    """Return a leaf as users see it: an eager or symbolic tensor, or a dataset made by its spec."""
    if not isinstance(spec, TensorSpec):
        return spec(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return EagerTensor(value)
    return value if isinstance(value, SymbolicTensor) else SymbolicTensor(value)


def _lists_to_tensors(structure: Any) -> Any:
    """Return the structure with each list, and each memory-mapped array, as a tensor."""
    if isinstance(structure, list):
        holds_arrays = structure and all(isinstance(item, np.ndarray) for item in structure)
        return convert_to_tensor(np.array(structure) if holds_arrays else structure)  # arrays keep their dtype here
    if is_memory_mapped(structure):
        return EagerTensor(structure)  # without a copy of the whole file
    if not is_structure(structure) or is_composite(structure):
        return structure
    if isinstance(structure, dict):
        return type(structure)((key, _lists_to_tensors(value)) for key, value in structure.items())
    if isinstance(structure, tuple):
        items = [_lists_to_tensors(item) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    fields = {field.name: _lists_to_tensors(getattr(structure, field.name)) for field in dataclasses.fields(structure)}
    return type(structure)(**fields)


def _convert_component(leaf: Any) -> Any:
    """Return a component as a tensor; a dataset, or another value with a spec of its own, stays."""
    if hasattr(type(leaf), "__autoconv_spec__"):
        return leaf
    if leaf is None:
        raise TypeError("an element of a dataset has at least one tensor; found None")
    is_foreign = not is_tensor(leaf) and type(leaf).__module__ not in ("builtins", "numpy")
    if is_foreign and hasattr(type(leaf), "__array__"):  # such as a column of pandas
        leaf = np.asarray(leaf)
    return convert_to_tensor(leaf)


def is_memory_mapped(array: Any) -> bool:
    """Return whether the array, or the array it is a view of, is a memory-mapped file."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False
