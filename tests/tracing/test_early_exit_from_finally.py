"""A finally block that is left early, after an exception in its body: one graph, each path as in Python."""

import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls, outcome


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is not None


def test_a_finally_that_is_left_early():
    # ruff: noqa: B012 - which is what is tested
    def returns(a, b):
        try:
            b = 10 // a
        finally:
            if b > 3:
                return "early", b
        return "end", b

    def jumps(a, b):
        log = []
        for i in range(b):
            try:
                if i == a:
                    raise ValueError(i)
                if i == 2:
                    return log
                log.append(i)
            except KeyError:
                log.append("k")
            finally:
                log.append("f")
                if i == 3:
                    break
                if i % 2:
                    continue
            log.append("end")
        else:
            log.append("else")
        return log, a

    def from_loops_inside(a, b):
        log = []
        while b > 0:
            b -= 1
            try:
                log.append(10 // (a - b))
            finally:
                for j in range(3):
                    if j == a:
                        return log
                    if j > b:
                        break
                else:
                    continue
                log.append(j)
        return log, "x"

    def raises(a, b):
        try:
            return 1 // a
        finally:
            try:
                if b > 2:
                    raise KeyError(b)
                if b > 1:
                    return "one"
            except KeyError as error:
                return error.args, repr(error.__context__)

    calls = (1, 2), (0, 0), (7, 3), (0, 4), (1, 5), (3, 3), (5, 2), (2, 3), (3, 6), (0, 2), (0, 1)
    for function in (returns, jumps, from_loops_inside):
        check_calls(function, *calls)
    compiled = ac.compile(raises)  # runs plain: the context of an error that is known only at run time
    assert [outcome(compiled, item) for item in calls] == [outcome(raises, item) for item in calls]


def test_tries_nested_deeper_than_python_allows():
    def f(a, b):
        try:
            try:
                try:
                    try:
                        try:
                            x = 10 // a
                        except KeyError:
                            x = 3
                        finally:
                            b += 1
                    except IndexError:
                        x = 4
                    finally:
                        b += 1
                    if b > 6:
                        return "return", x
                except OverflowError:
                    x = 5
                finally:
                    b += 1
            except (TypeError, ZeroDivisionError):
                x = 6
            finally:
                b *= 2
        except OSError:
            x = 7
        return x, b

    check_calls(f, (1, 2), (0, 0), (7, 3), (0, 4), (1, 5))


def test_a_finally_that_is_left_early_under_function():
    @ac.function
    def f(table, i):
        for _ in range(3):
            try:
                found = ac.gather(table, i)
            except ac.errors.NotFoundError:
                found = ac.constant(0)
            finally:
                break
        return found

    table = ac.constant([1, 2])
    assert int(f(table, ac.constant(1))) == 2
    with pytest.raises(UnboundLocalError, match="found"):
        f(table, ac.constant(5))
    assert f.experimental_get_tracing_count() == 1
