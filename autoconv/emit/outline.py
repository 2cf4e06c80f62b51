"""Make functions of a function's loops, at their original positions, and the function that calls them.

    def f(a):
        t = clock()
        for x in a:
            t += x
        return t
    # becomes
    def f(a):
        t = clock()
        t = f_loop(a, t)
        return t

    def f_loop(a, t):
        for x in a:
            t += x
        return t

A loop with `return` statements also returns a flag and their value. A loop whose names are read after an exception
returns the exception, which the caller raises again.
"""

from __future__ import annotations

import ast
import types
from typing import Any, NamedTuple

import gast

from autoconv.analysis.outlining import OutlinedLoop, find_outlined_loops
from autoconv.analysis.scopes import Scope, bindings, scope_of
from autoconv.emit.converted import OUTLINE_CODE, OutlinedCode
from autoconv.emit.function import CONVERTED_NAME, compile_definitions, locate_source
from autoconv.emit.locate import SOURCE_ATTRIBUTE, FunctionSource
from autoconv.emit.relocate import rename_regions
from autoconv.errors import REGION_SUFFIX
from autoconv.process_state import deep_recursion
from autoconv.syntax.names import Namer
from autoconv.syntax.parse import parse, to_ast, to_gast
from autoconv.syntax.tree import Transformer, walk


def outline_code(function: types.FunctionType) -> OutlinedCode:
    """Return the code of a function that calls its loops, and that of the loops; none if no loop can be outlined.

    If `function` was itself made of a loop, only the loops inside of that loop are outlined. Raises ConversionError
    without source.
    """
    node, class_name, filename, lines = locate_source(function)
    if isinstance(node, ast.Lambda):
        return OutlinedCode(None, {}, {})
    with deep_recursion():
        module: Any = to_gast(ast.Module([_without_header(node)], []))
        definition = module.body[0]
        loops = find_outlined_loops(definition, inner_only=SOURCE_ATTRIBUTE in vars(function))
        if not loops:
            return OutlinedCode(None, {}, {})
        namer, scope = Namer(module), scope_of(definition)
        own_names = _Names(*map(namer.fresh, _Names._fields))
        calls = {id(outlined.loop): (outlined, namer.fresh("loop")) for outlined in loops}
        parts = [_loop_function(outlined, name, scope, own_names) for outlined, name in calls.values()]
        caller = _LoopCalls(calls, own_names, namer).visit(definition)
        _keep_local(caller, scope.locals)
        tree: Any = to_ast(gast.Module([caller, *parts], []))
    main, *loop_definitions = tree.body
    main.name = CONVERTED_NAME
    names = tuple(part.name for part in loop_definitions)
    codes = compile_definitions(function, tree.body, class_name, filename, names)
    loop_codes = {name: _named_like(function, codes[name], REGION_SUFFIX) for name in names}
    sources = {part.name: FunctionSource(part, class_name, filename, lines) for part in loop_definitions}
    return OutlinedCode(_named_like(function, codes[main.name]), loop_codes, sources)


def _named_like(function: types.FunctionType, code: types.CodeType, suffix: str = "") -> types.CodeType:
    """Return the code with the name of the function, and the names that inner functions have there.

    With the suffix of a region, tracebacks show its entry in place of the one that called it.
    """
    renamed_code = code.replace(co_name=function.__name__, co_qualname=function.__qualname__ + suffix)
    return rename_regions(renamed_code, (), None, code.co_qualname)


def _without_header(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return the definition without decorators, defaults and annotations, which belong to the function object."""
    node.decorator_list, node.returns = [], None
    node.args.defaults = [ast.copy_location(ast.Constant(None), node) for _ in node.args.defaults]
    node.args.kw_defaults = [
        default and ast.copy_location(ast.Constant(None), node) for default in node.args.kw_defaults
    ]
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return node


class _Names(NamedTuple):
    """Fresh names in a function and in its loops, for results of a loop that are no names of the user."""

    has_run: str
    has_returned: str
    value: str
    error: str
    context: str

    def results_of(self, outlined: OutlinedLoop) -> list[str]:
        """Return the names of a loop's results that come before its outputs."""
        is_returned, is_caught = (self.has_returned, self.value) * outlined.returns, (self.error,) * outlined.catches
        return [*is_returned, *is_caught, *(self.has_run,) * bool(outlined.first_assigned)]


class _LoopCalls(Transformer):
    """Put calls of their functions in place of loops; `calls` has the loop and the name of its function, by id.

    Names that may be unassigned before the loop are assigned only if the loop has run.
    """

    def __init__(self, calls: dict[int, tuple[OutlinedLoop, str]], names: _Names, namer: Namer) -> None:
        self._calls, self._names, self._namer = calls, names, namer

    def visit_For(self, node: Any) -> Any:
        return self._visit_loop(node)

    def visit_While(self, node: Any) -> Any:
        return self._visit_loop(node)

    def _visit_loop(self, node: Any) -> Any:
        """Return the call of the loop's function, with the statements that unpack its results, or the loop itself."""
        if id(node) not in self._calls:
            return self.visit_children(node)
        outlined, name = self._calls[id(node)]
        names, call = self._names, f"{name}({', '.join(outlined.inputs)})"
        new_values = {output: self._namer.fresh(output) for output in outlined.first_assigned}
        own_results = [*names.results_of(outlined), *new_values.values()]
        targets = [*own_results, *outlined.outputs]
        lines = [f"{_tuple_text(targets)} = {call}" if targets else call]
        if new_values:
            lines += [f"if {names.has_run}:", *(f"    {name} = {value}" for name, value in new_values.items())]
        if outlined.catches:
            lines.append(_RAISE_AGAIN.format_map(names._asdict()))
        if outlined.returns:
            lines.append(f"if {names.has_returned}:\n    return {names.value}")
        if own_results:
            lines.append(f"del {', '.join(own_results)}")
        return _statements(lines, node.iter if isinstance(node, gast.For) else node.test)


# `raise` sets the context of an exception, which it has got in the loop. Names of it would form a reference cycle.
_RAISE_AGAIN = """
if {error} is not None:
    {context} = {error}.__context__
    try:
        raise {error}
    finally:
        {error}.__context__ = {context}
        del {error}, {context}"""


class _Returns(Transformer, statements_only=True):
    """Make the `return` statements of a loop return a flag, their value and the names of `results`."""

    def __init__(self, results: list[str]) -> None:
        self._results = results

    def visit_Return(self, node: Any) -> Any:
        (statement,) = _statements([f"return {_tuple_text(['True', 'None', *self._results])}"], node)
        if node.value is not None:
            statement.value.elts[1] = node.value
        return [statement]


def _keep_local(function: Any, names: set[str]) -> None:
    """Add a statement that never runs to a function, so that names which only its loops assigned are still local.

    A use of such a name would otherwise read a global variable.
    """
    missing_names = sorted(names - scope_of(function).bound)
    if missing_names:
        function.body += _statements([f"if False: {' = '.join(missing_names)} = None"], function.body[-1])


def _loop_function(outlined: OutlinedLoop, name: str, scope: Scope, names: _Names) -> Any:
    """Return the definition of a loop's function; `scope` is that of the function around the loop.

    Where names may be unassigned before the loop, the function also returns `has_run`: whether the loop assigned them.
    """
    loop = outlined.loop
    written = {name for node in walk(loop) for name in bindings(node)}
    lines = [f"def {name}({', '.join(outlined.inputs)}):"]
    for keyword, kind in (("global", scope.globals), ("nonlocal", scope.nonlocals)):
        if kind & written:
            lines.append(f"    {keyword} {', '.join(sorted(kind & written))}")
    if outlined.first_assigned:
        lines += [f"    {name} = None" for name in outlined.first_assigned] + [f"    {names.has_run} = False"]
        loop.body[:0] = _statements([f"{names.has_run} = True"], loop.body[0])
    results = [*names.results_of(outlined), *outlined.first_assigned, *outlined.outputs]
    initial_values = {names.has_returned: "False", names.value: "None", names.error: "None"}
    values = [initial_values.get(result, result) for result in results]
    if outlined.returns:
        _Returns(values[2:]).visit(loop)
    if outlined.catches:
        at_error = [names.error if result == names.error else initial_values.get(result, result) for result in results]
        lines += ["    try: pass", f"    except BaseException as {names.error}: return {_tuple_text(at_error)}"]
    else:
        lines.append("    pass")
    (function,) = _statements([*lines, f"    return {_tuple_text(values)}"], loop)
    if outlined.catches:
        function.body[-2].body = [loop]
    else:
        function.body[-2] = loop
    return function


def _statements(lines: list[str], like: Any) -> list[Any]:
    """Return the statements of a text, all at the position of `like`."""
    statements: list[Any] = parse("\n".join(lines), "").body
    for statement in statements:
        for node in walk(statement):
            if "lineno" in node._attributes:
                ast.copy_location(node, like)
    return statements


def _tuple_text(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names)


OUTLINE_CODE.set(outline_code)
