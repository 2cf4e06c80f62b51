"""Dicts of arrays whose items are replaced: as arguments, global names, attributes of objects, by second names.

    python tests/fuzz/containers.py --programs 1000 [--seed 0]

A program replaces, adds and reads items of up to three dicts, some of which may be one, through branches, loops,
`get`, `setdefault`, tuple assignments and exceptions. Plain Python and `@autoconv.compile` are compared over six
calls, with changes from outside in between: results, exceptions, the contents of all dicts, and which of their items
and results are one object.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autoconv as ac

sys.path.insert(0, str(Path(__file__).resolve().parent))

from differential.counting import execution_kind, load_program, run_command

KEYS = ("'a'", "'b'", "'c'")
DICTS = ("p", "owner.p", "owner.q", "shared")
CALLS = 6
PREAMBLE = """
class Owner:
    pass

owner = Owner()
"""


class _Writer:
    """A writer of a program over three of the names in `DICTS`."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.dicts = [*self.draw.choices(DICTS, [6, 1, 1, 1], k=2), "second"]

    def program(self) -> str:
        body = [line for _ in range(self.draw.randint(2, 6)) for line in self.statement(0)]
        results = ["out", f"{self.dicts[0]}, out", self.item(), "second, x", f"[{self.dicts[1]}], {self.item()}.sum()"]
        lines = [f"out, second = [], {self.draw.choice(self.dicts[:2])}", *body, f"return {self.draw.choice(results)}"]
        return "\n".join([PREAMBLE, "def program(p, x, n):", *(f"    {line}" for line in lines), ""])

    def item(self) -> str:
        return f"{self.draw.choice(self.dicts)}[{self.draw.choice(KEYS)}]"

    def value(self) -> str:
        forms = [
            f"{self.item()} * 0.5", f"{self.item()} + x", "x + 1", f"{self.item()} - {self.item()}", self.item(),
            f"{self.item()}.sum() * x", f"{self.item()}[1:].sum() + x",
        ]  # fmt: skip
        return self.draw.choice(forms)

    def block(self, depth: int) -> list[str]:
        return [f"    {line}" for _ in range(self.draw.randint(1, 2)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        name = self.draw.choice(self.dicts)
        simple: list[Callable[[], list[str]]] = [
            lambda: [f"{self.item()} = {self.value()}"],
            lambda: [f"{self.item()} += {self.value()}"],
            lambda: [f"second = {self.draw.choice(self.dicts[:2])}"],
            lambda: [f"{self.item()}, {self.item()} = {self.value()}, {self.value()}"],
            lambda: [f"t = {name}.{self.draw.choice(['get', 'setdefault'])}({self.draw.choice(KEYS)}, x)",
                     f"{self.item()} = t * 2"],
            lambda: [f"{name}['n{self.draw.randrange(2)}'] = {self.value()}"],
            lambda: [f"out.append({self.item()}.sum())"],
        ]  # fmt: skip
        nested: list[Callable[[], list[str]]] = [
            lambda: [f"if n > {self.draw.randrange(5)}:", *self.block(depth + 1)],
            lambda: [f"if n > {self.draw.randrange(5)}:", *self.block(depth + 1), "else:", *self.block(depth + 1)],
            lambda: [f"for i in range({self.draw.choice(['n', '2', '70'])}):", *self.block(depth + 1)],
            lambda: [f"for key in list({name}):", f"    {name}[key] = {name}[key] * 0.9"],
            lambda: [f"if {self.item()}.sum() > {self.draw.randrange(6)}:",
                     self.draw.choice([f"    raise ValueError({self.draw.choice(KEYS)})", f"    {self.item()} = x"])],
        ]  # fmt: skip
        return self.draw.choice([*simple, simple[0], simple[0], *(nested if depth < 2 else [])])()


def program(seed: int) -> str:
    return _Writer(seed).program()


def _dict(scale: float) -> dict[str, Any]:
    return {"a": np.ones(3) * scale, "b": np.arange(3.0), "c": np.full(3, -scale)}


def _change(state: dict[str, Any], owner: Any, call: int, draw: random.Random) -> None:
    """Change the dicts from outside, before a call."""
    if call == 2 and draw.random() < 0.5:
        owner.q = owner.p
    elif call == 3:
        owner.p = _dict(5.0)
    elif call == 4:
        state["shared"] = dict(state["shared"])
    elif call == 5 and draw.random() < 0.5:
        state["argument"]["b"] = state["argument"]["a"]


def _describe(value: Any, numbers: dict[int, int]) -> Any:
    """Describe a value; an object that occurred before is described by its number."""
    if isinstance(value, (dict, list, tuple, np.ndarray)):
        number = numbers.setdefault(id(value), len(numbers))
        if number < len(numbers) - 1:
            return number
    if isinstance(value, dict):
        return [(key, _describe(item, numbers)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_describe(item, numbers) for item in value]
    return type(value).__name__, repr(value)


def outcomes(run: Callable[..., Any], namespace: dict[str, Any], seed: int) -> list[Any]:
    """Return the outcomes of six calls, with the contents of all dicts after each."""
    draw, owner = random.Random(seed), namespace["owner"]
    owner.p, owner.q, namespace["shared"], namespace["argument"] = map(_dict, (1.0, 2.0, 3.0, 4.0))
    result: list[Any] = []
    for call in range(CALLS):
        _change(namespace, owner, call, draw)
        arguments = [namespace["argument"], namespace["argument"], namespace["shared"], _dict(1.0)]
        argument = draw.choice(arguments)
        try:
            outcome: Any = "returned", run(argument, np.array([1.0, 0.5, call]), call)
        except Exception as error:
            outcome = "raised", type(error).__name__, str(error)
        state = [outcome, argument, owner.p, owner.q, namespace["shared"], namespace["argument"]]
        result.append(_describe(state, {}))
    return result


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran or "WRONG", and details."""
    plain_outcomes, compiled_outcomes = [], []
    compiled: Any = None
    for kind in ("plain", "compiled"):
        function = load_program(source, f"<program of containers {number} {kind}>")
        if kind == "plain":
            plain_outcomes = outcomes(function, function.__globals__, number)
        else:
            compiled = ac.compile(function)
            compiled_outcomes = outcomes(compiled, function.__globals__, number)
    for call, (plain_outcome, outcome) in enumerate(zip(plain_outcomes, compiled_outcomes, strict=True)):
        if plain_outcome != outcome:
            return "WRONG", f"call {call}:\nexpected {plain_outcome}\nfound    {outcome}\n{compiled.explain()}"
    if "internal error" in compiled.explain():
        return "WRONG", compiled.explain()
    return execution_kind(compiled)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
