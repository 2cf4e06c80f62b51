"""Parsing of texts with types and values of arguments, such as "float32[2,?] int32[] 2.5"."""

from __future__ import annotations

import ast
from typing import Any

from autoconv.errors import TargetError
from autoconv.graph.attribute_parser import parse_type
from autoconv.graph.scanner import GraphSyntaxError, Scanner
from autoconv.graph.types import Symbol, TensorType
from autoconv.runtime.support.shape import TensorSpec


def parse_specs(text: str) -> list[Any]:
    """Parse a text; return TensorSpecs and Python values. Raises TargetError for a word that is neither."""
    return [_make_open_spec(parsed) if isinstance(parsed, TensorType) else parsed for parsed in parse_types(text)]


def parse_types(text: str) -> list[Any]:
    """Parse a text; return TensorTypes, whose sizes may be symbols, and Python values.

    Raises TargetError for a word that is neither.
    """
    result: list[Any] = []
    for word in _split_words(text):
        try:
            result.append(_parse_type_or_value(word))
        except (GraphSyntaxError, ValueError, SyntaxError):
            raise TargetError(
                f"{word!r} is neither a type, such as float32[2,3], float32[?,n] or int32[], nor a literal of Python, "
                "such as 2.5"
            ) from None
    return result


def _parse_type_or_value(word: str) -> Any:
    """Return the tensor type, or the value of the Python literal, that a word denotes."""
    if word.endswith("]") and not word.startswith("["):
        scanner = Scanner(word)
        type_ = parse_type(scanner)
        if scanner.position != len(word) or not isinstance(type_, TensorType):
            scanner.fail("this is not the type of a tensor")
        if any(isinstance(size, Symbol) and not size.name.isidentifier() for size in type_.shape or ()):
            scanner.fail("this is not a size")
        return type_
    return ast.literal_eval(word)


def _make_open_spec(type_: TensorType) -> TensorSpec:
    """Return the spec of a type, with None for each symbol."""
    shape = type_.shape
    if shape is not None:
        shape = tuple(None if isinstance(size, Symbol) else size for size in shape)
    return TensorSpec(shape, type_.dtype)


def _split_words(text: str) -> list[str]:
    """Split at spaces outside of brackets and quotes."""
    words, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        depth += (character in "([{") - (character in ")]}")
        if character.isspace() and depth <= 0 and not quote:
            words.append("")
        else:
            words[-1] += character
    return [word for word in words if word]
