"""Options of functions of version 1. Texts and values are those of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf
from autoconv.errors import UnimplementedError

v1 = tf.compat.v1


def test_print_shows_the_first_elements_the_first_times(capsys: pytest.CaptureFixture[str]):
    with tf.Graph().as_default(), v1.Session() as session:
        data = [tf.range(10), tf.constant("a"), tf.constant([[1.5, 2.0], [3.0, 4.0]])]
        shown = v1.Print(tf.constant(3), data, "m: ", first_n=2)
        assert [int(session.run(shown)) for _ in range(3)] == [3, 3, 3]
        session.run(v1.Print(tf.constant(3), [tf.reshape(tf.range(24), [2, 3, 4])], summarize=5))
        session.run(v1.Print(tf.constant(3), [tf.constant([1 / 3, 1e16]), tf.constant([True, False])], summarize=-1))
        session.run(v1.Print(tf.constant(3), [tf.constant([0.1, 1 / 3], tf.float64), tf.zeros([2, 0])]))
    assert capsys.readouterr().err.splitlines() == [
        *["m: [0 1 2...][a][[1.5 2][3...]...]"] * 2,
        "[[[0 1 2 3][4...]]...]",
        "[0.333333343 1e+16][1 0]",
        "[0.1 0.33333333333333331][]",
    ]


def test_constants_of_another_shape_are_refused_on_request():
    initializer = v1.constant_initializer([1.0, 2.0], verify_shape=True)
    assert initializer([2]).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), but got \(2,\)"):
        initializer([3])


def test_a_template_makes_its_scope_at_once_on_request():
    def make():
        return v1.get_variable("w", [])

    with tf.Graph().as_default():
        first, second = (v1.make_template("t", make, create_scope_now_=True) for _ in range(2))
        assert (second().name, first().name) == ("t_1/w:0", "t/w:0")


def test_flatten_moves_channels_to_the_end():
    x = np.arange(24.0, dtype="f").reshape(1, 2, 3, 4)
    flat = v1.layers.flatten(x, data_format="channels_first").numpy()
    assert (flat == x.transpose(0, 2, 3, 1).reshape(1, -1)).all()


def test_queues_with_a_shared_name_share_their_elements():
    with tf.Graph().as_default(), v1.Session() as session:
        queue, same = (tf.queue.FIFOQueue(3, tf.int32, shared_name="q") for _ in range(2))
        other = tf.queue.FIFOQueue(3, tf.int32)
        session.run(queue.enqueue(3))
        assert session.run([same.size(), other.size()]) == [1, 0]


def test_parts_of_matrices_are_joined_for_sampled_losses():
    parts = [np.array([[1.0, 0.0]] * 2, "f"), np.array([[0.0, 1.0]] * 2, "f")]
    biases, x = np.arange(4.0, dtype="f"), np.array([[0.5, 2.0]], "f")
    sampled = tf.constant([0, 2], tf.int64), tf.constant([[0.5]]), tf.constant([0.5, 0.5])
    for strategy, matrix in (("mod", np.array([[1, 0], [0, 1]] * 2, "f")), ("div", np.vstack(parts))):
        options = {"num_sampled": 2, "num_classes": 4, "sampled_values": sampled}
        found = v1.nn.sampled_softmax_loss(
            list(map(tf.constant, parts)), biases, [[1]], x, partition_strategy=strategy, **options
        )
        assert found.numpy() == v1.nn.sampled_softmax_loss(matrix, biases, [[1]], x, **options).numpy()


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (lambda: v1.Session("grpc://host:1"), "target='grpc://host:1'"),
        (lambda: v1.train.Saver(builder=object(), allow_empty=True), "builder="),
        (lambda: v1.summary.FileWriter("folder", session=1), "session=1"),
        (lambda: tf.Variable(1.0, variable_def=b"bytes"), "variable_def="),
        (lambda: tf.data.Dataset.load("folder", wait=True), "wait=True"),
        (lambda: tf.data.Dataset.range(2).snapshot("folder", reader_func=len), "reader_func="),
        (lambda: tf.io.serialize_sparse(tf.sparse.from_dense([1]), tf.variant), "out_type="),
        (lambda: tf.io.decode_jpeg(b"", fancy_upscaling=False), "fancy_upscaling="),
    ],
)
def test_options_that_are_not_implemented_are_refused_by_name(call, option: str):
    with pytest.raises(UnimplementedError, match=option):
        call()


def test_saved_objects_have_the_tag_serve(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path))
    tf.saved_model.load(str(tmp_path), tags=["serve"])
    with pytest.raises(ValueError, match=r"incompatible argument to `tags`: \['train'\]"):
        tf.saved_model.load(str(tmp_path), tags="train")


def test_headers_and_formats_of_jpeg_files():
    image = np.zeros([4, 4, 3], np.uint8)
    assert tf.io.encode_jpeg(image).numpy()[11:18] == b"\x01\x01\x01\x01,\x01,"
    header = tf.io.encode_jpeg(image, density_unit="cm", x_density=5, y_density=6).numpy()
    assert header[11:18] == b"\x01\x01\x02\x00\x05\x00\x06"
    assert len(tf.io.encode_jpeg(image, optimize_size=True).numpy()) < len(header)
    for file_format, pixels in (("grayscale", image), ("rgb", image[..., :1]), ("other", image)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="format"):
            tf.io.encode_jpeg(pixels, format=file_format)
