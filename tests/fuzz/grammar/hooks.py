"""Classes whose attributes, items, comparisons and checks are methods that may raise, and statements that use them."""

from __future__ import annotations

import functools
from typing import Any
from unittest import mock


class HookError(AttributeError, LookupError):
    """An error that is both a missing attribute and a missing item."""


class Level:
    """A descriptor that raises for values outside of its limits, and while it has none."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            return 6 // instance.stored
        except ZeroDivisionError:
            raise AttributeError(f"no {self.name}") from None

    def __set__(self, instance: Any, value: Any) -> None:
        if value > 2:
            raise ValueError(f"{self.name} = {value}")
        instance.stored = value

    def __delete__(self, instance: Any) -> None:
        try:
            instance.stored = instance.items.index(instance.n)
        except ValueError as error:
            raise AttributeError(self.name) from error


class Kind(type):
    """A metaclass whose class checks depend on values, and may raise."""

    def __instancecheck__(cls, value: Any) -> bool:
        if value == 3:
            raise TypeError("three")
        return value % 2 == 0

    def __contains__(cls, value: Any) -> bool:
        return value > 1

    def __getitem__(cls, value: Any) -> Any:
        try:
            return (4, 5)[value]
        except IndexError:
            raise KeyError(value) from None


class Even(metaclass=Kind):
    """A class of even numbers."""


class Record:
    """A record whose missing attributes and items are computed, or raise from handlers."""

    level = Level()
    other = Level()

    def __init__(self, items: list[Any], n: Any, fields: dict[str, Any]) -> None:
        self.items, self.n, self.fields, self.stored = items, n, fields, n

    def __getattr__(self, name: str) -> Any:
        if name == "doubled":
            return self.n * 2
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"no {name}") from None

    def __getitem__(self, key: Any) -> Any:
        try:
            return self.items[key]
        except IndexError:
            raise HookError(key) from None

    def __contains__(self, value: Any) -> bool:
        try:
            return self.items.index(value) > 0
        except ValueError:
            if value > 2:
                raise TypeError("large") from None
            return False

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        if self.n == 2:
            raise ValueError("two")
        return self.n > 0

    def __eq__(self, value: object) -> bool:
        try:
            return self.items[value] == 2  # type: ignore[index]
        except IndexError as error:
            raise ValueError("not equal") from error

    def __lt__(self, value: Any) -> bool:
        if value > 2:
            raise TypeError("too large")
        return value > self.n

    def __add__(self, value: Any) -> Any:
        if value > 2:
            raise ArithmeticError(value)
        return NotImplemented if value == 2 else value + self.n

    def __radd__(self, value: Any) -> Any:
        return self + value

    def __call__(self, value: Any) -> Any:
        try:
            return 6 // (value - 1)
        except ZeroDivisionError:
            raise HookError("zero") from None

    def __iter__(self) -> Any:
        for item in self.items:
            if item == self.n:
                raise HookError("item")
            yield item

    __hash__ = None  # type: ignore[assignment]

    @property
    def part(self) -> Any:
        try:
            return self.items[self.n]
        except IndexError:
            raise ValueError("part") from None

    @property
    def share(self) -> Any:
        try:
            return 6 // (self.n - 1)
        except ZeroDivisionError:
            raise AttributeError("no share") from None

    @share.setter
    def share(self, value: Any) -> None:
        if value == 1:
            raise AttributeError("one")
        self.n = value

    @property
    def checked(self) -> Any:
        if self.n > 1:
            raise AttributeError("checked")
        return self.n

    @functools.cached_property
    def root(self) -> Any:
        if self.n == 1:
            raise AttributeError("root")
        return self.n * 10


class Plain:
    """A class without `__getattr__`, whose property is missing for some values."""

    def __init__(self, n: Any) -> None:
        self.n = n

    @property
    def share(self) -> Any:
        try:
            return 6 // (self.n - 1)
        except ZeroDivisionError:
            raise AttributeError("no share") from None

    @property
    def checked(self) -> Any:
        if self.n > 1:
            raise AttributeError("checked")
        return self.n

    @functools.cached_property
    def root(self) -> Any:
        return 6 // self.n


# Statements that assign `v`, or may raise, of a record `o`, a `Plain` `p`, a number `k` and a list `xs`.
STATEMENTS = (
    "v = o.part", "v = o.share", "v = o.checked", "v = o.root", "v = o.level", "v = o.missing", "v = o.n",
    "o.level = k", "o.other = k + 1", "del o.level", "o.share = k", "v = o[k]", "v = o.doubled", "v = k in o",
    "v = bool(o)", "v = o == k", "v = o < k", "v = o + k", "v = k + o", "v = o(k)", "v = [i for i in o]",
    "v = sum(o)", "v = hasattr(o, 'share')", "v = hasattr(o, 'checked')", "v = hasattr(o, 'root')",
    "v = hasattr(o, 'missing')", "v = hasattr(o, 'level')", "v = hasattr(p, 'share')", "v = hasattr(p, 'checked')",
    "v = getattr(p, 'share', k)", "v = getattr(p, 'root', 8)", "v = getattr(p, 'checked', None)",
    "v = getattr(o, 'share', 7)", "v = getattr(o, 'level', 7)", "p.n = k", "v = getattr(o, 'n', 7)",
    "v = getattr(o, 'part', 7)", "v = getattr(o, 'missing', 7)", "v = isinstance(k, Even)", "v = k in Even",
    "v = Even[k]", "v = o.fields.get('missing', k)", "v = next(iter(o))", "v = p.share", "v = p.checked", "v = p.root",
    "v = 1 if o else 2", "v = not o", "v = max(o)", "v = k in list(o)", "v = len(o) + k", "a, b = o",
    "setattr(o, 'level', k)", "v = getattr(o, 'share')", "v = hasattr(p, 'root') and k", "v = o[k:]", "v = o in [k]",
    "with mock.patch('builtins.len', lambda x: k): v = len(xs)", "v = [k, 9].index(o)", "v = sorted([o, k])[0] is o",
    "with mock.patch.object(Record, 'extra', k, create=True): v = o.extra", "o.n = k", "v = any(o)",
    "v = getattr(o, 'doubled', 5)", "for v in o:\n{indent}    out.append(v)",
    "match o:\n{indent}    case Record(share=3 as v): out.append('m')\n{indent}    case Record(n=v): pass",
    "match p:\n{indent}    case Plain(share=v): out.append('m')\n{indent}    case _: v = 5", "v = f'{p.share}'",
    "if hasattr(p, 'share'):\n{indent}    v = p.share\n{indent}else:\n{indent}    v = k", "v = dict(a=o.share)",
)  # fmt: skip
NAMES = {"Record": Record, "Plain": Plain, "Even": Even, "mock": mock}
