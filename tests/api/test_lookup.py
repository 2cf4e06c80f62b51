"""Tables: lookups, missing keys, files, changes inside of functions, datasets."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac

L = ac.lookup


def letter_table(default=-1):
    return L.StaticHashTable(L.KeyValueTensorInitializer(["c", "a", "b"], [7, 5, 6]), default)


def test_static_tables_eagerly_in_functions_and_in_datasets():
    table = letter_table()
    keys = ac.constant([["a", "z"], ["", "c"]])
    for found in (table.lookup(keys), table[keys], ac.function(table.lookup)(keys)):
        assert found.numpy().tolist() == [[5, -1], [-1, 7]]
    assert int(table.size()) == 3 and [x.numpy().tolist() for x in table.export()] == [[b"c", b"a", b"b"], [7, 5, 6]]
    assert ac.function(lambda x: table.lookup(x))(ac.ragged.constant([["a"], ["b", "q"]])).to_list() == [[5], [6, -1]]
    sparse = table.lookup(ac.SparseTensor([[0, 1]], ["b"], [1, 2]))
    assert ac.sparse.to_dense(sparse).numpy().tolist() == [[0, 6]]
    dataset = ac.data.Dataset.from_tensor_slices(["b", "x"]).map(table.lookup)
    assert [int(x) for x in dataset] == [6, -1]
    numbers = ac.constant([20, 3, -1], ac.int64)
    back = L.StaticHashTable(L.KeyValueTensorInitializer(ac.constant([3, 20], ac.int64), ["three", "twenty"]), "?")
    assert ac.function(back.lookup)(numbers).numpy().tolist() == [b"twenty", b"three", b"?"]


def test_missing_keys_of_a_vocabulary_get_the_buckets_of_tensorflow():
    words = L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a", "b"], ac.constant([0, 1], ac.int64)), 3)
    numbers = ac.constant([10, 20], ac.int64), ac.constant([0, 1], ac.int64)
    table = L.StaticVocabularyTable(L.KeyValueTensorInitializer(*numbers), 5)
    # printed by TensorFlow 2.21
    assert words.lookup(ac.constant(["b", "z", "hello", ""])).numpy().tolist() == [1, 3, 3, 4]
    assert ac.function(table.lookup)(ac.constant([10, 11, 999], ac.int64)).numpy().tolist() == [0, 6, 3]
    assert int(words.size()) == 5


def test_tables_of_files(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("red\t3\ngreen\t4\n", "utf-8")
    index = L.TextFileIndex
    columns = L.StaticHashTable(L.TextFileInitializer(str(path), ac.string, 0, ac.int64, 1), -1)
    assert columns.lookup(ac.constant(["green", "blue"])).numpy().tolist() == [4, -1]
    of_lines = L.TextFileInitializer(
        str(path), ac.int64, index.LINE_NUMBER, ac.string, index.WHOLE_LINE, vocab_size=1
    )
    assert L.StaticHashTable(of_lines, "").lookup(ac.constant([0, 1], ac.int64)).numpy().tolist() == [b"red\t3", b""]
    shifted = L.TextFileInitializer(
        str(path), ac.string, index.WHOLE_LINE, ac.int64, index.LINE_NUMBER, value_index_offset=2
    )
    assert int(L.StaticHashTable(shifted, -1).lookup(ac.constant("green\t4"))) == 3
    with pytest.raises(ac.errors.InvalidArgumentError, match="expected 5 but got 2"):
        L.StaticHashTable(L.TextFileInitializer(str(path), ac.string, 0, ac.int64, 1, vocab_size=5), -1)
    with pytest.raises(ac.errors.InvalidArgumentError, match="Invalid number of columns"):
        L.StaticHashTable(L.TextFileInitializer(str(path), ac.string, 2, ac.int64, 1), -1)
    with pytest.raises(ac.errors.InvalidArgumentError, match="'red'"):
        L.StaticHashTable(L.TextFileInitializer(str(path), ac.string, 1, ac.int64, 0), -1)
    with pytest.raises(ValueError, match="numbers of lines are int64"):
        L.TextFileInitializer(str(path), ac.string, index.LINE_NUMBER, ac.int64, 1)


def test_tables_change_inside_of_functions_in_program_order():
    table = L.experimental.MutableHashTable(ac.string, ac.int64, default_value=0)

    @ac.function
    def count(words):
        before = table.size()
        table.insert(words, table.lookup(words) + 1)
        return before, table.size()

    sizes = [[int(x) for x in count(ac.constant(words))] for words in (["a", "b"], ["b"], ["c"])]
    assert sizes == [[0, 2], [2, 2], [2, 3]]
    keys, values = table.export()
    assert dict(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)) == {b"a": 1, b"b": 2, b"c": 1}
    table.remove(ac.constant(["a", "q"]))
    assert table.lookup(ac.constant(["a", "b"])).numpy().tolist() == [0, 2]


def test_values_may_be_vectors():
    table = L.experimental.MutableHashTable(ac.int64, ac.float32, default_value=[0.0, 1.0])
    table.insert(ac.constant([3], ac.int64), [[5.0, 6.0]])
    found = ac.function(table.lookup)(ac.constant([[3], [4]], ac.int64))
    np.testing.assert_array_equal(found, [[[5.0, 6.0]], [[0.0, 1.0]]])


def test_refused_tables():
    with pytest.raises(TypeError, match=r"Dtype of argument `keys` must be autoconv\.string"):
        letter_table().lookup(ac.constant([1]))
    with pytest.raises(ac.errors.FailedPreconditionError, match="different value for same key"):
        L.StaticHashTable(L.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)
    with pytest.raises(ValueError, match="must be > 0"):
        L.StaticVocabularyTable(None, 0)
    table = L.experimental.DenseHashTable(ac.int64, ac.int64, -1, empty_key=0, deleted_key=-2)
    with pytest.raises(ValueError, match="not allowed"):
        table.insert(ac.constant([0], ac.int64), ac.constant([1], ac.int64))


def test_a_table_of_a_missing_file_is_not_found():
    with pytest.raises(ac.errors.NotFoundError, match="/no/such; No such file"):
        ac.lookup.StaticHashTable(ac.lookup.TextFileInitializer("/no/such", ac.string, 0, ac.int64, 1), -1)


def test_a_table_that_no_initializer_has_filled_refuses_lookups():
    class Deferred(L.KeyValueTensorInitializer):
        def initialize(self, table):
            self.table = table

    deferred = Deferred(["a"], [1])
    table = L.StaticHashTable(deferred, -1)
    look_up = ac.function(lambda x: table.lookup(x))
    for lookup in (table.lookup, look_up):
        with pytest.raises(ac.errors.FailedPreconditionError, match="Table not initialized"):
            lookup(ac.constant(["a"]))
    L.KeyValueTensorInitializer(["a"], [1]).initialize(table)
    assert table.lookup(ac.constant(["a", "b"])).numpy().tolist() == [1, -1]


def test_scalars_in_mutable_tables():
    table = L.experimental.MutableHashTable(ac.string, ac.int64, -1)
    table.insert(["a", "b"], [1, 2])
    look_up = ac.function(lambda key: table.lookup(key))
    for lookup in (table.lookup, table.__getitem__, look_up):
        assert lookup(ac.constant("b")).numpy() == 2 and lookup(ac.constant("z")).numpy() == -1
    table.insert(ac.constant("c"), ac.constant(3, ac.int64))
    table.remove(ac.constant(["a"]))
    assert sorted(table.export()[1].numpy().tolist()) == [2, 3]
    with pytest.raises(ac.errors.InvalidArgumentError, match=r"Expected shape \[1\] for value, got \[2\]"):
        table.insert(["a"], [1, 2])


def test_inserted_keys_of_another_dtype_raise_value_error() -> None:
    """The class is TensorFlow 2.21's."""
    table = ac.lookup.experimental.MutableHashTable(ac.string, ac.int64, -1)
    with pytest.raises(ValueError, match="requested dtype string for Tensor with dtype int32"):
        table.insert(ac.constant([1]), ac.constant([1], ac.int64))


def test_new_entries_leave_traces_of_functions_valid() -> None:
    table = L.experimental.MutableHashTable(ac.string, ac.int64, 0)
    traces = []

    @ac.function
    def count(words):
        traces.append(words)
        for word in words:
            table.insert(word, table.lookup(word) + 1)
        return table.size()

    assert [count(ac.constant(list(text))).numpy() for text in ("abb", "bcd", "aaa")] == [2, 4, 4]
    assert dict(zip(*(x.numpy().tolist() for x in table.export()), strict=True)) == {b"a": 4, b"b": 3, b"c": 1, b"d": 1}
    assert len(traces) == 1


def test_reserved_keys_of_dense_tables() -> None:
    table = L.experimental.DenseHashTable(ac.int64, ac.int64, -1, empty_key=0, deleted_key=-1)
    key, value = ac.constant([0], ac.int64), ac.constant([1], ac.int64)
    for call in (lambda: table.lookup(key), lambda: table.insert(key, value), lambda: table.remove(key)):
        for run in (call, ac.function(call)):
            with pytest.raises(ac.errors.InvalidArgumentError, match="empty_key"):
                run()
