"""Tools of fuzzers for one kind of values: loading a program, its outcome, and the command line."""

from __future__ import annotations

import argparse
import collections
import linecache
import operator
import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import autoconv as ac
from autoconv.config import SETTINGS
from differential.compare import TooLongError, limit_time

SETTINGS.strict = True  # raise internal errors instead of running plain Python


def load_program(source: str, filename: str, **names: Any) -> Callable[..., Any]:
    """Return the function `program` of the source, registered under the file name; `names` are its globals."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"__name__": "programs", **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(source, filename, "exec"), namespace)
    return namespace["program"]


def compare_calls(
    plain: Callable[..., Any],
    function: Callable[..., Any],
    calls: Iterable[Any],
    outcome: Callable[[Any, Any], Any],
    agree: Callable[[Any, Any], bool] = operator.eq,
    describe: Callable[[Any, Any], str] = lambda expected, found: f"expected {expected}\nfound    {found}",
    seconds: float = 5.0,
) -> tuple[str, str]:
    """Compare `outcome(plain, call)` with `outcome(compiled, call)` for each call, where `function` is compiled.

    Return how the program ran, "too long" where plain Python needs more than `seconds`, or "WRONG", and details.
    """
    calls = list(calls)
    try:
        with limit_time(seconds):
            expected_outcomes = [outcome(plain, call) for call in calls]
    except TooLongError:
        return "too long", ""
    compiled = ac.compile(function)
    for call, expected in zip(calls, expected_outcomes, strict=True):
        try:
            with limit_time(60):
                found = outcome(compiled, call)
        except TooLongError:
            found = "more than a minute"
        if not agree(expected, found):
            return "WRONG", f"arguments {call}\n{describe(expected, found)}\n{compiled.explain()}"
    if "internal error" in compiled.explain():
        return "WRONG", compiled.explain()
    return execution_kind(compiled)


def execution_kind(compiled: Any) -> tuple[str, str]:
    """Return how a program with correct results ran, and the text that shows it."""
    explanation = compiled.explain()
    if "plain Python" in explanation:
        line = next(line for line in explanation.splitlines() if "plain Python" in line)
        return ("one call outgrew the graph" if "one call" in line else "plain Python"), line
    return ("graph" if compiled.experimental_get_tracing_count() == 1 else "several traces"), explanation


def run_command(
    description: str | None,
    make_program: Callable[[int], str],
    check: Callable[[str, int], tuple[str, str]],
    programs: int = 500,
) -> int:
    """Make and check the requested number of programs, print the outcomes; return 1 if one was wrong."""
    options = parse_options(description, programs)
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    for number in range(options.seed, options.seed + options.programs):
        source = make_program(number)
        try:
            kind, details = check(source, number)
        except KeyboardInterrupt:
            break
        except Exception:
            kind, details = "WRONG", traceback.format_exc()
        counts[kind] += 1
        if kind in ("plain Python", "refused"):
            reasons[details.split("\n")[0].split(": ", 2)[-1][:100]] += 1
        if kind == "WRONG" and counts[kind] <= options.show:
            print(f"program {number}\n{source}{details}\n")
    print(f"{counts.total()} programs: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    for reason, count in reasons.most_common(10):
        print(f"  {count} {reason}")
    return 1 if counts["WRONG"] else 0


def parse_options(description: str | None, programs: int) -> argparse.Namespace:
    """Parse the command line: the number of `programs`, the first `seed`, and the number of failures to `show`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=programs)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=3, help="how many failures to print")
    return parser.parse_args()
