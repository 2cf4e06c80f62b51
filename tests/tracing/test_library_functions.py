"""Functions of itertools, functools, dataclasses and NumPy in graphs: every call equals plain Python's."""

import dataclasses
import functools
import itertools
import operator

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import check_against_plain

NUMBERS, MORE, MANY = [1.0, 2.0, 3.0, 2.0], [4.0, -1.0, 0.5, 7.0], [float(i * 7 % 11) for i in range(40)]


@dataclasses.dataclass
class Point:
    x: float
    y: float = 2.0

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("negative")


@dataclasses.dataclass
class Cell:
    content: object


def take_while(values, limit):
    return sum(itertools.takewhile(lambda v: v < limit, values)), list(itertools.takewhile(bool, values))


def drop_while(values, limit):
    return list(itertools.dropwhile(lambda v: v < limit, values)), list(itertools.filterfalse(None, values))


def filter_false(values, limit):
    return [v * v for v in itertools.filterfalse(lambda v: v > limit, values)]


def slices(values, stop):
    total = 0.0
    for value in itertools.islice(values, int(stop)):
        total += value
    return total, [2 * v for v in itertools.islice(values, 1, 3)], list(itertools.islice(values, 0))


def running_totals(values, start):
    return (
        list(itertools.accumulate(values)), list(itertools.accumulate(values, max)),
        list(itertools.accumulate(values, lambda a, b: a * b + start, initial=start)),
    )  # fmt: skip


def chained(values, more):
    return list(itertools.chain(values, [more])), sum(itertools.chain.from_iterable([values, values]))


def products(values, factor):
    total = 0.0
    for a, b in itertools.product(values, repeat=2):
        total += a * b * factor
    pairs = [a - b for a, b in itertools.combinations(values, 2)]
    return total, pairs, len(list(itertools.combinations(values[:5], 3)))


def differences(values, limit):
    largest = max(abs(a - b) for a, b in itertools.pairwise(values))
    return [b - a for a, b in itertools.pairwise(values)], largest < limit


def powers(values, exponent):
    return list(itertools.starmap(pow, [(v, exponent) for v in values[:4]]))


def selected(values, limit):
    return sum(itertools.compress(values, [v < limit for v in values]))


def reduced(values, start):
    return (
        functools.reduce(lambda a, b: a * b + 1, values, start), functools.reduce(operator.add, values),
        functools.reduce(max, values),
    )  # fmt: skip


def keyed(values, key):
    return dict.fromkeys(["a", "b"], values[0] * key), dict.fromkeys("ab")


def moved(values, x):
    point = Point(values[0])
    return dataclasses.replace(point, y=x), dataclasses.replace(dataclasses.replace(point, x=x))


def counted(values, limit):
    total = 0.0
    for i, value in zip(itertools.count(1), values):
        total += i * value
    for n in itertools.count(0.5, 0.25):
        if n > limit:
            break
    ids = itertools.count(5)
    return total, n, next(ids) * values[0] + next(ids), dict(zip("ab", itertools.count()))


def cycled(values, limit):
    taken = []
    for value in itertools.cycle(values):
        taken.append(value)
        if len(taken) > 9 or value > limit:
            break
    return taken, list(itertools.cycle([]))


def left_by_an_error(values, limit):
    taken = []
    try:
        for value in itertools.takewhile(lambda v: 1 / (v - limit), values):
            taken.append(value)
    except ZeroDivisionError as error:
        taken.append(str(error))
    return taken


PROGRAMS = (
    take_while, drop_while, filter_false, slices, running_totals, chained, products, differences, powers, selected,
    reduced, keyed, moved, counted, cycled, left_by_an_error,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("make", [list, tuple], ids=lambda make: make.__name__)
def test_lists_and_tuples(program, make):
    if program in (powers, left_by_an_error) or make is tuple:
        calls = (make(NUMBERS), 2.5), (make(MORE), 3.0), (make(NUMBERS), 3.0)
    else:
        calls = (make(NUMBERS), 2.5), (make(MORE), 3.0), (make(MANY), 3.5)
    compiled = check_against_plain(program, *calls)
    assert "plain Python:" not in compiled.explain(), compiled.explain()


@pytest.mark.parametrize("program", [
    take_while, filter_false, slices, running_totals, chained, differences, selected, reduced,
])  # fmt: skip
def test_vectors(program):
    compiled = check_against_plain(program, (np.array(NUMBERS), 2.5), (np.array(MORE), 3.0))
    assert "plain Python:" not in compiled.explain(), compiled.explain()


def doubled(values):
    return functools.reduce(operator.add, values) + next(itertools.accumulate(values))


def test_overflow_warns():
    values, compiled = np.array([1e308, 1e308]), autoconv.compile(doubled)
    for run in (doubled, compiled, compiled):
        with pytest.warns(RuntimeWarning, match="overflow"):
            run(values)


def test_the_quicker_form_runs(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    compiled = autoconv.compile(doubled)
    for _ in range(40):
        compiled(np.array([1.0, 2.0]))
    assert "measured:" in compiled.explain(), compiled.explain()


def indexed(matrix):
    total = 0.0
    for i, j in np.ndindex(matrix.shape):
        total += i * matrix[i, j] - j
    for (i, j), value in np.ndenumerate(matrix):
        total += value * (i == j)
    for (k,) in np.ndindex(3):
        total *= k + 1
    return total, [index for index, value in np.ndenumerate(matrix) if value > 2.0]


def written(cube):
    for index in np.ndindex(*cube.shape):
        cube[index] += index[0] + index[1] * index[2]
    return cube


def test_indices_and_elements_of_arrays():
    compiled = check_against_plain(indexed, (np.arange(6.0).reshape(2, 3),), (np.ones((2, 3)) * 3,))
    assert "plain Python:" not in compiled.explain(), compiled.explain()
    compiled = check_against_plain(written, (np.zeros((2, 3, 2)),), (np.ones((2, 3, 2)),))
    assert "plain Python:" not in compiled.explain(), compiled.explain()


def reduce_nothing(values):
    return functools.reduce(operator.add, [v for v in values if v > 5.0])


def too_few_arguments(values):
    return list(itertools.takewhile(values))


def negative_stop(values):
    return list(itertools.islice(values, -int(values[0])))


def unknown_field(values):
    return dataclasses.replace(Point(values[0]), z=values[1])


def refused_by_the_class(values):
    return dataclasses.replace(Point(values[0]), x=-values[1])


def items_added_meanwhile(values):
    for value in itertools.accumulate(values):
        if len(values) < 6:
            values.append(value)
    return values


def taken_in_two_loops(values):
    items = itertools.takewhile(lambda v: v < 3.0, values)
    first = 0.0
    for value in items:
        first += value
        if value > 1.0:
            break
    return first, list(items)


@pytest.mark.parametrize("program", [
    reduce_nothing, too_few_arguments, negative_stop, unknown_field, refused_by_the_class, items_added_meanwhile,
    taken_in_two_loops,
])  # fmt: skip
def test_errors_and_changes_while_iterating(program):
    check_against_plain(program, ([1.0, 2.0, 0.5],), ([6.0, 2.0, 8.0],), ([1.0, 2.0, 0.5],))


def copied_fields(array):
    point, cell = Point(array[0], Cell(array[1])), Cell([Cell(array), array[1]])
    found = dataclasses.asdict(cell)
    found["content"][0]["content"][0] = 7.0
    found["content"].append(1.0)
    return found, dataclasses.astuple(cell), len(cell.content), dataclasses.asdict(point), dataclasses.astuple(point)


def test_fields_are_copied():
    compiled = autoconv.compile(copied_fields)
    for _ in range(2):
        np.testing.assert_equal(compiled(np.arange(3.0)), copied_fields(np.arange(3.0)))
    assert "plain" not in compiled.explain()
