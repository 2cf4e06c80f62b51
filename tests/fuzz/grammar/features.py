"""The features of programs, each of which can be excluded, and the classes of nodes that never occur."""

from __future__ import annotations

import ast

# Each program has a random subset, so that a summary can show which features prevent programs from being staged.
FEATURES = {
    "aliases": "two names of one list, dict or object, identity, changes by functions",
    "annotations": "x: int = 1",
    "array_writes": "writes to elements of arrays",
    "arrays": "an argument that is a small NumPy array",
    "asserts": "assert, with and without a message",
    "boolops": "and, or, not",
    "causes": "raise ... from ...",
    "chains": "a < b <= c, x = y = z",
    "classes": "classes made inside the function",
    "closures": "nonlocal",
    "comprehensions": "comprehensions of lists, dicts and sets",
    "conditionals": "x if c else y",
    "defaults": "default and keyword arguments",
    "delete": "del of names, items and attributes",
    "dicts": "dicts, read and changed",
    "dunders": "special methods of the program's own classes",
    "early_return": "return inside of branches and loops",
    "except_star": "except*",
    "exceptions": "raise of builtin exceptions and of the program's own",
    "fstrings": "text made of values",
    "functions": "functions inside the function",
    "generator_expressions": "generator expressions",
    "generators": "yield and yield from",
    "globals": "writes to module globals",
    "helpers": "functions of the module",
    "jumps": "break and continue",
    "lambdas": "lambda",
    "list_argument": "an argument that is a list of numbers",
    "list_writes": "changes to lists in place",
    "lists": "lists",
    "log_argument": "events noted in a list given as an argument",
    "log_global": "events noted in a list of the module",
    "log_local": "events noted in a list of the function",
    "loop_else": "else of loops",
    "match": "match statements",
    "mixed": "names that hold numbers of another type on some paths",
    "nested": "lists of lists, dicts of lists, objects that hold lists",
    "none": "names that hold None on some paths",
    "object_writes": "changes of attributes",
    "objects": "objects of the program's own classes",
    "print": "print",
    "properties": "properties",
    "recursion": "functions that call themselves",
    "sets": "sets",
    "slices": "slices, read, written and deleted",
    "starred": "starred targets, items and arguments",
    "strings": "strings",
    "try": "try, except, else, finally",
    "tuples": "tuples and unpacking",
    "undefined": "names that are not defined on every path",
    "walrus": "assignment expressions",
    "with": "context managers of the program's own",
}

# Only with the option `kept`: calls with these run plain by design, which must not reduce the share of staged programs.
OPTIONAL_FEATURES = {
    "kept": "functions, methods and iterators in a list or a dict that the program returns",
}

# The feature without which another has no effect.
REQUIRED_FEATURES = {
    "array_writes": "arrays",
    "causes": "exceptions", "closures": "functions", "dunders": "objects", "list_writes": "lists",
    "loop_else": "jumps", "object_writes": "objects", "properties": "objects", "except_star": "try",
    "fstrings": "strings",
    "list_argument": "lists",
    "slices": "lists",
    "starred": "tuples",
}  # fmt: skip

EXCLUDED = {
    "AsyncFor": "coroutines are not converted",
    "AsyncFunctionDef": "coroutines are not converted",
    "AsyncWith": "coroutines are not converted",
    "Await": "coroutines are not converted",
    "Expression": "the root of an expression, which is no program",
    "FunctionType": "the root of a type comment, which is no program",
    "Interactive": "the root of a prompt's line, which is no program",
    "Import": "programs have to mean the same wherever they run; tests/fuzz/plain.py has imports",
    "ImportFrom": "programs have to mean the same wherever they run; tests/fuzz/plain.py has imports",
    "alias": "a part of imports",
    "TypeIgnore": "made from comments only",
    "TypeAlias": "newer than the oldest Python that runs this",
    "TypeVar": "newer than the oldest Python that runs this",
    "TypeVarTuple": "newer than the oldest Python that runs this",
    "ParamSpec": "newer than the oldest Python that runs this",
    "TemplateStr": "newer than the oldest Python that runs this",
    "Interpolation": "newer than the oldest Python that runs this",
}

_BASES = ("mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop", "cmpop", "excepthandler", "pattern",
          "type_ignore", "type_param", "slice", "AST", "Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index",
          "ExtSlice", "Suite", "AugLoad", "AugStore", "Param")  # fmt: skip


def grammar_nodes() -> list[str]:
    """The names of the concrete node classes of this Python's grammar, without deprecated aliases."""
    return sorted(
        name
        for name in dir(ast)
        if isinstance(getattr(ast, name), type)
        and issubclass(getattr(ast, name), ast.AST)
        and not name.startswith("_")
        and name not in _BASES
    )


def node_classes(source: str) -> set[str]:
    """The names of the node classes that occur in a program."""
    return {type(node).__name__ for node in ast.walk(ast.parse(source))}
