"""Operators between numbers of a call and numbers of other classes: the chosen special method is Python's choice."""

import linecache
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import autoconv as ac


class ReturnsOperands:
    """A number whose operators return their name and their operand."""

    def __add__(self, other):
        return "add", other

    def __radd__(self, other):
        return "radd", other

    def __eq__(self, other):
        return "eq", other

    def __lt__(self, other):
        return "lt", other

    def __rdivmod__(self, other):
        return "rdivmod", other

    __hash__ = None


class Whole(int):
    def __radd__(self, other):
        return "radd", int(self), other

    def __lt__(self, other):
        return "lt", int(self), other

    def __eq__(self, other):
        return "eq", int(self), other

    __hash__ = int.__hash__


class Real(float):
    def __rmul__(self, other):
        return "rmul", float(self), other


FOREIGN = {
    "third": Fraction(1, 3), "three": Fraction(3), "decimal": Decimal("1.5"), "ours": ReturnsOperands(),
    "whole": Whole(3), "real": Real(2.5), "narrow": np.float32(0.1), "int32": np.int32(3),
}  # fmt: skip
OPERATORS = ("+", "*", "**", "<", "==")
CONTEXTS = {"straight": "    return {}", "an if": "    if k > 1:\n        return {}\n    return k"}


def build_function(source, operand):
    name = f"<foreign {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"z": operand}
    exec(compile(source, name, "exec"), names)
    return names["f"]


def outcome(function, *arguments):
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return type(found), repr(found)


@pytest.mark.parametrize("name", FOREIGN)
def test_every_operator_from_either_side(name):
    for symbol in OPERATORS:
        for context, expression in zip(CONTEXTS, (f"z {symbol} k", f"k {symbol} z"), strict=True):
            function = build_function("def f(k):\n" + CONTEXTS[context].format(expression), FOREIGN[name])
            compiled = ac.compile(function)
            for k in (2, 3, 2.5):
                assert outcome(compiled, k) == outcome(function, k), (expression, context, k)


@pytest.mark.parametrize("name", ["three", "ours", "whole"])
def test_builtins_and_containers(name):
    for expression in ("divmod(k, z)", "sum([z], k)", "z in (k, 7)", "k in [z]", "pow(z, k)"):
        function = build_function(f"def f(k):\n    return {expression}", FOREIGN[name])
        compiled = ac.compile(function)
        for k in (2, 3):
            assert outcome(compiled, k) == outcome(function, k), expression
