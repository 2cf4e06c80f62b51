"""Run LLVM in a helper process: its failed assertions and endless loops would end or block this process.

The helper starts before the first compilation, while a function is traced. It lives as long as this process, or until
it was idle for a while, and is restarted if it ended. It is no child of this process, so it does not disturb programs
that wait for their children.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import re
import select
from collections.abc import Sequence
from typing import NamedTuple

from autoconv.backends.llvm.jit import helper_main as protocol
from autoconv.backends.llvm.jit.compiler import order_by_compile_time
from autoconv.backends.llvm.jit.machine_code import BadText
from autoconv.helper_process import HelperUnavailable, start_process, take_process

_FATAL_MESSAGE = re.compile(r"Assertion .*|LLVM ERROR.*")
_FIRST_EARLY_NUMBER = 1 << 31  # larger than the numbers of the modules of an exchange
_MAX_STDERR_BYTES = 1 << 16  # bytes of the helper's messages that are searched for the reason of its end


class HelperEnded(Exception):
    """LLVM ended its process while it compiled a text, or exceeded its time (`is_late`); `str()` describes how."""

    def __init__(self, description: str, is_late: bool = False) -> None:
        super().__init__(description)
        self.is_late = is_late


class _Restart(Exception):
    """The helper ended because it was idle, or because of another text: a new one can compile this text."""


class _Answer(NamedTuple):
    """The number of a request, the kind of its answer, a constant of the protocol, and the code or message."""

    number: int
    kind: int
    data: bytes


class Helper:
    """A helper process, which the constructor starts. Raises HelperUnavailable."""

    def __init__(self) -> None:
        import _socket  # light, unlike `socket`

        self._process = take_process() or start_process()
        self.threads = self._process.threads
        self._connection = _socket.socket(fileno=self._process.connection)
        self._send_flags = getattr(_socket, "MSG_NOSIGNAL", 0)
        self._is_ready = False
        # Module that `begin` requested, and no exchange has asked for -> number of the request.
        self._begun: dict[tuple[str, int], int] = {}
        self._early_numbers = itertools.count(_FIRST_EARLY_NUMBER)
        self._early_results: dict[int, bytes | BaseException] = {}  # number of such a request -> result

    def wait(self) -> None:
        """Wait until the process is ready for texts. Raises HelperUnavailable."""
        if self._is_ready:
            return
        self._process.reap_child()
        try:
            self._is_ready = self._receive_answer() == (0, protocol.READY, b"")
        except (OSError, HelperEnded) as error:
            raise HelperUnavailable(f"the process does not start: {error}") from None
        if not self._is_ready:
            raise HelperUnavailable("the process does not start")

    def close(self) -> None:
        """Close the connection; the helper then ends itself at once."""
        self._connection.detach()
        self._process.close()

    def exchange(self, modules: Sequence[tuple[str, int]], results: dict[int, bytes | BaseException]) -> None:
        """Compile the modules and put the results into `results`, by position.

        Raises HelperEnded or _Restart if the process ends before all are done. The result of a module that took too
        long is HelperEnded.
        """
        positions = {}  # number of a request -> position of its module
        for position, module in enumerate(modules):
            number = self._begun.pop(module, position)
            positions[number] = position
            if number in self._early_results:
                results[position] = self._early_results.pop(number)
            elif number == position:  # `begin` has not requested it
                self._request(number, *module)
        while len(results) < len(modules):
            number, kind, data = self._receive_answer()
            result: bytes | BaseException = data
            if kind == protocol.BAD:
                result = BadText(data.decode(errors="replace"))
            elif kind == protocol.TIMED_OUT:
                result = HelperEnded("LLVM does not come to an end", is_late=True)
            elif kind == protocol.FAILED:
                raise HelperEnded(f"LLVM cannot be loaded: {data.decode(errors='replace')}")
            elif kind != protocol.CODE:
                raise _Restart
            if number in positions:
                results[positions[number]] = result
            else:
                self._early_results[number] = result

    def begin(self, text: str, level: int) -> None:
        """Request a module, whose result a later exchange takes."""
        number = self._begun[text, level] = next(self._early_numbers)
        self._request(number, text, level)

    def _request(self, number: int, text: str, level: int) -> None:
        """Send a request to compile a text at a level."""
        data = text.encode()
        self._send(protocol.REQUEST.pack(number, level, len(data)) + data)

    def _send(self, data: bytes) -> None:
        """Send bytes to the helper, which may have ended."""
        with contextlib.suppress(ConnectionError):  # _receive_answer reads the last message of a helper that ended
            self._connection.sendall(data, self._send_flags)

    def _receive_answer(self) -> _Answer:
        """Wait for the next answer of the helper."""
        number, kind, size = protocol.ANSWER.unpack(self._receive(protocol.ANSWER.size))
        return _Answer(number, kind, self._receive(size))

    def _receive(self, size: int) -> bytes:
        """Return the next `size` bytes of the connection; raise if the helper has ended."""
        data = bytearray()
        while len(data) < size:
            try:
                part = self._connection.recv(min(size - len(data), 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise HelperEnded(self._fatal_error())
            data += part
        return bytes(data)

    def _fatal_error(self) -> str:
        """Return the message with which LLVM ended the helper."""
        text = ""
        if select.select([self._process.stderr], [], [], 0)[0]:
            text = os.read(self._process.stderr, _MAX_STDERR_BYTES).decode(errors="replace")
        match = _FATAL_MESSAGE.search(text)
        return f"LLVM ended its process: {match[0][:200]}" if match else "LLVM ended its process"


_HELPER: list[Helper] = []  # at most one


def object_files(modules: Sequence[tuple[str, int]]) -> list[bytes | BaseException]:
    """Compile modules in the helper, as compiler.object_files does in this process.

    The result of a module is HelperEnded if LLVM ended the helper because of it, or could not be loaded, for example
    for lack of memory. Not reentrant. Raises HelperUnavailable.
    """
    results: dict[int, bytes | BaseException] = {}
    pending_modules = order_by_compile_time(modules)[::-1]
    single_batches_left = 0  # modules still to be compiled one by one, since LLVM ended while it compiled one of them
    while pending_modules:
        is_new = not _HELPER  # an older helper may have been killed from outside
        helper = _ready_helper()
        batch = pending_modules[:1] if single_batches_left else pending_modules
        batch_results: dict[int, bytes | BaseException] = {}
        try:
            helper.exchange([modules[i] for i in batch], batch_results)
        except (HelperEnded, _Restart) as error:
            drop_helper()
            if isinstance(error, HelperEnded) and len(batch) == 1 and is_new:
                batch_results[0] = error
            elif isinstance(error, HelperEnded):
                single_batches_left = helper.threads + 1
        except BaseException:
            drop_helper()  # the helper still compiles modules whose results are not needed
            raise
        results.update({batch[number]: result for number, result in batch_results.items()})
        pending_modules = [i for i in pending_modules if i not in results]
        single_batches_left = max(single_batches_left - 1, 0)
    return [results[i] for i in range(len(modules))]


def begin(text: str, level: int) -> None:
    """Request a module from the helper, whose result a later `object_files` takes; no effect if it cannot start."""
    start()
    for helper in _HELPER:
        helper.begin(text, level)


def start() -> None:
    """Start the helper without waiting for it; without effect if it runs, or cannot be started."""
    if not _HELPER:
        with contextlib.suppress(HelperUnavailable):
            _HELPER.append(Helper())


def _ready_helper() -> Helper:
    """Return the helper process once it has started; raise its error if it does not."""
    if not _HELPER:
        _HELPER.append(Helper())
    try:
        _HELPER[0].wait()
    except BaseException:
        drop_helper()
        raise
    return _HELPER[0]


def drop_helper() -> None:
    """Drop the helper; the next call starts another one. A forked child must not use that of its parent."""
    while _HELPER:
        _HELPER.pop().close()


atexit.register(drop_helper)
