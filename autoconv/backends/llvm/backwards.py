"""Loops that go backwards over memory, whose counts LLVM is not told.

It asks two models of cost how many elements a loop is to take at a time. Built with assertions, as llvmlite has it, it
ends the process when they disagree: they do for some loops that go over memory from its end (`x[::-1]` of 30 numbers),
if it knows how often. So the counts in such functions are numbers that it has to read.
"""

from __future__ import annotations

import re

# A stride that is negative, times a counter.
_FALLING = re.compile(r"mul nsw i64 %\S+, -\d")
_COUNT = re.compile(r"(= icmp slt i64 %\S+, )(\d+)$", re.MULTILINE)
_ENTRY = "\nentry:\n"
_FEWEST = 4  # below, no loop is worth taking several elements at a time


def with_hidden_counts(function: str) -> str:
    """The text of a function; of one with an index that may fall, without the numbers that loops are compared with."""
    if not _FALLING.search(function):
        return function
    counts: set[int] = set()

    def hidden(found: re.Match[str]) -> str:
        count = int(found[2])
        if count < _FEWEST:
            return found[0]
        counts.add(count)
        return f"{found[1]}%count{count}"

    text = _COUNT.sub(hidden, function)
    if not counts:
        return function
    lines = ["%zero.place = alloca i64", "store volatile i64 0, ptr %zero.place"]
    lines.append("%zero = load volatile i64, ptr %zero.place")
    lines += [f"%count{count} = add nuw nsw i64 %zero, {count}" for count in sorted(counts)]
    return text.replace(_ENTRY, _ENTRY + "".join(f"  {line}\n" for line in lines), 1)


__all__ = ["with_hidden_counts"]
