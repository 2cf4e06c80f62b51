"""Random expressions, most of them of small numbers, with events and walruses among them."""

from __future__ import annotations

import random
from collections.abc import Callable

NAMES = ("a", "b", "c", "d", "e")
OPERATORS = ("+", "-", "*", "//", "%", "&", "|", "^")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


class Expressions:
    """A writer of expressions over `names`; `assignable` are those that a walrus may assign."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.events = 0
        self.names = list(NAMES)
        self.assignable = list(NAMES)
        self.can_walrus = True

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.25):
            return self.atom()
        choices: list[tuple[float, Callable[[int], str]]] = [
            (3, self.binary),
            (2, self.log_call),
            (1.5, self.logic),
            (1, self.conditional),
            (1, self.comparison),
            (0.7, self.comprehension),
            (0.6, self.lambda_),
            (0.7, self.subscript),
            (0.5, self.walrus),
            (0.4, self.negation),
            (0.06, self.container),
            (0.3, self.quantifier),
        ]
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

    def log_call(self, depth: int) -> str:
        return f"log({self.event()}, {self.expression(depth)})"

    def logic(self, depth: int) -> str:
        count = self.rng.choice([2, 2, 3])
        return (
            "("
            + f" {self.rng.choice(['and', 'or'])} ".join(self.expression(depth) for _ in range(count))
            + ")"
        )

    def conditional(self, depth: int) -> str:
        return f"({self.expression(depth)} if {self.condition()} else {self.expression(depth)})"

    def comparison(self, depth: int) -> str:
        text = self.expression(depth)
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            text += f" {self.rng.choice(COMPARISONS)} {self.expression(depth)}"
        return f"({text})"

    def condition(self) -> str:
        return self.rng.choice(
            [
                f"{self.atom()} {self.rng.choice(COMPARISONS)} {self.atom()}",
                self.expression(1),
                self.expression(2),
                f"not {self.atom()}",
                f"{self.atom()} in {self.sequence(0)}",
                f"{self.atom()} is not None",
                f"log({self.event()}, {self.atom()} > {self.atom()})",
            ]
        )

    def comprehension(self, depth: int) -> str:
        outer_names, self.names = self.names, [*self.names, "v"]
        could_walrus, self.can_walrus = self.can_walrus, False
        element, test = self.expression(depth), self.condition()
        self.names, self.can_walrus = outer_names, could_walrus
        test = f" if {test}" if self.chance(0.5) else ""
        inner = f"for v in {self.sequence(0)}{test}"
        return self.rng.choice(
            [
                f"sum([{element} {inner}])",
                f"len({{str({element}) {inner}}})",
                f"len(list({element} {inner}))",
                f"len({{v: {element} {inner}}})",
            ]
        )

    def lambda_(self, depth: int) -> str:
        outer_names, self.names = self.names, [*self.names, "p"]
        could_walrus, self.can_walrus = self.can_walrus, False
        body = self.expression(depth)
        self.names, self.can_walrus = outer_names, could_walrus
        return f"(lambda p, *q: {body})({self.atom()})"

    def subscript(self, depth: int) -> str:
        return self.rng.choice(
            [
                f"xs[{self.expression(depth)} % 2]",
                "xs[-1]",
                f"len(xs[{self.atom()}:])",
                f"({self.atom()}, b)[{self.atom()} > 1]",
            ]
        )

    def walrus(self, depth: int) -> str:
        if not self.can_walrus:
            return self.atom()
        return f"({self.target()} := {self.expression(depth)})"

    def negation(self, depth: int) -> str:
        return f"({self.rng.choice(['not ', '-', '~'])}{self.expression(depth)})"

    def container(self, depth: int) -> str:
        return self.rng.choice(
            [
                f"({self.expression(depth)}, {self.atom()})",
                f"[{self.expression(depth)}]",
                f"{{'k': {self.expression(depth)}}}",
                f"[*{self.sequence(0)}, {self.atom()}]",
            ]
        )

    def quantifier(self, depth: int) -> str:
        outer_names, self.names = self.names, [*self.names, "v"]
        could_walrus, self.can_walrus = self.can_walrus, False
        text = f"{self.rng.choice(['any', 'all', 'sum', 'max'])}({self.expression(depth)} for v in {self.sequence(0)})"
        self.names, self.can_walrus = outer_names, could_walrus
        return text

    def sequence(self, depth: int) -> str:
        return self.rng.choice(
            [
                "xs[:3]",
                f"range({self.rng.randint(0, 3)})",
                f"[{self.expression(depth)}, {self.expression(depth)}]",
                f"({self.atom()}, {self.atom()})",
                f"log({self.event()}, [1, 2])",
            ]
        )

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def event(self) -> int:
        self.events += 1
        return self.events

    def target(self) -> str:
        return self.rng.choice(self.assignable)

    def pick(self, choices):
        weights = [weight for weight, _ in choices]
        return self.rng.choices([choice for _, choice in choices], weights)[0]
