"""Iterators of Python's own under trace: every call takes the items that plain Python takes."""

import operator

import pytest

import autoconv


def taken_in_a_loop(n):
    numbers = reversed([5, 6, 7])
    total = 0
    for _ in range(n):
        total += sum(numbers)
    return total


def taken_in_a_branch(n):
    pairs = enumerate([5, 6])
    taken = list(pairs) if n > 1 else []
    return taken, list(pairs)


def left_early(n):
    letters = enumerate("ab")
    for i, _ in letters:
        if n > i:
            break
    return list(letters)


def begun_before_an_error(n):
    pairs = zip([1, 2], [3, 4], strict=False)
    try:
        for _ in pairs:
            n //= n - 1
    except ZeroDivisionError:
        pass
    return list(pairs), n


def mapped(n):
    sums = map(n.__add__, [1, 2])
    total = 0
    for _ in range(n):
        total += sum(sums)
    return total


def beside_a_list_of_unknown_length(n):
    items = [3, n, 1]
    for i in range(n):
        items.append(i)
    return [(x, y) for x, y in zip(items, enumerate([5, 6, 7]), strict=False)]


def filtered_beside_a_list(n):
    taken = []
    for x, y in zip([3, n, 1], filter(lambda t: t, range(4)), strict=False):
        taken.append((x, y))
    return taken


def stored_in_a_list(n):
    items = [3]
    for i in range(n):
        items.append(i)
    items.append(zip([1, 2], strict=False))
    return list(items[-1])


def chosen(n):
    return list(enumerate([5, 6]) if n > 1 else reversed([n, 2]))


def class_of_iterator(n):
    pairs = enumerate([n, 2])
    known = enumerate("ab")
    return type(known) is enumerate, isinstance(known, enumerate), iter(known) is known, dict(pairs)


@pytest.mark.parametrize(
    "function",
    [
        taken_in_a_loop, taken_in_a_branch, left_early, begun_before_an_error, mapped, beside_a_list_of_unknown_length,
        filtered_beside_a_list, stored_in_a_list, chosen, class_of_iterator,
    ],
)  # fmt: skip
def test_every_call_takes_the_items_of_plain_python(function):
    compiled = autoconv.compile(function)
    for n in (4, 1, 4, 0):
        assert compiled(n) == function(n)


def test_iterators_used_in_their_expression_stay_in_the_graph():
    @autoconv.compile
    def program(n):
        pairs = dict(zip("ab", [1, 2], strict=False))
        total = n
        for i, x in enumerate([5, 7]):
            total += i * x
        return pairs, total, [*map(str, [1, 2])], max(enumerate([5, 7]))

    assert program(3) == ({"a": 1, "b": 2}, 10, ["1", "2"], (1, 7))
    assert program(4) == ({"a": 1, "b": 2}, 11, ["1", "2"], (1, 7))
    assert "plain Python" not in str(program.explain())


def test_an_iterator_from_before_a_branch_is_refused_under_function():
    @autoconv.function
    def program(n):
        numbers = iter([1.0, 2.0])
        if n > 0:
            return sum(numbers) + 0.0 * n
        return sum(numbers) + n

    with pytest.raises(autoconv.errors.StagingError, match="iterates over an iterator that was created before it"):
        program(autoconv.constant(1.0))


def hints(x, k):
    argument = reversed([x, k, 1])
    hint = operator.length_hint(argument)
    return hint, next(argument), argument.__length_hint__(), operator.length_hint(iter((x, k)))


def hint_of_a_range(x, k):
    return operator.length_hint(reversed(range(k))), reversed(range(k)).__length_hint__(), x


def texts(x, k):
    return repr(enumerate([x, k])).split(" at ")[0], f"{reversed([x])}".split(" at ")[0]


@pytest.mark.parametrize("program", [hints, hint_of_a_range, texts])
def test_hints_and_texts(program):
    compiled = autoconv.compile(program)
    for arguments in ((1.5, 2), (2, 3), (1.5, 0)):
        assert compiled(*arguments) == program(*arguments)
