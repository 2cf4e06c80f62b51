"""`@autoconv.compile`: each call gives what plain Python gives, and one trace serves all numbers."""

import math

import numpy as np
import pytest

import autoconv as ac


def check(function, *calls, traces=1):
    """Compare the compiled function with the plain one on each tuple of arguments."""
    compiled = ac.compile(function)
    for args in calls:
        try:
            expected = function(*args)
        except Exception as error:
            with pytest.raises(type(error)) as caught:
                compiled(*args)
            assert str(caught.value) == str(error)
        else:
            found = compiled(*args)
            assert type(found) is type(expected)
            assert found == expected or (found != found and expected != expected)
    assert compiled.experimental_get_tracing_count() == traces, compiled.explain()
    if traces:
        assert "plain Python" not in compiled.explain()
    return compiled


def test_early_returns_anywhere():
    def f(x, y):
        for i in range(x):
            if i * y > 20:
                if y % 2:
                    return i
                return -i
        if y > 100:
            return 7
        return y - 1

    check(f, (3, 1), (30, 1), (30, 2), (0, 5), (0, 500))


def test_a_function_without_return_gives_none():
    def f(x):  # noqa: RET503
        if x > 3:
            return x * 2

    check(f, (5,), (1,), (4,))


def test_a_name_that_is_not_assigned():
    def f(x):
        if x > 0:
            y = 1
        return y

    check(f, (3,), (-3,))


def test_exceptions_with_messages_made_of_values():
    def f(x):
        if x > 10:
            raise ValueError(f"{x} is too much")
        while x > 5:
            x -= 1
            if x == 7:
                raise KeyError(x)
        return x

    check(f, (11,), (9,), (6,), (-2,))


def test_while_else_and_for_else():
    def f(n, stop):
        for i in range(n):
            if i == stop:
                break
        else:
            i = -1
        while n > 0:
            n -= 3
            if n == stop:
                break
        else:
            n = 100
        return i * 1000 + n

    check(f, (5, 2), (5, 9), (1, 0), (9, 6))


def test_short_circuit_is_lazy():
    def f(x, y):
        if y != 0 and x / y > 2:
            return 1
        if x == 0 or y / x > 3:
            return 2
        return 3 if 0 < x < 10 <= y or not x < y else 4

    check(f, (7, 2), (0, 5), (1, 9), (5, 0), (5, 10), (6, 7))


def test_python_division_errors():
    def f(x, y):
        return x // y + x % y + x / y

    check(f, (7, 2), (-7, 2), (7, -2), (1, 0))
    check(f, (7.5, 2.0), (-7.5, 2.0), (1.0, 0.0))


def test_calls_with_integers_beyond_64_bits_run_again_as_python():
    @ac.compile
    def f(n):
        product = 1
        for i in range(1, n + 1):
            product *= i
        return product

    assert f(10) == math.factorial(10)
    assert f(30) == math.factorial(30)
    assert f.experimental_get_tracing_count() == 1
    assert "64 bits" in f.explain()


def test_numbers_of_different_kinds_are_different_traces():
    @ac.compile
    def f(x):
        return x + x

    assert [f(2), f(True), f(2.0)] == [4, 2, 4.0]
    assert [type(v) for v in (f(2), f(True), f(2.0))] == [int, int, float]
    assert f.experimental_get_tracing_count() == 3


def test_state_widens_from_int_to_float():
    def f(n):
        s = 0
        for _ in range(n):
            s = s + 0.5
        return s

    compiled = ac.compile(f)
    assert [compiled(4), compiled(7)] == [2.0, 3.5]


def test_prints_happen_on_every_call(capsys):
    @ac.compile
    def f(x):
        while x > 0:
            print("x is", x)
            x -= 1
        print()

    f(2)
    f(1)
    assert capsys.readouterr().out == "x is 2\nx is 1\n\nx is 1\n\n"
    assert f.experimental_get_tracing_count() == 1


def test_a_changed_global_or_closure_is_noticed():
    factor = 2

    @ac.compile
    def f(x):
        return x * factor

    assert f(3) == 6
    factor = 5
    assert f(3) == 15
    assert "factor changed" in f.explain()


def test_a_changed_attribute_is_noticed():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @ac.compile
        def apply(self, x):
            return x * self.factor if x > 0 else -x

    scale = Scale(2)
    assert scale.apply(3) == 6
    scale.factor = 4
    assert scale.apply(3) == 12


def test_the_middle_of_a_chained_comparison_is_evaluated_once(capsys):
    @ac.compile
    def f(x):
        def middle():
            print("asked")
            return x

        return 1 < middle() < 5

    assert f(3) is True
    assert f(0) is False
    assert capsys.readouterr().out == "asked\nasked\n"


def test_calls_that_cannot_be_a_graph_run_as_python():
    def clock(x):
        import time

        return time.time() > x

    f = ac.compile(clock)
    assert f(0.0) is True
    assert "plain Python" in f.explain()


def test_objects_made_inside_are_state():
    class Counter:
        def __init__(self):
            self.count = 0

        def add(self, amount):
            self.count += amount

    def f(n):
        counter = Counter()
        for i in range(n):
            counter.add(i)
        return counter.count

    check(f, (4,), (7,), (0,))


def test_exceptions_inside_try_are_caught_as_in_python():
    def f(x):
        try:
            if x > 0:
                y = x
            else:
                raise ValueError("no")
        except ValueError:
            y = -x + 100
        return y

    compiled = ac.compile(f)
    assert [compiled(3), compiled(-3)] == [3, 103]


def test_sequences_repeat_and_text_compares():
    def f(n):
        return [0] * n if n != "x" else n

    compiled = ac.compile(f)
    assert compiled(3) == [0, 0, 0]
    assert compiled(2) == [0, 0]


def test_long_python_loops_become_part_of_the_graph():
    @ac.compile
    def f(x):
        for i in range(5000):
            x = (x * 31 + i) % 65537
        return x

    x = 7
    for i in range(5000):
        x = (x * 31 + i) % 65537
    assert f(7) == x
    (concrete,) = f.concrete_functions
    assert sum(1 for _ in concrete.recorded.walk()) < 100


def test_math_and_builtins():
    def f(x, y):
        if math.sqrt(abs(x)) > 2.0:
            x = min(x, y) + max(x, y, 3)
        return round(x, 1), int(x), float(y), divmod(7, y), pow(x, 2), math.floor(x), bool(x), sum([x, y])

    check(f, (7.25, 2.0), (-9.5, 4.0), (0.5, 3.0))


def test_math_errors_are_pythons():
    def f(x):
        return math.sqrt(x) if x != 5.0 else math.exp(x * 1000)

    check(f, (4.0,), (-1.0,), (5.0,))


def test_results_are_arrays():
    @ac.compile
    def f(a):
        return a * 2 + 1

    found = f(np.arange(3.0))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, [1.0, 3.0, 5.0])


def test_views_of_arguments_are_views():
    @ac.compile
    def f(a, n):
        return a if n > 2 else a[1:]

    a = np.arange(4.0)
    assert f(a, 3) is a
    f(a, 0)[0] = 10.0
    assert a[1] == 10.0


def test_contexts_are_entered_on_every_call():
    events = []

    class Swallow:
        def __enter__(self):
            events.append("in")

        def __exit__(self, kind, error, trace):
            events.append(kind)
            return True

    swallow = Swallow()

    @ac.compile
    def f(x):
        with swallow:
            if x > 0:
                raise ValueError("positive")
            return 5
        return 6

    assert [f(1), f(-1), f(2)] == [6, 5, 6]
    assert events == ["in", ValueError, "in", None, "in", ValueError]


def test_match_with_and_walrus():
    def f(x):
        total = 0
        while (x := x - 3) > 0:
            match x % 3:
                case 0:
                    total += 1
                case 1 if x > 10:
                    total += 10
                case _:
                    total += 100
        return total

    compiled = ac.compile(f)
    assert [compiled(n) for n in (20, 33, 1)] == [f(20), f(33), f(1)]


def test_assertions_are_pythons():
    @ac.compile
    def f(x):
        assert x > 0, x
        assert x < 10, f"{x} is large"
        return x

    assert f(3) == 3
    for argument, message in ((-1, -1), (12, "12 is large")):
        with pytest.raises(AssertionError) as caught:
            f(argument)
        assert caught.value.args == (message,)
    assert f.experimental_get_tracing_count() == 1


def test_python_numbers_have_no_array_attributes():
    def dimensions(n):
        try:
            return n.ndim
        except AttributeError as error:
            return str(error)

    assert ac.compile(dimensions)(3) == dimensions(3)
