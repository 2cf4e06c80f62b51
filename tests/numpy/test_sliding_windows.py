"""Windows over arrays under `compile`, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv

windows = np.lib.stride_tricks.sliding_window_view


def moving(x: Any) -> Any:
    return windows(x, 3).mean(axis=-1), windows(x, 5).max(axis=1), np.median(windows(np.pad(x, 1), 3), axis=1)


def pooled(x: Any) -> Any:
    return windows(x, (2, 3))[::2, ::3].max(axis=(2, 3)), windows(x, (2, 2), axis=(1, 1)).sum(), windows(x, (), axis=())


def convolved(x: Any, kernel: Any) -> Any:
    return np.einsum("ijkl,kl->ij", windows(x, kernel.shape), kernel), np.tensordot(windows(x, (3, 3)), kernel)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_as_numpy(dtype: str) -> None:
    x = np.arange(63.0).reshape(7, 9) % 10
    calls = (
        (moving, (x[0].astype("float64" if dtype == "complex128" else dtype),)),
        (pooled, (x.astype(dtype),)),
        (convolved, (x.astype(dtype), np.arange(9).reshape(3, 3).astype(dtype))),
    )
    for program, argument in calls:
        compiled = autoconv.compile(program)
        for found, expected in zip(compiled(*argument), program(*argument), strict=True):
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert "plain Python" not in compiled.explain()


def test_sizes_that_differ_from_call_to_call() -> None:
    compiled = autoconv.compile(moving)
    for size in (5, 6, 9, 20, 33, 5):
        for found, expected in zip(compiled(np.arange(size) ** 2.0), moving(np.arange(size) ** 2.0), strict=True):
            np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: windows(x, 9), lambda x: windows(x, (2, 2)), lambda x: windows(x, -1),
        lambda x: windows(x, (2, 2), axis=0), lambda x: windows(x, 2, axis=3),
    ],
)  # fmt: skip
def test_errors(call: Any) -> None:
    with pytest.raises(ValueError) as expected:
        call(np.arange(5.0))
    with pytest.raises(type(expected.value)) as found:
        autoconv.compile(call)(np.arange(5.0))
    assert str(found.value) == str(expected.value)


def test_windows_are_read_only() -> None:
    def write(x: Any) -> Any:
        windows(x, 2)[0, 0] = 5.0

    with pytest.raises(ValueError, match="read-only"):
        autoconv.compile(write)(np.arange(4.0))
    found = autoconv.compile(lambda x: windows(x, 2))(np.arange(4.0))
    assert not found.flags.writeable


def test_windows_that_are_written_show_in_the_array() -> None:
    def write(x: Any) -> Any:
        windows(x, 2, writeable=True)[0, 1] = 5.0
        return x

    np.testing.assert_array_equal(autoconv.compile(write)(np.arange(4.0)), [0.0, 5.0, 2.0, 3.0])


def test_windows_of_an_array_that_is_written_later() -> None:
    def program(x: Any) -> Any:
        seen = windows(x, 2)
        x[1] = 7.0
        return seen.sum(axis=1), seen[0, 1]

    for found, expected in zip(
        autoconv.compile(program)(np.arange(5.0)), program(np.arange(5.0)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_gradients_are_those_of_finite_differences() -> None:
    x = np.random.default_rng(0).standard_normal((5, 6))
    weights = np.random.default_rng(1).standard_normal((4, 4, 2, 3))

    @autoconv.function
    def loss(x: Any) -> Any:
        return autoconv.reduce_sum(weights * autoconv.convert_to_tensor(windows(x, (2, 3))) ** 2)

    argument = autoconv.constant(x)
    with autoconv.GradientTape() as tape:
        tape.watch(argument)
        found = loss(argument)
    gradient = tape.gradient(found, argument).numpy()
    for position in ((0, 0), (2, 3), (4, 5)):
        step = np.zeros_like(x)
        step[position] = 1e-6
        expected = (loss(autoconv.constant(x + step)) - loss(autoconv.constant(x - step))).numpy() / 2e-6
        assert abs(gradient[position] - expected) < 1e-6


def test_windows_of_written_arrays_are_views() -> None:
    def program(x: Any, out: Any) -> None:
        for i in range(3):
            x[i] += windows(x, 3)[i + 1].sum()
            out[:] = windows(x, 4).max(axis=1) + windows(x, 4)[:, 1]
            out[:3] += x[windows(np.arange(6), 2)[::2, 0]]

    arguments, expected = ([np.arange(12.0) % 5, np.zeros(9)] for _ in range(2))
    compiled = autoconv.compile(program)
    compiled(*arguments)
    program(*expected)
    for actual_part, expected_part in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(actual_part, expected_part)


def test_widths_of_padding_that_follow_from_arguments() -> None:
    def padded(x: Any, width: int, widths: Any) -> Any:
        half = width // 2
        return np.pad(x, half, mode="edge"), np.pad(x, ((half, 0), (1, width)), mode="reflect"), np.pad(x, widths)

    x = np.arange(30.0).reshape(5, 6)
    compiled = autoconv.compile(padded)
    for width, both in ((3, (1, 2)), (5, (0, 1)), (3, (1, 2))):
        for found, expected in zip(compiled(x, width, both), padded(x, width, both), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert "1 trace" in compiled.explain()
