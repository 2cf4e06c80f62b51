"""Why traces happened: the text of `f.explain()`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    reason: str
    concrete: Any


@dataclass(slots=True)
class Explanation:
    name: str
    rows: list[Row] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)

    def why(self, call: Any, cache: Mapping[Any, Any]) -> str:
        """The reason for the trace that is about to be made for this call."""
        if call.key in cache:
            changed = {c.guards.changed() for c in cache[call.key]} - {""}
            return f"{', '.join(sorted(changed))} changed"
        if not cache:
            return "first call"
        nearest = next(reversed(cache))
        if nearest.templates != call.key.templates or len(nearest.leaves) != len(call.key.leaves):
            return "the structure of the arguments differs"
        for name, old, new in zip(call.names, nearest.leaves, call.key.leaves, strict=True):
            if old != new:
                return f"{name} is {new}, was {old}"
        return "the trace was dropped from the cache"

    def text(self) -> str:
        lines = [f"{self.name}: {len(self.rows)} trace{'s' if len(self.rows) != 1 else ''}"]
        for number, row in enumerate(self.rows, 1):
            signature = row.concrete.pretty_printed_signature(verbose=False)
            nodes = sum(1 for _ in row.concrete.graph.walk())
            lines.append(f"  {number}. {row.reason}: {signature}, {nodes} nodes")
            lines += [f"     not guarded: {what}" for what in row.concrete.guards.blind]
        lines += [f"  plain Python: {what}" for what in self.plain]
        return "\n".join(lines)
