"""TFRecord files, Examples, CSV fields and tensors as bytes, and errors of damaged ones."""

from __future__ import annotations

import base64
import contextlib
import json
import random
from pathlib import Path

import numpy as np
import pytest

import autoconv as ac

pytest.importorskip("google.protobuf")
WRITTEN = Path(__file__).parents[2] / "fixtures" / "saved" / "tensorflow" / "records"
KINDS = {"": "records", "GZIP": "records.gzip", "ZLIB": "records.zlib"}
Fixed, Sequence = ac.io.FixedLenFeature, ac.io.FixedLenSequenceFeature
InvalidArgument = ac.errors.InvalidArgumentError


def example(**features):
    lists = {float: ("float_list", ac.train.FloatList), int: ("int64_list", ac.train.Int64List)}
    found = {}
    for name, values in features.items():
        field, kind = lists.get(type(values[0]), ("bytes_list", ac.train.BytesList))
        found[name] = ac.train.Feature(**{field: kind(value=values)})
    return ac.train.Example(features=ac.train.Features(feature=found)).SerializeToString()


def sequence(*steps):
    series = [ac.train.Feature(int64_list=ac.train.Int64List(value=step)) for step in steps]
    lists = ac.train.FeatureLists(feature_list={"w": ac.train.FeatureList(feature=series)})
    return ac.train.SequenceExample(feature_lists=lists).SerializeToString()


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_tensorflow_are_read_and_written_files_are_the_same(tmp_path, kind):
    path = str(WRITTEN / KINDS[kind])
    records = [record.numpy() for record in ac.data.TFRecordDataset(path, kind)]
    assert [len(record) for record in records[-2:]] == [0, 5000]
    assert list(ac.io.tf_record_iterator(path, ac.io.TFRecordOptions(kind))) == records
    own_file = tmp_path / "ours"
    with ac.io.TFRecordWriter(str(own_file), kind) as writer:
        for record in records:
            writer.write(record)
    assert [record.numpy() for record in ac.data.TFRecordDataset(str(own_file), kind)] == records
    if not kind:
        assert own_file.read_bytes() == (WRITTEN / "records").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_flushed_records_can_be_read_before_the_file_is_closed(tmp_path, kind):
    import zlib

    path = tmp_path / "records"
    writer = ac.io.TFRecordWriter(str(path), kind)
    writer.write(b"one")
    writer.flush()
    held = path.read_bytes()
    plain = held if not kind else zlib.decompressobj(31 if kind == "GZIP" else 15).decompress(held)
    assert plain[12:15] == b"one"
    writer.close()
    writer.close()
    with pytest.raises(ac.errors.FailedPreconditionError, match="Writer is closed"):
        writer.write(b"two")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("method", ["flush", "close"])
def test_a_full_disk_is_an_error_with_the_name_of_the_file(kind, method):
    writer = ac.io.TFRecordWriter("/dev/full", kind)
    writer.write(b"one")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        getattr(writer, method)()
    with contextlib.suppress(OSError):
        writer.close()


def test_bad_arguments_of_a_writer(tmp_path):
    with pytest.raises(ac.errors.NotFoundError, match="No such file or directory"):
        ac.io.TFRecordWriter(str(tmp_path / "none" / "records"))
    with pytest.raises(ValueError, match='Not a valid compression_type: "LZ4"'):
        ac.io.TFRecordOptions("LZ4")
    with ac.io.TFRecordWriter(str(tmp_path / "records")) as writer:
        with pytest.raises(TypeError, match=r"a record is bytes, found 3: use example\.SerializeToString"):
            writer.write(3)
        writer.write("é")
    assert list(ac.io.tf_record_iterator(str(tmp_path / "records"))) == ["é".encode()]


def check_damaged_files(tmp_path, kind, trials, seed):
    """Change, cut or insert bytes: the records before the damage, then DataLossError, or all of them."""
    path = tmp_path / "records"
    records = list(ac.io.tf_record_iterator(str(WRITTEN / KINDS[kind]), kind))
    content = (WRITTEN / KINDS[kind]).read_bytes()
    draw, raised = random.Random(seed), 0
    for _ in range(trials):
        data = bytearray(content)
        position = draw.randrange(len(data))
        change = draw.choice(["bit", "cut", "insert", "zero"])
        if change == "bit":
            data[position] ^= 1 << draw.randrange(8)
        elif change == "cut":
            del data[position:]
        elif change == "insert":
            data.insert(position, draw.randrange(256))
        else:
            data[position : position + 8] = bytes(8)
        path.write_bytes(data)
        found = []
        try:
            for record in ac.data.TFRecordDataset(str(path), kind):
                found.append(record.numpy())
        except ac.errors.DataLossError:
            raised += 1
        assert found == records[: len(found)], (change, position)
    return raised


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(tmp_path, kind):
    assert check_damaged_files(tmp_path, kind, 25, 7) > 15


FEATURES = {"x": Fixed([2], ac.float32), "n": Fixed([], ac.int64), "s": Fixed((), ac.string, "none")}


@pytest.mark.parametrize("wrap", [lambda f: f, ac.function], ids=["eager", "graph"])
def test_examples(wrap):
    records = [example(x=[1.0, 2.0], n=[3], s=[b"t\0"]), example(x=[4.0, 5.0], n=[-6])]
    found = wrap(lambda r: ac.io.parse_example(r, FEATURES))(ac.constant(records))
    assert {name: value.numpy().tolist() for name, value in found.items()} == {
        "n": [3, -6],
        "s": [b"t\0", b"none"],
        "x": [[1.0, 2.0], [4.0, 5.0]],
    }
    single = wrap(lambda r: ac.io.parse_single_example(r, FEATURES))(ac.constant(records[0]))
    assert (single["n"].numpy(), single["s"].numpy(), single["x"].numpy().tolist()) == (3, b"t\0", [1.0, 2.0])


def test_values_of_varying_length_are_padded():
    records = [example(x=[1.0, 2.0]), example(x=[1.0, 2.0, 3.0, 4.0]), example(n=[1])]
    feature = Sequence([2], ac.float32, allow_missing=True, default_value=-1.0)
    with pytest.raises(InvalidArgument, match="The default has 1 values"):
        ac.io.parse_example(records, {"x": Fixed([2], ac.float32, 7.0)})
    found = ac.io.parse_example(records, {"x": feature})["x"].numpy()
    assert found.tolist() == [[[1, 2], [-1, -1]], [[1, 2], [3, 4]], [[-1, -1], [-1, -1]]]


def test_sequences():
    context, steps, lengths = ac.io.parse_sequence_example(
        [sequence([0, 1], [2, 3]), sequence([9, 9])], None, {"w": Sequence([2], ac.int64)}
    )
    assert (context, lengths["w"].numpy().tolist()) == ({}, [2, 1])
    assert steps["w"].numpy().tolist() == [[[0, 1], [2, 3]], [[9, 9], [0, 0]]]
    _, single = ac.io.parse_single_sequence_example(sequence([1], [2]), {}, {"w": Sequence([], ac.int64)})
    assert single["w"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"y": Fixed([], ac.float32)}, r"Index: 0, Feature: y \(data type: float\) is required but could not be found"),
        ({"n": Fixed([], ac.float32)}, "Key: n, Index: 0.  Data types don't match. Data type: int64 but expected type"),
        ({"x": Fixed([3], ac.float32)}, r"Number of float values != expected.  Values size: 2 but output shape: \[3\]"),
        ({"x": Sequence([3], ac.float32, True)}, r"not a multiple of stride length. Saw 2 .* shape is: \[\?,3\]"),
    ],
)
def test_examples_that_do_not_fit(features, message):
    with pytest.raises(InvalidArgument, match=message):
        ac.io.parse_example([example(x=[1.0, 2.0], n=[3])], features)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ({}, ValueError, "cannot be None or falsy"),
        ({"x": 3}, ValueError, "Unsupported int 3 for key 'x'"),
        ({"x": Fixed(None, ac.float32)}, ValueError, "Missing shape for feature x"),
        ({"x": Fixed([], ac.int32)}, ValueError, "'x' is requested as int32"),
        ({"x": Sequence([], ac.float32)}, ValueError, "requires allow_missing to be True"),
        ({"x": ac.io.VarLenFeature(None)}, ValueError, "Missing type for feature x"),
    ],
)
def test_invalid_features(features, error, message):
    with pytest.raises(error, match=message):
        ac.io.parse_example([example(x=[1.0])], features)


def test_random_bytes_are_no_crash():
    draw, content = random.Random(3), example(x=[1.0, 2.0], n=[3], s=[b"text"])
    for _ in range(100):
        data = bytearray(content)
        data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            found = ac.io.parse_single_example(bytes(data), FEATURES)
        except InvalidArgument:
            continue
        assert [found[name].dtype for name in ("n", "s", "x")] == [ac.int64, ac.string, ac.float32]


def test_a_pipeline_of_records():
    dataset = ac.data.TFRecordDataset(str(WRITTEN / "records")).take(4)
    rows = list(dataset.map(lambda record: ac.io.parse_single_example(record, FEATURES)).batch(4))
    assert rows[0]["n"].numpy().tolist() == [0, -1, -2, -3]
    assert rows[0]["s"].numpy().tolist() == [b"t0\0", b"t1\0", b"t2\0", b"t3\0"]
    assert rows[0]["x"].shape == (4, 2)


def test_functions_that_parse_records_can_be_saved(tmp_path):
    pytest.importorskip("safetensors")
    module = ac.Module()
    spec = [ac.TensorSpec([None], ac.string)]
    module.parse = ac.function(lambda r: ac.io.parse_example(r, FEATURES), input_signature=spec)
    module.raw = ac.function(lambda r: ac.io.decode_raw(r, ac.int16), input_signature=spec)
    ac.saved_model.save(module, tmp_path)
    loaded = ac.saved_model.load(tmp_path)
    assert loaded.parse([example(x=[1.0, 2.0], n=[3])])["s"].numpy().tolist() == [b"none"]
    assert loaded.raw([b"\1\0"]).numpy().tolist() == [[1]]


def test_csv():
    found = ac.io.decode_csv(['1,a,"x,y"', "2,,z"], [0, "b", ac.constant([], ac.string)])
    assert [column.numpy().tolist() for column in found] == [[1, 2], [b"a", b"b"], [b"x,y", b"z"]]
    lines = ac.data.Dataset.from_tensor_slices(["1,a", "2,"])
    lines = lines.map(lambda line: tuple(ac.io.decode_csv(line, [[0], ["b"]])))
    assert list(lines.as_numpy_iterator()) == [(1, b"a"), (2, b"b")]
    assert [int(c) for c in ac.io.decode_csv("1;NA;3", [0, 9], ";", na_value="NA", select_cols=[0, 1])] == [1, 9]
    for record, defaults, message in [
        ("1,", [[0], ac.constant([], ac.int32)], "Field 1 is required but missing in record 0!"),
        ("1,x", [[0], [0]], "Field 1 in record 0 is not a valid int32: x"),
        ("1,2,3", [[0], [0]], "Expect 2 fields but have 3 in record 0"),
    ]:
        with pytest.raises(InvalidArgument, match=message):
            ac.io.decode_csv(record, defaults)


VALUES = {
    "float32": np.float32([[1.5, -2]]), "int32": np.arange(6, dtype=np.int32).reshape(2, 3),
    "text": np.array([b"a\0", b""], object), "bool": np.array([True, False]),
    "complex64": np.array([1 + 2j], np.complex64), "float16": np.float16([1, 2]), "int64": np.int64(-3),
    "uint64": np.uint64([2**64 - 1]), "empty": np.zeros((0, 2)), "int8": np.int8([-1, 127]),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_tensors_as_tensorflow_writes_them(name):
    value = VALUES[name]
    written = json.loads((WRITTEN / "tensors.json").read_text())[name]
    by_content, by_values = (base64.b64decode(text) for text in written)
    assert ac.io.serialize_tensor(value).numpy() == by_content
    for data in (by_content, by_values):
        found = ac.io.parse_tensor(data, ac.constant(value).dtype).numpy()
        assert (found.dtype, found.shape) == (ac.constant(value).numpy().dtype, value.shape)
        np.testing.assert_array_equal(found, value)


def test_bytes_that_are_no_tensor():
    data = ac.io.serialize_tensor([1, 2]).numpy()
    with pytest.raises(InvalidArgument, match=r"Type mismatch between parsed tensor \(int32\) and dtype \(float32\)"):
        ac.io.parse_tensor(data, ac.float32)
    with pytest.raises(InvalidArgument, match="Could not parse `serialized` as TensorProto"):
        ac.io.parse_tensor(b"\xff\xff", ac.float32)
    huge = b"\x08\x03\x12\x08\x12\x06\x08\xff\xff\xff\xff\x0f\x3a\x01\x07"  # 7, 2**32 - 1 times
    with pytest.raises(InvalidArgument, match="Could not parse"):
        ac.io.parse_tensor(huge, ac.int32)
    draw = random.Random(5)
    for _ in range(100):
        changed = bytearray(data)
        changed[draw.randrange(len(changed))] = draw.randrange(256)
        with contextlib.suppress(InvalidArgument):
            assert ac.io.parse_tensor(bytes(changed), ac.int32).dtype is ac.int32


def test_strings_of_numpy_functions_keep_trailing_zeros():
    assert ac.numpy_function(lambda: b"a\0\0", [], ac.string).numpy() == b"a\0\0"
    assert ac.numpy_function(lambda: ["a\0", b"b"], [], ac.string).numpy().tolist() == [b"a\0", b"b"]
    values = [ac.constant("a\0"), np.bytes_(b"b")]
    assert ac.numpy_function(lambda: values, [], ac.string).numpy().tolist() == [b"a\0", b"b"]
    with pytest.raises(InvalidArgument, match=r"0-th value returned by .* is int, but expects string"):
        ac.numpy_function(lambda: [3], [], ac.string)


RAGGED = ac.io.RaggedFeature
COMPOSITES = {
    "a": ac.io.VarLenFeature(ac.int64),
    "sparse": ac.io.SparseFeature("i", "v", ac.float32, 6),
    "rows": RAGGED(ac.int64, "a"),
    "lengths": RAGGED(ac.int64, "a", [RAGGED.RowLengths("l")]),
    "splits": RAGGED(ac.int64, "a", [RAGGED.RowSplits("s")], row_splits_dtype=ac.int64),
    "starts": RAGGED(ac.int64, "a", [RAGGED.RowStarts("st")]),
    "limits": RAGGED(ac.int64, "a", [RAGGED.RowLimits("li")]),
    "uniform": RAGGED(ac.int64, "a", [RAGGED.UniformRowLength(1)]),
}


def test_sparse_and_ragged_features():
    first = example(a=[1, 2, 3], i=[4, 1], v=[1.5, 2.5], l=[2, 1], s=[0, 2, 3], st=[0, 2], li=[2, 3])
    second = example(a=[4], i=[0], v=[9.0], l=[1], s=[0, 1], st=[0], li=[1])

    def parsed(records):
        return ac.io.parse_example(records, COMPOSITES)

    for found in (parsed([first, second]), ac.function(parsed)(ac.constant([first, second]))):
        assert ac.sparse.to_dense(found["a"]).numpy().tolist() == [[1, 2, 3], [4, 0, 0]]
        assert ac.sparse.to_dense(found["sparse"]).numpy().tolist() == [[0, 2.5, 0, 0, 1.5, 0], [9, 0, 0, 0, 0, 0]]
        assert found["rows"].to_list() == [[1, 2, 3], [4]]
        for name in ("lengths", "splits", "starts", "limits"):
            assert found[name].to_list() == [[[1, 2], [3]], [[4]]]
        assert found["uniform"].to_list() == [[[1], [2], [3]], [[4]]]
        assert (found["rows"].row_splits.dtype, found["splits"].row_splits.dtype) == (ac.int32, ac.int64)
    single = ac.io.parse_single_example(first, COMPOSITES)
    assert single["rows"].numpy().tolist() == [1, 2, 3] and single["lengths"].to_list() == [[1, 2], [3]]
    assert single["sparse"].indices.numpy().tolist() == [[1], [4]]
    assert found["a"].shape[0] == 2 and parsed([example()])["rows"].to_list() == [[]]
