"""Regular expressions in RE2's syntax, which TensorFlow's ops of strings take, matched by Python's `re`.

A pattern is translated; it applies to texts as code points. The classes `\\d`, `\\s`, `\\w` and the boundary `\\b` are
those of ASCII. `$` is the end of the text alone, and flags hold up to the end of their group. There are POSIX classes,
Unicode's categories and quotations (`\\Q…\\E`), but neither look-around nor references to groups.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from itertools import accumulate, groupby

from autoconv.errors import InvalidArgumentError

_MAX_POINT = sys.maxunicode
_ALL_POINTS = range(_MAX_POINT + 1)
_MAX_COUNT = 1000  # the greatest number of repetitions that RE2 accepts

Ranges = tuple[tuple[int, int], ...]  # the first and the last code points of ascending ranges

_PERL_CLASSES: dict[str, Ranges] = {
    "d": ((48, 57),),
    "s": ((9, 10), (12, 13), (32, 32)),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
}
_POSIX_CLASSES: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)), "alpha": ((65, 90), (97, 122)), "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 31), (127, 127)), "digit": ((48, 57),), "graph": ((33, 126),),
    "lower": ((97, 122),), "print": ((32, 126),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "upper": ((65, 90),), "word": _PERL_CLASSES["w"],
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}  # fmt: skip
_CONTROL_CHARACTERS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_QUANTIFIER = re.compile(r"[*+?]|\{(\d+)(?:,(\d*))?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")


def replace(item: bytes, pattern: str, rewrite: str, replace_global: bool) -> bytes:
    """Replace the first match or all; `\\\\0` to `\\\\9` in `rewrite` stand for the match and for its groups.

    An empty match where the previous match ends is left out. A rewrite with the number of a group that the pattern
    does not have replaces nothing.
    """
    compiled = _compiled(pattern)
    parts = _rewrite_parts(rewrite)
    if any(isinstance(part, int) and part > compiled.groups for part in parts):
        return item
    text, pieces = item.decode("utf-8", "surrogateescape"), []
    last_end: int | None = None  # the end of the last replaced match
    for match in compiled.finditer(text):
        if match.start() == match.end() == last_end:
            continue
        pieces.append(text[last_end or 0 : match.start()])
        pieces += [part if isinstance(part, str) else match.group(part) or "" for part in parts]
        last_end = match.end()
        if not replace_global:
            break
    return "".join([*pieces, text[last_end or 0 :]]).encode("utf-8", "surrogateescape")


def matches(item: bytes, pattern: str) -> bool:
    """Return whether the pattern matches the whole text."""
    return _compiled(pattern).fullmatch(item.decode("utf-8", "surrogateescape")) is not None


def _rewrite_parts(rewrite: str) -> list[str | int]:
    """Return the texts, and the numbers of groups, in a rewrite; a backslash before another character ends it."""
    parts: list[str | int] = []
    for text, escaped in re.findall(r"([^\\]+)|\\(.?)", rewrite, re.DOTALL):
        if text or escaped == "\\":
            parts.append(text or escaped)
        elif escaped and escaped in "0123456789":
            parts.append(int(escaped))
        else:
            break
    return parts


@functools.lru_cache(256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled for `re`; raises InvalidArgumentError for what RE2 does not accept."""
    try:
        return re.compile(_Translation(pattern).result())
    except re.error as error:
        raise InvalidArgumentError(f"Invalid pattern: {pattern}, error: {error}") from None


class _Translation:
    """The translation of one pattern, read from left to right.

    `_scopes` has a pair for each open group: the flags that hold in it, and the groups `(?i:` and `(?-i:` that flags
    within it have opened. These are closed before an alternative and opened again after it.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._scopes: list[tuple[frozenset[str], list[str]]] = [(frozenset(), [])]

    def result(self) -> str:
        """Return the pattern for `re`; a missing parenthesis raises."""
        pieces = []
        while self._position < len(self._pattern):
            pieces.append(self._next_piece())
        if len(self._scopes) > 1:
            raise self._error("missing )")
        return "".join(pieces) + ")" * len(self._scopes[-1][1])

    def _error(self, reason: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"Invalid pattern: {self._pattern}, error: {reason}")

    def _next_piece(self) -> str:
        """Translate the next element of the pattern."""
        character = self._pattern[self._position]
        flags, opened = self._scopes[-1]
        if character == "(":
            return self._open_group()
        self._position += 1
        if character == "|":
            return ")" * len(opened) + "|" + "".join(opened)
        if character == ")":
            if len(self._scopes) == 1:
                raise self._error("unexpected )")
            self._scopes.pop()
            return ")" * (len(opened) + 1) + self._quantifier()
        if character == "^":
            return "(?m:^)" if "m" in flags else r"\A"
        if character == "$":
            return r"(?=\n|\Z)" if "m" in flags else r"\Z"
        if character == ".":
            return ("(?s:.)" if "s" in flags else r"[^\n]") + self._quantifier()
        if character == "[":
            return self._class() + self._quantifier()
        if character == "\\":
            return self._escape() + self._quantifier()
        if character in "*+?":
            raise self._error(f"no argument for repetition operator: {character}")
        return re.escape(character) + self._quantifier()

    def _open_group(self) -> str:
        """Translate the beginning of a group, or flags up to the end of the group around them."""
        remaining_pattern = self._pattern[self._position :]
        flags, opened = self._scopes[-1]
        found = _FLAGS.match(remaining_pattern)
        if found is None:
            named = re.match(r"\((?:\?P<\w+>)?", remaining_pattern)
            beginning = named[0] if named else "("
            if beginning == "(" and remaining_pattern.startswith("(?"):
                raise self._error(f"invalid perl operator: {remaining_pattern[:3]}")
            self._position += len(beginning)
            self._scopes.append((flags, []))
            return beginning
        self._position += found.end()
        new_flags = (flags | set(found[1])) - set(found[2] or "")
        case_group = "(?:" if ("i" in flags) == ("i" in new_flags) else "(?i:" if "i" in new_flags else "(?-i:"
        if found[3] == ":":
            self._scopes.append((new_flags, []))
            return case_group
        self._scopes[-1] = (new_flags, [*opened, case_group])
        return case_group

    def _quantifier(self) -> str:
        """Translate the repetition that follows, if there is one; `U` swaps greedy and lazy ones."""
        found = _QUANTIFIER.match(self._pattern, self._position)
        if found is None:
            return ""
        if any(count and int(count) > _MAX_COUNT for count in found.groups()):
            raise self._error(f"invalid repetition size: {found[0]}")
        is_lazy = self._pattern.startswith("?", found.end())
        self._position = found.end() + is_lazy
        following = _QUANTIFIER.match(self._pattern, self._position)
        if following is not None:
            raise self._error(f"bad repetition operator: {found[0]}{following[0]}")
        return found[0] + "?" * (is_lazy != ("U" in self._scopes[-1][0]))

    def _escape(self) -> str:
        """Translate what follows a backslash outside of brackets."""
        character = self._pattern[self._position : self._position + 1]
        if character == "Q":
            end = self._pattern.find(r"\E", self._position)
            end = len(self._pattern) if end < 0 else end
            text = self._pattern[self._position + 1 : end]
            self._position = end + 2
            return re.escape(text)
        if character and character in "AbBz":
            self._position += 1
            return {"A": r"\A", "z": r"\Z"}.get(character, f"(?a:\\{character})")
        ranges = self._class_escape()
        return f"[{_ranges_text(ranges)}]" if ranges is not None else re.escape(chr(self._character_escape()))

    def _class_escape(self) -> Ranges | None:
        """Return the code points of a class such as `\\d` or `\\pL`, whose backslash has been read; None for others."""
        character = self._pattern[self._position : self._position + 1]
        if character.lower() in _PERL_CLASSES:
            self._position += 1
            ranges = _PERL_CLASSES[character.lower()]
            return ranges if character.islower() else _complement(ranges)
        if character not in ("p", "P"):
            return None
        found = re.compile(r"[pP](?:\{(\^?)(\w+)\}|(\w))").match(self._pattern, self._position)
        if found is None:
            raise self._error(f"invalid character class range: \\{character}")
        self._position = found.end()
        name = found[2] or found[3]
        if name != "Any" and not re.fullmatch("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?", name):
            raise self._error(f"\\{found[0]} is none of Unicode's categories, such as L and Lu: write ranges")
        ranges = _category(name)
        return ranges if (character == "p") != bool(found[1]) else _complement(ranges)

    def _character_escape(self) -> int:
        """Return the code point of an escape whose backslash has been read."""
        found = re.compile(
            r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2})|([afnrtv])|([\x00-\x7f])"
        ).match(self._pattern, self._position)
        if found is None or (found[5] and found[5].isalnum()):
            character = self._pattern[self._position : self._position + 1]
            raise self._error(f"invalid escape sequence: \\{character}" if character else "trailing \\")
        self._position = found.end()
        if found[1] or found[2]:
            return int(found[1] or found[2], 16)
        return int(found[3], 8) if found[3] else _CONTROL_CHARACTERS[found[4]] if found[4] else ord(found[5])

    def _class(self) -> str:
        """Translate a class in brackets, whose first bracket has been read."""
        start = self._position - 1
        is_negated = self._pattern.startswith("^", self._position)
        self._position += is_negated
        pieces: list[str] = []
        is_first = True
        while is_first or not self._pattern.startswith("]", self._position):
            if self._position >= len(self._pattern):
                raise self._error(f"missing ]: {self._pattern[start:]}")
            pieces.append(_ranges_text(self._class_item()))
            is_first = False
        self._position += 1
        return f"[{'^' * is_negated}{''.join(pieces)}]" if any(pieces) else r"[^\x00-\U0010ffff]"

    def _class_item(self) -> Ranges:
        """Return the code points of one item in brackets: a class, a range or a character."""
        found = re.compile(r"\[:(\^?)(\w+):\]").match(self._pattern, self._position)
        if found is not None:
            if found[2] not in _POSIX_CLASSES:
                raise self._error(f"invalid character class range: {found[0]}")
            self._position = found.end()
            return _complement(_POSIX_CLASSES[found[2]]) if found[1] else _POSIX_CLASSES[found[2]]
        start = self._position
        if self._pattern[start] == "\\":
            self._position += 1
            ranges = self._class_escape()
            if ranges is not None:
                return ranges
            self._position = start
        first = last = self._class_character()
        if self._pattern.startswith("-", self._position) and self._pattern[self._position + 1 :][:1] not in ("]", ""):
            self._position += 1
            last = self._class_character()
        if last < first:
            raise self._error(f"invalid character class range: {self._pattern[start : self._position]}")
        return ((first, last),)

    def _class_character(self) -> int:
        """Return the code point of a character in brackets."""
        self._position += 1
        character = self._pattern[self._position - 1]
        return self._character_escape() if character == "\\" else ord(character)


def _ranges_text(ranges: Ranges) -> str:
    """Return ranges as items of a class in brackets."""
    return "".join(f"\\U{first:08x}" if first == last else f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _complement(ranges: Ranges) -> Ranges:
    """Return the ranges of all other code points."""
    firsts = [0, *(last + 1 for _, last in ranges)]
    lasts = [*(first - 1 for first, _ in ranges), _MAX_POINT]
    return tuple((first, last) for first, last in zip(firsts, lasts, strict=True) if first <= last)


@functools.cache
def _category(name: str) -> Ranges:
    """Return the ranges of code points whose Unicode category begins with the name, or all for "Any"."""
    if name == "Any":
        return ((0, _MAX_POINT),)
    return tuple((first, last) for category, first, last in _categories() if category.startswith(name))


@functools.cache
def _categories() -> list[tuple[str, int, int]]:
    """Return the runs of code points of one Unicode category: its name, the first and the last code point."""
    lengths = [(name, sum(1 for _ in run)) for name, run in groupby(map(unicodedata.category, map(chr, _ALL_POINTS)))]
    ends = list(accumulate(length for _, length in lengths))
    return [(name, end - length, end - 1) for (name, length), end in zip(lengths, ends, strict=True)]
