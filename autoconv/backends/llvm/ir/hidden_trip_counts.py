"""Hide constant trip counts of loops with falling addresses from LLVM.

LLVM consults two cost models for the vectorisation factor. Built with assertions, as in llvmlite, it aborts when they
disagree. They do for some loops over memory from its end (`x[::-1]` of 30 numbers) with a known trip count. The counts
in such functions are therefore loaded from memory.
"""

from __future__ import annotations

from collections.abc import Sequence

_FEWEST = 4  # trip count below which no loop is vectorised


class TripTest(str):
    """The line that compares a counter with a constant trip count."""

    __slots__ = ("test", "turns")

    test: str  # without the count
    turns: int

    @classmethod
    def of(cls, test: str, turns: str) -> TripTest:
        line = cls(f"{test}{turns}")
        line.test, line.turns = test, int(turns)
        return line


def with_hidden_counts(lines: Sequence[str]) -> list[str]:
    """Return the lines of a function with loops compared to loaded counts."""
    counts = sorted({line.turns for line in lines if isinstance(line, TripTest) and line.turns >= _FEWEST})
    if not counts:
        return [*lines]
    start = ["%zero.place = alloca i64", "store volatile i64 0, ptr %zero.place"]
    start.append("%zero = load volatile i64, ptr %zero.place")
    start += [f"%count{count} = add nuw nsw i64 %zero, {count}" for count in counts]
    entry, *others = lines
    return [entry, *(f"  {line}" for line in start), *map(_hide_trip_count, others)]


def _hide_trip_count(line: str) -> str:
    return f"{line.test}%count{line.turns}" if isinstance(line, TripTest) and line.turns >= _FEWEST else line


__all__ = ["TripTest", "with_hidden_counts"]
