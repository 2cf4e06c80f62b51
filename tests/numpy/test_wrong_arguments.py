"""Calls that NumPy refuses, under `compile`: the class and the text of the exception are NumPy's."""

import numpy as np
import pytest

from tests.numpy.agreement import check_agreement

CALLS = (
    lambda x, a: x.reshape(), lambda x, a: a.swapaxes(0, 1, 2), lambda x, a: x.nonzero(1),
    lambda x, a: x.conj(1, 2, 3), lambda x, a: x.item(0, 0), lambda x, a: a.item(1, 2, 3),
    lambda x, a: x.sort(kind="foo"), lambda x, a: np.sum(a, axis=[0]), lambda x, a: np.var(a, axis=[0, 1]),
    lambda x, a: np.linalg.norm(a, axis=[0]), lambda x, a: np.squeeze(a[:1], [0]),
    lambda x, a: np.max(a, keepdims="a"), lambda x, a: np.searchsorted(x, 1, sorter=[0, 1]),
    lambda x, a: np.clip(a, 0, 1, foo=2), lambda x, a: np.clip(a, 0, 1, casting="foo"),
    lambda x, a: np.linalg.eigh(a[:, :3], "Z"), lambda x, a: np.linalg.eigvalsh(a[:, :3], "Z"),
    lambda x, a: np.linalg.multi_dot([a]), lambda x, a: np.convolve(x, x, "foo"), lambda x, a: np.cov(a, ddof=1.5),
    lambda x, a: np.array(x, ndmin=100), lambda x, a: np.array(x, copy="a"), lambda x, a: np.asarray(x, copy="a"),
    lambda x, a: np.array([1, 2], order="Z"), lambda x, a: np.copy(x, order="Z"),
    lambda x, a: np.ones_like(x, order="Z"), lambda x, a: np.nan_to_num(x, copy="a"),
    lambda x, a: np.einsum("ij->ji", a, order="Z"), lambda x, a: np.einsum("ij->ji", a, casting="foo"),
    lambda x, a: np.reshape(a, (4, 3), copy="a"), lambda x, a: np.reshape(a, newshape=(4, 3), shape=(4, 3)),
    lambda x, a: x.flat[6], lambda x, a: a.flat[-13], lambda x, a: x.flat["a"], lambda x, a: x.flat[0, 0],
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: str(CALLS.index(call)))
def test_wrong_calls(call):
    check_agreement(call, lambda: np.arange(6.0), lambda: np.arange(12.0).reshape(3, 4))
    check_agreement(lambda x, a: call(x * 1, a * 1), lambda: np.arange(6.0), lambda: np.arange(12.0).reshape(3, 4))


def test_a_store_beyond_the_end_of_flat():
    def f(x):
        x.flat[10] = 1

    check_agreement(f, lambda: np.arange(6.0))


@pytest.mark.parametrize("call", [
    lambda x, mask: np.extract(mask, x), lambda x, mask: np.compress(mask, x), lambda x, mask: x.compress(mask),
    lambda x, mask: np.take(x, np.flatnonzero(mask)), lambda x, mask: x.take(mask * 1),
], ids=("extract", "compress", "x.compress", "take", "x.take"))  # fmt: skip
def test_nothing_is_taken_from_an_array_without_elements(call):
    for mask in ([True, False], [False, False], []):
        compiled = check_agreement(call, lambda: np.zeros(0), lambda mask=mask: np.array(mask, bool))
        assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("shapes", [((2,), (2,)), ((), (2, 2)), ((2, 2), (2,))], ids=str)
def test_a_product_in_place_is_of_a_vector_or_matrix_by_a_matrix(shapes):
    def multiply(x, y):
        x @= y
        return x

    compiled = check_agreement(multiply, *(lambda shape=shape: np.ones(shape) for shape in shapes))
    assert "plain Python" not in compiled.explain()
