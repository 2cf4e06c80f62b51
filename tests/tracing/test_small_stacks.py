"""Threads with small stacks, recursions through a print's stream, and calls of very many arguments: right results, or
Python's own exception, without a crash. Each program has a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

DEEP = """
import sys, threading
import autoconv as ac

sys.setrecursionlimit(100_000)

@ac.compile
def f(n, x):
    def g(k, x):
        if k == 0:
            return x
        return g(k - 1, x + 1.0) + 0.5
    return g(n, x)

def work():
    print([f(n, 1.0) == 1 + 1.5 * n for n in (10, 900, 5000, 20_000)])

f(3, 1.0), f(4, 1.0), f(5, 1.0)
"""


def run(program: str, stack: int | None = None) -> str:
    """Return what the program prints; `stack` is the limit of the main thread's stack in kilobytes."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_STACK, (stack * 1024, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    before = limit if stack is not None else None
    completed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, preexec_fn=before, timeout=120
    )
    assert completed.returncode == 0, completed.stderr[-2000:]
    return completed.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the system is not asked where a stack ends")
@pytest.mark.parametrize("size", [64, 256])
def test_deep_recursion_in_a_thread_with_a_small_stack(size):
    work = f"threading.stack_size({size} << 10)\nt = threading.Thread(target=work)\nthreading.stack_size(0)\n"
    work = work.replace("threading.stack_size(0)\n", "t.start()\nthreading.stack_size(0)\nt.join()\n")
    assert run(DEEP + work) == "[True, True, True, True]\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the system is not asked where a stack ends")
def test_deep_recursion_in_a_small_main_stack():
    assert run(DEEP + "work()", stack=512) == "[True, True, True, True]\n"


def test_recursion_through_the_stream_of_a_print():
    program = """
    import sys
    import autoconv as ac

    sys.setrecursionlimit(3000)

    class Stream:
        depth = 0
        def write(self, text):
            if text.strip():
                Stream.depth += 1
                f(2.0, 3)
        def flush(self):
            pass

    @ac.compile
    def f(x, n):
        for i in range(n):
            print(x)
        return x + n

    out = sys.stdout
    sys.stdout = open("/dev/null", "w")
    for _ in range(3):
        f(1.0, 2)
    sys.stdout = Stream()
    try:
        f(1.0, 2)
    except RecursionError:
        sys.stdout = out
        print("too deep", f(1.0, 0), Stream.depth > 50)
    """
    assert run(program) == "too deep 1.0 True\n"


def test_two_million_arguments():
    program = """
    import autoconv as ac

    @ac.compile
    def f(x, y):
        return x + y

    for _ in range(3):
        f(1.0, 2.0)
    for arguments, names in ((range(2_000_000), {}), ((1.0,), {f"y{i}": i for i in range(200_000)})):
        try:
            f(*arguments, **names)
        except TypeError as error:
            print(str(error)[:3])
    print(f(1.0, 2.0))
    """
    assert run(program) == "f()\nf()\n3.0\n"
