"""Convert one function at run time: find its source, rewrite it, and compile it at its original position."""

from __future__ import annotations
import __future__

import ast
import bisect
import copy
import dis
import functools
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import gast

from autoconv.analysis.write_only_names import write_only_names
from autoconv.emit.generators import push_generator
from autoconv.emit.locate import SOURCE_ATTRIBUTE, FunctionSource, source_lines
from autoconv.emit.relocate import Extent, rename_regions
from autoconv.errors import ConversionError, Place, SourceError
from autoconv.passes import run_passes
from autoconv.passes.base import Context
from autoconv.process_state import deep_recursion, without_warnings
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.parse import parse_ast, to_ast, to_gast

CONVERTED_NAME = "converted_function"  # name of the converted function inside its factory
_RELOAD_REMEDY = "the function as it was, or start the program (or reload the module) again"


def convert_code(function: types.FunctionType, to_consumer: bool = False) -> tuple[types.CodeType, frozenset[str]]:
    """Return the converted code of a function, and the outer names whose list or dict it changes without reading it.

    `analysis.write_only_names` finds these names. With `to_consumer`, a generator function becomes one that passes its
    values to a consumer.
    """
    definition, class_name, filename, generated_names, lambda_extents, mutated_names = rewrite_definition(
        function, to_consumer
    )
    definition.name = CONVERTED_NAME  # inside the function, its own name keeps its meaning
    code = compile_definitions(function, [definition], class_name, filename, (build.OPERATORS,))[CONVERTED_NAME]
    compiled_qualname = code.co_qualname
    code = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    return rename_regions(code, generated_names, lambda_extents, compiled_qualname), mutated_names


def compile_definitions(
    function: types.FunctionType, definitions: list[Any], class_name: str, filename: str, names: tuple[str, ...]
) -> dict[str, types.CodeType]:
    """Return by name the code of definitions that stand in place of a function, with its free names and `names`."""
    content: list[Any] = definitions
    if class_name:
        # Leading underscores do not affect the mangling of private names, and keep the class from shadowing the user's.
        enclosing_class: Any = ast.ClassDef(f"_______{class_name}", [], [], definitions, [])
        if "type_params" in ast.ClassDef._fields:
            enclosing_class.type_params = []
        content = [ast.copy_location(enclosing_class, definitions[0])]
    outer_names = dict.fromkeys((*function.__code__.co_freevars, *names))
    arguments = ast.arguments([], [ast.arg(n) for n in outer_names if n != "__class__"], None, [], [], None, [])
    factory: Any = ast.FunctionDef("factory", arguments, content, [])
    if "type_params" in ast.FunctionDef._fields:
        factory.type_params = []
    module = ast.Module([ast.copy_location(factory, definitions[0])], [])
    ast.fix_missing_locations(module)
    _collapse_operator_positions(module)
    with without_warnings():
        module_code = compile(module, filename, "exec", flags=_future_flags(function), dont_inherit=True)
    return {definition.name: _find_code(module_code, definition.name) for definition in definitions}


def _collapse_operator_positions(tree: ast.AST) -> None:
    """Move the end of operator names to their start, so that a call of `ag__.if_stmt` has the line of its statement.

    Python reports a call at the end of the function's name, which would be the end of the statement.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == build.OPERATORS:
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset


def _find_code(module_code: types.CodeType, name: str) -> types.CodeType:
    """Return the code of a function inside the factory, or in the class in it."""
    pending = [module_code]
    while pending:
        code = pending.pop(0)
        if code.co_name == name:
            return code
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    raise AssertionError(f"no code for {name}")


def _future_flags(function: types.FunctionType) -> int:
    all_flags = 0
    for feature in __future__.all_feature_names:
        all_flags |= getattr(__future__, feature).compiler_flag
    return function.__code__.co_flags & all_flags


class RewrittenDefinition(NamedTuple):
    """The converted definition of a function, without decorators, and facts about it."""

    definition: ast.FunctionDef
    class_name: str  # of the enclosing class
    filename: str
    generated_names: list[str]  # of the functions that passes made, such as regions
    lambda_extents: set[Extent]  # of the user's lambdas
    mutated_names: frozenset[str]  # the outer names whose list or dict is changed without being read


def rewrite_definition(function: types.FunctionType, to_consumer: bool = False) -> RewrittenDefinition:
    """Return the converted definition of a function, and facts about it."""
    node, class_name, filename, lines = locate_source(function)
    mutated_names = write_only_names(node)
    lambda_extents = {_extent_of(inner.body) for inner in ast.walk(node) if isinstance(inner, ast.Lambda)}
    definition: Any
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Return(node.body), node.body)
        definition = ast.FunctionDef(CONVERTED_NAME, node.args, [body], [])
        if "type_params" in ast.FunctionDef._fields:
            definition.type_params = []
        ast.copy_location(definition, node)
    else:
        definition = node
    definition.decorator_list = []
    arguments = definition.args
    arguments.defaults = [ast.copy_location(ast.Constant(None), definition) for _ in arguments.defaults]
    arguments.kw_defaults = [
        default and ast.copy_location(ast.Constant(None), definition) for default in arguments.kw_defaults
    ]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    definition.returns = None
    with deep_recursion():
        module: Any = to_gast(ast.Module([definition], []))
        context = Context(filename, lines, Namer(module))
        if to_consumer:  # free variables may be Undefined at entry, so passes must check them before use
            context.outer_names = frozenset(function.__code__.co_freevars) - {"__class__", build.OPERATORS}
        if to_consumer and not push_generator(module.body[0], context):
            place = Place(filename, function.__code__.co_firstlineno)
            raise ConversionError("this generator function cannot pass its values to a consumer", place)
        if class_name:
            class_definition = gast.ClassDef(class_name, [], [], module.body, [])
            if "type_params" in gast.ClassDef._fields:
                class_definition.type_params = []
            module.body = [build.place(class_definition, module.body[0])]
        context.at_run_time = True  # omits the plain copies that `eager_fast_path` adds for calls outside a trace
        tree = to_ast(run_passes(module, context))
    result: Any = tree.body[0]
    if class_name:
        result = result.body[0]
    generated_names = context.namer.generated_names
    return RewrittenDefinition(result, class_name, filename, generated_names, lambda_extents, mutated_names)


def _extent_of(node: ast.expr) -> Extent:
    return Extent(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def locate_source(function: types.FunctionType) -> FunctionSource:
    """Return the source of a function; raises ConversionError without source.

    Several lambdas on one line are distinguished by the columns of their code.
    """
    if SOURCE_ATTRIBUTE in vars(function):
        source_of_loop: FunctionSource = vars(function)[SOURCE_ATTRIBUTE]()
        return source_of_loop._replace(definition=copy.deepcopy(source_of_loop.definition))
    code = function.__code__
    filename = code.co_filename
    lines = source_lines(code, function.__globals__)
    if not lines and filename != "<string>":
        try:
            lines = inspect.findsource(code)[0]
        except (OSError, TypeError):
            lines = []
    if not lines:
        raise ConversionError(
            f"the source of {function.__qualname__!r} cannot be found (its file is {filename!r})",
            Place(filename, code.co_firstlineno),
            "put the function into a file or a notebook cell, or decorate it with @autoconv.autograph.experimental."
            "do_not_convert to run it as it is",
        )
    source = "".join(lines)
    try:
        tree = _parse_statements_at(source, filename, code.co_firstlineno)
    except SourceError as error:
        # Memory is really short: text that Python has compiled before cannot be nested too deeply.
        if isinstance(error.__context__, MemoryError):
            raise MemoryError from None
        raise ConversionError(
            f"the source of {function.__qualname__!r} is not Python any more ({error.message}); the file was changed "
            "after it was imported",
            error.place,
            _RELOAD_REMEDY,
        ) from None
    definitions = _definitions(tree, "", code.co_firstlineno)
    candidates = [(node, class_name) for node, class_name in definitions if _may_be_source_of(node, code)]
    if len(candidates) > 1:
        candidates = _select_by_columns(candidates, code)
        if not candidates:
            raise ConversionError(
                f"there are several functions {code.co_name!r} on this line, and Python does not say which is meant",
                Place(filename, code.co_firstlineno, text=lines[code.co_firstlineno - 1].rstrip()),
                "one of them on each line",
            )
    if not candidates:
        raise ConversionError(
            f"the source of {function.__qualname__!r} is not at {filename}:{code.co_firstlineno} any more; "
            "the file was changed after it was imported",
            Place(filename, code.co_firstlineno, text=(lines[code.co_firstlineno - 1 :] or [""])[0].rstrip()),
            _RELOAD_REMEDY,
        )
    node, class_name = candidates[0]
    return FunctionSource(node, class_name, filename, source.splitlines())


def _parse_statements_at(source: str, filename: str, line: int) -> ast.Module:
    """Return the tree of the statements of a module that span a line; raise SourceError for invalid Python.

    The extents of all statements come from one parse of the file, which is cached for its other functions.
    """
    extents = _statement_extents(source, filename)
    index = bisect.bisect_right(extents, (line, sys.maxsize)) - 1
    first_line, last_line = extents[index] if index >= 0 else (0, 0)
    if line > last_line:
        return ast.Module([], [])
    lines = source.split("\n")[first_line - 1 : last_line]
    try:
        if "\r" not in source:  # a carriage return ends a line too
            return parse_ast("\n" * (first_line - 1) + "\n".join(lines), filename)
    except SourceError:  # the first line continues the one before, which ends in a backslash
        pass
    return parse_ast(source, filename)


@functools.lru_cache(maxsize=8)
def _statement_extents(source: str, filename: str) -> list[tuple[int, int]]:
    """Return the first and last line of each of a module's statements; those that share a line are merged."""
    result: list[tuple[int, int]] = []
    for node in parse_ast(source, filename).body:
        first_line = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        last_line = node.end_lineno or node.lineno
        if result and first_line <= result[-1][1]:
            first_line, last_line = result[-1][0], max(last_line, result.pop()[1])
        result.append((first_line, last_line))
    return result


def _definitions(node: ast.AST, class_name: str, line: int) -> Iterator[tuple[Any, str]]:
    """Yield the functions and lambdas whose text spans a line, each with the name of the class around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.expr)):
            first_line = min([child.lineno, *(decorator.lineno for decorator in getattr(child, "decorator_list", ()))])
            if not first_line <= line <= (child.end_lineno or line):
                continue
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child, class_name
        inner_class_name = child.name if isinstance(child, ast.ClassDef) else class_name
        yield from _definitions(child, inner_class_name, line)


def _may_be_source_of(node: Any, code: types.CodeType) -> bool:
    """Return whether a function or lambda has the name and the first line of the code."""
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    first_line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return code.co_name == node.name and first_line == code.co_firstlineno


def _select_by_columns(candidates: list[tuple[Any, str]], code: types.CodeType) -> list[tuple[Any, str]]:
    """Return, as a list, the innermost of several functions on one line that spans all positions of the code.

    Python 3.12 gives no columns to the code of a lambda that returns a constant: the constant and the parameters select
    it then. The list is empty if other code has no columns.
    """
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        if None not in (line, end_line, column, end_column) and (column or end_column):
            starts.append((line, column))
            ends.append((end_line, end_column))
    if not starts:
        return [pair for pair in candidates if _is_constant_lambda_of(pair[0], code)][:1]
    start, end = min(starts), max(ends)
    enclosing = [(node, name) for node, name in candidates if _start(node) <= start and end <= _end(node)]
    return sorted(enclosing, key=lambda pair: _start(pair[0]))[-1:]


def _is_constant_lambda_of(node: Any, code: types.CodeType) -> bool:
    """Return whether the node is a lambda that returns a constant, as the code does, and has the same parameters."""
    instructions = [item for item in dis.get_instructions(code) if item.opname not in ("RESUME", "RETURN_VALUE")]
    if not isinstance(node, ast.Lambda) or [item.opname for item in instructions] not in _CONSTANT_BODIES:
        return False
    try:
        value = ast.literal_eval(node.body)
    except ValueError:
        return False
    groups = node.args.posonlyargs, node.args.args, node.args.kwonlyargs, (node.args.vararg, node.args.kwarg)
    names = tuple(parameter.arg for group in groups for parameter in group if parameter)
    result = instructions[0].argval
    return names == code.co_varnames and type(value) is type(result) and repr(value) == repr(result)


_CONSTANT_BODIES = ["RETURN_CONST"], ["LOAD_CONST"]


def _start(node: Any) -> tuple[int, int]:
    """Return where a function starts; a lambda, whose code has no positions of parameters, starts at its body."""
    text_node: Any = node.body if isinstance(node, ast.Lambda) else node
    return text_node.lineno, text_node.col_offset


def _end(node: Any) -> tuple[int, int]:
    """Return where a function ends."""
    text_node: Any = node.body if isinstance(node, ast.Lambda) else node
    return text_node.end_lineno, text_node.end_col_offset
