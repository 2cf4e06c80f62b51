"""Recursive functions whose depth a tensor decides: one graph that calls itself, with plain Python's results."""

import sys
import traceback

import numpy as np
import pytest

import autoconv
from autoconv.graph.graph import has_recursion
from tests.tracing.test_recursive_programs import doubling, factorial, power


@autoconv.function
def decorated_fibonacci(n):
    print("tracing")
    if n < 2:
        return n
    return decorated_fibonacci(n - 1) + decorated_fibonacci(n - 2)


@autoconv.function
def decorated_even(n):
    if n == 0:
        return True
    return decorated_odd(n - 1)


@autoconv.function
def decorated_odd(n):
    if n == 0:
        return False
    return decorated_even(n - 1)


@autoconv.function
def decorated_step_to_odd(n):
    return decorated_even_by_steps(n - 1)


@autoconv.function
def decorated_even_by_steps(n):
    if n < 1:
        return n == 0
    return decorated_step_to_odd(decorated_step_to_odd_count(n))


@autoconv.function
def decorated_step_to_odd_count(n):
    return n - 1


def test_recursion_under_function(capsys):
    five = autoconv.function(factorial)
    assert [five(autoconv.constant(n)).numpy() for n in (5, 1, 10)] == [120, 1, 3628800]
    assert five(autoconv.constant(5)).dtype is autoconv.int32
    assert five(autoconv.constant(5.0)).numpy() == np.float32(120)
    assert five.experimental_get_tracing_count() == 2
    decimal = autoconv.function(power)
    assert decimal(autoconv.constant(1.5), autoconv.constant(5)).numpy() == pytest.approx(1.5**5)


def test_decorated_functions_call_themselves_and_each_other(capsys):
    assert [decorated_fibonacci(autoconv.constant(n)).numpy() for n in (10, 7)] == [55, 13]
    assert capsys.readouterr().out == "tracing\n"
    assert [bool(decorated_even(autoconv.constant(n))) for n in (7, 8)] == [False, True]
    assert [bool(decorated_odd(autoconv.constant(n))) for n in (7, 8)] == [True, False]


def test_variables_and_output_keep_their_order(capfd):
    total = autoconv.Variable(0)

    @autoconv.function
    def effect(n):
        if n > 0:
            total.assign_add(n)
            autoconv.print("down", n, output_stream=sys.stdout)
            effect(n - 1)
            autoconv.print("up", n, output_stream=sys.stdout)

    effect(autoconv.constant(3))
    assert total.numpy() == 6
    assert capfd.readouterr().out.split("\n")[:-1] == ["down 3", "down 2", "down 1", "up 1", "up 2", "up 3"]


def test_recursion_on_python_conditions_is_unrolled():
    seen = []

    def scaled(x, n):
        seen.append(n)
        if n == 0:
            return x
        if x > 0:
            return scaled(x * 2, n - 1)
        return scaled(x - 1, n - 1)

    run = autoconv.function(scaled)
    assert run(autoconv.constant(1.0), 3).numpy() == 8.0
    assert run(autoconv.constant(-1.0), 3).numpy() == -4.0
    assert not has_recursion(run.concrete_functions[0].graph)
    assert all(isinstance(n, int) for n in seen)


def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)


def recovered(n):
    try:
        return depth(n)
    except RecursionError:
        return -1


@pytest.mark.parametrize("make", [autoconv.compile, autoconv.function])
def test_recursion_as_deep_as_in_plain_python(make):
    run = make(depth)
    levels = sys.getrecursionlimit() - len(traceback.extract_stack()) - 10
    argument = levels if make is autoconv.compile else autoconv.constant(levels)
    assert levels > 800
    assert depth(levels) == levels
    assert int(run(argument)) == levels


def test_recursion_error_at_pythons_limit():
    run = autoconv.compile(depth)
    for levels in (5000, sys.getrecursionlimit()):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded") as info:
            run(levels)
        last = traceback.extract_tb(info.value.__traceback__)[-1]
        assert (last.name, last.line) == ("depth", "return 1 + depth(n - 1)")
    assert run.experimental_get_tracing_count() == 1
    caught = autoconv.compile(recovered)
    assert (caught(5), caught(5000)) == (5, -1)
    assert "plain" not in caught.explain()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(6000)
    try:
        assert run(5000) == 5000
    finally:
        sys.setrecursionlimit(limit)


def test_recursion_that_never_ends():
    def endless(x):
        return endless(x + 1)

    with pytest.raises(RecursionError):
        autoconv.function(endless)(autoconv.constant(2.0))
    with pytest.raises(RecursionError):
        autoconv.compile(endless)(2.0)


def test_numbers_beyond_64_bits_run_as_plain_python():
    run = autoconv.compile(factorial)
    assert run(30) == factorial(30)
    assert run(5) == 120


def test_attributes_written_before_a_call_raises():
    class Box:
        calls = 0

    box = Box()

    def attempt(n):
        box.calls = box.calls + 1
        if n <= 0:
            raise ValueError(n)
        failed = 0
        try:
            attempt(n - 1)
        except ValueError:
            failed = 1
        return box.calls + failed

    run = autoconv.compile(attempt)
    for n in (3, 5):
        box.calls = 0
        expected = attempt(n), box.calls
        box.calls = 0
        assert (run(n), box.calls) == expected
    assert "plain" not in run.explain()


def test_functions_that_differ_at_every_call_are_refused():
    def count(x, then):
        if x < 1:
            return then(x)
        return count(x - 1, lambda y: then(y) + 1)

    with pytest.raises(autoconv.errors.StagingError, match="new functions or objects"):
        autoconv.function(count)(autoconv.constant(3), lambda y: y)

    @autoconv.compile
    def compiled(x):
        return count(x, lambda y: y)

    assert compiled(3) == 3
    assert "new functions or objects" in compiled.explain()


def test_array_arguments_are_changed_at_every_level():
    run = autoconv.compile(doubling)
    for values in (np.arange(4.0), np.arange(5.0, 9.0)):
        expected = doubling(values.copy())
        argument = values.copy()
        found = run(argument)
        assert found[0] == expected[0]
        assert found[1] is argument
        assert argument.tolist() == expected[1].tolist()
    assert run.experimental_get_tracing_count() == 1


def test_lists_of_tensors_cannot_change_under_function():
    def appended(n, items):
        if n > 0:
            items.append(n)
            return appended(n - 1, items)
        return n

    def top(n, items):
        items[0] = items[0] + 1
        return top(n - 1, items) if n > 0 else n

    for inner in (appended, top):

        @autoconv.function
        def run(n, inner=inner):
            items = [autoconv.constant(0)]
            inner(n, items)
            return items[0]

        with pytest.raises(autoconv.errors.StagingError, match="a list is changed in place"):
            run(autoconv.constant(3))


def test_structures_of_tensors_are_returned():
    @autoconv.function
    def pair(n):
        if n == 0:
            return {"sum": n, "count": 0}
        before = pair(n - 1)
        return {"sum": before["sum"] + n, "count": before["count"] + 1}

    found = pair(autoconv.constant(4))
    assert (found["sum"].numpy(), found["count"].numpy()) == (10, 4)

    @autoconv.function
    def squares(n):
        def go(k, found):
            if k < 0:
                return found
            return go(k - 1, found.write(k, k * k))

        return go(n, autoconv.TensorArray(autoconv.int32, size=4)).stack()

    assert squares(autoconv.constant(3)).numpy().tolist() == [0, 1, 4, 9]


def test_shapes_that_shrink_at_every_level():
    @autoconv.function
    def total(x):
        if autoconv.size(x) < 2:
            return autoconv.reduce_sum(x)
        half = autoconv.size(x) // 2
        return total(x[:half]) + total(x[half:])

    assert total(autoconv.constant([1, 2, 3, 4, 5])).numpy() == 15


def test_a_function_called_in_a_loop_is_traced_once():
    trace_count = [0]

    @autoconv.function
    def grow(x):
        trace_count[0] += callable(repeat)  # the name of a function that it does not call
        return x * 1.5

    @autoconv.function
    def repeat(x, count):
        return autoconv.while_loop(lambda i, v: i < count, lambda i, v: (i + 1, grow(v)), (0, x))[1]

    assert float(repeat(autoconv.constant(1.0), autoconv.constant(3))) == 1.5**3
    assert trace_count == [1]


def test_decorated_functions_call_themselves_by_way_of_a_third_one():
    assert [bool(decorated_even_by_steps(autoconv.constant(n))) for n in (0, 2, 3, 6)] == [True, True, False, True]
