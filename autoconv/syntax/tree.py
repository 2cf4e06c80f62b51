"""Walking and rewriting trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
INLINED = (gast.ListComp, gast.SetComp, gast.DictComp)  # not scopes of their own from Python 3.12 on
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, gast.ClassDef)
_ENDS = (
    gast.Name,
    gast.Constant,
    gast.Pass,
    gast.Break,
    gast.Continue,
)  # nothing below them is ever rewritten
_SCOPE_KINDS = frozenset(SCOPES)
# What these hold is text, a number, or a node without anything in it, such as Load and Add.
_PLAIN_FIELDS = frozenset(
    {
        "attr",
        "conversion",
        "arg",
        "ctx",
        "id",
        "is_async",
        "kind",
        "level",
        "module",
        "op",
        "ops",
        "simple",
        "type_comment",
    }
)


# Lists whose items are not all nodes: None stands for `**x` in a dict, and for an argument without a default.
_HOLED_FIELDS = frozenset({"keys", "kw_defaults", "kwd_attrs"})
_WITHOUT_CHILDREN = (gast.Constant, gast.Global, gast.Nonlocal, gast.MatchSingleton)


def children(node: gast.AST) -> list[gast.AST]:
    """The direct children, in the order of the text."""
    found: list[gast.AST] = []
    for field in _FIELDS[type(node)]:
        value = getattr(node, field, None)
        if value.__class__ is list:
            found += value if field not in _HOLED_FIELDS else [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of each kind of node that may hold children, found out once."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        fields = () if kind in _WITHOUT_CHILDREN else tuple(f for f in kind._fields if f not in _PLAIN_FIELDS)
        self[kind] = fields
        return fields


_FIELDS = _Fields()


class _Blocks(dict[type, tuple[str, ...]]):
    """The fields of each kind of node that hold statements, or parts of statements with statements in them."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        fields = () if kind in (gast.Lambda, gast.IfExp) else tuple(f for f in kind._fields if f in _BLOCK_FIELDS)
        self[kind] = fields
        return fields


_BLOCK_FIELDS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_BLOCKS = _Blocks()


def walk(node: gast.AST) -> Iterator[gast.AST]:
    """The node and everything below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += children(current)


def walk_statements(node: gast.AST) -> Iterator[gast.AST]:
    """A statement and those in its blocks, each before those in it; handlers and cases come as well."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for field in _BLOCKS[type(current)]:
            stack += getattr(current, field)


def walk_scope(node: gast.AST) -> Iterator[gast.AST]:
    """As `walk`, but not into the scopes that functions, classes and comprehensions open.

    What such a scope evaluates outside of itself (defaults, decorators, bases, the first iterable) is walked.
    """
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        kind = type(current)
        if kind in _SCOPE_KINDS:
            stack += outer_parts(current)
        elif kind is not gast.Constant:
            stack += children(current)


def outer_parts(scope: gast.AST) -> list[gast.AST]:
    """The expressions of a scope that are evaluated where it stands."""
    if isinstance(scope, COMPREHENSIONS):
        return [scope.generators[0].iter]
    if isinstance(scope, gast.ClassDef):
        return [*scope.decorator_list, *scope.bases, *scope.keywords]
    found: list[gast.AST] = list(getattr(scope, "decorator_list", ()))
    found += [d for d in (*scope.args.defaults, *scope.args.kw_defaults) if d is not None]
    return found


def inner_parts(comprehension: Any) -> list[gast.AST]:
    """What a comprehension evaluates inside of itself: all but the first iterable."""
    first, *rest = comprehension.generators
    found = (
        [comprehension.key, comprehension.value] if isinstance(comprehension, gast.DictComp) else [comprehension.elt]
    )
    return [*found, *first.ifs, *rest]


def contains(node: gast.AST, kinds: type | tuple[type, ...]) -> bool:
    """Whether a node of those kinds is in the scope of `node`."""
    return any(isinstance(child, kinds) for child in walk_scope(node))


def copied(node: Any) -> Any:
    """A tree like the one below `node`, of nodes of its own; a list of nodes as well."""
    if node.__class__ is list:
        return [copied(item) if item.__class__ is list or isinstance(item, gast.AST) else item for item in node]
    new = node.__class__.__new__(node.__class__)
    for field, value in node.__dict__.items():
        if value.__class__ is list or (isinstance(value, gast.AST) and field != "ctx"):
            value = copied(value)
        setattr(new, field, value)
    return new


class Transformer:
    """Rewrites a tree bottom-up or top-down, whichever a `visit_Kind` method chooses.

    `visit_Kind(node)` answers the node that replaces it; for a statement it may answer a list. Kinds without
    a method have their children rewritten. A method calls `generic(node)` for the children. `fields` are those that
    are gone through: where `statements_only` is given, none that holds expressions."""

    fields: dict[type, tuple[str, ...]] = _FIELDS
    # Both belong to the class: a transformer that held methods of its own would be in a cycle with them, and what it
    # holds, whole trees, would stay until the next collection.
    _methods: dict[type, Callable[[Any, Any], Any]]
    _untouched: frozenset[type]

    def __init_subclass__(cls, statements_only: bool = False) -> None:
        if statements_only:
            cls.fields = _BLOCKS
        cls._methods = {}
        cls._untouched = frozenset(kind for kind in _ENDS if not hasattr(cls, f"visit_{kind.__name__}"))

    def visit(self, node: Any) -> Any:
        kind = type(node)
        method = self._methods.get(kind)
        if method is None:
            cls = type(self)
            method = self._methods[kind] = getattr(cls, f"visit_{kind.__name__}", cls.generic)
        return method(self, node)

    def generic(self, node: Any) -> Any:
        for field in self.fields[type(node)]:
            value = getattr(node, field, None)
            if value.__class__ is list:
                if value:
                    setattr(node, field, self.visit_list(value))
            elif isinstance(value, gast.AST) and type(value) not in self._untouched:
                new = self.visit(value)
                if new is not value:
                    setattr(node, field, new)
        return node

    def visit_list(self, items: list[Any]) -> list[Any]:
        result: list[Any] = []
        for item in items:
            if type(item) in self._untouched or not isinstance(item, gast.AST):
                result.append(item)
                continue
            new = self.visit(item)
            if isinstance(new, list):
                result.extend(new)
            elif new is not None:
                result.append(new)
        return result


class _Kept(gast.stmt):  # type: ignore[misc]
    """Statements that nobody finds who walks the tree."""

    _fields = ()

    def __init__(self, kept: list[Any]) -> None:
        super().__init__()
        self.kept = kept


class Untraced(_Kept):
    """What a function does instead of all that follows while nothing is traced."""


class Rewritten(_Kept):
    """Statements among those that are to be rewritten all the same."""


def body_start(body: list[Any]) -> int:
    """Where new statements of a function go: behind its docstring and declarations, and what runs untraced."""
    for index, statement in enumerate(body):
        if isinstance(statement, Untraced):
            return index + 1
    index = 0
    if body and isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        index = 1
    while index < len(body) and isinstance(body[index], (gast.Global, gast.Nonlocal)):
        index += 1
    return index
