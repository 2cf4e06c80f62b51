"""Operators between numbers of a call and values of other classes, plain Python against `@autoconv.compile`.

    python tests/fuzz/foreign.py --programs 2000 [--seed 0]

A program is one operator, with the other class's value on either side, straight, in an `if`, a loop or a `try`. Results
are compared with their classes, errors by their class.
"""

from __future__ import annotations

import datetime
import operator
import random
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import autoconv as ac

sys.path.insert(0, str(Path(__file__).resolve().parent))

from differential.counting import became, command, made

OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "@")
BUILTINS = ("divmod({}, {})", "{} in ({}, 7)", "sum([{}], {})", "operator.add({}, {})", "operator.eq({}, {})")
PLACES = (
    "    return {}",
    "    if k > 1:\n        return {}\n    return k",
    "    found = None\n    for _ in range(abs(int(k)) % 3):\n        found = {}\n    return found",
    "    try:\n        return {}\n    except TypeError:\n        return 'no operand'",
)
NUMBERS = (1, 2, 3, -2, 0, 2.5, 0.5, True)


class Ours:
    def __repr__(self):
        return "Ours()"


class Whole(int):
    def __radd__(self, other):
        return "radd", int(self), other

    def __eq__(self, other):
        return "eq", int(self), other

    __hash__ = int.__hash__


class Real(float):
    def __rmul__(self, other):
        return "rmul", float(self), other


def _told(name: str) -> Any:
    return lambda self, other: (name, other)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rpow", "pow", "rdivmod", "lt", "eq", "ror"):
    setattr(Ours, f"__{_name}__", _told(_name))
Ours.__hash__ = None  # type: ignore[assignment]

FOREIGN = (
    Fraction(1, 3), Fraction(3), Decimal("1.5"), Decimal(3), Ours(), Whole(3), Real(2.5), np.float64(2.5), np.int32(3),
    np.float32(0.1), np.uint8(250), datetime.timedelta(seconds=3), 2j, None, ..., object(), range(3),
)  # fmt: skip


def program(seed: int) -> str:
    chosen = random.Random(seed)
    sides = ["z", "k"] if chosen.random() < 0.5 else ["k", "z"]
    form = chosen.choice(BUILTINS) if chosen.random() < 0.2 else f"{{}} {chosen.choice(OPERATORS)} {{}}"
    return "def program(k):\n" + chosen.choice(PLACES).format(form.format(*sides)) + "\n"


def outcome(function: Any, k: Any) -> tuple[Any, ...]:
    try:
        found = function(k)
    except Exception as error:
        return (type(error),)
    return type(found), repr(found)


def check(source: str, number: int) -> tuple[str, str]:
    """What became of a program, and details."""
    other = FOREIGN[number % len(FOREIGN)]
    plain = made(source, f"<foreign program {number}>", z=other, operator=operator)
    compiled = ac.compile(plain)
    for k in NUMBERS:
        expected, found = outcome(plain, k), outcome(compiled, k)
        if expected != found:
            return "WRONG", f"k = {k!r}, z = {other!r}: expected {expected}, found {found}\n{compiled.explain()}"
    if "internal error" in compiled.explain():
        return "WRONG", compiled.explain()
    return became(compiled)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(command(__doc__, program, check))
