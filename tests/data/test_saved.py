"""Datasets saved in folders, and options of datasets."""

from __future__ import annotations

import random

import numpy as np
import pytest

import autoconv as tf
from tests.saved_model import damage

Dataset = tf.data.Dataset


def test_saved_elements_keep_their_structure(tmp_path):
    dataset = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": (["x", "", "zz"], [[1.0], [2.0], [3.0]])})
    dataset.save(str(tmp_path / "set"))
    loaded = Dataset.load(str(tmp_path / "set"))
    assert loaded.element_spec == dataset.element_spec and len(loaded) == 3
    for a, b in zip(loaded.as_numpy_iterator(), dataset.as_numpy_iterator(), strict=True):
        assert a["a"] == b["a"] and a["b"][0] == b["b"][0] and a["b"][1] == b["b"][1]
    with pytest.raises(ValueError, match="has elements of"):
        Dataset.load(str(tmp_path / "set"), tf.TensorSpec([], tf.int32))
    first = Dataset.load(str(tmp_path / "set"), reader_func=lambda nested: nested.flat_map(lambda one: one.take(1)))
    assert [int(element["a"]) for element in first] == [1]


def test_saved_ragged_and_sparse_elements(tmp_path):
    rows = Dataset.range(3).map(lambda n: (tf.range(n), tf.sparse.from_dense([n, 0])))
    batches = rows.map(lambda row, _: row).ragged_batch(2)
    batches.save(str(tmp_path / "ragged"))
    assert [item.to_list() for item in Dataset.load(str(tmp_path / "ragged"))] == [[[], [0]], [[0, 1]]]
    rows.map(lambda _, sparse: sparse).save(str(tmp_path / "sparse"))
    found = [tf.sparse.to_dense(item).numpy().tolist() for item in Dataset.load(str(tmp_path / "sparse"))]
    assert found == [[0, 0], [1, 0], [2, 0]]


def test_damaged_and_failed_saves_are_not_loaded(tmp_path):
    folder = tmp_path / "set"
    with pytest.raises(tf.errors.NotFoundError, match="no such saved dataset"):
        Dataset.load(str(folder))
    Dataset.range(3).save(str(folder))
    failing = Dataset.range(3).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(2 - x, tf.float32), "zero"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        failing.save(str(folder))
    assert list(Dataset.load(str(folder)).as_numpy_iterator()) == [0, 1, 2]
    (elements,) = folder.glob("elements.*")
    content = elements.read_bytes()
    elements.write_bytes(content[:-3])
    with pytest.raises(tf.errors.DataLossError, match="damaged, or incomplete, after 3 elements"):
        list(Dataset.load(str(folder)))
    elements.unlink()
    with pytest.raises(tf.errors.DataLossError, match="is missing"):
        list(Dataset.load(str(folder)))
    (folder / "dataset.json").write_text((folder / "dataset.json").read_text().replace("int64", "int32"))
    with pytest.raises(tf.errors.DataLossError):
        Dataset.load(str(folder))


@pytest.mark.parametrize("storage", ["saved", "cached"])
def test_random_damage_of_elements_is_found(tmp_path, storage):
    """Elements before the damage are right and an error follows, or all elements are right."""
    path = str(tmp_path / "set")
    texts = [str(n) * (n % 3) for n in range(12)]
    dataset = Dataset.from_tensor_slices((np.arange(24.0).reshape(12, 2), texts, tf.cast(tf.range(12), tf.bfloat16)))
    if storage == "saved":
        dataset.save(path)
    else:
        list(dataset.cache(path))

    def elements():
        read = Dataset.load(path) if storage == "saved" else dataset.cache(path)
        for numbers, text, short in read.as_numpy_iterator():
            yield numbers.tolist(), text, float(short)

    expected, draw = list(elements()), random.Random(3)
    assert len(expected) == 12
    for _ in range(150):
        file = draw.choice([item for item in tmp_path.rglob("*") if item.is_file()])
        content = file.read_bytes()
        file.write_bytes(damage.damage_bytes(content, draw)[1])
        found, failed = [], False
        try:
            found.extend(elements())
        except (tf.errors.DataLossError, tf.errors.NotFoundError):
            failed = True
        assert found == expected if not failed else found == expected[: len(found)]
        file.write_bytes(content)


def test_an_interrupted_save_leaves_the_old_elements(tmp_path, monkeypatch):
    folder = tmp_path / "set"
    Dataset.range(3).save(str(folder))

    def full(*arguments):
        raise OSError(28, "No space left on device")

    for function in ("autoconv.data.stored.write_json", "autoconv.storage.files.os.fsync"):
        monkeypatch.setattr(function, full)
        with pytest.raises(OSError, match="No space left"):
            Dataset.range(9).save(str(folder))
        monkeypatch.undo()
        assert list(Dataset.load(str(folder)).as_numpy_iterator()) == [0, 1, 2] and len(list(folder.iterdir())) == 2
    Dataset.range(2).save(str(folder))
    assert list(Dataset.load(str(folder)).as_numpy_iterator()) == [0, 1] and len(list(folder.iterdir())) == 2


def test_a_snapshot_is_made_once(tmp_path):
    source = np.arange(3)
    count = tf.Variable(0)

    def counted(x):
        count.assign_add(1)
        return x

    snapshot = Dataset.from_tensor_slices(source).map(counted).snapshot(str(tmp_path / "kept"))
    assert [int(x) for x in snapshot] == [int(x) for x in snapshot] == [0, 1, 2]
    assert int(count) == 3


def test_options_are_joined_and_known():
    first, second = tf.data.Options(), tf.data.Options()
    first.deterministic = False
    first.threading.private_threadpool_size = 4
    second.experimental_deterministic = True
    second.autotune.enabled = False
    options = Dataset.range(2).with_options(first).map(lambda x: x).with_options(second).options()
    assert (options.deterministic, options.autotune.enabled) == (True, False)
    assert options.threading.private_threadpool_size == 4
    with pytest.raises(AttributeError, match="Cannot set the property other on Options"):
        first.other = 1
    assert Dataset.range(2).options() == tf.data.Options() != options


def test_records_of_fixed_length(tmp_path):
    (tmp_path / "a").write_bytes(b"headaabbccfoot")
    read = tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 2, header_bytes=4, footer_bytes=4)
    assert list(read.as_numpy_iterator()) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple of 4 bytes"):
        list(tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="-2 bytes"):  # the footer is longer than the file
        list(tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 2, footer_bytes=16))
