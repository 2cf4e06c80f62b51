"""Loops that are compiled by themselves, and end by `return` or by exceptions; loops between yields."""

import time
import traceback

import numpy as np
import pytest

import autoconv as ac
from tests.tracing.test_outlined_loops import runs_as_plain, traced_loops


class Suppress:
    """Context manager that swallows exceptions of a class, and logs its exits."""

    def __init__(self, kind, log):
        self.kind, self.log = kind, log

    def __enter__(self):
        return self.log

    def __exit__(self, kind, error, trace):
        self.log.append(kind and kind.__name__)
        return kind is not None and issubclass(kind, self.kind)


@pytest.mark.parametrize("limit", [0.5, 2.5, 9.0])
def test_return(limit):
    def first_above(a, limit):
        time.time()
        steps = 0
        for i in range(len(a)):
            steps += 1
            if a[i] > limit:
                return i, a[i] * 2, steps
        while steps < 5:
            steps += 1
            if steps * limit > 40:
                return steps
        return None

    assert traced_loops(runs_as_plain(first_above, np.arange(4.0), limit)) >= 1


def test_return_without_a_value_and_from_an_else():
    def search(a, log):
        time.time()
        for x in a:
            if x == 2:
                log.append(x)
                return  # noqa: RET502
        else:
            return "none"

    for values in ([1, 2, 3], [1, 3], []):
        assert traced_loops(runs_as_plain(search, np.array(values), [])) == 1


def test_return_runs_the_outer_finally():
    def find(a, log):
        time.time()
        total = 0.0
        try:
            with Suppress(KeyError, log):
                for x in a:
                    total += x
                    if total > 2:
                        return total
        finally:
            log.append(total)
        return -total

    for limit in (2, 3, 6):
        assert traced_loops(runs_as_plain(find, np.arange(float(limit)), [])) == 1


@pytest.mark.parametrize("count", [2, 6])
def test_names_after_an_exception(count):
    def partial(a, log):
        time.time()
        total, place = 0.0, -1
        try:
            for place in range(len(a)):
                total += a[place]
                if total > 3:
                    raise ValueError(total)
        except ValueError as error:
            log.append(str(error))
        return total, place

    assert traced_loops(runs_as_plain(partial, np.arange(float(count)), [])) == 1


def test_names_after_a_swallowed_exception():
    def partial(a, log):
        time.time()
        total = 0.0
        with Suppress(IndexError, log) as same_log:
            for i in range(9):
                total += a[i]
                same_log.append(i)
        return total

    assert traced_loops(runs_as_plain(partial, np.array([1.0, 2.0]), [])) == 1


def test_names_that_an_outer_handler_reads_after_a_raise_in_an_inner_one():
    def nested(a):
        time.time()
        total = count = 0
        try:
            try:
                for x in a:
                    total += x
                    if x == 2:
                        raise KeyError("inner")
            finally:
                for x in a:
                    count += x
            count = -1
        except KeyError:
            return total, count
        return count

    for values in ([1, 2, 3], [1, 3]):
        assert traced_loops(runs_as_plain(nested, np.array(values))) == 2


def test_the_lines_and_contexts_of_an_exception():
    def fail(a):
        time.time()
        total = 0
        try:
            raise OSError("first")
        except OSError:
            try:
                for x in a:
                    total += x
                    try:
                        a[x + 7]
                    except IndexError:
                        raise KeyError("third")  # noqa: B904
            finally:
                a[0] = total

    def chain(function):
        found = []
        try:
            function(np.array([1, 2]))
        except KeyError as error:
            while error is not None:
                line = traceback.extract_tb(error.__traceback__)[-1].lineno
                found.append((type(error), line))
                error = error.__context__
        return found

    compiled = ac.compile(fail)
    for _ in range(3):
        assert [kind for kind, _ in chain(fail)] == [KeyError, IndexError, OSError]
        assert chain(compiled) == chain(fail)


def test_loops_of_a_generator_between_its_yields():
    @ac.compile
    def sums(rows):
        for row in rows:
            total = 0.0
            for x in row:
                total += x
                if total > 10:
                    return
            yield total

    rows = [np.arange(float(n)) for n in (3, 4, 5, 9)]
    for _ in range(3):
        assert list(sums(rows)) == [3.0, 6.0, 10.0]
        assert list(sums(rows[:2])) == [3.0, 6.0]


@pytest.mark.parametrize("divisor", [1.0, 3.0])
def test_tracebacks_have_no_entry_for_the_head_of_a_loop(divisor):
    def inverses(n, divisor):
        time.time()
        total = 0.0
        for i in range(n):
            for k in range(2):
                total += k / (divisor - i)
        return total

    def lines_of_error(function):
        with pytest.raises(ZeroDivisionError) as raised:
            function(5, divisor)
        entries = traceback.extract_tb(raised.value.__traceback__)
        return [(entry.name, entry.line) for entry in entries[1:]]

    compiled = ac.compile(inverses)
    for _ in range(2):
        assert lines_of_error(compiled) == lines_of_error(inverses)
    assert traced_loops(compiled.explain()) == 1


def test_tracebacks_have_no_entry_for_the_head_of_a_loop_that_runs_plain():
    def inverses(rows, divisor):
        totals = []
        for row in rows:
            time.time()
            for value in row:
                time.time()
                while value > 0:
                    value -= 1
                if value < 0:
                    inverses([[0.0]], 0.0)
                totals.append(value / divisor)
        return totals

    def lines_of_error(function, *args):
        with pytest.raises(ZeroDivisionError) as raised:
            function(*args)
        entries = traceback.extract_tb(raised.value.__traceback__)
        return [(entry.name, entry.line) for entry in entries[1:]]

    compiled = ac.compile(inverses)
    for args in [([[1.0, 2.0]], 0.0)] * 2 + [([[1.0], [0.5]], 1.0)] * 2:
        assert lines_of_error(compiled, *args) == lines_of_error(inverses, *args)
