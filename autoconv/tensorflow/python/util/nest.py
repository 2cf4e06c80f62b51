"""`tensorflow.python.util.nest`: parts of structures by paths, and at the leaves of a shallow structure.

The parts of `[1, [2, 3]]` at the leaves of the shallow structure `["a", "b"]` are 1 and [2, 3]. A path is a tuple of
keys, names of fields and indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from autoconv.nest import assert_same_structure as assert_same_structure
from autoconv.nest import flatten as flatten
from autoconv.nest import is_nested as is_nested
from autoconv.nest import map_structure as map_structure
from autoconv.nest import pack_sequence_as as pack_sequence_as
from autoconv.runtime.support.structure import fields_of, is_structure, sorted_keys
from autoconv.runtime.support.structure_difference import are_mappings
from autoconv.runtime.support.type_spec import from_parts, is_composite, parts_of, spec_of_composite

Path = tuple[Any, ...]


def flatten_up_to(
    shallow_tree: object, input_tree: object, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """Return the parts of `input_tree` at the leaves of `shallow_tree`, in order."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return [part for _, part in _parts_up_to(shallow_tree, input_tree, expand_composites)]


def flatten_with_tuple_paths_up_to(
    shallow_tree: object, input_tree: object, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """Return the paths and the parts of `input_tree` at the leaves of `shallow_tree`, in order."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_parts_up_to(shallow_tree, input_tree, expand_composites))


def map_structure_up_to(shallow_tree: object, func: Callable[..., Any], *inputs: object, **kwargs: Any) -> object:
    """Return func(part, …) for the parts of the inputs at the leaves of `shallow_tree`, in its structure."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: object, func: Callable[..., Any], *inputs: object, **kwargs: Any
) -> object:
    """Return func(path, part, …) for the parts of the inputs at the leaves of `shallow_tree`, in its structure."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only `check_types` and `expand_composites` are keyword arguments, found {sorted(kwargs)}")
    parts_by_input = [flatten_up_to(shallow_tree, tree, check_types, expand_composites) for tree in inputs]
    paths = (path for path, _ in _parts_up_to(shallow_tree, inputs[0], expand_composites))
    results = [func(path, *parts) for path, *parts in zip(paths, *parts_by_input, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: object, **kwargs: Any) -> object:
    """Return func(path, leaf, …) for the leaves of structures of the same form."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True))
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: object, **kwargs: Any) -> object:
    """Return func(path, leaf, …) for the leaves of structures of the same form, with paths as text such as "key/0"."""

    def call_with_text(path: Path, *leaves: object) -> object:
        return func("/".join(map(str, path)), *leaves)

    return map_structure_with_tuple_paths(call_with_text, *structure, **kwargs)


def flatten_with_tuple_paths(structure: object, expand_composites: bool = False) -> list[tuple[Path, Any]]:
    """Return the leaves with their paths."""
    return list(_parts_up_to(structure, structure, expand_composites))


def flatten_with_joined_string_paths(
    structure: object, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Return the leaves with their paths as strings."""
    paths_and_leaves = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in paths_and_leaves]


def yield_flat_paths(nest: object, expand_composites: bool = False) -> Iterator[Path]:
    """Yield the paths of the leaves."""
    for path, _ in _parts_up_to(nest, nest, expand_composites):
        yield path


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a dict from the leaves of each key to the leaves of its value.

    The key (a, b) with the value (1, 2) gives a: 1 and b: 2. Raises ValueError for a value of another size, and for
    equal keys.
    """
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        key_leaves, value_leaves = flatten(key), flatten(value)
        if len(key_leaves) != len(value_leaves):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(key_leaves)} elements, value {len(value_leaves)}."
            )
        for key_leaf, value_leaf in zip(key_leaves, value_leaves, strict=True):
            if key_leaf in flat:
                raise ValueError(f"Could not flatten dictionary: the key {key_leaf} is not unique.")
            flat[key_leaf] = value_leaf
    return flat


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: object, expand_composites: bool = False
) -> object:
    """Return a structure of bools: False in place of each part that is not traversed, and at each leaf its own bool.

    `traverse_fn(part)` returns whether to traverse the part, or a structure of such bools for the part's own parts.
    """
    to_traverse = traverse_fn(structure)
    if not _is_nested(structure, expand_composites):
        if not isinstance(to_traverse, bool):
            raise TypeError(f"traverse_fn returned structure: {to_traverse} for non-structure: {structure}")
        return to_traverse
    if isinstance(to_traverse, bool):
        if not to_traverse:
            return False
        parts = _yield_value(structure)
        flags = [get_traverse_shallow_structure(traverse_fn, part, expand_composites) for part in parts]
        return sequence_like(structure, flags)
    assert_shallow_structure(to_traverse, structure, expand_composites=expand_composites)
    flags = []
    for part, flag in zip(_yield_value(structure), _yield_value(to_traverse), strict=True):
        if not isinstance(flag, bool):
            raise TypeError(f"traverse_fn didn't return a depth=1 structure of bool: {to_traverse}")
        flags.append(get_traverse_shallow_structure(traverse_fn, part, expand_composites) if flag else False)
    return sequence_like(to_traverse, flags)


def list_to_tuple(structure: object) -> object:
    """Return a structure with tuples in place of lists."""
    if not _is_nested(structure, expand_composites=False):
        return structure
    parts = [list_to_tuple(part) for part in _yield_value(structure)]
    return tuple(parts) if isinstance(structure, list) else sequence_like(structure, parts)


def assert_shallow_structure(
    shallow_tree: object, input_tree: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise TypeError or ValueError if `shallow_tree` is not a part of `input_tree`, from its root."""
    if not _is_nested(shallow_tree, expand_composites):
        return
    if not _is_nested(input_tree, expand_composites):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    same_kind = type(shallow_tree) is type(input_tree) or are_mappings(shallow_tree, input_tree)
    if check_types and not same_kind:
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    input_items = dict(_yield_sorted_items(input_tree)) if is_mapping(input_tree) else None
    input_parts = list(_yield_value(input_tree))
    shallow_items = list(_yield_sorted_items(shallow_tree))
    if len(input_parts) != len(shallow_items):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_parts)}, while shallow structure has length {len(shallow_items)}."
        )
    for position, (key, shallow_part) in enumerate(shallow_items):
        if input_items is not None and key not in input_items:
            raise ValueError(f"The two structures don't have the same keys: {key!r} is only in the shallow structure.")
        part = input_parts[position] if input_items is None else input_items[key]
        assert_shallow_structure(shallow_part, part, check_types, expand_composites)


def is_mapping(value: object) -> bool:
    """Return whether the value is a mapping."""
    return isinstance(value, Mapping)


def is_attrs(value: object) -> bool:
    """Return whether the value's class is one of the library attrs."""
    return hasattr(type(value), "__attrs_attrs__")


def _is_namedtuple(value: object, strict: bool = False) -> bool:
    """Return whether the value is a named tuple; with `strict`, of a class that `namedtuple` made itself."""
    is_named = isinstance(value, tuple) and isinstance(getattr(value, "_fields", None), Sequence)
    return is_named and (not strict or type(value).__bases__ == (tuple,))


def _is_nested(value: object, expand_composites: bool) -> bool:
    """Return whether the value is a structure rather than a leaf; composite tensors are, if they are expanded."""
    return is_structure(value) and (expand_composites or not is_composite(value))


def _yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    """Yield keys, names of fields or indices, with the parts of a structure."""
    if is_mapping(iterable):
        for key in sorted_keys(iterable):
            yield key, iterable[key]
    elif _is_namedtuple(iterable):
        for name in iterable._fields:
            yield name, getattr(iterable, name)
    elif is_composite(iterable):
        yield type(iterable).__name__, parts_of(iterable)
    elif names := _field_names(iterable):
        for name in names:
            yield name, getattr(iterable, name)
    else:
        yield from enumerate(iterable)


def _field_names(value: object) -> tuple[str, ...]:
    class_: Any = type(value)
    return fields_of(class_)


def _yield_value(iterable: object) -> Iterator[Any]:
    """Yield the parts of a structure in the order of `_yield_sorted_items`."""
    for _, value in _yield_sorted_items(iterable):
        yield value


def sequence_like(instance: Any, args: Iterable[Any]) -> Any:
    """Return a structure like `instance` with the parts `args`, in the order of `_yield_sorted_items`."""
    parts = list(args)
    if is_mapping(instance):
        parts_by_key = dict(zip(sorted_keys(instance), parts, strict=True))
        return type(instance)((key, parts_by_key[key]) for key in instance)
    if _is_namedtuple(instance):
        return type(instance)(*parts)
    if is_composite(instance):
        return from_parts(spec_of_composite(instance), parts[0])
    if names := _field_names(instance):
        return type(instance)(**dict(zip(names, parts, strict=True)))
    return type(instance)(parts)


def _parts_up_to(
    shallow_tree: object, input_tree: object, expand_composites: bool, path: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """Yield the paths and the parts of `input_tree` at the leaves of `shallow_tree`; `path` is that of `input_tree`."""
    if not _is_nested(shallow_tree, expand_composites):
        yield path, input_tree
        return
    input_items = dict(_yield_sorted_items(input_tree)) if is_mapping(input_tree) else None
    parts = list(_yield_value(input_tree))
    for position, (key, shallow_part) in enumerate(_yield_sorted_items(shallow_tree)):
        part = parts[position] if input_items is None else input_items[key]
        yield from _parts_up_to(shallow_part, part, expand_composites, (*path, key))
