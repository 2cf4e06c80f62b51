"""Fresh names, which do not occur in the user's module."""

from __future__ import annotations

import itertools

import gast

from autoconv.syntax.tree import walk


class Namer:
    """Source of names that do not occur in a module.

    `fresh("exit_")` returns `exit_`, or `exit_1`, `exit_2` … if that is taken. `shared_name("if_body")` returns the
    same name each time.
    """

    def __init__(self, tree: gast.AST) -> None:
        self._user_names = used_names(tree)
        self._fresh_names: set[str] = set()
        self._numbers: dict[str, int] = {}  # by stem, the last number used
        self._shared_names: dict[str, str] = {}

    def for_function(self) -> Namer:
        """Return a namer for another function, whose names may equal those of this one."""
        namer = Namer.__new__(Namer)
        namer._user_names, namer._shared_names = self._user_names, self._shared_names
        namer._fresh_names, namer._numbers = set(), {}
        return namer

    @property
    def generated_names(self) -> list[str]:
        """The names that `shared_name` has returned so far."""
        return sorted(self._shared_names.values())

    def fresh(self, stem: str) -> str:
        """Return a name that begins with `stem` and has not been returned before, and reserve it."""
        number = self._numbers.get(stem, 0)
        candidate = _with_number(stem, number)
        while candidate in self._user_names or candidate in self._fresh_names:
            number += 1
            candidate = _with_number(stem, number)
        self._fresh_names.add(candidate)
        self._numbers[stem] = number
        return candidate

    def has_made(self, name: str) -> bool:
        """Return whether `fresh` has returned this name."""
        return name in self._fresh_names

    def shared_name(self, stem: str) -> str:
        """Return the one name for a stem, for values that are read before any later statement rebinds the name."""
        if stem not in self._shared_names:
            candidates = (_with_number(stem, number) for number in itertools.count())
            self._shared_names[stem] = next(candidate for candidate in candidates if candidate not in self._user_names)
        return self._shared_names[stem]


def _with_number(stem: str, number: int) -> str:
    if not number:
        return stem
    return f"{stem}{number}" if stem.endswith("_") else f"{stem}_{number}"


def used_names(tree: gast.AST) -> set[str]:
    """Return the names that a module reads, binds or declares."""
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
