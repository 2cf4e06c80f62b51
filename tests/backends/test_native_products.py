"""Products of matrices by tiles, beside NumPy's in double precision: every edge, each operand either way round."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm import threads, vectors
from autoconv.backends.llvm.blocks import block_rows
from autoconv.backends.llvm.expand import expand
from autoconv.backends.llvm.fusion import Plan
from tests.backends.native import graph_of

SHAPES = [(1, 4, 1), (3, 5, 2), (8, 7, 9), (13, 33, 17), (16, 16, 16), (25, 48, 5), (130, 10, 33), (40, 100, 64)]
BOUND = {"float32": 1e-6, "float64": 2e-15}


def product(shape, dtype, flip_x=False, flip_y=False):
    """The operands, the result, and NumPy's in float64."""
    rows, columns, inner = shape
    random = np.random.default_rng(7)
    x = random.standard_normal((inner, rows) if flip_x else (rows, inner)).astype(dtype)
    y = random.standard_normal((columns, inner) if flip_y else (inner, columns)).astype(dtype)
    found = autoconv.function(lambda a, b: autoconv.matmul(a, b, transpose_a=flip_x, transpose_b=flip_y))(x, y)
    wide = [array.astype(np.float64) for array in (x.T if flip_x else x, y.T if flip_y else y)]
    return *wide, np.asarray(found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("flips", [(False, False), (True, False), (False, True), (True, True)])
def test_tiles_reach_every_edge(shape, dtype, flips):
    x, y, found = product(shape, dtype, *flips)
    assert found.dtype == dtype
    error = np.abs(found - x @ y)
    assert (error <= BOUND[dtype] * (np.abs(x) @ np.abs(y)) * np.sqrt(shape[2])).all()


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 5, 0)])
def test_nothing_to_add_up_gives_zeros(shape):
    x, y, found = product(shape, "float32")
    np.testing.assert_array_equal(found, x @ y)


def test_batches_of_rows_are_rows():
    random = np.random.default_rng(1)
    x, y = random.random((3, 5, 7), np.float32), random.random((7, 9), np.float32)
    found = autoconv.function(lambda a, b: a @ b)(x, y)
    np.testing.assert_allclose(np.asarray(found), x.astype(np.float64) @ y, rtol=1e-6)


@pytest.mark.parametrize("flip", [False, True])
def test_nan_and_inf_reach_the_numbers_that_numpy_says(flip):
    x, y = np.ones((20, 6), np.float32), np.ones((6, 21), np.float32)
    x[3, 2], x[5, 1], y[2, 7], y[4, 20], y[0, 3] = np.nan, np.inf, -np.inf, np.nan, 0.0
    x[7, 0] = np.inf  # times 0: nan
    with np.errstate(invalid="ignore"):
        expected = x @ y
    found = autoconv.function(lambda a, b: autoconv.matmul(a, b, transpose_b=flip))(
        x, np.ascontiguousarray(y.T) if flip else y
    )
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("shape", [(300, 130, 200), (64, 70, 900), (30, 70, 1024)])
def test_long_sums_are_no_less_exact_than_numpys(shape):
    for flips in ((False, False), (True, True)):
        x, y, found = product(shape, "float32", *flips)
        numpys = x.astype(np.float32) @ y.astype(np.float32)
        assert np.abs(found - x @ y).max() <= 1.25 * np.abs(numpys - x @ y).max()


# ---- products and loops by blocks of rows


def attention(q, k, v):
    return autoconv.nn.softmax(autoconv.matmul(q, k, transpose_b=True) * 0.25) @ v


def two_layers(x, w, v):
    hidden = autoconv.nn.relu(x @ w + 0.5)
    out = hidden @ v
    return out - autoconv.reduce_max(out, axis=1, keepdims=True), autoconv.reduce_sum(hidden, axis=0), out[:, 1:3] * 2.0


def other_rows(x, w, v):
    """What reads other rows of a product than its own."""
    z = x @ w
    turned = z[::-1] + 1.0
    return turned @ v, autoconv.reduce_sum(z * z), (z * z) @ v, autoconv.transpose(z) @ (x * 2.0)


def numpy_attention(q, k, v):
    scores = q @ k.T * 0.25
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


def numpy_two_layers(x, w, v):
    hidden = np.maximum(x @ w + 0.5, 0)
    out = hidden @ v
    return out - out.max(axis=1, keepdims=True), hidden.sum(axis=0), out[:, 1:3] * 2


def numpy_other_rows(x, w, v):
    z = x @ w
    return (z[::-1] + 1) @ v, np.sum(z * z), (z * z) @ v, z.T @ (x * 2)


CASES = [
    (attention, numpy_attention, [(150, 64), (140, 64), (140, 64)]),
    (two_layers, numpy_two_layers, [(150, 64), (64, 90), (90, 60)]),
    (other_rows, numpy_other_rows, [(150, 64), (64, 90), (90, 60)]),
]


@pytest.mark.parametrize("ours, numpys, shapes", CASES)
@pytest.mark.parametrize("scale", [1, 4])
def test_blocks_of_rows_give_numpys_results(ours, numpys, shapes, scale, monkeypatch):
    monkeypatch.setattr("autoconv.backends.llvm.block_code.thread_count", lambda: 2)
    random = np.random.default_rng(3)
    shapes = [(scale * rows, columns) if i == 0 else (rows, columns) for i, (rows, columns) in enumerate(shapes)]
    arrays = [random.standard_normal(shape) * 0.3 for shape in shapes]
    found = autoconv.function(ours)(*arrays)
    expected = numpys(*arrays)
    for one, other in zip(*(v if isinstance(v, (tuple, list)) else (v,) for v in (found, expected)), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-11, atol=1e-11)


def test_a_loop_of_products_gives_numpys_result():
    random = np.random.default_rng(5)
    x, h = random.standard_normal((9, 32, 64)) * 0.2, random.standard_normal((32, 64)) * 0.2
    w, u = (random.standard_normal((64, 64)) * 0.2 for _ in range(2))

    @autoconv.function
    def forward(x, h, w, u):
        for t in autoconv.range(x.shape[0]):
            z = x[t] @ w + h @ u
            h = autoconv.tanh(z[:, ::-1]) + autoconv.sigmoid(z)
        return h

    expected = h
    for t in range(9):
        z = x[t] @ w + expected @ u
        expected = np.tanh(z[:, ::-1]) + 1 / (1 + np.exp(-z))
    np.testing.assert_allclose(np.asarray(forward(x, h, w, u)), expected, rtol=1e-11, atol=1e-14)


@pytest.mark.skipif(vectors.registers() is None, reason="there are no tiles for this processor")
def test_what_keeps_to_rows_runs_in_blocks():
    """The softmax between two products is one step with them; of other rows it is not."""
    shapes = [np.zeros(shape, np.float32) for shape in ((64, 16), (50, 16), (50, 24))]

    def chain(b, q, k, v):
        return b.matmul(b.softmax(b.matmul(q, k, transpose_b=True), axis=-1), v)

    def across(b, q, k, v):
        return b.matmul(b.softmax(b.matmul(q, k, transpose_b=True), axis=0), v)

    members = []
    for build in (chain, across):
        plan = Plan(expand(graph_of(build, *shapes)))
        members.append([len(item.members) for item in plan.items if item.members])
        assert sorted(id(n) for i in plan.items for n in i.nodes) == sorted(
            id(n) for i in block_rows(plan, [m for i in plan.items for m in i.members or [i]]) for n in i.nodes
        )
    assert members == [[3], []]


PROGRAM = """
import hashlib
import numpy as np
import autoconv

random = np.random.default_rng(1)
x, w, v = (autoconv.constant(random.standard_normal(s, np.float32)) for s in ((300, 64), (64, 200), (200, 48)))


@autoconv.function
def chain(x, w, v):
    return autoconv.nn.softmax(x @ w) @ v, x @ w


print(hashlib.sha256(b"".join(one.numpy().tobytes() for one in chain(x, w, v))).hexdigest())
"""


@pytest.mark.skipif(vectors.registers() is None or not threads.available(), reason="products are another's")
def test_the_number_of_threads_changes_no_bit_of_a_product(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    found = set()
    for count in (1, 2, 3):
        environment = {**os.environ, "AUTOCONV_NUM_THREADS": str(count)}
        done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        found.add(done.stdout)
    assert len(found) == 1 and len(found.pop().strip()) == hashlib.sha256().digest_size * 2


# ---- matrices the other way round


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (33, 5), (7, 40), (48, 31)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_turned_matrices_are_what_products_see(shape, dtype):
    """By the product with the identity."""
    y = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    found = autoconv.function(lambda a, b: autoconv.matmul(a, b, transpose_b=True))(
        np.eye(max(shape[1], 8), shape[1], dtype=dtype), y
    )
    np.testing.assert_array_equal(np.asarray(found)[: shape[1]], y.T)
