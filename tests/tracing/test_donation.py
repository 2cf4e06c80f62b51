"""`donate=`: tensors whose memory a call takes over."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import autoconv


def address(tensor):
    return tensor.numpy().__array_interface__["data"][0]


def tensor(values=(1.0, 2.0, 3.0, 4.0)):
    return autoconv.constant(np.array(values, np.float32))


def test_an_item_is_written_into_the_donated_array():
    @autoconv.function(donate="x")
    def f(x, v):
        x[1] = v
        return x

    f(tensor(), tensor([9.0])[0])
    x = tensor()
    old_address = address(x)
    found = f(x, autoconv.constant(7.0))
    assert address(found) == old_address
    np.testing.assert_array_equal(found.numpy(), np.array([1, 7, 3, 4], np.float32))


def test_memory_is_used_again_for_later_results():
    @autoconv.function(donate=0)
    def f(x):
        total = autoconv.reduce_sum(x)
        return autoconv.sort(x * 0.5) + total

    for _ in range(3):
        x = tensor([3.0, 1.0, 2.0])
        np.testing.assert_array_equal(f(x).numpy(), np.array([6.5, 7.0, 7.5], np.float32))


@pytest.mark.parametrize("decorator", [autoconv.function, autoconv.compile])
def test_a_donated_tensor_raises_wherever_it_is_used(decorator):
    @decorator(donate=["x", "y"])
    def f(x, y, z):
        return x + y * z

    for _ in range(3):  # the first call, and those that go to native code at once
        x, y, z = tensor(), autoconv.constant(2.0), tensor()
        np.testing.assert_array_equal(f(x, y, z).numpy(), np.array([3, 6, 9, 12], np.float32))
        uses = (lambda: x + 1.0, lambda: f(x, y, z), lambda: float(y), lambda: x.shape, x.numpy)  # noqa: B023
        for use in uses:
            with pytest.raises(autoconv.errors.DonatedTensorError, match="donated to a call of f"):
                use()
        assert repr(x) == "<autoconv.Tensor: donated to a call of f>" == str(x)
        np.testing.assert_array_equal(z.numpy(), np.array([1, 2, 3, 4], np.float32))


def test_tensors_that_share_memory_are_safe():
    @autoconv.function(donate="x")
    def f(x, y):
        x[0] = 100.0
        return x, y + 1.0

    for _ in range(3):
        x = tensor()
        first, second = f(x, x)
        np.testing.assert_array_equal(first.numpy(), np.array([100, 2, 3, 4], np.float32))
        np.testing.assert_array_equal(second.numpy(), np.array([2, 3, 4, 5], np.float32))
    for _ in range(3):
        x = tensor()
        view, alias = x.numpy(), autoconv.identity(x)
        assert f(x, tensor())[0].numpy()[0] == 100.0
        np.testing.assert_array_equal(view, np.array([1, 2, 3, 4], np.float32))
        np.testing.assert_array_equal(alias.numpy(), np.array([1, 2, 3, 4], np.float32))


def test_arrays_and_variables_are_left_alone():
    @autoconv.function(donate="x")
    def f(x):
        return x * 2.0

    array, variable = np.ones(3, np.float32), autoconv.Variable([1.0, 2.0])
    for _ in range(2):
        f(array), f(variable)
    np.testing.assert_array_equal(array, 1.0)
    np.testing.assert_array_equal(variable.numpy(), [1.0, 2.0])


def test_all_tensors_of_a_structure_are_donated():
    @autoconv.function(donate="state")
    def step(state, rate):
        return {"w": state["w"] - rate, "b": (state["b"][0] + rate,)}

    state = {"w": tensor(), "b": (tensor(),)}
    after = step(state, 1.0)
    np.testing.assert_array_equal(after["w"].numpy(), np.array([0, 1, 2, 3], np.float32))
    for argument in (state["w"], state["b"][0]):
        with pytest.raises(autoconv.errors.DonatedTensorError):
            argument.numpy()


def test_nothing_is_donated_under_a_tape_or_in_another_trace():
    @autoconv.function(donate="x")
    def f(x):
        return x * x

    x = tensor()
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), np.array([2, 4, 6, 8], np.float32))
    outer = autoconv.function(lambda t: f(t) + t)
    np.testing.assert_array_equal(outer(x).numpy(), np.array([2, 6, 12, 20], np.float32))


def test_a_failed_call_donates_as_well():
    @autoconv.function(donate="x")
    def f(x, i):
        return x[i]

    f(tensor(), autoconv.constant(1))
    x = tensor()
    with pytest.raises(IndexError):
        f(x, autoconv.constant(10))
    with pytest.raises(autoconv.errors.DonatedTensorError):
        x.numpy()


def test_open_shapes_and_pickling():
    @autoconv.function(donate="x", reduce_retracing=True)
    def f(x):
        return x + 1.0

    for size in (2, 3, 4, 3):
        x = tensor(range(size))
        np.testing.assert_array_equal(f(x).numpy(), np.arange(1, size + 1, dtype=np.float32))
        with pytest.raises(autoconv.errors.DonatedTensorError):
            x.numpy()
    copied = pickle.loads(pickle.dumps(f))
    x = tensor()
    copied(x)
    with pytest.raises(autoconv.errors.DonatedTensorError):
        x.numpy()


def test_names_that_are_no_parameters_are_refused():
    for donate in ("z", 5, -1, ["x", "z"]):
        with pytest.raises(ValueError, match="is no parameter of f, which has x"):

            @autoconv.function(donate=donate)
            def f(x, *rest):
                return x
