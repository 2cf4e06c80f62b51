"""Rename imported packages in a syntax tree; every name that the imports bind stays bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

# Functions whose first argument is the name of a module.
_IMPORT_FUNCTIONS = {"import_module", "__import__", "find_spec", "LazyModule"}


def rename_imports(
    tree: ast.AST, renames: Mapping[str, str], nodes: ModuleType = ast, resolver: str | None = None
) -> bool:
    """Replace packages in a tree of the module `nodes` (`ast` or `gast`), by the longest prefix that is renamed.

    Before, with `tensorflow` renamed to `autoconv`:

        import tensorflow as tf
        from tensorflow.math import log
        import_module("tensorflow"); "tensorflow" in sys.modules

    After:

        import autoconv as tf
        from autoconv.math import log
        import_module("autoconv"); "autoconv" in sys.modules

    A name that is computed, as in `import_module(name)`, becomes `resolve(name)`, where `resolver` is "resolve".

    Return whether anything was replaced.
    """
    has_changed = False
    for node in list(ast.walk(tree)):  # also walks trees of gast
        if isinstance(node, nodes.Import):
            names = [new_alias for alias in node.names for new_alias in _renamed_aliases(alias, renames, nodes)]
            has_changed |= names != node.names
            node.names = names
        elif isinstance(node, nodes.ImportFrom) and node.module and not node.level:
            new_name = new_module_name(node.module, renames)
            has_changed |= new_name is not None
            node.module = new_name or node.module
        else:
            for holder, key in _module_name_positions(node, nodes):
                name = holder[key] if isinstance(holder, list) else getattr(holder, key)
                if isinstance(name, nodes.Constant):
                    new_name = new_module_name(name.value, renames) if isinstance(name.value, str) else None
                    has_changed |= new_name is not None
                    name.value = new_name or name.value
                elif resolver is not None:
                    has_changed = True
                    call = _call_node(resolver, name, nodes)
                    if isinstance(holder, list):
                        holder[key] = call
                    else:
                        setattr(holder, key, call)
    return has_changed


def _call_node(function: str, argument: Any, nodes: ModuleType) -> Any:
    name = nodes.Name(id=function, ctx=nodes.Load())
    call = nodes.Call(func=ast.copy_location(name, argument), args=[argument], keywords=[])
    return ast.copy_location(call, argument)


def new_module_name(module: str, renames: Mapping[str, str]) -> str | None:
    """Return the new name of a module, or None where no prefix of it is renamed."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        new_name = renames.get(".".join(parts[:length]))
        if new_name is not None:
            return ".".join([new_name, *parts[length:]])
    return None


def _renamed_aliases(alias: ast.alias, renames: Mapping[str, str], nodes: ModuleType) -> list[Any]:
    """Return the aliases that replace one; `import a.b` binds `a`, whatever the new name is."""
    new_name = new_module_name(alias.name, renames)
    if new_name is None:
        return [alias]
    result = [_make_alias(alias, new_name, alias.asname, nodes)]
    old_head, new_head = alias.name.partition(".")[0], new_name.partition(".")[0]
    if alias.asname is None and old_head != new_head:
        head = renames.get(old_head, new_head)
        binding = _make_alias(alias, head, old_head, nodes)
        result = [binding] if head == new_name else [*result, binding]
    return result


def _make_alias(old_alias: ast.AST, name: str, asname: str | None, nodes: ModuleType) -> Any:
    return ast.copy_location(nodes.alias(name, asname), old_alias)


def _module_name_positions(node: object, nodes: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield (holder, key) of each expression that names a module: an item of a list, or a field of a node.

    Those are "a" in `import_module("a")`, `"a" in sys.modules` and `sys.modules["a"]`.
    """
    if isinstance(node, nodes.Call):
        takes_module_name = _last_part_of_name(node.func) in _IMPORT_FUNCTIONS or (
            _last_part_of_name(node.func) == "get" and _is_sys_modules(getattr(node.func, "value", None))
        )
        if takes_module_name and node.args and not isinstance(node.args[0], nodes.Starred):
            yield node.args, 0
    elif isinstance(node, nodes.Compare) and _is_sys_modules(node.comparators[-1]):
        yield node, "left"
    elif isinstance(node, nodes.Subscript) and _is_sys_modules(node.value):
        yield node, "slice"


def _last_part_of_name(node: object) -> str:
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def _is_sys_modules(node: object) -> bool:
    return getattr(node, "attr", None) == "modules" and getattr(getattr(node, "value", None), "id", "") == "sys"
