"""Functions that cannot be traced as a whole: their loops are compiled by themselves, with plain Python around them."""

import copy
import threading
import time

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS

TOTAL = 0.0


def runs_as_plain(function, *arguments, calls=3):
    """Compare results, arguments and exceptions of several calls; return the explanation."""
    compiled = ac.compile(function)
    for _ in range(calls):
        assert outcome(compiled, arguments) == outcome(function, arguments)
    explanation = compiled.explain()
    assert "plain Python: " in explanation
    return explanation


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), str(error), repr(arguments)
    return repr(result), repr(arguments)


def traced_loops(explanation):
    """Return the lines of loops that have traces."""
    headlines = [line.strip().split(": ") for line in explanation.splitlines() if "_loop_" in line]
    return sum(count != "0 traces" for _, count in headlines)


def test_loops_around_a_call_that_is_not_known():
    def timed(a):
        start = time.time()
        total = 0.0
        for i in range(len(a)):
            total += a[i] ** 2
        largest = a[0]
        while total > 1.0:
            total /= 2.0
            largest = max(largest, total)
        return total, largest, time.time() >= start

    assert traced_loops(runs_as_plain(timed, np.arange(5.0))) == 2


@pytest.mark.parametrize("values", [[], [2], [3, 4]])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_names_that_a_walrus_may_not_have_bound(values, n, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")

    def in_a_comprehension(values, n):
        time.time()
        [(last := value) for value in values]
        total = 0
        for i in range(n):
            if i < len(values):
                total += last
        return total

    def in_a_condition(values, n):
        time.time()
        found = bool(values) and (first := values[0]) > 2
        total = 0
        for _ in range(n):
            if values:
                total += first + found
        return total

    for function in (in_a_comprehension, in_a_condition):
        runs_as_plain(function, values, n)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_names_that_the_iterations_assign_first(count):
    def last_step(a, keep):
        time.time()
        if keep:
            step = size = -1
        for i in range(len(a)):
            step, size = a[i] * 2, i
            if step > 3:
                break
        return step, size, i

    for keep in (False, True):
        assert traced_loops(runs_as_plain(last_step, np.arange(float(count)), keep)) == 1


def test_names_that_an_else_assigns():
    def places(a):
        time.time()
        found = []
        for i in range(len(a)):
            for j in range(i):
                if a[j] > a[i]:
                    break
            else:
                j = -1
            found.append(j)
            print(end="")
        return found

    for count in range(5):
        runs_as_plain(places, [3.0, 4.0, 2.0, 5.0][:count])


def test_generators_that_see_a_name_change():
    def totals(a):
        time.time()
        factor, total, later = 1, 0, []
        products = iter(factor * x for x in a)
        for _ in range(len(a)):
            factor += 1
            total += next(products)
            later.append(factor * y for y in a)
        factor = 100
        return total, [list(numbers) for numbers in later]

    runs_as_plain(totals, [1, 2, 3])


step = "a global variable"


def test_a_name_that_only_the_loop_assigns_is_local_before_it():
    def read_early(a, early):
        time.time()
        if early:
            return step  # noqa: F823
        for step in range(3):
            a[step] += step
        return a

    runs_as_plain(read_early, np.arange(3.0), True)
    assert traced_loops(runs_as_plain(read_early, np.arange(3.0), False)) == 1


def test_inner_loops_of_a_loop_that_is_not_traced():
    def rows(a):
        sums, log = [], []
        for i in range(len(a)):
            log.append(time.time() > 0)
            total = 0.0
            for j in range(a.shape[1]):
                if a[i, j] < 0:
                    break
                total += a[i, j]
            else:
                total = -total
            sums.append(total)
        return sums, log

    assert traced_loops(runs_as_plain(rows, np.arange(6.0).reshape(2, 3))) == 1


def test_arguments_that_loops_change():
    def change(numbers, counts, x):
        time.time()
        for i in range(len(numbers)):
            numbers[i] += 1
            counts[i] = numbers[i]
            x[i] = counts[i]
        for i in range(5):
            numbers.append(i)
        while numbers[-1] > 2:
            numbers.pop()
        return numbers

    assert traced_loops(runs_as_plain(change, [1, 2, 3], {}, np.zeros(3))) == 3


def test_an_exception_in_a_loop_leaves_its_changes():
    def fill(x, numbers):
        time.time()
        for i in range(len(x) + 1):
            numbers.append(i)
            x[i] = i

    assert traced_loops(runs_as_plain(fill, np.zeros(3), [])) == 1


def test_methods_share_their_loops():
    class Scale:
        def __init__(self, factor):
            self.__factor = factor

        @ac.compile
        def total(self, a, *, power=1):
            time.time()
            result = 0.0
            for x in a:
                result += self.__factor * x**power
            return result

    a = np.arange(4.0)
    for factor in (1.0, 2.0, 3.0):
        assert Scale(factor).total(a) == factor * a.sum()
        assert Scale(factor).total(a, power=2) == factor * (a**2).sum()


def test_global_and_outer_names():
    count = 0

    def add(a):
        nonlocal count
        global TOTAL
        time.time()
        for x in a:
            count += 1
            TOTAL += x
        return [sum(x * y for y in a) for x in a]

    compiled = ac.compile(add)
    for number in range(1, 4):
        assert compiled(np.array([1.0, 2.0])) == [3.0, 6.0]
        assert (count, TOTAL) == (2 * number, 3.0 * number)
    assert traced_loops(compiled.explain()) == 1


@pytest.mark.parametrize("number", range(5))
def test_loops_that_stay(number):
    def outer_error(a):
        time.time()
        try:
            raise KeyError("x")
        except KeyError:
            for x in a:
                if x > 1:
                    raise

    def maybe_unassigned(a):
        time.time()
        for x in a:
            if x > 1:
                continue
            found = x
        return found

    def captured(a):
        time.time()
        total = 0.0
        read = lambda: total
        found = []
        for x in a:
            total += x
            found.append(read())
        return found

    def deleted(a):
        time.time()
        total = 0.0
        if a[0] > 5:
            del total
        for x in a:
            total += x
        return total

    def frame(a):
        time.time()
        for x in a:  # noqa: B007
            names = sorted(locals())
        return names

    function = (outer_error, maybe_unassigned, captured, deleted, frame)[number]
    assert "_loop_" not in runs_as_plain(function, np.array([1.0, 2.0, 3.0]))


def test_functions_in_loops_keep_their_names():
    def make(a):
        time.time()
        names = []
        for x in a:
            double = lambda y: 2 * y
            names.append(double.__qualname__)
            names.append(double(x))
        return names

    runs_as_plain(make, np.array([1.0, 2.0]))


def test_warm_calls_of_outlined_loops_are_quick():
    def timed(a):
        time.time()
        total = 0.0
        for i in range(len(a)):
            total += a[i] ** 2
        return total

    compiled, a = ac.compile(timed), np.arange(20_000.0)
    for _ in range(40):
        assert compiled(a) == pytest.approx((a**2).sum())

    def seconds(function):
        start = time.perf_counter()
        function(a)
        return time.perf_counter() - start

    assert min(seconds(compiled) for _ in range(5)) < min(seconds(timed) for _ in range(5)) / 3


@pytest.mark.parametrize("tiers", ["measured", "native"])
def test_recursion_is_deep_where_calls_run_plain(monkeypatch, tiers):
    monkeypatch.setattr(SETTINGS, "tiers", tiers)

    class Tree:
        def __init__(self, children):
            self.children = children

        @ac.compile
        def size(self):
            time.time()
            total = 1
            for child in self.children:
                total += child.size()
            return total

    @ac.compile
    def size_of(tree):
        time.time()
        total = 1
        for child in tree.children:
            total += size_of(child)
        return total

    def chain(count):
        tree = Tree([])
        for _ in range(count - 1):
            tree = Tree([tree])
        return tree

    for count in (1, 140, 3, 140, 140):
        assert chain(count).size() == size_of(chain(count)) == count


def test_calls_in_two_threads_do_not_stay_plain(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    entered, may_leave = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)]

    @ac.compile
    def function():
        pass

    def wait(args, kwargs):
        entered[args[0]].set()
        may_leave[args[0]].wait(60)

    threads = [threading.Thread(target=function._run_recursively, args=(wait, (i,), {})) for i in range(2)]
    for number, thread in enumerate(threads):
        thread.start()
        entered[number].wait(60)
    for number, thread in enumerate(threads):
        may_leave[number].set()
        thread.join()
    calls_without_examination, _ = function._gate.state
    assert calls_without_examination == 0
