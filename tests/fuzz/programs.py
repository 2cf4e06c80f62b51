"""Random Python programs of all statements and expressions that are converted, nested; each program terminates.

A program is the text of a module with a function `f(a, b, xs)`. Its globals are in `plain.py`: `log(tag, value)`
logs an event and returns the value, `more(key, limit)` is true at most `limit` times in a row, `Box`,
`Manager`, `Stop`. Each loop with an unknown number of iterations calls `more`."""

from __future__ import annotations

import random
from collections.abc import Callable

from expressions import NAMES
from statements import ERRORS, SimpleStatements


def program(seed: int, size: int = 24) -> str:
    """The program of that seed: the same on every run."""
    return _Writer(random.Random(seed), size).module()


class _Writer(SimpleStatements):
    def module(self) -> str:
        self.line("G = 0")
        self.line("def f(a, b, xs):")
        with self.deeper():
            if self.chance(0.15):
                self.line("global G")
                self.assignable.append("G")
                self.names.append("G")
            if self.chance(0.8):
                self.line("box = Box(1)")
            else:
                self.line("box = Box(xs)")
            for name in ("c", "d", "e"):
                if self.chance(0.9):
                    self.line(f"{name} = {self.rng.randint(0, 3)}")
                else:
                    self.line(f"if a > 1: {name} = 1")
            while self.budget > 0:
                self.statement(0)
            if self.chance(0.7):
                self.line("log(0, [hook() for hook in box.hooks])")
            if self.chance(0.8):
                self.line(f"return {self.returned_text()}")
        return "\n".join(self.lines) + "\n"

    def returned_text(self) -> str:
        return "(" + ", ".join(self.rng.sample(self.names, 3)) + ", xs, box.n)"

    # ---- writing

    def block(self, depth: int, max_count: int = 3) -> None:
        with self.deeper():
            for _ in range(self.rng.randint(1, max_count)):
                if not self.statement(depth + 1):
                    break

    # ---- statements: each returns whether another statement may follow it

    def statement(self, depth: int) -> bool:
        self.budget -= 1
        simple: list[tuple[float, Callable[[], bool]]] = [
            (5, self.assign),
            (2, self.augmented_assignment),
            (2, self.log_value),
            (1.2, self.unpack),
            (1, self.assign_item),
            (1, self.assign_attribute),
            (0.15, self.delete),
            (0.3, self.assertion),
            (0.8, self.call_local),
            (0.5, self.chained_assignment),
            (0.4, self.annotated_assignment),
            (0.3, self.import_something),
            (0.6, self.hook),
        ]
        if depth:
            simple += [(1.3, self.return_statement), (0.5, self.raise_statement)]
        if self.in_loop:
            simple += [(1.6, self.jump)]
        if self.function_kind == "generator":
            simple += [(1.5, self.yield_statement)]
        if depth > 4 or self.budget <= 0:
            return self.pick(simple)()
        compound: list[tuple[float, Callable[[int], bool]]] = [
            (5, self.if_),
            (2.5, self.for_),
            (2, self.while_),
            (2, self.try_),
            (1.2, self.with_),
            (0.8, self.match),
        ]
        if self.nesting < 2:
            compound += [(1.6, self.inner_function), (0.4, self.inner_class)]
        if self.chance(0.5):
            return self.pick(simple)()
        return self.pick(compound)(depth)

    def if_(self, depth: int) -> bool:
        self.line(f"if {self.condition()}:")
        self.block(depth)
        while self.chance(0.3):
            self.line(f"elif {self.condition()}:")
            self.block(depth)
        if self.chance(0.4):
            self.line("else:")
            self.block(depth)
        return True

    def loop_body(self, depth: int) -> None:
        outer_loop, self.in_loop = self.in_loop, True
        self.block(depth, 4)
        self.in_loop = outer_loop
        if self.chance(0.25):
            self.line("else:")
            self.block(depth)

    def for_(self, depth: int) -> bool:
        target = self.rng.choice(
            [
                self.target(),
                self.target(),
                f"{self.target()}, {self.target()}",
                "box.n",
                f"{self.target()}, box.m",
            ]
        )
        if "," in target:
            items = f"enumerate({self.sequence(1)})"
        else:
            items = self.sequence(1)
        self.line(f"for {target} in {items}:")
        self.loop_body(depth)
        return True

    def while_(self, depth: int) -> bool:
        more = f"more({self.event()}, {self.rng.randint(1, 3)})"
        forms = [f"{more} and {self.condition()}", f"{self.condition()} and {more}", more]
        if self.chance(0.3):
            with_walrus = f"({self.target()} := log({self.event()}, {self.atom()})) != 1"
            forms = (
                [f"{more} and {with_walrus}", f"{with_walrus} and {more}"]
                if "G" not in self.assignable
                else forms
            )
        if self.chance(0.2):
            self.line("while True:")
            with self.deeper():
                self.line(f"if not {more}:")
                with self.deeper():
                    self.line("break")
            self.loop_body(depth)
        else:
            self.line(f"while {self.rng.choice(forms)}:")
            self.loop_body(depth)
        return True

    def try_(self, depth: int) -> bool:
        self.line("try:")
        self.block(depth)
        handled = self.chance(0.8)
        if handled:
            for _ in range(self.rng.choice([1, 1, 2])):
                kind = self.rng.choice([*ERRORS, "(ValueError, TypeError)", "ArithmeticError", "NameError"])
                bound = self.chance(0.4)
                self.line(f"except {kind} as error:" if bound else f"except {kind}:")
                with self.deeper():
                    if bound:
                        self.line(f"log({self.event()}, (type(error).__name__, error.args))")
                    if self.chance(0.15):
                        self.line("raise")
                self.block(depth, 2)
            if self.chance(0.3):
                self.line("else:")
                self.block(depth, 2)
        if not handled or self.chance(0.35):
            self.line("finally:")
            self.block(depth, 2)
        return True

    def with_(self, depth: int) -> bool:
        manager = f"Manager({self.event()}, {self.rng.choice(['False', 'True', self.condition()])})"
        name = self.rng.choice(["", "", f" as {self.target()}", " as box.m"])
        second = f", Manager({self.event()}, False)" if self.chance(0.2) else ""
        self.line(f"with {manager}{name}{second}:")
        self.block(depth)
        return True

    def match(self, depth: int) -> bool:
        self.line(f"match {self.rng.choice([self.expression(1), f'[{self.atom()}, {self.atom()}]'])}:")
        patterns = [
            "1",
            "2 | 3",
            f"[1, {self.target()}]" if "G" not in self.assignable else "[1, _]",
            "[_, *_]",
            "int()",
        ]
        with self.deeper():
            for pattern in self.rng.sample(patterns, self.rng.randint(1, 3)):
                guard = f" if {self.condition()}" if self.chance(0.3) else ""
                self.line(f"case {pattern}{guard}:")
                self.block(depth, 2)
            if self.chance(0.5):
                self.line("case _:")
                self.block(depth, 2)
        return True

    def inner_function(self, depth: int) -> bool:
        outer_state = self.in_loop, self.function_kind, self.names, self.assignable, self.functions
        parameters = self.rng.choice(
            [
                "p=1, *more_",
                "p=1, q=2",
                "p=0, *_, q=1",
                "p=1, *_, **q_",
                f"p={self.atom()}, *_, q=1",
                f"p={self.expression(1)}",
            ]
        )
        self.function_kind = "generator" if self.chance(0.25) else "plain"
        self.in_loop, self.nesting = False, self.nesting + 1
        name = f"{'gen' if self.function_kind == 'generator' else 'fun'}{self.event()}"
        self.functions = list(self.functions)
        self.line(f"def {name}({parameters}):")
        own_names = ["p", "q"] if "q=" in parameters else ["p"]
        with self.deeper():
            if self.chance(0.5):
                nonlocal_name = self.rng.choice(NAMES)
                self.line(f"nonlocal {nonlocal_name}")
                own_names = [*own_names, nonlocal_name]
            if "G" in self.assignable and self.chance(0.3):
                self.line("global G")
                own_names = [*own_names, "G"]
        self.assignable = own_names
        self.names = [*outer_state[2], *own_names]
        self.block(depth, 4)
        if self.function_kind == "generator":
            with self.deeper():
                self.line(f"yield {self.atom()}")
        self.in_loop, self.function_kind, self.names, self.assignable, self.functions = outer_state
        self.nesting -= 1
        self.functions.append(name)
        if self.chance(0.5):
            self.call_local()
        return True

    def arguments(self) -> str:
        return self.rng.choice(
            ["", self.expression(1), f"*{self.sequence(1)}", f"{self.atom()}", f"p={self.atom()}"]
        )

    def inner_class(self, depth: int) -> bool:
        name = f"C{self.event()}"
        self.line(f"class {name}:")
        with self.deeper():
            self.line(f"n = {self.expression(1)}")
            self.line("def __init__(self, v): self.__v = v")
            self.line("def get(self, k):")
            with self.deeper():
                self.line(f"if k: return self.__v + {self.atom()}")
                self.line("self.__v += 1")
                self.line("return self.__v")
        self.line(f"log({self.event()}, {name}({self.atom()}).get({self.atom()}))")
        return True
