"""Datasets of sparse and ragged tensors: rows, batches, functions of elements, iteration in graphs."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac

ROWS = [[1.0, 2.0], [], [3.0]]
DENSE = [[1, 0], [0, 2], [0, 0]]


def ragged():
    return ac.ragged.constant(ROWS)


def test_rows_of_ragged_tensors_and_their_batches():
    dataset = ac.data.Dataset.from_tensor_slices(ragged())
    assert dataset.element_spec == ac.RaggedTensorSpec([None], ac.float32, ragged_rank=0)
    assert [row.numpy().tolist() for row in dataset] == ROWS
    batches = dataset.batch(2)
    assert batches.element_spec == ac.RaggedTensorSpec([None, None], ac.float32, ragged_rank=1)
    assert [batch.to_list() for batch in batches] == [ROWS[:2], ROWS[2:]]
    assert [row.numpy().tolist() for row in batches.unbatch()] == ROWS
    deep = [[[1, 2], [3]], [], [[4]]]
    nested = ac.data.Dataset.from_tensor_slices(ac.ragged.constant(deep))
    assert [row.to_list() for row in nested] == deep
    assert [batch.to_list() for batch in nested.batch(2)] == [deep[:2], deep[2:]]
    assert [row.tolist() for row in dataset.as_numpy_iterator()] == ROWS


def test_rows_of_sparse_tensors_and_their_batches():
    dataset = ac.data.Dataset.from_tensor_slices({"x": ac.sparse.from_dense(DENSE), "y": [1, 2, 3]})
    assert dataset.element_spec["x"] == ac.SparseTensorSpec([2], ac.int32)
    found = [(ac.sparse.to_dense(row["x"]).numpy().tolist(), int(row["y"])) for row in dataset]
    assert found == list(zip(DENSE, [1, 2, 3], strict=True))
    (batch,) = dataset.batch(3)
    np.testing.assert_array_equal(ac.sparse.to_dense(batch["x"]), DENSE)
    assert [int(row["y"]) for row in dataset.batch(2).unbatch()] == [1, 2, 3]


def test_functions_of_elements_take_and_return_composites():
    dataset = ac.data.Dataset.from_tensor_slices(ragged())
    assert [float(x) for x in dataset.map(ac.reduce_sum)] == [3.0, 0.0, 3.0]
    doubled = dataset.batch(3).map(lambda x: x * 2.0)
    assert doubled.element_spec.shape.as_list() == [None, None]
    assert [x.to_list() for x in doubled] == [[[2.0, 4.0], [], [6.0]]]
    vectors = ac.data.Dataset.range(1, 3).map(lambda x: ac.sparse.from_dense(ac.one_hot(x, 3)))
    assert [ac.sparse.to_dense(x).numpy().tolist() for x in vectors] == [[0, 1, 0], [0, 0, 1]]
    filtered = dataset.filter(lambda x: ac.size(x) > 0).shuffle(3, seed=1).cache().repeat(2)
    assert sorted(len(x) for x in filtered) == [1, 1, 2, 2]


def test_loops_in_functions_iterate_over_composites():
    dataset = ac.data.Dataset.from_tensor_slices(ragged()).batch(2)

    @ac.function
    def total(dataset):
        found = 0.0
        for batch in dataset:
            found += ac.reduce_sum(batch)
        return found

    assert float(total(dataset)) == 6.0


def test_elements_of_different_sizes_become_ragged_or_sparse_batches():
    dataset = ac.data.Dataset.range(4).map(lambda x: (ac.range(x), x))
    batches = dataset.ragged_batch(2)
    assert batches.element_spec == (ac.RaggedTensorSpec([None, None], ac.int64), ac.TensorSpec([None], ac.int64))
    assert [x.to_list() for x, _ in batches] == [[[], [0]], [[0, 1], [0, 1, 2]]]
    applied = dataset.apply(ac.data.experimental.dense_to_ragged_batch(3, drop_remainder=True))
    assert [x.to_list() for x, _ in applied] == [[[], [0], [0, 1]]]
    sizes = ac.data.Dataset.range(1, 3).map(lambda x: ac.fill([x], x))
    (batch,) = sizes.apply(ac.data.experimental.dense_to_sparse_batch(2, [4]))
    np.testing.assert_array_equal(ac.sparse.to_dense(batch), [[1, 0, 0, 0], [2, 2, 0, 0]])


def test_elements_of_generators_are_checked_against_the_signature():
    spec = ac.RaggedTensorSpec([None, None], ac.float32)
    dataset = ac.data.Dataset.from_generator(lambda: iter([ragged()]), output_signature=spec)
    assert [x.to_list() for x in dataset] == [ROWS]
    wrong = ac.data.Dataset.from_generator(lambda: iter([ac.sparse.eye(2)]), output_signature=spec)
    with pytest.raises(TypeError, match="not compatible with the expected RaggedTensorSpec"):
        list(wrong)
    with pytest.raises(TypeError, match="padded_batch takes elements made of tensors"):
        dataset.padded_batch(2)


def test_numpy_iterators_give_arrays() -> None:
    ragged = ac.data.Dataset.range(1, 3).map(lambda n: ac.fill([n], n)).ragged_batch(2)
    (rows,) = ragged.as_numpy_iterator()
    assert rows.dtype == object and [row.tolist() for row in rows] == [[1], [2, 2]]
    sparse = ac.data.Dataset.from_tensor_slices(ac.sparse.from_dense([[1, 0], [0, 2]]))
    assert [row.tolist() for row in sparse.as_numpy_iterator()] == [[1, 0], [0, 2]]
