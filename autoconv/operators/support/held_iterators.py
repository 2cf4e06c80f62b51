"""Python iterators that traced code created.

They advance only in the region that created them, where their position is known at trace time. If a nested region
advanced one, this would have to happen each time that the region runs.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterator
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.support.generator_expressions import TracedGenerator
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, has_static_contents
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import plain_class

_MODULES = ("builtins", "itertools")  # modules of the iterator classes to bind


class HeldIterator:
    """An `enumerate`, `zip`, `map`, `reversed` etc. over values of the trace, for use in the region that created it.

    Where that region has been merged into another, the other one counts as the creating region.
    """

    def __init__(self, iterator: Iterator[Any], loop_recorder: Any = None) -> None:
        """`loop_recorder` records a loop over all items (see `autoconv.operators.calls.enumerate_zip`)."""
        self._iterator = iterator
        self._loop_recorder = loop_recorder
        self._home = current_region()
        self._is_invalid = False
        # A Python iterator would see a list that has moved into the graph as empty.
        self._containers = [part for part in gc.get_referents(iterator) if type(part) in TRACED_TO_PLAIN]

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._iterator)

    def __iter__(self) -> HeldIterator:
        return self

    def __next__(self) -> Any:
        self._loop_recorder = None
        self._require_usable()
        return next(self._iterator)

    def __length_hint__(self) -> int:
        self._require_usable()
        return operator.length_hint(self._iterator)

    def __repr__(self) -> str:
        return repr(self._iterator)

    @property
    def has_loop(self) -> bool:
        """True if it enumerates or zips a generator expression, so that a loop over it can become one graph loop."""
        return self._loop_recorder is not None

    def take_loop_recorder(self) -> Any:
        """Return the recorder of a loop over all items, which can be taken once; None for a loop in Python.

        After the recorded loop, the caller must call `leave` or `resume_with`, unless no item was taken.
        """
        recorder, self._loop_recorder = self._loop_recorder, None
        if recorder is not None:
            self._require_usable()
        return recorder

    @property
    def is_resumable(self) -> bool:
        """True if the position is known at trace time and each advance happens exactly once."""
        is_in_home = self._home is not None and current_region() is self._home.merged_region
        return is_in_home and not self._is_invalid and all(map(has_static_contents, self._containers))

    def _require_usable(self) -> None:
        """Raise StagingError if the position is unknown here, or if a container has moved into the graph."""
        if self._is_invalid or self._home is None or current_region() is not self._home.merged_region:
            subject = "code under a condition on a tensor"
            if self._is_invalid:
                subject = "a loop whose end depends on a tensor"
            raise StagingError(
                f"{subject} iterates over an iterator that was created before it ({type(self._iterator).__name__})",
                current_place(), "a list of its items",
            )  # fmt: skip
        if not all(map(has_static_contents, self._containers)):
            raise StagingError(
                f"a {plain_class(self._containers[0]).__name__} moves into the graph, and an iterator over it was "
                f"created before ({type(self._iterator).__name__})",
                current_place(), "a for statement over the container itself, or over a copy",
            )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._iterator, name)

    def take_reversed(self) -> Any:
        """Return `reversed_list()`; if that is a list and not None, invalidate the iterator."""
        owner = self.reversed_list()
        if owner is not None:
            self._require_usable()
            self._is_invalid = True
        return owner

    def reversed_list(self) -> Any:
        """Return the list that the iterator traverses in reverse if no item has been taken yet; else None."""
        if type(self._iterator) is not type(reversed([])) or not all(map(has_static_contents, self._containers)):
            return None
        state: Any = self._iterator.__reduce__()
        _, (owner, *_), *positions = state  # no position once the iterator is exhausted
        return owner if owner and positions == [list.__len__(owner) - 1] else None

    def leave(self) -> None:
        """Invalidate the iterator after a loop that a tensor ends: its position is unknown."""
        self._is_invalid = True

    def resume_with(self, iterator: Iterator[Any]) -> None:
        """Set the remaining items after a loop that ended at a position known at trace time."""
        self._iterator = iterator


def bind_iterator(value: Any) -> Any:
    """Return the result of a builtin; during a trace, bind an iterator to the current region."""
    kind = type(value)
    is_python_iterator = kind.__module__ in _MODULES and issubclass(kind, Iterator)
    is_held = is_python_iterator and kind is not TracedGenerator and current_region() is not None
    return HeldIterator(value) if is_held else value
