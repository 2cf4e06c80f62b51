"""Whole programs: classes, functions of the module, and a function `program` with inputs for different paths."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammar.features import FEATURES, OPTIONAL_FEATURES, REQUIRED_FEATURES
from grammar.functions import LOCAL_VALUES
from grammar.patterns import Patterns
from grammar.writer import Scope

LOGS = ("log_argument", "log_global", "log_local")
INPUTS = 6

# By type, the initial values of the local variables of `program`; only those that it uses are written.
INITIAL_VALUES = {
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
    """The text of a module with a function `program`, and the arguments of its calls."""

    source: str
    inputs: tuple[tuple[Any, ...], ...]
    features: frozenset[str] = frozenset()

    def __str__(self) -> str:
        calls = "\n".join(f"#   program{call_text(arguments)}" for arguments in self.inputs)
        return f"{self.source.rstrip()}\n# called as\n{calls}"


def call_text(arguments: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(repr, arguments)) + ")"


def program(
    seed: int, without: Collection[str] = (), only: Collection[str] = (), size: int = 0, uses_all: bool = False,
    kept: bool = False,
) -> Program:  # fmt: skip
    """The program of that seed: the same on every run.

    `only` and `without` reduce the features that it may use. It uses a random share of them, and all with `uses_all`.
    With `kept` it has the OPTIONAL_FEATURES, too.
    """
    rng = random.Random(seed)
    allowed = [name for name in sorted(only or FEATURES) if name not in without]
    share = rng.choice((0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0))
    features = {name for name in allowed if rng.random() < share or uses_all}
    features |= {REQUIRED_FEATURES[name] for name in sorted(features) if REQUIRED_FEATURES.get(name) in allowed}
    features -= {name for name in features if name in REQUIRED_FEATURES and REQUIRED_FEATURES[name] not in features}
    log_features = [name for name in LOGS if name in features]
    features -= set(log_features) - {rng.choice(log_features)} if log_features else set()
    features |= set(OPTIONAL_FEATURES) if kept else set()
    return _ProgramWriter(rng, features).write_program(size or rng.choice((4, 7, 11, 16, 24)))


class _ProgramWriter(Patterns):
    def write_program(self, size: int) -> Program:
        parameters = ["a", "b", "c", "x"]
        if self.on("arrays"):
            parameters.append("v")
        if self.on("list_argument"):
            parameters.append("data")
        if self.on("log_argument"):
            parameters.append("log")
        body = self.body(size)
        head = self.module_level("\n".join(body))
        header = f"def program({', '.join(parameters)}):"
        source = "\n".join([*head, header, *self.initial_assignments(body), *body]) + "\n"
        return Program(source, self.inputs(parameters), self.features)

    def body(self, size: int) -> list[str]:
        self.budget = size
        readable = {type_: list(names) for type_, names in INITIAL_VALUES.items()}
        writable = {type_: list(names) for type_, names in INITIAL_VALUES.items()}
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
        self.line(f"return {self.returned_values()}")
        return self.lines

    def returned_values(self) -> str:
        parts = [self.pick("i", "j", "k", "a"), self.pick("y", "z", "x")]
        for feature, text in (("lists", "items"), ("dicts", "counts"), ("dicts", "table"), ("sets", "seen"),
                              ("strings", "s"), ("tuples", "pair"), ("none", "maybe"), ("objects", "box.n"),
                              ("objects", "box.m"), ("mixed", "some"), ("log_local", "log"),
                              ("arrays", "u"), ("nested", "grid"), ("nested", "rows"),
                              ("aliases lists", "other, items"), ("aliases objects", "box"),
                              ("kept", "hooks"), ("kept", "named")):  # fmt: skip
            if self.on(feature) and self.chance(0.7 if feature in ("mixed", "kept") else 0.35):
                parts.append(text)
        return ", ".join(parts) if self.chance(0.85) else self.result()

    def initial_assignments(self, body: list[str]) -> list[str]:
        text = "\n".join(body)
        lines = []
        if self.on("globals") and re.search(r"^(    )+total [-+]?= ", text, re.MULTILINE):
            lines.append("    global total")
        if self.on("log_local") and re.search(r"\b(log|note)\b", text):
            lines.append("    log = []")
        if self.on("log_argument log_local") or (re.search(r"\bnote\(", text) and not self.on("log_global")):
            lines += ["    def note(tag, value):", "        log.append((tag, value))", "        return value"]
        for type_, names in INITIAL_VALUES.items():
            for name, value in names.items():
                if re.search(rf"\b{name}\b", text):
                    lines.append(f"    {name} = {value if type_ != 'none' or self.chance(0.6) else 'None if c else a'}")
        return lines

    def module_level(self, text: str) -> list[str]:
        head: list[str] = []
        if re.search(r"\btotal\b", text):
            head.append("total = 0")
        for name, value in (("STATE", "{}"), ("HISTORY", "[]")):
            if re.search(rf"\b{name}\b", text):
                head.append(f"{name} = {value}")
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
        outer_lines, self.lines, self.indent = self.lines, [], 0
        self.scope = Scope({"int": ["p", "q"]}, {"int": ["p", "q"]}, "function")
        self.budget, self.nested = 3, 2
        self.line("def helper(p, q=3):")
        with self.without(*LOCAL_VALUES):
            self.block(2, 2)
            with self.deeper():
                self.line(f"return {self.bounded(self.integer(2))}")
        lines, self.lines = self.lines, outer_lines
        return lines

    def manager(self) -> list[str]:
        log_line = "        log.append('{}')" if self.on("log_global") else "        pass"
        return [
            "class Manager:", "    def __init__(self, depth, swallows):", "        self.depth = depth",
            "        self.swallows = swallows", "    def __enter__(self):", log_line.format("enter"),
            "        self.depth += 1", "        return self", "    def __exit__(self, kind, error, trace):",
            log_line.format("exit"), "        self.depth -= 1", "        return self.swallows",
        ]  # fmt: skip

    def box(self) -> list[str]:
        outer_lines, self.lines, self.indent = self.lines, [], 0
        self.line("class Box:")
        with self.deeper():
            for line in ("scale = 2", "__match_args__ = ('n', 'm')", "def __init__(self, n, m=1):", "    self.n = n",
                         "    self.m = m"):  # fmt: skip
                self.line(line)
            if self.on("nested"):
                self.line("    self.parts = [n]")
            self.method("add(self, k)", "self.n = (self.n + k) % 50", "self.n")
            self.method("peek(self, k=1, *, sign=1)", "", f"self.n * sign + {self.pick('k', 'self.m', '1')}")
            if self.on("properties"):
                self.line("@property")
                self.line("def double(self):")
                self.line("    return self.n * 2")
                self.line("@double.setter")
                self.line("def double(self, value):")
                self.line("    self.n = value // 2")
            if self.on("dunders"):
                self.dunders()
        lines, self.lines = self.lines, outer_lines
        return lines

    def method(self, signature: str, first_statement: str, result: str) -> None:
        names = ["self.n", "self.m", "k"]
        self.line(f"def {signature}:")
        writable = ["self.m"] if first_statement and self.on("object_writes") else []
        self.scope = Scope({"int": names}, {"int": writable}, "method")
        self.nested, self.budget = 2, 2
        raising = self.on("exceptions") and self.chance(0.4)
        excluded = (*LOCAL_VALUES, "walrus", "lists", "sets", "strings", "tuples", "generators", "delete")
        with self.without(*excluded, *LOGS, "exceptions", "log_global"), self.deeper():
            if first_statement:
                self.line(first_statement)
            if first_statement and raising:
                self.line(f"if k > {self.rng.randint(5, 9)}:")
                self.line(f"    raise {self.pick('ValueError', 'KeyError')}(k, self.n)")
            if self.chance(0.5):
                self.line(f"if {self.condition(1)}:")
                self.line(f"    return {self.bounded(self.integer(1))}")
            if first_statement and self.on("object_writes") and self.chance(0.4):
                self.assign_int()
            self.line(f"return {result}")

    def dunders(self) -> None:
        for line in DUNDERS.splitlines():
            self.line(line)

    def inputs(self, parameters: list[str]) -> tuple[tuple[Any, ...], ...]:
        inputs = []
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
            inputs.append(tuple(arguments))
        return tuple(inputs)
