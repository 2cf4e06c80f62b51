"""Raw ops: their forms by public functions, against NumPy and TensorFlow's figures."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf
from autoconv.tensorflow import raw_op_forms, raw_op_resources

raw = tf.raw_ops
X = np.array([[0.5, 0.25], [0.75, 0.1]], np.float32)
INTS = np.array([1, 2, 3, 4], np.int32)
IMAGE = np.arange(32.0, dtype=np.float32).reshape(1, 4, 4, 2)
CASES = {
    "Sub": ({"x": X, "y": 1.0}, X - 1),
    "Mod": ({"x": [-7, 7], "y": [4, -4]}, [-3, 3]),
    "FloorMod": ({"x": [-7, 7], "y": [4, -4]}, [1, -1]),
    "Cast": ({"x": X * 10, "DstT": tf.int32}, (X * 10).astype(int)),
    "Sum": ({"input": X, "axis": 1, "keep_dims": True}, X.sum(1, keepdims=True)),
    "ArgMax": ({"input": X, "dimension": 1}, [0, 0]),
    "Bincount": ({"arr": INTS, "size": 4, "weights": np.zeros(0, np.int32)}, [0, 1, 1, 1]),
    "MatMul": ({"a": X, "b": X, "transpose_b": True}, X @ X.T),
    "BatchMatMulV2": ({"x": X, "y": X, "adj_x": True}, X.T @ X),
    "Einsum": ({"inputs": [X, X], "equation": "ij,jk->ik"}, X @ X),
    "Diag": ({"diagonal": [1, 2]}, np.diag([1, 2])),
    "MatrixDiagPartV3": ({"input": X, "k": [-1, 0], "padding_value": 9.0}, [[0.5, 0.1], [0.75, 9]]),
    "MatrixSolve": ({"matrix": X, "rhs": X}, np.eye(2)),
    "ConcatV2": ({"values": [X, X], "axis": 1}, np.concatenate([X, X], 1)),
    "Pack": ({"values": [X, X], "axis": 1}, np.stack([X, X], 1)),
    "StridedSlice": ({"input": INTS, "begin": [0], "end": [4], "strides": [2]}, INTS[::2]),
    "MirrorPad": ({"input": X, "paddings": [[1, 0], [0, 0]], "mode": "REFLECT"}, X[[1, 0, 1]]),
    "TensorScatterAdd": ({"tensor": INTS, "indices": [[1]], "updates": [5]}, [1, 7, 3, 4]),
    "TopKV2": ({"input": X, "k": 1}, (X[:, :1], [[0], [0]])),
    "ListDiff": ({"x": INTS, "y": [2]}, ([1, 3, 4], [0, 2, 3])),
    "UpperBound": ({"sorted_inputs": [[1, 2, 2, 3]], "values": [[2]]}, [[3]]),
    "MaxPool": (
        {"input": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
        IMAGE[:, 1::2, 1::2],
    ),
    "AvgPool": (
        {"value": IMAGE, "ksize": [1, 4, 4, 1], "strides": [1, 1, 1, 1], "padding": "VALID"},
        IMAGE.mean((1, 2), keepdims=True),
    ),
    "BiasAddGrad": ({"out_backprop": IMAGE}, IMAGE.sum((0, 1, 2))),
    "TanhGrad": ({"y": X, "dy": X}, X * (1 - X**2)),
    "ReluGrad": ({"gradients": X, "features": X - 0.3}, np.where(X > 0.3, X, 0)),
    "StatelessRandomUniform": ({"shape": [2], "seed": [1, 2]}, [0.8440604, 0.19204533]),  # TensorFlow's
    "RaggedRange": ({"starts": [0, 1], "limits": [2, 2], "deltas": [1, 1]}, ([0, 2, 3], [0, 1, 1])),
    "SparseTensorDenseMatMul": (
        {"a_indices": [[0, 1]], "a_values": [2.0], "a_shape": [2, 2], "b": X},
        [[1.5, 0.2], [0, 0]],
    ),
    "SparseToDense": (
        {"sparse_indices": [[0], [2]], "output_shape": [3], "sparse_values": [1, 2], "default_value": 7},
        [1, 7, 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_raw_op_takes_its_arguments_by_name(name):
    arguments, expected = CASES[name]
    found = getattr(raw, name)(**arguments, name="named")
    for one, value in zip(*((found, expected) if isinstance(expected, tuple) else ([found], [expected])), strict=True):
        np.testing.assert_allclose(one, value, rtol=1e-5, atol=1e-6)


def test_texts():
    assert raw.StringJoin(inputs=["a", ["b", "c"]], separator="-").numpy().tolist() == [b"a-b", b"a-c"]
    indices, values, shape = raw.StringSplitV2(input=["a b", "c"], sep="")
    assert values.numpy().tolist() == [b"a", b"b", b"c"] and shape.numpy().tolist() == [2, 2]
    assert indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    assert int(raw.StringToHashBucketFast(input="a", num_buckets=10)) == 9


def test_variables_by_their_handles():
    v = tf.Variable([1.0, 2.0, 3.0])
    assert raw.AssignAddVariableOp(resource=v.handle, value=[1.0, 1.0, 1.0]) is None
    raw.ResourceScatterAdd(resource=v.handle, indices=[0], updates=[5.0])
    tf.function(lambda: raw.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=[2.0, 2.0, 2.0]))()
    assert raw.ReadVariableOp(resource=v.handle, dtype=tf.float32).numpy().tolist() == [6.0, 2.0, 3.0]
    assert raw.ResourceGather(resource=v.handle, indices=[2], dtype=tf.float32).numpy().tolist() == [3.0]


def test_every_raw_op_has_a_form():
    names = [name for namespace in raw_op_forms.SAME_PARAMETERS.values() for name in namespace]
    names += [*raw_op_forms.FORMS, *raw_op_resources.FORMS]
    assert len(names) == len(set(names)) >= 340 and set(names) <= set(dir(raw))
    for name in names:
        assert getattr(raw, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'CudnnRNN'"):
        _ = raw.CudnnRNN
    with pytest.raises(TypeError, match="positional"):
        raw.Add(1, 2)
    with pytest.raises(TypeError, match="'y'"):
        raw.Add(x=1)


def test_gradients_of_raw_ops():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = raw.Sum(input=raw.Mul(x=x, y=x), axis=[0, 1])
    np.testing.assert_allclose(tape.gradient(y, x), 2 * X)
