"""Tries in native code: exceptions jump to handlers, with values in registers, and references are released."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import autoconv


class UserError(Exception):
    pass


def divided(a, n):
    total = 0
    for i in range(n):
        try:
            total += 100 // (i % 7 - 3)
        except ZeroDivisionError:
            total -= 1
    return total


def summed(a, n):
    total = 0.0
    i = 0
    while True:
        try:
            total += a[i]
            i += 1
        except IndexError:
            break
    return total, i


def skipped(a, n):
    total = i = 0
    while i < n:
        try:
            if i % 3 == 1:
                continue
            total += i
        finally:
            i += 1
    return total


def raised(a, n):
    total = 0
    for i in range(n):
        try:
            if i % 5 == 2:
                raise ValueError(i)
            total += i
        except ValueError as error:
            total += error.args[0] * 10
        else:
            total += 1
    return total


def nested(a, n):
    found = []
    for i in range(n):
        try:
            try:
                found.append(10 // (i - 3))
                x = a[i] + 1
            except ZeroDivisionError as error:
                found.append(-1)
                raise ValueError(str(error)) from error
            finally:
                found.append(100)
        except (ValueError, IndexError) as error:
            found.append(type(error).__name__)
            if error.__cause__ is not None:
                found.append(str(error.__cause__))
        else:
            found.append(x)
    return found


def not_assigned(a, n):
    for i in range(n):
        try:
            q = 10 // (i - 2)
            z = a[i]
        except ZeroDivisionError:
            try:
                r = z
            except NameError:
                r = -5.0
        except IndexError:
            r = q
    return r, q


def linked(a, n):
    found = []
    for i in range(n):
        try:
            try:
                1 // (i % 2)
            except ZeroDivisionError:
                raise KeyError(i)  # noqa: B904 - its context is what counts here
        except KeyError as error:
            found.append((error.args, type(error.__context__).__name__))
    try:
        a[10]
    except IndexError as error:
        found.append(error.__context__)
    return found


def retried(a, n):
    count = 0
    for i in range(n):
        try:
            try:
                a[i + 2]
            except IndexError:
                count += 1
                raise
        except IndexError:
            count += 10
    return count


def arrays(a, n):
    total = np.zeros(4)
    for i in range(n):
        part = a * i
        try:
            more = part + 1
            total = total + more
            total[i] += a[0]
            total = total * 2
        except IndexError:
            total = total + more * 10
            part = part + total
        total += part
    return total, part


def uncaught(a, n):
    total = 0
    for i in range(n):
        try:
            total += 100 // (6 - i)
        except KeyError:
            total = -1
    return total


def user_defined_error(a, n):
    total = 0
    for i in range(n):
        try:
            total += i
            if total > 20:
                raise UserError(i, "much")
        except UserError as error:
            return error.args, total
    return total


def left_by_errors(a, n):
    x = a
    for _ in range(n % 3):
        x = np.sqrt(x * x + 1.0) @ np.eye(4)
    try:
        for i in range(n):
            x = np.sqrt(x * x + 1.0) @ np.eye(4)
            if i == 2:
                raise ValueError(i)
    except ValueError:
        x = x * 2
    return x


def appended(a, n):
    out = []
    for i in range(n):
        try:
            out.append(a[i % 6] * 2)
        except IndexError:
            out.append(-1.0)
    return out


def counted(a, n):
    found = {}
    for i in range(n):
        try:
            found[i % 7] += 1
        except KeyError:
            found[i % 7] = 1
    return found


def perhaps_assigned(a, n):
    last = None
    for i in range(n):
        try:
            z = a[i % 6] + i
            w = z * 2
        except IndexError:
            continue
        finally:
            last = i
    return w, last


def left_early(a, n):
    for i in range(n):
        try:
            x = a[i]
        except IndexError:
            return -1.0, i
        if x < 0:
            return x, i
    return 0.0, n


PROGRAMS = [
    divided, summed, skipped, raised, nested, not_assigned, retried, arrays, uncaught, user_defined_error,
    appended, counted, perhaps_assigned, left_early, left_by_errors,
]  # fmt: skip


def _outcome(function, *arguments):
    call_arguments = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    try:
        found = function(*call_arguments)
    except Exception as error:
        found = type(error), str(error), type(error.__context__), type(error.__cause__)
    return repr((found, call_arguments))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.search
def test_programs_have_pythons_results_in_one_trace(program):
    compiled = autoconv.compile(program)
    for n in (3, 6, 40, 3):
        for a in (np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 0.0, -5.0, 1.0])):
            assert _outcome(compiled, a, n) == _outcome(program, a, n)
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()
    assert sys.exc_info() == (None, None, None)


def test_links_between_exceptions_are_those_of_python():
    compiled = autoconv.compile(linked)
    for n in (3, 6, 40, 3):
        assert _outcome(compiled, np.arange(4.0), n) == _outcome(linked, np.arange(4.0), n)
    assert len(compiled.concrete_functions) == 1


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.search
def test_references_are_released(program):
    compiled, a = autoconv.compile(program), np.array([1.0, 2.0, 3.0, 4.0])

    def blocks():
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(5):
        _outcome(compiled, a, 9)
    before = blocks()
    for _ in range(300):
        _outcome(compiled, a, 9)
    assert blocks() - before < 150


@pytest.mark.parametrize(
    "program", [divided, summed, skipped, raised, appended, counted], ids=lambda program: program.__name__
)
def test_tries_in_loops_are_part_of_the_native_code(program):
    compiled = autoconv.compile(program)
    compiled(np.arange(4.0), 3)
    (concrete,) = compiled.concrete_functions
    assert "try" not in concrete.kernels


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_handler_finds_the_class_of_a_number(backend):
    def f(x, k):
        result = x.sum()
        try:
            1 // k
            result = 3.0
            1 // (k - 1)
            result = x.max()
            1 // (k - 2)
            result = True
            1 // (k - 3)
        except ZeroDivisionError:
            return result
        return None

    x, compiled = np.array([1.0, 2.0]), autoconv.compile(f, backend=backend)
    for k in (0, 1, 2, 3, 4, 0):
        assert compiled(x, k) == f(x, k)
        assert type(compiled(x, k)) is type(f(x, k))
