"""Object files of several modules, by the threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from autoconv.backends.llvm import machine_code
from autoconv.backends.llvm.threads import thread_count

PIPELINE = 7  # the version of what `object_file` does


def object_file(text: str, level: int) -> bytes:
    """The object file of a module: `level` is 3 for speed, 1 for a short compilation, 0 for the shortest. Raises
    machine_code.BadText for text that is no module."""
    (found,) = object_files([(text, level)])
    if isinstance(found, BaseException):
        raise found
    return found


def object_files(modules: Sequence[tuple[str, int]]) -> list[bytes | BaseException]:
    """Of several modules, by as many threads as this process may use: each has a context of its own, which is all
    that LLVM asks for. Not for two threads at once. In the place of a file may be the error that was met. Of no
    modules: LLVM is loaded."""
    make = machine_code.maker()
    found: list[bytes | BaseException] = [b""] * len(modules)
    waiting = longest_last(modules)

    def work() -> None:
        while True:
            try:
                i = waiting.pop()
            except IndexError:
                return
            try:
                found[i] = make(*modules[i])
            except BaseException as error:
                found[i] = error

    count = min(len(modules), thread_count()) if machine_code.is_for_threads() else 1
    helpers = [threading.Thread(target=work) for _ in range(count - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    return found


def longest_last(modules: Sequence[tuple[str, int]]) -> list[int]:
    """The positions of the modules: those that take long to compile are to be begun first."""
    return sorted(range(len(modules)), key=lambda i: (modules[i][1] > 0, len(modules[i][0])))
