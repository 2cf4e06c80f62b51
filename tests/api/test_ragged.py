"""Ragged tensors: functions beside Python lists, eagerly and in graphs; loops and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac

ROWS = [[1.0, 2.0], [], [3.0]]
CUBE = np.arange(8).reshape(2, 2, 2)
ROW = ac.RaggedTensorSpec([None], ac.int32)
DEEP = [[[1, 2], [3]], [], [[4]]]


def rows():
    return ac.ragged.constant(ROWS)


def deep():
    return ac.ragged.constant(DEEP)


def uniform():
    return ac.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)


def plain(value):
    if isinstance(value, ac.RaggedTensor):
        return value.to_list()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, ac.SparseTensor):
        return ac.sparse.to_dense(value).numpy().tolist()
    return value.numpy().tolist()


R = ac.RaggedTensor
COMPUTED = {
    "splits": (lambda: R.from_row_splits([3, 1, 4], [0, 2, 2, 3]), [[3, 1], [], [4]]),
    "lengths": (lambda: R.from_row_lengths([3, 1, 4], [2, 0, 1]), [[3, 1], [], [4]]),
    "rowids": (lambda: R.from_value_rowids([3, 1, 4], [0, 0, 2], nrows=4), [[3, 1], [], [4], []]),
    "starts": (lambda: R.from_row_starts([3, 1, 4], [0, 2, 2]), [[3, 1], [], [4]]),
    "limits": (lambda: R.from_row_limits([3, 1, 4], [2, 2, 3]), [[3, 1], [], [4]]),
    "uniform": (lambda: R.from_uniform_row_length([1, 2, 3, 4], 2), [[1, 2], [3, 4]]),
    "nested_splits": (lambda: R.from_nested_row_splits([1, 2, 3], [[0, 2, 2], [0, 1, 3]]), [[[1], [2, 3]], []]),
    "nested_lengths": (lambda: R.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]]), [[[1], [2, 3]], []]),
    "nested_rowids": (lambda: R.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], [2, 2]), [[[1], [2, 3]], []]),
    "padding": (lambda: R.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0), [[1, 2], [3]]),
    "cut": (lambda: R.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2]), [[1], [3, 0]]),
    "dense": (lambda: R.from_tensor(CUBE, ragged_rank=2), CUBE.tolist()),
    "from_sparse": (lambda: R.from_sparse(ac.sparse.from_dense([[1, 2], [3, 0]])), [[1, 2], [3]]),
    "to_tensor": (lambda: rows().to_tensor(), [[1, 2], [0, 0], [3, 0]]),
    "to_tensor_deep": (lambda: deep().to_tensor(), [[[1, 2], [3, 0]], [[0, 0], [0, 0]], [[4, 0], [0, 0]]]),
    "to_tensor_shape": (lambda: rows().to_tensor(-1, shape=[2, 3]), [[1, 2, -1], [-1, -1, -1]]),
    "to_tensor_uniform": (lambda: uniform().to_tensor(), [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]),
    "to_sparse": (lambda: rows().to_sparse(), [[1, 2], [0, 0], [3, 0]]),
    "to_sparse_uniform": (lambda: uniform().to_sparse(), [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]),
    "row": (lambda: rows()[0], [1, 2]),
    "last_row": (lambda: rows()[-1], [3]),
    "row_of_tensor": (lambda: deep()[ac.constant(0)], [[1, 2], [3]]),
    "inner_row": (lambda: deep()[0, 1], [3]),
    "some_rows": (lambda: rows()[1:], [[], [3]]),
    "every_other": (lambda: rows()[::2], [[1, 2], [3]]),
    "heads": (lambda: rows()[:, :1], [[1], [], [3]]),
    "tails": (lambda: rows()[:, -1:], [[2], [], [3]]),
    "backwards": (lambda: rows()[:, ::-1], [[2, 1], [], [3]]),
    "inner_heads": (lambda: deep()[0:1, :, 0:1], [[[1], [3]]]),
    "with_dots": (lambda: deep()[..., :1], [[[1], [3]], [], [[4]]]),
    "new_axis": (lambda: rows()[ac.newaxis], [ROWS]),
    "splits_of_uniform": (lambda: uniform()[:, :, 0], [[1, 3], [5]]),
    "sum": (lambda: ac.reduce_sum(rows(), 1), [3, 0, 3]),
    "sum_columns": (lambda: ac.reduce_sum(rows(), 0), [4, 2]),
    "sum_all": (lambda: ac.reduce_sum(rows()), 6),
    "sum_kept": (lambda: ac.reduce_sum(rows(), 1, keepdims=True), [[3], [0], [3]]),
    "sum_inner": (lambda: ac.reduce_sum(deep(), -1), [[3, 3], [], [4]]),
    "sum_middle": (lambda: ac.reduce_sum(deep(), 1), [[4, 2], [], [4]]),
    "sum_two": (lambda: ac.reduce_sum(deep(), [1, 2]), [6, 0, 4]),
    "prod": (lambda: ac.reduce_prod(rows(), 1), [2, 1, 3]),
    "max": (lambda: ac.reduce_max(rows()[::2], 1), [2, 3]),
    "min": (lambda: ac.reduce_min(rows()[::2], 1), [1, 3]),
    "mean": (lambda: ac.reduce_mean(rows()[::2], 1), [1.5, 3]),
    "mean_of_integers": (lambda: ac.reduce_mean(ac.cast(rows()[::2], ac.int32), 1), [1.5, 3]),
    "mean_of_all_integers": (lambda: ac.reduce_mean(ac.cast(rows(), ac.int8)), 2.0),
    "variance_of_integers": (lambda: ac.math.reduce_variance(ac.cast(rows()[::2], ac.int32), 1), [0.25, 0]),
    "any": (lambda: ac.reduce_any(rows() > 1, 1), [True, False, True]),
    "all": (lambda: ac.reduce_all(rows() > 1, 1), [False, True, True]),
    "std": (lambda: ac.math.reduce_std(rows()[::2], 1), [0.5, 0]),
    "add": (lambda: rows() + 1, [[2, 3], [], [4]]),
    "reflected": (lambda: 1.0 - rows(), [[0, -1], [], [-2]]),
    "of_rows": (lambda: rows() + ac.constant([[1.0], [2.0], [3.0]]), [[2, 3], [], [6]]),
    "of_inner": (lambda: uniform() + ac.constant([10, 20]), [[[11, 22], [13, 24]], [[15, 26]]]),
    "both": (lambda: ac.multiply(rows(), rows()), [[1, 4], [], [9]]),
    "compared": (lambda: rows() < 2, [[True, False], [], [False]]),
    "inverted": (lambda: ~(rows() < 2), [[False, True], [], [True]]),
    "unary": (lambda: ac.square(rows()), [[1, 4], [], [9]]),
    "cast": (lambda: ac.cast(rows(), ac.int32), [[1, 2], [], [3]]),
    "clip": (lambda: ac.clip_by_value(rows(), 1.5, 2.5), [[1.5, 2], [], [2.5]]),
    "concat": (lambda: ac.concat([rows(), rows()], 0), ROWS * 2),
    "concat_rows": (lambda: ac.concat([rows(), [[9.0], [8.0], [7.0]]], 1), [[1, 2, 9], [8], [3, 7]]),
    "concat_inner": (lambda: ac.concat([deep(), deep()], 2), [[[1, 2, 1, 2], [3, 3]], [], [[4, 4]]]),
    "stack": (lambda: ac.stack([rows(), rows()]), [ROWS, ROWS]),
    "stack_rows": (lambda: ac.stack([rows(), rows()], axis=1), [[row, row] for row in ROWS]),
    "stack_dense": (lambda: ac.ragged.stack([ac.constant([1, 2]), ac.constant([3])]), [[1, 2], [3]]),
    "range": (lambda: ac.ragged.range([3, 0, 2]), [[0, 1, 2], [], [0, 1]]),
    "range_steps": (lambda: ac.ragged.range([1, 5], [5, 0], [2, -2]), [[1, 3], [5, 3, 1]]),
    "mask": (lambda: ac.ragged.boolean_mask(rows(), rows() > 1), [[2], [], [3]]),
    "mask_rows": (lambda: ac.ragged.boolean_mask(rows(), [True, False, True]), [[1, 2], [3]]),
    "bounds": (lambda: deep().bounding_shape(), [3, 2, 2]),
    "row_lengths": (lambda: deep().row_lengths(axis=2), [[2, 1], [], [1]]),
    "merged": (lambda: deep().merge_dims(1, 2), [[1, 2, 3], [], [4]]),
    "merged_outer": (lambda: deep().merge_dims(0, 1), [[1, 2], [3], [4]]),
    "merged_uniform": (lambda: uniform().merge_dims(1, 2), [[1, 2, 3, 4], [5, 6]]),
    "flat": (lambda: ac.ragged.map_flat_values(lambda x: x * 2, deep()), [[[2, 4], [6]], [], [[8]]]),
    "gather": (lambda: ac.gather(rows(), [2, 0]), [[3], [1, 2]]),
    "gather_by_rows": (lambda: ac.gather([1, 2, 3], ac.ragged.constant([[0, 1], [2]])), [[1, 2], [3]]),
    "gather_in_rows": (lambda: ac.gather(rows(), ac.ragged.constant([[1], [], [0]]), batch_dims=1), [[2], [], [3]]),
    "gather_along": (
        lambda: ac.gather([[1, 2, 3], [4, 5, 6]], ac.ragged.constant([[2], [0, 1]]), axis=1),
        [[[3], [1, 2]], [[6], [4, 5]]],
    ),
    "gather_along_the_last": (
        lambda: ac.gather([[[1, 2], [3, 4]]], ac.ragged.constant([[1, 0], []], dtype=ac.int32), axis=-1),
        [[[[2, 1], []], [[4, 3], []]]],
    ),
    "gather_nd": (lambda: ac.gather_nd(rows(), [[0, 1], [2, 0]]), [2, 3]),
    "expanded": (lambda: ac.expand_dims(rows(), 0), [ROWS]),
    "expanded_inner": (lambda: ac.expand_dims(rows(), -1), [[[1], [2]], [], [[3]]]),
    "squeezed": (lambda: ac.squeeze(ac.expand_dims(rows(), 0), [0]), ROWS),
    "tiled": (lambda: ac.tile(rows(), [2, 2]), [[1, 2, 1, 2], [], [3, 3]] * 2),
    "where": (lambda: ac.where(rows() > 1), [[0, 1], [2, 0]]),
    "chosen": (lambda: ac.where(rows() > 1, rows(), -rows()), [[-1, 2], [], [3]]),
    "one_hot": (lambda: ac.one_hot(ac.ragged.constant([[1], [0, 2]]), 3), [[[0, 1, 0]], [[1, 0, 0], [0, 0, 1]]]),
    "reversed": (lambda: ac.reverse(rows(), [0, 1]), [[3], [], [2, 1]]),
    "cumsum": (lambda: ac.cumsum(rows(), axis=1), [[1, 3], [], [3]]),
    "split": (lambda: ac.split(rows(), 3), [[row] for row in ROWS]),
    "segments": (lambda: ac.math.unsorted_segment_sum(deep(), [0, 1, 0], 2), [[[5, 2], [3]], []]),
    "by_partition": (lambda: ac.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 2), [[2], [1, 3]]),
    "ids": (lambda: ac.ragged.row_splits_to_segment_ids([0, 2, 2, 3]), [0, 0, 2]),
    "borders": (lambda: ac.ragged.segment_ids_to_row_splits([0, 0, 2], 4), [0, 2, 2, 3, 3]),
    "counts": (lambda: ac.math.bincount(ac.ragged.constant([[1, 1], [2]]), axis=-1), [[0, 2, 0], [0, 0, 1]]),
    "joined": (lambda: ac.strings.join([ac.ragged.constant([["a"], ["b", "c"]]), "x"]), [[b"ax"], [b"bx", b"cx"]]),
    "text_by_row": (lambda: ac.strings.reduce_join(ac.ragged.constant([["a"], ["b", "c"]]), 1, separator="-"),
                    [b"a", b"b-c"]),
    "mapped": (lambda: ac.map_fn(ac.reduce_sum, rows(), fn_output_signature=ac.float32), [3, 0, 3]),
    "mapped_rows": (lambda: ac.map_fn(lambda x: x + 1, rows()), [[2, 3], [], [4]]),
    "mapped_to_rows": (lambda: ac.map_fn(ac.range, ac.constant([2, 3]), fn_output_signature=ROW), [[0, 1], [0, 1, 2]]),
    "size": (lambda: [ac.size(rows()), ac.rank(deep())], [3, 3]),
    "embedding": (lambda: ac.nn.embedding_lookup(ac.eye(2), ac.ragged.constant([[1], [0, 1]])),
                  [[[0, 1]], [[1, 0], [0, 1]]]),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_functions_beside_lists(name):
    function, expected = COMPUTED[name]
    assert plain(function()) == expected
    assert plain(ac.function(function)()) == expected


@pytest.mark.parametrize("name", ["heads", "sum_columns", "concat_rows", "mask", "gather", "to_tensor", "of_rows"])
def test_one_trace_serves_rows_of_all_lengths(name):
    functions = {
        "heads": lambda x: x[:, :1],
        "sum_columns": lambda x: ac.reduce_sum(x, 0),
        "concat_rows": lambda x: ac.concat([x, x], 1),
        "mask": lambda x: ac.ragged.boolean_mask(x, x > 1),
        "gather": lambda x: ac.gather(x, [1, 1]),
        "to_tensor": lambda x: x.to_tensor(-1.0),
        "of_rows": lambda x: x + ac.expand_dims(ac.range(x.nrows(out_type=ac.float32)), 1),
    }
    f = ac.function(functions[name], input_signature=[ac.RaggedTensorSpec([None, None])])
    for rows in (ROWS, [[5.0, 6.0, 7.0], [1.0]]):
        x = ac.ragged.constant(rows)
        assert plain(f(x)) == plain(functions[name](x))
    assert f.experimental_get_tracing_count() == 1


def test_softmax_of_rows():
    found = ac.nn.softmax(rows()).to_list()
    powers = np.exp([1.0, 2.0])
    np.testing.assert_allclose(found[0], powers / powers.sum(), rtol=1e-6)
    assert found[1:] == [[], [1.0]]
    logits = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]])
    vectors = ac.RaggedTensor.from_row_lengths(ac.constant(logits), [2, 1])
    powers = np.exp(logits)
    np.testing.assert_allclose(ac.nn.softmax(vectors).flat_values, powers / powers.sum(1, keepdims=True))
    in_rows = np.concatenate([powers[:2] / powers[:2].sum(0), np.ones((1, 2))])
    np.testing.assert_allclose(ac.nn.softmax(vectors, axis=1).flat_values, in_rows)


def test_adjoint_of_a_dense_operand():
    left, right = np.array([[[1 + 1j, 2]], [[3, 4]]]), np.array([[[1j, 0], [0, 1]]] * 2)
    product = ac.matmul(ac.RaggedTensor.from_row_lengths(left[:, 0], [1, 1]), ac.constant(right), adjoint_b=True)
    np.testing.assert_allclose(product.flat_values, (left @ right.conj())[:, 0])


def test_shapes_text_and_arrays():
    assert (rows().shape, deep().shape, uniform().shape) == ([3, None], [3, None, None], [2, None, 2])
    assert repr(rows()) == "<autoconv.RaggedTensor [[1.0, 2.0], [], [3.0]]>"
    assert [row.tolist() for row in rows().numpy()] == ROWS
    np.testing.assert_array_equal(ac.ragged.constant([[1, 2], [3, 4]]).numpy(), [[1, 2], [3, 4]])
    assert [row.numpy().tolist() for row in rows()] == ROWS
    assert ac.ragged.constant([]).shape == [0] and ac.ragged.constant([[], []]).to_list() == [[], []]
    spec = "RaggedTensorSpec(TensorShape([3, None, None]), autoconv.int32, 2, autoconv.int64)"
    assert repr(deep()._type_spec) == spec
    assert rows().with_row_splits_dtype(ac.int32).row_splits.dtype is ac.int32


def test_loops_and_branches_carry_ragged_tensors():
    @ac.function
    def grown(x, count):
        for _ in ac.range(count):
            x = ac.concat([x, x], 1)
        return x

    assert grown(rows(), ac.constant(2)).to_list() == [row * 4 for row in ROWS]

    @ac.function
    def chosen(x, flag):
        if flag > 0:
            return x[:2]
        return x * 2.0

    assert chosen(rows(), ac.constant(1)).to_list() == ROWS[:2]
    assert chosen(rows(), ac.constant(0)).to_list() == [[2, 4], [], [6]]


def test_gradients_flow_through_the_values():
    x = rows()

    def gradient(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            y = ac.reduce_sum(ac.square(ac.reduce_sum(x, 1))) + ac.reduce_sum(x.to_tensor() ** 2)
        return tape.gradient(y, x)

    expected = [[2 * 3 + 2 * 1, 2 * 3 + 2 * 2], [], [2 * 3 + 2 * 3]]
    assert gradient(x).to_list() == expected
    assert ac.function(gradient)(x).to_list() == expected


def test_refused_arguments():
    with pytest.raises(ac.errors.InvalidArgumentError, match="the last split is not the number of values"):
        R.from_row_splits([1, 2], [0, 3])
    with pytest.raises(ac.errors.InvalidArgumentError, match="first split is not 0"):
        R.from_row_splits([1, 2], [1, 2])
    with pytest.raises(ac.errors.InvalidArgumentError, match="identical ragged splits"):
        rows() + ac.ragged.constant([[1.0], [], [3.0]])
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        rows()[:, 0]
    with pytest.raises(ValueError, match="all scalar values must have the same nesting depth"):
        ac.ragged.constant([1, [2]])
    with pytest.raises(ValueError, match="must be less than rank"):
        ac.RaggedTensorSpec([2], ragged_rank=1)
    with pytest.raises(TypeError, match="may not be used as a boolean"):
        bool(rows())
    with pytest.raises(TypeError, match="unhashable"):
        hash(rows())
    with pytest.raises(ValueError, match="Attempt to convert"):
        ac.convert_to_tensor(rows())


def test_the_mean_of_integers_is_a_quotient():
    ids = ac.ragged.constant([[3, 1, 4, 2], []])
    found = ac.reduce_mean(ids, 1)
    assert found.dtype == ac.float64 and found[0].numpy() == 2.5 and np.isnan(found[1])
    assert ac.reduce_mean(ac.cast(ids, ac.int8), 1).dtype == ac.float32


def test_the_shape_of_a_ragged_tensor():
    shape = ac.shape(ac.ragged.constant([[[1, 2], [3]], [[4]]]))
    assert shape.static_lengths() == [2, (2, 1), (2, 1, 1)] and shape.rank == 3 and shape.num_row_partitions == 2
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (2, 1), (2, 1, 1)] num_row_partitions=2>"
    assert shape[0].numpy() == 2 and [shape.num_slices_in_dimension(axis).numpy() for axis in (0, 1, -1)] == [2, 3, 4]
    with pytest.raises(ValueError, match="Index 1 is not uniform"):
        shape[1]
    with pytest.raises(IndexError):
        shape[3]
    assert [ac.shape(ac.ragged.constant([[1]]), *item)[0].dtype for item in [(), (ac.int64,)]] == [ac.int32, ac.int64]
    assert ac.function(lambda x: ac.shape(x)[0])(ac.ragged.constant([[1], [], [2]])).numpy() == 3


def test_the_shape_of_lengths():
    shape = ac.experimental.DynamicRaggedShape.from_lengths([2, (2, 1), 4])
    assert shape.static_lengths() == [2, (2, 1), 4] and shape.num_row_partitions == 1 and shape[2].numpy() == 4
    assert shape.inner_shape.numpy().tolist() == [3, 4] and [shape.is_uniform(axis) for axis in range(3)] == [1, 0, 1]
    assert ac.experimental.DynamicRaggedShape.from_lengths([2, 3], num_row_partitions=1)[1].numpy() == 3
    for bad in ([(2, 1)], [3, (2, 1)], []):
        with pytest.raises(ValueError):
            ac.experimental.DynamicRaggedShape.from_lengths(bad)


def test_partitions_in_all_forms_are_those_of_tensorflow():
    RowPartition = ac.experimental.RowPartition
    for rows, lengths in (
        (RowPartition.from_row_starts([0, 2], nvals=3), [2, 1]),
        (RowPartition.from_row_limits([1, 3]), [1, 2]),
        (RowPartition.from_uniform_row_length(2, nvals=4), [2, 2]),
        (RowPartition.from_uniform_row_length(0, nrows=3), [0, 0, 0]),
        (RowPartition.from_row_splits([0, 2, 2, 3]), [2, 0, 1]),
    ):
        ends = np.cumsum(lengths)
        assert rows.row_limits().numpy().tolist() == ends.tolist() and int(rows.nvals()) == ends[-1]
        assert rows.row_starts().numpy().tolist() == (ends - lengths).tolist()
        assert rows.offsets_in_rows().numpy().tolist() == [i for length in lengths for i in range(length)]
        assert rows.with_dtype(ac.int32).dtype is ac.int32 and rows.static_nrows == len(lengths)
    assert repr(rows) == "RowPartition(row_splits=[0 2 2 3])" and not rows.is_uniform()
    uniform = RowPartition.from_uniform_row_length(2, nvals=4)
    assert repr(uniform) == "RowPartition(nrows=2, uniform_row_length=2)" and uniform.static_uniform_row_length == 2


def test_crosses_of_rows():
    rows, others = ac.ragged.constant([["a"], ["b", "c"]]), ac.ragged.constant([["d"], ["e"]])
    assert ac.ragged.cross([rows, others]).to_list() == [[b"a_X_d"], [b"b_X_e", b"c_X_e"]]
    hashed = ac.ragged.cross_hashed([rows, others], num_buckets=100)
    dense = ac.sparse.cross_hashed([ac.constant([["a"]]), ac.constant([["d"]])], num_buckets=100)
    assert hashed.to_list()[0] == dense.values.numpy().tolist()


def test_batches_of_matrices_of_several_sizes_are_multiplied():
    matrices = [np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])]
    ragged = ac.ragged.constant([m.tolist() for m in matrices])
    inner = ac.ragged.constant([m.tolist() for m in matrices], ragged_rank=1)
    for x in (ragged, inner):
        found = ac.function(lambda x: ac.matmul(x, x, transpose_b=True))(x).to_list()
        assert found == [(m @ m.T).tolist() for m in matrices]
        column = np.ones((2, 1), np.float32)
        assert ac.matmul(x, np.stack([column, column])).to_list() == [(m @ column).tolist() for m in matrices]
    with pytest.raises(ac.errors.InvalidArgumentError):
        ac.matmul(ragged, ragged)


def test_shapes_with_ragged_dimensions_in_general_functions():
    """reshape, broadcast_to, ones, zeros and fill accept ragged shapes, in graphs too; values are TensorFlow's."""
    shape = ac.experimental.DynamicRaggedShape
    rows = ac.ragged.constant([[1, 2], [3]])
    ragged = shape.from_tensor(rows)
    for program, expected in (
        (lambda s: ac.broadcast_to(5, s), [[5, 5], [5]]),
        (lambda s: ac.broadcast_to([[1], [2]], s), [[1, 1], [2]]),
        (lambda s: ac.broadcast_to(rows, s), [[1, 2], [3]]),
        (lambda s: ac.broadcast_to(["a"], s), [[b"a", b"a"], [b"a"]]),
        (lambda s: ac.reshape([1, 2, 3], s), [[1, 2], [3]]),
        (lambda s: ac.reshape(ac.ragged.constant([[1], [2, 3]]), s), [[1, 2], [3]]),
        (lambda s: ac.ones(s), [[1, 1], [1]]),
        (lambda s: ac.zeros(s, ac.int32), [[0, 0], [0]]),
        (lambda s: ac.fill(s, 3), [[3, 3], [3]]),
    ):
        assert program(ragged).to_list() == expected
        assert ac.function(program)(ragged).to_list() == expected
    assert ac.broadcast_to([1, 2], shape.from_lengths([3, 2])).numpy().tolist() == [[1, 2]] * 3
    assert ac.reshape(rows, shape.from_lengths([3])).numpy().tolist() == [1, 2, 3]
    nested = ac.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert ac.reshape(nested, shape.from_lengths([2, (2, 4)])).to_list() == [[1, 2], [3, 4, 5, 6]]
    for program in (lambda: ac.reshape([1, 2], ragged), lambda: ac.broadcast_to([1, 2, 3], ragged)):
        with pytest.raises(ac.errors.InvalidArgumentError):
            program()


def test_logsumexp_of_distant_rows():
    values = ac.ragged.constant([[0.0, 1.0], [1000.0], []])
    expected = [np.logaddexp(0.0, 1.0), 1000.0, -np.inf]
    np.testing.assert_allclose(ac.reduce_logsumexp(values, axis=1), expected, rtol=1e-6)
    np.testing.assert_allclose(ac.function(ac.reduce_logsumexp)(values, axis=1), expected, rtol=1e-6)
    deep_values = ac.ragged.constant([[[0.0, 1.0], [2.0]], [[1000.0]]])
    inner = np.logaddexp.reduce([0.0, 1.0, 2.0])
    np.testing.assert_allclose(ac.reduce_logsumexp(deep_values, axis=[1, 2]), [inner, 1000.0], rtol=1e-6)


def test_constants_of_empty_lists_and_their_ragged_rank():
    assert repr(ac.ragged.constant([], ragged_rank=1)) == "<autoconv.RaggedTensor []>"
    assert ac.ragged.constant([], ragged_rank=2).shape == (0, None, None)
    assert ac.ragged.constant([]).shape == (0,)
    for value, rank in ((3, 1), ([1], 1), ([[1]], 2)):
        with pytest.raises(ValueError, match="ragged_rank"):
            ac.ragged.constant(value, ragged_rank=rank)


def test_where_takes_numbers_of_another_dtype_than_the_condition():
    values = ac.ragged.constant([[3, 1], [], [9]])
    for choose in (ac.where, ac.function(ac.where)):
        assert choose(values > 2, values, 0).to_list() == [[3, 0], [], [9]]
        assert choose(values > 2, 1.5, -1.0).to_list() == [[1.5, -1.0], [], [1.5]]
