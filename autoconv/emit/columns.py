"""Columns for code of converted modules, whose line tables know the user's lines only: found when an error needs them.

The words of an emitted line are matched with those of the user's line it came from: what is left of
`ag__.call(f)(x, y)` is `f(x, y)`. Where that is not one piece of the user's line there is no column, so that no caret
ever stands under the wrong words.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import linecache
import re
from collections.abc import Callable
from types import CodeType

from autoconv.process_state import without_warnings

Lines = Callable[[int], str]
_WORD = re.compile(r"""[^\W\d]\w*|\d[\w.]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\*\*|//|[<>=!]=|\S""")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
# What an operator stands for: the user's words around it may be parted by these.
_BETWEEN = frozenset("()[],")

# By identity: the code that runs, as it was compiled from emitted text, and the lines of that.
_EMITTED: dict[int, tuple[CodeType, CodeType, Lines]] = {}
# By the user's file: modules whose emitted text is compiled again when the first of them is asked for.
_WAITING: dict[str, list[tuple[CodeType, str]]] = {}


def remember(code: CodeType, emitted: CodeType, lines: Lines) -> None:
    """Notes what code, and what is nested in it, was before it was moved to the user's lines."""
    _EMITTED[id(code)] = code, emitted, lines
    inside, before = _nested(code), _nested(emitted)
    if len(inside) == len(before):  # Python makes one of two functions that only their columns told apart
        for inner, inner_before in zip(inside, before, strict=True):
            remember(inner, inner_before, lines)


def remember_text(code: CodeType, text: str) -> None:
    """As `remember`, for the code of a module and the text that it was compiled from at other places."""
    _WAITING.setdefault(code.co_filename, []).append((code, text))


def columns(code: CodeType, instruction: int, line: int) -> tuple[int, int] | None:
    """Where on the user's line, counted from 0, an instruction of converted code is; None where that is not known."""
    if id(code) not in _EMITTED:
        for module, text in _WAITING.pop(code.co_filename, ()):
            with without_warnings():
                emitted = compile(text, code.co_filename, "exec", dont_inherit=True)
            remember(module, emitted, functools.partial(_row, text.split("\n")))
    if id(code) not in _EMITTED:
        return None
    _, before, lines = _EMITTED[id(code)]
    first, last, start, end = next(itertools.islice(before.co_positions(), instruction // 2, None), (None,) * 4)
    if first is None or first != last or start is None or end is None:
        return None
    return matched(lines(first), start, end, linecache.getline(code.co_filename, line))


def matched(emitted: str, start: int, end: int, source: str) -> tuple[int, int] | None:
    """The part of a source line that is left of a part of an emitted line."""
    if not (emitted.isascii() and source.isascii()):
        return None
    theirs = list(_WORD.finditer(source.rstrip()))
    found = {position for word, position in _matches(emitted, source.rstrip()) if start <= word < end}
    if not found:
        return None
    first, last = min(found), max(found)
    if any(theirs[position].group() not in _BETWEEN for position in set(range(first, last)) - found):
        return None
    words = theirs[first : last + 1]
    while _unpaired(words) >= 0 and len(words) < len(theirs) - first:  # `x[i]` is what ag__.get_item(x, i) was
        following = theirs[first + len(words)]
        if _PAIRS.get(words[_unpaired(words)].group()) != following.group():
            break
        words.append(following)
    words = _balanced(words)
    return (words[0].start(), words[-1].end()) if words else None


@functools.lru_cache(256)
def _matches(emitted: str, source: str) -> list[tuple[int, int]]:
    """(where a word of the emitted line starts, which word of the source line it is), in order."""
    ours, theirs = list(_WORD.finditer(emitted)), list(_WORD.finditer(source))
    matcher = difflib.SequenceMatcher(None, [*map(_meaning, ours)], [*map(_meaning, theirs)], autojunk=False)
    return [
        (ours[block.a + offset].start(), block.b + offset)
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    ]


def _meaning(word: re.Match[str]) -> str:
    """The same for a text in either kind of quotes."""
    text = word.group()
    return text[1:-1] if text[0] in "\"'" and len(text) > 1 else text


def _balanced(words: list[re.Match[str]]) -> list[re.Match[str]]:
    """The words without a bracket at either end that has no partner among them."""
    words = list(words)
    while words and _unpaired(words) in (0, len(words) - 1):
        del words[_unpaired(words)]
    return words


def _unpaired(words: list[re.Match[str]]) -> int:
    """The position of the first bracket that is closed but not opened, or the last that is not closed; -1 for none."""
    opened: list[int] = []
    for position, word in enumerate(words):
        text = word.group()
        if text in _PAIRS:
            opened.append(position)
        elif text in _PAIRS.values():
            if not opened:
                return position
            opened.pop()
    return opened[-1] if opened else -1


def _nested(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _row(rows: list[str], line: int) -> str:
    return rows[line - 1] if 0 < line <= len(rows) else ""
