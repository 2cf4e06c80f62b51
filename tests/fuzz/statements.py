"""Simple statements of random programs: assignments, deletions, calls, returns, jumps."""

from __future__ import annotations

import random
from contextlib import contextmanager

from expressions import NAMES, Expressions

MESSAGE = "f'{a} bad'"
ERRORS = ("ValueError", "KeyError", "ZeroDivisionError", "TypeError", "Stop", "Exception", "IndexError")


class SimpleStatements(Expressions):
    """A writer of lines of a program; a method writes a statement and returns whether it may stand there."""

    def __init__(self, rng: random.Random, size: int) -> None:
        super().__init__(rng)
        self.budget = size
        self.lines: list[str] = []
        self.indent = 0
        self.in_loop = False
        self.function_kind = "plain"  # "plain", "generator" or "lambda"
        self.functions: list[str] = []
        self.nesting = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def deeper(self):
        self.indent += 1
        yield
        self.indent -= 1

    def assign(self) -> bool:
        self.line(f"{self.target()} = {self.expression(2)}")
        return True

    def chained_assignment(self) -> bool:
        targets = [self.target(), self.rng.choice([self.target(), self.item_target()])]
        self.line(f"{targets[0]} = {targets[1]} = {self.expression(1)}")
        return True

    def annotated_assignment(self) -> bool:
        if self.function_kind == "plain" and self.nesting == 0 and "G" not in self.assignable:
            self.line(f"{self.rng.choice(NAMES)}: int = {self.expression(1)}")
        else:
            self.line("pass")
        return True

    def import_something(self) -> bool:
        self.line(
            self.rng.choice(["import math", "from math import floor", "pass", "...", "import os.path as e"])
        )
        return True

    def augmented_assignment(self) -> bool:
        target = self.rng.choice([self.target(), self.target(), self.item_target()])
        self.line(f"{target} {self.rng.choice('+-*|^')}= {self.expression(1)}")
        return True

    def item_target(self) -> str:
        if self.chance(0.3):
            return f"log({self.event()}, box).n"
        return self.rng.choice(
            [
                "box.n",
                "box.n",
                f"xs[{self.expression(1)} % 2]",
                f"xs[log({self.event()}, {self.rng.randint(-2, 2)})]",
                "box.items[0]",
                f"box.items[{self.atom()}]",
            ]
        )

    def unpack(self) -> bool:
        first, second = self.target(), self.rng.choice([self.target(), self.item_target()])
        if self.chance(0.3):
            self.line(f"{first}, *box.rest = {self.sequence(1)}")
        elif self.chance(0.2):
            self.line(
                f"({first}, ({second}, {self.target()})) = ({self.expression(1)}, ({self.atom()}, {self.atom()}))"
            )
        else:
            self.line(f"{first}, {second} = {self.expression(1)}, {self.expression(1)}")
        return True

    def assign_item(self) -> bool:
        if self.chance(0.9):
            self.line(f"{self.item_target()} = {self.expression(1)}")
        else:
            self.line(f"xs[0:1] = [{self.expression(1)}, {self.atom()}]")
        return True

    def assign_attribute(self) -> bool:
        self.line(f"box.{self.rng.choice('nm')} = {self.expression(2)}")
        return True

    def log_value(self) -> bool:
        self.line(f"log({self.event()}, {self.expression(2)})")
        return True

    def delete(self) -> bool:
        self.line(f"del {self.rng.choice([self.target(), self.target(), 'box.n', 'xs[0]'])}")
        return True

    def assertion(self) -> bool:
        message = f", {self.rng.choice([self.atom(), MESSAGE])}" if self.chance(0.5) else ""
        self.line(f"assert {self.condition()}{message}")
        return True

    def call_local(self) -> bool:
        if not self.functions:
            return self.log_value()
        name = self.rng.choice(self.functions)
        call = f"{name}({self.arguments()})"
        if name.startswith("gen"):
            self.line(
                self.rng.choice(
                    [
                        f"log({self.event()}, list({call}))",
                        f"for {self.target()} in {call}: log({self.event()})",
                    ]
                )
            )
        else:
            self.line(
                self.rng.choice([call, f"{self.target()} = {call} or 0", f"log({self.event()}, {call})"])
            )
        return True

    def hook(self) -> bool:
        """Keep a function for later, when its names may have other values."""
        body = self.rng.choice([self.expression(1), self.atom(), f"({self.atom()}, {self.atom()})"])
        self.line(f"box.hooks.append(lambda: {body})")
        return True

    def return_statement(self) -> bool:
        if self.function_kind == "generator":
            self.line("return")
        else:
            self.line(self.rng.choice(["return", f"return {self.expression(2)}", f"return {self.returned_text()}"]))
        return self.chance(0.1)

    def raise_statement(self) -> bool:
        kind = self.rng.choice(ERRORS)
        cause = self.rng.choice(["", "", "", " from None", " from ValueError(1)"])
        self.line(
            self.rng.choice([f"raise {kind}{cause}", f"raise {kind}({self.expression(1)}){cause}", "1 // 0"])
        )
        return self.chance(0.1)

    def jump(self) -> bool:
        self.line(self.rng.choice(["break", "continue"]))
        return self.chance(0.1)

    def yield_statement(self) -> bool:
        self.line(
            self.rng.choice(
                [
                    f"yield {self.expression(1)}",
                    f"{self.target()} = yield {self.atom()}",
                    f"yield from {self.sequence(1)}",
                ]
            )
        )
        return True
