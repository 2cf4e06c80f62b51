"""The first difference of two structures, as TensorFlow's errors describe it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoconv.runtime.support.structure import is_structure, structure_parts
from autoconv.runtime.support.type_spec import is_composite


def check_same_structure(
    first: Any, second: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ValueError for a different nesting, length or set of keys, TypeError for containers of different types."""
    error = _difference(first, second, check_types, expand_composites)
    if error is not None:
        error_class, reason = error
        raise error_class(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(first).__name__} str={first}\n\n"
            f"Second structure: type={type(second).__name__} str={second}\n\nMore specifically: {reason}"
        )


def is_nest(value: Any, expand_composites: bool = False) -> bool:
    """Return whether a value is a structure; composite tensors count as structures only with `expand_composites`."""
    return is_structure(value) and (expand_composites or not is_composite(value))


def _difference(first: Any, second: Any, check_types: bool, expand: bool) -> tuple[type[Exception], str] | None:
    """Return the first difference of two structures as class and message of an error; None if they are alike."""
    if is_nest(first, expand) != is_nest(second, expand):
        nest, leaf = (first, second) if is_nest(first, expand) else (second, first)
        return (
            ValueError,
            f'Substructure "type={type(nest).__name__} str={nest}" is a sequence, while substructure '
            f'"type={type(leaf).__name__} str={leaf}" is not',
        )
    if not is_nest(first, expand):
        return None
    if check_types and type(first) is not type(second) and not are_mappings(first, second):
        return TypeError, f"the types differ: {type(first).__name__} and {type(second).__name__}"
    if are_mappings(first, second):
        if set(first) != set(second):
            return (
                ValueError,
                f"The two dictionaries don't have the same set of keys: {list(first)} and {list(second)}",
            )
        part_pairs = [(first[key], second[key]) for key in first]
    else:
        first_parts, second_parts = structure_parts(first), structure_parts(second)
        if len(first_parts) != len(second_parts):
            return ValueError, f"the numbers of elements differ: {len(first_parts)} and {len(second_parts)}"
        part_pairs = list(zip(first_parts, second_parts, strict=True))
    for first_part, second_part in part_pairs:
        result = _difference(first_part, second_part, check_types, expand)
        if result is not None:
            return result
    return None


def are_mappings(first: Any, second: Any) -> bool:
    """Return whether both are mappings."""
    return isinstance(first, Mapping) and isinstance(second, Mapping)
