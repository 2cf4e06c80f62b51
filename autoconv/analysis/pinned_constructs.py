"""Constructs that are pinned to the frame that runs them: they cannot move into another function."""

from __future__ import annotations

import gast

from autoconv.syntax.tree import COMPREHENSIONS, walk, walk_scope

FRAME_NAMES = frozenset({"locals", "vars", "eval", "exec", "dir"})

# Names of functions that stop in the calling frame, return it, or set a tracer for it.
DEBUGGING_NAMES = frozenset({"breakpoint", "set_trace", "settrace", "setprofile", "_getframe", "currentframe"})

_SUSPENSION_KEYWORDS = {
    gast.Yield: "yield",
    gast.YieldFrom: "yield from",
    gast.Await: "await",
    gast.AsyncFor: "async for",
    gast.AsyncWith: "async with",
}


def pinning_construct(node: gast.AST) -> str:
    """Return the construct in the scope of `node` that ties it to its frame; "" if there is none."""
    for child in walk_scope(node):
        keyword = _SUSPENSION_KEYWORDS.get(type(child))
        if keyword:
            return keyword
        call = frame_call(child)
        if call:
            return call
        if isinstance(child, COMPREHENSIONS):
            for descendant in walk(child):
                if isinstance(descendant, gast.comprehension) and descendant.is_async:
                    return "async for"
                if isinstance(descendant, gast.Await):
                    return "await"
    return ""


def frame_call(node: gast.AST) -> str:
    """Return `"locals()"` for a call of `locals`, and likewise for the other FRAME_NAMES; "" for other nodes."""
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in FRAME_NAMES:
        return f"{node.func.id}()"
    return ""


def calls_debugger(function: gast.AST) -> bool:
    """Return whether a function itself calls a debugger, reads its frame, or sets a tracer."""
    for statement in function.body:
        for node in walk_scope(statement):
            if isinstance(node, gast.Call) and last_part_of_name(node.func) in DEBUGGING_NAMES:
                return True
    return False


def last_part_of_name(node: gast.AST) -> str:
    """Return the name that a name or an attribute ends with; "" for other nodes."""
    name = getattr(node, "attr", None) or getattr(node, "id", None)
    return name if isinstance(name, str) else ""


def deferral_obstacle(node: gast.AST) -> str:
    """Return why an expression cannot become the body of a lambda; "" if it can."""
    for child in walk_scope(node):
        if isinstance(child, gast.NamedExpr):
            return "a walrus"
        if isinstance(child, COMPREHENSIONS) and any(isinstance(inner, gast.NamedExpr) for inner in walk(child)):
            return "a walrus in a comprehension"
    return pinning_construct(node)
