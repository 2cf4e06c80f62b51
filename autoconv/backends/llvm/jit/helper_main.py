"""Main program of the helper process: it reads texts of modules from a socket, and writes object files to it.

helper.py starts it as `python -I -S -c … FOLDER LLVMLITE THREADS SECONDS` and passes it the compile function: it
imports nothing of this package. LLVM, which ends its process over some texts, ends only this one.

A first call waits until this process has started, so it imports no module that takes long (typing takes 8 ms,
functools 3).
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
from select import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    CompileText = Callable[[str, int], bytes]

REQUEST = struct.Struct("<IBQ")  # number, level, bytes of text
ANSWER = struct.Struct("<IBQ")  # number, kind (below), bytes of data
# Kinds of answers, with their data: object file; message of BadText; time limit exceeded; the helper ends; it is ready
# for texts; message of an error: LLVM cannot be loaded, or has no memory.
CODE, BAD, TIMED_OUT, EXITS, READY, FAILED = range(6)
_CHARACTERS_PER_SECOND = 20_000  # characters of a text that add a second to its time limit
_CHECK_INTERVAL = 0.25  # seconds between two checks of time limits
_WALL_CLOCK_FACTOR = 30  # factor of the limit by wall clock, as other processes use the processors, too
_IDLE_SECONDS = 60.0  # seconds without work, after which the process ends
_STACK_BYTES = 64 << 20  # bytes of a thread's stack: LLVM recurses into expressions
_MAX_MEMORY = 8 << 30  # bytes of address space


class _Server:
    """The state of the helper: jobs that are read from the connection, and threads that compile and answer them."""

    def __init__(
        self, connection: socket, max_threads: int, time_limit: float, load: Callable[[], CompileText]
    ) -> None:
        self._connection = connection
        self._max_threads = max_threads
        self._time_limit = time_limit
        self._load = load
        self._compile_text: CompileText | None = None
        self._load_lock = _thread.allocate_lock()
        self._thread_count = 0
        self._jobs: Any = SimpleQueue()
        self._send_lock = _thread.allocate_lock()
        # By thread: number, limit, processor time and wall time at the start.
        self._running_jobs: dict[int, tuple[int, float, float, float]] = {}
        self._unanswered_count = 0  # unanswered jobs
        self._count_lock = _thread.allocate_lock()

    def start_thread(self) -> None:
        """Start a thread that loads LLVM and compiles texts."""
        self._thread_count += 1
        _thread.start_new_thread(self._work, ())

    def serve(self) -> None:
        """Read requests until the connection closes, which ends the process; start a thread if all are busy."""
        while True:
            header = self._receive(REQUEST.size)
            number, level, size = REQUEST.unpack(header)
            with self._count_lock:
                self._unanswered_count += 1
            self._jobs.put((number, level, self._receive(size)))
            if self._thread_count < min(self._max_threads, self._unanswered_count):
                self.start_thread()

    def answer(self, number: int, kind: int, data: bytes = b"") -> None:
        with self._send_lock:
            self._connection.sendall(ANSWER.pack(number, kind, len(data)) + data)

    def _work(self) -> None:
        """Load LLVM, if no other thread has, and compile the texts of jobs."""
        try:
            with self._load_lock:
                compile_text = self._compile_text
                if compile_text is None:
                    compile_text = self._compile_text = self._load()
        except BaseException as error:
            self.answer(0, FAILED, str(error).encode())
            return
        while True:
            number, level, text = self._jobs.get()
            limit = self._time_limit + len(text) / _CHARACTERS_PER_SECOND
            thread = _thread.get_ident()
            self._running_jobs[thread] = number, limit, _thread_seconds(thread), time.monotonic()
            try:
                kind, data = CODE, compile_text(text.decode(), level)
            except (ImportError, MemoryError, OSError) as error:  # there is no memory for LLVM's library
                kind, data = FAILED, str(error).encode()
            except BaseException as error:
                kind, data = BAD, str(error).encode()
            del self._running_jobs[thread]
            self.answer(number, kind, data)
            with self._count_lock:
                self._unanswered_count -= 1

    def _receive(self, size: int) -> bytes:
        """Read bytes from the connection, and check the limits of time while none come."""
        parts: list[bytes] = []
        while size:
            timeout = _CHECK_INTERVAL if self._unanswered_count else _IDLE_SECONDS
            # The socket itself has no timeout: an answer waits until the program reads it.
            if not select([self._connection], (), (), timeout)[0]:
                # Only a wait of _IDLE_SECONDS shows that there is no work: a short one began during a compilation.
                self._check_limits(is_idle=timeout == _IDLE_SECONDS and not parts)
                continue
            part = self._connection.recv(min(size, 1 << 20))
            if not part:
                os._exit(0)  # the connection is closed
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _check_limits(self, is_idle: bool) -> None:
        """End the process if it is idle, or if a text exceeds its time limit."""
        if is_idle:
            self._exit()
        for thread, (number, limit, processor_start, wall_start) in list(self._running_jobs.items()):
            is_late = time.monotonic() - wall_start > _WALL_CLOCK_FACTOR * limit
            if is_late or _thread_seconds(thread) - processor_start > limit:
                self.answer(number, TIMED_OUT)
                self._exit()

    def _exit(self) -> None:
        self.answer(0, EXITS)
        os._exit(0)


def _thread_seconds(thread: int) -> float:
    """Return the processor seconds of a thread; where the system does not report them, the wall clock."""
    clock = getattr(time, "pthread_getcpuclockid", None)
    return time.clock_gettime(clock(thread)) if clock is not None else time.monotonic()


def _detach() -> None:
    """Detach from the starting process: no signals of its terminal, none of its files."""
    os.setsid()
    os.chdir("/")
    os.closerange(3, 4096)
    os.set_blocking(2, False)
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def _limit_memory() -> None:
    """Limit the memory of this process, and let the system end it first where memory runs out."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        if soft == resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, hard))
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")  # first victim when memory runs out
    except (ImportError, OSError, ValueError):
        pass


def serve(load: Callable[[], CompileText]) -> None:
    """Serve requests until the connection closes; `load` is machine_code.object_file_compiler, or similar."""
    _detach()
    sys.path.append(sys.argv[2])
    _thread.stack_size(_STACK_BYTES)
    server = _Server(socket(fileno=0), int(sys.argv[3]), float(sys.argv[4]), load)
    server.answer(0, READY)
    server.start_thread()  # before there is a text
    _limit_memory()
    try:
        server.serve()
    except OSError:
        os._exit(0)
