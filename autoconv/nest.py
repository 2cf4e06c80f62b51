"""Structures of lists, tuples, dicts, named tuples and dataclasses.

Composite tensors, such as sparse ones, and their specs are leaves; with `expand_composites` they are structures of
their tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions
from autoconv.runtime.support.structure import Template, pack
from autoconv.runtime.support.structure import flatten as _flatten_structure
from autoconv.runtime.support.structure_difference import check_same_structure
from autoconv.runtime.support.structure_difference import is_nest as _is_nest
from autoconv.runtime.support.type_spec import from_parts, is_composite, is_composite_spec, part_specs


def is_nested(structure: Any) -> bool:
    """Return whether `structure` has parts and is not a leaf.

    >>> autoconv.nest.is_nested([1, 2]), autoconv.nest.is_nested(1)
    (True, False)
    """
    return _is_nest(structure)


def _leaves_and_template(structure: Any, expand_composites: bool = False) -> tuple[list[Any], Template | None]:
    """Return the leaves of a structure, and its template; composites are leaves without `expand_composites`."""
    return _flatten_structure(structure, None if expand_composites else is_composite)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves in order, those of dicts by sorted key; [structure] for a leaf.

    >>> autoconv.nest.flatten({"b": [2, 3], "a": 1})
    [1, 2, 3]
    """
    leaves = _leaves_and_template(structure, expand_composites)[0]
    return [part for leaf in leaves for part in _leaf_specs(leaf)] if expand_composites else leaves


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Return a structure like `structure` with these leaves; dicts keep their key order.

    Raises TypeError if `flat_sequence` is no sequence, ValueError if it has another number of leaves.

    >>> autoconv.nest.pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    if not isinstance(flat_sequence, Sequence) or isinstance(flat_sequence, (str, bytes)):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence!r}\ninto a structure, but found type "
            f"{type(flat_sequence)}"
        )
    leaves, template = _leaves_and_template(structure, expand_composites)
    leaf_count = len(flatten(structure, expand_composites))
    if leaf_count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {leaf_count} atoms, but flat_sequence had "
            f"{len(flat_sequence)} items. Structure: {structure!r}, flat_sequence: {flat_sequence!r}."
        )
    if expand_composites:
        remaining_values = iter(flat_sequence)
        flat_sequence = [_pack_leaf(leaf, remaining_values) for leaf in leaves]
    return _restore_key_order(structure, pack(template, flat_sequence))


def _leaf_specs(leaf: Any) -> list[Any]:
    """Return the specs of the tensors of a composite's spec, as TensorFlow expands it; [leaf] for another leaf."""
    if not is_composite_spec(leaf):
        return [leaf]
    return [part for spec in part_specs(leaf) for part in _leaf_specs(spec)]


def _pack_leaf(leaf: Any, remaining_values: Iterator[Any]) -> Any:
    """Return the next value, or the composite of the next ones where the leaf is the spec of one."""
    if not is_composite_spec(leaf):
        return next(remaining_values)
    return from_parts(leaf, [_pack_leaf(spec, remaining_values) for spec in part_specs(leaf)])


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Return func(leaf, …) for the leaves of one or more like structures, in a structure like the first.

    Raises TypeError if `func` is not callable, and the errors of `assert_same_structure`.

    >>> autoconv.nest.map_structure(lambda x: 2 * x, {"a": 1, "b": [2, 3]})
    {'a': 2, 'b': [4, 6]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"{', '.join(kwargs)}"
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    leaves_of_each = [flatten(item, expand) for item in structure]
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*leaves_of_each, strict=True)], expand)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ValueError for a different nesting, length or set of keys, TypeError for containers of different types.

    >>> autoconv.nest.assert_same_structure([1, [2]], [3, [4]])
    """
    check_same_structure(nest1, nest2, check_types, expand_composites)


def _restore_key_order(like: Any, packed: Any) -> Any:
    """Return `packed` with its dicts in the key order of those in `like`."""
    if not _is_nest(like):
        return packed
    if isinstance(like, Mapping):
        return type(packed)((key, _restore_key_order(like[key], packed[key])) for key in like)
    if isinstance(like, (list, tuple)):
        parts = [_restore_key_order(*pair) for pair in zip(like, packed, strict=True)]
        return type(packed)(*parts) if hasattr(packed, "_fields") else type(packed)(parts)
    return packed


__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]

_wrap_public_functions(globals())
