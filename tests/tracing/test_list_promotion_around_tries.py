"""Lists that move into the graph because a try changes them, while enclosing statements keep others in Python."""

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


def changed_inside_of_a_finally(a, b):
    k = b
    items = [0, 5, b]
    counts = {0: 1, 2: b}
    try:
        items[a] = k
        counts[a] = 1
    except KeyError:
        k = counts.get(3, b)
    finally:
        raise ZeroDivisionError(k, len(items))


def changed_and_caught_outside(a, b):
    items = [0, 5, b]
    counts = {0: 1, 2: b}
    pair = [items, counts]
    try:
        try:
            items[a] = b
            counts[a] = 10 // b
        except IndexError:
            counts[7] = a
        finally:
            items.append(b)
    except ZeroDivisionError:
        counts[8] = a
    return items, sorted(counts.items()), pair


@pytest.mark.parametrize("function", [changed_inside_of_a_finally, changed_and_caught_outside])
def test_changes_of_tries_are_those_of_plain_python(function):
    compiled = autoconv.compile(function)
    for a, b in ((1, 2), (7, 3), (0, 0), (2, -1), (9, 0)):
        assert result_or_error(compiled, a, b) == result_or_error(function, a, b)
    assert "plain Python" not in str(compiled.explain())
