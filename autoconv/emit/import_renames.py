"""Rename imported packages in a syntax tree; every name that the imports bind stays bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

# Functions whose first argument is the name of a module.
_IMPORT_FUNCTIONS = {"import_module", "__import__", "find_spec", "LazyModule"}


def rename_imports(
    tree: ast.AST, renames: Mapping[str, str], node_module: ModuleType = ast, resolver: str | None = None
) -> bool:
    """Replace the packages in `renames` in a tree of the module `node_module` (`ast` or `gast`).

    If `renames` has several prefixes of a name, the longest one is replaced. Before, with `tensorflow` renamed to
    `autoconv`:

        import tensorflow as tf
        from tensorflow.math import log
        import_module("tensorflow"); "tensorflow" in sys.modules

    After:

        import autoconv as tf
        from autoconv.math import log
        import_module("autoconv"); "autoconv" in sys.modules

    `resolver` names a function that renames modules at run time. If it is "resolve", a computed name, as in
    `import_module(name)`, becomes `import_module(resolve(name))`.

    Return whether anything was replaced.
    """
    has_changed = False
    for node in list(ast.walk(tree)):  # also walks trees of gast
        if isinstance(node, node_module.Import):
            names = [new_alias for alias in node.names for new_alias in _renamed_aliases(alias, renames, node_module)]
            has_changed |= names != node.names
            node.names = names
        elif isinstance(node, node_module.ImportFrom) and node.module and not node.level:
            new_name = new_module_name(node.module, renames)
            has_changed |= new_name is not None
            node.module = new_name or node.module
        else:
            for holder, key in _module_name_positions(node, node_module):
                name = holder[key] if isinstance(holder, list) else getattr(holder, key)
                if isinstance(name, node_module.Constant):
                    new_name = new_module_name(name.value, renames) if isinstance(name.value, str) else None
                    has_changed |= new_name is not None
                    name.value = new_name or name.value
                elif resolver is not None:
                    has_changed = True
                    call = _call_node(resolver, name, node_module)
                    if isinstance(holder, list):
                        holder[key] = call
                    else:
                        setattr(holder, key, call)
    return has_changed


def _call_node(function_name: str, argument: Any, node_module: ModuleType) -> Any:
    name = node_module.Name(id=function_name, ctx=node_module.Load())
    call = node_module.Call(func=ast.copy_location(name, argument), args=[argument], keywords=[])
    return ast.copy_location(call, argument)


def new_module_name(module: str, renames: Mapping[str, str]) -> str | None:
    """Return the new name of a module, or None where no prefix of it is renamed."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        new_name = renames.get(".".join(parts[:length]))
        if new_name is not None:
            return ".".join([new_name, *parts[length:]])
    return None


def _renamed_aliases(alias: ast.alias, renames: Mapping[str, str], node_module: ModuleType) -> list[Any]:
    """Return the aliases that replace `alias`; the name that it binds, as `a` in `import a.b`, stays bound."""
    new_name = new_module_name(alias.name, renames)
    if new_name is None:
        return [alias]
    result = [_make_alias(alias, new_name, alias.asname, node_module)]
    old_package, new_package = alias.name.partition(".")[0], new_name.partition(".")[0]
    if alias.asname is None and old_package != new_package:
        package = renames.get(old_package, new_package)
        binding = _make_alias(alias, package, old_package, node_module)
        result = [binding] if package == new_name else [*result, binding]
    return result


def _make_alias(old_alias: ast.AST, name: str, asname: str | None, node_module: ModuleType) -> Any:
    return ast.copy_location(node_module.alias(name, asname), old_alias)


def _module_name_positions(node: object, node_module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield (holder, key) of each expression that names a module: an item of a list, or a field of a node.

    Those are "a" in `import_module("a")`, `"a" in sys.modules` and `sys.modules["a"]`.
    """
    if isinstance(node, node_module.Call):
        takes_module_name = _last_part_of_name(node.func) in _IMPORT_FUNCTIONS or (
            _last_part_of_name(node.func) == "get" and _is_sys_modules(getattr(node.func, "value", None))
        )
        if takes_module_name and node.args and not isinstance(node.args[0], node_module.Starred):
            yield node.args, 0
    elif isinstance(node, node_module.Compare) and _is_sys_modules(node.comparators[-1]):
        yield node, "left"
    elif isinstance(node, node_module.Subscript) and _is_sys_modules(node.value):
        yield node, "slice"


def _last_part_of_name(node: object) -> str:
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def _is_sys_modules(node: object) -> bool:
    return getattr(node, "attr", None) == "modules" and getattr(getattr(node, "value", None), "id", "") == "sys"
