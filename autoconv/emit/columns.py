"""Column positions in code of converted modules, whose line tables hold lines only.

They are computed when an error needs them: the words of an emitted line are aligned with those of its source line, so
`ag__.call(f)(x, y)` matches `f(x, y)`. Where the result is not one contiguous piece of the source line there is no
column, so that no caret marks wrong words.
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

LineReader = Callable[[int], str]
_WORD = re.compile(r"""[^\W\d]\w*|\d[\w.]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\*\*|//|[<>=!]=|\S""")
_CLOSING_BRACKETS = {"(": ")", "[": "]", "{": "}"}
# Punctuation that may separate matched words, since operators replace it.
_SEPARATORS = frozenset("()[],")

# By id: the code with the user's lines, the code as compiled from emitted text, and the lines of that text.
_EMITTED_BY_ID: dict[int, tuple[CodeType, CodeType, LineReader]] = {}
# By the user's file: modules whose emitted text is compiled again when its columns are first needed.
_PENDING_MODULES: dict[str, list[tuple[CodeType, str]]] = {}


def register_columns(code: CodeType, emitted_code: CodeType, line_reader: LineReader) -> None:
    """Register the code compiled from emitted text, which has columns, for its copy with the user's lines.

    Do the same for the code nested in both.
    """
    _EMITTED_BY_ID[id(code)] = code, emitted_code, line_reader
    nested_code, nested_emitted_code = _nested_code(code), _nested_code(emitted_code)
    if len(nested_code) == len(nested_emitted_code):  # Python merges two functions that differed only in their columns
        for inner_code, inner_emitted in zip(nested_code, nested_emitted_code, strict=True):
            register_columns(inner_code, inner_emitted, line_reader)


def register_module_text(code: CodeType, text: str) -> None:
    """Register the code of a module and the text that it was compiled from, as `register_columns` does for code."""
    _PENDING_MODULES.setdefault(code.co_filename, []).append((code, text))


def instruction_columns(code: CodeType, instruction_offset: int, line: int) -> tuple[int, int] | None:
    """Return the 0-based columns in the user's line of the instruction at this byte offset; None if unknown."""
    if id(code) not in _EMITTED_BY_ID:
        for module_code, text in _PENDING_MODULES.pop(code.co_filename, ()):
            with without_warnings():
                newly_emitted = compile(text, code.co_filename, "exec", dont_inherit=True)
            register_columns(module_code, newly_emitted, functools.partial(_line_text, text.split("\n")))
    if id(code) not in _EMITTED_BY_ID:
        return None
    _, emitted_code, line_reader = _EMITTED_BY_ID[id(code)]
    positions = itertools.islice(emitted_code.co_positions(), instruction_offset // 2, None)  # a code unit has 2 bytes
    first_line, last_line, start_column, end_column = next(positions, (None,) * 4)
    if start_column is None or end_column is None:
        return None
    if first_line is None or first_line != last_line:
        return None
    return match_columns(line_reader(first_line), start_column, end_column, linecache.getline(code.co_filename, line))


def match_columns(emitted_line: str, start: int, end: int, source_line: str) -> tuple[int, int] | None:
    """Return the columns (start, end) of a source line that correspond to those of its emitted line.

    Columns are 0-based. The result is None where the corresponding words are not contiguous in the source line.
    """
    if not (emitted_line.isascii() and source_line.isascii()):
        return None
    source_words = list(_WORD.finditer(source_line.rstrip()))
    matches = _matching_words(emitted_line, source_line.rstrip())
    matched_indices = {index for word_start, index in matches if start <= word_start < end}
    if not matched_indices:
        return None
    first_index, last_index = min(matched_indices), max(matched_indices)
    unmatched_indices = set(range(first_index, last_index)) - matched_indices
    if any(source_words[index].group() not in _SEPARATORS for index in unmatched_indices):
        return None
    words = source_words[first_index : last_index + 1]
    while _unmatched_bracket(words) >= 0 and len(words) < len(source_words) - first_index:
        # `ag__.get_item(x, i)` matches the words `x[i` of the source; the bracket that closes them is added.
        next_word = source_words[first_index + len(words)]
        if _CLOSING_BRACKETS.get(words[_unmatched_bracket(words)].group()) != next_word.group():
            break
        words.append(next_word)
    words = _strip_unmatched_brackets(words)
    return (words[0].start(), words[-1].end()) if words else None


@functools.lru_cache(256)
def _matching_words(emitted_line: str, source_line: str) -> list[tuple[int, int]]:
    """Return (start of a word of the emitted line, index of the matching word of the source line), in order."""
    emitted_words, source_words = list(_WORD.finditer(emitted_line)), list(_WORD.finditer(source_line))
    texts = [*map(_bare_text, emitted_words)], [*map(_bare_text, source_words)]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    return [
        (emitted_words[block.a + offset].start(), block.b + offset)
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    ]


def _bare_text(word: re.Match[str]) -> str:
    """Return a word, without its quotes if it is a string."""
    text = word.group()
    return text[1:-1] if text[0] in "\"'" and len(text) > 1 else text


def _strip_unmatched_brackets(words: list[re.Match[str]]) -> list[re.Match[str]]:
    """Strip brackets at either end whose partner is not among the words."""
    words = list(words)
    while words and _unmatched_bracket(words) in (0, len(words) - 1):
        del words[_unmatched_bracket(words)]
    return words


def _unmatched_bracket(words: list[re.Match[str]]) -> int:
    """Return the index of the first unopened closing bracket, or else of the last unclosed one; -1 if none."""
    open_positions: list[int] = []
    for position, word in enumerate(words):
        text = word.group()
        if text in _CLOSING_BRACKETS:
            open_positions.append(position)
        elif text in _CLOSING_BRACKETS.values():
            if not open_positions:
                return position
            open_positions.pop()
    return open_positions[-1] if open_positions else -1


def _nested_code(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _line_text(lines: list[str], line: int) -> str:
    return lines[line - 1] if 0 < line <= len(lines) else ""
