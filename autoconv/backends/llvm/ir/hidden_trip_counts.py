"""Hide constant trip counts of loops with falling addresses from LLVM.

LLVM consults two cost models for the vectorisation factor. Built with assertions, as in llvmlite, it aborts when they
disagree. They do for some loops over memory from its end (`x[::-1]` of 30 numbers) with a known trip count. The counts
in such functions are therefore loaded from memory.
"""

from __future__ import annotations

import re

# A negative stride times a counter.
_FALLING = re.compile(r"mul nsw i64 %\S+, -\d")
_COUNT = re.compile(r"(= icmp slt i64 %\S+, )(\d+)$", re.MULTILINE)
_ENTRY = "\nentry:\n"
_FEWEST = 4  # trip count below which no loop is vectorised


def with_hidden_counts(function: str) -> str:
    """Return the text of a function; if an index in it may fall, with loops compared to loaded counts."""
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
