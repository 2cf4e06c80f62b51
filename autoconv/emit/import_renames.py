"""Rename imported packages in a syntax tree; every name that the imports bind stays bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

# Functions whose first argument is the name of a module.
_IMPORTING = {"import_module", "__import__", "find_spec", "LazyModule"}


def rename_imports(
    tree: ast.AST, renames: Mapping[str, str], nodes: ModuleType = ast, computed: str | None = None
) -> bool:
    """Replace packages in a tree of `ast` or `gast` (`nodes`), by the longest prefix that is renamed.

    Before, with `tensorflow` renamed to `autoconv`:

        import tensorflow as tf
        from tensorflow.math import log
        import_module("tensorflow"); "tensorflow" in sys.modules

    After:

        import autoconv as tf
        from autoconv.math import log
        import_module("autoconv"); "autoconv" in sys.modules

    A name that is computed, as in `import_module(name)`, becomes `computed(name)`, where `computed` names a function.

    Return whether anything was replaced.
    """
    changed = False
    for node in list(ast.walk(tree)):  # which takes the nodes of both
        if isinstance(node, nodes.Import):
            names = [new for alias in node.names for new in _aliases(alias, renames, nodes)]
            changed |= names != node.names
            node.names = names
        elif isinstance(node, nodes.ImportFrom) and node.module and not node.level:
            new = new_module_name(node.module, renames)
            changed |= new is not None
            node.module = new or node.module
        else:
            for place, key in _module_names(node, nodes):
                name = place[key] if isinstance(place, list) else getattr(place, key)
                if isinstance(name, nodes.Constant):
                    new = new_module_name(name.value, renames) if isinstance(name.value, str) else None
                    changed |= new is not None
                    name.value = new or name.value
                elif computed is not None:
                    changed = True
                    call = _call_node(computed, name, nodes)
                    if isinstance(place, list):
                        place[key] = call
                    else:
                        setattr(place, key, call)
    return changed


def _call_node(function: str, argument: Any, nodes: ModuleType) -> Any:
    name = nodes.Name(id=function, ctx=nodes.Load())
    call = nodes.Call(func=ast.copy_location(name, argument), args=[argument], keywords=[])
    return ast.copy_location(call, argument)


def new_module_name(module: str, renames: Mapping[str, str]) -> str | None:
    """Return the new name of a module, or None where no prefix of it is renamed."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        new = renames.get(".".join(parts[:length]))
        if new is not None:
            return ".".join([new, *parts[length:]])
    return None


def _aliases(alias: ast.alias, renames: Mapping[str, str], nodes: ModuleType) -> list[Any]:
    """Return the aliases in the place of one; `import a.b` binds `a`, whatever the new name is."""
    new = new_module_name(alias.name, renames)
    if new is None:
        return [alias]
    result = [_alias(alias, new, alias.asname, nodes)]
    old_head, new_head = alias.name.partition(".")[0], new.partition(".")[0]
    if alias.asname is None and old_head != new_head:
        head = renames.get(old_head, new_head)
        bound = _alias(alias, head, old_head, nodes)
        result = [bound] if head == new else [*result, bound]
    return result


def _alias(old: ast.AST, name: str, asname: str | None, nodes: ModuleType) -> Any:
    return ast.copy_location(nodes.alias(name, asname), old)


def _module_names(node: object, nodes: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield where expressions name a module: `import_module("a")`, `"a" in sys.modules`, `sys.modules["a"]`."""
    if isinstance(node, nodes.Call):
        is_import = _last_name(node.func) in _IMPORTING or (
            _last_name(node.func) == "get" and _is_modules(node.func.value)
        )
        if is_import and node.args and not isinstance(node.args[0], nodes.Starred):
            yield node.args, 0
    elif isinstance(node, nodes.Compare) and _is_modules(node.comparators[-1]):
        yield node, "left"
    elif isinstance(node, nodes.Subscript) and _is_modules(node.value):
        yield node, "slice"


def _last_name(node: object) -> str:
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def _is_modules(node: object) -> bool:
    return getattr(node, "attr", None) == "modules" and getattr(getattr(node, "value", None), "id", "") == "sys"

