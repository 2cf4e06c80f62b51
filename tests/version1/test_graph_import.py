"""Graphs that TensorFlow has frozen have the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf
from autoconv.errors import InvalidArgumentError

pytest.importorskip("tensorboard")
FROZEN = (Path(__file__).resolve().parents[2] / "fixtures" / "version1" / "frozen.pb").read_bytes()
# Results of TensorFlow 2.21 for the images below; the graph is a convolutional net of 22 kinds of ops.
PROBABILITIES = [
    [0.9337319731712341, 0.047062814235687256, 0.019205283373594284],
    [0.6810511946678162, 0.31193992495536804, 0.007008861284703016],
]
SIZES = [5.614062309265137, 9.614062309265137]


def images():
    draw = np.random.RandomState(0)
    draw.randn(3, 3, 1, 4)
    draw.randn(64, 3)
    return draw.randn(2, 8, 8, 1).astype("f")


@pytest.fixture(autouse=True)
def graph():
    with ac.Graph().as_default() as new_graph:
        yield new_graph


def test_a_frozen_graph_computes_the_same(graph):
    message = tf.GraphDef()
    message.ParseFromString(FROZEN)
    found = tf.import_graph_def(message, return_elements=["p:0", "k"])
    with tf.Session() as session:
        feeds = {"import/x:0": images()}
        probabilities, classes, sizes = session.run([found[0], "import/k:0", "import/s:0"], feeds)
    np.testing.assert_allclose(probabilities, PROBABILITIES, rtol=2e-6)
    np.testing.assert_allclose(sizes, SIZES, rtol=2e-6)
    assert classes.tolist() == [0, 0] and found[1].type == "ArgMax"
    assert graph.get_tensor_by_name("import/p:0") is found[0]


def test_tensors_take_the_place_of_others():
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    (p,) = tf.import_graph_def(FROZEN, {"x": x / 2.0}, ["p:0"], name="")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(p, {x: 2 * images()}), PROBABILITIES, rtol=2e-6)
        (slope,) = tf.gradients(p[:, 0], [x])
        assert session.run(slope, {x: images()}).any()


def test_parts_of_a_graph():
    message = tf.GraphDef.FromString(FROZEN)
    part = tf.graph_util.extract_sub_graph(message, ["x"])
    assert [node.name for node in part.node] == ["x"]
    with pytest.raises(ValueError, match="nowhere is not in graph"):
        tf.graph_util.extract_sub_graph(message, ["nowhere"])


def test_graphs_that_cannot_be_imported():
    message = tf.GraphDef.FromString(FROZEN)
    message.node.add(name="odd", op="DecodeWav")
    with pytest.raises(ValueError, match="No op named DecodeWav can be imported"):
        tf.import_graph_def(message)
    with pytest.raises(ValueError, match="return_element 'nowhere:0' not found"):
        tf.import_graph_def(FROZEN, return_elements=["nowhere:0"])
    with pytest.raises(InvalidArgumentError, match="no GraphDef"):
        tf.import_graph_def(b"\xff" * 20)


def add_node(message, op, name, *inputs, **attributes):
    node = message.node.add(op=op, name=name, input=inputs)
    for key, value in attributes.items():
        attribute = node.attr[key]
        if isinstance(value, np.ndarray):
            attribute.tensor.CopyFrom(ac.make_tensor_proto(value))
            node.attr["dtype"].type = ac.as_dtype(value.dtype).enum
        elif isinstance(value, list):
            attribute.list.i.extend(value)
        elif isinstance(value, str):
            attribute.s = value.encode()
        else:
            setattr(attribute, "b" if isinstance(value, bool) else "i", value)


def import_node(op, *inputs, **attributes):
    """Return the first result of one node on constant inputs, from a graph that is imported."""
    message = tf.GraphDef()
    names = [f"input{i}" for i in range(len(inputs))]
    for name, value in zip(names, inputs, strict=True):
        add_node(message, "Const", name, value=np.asarray(value))
    add_node(message, op, "node", *names, **attributes)
    (result,) = tf.import_graph_def(message, return_elements=["node:0"])
    with tf.Session() as session:
        return session.run(result)


def test_attributes_of_nodes_are_observed():
    table = np.arange(6, dtype="f").reshape(2, 3)
    gathered = import_node("GatherV2", table, np.array([[2], [0]], "i"), np.int32(1), batch_dims=1)
    np.testing.assert_array_equal(gathered, [[2], [3]])
    a = np.array([[[1 + 1j, 2]]], np.complex64)
    product = import_node("BatchMatMulV2", a, a, adj_x=True, adj_y=False)
    np.testing.assert_array_equal(product, a.conj().swapaxes(1, 2) @ a)
    rows = import_node("Select", np.array([True, False]), np.ones((2, 2), "f"), np.zeros((2, 2), "f"))
    np.testing.assert_array_equal(rows, [[1, 1], [0, 0]])  # a condition that is a vector selects rows
    image = np.arange(9, dtype="f").reshape(1, 3, 3, 1)
    dilated = import_node(
        "DepthwiseConv2dNative", image, np.ones((2, 2, 1, 1), "f"), strides=[1, 1, 1, 1], padding="VALID",
        dilations=[1, 2, 2, 1],
    )  # fmt: skip
    assert dilated.ravel().tolist() == [0 + 2 + 6 + 8]


def test_batches_with_the_channels_first_are_normalised():
    x = np.arange(8, dtype="f").reshape(1, 2, 2, 2)
    scale, offset, mean, variance = np.array([[1, 2], [0, 1], [1, 5], [4, 9]], "f")
    found = import_node(
        "FusedBatchNormV3", x, scale, offset, mean, variance, data_format="NCHW", is_training=False
    )
    s, o, m, v = (part[:, None, None] for part in (scale, offset, mean, variance))
    np.testing.assert_allclose(found, (x - m) / np.sqrt(v + 1e-4) * s + o, rtol=1e-5)


def test_dtypes_by_their_numbers():
    assert ac.as_dtype(1) is ac.float32 and ac.as_dtype(9) is ac.int64 and tf.as_dtype(7) is ac.string
    with pytest.raises(TypeError):
        ac.as_dtype(10_000)
