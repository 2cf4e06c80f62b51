"""NumPy's warnings about floating-point errors, which a graph does not give.

The processor keeps flags of invalid values, divisions by zero and overflows. Where they are up after a call of a trace
without side effects, the call runs once more, as plain Python, and the result is that of plain Python: NumPy itself
warns then, or does not. Flags may also be up without reason, such as after a lane of a vector that a mask left out.
"""

from __future__ import annotations

import warnings
from typing import Any

from autoconv.backends import backend_named
from autoconv.graph.graph import Graph
from autoconv.runtime.recording.contracts import Contract
from autoconv.tracing.execute.rollback import leaves_nothing
from autoconv.tracing.execute.typed_numbers import computes_typed_numbers

_EACH, _NEVER, _RARELY = "each", "never", "rarely"
_FIRST = 4  # flagged calls that run once more where a warning is shown once a line


class FloatErrors:
    """The facts about floating-point errors of a trace.

    `may_occur` says whether there may be some, for which NumPy's error state matters.
    """

    __slots__ = ("_calls", "_filters", "_flags", "_next", "_runs_again", "_share", "may_occur")

    def __init__(self, graph: Graph, contract: type[Contract], uses_tensors: bool) -> None:
        self.may_occur = any(map(computes_typed_numbers, graph.walk()))
        self._runs_again = self.may_occur and contract.runs_plain and not uses_tensors and leaves_nothing(graph)
        self._filters: list[Any] = []
        self._share, self._calls, self._flags, self._next = "", 0, 0, _FIRST

    def take_flags(self) -> int:
        """Return the flags that are up in this thread, and clear them; 0 where a call would not run once more."""
        return backend_named().taken_float_errors() if self._runs_again else 0

    def run_again(self, flags: int) -> bool:
        """Count a call after which these flags are up; return whether it runs once more.

        With filters that show a warning once a line these are the first ones, those with new flags, and every second,
        fourth and so on of the others. With filters that show each warning, or raise it, these are all.
        """
        if not self._runs_again:
            return False
        if self._filters != warnings.filters or not self._share:
            self._filters = list(warnings.filters)
            self._share, self._calls, self._flags, self._next = _share(self._filters), 0, 0, 2 * _FIRST
        if self._share != _RARELY:
            return self._share == _EACH
        self._calls += 1
        if self._calls > _FIRST and not flags & ~self._flags:
            if self._calls < self._next:
                return False
            self._next *= 2
        self._flags |= flags
        return True


def _share(filters: list[Any]) -> str:
    """Return for which flagged calls these filters may show a warning."""
    for action, text, category, module, line in filters:
        if issubclass(RuntimeWarning, category):
            if action in ("always", "all", "error"):
                return _EACH
            if text is None and module is None and not line:
                return _NEVER if action == "ignore" else _RARELY
    return _RARELY


__all__ = ["FloatErrors"]
