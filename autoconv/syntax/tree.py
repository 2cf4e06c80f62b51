"""Traversal and rewriting of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
INLINED_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp)  # no scopes of their own from Python 3.12 on
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, gast.ClassDef)
# Most rewriters leave these kinds as they are.
_LEAF_KINDS = (gast.Name, gast.Constant, gast.Pass, gast.Break, gast.Continue)
_SCOPE_KINDS = frozenset(SCOPES)
# Fields that hold text, a number, or a node without contents, such as Load and Add.
_FIELDS_WITHOUT_CHILDREN = frozenset({
    "attr", "conversion", "arg", "ctx", "id", "is_async", "kind", "level", "module", "op", "ops", "simple",
    "type_comment",
})  # fmt: skip
# Fields with lists whose items may also be None (`**x` in a dict, a parameter without a default) or names (a pattern).
_FIELDS_OF_MIXED_LISTS = frozenset({"keys", "kw_defaults", "kwd_attrs"})
_KINDS_WITHOUT_CHILDREN = (gast.Constant, gast.Global, gast.Nonlocal, gast.MatchSingleton)


def children(node: gast.AST) -> list[gast.AST]:
    """Return the direct children, in source order."""
    result: list[gast.AST] = []
    for field in _CHILD_FIELDS_BY_KIND[type(node)]:
        value = getattr(node, field, None)
        if value.__class__ is list:
            is_mixed = field in _FIELDS_OF_MIXED_LISTS
            result += [item for item in value if isinstance(item, gast.AST)] if is_mixed else value
        elif isinstance(value, gast.AST):
            result.append(value)
    return result


class _ChildFields(dict[type, tuple[str, ...]]):
    """Cache of the fields of each node kind that may hold children."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        names = () if kind in _KINDS_WITHOUT_CHILDREN else kind._fields
        fields = tuple(name for name in names if name not in _FIELDS_WITHOUT_CHILDREN)
        self[kind] = fields
        return fields


_CHILD_FIELDS_BY_KIND = _ChildFields()


class _BlockFields(dict[type, tuple[str, ...]]):
    """Cache of the fields of each node kind that hold statements, or clauses with statements."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        has_blocks = kind not in (gast.Lambda, gast.IfExp)
        fields = tuple(filter(_BLOCK_FIELD_NAMES.__contains__, kind._fields)) if has_blocks else ()
        self[kind] = fields
        return fields


_BLOCK_FIELD_NAMES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_BLOCK_FIELDS_BY_KIND = _BlockFields()


def walk(node: gast.AST) -> Iterator[gast.AST]:
    """Yield the node and its descendants."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += children(current)


def walk_statements(node: gast.AST) -> Iterator[gast.AST]:
    """Yield a statement and those in its blocks in preorder, including handlers and cases."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for field in _BLOCK_FIELDS_BY_KIND[type(current)]:
            stack += getattr(current, field)


def walk_scope(node: gast.AST) -> Iterator[gast.AST]:
    """Yield the node and its descendants, except those inside the scopes of functions, classes and comprehensions.

    The expressions of such a scope that are evaluated outside of it (defaults, decorators, bases, first iterable)
    are included.
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
    """Return the expressions of a scope that are evaluated in the surrounding scope."""
    if isinstance(scope, COMPREHENSIONS):
        return [scope.generators[0].iter]
    if isinstance(scope, gast.ClassDef):
        return [*scope.decorator_list, *scope.bases, *scope.keywords]
    result: list[gast.AST] = list(getattr(scope, "decorator_list", ()))
    result += [default for default in (*scope.args.defaults, *scope.args.kw_defaults) if default is not None]
    return result


def inner_parts(comprehension: Any) -> list[gast.AST]:
    """Return the expressions that a comprehension evaluates in its own scope: all but the first iterable."""
    first, *inner_generators = comprehension.generators
    is_dict = isinstance(comprehension, gast.DictComp)
    elements = [comprehension.key, comprehension.value] if is_dict else [comprehension.elt]
    return [*elements, *first.ifs, *inner_generators]


def contains(node: gast.AST, kinds: type | tuple[type, ...]) -> bool:
    """Return whether a node of those kinds is in the scope of `node`."""
    return any(isinstance(child, kinds) for child in walk_scope(node))


def copy_tree(node: Any) -> Any:
    """Return a deep copy of a tree, of a list of trees, or of None."""
    if node is None:
        return None
    if node.__class__ is list:
        return [copy_tree(item) if item.__class__ is list or isinstance(item, gast.AST) else item for item in node]
    copied_node = node.__class__.__new__(node.__class__)
    for field, value in node.__dict__.items():
        if value.__class__ is list or (isinstance(value, gast.AST) and field != "ctx"):
            value = copy_tree(value)
        setattr(copied_node, field, value)
    return copied_node


class Transformer:
    """Base of tree rewriters, bottom-up or top-down as each `visit_Kind` method chooses.

    `visit_Kind(node)` returns the replacement of the node; for a statement this may be a list, and None removes it. A
    node whose kind has no method keeps its place, and its children are rewritten by `visit_children`, which methods may
    call too. `fields` are the fields that are traversed; with `statements_only`, those with expressions are left out.
    """

    fields: dict[type, tuple[str, ...]] = _CHILD_FIELDS_BY_KIND
    # Class attributes: an instance with bound methods of its own would form a reference cycle, which would keep whole
    # trees alive until the next garbage collection.
    _methods: dict[type, Callable[[Any, Any], Any]]
    _skipped_kinds: frozenset[type]

    def __init_subclass__(cls, statements_only: bool = False) -> None:
        if statements_only:
            cls.fields = _BLOCK_FIELDS_BY_KIND
        cls._methods = {}
        cls._skipped_kinds = frozenset(kind for kind in _LEAF_KINDS if not hasattr(cls, f"visit_{kind.__name__}"))

    def visit(self, node: Any) -> Any:
        """Return what takes the place of a node: a node, for a statement also a list or None."""
        kind = type(node)
        method = self._methods.get(kind)
        if method is None:
            cls = type(self)
            method = self._methods[kind] = getattr(cls, f"visit_{kind.__name__}", cls.visit_children)
        return method(self, node)

    def visit_children(self, node: Any) -> Any:
        """Rewrite a node's children in place; return the node."""
        for field in self.fields[type(node)]:
            value = getattr(node, field, None)
            if value.__class__ is list:
                if value:
                    setattr(node, field, self.visit_list(value))
            elif isinstance(value, gast.AST) and type(value) not in self._skipped_kinds:
                replacement = self.visit(value)
                if replacement is not value:
                    setattr(node, field, replacement)
        return node

    def visit_list(self, items: list[Any]) -> list[Any]:
        """Return the list of what takes the place of each item."""
        result: list[Any] = []
        for item in items:
            if type(item) in self._skipped_kinds or not isinstance(item, gast.AST):
                result.append(item)
                continue
            replacement = self.visit(item)
            if isinstance(replacement, list):
                result.extend(replacement)
            elif replacement is not None:
                result.append(replacement)
        return result


class _UnvisitedStatements(gast.stmt):  # type: ignore[misc]
    """Statements that tree traversals do not visit."""

    _fields = ()

    def __init__(self, statements: list[Any]) -> None:
        super().__init__()
        self.statements = statements


class UntracedStatements(_UnvisitedStatements):
    """The statements that a function runs while nothing is traced, instead of all statements after them."""


class RewrittenStatements(_UnvisitedStatements):
    """Statements inside an `UntracedStatements` that passes rewrite as they rewrite traced code."""


def body_start(body: list[Any]) -> int:
    """Return the index for new statements of a function: after its docstring, declarations and untraced copy."""
    for index, statement in enumerate(body):
        if isinstance(statement, UntracedStatements):
            return index + 1
    index = 0
    if body and isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        index = 1
    while index < len(body) and isinstance(body[index], (gast.Global, gast.Nonlocal)):
        index += 1
    return index
