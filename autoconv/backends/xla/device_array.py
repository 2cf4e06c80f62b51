"""Arrays in the memory of an accelerator, and the error words of the calls that made them.

A word is read when a result is fetched: until then the processor does not wait for the accelerator, and sends the next
calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.xla.client import Place
from autoconv.ops.values.remote_array import RemoteArray

_MAX_DEPTH = 32  # calls that may follow each other before words are read, as each keeps its arguments in memory


class LateWord:
    """The error word of a call that has been sent to an accelerator; `word` is None if that call cannot fail.

    Where the word is set, or an argument is a result of such a call and had another value, `rerun` runs the call
    natively on the arguments: it gives the results, or raises at the program's line.
    """

    def __init__(self, word: Any, arguments: Sequence[Any], rerun: Callable[[Sequence[Any]], list[Any]]) -> None:
        self._word, self._arguments, self._rerun = word, arguments, rerun
        self._results: list[Any] | None = None
        self._error: BaseException | None = None
        self.is_read = False
        self.earlier_words = unread_words(arguments)
        self.depth: int = 1 + max((earlier.depth for earlier in self.earlier_words), default=0)

    def read(self) -> list[Any] | None:
        """Wait for the call; return None where its results on the accelerator are right, else the native ones."""
        if not self.is_read:
            try:
                are_replaced = [earlier.read() is not None for earlier in self.earlier_words]
                if any(are_replaced) or (self._word is not None and int(np.asarray(self._word))):
                    self._results = self._rerun(self._arguments)
            except Exception as error:
                self._error = error
            self.is_read, self._word, self._arguments, self.earlier_words = True, None, (), []
        if self._error is not None:
            raise self._error
        return self._results


def unread_words(arguments: Sequence[Any]) -> list[LateWord]:
    """Return the words of the calls that made the arguments, as far as these are not read yet."""
    words = [x.word for x in arguments if isinstance(x, DeviceArray) and x.word is not None and not x.word.is_read]
    return list(dict.fromkeys(words))


def settle_arguments(arguments: Sequence[Any]) -> None:
    """Read the words of arguments that many calls have led to, and replace arguments whose words were set."""
    for word in unread_words(arguments):
        if word.depth >= _MAX_DEPTH:
            word.read()
    for x in arguments:
        if isinstance(x, DeviceArray) and x.word is not None and x.word.is_read:
            x.settle()


class DeviceArray(RemoteArray):
    """An array in the memory of an accelerator, or of this process if `place` is None; `array` is its local copy.

    `word` is the error word of the call whose result of that `position` it is, while the word is unread.
    """

    def __init__(
        self, buffer: Any, type_: Any, place: Place | None, array: np.ndarray | None = None,
        word: LateWord | None = None, position: int = 0,
    ) -> None:
        self.buffer = buffer
        self.type = type_
        self.place = place
        self.shape = type_.shape
        self.word = word
        self._position = position
        self._array = array

    def settle(self) -> None:
        """Read the error word; take the result of native code where there is one."""
        results = None if self.word is None else self.word.read()
        if results is not None:
            self._array, self.place, self.buffer = np.asarray(results[self._position]), None, None
        self.word = None

    def fetch(self) -> np.ndarray:
        """Return the array, copied to this process at the first time."""
        self.settle()
        if self._array is None:
            self._array = np.array(self.buffer)
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.fetch(), dtype, copy=copy)


__all__ = ["DeviceArray", "LateWord", "settle_arguments", "unread_words"]
