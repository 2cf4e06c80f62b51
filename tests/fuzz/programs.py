"""Random Python programs: every statement and expression that converts, in nested mixes, always terminating.

A program is the text of a module with a function `f(a, b, xs)`. It may call what `plain.py` provides: `log(tag,
value)` notes an event and returns the value, `more(key, limit)` holds at most `limit` times in a row, `Box`, `Manager`,
`Stop`. Every loop over an unknown number of rounds asks `more`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import contextmanager

NAMES = ("a", "b", "c", "d", "e")
ERRORS = ("ValueError", "KeyError", "ZeroDivisionError", "TypeError", "Stop", "Exception", "IndexError")
OPERATORS = ("+", "-", "*", "//", "%", "&", "|", "^")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


def program(seed: int, size: int = 24) -> str:
    """The program of that seed: the same on every run."""
    return _Writer(random.Random(seed), size).module()


class _Writer:
    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng = rng
        self.budget = size
        self.lines: list[str] = []
        self.indent = 0
        self.events = 0
        self.names = list(NAMES)
        self.loop = False
        self.function = "plain"  # "plain", "generator" or "lambda"
        self.functions: list[str] = []
        self.nested = 0
        self.assignable = list(NAMES)
        self.can_walrus = True

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
            if self.chance(0.8):
                self.line(f"return {self.shown()}")
        return "\n".join(self.lines) + "\n"

    def shown(self) -> str:
        return "(" + ", ".join(self.rng.sample(self.names, 3)) + ", xs, box.n)"

    # ---- writing

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def deeper(self):
        self.indent += 1
        yield
        self.indent -= 1

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def event(self) -> int:
        self.events += 1
        return self.events

    def target(self) -> str:
        return self.rng.choice(self.assignable)

    def block(self, depth: int, most: int = 3) -> None:
        with self.deeper():
            for _ in range(self.rng.randint(1, most)):
                if not self.statement(depth + 1):
                    break

    # ---- statements: each answers whether something may follow it

    def statement(self, depth: int) -> bool:
        self.budget -= 1
        simple: list[tuple[float, Callable[[], bool]]] = [
            (5, self.assign), (2, self.augment), (2, self.note), (1.2, self.unpack), (1, self.item), (1, self.attribute),
            (0.15, self.delete), (0.3, self.check), (0.8, self.call_local), (0.5, self.chain), (0.4, self.annotated),
            (0.3, self.import_something),
        ]  # fmt: skip
        if depth:
            simple += [(1.3, self.leave), (0.5, self.throw)]
        if self.loop:
            simple += [(1.6, self.leave_loop)]
        if self.function == "generator":
            simple += [(1.5, self.give)]
        if depth > 4 or self.budget <= 0:
            return self.pick(simple)()
        compound: list[tuple[float, Callable[[int], bool]]] = [
            (5, self.if_), (2.5, self.for_), (2, self.while_), (2, self.try_), (1.2, self.with_), (0.8, self.match),
        ]  # fmt: skip
        if self.nested < 2:
            compound += [(1.6, self.inner_function), (0.4, self.inner_class)]
        if self.chance(0.5):
            return self.pick(simple)()
        return self.pick(compound)(depth)

    def pick(self, choices):
        weights = [weight for weight, _ in choices]
        return self.rng.choices([choice for _, choice in choices], weights)[0]

    def assign(self) -> bool:
        self.line(f"{self.target()} = {self.expression(2)}")
        return True

    def chain(self) -> bool:
        targets = [self.target(), self.rng.choice([self.target(), self.place()])]
        self.line(f"{targets[0]} = {targets[1]} = {self.expression(1)}")
        return True

    def annotated(self) -> bool:
        if self.function == "plain" and self.nested == 0 and "G" not in self.assignable:
            self.line(f"{self.rng.choice(NAMES)}: int = {self.expression(1)}")
        else:
            self.line("pass")
        return True

    def import_something(self) -> bool:
        self.line(self.rng.choice(["import math", "from math import floor", "pass", "..."]))
        return True

    def augment(self) -> bool:
        target = self.rng.choice([self.target(), self.target(), self.place()])
        self.line(f"{target} {self.rng.choice('+-*|^')}= {self.expression(1)}")
        return True

    def place(self) -> str:
        if self.chance(0.3):
            return f"log({self.event()}, box).n"
        return self.rng.choice(
            ["box.n", "box.n", f"xs[{self.expression(1)} % 2]", f"xs[log({self.event()}, {self.rng.randint(-2, 2)})]",
             "box.items[0]", f"box.items[{self.atom()}]"]
        )  # fmt: skip

    def unpack(self) -> bool:
        first, second = self.target(), self.rng.choice([self.target(), self.place()])
        if self.chance(0.3):
            self.line(f"{first}, *box.rest = {self.sequence(1)}")
        elif self.chance(0.2):
            self.line(f"({first}, ({second}, {self.target()})) = ({self.expression(1)}, ({self.atom()}, {self.atom()}))")
        else:
            self.line(f"{first}, {second} = {self.expression(1)}, {self.expression(1)}")
        return True

    def item(self) -> bool:
        if self.chance(0.9):
            self.line(f"{self.place()} = {self.expression(1)}")
        else:
            self.line(f"xs[0:1] = [{self.expression(1)}, {self.atom()}]")
        return True

    def attribute(self) -> bool:
        self.line(f"box.{self.rng.choice('nm')} = {self.expression(2)}")
        return True

    def note(self) -> bool:
        self.line(f"log({self.event()}, {self.expression(2)})")
        return True

    def delete(self) -> bool:
        self.line(f"del {self.rng.choice([self.target(), self.target(), 'box.n', 'xs[0]'])}")
        return True

    def check(self) -> bool:
        message = f", {self.rng.choice([self.atom(), 'f%r' % '{a} bad'])}" if self.chance(0.5) else ""
        self.line(f"assert {self.condition()}{message}")
        return True

    def call_local(self) -> bool:
        if not self.functions:
            return self.note()
        name = self.rng.choice(self.functions)
        call = f"{name}({self.arguments()})"
        if name.startswith("gen"):
            self.line(self.rng.choice([f"log({self.event()}, list({call}))", f"for {self.target()} in {call}: log({self.event()})"]))
        else:
            self.line(self.rng.choice([call, f"{self.target()} = {call} or 0", f"log({self.event()}, {call})"]))
        return True

    def leave(self) -> bool:
        if self.function == "generator":
            self.line("return")
        else:
            self.line(self.rng.choice(["return", f"return {self.expression(2)}", f"return {self.shown()}"]))
        return self.chance(0.1)

    def throw(self) -> bool:
        kind = self.rng.choice(ERRORS)
        cause = self.rng.choice(["", "", "", " from None", " from ValueError(1)"])
        self.line(self.rng.choice([f"raise {kind}{cause}", f"raise {kind}({self.expression(1)}){cause}", "1 // 0"]))
        return self.chance(0.1)

    def leave_loop(self) -> bool:
        self.line(self.rng.choice(["break", "continue"]))
        return self.chance(0.1)

    def give(self) -> bool:
        self.line(
            self.rng.choice(
                [f"yield {self.expression(1)}", f"{self.target()} = yield {self.atom()}", f"yield from {self.sequence(1)}"]
            )
        )
        return True

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
        before, self.loop = self.loop, True
        self.block(depth, 4)
        self.loop = before
        if self.chance(0.25):
            self.line("else:")
            self.block(depth)

    def for_(self, depth: int) -> bool:
        target = self.rng.choice(
            [self.target(), self.target(), f"{self.target()}, {self.target()}", "box.n", f"{self.target()}, box.m"]
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
            forms = [f"{more} and {with_walrus}", f"{with_walrus} and {more}"] if "G" not in self.assignable else forms
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
        patterns = ["1", "2 | 3", f"[1, {self.target()}]" if "G" not in self.assignable else "[1, _]", "[_, *_]", "int()"]
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
        saved = self.loop, self.function, self.names, self.assignable, self.functions
        parameters = self.rng.choice(
            ["p=1, *more_", "p=1, q=2", "p=0, *_, q=1", "p=1, *_, **q_", f"p={self.atom()}, *_, q=1", f"p={self.expression(1)}"]
        )
        self.function = "generator" if self.chance(0.25) else "plain"
        self.loop, self.nested = False, self.nested + 1
        name = f"{'gen' if self.function == 'generator' else 'fun'}{self.event()}"
        self.functions = list(self.functions)
        self.line(f"def {name}({parameters}):")
        own = ["p", "q"] if "q=" in parameters else ["p"]
        with self.deeper():
            if self.chance(0.5):
                shared = self.rng.choice(NAMES)
                self.line(f"nonlocal {shared}")
                own = [*own, shared]
            if "G" in self.assignable and self.chance(0.3):
                self.line("global G")
                own = [*own, "G"]
        self.assignable = own
        self.names = [*saved[2], *own]
        self.block(depth, 4)
        if self.function == "generator":
            with self.deeper():
                self.line(f"yield {self.atom()}")
        self.loop, self.function, self.names, self.assignable, self.functions = saved
        self.nested -= 1
        self.functions.append(name)
        if self.chance(0.5):
            self.call_local()
        return True

    def arguments(self) -> str:
        return self.rng.choice(["", self.expression(1), f"*{self.sequence(1)}", f"{self.atom()}", f"p={self.atom()}"])

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

    # ---- expressions

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.25):
            return self.atom()
        choices: list[tuple[float, Callable[[int], str]]] = [
            (3, self.binary), (2, self.logged), (1.5, self.logic), (1, self.conditional), (1, self.comparison),
            (0.7, self.comprehension), (0.6, self.lambda_), (0.7, self.subscript), (0.5, self.walrus), (0.4, self.negated),
            (0.06, self.container), (0.3, self.quantified),
        ]  # fmt: skip
        return self.pick(choices)(depth - 1)

    def atom(self) -> str:
        if self.chance(0.3):
            return str(self.rng.randint(0, 4))
        if self.chance(0.12):
            return self.rng.choice(["box.n", "xs[0]", "len(xs)"])
        if self.chance(0.02):
            return self.rng.choice(["missing", "box.m", "xs", "box", "1.5"])
        return self.rng.choice(self.names)

    def binary(self, depth: int) -> str:
        operator = self.rng.choice(OPERATORS)
        right = self.expression(depth) if operator not in ("//", "%") or self.chance(0.2) else "3"
        return f"({self.expression(depth)} {operator} {right})"

    def logged(self, depth: int) -> str:
        return f"log({self.event()}, {self.expression(depth)})"

    def logic(self, depth: int) -> str:
        count = self.rng.choice([2, 2, 3])
        return "(" + f" {self.rng.choice(['and', 'or'])} ".join(self.expression(depth) for _ in range(count)) + ")"

    def conditional(self, depth: int) -> str:
        return f"({self.expression(depth)} if {self.condition()} else {self.expression(depth)})"

    def comparison(self, depth: int) -> str:
        text = self.expression(depth)
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            text += f" {self.rng.choice(COMPARISONS)} {self.expression(depth)}"
        return f"({text})"

    def condition(self) -> str:
        return self.rng.choice(
            [f"{self.atom()} {self.rng.choice(COMPARISONS)} {self.atom()}", self.expression(1), self.expression(2),
             f"not {self.atom()}", f"{self.atom()} in {self.sequence(0)}", f"{self.atom()} is not None",
             f"log({self.event()}, {self.atom()} > {self.atom()})"]
        )  # fmt: skip

    def comprehension(self, depth: int) -> str:
        before, self.names = self.names, [*self.names, "v"]
        walrus, self.can_walrus = self.can_walrus, False
        element, test = self.expression(depth), self.condition()
        self.names, self.can_walrus = before, walrus
        test = f" if {test}" if self.chance(0.5) else ""
        inner = f"for v in {self.sequence(0)}{test}"
        return self.rng.choice([f"sum([{element} {inner}])", f"len({{str({element}) {inner}}})",
                                f"len(list({element} {inner}))", f"len({{v: {element} {inner}}})"])  # fmt: skip

    def lambda_(self, depth: int) -> str:
        before, self.names = self.names, [*self.names, "p"]
        walrus, self.can_walrus = self.can_walrus, False
        body = self.expression(depth)
        self.names, self.can_walrus = before, walrus
        return f"(lambda p, *q: {body})({self.atom()})"

    def subscript(self, depth: int) -> str:
        return self.rng.choice(
            [f"xs[{self.expression(depth)} % 2]", "xs[-1]", f"len(xs[{self.atom()}:])", f"({self.atom()}, b)[{self.atom()} > 1]"]
        )

    def walrus(self, depth: int) -> str:
        if not self.can_walrus:
            return self.atom()
        return f"({self.target()} := {self.expression(depth)})"

    def negated(self, depth: int) -> str:
        return f"({self.rng.choice(['not ', '-', '~'])}{self.expression(depth)})"

    def container(self, depth: int) -> str:
        return self.rng.choice(
            [f"({self.expression(depth)}, {self.atom()})", f"[{self.expression(depth)}]", f"{{'k': {self.expression(depth)}}}",
             f"[*{self.sequence(0)}, {self.atom()}]"]
        )  # fmt: skip

    def quantified(self, depth: int) -> str:
        before, self.names = self.names, [*self.names, "v"]
        walrus, self.can_walrus = self.can_walrus, False
        text = f"{self.rng.choice(['any', 'all', 'sum', 'max'])}({self.expression(depth)} for v in {self.sequence(0)})"
        self.names, self.can_walrus = before, walrus
        return text

    def sequence(self, depth: int) -> str:
        return self.rng.choice(
            ["xs[:3]", f"range({self.rng.randint(0, 3)})", f"[{self.expression(depth)}, {self.expression(depth)}]",
             f"({self.atom()}, {self.atom()})", f"log({self.event()}, [1, 2])"]
        )  # fmt: skip
