"""Lines, scopes and random choices, for all parts of the grammar."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Options = list[tuple[float, str, Callable[[], str]]]


@dataclass
class Scope:
    """The names of one function: those that may be read or assigned, by type, and those that may be called."""

    readable: dict[str, list[str]]
    writable: dict[str, list[str]]
    kind: str = "program"  # or "function", "generator", "method"
    loops: int = 0
    in_try: int = 0
    calls: list[Callable[[int], str]] = field(default_factory=list)
    streams: list[Callable[[int], str]] = field(default_factory=list)


class Writer:
    """A writer of text with random choices, which uses only the features that are on."""

    def __init__(self, rng: random.Random, features: Collection[str]) -> None:
        self.rng = rng
        self.features = frozenset(features)
        self.lines: list[str] = []
        self.indent = 0
        self.serial = 0
        self.budget = 0
        self.scope = Scope({}, {})
        self.nested = 0
        self.expression_only = 0  # depth of lambdas and comprehensions, in which walruses and events are not written

    def on(self, features: str) -> bool:
        """Return whether all the features, which are separated by spaces, are on."""
        return all(feature in self.features for feature in features.split())

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *texts: str) -> str:
        return self.rng.choice(texts)

    def choose(self, options: Options) -> str:
        """The text of a random option among those whose features are on."""
        possible = [(weight, make) for weight, features, make in options if self.on(features)]
        weights = [weight for weight, _ in possible]
        return self.rng.choices([make for _, make in possible], weights)[0]()

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"{stem}{self.serial}"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.indent += 1
        yield
        self.indent -= 1

    @contextmanager
    def reading(self, type_: str, *names: str) -> Iterator[None]:
        """Add names that may be read inside of the context."""
        outer_readable = self.scope.readable
        self.scope.readable = {**outer_readable, type_: [*outer_readable.get(type_, []), *names, *names]}
        yield
        self.scope.readable = outer_readable

    @contextmanager
    def only_expressions(self) -> Iterator[None]:
        self.expression_only += 1
        yield
        self.expression_only -= 1

    def read(self, type_: str) -> str | None:
        """A name of that type that may be read; None when there is none."""
        names = self.scope.readable.get(type_)
        return self.rng.choice(names) if names else None

    def write(self, type_: str) -> str | None:
        """A name of that type that may be assigned; None when there is none."""
        names = self.scope.writable.get(type_)
        return self.rng.choice(names) if names else None

    def may_grow(self, text: str) -> bool:
        """Return whether repeated assignments of this expression may make numbers grow without bound."""
        if "**" in text or "*" in text or "<<" in text:
            return True
        return (self.scope.loops > 0 or self.scope.kind != "program") and any(sign in text for sign in "+-(")

    def bounded(self, text: str) -> str:
        """An integer expression reduced to a small number."""
        if not self.may_grow(text):
            return text
        return self.pick(f"({text}) % 10", f"({text}) % 32", f"({text}) % 15 - 4", f"({text}) % 100 - 30")
