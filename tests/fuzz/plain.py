"""A differential tester: programs and what they convert to have to do the same on plain values.

    python tests/fuzz/plain.py --programs 10000 --seed 0

Compares what a call returns or raises (type, arguments and cause) and the events logged on the way, which
pins down the order of evaluation. A failure is printed after it was made as small as possible."""

from __future__ import annotations

import ast
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

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


# What a region adds to the qualified name of a function inside it, which some messages show.
_REGION = re.compile(r"(?:if|else|loop)_(?:body|test)[_0-9]*\.<locals>\.")


class Stop(Exception):
    """An exception of the program's own."""


class TooLongError(BaseException):
    """A program that does not end: only made by shrinking."""


class Box:
    """An object with attributes."""

    def __init__(self, n: Any) -> None:
        self.n = n
        self.items = [1, 2]
        self.hooks: list[Any] = []


class World:
    """What one run of a program sees: the log and the counters of its loops."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.rounds: dict[Any, int] = {}
        self.total = 0

    def log(self, tag: Any, value: Any = None) -> Any:
        self.events.append(f"{tag}: {show(value)}")
        if len(self.events) > 5_000:
            raise TooLongError
        return value

    def more(self, key: Any, limit: int) -> bool:
        """Holds `limit` times in a row, and no more at all after 300 rounds."""
        self.total += 1
        count = self.rounds.get(key, 0) + 1
        goes_on = count <= limit and self.total < 300
        self.rounds[key] = count if goes_on else 0
        self.events.append(f"more {key} {goes_on}")
        if len(self.events) > 5_000:
            raise TooLongError
        return goes_on

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
    """What calls of a program did."""

    results: tuple[str, ...]
    events: tuple[str, ...]


def difference(source: str) -> str:
    """How the converted program differs from the program; "" when it does not.

    It runs as it does while nothing is traced, and through the operators.
    """
    expected = run(source)
    try:
        converted = convert_source(source, "program.py").text
    except ConversionError as error:
        return f"refused: {error.message}"
    except Exception as error:
        return f"crashed: {type(error).__name__}: {error}"
    try:
        found = run(converted)
        with as_if_traced():
            rewritten = run(converted)
    except SyntaxError as error:
        return f"does not compile: {error.msg}"
    return _compared(expected, rewritten) or _compared(expected, found)


def _compared(expected: Outcome, found: Outcome) -> str:
    for before, after in zip(expected.results, found.results, strict=True):
        if before != after:
            return f"result: expected {before}, found {after}"
    if expected.events != found.events:
        pairs = zip([*expected.events, "end"], [*found.events, "end"], strict=False)
        before, after = next((x, y) for x, y in pairs if x != y)
        return f"log: expected {before}, found {after}"
    return ""


def run(source: str) -> Outcome:
    """Runs `f` of a module's text on every one of CALLS."""
    code = compiled(source)
    world = World()
    results: list[str] = []
    with limited(5):
        names = world.names()
        exec(code, names)
        for a, b, xs in CALLS:
            world.rounds.clear()
            world.total = 0
            items = list(xs)
            try:
                results.append(show(names["f"](a, b, items)))
            except Exception as error:
                results.append(describe(error))
            results.append(f"xs {show(items)} G {show(names.get('G'))}")
    return Outcome(tuple(results), tuple(world.events))


def describe(error: BaseException | None, depth: int = 0) -> str:
    """An exception with its arguments, cause and context. Where a name is missing, which name is in the
    text."""
    if error is None or depth > 4:
        return ""
    text = f"{type(error).__name__}{show(error.args)}"
    if error.__cause__ is not None:
        text += f" from {describe(error.__cause__, depth + 1)}"
    if error.__context__ is not None and not error.__suppress_context__:
        text += f" during {describe(error.__context__, depth + 1)}"
    return text


def show(value: Any, depth: int = 0) -> str:
    """A repr without addresses, and without end."""
    if depth > 6:
        return "..."
    if isinstance(value, Box):
        return "Box"
    if isinstance(value, list | tuple):
        inner = ", ".join(show(item, depth + 1) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(k)}: {show(v, depth + 1)}" for k, v in value.items()) + "}"
    text = _REGION.sub("", repr(value))
    return type(value).__name__ if " at 0x" in text else text


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends what runs longer, where signals can do that."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def compiled(source: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, "program.py", "exec", dont_inherit=True)


def is_valid(source: str) -> bool:
    try:
        compiled(source)
    except SyntaxError:
        return False
    return True


def smallest(source: str) -> str:
    """The program made smaller while it still fails in the same way."""
    kind = difference(source).partition(":")[0]

    def fails(candidate: str) -> bool:
        try:
            return is_valid(candidate) and difference(candidate).partition(":")[0] == kind
        except (TooLongError, Exception):
            return False

    return shrink.smallest(ast.unparse(ast.parse(source)), fails)


def search(seeds: range, size: int) -> Iterator[tuple[int, str]]:
    """The seeds whose programs fail, with the difference. Programs that Python refuses are passed over."""
    for seed in seeds:
        source = programs.program(seed, size)
        if is_valid(source) and (found := difference(source)):
            yield seed, found


def main() -> int:
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=24, help="statements in a program, about")
    parser.add_argument("--stop-after", type=int, default=5, help="failures to print before it stops")
    options = parser.parse_args()
    failures = 0
    for seed, found in search(range(options.seed, options.seed + options.programs), options.size):
        failures += 1
        small = smallest(programs.program(seed, options.size))
        print(f"# seed {seed}: {found}\n# smallest: {difference(small)}\n{small}\n", flush=True)
        if failures >= options.stop_after:
            break
    print(f"{options.programs} programs asked for, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
