"""Calls that write to outer objects before an int exceeds 64 bits: the rerun has Python's result, and writes once."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import IntegerLimitError
from autoconv.ops.python.objects import FUNCTIONS
from autoconv.ops.python.undo_log import log_apply, log_attribute, log_iteration, log_method, with_undo

total = 0


class Box:
    def __init__(self):
        self.n = 1


def writes_a_global(n):
    global total
    for _ in range(n):
        total += 1
        n = n * 10**6 + total
    return n


def test_a_global_is_written_once():
    global total
    f = ac.compile(writes_a_global)
    for n in (2, 3, 5, 2):
        total = 7
        expected = writes_a_global(n), total
        total = 7
        assert (f(n), total) == expected
    assert f.experimental_get_tracing_count() == 1
    assert "one call: the Python int" in f.explain()


def test_attributes_lists_and_dicts_are_written_once():
    def f(n, box, log, table):
        log.append(n)
        box.n = box.n + n
        table["n"] = table.get("n", 0) + n
        table.setdefault("new", []).append(n)
        log[0] = n
        log.insert(0, n)
        m = n
        for _ in range(n):
            m = m * 10**6 + n
        return m, box.n

    compiled, box = ac.compile(f), Box()
    for n in (2, 9, 3, 8):
        logs, tables = ([1], [1]), ({"n": 4}, {"n": 4})
        box.n = 1
        expected = f(n, box, logs[1], tables[1]), box.n
        box.n = 1
        assert (compiled(n, box, logs[0], tables[0]), box.n) == expected
        assert (logs[0], tables[0]) == (logs[1], tables[1])
    assert compiled.experimental_get_tracing_count() == 1


def undo_after_overflow(change):
    def run():
        change()
        raise IntegerLimitError("beyond")

    with pytest.raises(IntegerLimitError) as caught:
        with_undo(run)()
    return hasattr(caught.value, "_autoconv_undone")


def apply(function, *operands):
    log_apply(function, operands)
    return FUNCTIONS[function](*operands)


def call_method(owner, name, *arguments):
    log_method(owner, name, arguments)
    return getattr(owner, name)(*arguments)


def test_every_kind_of_change_is_undone():
    items, table, members, array, box = [1, 2, 3], {"a": 1, "b": 2}, {1, 2}, np.arange(6.0), Box()

    def change():
        apply("setitem", items, 1, "x")
        call_method(items, "append", 4)
        apply("setitem", items, -1, 5)
        call_method(items, "reverse")
        apply("delitem", items, 0)
        call_method(items, "append", 6)
        apply("setitem", table, "c", 3)
        apply("setitem", table, "a", 9)
        apply("delitem", table, "a")
        call_method(table, "update", {"d": 4})
        apply("ior", members, {7})
        for _ in range(4):
            apply("setitem", array, slice(1, 4), 5.0)
            apply("setitem", array, 0, 2.0)
        apply("iadd", array, 1.0)
        for value in (5, 6):
            log_attribute(box, "n")
            box.n = value
        log_attribute(box, "m")
        box.m = 1

    assert undo_after_overflow(change)
    assert items == [1, 2, 3] and list(table.items()) == [("a", 1), ("b", 2)] and members == {1, 2}
    assert array.tolist() == [0, 1, 2, 3, 4, 5] and vars(box) == {"n": 1}


def test_changes_are_undone_in_full_or_not_at_all():
    items, numbers = [1], iter([1, 2])

    def change():
        call_method(items, "append", 2)
        log_iteration(numbers)
        next(numbers)

    assert not undo_after_overflow(change) and items == [1, 2]


def test_other_errors_undo_nothing():
    items = []

    def run():
        call_method(items, "append", 2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        with_undo(run)()
    assert items == [2]


def test_a_nested_run_is_undone_with_the_outer_one():
    items = []
    assert undo_after_overflow(with_undo(lambda: call_method(items, "append", 2))) and items == []


def test_a_failed_write_to_a_read_only_array_is_not_undone():
    """The call is repeated after an unsupported value, and the undoing does not touch the array of the failed write."""

    def program(x, y, k):
        try:
            y &= 1
        except ValueError:
            k = 3
        for _ in y.flat:
            if x:
                x |= 4
        return k

    x, y = np.array(False), np.array([5, 0, 3], np.int8)
    for array in (x, y):
        array.flags.writeable = False
    compiled = ac.compile(program)
    assert [compiled(x, y, 2.5) for _ in range(3)] == [program(x, y, 2.5)] * 3
