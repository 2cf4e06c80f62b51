"""Structures: lists, tuples, dicts, named tuples and dataclasses of leaves, taken apart and put together again."""

from __future__ import annotations

import dataclasses
import enum
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from autoconv.runtime.attributes import attributes_of, slots_of


@dataclass(frozen=True, slots=True)
class Template:
    """How a structure is built: `kind` is its class, `keys` the names of its children (None for sequences).

    `order` is a dict's own order of keys where it is not that of `keys`; it does not count in comparisons.
    """

    kind: type
    keys: tuple[Any, ...] | None
    children: tuple[Template | None, ...]
    order: tuple[Any, ...] | None = field(default=None, compare=False)

    @property
    def leaf_count(self) -> int:
        return sum(1 if child is None else child.leaf_count for child in self.children)

    def __str__(self) -> str:
        inner = [("." if child is None else str(child)) for child in self.children]
        if self.keys is not None:
            inner = [f"{key!r}: {child}" for key, child in zip(self.keys, inner, strict=True)]
        return f"{self.kind.__name__}({', '.join(inner)})"


def flatten(
    structure: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], Template | None]:
    """The leaves in order, and the template (None when `structure` is a leaf). Dicts go by sorted keys. What `is_leaf`
    holds for is not taken apart."""
    leaves: list[Any] = []
    return leaves, _flatten(structure, leaves, is_leaf)


def pack(template: Template | None, leaves: Sequence[Any]) -> Any:
    """The structure of that template with those leaves; raises ValueError for another number of them."""
    expected = 1 if template is None else template.leaf_count
    if expected != len(leaves):
        raise ValueError(f"the structure has {expected} leaves, found {len(leaves)}")
    return _pack(template, iter(leaves))


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """Applies `function` to the leaves of structures of one template; raises ValueError when they differ."""
    flat = [flatten(structure) for structure in structures]
    template = flat[0][1]
    for _, other in flat[1:]:
        if other != template:
            raise ValueError(f"the structures differ: {template} and {other}")
    return pack(template, [function(*leaves) for leaves in zip(*(leaves for leaves, _ in flat), strict=True)])


def is_structure(value: Any) -> bool:
    """Whether `value` is taken apart."""
    kind: Any = type(value)
    if kind in ATOMS:  # most leaves: what follows takes ten times as long
        return False
    if kind in _PLAIN:
        return True
    if plain_kind(value) in _PLAIN:  # unless it is a container of the graph
        return getattr(value, "_heap", None) is None and getattr(value, "_items", None) is None
    return (
        (isinstance(value, (tuple, OrderedDict)) and not hasattr(kind, "__autoconv_whole__"))
        or (isinstance(value, (list, dict)) and kind.__module__ != "builtins" and _rebuildable(kind))
        or _is_pytree_dataclass(kind)
    )


def plain_kind(structure: Any) -> type:
    """The class that a structure is built as: what a trace follows stands for Python's own."""
    kind = type(structure)
    return getattr(kind, "__autoconv_plain__", kind)


def is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


_PLAIN = frozenset({list, tuple, dict})
ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})


def is_mutable_dataclass(value: Any) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and not parameters.frozen


def holds_more(value: Any) -> bool:
    """Whether what would be taken apart has attributes of its own besides its items or fields, which what is built
    anew would not have; or is a dict with keys that say themselves what they equal, and may equal others."""
    kind: Any = type(value)
    if kind in _PLAIN or kind in ATOMS or plain_kind(value) in _PLAIN:
        return kind is dict and not all(map(_is_known_key, value))
    if not (kind.__dictoffset__ or slots_of(kind)) or not is_structure(value):
        return False
    more = attributes_of(value).keys() - set(fields_of(kind))
    return not all(name.startswith("__autoconv") for name in more)


def _is_known_key(key: Any) -> bool:
    """Whether keys equal this one only where they mean the same, apart from what objects hold that are the same."""
    kind: Any = type(key)
    if kind in ATOMS or kind.__eq__ is object.__eq__ or kind.__module__ in ("builtins", "numpy"):
        return kind not in (tuple, frozenset) or all(map(_is_known_key, key))
    return issubclass(kind, enum.Enum)


def keys_of(template: Template | None) -> Iterator[Any]:
    """The keys of dicts in a structure, the parts of tuples and frozensets among them one by one."""
    if template is None:
        return
    pending = list(template.keys or ()) if issubclass(template.kind, dict) else []
    while pending:
        key = pending.pop()
        if type(key) in (tuple, frozenset):
            pending += key
        else:
            yield key
    for child in template.children:
        yield from keys_of(child)


def kinds_of(template: Template | None) -> set[type]:
    """The classes that a structure is built of."""
    return set() if template is None else {template.kind}.union(*map(kinds_of, template.children))


@lru_cache(maxsize=256)
def fields_of(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a dataclass, in their order; none of other classes."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


def _rebuildable(kind: type) -> bool:
    return vars(kind).get("__init__") is None


@lru_cache(maxsize=256)
def _is_pytree_dataclass(kind: Any) -> bool:
    """Dataclasses whose fields all are arguments of `__init__`."""
    return dataclasses.is_dataclass(kind) and all(field.init for field in dataclasses.fields(kind))


def _flatten(value: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> Template | None:
    if type(value) in ATOMS or not is_structure(value) or (is_leaf is not None and is_leaf(value)):
        leaves.append(value)
        return None
    if isinstance(value, Mapping):
        keys, order = tuple(sorted_keys(value)), tuple(_keys(value))
        children = tuple(_flatten(_held(value, key), leaves, is_leaf) for key in keys)
        return Template(plain_kind(value), keys, children, None if order == keys else order)
    if isinstance(value, (list, tuple)):
        return Template(plain_kind(value), None, tuple(_flatten(item, leaves, is_leaf) for item in own_items(value)))
    kind: Any = type(value)
    keys = fields_of(kind)
    return Template(plain_kind(value), keys, tuple(_flatten(getattr(value, key), leaves, is_leaf) for key in keys))


def own_items(container: Any) -> Iterator[Any]:
    """What a list, tuple, set or frozenset holds; where its class is the user's, nothing of that runs."""
    kind: Any = next(base for base in (list, tuple, set, frozenset) if isinstance(container, base))
    return kind.__iter__(container)  # type: ignore[no-any-return]


def structure_parts(structure: Any) -> list[Any]:
    """The children of a structure, one level."""
    if isinstance(structure, dict):
        return list(dict.values(structure))
    if isinstance(structure, Mapping):
        return list(structure.values())
    if isinstance(structure, (list, tuple)):
        return list(own_items(structure))
    kind: Any = type(structure)
    return [getattr(structure, name) for name in fields_of(kind)]


def mutable_parts(value: Any) -> Iterator[Any]:
    """The lists, dicts and dataclasses in a structure: each where it is reached first, with what is in it, and once
    more alone wherever it is reached again."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        part = pending.pop()
        if type(part) in ATOMS or not is_structure(part):
            continue
        is_new = id(part) not in seen
        if not isinstance(part, tuple):
            yield part
        elif not is_new:  # what it holds is reached again
            yield from _first_mutable(part)
        if is_new:
            seen.add(id(part))
            pending += reversed(structure_parts(part))


def _first_mutable(value: Any) -> Iterator[Any]:
    seen: set[int] = set()
    pending = [value]
    while pending:
        part = pending.pop()
        if id(part) in seen or type(part) in ATOMS or not is_structure(part):
            continue
        if not isinstance(part, tuple):
            yield part
            return
        seen.add(id(part))
        pending += part


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(_keys(mapping))
    except TypeError:
        return list(_keys(mapping))


def _keys(mapping: Mapping[Any, Any]) -> Any:
    """The keys; of a dict those that Python holds, whatever a trace makes of it."""
    return dict.keys(mapping) if isinstance(mapping, dict) else mapping


def _held(mapping: Mapping[Any, Any], key: Any) -> Any:
    return dict.__getitem__(mapping, key) if isinstance(mapping, dict) else mapping[key]


def _pack(template: Template | None, leaves: Any) -> Any:
    if template is None:
        return next(leaves)
    children = [_pack(child, leaves) for child in template.children]
    kind = template.kind
    if template.keys is None:
        return kind(*children) if hasattr(kind, "_fields") else kind(children)
    if issubclass(kind, dict):
        if template.order is not None:
            found = dict(zip(template.keys, children, strict=True))
            return kind((key, found[key]) for key in template.order)
        return kind(zip(template.keys, children, strict=True))
    return kind(**dict(zip(template.keys, children, strict=True)))
