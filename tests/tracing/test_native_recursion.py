"""Functions that call themselves, as native functions: depth, errors, undone writes, and lists."""

import sys
import threading

import pytest

import autoconv
from autoconv.backends.llvm.codegen.control import recursion


def sum_to(n):
    return 0 if n == 0 else n + sum_to(n - 1)


def fill(n, xs):
    if n == 0:
        return 1
    xs.append(n)
    return n * fill(n - 1, xs)


def test_no_kernels():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    compiled = autoconv.compile(fib)
    assert compiled(15) == 610
    assert "kernels" not in compiled.explain()


def test_recursion_up_to_pythons_limit():
    compiled = autoconv.compile(sum_to)
    assert compiled(50) == 1275
    for n in (90, 150, 500, 10_000):
        assert _result_or_error(compiled, n) == _result_or_error(sum_to, n)


def test_recursion_limit_from_a_deep_frame():
    compiled = autoconv.compile(sum_to)

    def down(depth, n):
        return compiled(n) if depth == 0 else down(depth - 1, n)

    assert compiled(5) == 15
    free = sys.getrecursionlimit() - _frame_count()
    assert down(free - 100, 20) == 210
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        down(free - 100, 300)


def _frame_count():
    frame, count = sys._getframe(1), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


def _result_or_error(function, n):
    try:
        return function(n)
    except RecursionError as error:
        return str(error).partition(" in ")[0]


def test_recursion_beyond_the_stack_of_the_thread(monkeypatch):
    monkeypatch.setattr(recursion, "_STACK_BYTES", 20_000)

    def walk(n, seen):
        if n % 100 == 0:
            seen.append(n)
        return 0.5 if n == 0 else walk(n - 1, seen) + 1

    compiled, seen, expected = autoconv.compile(walk), [], []
    assert compiled(600, seen) == walk(600, expected) and seen == expected
    with pytest.raises(RecursionError):
        compiled(5000, [])

    def broken(n):
        return 1 // n if n == 0 else broken(n - 1)

    with pytest.raises(ZeroDivisionError) as caught:
        autoconv.compile(broken)(500)
    trace, count = caught.value.__traceback__, 0
    while trace is not None:
        trace, count = trace.tb_next, count + (trace.tb_frame.f_code.co_name == "broken")
    assert count == 501


def test_recursion_in_a_thread_with_a_small_stack():
    compiled, found = autoconv.compile(sum_to), []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(compiled(800)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [320_400]


def test_calls_with_ints_beyond_64_bits_run_again():
    compiled, compiled_list, plain_list = autoconv.compile(fill), [], []
    assert compiled(30, compiled_list) == fill(30, plain_list)
    assert compiled_list == plain_list


def test_lists_that_are_shared_by_the_calls():
    def queens(n):
        columns, up, down = [False] * n, [False] * (2 * n), [False] * (2 * n)

        def place_queen(row):
            if row == n:
                return 1
            count = 0
            for c in range(n):
                if not columns[c] and not up[row + c] and not down[row - c + n]:
                    columns[c] = up[row + c] = down[row - c + n] = True
                    count += place_queen(row + 1)
                    columns[c] = up[row + c] = down[row - c + n] = False
            return count

        return place_queen(0)

    compiled = autoconv.compile(queens)
    assert [compiled(n) for n in range(1, 7)] == [1, 0, 0, 2, 10, 4]


def test_lists_that_calls_make():
    def ways(n, parts):
        if n == 0:
            return [[*parts]]
        found = []
        for k in range(1, n + 1):
            parts.append(k)
            found += ways(n - k, parts)
            parts.pop()
        return found

    def all_ways(n):
        return ways(n, [])

    assert autoconv.compile(all_ways)(5) == all_ways(5)

    def halves(xs):
        if len(xs) < 2:
            return xs
        middle = len(xs) // 2
        return halves(xs[middle:]) + halves(xs[:middle])

    def merged(n):
        return halves([i * i for i in range(n)])

    assert autoconv.compile(merged)(11) == merged(11)


def test_numbers_after_a_print(capsys):
    def shown(n):
        if n == 0:
            return 1
        print(n)
        return n * shown(n - 1)

    compiled = autoconv.compile(shown)
    assert compiled(4) == 24
    assert capsys.readouterr().out == "4\n3\n2\n1\n"


def test_arrays_that_calls_change():
    import numpy as np

    def sort(a, low, high):
        if low >= high:
            return
        pivot, split = a[high], low
        for i in range(low, high):
            if a[i] < pivot:
                a[i], a[split] = a[split], a[i]
                split += 1
        a[high], a[split] = a[split], a[high]
        sort(a, low, split - 1)
        sort(a, split + 1, high)

    values = np.array([5.0, 3.0, 9.0, -1.0, 4.0, 4.0, 0.5, 8.0])
    autoconv.compile(sort)(values, 0, 7)
    assert values.tolist() == sorted(values.tolist())


def test_defaults_of_a_function_that_is_called():
    def scaled(x, by=3):
        return x * by

    compiled = autoconv.compile(lambda x: scaled(x) + 1)
    assert (compiled(2), compiled(3)) == (7, 10)
    scaled.__defaults__ = (4,)
    assert compiled(2) == 9
    scaled.tag = 1
    assert compiled(2) == 9


def test_objects_that_calls_make():
    class Node:
        def __init__(self, value, left=None, right=None):
            self.value, self.left, self.right = value, left, right

    class Checked(Node):
        @property
        def value(self):
            return self._value

        @value.setter
        def value(self, value):
            self._value = value + 1

    def build(kind, low, high):
        if low >= high:
            return None
        middle = (low + high) // 2
        return kind(middle, build(kind, low, middle), build(kind, middle + 1, high))

    def total(node):
        return 0 if node is None else total(node.left) + node.value + total(node.right)

    for kind in (Node, Checked):
        compiled = autoconv.compile(lambda n, kind=kind: total(build(kind, 0, n)))
        assert [compiled(n) for n in (0, 1, 9)] == [total(build(kind, 0, n)) for n in (0, 1, 9)]
