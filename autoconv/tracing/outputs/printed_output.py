"""Suppression of output that a call has already written, while the call is repeated.

The repetition writes the same text again, up to the point where the first run stopped. Meanwhile sys.stdout is a
wrapper that drops this text and passes on the output of other threads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.forks import new_lock

_LOCK = new_lock()


class _Stream:
    """A wrapper of a stream that drops the next characters that some threads write to it.

    The numbers of characters are stored by thread identifier. Other attributes are those of the stream.
    """

    def __init__(self, stream: Any) -> None:
        self.__dict__.update(_autoconv_stream=stream, _autoconv_drop_counts={})

    def write(self, text: str) -> Any:
        """Write a text without the characters that this thread is to drop; return its length, as streams do."""
        drop_counts: dict[int, int] = self._autoconv_drop_counts
        thread = threading.get_ident()
        drop_count = drop_counts.get(thread, 0)
        if not drop_count:
            return self._autoconv_stream.write(text)
        drop_counts[thread] = max(drop_count - len(text), 0)
        if drop_count < len(text):
            self._autoconv_stream.write(text[drop_count:])
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_autoconv_stream"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._autoconv_stream, name, value)


@contextmanager
def drop_output(count: int) -> Iterator[None]:
    """Drop the next `count` characters that this thread writes to sys.stdout."""
    thread = threading.get_ident()
    with _LOCK:
        stream = sys.stdout
        if stream is None:
            wrapper = None
        else:
            wrapper = stream if type(stream) is _Stream else _Stream(stream)
            outer_count = wrapper._autoconv_drop_counts.get(thread, 0)
            wrapper._autoconv_drop_counts[thread] = outer_count + count
            sys.stdout = wrapper
    try:
        yield
    finally:
        with _LOCK:
            if wrapper is not None:
                remaining = wrapper._autoconv_drop_counts.pop(thread, 0)
                if outer_count and remaining:  # characters that an enclosing `drop_output` is to drop
                    wrapper._autoconv_drop_counts[thread] = min(outer_count, remaining)
                if sys.stdout is wrapper and not wrapper._autoconv_drop_counts:
                    sys.stdout = wrapper._autoconv_stream
