"""`next` of iterators over outer objects: plain Python's results, call after call."""

import pytest

import autoconv

TABLE = {"a": 1.0, "b": 2.0}
ITEMS = [1.0, 2.0]
PERSISTENT_ITERATOR = iter([1.0, 2.0, 3.0])


def first(x):
    return x * next(iter(TABLE.values())), next(iter(TABLE))


def pairs(x):
    it = iter(TABLE.items())
    name, value = next(it)
    return name, value * x, next(it), next(it, x)


def from_the_end(x):
    it = reversed(ITEMS)
    return next(it) * x + next(it), next(it, None)


def beside_each_other(x):
    it = zip(ITEMS, enumerate(ITEMS), strict=True)
    a, (i, b) = next(it)
    return a * x + i * b, [part for part in it]  # noqa: C416


def beyond_the_end(x):
    it = reversed(ITEMS)
    next(it), next(it)
    return next(it) * x


STAGED = (first, pairs, from_the_end, beside_each_other)


@pytest.mark.parametrize("function", STAGED)
def test_known_items_are_taken_while_tracing(function):
    compute = autoconv.compile(function)
    for x in (1.0, 2.0, 3.5):
        assert compute(x) == function(x)
    assert "plain Python" not in compute.explain()
    assert len(compute.concrete_functions) == 1


def test_the_end_is_an_error_on_every_call():
    compute = autoconv.compile(beyond_the_end)
    for _ in range(3):
        with pytest.raises(StopIteration):
            compute(1.0)


def test_conditional_next_starts_anew_in_each_call():
    def some(x, n):
        it, total = reversed(ITEMS), 0.0
        if x > 0:
            total += next(it)
        for _ in range(n):
            total += next(it, 5.0) * x
        return total, next(it, None)

    compute = autoconv.compile(some)
    for args in [(1.0, 2), (-1.0, 0), (-1.0, 3), (2.0, 1)] * 2:
        assert compute(*args) == some(*args)


def test_an_outer_iterator_continues_from_call_to_call():
    compute = autoconv.compile(lambda x: next(PERSISTENT_ITERATOR) * x)
    assert [compute(1.0) for _ in range(3)] == [1.0, 2.0, 3.0]
    with pytest.raises(StopIteration):
        compute(1.0)
