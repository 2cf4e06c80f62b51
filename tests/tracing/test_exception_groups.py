"""try with except* clauses whose bodies raise when the graph runs."""

import pytest

import autoconv
from tests.tracing.test_objects import check_calls


def test_exception_groups():
    class Late(Exception):
        pass

    def f(a, b):
        log = []
        for first in (0, 1):
            try:
                if a > first:
                    raise ExceptionGroup("several", [ValueError(1), KeyError(2), ExceptionGroup("in", [ValueError(3)])])
                if a < -1:
                    raise KeyError(a)
                log.append(b // a)
            except* ValueError as e:
                log.append(len(e.exceptions))
            except* (KeyError, ZeroDivisionError) as g:
                log.append(str(g.exceptions[0]))
                if b > 7:
                    raise Late("again") from g
            except* Late:
                log.append("never")
            else:
                log.append("else")
            finally:
                log.append("end")
        return log

    check_calls(f, (2, 7), (1, 7), (0, 7), (-5, 7), (-1, 7), (2, 8), (0, 9))


def test_exceptions_that_no_clause_matches():
    def f(a):
        found = []
        try:
            try:
                if a > 1:
                    raise ExceptionGroup("several", [ValueError(1), OSError(2)])
                if a > 0:
                    raise OSError(a)
            except* ValueError:
                found.append("value")
                raise
            except* KeyError:
                found.append("key")
        except ExceptionGroup as error:
            found.append([type(e).__name__ for e in error.exceptions])
        except OSError as error:
            found.append(error.args)
        return found

    check_calls(f, (2,), (1,), (0,))


def parts_of(error):
    """Return the exception with its parts, causes and contexts as text."""
    parts = [parts_of(part) for part in getattr(error, "exceptions", ())]
    links = [link and parts_of(link) for link in (error.__cause__, error.__context__)]
    return type(error), repr(error.args), parts, links


def decided_in_a_clause(x, k):
    try:
        raise ExceptionGroup("several", [ValueError(x), TypeError(k)])
    except* ValueError:
        if k > 2:
            x = 1.0
    return x


def raised_in_a_clause(x, k):
    try:
        raise ExceptionGroup("several", [ValueError(x), TypeError(k)])
    except* ValueError:
        if k > 2:
            raise OSError(k)  # noqa: B904


def raised_for_all(x, k):
    try:
        raise ExceptionGroup("several", [ValueError(x), ValueError(k)])
    except* ValueError:
        raise OSError(k)  # noqa: B904


def alone(x, k):
    try:
        if x > 1:
            raise ValueError(x)
    except* ValueError:
        if k > 2:
            raise OSError(k)  # noqa: B904
        if k > 1:
            raise
    return x


@pytest.mark.parametrize("program", [decided_in_a_clause, raised_in_a_clause, raised_for_all, alone])
def test_unmatched_exceptions_hold_the_values_of_the_call(program):
    compiled = autoconv.compile(program)
    for arguments in ((1.5, 2), (1.5, 4), (1.5, 0), (0.5, 3)):
        found = []
        for function in (program, compiled):
            try:
                found.append(function(*arguments))
            except Exception as error:
                found.append(parts_of(error))
        assert found[0] == found[1]
