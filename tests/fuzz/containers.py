"""Dicts and lists of arrays whose items are replaced: as arguments, global names, attributes, items, by second names.

    python tests/fuzz/containers.py --programs 1000 [--seed 0]

A program replaces, adds, removes and reads items of dicts and lists, some of which may be one, through branches, loops,
methods, tuple assignments and exceptions. In every second program they belong to objects: a net with layers, and dicts
and lists within dicts. Plain Python and `@autoconv.compile` are compared over six calls, with changes from outside in
between: results, exceptions, the contents of all containers, and which of these, of their items and of the results are
one object.
"""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

KEYS = ("'a'", "'b'", "'c'")
DICTS = ("p", "owner.p", "owner.q", "shared")
CALLS = 6
PREAMBLE = """
class Owner:
    pass

class Layer:
    def __init__(self, scale):
        self.p = {"a": np.ones(3) * scale, "b": np.arange(3.0), "c": np.full(3, -scale)}

    def replace(self, key, value):
        self.p[key] = value
        return self.p[key].sum()

class Net:
    def __init__(self, scale):
        self.p, self.q, self.cache = Layer(scale).p, Layer(scale + 1).p, {}
        self.state = {"p": Layer(scale + 2).p, "l": [np.ones(3), np.arange(3.0) * scale]}
        self.layers, self.l, self.t = [Layer(scale), Layer(-scale)], [np.ones(3) * scale, np.zeros(3)], 0

    def decay(self, rate):
        for key in self.p:
            self.q[key] = self.q.get(key, 0.0) * 0.9 + self.p[key] * rate
            self.p[key] -= self.q[key] * 0.1

    def keep(self, value):
        self.cache["x"], self.t = value, self.t + 1
        return self.cache["x"]

owner = Owner()
"""
LAYER_DICTS = ("net.p", "net.q", "net.state['p']", "net.layers[0].p", "net.layers[1].p", "net.layers[n % 2].p",
               "other.p", "shared", "p", "owner.p")  # fmt: skip
LISTS = ("net.l", "net.state['l']", "other.l", "rows")


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


class _ObjectWriter(_Writer):
    """Writer of programs whose containers belong to objects."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.dicts = [*self.draw.sample(LAYER_DICTS, 2), "net.p", "second"]
        self.lists = self.draw.sample(LISTS, 2)

    def program(self) -> str:
        body = [line for _ in range(self.draw.randint(2, 6)) for line in self.statement(0)]
        results = ["out", f"{self.dicts[0]}, out", self.item(), "second, x", f"[{self.lists[0]}], {self.item()}.sum()",
                   "net", "net.cache", "None"]  # fmt: skip
        start = f"out, second = [], {self.draw.choice(self.dicts[:2])}"
        lines = [start, *body, f"return {self.draw.choice(results)}"]
        return "\n".join([PREAMBLE, "def program(net, p, x, n):", *(f"    {line}" for line in lines), ""])

    def value(self) -> str:
        row = f"{self.draw.choice(self.lists)}[{self.draw.choice('01')}]"
        return self.draw.choice([super().value(), super().value(), row, f"{row} * 0.5 + x"])

    def statement(self, depth: int) -> list[str]:
        name, other, rows = self.draw.choice(self.dicts), self.draw.choice(self.dicts), self.draw.choice(self.lists)
        key, path = self.draw.choice(KEYS), self.draw.choice(("net.p", "net.q", "net.state['p']", "net.layers[0].p"))
        forms: list[list[str]] = [
            [f"{rows}[{self.draw.choice('01')}] = {self.value()}"], [f"{rows}[{self.draw.choice('01')}] *= 0.5"],
            [f"{rows}.append({self.value()})", f"out.append({rows}.pop().sum())"],
            [f"{rows}.append({self.value()})"], [f"out.append({rows}.pop(0))"],
            [f"for i, row in enumerate({rows}):", f"    {rows}[i] = row + x"],
            [f"{name}.update(a={self.value()}, z={self.value()})"], [f"out.append({name}.pop({key}, x).sum())"],
            [f"if 'z' in {name}:", f"    del {name}['z']"], [f"out.append(len({name}))"],
            [f"out.append({name} is {other})"], [f"out.append(list({name}))"], [f"{name}.clear()"],
            [f"out.append({name} == {other})"] if self.draw.random() < 0.1 else [f"{self.item()}[1:] = 2.0"],
            [f"out.append(sum(v.sum() for v in {name}.values()))"],
            [f"for k, v in {name}.items():", "    out.append((k, v.max()))"],
            [f"{path} = {{k: v * 0.9 for k, v in {name}.items()}}"], [f"{path} = {other}"], [f"{path} = dict({name})"],
            ["net.decay(0.1)"], [f"out.append(net.keep({self.value()}).sum())"],
            [f"out.append(net.layers[{self.draw.choice('01')}].replace({key}, {self.value()}))"],
            ["for layer in net.layers:", f"    layer.p[{key}] = layer.p[{key}] - x * 0.1"],
            ["for layer in net.layers:", "    for k in layer.p:", "        layer.p[k] -= 0.1 * layer.p[k]"],
            ["net.layers.reverse()"], ["net.cache = {}"], [f"net.cache = {{'x': {self.value()}}}"],
            ["try:", f"    {self.item()} = {self.value()}", f"    out.append({self.item()[:-1]} + 'z'])",
             "except KeyError as error:", "    out.append(str(error))"],
            ["net.t += 1", f"{self.item()} = {self.value()} / net.t"],
            [f"second = copy.{self.draw.choice(['copy', 'deepcopy'])}({name})"],
        ]  # fmt: skip
        return self.draw.choice(forms) if self.draw.random() < 0.6 else super().statement(depth)


def program(seed: int) -> str:
    return (_ObjectWriter if seed % 2 else _Writer)(seed).program()


def _dict(scale: float) -> dict[str, Any]:
    return {"a": np.ones(3) * scale, "b": np.arange(3.0), "c": np.full(3, -scale)}


def _change_net(net: Any, other: Any, state: dict[str, Any], call: int, draw: random.Random) -> None:
    """Change the containers of a net from outside, before a call."""
    changes: list[Callable[[], Any]] = [
        lambda: setattr(net, "q", net.p), lambda: setattr(net, "p", _dict(5.0)), lambda: net.state.update(p=net.p),
        lambda: net.layers.reverse(), lambda: setattr(net.layers[1], "p", net.layers[0].p),
        lambda: net.l.append(net.p), lambda: net.l.append(np.ones(3)), lambda: setattr(net, "l", net.state["l"]),
        lambda: net.p.update(d=np.ones(3)), lambda: net.p.update(a=net.p.get("b", 1.0)),
        lambda: setattr(other, "p", net.p), lambda: net.p.update(b=np.ones(1)), lambda: setattr(net, "cache", net.p),
        lambda: state.update(rows=net.l), lambda: state.update(shared=net.q), lambda: net.q.update(a=1.5),
        lambda: setattr(net, "copy", net.p), lambda: net.l[0].fill(2.0), lambda: net.state.update(p={**net.p}),
        lambda: net.p.update(c=net.q), lambda: net.layers.append(net.layers[0]),
    ]  # fmt: skip
    for change in draw.sample(changes, draw.choice([0, 0, 1, 2]) if call else 0):
        with contextlib.suppress(LookupError, AttributeError):  # the program removed what would change
            change()


def _change(state: dict[str, Any], owner: Any, call: int, draw: random.Random) -> None:
    """Change the dicts from outside, before a call."""
    if call == 2 and draw.random() < 0.5:
        owner.q = owner.p
    elif call == 3:
        owner.p = _dict(5.0)
    elif call == 4:
        state["shared"] = dict(state["shared"])
    elif call == 5 and draw.random() < 0.5:
        state["argument"]["b"] = state["argument"].get("a", 1.0)


def _describe(value: Any, numbers: dict[int, int]) -> Any:
    """Describe a value; an object that occurred before is described by its number, but for tuples."""
    has_attributes = hasattr(value, "__dict__")
    if has_attributes or isinstance(value, (dict, list, np.ndarray)):
        if id(value) in numbers:
            return numbers[id(value)]
        numbers[id(value)] = len(numbers)
    if isinstance(value, dict):
        return [(key, _describe(item, numbers)) for key, item in value.items()]
    if has_attributes:
        return type(value).__name__, _describe(vars(value), numbers)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_describe(item, numbers) for item in value]
    return type(value).__name__, repr(value)


def outcomes(function: Any, number: int) -> list[Any]:
    """Return the outcomes of six calls, with the contents of all dicts after each."""
    namespace = getattr(function, "__wrapped__", function).__globals__
    draw, owner = random.Random(number), namespace["owner"]
    owner.p, owner.q, namespace["shared"], namespace["argument"] = map(_dict, (1.0, 2.0, 3.0, 4.0))
    net, namespace["other"] = namespace["Net"](1.5), namespace["Net"](0.5)
    namespace["rows"] = [np.ones(3), np.arange(3.0)]
    result: list[Any] = []
    for call in range(CALLS):
        _change(namespace, owner, call, draw)
        _change_net(net, namespace["other"], namespace, call, draw)
        arguments = [namespace["argument"], namespace["argument"], namespace["shared"], _dict(1.0)]
        argument = draw.choice(arguments)
        try:
            values = [net, argument] if number % 2 else [argument]
            outcome: Any = "returned", function(*values, np.array([1.0, 0.5, call]), call)
        except Exception as error:
            outcome = "raised", type(error).__name__, str(error)
        names = ("shared", "argument", "rows", "other")
        state = [outcome, argument, owner.p, owner.q, net, *(namespace[name] for name in names)]
        result.append(_describe(state, {}))
    return result


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran or "WRONG", and details."""
    plain, second = (
        load_program(source, f"<program of containers {number} {kind}>", np=np, copy=copy)
        for kind in ("plain", "compiled")
    )
    return compare_calls(plain, second, [number], outcomes)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
