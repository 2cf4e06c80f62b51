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
from autoconv.emit.function import CONVERTED_NAME, SOURCE_ATTRIBUTE, compile_definitions, locate_source
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
        parts = [_loop_function(outlined, name, scope) for outlined, name in calls.values()]
        tree: Any = to_ast(gast.Module([_LoopCalls(calls).visit(definition), *parts], []))
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
    """Put calls of their functions in place of loops; `calls` has the loop and the name of its function, by id."""

    def __init__(self, calls: dict[int, tuple[OutlinedLoop, str]]) -> None:
        self._calls = calls

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
        if not outlined.outputs:
            return build.place(gast.Expr(call), head)
        target = _single_or_tuple(outlined.outputs, build.store, build.stores)
        return build.place(gast.Assign([target], call, None), head)


def _loop_function(outlined: OutlinedLoop, name: str, scope: Scope) -> Any:
    """Return the definition of a loop's function; `scope` is that of the function around the loop."""
    loop = outlined.loop
    written = {name for node in walk(loop) for name in bindings(node)}
    kinds = ((gast.Global, scope.globals), (gast.Nonlocal, scope.nonlocals))
    body: list[Any] = [kind(sorted(names & written)) for kind, names in kinds if names & written]
    body.append(loop)
    if outlined.outputs:
        body.append(gast.Return(_single_or_tuple(outlined.outputs, build.name, build.loads)))
    function = gast.FunctionDef(name, build.arguments(outlined.inputs), body, [], None, None)
    if "type_params" in gast.FunctionDef._fields:
        function.type_params = []
    return build.place(function, loop)


def _single_or_tuple(names: tuple[str, ...], make_name: Any, make_tuple: Any) -> Any:
    return make_name(names[0]) if len(names) == 1 else make_tuple(names)


OUTLINE_LOOPS.set(outline_loops)
