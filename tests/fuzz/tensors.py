"""Random programs of whole numbers under `@autoconv.function`, called with tensors, against plain Python.

    python tests/fuzz/tensors.py --programs 150 --level 2
    python tests/fuzz/tensors.py --show 17 --level 3
    python tests/fuzz/tensors.py --containers --level 1

All numbers are int32 tensors or Python's ints, so that each program is valid under TensorFlow's rules of types. The
level is the depth of nested statements. Each program is called three times with different values, and must be staged:
both an error and a wrong result count as failures.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from differential.compare import TooLongError, limit_time, load

import autoconv

NUMBERS = ("i", "j", "k", "a", "b")
CALLS = ((3, 2), (0, 5), (7, -4))
HEAD = """class Box:
    def __init__(self, n):
        self.n = n

    def grow(self, by):
        if by > 2:
            self.n = (self.n + by) % 50
            return self.n
        return by


def down(n, kept):
    if n <= 0:
        return kept
    if kept > 9:
        return down(n - 2, kept - 3) + 1
    return down(n - 1, kept + n)


"""


def program(seed: int, level: int, containers: bool = False) -> str:
    """The program of that seed: the same on every run."""
    return (_ContainerWriter if containers else _Writer)(random.Random(seed), level).module()


class _Writer:
    """A writer of programs over ints, a list and an object."""

    initial_lines = (
        "i, j, k = 1, a, 0",
        "box = Box(b)",
        "items = [1, a, b]",
        "twice = lambda v: v * 2 if v > j else v",
    )
    results = "i, j, k, box.n, items[0], items[1], items[2]"

    def __init__(self, rng: random.Random, level: int) -> None:
        self.rng, self.level = rng, level
        self.lines: list[str] = []
        self.indent, self.loops, self.name_count = 1, 0, 0

    def module(self) -> str:
        for line in self.initial_lines:
            self.line(line)
        for _ in range(self.rng.randint(3, 6)):
            self.statement(1)
        self.line(f"return {self.results}")
        return HEAD + "def program(a, b):\n" + "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.indent += 1
        yield
        self.indent -= 1

    def fresh(self, stem: str) -> str:
        self.name_count += 1
        return f"{stem}{self.name_count}"

    def statement(self, depth: int) -> None:
        simple = [self.assign, self.assign, self.attribute, self.item]
        if self.loops:
            simple += [self.jump]
        nested = [self.branch, self.while_, self.for_, self.for_else, self.match, self.function, self.search]
        choice = nested if depth <= self.level and self.rng.random() < 0.6 else simple
        self.rng.choice(choice)(*([depth] if choice is nested else []))

    def block(self, depth: int) -> None:
        with self.deeper():
            for _ in range(self.rng.randint(1, 3)):
                self.statement(depth + 1)

    def number(self, depth: int = 2) -> str:
        choose = self.rng.choice
        if depth == 0 or self.rng.random() < 0.3:
            return choose([*NUMBERS, "box.n", str(self.rng.randint(0, 5)), f"items[{self.rng.randint(0, 2)}]"])
        left, right = self.number(depth - 1), self.number(depth - 1)
        return choose([
            f"({left} + {right}) % 20", f"({left} - {right}) % 20", f"({left} * {right}) % 20",
            f"({left} if {self.condition(0)} else {right})", f"twice({left}) % 20",
            f"down({left} % 5, {right} % 20) % 20",
            f"items[({left}) % 3]", f"max({left}, {right})", f"abs({left})", f"box.grow({left})",
            f"(lambda v: (v + {right}) % 20)({left})", f"({choose(NUMBERS[:3])} := {left})",
        ])  # fmt: skip

    def condition(self, depth: int = 1) -> str:
        left, right = self.number(depth), self.number(depth)
        choose = self.rng.choice
        test = choose(
            [
                f"{left} < {right}",
                f"{left} == {right}",
                f"0 < {left} <= {right}",
                f"({choose(NUMBERS[:3])} := {left}) > {right}",
            ]
        )
        if depth and self.rng.random() < 0.3:
            test = choose([f"{test} and {self.condition(0)}", f"({test}) or {self.condition(0)}", f"not ({test})"])
        return test

    def assign(self) -> None:
        name = self.rng.choice(NUMBERS[:3])
        self.line(
            self.rng.choice(
                [
                    f"{name} = {self.number()}",
                    f"{name} += {self.number(1)}",
                    f"i, j = {self.number(1)}, {self.number(1)}",
                ]
            )
        )

    def attribute(self) -> None:
        self.line(
            self.rng.choice(
                [f"box.n = {self.number()}", f"box.n += {self.number(1)}", f"k = box.grow({self.number(1)})"]
            )
        )

    def item(self) -> None:
        index = self.rng.choice(["0", "1", f"({self.number(1)}) % 3"])
        self.line(
            self.rng.choice(
                [
                    f"items[{index}] = {self.number(1)}",
                    f"items[{index}] += {self.number(1)}",
                    "items = [v + 1 for v in items]",
                    "items = items[1:] + [j]",
                ]
            )
        )

    def jump(self) -> None:
        self.line(f"if {self.condition(0)}:")
        with self.deeper():
            self.line(self.rng.choice(["break", "continue", f"return {self.results}"]))

    def branch(self, depth: int) -> None:
        self.line(f"if {self.condition()}:")
        self.block(depth)
        if self.rng.random() < 0.5:
            self.line("else:")
            self.block(depth)

    def while_(self, depth: int) -> None:
        count = self.fresh("n")
        self.line(f"{count} = 0")
        self.line(f"while ({count} := {count} + 1) < {self.number(1)} % 5 and {self.condition(0)}:")
        self.loop(depth)

    def for_(self, depth: int) -> None:
        self.line(f"for {self.fresh('p')} in range({self.number(1)} % 4):")
        self.loop(depth)

    def for_else(self, depth: int) -> None:
        self.line(f"for j in {self.rng.choice(['items', 'list(items)', '(i, j, 2)', 'range(j % 3)'])}:")
        self.loop(depth)
        self.line("else:")
        self.block(depth)

    def loop(self, depth: int) -> None:
        self.loops += 1
        self.block(depth)
        self.loops -= 1

    def match(self, depth: int) -> None:
        first, second = self.number(1), self.number(1)
        subject, *patterns = self.rng.choice([
            ("box", "Box(n=0 | 3)", f"Box(n=k) if k > {first}", "_"),
            (f"({first}, {second})", "(0, k)", f"(j, k) if j < {self.number(1)}", "_"),
            (first, "0 | 1", f"k if k > {second}", "_"),
        ])  # fmt: skip
        self.line(f"match {subject}:")
        with self.deeper():
            for pattern in patterns:
                self.line(f"case {pattern}:")
                self.block(depth)

    def function(self, depth: int) -> None:
        name, loops, self.loops = self.fresh("inner"), self.loops, 0
        self.line(f"def {name}(v, w=1):")
        with self.deeper():
            if self.rng.random() < 0.5:
                self.line("nonlocal k")
                self.line(f"k = {self.number(1)}")
            self.line(f"if v > {self.number(1)}:")
            self.line("    return w")
            self.line(f"return {self.number(1)}")
        self.loops = loops
        self.line(f"i = {name}({self.number(1)}, w={self.number(1)}) % 20")

    def search(self, depth: int) -> None:
        self.line(f"if any(v > {self.number(0)} for v in items) or {self.number(0)} in items:")
        self.block(depth)


class _ContainerWriter(_Writer):
    """A writer of programs with lists of lists, a dict, two names of one list, and lists that grow."""

    initial_lines = (*_Writer.initial_lines, "rows, other = [[1, a], [b, 2]], items", "named = {'p': a, 'q': [b, 1]}")
    results = f"{_Writer.results}, rows[0][0], rows[1][1], named['p'], named['q'][1], other[0], len(items), len(other)"

    def number(self, depth: int = 2) -> str:
        if self.rng.random() < 0.8:
            return super().number(depth)
        number, choose = super().number(0), self.rng.choice
        return choose([
            f"rows[({number}) % 2][{self.rng.randint(0, 1)}]",
            "named['p']", f"named['q'][({number}) % 2]", "len(items)",
            "other[-1]", f"other[({number}) % 3]", "sum(items) % 20", f"(rows[0] if {self.condition(0)} else other)[1]",
        ])  # fmt: skip

    def assign(self) -> None:
        (self.item if self.rng.random() < 0.6 else super().assign)()

    def item(self) -> None:
        if self.rng.random() < 0.3:
            return super().item()
        choose, number, small_number = self.rng.choice, self.number(1), self.number(0)
        self.line(choose([
            f"rows[({small_number}) % 2][{self.rng.randint(0, 1)}] = {number}",
            f"rows[{self.rng.randint(0, 1)}] = [{number}, {small_number}]",
            "rows[0], rows[1] = rows[1], rows[0]",
            f"named['p'] = {number}", f"named['q'][({small_number}) % 2] += {number}",
            f"named['q'] = [{number}, {small_number}]", f"named['q'] = rows[{self.rng.randint(0, 1)}]", "other = items",
            f"other[{self.rng.randint(0, 2)}] = {number}", "other = list(items)", f"named = {{**named, 'p': {number}}}",
            f"items.append({number}) if len(items) < 6 else None", "items.pop() if len(items) > 3 else None",
            f"items.insert(0, {number}) if len(other) < 6 else None", "items, other = other, items",
        ]))  # fmt: skip
        return None


def staging_problem(source: str) -> str | None:
    """The error of the program under `function`, or None; an empty text if plain Python fails."""
    expected = [_outcome(load(source, "<program>")["program"], call) for call in CALLS]
    if not all(isinstance(result, tuple) for result in expected):
        return ""
    function = autoconv.function(load(source, "<program>")["program"])
    for call, expected_result in zip(CALLS, expected, strict=True):
        actual = _outcome(function, tuple(autoconv.constant(value, autoconv.int32) for value in call))
        if actual != expected_result:
            return actual if isinstance(actual, str) else f"wrong: {call}: {expected_result} became {actual}"
    return None


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, ...] | str:
    try:
        with limit_time(60):
            return tuple(int(value) for value in function(*arguments))
    except TooLongError:
        return "takes too long"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=150, help="the number of programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--level", type=int, default=2, help="the depth of nested statements")
    parser.add_argument("--containers", action="store_true", help="lists of lists, dicts, lists that grow, aliases")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and its outcome")
    options = parser.parse_args()
    if options.show is not None:
        source = program(options.show, options.level, options.containers)
        print(source, staging_problem(source) or "staged", sep="\n")
        return 0
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.programs):
        problem = staging_problem(program(seed, options.level, options.containers))
        counts["staged" if problem is None else "failed" if problem else "raises or is endless in plain Python"] += 1
        if problem:
            print(f"{seed}: {problem}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
