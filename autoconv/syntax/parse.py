"""From text to trees, and back to what Python compiles. The only place that calls gast's parser."""

from __future__ import annotations

import ast

import gast

from autoconv.errors import Place, SourceError


def parse(source: str, filename: str) -> gast.Module:
    """The gast tree of a module's text; raises SourceError with the place of a syntax error."""
    return to_gast(parse_ast(source, filename))


def parse_ast(source: str, filename: str) -> ast.Module:
    try:
        return ast.parse(source, filename)
    except SyntaxError as error:
        text = (error.text or "").rstrip("\n")
        place = Place(filename, error.lineno or 0, error.offset or 0, error.end_offset or 0, text)
        raise SourceError(f"this is not Python: {error.msg}", place) from None
    except ValueError as error:  # null bytes
        raise SourceError(f"this is not Python: {error}", Place(filename, 0)) from None
    except (RecursionError, MemoryError):
        raise SourceError("an expression is nested too deeply to be parsed", Place(filename, 0)) from None


def to_gast(tree: ast.AST) -> gast.Module:
    return gast.ast_to_gast(tree)


def to_ast(tree: gast.AST) -> ast.Module:
    """The standard library's tree, every node with a position."""
    return ast.fix_missing_locations(gast.gast_to_ast(tree))
