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
import sys
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.jit import helper_main as protocol
from autoconv.backends.llvm.jit.compiler import order_by_compile_time
from autoconv.backends.llvm.jit.machine_code import BadText
from autoconv.backends.llvm.target.machine import this_machine

TIME_LIMIT = 4.0  # seconds of processor time that a short text may take
# The process forks, so that the helper is no child of the program, and before any import, as a fork copies the
# pages that were written to.
_HELPER_PROGRAM = """
import posix
if posix.fork():
    posix._exit(0)
import sys
sys.path.append(sys.argv[1])
import helper_main
helper_main.serve(lambda: __import__("machine_code").object_file_compiler(is_in_helper=True))
"""
_FATAL_MESSAGE = re.compile(r"Assertion .*|LLVM ERROR.*")
_FIRST_EARLY_NUMBER = 1 << 31  # larger than the numbers of the modules of an exchange
_STDERR_LIMIT = 1 << 16  # bytes of the helper's messages that are searched for the reason of its end


class HelperUnavailable(Exception):
    """No helper process can be started; `str()` gives the reason."""


class HelperEnded(Exception):
    """LLVM ended its process while it compiled a text, or exceeded its time (`is_late`); `str()` describes how."""

    def __init__(self, description: str, is_late: bool = False) -> None:
        super().__init__(description)
        self.is_late = is_late


class _Restart(Exception):
    """The helper ended because it was idle, or because of another text: a new one can compile this text."""


class Helper:
    """A helper process, which the constructor starts. Raises HelperUnavailable."""

    def __init__(self) -> None:
        import _socket  # light, unlike `socket`

        import llvmlite  # light: only for its path

        program, folder = sys.executable, os.path.dirname(os.path.abspath(__file__))
        is_python = bool(program) and "python" in os.path.basename(program).lower() and not hasattr(sys, "frozen")
        if not is_python or not hasattr(os, "posix_spawn") or not os.path.isdir(folder):
            raise HelperUnavailable("there is no Python that a process could run")
        self.threads = this_machine().threads
        own_end, helper_end = (_above_standard_streams(end.detach()) for end in _socket.socketpair())
        self._stderr, stderr = map(_above_standard_streams, os.pipe())
        self._connection = _socket.socket(fileno=own_end)
        self._child = 0
        self._is_ready = self._has_llvm = False
        # Module that `begin` requested, and no exchange has asked for -> number of the request.
        self._begun: dict[tuple[str, int], int] = {}
        self._early_numbers = itertools.count(_FIRST_EARLY_NUMBER)
        self._early_results: dict[int, bytes | BaseException] = {}  # number of such a request -> result
        try:
            libraries = os.path.dirname(os.path.dirname(os.path.abspath(llvmlite.__file__)))
            self._child = _spawn(program, [folder, libraries, str(self.threads), str(TIME_LIMIT)], helper_end, stderr)
            self._send_flags = getattr(_socket, "MSG_NOSIGNAL", 0)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise HelperUnavailable(f"the process does not start: {error}") from None
            raise
        finally:
            os.close(helper_end)
            os.close(stderr)

    def wait(self) -> None:
        """Wait until the process is ready for texts. Raises HelperUnavailable."""
        if self._is_ready:
            return
        self._reap_child()
        try:
            self._is_ready = self._receive_answer() == (0, protocol.READY, b"")
        except (OSError, HelperEnded) as error:
            raise HelperUnavailable(f"the process does not start: {error}") from None
        if not self._is_ready:
            raise HelperUnavailable("the process does not start")

    def close(self) -> None:
        """Close the connection; the helper then ends itself at once."""
        self._connection.close()
        with contextlib.suppress(OSError):
            os.close(self._stderr)
        self._reap_child()

    def _reap_child(self) -> None:
        """Wait for the end of the intermediate child, which has started the helper."""
        child, self._child = self._child, 0
        if child:
            with contextlib.suppress(ChildProcessError):  # the program reaps its children itself
                os.waitpid(child, 0)

    def exchange(self, modules: Sequence[tuple[str, int]], results: dict[int, bytes | BaseException]) -> None:
        """Compile the modules and put the results into `results`, by position. Without modules, wait for LLVM.

        Raises HelperEnded or _Restart if the process ends before all are done. The result of a module that took too
        long is HelperEnded.
        """
        positions = {}  # number of a request -> position of its module
        for position, module in enumerate(modules):
            number = self._begun.pop(module, position)
            positions[number] = position
            if number in self._early_results:
                results[position] = self._early_results.pop(number)
            elif number == position:
                self._request(number, *module)
        while len(results) < len(modules) or not self._has_llvm:
            number, kind, data = self._receive_answer()
            result: bytes | BaseException = data
            if kind == protocol.LOADED:
                self._has_llvm = True
                continue
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
        data = text.encode()
        self._send(protocol.REQUEST.pack(number, level, len(data)) + data)

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):  # _receive_answer reads the last message of a helper that ended
            self._connection.sendall(data, self._send_flags)

    def _receive_answer(self) -> tuple[int, int, bytes]:
        number, kind, size = protocol.ANSWER.unpack(self._receive(protocol.ANSWER.size))
        return number, kind, self._receive(size)

    def _receive(self, size: int) -> bytes:
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
        if select.select([self._stderr], [], [], 0)[0]:
            text = os.read(self._stderr, _STDERR_LIMIT).decode(errors="replace")
        match = _FATAL_MESSAGE.search(text)
        return f"LLVM ended its process: {match[0][:200]}" if match else "LLVM ended its process"


def _above_standard_streams(descriptor: int) -> int:
    """Move a file descriptor above those of the standard streams, in case the program has closed these."""
    if descriptor > 2:
        return descriptor
    import fcntl

    result = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return result


def _spawn(program: str, arguments: list[str], connection: int, stderr: int) -> int:
    """Start an intermediate process, which starts the helper and ends; return its process ID."""
    actions: list[Any] = [
        (os.POSIX_SPAWN_DUP2, connection, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, stderr, 2),
    ]
    import signal

    ignored_or_handled = {number for number in signal.valid_signals() if signal.getsignal(number) is not signal.SIG_DFL}
    return os.posix_spawn(
        program, [program, "-I", "-S", "-c", _HELPER_PROGRAM, *arguments], os.environ, file_actions=actions,
        setsigmask=(), setsigdef=ignored_or_handled - {signal.SIGKILL, signal.SIGSTOP},
    )  # fmt: skip


_HELPER: list[Helper] = []  # the helper of this process, once it is started


def object_files(modules: Sequence[tuple[str, int]]) -> list[bytes | BaseException]:
    """Compile modules in the helper, as compiler.object_files does in this process.

    The result of a module is HelperEnded if LLVM ended the helper because of it, or could not be loaded, for example
    for lack of memory. Not reentrant. Raises HelperUnavailable.
    """
    results: dict[int, bytes | BaseException] = {}
    pending_modules = order_by_compile_time(modules)[::-1]
    single_batches = 0  # number of waiting modules to compile one by one, because LLVM ended on one of them
    while pending_modules:
        is_new = not _HELPER  # an older helper may have been killed from outside
        helper = _ready_helper()
        batch = pending_modules[:1] if single_batches else pending_modules
        batch_results: dict[int, bytes | BaseException] = {}
        try:
            helper.exchange([modules[i] for i in batch], batch_results)
        except (HelperEnded, _Restart) as error:
            drop_helper()
            if isinstance(error, HelperEnded) and len(batch) == 1 and is_new:
                batch_results[0] = error
            elif isinstance(error, HelperEnded):
                single_batches = helper.threads + 1
        except BaseException:
            drop_helper()  # the helper still compiles modules whose results are not needed
            raise
        results.update({batch[number]: result for number, result in batch_results.items()})
        pending_modules = [i for i in pending_modules if i not in results]
        single_batches = max(single_batches - 1, 0)
    return [results[i] for i in range(len(modules))]


def begin(text: str, level: int) -> None:
    """Request a module from the helper, whose result a later `object_files` takes; no effect if it cannot start."""
    with contextlib.suppress(HelperUnavailable):
        _ready_helper().begin(text, level)


def start() -> None:
    """Start the helper without waiting for it; without effect if it runs, or cannot be started."""
    if not _HELPER:
        with contextlib.suppress(HelperUnavailable):
            _HELPER.append(Helper())


def load() -> None:
    """Start the helper if it does not run, and wait until it has loaded LLVM.

    Raises HelperUnavailable or HelperEnded.
    """
    try:
        _ready_helper().exchange((), {})
    except BaseException:
        drop_helper()
        raise


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
