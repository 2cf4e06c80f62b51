"""Names that the source has in two places agree: names in prose have definitions, overrides their bases' parameters."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import keyword
import re
from collections.abc import Iterator

from tests import layer_tables as tables

_NAME = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`(?!`)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_LIBRARIES = ("gast", "inspect", "itertools", "math", "numpy", "numpy.linalg", "operator", "threading", "types")
# Names in examples and formulas, and names of others.
_FOREIGN = {
    "A", "A.T", "DEFINE_integer", "Expand", "K", "Placeholder", "RAY_ADDRESS", "Sized", "_PyExc_PrepReraiseStar",
    "__autoconv__", "_X_", "astunparse", "autoconv_error", "bitgen_t", "dataclasses", "exit_", "exit_1",
    "exit_2", "f", "f.explain", "f.number", "gast", "how", "inspect", "k", "layer_1", "mpi", "n", "name_1", "name_2",
    "new_NAME", "np.broadcast_to", "np.errstate", "o.x", "onnx.ModelProto", "result_0", "retraces", "share",
    "tf__NAME", "visit_Kind",
}  # fmt: skip


def definitions(tree: ast.AST) -> Iterator[str]:
    """Yield the functions, classes, attributes and variables of modules and classes that a tree defines or uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, _SCOPES):
            yield node.name
            if node.name == "__init__":  # subclasses' docstrings mention the parameters that they inherit
                yield from (parameter.arg for parameter in node.args.args)
        if isinstance(node, ast.Module | ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    yield from (part.id for part in ast.walk(statement) if isinstance(part, ast.Name))


@functools.cache
def names_inside(tree: ast.AST) -> set[str]:
    """Return the identifiers below a node, and the words in its literals, without docstrings that have names."""
    names: set[str] = set()
    for node in ast.walk(tree):
        names.update(value for field in ("id", "attr", "arg", "name") if (value := getattr(node, field, None)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "`" not in node.value:
            names.update(re.findall(r"\w+", node.value))
    return names


def docstrings(tree: ast.AST, scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the docstrings of a tree, each with the module, class or outermost function whose names it may mention."""
    if isinstance(tree, (ast.Module, *_SCOPES)) and (text := ast.get_docstring(tree, clean=False)):
        yield text, scope
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.expr):
            is_outermost = isinstance(node, _SCOPES) and not isinstance(scope, _FUNCTIONS)
            yield from docstrings(node, node if is_outermost else scope)


def test_names_in_docstrings_and_comments_exist():
    """A name in backticks is defined somewhere in the package, or occurs in the function that its docstring is of."""
    files = {path.name for path in (tables.ROOT / "autoconv").rglob("*.*")}
    known = {name for library in _LIBRARIES for name in dir(importlib.import_module(library))}
    known |= {*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *_LIBRARIES, "ag__", "np", "tf"}
    texts = {path: path.read_text(encoding="utf-8") for path in tables.FILES}
    for path in tables.FILES:
        known.update(path.relative_to(tables.ROOT).with_suffix("").parts)
        known.update(definitions(tables.tree_of(path)))
    comment = re.compile(r"^[^'\"\n]*#(.*)", re.MULTILINE)
    wrong = []
    for path, text in texts.items():
        tree = tables.tree_of(path)
        for prose, scope in (*docstrings(tree, tree), *((line, tree) for line in comment.findall(text))):
            for name in _NAME.findall(re.sub(r"^( *)(```+).*?^ *\2", "", prose, flags=re.MULTILINE | re.DOTALL)):
                parts = () if name in _FOREIGN | files else name.split(".")
                unknown = {part for part in parts if part not in known}
                if not unknown or unknown <= names_inside(scope) or any(f'"{name}"' in item for item in texts.values()):
                    continue
                wrong.append((path.relative_to(tables.ROOT).as_posix(), name))
    assert wrong == []


Class = tuple[str, str]  # its module and its name


@functools.cache
def scopes_and_classes() -> tuple[dict[str, dict[str, Class]], dict[Class, ast.ClassDef]]:
    """Return the classes that the names of each module refer to, and the classes of the package."""
    scopes: dict[str, dict[str, Class]] = {}
    classes: dict[Class, ast.ClassDef] = {}
    for path in tables.FILES:
        module = tables.module_of(path)
        scope = scopes.setdefault(module, {})
        for node in tables.statements(tables.tree_of(path)):
            if isinstance(node, ast.ClassDef):
                scope[node.name] = (module, node.name)
                classes[module, node.name] = node
            elif isinstance(node, ast.ImportFrom):
                scope |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
    return scopes, classes


def bases(key: Class) -> Iterator[Class]:
    """Yield the base classes of a class that the package defines, their bases included."""
    scopes, classes = scopes_and_classes()
    for expression in classes[key].bases:
        name, *attributes = ast.unparse(expression).partition("[")[0].split(".")
        base = scopes[key[0]].get(name)
        for attribute in attributes:
            base = base and (".".join(base), attribute)
        while base is not None and base not in classes:  # a module that passes the name on
            base = scopes.get(base[0], {}).get(base[1])
        if base is not None and base != key:
            yield base
            yield from bases(base)


def methods(key: Class) -> dict[str, list[str]]:
    """Return the positional parameters of each method, without `self` and leading underscores."""
    body = scopes_and_classes()[1][key].body
    return {
        node.name: [item.arg.lstrip("_") for item in (*node.args.posonlyargs, *node.args.args)][1:]
        for node in body
        if isinstance(node, _FUNCTIONS) and not any("staticmethod" in ast.unparse(item) for item in node.decorator_list)
    }


def test_overrides_have_the_parameters_of_their_bases():
    """A call by keyword serves each class of a family. Constructors have parameters of their own."""
    wrong = []
    for key in scopes_and_classes()[1]:
        parameters = methods(key)
        for base in bases(key):
            for name, names in methods(base).items():
                pairs = list(zip(parameters.get(name, ()), names, strict=False))
                if name not in ("__init__", "__new__") and any(override != inherited for override, inherited in pairs):
                    wrong.append((key, name, base, pairs))
    assert wrong == []
