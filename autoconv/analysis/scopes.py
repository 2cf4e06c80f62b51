"""Names that a function binds, declares global or nonlocal, and that its inner functions capture."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

import gast

from autoconv.syntax.tree import COMPREHENSIONS, FUNCTIONS, SCOPES, children, inner_parts, walk_scope


class Scope:
    """The names of one function.

    `bound`: names assigned in the function, parameters included. `captured`: those that a nested function, lambda,
    class or generator expression uses, which therefore stay cells.
    """

    def __init__(self, parameters: list[str] | None = None) -> None:
        self.parameters = parameters or []
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: set[str] = set()

    @property
    def locals(self) -> set[str]:
        return self.bound - self.globals - self.nonlocals


_EXHAUSTING_FUNCTIONS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)

# By id of a scope: its free names. Such a cache exists for one query only, since trees change between queries.
_FreeNamesById = dict[int, set[str]]


def scope_of(function: gast.AST, inlined: Container[int] = ()) -> Scope:
    """Return the scope of a function or lambda. Lambdas whose ids are in `inlined` run at once and capture nothing."""
    return _scope_of(function, inlined, {})


def _scope_of(function: gast.AST, inlined: Container[int], cache: _FreeNamesById) -> Scope:
    """Return the scope of a function; `cache` has the free names of nested scopes that were found before."""
    scope = Scope(parameter_names(function.args))
    scope.bound.update(scope.parameters)
    body = function.body if isinstance(function.body, list) else [function.body]
    pending: list[gast.AST] = list(body)
    while pending:
        for node in walk_scope(pending.pop()):
            kind = type(node)
            if kind is gast.Name:
                if not isinstance(node.ctx, gast.Load):
                    scope.bound.add(node.id)
                continue
            if kind not in _RELEVANT_KINDS:
                continue
            scope.bound.update(bindings(node))
            if isinstance(node, gast.Global):
                scope.globals.update(node.names)
            elif isinstance(node, gast.Nonlocal):
                scope.nonlocals.update(node.names)
            elif isinstance(node, gast.Lambda) and id(node) in inlined:
                pending.append(gast.Expr(node.body))
            elif isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.GeneratorExp)):
                scope.captured.update(_free_names(node, cache))
            elif isinstance(node, COMPREHENSIONS):
                scope.captured.update(_captured_names(node, inlined, cache))
            if isinstance(node, COMPREHENSIONS):
                scope.bound.update(_walrus_targets(node))
    scope.captured &= scope.bound
    return scope


def parameter_names(arguments: gast.arguments) -> list[str]:
    """Return the names of a function's parameters."""
    result = [parameter.id for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    result += [parameter.id for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return result


def bindings(node: gast.AST) -> Iterator[str]:
    """Yield the names that this node itself binds in its scope."""
    if type(node) not in BINDING_KINDS:
        return
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, (gast.Store, gast.Del)):
            yield node.id
    elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        yield node.name
    elif isinstance(node, (gast.Import, gast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif isinstance(node, (gast.MatchAs, gast.MatchStar)):
        if node.name:
            yield node.name if isinstance(node.name, str) else node.name.id
    elif isinstance(node, gast.MatchMapping):
        if node.rest:
            yield node.rest
    elif isinstance(node, gast.ExceptHandler) and isinstance(node.name, str):
        yield node.name


# Node kinds that may bind names.
BINDING_KINDS = frozenset(
    {
        gast.Name, gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Import, gast.ImportFrom,
        gast.MatchAs, gast.MatchStar, gast.MatchMapping, gast.ExceptHandler,
    }
)  # fmt: skip


# Node kinds that affect the names of a scope.
_RELEVANT_KINDS = BINDING_KINDS | {gast.Global, gast.Nonlocal, gast.ClassDef, *FUNCTIONS, *COMPREHENSIONS}


def free_names(scope: gast.AST) -> set[str]:
    """Return the names that a nested scope reads, or rebinds by `nonlocal`, and that belong to an outer scope."""
    return _free_names(scope, {})


def free_names_of_each(scopes: Iterable[gast.AST]) -> Iterator[set[str]]:
    """Return the free names of scopes that may be nested in each other; each is visited once."""
    cache: _FreeNamesById = {}
    return (_free_names(scope, cache) for scope in scopes)


def _free_names(scope: gast.AST, cache: _FreeNamesById) -> set[str]:
    """Return the free names of a scope, computed once."""
    result = cache.get(id(scope))
    if result is None:
        result = cache[id(scope)] = _find_free_names(scope, cache)
    return result


def _find_free_names(scope: Any, cache: _FreeNamesById) -> set[str]:
    """Return the free names of a scope that is not in the cache."""
    if isinstance(scope, COMPREHENSIONS):
        return _names_used(children(scope), cache) - clause_names(scope)
    if isinstance(scope, gast.ClassDef):
        return _names_used(scope.body, cache)
    inner_scope = _scope_of(scope, (), cache)
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    return (_names_used(body, cache) - inner_scope.locals) | inner_scope.nonlocals


def exhausts_arguments(function: gast.AST) -> bool:
    """Return whether a called function exhausts a generator expression at once, before the names in it can change."""
    if isinstance(function, gast.Attribute):
        return bool(function.attr == "join")
    return isinstance(function, gast.Name) and function.id in _EXHAUSTING_FUNCTIONS


def clause_names(comprehension: Any) -> frozenset[str]:
    """Return the names that the for clauses of a comprehension bind."""
    targets = [generator.target for generator in comprehension.generators]
    return frozenset(node.id for target in targets for node in walk_scope(target) if isinstance(node, gast.Name))


def _names_used(nodes: list[gast.AST], cache: _FreeNamesById) -> set[str]:
    """Return the names read, assigned or declared nonlocal below the nodes, with the free names of nested scopes."""
    result: set[str] = set()
    for root in nodes:
        for node in walk_scope(root):
            if isinstance(node, gast.Name):
                result.add(node.id)
            elif isinstance(node, gast.Nonlocal):
                result.update(node.names)
            elif isinstance(node, SCOPES):
                result |= _free_names(node, cache)
    return result


def _captured_names(comprehension: gast.AST, inlined: Container[int], cache: _FreeNamesById) -> set[str]:
    """Return the names that lambdas and generators inside a comprehension capture."""
    result: set[str] = set()
    pending = _parts_inside(comprehension)
    while pending:
        for node in walk_scope(pending.pop()):
            if isinstance(node, gast.Lambda) and id(node) in inlined:
                pending.append(gast.Expr(node.body))
            elif isinstance(node, (*FUNCTIONS, gast.GeneratorExp)):
                result |= _free_names(node, cache)
            elif isinstance(node, COMPREHENSIONS):
                pending += _parts_inside(node)
    return result


def _walrus_targets(comprehension: gast.AST) -> set[str]:
    """Return the names that walruses inside a comprehension bind in the enclosing scope."""
    result: set[str] = set()
    pending = _parts_inside(comprehension)
    while pending:
        for node in walk_scope(pending.pop()):
            if isinstance(node, gast.NamedExpr):
                result.add(node.target.id)
            elif isinstance(node, COMPREHENSIONS):
                pending += _parts_inside(node)
    return result


def _parts_inside(comprehension: Any) -> list[gast.AST]:
    """Return the parts evaluated inside a comprehension; its first iterable belongs to the enclosing scope."""
    return [comprehension.generators[0].target, *inner_parts(comprehension)]
