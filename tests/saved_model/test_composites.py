"""Saved functions that take and return sparse and ragged tensors, or look up values in tables."""

from __future__ import annotations

import pytest

import autoconv as ac
from autoconv.api import extension_types
from autoconv.api.extension_types import named_extension_types
from autoconv.errors import AutoconvError


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


class Pair(ac.experimental.ExtensionType):
    first: ac.Tensor
    second: ac.Tensor
    shape: ac.TensorShape
    name: str = "pair"
    __name__ = "test_composites.Pair"


class Unnamed(ac.experimental.ExtensionType):
    value: ac.Tensor


class Swapping(ac.Module):
    def __init__(self):
        super().__init__()
        self.factor = ac.Variable(2.0)

    @ac.function
    def swap(self, pair):
        return Pair(pair.second * self.factor, pair.first, pair.shape)

    @ac.function
    def value(self, x):
        return x.value


def test_extension_types_with_a_name_are_saved(tmp_path):
    module = Swapping()
    module.swap(Pair([1.0, 2.0], [3.0, 4.0], [None, 2]))
    ac.saved_model.save(module, tmp_path)
    loaded = ac.saved_model.load(tmp_path)
    found = loaded.swap(Pair([1.0, 0.0], [5.0, 4.0], [None, 2]))
    assert type(found) is Pair and found.first.numpy().tolist() == [10.0, 8.0]
    assert found.second.numpy().tolist() == [1.0, 0.0]
    assert found.name == "pair" and type(found.shape) is ac.TensorShape and found.shape.as_list() == [None, 2]
    for other in (Pair([1.0, 0.0], [5.0, 4.0], [None, 2], "other"), Pair([1.0, 0.0], [5.0, 4.0], [3])):
        with pytest.raises(ValueError, match="Could not find matching concrete function"):
            loaded.swap(other)


def test_extension_types_that_cannot_be_saved_or_found(tmp_path, monkeypatch):
    module = Swapping()
    module.value(Unnamed([1.0]))
    with pytest.raises(AutoconvError, match="an object of the class Spec"):
        ac.saved_model.save(module, tmp_path / "unnamed")
    module = Swapping()
    module.swap(Pair([1.0], [2.0], [1]))
    ac.saved_model.save(module, tmp_path / "named")
    stored_classes = dict(named_extension_types())
    assert stored_classes["test_composites.Pair"] is Pair
    monkeypatch.setattr(extension_types, "named_extension_types", dict)
    with pytest.raises(ac.errors.FailedPreconditionError, match=r"test_composites\.Pair"):
        ac.saved_model.load(tmp_path / "named").swap(Pair([1.0], [2.0], [1]))
