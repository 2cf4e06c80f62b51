"""Variables in native code: the values of TensorFlow's rules, whatever the layout of the arrays that they hold."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import autoconv as ac


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (20, 30), (0, 4)])
def test_reads_and_assignments(shape, dtype):
    initial = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7).astype(dtype)
    variable = ac.Variable(initial)

    @ac.function
    def exchange(new):
        before = variable.read_value()
        result = variable.assign(new)
        return before, result, variable + 0 if dtype != "bool" else variable.read_value()

    new = np.flip(initial).astype(dtype)
    for _ in range(2):
        before, result, after = exchange(ac.constant(new))
        np.testing.assert_array_equal(before, initial)
        for value in (result, after, variable):
            np.testing.assert_array_equal(value, new)
            assert value.dtype.name == dtype
        initial, new = new, initial


@pytest.mark.parametrize("shape", [(), (5,), (40, 50)])
def test_updates_in_a_loop(shape):
    variable, counter = ac.Variable(np.ones(shape)), ac.Variable(0)

    @ac.function
    def train(steps, rate):
        for _ in ac.range(steps):
            variable.assign_sub(rate * variable)
            counter.assign_add(1)
        return variable.assign_add(ac.ones(shape, ac.float64))

    result = train(ac.constant(7), ac.constant(0.25, ac.float64))
    np.testing.assert_allclose(result, np.full(shape, 0.75**7 + 1), rtol=1e-14)
    np.testing.assert_array_equal(variable, result)
    assert counter.numpy() == 7
    report = train.explain()
    assert not shape or ("read_variable" not in report and "assign_sub_variable" not in report)


def test_an_earlier_read_keeps_its_value():
    variable = ac.Variable(np.zeros((30, 30)))

    @ac.function
    def step(x):
        before = variable.read_value()
        variable.assign_add(x)
        between = variable.read_value()
        variable.assign_add(x)
        return before, between, variable.read_value()

    ones = ac.constant(np.ones((30, 30)))
    for start in (0, 2):
        for value, expected in zip(step(ones), (start, start + 1, start + 2), strict=True):
            np.testing.assert_array_equal(value, np.full((30, 30), float(expected)))


def test_values_of_any_layout():
    """What a variable holds may be a view in another order, or read-only."""
    variable = ac.Variable(np.zeros((20, 30)))
    rows = np.arange(600.0).reshape(30, 20)

    @ac.function
    def doubled():
        return variable * 2

    doubled()
    for value in (rows.T, np.broadcast_to(5.0, (20, 30)), np.asfortranarray(rows.T)):
        variable.assign(value)
        np.testing.assert_array_equal(doubled(), value * 2)


def test_a_result_is_no_view_of_the_variable():
    variable = ac.Variable(np.zeros(300))

    @ac.function
    def grow():
        return variable.assign_add(ac.ones(300, ac.float64))

    first = grow()
    second = grow()
    np.testing.assert_array_equal(first, np.ones(300))
    np.testing.assert_array_equal(second, np.full(300, 2.0))
