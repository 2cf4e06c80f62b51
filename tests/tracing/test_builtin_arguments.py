"""Builtins called with wrong or unusual arguments: Python's own results, classes of errors and messages."""

import linecache
import math
import operator
from typing import Any

import numpy as np
import pytest

import autoconv

CALLS = [
    [
        "abs(x=a)", "abs()", "abs(a, a)", "int(x=a)", "int(a, a, a)", "int(a, 10)", "int(a, base=10)",
        "int('11', b)", "int('11', base=b)", "int(base=2)", "int(foo=a)", "float(x=a)", "float(a, a)", "bool(x=a)",
        "bool(a, a)",
    ],
    [
        "round()", "round(a, ndigits=1, foo=2)", "round(number=a, ndigits=0)", "round(number=x, ndigits=1)",
        "round(x, b, b)", "round(x, b)", "round(x, None)", "round(a, x)", "round(x, x)", "round(ndigits=1)",
        "pow(a)", "pow(base=a, exp=b)", "pow(a, b, mod=7)", "pow(a, b, 7)", "pow(a, b, None)", "pow(a, b, c=7)",
        "pow(a, b, b, b)", "pow(x, b, 7)",
    ],
    [
        "divmod(a)", "divmod(x=a, y=b)", "divmod(a, b, b)", "max()", "max(a)", "max(default=1)",
        "max(a, b, default=1)", "max([], default=a)", "max([])", "max([a, b], default=1)", "max([a, b], foo=1)",
        "max(a, key=None)", "max(a, b, key=None)", "max([a, b], key=None)", "max([a, b], key=None, default=3)",
        "max(key=abs)", "max([a], [b], key=len)", "max(a, b, key=3)",
    ],
    [
        "min()", "min(a, b, key=None, foo=1)", "sum()", "sum([a, b], start=a)", "sum([a, b], a, a)",
        "sum(iterable=[a])", "sum([a], foo=1)", "sum(a)", "sum([a], '')", "any()", "any(a)", "any(iterable=[a])",
        "any([a], [a])", "all()", "all(a, b)",
    ],
    [
        "range()", "range(a, b, b, b)", "range(stop=a)", "range(x)", "range(a, x)", "range(1, 2, 0)",
        "range(a, b, 0)", "len()", "len(a)", "len(a, a)", "len(obj=[a])", "len(x)", "enumerate()",
        "list(enumerate(iterable=[a, b], start=a))", "list(enumerate([a, b], start=a))", "enumerate([a], 1, 2)",
        "enumerate([a], foo=2)", "enumerate(a)", "list(enumerate([a, b], x))",
    ],
    [
        "list(zip([a], [a, b], strict=True))", "zip([a], foo=1)", "zip(a, [a])", "list(zip())", "reversed()",
        "reversed(a)", "reversed(sequence=[a])", "reversed([a], 1)", "map()", "map(abs)", "map(func=abs)",
        "map(abs, a)", "filter()", "filter(None)", "filter(None, a)", "filter(None, [a], [a])",
        "filter(function=None, iterable=[a])",
    ],
    [
        "sorted()", "sorted(a)", "sorted([a], [a])", "sorted(iterable=[a])", "sorted([b, a], key=None)",
        "sorted([b, a], None)", "sorted([b, a], reverse=b)", "sorted([b, a], foo=1)", "sorted([b, a], reverse=None)",
        "sorted([b, a], key=5)", "list(a)", "list([a], [a])", "list(iterable=[a])", "list(iter([a, b]))",
    ],
    [
        "tuple(a)", "tuple([a], 1)", "tuple(iterable=[a])", "set(a)", "set([a], 1)", "set(iterable=[a])",
        "frozenset(a)", "frozenset([a], 1)", "frozenset(iterable=[a])", "dict(a)", "dict([a], 1)",
        "dict([(a, b)], c=b)", "dict(1, c=b)", "isinstance(a)", "isinstance(a, 5)", "isinstance(a, int, int)",
        "isinstance(obj=a, class_or_tuple=int)", "isinstance(a, (int, str))", "isinstance(a, int | str)",
    ],
    [
        "issubclass(a, int)", "issubclass(int)", "hasattr(a)", "hasattr(a, 5)", "hasattr(obj=a, name='x')",
        "getattr(a)", "getattr(a, 5)", "getattr(a, 'nothing')", "getattr(a, 'nothing', 1, 2)", "getattr(obj=a)",
        "getattr(a, 'real')", "getattr(a, name='real')", "type()", "type(a, b)", "type(a, foo=1)",
    ],
    [
        "print(foo=1)", "print(a, sep=1)", "print(a, end=a)", "print(a, sep=None, end=None)", "setattr(a)",
        "setattr(a, 'b')", "setattr(a, 'b', 1)", "setattr(a, 'b', 1, 2)", "delattr(a)", "delattr(a, 'b')", "iter()",
        "iter(a)", "iter(a, b)", "iter([a], 1, 2)",
    ],
    [
        "next()", "next(a)", "next([a])", "next(iter([a]), 1, 2)", "next(iterator=[a])", "math.sqrt()",
        "math.sqrt(a, b)", "math.sqrt(x=a)", "math.sqrt('a')", "math.atan2(a)", "math.hypot()",
        "math.hypot(a, b, a)", "math.hypot(a, b=1)", "math.gcd()", "math.gcd(a, x)", "math.gcd(a, b)",
    ],
    [
        "math.isclose(a, b, rel_tol=0.5)", "math.isclose(a)", "math.isclose(a, b, 0.5)", "math.isclose(a=a, b=b)",
        "math.comb(a)", "math.comb(b, x)", "math.factorial(x)", "math.factorial()", "math.log()", "math.log(b, b)",
        "math.log(b, 2, 3)", "math.log(x=b)", "math.perm(b)", "math.ldexp(x, x)", "math.ldexp(x)",
    ],
    [
        "math.dist([a], [b])", "math.dist(a, b)", "math.floor()", "math.floor('a')", "math.floor(a, b)",
        "math.fsum([a, b])", "math.prod([a, b])", "math.prod([a, b], start=a)", "math.prod([a, b], a)",
        "math.prod(a)", "math.modf(x)", "math.frexp(x)", "str(a, 'x')", "str(a, foo=1)",
    ],
    [
        "repr()", "repr(a, b)", "repr(obj=a)", "chr(x)", "chr(a, a)", "ord(a)", "ord()", "hex(x)", "bin(x)",
        "hash()", "hash(a, b)", "hash([a])", "callable()", "complex(a, b)", "complex(real=a)",
        "complex(real=a, imag=b)", "complex(a, b, b)", "complex('1', a)",
    ],
    [
        "format(a, 5)", "format(a, '>5', 3)", "format()", "bytes(a, 'x')", "bytes(x)", "id()", "vars(a)",
        "operator.setitem([a], 0)", "operator.setitem([a], 0, b, b)", "operator.iadd(a)", "operator.iadd(a, b)",
        "operator.iadd(a=a, b=b)", "operator.add(a)", "operator.add(a, 'x')",
    ],
    [
        "operator.itemgetter()", "operator.delitem([a])", "slice()", "slice(a, b, b, b)", "memoryview(a)",
        "object(a)", "super(a)",
    ],
]  # fmt: skip


def build_program(calls: list[str], number: int, staged: bool) -> Any:
    """Return a function that makes the calls and lists their results or errors."""
    lines = ["def program(a, b, x):", "    found = []"]
    for call in calls:
        lines += ["    try:"]
        lines += [f"        found.append({call} if a > 0 else None)" if staged else f"        found.append({call})"]
        lines += ["    except Exception as error:", "        found.append((type(error).__name__, str(error)))"]
    source = "\n".join([*lines, "    return found", ""])
    name = f"<calls {number} {staged}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"math": math, "operator": operator, "__name__": __name__}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.search
def test_arguments_that_do_not_fit(number: int, staged: bool) -> None:
    program = build_program(CALLS[number], number, staged)
    expected = [(type(x), str(x)) for x in program(3, 2, 2.5)]
    found = [(type(x), str(x)) for x in autoconv.compile(program)(3, 2, 2.5)]
    for call, a, b in zip(CALLS[number], found, expected, strict=True):
        assert (call, a) == (call, b)


def test_a_call_of_a_number_raises_as_in_python() -> None:
    def program(a: Any, v: Any) -> Any:
        found = [a, 1]
        try:
            return found[a > 0](a)
        except TypeError as error:
            return str(error)

    compiled = autoconv.compile(program)
    for a in (2, -2):
        assert compiled(a, np.arange(2)) == program(a, np.arange(2)) == "'int' object is not callable"
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("function", [lambda x: math.sin(x), lambda x: math.floor(x), lambda x: math.atan2(1, x)])
def test_an_error_for_an_array_has_no_context(function):
    with pytest.raises(TypeError) as expected:
        function(np.arange(2.0))
    with pytest.raises(TypeError) as found:
        autoconv.compile(function)(np.arange(2.0))
    assert str(found.value) == str(expected.value) and found.value.__context__ is None
