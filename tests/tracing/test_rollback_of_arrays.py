"""Ints beyond 64 bits in calls that change arrays: results and arrays are those of plain Python."""

from collections import Counter, defaultdict, deque

import numpy as np
import pytest

import autoconv as ac
from autoconv.ops.analysis.alias import written_parameters


def counts_places(values, bins):
    counts = np.zeros(3, dtype=np.int64)
    last = 0
    for value in values:
        last = int(value * bins)
        counts[last % 3] += 1
    return counts, last


def test_arrays_that_are_only_read_need_no_rollback():
    f = ac.compile(counts_places)
    values = np.array([0.25, 0.5, 1.0])
    for bins in (8, 10, 2**62, 9):
        counts, last = f(values, bins)
        expected_counts, expected_last = counts_places(values, bins)
        assert counts.tolist() == expected_counts.tolist() and last == expected_last
    larger = np.array([0.25, 1e30, 1.0])  # int(1e30) has 100 bits
    counts, last = f(larger, 1)
    expected_counts, expected_last = counts_places(larger, 1)
    assert counts.tolist() == expected_counts.tolist() and last == expected_last
    assert larger.tolist() == [0.25, 1e30, 1.0]
    (trace,) = f.concrete_functions
    assert trace.can_run_again and f._native_entries, "calls go straight to native code"
    assert "one call:" in f.explain()


def test_an_array_that_was_written_is_written_once():
    def f(source, target, n):
        for i in range(4):
            target[i] += source[i]
            n = n * 10**6
        return n

    compiled = ac.compile(f)
    source = np.arange(1, 5)
    for n in (1, 5, 2**40, 3):
        compiled_target, plain_target = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        assert compiled(source, compiled_target, n) == f(source, plain_target, n)
        assert compiled_target.tolist() == plain_target.tolist() == [1, 2, 3, 4]
    assert compiled.experimental_get_tracing_count() == 1
    assert written_parameters(compiled.concrete_functions[0].optimised) == [1]


def test_native_calls_restore_what_they_wrote():
    def powers(rows, columns, start, factor):
        power = start
        for i in range(rows.shape[0]):
            rows[i, 0] = i
            columns[:, i] += rows[i, 1]
            power *= factor
        return power, rows[0]

    compiled = ac.compile(powers)
    for size, factor in ((3, 2), (5, 3), (6, 2), (7, 5), (70, 2), (7, 3), (70, 7), (7, -3)):
        compiled_arguments, plain_arguments = ([np.ones((size, 4)), np.ones((size, 9)).T] for _ in range(2))
        power, row = compiled(*compiled_arguments, 1, factor)
        expected, expected_row = powers(*plain_arguments, 1, factor)
        assert power == expected
        np.testing.assert_array_equal(row, expected_row)
        assert row.base is compiled_arguments[0]
        for actual, desired in zip(compiled_arguments, plain_arguments, strict=True):
            np.testing.assert_array_equal(actual, desired)
    assert "one compilation for all sizes" in compiled.explain()
    assert compiled._native_entries, "calls go straight to native code"


def test_an_error_of_the_program_keeps_what_was_written():
    def first_of(target, places, factor):
        power = 1
        for i in range(places.shape[0]):
            target[i] = places[i]
            power *= factor
            target[places[i]] += 1
        return power

    compiled = ac.compile(first_of)
    for places in ([0, 1, 2], [2, 2, 0], [1, 9, 2], [1, 0, -9]):
        compiled_target, plain_target = np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
        found = []
        for function, target in ((compiled, compiled_target), (first_of, plain_target)):
            try:
                found.append(function(target, np.array(places), 2))
            except IndexError as error:
                found.append(str(error))
        assert found[0] == found[1] and compiled_target.tolist() == plain_target.tolist()


def test_which_arrays_a_graph_writes_to():
    def f(a, b, c, either):
        target = b if either else np.zeros(3)
        view = target[1:]
        for i in range(c.shape[0]):
            view[0] += a[i] + c[i]
        return target

    compiled = ac.compile(f)
    for either in (True, False):
        compiled_arrays, plain_arrays = np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3)
        np.testing.assert_array_equal(compiled(*compiled_arrays, either), f(*plain_arrays, either))
        np.testing.assert_array_equal(compiled_arrays, plain_arrays)
    assert written_parameters(compiled.concrete_functions[0].optimised) == [1]


def test_a_number_of_another_class_in_a_list_after_a_write_to_an_array():
    def summed(x, items):
        total = 0
        for i in range(len(items)):
            x[0] += 1.0
            total = total + (items[i] if x[0] > 0 else 1)
        return total

    compiled = ac.compile(summed)
    for items in ([1, 2], [3, 4, 5], [3, 2.5], [1, 1 + 2j], [True, 4]):
        compiled_array, plain_array = np.zeros(2), np.zeros(2)
        assert repr(compiled(compiled_array, list(items))) == repr(summed(plain_array, list(items)))
        assert compiled_array.tolist() == plain_array.tolist()


def test_a_scalar_of_another_class_after_a_write_to_an_array():
    def masked(x, y, k):
        for _ in range(k):
            x &= 2.5 // y[x > 0]
        return x[1:]

    compiled = ac.compile(masked)
    for x, y in ((np.uint64(3), np.ones((2, 3), bool)), (np.uint64(5), np.ones((1, 4), bool))):
        for _ in range(2):
            with pytest.raises(TypeError) as expected:
                masked(x, y, 3)
            with pytest.raises(TypeError) as found:
                compiled(x, y, 3)
            assert str(found.value) == str(expected.value)


class Computes:
    @property
    def y(self):
        return 5


class Holds:
    def __init__(self):
        self.y = 7


def test_unsupported_values_before_a_lasting_change():
    count = ac.Variable(0.0)

    def an_int(q, n):
        total = 1
        for i in range(1, n):
            total *= i
        count.assign_add(1.0)
        return total

    def code_of_a_class(q, n):
        y = q[n % 2].y
        count.assign_add(1.0)
        return y

    functions = [HOLDS, COMPUTES]
    for function in (an_int, code_of_a_class):
        compiled = ac.compile(function)
        for n in (6, 31, 8, 30):
            before = float(count.numpy())
            found = compiled(functions, n)
            assert float(count.numpy()) == before + 1 and found == function(functions, n)
        assert compiled.experimental_get_tracing_count() == 1


HOLDS, COMPUTES = Holds(), Computes()


def test_code_of_a_class_after_a_lasting_change():
    def callback(q, i):
        ac.print("at", i)
        return q[i].y

    def in_a_loop(q, i):
        found = 0
        for j in range(i):
            found += q[j].y
            ac.print(j)
        return found

    def in_a_try(q, i):
        ac.print("at", i)
        try:
            return q[i].y
        except Exception:
            return -1

    for function in (callback, in_a_loop, in_a_try):
        compiled = ac.compile(function)
        for q in ([HOLDS, HOLDS], [HOLDS, COMPUTES], [COMPUTES, HOLDS]):
            assert compiled(q, 1) == function(q, 1)
        assert "a class may have code of its own for an object after a change" in compiled.explain()


def test_queues_that_a_run_fills_are_restored():
    def f(q, queue, counts, i):
        queue.append(i)
        counts[i] += 1
        found = 0
        while queue:
            found += q[queue.popleft() % 2].y
        counts["sum"] += found
        return found

    compiled = ac.compile(f)
    for q in ([HOLDS, HOLDS], [HOLDS, COMPUTES], [COMPUTES, HOLDS], [HOLDS, HOLDS]):
        for make in (Counter, lambda arguments: defaultdict(int, arguments)):
            arguments = [(deque([1, 2, 3]), make({"sum": 2})) for _ in range(2)]
            assert compiled(q, *arguments[0], 4) == f(q, *arguments[1], 4)
            assert arguments[0] == arguments[1] and list(arguments[0][1]) == list(arguments[1][1])


def test_an_unknown_object_after_a_user_defined_container_makes_the_call_plain():
    class Bag(list):
        pass

    def f(q, bag, i):
        bag.append(i)
        return q[i % 2].y + len(bag)

    compiled = ac.compile(f)
    for q in ([HOLDS, COMPUTES], [COMPUTES, HOLDS]):
        for i in range(2):
            compiled_bag, plain_bag = Bag([1]), Bag([1])
            assert compiled(q, compiled_bag, i) == f(q, plain_bag, i) and compiled_bag == plain_bag
