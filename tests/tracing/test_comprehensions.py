"""Comprehensions and generator expressions over a value known only at run time, and builtins that iterate over them."""

# ruff: noqa: B023, B905, C400, C401, C402, C416, C417, RUF015 - what people write is what is tested

import types

import numpy as np
import pytest

import autoconv as ac
from autoconv.operators import generator, list_of
from tests.tracing.test_objects import check_calls

COUNTS = (0,), (1,), (4,), (7,), (40,)


def test_lists():
    def f(n):
        return [i * i for i in range(n)], [i for i in range(n) if i % 2 if i > 2], [10 // (i - 50) for i in range(n)]

    check_calls(f, *COUNTS)


def test_sets_and_dicts():
    def f(n):
        return {i % 3 for i in range(n)}, {i: -i for i in range(n) if i % 3}, {str(i): i for i in range(n)}

    check_calls(f, *COUNTS)


def test_several_for_parts():
    def f(n):
        return [(i, j) for i in range(n) if i != 1 for j in range(i) if j != 2], [
            [j for j in range(i)] for i in range(n)
        ]

    check_calls(f, (0,), (1,), (5,))


def test_a_condition_that_a_tensor_decides():
    def f(x):
        return [y for y in [x, 2, x + 1, 5] if y > 3], {k: y for k, y in [("a", x), ("b", 2 * x)] if y > 3}

    check_calls(f, (1,), (3,), (9,))


def test_targets_of_several_names():
    def f(n):
        d = {i: i * 2 for i in range(n)}
        return (
            [(k, v) for k, v in d.items() if v > 2],
            {v: k for k, v in d.items()},
            [a + b for a, b in zip(range(n), range(n, 0, -1))],
            [(a, b, c) for a, (b, *c) in [(n, (1, 2, 3)), (2, (n, 4))] if b > 1],
            [a for a, _, _ in [(n, 1, 2)]],
            [a for (a,) in [(n,)]],
        )

    check_calls(f, *COUNTS)


def test_items_that_cannot_be_unpacked():
    def f(n):
        if n > 3:
            return [a + b for a, b in [(1, 2, n)]]
        return n

    check_calls(f, (1,), (5,))


def test_exceptions_and_prints_come_in_order():
    def f(n):
        def show(i):
            print("saw", i)
            return 12 // (3 - i)

        return [show(i) for i in range(n) if show(i) != 4]

    check_calls(f, (0,), (2,), (3,), (6,))


def test_generators_are_lazy():
    def f(n):
        def show(i):
            print(i)
            return i

        squares = (show(i) for i in range(n))
        print("made")
        return sum(squares), sum(squares), any(show(i) > 2 for i in range(n)), all(show(i) < 2 for i in range(n))

    check_calls(f, *COUNTS)


def test_builtins_over_generators():
    def f(n):
        return (
            sum(i / 2 for i in range(n)), max((i % 5 for i in range(n)), default=None),
            min((-i for i in range(n)), default=3), sorted(-i for i in range(n)), tuple(i for i in range(n)),
            list(i for i in range(n)), set(i % 2 for i in range(n)), frozenset(i % 2 for i in range(n)),
            dict((i, i) for i in range(n)), ",".join(str(i) for i in range(n)),
            next((i for i in range(n) if i > 2), None),
            sum(any(i == j for j in range(2, n, 3)) for i in range(n)),
        )  # fmt: skip

    check_calls(f, *COUNTS)


def test_next_without_a_default():
    def f(n):
        return next(i for i in range(n) if i > 2)

    check_calls(f, (1,), (4,), (9,))


def test_a_loop_over_a_generator():
    def f(n):
        total = 0
        for v in (i * 2 for i in range(n) if i % 2):
            if v > 6:
                break
            total += v
        return total

    check_calls(f, *COUNTS)


def test_a_generator_of_known_length_is_resumed():
    def f(n):
        numbers = (i * n for i in [1, 2, 3, 4])
        first = next(numbers)
        seen = []
        for number in numbers:
            seen.append(number)
            break
        return first, seen, list(numbers), list(numbers)

    check_calls(f, (1,), (3,))


def test_builtins_over_ranges():
    def f(n):
        return (
            list(range(n)), sum(range(n)), sum(range(n), 0.5), tuple(range(1, n, 2)), max(range(n), default=0),
            sorted(range(n), reverse=True), len(range(n)), set(range(n)), list(reversed(range(n))),
            list(zip(range(n), "abc")), any(range(n)), all(range(n)),
        )  # fmt: skip

    check_calls(f, *COUNTS, (-3,))


def test_builtins_over_lists_of_the_graph():
    def f(n):
        xs = [i for i in range(n)]
        xs.extend(i * i for i in range(n))
        xs.extend(range(n))
        return (
            xs, list(enumerate(xs)), list(zip(xs, range(n))), list(reversed(xs)), [a + b for a, b in zip(xs, xs)],
            [(i, x) for i, x in enumerate(xs, 1)], max(xs, default=None), sum(x for x in xs),
            list(map(lambda v: v + 1, xs)), list(filter(lambda v: v % 2, xs)), list(filter(None, xs)),
            list(map(lambda a, b: a - b, xs, range(n))), sum(map(lambda v: v * 2, range(n))),
        )  # fmt: skip

    check_calls(f, *COUNTS)


def test_comprehensions_inside_of_loops():
    def f(n):
        out = []
        for i in range(n):
            out.append([j for j in range(i) if j % 2])
            if any(j == 3 for j in range(i)):
                break
        return out

    check_calls(f, *COUNTS)


def test_names_are_looked_up_when_a_generator_runs():
    def f(n):
        x = 3
        later = (x + i for i in range(n))
        x = 5
        return list(later), [x for x in range(n)], x

    check_calls(f, *COUNTS)


def test_functions_that_share_the_names_of_a_comprehension():
    def f(n):
        return [g() for g in [lambda: i for i in range(3)]][0] + n

    check_calls(f, (1,), (2,))


def test_lists_of_known_length_stay_typed():
    @ac.function
    def f(x):
        return ac.stack([x * i for i in range(3)]), sum(x + i for i in range(3)), [row * 2 for row in x]

    x = ac.constant([1.0, 2.0])
    stacked, total, rows = f(x)
    assert stacked.numpy().tolist() == [[0, 0], [1, 2], [2, 4]]
    assert total.numpy().tolist() == [6, 9]
    assert [row.numpy().item() for row in rows] == [2, 4]


def test_generators_over_tensors_of_unknown_length():
    @ac.function
    def f(n, x):
        numbers = ac.range(n)
        return sum(i * i for i in numbers), any(i > 3 for i in numbers), all(i < x for i in numbers if i % 2 == 0)

    for n in (0, 3, 6):
        found = f(ac.constant(n), ac.constant(3))
        numbers = range(n)
        expected = sum(i * i for i in numbers), any(i > 3 for i in numbers), all(i < 3 for i in numbers if i % 2 == 0)
        assert tuple(value.numpy().item() for value in found) == expected
    assert f.experimental_get_tracing_count() == 1


def test_operators_on_plain_values():
    sums = generator(iter([(1, 2), (3, 4)]), lambda a, b: a + b, into="a, b")
    assert isinstance(sums, types.GeneratorType)
    assert list(sums) == [3, 7]
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        generator(5, lambda x: x)

    def stops(x):
        raise StopIteration(x)

    with pytest.raises(StopIteration):
        list_of([1], stops)
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        list(generator([1], stops))


def test_chained_comparisons_in_conditions():
    def f(a, b):
        seen = []

        def noted(x):
            seen.append(x)
            return x

        names = [e for e in range(a) if 1 < e < b]
        middles = [e for e in range(a) if 1 < e * 2 < b]
        longer = sum(e for e in range(a) if 0 <= e - 1 < e + b <= 9)
        late = (e for e in range(a) if noted(0) <= noted(e % 3) < noted(b))
        return names, middles, longer, list(late), seen

    check_calls(f, (0, 1), (5, 4), (9, 3))


def test_max_of_an_empty_generator():
    def f(a):
        try:
            return max(a for _ in range(0) if a)
        except ValueError as error:
            return str(error)

    check_calls(f, (1,), (2,))

    def raised(a):
        return min(a for _ in range(0))

    check_calls(raised, (1,), (2,))


def test_few_items_of_a_large_body_are_peeled():
    def medians(x):
        return np.array([np.median(x[max(0, i - 2) : i + 3]) * x[i] - x[-1] for i in range(len(x))])

    x = np.random.default_rng(0).normal(size=90)
    compiled = ac.compile(medians)
    np.testing.assert_array_equal(compiled(x), medians(x))
    (concrete,) = compiled.concrete_functions
    assert 0 < sum(node.op.name == "sort" for node in concrete.graph.walk()) < 20


def test_names_that_generator_expressions_assign():
    """`any` and `all` stop at the deciding element, so that its name is the last that is assigned."""

    def found(x):
        return any((last := item) > 3 for item in x), last

    def until(x):
        if not all((last := item) < 3 for item in x):
            return last
        return sum((last := item) for item in x), last

    def behind(x):
        flags = ((last := item) > 3 for item in x)
        for number, flag in enumerate(flags):
            if flag:
                return number, last
        return last

    for function in (found, until, behind):
        compiled = ac.compile(function)
        for x in ([1, 2, 4, 0, 5], [1, 2, 4, 0, 5], [5, 1, 2, 3, 0], [0, 1, 1, 0, 1]):
            assert compiled(x) == function(x)


def any_that_assigns(a, b):
    k, items = 0, [1, a, b]
    if a > 1:
        items.insert(0, b)
    if any(v > (k := b + k) for v in items if v < 9) or k in items:
        k += 100
    return k, len(items)


def all_that_assigns_in_tests_of_loops(a, b):
    k, n, items = 0, 0, [a, b]
    if a > 1:
        items.append(b)
    while all((k := v) + n < 6 for v in items) and (n := n + 1) < 5:
        k += 1
    return n, [b, all((k := k + p) > q for p, q in [(a, b), (b, a)]), k][1], k


def another_function_named_any(a, b):
    any, k = sum, 1
    return any((k := k + v) for v in [a, b]), k


@pytest.mark.parametrize(
    "function", [any_that_assigns, all_that_assigns_in_tests_of_loops, another_function_named_any]
)
def test_quantifiers_may_assign_until_they_are_decided(function):
    staged, compiled = ac.function(function), ac.compile(function)
    for call in ((3, 2), (0, 5), (7, -4), (9, 1)):
        wanted = function(*call)
        assert tuple(map(int, staged(*map(ac.constant, call)))) == wanted
        assert compiled(*call) == wanted
