"""Conditions with effects after conditions on tensors: an elif, a yield in an arm."""

import pytest

from tests.tracing.test_objects import check_calls

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

    check_calls(f, *CALLS)


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

    check_calls(f, *CALLS)


@pytest.mark.parametrize("use", [list, sum, lambda g: max(g, default=7), lambda g: [2 * x for x in g]])
def test_a_yield_after_an_else(use):
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

    check_calls(f, *CALLS)


def test_a_loop_over_items_yielded_after_an_else():
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

    check_calls(f, *CALLS)
