"""Random programs of whole numbers under `@autoconv.function`, called with tensors, against plain Python.

    python tests/fuzz/tensors.py --programs 150 --level 2
    python tests/fuzz/tensors.py --show 17 --level 3
    python tests/fuzz/tensors.py --containers --level 1

All numbers are int32 tensors or Python's ints, so that every program has a meaning under TensorFlow's rules of types.
The level is the depth to which statements are nested. Each program is called twice, with other values, and must be
staged: a refusal counts as a failure, as a wrong result does.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from differential.compare import TooLongError, limited, load

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
    begins = (
        "i, j, k = 1, a, 0",
        "box = Box(b)",
        "items = [1, a, b]",
        "twice = lambda v: v * 2 if v > j else v",
    )
    results = "i, j, k, box.n, items[0], items[1], items[2]"

    def __init__(self, rng: random.Random, level: int) -> None:
        self.rng, self.level = rng, level
        self.lines: list[str] = []
        self.indent, self.loops, self.names = 1, 0, 0

    def module(self) -> str:
        for line in self.begins:
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
        self.names += 1
        return f"{stem}{self.names}"

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
        make = self.rng.choice
        if depth == 0 or self.rng.random() < 0.3:
            return make([*NUMBERS, "box.n", str(self.rng.randint(0, 5)), f"items[{self.rng.randint(0, 2)}]"])
        one, other = self.number(depth - 1), self.number(depth - 1)
        return make([
            f"({one} + {other}) % 20", f"({one} - {other}) % 20", f"({one} * {other}) % 20",
            f"({one} if {self.test(0)} else {other})", f"twice({one}) % 20", f"down({one} % 5, {other} % 20) % 20",
            f"items[({one}) % 3]", f"max({one}, {other})", f"abs({one})", f"box.grow({one})",
            f"(lambda v: (v + {other}) % 20)({one})", f"({make(NUMBERS[:3])} := {one})",
        ])  # fmt: skip

    def test(self, depth: int = 1) -> str:
        one, other = self.number(depth), self.number(depth)
        make = self.rng.choice
        test = make(
            [
                f"{one} < {other}",
                f"{one} == {other}",
                f"0 < {one} <= {other}",
                f"({make(NUMBERS[:3])} := {one}) > {other}",
            ]
        )
        if depth and self.rng.random() < 0.3:
            test = make([f"{test} and {self.test(0)}", f"({test}) or {self.test(0)}", f"not ({test})"])
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
        place = self.rng.choice(["0", "1", f"({self.number(1)}) % 3"])
        self.line(
            self.rng.choice(
                [
                    f"items[{place}] = {self.number(1)}",
                    f"items[{place}] += {self.number(1)}",
                    "items = [v + 1 for v in items]",
                    "items = items[1:] + [j]",
                ]
            )
        )

    def jump(self) -> None:
        self.line(f"if {self.test(0)}:")
        with self.deeper():
            self.line(self.rng.choice(["break", "continue", f"return {self.results}"]))

    def branch(self, depth: int) -> None:
        self.line(f"if {self.test()}:")
        self.block(depth)
        if self.rng.random() < 0.5:
            self.line("else:")
            self.block(depth)

    def while_(self, depth: int) -> None:
        count = self.fresh("n")
        self.line(f"{count} = 0")
        self.line(f"while ({count} := {count} + 1) < {self.number(1)} % 5 and {self.test(0)}:")
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
        one, other = self.number(1), self.number(1)
        subject, *patterns = self.rng.choice([
            ("box", "Box(n=0 | 3)", f"Box(n=k) if k > {one}", "_"),
            (f"({one}, {other})", "(0, k)", f"(j, k) if j < {self.number(1)}", "_"),
            (one, "0 | 1", f"k if k > {other}", "_"),
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
    """Writes programs that also hold lists of lists, a dict, two names of one list, and lists that grow."""

    begins = (*_Writer.begins, "rows, other = [[1, a], [b, 2]], items", "named = {'p': a, 'q': [b, 1]}")
    results = f"{_Writer.results}, rows[0][0], rows[1][1], named['p'], named['q'][1], other[0], len(items), len(other)"

    def number(self, depth: int = 2) -> str:
        if self.rng.random() < 0.8:
            return super().number(depth)
        one, make = super().number(0), self.rng.choice
        return make([
            f"rows[({one}) % 2][{self.rng.randint(0, 1)}]", "named['p']", f"named['q'][({one}) % 2]", "len(items)",
            "other[-1]", f"other[({one}) % 3]", "sum(items) % 20", f"(rows[0] if {self.test(0)} else other)[1]",
        ])  # fmt: skip

    def assign(self) -> None:
        (self.item if self.rng.random() < 0.6 else super().assign)()

    def item(self) -> None:
        if self.rng.random() < 0.3:
            return super().item()
        make, one, other = self.rng.choice, self.number(1), self.number(0)
        self.line(make([
            f"rows[({other}) % 2][{self.rng.randint(0, 1)}] = {one}",
            f"rows[{self.rng.randint(0, 1)}] = [{one}, {other}]",
            "rows[0], rows[1] = rows[1], rows[0]", f"named['p'] = {one}", f"named['q'][({other}) % 2] += {one}",
            f"named['q'] = [{one}, {other}]", f"named['q'] = rows[{self.rng.randint(0, 1)}]", "other = items",
            f"other[{self.rng.randint(0, 2)}] = {one}", "other = list(items)", f"named = {{**named, 'p': {one}}}",
            f"items.append({one}) if len(items) < 6 else None", "items.pop() if len(items) > 3 else None",
            f"items.insert(0, {one}) if len(other) < 6 else None", "items, other = other, items",
        ]))  # fmt: skip
        return None


def staged(source: str) -> str | None:
    """What is wrong with the program under `function`, if anything is; an empty text where plain Python fails."""
    expected = [_outcome(load(source, "<program>")["program"], call) for call in CALLS]
    if not all(isinstance(one, tuple) for one in expected):
        return ""
    function = autoconv.function(load(source, "<program>")["program"])
    for call, one in zip(CALLS, expected, strict=True):
        found = _outcome(function, tuple(autoconv.constant(value, autoconv.int32) for value in call))
        if found != one:
            return found if isinstance(found, str) else f"wrong: {call}: {one} became {found}"
    return None


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, ...] | str:
    try:
        with limited(60):
            return tuple(int(value) for value in function(*arguments))
    except TooLongError:
        return "takes too long"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=150, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--level", type=int, default=2, help="the depth of nested statements")
    parser.add_argument("--containers", action="store_true", help="lists of lists, dicts, lists that grow, aliases")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and what became of it")
    options = parser.parse_args()
    if options.show is not None:
        source = program(options.show, options.level, options.containers)
        print(source, staged(source) or "staged", sep="\n")
        return 0
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.programs):
        problem = staged(program(seed, options.level, options.containers))
        counts["staged" if problem is None else "failed" if problem else "raises or is endless in plain Python"] += 1
        if problem:
            print(f"{seed}: {problem}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
