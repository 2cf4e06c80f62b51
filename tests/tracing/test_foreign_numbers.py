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


class Prior(ReturnsOperands):
    __array_priority__ = 10.0


class Unconverted(ReturnsOperands):
    __array_ufunc__ = None


class Sequence(ReturnsOperands):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return (1, 2)[index]


OPERANDS_OF_ARRAYS = {
    "ours": ReturnsOperands(), "prior": Prior(), "unconverted": Unconverted(), "sequence": Sequence(),
    "third": Fraction(1, 3), "real": Real(2.5), "object": object(),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERANDS_OF_ARRAYS)
def test_numpy_gives_python_numbers_to_the_operators_of_other_classes(name):
    for expression in ("a[0] + z", "z + a[0]", "a[1] < z", "z > a[1]", "a[0] @ z", "a + z", "a == z", "a[1] == z"):
        function = build_function(f"def f(a):\n    return {expression}", OPERANDS_OF_ARRAYS[name])
        compiled = ac.compile(function)
        for dtype in ("int64", "float64", "float32", "bool", "complex128"):
            a = np.array([3, 0]).astype(dtype)
            assert outcome(compiled, a) == outcome(function, a), (expression, dtype)


class Dual:
    """A value with a derivative, whose operators may meet NumPy's numbers."""

    def __init__(self, value):
        self.value = value

    def __rmul__(self, other):
        return self.value, type(other).__name__


def test_objects_of_the_graph_receive_python_numbers_from_numpy():
    def scales(x, n):
        duals = [Dual(1.0), Dual(2.5)]
        return x[0] * duals[n], x[n] * Dual(3.0)

    compiled = ac.compile(scales)
    for dtype in ("int64", "float64", "float32", "complex128"):
        for n in (0, 1):
            x = np.array([3, 2]).astype(dtype)
            assert compiled(x, n) == scales(x, n)
