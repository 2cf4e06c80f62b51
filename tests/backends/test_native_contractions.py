"""Products of batches, einsum and tensordot, and composite ops over floats: against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.ops.index_spec import At, Slice
from tests.backends.native import op, run_both

SIZES = {"i": 2, "j": 3, "k": 4, "l": 5, "b": 6, "m": 1}


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * 4).astype(dtype)


def tolerance(dtype: str) -> float:
    return 1e-4 if dtype == "float32" else 1e-11


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 6)), ((3, 4), (5, 4, 2)), ((7, 20, 30), (7, 30, 40)),
        ((5, 1, 1), (5, 1, 1)), ((2, 130, 64), (2, 64, 130)), ((64, 3, 3), (1, 3, 3)),
    ],
)  # fmt: skip
def test_products_of_batches(shapes: Any, dtype: str) -> None:
    x, y = numbers(shapes[0], dtype), numbers(shapes[1], dtype, seed=1)
    expected = x @ y
    for flip_x in (False, True):
        for flip_y in (False, True):
            left = np.swapaxes(x, -1, -2).copy() if flip_x else x
            right = np.swapaxes(y, -1, -2).copy() if flip_y else y
            product = op("matmul", transpose_a=flip_x, transpose_b=flip_y)
            (found,) = run_both(product, left, right, rtol=tolerance(dtype))
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_products_of_batches_whose_matrices_are_large_or_special() -> None:
    x, y = numbers((2, 40, 900), "float32"), numbers((2, 900, 900), "float32", seed=1)
    run_both(op("matmul"), x, y, rtol=1e-3)
    x, y = numbers((3, 5, 6), "float64"), numbers((3, 6, 7), "float64")
    x[0, 1, 2], x[1, 0, 0], y[2, 3, 3] = np.nan, np.inf, -np.inf
    (found,) = run_both(op("matmul"), x, y, rtol=1e-12)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, np.matmul(x, y))
    for shapes in (((0, 3, 4), (0, 4, 5)), ((2, 3, 0), (2, 0, 5))):
        left, right = (np.ones(shape) for shape in shapes)

        @ac.function
        def product(left: Any, right: Any) -> Any:
            return left @ right + 1.0

        np.testing.assert_array_equal(product(left, right).numpy(), left @ right + 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik", "ij,kj->ik", "ji,jk->ik", "ij,jk->ki", "bij,bjk->bik", "bij,bkj->bik", "bij,bkl->bijkl", "ij,j->i",
        "i,i->", "i,j->ij", "ij->", "ij->i", "ij->ji", "ijk,jk->", "bij,jk->bik", "ij,jk,kl->il", "ij,jk,kl,lb->ib",
        "bij,bj,bk->ik", "ij,i,j->", "ij,ij->ij", "ij,ij->i", "bijm,bmkl->ijkl", "ij,kl,jk->il", "i,j,k,l->lkji",
        "ijk,ijl,ikm->i", "ij,jk",
    ],
)  # fmt: skip
def test_einsum(equation: str, dtype: str) -> None:
    operands = equation.split("->")[0].split(",")
    arrays = [numbers(tuple(SIZES[c] for c in labels), dtype, i) for i, labels in enumerate(operands)]
    (found,) = run_both(op("einsum", equation=equation), *arrays, rtol=tolerance(dtype) if dtype != "int32" else 0.0)
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", ((2, 3, 4), (4, 5))), ("...ij,...jk->...ik", ((7, 1, 3, 4), (2, 4, 5))),
        ("...i,...i->...", ((3, 4), (4,))), ("i...->...", ((3, 4, 2),)), ("...,...", ((3, 1), (1, 4))),
        ("ii->", ((4, 4),)), ("ii->i", ((4, 4),)), ("iji->j", ((3, 2, 3),)), ("iji->ji", ((3, 2, 3),)),
        ("iii->i", ((3, 3, 3),)), ("...ii->...", ((2, 3, 5, 5),)), ("ii,ij->ij", ((3, 3), (3, 4))),
        ("ii,jj->ij", ((3, 3), (2, 2))),
    ],
)  # fmt: skip
def test_einsum_of_diagonals_and_the_rest_of_the_dimensions(equation: str, shapes: Any) -> None:
    arrays = [numbers(shape, "float64", i) for i, shape in enumerate(shapes)]
    (found,) = run_both(op("einsum", equation=equation), *arrays, rtol=1e-12)
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-10)


@pytest.mark.parametrize("axes", [((1, 2), (1, 0)), ((2,), (0,)), ((), ()), ((-1, 1), (0, 1))])
def test_tensordot(axes: Any) -> None:
    for dtype in ("float32", "int64"):
        x, y = numbers((2, 3, 4), dtype), numbers((4, 3, 5), dtype)
        (found,) = run_both(op("tensordot", axes=axes), x, y, rtol=1e-5)
        np.testing.assert_allclose(found, np.tensordot(x, y, axes), rtol=1e-4, atol=1e-4)


SPECIAL = np.array([0.0, -0.0, 1.0, 2.5, -1.5, np.inf, -np.inf, np.nan, 1e-310, 1e308])


@pytest.mark.parametrize("name", ["xlogy", "xdivy", "logaddexp"])
def test_logarithms_beside_zeros_and_infinities(name: str) -> None:
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    with np.errstate(all="ignore"):
        run_both(op(name), x, y, rtol=1e-14)
        run_both(op(name), x.astype("float32"), y.astype("float32"), rtol=1e-6)
        for left, right in ((0.0, np.inf), (np.inf, np.inf), (2.0, -1.0), (np.nan, 0.0)):
            run_both(op(name), np.array(left), np.array(right), rtol=1e-14)


@pytest.mark.parametrize("axis", [None, (0,), (1,), (0, 1)])
def test_the_logarithm_of_a_sum_of_powers(axis: Any) -> None:
    x = np.meshgrid(SPECIAL, SPECIAL)[0]
    with np.errstate(all="ignore"):
        for keepdims in (False, True):
            run_both(op("reduce_logsumexp", axis=axis, keepdims=keepdims), x, rtol=1e-13)
        (found,) = run_both(op("reduce_logsumexp", axis=axis, keepdims=False), numbers((5, 7), "float64"), rtol=1e-13)
    np.testing.assert_allclose(found, np.log(np.sum(np.exp(numbers((5, 7), "float64")), axis)), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_means_of_integers_and_kept_dimensions_of_extremes(dtype: str) -> None:
    x = np.random.default_rng(0).integers(0 if dtype[0] == "u" else -100, 100, (5, 7)).astype(dtype)
    for axis in (None, (0,), (1,)):
        (found,) = run_both(op("reduce_mean", axis=axis, keepdims=False), x)
        np.testing.assert_array_equal(found, np.trunc(x.sum(axis, dtype=dtype) / (x.size // found.size)).astype(dtype))
        one = axis and axis[0]
        (found,) = run_both(op("numpy_argmax", axis=one, keepdims=True), x)
        np.testing.assert_array_equal(found, np.argmax(x, one, keepdims=True))  # type: ignore[call-overload]


def test_positions_through_a_view_of_a_view() -> None:
    """A slice that is read as an array of positions is stored, also through a reshape."""

    def build(b: Any, x: Any, i: Any) -> Any:
        some = b.get_item(i, spec=(Slice(None, 3, None),))
        return b.take_along_axis(x, b.expand_dims(some, axis=-1), axis=-1)

    x, i = numbers((3, 4), "float64"), np.array([3, 0, 2, 1, 1])
    (found,) = run_both(build, x, i)
    np.testing.assert_array_equal(found[:, 0], x[[0, 1, 2], i[:3]])


def test_a_product_with_a_block_of_a_transposed_matrix() -> None:
    def build(b: Any, x: Any, y: Any) -> Any:
        turned = b.reverse(b.get_item(x, spec=(Slice(None, None, 2),)), axis=(0,))
        return b.matmul(b.get_item(turned, spec=(At(1),)), y)

    x, y = numbers((6, 9, 5), "float64"), numbers((5, 8), "float64", seed=1)
    (found,) = run_both(build, x, y, rtol=1e-12)
    np.testing.assert_allclose(found, x[::2][::-1][1] @ y)


def test_tensordot_does_not_broadcast_dimensions_of_1() -> None:
    spec = ac.TensorSpec([None])
    product = ac.function(lambda x, y: ac.tensordot(x, y, 1), input_signature=[spec, spec])
    assert float(product([1.0, 2.0], [3.0, 4.0])) == 11.0
    with pytest.raises(ac.errors.InvalidArgumentError, match=r"shapes \[2\] and \[1\] differ"):
        product([1.0, 2.0], [1.0])
