"""Lists, dicts, sets and numbers of Python's own in native code: results of plain Python, without kernels."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import autoconv
from tests.tracing.test_typed_lists import fibonacci, sieve, stack


def remainders(n):
    counts = {}
    seen = set()
    for i in range(n):
        r = i * i % 13
        counts[r] = counts.get(r, 0) + 1
        if r not in seen:
            seen.add(r)
    pairs = {}
    for r, count in counts.items():
        pairs[r / 2] = (r, -count, {r: count, "least": min(r, count)}, {r, count})
    return counts, seen, pairs


def medians(n, k):
    found = []
    for i in range(n):
        window = []
        for d in range(-k, k + 1):
            if 0 <= i + d < n:
                window.append((i + d) * 7919 % 31)
        window.sort()
        found.append(window[len(window) // 2])
    found.reverse()
    return found, max(found), sorted(found)[:3], 5 in found, found == found[:]


PROGRAMS = [(fibonacci, 50), (sieve, 100), (stack, 90), (remainders, 40), (medians, 12, 2)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda case: case[0].__name__)
def test_programs_have_pythons_results_without_kernels(program):
    function, *arguments = program
    compiled = autoconv.compile(function)
    expected = function(*arguments)
    assert repr(compiled(*arguments)) == repr(expected)
    smaller = [arguments[0] - 3, *arguments[1:]]
    assert repr(compiled(*smaller)) == repr(function(*smaller))
    text = compiled.explain()
    assert "1 trace" in text and "plain Python" not in text
    assert "object_apply" not in text and "object_method" not in text


def at(n, k):
    xs = []
    for i in range(n):
        xs.append(i)
    return xs[k]


def popped(n, k):
    xs = []
    for i in range(n):
        xs.append(i)
    for _ in range(k):
        xs.pop()
    return xs


def key(n, k):
    found = {}
    for i in range(n):
        found[i] = i
    return found[k]


def quotient(n, k):
    xs = []
    for i in range(n):
        xs.append(i)
    return sum(xs) // (xs[0] * k)


def joined(n, k):
    xs = []
    for i in range(n):
        xs.append("a" if i > k else i)
    return xs[0] + xs[-1]


def hashed(n, k):
    found = {}
    for i in range(n):
        found[[i]] = k
    return found


@pytest.mark.parametrize("function", [at, popped, key, quotient, joined, hashed], ids=lambda f: f.__name__)
def test_errors_are_pythons_at_the_line_of_the_user(function):
    compiled = autoconv.compile(function)
    for arguments in ((3, 1), (3, 5), (3, -9), (2, 0)):
        try:
            expected = repr(function(*arguments))
        except Exception as error:
            with pytest.raises(type(error)) as found:
                compiled(*arguments)
            assert str(found.value) == str(error)
            lines = [entry.tb_lineno for entry in _entries(found.value)]
            assert lines[-1] == [entry.tb_lineno for entry in _entries(error)][-1]
        else:
            assert repr(compiled(*arguments)) == expected


def _entries(error):
    entry, found = error.__traceback__, []
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def test_a_repeated_run_leaves_no_writes_of_the_first():
    """The second product does not fit into 64 bits; the argument list is as plain Python leaves it."""

    def f(xs, n):
        mine = []
        for i in range(n):
            xs.append(i)
            mine.append(i)
            mine[0] = i
            n = n * 3037000500 // 3037000500
        big = n
        for _ in range(n):
            big = big * 3037000500
        return mine, big

    for n in (1, 2, 3, 5):
        plain_list, compiled_list = [7], [7]
        assert autoconv.compile(f)(compiled_list, n) == f(plain_list, n)
        assert compiled_list == plain_list


def test_numbers_of_numpy_keep_their_classes():
    def f(values, n):
        xs = []
        for i in range(n):
            xs.append(values[i])
        xs[0] = xs[0] * 2 + xs[-1]
        return xs

    values = np.arange(1, 6)
    found, expected = autoconv.compile(f)(values, 4), f(values, 4)
    assert found == expected and [type(x) for x in found] == [type(x) for x in expected]


def test_users_classes_keep_their_own_operators():
    class Odd(list):
        def __len__(self):
            return 42

    def f(xs, n):
        found = []
        for _ in range(n):
            found.append(len(xs))
        return found

    assert autoconv.compile(f)(Odd([1]), 3) == f(Odd([1]), 3) == [42, 42, 42]


class Particle:
    drag = 0.5

    def __init__(self, x, v):
        self.x = x
        self.v = v

    @property
    def energy(self):
        return self.v * self.v


class Slotted:
    __slots__ = ("v", "x")

    def __init__(self, x, v):
        self.x = x
        self.v = v


def moved(kind, n):
    particles = []
    for i in range(n):
        particles.append(kind(i, i / 2))
    last = kind(0, 1)
    for p in particles:
        last = p if p.x > 2 else last
    last.x = last.x + last.v
    return [(p.x, p.v) for p in particles], last.x


@pytest.mark.parametrize("kind", [Particle, Slotted])
def test_attributes_of_objects_made_in_the_graph(kind):
    compiled = autoconv.compile(moved)
    for n in (2, 5, 7):
        assert compiled(kind, n) == moved(kind, n)


def test_attributes_of_objects_from_before_the_call():
    def f(particles, n):
        total = 0
        for p in particles:
            if p.x < n:
                total += p.x * p.drag
                p.v += n
        return total

    def make_particles():
        return [Particle(1, 2.0), Particle(2, 3.0), Particle(9, 4.0)]

    plain_particles, compiled_particles, compiled = make_particles(), make_particles(), autoconv.compile(f)
    for n in (3, 5, 0):
        assert compiled(compiled_particles, n) == f(plain_particles, n)
        assert [(p.x, p.v) for p in compiled_particles] == [(p.x, p.v) for p in plain_particles]


def test_objects_are_freed():
    compiled = autoconv.compile(remainders)
    for _ in range(20):
        compiled(60)
    tracemalloc.start()
    try:
        compiled(60)
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(300):
            compiled(60)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
