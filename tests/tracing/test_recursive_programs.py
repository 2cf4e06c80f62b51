"""Programs that call themselves, compiled: one graph that calls itself, with plain Python's results."""

import contextlib
import io
import traceback

import numpy as np
import pytest

import autoconv
from autoconv.graph.graph import Graph, has_recursion
from autoconv.ops import OPS
from autoconv.tracing.guards.changed_constants import containers_if_changed

LOG = []
COUNT = 0


class Bad(Exception):
    pass


def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def power(x, n):
    if n == 0:
        return 1
    half = power(x, n // 2)
    return half * half * (x if n % 2 == 1 else 1)


def collatz(n, count=0):
    if n == 1:
        return count
    if n % 2 == 0:
        return collatz(n // 2, count + 1)
    return collatz(3 * n + 1, count=count + 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def hanoi(n, source="A", spare="B", target="C"):
    if n == 0:
        return 0
    first = hanoi(n - 1, source, target, spare)
    LOG.append((n, source, target))
    return first + 1 + hanoi(n - 1, spare, source, target)


def moves(n, source="A", spare="B", target="C"):
    if n == 0:
        return []
    first = moves(n - 1, source, target, spare)
    first.append((source, target))
    return first + moves(n - 1, spare, source, target)


def search(values, key, low, high):
    if low >= high:
        return -1
    middle = (low + high) // 2
    if values[middle] == key:
        return middle
    if values[middle] < key:
        return search(values, key, middle + 1, high)
    return search(values, key, low, middle)


def search_all(values, key):
    return search(values, key, 0, len(values))


def divide(a, b):
    if a < b:
        return 0, a
    quotient, remainder = divide(a - b, b)
    return quotient + 1, remainder


def halves(n):
    """Return an int at the bottom, and a float after an odd number."""
    if n <= 0:
        return 0
    if n % 2:
        return halves(n - 1) + 0.5
    return halves(n - 1) + 1


def nothing(n):
    if n > 3:
        return
    print("at", n)
    nothing(n + 1)


def raising(n, limit):
    LOG.append(n)
    if n > limit:
        raise Bad("too deep", n)
    if n == 7:
        return n
    result = raising(n + 1, limit)
    print("back", n)
    return result


def always_raising(n):
    if n == 0:
        raise ValueError("bottom")
    return always_raising(n - 1)


def catching(n):
    if n == 0:
        return 1 // n
    try:
        return catching(n - 1) + 1
    except ZeroDivisionError:
        if n < 3:
            raise
        return 100
    finally:
        print("leaving", n)


def counting(n):
    global COUNT
    COUNT += 1
    if n == 0:
        return COUNT
    return counting(n - 1) + counting(n // 2)


def nonlocal_total(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        if k > 0:
            add(k - 1)
            add(k - 2)

    add(n)
    return total


named = lambda n: 1 if n == 0 else n * named(n - 1)


class Walker:
    def __init__(self, base):
        self.base = base
        self.calls = 0

    def walk(self, n):
        self.calls += 1
        if n <= 1:
            return self.base
        return self.walk(n - 1) + self.other(n - 2)

    def other(self, n):
        if n < 0:
            return 0
        return self.walk(n)


def method(n):
    walker = Walker(2)
    return walker.walk(n), walker.calls


def in_a_loop(n):
    total = 0
    for i in range(n):
        total += in_a_loop(i) + 1
    return total


def in_a_comprehension(n):
    return 1 + sum([in_a_comprehension(k) for k in range(n)])


def in_a_boolean(n):
    return n == 0 or (n > 0 and in_a_boolean(n - 2))


def in_a_condition(n):
    if n == 0:
        return 1
    elif in_a_condition(n - 1) > 5:
        return 2
    elif n == 4:
        return in_a_condition(n - 2) + 7
    else:
        return in_a_condition(n - 1) + 1


def three(n):
    def a(k):
        return 0 if k <= 0 else b(k - 1) + 1

    def b(k):
        return 0 if k <= 0 else c(k - 2) + 2

    def c(k):
        return 0 if k <= 0 else a(k) + b(k - 1)

    return a(n)


def nested_tuples(n):
    return () if n == 0 else (n, nested_tuples(n - 1))


def squares(n):
    if n == 0:
        return {}
    found = squares(n - 1)
    found[n] = n * n
    return found


def sort(values):
    if len(values) < 2:
        return values
    pivot, others = values[0], values[1:]
    middle = [pivot]
    return sort([x for x in others if x < pivot]) + middle + sort([x for x in others if x >= pivot])


def filled(n):
    out = []

    def fill(k):
        if k > 0:
            out.append(k)
            fill(k - 1)
            fill(k - 2)

    fill(n)
    return out


def appends_recursively(n, out):
    if n > 0:
        appends_recursively(n - 1, out)
        out.append(n)


def passes_a_list_on(n):
    out = []
    appends_recursively(n, out)
    return out


def doubled(values, i):
    if i == len(values):
        return 0
    values[i] = values[i] * 2
    return doubled(values, i + 1) + values[i]


def doubling(values):
    return doubled(values, 0), values


def many(n, *rest, k=1, **named):
    if n == 0:
        return sum(rest) + k + len(named)
    return many(n - 1, *rest, k=k + n, **named)


def many_arguments(n):
    return many(n, 1, 2, z=3)


def kept_in(n, known):
    if n in known:
        return known[n]
    known[n] = n if n < 2 else kept_in(n - 1, known) + kept_in(n - 2, known)
    return known[n]


def memoised(n):
    return kept_in(n, {})


def binary(n, digits=""):
    if n == 0:
        return digits
    return binary(n // 2, str(n % 2) + digits)


VALUES = np.arange(0, 40, 2)
PROGRAMS = [
    (factorial, (5,), (1,), (10,)),
    (fibonacci, (10,), (1,), (7,)),
    (gcd, (12, 18), (7, 3), (5, 0)),
    (ackermann, (2, 3), (0, 4), (1, 2)),
    (power, (3, 5), (2, 10), (7, 0)),
    (collatz, (27,), (1,), (6,)),
    (is_even, (7,), (8,), (0,)),
    (hanoi, (3,), (0,), (5,)),
    (moves, (3,), (0,), (5,)),
    (search_all, (VALUES, 6), (VALUES, 7), (VALUES, 38)),
    (divide, (17, 5), (3, 5)),
    (halves, (3,), (0,), (6,)),
    (nothing, (3,), (0,), (6,)),
    (raising, (0, 10), (0, 3), (7, 10)),
    (always_raising, (3,), (0,)),
    (catching, (1,), (2,), (3,), (5,), (0,)),
    (counting, (3,), (0,), (5,)),
    (nonlocal_total, (3,), (0,), (5,)),
    (named, (3,), (0,), (5,)),
    (method, (3,), (0,), (6,)),
    (in_a_loop, (3,), (0,), (6,)),
    (in_a_comprehension, (3,), (0,), (6,)),
    (in_a_boolean, (3,), (0,), (6,)),
    (in_a_condition, (3,), (0,), (8,)),
    (three, (3,), (0,), (9,)),
    (nested_tuples, (3,), (0,), (5,)),
    (squares, (3,), (0,), (5,)),
    (sort, ([3, 1, 2, 5, 4],), ([1, 2, 3, 4, 5],)),
    (filled, (3,), (0,), (6,)),
    (passes_a_list_on, (3,), (0,), (6,)),
    (many_arguments, (3,), (0,)),
    (memoised, (3,), (0,), (20,)),
    (binary, (10,), (0,), (255,)),
]


def outcome(function, arguments):
    """Return the result or the exception with its lines, the output and the events."""
    global COUNT
    LOG.clear()
    COUNT = 0
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            result = function(*arguments)
        except Exception as error:
            lines = [entry.lineno for entry in traceback.extract_tb(error.__traceback__)[1:]]
            result = type(error), error.args, lines, type(error.__context__)
    return repr(result), out.getvalue(), list(LOG), COUNT


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0].__name__)
@pytest.mark.search
def test_compiled_recursion_is_plain_python_in_one_trace(program, monkeypatch):
    monkeypatch.setenv("AUTOCONV_VERIFY", "1")
    function, *cases = program
    compiled = autoconv.compile(function)
    for arguments in cases:
        assert outcome(compiled, arguments) == outcome(function, arguments), arguments
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()
    assert "plain" not in compiled.explain()
    assert has_recursion(compiled.concrete_functions[0].optimised)


def test_constants_that_a_recursive_function_may_change():
    """The region of a recursive function is shared by all its calls, recursive ones too."""
    root, body = Graph("root"), Graph("body")
    constant = root.add(OPS["object_constant"], [], {"value": [1, 2]})
    type_ = constant.results[0].type
    parameter = body.add_parameter(type_)
    recursive_call = body.add(OPS["call"], [parameter], {"recursive": True}, regions=[body], types=[type_])
    body.outputs = [recursive_call.results[0]]
    call = root.add(OPS["call"], [constant.results[0]], {"recursive": True}, regions=[body], types=[type_])
    assert containers_if_changed(root) == []
    root.add(OPS["object_method"], [call.results[0]], {"name": "append"}, types=[type_])
    assert containers_if_changed(root) == [[1, 2]]
