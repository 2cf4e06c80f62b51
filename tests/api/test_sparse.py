"""Sparse tensors: their functions beside dense NumPy, in functions and loops, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac

DENSE = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]], np.float32)
OTHER = np.array([[10.0, 0.0, 0.0], [0.0, 0.0, -3.0]], np.float32)
CUBE = np.zeros((2, 2, 2), np.float32)
CUBE[0, 0, 1], CUBE[0, 1, 1], CUBE[1, 0, 1] = -1, -2, 3


def to_sparse(array):
    return ac.sparse.from_dense(array)


def to_dense(value):
    return ac.sparse.to_dense(value).numpy() if isinstance(value, ac.SparseTensor) else value.numpy()


COMPUTED = {
    "to_dense": (lambda: to_sparse(DENSE), DENSE),
    "reshape": (lambda: ac.sparse.reshape(to_sparse(DENSE), [3, -1]), DENSE.reshape(3, 2)),
    "transpose": (lambda: ac.sparse.transpose(to_sparse(CUBE), [1, 2, 0]), CUBE.transpose(1, 2, 0)),
    "slice": (lambda: ac.sparse.slice(to_sparse(DENSE), [0, 1], [5, 2]), DENSE[:, 1:]),
    "concat": (lambda: ac.sparse.concat(-1, [to_sparse(DENSE), to_sparse(OTHER)]), np.hstack([DENSE, OTHER])),
    "add": (lambda: ac.sparse.add(to_sparse(DENSE), to_sparse(OTHER)), DENSE + OTHER),
    "add_to_dense": (lambda: ac.sparse.add(ac.ones([2, 3]), to_sparse(DENSE)), DENSE + 1),
    "maximum": (lambda: ac.sparse.maximum(to_sparse(DENSE), to_sparse(OTHER)), np.maximum(DENSE, OTHER)),
    "minimum": (lambda: ac.sparse.minimum(to_sparse(DENSE), to_sparse(OTHER)), np.minimum(DENSE, OTHER)),
    "reduce_sum": (lambda: ac.sparse.reduce_sum(to_sparse(CUBE), [0, -1]), CUBE.sum((0, 2))),
    "reduce_sum_kept": (lambda: ac.sparse.reduce_sum(to_sparse(DENSE), 1, keepdims=True), DENSE.sum(1, keepdims=True)),
    "reduce_sum_sparse": (lambda: ac.sparse.reduce_sum(to_sparse(CUBE), 2, output_is_sparse=True), CUBE.sum(2)),
    "reduce_max": (lambda: ac.sparse.reduce_max(to_sparse(CUBE), 2), np.array([[-1, -2], [3, 0]], np.float32)),
    "matmul": (lambda: ac.sparse.sparse_dense_matmul(to_sparse(DENSE), DENSE, adjoint_b=True), DENSE @ DENSE.T),
    "matmul_adjoint": (lambda: ac.sparse.sparse_dense_matmul(to_sparse(DENSE), DENSE, adjoint_a=True), DENSE.T @ DENSE),
    "matmul_reverse": (lambda: ac.sparse.sparse_dense_matmul(OTHER.T, to_sparse(DENSE)), OTHER.T @ DENSE),
    "expand_dims": (lambda: ac.sparse.expand_dims(to_sparse(DENSE), -2), DENSE[:, None]),
    "retain": (lambda: ac.sparse.retain(to_sparse(DENSE), [True, False, True]), DENSE * (DENSE != 2)),
    "reset_shape": (lambda: ac.sparse.reset_shape(to_sparse(OTHER), [2, 4]), np.pad(OTHER, ((0, 0), (0, 1)))),
    "map_values": (lambda: ac.sparse.map_values(ac.multiply, to_sparse(DENSE), to_sparse(DENSE)), DENSE**2),
    "eye": (lambda: ac.sparse.eye(2, 3), np.eye(2, 3, dtype=np.float32)),
    "times": (lambda: to_sparse(DENSE) * [1.0, 2.0, 3.0], DENSE * np.array([1, 2, 3], np.float32)),
    "times_reflected": (lambda: ac.constant(2.0) * to_sparse(DENSE), DENSE * 2),
    "divided": (lambda: to_sparse(DENSE) / 2.0, DENSE / 2),
    "abs": (lambda: ac.abs(to_sparse(OTHER)), np.abs(OTHER)),
    "cast": (lambda: ac.cast(to_sparse(DENSE), ac.int32), DENSE.astype(np.int32)),
    "shape": (lambda: ac.shape(to_sparse(DENSE)), np.array([2, 3], np.int32)),
    "size": (lambda: ac.size(to_sparse(DENSE)), np.int32(6)),
    "rank": (lambda: ac.rank(to_sparse(CUBE)), np.int32(3)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_functions_beside_numpy(name):
    function, expected = COMPUTED[name]
    for found in (to_dense(function()), to_dense(ac.function(function)())):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_order_rows_and_parts():
    mixed = ac.SparseTensor([[1, 1], [0, 2], [0, 0]], [1, 2, 3], [2, 3])
    with pytest.raises(ac.errors.InvalidArgumentError, match="out of order"):
        ac.sparse.to_dense(mixed)
    np.testing.assert_array_equal(ac.sparse.reorder(mixed).values.numpy(), [3, 2, 1])
    np.testing.assert_array_equal(to_dense(ac.sparse.reorder(mixed)), [[3, 0, 2], [0, 1, 0]])
    filled, empty = ac.sparse.fill_empty_rows(ac.SparseTensor([[1, 1]], [5], [3, 2]), 7)
    np.testing.assert_array_equal(to_dense(filled), [[7, 0], [0, 5], [7, 0]])
    assert empty.numpy().tolist() == [True, False, True]
    parts = ac.sparse.split(sp_input=to_sparse(DENSE), num_split=2, axis=1)
    np.testing.assert_array_equal(np.hstack([to_dense(part) for part in parts]), DENSE)
    assert [part.shape for part in parts] == [[2, 2], [2, 1]]


def test_softmax_of_stored_values():
    found = ac.sparse.softmax(to_sparse(DENSE)).values.numpy()
    powers = np.exp([2.0, 3.0])
    np.testing.assert_allclose(found, [1.0, *(powers / powers.sum())], rtol=1e-6)


def test_counts_indicators_and_segments():
    rows = [[1, 1, 5], [0, 2, 2]]
    for axis, expected in ((-1, [np.bincount(row, minlength=6) for row in rows]), (0, np.bincount(np.ravel(rows)))):
        np.testing.assert_array_equal(to_dense(ac.sparse.bincount(rows, axis=axis)), expected)
    weighted = ac.sparse.bincount(rows, weights=[[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]], axis=-1, maxlength=4)
    np.testing.assert_array_equal(to_dense(weighted), [[0, 1.5, 0, 0], [3, 0, 9, 0]])
    ones = ac.sparse.bincount(ac.SparseTensor([[0, 0], [0, 1], [1, 0]], [3, 3, 0], [2, 2]), axis=-1, binary_output=True)
    np.testing.assert_array_equal(to_dense(ones), [[0, 0, 0, 1], [1, 0, 0, 0]])
    shown = ac.sparse.to_indicator(ac.SparseTensor([[0, 0], [0, 1], [1, 0]], [3, 1, 0], [2, 2]), 4)
    np.testing.assert_array_equal(shown.numpy(), [[False, True, False, True], [True, False, False, False]])
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    np.testing.assert_array_equal(ac.sparse.segment_sum(x, [0, 2, 1], [0, 0, 2]), [x[0] + x[2], [0, 0], x[1]])
    np.testing.assert_array_equal(ac.sparse.segment_mean(x, [0, 2], [0, 0]), [(x[0] + x[2]) / 2])


def test_crosses_are_those_of_tensorflow():
    words, numbers = ac.constant([["a", "b"], ["c", "d"]]), ac.constant([[1, 2], [3, 4]])
    assert ac.sparse.cross([words, numbers]).values.numpy().tolist()[:3] == [b"a_X_1", b"a_X_2", b"b_X_1"]
    hashed = ac.sparse.cross_hashed([words, numbers], num_buckets=100)
    assert hashed.values.numpy().tolist() == HASHES  # printed by TensorFlow 2.21
    np.testing.assert_array_equal(ac.function(lambda: ac.sparse.cross_hashed([words, numbers], 100))().values, HASHES)


HASHES = [85, 87, 83, 57, 94, 22, 7, 41]


def test_a_function_has_one_trace_for_any_number_of_values():
    shapes = []

    @ac.function
    def double(x):
        shapes.append(x.shape)
        return {"twice": x * 2.0, "sum": ac.sparse.reduce_sum(x)}

    for array in (DENSE, OTHER, DENSE * 0):
        found = double(to_sparse(array))
        np.testing.assert_array_equal(to_dense(found["twice"]), array * 2)
        assert found["sum"].numpy() == array.sum()
    assert shapes == [[2, 3]]
    assert double.get_concrete_function(to_sparse(DENSE)).structured_input_signature[0] == (
        ac.SparseTensorSpec([2, 3], ac.float32),
    )


def test_an_input_signature_leaves_sizes_open():
    f = ac.function(ac.sparse.to_dense, input_signature=[ac.SparseTensorSpec([None, 3]), *[ac.TensorSpec([])]])
    for rows in (1, 4):
        array = np.tile(DENSE[:1], (rows, 1))
        np.testing.assert_array_equal(f(to_sparse(array), 0.0), array)
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match=r"to SparseTensorSpec\(TensorShape\(\[None, 3\]\)"):
        f(to_sparse(np.eye(4, dtype=np.float32)), 0.0)
    concrete = ac.function(lambda x: x * 2.0).get_concrete_function(ac.SparseTensorSpec([None, None]))
    np.testing.assert_array_equal(to_dense(concrete(to_sparse(DENSE))), DENSE * 2)


def test_loops_and_branches_carry_sparse_tensors():
    @ac.function
    def repeated(x, count):
        found = x
        for _ in ac.range(count):
            found = ac.sparse.concat(0, [found, x])
        return found

    np.testing.assert_array_equal(to_dense(repeated(to_sparse(DENSE), ac.constant(2))), np.tile(DENSE, (3, 1)))

    @ac.function
    def chosen(x, flag):
        if flag > 0:
            return x * 2.0
        return ac.sparse.transpose(x)

    np.testing.assert_array_equal(to_dense(chosen(to_sparse(DENSE), ac.constant(1))), DENSE * 2)
    np.testing.assert_array_equal(to_dense(chosen(to_sparse(DENSE), ac.constant(-1))), DENSE.T)
    _, found = ac.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [ac.constant(0), to_sparse(DENSE)])
    np.testing.assert_array_equal(to_dense(found), DENSE * 8)
    np.testing.assert_array_equal(to_dense(ac.compile(lambda x: x * 3.0)(to_sparse(DENSE))), DENSE * 3)


def test_gradients_flow_through_the_values():
    values, right = ac.constant([1.0, 2.0, 3.0]), ac.constant(np.ones((3, 2), np.float32))

    def loss(values, right):
        x = to_sparse(DENSE).with_values(values)
        product = ac.sparse.sparse_dense_matmul(x, right)
        return ac.reduce_sum(product**2) + ac.reduce_sum(ac.sparse.to_dense(x) ** 3)

    def gradients(values, right):
        with ac.GradientTape() as tape:
            tape.watch([values, right])
            y = loss(values, right)
        return [ac.convert_to_tensor(g) for g in tape.gradient(y, [values, right])]

    sums = DENSE.sum(1, keepdims=True)
    expected = (2 * sums + 3 * DENSE**2)[DENSE != 0], (DENSE.T @ np.repeat(2 * sums, 2, 1))
    expected = ((2 * 2 * sums + 3 * DENSE**2)[DENSE != 0], expected[1])
    for found in (gradients(values, right), ac.function(gradients)(values, right)):
        for sparse_gradient, dense_gradient in zip(found, expected, strict=True):
            np.testing.assert_allclose(sparse_gradient, dense_gradient, rtol=1e-6)


def test_a_sparse_source_has_a_sparse_gradient():
    x = to_sparse(DENSE)
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = ac.reduce_sum(ac.sparse.to_dense(x) ** 2)
    np.testing.assert_array_equal(to_dense(tape.gradient(y, x)), DENSE * 2)


def test_refused_arguments():
    x = to_sparse(DENSE)
    with pytest.raises(ValueError, match=r"Attempt to convert a value (?s:.)* unsupported type"):
        ac.convert_to_tensor(x)
    with pytest.raises(TypeError, match="unsupported operand"):
        x + x
    with pytest.raises(ValueError, match="must have rank 2"):
        ac.SparseTensor([0, 0], [1], [2, 2])
    with pytest.raises(ValueError, match="Dimensions 1 and 2"):
        ac.SparseTensor([[0, 0]], [1, 2], [2, 2])
    with pytest.raises(TypeError, match=r"do you mean to use autoconv.add"):
        ac.sparse.add([1], [2])
    with pytest.raises(TypeError, match="from_dense makes one"):
        ac.sparse.to_dense([1, 2])
    with pytest.raises(ValueError, match="Cannot reshape"):
        ac.sparse.reshape(x, [4])


def test_specs_and_structures():
    spec = ac.SparseTensorSpec([None, 3])
    assert spec.is_compatible_with(to_sparse(DENSE)) and not spec.is_compatible_with(ac.sparse.eye(2))
    assert spec.most_specific_compatible_type(ac.SparseTensorSpec([2, 3])) == spec
    assert ac.SparseTensorSpec([2, 3]).is_subtype_of(spec) and not spec.is_subtype_of(ac.SparseTensorSpec([2, 3]))
    assert repr(spec) == "SparseTensorSpec(TensorShape([None, 3]), autoconv.float32)"
    x = to_sparse(DENSE)
    assert ac.is_tensor(x) and ac.nest.flatten([x]) == [x]
    assert len(ac.nest.flatten(x, expand_composites=True)) == 3
    assert ac.nest.map_structure(lambda leaf: leaf.dtype, {"x": x}) == {"x": ac.float32}


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_embeddings_combine_the_rows_of_a_matrix(combiner):
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    ids = ac.SparseTensor([[0, 0], [0, 1], [2, 0]], ac.constant([1, 3, -1], ac.int64), [4, 2])
    weights = ids.with_values([2.0, 0.5, 1.0])
    scale = {"sum": lambda w: 1, "mean": lambda w: sum(w), "sqrtn": lambda w: np.sqrt(np.square(w).sum())}[combiner]
    first = [(table[1] + table[3]) / scale([1, 1]), (2 * table[1] + 0.5 * table[3]) / scale([2.0, 0.5])]

    def embedded():
        plain = ac.nn.safe_embedding_lookup_sparse(table, ids, combiner=combiner)
        return plain, ac.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner, default_id=2)

    for plain, weighted in (embedded(), ac.function(embedded)()):
        np.testing.assert_allclose(plain, [first[0], *np.zeros((3, 3))], rtol=1e-6)
        np.testing.assert_allclose(weighted, [first[1], table[2], table[2], table[2]], rtol=1e-6)
    with pytest.raises(ValueError, match="combiner must be one of"):
        ac.nn.embedding_lookup_sparse(table, ids, None, "max")


def test_wider_traces_serve_composites_of_several_shapes():
    doubled = ac.function(lambda x: x * 2.0, reduce_retracing=True)
    summed = ac.function(lambda x: ac.reduce_sum(x, 1), reduce_retracing=True)
    for size in range(1, 6):
        np.testing.assert_array_equal(to_dense(doubled(ac.sparse.eye(size))), 2 * np.eye(size))
        rows = ac.ragged.range(ac.range(size))
        assert summed(rows).numpy().tolist() == [sum(range(n)) for n in range(size)]
    assert doubled.experimental_get_tracing_count() == summed.experimental_get_tracing_count() == 2


def test_rows_under_map_fn_are_sparse():
    def sums():
        return ac.map_fn(lambda row: ac.sparse.reduce_sum(row, -1), to_sparse(CUBE), fn_output_signature=ac.float32)

    for found in (sums(), ac.function(sums)()):
        np.testing.assert_array_equal(found, CUBE.sum(-1))


def test_sizes_that_are_known_beside_one_that_is_not():
    @ac.function(input_signature=[ac.TensorSpec([None, 3])])
    def widen(x):
        whole = ac.sparse.from_dense(x)
        wide = ac.SparseTensor(whole.indices, whole.values, (ac.shape(x)[0], 5))
        assert wide.shape.as_list() == [None, 5]
        return ac.sparse.to_dense(wide)

    assert widen(ac.ones([2, 3])).numpy().tolist() == [[1, 1, 1, 0, 0]] * 2


def test_products_of_unfit_sizes():
    sparse = to_sparse(DENSE)
    for product in (ac.sparse.sparse_dense_matmul, ac.function(ac.sparse.sparse_dense_matmul)):
        with pytest.raises(ac.errors.InvalidArgumentError, match="inner dimension does not match"):
            product(sparse, np.ones((2, 2), np.float32))
    with pytest.raises(ac.errors.InvalidArgumentError, match="inner dimension does not match"):
        ac.sparse.sparse_dense_matmul(np.ones((2, 3), np.float32), sparse)


def test_gradients_of_rows_are_tensors():
    weights = ac.Variable(DENSE.T.copy())
    for function in (
        lambda: ac.sparse.sparse_dense_matmul(to_sparse(DENSE), weights),
        lambda: ac.sparse.segment_sum(weights, [0, 2], [0, 0]),
    ):
        with ac.GradientTape() as tape:
            result = function()
        gradient = tape.gradient(result, weights)
        assert not isinstance(gradient, ac.IndexedSlices)
        assert gradient.shape == weights.shape
