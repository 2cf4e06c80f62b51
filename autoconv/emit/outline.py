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
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import gast

from autoconv.analysis.outlining import OutlinedLoop, find_outlined_loops
from autoconv.analysis.scopes import Scope, bindings, scope_of
from autoconv.emit.converted import OUTLINE_LOOPS, bind_code
from autoconv.emit.function import CONVERTED_NAME, compile_definitions, locate_source
from autoconv.emit.locate import SOURCE_ATTRIBUTE
from autoconv.emit.relocate import rename_regions
from autoconv.errors import REGION_SUFFIX, ConversionError
from autoconv.process_state import deep_recursion
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.parse import to_ast, to_gast
from autoconv.syntax.tree import Transformer, walk


def outline_loops(
    function: types.FunctionType, decorate: Callable[[types.FunctionType], Any]
) -> types.FunctionType | None:
    """Return a function that calls its loops, which are functions that `decorate` was applied to.

    Of a function that is such a loop, the loops in it are outlined. Return None if there is no loop that can be
    outlined, or no source.
    """
    try:
        node, class_name, filename, lines = locate_source(function)
    except ConversionError:
        return None
    if isinstance(node, ast.Lambda):
        return None
    with deep_recursion():
        module: Any = to_gast(ast.Module([_without_header(node)], []))
        definition = module.body[0]
        loops = find_outlined_loops(definition, inner_only=SOURCE_ATTRIBUTE in vars(function))
        if not loops:
            return None
        namer, scope = Namer(module), scope_of(definition)
        calls = {id(outlined.loop): (outlined, namer.fresh("loop")) for outlined in loops}
        has_run = namer.fresh("has_run")
        parts = [_loop_function(outlined, name, scope, has_run) for outlined, name in calls.values()]
        caller = _LoopCalls(calls, has_run, namer).visit(definition)
        _keep_local(caller, scope.locals)
        tree: Any = to_ast(gast.Module([caller, *parts], []))
    main, *loop_definitions = tree.body
    main.name = CONVERTED_NAME
    names = tuple(part.name for part in loop_definitions)
    codes = compile_definitions(function, tree.body, class_name, filename, names)
    decorated_loops = {}
    for part in loop_definitions:
        loop_function = bind_code(function, _named_like(function, codes[part.name], REGION_SUFFIX), {})
        loop_function.__defaults__ = loop_function.__kwdefaults__ = None
        vars(loop_function)[SOURCE_ATTRIBUTE] = part, class_name, filename, lines
        decorated_loops[part.name] = decorate(loop_function)
    return bind_code(function, _named_like(function, codes[main.name]), decorated_loops)


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


class _LoopCalls(Transformer):
    """Put calls of their functions in place of loops; `calls` has the loop and the name of its function, by id.

    Names that may be unassigned before the loop are assigned only if the loop has run.
    """

    def __init__(self, calls: dict[int, tuple[OutlinedLoop, str]], has_run: str, namer: Namer) -> None:
        self._calls, self._has_run, self._namer = calls, has_run, namer

    def visit_For(self, node: Any) -> Any:
        return self._visit_loop(node)

    def visit_While(self, node: Any) -> Any:
        return self._visit_loop(node)

    def _visit_loop(self, node: Any) -> Any:
        if id(node) not in self._calls:
            return self.visit_children(node)
        outlined, name = self._calls[id(node)]
        head = node.iter if isinstance(node, gast.For) else node.test
        call = build.place(build.call(build.name(name), *map(build.name, outlined.inputs)), head)
        new_values = {output: self._namer.fresh(output) for output in outlined.first_assigned}
        targets = (*outlined.outputs, *new_values.values(), *([self._has_run] if new_values else ()))
        if not targets:
            return build.place(gast.Expr(call), head)
        statements = [gast.Assign([_single_or_tuple(targets, build.store, build.stores)], call, None)]
        if new_values:
            moves = [gast.Assign([build.store(name)], build.name(value), None) for name, value in new_values.items()]
            statements.append(gast.If(build.name(self._has_run), moves, []))
            dropped_names = [gast.Name(name, gast.Del(), None, None) for name in (*new_values.values(), self._has_run)]
            statements.append(gast.Delete(dropped_names))
        return [build.place(statement, head) for statement in statements]


def _keep_local(function: Any, names: set[str]) -> None:
    """Add a statement that never runs to a function, so that names which only its loops assigned are still local.

    A use of such a name would otherwise read a global variable.
    """
    missing_names = sorted(names - scope_of(function).bound)
    if missing_names:
        dead_statement = gast.If(build.constant(False), [_assignment(name, None) for name in missing_names], [])
        function.body.append(build.place(dead_statement, function.body[-1]))


def _loop_function(outlined: OutlinedLoop, name: str, scope: Scope, has_run: str) -> Any:
    """Return the definition of a loop's function; `scope` is that of the function around the loop.

    Where names may be unassigned before the loop, the function also returns `has_run`: whether the loop assigned them.
    """
    loop = outlined.loop
    written = {name for node in walk(loop) for name in bindings(node)}
    kinds = ((gast.Global, scope.globals), (gast.Nonlocal, scope.nonlocals))
    body: list[Any] = [kind(sorted(names & written)) for kind, names in kinds if names & written]
    results = (*outlined.outputs, *outlined.first_assigned)
    if outlined.first_assigned:
        results = (*results, has_run)
        initial_values = {has_run: False, **dict.fromkeys(outlined.first_assigned)}
        body += [_assignment(name, value) for name, value in initial_values.items()]
        loop.body.insert(0, build.place(_assignment(has_run, True), loop.body[0]))
    body.append(loop)
    if results:
        body.append(gast.Return(_single_or_tuple(results, build.name, build.loads)))
    function = gast.FunctionDef(name, build.arguments(outlined.inputs), body, [], None, None)
    if "type_params" in gast.FunctionDef._fields:
        function.type_params = []
    return build.place(function, loop)


def _assignment(name: str, value: object) -> Any:
    return gast.Assign([build.store(name)], build.constant(value), None)


def _single_or_tuple(names: tuple[str, ...], make_name: Any, make_tuple: Any) -> Any:
    return make_name(names[0]) if len(names) == 1 else make_tuple(names)


OUTLINE_LOOPS.set(outline_loops)
