"""Saved functions that take and return sparse and ragged tensors, or look up values in tables."""

from __future__ import annotations

import pytest

import autoconv as ac


class Model(ac.Module):
    def __init__(self):
        super().__init__()
        keys = ac.lookup.KeyValueTensorInitializer(["a", "b"], ac.constant([1, 2], ac.int64))
        self.table = ac.lookup.StaticHashTable(keys, -1)

    @ac.function(input_signature=[ac.TensorSpec([None], ac.string)])
    def ids(self, words):
        return self.table.lookup(words)

    @ac.function(input_signature=[ac.SparseTensorSpec([None, 3])])
    def sums(self, x):
        return {"sums": ac.sparse.reduce_sum(x, 1), "twice": x * 2.0}

    @ac.function(input_signature=[ac.RaggedTensorSpec([None, None])])
    def doubled(self, x):
        return x * 2.0


def test_composites_and_tables_are_saved(tmp_path):
    ac.saved_model.save(Model(), tmp_path)
    loaded = ac.saved_model.load(tmp_path)
    assert loaded.ids(ac.constant(["b", "z"])).numpy().tolist() == [2, -1]
    for size in (1, 3):
        found = loaded.sums(ac.sparse.eye(size, 3))
        assert found["sums"].numpy().tolist() == [1.0] * size
        assert ac.sparse.to_dense(found["twice"]).shape == [size, 3]
    assert loaded.doubled(ac.ragged.constant([[1.0], [], [2.0, 3.0]])).to_list() == [[2.0], [], [4.0, 6.0]]
    assert ac.function(lambda x: loaded.doubled(x)[0])(ac.ragged.constant([[4.0]])).numpy().tolist() == [8.0]
    with pytest.raises(TypeError, match="Binding inputs to"):
        loaded.sums(ac.sparse.eye(2))
    with pytest.raises(TypeError, match="Binding inputs to"):
        loaded.doubled(ac.constant([[1.0]]))


def test_tables_that_change_are_refused(tmp_path):
    table = ac.lookup.experimental.MutableHashTable(ac.string, ac.int64, 0)
    module = ac.Module()
    module.run = ac.function(table.lookup, input_signature=[ac.TensorSpec([None], ac.string)])
    with pytest.raises(ac.errors.AutoconvError, match="runs a Python function or object"):
        ac.saved_model.save(module, tmp_path)
