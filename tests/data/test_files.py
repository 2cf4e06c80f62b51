"""Lines, records and tables of files."""

from __future__ import annotations

import gzip
import struct
import zlib

import pytest

import autoconv as tf
from autoconv.storage.crc32c import masked_crc32c

Dataset = tf.data.Dataset


def test_lines(tmp_path, elements):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\r\n\nlast \xc3\xa9")
    (tmp_path / "b.txt").write_text("three\n")
    expected = [b"one", b"two", b"", "last é".encode()]
    assert elements(tf.data.TextLineDataset(str(tmp_path / "a.txt"))) == expected
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert elements(tf.data.TextLineDataset(paths)) == [*expected, b"three"]
    names = Dataset.from_tensor_slices([str(path) for path in paths])
    assert elements(tf.data.TextLineDataset(names)) == [*expected, b"three"]
    assert elements(names.flat_map(tf.data.TextLineDataset)) == [*expected, b"three"]
    assert tf.data.TextLineDataset("x").element_spec == tf.TensorSpec((), tf.string)


def test_compressed_lines(tmp_path, elements):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one\ntwo"))
    (tmp_path / "a.z").write_bytes(zlib.compress(b"one\ntwo"))
    assert elements(tf.data.TextLineDataset(tmp_path / "a.gz", "GZIP")) == [b"one", b"two"]
    assert elements(tf.data.TextLineDataset(tmp_path / "a.z", compression_type="ZLIB")) == [b"one", b"two"]
    with pytest.raises(ValueError, match="compression_type is one of"):
        tf.data.TextLineDataset("a", "ZIP")


def test_a_file_that_is_not_there(tmp_path):
    dataset = tf.data.TextLineDataset(str(tmp_path / "none"))
    with pytest.raises(tf.errors.NotFoundError, match="none; No such file or directory"):
        list(dataset)
    with pytest.raises(TypeError, match="must be names of files"):
        tf.data.TextLineDataset(3)


def test_list_files(tmp_path, elements):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text(name)
    found = elements(Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False))
    assert [path.decode().rsplit("/")[-1] for path in found] == ["a.txt", "b.txt"]
    shuffled = Dataset.list_files([str(tmp_path / "*.txt"), str(tmp_path / "*.csv")], seed=1)
    assert len(elements(shuffled)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        Dataset.list_files(str(tmp_path / "*.png"))


def test_the_checksum_is_that_of_the_standard():
    # CRC-32C of "123456789" is 0xE3069283 (RFC 3720 and every catalogue of CRCs).
    crc = 0xE3069283
    assert masked_crc32c(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))


def test_records(tmp_path, elements):
    content = record(b"one") + record(b"") + record(b"\x00two")
    (tmp_path / "a").write_bytes(content)
    assert elements(tf.data.TFRecordDataset(tmp_path / "a")) == [b"one", b"", b"\x00two"]
    (tmp_path / "b").write_bytes(content[:-6])
    with pytest.raises(tf.errors.DataLossError, match=r"truncated record at 35 in .*b$"):
        elements(tf.data.TFRecordDataset(tmp_path / "b"))
    (tmp_path / "c").write_bytes(content.replace(b"one", b"eno"))
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 0"):
        elements(tf.data.TFRecordDataset(tmp_path / "c"))
    (tmp_path / "d").write_bytes(b"some text that is no record")
    with pytest.raises(tf.errors.DataLossError, match="no file of TFRecords"):
        elements(tf.data.TFRecordDataset(tmp_path / "d"))


def test_csv(tmp_path, elements):
    path = tmp_path / "t.csv"
    path.write_text('a,b,c\n1,2.5,"x, y"\n2,,é\n')
    dataset = tf.data.experimental.CsvDataset(path, [tf.int32, [0.5], tf.string], header=True)
    assert elements(dataset) == [(1, 2.5, b"x, y"), (2, 0.5, "é".encode())]
    assert dataset.element_spec == tuple(tf.TensorSpec((), d) for d in (tf.int32, tf.float32, tf.string))
    chosen = tf.data.experimental.CsvDataset(path, [tf.string, tf.int64], header=True, select_cols=[2, 0])
    assert elements(chosen) == [(b"x, y", 1), ("é".encode(), 2)]
    assert elements(tf.data.experimental.CsvDataset(path, [tf.string], header=True, exclude_cols=[0, 1]))[0] == (
        b"x, y",
    )


def test_texts_of_csv_files_are_bytes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,\n,b\n")
    rows = list(tf.data.experimental.CsvDataset(str(path), ["?", ["!"]]).batch(2).as_numpy_iterator())
    assert [[type(text) for text in column] for column in rows[0]] == [[bytes, bytes], [bytes, bytes]]
    assert [column.tolist() for column in rows[0]] == [[b"a", b"?"], [b"!", b"b"]]


def test_csv_that_does_not_fit(tmp_path):
    path = tmp_path / "t.csv"
    for text, defaults, message in [
        ("1,2\n3\n", [tf.int32, tf.int32], r"t\.csv:2: Expect 2 fields but have 1 in record"),
        ("1,\n", [tf.int32, tf.int32], r"t\.csv:1: Field 1 is required but missing in record!"),
        ("1\nx\n", [tf.int32], r"t\.csv:2: Field 0 in record is not a valid int32: x"),
        ("3000000000\n", [tf.int32], "not a valid int32: 3000000000"),
        ('"1\n', [tf.int32], r"t\.csv:1: "),
    ]:
        path.write_text(text)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            list(tf.data.experimental.CsvDataset(str(path), defaults))


def test_tables_by_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,size,name,big\n1,1.5,a,3000000000\n2,2.5,b,1\n3,3.5,c,2\n")
    dataset = tf.data.experimental.make_csv_dataset(
        str(path), batch_size=2, label_name="id", num_epochs=1, shuffle=False
    )
    (features, label), (rest, last) = list(dataset.as_numpy_iterator())
    assert {name: column.tolist() for name, column in features.items()} == {
        "size": [1.5, 2.5], "name": [b"a", b"b"], "big": [3000000000, 1],
    }  # fmt: skip
    assert label.tolist() == [1, 2] and last.tolist() == [3] and rest["name"].tolist() == [b"c"]
    assert dataset.element_spec[0]["big"].dtype is tf.int64
    chosen = tf.data.experimental.make_csv_dataset(
        str(path),
        3,
        select_columns=["name", "id"],
        column_defaults=[tf.float32, tf.string],
        num_epochs=1,
        shuffle=False,
    )
    assert [{k: v.tolist() for k, v in batch.items()} for batch in chosen.as_numpy_iterator()] == [
        {"id": [1.0, 2.0, 3.0], "name": [b"a", b"b", b"c"]}
    ]
    with pytest.raises(ValueError, match="which has no header"):
        tf.data.experimental.make_csv_dataset(str(path), 1, header=False)
    with pytest.raises(ValueError, match="no column 'x'"):
        tf.data.experimental.make_csv_dataset(str(path), 1, select_columns=["x"])
    with pytest.raises(ValueError, match="'x' is not in"):
        tf.data.experimental.make_csv_dataset(str(path), 1, label_name="x")


def test_csv_records_that_do_not_fit_are_left_out(tmp_path, elements):
    path = tmp_path / "a.csv"
    path.write_text("n,x\n1,0.5\nbad,1.5\n3,2.5\n4,3.5,9\n5,4.5\n")
    rows = tf.data.experimental.CsvDataset(str(path), [tf.int32, tf.float32], header=True)
    assert elements(rows.ignore_errors()) == [(1, 0.5), (3, 2.5), (5, 4.5)]
    defaults = {"column_defaults": [tf.int32, tf.float32], "num_epochs": 1, "shuffle": False}
    batches = tf.data.experimental.make_csv_dataset(str(path), 3, ignore_errors=True, **defaults)
    assert [batch["n"].tolist() for batch in batches.as_numpy_iterator()] == [[1, 3, 5]]
    path.write_text("n,x\n1,0.5\n4,3.5,9\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 3"):
        list(tf.data.experimental.make_csv_dataset(str(path), 1, **defaults))


def test_transformations_of_datasets_of_files(tmp_path, elements):
    path = tmp_path / "a"
    path.write_bytes(b"one\ntwo\nthree\n")
    lines = tf.data.TextLineDataset(str(path))
    assert elements(lines.snapshot(str(tmp_path / "b"))) == [b"one", b"two", b"three"]
    lines.save(str(tmp_path / "c"))
    assert elements(tf.data.TextLineDataset.load(str(tmp_path / "c"))) == [b"one", b"two", b"three"]
    kept = lines.rejection_resample(lambda line: tf.cast(tf.strings.length(line) > 3, tf.int32), [1.0, 0.0], [0.5, 0.5])
    assert elements(kept) == [(0, b"one"), (0, b"two")]
