"""Convert a whole module statically: the user's code is parsed, never imported or run."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import gast

from autoconv.emit.conversion import Construct, Conversion, Diagnostic, Options
from autoconv.emit.import_renames import rename_imports
from autoconv.emit.relocate import encode_lines
from autoconv.emit.unparse import Printed, print_tree
from autoconv.errors import Place, TargetError, UnsupportedError
from autoconv.lazy_dataclass import dataclass
from autoconv.passes import run_passes
from autoconv.passes.base import Context
from autoconv.process_state import deep_recursion, without_collections, without_warnings
from autoconv.syntax import build
from autoconv.syntax.comments import own_line_comments
from autoconv.syntax.depth import deepest_node
from autoconv.syntax.names import Namer
from autoconv.syntax.parse import check_source, compile_text, is_future_import, parse_ast, to_ast, to_gast

MARKER = "__autoconv__"


def convert_source(source: str, filename: str, options: Options | None = None) -> Conversion:
    """Convert a module's text.

    The garbage collector is paused: it would visit the trees of a long text many times, and they are no garbage.

    Raises SourceError when the text is not Python or too deep for its compiler, and TargetError for a name in the
    options that is not in it. Raises UnsupportedError for the first construct that cannot be converted, unless
    `options.keep_going`.
    """
    with without_collections():
        return _convert_source(source, filename, options or Options())


def _convert_source(source: str, filename: str, options: Options) -> Conversion:
    """Implement `convert_source`; each attempt leaves out one more of the functions that cannot be converted."""
    diagnostics: list[Diagnostic] = []
    excluded: set[str] = set()
    source_tree = check_source(source, filename)
    if source_tree is None:
        with deep_recursion():
            source_tree = parse_ast(source, filename)
    while True:
        with deep_recursion():
            outcome = _convert_and_print(source, source_tree, filename, options, frozenset(excluded), diagnostics)
        if isinstance(outcome, _Failure):
            failure = outcome
        elif (failure_of_compiler := _compilation_failure(outcome, source, filename, excluded)) is None:
            return outcome.conversion
        else:
            failure = failure_of_compiler
        if not options.keep_going or failure.function in excluded:
            raise failure.error
        excluded.add(failure.function)
        assert failure.error.place is not None
        diagnostics.append(
            Diagnostic(failure.error.message, failure.error.place, failure.function, failure.error.remedy)
        )


@dataclass(frozen=True, slots=True)
class _ConvertedModule:
    """A converted module and its tree."""

    conversion: Conversion
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class _Failure:
    """The name of a function that cannot be converted, with the error."""

    error: UnsupportedError
    function: str


def _convert_and_print(
    source: str, source_tree: ast.Module, filename: str, options: Options, excluded: frozenset[str],
    diagnostics: Sequence[Diagnostic],
) -> _ConvertedModule | _Failure:  # fmt: skip
    """Convert everything but the functions in `excluded`; `source_tree` is the tree of the text."""
    outcome = _convert_tree(source, source_tree, filename, options, excluded)
    if isinstance(outcome, _Failure):
        return outcome
    context, tree = outcome
    comments = dict(own_line_comments(source)) if options.comments else {}
    if tree.body and not tree.body[0].lineno:  # the inserted header has line 0
        comments = _move_first_lines_up(comments, source)
    for diagnostic in diagnostics:
        note = f"# autoconv left this function as it is: {diagnostic.message} (line {diagnostic.place.line})"
        line = _first_line_of_function(tree, diagnostic.function)
        comments[line] = (*comments.get(line, ()), note)
    try:
        printed = print_tree(tree, comments)
    except RecursionError:
        return _nesting_failure(tree, source, filename, excluded)
    text, origins = _append_line_map(printed, source, context, options)
    constructs = (*map(_construct_of_note, context.notes), *_constructs_outside_functions(source_tree, context))
    conversion = Conversion(
        text,
        origins,
        tuple(diagnostics),
        tuple(sorted(constructs, key=lambda construct: (construct.place.line, construct.place.column))),
        tuple(name for name, _ in qualified_functions(tree)),
        tuple(context.namer.generated_names),
    )
    return _ConvertedModule(conversion, tree)


def _compilation_failure(module: _ConvertedModule, source: str, filename: str, excluded: set[str]) -> _Failure | None:
    """Return the failure of a converted text that is too deep for Python's compiler, although the source is not.

    Calls of operators nest more deeply than the source.
    """
    line = 0
    try:
        with without_warnings():
            compile_text(module.conversion.text, filename)
        return None
    except SyntaxError as error:
        if not error.msg.startswith("too many"):  # nested parentheses, levels of indentation or nested blocks
            raise AssertionError(f"the converted text is not Python: {error}") from error
        origins = module.conversion.origins
        if error.lineno and error.lineno <= len(origins):
            line = origins[error.lineno - 1]
    except (RecursionError, MemoryError):
        pass
    return _nesting_failure(module.tree, source, filename, excluded, line)


def _nesting_failure(
    tree: ast.Module, source: str, filename: str, excluded: Collection[str], line: int = 0
) -> _Failure:
    """Return the failure of the function on `line`, or of the most deeply nested function if `line` is 0."""
    if not line:
        functions = [node for name, node in qualified_functions(tree) if name not in excluded]
        _, line = max(map(deepest_node, functions or [tree]))
    lines = source.splitlines()
    place = Place(filename, line, text=lines[line - 1][:200] if 0 < line <= len(lines) else "")
    error = UnsupportedError("nested too deeply to be converted", place, "assign parts of the expression to names")
    return _Failure(error, _function_name_at(tree, error))


_FIRST_LINE_COMMENT = re.compile(r"#!|#.*?coding[:=][ \t]*[-\w.]+")  # Python reads it in the first two lines only


def _move_first_lines_up(comments: Mapping[int, tuple[str, ...]], source: str) -> dict[int, tuple[str, ...]]:
    """Move a `#!` line and an encoding declaration to line 0, above everything."""
    result = dict(comments)
    lines = [line.strip() for line in source.removeprefix("\ufeff").split("\n", 2)[:2]]
    matching_indices = [i for i, line in enumerate(lines) if _FIRST_LINE_COMMENT.match(line) and all(lines[:i])]
    first_line = next(iter(comments), 0)
    moved_lines = lines[: matching_indices[-1] + 1] if matching_indices else []
    if moved_lines and tuple(moved_lines) == comments.get(first_line, ())[: len(moved_lines)]:
        result[0], result[first_line] = tuple(moved_lines), comments[first_line][len(moved_lines) :]
    return result


def _append_line_map(printed: Printed, source: str, context: Context, options: Options) -> tuple[str, tuple[int, ...]]:
    """Append a statement with the map from output lines to source lines."""
    if options.source_path is None or not printed.text.strip():
        return printed.text, printed.origins
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    arguments = options.source_path, digest, encode_lines(printed.origins), " ".join(context.namer.generated_names)
    call = f"{MARKER}.came_from({', '.join(map(repr, arguments))})"
    return f"{printed.text}\n\n{call}\n", (*printed.origins, 0, 0, 0)  # two blank lines and the call


def _convert_tree(
    source: str, source_tree: ast.Module, filename: str, options: Options, excluded: frozenset[str]
) -> tuple[Context, ast.Module] | _Failure:
    """Return the context of the passes and the converted tree, or the failure of a function."""
    _check_option_names(source_tree, filename, options)
    tree = to_gast(source_tree)
    context = Context(filename, source.splitlines(), Namer(tree), only=options.only, excluded=excluded)
    if options.rename_imports:
        rename_imports(tree, options.rename_imports, gast)
    try:
        tree = run_passes(tree, context, options.last_pass, options.skip)
    except UnsupportedError as error:
        return _Failure(error, _function_name_at(source_tree, error))
    has_new_decorators = _decorate(tree, options)
    result = to_ast(tree)
    _insert_header(result, has_new_decorators)
    return context, result


def _insert_header(tree: ast.Module, needs_autoconv: bool) -> None:
    """Insert the import of the operators after the docstring and the __future__ imports."""
    position = 0
    body = tree.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        position = 1
    for index, statement in enumerate(body):
        if is_future_import(statement):
            position = index + 1
    if not body:
        return
    header: list[ast.stmt] = [
        *([ast.Import([ast.alias("autoconv")])] if needs_autoconv else []),
        ast.Import([ast.alias("autoconv.operators", build.OPERATORS)]),
        ast.Assign(
            [ast.Name(MARKER, ast.Store())],
            ast.Call(
                ast.Attribute(ast.Name(build.OPERATORS, ast.Load()), "module", ast.Load()),
                [ast.Name("__name__", ast.Load())],
                [],
            ),
        ),
    ]
    for statement in header:
        ast.fix_missing_locations(statement)
        for node in ast.walk(statement):
            if isinstance(node, (ast.stmt, ast.expr, ast.alias)):
                node.lineno = node.end_lineno = 0
    tree.body[position:position] = header


def _decorate(tree: Any, options: Options) -> bool:
    """Decorate the chosen functions with @autoconv.compile, unless they have it; return whether there were any."""
    chosen_names = set(options.compile_names)
    has_new_decorators = False
    for name, node in qualified_functions(tree):
        is_chosen = name in chosen_names or (options.compile_all and "." not in name)  # a method's name has a dot
        if is_chosen and not _has_compile_decorator(node):
            decorator = gast.Attribute(build.name("autoconv"), "compile", gast.Load())
            node.decorator_list = [*node.decorator_list, build.place(decorator, node)]
            has_new_decorators = True
    return has_new_decorators


def _has_compile_decorator(node: Any) -> bool:
    """Return whether a function is decorated by `compile` or `function`, by any path."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, (gast.Call, ast.Call)) else decorator
        attribute = getattr(target, "attr", None) or getattr(target, "id", None)
        if attribute in ("compile", "function"):
            return True
    return False


def qualified_functions(tree: Any) -> list[tuple[str, Any]]:
    """Return (qualified name, node) of the functions of a module and of its classes, in order."""
    return list(_functions_in(tree.body, ""))


def _functions_in(body: list[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield (qualified name, node) of the functions in statements, whose names begin with `prefix`."""
    for node in body:
        kind = type(node).__name__  # of nodes of ast and of gast
        if kind in ("FunctionDef", "AsyncFunctionDef"):
            yield prefix + node.name, node
        elif kind == "ClassDef":
            yield from _functions_in(node.body, f"{prefix}{node.name}.")
        elif kind in ("If", "Try", "With", "For", "While"):
            yield from _functions_in(node.body, prefix)
            yield from _functions_in(getattr(node, "orelse", []), prefix)
            for handler in getattr(node, "handlers", []):
                yield from _functions_in(handler.body, prefix)


def _check_option_names(tree: ast.Module, filename: str, options: Options) -> None:
    """Raise TargetError for a name in the options that is no function or class of the module."""
    names = {name for name, _ in qualified_functions(tree)}
    classes = {name.rpartition(".")[0] for name in names} | {
        node.name for node in tree.body if isinstance(node, ast.ClassDef)
    }
    for name in sorted(options.compile_names | (options.only or frozenset())):
        if name not in names and name not in classes:
            import difflib  # needed for an error only

            similar_names = difflib.get_close_matches(name, sorted(names), 3)
            hint = f"; did you mean {', '.join(similar_names)}?" if similar_names else ""
            raise TargetError(f"{filename} has no function {name!r}{hint}")


def _function_name_at(tree: ast.Module, error: UnsupportedError) -> str:
    """Return the qualified name of the innermost function at the place of an error; "" outside of one."""
    line = error.place.line if error.place else 0
    innermost = ""
    for name, node in qualified_functions(tree):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            innermost = name
    return innermost


def _first_line_of_function(tree: ast.Module, function: str) -> int:
    """Return the line at which a function begins, with its decorators; 0 for an unknown name."""
    for name, node in qualified_functions(tree):
        if name == function:
            return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return 0


def _construct_of_note(note: Any) -> Construct:
    return Construct(note.kind, note.place, note.function, note.form, note.stages, note.reason)


def _constructs_outside_functions(source_tree: ast.Module, context: Context) -> list[Construct]:
    """Return the ifs and loops of the module and of class bodies, which run once, at import."""
    kinds = {ast.If: "if", ast.While: "while", ast.For: "for"}
    result: list[Construct] = []
    stack: list[tuple[ast.AST, str]] = [(source_tree, "")]
    while stack:
        node, prefix = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                continue
            inner_prefix = f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            kind = kinds.get(type(child))
            if kind:
                reason = "outside of functions: runs once, when the module is imported"
                function = prefix.rstrip(".")
                result.append(Construct(kind, context.place(child), function, "plain", stages=False, reason=reason))
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                stack.append((child, inner_prefix))
    return result
