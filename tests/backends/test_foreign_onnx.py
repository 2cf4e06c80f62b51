"""Models that other tools have made, with the arguments that their users pass: text, lists, sequences."""

import numpy as np
import pytest

import autoconv

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
helper, TYPES = onnx.helper, onnx.TensorProto
X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)


def loaded(node, input_, output):
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph([node], "graph", [input_], [output])
    return autoconv.onnx.load(helper.make_model(graph, opset_imports=versions, ir_version=8))


@pytest.mark.parametrize("dtype", ["FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64", "UINT8"])
def test_numbers_and_lists_of_python_have_the_dtype_of_the_model(dtype):
    info = (helper.make_tensor_value_info(name, getattr(TYPES, dtype), None) for name in "xy")
    model = loaded(helper.make_node("Add", ["x", "x"], ["y"]), *info)
    assert model(3) == 6
    assert model([1, 2]).tolist() == [2, 4]
    assert model([]).shape == (0,)
    if "FLOAT" in dtype:
        assert model([[0.5], [1.5]]).tolist() == [[1.0], [3.0]]
        with pytest.raises(autoconv.errors.InvalidArgumentError, match="Unexpected input data type"):
            model(np.ones(2, np.int8))
    elif dtype != "DOUBLE":
        with pytest.raises(autoconv.errors.InvalidArgumentError, match="Unexpected input data type"):
            model([0.5])


def test_text():
    """Strings of tensors are bytes, which are UTF-8 in a model."""
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["a", "é"],
                            values_int64s=[5, 7], default_int64=-1)  # fmt: skip
    types = (TYPES.STRING, TYPES.INT64)
    model = loaded(node, *(helper.make_tensor_value_info(*row, [None]) for row in zip("xy", types, strict=True)))
    texts = ["é", "a", "c"]
    for words in (texts, np.array(texts), autoconv.constant(texts), [b"\xc3\xa9", b"a", b""]):
        assert model(words).tolist() == [7, 5, -1]
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="not UTF-8"):
        model([b"\xff\xfe"])


def test_sequences():
    sequence = helper.make_tensor_sequence_value_info
    tensor = helper.make_tensor_value_info
    node = helper.make_node("ConcatFromSequence", ["x"], ["y"], axis=0)
    model = loaded(node, sequence("x", TYPES.FLOAT, None), tensor("y", TYPES.FLOAT, [None, 2]))
    assert model([X, autoconv.constant(X), [[5, 6]]]).tolist() == [*X.tolist(), *X.tolist(), [5.0, 6.0]]
    node = helper.make_node("SplitToSequence", ["x"], ["y"], axis=0)
    model = loaded(node, tensor("x", TYPES.FLOAT, [None, 2]), sequence("y", TYPES.FLOAT, None))
    assert [part.tolist() for part in model(X)] == [[[1.0, 2.0]], [[3.0, -4.0]]]
