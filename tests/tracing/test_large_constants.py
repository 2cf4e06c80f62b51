"""Int literals beyond 64 bits as operands beside numbers known only at run time: Python's results."""

import itertools
import linecache
import math

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import IntegerLimitError

PLACES = {
    "an if": "    if v > 0:\n        return {}\n    return v",
    "a loop": "    found = None\n    while v > 0:\n        v = v - 3\n        found = {}\n    return found",
    "a try": "    try:\n        if v > 0:\n            return {}\n    except ArithmeticError:\n"
    "        return 'caught'\n    return v",
    "a test": "    if {}:\n        return v\n    return w",
}
SYMBOLS = ("-", "*", "/", "%", "<", "==", "&", ">>", "or")
EXPRESSIONS = [
    *(f"v {symbol} B" for symbol in SYMBOLS),
    *(f"B {symbol} w" for symbol in SYMBOLS),
    "z * B", "B ** v", "min(v, B)", "max(w, B)", "divmod(B, v)", "pow(v, 3, B)", "sum([v, B])", "sorted([v, B, w])",
    "abs(v - B)", "v in (B, 3)", "B if t else v", "math.gcd(v, B)", "math.hypot(v, B)", "f'{v + B}'", "-B < v < B",
    "[q < B for q in (v, 2)]", "any([v > B, v < 0])", "(lambda a: a % B)(v)", "list(range(B, B + abs(v)))",
    "v * B // B",
    "x[v:B].sum()", "x[B:v:-1].sum()", "(x + B).sum()", "(x < B).sum()",
]  # fmt: skip
LARGE = ("2**64 - 1", "10**20", "-(2**63) - 1", "10**400")
CALLS = [(5, 2.5, 1 + 2j, True), (3, -0.5, 1j, False), (-2, 1e300, 0j, True)]


def build_function(source):
    name = f"<large constants {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"math": math}
    exec(compile(source, name, "exec"), names)
    return names["f"]


def outcome(function, arguments):
    try:
        return repr(function(*arguments, np.arange(4.0)))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(("place", "large"), [*zip(PLACES, LARGE, strict=True)])
def test_the_result_is_pythons(place, large):
    for expression in EXPRESSIONS:
        body = PLACES[place].format(expression.replace("B", f"({large})"))
        function = build_function("def f(v, w, z, t, x):\n" + body)
        compiled = ac.compile(function)
        for arguments in CALLS:
            assert outcome(compiled, arguments) == outcome(function, arguments), (expression, arguments)


def test_no_array_is_larger_than_any_memory():
    def f(n, _, __, ___, x):
        return np.tile(x, 2**62).sum() if n > 0 else x.sum()

    compiled = ac.compile(f)
    for n in (-1, 1):
        assert outcome(compiled, (n, 0, 0, 0)) == outcome(f, (n, 0, 0, 0))
    assert "an array of more than 9223372036854775808 bytes" in compiled.explain()


def test_floats_take_such_an_int_as_a_float_in_the_graph():
    def f(x, n):
        for _ in range(n):
            x = x / 10**24 + 2**70
        return x

    compiled = ac.compile(f)
    for x, n in itertools.product((1.5, 1e40), (0, 1, 3)):
        assert compiled(x, n) == f(x, n)
    assert "plain Python" not in compiled.explain()


def test_explain_names_the_int_and_its_line():
    def f(v):
        return v & 0xFFFFFFFFFFFFFFFF if v > 0 else v

    compiled = ac.compile(f)
    assert [compiled(v) for v in (5, -1)] == [5, -1]
    assert "test_large_constants.py" in compiled.explain()
    assert "the Python int 18446744073709551615 does not fit into the 64 bits that a graph carries it in\n" in (
        compiled.explain() + "\n"
    )


def test_no_handler_catches_the_limit_of_a_function():
    @ac.function
    def f(n):
        k = 0
        try:
            while k < n:
                k += 2**64
        except OverflowError:
            k = -1
        return k

    with pytest.raises(IntegerLimitError, match="start with a float"):
        f(ac.constant(3))


def test_typed_floats_take_such_an_int():
    assert ac.function(lambda x: x * 10**24)(ac.constant(2.0)).numpy() == np.float32(2e24)
    assert (ac.constant(2.0, ac.float64) * 10**24).numpy() == 2e24
