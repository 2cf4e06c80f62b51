"""Start the helper process, in which LLVM runs, before the backend that uses it is imported.

The process takes longer to start and to load LLVM than a short function takes to be traced, so the first call would
wait for it. `start_ahead` therefore starts it when a program first uses a name of this package, and it loads LLVM while
the package's modules are imported. `backends.llvm.jit.helper` exchanges texts and object files with it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import sys
from importlib.util import find_spec
from typing import Any

from autoconv.code_cache import STARTS
from autoconv.config import SETTINGS
from autoconv.config.settings import usable_threads
from autoconv.forks import after_fork
from autoconv.lazy_dataclass import dataclass

TIME_LIMIT = 4.0  # seconds of processor time that a short text may take
_PROGRAM_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "backends", "llvm", "jit")
# The process forks, so that it is no child of the program, and before any import, as a fork copies the pages that were
# written to.
_PROGRAM = """
import posix
if posix.fork():
    posix._exit(0)
import sys
sys.path.append(sys.argv[1])
import helper_main
helper_main.serve(lambda: __import__("machine_code").object_file_compiler(is_in_helper=True))
"""


class HelperUnavailable(Exception):
    """No helper process can be started; `str()` gives the reason."""


@dataclass
class HelperProcess:
    """A started helper process, which ends when its connection is closed.

    connection  file descriptor of the socket
    stderr      file descriptor from which the helper's standard error is read
    child       process ID of the intermediate child, which starts the helper and ends; 0 after `reap_child`
    threads     the largest number of texts that the helper compiles at the same time
    """

    connection: int
    stderr: int
    child: int
    threads: int

    def reap_child(self) -> None:
        """Wait for the end of the intermediate child."""
        child, self.child = self.child, 0
        if child:
            with contextlib.suppress(ChildProcessError):  # the program reaps its children itself
                os.waitpid(child, 0)

    def close(self) -> None:
        """Close both file descriptors; the helper then ends itself."""
        for descriptor in (self.connection, self.stderr):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.reap_child()


def start_process() -> HelperProcess:
    """Start a helper process without waiting until it is ready. Raises HelperUnavailable."""
    _START_ATTEMPTS.append(True)
    import _socket  # light, unlike `socket`

    llvmlite = find_spec("llvmlite")
    program = sys.executable
    is_python = bool(program) and "python" in os.path.basename(program).lower() and not hasattr(sys, "frozen")
    has_program = is_python and hasattr(os, "posix_spawn") and os.path.isdir(_PROGRAM_FOLDER)
    if not has_program or llvmlite is None or llvmlite.origin is None:
        raise HelperUnavailable("there is no Python that a process could run, or no llvmlite")
    threads = usable_threads()
    libraries = os.path.dirname(os.path.dirname(os.path.abspath(llvmlite.origin)))
    own_end, far_end = (_above_standard_streams(end.detach()) for end in _socket.socketpair())
    stderr, far_stderr = map(_above_standard_streams, os.pipe())
    process = HelperProcess(own_end, stderr, 0, threads)
    arguments = [_PROGRAM_FOLDER, libraries, str(threads), str(TIME_LIMIT)]
    try:
        process.child = _spawn(program, arguments, far_end, far_stderr)
    except BaseException as error:
        process.close()
        if isinstance(error, OSError):
            raise HelperUnavailable(f"the process does not start: {error}") from None
        raise
    finally:
        os.close(far_end)
        os.close(far_stderr)
    return process


_START_ATTEMPTS: list[bool] = []  # an item for each attempt to start a helper, by `start_ahead` or later
_STARTED_AHEAD: list[HelperProcess] = []  # at most one, until `take_process` returns it
_FILES: set[str] = set()  # the files that `start_ahead` was called for


def start_ahead(file: str) -> None:
    """Start the helper for a file that uses this package, if this file has not been run before.

    A file that was run before finds the machine code of its first calls in the cache, and needs no helper for them. A
    changed file counts as new.
    """
    is_native = SETTINGS.helper and not SETTINGS.disabled and SETTINGS.backend in ("llvm", "native")
    if not is_native or file in _FILES or _START_ATTEMPTS:
        return
    _FILES.add(file)
    if _was_run_before(file):
        return
    with contextlib.suppress(HelperUnavailable, ImportError, OSError):
        _STARTED_AHEAD.append(start_process())


def _was_run_before(file: str) -> bool:
    """Return whether the cache has an entry for this file with its present size and time; store one if not."""
    try:
        status = os.stat(file)
        version = f"{os.path.abspath(file)}\0{status.st_size}\0{status.st_mtime_ns}"
    except OSError:
        version = "\0".join(sys.orig_argv)  # a cell of a notebook, or the text after -c
    key = hashlib.sha256(version.encode()).hexdigest()
    if STARTS.load(key) is not None:
        return True
    STARTS.store(key, b"")
    return False


def is_started_ahead() -> bool:
    """Return whether `start_ahead` started a helper that was not taken yet."""
    return bool(_STARTED_AHEAD)


def reap_child() -> None:
    """Wait for the intermediate child of `start_ahead`: the program must not find it among its own children."""
    for process in _STARTED_AHEAD:
        process.reap_child()


def take_process() -> HelperProcess | None:
    """Return the helper that `start_ahead` started, to the first caller; else None."""
    return _STARTED_AHEAD.pop() if _STARTED_AHEAD else None


def _close_untaken_process() -> None:
    """Close the connection of a helper that no one took: at exit, and in a forked child, where it is the parent's."""
    while _STARTED_AHEAD:
        _STARTED_AHEAD.pop().close()


atexit.register(_close_untaken_process)
after_fork(_close_untaken_process)


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
        program, [program, "-I", "-S", "-c", _PROGRAM, *arguments], os.environ, file_actions=actions,
        setsigmask=(), setsigdef=ignored_or_handled - {signal.SIGKILL, signal.SIGSTOP},
    )  # fmt: skip
