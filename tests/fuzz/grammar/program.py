"""Whole programs: classes, functions of the module, and `program` with inputs that take different paths."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammar.features import APART, FEATURES, NEEDS
from grammar.functions import LOCAL_VALUES
from grammar.patterns import Patterns
from grammar.writer import Scope

LOGS = ("log_argument", "log_global", "log_local")
INPUTS = 6

# How a name of the program's function starts, and its type; only those are written that the program uses.
STARTS = {
    "int": {"i": "a", "j": "a - b", "k": "b - 1"},
    "float": {"y": "x / 2", "z": "x"},
    "bool": {"flag": "c", "done": "a > b"},
    "list": {"items": "[3, a, 1]", "other": "[0, 5, b]"},
    "tuple": {"pair": "(a, b)", "spot": "(1, 2)"},
    "set": {"seen": "{1, 2}"},
    "str": {"s": "'p'", "label": "'up' if c else 'q'"},
    "object": {"box": "Box(a, 1)"},
    "none": {"maybe": "None"},
    "mixed": {"some": "0"},
    "counts": {"counts": "{0: 1, 2: b}"},
    "table": {"table": "{'p': a, 'q': 2}"},
    "array": {"u": "v * 1"},
    "grid": {"grid": "[[1, a], [b, 2], [0, 0]]"},
    "rows": {"rows": "{'p': [a], 'q': []}"},
    "hooks": {"hooks": "[]"},
    "named": {"named": "{}"},
}  # fmt: skip

DUNDERS = """\
def __add__(self, other):
    if isinstance(other, Box):
        return Box(self.n + other.n, self.m)
    return Box(self.n + other, self.m)
def __len__(self):
    return abs(self.n) % 5
def __eq__(self, other):
    return isinstance(other, Box) and self.n == other.n
def __lt__(self, other):
    return self.n < other.n
def __call__(self, k):
    return self.m - k if k > self.n else k
def __getitem__(self, k):
    return self.n + k
def __setitem__(self, k, value):
    self.n = (k + value) % 20
def __contains__(self, k):
    return k == self.n or k == self.m
def __iter__(self):
    return iter((self.n, self.m))
def __bool__(self):
    return self.n > 0
"""


@dataclass(frozen=True)
class Program:
    """A module's text with a function `program`, and what to call it with."""

    source: str
    inputs: tuple[tuple[Any, ...], ...]
    features: frozenset[str] = frozenset()

    def __str__(self) -> str:
        calls = "\n".join(f"#   program{shown(arguments)}" for arguments in self.inputs)
        return f"{self.source.rstrip()}\n# called as\n{calls}"


def shown(arguments: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(repr, arguments)) + ")"


def program(
    seed: int, without: Collection[str] = (), only: Collection[str] = (), size: int = 0, sure: bool = False,
    kept: bool = False,
) -> Program:  # fmt: skip
    """The program of that seed: the same on every run.

    `only` and `without` reduce the features it may use; it draws some of them, with `sure` all. With `kept` it has
    those that are APART, too.
    """
    rng = random.Random(seed)
    allowed = [name for name in sorted(only or FEATURES) if name not in without]
    share = rng.choice((0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0))
    features = {name for name in allowed if rng.random() < share or sure}
    features |= {NEEDS[name] for name in sorted(features) if NEEDS.get(name) in allowed}
    features -= {name for name in features if name in NEEDS and NEEDS[name] not in features}
    noted = [name for name in LOGS if name in features]
    features -= set(noted) - {rng.choice(noted)} if noted else set()
    features |= set(APART) if kept else set()
    return _Program(rng, features).whole(size or rng.choice((4, 7, 11, 16, 24)))


class _Program(Patterns):
    def whole(self, size: int) -> Program:
        parameters = ["a", "b", "c", "x"]
        if self.on("arrays"):
            parameters.append("v")
        if self.on("list_argument"):
            parameters.append("data")
        if self.on("log_argument"):
            parameters.append("log")
        body = self.body(size)
        head = self.module_level("\n".join(body))
        source = "\n".join([*head, f"def program({', '.join(parameters)}):", *self.starts(body), *body]) + "\n"
        return Program(source, self.inputs(parameters), self.features)

    def body(self, size: int) -> list[str]:
        self.budget = size
        readable = {type_: list(names) for type_, names in STARTS.items()}
        writable = {type_: list(names) for type_, names in STARTS.items()}
        for type_, names in (("int", ["a", "b"] * 3), ("float", ["x", "x"]), ("bool", ["c"])):
            readable[type_] += names
        if self.on("list_argument"):
            readable["list"].append("data")
            if not self.on("list_writes"):
                readable["list"].append("data")
        if self.on("arrays"):
            readable["array"].append("v")
        if not self.on("mixed"):
            writable["mixed"] = []
        self.scope = Scope(readable, writable)
        self.indent = 1
        while self.budget > 0:
            self.statement(0)
        self.line(f"return {self.answer()}")
        return self.lines

    def answer(self) -> str:
        parts = [self.one("i", "j", "k", "a"), self.one("y", "z", "x")]
        for feature, text in (("lists", "items"), ("dicts", "counts"), ("dicts", "table"), ("sets", "seen"),
                              ("strings", "s"), ("tuples", "pair"), ("none", "maybe"), ("objects", "box.n"),
                              ("objects", "box.m"), ("mixed", "some"), ("log_local", "log"),
                              ("arrays", "u"), ("nested", "grid"), ("nested", "rows"),
                              ("aliases lists", "other, items"), ("aliases objects", "box"),
                              ("kept", "hooks"), ("kept", "named")):  # fmt: skip
            if self.on(feature) and self.chance(0.7 if feature in ("mixed", "kept") else 0.35):
                parts.append(text)
        return ", ".join(parts) if self.chance(0.85) else self.result()

    def starts(self, body: list[str]) -> list[str]:
        text = "\n".join(body)
        lines = []
        if self.on("globals") and re.search(r"^(    )+total [-+]?= ", text, re.MULTILINE):
            lines.append("    global total")
        if self.on("log_local") and re.search(r"\b(log|note)\b", text):
            lines.append("    log = []")
        if self.on("log_argument log_local") or (re.search(r"\bnote\(", text) and not self.on("log_global")):
            lines += ["    def note(tag, value):", "        log.append((tag, value))", "        return value"]
        for type_, names in STARTS.items():
            for name, start in names.items():
                if re.search(rf"\b{name}\b", text):
                    lines.append(f"    {name} = {start if type_ != 'none' or self.chance(0.6) else 'None if c else a'}")
        return lines

    def module_level(self, text: str) -> list[str]:
        head: list[str] = []
        if re.search(r"\btotal\b", text):
            head.append("total = 0")
        for name, start in (("STATE", "{}"), ("HISTORY", "[]")):
            if re.search(rf"\b{name}\b", text):
                head.append(f"{name} = {start}")
        if self.on("log_global"):
            head += ["log = []", "def note(tag, value):", "    log.append((tag, value))", "    return value"]
        if re.search(r"\bStop\b", text):
            head += ["class Stop(Exception):", "    pass"]
        if re.search(r"\bLater\b", text):
            head += ["class Later(ValueError):", "    pass" if self.chance(0.5) else "    code = 7"]
        if re.search(r"\bBox\b", text) or re.search(r"\bbox\b", text):
            head += self.box()
        if re.search(r"\bManager\b", text):
            head += self.manager()
        if re.search(r"\bhelper\b", text):
            head += self.helper()
        return head

    def helper(self) -> list[str]:
        before, self.lines, self.indent = self.lines, [], 0
        self.scope = Scope({"int": ["p", "q"]}, {"int": ["p", "q"]}, "function")
        self.budget, self.nested = 3, 2
        self.line("def helper(p, q=3):")
        with self.without(*LOCAL_VALUES):
            self.block(2, 2)
            with self.deeper():
                self.line(f"return {self.small(self.integer(2))}")
        lines, self.lines = self.lines, before
        return lines

    def manager(self) -> list[str]:
        noted = "        log.append('{}')" if self.on("log_global") else "        pass"
        return [
            "class Manager:", "    def __init__(self, depth, swallows):", "        self.depth = depth",
            "        self.swallows = swallows", "    def __enter__(self):", noted.format("enter"),
            "        self.depth += 1", "        return self", "    def __exit__(self, kind, error, trace):",
            noted.format("exit"), "        self.depth -= 1", "        return self.swallows",
        ]  # fmt: skip

    def box(self) -> list[str]:
        before, self.lines, self.indent = self.lines, [], 0
        self.line("class Box:")
        with self.deeper():
            for line in ("scale = 2", "__match_args__ = ('n', 'm')", "def __init__(self, n, m=1):", "    self.n = n",
                         "    self.m = m"):  # fmt: skip
                self.line(line)
            if self.on("nested"):
                self.line("    self.parts = [n]")
            self.method("add(self, k)", "self.n = (self.n + k) % 50", "self.n")
            self.method("peek(self, k=1, *, sign=1)", "", f"self.n * sign + {self.one('k', 'self.m', '1')}")
            if self.on("properties"):
                self.line("@property")
                self.line("def double(self):")
                self.line("    return self.n * 2")
                self.line("@double.setter")
                self.line("def double(self, value):")
                self.line("    self.n = value // 2")
            if self.on("dunders"):
                self.dunders()
        lines, self.lines = self.lines, before
        return lines

    def method(self, head: str, first: str, result: str) -> None:
        names = ["self.n", "self.m", "k"]
        self.line(f"def {head}:")
        self.scope = Scope({"int": names}, {"int": ["self.m"] if first and self.on("object_writes") else []}, "method")
        self.nested, self.budget = 2, 2
        raising = self.on("exceptions") and self.chance(0.4)
        dropped = (*LOCAL_VALUES, "walrus", "lists", "sets", "strings", "tuples", "generators", "delete")
        with self.without(*dropped, *LOGS, "exceptions", "log_global"), self.deeper():
            if first:
                self.line(first)
            if first and raising:
                self.line(f"if k > {self.rng.randint(5, 9)}:")
                self.line(f"    raise {self.one('ValueError', 'KeyError')}(k, self.n)")
            if self.chance(0.5):
                self.line(f"if {self.condition(1)}:")
                self.line(f"    return {self.small(self.integer(1))}")
            if first and self.on("object_writes") and self.chance(0.4):
                self.assign_int()
            self.line(f"return {result}")

    def dunders(self) -> None:
        for line in DUNDERS.splitlines():
            self.line(line)

    def inputs(self, parameters: list[str]) -> tuple[tuple[Any, ...], ...]:
        found = []
        for number in range(INPUTS):
            arguments: list[Any] = [
                self.rng.randint(-4, 9), self.rng.randint(-4, 9), number % 2 == self.rng.randint(0, 1),
                self.rng.randint(-8, 16) / 4,
            ]  # fmt: skip
            if "v" in parameters:
                arguments.append(np.array([self.rng.randint(-3, 6) for _ in range(3)]))
            if "data" in parameters:
                arguments.append([self.rng.randint(-3, 6) for _ in range(3)])
            if "log" in parameters:
                arguments.append([])
            found.append(tuple(arguments))
        return tuple(found)
