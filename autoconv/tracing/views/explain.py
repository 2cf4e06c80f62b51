"""The text of `f.explain()`: why traces were made, and why calls ran as plain Python."""

from __future__ import annotations

import os
import re
import weakref
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autoconv.graph.graph import Graph, Span
from autoconv.lazy_dataclass import dataclass, field
from autoconv.optimise.kept_lists import find_kept_lists
from autoconv.tracing.views.html import function_html

_MAX_ROWS = 256  # traces, and calls that ran as plain Python
_MAX_SHOWN_OPS = 8  # ops of one trace that run by kernels
_MAX_MEASUREMENTS = 8  # latest choices between graph and plain Python that are shown


class Row:
    """A numbered row of the explanation: a trace, by a weak reference, and the reason for it."""

    __slots__ = ("_concrete", "number", "reason")

    def __init__(self, reason: str, concrete: Any) -> None:
        self.reason = reason
        self.number = 0
        self._concrete = weakref.ref(concrete)

    def concrete(self) -> Any:
        """Return the trace, or None if the cache has dropped it."""
        return self._concrete()

    def lines(self) -> list[str]:
        """Return the lines of the row in the text."""
        concrete = self._concrete()
        if concrete is None:
            return [f"  {self.number}. {self.reason}: dropped from the cache since"]
        signature = concrete.pretty_printed_signature(verbose=False)
        node_count = sum(1 for _ in concrete.recorded.walk())
        headline = f"  {self.number}. {self.reason}: {signature}, {node_count} node{'' if node_count == 1 else 's'}"
        unguarded_lines = [f"     not guarded: {description}" for description in concrete.guards.unguarded]
        size_lines = [f"     {note}" for note in concrete.size_notes]
        list_lines = _kept_list_lines(concrete.optimised) if concrete.contract.runs_plain else []
        kernel_lines = _kernel_lines(concrete.fallback_kernel_calls)
        return [headline, *unguarded_lines, *size_lines, *list_lines, *kernel_lines]


def _kept_list_lines(graph: Graph) -> list[str]:
    """Return a line for each reason why lists of tuples, dicts and sets stay Python objects."""
    places = [(reason, _place_text(span)) for reason, span in find_kept_lists(graph)]
    return [f"     {reason}{place and f' ({place})'}" for reason, place in places]


def _place_text(span: Span | None) -> str:
    """Return the file and line of a span; no text for None."""
    return "" if span is None else f"{os.path.basename(span.file)}:{span.line}"


def _kernel_lines(calls: Sequence[tuple[str, Any]]) -> list[str]:
    """Return a line that counts the ops that run by kernels, with their source lines; no line if there are none.

    `calls` has the name and the span of each op.
    """
    if not calls:
        return []
    counts = Counter((name, _place_text(span)) for name, span in calls)
    op_texts = [
        name + (f" ({source_line})" if source_line else "") + (f" x{count}" if count > 1 else "")
        for (name, source_line), count in list(counts.items())[:_MAX_SHOWN_OPS]
    ]
    if len(counts) > _MAX_SHOWN_OPS:
        op_texts.append(f"and {len(counts) - _MAX_SHOWN_OPS} more")
    return [f"     {len(calls)} by kernels: {', '.join(op_texts)}"]


class Reasons:
    """The reasons why calls ran as plain Python, each once, with the number of its calls."""

    def __init__(self) -> None:
        # The key under which equal reasons are counted -> (the first of these reasons, their number).
        self._counts: dict[str, tuple[str, int]] = {}

    def append(self, reason: str) -> None:
        """Count a call with this reason."""
        # Reasons with this prefix count as equal if they differ in numbers only.
        key = _DIGITS.sub("", reason) if reason.startswith(_ONE_CALL_PREFIX) else reason
        shown_reason, count = self._counts.pop(key, (reason, 0))
        self._counts[key] = shown_reason, count + 1
        if len(self._counts) > _MAX_ROWS:
            del self._counts[next(iter(self._counts))]

    def __contains__(self, reason: str) -> bool:
        return reason in self._counts

    def __iter__(self) -> Iterator[str]:
        for reason, count in self._counts.values():
            if count == 1:
                yield reason
            elif reason.startswith(_ONE_CALL_PREFIX):
                yield f"{reason}; and {count - 1} more like it"
            else:
                yield f"{reason} ({count} times)"


_ONE_CALL_PREFIX = "one call: "  # begins a reason that holds for a single call, such as a value in it
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Explanation:
    """The history of a function's traces, as shown by `explain`.

    `plain` has the reasons why calls ran as plain Python, `arrays_as_objects` why arrays were passed as Python objects,
    and `exact_size_reasons` why each shape has its own trace. `times` are the measurements that chose between the graph
    and plain Python.
    """

    name: str
    count: int = 0  # traces so far, dropped ones included
    rows: deque[Row] = field(default_factory=lambda: deque(maxlen=_MAX_ROWS))
    plain: Reasons = field(default_factory=Reasons)
    arrays_as_objects: Reasons = field(default_factory=Reasons)
    faults: Counter[str] = field(default_factory=Counter)  # internal errors of this package, by text
    exact_size_reasons: Reasons = field(default_factory=Reasons)
    times: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_MEASUREMENTS))

    def add(self, row: Row) -> None:
        """Number and append the row of a new trace."""
        self.count += 1
        row.number = self.count
        self.rows.append(row)

    def record_times(self, kind: str, times: str, is_plain: bool) -> None:
        """Record whether calls of a kind run as plain Python from now on, and the `times` that decided it."""
        choice = "plain Python, which is quicker" if is_plain else "the graph"
        self.times.append(f"{kind} runs {choice}: {times}")

    def record_presumption(self, kind: str) -> None:
        """Record that calls of a kind run as plain Python for now, because a trace may take longer than it saves."""
        note = f"{kind} runs plain Python until such calls have taken as long as a trace"
        if note not in self.times:
            self.times.append(note)

    def why(self, call: Any, cache: Mapping[Any, Any]) -> str:
        """Return the reason for the trace that is about to be made for a call; `cache` has the traces by key."""
        if call.key in cache:
            changed_inputs = {concrete.guards.find_change() for concrete in cache[call.key]} - {""}
            return f"{', '.join(sorted(changed_inputs))} changed"
        if not cache:
            return "first call"
        latest_key = next(reversed(cache))
        if latest_key.templates != call.key.templates or len(latest_key.leaves) != len(call.key.leaves):
            return "the structure of the arguments differs"
        for name, old_leaf, new_leaf in zip(call.names, latest_key.leaves, call.key.leaves, strict=True):
            if old_leaf != new_leaf:
                return f"{name} is {new_leaf}, was {old_leaf}"
        return "the trace was dropped from the cache"

    def html(self, title: str) -> str:
        """Return the explanation as HTML for notebooks, with that title."""
        rows = [(row.number, row.reason, row.concrete()) for row in self.rows]
        return function_html(f"{title}: {self.count} trace{'s' if self.count != 1 else ''}", rows, self.plain)

    def text(self) -> str:
        """Return the explanation as text."""
        lines = [f"{self.name}: {self.count} trace{'s' if self.count != 1 else ''}"]
        if self.count > len(self.rows):
            lines.append(f"  … the first {self.count - len(self.rows)} are not kept")
        lines += [line for row in self.rows for line in row.lines()]
        headline = "arrays as Python objects, one NumPy operation at a time"
        lines += [f"  {headline}: {reason}" for reason in self.arrays_as_objects]
        lines += [f"  each shape has its own trace: {reason}" for reason in self.exact_size_reasons]
        lines += [f"  plain Python: {reason}" for reason in self.plain]
        lines += [f"  measured: {reason}" for reason in self.times]
        for reason, count in self.faults.items():
            count_text = f" ({count} times)" if count > 1 else ""
            lines.append(f"  internal error{count_text}, please report it: {reason}")
        return "\n".join(lines)
