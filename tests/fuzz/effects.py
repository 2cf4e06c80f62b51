"""The product of ways to an object, kinds of calls, effects, containers and contexts: compiled against plain Python.

    python tests/fuzz/effects.py [--sample 2000 | --whole] [--begin 0] [--minutes 9] [--seed 0] [--only TEXT] [--jobs 2]
        [--converted]

A program reaches an object that existed before its call: a global, an item, an attribute, or an element of a list in a
comprehension. It calls a method of the object, directly or by an operator, or writes to it; objects may be among the
arguments. Each program is called six times, with changes from outside in between. Results, exceptions, output, the
contents of all objects after each call, and the states of the global random streams are compared. Without --sample, the
programs contain each pair of entries of two tables (path, kind, effect, context, arguments). With --converted, the
compiled function is that of a converted module, as `autoconv convert` writes it.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import io
import itertools
import linecache
import logging
import multiprocessing
import random
import re
import sys
import time
import types
import warnings
from typing import Any

import numpy as np
from grammar.effects import Program, all_programs, pairwise_programs, sample_programs

import autoconv
from autoconv.emit.module import convert_source

_NAMES = ("SEEN", "LOG", "BOX", "TABLE", "NESTED", "OTHER", "NAMES", "POINTS", "GRID", "QUEUE")
CALLS = ((1.5, 2), (2.5, 3), (-1.0, 1), (3, 3), (2.0, 2), (4.5, 4))


def run(program: Program, compiles: bool, is_converted: bool = False) -> tuple[list[Any], Any]:
    """Return the outcome of each call with the state after it, and the function."""
    name = f"<{', '.join(program)}>"
    source = convert_source(program.source(), name).text if is_converted else program.source()
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    module = sys.modules["effects_program"] = types.ModuleType("effects_program")  # dataclasses ask for it
    namespace: dict[str, Any] = vars(module)
    random.seed(5)
    np.random.seed(5)
    exec(compile(source, name, "exec"), namespace)
    function, replace = namespace["make"](namespace["new"]())
    function = autoconv.compile(function) if compiles else function
    objects: tuple[Any, ...] = ()
    if program.has_objects():
        objects = namespace["new"](), [namespace["new"](), namespace["new"]()]
    outcomes = []
    for call_number, arguments in enumerate(CALLS):
        if call_number == 2:
            change(namespace)
        if call_number == 4:
            replace()
        outcomes.append((outcome(function, (*arguments, *objects)), state(namespace)))
    return outcomes, function


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = describe(function(*arguments))
        except Exception as error:
            result = type(error).__name__, str(error)
    return result, printed.getvalue()


def change(namespace: dict[str, Any]) -> None:
    """Change the objects from outside, between two calls."""
    namespace["SEEN"] += 3
    namespace["LOG"].append("outside")
    namespace["OTHER"].part += 2
    namespace["GRID"][0] += 4
    namespace["NAMES"]["n"] = namespace["NAMES"].get("n", 0) + 6
    for created in namespace["MADE"]:
        if type(created) is namespace.get("Counter"):
            attributes = object.__getattribute__(created, "__dict__")
            attributes["count"] += 10
            attributes["log"].append("outside")
            attributes["table"]["n"] += 5
            attributes["array"] += 1
            type(created).total += 7
        elif isinstance(created, list):
            created.extend(created[:1])


def state(namespace: dict[str, Any]) -> Any:
    """Return the observable state of the program's objects and of the global random streams."""
    names = [name for name in _NAMES if name in namespace]
    descriptions = [describe(created) for created in namespace["MADE"]]
    total = getattr(namespace.get("Counter"), "total", None)
    streams = hash(random.getstate()), hash(np.random.get_state()[1].tobytes()), np.random.get_state()[2]
    return [describe(namespace[name]) for name in names], descriptions, total, repr(namespace["STREAM"]), streams


def describe(value: Any, depth: int = 5) -> Any:
    """Return the value in a comparable form, without a call of its methods."""
    kind = type(value).__name__
    if isinstance(value, (list, tuple, collections.deque)):
        return kind, [describe(part, depth) for part in value]
    if isinstance(value, dict):
        return kind, [(describe(key), describe(part)) for key, part in value.items()]
    if isinstance(value, np.ndarray):
        return kind, value.dtype.name, describe(value.tolist())
    if isinstance(value, np.random.RandomState):
        return kind, value.get_state()[1].tobytes(), value.get_state()[2]
    if isinstance(value, np.random.Generator):
        return kind, repr(value.bit_generator.state)
    if isinstance(value, random.Random):
        return kind, hash(value.getstate())
    if isinstance(value, io.StringIO):
        return kind, value.getvalue()
    if type(value).__module__ == "effects_program" and depth:
        attributes = object.__getattribute__(value, "__dict__") if kind != "Slotted" else {}
        return kind, [(name, describe(part, depth - 1)) for name, part in attributes.items()]
    if type(value) in (bool, int, float, str, bytes, bytearray, set, type(None)) or isinstance(value, np.generic):
        return kind, repr(value)
    return kind


def check(program: Program, is_converted: bool = False) -> tuple[str, str, str]:
    """Return ("same" | "plain" | "WRONG", details, the reason why the program ran plain)."""
    expected, _ = run(program, compiles=False)
    actual, function = run(program, True, is_converted)
    explanation = function.explain()
    reasons = [line.strip() for line in explanation.splitlines() if "plain Python:" in line]
    if expected != actual:
        call_number = next(i for i, (a, b) in enumerate(zip(expected, actual, strict=True)) if a != b)
        details = f"call {call_number}: {difference(expected[call_number], actual[call_number])}"
        return "WRONG", details, reasons[0] if reasons else ""
    return ("plain" if reasons else "same"), "", reasons[0] if reasons else ""


def difference(expected: Any, actual: Any) -> str:
    """Describe the first of the innermost parts that differ."""
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)) and len(expected) == len(actual):
        return next(difference(a, b) for a, b in zip(expected, actual, strict=True) if a != b)
    return f"wanted {expected}, found {actual}"


def check_safely(program: Program, is_converted: bool = False) -> tuple[Program, tuple[str, str, str]]:
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    try:
        return program, check(program, is_converted)
    except Exception as error:
        return program, ("WRONG", f"the check ends in {type(error).__name__}: {error}", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, help="number of programs to draw from all of them")
    parser.add_argument("--whole", action="store_true", help="run all programs, some fifty million")
    parser.add_argument("--begin", type=int, default=0, help="number of programs to skip, which an earlier run has run")
    parser.add_argument("--minutes", type=float, default=1e9, help="number of minutes after which to end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="run the programs whose names contain TEXT")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--converted", action="store_true", help="compile functions of converted modules")
    parser.add_argument("--show", action="store_true", help="print why programs ran plain, by kinds")
    parser.add_argument("--source", action="store_true", help="print the text of the programs that are wrong")
    options = parser.parse_args()
    generator, start = random.Random(options.seed), time.monotonic()
    if options.whole:
        chosen = all_programs()
    elif options.sample:
        chosen = sample_programs(options.sample, generator)
    else:
        chosen = pairwise_programs(generator)
    matching = (program for program in chosen if options.only in ", ".join(program))
    programs = itertools.islice(matching, options.begin, None)
    counts: collections.Counter[str] = collections.Counter()
    wrong: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    reasons: collections.Counter[str] = collections.Counter()
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        run_check = functools.partial(check_safely, is_converted=options.converted)
        for program, (verdict, details, reason) in pool.imap(run_check, programs, chunksize=5):
            counts[verdict] += 1
            if time.monotonic() > start + 60 * options.minutes:
                break
            reasons[re.sub(r"<[^>]*>(:\d+)*|\d+", "…", reason)[:150]] += bool(reason)
            if verdict == "WRONG":
                for field, name in program._asdict().items():
                    wrong[field][name] += 1
                print(f"--- {program}\n{details}\n{program.source() if options.source else ''}", flush=True)
    for field, names in wrong.items():
        print(f"wrong by {field}: {', '.join(f'{name} {count}' for name, count in names.most_common(12))}")
    for reason, count in reasons.most_common(40) if options.show else ():
        print(f"{count:6} {reason}")
    totals = ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items()))
    print(f"{sum(counts.values())} programs from {options.begin} on, in {time.monotonic() - start:.0f} s: {totals}")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
