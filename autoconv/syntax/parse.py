"""Parse text to gast trees, and convert gast trees to Python's own. Only this module calls gast's conversions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import gast
from gast.ast3 import Ast3ToGAst, GAstToAst3

from autoconv.errors import Place, SourceError
from autoconv.process_state import without_warnings
from autoconv.syntax.depth import deepest_node, longest_statement_line


def parse(source: str, filename: str) -> gast.Module:
    """Return the gast tree of a module's text; raise SourceError with the position of a syntax error."""
    return to_gast(parse_ast(source, filename))


def parse_ast(source: str, filename: str) -> ast.Module:
    """Return Python's own tree of a module's text; raise SourceError with the position of a syntax error."""
    try:
        with without_warnings():  # Python shows those of the text when it compiles the program
            return ast.parse(source, filename)
    except SyntaxError as error:
        text = (error.text or "").rstrip("\n")
        place = Place(filename, error.lineno or 0, error.offset or 0, error.end_offset or 0, text)
        raise SourceError(f"this is not Python: {error.msg}", place) from None
    except ValueError as error:  # null bytes
        raise SourceError(f"this is not Python: {error}", Place(filename, 0)) from None
    except (RecursionError, MemoryError):
        raise _nesting_error(filename, longest_statement_line(source)) from None


def check_source(source: str, filename: str) -> ast.Module | None:
    """Compile a module's text without running it; raise SourceError, with the position, if it is invalid.

    Return the tree if the check has parsed the text. The parser accepts some programs that the compiler refuses: a
    `break` outside of loops, `global x` after a use of x.
    """
    try:
        with without_warnings():
            return compile_text(source, filename)
    except SyntaxError as error:
        parse_ast(source, filename)  # the parser's columns count characters, the compiler's bytes
        lines, line = source.split("\n"), error.lineno or 0
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        column, end = _character_column(text, error.offset), _character_column(text, error.end_offset)
        place = Place(filename, line, column, end if error.end_lineno == line and end > column else 0, text)
        raise SourceError(f"this is not Python: {error.msg}", place) from None
    except (RecursionError, MemoryError):
        _, line = deepest_node(parse_ast(source, filename))
        raise _nesting_error(filename, line) from None
    except ValueError:  # null bytes, which the parser reports too
        return None


def compile_text(source: str, filename: str) -> ast.Module | None:
    """Compile a module's text without running it; raise what `compile` raises.

    A long text is compiled some statements at a time, as the time of `compile` is quadratic in the number of functions
    with one name and text. Return the tree of a long text.
    """
    if source.count("\n") > _LONG_TEXT_LINES:
        try:
            tree = ast.parse(source, filename)
            _compile_in_parts(tree, filename)
        except RecursionError:  # the compiler allows less nesting in a tree than in a text
            pass
        else:
            return tree
    compile(source, filename, "exec", dont_inherit=True)
    return None


_LONG_TEXT_LINES, _STATEMENTS_PER_PART = 5_000, 500  # lines of a long text, statements that are compiled together


def _compile_in_parts(tree: ast.Module, filename: str) -> None:
    """Compile the statements of a module in parts, or together if a statement affects the compilation of others."""
    start = next((i for i, statement in enumerate(tree.body) if not _must_come_first(statement, i)), len(tree.body))
    if any(isinstance(statement, ast.Global) or is_future_import(statement) for statement in tree.body[start:]):
        compile(tree, filename, "exec", dont_inherit=True)
        return
    for first in range(start, len(tree.body), _STATEMENTS_PER_PART):
        part = [*tree.body[:start], *tree.body[first : first + _STATEMENTS_PER_PART]]
        compile(ast.Module(part, []), filename, "exec", dont_inherit=True)


def _must_come_first(statement: ast.stmt, position: int) -> bool:
    """Return whether a statement is the docstring of its module, or a __future__ import."""
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_future_import(statement) or (position == 0 and is_text)


def is_future_import(statement: ast.stmt) -> bool:
    """Return whether a statement is a __future__ import."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _nesting_error(filename: str, line: int) -> SourceError:
    """Return the error for a text that is too deep for Python's compiler."""
    return SourceError("nested too deeply for Python's compiler", Place(filename, line))


def _character_column(line: str, offset: int | None) -> int:
    """Convert a 1-based column of the compiler's errors from bytes to characters; 0 means unknown."""
    return len(line.encode()[: offset - 1].decode("utf-8", "ignore")) + 1 if offset and offset > 0 else 0


def to_gast(tree: ast.AST) -> gast.Module:
    """Return gast's tree."""
    return _ToGast().visit(tree)


def to_ast(tree: gast.AST) -> ast.Module:
    """Return the standard library's tree; a node without a position gets that of its parent."""
    result: ast.Module = _ToAst().visit(tree)
    return result


class _NodePosition(NamedTuple):
    """The place of a node in the text: lines from 1, columns in bytes from 0."""

    line: int
    column: int
    end_line: int
    end_column: int


_START_OF_FILE = _NodePosition(1, 0, 1, 0)


class _ConversionRule(NamedTuple):
    """Conversion of one kind of node: to the target kind with its fields (no node if it is None), or by gast's rule.

    `singleton` is the only instance of a kind without contents, such as Load and Add, and None otherwise.
    """

    target_kind: Any
    fields: tuple[str, ...]
    rule: Callable[[Any, Any], Any] | None
    singleton: Any


class _ConversionRules(dict[type, _ConversionRule]):
    """Cache of the rules by kind of node."""

    def __init__(self, translator: Any, target_module: ModuleType) -> None:
        self._translator = translator
        self._target_module = target_module

    def __missing__(self, kind: type[ast.AST]) -> _ConversionRule:
        name = kind.__name__
        target_kind = getattr(self._target_module, name, None)
        rule = getattr(self._translator, f"visit_{name}", None)
        if rule is None and target_kind is not None and set(target_kind._fields) != set(kind._fields):
            rule = self._translator.generic_visit
        has_contents = rule is not None or kind._fields or kind._attributes
        singleton = None if target_kind is None or has_contents else target_kind()
        fields = () if target_kind is None else target_kind._fields
        result = self[kind] = _ConversionRule(target_kind, fields, rule, singleton)
        return result


def _convert_field(converter: Any, value: Any) -> Any:
    """Return the value of a field, with its nodes converted by `converter`."""
    if value.__class__ is list:
        return [_convert_field(converter, item) for item in value]
    return converter.visit(value) if isinstance(value, ast.AST) else value


class _ToGast(Ast3ToGAst):  # type: ignore[misc]
    """gast's conversion, with cached lookup of its rules."""

    conversion_rules: _ConversionRules

    def visit(self, node: Any) -> Any:
        """Return the converted node."""
        target_kind, fields, rule, singleton = self.conversion_rules[node.__class__]
        if singleton is not None:
            return singleton
        if rule is not None:
            return rule(self, node)
        if target_kind is None:
            return None
        result = target_kind(*[self._visit(getattr(node, field, None)) for field in fields])
        for attribute in node._attributes:
            setattr(result, attribute, getattr(node, attribute, None))
        return result

    _visit = _convert_field


class _ToAst(GAstToAst3):  # type: ignore[misc]
    """gast's conversion, with cached lookup of its rules; positions are assigned top-down."""

    conversion_rules: _ConversionRules

    def __init__(self) -> None:
        self._enclosing_position = _START_OF_FILE

    def visit(self, node: Any) -> Any:
        """Return the converted node, with the position of the node or of the one around it."""
        target_kind, fields, rule, singleton = self.conversion_rules[node.__class__]
        if singleton is not None:
            return singleton
        if target_kind is None:
            return None
        if "lineno" not in target_kind._attributes:
            if rule is not None:
                return rule(self, node)
            return target_kind(*[self._visit(getattr(node, field, None)) for field in fields])
        outer_position = self._enclosing_position
        position = self._enclosing_position = _position(node, outer_position)
        if rule is not None:
            result = rule(self, node)
        else:
            result = target_kind(*[self._visit(getattr(node, field, None)) for field in fields])
        self._enclosing_position = outer_position
        result.lineno, result.col_offset, result.end_lineno, result.end_col_offset = position
        return result

    def visit_Name(self, node: Any) -> Any:
        return ast.Name(node.id, self.visit(node.ctx))

    _visit = _convert_field

    def _make_arg(self, node: Any) -> Any:  # called by the rules of the base class
        """Return a parameter, None for None."""
        if node is None:
            return None
        outer_position = self._enclosing_position
        position = self._enclosing_position = _position(node, outer_position)
        result = ast.arg(node.id, self._visit(node.annotation), node.type_comment)
        self._enclosing_position = outer_position
        result.lineno, result.col_offset, result.end_lineno, result.end_col_offset = position
        return result


def _position(node: Any, outer_position: _NodePosition) -> _NodePosition:
    """Return a node's position, with numbers of `outer_position` in the place of missing ones."""
    line, column, end_line, end_column = outer_position
    return _NodePosition(
        getattr(node, "lineno", line),
        getattr(node, "col_offset", column),
        getattr(node, "end_lineno", None) or end_line,
        end_column if (end := getattr(node, "end_col_offset", None)) is None else end,
    )


_ToGast.conversion_rules = _ConversionRules(_ToGast, gast)
_ToAst.conversion_rules = _ConversionRules(_ToAst, ast)
