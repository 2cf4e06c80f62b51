"""What the helper process runs: texts of modules come in on its standard input, a socket; object files go out there.

It is started by helper.py as `python -I -S -c … FOLDER LLVMLITE THREADS SECONDS`, and is given what compiles: it
imports nothing of this package. LLVM, which ends its process over some texts, ends this one.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # light, as `signal` is not
import _thread
import os
import struct
import sys
import time
from _queue import SimpleQueue
from _socket import socket
from collections.abc import Callable
from typing import Any

Make = Callable[[str, int], bytes]
REQUEST = struct.Struct("<IBQ")  # number, level, bytes of text
ANSWER = struct.Struct("<IBQ")  # number, kind (below), bytes of what follows
CODE, BAD, OVER, LEAVES, READY, FAILED = range(6)
_CHARACTERS = 20_000  # of a text for which it may take a second more
_LOOK = 0.25  # seconds between two looks at who computes
_STUCK = 30  # times as long may pass by the clock: other processes want the processors as well
_IDLE = 60.0  # seconds without work, after which the process leaves
_STACK = 64 << 20  # bytes of a thread's stack: LLVM goes into expressions by calling itself
_MOST_MEMORY = 8 << 30


class _Server:
    def __init__(self, connection: socket, threads: int, seconds: float, load: Callable[[], Make]) -> None:
        self._connection = connection
        self._threads = threads
        self._seconds = seconds
        self._load = load
        self._started = 0
        self._jobs: Any = SimpleQueue()
        self._sending = _thread.allocate_lock()
        self._running: dict[int, tuple[int, float, float, float]] = {}  # by thread: number, limit, times of its begin
        self._open = 0  # jobs that are not answered
        self._counting = _thread.allocate_lock()

    def serve(self) -> None:
        while True:
            header = self._received(REQUEST.size)
            number, level, size = REQUEST.unpack(header)
            with self._counting:
                self._open += 1
            self._jobs.put((number, level, self._received(size)))
            if self._started < min(self._threads, self._open):
                self._started += 1
                _thread.start_new_thread(self._work, ())

    def answer(self, number: int, kind: int, data: bytes = b"") -> None:
        with self._sending:
            self._connection.sendall(ANSWER.pack(number, kind, len(data)) + data)

    def _work(self) -> None:
        try:
            make = self._load()
        except BaseException as error:
            self.answer(0, FAILED, str(error).encode())
            return
        while True:
            number, level, text = self._jobs.get()
            limit = self._seconds + len(text) / _CHARACTERS
            self._running[_thread.get_ident()] = number, limit, _computed(_thread.get_ident()), time.monotonic()
            try:
                kind, data = CODE, make(text.decode(), level)
            except BaseException as error:
                kind, data = BAD, str(error).encode()
            del self._running[_thread.get_ident()]
            self.answer(number, kind, data)
            with self._counting:
                self._open -= 1

    def _received(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            self._connection.settimeout(_LOOK if self._open else _IDLE)
            try:
                part = self._connection.recv(min(size, 1 << 20))
            except TimeoutError:
                self._look(waits=not parts)
                continue
            if not part:
                os._exit(0)  # nobody is there any more
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _look(self, waits: bool) -> None:
        """Leaves where there is nothing to do, or a text takes too long."""
        if waits and not self._open:
            self._leave()
        for thread, (number, limit, computed, since) in list(self._running.items()):
            if _computed(thread) - computed > limit or time.monotonic() - since > _STUCK * limit:
                self.answer(number, OVER)
                self._leave()

    def _leave(self) -> None:
        self.answer(0, LEAVES)
        os._exit(0)


def _computed(thread: int) -> float:
    """The seconds that a thread has computed; where the system does not say, those that passed."""
    clock = getattr(time, "pthread_getcpuclockid", None)
    return time.clock_gettime(clock(thread)) if clock is not None else time.monotonic()


def _detach() -> None:
    """Takes the process apart from the one that started it: no signals of its terminal, no files, no child of its."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    os.closerange(3, 4096)
    os.set_blocking(2, False)
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most, hard = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, hard))
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")  # where memory runs out, this process goes first
    except (ImportError, OSError, ValueError):
        pass


def serve(load: Callable[[], Make]) -> None:
    """Answers until nobody asks any more; `load` gives what makes object files (see machine_code.maker)."""
    _detach()
    sys.path.append(sys.argv[2])
    _thread.stack_size(_STACK)
    server = _Server(socket(fileno=0), int(sys.argv[3]), float(sys.argv[4]), load)
    server.answer(0, READY)
    try:
        server.serve()
    except OSError:
        os._exit(0)
