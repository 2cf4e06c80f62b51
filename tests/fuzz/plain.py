"""A differential tester: programs and their converted code must do the same on plain values.

    python tests/fuzz/plain.py --programs 10000 --seed 0

It compares the result or the exception of each call (type, arguments and cause), and the logged events, which
show the order of evaluation. A failing program is reduced as far as possible, and printed."""

from __future__ import annotations

import ast
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any

import programs
import shrink

from autoconv.emit.module import convert_source
from autoconv.errors import ConversionError
from autoconv.runtime.recording.activity import as_if_traced

CALLS: tuple[tuple[Any, Any, list[Any]], ...] = (
    (0, 1, [1, 2, 3]),
    (3, 2, [0, 1]),
    (1, 0, [4, 4, 1, 0]),
    (2, 5, [3]),
)


# The part of a function's qualified name that names the region around it, in some messages.
_REGION = re.compile(r"(?:if|else|loop)_(?:body|test)[_0-9]*\.<locals>\.")


class Stop(Exception):
    """An exception class of the program."""


class TooLongError(BaseException):
    """A program does not end; only reduced programs can cause this."""


class Box:
    """An object with attributes."""

    def __init__(self, n: Any) -> None:
        self.n = n
        self.items = [1, 2]
        self.hooks: list[Any] = []


class Environment:
    """The globals of one run of a program, with the log and the counters of its loops."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.counts: dict[Any, int] = {}
        self.total_rounds = 0

    def log(self, tag: Any, value: Any = None) -> Any:
        self.events.append(f"{tag}: {value_text(value)}")
        if len(self.events) > 5_000:
            raise TooLongError
        return value

    def more(self, key: Any, limit: int) -> bool:
        """Return True `limit` times in a row, and no more after 300 iterations of all loops."""
        self.total_rounds += 1
        count = self.counts.get(key, 0) + 1
        continues = count <= limit and self.total_rounds < 300
        self.counts[key] = count if continues else 0
        self.events.append(f"more {key} {continues}")
        if len(self.events) > 5_000:
            raise TooLongError
        return continues

    def names(self) -> dict[str, Any]:
        log = self.log

        class Manager:
            def __init__(self, tag: Any, suppresses: Any) -> None:
                self.tag, self.suppresses = tag, suppresses

            def __enter__(self) -> int:
                log(f"enter {self.tag}")
                return 7

            def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
                log(f"exit {self.tag}", kind and kind.__name__)
                return self.suppresses

        return {
            "log": log,
            "more": self.more,
            "Manager": Manager,
            "Box": Box,
            "Stop": Stop,
            "__name__": "program",
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results and the log of the calls of a program."""

    results: tuple[str, ...]
    events: tuple[str, ...]


def difference(source: str) -> str:
    """The difference between the converted program and the program, or "".

    The converted program runs twice: without a trace, and as if traced, through the operators.
    """
    expected = run(source)
    try:
        converted = convert_source(source, "program.py").text
    except ConversionError as error:
        return f"refused: {error.message}"
    except Exception as error:
        return f"crashed: {type(error).__name__}: {error}"
    try:
        actual = run(converted)
        with as_if_traced():
            rewritten = run(converted)
    except SyntaxError as error:
        return f"does not compile: {error.msg}"
    return _outcome_difference(expected, rewritten) or _outcome_difference(expected, actual)


def _outcome_difference(expected: Outcome, actual: Outcome) -> str:
    for expected_item, actual_item in zip(expected.results, actual.results, strict=True):
        if expected_item != actual_item:
            return f"result: expected {expected_item}, found {actual_item}"
    if expected.events != actual.events:
        pairs = zip([*expected.events, "end"], [*actual.events, "end"], strict=False)
        expected_item, actual_item = next((x, y) for x, y in pairs if x != y)
        return f"log: expected {expected_item}, found {actual_item}"
    return ""


def run(source: str) -> Outcome:
    """Call the function `f` of a program with each of CALLS."""
    code = compile_source(source)
    environment = Environment()
    results: list[str] = []
    with limit_time(5):
        names = environment.names()
        exec(code, names)
        for a, b, xs in CALLS:
            environment.counts.clear()
            environment.total_rounds = 0
            items = list(xs)
            try:
                results.append(value_text(names["f"](a, b, items)))
            except Exception as error:
                results.append(error_text(error))
            results.append(f"xs {value_text(items)} G {value_text(names.get('G'))}")
    return Outcome(tuple(results), tuple(environment.events))


def error_text(error: BaseException | None, depth: int = 0) -> str:
    """The text of an exception with its arguments, cause and context."""
    if error is None or depth > 4:
        return ""
    text = f"{type(error).__name__}{value_text(error.args)}"
    if error.__cause__ is not None:
        text += f" from {error_text(error.__cause__, depth + 1)}"
    if error.__context__ is not None and not error.__suppress_context__:
        text += f" during {error_text(error.__context__, depth + 1)}"
    return text


def value_text(value: Any, depth: int = 0) -> str:
    """The text of a value without addresses, to a limited depth."""
    if depth > 6:
        return "..."
    if isinstance(value, Box):
        return "Box"
    if isinstance(value, list | tuple):
        inner = ", ".join(value_text(item, depth + 1) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{value_text(k)}: {value_text(v, depth + 1)}" for k, v in value.items()) + "}"
    text = _REGION.sub("", repr(value))
    return type(value).__name__ if " at 0x" in text else text


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise TooLongError in a block that runs longer, on systems with timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLongError

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)


def compile_source(source: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, "program.py", "exec", dont_inherit=True)


def is_valid(source: str) -> bool:
    try:
        compile_source(source)
    except SyntaxError:
        return False
    return True


def reduce_source(source: str) -> str:
    """Reduce a program to a small form that still fails in the same way."""
    kind = difference(source).partition(":")[0]

    def fails(candidate: str) -> bool:
        try:
            return is_valid(candidate) and difference(candidate).partition(":")[0] == kind
        except (TooLongError, Exception):
            return False

    return shrink.reduce_source(ast.unparse(ast.parse(source)), fails)


def search(seeds: range, size: int) -> Iterator[tuple[int, str]]:
    """Yield the seeds of programs that fail, with the difference; programs with a syntax error are skipped."""
    for seed in seeds:
        source = programs.program(seed, size)
        if is_valid(source) and (text := difference(source)):
            yield seed, text


def main() -> int:
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000, help="the number of programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=24, help="approximate statements in a program")
    parser.add_argument("--stop-after", type=int, default=5, help="failures to print before it stops")
    options = parser.parse_args()
    failures = 0
    for seed, text in search(range(options.seed, options.seed + options.programs), options.size):
        failures += 1
        reduced = reduce_source(programs.program(seed, options.size))
        print(f"# seed {seed}: {text}\n# reduced: {difference(reduced)}\n{reduced}\n", flush=True)
        if failures >= options.stop_after:
            break
    print(f"{options.programs} programs requested, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
