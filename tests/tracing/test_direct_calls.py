"""Direct calls of native code do the same checks, conversions and guards as calls through Python."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS

pytestmark = pytest.mark.skipif(SETTINGS.backend != "llvm", reason="only native code is called straight away")


def is_direct(function):
    return bool(function._direct_traces)


def test_tensors_as_arguments_and_result():
    @ac.function
    def f(x):
        return x + 1

    first = ac.constant([[1.0, 2.0]])
    for _ in range(3):
        found = f(first)
        assert isinstance(found, ac.Tensor) and found.dtype == ac.float32
        np.testing.assert_array_equal(found.numpy(), [[2.0, 3.0]])
    assert is_direct(f) and f.experimental_get_tracing_count() == 1
    np.testing.assert_array_equal(f(ac.constant([1, 2])).numpy(), [2, 3])  # another dtype
    np.testing.assert_array_equal(f(ac.constant([1.0])).numpy(), [2.0])  # another shape
    assert f(ac.constant(1.5)).numpy() == 2.5
    np.testing.assert_array_equal(f(first).numpy(), [[2.0, 3.0]])
    assert f.experimental_get_tracing_count() == 4
    with pytest.raises(TypeError, match="missing a required argument"):
        f()
    with pytest.raises(TypeError, match="too many positional"):
        f(first, first)
    np.testing.assert_array_equal(f(x=first).numpy(), [[2.0, 3.0]])


def test_arrays_of_every_layout():
    @ac.function
    def f(x):
        return x * 2

    base = np.arange(12.0).reshape(3, 4)
    for view in (base, base.T.copy().T, base[::-1], np.broadcast_to(base[0], (3, 4)), base.astype(">f8")):
        np.testing.assert_array_equal(f(ac.constant(view)).numpy(), np.asarray(view) * 2)


def test_numbers_keep_their_kinds():
    @ac.compile
    def f(x, y):
        return x + y, x < y

    cases = [(1, 2), (1.5, 2), (1, 2.5), (True, 1), (False, True), (-0.0, 0.0), (2**62, 2**62), (2**70, 1)]
    for _ in range(2):
        for x, y in cases:
            expected = x + y, x < y
            found = f(x, y)
            assert found == expected and [type(v) for v in found] == [type(v) for v in expected]
    with pytest.raises(TypeError):
        f("a", 1)
    assert f("a", "b") == ("ab", True)


def test_an_overflow_is_computed_by_python():
    @ac.compile
    def power(x, n):
        total = 1
        for _ in range(n):
            total = total * x
        return total

    assert [power(3, n) for n in (3, 39, 40, 50, 3)] == [3**n for n in (3, 39, 40, 50, 3)]


def test_results_of_arrays_are_new():
    @ac.compile
    def f(x):
        return x + 1

    @ac.compile
    def equal_with_types(x):
        return x.reshape(4) if x.ndim == 2 else x

    argument = np.ones(4)
    found = f(argument)
    assert type(found) is np.ndarray and found is not f(argument)
    found[0] = 7
    assert f(argument)[0] == 2
    argument[1] = 5
    np.testing.assert_array_equal(f(argument), [2, 6, 2, 2])
    for _ in range(2):
        square = np.zeros((2, 2))
        flat = equal_with_types(square)
        flat_plain = square.reshape(4)
        assert np.shares_memory(flat, square) == np.shares_memory(flat_plain, square)
    assert type(ac.compile(lambda x: x.sum())(argument)) is np.float64


SCALE = 2.0


def test_changed_globals_and_cells_are_noticed():
    global SCALE
    offset = 1

    @ac.compile
    def f(x):
        return x * SCALE + offset

    for SCALE in (2.0, 3.0, 2.0):
        for offset in (1, 10, 1):
            assert [f(1.5), f(1.5)] == [1.5 * SCALE + offset] * 2
    SCALE = 2.0


def test_changed_called_functions_are_noticed():
    def helper(x, by=2):
        return x * by

    @ac.compile
    def f(x):
        return helper(x)

    assert [f(3), f(3)] == [6, 6]
    helper.__defaults__ = (5,)
    assert [f(3), f(3)] == [15, 15]


def test_variables_and_captured_tensors():
    state, constant = ac.Variable(1.0), ac.constant([1.0, 2.0])

    @ac.function
    def step(x):
        state.assign_add(ac.reduce_sum(x * constant))
        return state + 0.0

    ones = ac.constant([1.0, 1.0])
    assert [float(step(ones)) for _ in range(3)] == [4.0, 7.0, 10.0]
    state.assign(0.0)
    assert float(step(ones)) == 3.0


def test_inside_another_trace_it_is_recorded():
    @ac.function
    def inner(x):
        return x + 1

    @ac.function
    def outer(x):
        return inner(x) * 2

    inner(ac.constant(1.0))
    inner(ac.constant(1.0))
    assert float(outer(ac.constant(1.0))) == 4.0
    assert any(node.op.name == "call" for node in outer.get_concrete_function(ac.constant(1.0)).graph.nodes)


def test_the_setting_run_eagerly_is_obeyed():
    @ac.function
    def f(x):
        return x + (1.0 if ac.executing_eagerly() else 2.0)

    scalar = ac.constant(1.0)
    assert [float(f(scalar)) for _ in range(2)] == [3.0, 3.0]
    try:
        ac.config.run_functions_eagerly(True)
        assert [float(f(scalar)) for _ in range(2)] == [2.0, 2.0]
    finally:
        ac.config.run_functions_eagerly(False)
    assert float(f(scalar)) == 3.0


def test_errors_have_the_users_line():
    @ac.compile
    def f(x, y):
        return x // y

    assert f(7, 2) == 3
    with pytest.raises(ZeroDivisionError) as caught:
        f(7, 0)
    assert caught.traceback[-1].lineno + 1 == f.python_function.__code__.co_firstlineno + 2
    assert f(7, 2) == 3


def test_many_threads():
    @ac.function
    def f(x):
        total = ac.constant(0.0)
        for i in ac.range(20):
            total += ac.reduce_sum(x) * ac.cast(i, ac.float32)
        return total

    wrong = []

    def work(k):
        x = ac.constant(np.full(5, k, np.float32))
        wrong.extend(k for _ in range(300) if float(f(x)) != 190 * 5 * k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_function_dropped_while_it_runs():
    holder = {}

    def drop(x):
        holder.pop("f", None)
        return x

    @ac.function
    def f(x):
        y = ac.numpy_function(drop, [x], ac.float32)
        return ac.reshape(y, [2]) * 2 + x

    holder["f"] = f
    x = ac.constant([1.0, 2.0])
    f(x)
    holder["f"] = f
    del f
    np.testing.assert_array_equal(holder["f"](x).numpy(), [3.0, 6.0])


def equal_with_types(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        return all(equal_with_types(found[key], expected[key]) for key in expected)
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(equal_with_types, found, expected))
    return np.array_equal(found, expected)


def check_directly(function, *calls):
    """Compare each call, made twice, with plain Python; the second one is direct."""
    compiled = ac.compile(function)
    for arguments in calls:
        for _ in range(2):
            assert equal_with_types(compiled(*arguments), function(*arguments))
    assert is_direct(compiled), compiled.explain()
    return compiled


def test_results_of_one_type_or_another():
    def nearest(x, n):
        best, shortest, label = -1, 1e300, None
        for i in range(n):
            if x[i] < shortest:
                best, shortest, label = i, x[i], "found"
        return best, {"distance": shortest, "all": [label, (best, x[0])]}

    x = np.array([3.0, 1.0, 2.0])
    check_directly(nearest, (x, 0), (x, 2), (x, 3), (x[::-1].copy(), 3))


def test_arrays_of_one_kind_or_another():
    def scaled(x, n):
        found = None
        for i in range(n):
            found = x * i
        return found

    compiled = check_directly(scaled, (np.ones(3), 0), (np.ones(3), 2))
    assert compiled(np.ones(3), 0) is None


def test_results_share_no_memory_with_arguments_and_constants():
    """A change of a result, an argument or a constant changes no other."""

    def relaxed(x, n):
        field = np.full(3, 0.5)
        for _ in range(n):
            field = field + x
        return field

    compiled = check_directly(relaxed, (np.ones(3), 0), (np.ones(3), 2))
    found = compiled(np.ones(3), 0)
    found[:] = 7.0
    assert compiled(np.ones(3), 0).tolist() == [0.5, 0.5, 0.5]

    def chosen(x, n):
        return x if n < 1 else x * 2

    compiled = ac.function(chosen)
    x = np.ones(3)
    for n in (0, 1, 0, 1):
        found = compiled(x, ac.constant(n))
        x += 1.0
        assert found.numpy().tolist() == ((x - 1.0) * (n + 1)).tolist()


def test_a_value_that_is_returned_twice_is_one_object():
    def twice(x):
        y = x + 1
        return y, y, [y]

    compiled = check_directly(twice, (np.ones(3),))
    first, second, (third,) = compiled(np.zeros(3))
    assert first is second is third and first.tolist() == [1.0, 1.0, 1.0]


def test_arguments_that_are_part_of_the_signature():
    def drawn(seed, count, scale):
        return np.random.default_rng(seed).random(count) * scale

    calls = [(1, 3, 2.0), (1, 4, 2.0), (1, 3, 2.0), (2, 3, 0.5)]
    check_directly(drawn, *calls)

    def named(x, mode, flag):
        return x + 1 if mode == "up" and flag is None else x - 1

    check_directly(named, *((np.ones(2), mode, flag) for mode in ("up", "down") for flag in (None, 0.0, -0.0)))


def test_defaults_and_keyword_arguments_are_put_in_order():
    @ac.compile
    def root(x, tolerance=1e-12, *, start=None):
        return x * tolerance

    @ac.compile
    def newton(x, tolerance=1e-12, most=50):
        g = x
        for _ in range(most):
            if abs(g * g - x) <= tolerance * x:
                break
            g = 0.5 * (g + x / g)
        return g

    calls = [((2.0,), {}), ((2.0, 0.5), {}), ((2.0,), {"most": 1}), ((), {"most": 2, "x": 9.0}), ((3.0, 1e-3, 4), {})]
    for args, kwargs in calls * 2:
        assert newton(*args, **kwargs) == newton.python_function(*args, **kwargs)
    assert root(2.0) == root(x=2.0) == root(2.0, start=None) == 2e-12
    for args, kwargs in (((), {}), ((1.0, 2.0, 3, 4), {}), ((1.0,), {"x": 2.0}), ((1.0,), {"other": 2.0})):
        with pytest.raises(TypeError) as expected:
            newton.python_function(*args, **kwargs)
        with pytest.raises(TypeError) as found:
            newton(*args, **kwargs)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("code", "?bhilBHILefdFD")
def test_scalars_of_numpy_go_straight_to_native_code(code):
    def f(x):
        return x, x + x, -x if code != "?" else x

    def describe(results):
        return [(type(x), x.dtype, x.tobytes()) for x in results]

    compiled = ac.compile(f)
    for number in (0, 1, 100):
        scalar = np.array(number).astype(code)[()]
        for argument in (scalar, scalar[...], scalar):  # the second one is an array
            assert describe(compiled(argument)) == describe(f(argument))
    assert compiled._direct_traces
