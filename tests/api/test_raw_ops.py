"""Raw ops: their forms by public functions, against NumPy and TensorFlow's figures."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf
from autoconv.tensorflow import raw_op_forms, raw_ops

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
    "UniqueV2": ({"x": [[1, 2, 1], [3, 4, 3]], "axis": [1]}, ([[1, 2], [3, 4]], [0, 1, 0])),  # TensorFlow's
    "MatrixDiagPartV2": ({"input": X, "k": [-1, 0], "padding_value": 9.0}, [[0.5, 0.1], [0.75, 9]]),
    "SparseSegmentSumWithNumSegments": (
        {"data": X, "indices": [0, 1], "segment_ids": [0, 2], "num_segments": 3},
        [X[0], [0, 0], X[1]],
    ),
    "EditDistance": (
        {
            "hypothesis_indices": [[0, 0]], "hypothesis_values": [1], "hypothesis_shape": [1, 2],
            "truth_indices": [[0, 0], [0, 1]], "truth_values": [1, 2], "truth_shape": [1, 2],
        },
        [0.5],
    ),
    "MaxPoolGrad": (
        {
            "orig_input": IMAGE, "orig_output": IMAGE[:, 1::2, 1::2], "grad": IMAGE[:, 1::2, 1::2],
            "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID",
        },
        IMAGE * (np.arange(4) % 2)[:, None, None] * (np.arange(4) % 2)[:, None],
    ),
    "StridedSliceGrad": ({"shape": [4], "begin": [1], "end": [3], "strides": [1], "dy": X[0]}, [0, 0.5, 0.25, 0]),
    "SparseToDense": (
        {"sparse_indices": [[0], [2]], "output_shape": [3], "sparse_values": [1, 2], "default_value": 7},
        [1, 7, 2],
    ),
}  # fmt: skip

OPTIONS = {"lr": 0.1, "epsilon": 0.01}
ADAM = {"beta1_power": 0.9, "beta1": 0.9, "beta2": 0.99, **OPTIONS}
RMS = {"rho": 0.9, "momentum": 0.9, **OPTIONS}
OPTIMIZERS = [  # with the variables after two steps of TensorFlow
    ("Adam", ("m", "v"), {**ADAM, "beta2_power": 0.99}, [-0.084846, 0.471263]),
    ("AdamWithAmsgrad", ("m", "v", "vhat"), {**ADAM, "beta2_power": 0.99}, [-0.077105, 0.481981]),
    ("AdaMax", ("m", "v"), ADAM, [-14.366867, -13.404509]),
    ("Momentum", ("accum",), {"lr": 0.1, "momentum": 0.9, "use_nesterov": True}, [0.26135, 0.7071]),
    ("KerasMomentum", ("accum",), {"lr": 0.1, "momentum": 0.9}, [8.665998, 17.448]),
    ("AdagradV2", ("accum",), OPTIONS, [0.990632, 2.013245]),
    ("Adadelta", ("accum", "accum_update"), {**OPTIONS, "rho": 0.9}, [0.992909, 2.014116]),
    ("RMSProp", ("ms", "mom"), RMS, [0.130342, 0.310739]),
    ("CenteredRMSProp", ("ms", "mom", "mg"), RMS, [0.129953, 0.311746]),
]


@pytest.mark.parametrize("name", CASES)
def test_a_raw_op_takes_its_arguments_by_name(name):
    arguments, expected = CASES[name]
    found = getattr(raw, name)(**arguments, name="named")
    for x, value in zip(*((found, expected) if isinstance(expected, tuple) else ([found], [expected])), strict=True):
        np.testing.assert_allclose(x, value, rtol=1e-5, atol=1e-6)


def test_distinct_slices_of_nothing():
    distinct, positions = tf.raw_ops.UniqueV2(x=np.zeros((0, 3), np.float32), axis=[0])
    assert distinct.shape == (0, 3) and positions.shape == (0,)


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
    names = [name for namespace in raw_op_forms.OPS_BY_NAMESPACE.values() for name in namespace]
    names += raw_ops._load_tables()[1]
    assert len(names) == len(set(names)) >= 420 and set(names) <= set(dir(raw))
    for name in names:
        assert getattr(raw, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'TPUEmbedding'"):
        _ = raw.TPUEmbedding
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


def test_steps_of_optimizers():
    for name, slots, arguments, expected in OPTIMIZERS:
        starts = zip(("var", *slots), (1.0, 4.5, 0.5, 0.5), strict=False)
        variables = {key: tf.Variable([value, 2 * value]) for key, value in starts}
        handles = {key: variable.handle for key, variable in variables.items()}
        for _ in range(2):
            getattr(raw, f"ResourceApply{name}")(grad=np.float32([0.1, -0.2]), **handles, **arguments)
        np.testing.assert_allclose(variables["var"], expected, rtol=1e-5, err_msg=name)


def test_recurrent_layers():
    """A block of LSTM steps, and cuDNN's layer, against NumPy: gates i, f, c, o."""
    generator = np.random.default_rng(0)
    x, weights, h0, c0 = (
        generator.normal(size=size).astype(np.float32) for size in ((3, 2, 4), (9, 20), (2, 5), (2, 5))
    )
    hidden, cell, outputs = h0, c0, []
    for step in x:
        i, f, c, o = np.split(np.concatenate([step, hidden], 1) @ weights, 4, axis=1)
        cell = cell / (1 + np.exp(-f)) + np.tanh(c) / (1 + np.exp(-i))
        hidden = np.tanh(cell) / (1 + np.exp(-o))
        outputs.append(hidden)
    params = np.concatenate([weights[:4].T.ravel(), weights[4:].T.ravel(), np.zeros(40)]).astype(np.float32)
    found = tf.function(lambda p: raw.CudnnRNN(input=x, input_h=h0[None], input_c=c0[None], params=p))(params)
    np.testing.assert_allclose(found[0], outputs, atol=1e-5)
    np.testing.assert_allclose(found[2][0], cell, atol=1e-5)
    lengths = raw.CudnnRNNV3(
        input=x, input_h=h0[None], input_c=c0[None], params=params, sequence_lengths=[3, 1], direction="unidirectional"
    )
    np.testing.assert_allclose(lengths[0][1:, 1], np.zeros((2, 5)))
    np.testing.assert_allclose(lengths[1][0], [outputs[2][0], outputs[0][1]], atol=1e-5)
    i, f, c, o = np.split(weights, 4, axis=1)
    order = np.concatenate([i, f, c, o], 1)  # of BlockLSTMV2
    zero = np.zeros(5, np.float32)
    block = raw.BlockLSTMV2(
        seq_len_max=2, x=x, cs_prev=c0, h_prev=h0, w=order, wci=zero, wcf=zero, wco=zero, b=np.zeros(20, np.float32)
    )
    np.testing.assert_allclose(block[6], [*outputs[:2], np.zeros((2, 5))], atol=1e-5)


def test_results_have_the_names_of_the_op():
    assert raw.UniqueV2(x=[3, 3], axis=[0])._fields == ("y", "idx")
    assert raw.Svd(input=np.eye(2, dtype=np.float32)).s.numpy().tolist() == [1, 1]
    assert type(raw.UniqueWithCounts(x=[3, 3])).__name__ == "UniqueWithCounts"
    in_graph = tf.function(lambda x: raw.TopKV2(input=x, k=1).indices)
    assert in_graph(np.float32([1, 2])).numpy().tolist() == [1]
