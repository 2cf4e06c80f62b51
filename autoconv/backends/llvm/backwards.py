"""Loops that go backwards over memory, with how many elements they are to take at a time.

LLVM asks two models of cost which number suits a loop. Built with assertions, as llvmlite has it, it ends the
process when they disagree: they do for some loops whose count it knows and that go over memory from its end (`x[::-1]`
of 30 numbers). Of a loop that says the number it asks neither.
"""

from __future__ import annotations

import re

# What makes an index that falls while a counter grows.
_FALLING = re.compile(
    r"mul (?:nsw )?i64 (?:%\S+, -\d|-\d+, %)|sub (?:nsw )?i64 \S+, %|xor i64 %\S+, -1"
    r"|add (?:nsw )?i64 %\S+, -1\b|s(?:sub|mul)\.with\.overflow\.i64"
)
_LABEL = re.compile(r"([\w.$-]+):$")
_BRANCH = re.compile(r"  br .*")
_TARGET = re.compile(r"label %([\w.$-]+)")
_MARKED = re.compile(r"(, !llvm\.loop )!\w+$")
_LOOP = ", !llvm.loop "
FOUR, EIGHT = "!FOUR", "!EIGHT"  # stand for the marks of such loops
MARKS = {
    mark: f'!{{!"llvm.loop.unroll.disable"}}, !{{!"llvm.loop.vectorize.width", i32 {count}}}'
    for mark, count in ((FOUR, 4), (EIGHT, 8))
}


def with_widths(function: str) -> str:
    """The text of a function, whose loops say a width if one of them may go backwards."""
    if not _FALLING.search(function):
        return function
    mark = FOUR if "double" in function or "load i64" in function else EIGHT
    seen: set[str] = set()
    lines = []
    for line in function.split("\n"):
        label = _LABEL.match(line)
        if label is not None:
            seen.add(label[1])
        elif _BRANCH.match(line):
            if _MARKED.search(line):
                line = _MARKED.sub(rf"\1{mark}", line)
            elif seen.intersection(_TARGET.findall(line)):
                line += _LOOP + mark
        lines.append(line)
    return "\n".join(lines)


__all__ = ["EIGHT", "FOUR", "MARKS", "with_widths"]
