"""Products of matrices by tiles, beside NumPy's in double precision: every edge, each operand either way round."""

import dataclasses
import hashlib
import os

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.describe import describe
from autoconv.backends.llvm.legalize.decompose import expand
from autoconv.backends.llvm.schedule.matmul_tiling import Product
from autoconv.backends.llvm.schedule.pipeline import schedule
from autoconv.backends.llvm.schedule.row_blocks import block_rows
from autoconv.backends.llvm.target.machine import Target, compiling_for, this_machine
from autoconv.config import SETTINGS
from tests.backends.native import graph_of

SHAPES = [
    (1, 4, 1), (3, 5, 2), (8, 7, 9), (13, 33, 17), (16, 16, 16), (25, 48, 5), (130, 10, 33), (40, 100, 64),
    (40, 1, 100), (1, 40, 100), (1, 1, 30), (3000, 1, 700), (1, 3000, 700),
    (403, 1107, 601), (300, 1100, 512),  # larger than the cache
]  # fmt: skip
BOUND = {"float32": 1e-6, "float64": 2e-15}


def run_product(shape, dtype, flip_x=False, flip_y=False):
    """Return the operands in float64, and the result of native code."""
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
@pytest.mark.search
def test_tiles_reach_every_edge(shape, dtype, flips):
    x, y, found = run_product(shape, dtype, *flips)
    assert found.dtype == dtype
    error = np.abs(found - x @ y)
    assert (error <= BOUND[dtype] * (np.abs(x) @ np.abs(y)) * np.sqrt(shape[2])).all()


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 5, 0)])
def test_products_without_inner_elements_are_zeros(shape):
    x, y, found = run_product(shape, "float32")
    np.testing.assert_array_equal(found, x @ y)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_wrap_around_as_in_numpy(dtype):
    random = np.random.default_rng(3)

    def products(x, y):
        return x @ y, x.T @ x, y @ y.T, x[0] @ y, y @ y[0], (x[None] @ y[None])[0], np.dot(x[0], x[1])

    for rows, inner, columns in ((1, 1, 1), (3, 5, 2), (4, 9, 7), (2, 8, 1), (13, 30, 17)):
        x, y = ((random.integers(0, 2**63, shape) * 5).astype(dtype) for shape in ((rows + 1, inner), (inner, columns)))
        compiled = autoconv.compile(products)
        for found, expected in zip(compiled(x, y), products(x, y), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
        assert "kernels" not in compiled.explain() and "plain" not in compiled.explain()


@pytest.mark.parametrize("inner", [0, 255, 256, 257, 512])
def test_a_product_of_bools_is_true_however_many_they_are(inner):
    ones = np.ones((2, inner), bool)
    found = autoconv.compile(lambda x: (x @ x.T, np.tensordot(x, x, (1, 1)), np.inner(x, x)))(ones)
    for product in found:
        np.testing.assert_array_equal(product, ones @ ones.T)


@pytest.mark.parametrize("flip", [False, True])
def test_large_products_of_few_columns_are_left_to_blas(flip):
    """Blocked tiles read x once for all columns: they pay for two, or for four if its rows are not contiguous."""
    wide = Target(features=frozenset({"avx512f"}))
    with compiling_for(wide):
        for columns, is_blocked in ((1, False), (2, not flip), (3, not flip), (4, True)):
            shapes = (40000, 420) if flip else (420, 40000), (40000, columns)
            graph = graph_of(lambda b, x, y: b.matmul(x, y, transpose_a=flip), *map(np.zeros, shapes))
            (node,) = graph.nodes
            assert Product(node).suits_blocks() == is_blocked


def test_batches_of_rows_are_rows():
    random = np.random.default_rng(1)
    x, y = random.random((3, 5, 7), np.float32), random.random((7, 9), np.float32)
    found = autoconv.function(lambda a, b: a @ b)(x, y)
    np.testing.assert_allclose(np.asarray(found), x.astype(np.float64) @ y, rtol=1e-6)


@pytest.mark.parametrize("flip", [False, True])
def test_nan_and_inf_spread_as_in_numpy(flip):
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
        x, y, found = run_product(shape, "float32", *flips)
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
    """Consumers of products that read other rows than their own."""
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
    monkeypatch.setattr(SETTINGS, "threads", 2)
    random = np.random.default_rng(3)
    shapes = [(scale * rows, columns) if i == 0 else (rows, columns) for i, (rows, columns) in enumerate(shapes)]
    arrays = [random.standard_normal(shape) * 0.3 for shape in shapes]
    found = autoconv.function(ours)(*arrays)
    expected = numpys(*arrays)
    both_results = (v if isinstance(v, (tuple, list)) else (v,) for v in (found, expected))
    for actual_part, expected_part in zip(*both_results, strict=True):
        np.testing.assert_allclose(np.asarray(actual_part), expected_part, rtol=1e-11, atol=1e-11)


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


@pytest.mark.skipif(this_machine().vector_registers is None, reason="there are no tiles for this processor")
def test_consumers_of_own_rows_run_in_blocks():
    """The softmax between two products joins their plan item; consumers of other rows do not."""
    shapes = [np.zeros(shape, np.float32) for shape in ((64, 16), (50, 16), (50, 24))]

    def chain(b, q, k, v):
        return b.matmul(b.softmax(b.matmul(q, k, transpose_b=True), axis=-1), v)

    def across(b, q, k, v):
        return b.matmul(b.softmax(b.matmul(q, k, transpose_b=True), axis=0), v)

    members = []
    for build in (chain, across):
        plan = schedule(expand(graph_of(build, *shapes)))
        members.append([len(item.members) for item in plan.items if item.members])
        assert sorted(id(n) for i in plan.items for n in i.nodes) == sorted(
            id(n) for i in block_rows(plan, [m for i in plan.items for m in i.members or [i]]) for n in i.nodes
        )
    assert members == [[3], []]


PROGRAM = """
import dataclasses
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


@pytest.mark.skipif(
    this_machine().vector_registers is None or not this_machine().has_pool, reason="products are another's"
)
def test_the_number_of_threads_changes_no_bit_of_a_product(forker, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    found = set()
    for count in (1, 3):
        environment = {**os.environ, "AUTOCONV_NUM_THREADS": str(count)}
        completed = forker.run([file], env=environment)
        assert not completed.returncode, completed.stderr
        found.add(completed.stdout)
    assert len(found) == 1 and len(found.pop().strip()) == hashlib.sha256().digest_size * 2


# ---- transposed matrices


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (33, 5), (7, 40), (48, 31)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_read_transposed_matrices(shape, dtype):
    """The product with the identity shows which elements are read."""
    y = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    found = autoconv.function(lambda a, b: autoconv.matmul(a, b, transpose_b=True))(
        np.eye(max(shape[1], 8), shape[1], dtype=dtype), y
    )
    np.testing.assert_array_equal(np.asarray(found)[: shape[1]], y.T)


def test_products_read_operands_of_transposes():
    random = np.random.default_rng(2)
    x, y = random.standard_normal((20, 30)), random.standard_normal((25, 20))

    @autoconv.function
    def products(x, y):
        return autoconv.transpose(x) @ autoconv.linalg.matrix_transpose(y)

    np.testing.assert_allclose(np.asarray(products(x, y)), x.T @ y.T, rtol=1e-12, atol=1e-12)
    text = "\n".join(describe(products.get_concrete_function(x, y).optimised))
    assert "transpose ->" not in text and "0 loops" in text


# ---- products side by side, in loops


def test_independent_runs_are_concurrent():
    """Two products of one array, with the consumers of each, are concurrent plan items."""
    x, w, v = (np.zeros(shape, np.float32) for shape in ((64, 32), (32, 24), (32, 40)))

    def build_products(b, x, w, v):
        return b.tanh(b.matmul(x, w)), b.matmul(x, v), b.matmul(x, x, transpose_a=True)

    plan = schedule(expand(graph_of(build_products, x, w, v)))
    assert [sorted(len(run) for run in item.runs) for item in plan.items if item.runs] == [[1, 3]]


@pytest.mark.parametrize("steps", [1, 2, 40])
def test_the_gradient_of_a_loop_of_products_is_numpys(steps, monkeypatch):
    """Products of slices, of transposes that a loop makes once, and sums over rows."""
    monkeypatch.setattr(SETTINGS, "threads", 2)
    random = np.random.default_rng(steps)
    x, h = random.standard_normal((steps, 24, 32)), random.standard_normal((24, 32))
    w, u, bias = (0.15 * random.standard_normal(shape) for shape in ((32, 32), (32, 32), 32))

    @autoconv.function
    def gradient(x, h, w, u, bias):
        with autoconv.GradientTape() as tape:
            tape.watch([w, u, bias])
            for t in autoconv.range(x.shape[0]):
                h = autoconv.tanh(x[t] @ w + h @ u + bias)
            loss = autoconv.reduce_sum(h * h)
        return tuple(tape.gradient(loss, [w, u, bias]))

    states = [h]
    for t in range(steps):
        states.append(np.tanh(x[t] @ w + states[-1] @ u + bias))
    d, dw, du, dbias = 2 * states[-1], 0, 0, 0
    for t in reversed(range(steps)):
        d = d * (1 - states[t + 1] ** 2)
        dw, du, dbias, d = dw + x[t].T @ d, du + states[t].T @ d, dbias + d.sum(axis=0), d @ u.T
    for _ in range(3):  # what is known of the lists' lengths from the call before changes nothing
        for found, expected in zip(gradient(x, h, w, u, bias), (dw, du, dbias), strict=True):
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-9)


def test_blocks_of_arrays_are_read_in_place():
    random = np.random.default_rng(4)
    x, w = random.standard_normal((4, 3, 20, 8)), random.standard_normal((8, 9))

    @autoconv.function
    def parts(x, w, i, j):
        return (
            x[i, -1] @ w,
            x[1, j, 2:15] @ w,
            x[-1][0] @ w,
            autoconv.matmul(x[i, j], x[1, 0], transpose_a=True),
            x[:, j] @ w,
        )

    found = parts(x, w, autoconv.constant(2), autoconv.constant(-2))
    expected = (x[2, -1] @ w, x[1, -2, 2:15] @ w, x[-1, 0] @ w, x[2, -2].T @ x[1, 0], x[:, -2] @ w)
    for actual_part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(actual_part), expected_part, rtol=1e-12, atol=1e-12)
    with pytest.raises(IndexError):
        parts(x, w, autoconv.constant(4), autoconv.constant(0))


@pytest.mark.parametrize("features", [{"avx2", "fma"}, {"avx512f"}, set()])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_vector_registers_give_numpys_results(features, dtype):
    """Vectors of other processors have NumPy's results too: LLVM splits long ones."""
    for shape in ((25, 50, 9), (5, 17, 40), (2, 90, 3)):
        for flips in ((False, False), (True, True)):
            with compiling_for(Target(features=frozenset(features))):
                x, y, found = run_product(shape, dtype, *flips)
            assert (np.abs(found - x @ y) <= 10 * BOUND[dtype] * (np.abs(x) @ np.abs(y))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("flips", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    "shape", [(40, 1, 100), (1, 40, 100), (1, 1, 7), (900, 1, 700), (7, 0, 5), (5, 1, 0), (5, 3, 0)]
)
def test_vectors_of_open_sizes_are_numpys(shape, flips, dtype):
    rows, columns, inner = shape
    random = np.random.default_rng(5)
    x = random.standard_normal((inner, rows) if flips[0] else (rows, inner)).astype(dtype)
    y = random.standard_normal((columns, inner) if flips[1] else (inner, columns)).astype(dtype)
    signature = [autoconv.TensorSpec([None, None], dtype)] * 2
    if columns == 1:
        signature[1] = autoconv.TensorSpec([1, None] if flips[1] else [None, 1], dtype)
    compute = autoconv.function(
        lambda a, b: autoconv.matmul(a, b, transpose_a=flips[0], transpose_b=flips[1]), input_signature=signature
    )
    wide = [array.astype(np.float64) for array in (x.T if flips[0] else x, y.T if flips[1] else y)]
    error = np.abs(np.asarray(compute(x, y)) - wide[0] @ wide[1])
    assert (error <= BOUND[dtype] * (np.abs(wide[0]) @ np.abs(wide[1])) * max(inner, 1) ** 0.5).all()


@pytest.mark.parametrize("function", [
    lambda x: x @ x.T, lambda x: x.T @ x, lambda x: np.dot(x, x.T), lambda x: np.cov(x), lambda x: x.T.dot(x),
    lambda x: (x * 2).T @ (x * 2),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("has_pool", [True, False])
def test_products_with_the_own_transpose_are_symmetric(function, dtype, has_pool, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    target = dataclasses.replace(this_machine(), has_pool=has_pool)
    for shape in ((140, 90), (300, 220), (129, 1)):
        x = np.random.default_rng(1).normal(size=shape).astype(dtype)
        with compiling_for(target):
            found = autoconv.compile(function)(x)
        np.testing.assert_allclose(found, function(x), rtol=0, atol=1e-3 if dtype == "float32" else 1e-10)
        np.testing.assert_array_equal(found, found.T)
