"""Operators between numbers of a call and values of other classes, plain Python against `@autoconv.compile`.

    python tests/fuzz/foreign.py --programs 2000 [--seed 0]

A program is one operator, with the other class's value on either side, straight, in an `if`, a loop or a `try`. Its
numbers are Python's, or arrays of NumPy and their elements. Results are compared with their classes, errors by their
class.
"""

from __future__ import annotations

import datetime
import operator
import random
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "@")
BUILTINS = ("divmod({}, {})", "{} in ({}, 7)", "sum([{}], {})", "operator.add({}, {})", "operator.eq({}, {})")
BODIES = (
    "    return {}",
    "    if np.sum(k) > 1:\n        return {}\n    return k",
    "    found = None\n    for _ in range(abs(int(np.sum(k))) % 3):\n        found = {}\n    return found",
    "    try:\n        return {}\n    except TypeError:\n        return 'no operand'",
)
NUMBERS = (1, 2, 3, -2, 0, 2.5, 0.5, True)
ARRAYS = tuple(np.array([3, 0, 2]).astype(dtype) for dtype in ("int64", "float64", "int32", "float32", "uint8", "bool"))


class ProgramClass:
    def __repr__(self):
        return "Ours()"


class Prior(ProgramClass):
    __array_priority__ = 10.0


class Unconverted(ProgramClass):
    __array_ufunc__ = None


class Sequence(ProgramClass):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return (1, 2, 3)[index]


class Whole(int):
    def __radd__(self, other):
        return "radd", int(self), other

    def __eq__(self, other):
        return "eq", int(self), other

    __hash__ = int.__hash__


class Real(float):
    def __rmul__(self, other):
        return "rmul", float(self), other


def _make_method(name: str) -> Any:
    return lambda self, other: (name, other)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rpow", "pow", "rdivmod", "lt", "eq", "ror"):
    setattr(ProgramClass, f"__{_name}__", _make_method(_name))
ProgramClass.__hash__ = None  # type: ignore[assignment]

FOREIGN = (
    Fraction(1, 3), Fraction(3), Decimal("1.5"), Decimal(3), ProgramClass(), Prior(), Unconverted(), Sequence(),
    Whole(3), Real(2.5), np.float64(2.5), np.int32(3), np.float32(0.1), np.uint8(250),
    datetime.timedelta(seconds=3), 2j, None, ..., object(), range(3),
)  # fmt: skip


def program(seed: int) -> str:
    generator = random.Random(seed)
    operands = ["z", "k"] if generator.random() < 0.5 else ["k", "z"]
    if seed % 3 == 0:
        operands = [operand.replace("k", generator.choice(("k", "k[0]", "k[1]"))) for operand in operands]
    form = generator.choice(BUILTINS) if generator.random() < 0.2 else f"{{}} {generator.choice(OPERATORS)} {{}}"
    return "def program(k):\n" + generator.choice(BODIES).format(form.format(*operands)) + "\n"


def outcome(function: Any, k: Any) -> tuple[Any, ...]:
    try:
        result = function(k)
    except Exception as error:
        return (type(error),)
    return type(result), repr(result)


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran or "WRONG", and details."""
    other = FOREIGN[number % len(FOREIGN)]
    plain = load_program(source, f"<foreign program {number}>", z=other, operator=operator, np=np)
    return compare_calls(plain, plain, ARRAYS if number % 3 == 0 else NUMBERS, outcome)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(run_command(__doc__, program, check))
