"""Flatten and rebuild structures: lists, tuples, dicts, named tuples, dataclasses and composite tensors of leaves."""

from __future__ import annotations

import dataclasses
import enum
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

from autoconv.errors import StagingError
from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.support import type_spec
from autoconv.runtime.support.attributes import attributes_of, is_in_graph, set_attributes, slots_of
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.type_spec import TypeSpec, from_parts, is_composite, parts_of


@dataclass(frozen=True, slots=True)
class Template:
    """The form of a structure: `kind` is its class, `keys` the names of its children (None for sequences).

    The kind of a composite tensor is its type spec, whose components are the children. `order` is a dict's own key
    order where it differs from `keys`; comparisons ignore it.
    """

    kind: Any
    keys: tuple[Any, ...] | None
    children: tuple[Template | None, ...]
    order: tuple[Any, ...] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        inner = [("." if child is None else str(child)) for child in self.children]
        if self.keys is not None:
            inner = [f"{key!r}: {child}" for key, child in zip(self.keys, inner, strict=True)]
        return f"{name_of(self.kind)}({', '.join(inner)})"


def count_leaves(template: Template | None) -> int:
    """Return the number of leaves of a structure with the template; None is the template of a single leaf."""
    return 1 if template is None else sum(map(count_leaves, template.children))


def flatten(
    structure: object, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], Template | None]:
    """Return the leaves in order, and the template (None when `structure` is a leaf).

    Dicts are ordered by sorted keys. A value for which `is_leaf` holds is a leaf.
    """
    leaves: list[Any] = []
    return leaves, _flatten(structure, leaves, is_leaf)


def flat_leaves(structure: object, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves as `flatten` does, without the template."""
    return flatten(structure, is_leaf)[0]


def pack(template: Template | None, leaves: Sequence[Any], initialise: bool = True) -> Any:
    """Rebuild the structure of the template from its leaves; raise ValueError for a wrong number of them.

    The fields of dataclass objects get the leaves unchanged. With `initialise`, `__init__` runs before that, for the
    sake of attributes that are no fields.
    """
    if count_leaves(template) != len(leaves):
        raise ValueError(f"the structure has {count_leaves(template)} leaves, found {len(leaves)}")
    return _pack(template, iter(leaves), initialise)


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """Apply `function` to the leaves of structures with one template; raise ValueError when the templates differ."""
    leaf_lists, (template, *other_templates) = zip(*map(flatten, structures), strict=True)
    for other_template in other_templates:
        if other_template != template:
            raise ValueError(f"the structures differ: {template} and {other_template}")
    return pack(template, [function(*leaves) for leaves in zip(*leaf_lists, strict=True)])


class MissingFieldError(StagingError):
    """An object of a dataclass lacks one of its fields, and so cannot be taken apart."""


def is_structure(value: object) -> bool:
    """Return whether `flatten` takes `value` apart."""
    class_: Any = type(value)
    if class_ in ATOMS:  # most leaves are atoms, and the tests below take ten times as long
        return False
    if class_ in _PLAIN_CLASSES or is_composite(value):
        return True
    if plain_class(value) in _PLAIN_CLASSES:  # but a container in the graph is a leaf
        return getattr(value, "_heap", None) is None and getattr(value, "_items", None) is None
    is_candidate = (
        isinstance(value, tuple)
        or (isinstance(value, (list, dict)) and class_.__module__ != "builtins" and _is_rebuildable(class_))
        or _is_rebuildable_dataclass(class_)
    )
    return is_candidate and not is_in_graph(value)


def plain_class(structure: object) -> type:
    """Return the class as which a structure is rebuilt: Python's own class for a traced container."""
    class_ = type(structure)
    return getattr(class_, "__autoconv_plain__", class_)


def structure_form(structure: object) -> Any:
    """Return `Template.kind` of a structure: the spec of a composite tensor, else the class."""
    return type_spec.spec_of_composite(structure) if is_composite(structure) else plain_class(structure)


def name_of(kind: Any) -> str:
    """Return the name of the class of the structures of a kind."""
    return str(kind.value_type.__name__ if isinstance(kind, TypeSpec) else kind.__name__)


_PLAIN_CLASSES = frozenset({list, tuple, dict})
# Classes whose values are always leaves.
ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})


def loses_state(value: Any) -> bool:
    """Return whether flattening and rebuilding would lose a part of the value.

    Two cases: attributes that are neither items nor fields; dict keys whose `__eq__` may make them equal to others.
    """
    class_: Any = type(value)
    if is_composite(value):
        return False
    if class_ in _PLAIN_CLASSES or class_ in ATOMS or plain_class(value) in _PLAIN_CLASSES:
        return class_ is dict and not all(map(_is_known_key, value))
    if not (class_.__dictoffset__ or slots_of(class_)) or not is_structure(value):
        return False
    extra_names = attributes_of(value).keys() - set(fields_of(class_))
    return not all(name.startswith("__autoconv") for name in extra_names)


def _is_known_key(key: Any) -> bool:
    """Return whether the key is equal to another by identity, or by the rules of built-in values or enums."""
    class_: Any = type(key)
    if class_ in ATOMS or class_.__eq__ is object.__eq__ or class_.__module__ in ("builtins", "numpy"):
        return class_ not in (tuple, frozenset) or all(map(_is_known_key, key))
    return issubclass(class_, enum.Enum)


def keys_of(template: Template | None) -> Iterator[Any]:
    """Iterate over the dict keys in a structure; of a key that is a tuple or frozenset, over its parts."""
    if template is None:
        return
    is_dict = not isinstance(template.kind, TypeSpec) and issubclass(template.kind, dict)
    worklist = list(template.keys or ()) if is_dict else []
    while worklist:
        key = worklist.pop()
        if type(key) in (tuple, frozenset):
            worklist += key
        else:
            yield key
    for child in template.children:
        yield from keys_of(child)


def kinds_of(template: Template | None) -> set[type]:
    """Return the classes that occur in a structure."""
    if template is None:
        return set()
    class_ = template.kind.value_type if isinstance(template.kind, TypeSpec) else template.kind
    return {class_}.union(*map(kinds_of, template.children))


@lru_cache(maxsize=256)
def fields_of(class_: Any) -> tuple[str, ...]:
    """Return the field names of a dataclass, in order; an empty tuple for other classes."""
    return tuple(field.name for field in dataclasses.fields(class_)) if dataclasses.is_dataclass(class_) else ()


@lru_cache(maxsize=256)
def _is_rebuildable(class_: Any) -> bool:
    """Return whether Python's own constructor makes the object from its items, and runs no method of the class."""
    if not any(class_.__init__ is base.__init__ for base in (list, dict, OrderedDict)):
        return False
    names = ("__new__", "__setitem__", "update")
    return not any(isinstance(getattr(class_, name, None), FunctionType) for name in names)


@lru_cache(maxsize=256)
def _is_rebuildable_dataclass(class_: Any) -> bool:
    """Return whether the class is a dataclass whose fields all are arguments of `__init__`."""
    return dataclasses.is_dataclass(class_) and all(field.init for field in dataclasses.fields(class_))


def _flatten(value: object, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> Template | None:
    """Append the leaves of the value to `leaves`; return its template."""
    if type(value) in ATOMS or not is_structure(value) or (is_leaf is not None and is_leaf(value)):
        leaves.append(value)
        return None
    if is_composite(value):
        return Template(structure_form(value), None, tuple(_flatten(part, leaves, is_leaf) for part in parts_of(value)))
    if isinstance(value, Mapping):
        keys, order = tuple(sorted_keys(value)), tuple(_keys(value))
        children = tuple(_flatten(_item_of(value, key), leaves, is_leaf) for key in keys)
        return Template(plain_class(value), keys, children, None if order == keys else order)
    if isinstance(value, (list, tuple)):
        return Template(plain_class(value), None, tuple(_flatten(item, leaves, is_leaf) for item in raw_items(value)))
    class_: Any = type(value)
    keys = fields_of(class_)
    return Template(plain_class(value), keys, tuple(_flatten(getattr(value, key), leaves, is_leaf) for key in keys))


def raw_items(container: object) -> Iterator[Any]:
    """Iterate over a list, tuple, set or frozenset without running methods of a user's subclass."""
    class_: Any = next(base for base in (list, tuple, set, frozenset) if isinstance(container, base))
    return class_.__iter__(container)  # type: ignore[no-any-return]


def structure_parts(structure: object) -> list[Any]:
    """Return the direct children of a structure."""
    if is_composite(structure):
        return parts_of(structure)
    if isinstance(structure, dict):
        return list(dict.values(structure))
    if isinstance(structure, Mapping):
        return list(structure.values())
    if isinstance(structure, (list, tuple)):
        return list(raw_items(structure))
    class_: Any = type(structure)
    try:
        return [getattr(structure, name) for name in fields_of(class_)]
    except AttributeError as error:  # `__init__` did not give it all of its fields, or did not run yet
        raise MissingFieldError(str(error), current_place()) from None


def tuple_parts(value: object) -> Iterator[tuple[Any, ...]]:
    """Iterate over the tuples in a structure of tuples, the outer ones first."""
    if isinstance(value, tuple):
        yield value
        for part in raw_items(value):
            yield from tuple_parts(part)


def mutable_parts(value: object) -> Iterator[Any]:
    """Iterate over the lists, dicts and dataclasses in a structure.

    One that is reached several times is yielded as often. Those inside of it follow it the first time only.
    """
    visited_ids: set[int] = set()
    worklist = [value]
    while worklist:
        part = worklist.pop()
        if type(part) in ATOMS or not is_structure(part):
            continue
        is_new = id(part) not in visited_ids
        if not isinstance(part, tuple):
            yield part
        elif not is_new:  # a shared tuple: its parts are reached again
            yield from _first_mutable(part)
        if is_new:
            visited_ids.add(id(part))
            worklist += reversed(structure_parts(part))


def _first_mutable(value: object) -> Iterator[Any]:
    """Yield the first list, dict or dataclass in a structure of tuples, if there is one."""
    visited_ids: set[int] = set()
    worklist = [value]
    while worklist:
        part = worklist.pop()
        if id(part) in visited_ids or type(part) in ATOMS or not is_structure(part):
            continue
        if not isinstance(part, tuple):
            yield part
            return
        visited_ids.add(id(part))
        worklist += part


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """Return the keys of a mapping, sorted if they can be compared."""
    try:
        return sorted(_keys(mapping))
    except TypeError:
        return list(_keys(mapping))


def _keys(mapping: Mapping[Any, Any]) -> Any:
    """Return the keys; for a dict, also a traced one, the keys that Python itself stores."""
    return dict.keys(mapping) if isinstance(mapping, dict) else mapping


def _item_of(mapping: Mapping[Any, Any], key: object) -> Any:
    return dict.__getitem__(mapping, key) if isinstance(mapping, dict) else mapping[key]


def _pack(template: Template | None, leaves: Any, initialise: bool) -> Any:
    """Return the structure of a template with the next leaves; see `pack`."""
    if template is None:
        return next(leaves)
    children = [_pack(child, leaves, initialise) for child in template.children]
    kind: Any = template.kind
    if isinstance(kind, TypeSpec):
        return from_parts(kind, children)
    if template.keys is None:
        # A `__new__` or `__init__` in Python ran when the original was made, and must not run again.
        is_built_by_tuple = kind.__new__ is tuple.__new__ or isinstance(kind.__new__, FunctionType)
        skips_constructor = issubclass(kind, tuple) and is_built_by_tuple
        return tuple.__new__(kind, children) if skips_constructor else kind(children)
    if issubclass(kind, dict):
        if template.order is not None:
            children_by_key = dict(zip(template.keys, children, strict=True))
            return kind((key, children_by_key[key]) for key in template.order)
        return kind(zip(template.keys, children, strict=True))
    fields = dict(zip(template.keys, children, strict=True))
    if not initialise:
        result: Any = object.__new__(kind)
        set_attributes(result, fields)
        return result
    result = kind(**fields)
    for name, child in fields.items():  # `__init__` may have stored something else
        object.__setattr__(result, name, child)
    return result
