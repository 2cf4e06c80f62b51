"""Fresh names, which do not occur in the user's module."""

from __future__ import annotations

import itertools

import gast

from autoconv.syntax.tree import walk


class Namer:
    """`fresh("exit_")` returns `exit_`, or `exit_1`, `exit_2` … if that is taken; `free("if_body")` may repeat."""

    def __init__(self, tree: gast.AST) -> None:
        self._users = used_names(tree)
        self._own: set[str] = set()
        self._numbers: dict[str, int] = {}  # by stem, the last number used
        self._free: dict[str, str] = {}

    def for_function(self) -> Namer:
        """Return a namer for another function, whose names may equal those of this one."""
        namer = Namer.__new__(Namer)
        namer._users, namer._own, namer._numbers, namer._free = self._users, set(), {}, self._free
        return namer

    @property
    def generated(self) -> list[str]:
        """The names that `free` has returned so far."""
        return sorted(self._free.values())

    def fresh(self, stem: str) -> str:
        number = self._numbers.get(stem, 0)
        candidate = _with_number(stem, number)
        while candidate in self._users or candidate in self._own:
            number += 1
            candidate = _with_number(stem, number)
        self._own.add(candidate)
        self._numbers[stem] = number
        return candidate

    def made(self, name: str) -> bool:
        """Return whether `fresh` has returned this name."""
        return name in self._own

    def free(self, stem: str) -> str:
        """Return a name for something used at once that may be shadowed: always the same one for a stem."""
        if stem not in self._free:
            candidates = (_with_number(stem, number) for number in itertools.count())
            self._free[stem] = next(candidate for candidate in candidates if candidate not in self._users)
        return self._free[stem]


def _with_number(stem: str, number: int) -> str:
    if not number:
        return stem
    return f"{stem}{number}" if stem.endswith("_") else f"{stem}_{number}"


def used_names(tree: gast.AST) -> set[str]:
    names: set[str] = set()
    for node in walk(tree):
        if isinstance(node, gast.Name):
            names.add(node.id)
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, gast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, gast.MatchAs | gast.MatchStar) and node.name:
            names.add(node.name if isinstance(node.name, str) else node.name.id)
        elif isinstance(node, gast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names
