"""Iterators over staged iterables: zip, enumerate, reversed and map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.operators.control.iterables import StagedIterator, require_staged
from autoconv.operators.control.variants import raise_if
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch


class StagedZip(StagedIterator):
    """`zip` of iterables with items by position."""

    kind = zip

    def __init__(self, *parts: Any) -> None:
        super().__init__()
        self.parts = [require_staged(part) for part in parts]
        self.is_live = any(part.is_live for part in self.parts)
        self.checks_end = any(isinstance(part, StagedIterator) and part.checks_end for part in self.parts)
        if self.checks_end and len(parts) > 1:
            self._refuse("given to another zip()")

    def set_strict(self) -> None:
        """Compare the lengths, which are known only at run time, after the loop, as `zip(…, strict=True)` does."""
        if self.checks_end or len(self.parts) > 2:
            self._refuse("given more than two iterables")
        self.checks_end = True

    def _refuse(self, reason: str) -> NoReturn:
        raise StagingError(
            f"zip(strict=True) of lengths known only at run time is {reason}", current_place(),
            "zip() without strict",
        )  # fmt: skip

    def end(self, is_exhausted: Any) -> None:
        """Check the lengths after a loop if they have to be equal."""
        if len(self.parts) == 1 and isinstance(self.parts[0], StagedIterator):
            self.parts[0].end(is_exhausted)
        elif self.checks_end and len(self.parts) > 1:
            first, second = (part.length() for part in self.parts)
            for comparison, has_error in (("shorter", second < first), ("longer", second > first)):
                error = ValueError(f"zip() argument 2 is {comparison} than argument 1")
                raise_if(dispatch.apply("logical_and", has_error, is_exhausted), error)

    def length(self) -> Any:
        """Return the smallest length of the parts."""
        lengths = [part.length() for part in self.parts]
        static_lengths = [length for length in lengths if isinstance(length, (int, np.integer))]
        result: Any = min(static_lengths) if static_lengths else None
        for length in lengths:
            if not isinstance(length, (int, np.integer)):
                result = length if result is None else dispatch.apply("select", length < result, length, result)
        return result

    def item(self, position: int) -> Any:
        return tuple(part.item(position) for part in self.parts)


class StagedEnumerate(StagedIterator):
    """`enumerate` of an iterable with items by position."""

    kind = enumerate

    def __init__(self, iterable: object, start: object = 0) -> None:
        super().__init__()
        self.source = require_staged(iterable)
        self.is_live = self.source.is_live
        self.checks_end = isinstance(self.source, StagedIterator) and self.source.checks_end
        self.start = start

    def end(self, is_exhausted: Any) -> None:
        if isinstance(self.source, StagedIterator):
            self.source.end(is_exhausted)

    def length(self) -> Any:
        return self.source.length()

    def item(self, position: Any) -> Any:
        return position + self.start, self.source.item(position)


class StagedReversed(StagedIterator):
    """`reversed` of an iterable with items by position."""

    kind = reversed

    def __init__(self, iterable: object) -> None:
        super().__init__()
        self.source = require_staged(iterable)
        self.fixed_length = self.source.length()  # as in Python, the end is fixed when the iterator is created

    def length(self) -> Any:
        return self.fixed_length

    def item(self, position: int) -> Any:
        return self.source.item(self.fixed_length - 1 - position)


class StagedMap(StagedIterator):
    """`map` over iterables with items by position."""

    kind = map

    def __init__(self, function: Callable[..., Any], *iterables: Any) -> None:
        super().__init__()
        self.function = function
        self.argument_tuples = StagedZip(*iterables)
        self.is_live, self.checks_end = self.argument_tuples.is_live, self.argument_tuples.checks_end

    def end(self, is_exhausted: Any) -> None:
        self.argument_tuples.end(is_exhausted)

    def length(self) -> Any:
        return self.argument_tuples.length()

    def item(self, position: int) -> Any:
        return self.function(*self.argument_tuples.item(position))
