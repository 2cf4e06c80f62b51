"""Loops over lists, dicts and sets that change meanwhile, and over iterators with effects; a tensor ends some of them.
The items are those of plain Python, taken at the same moments."""

import pytest

import autoconv as ac
from tests.tracing.plain_comparison import result_or_error


def values_of_a_dict(a):
    d = {1: 1, 2: 2, 3: 3}
    t = 0
    for _k, v in d.items():
        d[3] += v
        t += v
        if t > a:
            break
    return t, d


def dict_values(a):
    d = {1: 1, 2: 2, 3: 3}
    t = 0
    for v in d.values():
        d[3] += v
        t += v
        if t > a:
            break
    else:
        t = -t
    return t, d


def keys_added(a):
    d = {1: a, 2: a}
    for x in d:
        d[a + x] = 1
    return d


def keys_perhaps_added(a):
    d = {1: a, 2: a, 3: 7}
    for _x, y in d.items():
        d[a + 1] = 1 + y
    return d


def present_keys_assigned(a):
    d = {1: a, 2: a}
    for x in d:
        d[x * 5] = 1
    return d


def items_added_to_a_set(a):
    d = {1, 2}
    for x in d:
        d.add(x + 100)
    return d


def keys_replaced(a):
    d = {1: a, 2: a}
    r = []
    for x in d:
        try:
            del d[x]
            d[x + 10] = a
            r.append(x)
        except KeyError:
            pass
        if len(r) > 8:
            break
    return d, r


def nested(a):
    d = {1: a, 2: a, 3: a}
    log = []
    for x in d.values():
        for y in d:
            d[a + y - y] = x
            log.append((x, y))
    return d, log


def items_perhaps_added_to_a_set(a):
    d = {1, 2}
    for _x in d:
        d.add(a)
    return d


def items_removed(a):
    d = {1: 2, 2: 3}
    for x in d:
        if x > a:
            break
        d.pop(a, 0)
    return d


def numbered(a):
    xs = [1, 2, 3, 4]
    t = 0
    for _i, v in enumerate(xs):
        xs[3] += v
        t += v
        if t > a:
            break
    return t, xs


def backwards(a):
    xs = [1, 2, 3, 4, 5, 6, 7]
    t = 0
    for v in reversed(xs):
        xs[1] += v
        t += v
        if t > a:
            break
    return t, xs


class Counting:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 6:
            raise StopIteration
        return self.n


def user_defined_iterator(a):
    it = Counting()
    t = 0
    for v in it:
        t += v
        if t > a:
            break
    return t, it.n


def mapped(a):
    log = []

    def noisy(x):
        log.append(x)
        return x

    t = 0
    for v in map(noisy, [1, 2, 3, 4]):
        t += v
        if t > a:
            break
    return t, log


def zipped_generator(a):
    log = []

    def gen():
        for i in range(4):
            log.append(i)
            yield i

    t = 0
    for v, _w in zip(gen(), [1, 2, 3, 4], strict=False):
        t += v
        if t > a:
            break
    return t, log


def generator_expression(a):
    xs = [1, 2, 3, 4]
    t = 0
    for v, _w in zip((x for x in xs), [1, 2, 3, 4], strict=False):
        xs[3] += 1
        t += v
        if t > a:
            break
    return t, xs


def a_list(a):
    xs = [1, 2, 3, 4]
    t = 0
    for v in xs:
        xs[3] += 1
        t += v
        if t > a:
            break
    return t, xs


def a_list_of_lists(a):
    xs = [[1], [2], [3], [4]]
    t = 0
    for v in xs:
        xs[3] = [t]
        xs[2].append(5)
        t += v[-1]
        if t > a:
            break
    return t, xs


def numbered_map(a):
    log = []

    def noisy(x):
        log.append(x)
        return x

    t = 0
    for _i, v in enumerate(map(noisy, [1, 2, 3, 4])):
        t += v
        if t > a:
            break
    return t, log


def may_raise(a):
    t = 0
    for _i, v in enumerate(6 // (a - x) for x in [1, 2, 3, 4]):
        t += v
        if t > a:
            break
    return t


def grows_by_each_item(a):
    xs, t = [0, a], 0
    if a > a:
        for x in xs:
            t += x
            xs.append(x + 1)
    return xs, t


def grows_to_many(a):
    queue = [a]
    for x in queue:
        if x < 900:
            queue.append(x + 1)
    return len(queue), sum(queue)


STAGED = [
    values_of_a_dict, dict_values, keys_added, keys_perhaps_added, present_keys_assigned, items_added_to_a_set,
    keys_replaced, nested, items_perhaps_added_to_a_set, items_removed, mapped, a_list, a_list_of_lists,
    zipped_generator, numbered_map, may_raise, grows_by_each_item, grows_to_many,
]  # fmt: skip
RUN_PLAIN = [
    numbered, backwards, user_defined_iterator, generator_expression,
]  # fmt: skip


@pytest.mark.parametrize("function", [*STAGED, *RUN_PLAIN])
@pytest.mark.search
def test_items_are_those_of_plain_python(function):
    compiled = ac.compile(function)
    for a in (1, 2, 5, 0, 20):
        assert result_or_error(compiled, a) == result_or_error(function, a)
    assert ("plain Python" in compiled.explain()) == (function in RUN_PLAIN), compiled.explain()


def writes_then_rebinds(a, b):
    items, found = [1, a, b], 0
    for j in items:
        for _ in range(b % 4):
            items[1] += j
            items = [v + 1 for v in items]
        found = found * 10 + j
    return found, items[0], items[1], items[2]


def rebinds_after_enumerate(a, b):
    items, found = [1, a, b], 0
    for i, j in enumerate(reversed(items)):
        for _ in range(b % 4):
            items[0] += j
            items = [v + i for v in items]
        found = found * 10 + j
    return found, items[0], items[1], items[2]


@pytest.mark.parametrize("function", [writes_then_rebinds, rebinds_after_enumerate])
def test_a_list_is_rebound_in_a_loop_over_it(function):
    compiled, staged = ac.compile(function), ac.function(function)
    for a, b in ((0, 5), (3, 2), (7, 7), (9, 4)):
        assert compiled(a, b) == function(a, b)
        if function is writes_then_rebinds:
            assert [int(value) for value in staged(ac.constant(a), ac.constant(b))] == list(function(a, b))


def sum_of_a_set(a):
    t = a
    for x in {3, 1, 2}:
        t = t + x
        if t > 4:
            break
    return t


def sum_of_a_numbered_set(a):
    numbers, t = {3, 1, 2}, a
    for i, x in enumerate(numbers):
        t = t + x * i
        if t > 4:
            break
    return t


@pytest.mark.parametrize("function", [sum_of_a_set, sum_of_a_numbered_set])
def test_a_tensor_ends_a_loop_over_a_set_that_does_not_change(function):
    for contract in (ac.compile, ac.function):
        traced = contract(function)
        for a in (2.0, 0.0, -20.0):
            assert float(traced(ac.constant(a))) == function(a)
