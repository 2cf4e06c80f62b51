"""Tests behind others that a tensor decides, and what they change: an elif, a yield in the arm of a condition."""

import pytest

from tests.tracing.test_objects import agrees

CALLS = (3,), (1,), (0,)


def test_an_elif_whose_test_changes_something_and_is_known():
    def f(a):
        log = []

        def tried():
            log.append(a)
            return False

        if a > 1:
            a += 1
        elif tried():
            a += 2
        return a, log

    agrees(f, *CALLS)


def test_an_elif_whose_test_changes_something_and_holds():
    def f(a):
        log = []

        def tried():
            log.append(1)
            return True

        if a > 2:
            a += 1
        elif tried():
            a += 2
        else:
            a += 3
        return a, len(log)

    agrees(f, *CALLS)


@pytest.mark.parametrize("use", [list, sum, lambda g: max(g, default=7), lambda g: [2 * x for x in g]])
def test_a_yield_behind_an_else(use):
    def f(a):
        def items():
            if a == 1:
                pass
            else:
                yield a + 2
            if a > 2:
                yield 3
            else:
                yield 4

        return use(items())

    agrees(f, *CALLS)


def test_a_loop_over_what_is_given_behind_an_else():
    def f(a):
        def items():
            if a == 1:
                yield 3
            else:
                yield 2

        total = 0
        for item in items():
            total += item
        return total

    agrees(f, *CALLS)
