"""Names of TensorFlow for strings, files, sounds, queues and NumPy's functions, beside TensorFlow 2.21's figures."""

import threading
import zlib

import numpy as np
import pytest

import autoconv as ac

tnp = ac.experimental.numpy


def test_hashes_of_strings():
    texts = ["Hello", "TensorFlow", "2.x", "a longer text"]
    assert ac.strings.to_hash_bucket(texts, 1000).numpy().tolist() == [941, 232, 300, 305]
    assert ac.function(lambda x: ac.strings.to_hash_bucket(x, 1000))(texts).numpy().tolist() == [941, 232, 300, 305]
    assert ac.fingerprint(["a", "bc"]).numpy()[0].tolist() == [227, 117, 223, 182, 101, 66, 69, 179]
    assert ac.fingerprint([[1, 2], [3, 4]]).numpy()[1].tolist() == [254, 162, 60, 240, 103, 244, 53, 255]
    assert ac.fingerprint([["a", "b"]]).numpy()[0].tolist() == [122, 64, 59, 169, 136, 60, 55, 83]


def test_strings_joined_by_segments():
    arguments = [["a", "b"], ["c", "d"]], [[0, 1], [1, 1]], 2, ":"
    assert ac.strings.unsorted_segment_join(*arguments).numpy().tolist() == [b"a", b"b:c:d"]
    for segment_id, count, words in ((2, 2, "segment ids have to be below 2, found 2"), (0, -1, "negative, found -1")):
        with pytest.raises(ac.errors.InvalidArgumentError, match=words):
            ac.strings.unsorted_segment_join(["a"], [segment_id], count)


def test_sounds():
    data = ac.io.encode_wav([[0.0], [0.5], [-1.0], [0.3], [1.0], [0.00002]], 8000)
    assert data.numpy()[44:] == b"\x00\x00\x00@\x00\x80f&\xff\x7f\x01\x00"
    two = ac.io.encode_wav([[0.0, 0.1], [0.5, 0.2], [-1.0, 0.3]], 8000)
    for decode in (ac.audio.decode_wav, ac.function(lambda data: ac.audio.decode_wav(data, 2, 5))):
        sound = decode(two)
        assert sound.audio.numpy()[:3, 1].tolist() == [0.100006103515625, 0.20001220703125, 0.29998779296875]
        assert sound.sample_rate.numpy() == 8000
    assert sound.audio.shape == (5, 2) and ac.audio.decode_wav(two, 1).audio.shape == (3, 1)
    with pytest.raises(ac.errors.InvalidArgumentError, match="no WAV file"):
        ac.audio.decode_wav(b"RIFF")


def test_encodings_of_strings_and_files(tmp_path):
    texts = np.array([b"a?\xff", b"", b"bcd"], object)
    assert ac.io.encode_base64(texts).numpy().tolist() == [b"YT__", b"", b"YmNk"]
    assert ac.io.decode_base64(ac.io.encode_base64(texts, pad=True)).numpy().tolist() == texts.tolist()
    with pytest.raises(ac.errors.InvalidArgumentError, match="base64"):
        ac.io.decode_base64("%")
    assert ac.io.decode_compressed([zlib.compress(b"abc")], "ZLIB").numpy().tolist() == [b"abc"]
    with pytest.raises(ac.errors.InvalidArgumentError, match="decompressed"):
        ac.io.decode_compressed(b"abc", "GZIP")
    for name in ("b.txt", "a.txt", "c.png"):
        (tmp_path / name).write_bytes(b"")
    found = ac.function(lambda: ac.io.matching_files(f"{tmp_path}/*.txt"))()
    assert [path.rsplit(b"/", 1)[1] for path in found.numpy()] == [b"a.txt", b"b.txt"]


def test_sparse_tensors_as_strings():
    x = ac.sparse.from_dense([[0, 1, 0], [2, 0, 3]])
    rows = ac.io.serialize_many_sparse(x)
    found = ac.io.deserialize_many_sparse(rows, ac.int32)
    assert ac.sparse.to_dense(found).numpy().tolist() == [[0, 1, 0], [2, 0, 3]]
    assert ac.io.serialize_sparse(x).shape == (3,)


def test_similarity_on_several_scales():
    random = np.random.default_rng(0)
    x = np.repeat(np.repeat(random.random((1, 9, 11, 1)), 20, 1), 16, 2).astype(np.float32)
    assert ac.image.ssim_multiscale(x, x, 1.0).numpy()[0] == pytest.approx(1.0, abs=1e-5)
    noisy = np.clip(x + random.normal(0, 0.1, x.shape), 0, 1).astype(np.float32)
    fine = ac.image.ssim_multiscale(x, noisy, 1.0, power_factors=(1.0,))
    np.testing.assert_allclose(fine, ac.image.ssim(x, noisy, 1.0), atol=2e-3)  # the similarity on one scale


def test_jpeg_quality():
    pytest.importorskip("PIL")
    image = np.linspace(0, 1, 16 * 16 * 3, dtype=np.float32).reshape(16, 16, 3)
    errors = [np.abs(ac.image.adjust_jpeg_quality(image, quality).numpy() - image).mean() for quality in (5, 50, 100)]
    assert errors[0] > errors[1] > errors[2]
    assert ac.function(lambda x: ac.image.random_jpeg_quality(x, 50, 60))(image).shape == (16, 16, 3)
    encoded = ac.io.encode_jpeg((image * 255).astype(np.uint8))
    part = ac.io.decode_and_crop_jpeg(encoded, [2, 3, 4, 5])
    np.testing.assert_array_equal(part, ac.io.decode_jpeg(encoded)[2:6, 3:8])


def test_queues():
    queue = ac.queue.FIFOQueue(2, [ac.int32, ac.float32])
    worker = threading.Thread(target=lambda: [queue.enqueue([i, i / 2]) for i in range(4)])
    worker.start()
    assert [int(queue.dequeue()[0]) for _ in range(4)] == [0, 1, 2, 3]
    worker.join()
    queue.close()
    with pytest.raises(ac.errors.OutOfRangeError, match="insufficient"):
        queue.dequeue()
    with pytest.raises(ac.errors.CancelledError, match="closed"):
        queue.enqueue([1, 1.0])
    first = ac.queue.PriorityQueue(9, [ac.string], [[]])
    for position, text in ((3, "c"), (1, "a"), (2, "b")):
        first.enqueue([position, text])
    assert [first.dequeue()[1].numpy() for _ in range(3)] == [b"a", b"b", b"c"]
    padded = ac.queue.PaddingFIFOQueue(9, ac.int32, [[None]])
    padded.enqueue([[1]])
    padded.enqueue([[2, 3]])
    assert padded.dequeue_many(2).numpy().tolist() == [[1, 0], [2, 3]]
    shuffled = ac.queue.RandomShuffleQueue(9, 0, ac.int32, [[]], seed=1)
    shuffled.enqueue_many([np.arange(5)])
    assert sorted(shuffled.dequeue_up_to(5).numpy().tolist()) == [0, 1, 2, 3, 4]


def test_numpy_over_tensors():
    x = ac.constant([[1, 2], [3, 4]])
    assert tnp.sum(x, axis=0).numpy().tolist() == [4, 6]
    assert tnp.array([1.0, 2.0]).dtype is ac.float64 and tnp.sin([1, 2]).dtype is ac.float64
    assert tnp.mean(x).numpy() == 2.5 and tnp.zeros((2, 3)).shape == (2, 3) and tnp.ndim(x) == 2
    traced = ac.function(lambda x: tnp.tensordot(tnp.transpose(x), x, 1))
    assert traced(x).numpy().tolist() == [[10, 14], [14, 20]]
    assert [part.shape for part in tnp.ix_([0, 1], [1])] == [(2, 1), (1, 1)]
    assert tnp.random.rand(2, 3).shape == (2, 3) and tnp.pi == np.pi
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tnp.no_such_name


def test_specs_of_values():
    optional = ac.experimental.Optional.from_value(ac.constant(3))
    assert ac.type_spec_from_value(optional) == ac.OptionalSpec(ac.TensorSpec([], ac.int32))
    assert ac.OptionalSpec.from_value(optional).is_compatible_with(optional)
    assert ac.IndexedSlicesSpec([3]) == ac.IndexedSlicesSpec([3]) != ac.IndexedSlicesSpec([4])
    assert ac.TensorArraySpec([2]).dtype is ac.float32 and ac.NoneTensorSpec().is_compatible_with(None)


def test_error_classes_have_codes():
    errors = ac.errors
    assert errors.CancelledError("x").error_code == errors.CANCELLED == 1
    assert errors.ResourceExhaustedError("x").error_code == errors.RESOURCE_EXHAUSTED == 8
    assert errors.UnauthenticatedError("x").error_code == errors.UNAUTHENTICATED == 16
    assert errors.InvalidArgumentError.error_code == errors.INVALID_ARGUMENT


def test_tuples_scopes_and_sections():
    first, nothing, last = ac.tuple([ac.constant(1), None, ac.constant(2)])
    assert (int(first), nothing, int(last)) == (1, None, 2)

    @ac.function
    def scoped():
        with ac.name_scope("outer"), ac.name_scope("inner"):
            return ac.constant(ac.get_current_name_scope())

    assert scoped().numpy() == b"outer/inner" and ac.get_current_name_scope() == ""
    assert int(ac.CriticalSection().execute(lambda: ac.constant(7))) == 7
    assert not ac.is_symbolic_tensor(first)


def test_arrays_of_other_libraries():
    x = ac.experimental.dlpack.from_dlpack(np.arange(3.0))
    assert x.numpy().tolist() == [0.0, 1.0, 2.0]
    back = ac.experimental.dlpack.from_dlpack(ac.experimental.dlpack.to_dlpack(x))
    assert back.numpy().tolist() == [0.0, 1.0, 2.0]


def test_orders_and_dimensions_of_numpys_functions():
    matrix = ac.constant([[1, 2], [3, 4]])
    assert tnp.flatten(matrix, "F").numpy().tolist() == [1, 3, 2, 4]
    assert tnp.array(matrix, ndmin=3).shape == (1, 2, 2) and tnp.array([1], ndmin=2).shape == (1, 1)


def test_a_convolution_by_channels_is_dilated_along_its_sides():
    image = ac.reshape(ac.range(15.0), [1, 1, 3, 5])
    found = ac.raw_ops.DepthwiseConv2dNative(
        input=image, filter=ac.ones([2, 2, 1, 1]), strides=[1, 1, 1, 1], padding="VALID", data_format="NCHW",
        dilations=[1, 1, 2, 4],
    )  # fmt: skip
    assert found.numpy().tolist() == [[[[0 + 4 + 10 + 14]]]]
