"""Hide constant trip counts of loops with falling addresses from LLVM.

LLVM consults two cost models for the vectorisation factor. Built with assertions, as in llvmlite, it aborts when they
disagree. They do for some loops over memory from its end (`x[::-1]` of 30 numbers) with a known trip count. The counts
in such functions are therefore loaded from memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

_MIN_VECTORISED_TRIPS = 4  # trip count below which no loop is vectorised


class TripTest(str):
    """The line that compares a counter with a constant trip count."""

    __slots__ = ("test", "trip_count")

    test: str  # the line without the count, which is its last operand
    trip_count: int

    @classmethod
    def of(cls, test: str, trip_count: str) -> TripTest:
        line = cls(f"{test}{trip_count}")
        line.test, line.trip_count = test, int(trip_count)
        return line


def hide_trip_counts(lines: Sequence[str]) -> list[str]:
    """Return the lines of a function, with the constant trip counts of its loops replaced by loaded ones."""
    counts = sorted({line.trip_count for line in lines if _is_hidden(line)})
    if not counts:
        return [*lines]
    entry_instructions = ["%zero.place = alloca i64", "store volatile i64 0, ptr %zero.place"]
    entry_instructions.append("%zero = load volatile i64, ptr %zero.place")
    entry_instructions += [f"%count{count} = add nuw nsw i64 %zero, {count}" for count in counts]
    entry, *further_lines = lines
    return [entry, *(f"  {line}" for line in entry_instructions), *map(_hide_trip_count, further_lines)]


def _is_hidden(line: str) -> TypeGuard[TripTest]:
    return isinstance(line, TripTest) and line.trip_count >= _MIN_VECTORISED_TRIPS


def _hide_trip_count(line: str) -> str:
    return f"{line.test}%count{line.trip_count}" if _is_hidden(line) else line
