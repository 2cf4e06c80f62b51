"""Arguments in Fortran order: NumPy's values, and for elementwise programs NumPy's memory order of the result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS

PROGRAMS: tuple[Callable[..., Any], ...] = (
    lambda a, b: a + 1,
    lambda a, b: np.where(a > b, a * 2, b) - a.mean(),
    lambda a, b: a - a.mean(axis=0),
    lambda a, b: a / a.sum(axis=-1, keepdims=True),
    lambda a, b: (a.max(axis=0), a.argmax(), a.argmin(axis=0), np.median(a, axis=1)),
    lambda a, b: (np.cumsum(a, axis=0), np.cumsum(a, axis=-1), a.ravel().cumsum()),
    lambda a, b: (a * 2)[1:, ::2] + b[1:, ::2],
    lambda a, b: ((a + b)[0], (a + b)[:, -1], (a + b)[..., ::-1].copy()),
    lambda a, b: (a + b).T * 3,
    lambda a, b: np.swapaxes(a, 0, 1) @ b.reshape(a.shape[0], -1) if a.ndim == 2 else a.sum(axis=(0, 2)),
    lambda a, b: np.concatenate([a, b], axis=1),
    lambda a, b: (np.sort(a, axis=0), np.argsort(b, axis=-1), np.roll(a, 1, axis=0), np.diff(a, axis=1)),
    lambda a, b: (a.reshape(-1), np.stack([a, b]), np.pad(a, 1)),
    lambda a, b: a * np.arange(a.shape[-1]) + np.arange(a.shape[0]).reshape((-1,) + (1,) * (a.ndim - 1)),
    lambda a, b: (a + 1j * b) * (a - 2j),
    lambda a, b: ((a > 0) | (b > 0), (a * b).astype(np.int64) // 3, a[np.array([1, 0, 1])] + 1),
    lambda a, b: (a + 1, (a + 1).T, (a + 1)[0]),
    lambda a, b: (np.exp(a), np.exp(a)),
)
ELEMENTWISE = (0, 1)


def _fortran_array(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.asfortranarray(np.random.default_rng(seed).normal(size=shape))


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_results_are_those_of_numpy(number: int) -> None:
    program = PROGRAMS[number]
    compiled = autoconv.compile(program)
    for shape in ((4, 6), (3, 4, 6)):
        columns = _fortran_array(shape, 1), _fortran_array(shape, 2)
        rows = tuple(np.ascontiguousarray(x) for x in columns)
        for arguments in (columns, rows, columns, (rows[0], columns[1]), (columns[0], rows[1]), columns):
            _compare(compiled(*arguments), program(*arguments))


def _compare(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for actual_part, expected_part in zip(found, expected, strict=True):
            _compare(actual_part, expected_part)
        return
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("number", ELEMENTWISE)
def test_results_keep_the_memory_order(number: int) -> None:
    compiled = autoconv.compile(PROGRAMS[number])
    call_arguments = _fortran_array((5, 7), 1), _fortran_array((5, 7), 2)
    for _ in range(3):
        assert compiled(*call_arguments).strides == PROGRAMS[number](*call_arguments).strides
        found = compiled(*call_arguments)
        assert found.flags.owndata and found.flags.f_contiguous and not found.flags.c_contiguous
        found[1, 2] = 5.0
        assert found.T[2, 1] == 5.0


WRITING_PROGRAMS: tuple[Callable[..., Any], ...] = (
    lambda a, b, c: (c.__setitem__(..., a * 2 + b), c.sum(axis=0), (a + 1).max(axis=-1))[1:],
    lambda a, b, c: (a.__setitem__(..., a * b + c), a.sum(), a[1:].mean(axis=0))[1:],
    lambda a, b, c: (a.__iadd__(b), a[1:, ::2].__imul__(c[1:, ::2]), a.argmax(axis=1), np.cumsum(a, axis=0)),
    lambda a, b, c: (b.sum(), a[1:], b.T @ b if b.ndim == 2 else b.min(axis=(0, 2))),
    lambda a, b, c: (a.T.__iadd__(b.T), c.__setitem__(slice(1, None), a[:-1]), np.ptp(a**2), c.T.sum(axis=0))[2:],
    lambda a, b, c: (a[1:].__setitem__(..., a[:-1] * 2), a.__setitem__(..., a[::-1] + b), np.sort(a, axis=0))[2:],
)


@pytest.mark.parametrize("number", range(len(WRITING_PROGRAMS)))
def test_arrays_in_memory(number: int) -> None:
    program = WRITING_PROGRAMS[number]
    compiled = autoconv.compile(program)
    for shape in ((4, 6), (3, 4, 6)):
        for is_by_columns in ((True, True, True), (True, True, False), (True, False, False), (False, True, True)):
            arguments = [_fortran_array(shape, seed) for seed in range(3)]
            arguments = [x if flag else x.copy("C") for x, flag in zip(arguments, is_by_columns, strict=True)]
            copies = [x.copy("K") for x in arguments]
            _compare(compiled(*copies), program(*arguments))
            _compare(tuple(copies), tuple(arguments))


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_large_arrays_in_several_orders(number: int) -> None:
    """Arrays of more than 8 kB in Fortran order are read by columns, whatever the order of the others."""
    program = PROGRAMS[number]
    compiled = autoconv.compile(program)
    for shape in ((40, 60), (12, 20, 16)):
        columns = _fortran_array(shape, 1), _fortran_array(shape, 2)
        rows = tuple(np.ascontiguousarray(x) for x in columns)
        for arguments in ((rows[0], columns[1]), (columns[0], rows[1]), columns, (columns[0], rows[1])):
            for _ in range(2):
                _compare(compiled(*arguments), program(*arguments))


def test_many_shapes() -> None:
    @autoconv.compile
    def centred(x: Any) -> Any:
        return (x - x.mean(axis=0)) / x.std(axis=0)

    for rows in range(3, 12):
        argument = _fortran_array((rows, rows + 2), rows)
        expected = (argument - argument.mean(axis=0)) / argument.std(axis=0)
        np.testing.assert_allclose(centred(argument), expected, rtol=1e-12)


def test_an_argument_that_is_returned_or_written() -> None:
    @autoconv.compile
    def same(x: Any) -> Any:
        return x, x.T

    @autoconv.compile
    def doubled(x: Any) -> Any:
        x *= 2
        return x

    argument = _fortran_array((3, 5), 1)
    found, turned = same(argument)
    assert found is argument
    assert np.shares_memory(turned, argument)
    assert turned.shape == (5, 3)
    expected = argument * 2
    assert doubled(argument) is argument
    np.testing.assert_array_equal(argument, expected)


@pytest.mark.parametrize("as_array", [np.asarray, np.asanyarray])
def test_row_major_arrays_of_arguments(as_array: Any) -> None:
    for argument in (np.ones((2, 3)), np.ones((3, 2)).T, np.ones((2, 6))[:, ::2], np.ones(3)):
        found, expected = autoconv.compile(lambda x: as_array(x, order="C"))(argument), as_array(argument, order="C")
        assert found.strides == expected.strides
        assert np.shares_memory(found, argument) == np.shares_memory(expected, argument)


def test_a_gradient() -> None:
    @autoconv.compile
    def energy(x: Any, w: Any) -> Any:
        return ((x * w) ** 2).sum()

    x, w = _fortran_array((3, 5), 1), autoconv.constant(_fortran_array((3, 5), 2))
    energy(x, w)
    with autoconv.GradientTape() as tape:
        tape.watch(w)
        found = energy(x, w)
    np.testing.assert_allclose(tape.gradient(found, w).numpy(), 2 * x * x * w.numpy(), rtol=1e-12)


def test_gradients_of_parts_of_transpositions() -> None:
    @autoconv.compile
    def energy(x: Any) -> Any:
        return (x.T[::-1, 1:] ** 2).sum() + (x.T[2:4] * 3).sum()

    x = np.random.default_rng(0).normal(size=(6, 7))
    expected = 2 * x
    expected[0] = 0
    expected[:, 2:4] += 3
    for argument in (x, np.asfortranarray(x)):
        _, gradient = autoconv.value_and_grad(energy)(argument)
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)


@pytest.mark.parametrize("layouts", [("columns", "steps"), ("steps", "columns"), ("steps", "rows")])
def test_large_arrays_of_several_layouts_run_no_python_code(
    layouts: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matrix that is read by its strides, beside one in Fortran order."""
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    columns, names = _fortran_array((60, 40), 1), []
    arrays = {"columns": columns, "rows": columns.copy("C"), "steps": np.repeat(columns, 2, axis=0)[::2]}
    arguments = [arrays[layout] for layout in layouts]

    def program(a: Any, b: Any) -> Any:
        return a + b[0]

    compiled = autoconv.compile(program)
    compiled(*arguments)
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = compiled(*arguments)
    finally:
        sys.setprofile(None)
    assert not names
    _compare(found, program(*arguments))
