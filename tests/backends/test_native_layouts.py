"""Copies in other layouts, and views by index maps."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.ops.index_spec import Mask
from tests.backends.native import compare_errors, op, run_both

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("multiples", [(1, 1, 1), (2, 1, 3), (1, 2, 1), (3, 2, 2), (0, 1, 1), (1, 1, 5)])
def test_tiles_and_their_sums(multiples: Any) -> None:
    (found,) = run_both(op("tile", multiples=multiples), X)
    np.testing.assert_array_equal(found, np.tile(X, multiples))
    run_both(op("sum_tiles"), found, X, kernels=())
    run_both(lambda b, x: b.add(b.tile(b.multiply(x, x), multiples=multiples), b.reduce_sum(x, axis=None)), X)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_repeats(repeats: int, axis: int) -> None:
    (found,) = run_both(op("repeat", repeats=repeats, axis=axis), X)
    np.testing.assert_array_equal(found, np.repeat(X, repeats, axis))


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC", "CONSTANT"])
@pytest.mark.parametrize("paddings", [((1, 0), (2, 2), (0, 3)), ((0, 0), (0, 0), (0, 0)), ((0, 1), (0, 0), (3, 1))])
def test_pads_and_their_adjoints(mode: str, paddings: Any) -> None:
    (found,) = run_both(op("pad", paddings=paddings, mode=mode), X)
    np.testing.assert_array_equal(found, np.pad(X, paddings, mode.lower()))  # type: ignore[call-overload]
    run_both(op("unpad", paddings=paddings, mode=mode), found)


def test_nothing_to_mirror() -> None:
    reflect = op("pad", paddings=((0, 0), (1, 1)), mode="REFLECT")
    assert "no greater than -1" in compare_errors(reflect, np.zeros((0, 3)))


def test_a_mirror_as_wide_as_the_row() -> None:
    x = np.arange(4)
    assert run_both(op("pad", paddings=((3, 3),), mode="REFLECT"), x)[0].tolist() == [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]
    assert run_both(op("pad", paddings=((4, 1),), mode="SYMMETRIC"), x)[0].tolist() == [3, 2, 1, 0, 0, 1, 2, 3, 3]


@pytest.mark.parametrize("offset", [0, 1, -1, 2, -2, 5, -5])
def test_diagonals(offset: int) -> None:
    (found,) = run_both(op("diag", offset=offset), X[0, 0])
    np.testing.assert_array_equal(found, np.diag(X[0, 0], offset))
    run_both(op("diag", offset=offset), X)
    (part,) = run_both(op("diag_part", offset=offset), X)
    np.testing.assert_array_equal(part, np.diagonal(X, offset, 1, 2))
    run_both(op("set_diag", offset=offset), X, -part)
    run_both(op("diag", offset=offset), X[:, :, :0])


@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (-1, 0), (1, -1), (0, 2), (-1, -1)])
def test_bands(lower: int, upper: int) -> None:
    (found,) = run_both(op("matrix_band_part", num_lower=lower, num_upper=upper), X)
    np.testing.assert_array_equal(found, np.triu(np.tril(X, 9 if upper < 0 else upper), -9 if lower < 0 else -lower))


def test_identity_matrices_and_ranges() -> None:
    run_both(lambda b, x: b.add(x, b.eye(num_rows=3, num_columns=4, dtype=ac.float64)), X)
    for dtype in ("float32", "float64", "int32", "uint8"):
        for start, stop, step in ((2, 9, 3), (0, 0, 1), (9, 2, -2), (0, 100, 7)):
            if step < 0 and dtype == "uint8":
                continue
            length = len(range(start, stop, step))
            bounds = (np.array(n).astype(dtype) for n in (start, stop, step))
            (found,) = run_both(op("range", length=length), *bounds)
            assert found.tolist() == list(range(start, stop, step))
    (found,) = run_both(op("range", length=7), np.float32(0.1), np.float32(0.8), np.float32(0.1))
    np.testing.assert_array_equal(found, np.arange(7).astype(np.float32) * np.float32(0.1) + np.float32(0.1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_evenly_spaced_numbers_are_numpys(dtype: str) -> None:
    for start, stop in ((0.5, 2.0), (1.0, 1.0), (3.0, -1.7), (0.0, 1e-310 if dtype == "float64" else 1e-44), (-1, 0)):
        for num in (1, 2, 7, 100):
            bounds = np.array(start, dtype), np.array(stop, dtype)
            (found,) = run_both(op("linspace", num=num), *bounds)
            np.testing.assert_array_equal(found, np.linspace(*bounds, num, dtype=dtype))


def test_splits() -> None:
    run_both(op("split", sizes=(1, 2), axis=1), X)
    run_both(op("split", sizes=(None, None), axis=-1), X)
    run_both(op("split", sizes=(0, 3), axis=1), X)
    run_both(op("split_like", axis=0), X, X[:1], X[1:])


def test_a_number_written_where_a_mask_holds() -> None:
    mask = np.array([[True, False, True], [False, True, True]])
    (found,) = run_both(op("set_item", spec=(Mask(),)), X, np.array(-1.0), mask)
    expected = X.copy()
    expected[mask] = -1.0
    np.testing.assert_array_equal(found, expected)
    run_both(op("set_item", spec=(Mask(),)), X, np.array(7), mask)


def test_shuffles_are_those_of_the_reference() -> None:
    seed = np.array([3, 4])
    (found,) = run_both(op("stateless_shuffle"), seed, np.arange(100))
    assert sorted(found.tolist()) == list(range(100)) != found.tolist()
    run_both(op("stateless_shuffle"), seed, X)


def test_clips_of_floats_keep_the_sign_of_zeros() -> None:
    x = np.array([-0.0, 0.0, 2.0, -2.0, np.nan, -0.0])
    for low, high in ((0.0, 1.0), (-1.0, 0.0), (-0.0, 1.0), (np.nan, 1.0)):
        (found,) = run_both(op("numpy_clip"), x, np.array(low), np.array(high), kernels=())
        np.testing.assert_array_equal(np.signbit(found)[:4], np.signbit(np.clip(x, low, high))[:4])


def test_clips_of_integers() -> None:
    run_both(op("numpy_clip"), np.arange(5), np.array(3), np.array(1))


def test_gradients_of_layouts() -> None:
    @ac.function
    def loss(x: Any) -> Any:
        padded = ac.pad(ac.tile(x, [1, 2]), [[1, 1], [2, 0]], "REFLECT")
        return ac.reduce_sum(ac.repeat(padded, 2, axis=0) ** 2) + ac.reduce_sum(ac.linalg.diag(x)[:, 0] ** 2)

    def plain(x: Any) -> Any:
        padded = np.pad(np.tile(x, (1, 2)), ((1, 1), (2, 0)), "reflect")
        return 2 * np.sum(padded**2) + np.sum(x[:, 0] ** 2)

    x = np.arange(6.0).reshape(2, 3) / 4
    assert float(loss(ac.constant(x))) == plain(x)
    found = np.asarray(ac.grad(loss)(ac.constant(x)))
    for position in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[position] = 0.5  # the loss is quadratic: central differences are exact
        assert found[position] == pytest.approx(plain(x + step) - plain(x - step), rel=1e-12)


def test_arguments_in_another_layout_are_copied_once_and_released():
    @ac.compile
    def scaled(x, y):
        return x, x * 2 + y

    base = np.arange(24.0).reshape(4, 6)
    shapes = [base.T, base[::2, ::2].T, np.asfortranarray(base), base[:, ::-1], np.broadcast_to(base[0], (4, 6))]
    for x in shapes:
        y = np.ones(x.shape)[::-1]
        for _ in range(6):
            argument, found = scaled(x, y)
            assert argument is x
            np.testing.assert_array_equal(found, x * 2 + y)
    counts = sys.getrefcount(base), sys.getrefcount(base.T)
    for _ in range(50):
        scaled(base.T, np.ones((4, 6)).T)  # the sizes of a trace for another layout
        with pytest.raises(ValueError, match="broadcast"):
            scaled(base.T, np.ones((4, 6)))
    assert (sys.getrefcount(base), sys.getrefcount(base.T)) == counts
