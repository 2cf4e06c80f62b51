"""Arrays in the memory of an accelerator, and the error words of the calls that computed them.

A word is read when a result is fetched. Until then the processor does not wait for the accelerator, and sends further
calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.xla.client import ClientDevice
from autoconv.ops.values.remote_array import RemoteArray

_MAX_DEPTH = 32  # longest chain of calls on results of calls before words are read: each keeps its arguments in memory


class LateWord:
    """The error word of a call that has been sent to an accelerator; `word` is None if the call cannot fail by itself.

    If the word is not 0, or the result of an earlier call was replaced for that reason, `rerun` runs the call natively
    on the arguments: it returns the results, or raises the error with the program's line. `depth` is the length of the
    chain of unread calls that ends here.
    """

    def __init__(self, word: Any, arguments: Sequence[Any], rerun: Callable[[Sequence[Any]], list[Any]]) -> None:
        self._word, self._arguments, self._rerun = word, arguments, rerun
        self._results: list[Any] | None = None
        self._error: BaseException | None = None
        self.is_read = False
        self.earlier_words = unread_words(arguments)
        self.depth: int = 1 + max((earlier.depth for earlier in self.earlier_words), default=0)

    def read(self) -> list[Any] | None:
        """Wait for the call; return None if its results on the accelerator are valid, else the native results."""
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
    """Return the unread words of the calls whose results are among the arguments."""
    words = [x.word for x in arguments if isinstance(x, DeviceArray) and x.word is not None and not x.word.is_read]
    return list(dict.fromkeys(words))


def settle_arguments(arguments: Sequence[Any]) -> None:
    """Read the words of long chains of calls, and take native results for arguments whose words were not 0."""
    for word in unread_words(arguments):
        if word.depth >= _MAX_DEPTH:
            word.read()
    for x in arguments:
        if isinstance(x, DeviceArray) and x.word is not None and x.word.is_read:
            x.settle()


class DeviceArray(RemoteArray):
    """An array in the memory of an accelerator, or of this process if `client_device` is None.

    `array` is a local copy. The array is the result at `position` of a call, and `word` is the error word of this call:
    None once the word is read.
    """

    def __init__(
        self, buffer: Any, type_: Any, client_device: ClientDevice | None, array: np.ndarray | None = None,
        word: LateWord | None = None, position: int = 0,
    ) -> None:
        self.buffer = buffer
        self.type = type_
        self.client_device = client_device
        self.shape = type_.shape
        self.word = word
        self._position = position
        self._array = array

    def settle(self) -> None:
        """Read the error word; if native code ran the call again, take its result."""
        results = None if self.word is None else self.word.read()
        if results is not None:
            self._array, self.client_device, self.buffer = np.asarray(results[self._position]), None, None
        self.word = None

    def fetch(self) -> np.ndarray:
        """Return the array, copied to this process at the first time."""
        self.settle()
        if self._array is None:
            self._array = np.array(self.buffer)
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.fetch(), dtype, copy=copy)
