"""Build new tree fragments; statements carry the position of the user's statement that they implement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gast

OPERATORS = "ag__"
# Trees share one node for each context, as those of Python's own parser do: these nodes are never modified.
_LOAD, _STORE, _PARAM = gast.Load(), gast.Store(), gast.Param()


def name(identifier: str) -> gast.Name:
    """Make a read of a name."""
    return gast.Name(identifier, _LOAD, None, None)


def store(identifier: str) -> gast.Name:
    """Make a name as the target of an assignment."""
    return gast.Name(identifier, _STORE, None, None)


def parameter(identifier: str) -> gast.Name:
    """Make a parameter of a function."""
    return gast.Name(identifier, _PARAM, None, None)


def constant(value: Any) -> gast.Constant:
    """Make a constant."""
    return gast.Constant(value, None)


def operator(attribute: str) -> gast.Attribute:
    """Make `ag__.attribute`."""
    return gast.Attribute(name(OPERATORS), attribute, _LOAD)


def call(function: gast.expr, *arguments: gast.expr, **keywords: gast.expr) -> gast.Call:
    """Make a call."""
    return gast.Call(function, list(arguments), [gast.keyword(key, value) for key, value in keywords.items()])


def operate(attribute: str, *arguments: gast.expr, **keywords: gast.expr) -> gast.Call:
    """Make `ag__.attribute(*arguments, **keywords)`."""
    return call(operator(attribute), *arguments, **keywords)


def wrap(attribute: str, node: gast.expr) -> gast.expr:
    """Return `ag__.attribute(node)` at the position of the node, or the node if it has that form already."""
    return node if is_operation(node, attribute) else place(operate(attribute, node), node)


def is_operation(node: gast.AST, *attributes: str) -> bool:
    """Return whether a node is a call `ag__.attribute(…)` of one of those operators."""
    return isinstance(node, gast.Call) and is_operator(node.func, *attributes)


def is_operator(node: gast.AST, *attributes: str) -> bool:
    """Return whether a node is `ag__.attribute` for one of those attributes."""
    return (
        isinstance(node, gast.Attribute)
        and node.attr in attributes
        and isinstance(node.value, gast.Name)
        and node.value.id == OPERATORS
    )


def thunk(body: gast.expr) -> gast.Lambda:
    """Make `lambda: body`."""
    return gast.Lambda(no_arguments(), body)


def no_arguments() -> gast.arguments:
    """Make the parameters of a function without any."""
    return arguments(())


def arguments(names: Iterable[str]) -> gast.arguments:
    """Make positional parameters of these names."""
    return gast.arguments([parameter(identifier) for identifier in names], [], None, [], [], None, [])


def loads(names: Iterable[str]) -> gast.Tuple:
    """Make a tuple of names that are read."""
    return gast.Tuple([name(identifier) for identifier in names], _LOAD)


def stores(names: Iterable[str]) -> gast.Tuple:
    """Make a tuple of names that are assigned."""
    return gast.Tuple([store(identifier) for identifier in names], _STORE)


def strings(names: Iterable[str]) -> gast.Tuple:
    """Make a tuple of strings."""
    return gast.Tuple([constant(identifier) for identifier in names], _LOAD)


def assign(target: gast.expr | str, value: gast.expr) -> gast.Assign:
    """Make an assignment to a name or another target."""
    return gast.Assign([store(target) if isinstance(target, str) else target], value, None)


def function(identifier: str, parameters: Sequence[str], body: list[gast.stmt]) -> gast.FunctionDef:
    """Make a function; an empty body becomes `pass`."""
    definition = gast.FunctionDef(identifier, arguments(parameters), body or [gast.Pass()], [], None, None)
    if "type_params" in gast.FunctionDef._fields:
        definition.type_params = []
    return definition


def place(new_node: Any, like: gast.AST) -> Any:
    """Return `new_node`; it and its parts get the position of `like`, unless they have one."""
    if hasattr(like, "lineno"):
        _copy_places(new_node, like)
    return new_node


def _copy_places(new_node: Any, like: gast.AST) -> None:
    """Give the position of `like` to a node and its children, except to those that have one."""
    if hasattr(new_node, "lineno"):
        return
    if "lineno" in new_node._attributes:
        new_node.lineno, new_node.col_offset = like.lineno, like.col_offset
        new_node.end_lineno, new_node.end_col_offset = like.end_lineno, like.end_col_offset
    for field in new_node._fields:
        child = getattr(new_node, field, None)
        if isinstance(child, gast.AST):
            _copy_places(child, like)
        elif isinstance(child, list):
            for item in child:
                if isinstance(item, gast.AST):
                    _copy_places(item, like)
