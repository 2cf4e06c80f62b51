"""Flattening of arguments: trees of lists, tuples, dicts and dataclasses, of a bounded depth and size.

A structure that contains itself cannot be flattened, and a graph would duplicate a structure that occurs twice. Each
part is visited once, so the time is linear in the size of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.structure import ATOMS, is_structure, mutable_parts, structure_parts

_DEPTH_LIMIT = 64  # nested structures
_STRUCTURE_LIMIT = 512  # lists, dicts and objects
_LEAF_LIMIT = 4096  # leaves of all arguments


class CannotFlatten(Exception):
    """Raised for arguments that cannot be flattened to leaves of a graph; its text is the reason."""


def find_structures_to_flatten(
    values: Iterable[Any], is_leaf: Callable[[Any], bool] | None, is_under_compile: bool
) -> list[Any]:
    """Return the structures to flatten, each before its parts; raises CannotFlatten for cycles and too deep nesting.

    A structure for which `is_leaf` is true is not flattened. If `is_under_compile` is true, CannotFlatten is also
    raised for too many values, and for a list, dict or object that occurs twice.
    """
    traversal = _Traversal(is_leaf, is_under_compile)
    leaf_count = 0
    for value in values:
        leaf_count += traversal.visit(value)
        if is_under_compile and leaf_count > _LEAF_LIMIT:
            raise CannotFlatten(f"the arguments hold more than {_LEAF_LIMIT} values")
    return list(traversal.structures_by_id.values())


def refuse_shared_containers(arguments: Iterable[Any], values: Iterable[Any]) -> None:
    """Raise CannotFlatten if a flattened argument shares a list or dict with `values`, those of written locations."""
    written_ids = {id(part) for value in values if isinstance(value, (list, dict)) for part in mutable_parts(value)}
    if written_ids and any(id(part) in written_ids for argument in arguments for part in mutable_parts(argument)):
        raise CannotFlatten("a list or dict is passed that the function also changes by another name")


class _Traversal:
    """A depth-first traversal of the arguments; `structures_by_id` are the visited structures by id."""

    def __init__(self, is_leaf: Callable[[Any], bool] | None, is_under_compile: bool) -> None:
        self.structures_by_id: dict[int, Any] = {}
        self._is_leaf = is_leaf
        self._is_under_compile = is_under_compile
        # Both by id of a structure: the number of its leaves, and whether it or one of its parts is mutable.
        self._leaf_counts: dict[int, int] = {}
        self._is_mutable: dict[int, bool] = {}

    def visit(self, value: Any) -> int:
        """Visit the structures of an argument; return the number of its leaves."""
        argument = value
        ancestors: set[int] = set()
        pending_values = [(value, True)]  # (value, True): it is entered; (value, False): it is left, after its parts
        while pending_values:
            value, is_entry = pending_values.pop()
            if not is_entry:
                ancestors.discard(id(value))
                self._finish_structure(value)
            elif self._is_flattened(value) and self._record_visit(value, ancestors):
                ancestors.add(id(value))
                if len(ancestors) > _DEPTH_LIMIT:
                    raise CannotFlatten(f"the arguments nest more than {_DEPTH_LIMIT} lists or objects")
                pending_values.append((value, False))
                pending_values += [(part, True) for part in reversed(structure_parts(value))]
        return self._leaf_counts.get(id(argument), 1)

    def _is_flattened(self, value: Any) -> bool:
        """Return whether a value is a structure that is flattened."""
        return type(value) not in ATOMS and is_structure(value) and not (self._is_leaf and self._is_leaf(value))

    def _record_visit(self, value: Any, ancestors: set[int]) -> bool:
        """Record a structure; return whether it is visited for the first time. Raises CannotFlatten for a cycle."""
        if id(value) in ancestors:
            raise CannotFlatten(f"{with_article(type(value))} among the arguments contains itself")
        if id(value) in self.structures_by_id:
            if self._is_under_compile and self._is_mutable[id(value)]:
                raise CannotFlatten("one list or dict is passed twice, and a graph would hold two")
            return False
        self.structures_by_id[id(value)] = value
        if self._is_under_compile and len(self.structures_by_id) > _STRUCTURE_LIMIT:
            raise CannotFlatten(f"the arguments hold more than {_STRUCTURE_LIMIT} lists, dicts or objects")
        return True

    def _finish_structure(self, value: Any) -> None:
        """Record the leaves and the mutability of a structure, whose parts have been visited."""
        parts = list(self._flattened_parts(value))
        self._leaf_counts[id(value)] = sum(self._leaf_counts.get(id(part), 1) for part in parts)
        has_mutable_part = any(self._is_mutable.get(id(part)) for part in parts)
        self._is_mutable[id(value)] = not isinstance(value, tuple) or has_mutable_part

    def _flattened_parts(self, value: Any) -> Iterator[Any]:
        """Iterate over the parts; yield None for a part that is one leaf."""
        for part in structure_parts(value):
            yield part if id(part) in self.structures_by_id else None
