"""Generators that yield inside of a try or with statement: caught errors, final blocks, and closing."""

import pytest

import autoconv as ac
from tests.tracing.plain_comparison import result_or_error


class Swallowing:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return 4

    def __exit__(self, kind, error, trace):
        self.log.append(kind)
        return True


def yields_in_clauses(n, log):
    try:
        if n > 2:
            raise ValueError(n)
        yield n
        log.append("body")
    except ValueError:
        yield -n
        log.append("handler")
    else:
        yield 7
    finally:
        log.append("end")


def ends(n, log):
    for i in range(n):
        try:
            log.append(i)
            yield i
        finally:
            log.append(-i)


def managed(n, log):
    for i in range(n):
        with Swallowing(log) as m:
            yield i + m
            if i > n // 2:
                raise ValueError
            log.append(6 // (i - 1))


def all_items(a):
    log = []
    return sum(yields_in_clauses(a, log)), list(yields_in_clauses(a, log)), max(yields_in_clauses(a, log)), log


def next_of(a):
    log = []
    return next(yields_in_clauses(a, log)), log


def left_early(a):
    log = []
    for x in ends(a, log):
        if x > 2:
            break
    log.append("out")
    return log


def through_a_manager(a):
    log = []
    return sum(managed(a, log)), log


def returns_early(a):
    def values(n):
        with Swallowing(log):
            yield n
            if n > 2:
                return log.append(n)
            yield n + 1
        yield 9

    log = []
    return list(values(a)), log


def yields_in_a_comparison(a):
    def values(n):
        nothing_is_sent = (yield n) is None

        def twice(x):
            return 2 * x

        yield twice(n)
        if nothing_is_sent:
            yield 7

    found = 0
    for x in values(a):
        found = 3 * found + x
    return found


STAGED = [returns_early, yields_in_a_comparison, all_items, next_of, left_early, through_a_manager]


def closed_later(a):
    log = []
    generator = ends(a, log)
    for x in generator:
        if x > 2:
            break
    log.append("out")
    del generator
    return log


def loops_body_raises(a):
    log = []
    result = 0
    try:
        for x in yields_in_clauses(a, log):
            result += 6 // x
    except (ZeroDivisionError, ValueError):
        result = -1
    return result, log


def one_by_one(a):
    log = []
    generator = yields_in_clauses(a, log)
    return next(generator), next(generator, 5), log


def first_of_a_managed_generator(a):
    def values(n):
        with Swallowing([]):
            if n > 2:
                raise ValueError(n)
            yield n
        yield 9

    generator = values(a)
    return next(generator)


def passed_to_a_function(a):
    def values(n):
        yield 1
        yield 6 // n

    def outer(n):
        try:
            yield from values(n)
        except ZeroDivisionError:
            yield 9

    generator = outer(a)
    return next(generator), next(generator)


RUN_PLAIN = [closed_later, loops_body_raises, one_by_one, first_of_a_managed_generator, passed_to_a_function]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("function", [*STAGED, *RUN_PLAIN])
def test_generators_that_yield_inside_of_statements(function):
    compiled = ac.compile(function)
    for a in (2, 5, 0, 3, 1):
        assert result_or_error(compiled, a) == result_or_error(function, a)
    assert ("plain Python" in compiled.explain()) == (function in RUN_PLAIN), compiled.explain()
