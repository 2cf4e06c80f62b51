"""Views of dicts, and iterators over lists from the end, made before their dict or list moves into the graph."""

# ruff: noqa: SIM300 - what stands on the left is what is tested

import pytest

import autoconv


def iterated(n):
    prices = {1: n, 2: 3}
    pairs = prices.items()
    if n > 0:
        prices[n + 5] = 5
    total = 0
    for key, value in pairs:
        total += key * value
    return total


def counted(n):
    prices = {1: n, 2: 3}
    names = prices.keys()
    if n > 0:
        prices[n + 5] = 5
    return len(names), list(names), n + 5 in names, bool(names), [*names]


def read_in_a_loop(n):
    prices = {1: n, 2: 3}
    values = prices.values()
    for _ in range(n):
        prices[1] = prices[1] + sum(values)
    return prices


def searched_in_a_loop(n):
    prices = {1: n}
    names, step = prices.keys(), 0
    while step < n:
        step += 1
        if 5 in names:
            prices[6] = 7
        else:
            prices[5] = 3
    return prices


def as_sets(n):
    prices = {1: n, 2: 3}
    names = prices.keys()
    if n > 0:
        prices[n + 5] = 5
    return names & {1, 7}, names | {9}, names == {1, 2}, names - {1}, {1, 6} ^ names, names.isdisjoint({2})


def by_builtins(n):
    prices = {1: n, 2: 3}
    pairs, names = prices.items(), prices.keys()
    if n > 0:
        prices[n + 5] = 5
    first, *rest = sorted(names)
    return first, rest, max(pairs), sum(names), set(names), [*map(str, pairs)], dict(pairs)


def as_text(n):
    prices = {1: n}
    print(prices.values(), prices.keys())
    return repr(prices.values()), str(prices.items()), f"{prices.keys()}"


def in_a_list(n):
    prices = {1: n}
    views = [prices.values()]
    if n > 0:
        views.append([5])
    prices[8] = 9
    return [list(view) for view in views]


def one_of_two(n):
    prices = {1: n}
    view = prices.values() if n > 0 else []
    prices[7] = n + 1
    return sum(view)


def of_a_dict_made_on_a_path(n):
    view = {1: n * 2}.values() if n > 0 else [n]
    total = 0
    for value in view:
        total += value
    return total


def from_the_end(n):
    numbers = [1, n, 2, 3]
    found = []
    for number in reversed(numbers):
        if n > 0:
            numbers.append(n)
        found.append(number)
    return found, numbers


def rebound_in_the_loop(n, chosen):
    items, others = [3, n], [0, 5, n]
    for _ in reversed(others):
        if chosen:
            k = 6
            try:
                k += others[1]
            finally:
                items.extend([n, k])
        else:
            others = n
    return items


STAGED = [
    iterated, counted, read_in_a_loop, searched_in_a_loop, as_sets, by_builtins, as_text, in_a_list, one_of_two,
    of_a_dict_made_on_a_path, from_the_end,
]  # fmt: skip


@pytest.mark.parametrize("function", STAGED, ids=lambda function: function.__name__)
def test_a_view_shows_the_present_items_of_the_dict(function, capsys):
    compiled = autoconv.compile(function)
    for n in (1, -1, 3, 0):
        expected, shown = function(n), capsys.readouterr().out
        assert repr(compiled(n)) == repr(expected)
        assert capsys.readouterr().out == shown
    assert "plain Python" not in compiled.explain()
    assert len(compiled.concrete_functions) == 1


@pytest.mark.parametrize("chosen", [True, False])
def test_a_loop_from_the_end_goes_on_when_the_list_moves(chosen):
    compiled = autoconv.compile(rebound_in_the_loop)
    assert compiled(-1, chosen) == rebound_in_the_loop(-1, chosen)
    assert "plain Python" not in compiled.explain()


def backwards_beside_another(n):
    numbers = [1, n, 2, 3]
    found = []
    for pair in zip(reversed(numbers), numbers, strict=False):
        if n > 0:
            numbers.append(n)
        found.append(pair)
    return found


def backwards_and_counted(n):
    numbers = [1, n, 2, 3]
    found = []
    for pair in enumerate(reversed(numbers)):
        if n > 0:
            numbers.append(n)
        found.append(pair)
    return found


def backwards_later(n):
    numbers = [1, n, 2, 3]
    backwards = reversed(numbers)
    if n > 0:
        numbers.append(n)
    return list(backwards)


def keys_backwards(n):
    prices, found = {1: n, 2: 3}, []
    for key in reversed(prices):
        if n > 0:
            prices = {n: 1}
        found.append(key)
    return found, prices


def by_a_generator_expression(n):
    numbers = [1, n, 2, 3]
    doubled = (2 * number for number in numbers)
    if n > 0:
        numbers.append(n)
    return list(doubled)


def by_a_map(n):
    numbers = [1, n, 2, 3]
    texts = map(str, numbers)
    if n > 0:
        numbers.append(n)
    return list(texts)


def counted_later(n):
    numbers = [1, n, 2, 3]
    pairs = enumerate(numbers)
    if n > 0:
        numbers.append(n)
    return list(pairs)


ITERATORS = [
    backwards_beside_another, backwards_and_counted, backwards_later, keys_backwards, by_a_generator_expression,
    by_a_map, counted_later,
]  # fmt: skip


@pytest.mark.parametrize("function", ITERATORS, ids=lambda function: function.__name__)
def test_an_iterator_over_a_list_that_moved_keeps_its_items(function):
    compiled = autoconv.compile(function)
    for n in (1, -1, 3):
        assert compiled(n) == function(n)
    assert "StagingError: a " in compiled.explain() and "moves into the graph" in compiled.explain()


def test_a_view_that_is_returned_is_pythons():
    compiled = autoconv.compile(lambda n: {1: n}.values())
    assert type(compiled(3)) is type({}.values()) and list(compiled(4)) == [4]


def test_under_function_an_iterator_from_the_end_is_refused_where_the_list_grows():
    @autoconv.function
    def grown(n):
        numbers, total = [1, 2], 0
        for number in reversed(numbers):
            if n > 0:
                numbers.append(n)
            total += number
        return total

    with pytest.raises(autoconv.errors.StagingError, match="changes in a loop over it"):
        grown(autoconv.constant(3))


KNOWN, FROZEN, NAMED = {1, 2}, frozenset({1, 2}), {1: 2}
BASE = [1, 2]


def beside_known_sets(n):
    found = {1, 2}
    if n > 0:
        found.add(n)
    compared = FROZEN <= found, FROZEN == found, FROZEN > found, KNOWN < found, NAMED.keys() <= found
    return compared, sorted(KNOWN | found), sorted(KNOWN - found), sorted(KNOWN ^ found), sorted(KNOWN & found)


def after_known_lists(n):
    found = [3, n]
    if n > 0:
        found.append(5)
    joined = BASE + found
    if n > 1:
        joined.append(n)
    return joined, BASE == found, BASE < found, found + BASE


@pytest.mark.parametrize("function", [beside_known_sets, after_known_lists], ids=lambda function: function.__name__)
def test_known_containers_are_compared_with_views_of_moved_dicts(function):
    compiled = autoconv.compile(function)
    for n in (1, -1, 3):
        assert compiled(n) == function(n)
    assert "plain Python" not in compiled.explain()
