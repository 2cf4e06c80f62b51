"""Division of a printed statement's line into lines of at most 120 characters, at commas and operators in brackets.

With a width of 40 columns:

    before:  return ag__.call(first)(x), ag__.call(second)(y)
    after:   return (ag__.call(first)(x),
                 ag__.call(second)(y))
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

MAX_COLUMNS = 120
_HEADER = re.compile(r"(?:async |def |class |if |elif |while |for |with |match |case |except)")
# The beginning of a statement whose remaining part means the same in parentheses.
_BEFORE_VALUE = re.compile(r"(?:return|if|elif|while|from [\w.]+ import) ")
_WORDS = frozenset({"and", "or", "if", "else", "for"})
_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "@", "|", "&", "^", "<<", ">>")
_OPERATORS = frozenset({*_ARITHMETIC, "==", "!=", "<", ">", "<=", ">="})
_ASSIGNMENTS = frozenset({"=", "**=", *(f"{operator}=" for operator in _ARITHMETIC)})
_LONGEST_CODE = 5_000
_PREFERRED_COLUMN = 40  # before it, a line ends only if there is no other place


class _Break(NamedTuple):
    """A column at which a line may end, the number of brackets open there, and whether an operator follows."""

    column: int
    depth: int
    is_operator: bool


def wrap_statement(text: str, indentation: int) -> list[str]:
    """Return the lines of a statement, or of its header without the colon, that is printed at an indentation.

    Lines after the first have their indentation. A line stays longer than `MAX_COLUMNS` if it has no place to break, or
    if it has more than `_LONGEST_CODE` characters: it is data then.
    """
    width = MAX_COLUMNS - 1 - indentation  # without the colon of a header
    if not width < len(text) <= _LONGEST_CODE:
        return [text]
    try:
        value_column, breaks = _find_breaks(text)
    except tokenize.TokenError:  # parentheses that nest too deeply for Python, which compiling the text reports
        return [text]
    if value_column and any(place.depth == 0 and place.column > value_column for place in breaks):
        text = f"{text[:value_column]}({text[value_column:]})"
        _, breaks = _find_breaks(text)
    margin = " " * (8 if _HEADER.match(text) else 4)
    breaks = [place for place in breaks if place.depth]
    lines: list[str] = []
    start = first = 0
    while len(text) - start > (limit := width - len(margin) * bool(lines)):
        first = bisect_right(breaks, start, lo=first, key=lambda place: place.column)
        last = bisect_right(breaks, start + limit, lo=first, key=lambda place: place.column)
        candidates = breaks[first : max(last, first + 1)]  # one beyond the limit if none is within
        if not candidates:
            break
        place = _best_break(candidates, start + _PREFERRED_COLUMN)
        lines.append(text[start : place.column].rstrip())
        start = place.column
    return [line if i == 0 else f"{' ' * indentation}{margin}{line}" for i, line in enumerate([*lines, text[start:]])]


def _best_break(candidates: list[_Break], preferred_column: int) -> _Break:
    """Return the last of the outermost breaks, if possible at or after a column; commas are preferred to operators."""
    later = [place for place in candidates if place.column >= preferred_column] or candidates
    return min(later, key=lambda place: (place.depth, place.is_operator, -place.column))


def _find_breaks(text: str) -> tuple[int, list[_Break]]:
    """Return the column of the statement's value, 0 if it may not be put in parentheses, and all breaks in order."""
    start_of_value = _BEFORE_VALUE.match(text)
    value_column = start_of_value.end() if start_of_value else 0
    breaks, depth = [], 0
    lambda_depths: list[int] = []  # of the lambdas whose parameters are being read
    for token, column, end in _tokens(text):
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == "lambda":
            lambda_depths.append(depth)
        elif token == ":" and lambda_depths and lambda_depths[-1] == depth:
            lambda_depths.pop()
        is_spaced = text[column - 1 : column] == " " == text[end : end + 1]
        if token == "," and text[end : end + 1] == " " and depth not in lambda_depths:
            breaks.append(_Break(end + 1, depth, is_operator=False))
        elif is_spaced and token in _ASSIGNMENTS and depth == 0 and not start_of_value:
            value_column = end + 1
        elif is_spaced and token in _OPERATORS | _WORDS:
            breaks.append(_Break(column, depth, is_operator=True))
    return value_column, breaks


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each name and operator outside of strings, with its first column and the column after it."""
    open_strings = 0  # f-strings, which have tokens of their own from Python 3.12 on
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        open_strings += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if not open_strings and kind in ("OP", "NAME"):
            yield token.string, token.start[1], token.end[1]
