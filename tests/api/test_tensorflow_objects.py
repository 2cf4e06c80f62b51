"""Uses of shapes, tensors, specs, slices and Optionals in programs for TensorFlow."""

import importlib

import numpy as np
import pytest

import autoconv as ac


def test_shapes_are_refined_and_checked():
    shape = ac.TensorShape([None, 3])
    assert shape.with_rank(2) == shape and shape.with_rank_at_least(1) is shape and shape.with_rank_at_most(2) is shape
    assert shape.merge_with([2, None]) == ac.TensorShape([2, 3])
    assert ac.TensorShape(None).merge_with([2]) == ac.TensorShape([2])
    assert [1] + shape == ac.TensorShape([1, None, 3]) and (1,) + shape == [1] + shape  # noqa: RUF005 the operator
    shape.assert_has_rank(2)
    shape.assert_same_rank([1, 2])
    shape.assert_is_compatible_with([5, 3])
    ac.TensorShape([1]).assert_is_fully_defined()
    for wrong in (
        lambda: shape.with_rank(3), lambda: shape.with_rank_at_least(3), lambda: shape.with_rank_at_most(1),
        lambda: shape.merge_with([2, 4]), lambda: shape.assert_has_rank(1), lambda: shape.assert_same_rank([1]),
        lambda: shape.assert_is_compatible_with([1, 2]), shape.assert_is_fully_defined,
    ):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()


def test_tensors_take_attributes():
    for tensor in (ac.constant(1.0), ac.Variable(1.0)):
        tensor.note = "kept"
        assert tensor.note == "kept"

    @ac.function
    def f(x):
        x.note = 3
        return x * x.note

    assert float(f(ac.constant(2.0))) == 6.0


def test_the_op_of_a_tensor():
    seen = []

    @ac.function
    def f(x):
        y = ac.sigmoid(x + 1.0)
        seen.extend((y.op.type, y.op.inputs[0].op.type, x.op.type, y.op.outputs[0].shape, y.op == y.op))
        return y

    f(ac.constant([1.0, 2.0]))
    assert seen == ["Sigmoid", "AddV2", "Placeholder", ac.TensorShape([2]), True]


def test_gradients_of_gathered_rows_are_slices_in_graphs():
    table = ac.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def gradient(indices):
        with ac.GradientTape() as tape:
            value = ac.reduce_sum(ac.gather(table, indices) ** 2) + ac.reduce_sum(ac.gather(table, [2]))
        return tape.gradient(value, table)

    eager, graph = gradient(ac.constant([0, 0])), ac.function(gradient)(ac.constant([0, 0]))
    for found in (eager, graph):
        assert isinstance(found, ac.IndexedSlices)
        np.testing.assert_array_equal(ac.convert_to_tensor(found).numpy(), [[4.0, 8.0], [0.0, 0.0], [1.0, 1.0]])
        assert sorted(found.indices.numpy().tolist()) == [0, 0, 2]
    squares = ac.function(lambda: ac.convert_to_tensor(ac.cast(gradient(ac.constant([1, 1])), ac.float64) * 0.5))()
    np.testing.assert_array_equal(squares.numpy(), [[0.0, 0.0], [6.0, 8.0], [0.5, 0.5]])


def test_a_table_with_other_uses_has_a_dense_gradient():
    table = ac.Variable([[1.0], [2.0]])

    @ac.function
    def gradient():
        with ac.GradientTape() as tape:
            value = ac.reduce_sum(ac.gather(table, [1])) + ac.reduce_sum(table * 3.0)
        return tape.gradient(value, table)

    np.testing.assert_array_equal(ac.convert_to_tensor(gradient()).numpy(), [[3.0], [4.0]])


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    def __tf_tensor__(self, dtype=None, name=None):
        return ac.constant(self.degrees, dtype)


def test_objects_that_become_tensors_are_operands():
    assert float(ac.add(Celsius(20.0), 1.0)) == 21.0
    assert float(ac.function(lambda: ac.reduce_sum(ac.stack([Celsius(1.0), Celsius(2.0)])))()) == 3.0
    assert not ac.is_tensor(Celsius(1.0))


def test_optionals_in_functions_and_loops():
    iterator = iter(ac.data.Dataset.range(5))

    @ac.function
    def total():
        found = ac.constant(0, ac.int64)
        element = iterator.get_next_as_optional()
        while element.has_value():
            found += element.get_value()
            element = iterator.get_next_as_optional()
        return found, element

    found, end = total()
    assert int(found) == 10 and not bool(end.has_value())
    with pytest.raises(ac.errors.InvalidArgumentError, match="does not have a value"):
        end.get_value()
    pair = ac.experimental.Optional.from_value({"a": ac.constant([1.0]), "b": (2,)})
    assert pair.element_spec["a"] == ac.TensorSpec([1], ac.float32)
    assert not bool(ac.experimental.Optional.empty(pair.element_spec).has_value())


def convolve(x, kernel, steps, gaps):
    """Convolve without padding, by loops over batch, spatial dimensions and channels."""
    count = x.ndim - 2
    sizes = [(x.shape[1 + i] - (kernel.shape[i] - 1) * gaps[i] - 1) // steps[i] + 1 for i in range(count)]
    result = np.zeros((x.shape[0], *sizes, kernel.shape[-1]))
    for position in np.ndindex(*sizes):
        for offset in np.ndindex(*kernel.shape[:count]):
            source = tuple(position[i] * steps[i] + offset[i] * gaps[i] for i in range(count))
            result[(slice(None), *position)] += x[(slice(None), *source)] @ kernel[offset]
    return result


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(("step", "gap"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_convolutions_of_every_rank(count, step, gap):
    rng = np.random.default_rng(count)
    x = rng.normal(size=(2, *range(7, 7 + count), 3))
    kernel = rng.normal(size=(*[2, 3, 2][:count], 3, 4))
    if step > 1 and gap > 1:  # as in TensorFlow
        with pytest.raises(ValueError, match="strides > 1 not supported in conjunction with dilations > 1"):
            ac.nn.convolution(x, kernel, step, "VALID", dilations=gap)
        return
    found = ac.nn.convolution(x, kernel, step, "VALID", dilations=gap)
    expected = convolve(x, kernel, [step] * count, [gap] * count)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-12)
    first = np.moveaxis(x, -1, 1)
    layout = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[count]
    found = ac.function(lambda x: ac.nn.convolution(x, kernel, step, data_format=layout, dilations=gap))(first)
    np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, -1), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("sides", "step", "gap"), [((7,), 2, 1), ((6, 5), 2, 1), ((7, 6), 1, 2), ((4, 5, 4), 3, 1)])
def test_a_transposed_convolution_is_the_gradient_of_the_convolution(padding, sides, step, gap):
    rng = np.random.default_rng(7)
    x = ac.constant(rng.normal(size=(2, *sides, 3)))
    kernel = ac.constant(rng.normal(size=(*[2] * len(sides), 3, 4)))
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = ac.nn.convolution(x, kernel, step, padding, dilations=gap)
        weights = ac.constant(rng.normal(size=y.shape))
        value = ac.reduce_sum(y * weights)
    found = ac.nn.conv_transpose(weights, kernel, x.shape, step, padding, dilations=gap)
    np.testing.assert_allclose(found.numpy(), tape.gradient(value, x).numpy(), rtol=1e-10, atol=1e-12)


def test_depthwise_and_separable_convolutions():
    rng = np.random.default_rng(2)
    x, kernel = rng.normal(size=(1, 5, 6, 2)), rng.normal(size=(2, 3, 2, 3))
    parts = [convolve(x[..., c : c + 1], kernel[:, :, c : c + 1], [1, 1], [1, 1]) for c in range(2)]
    expected = np.concatenate(parts, -1)
    found = ac.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "VALID")
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-12)
    point = rng.normal(size=(1, 1, 6, 4))
    found = ac.nn.separable_conv2d(x, kernel, point, [1, 1, 1, 1], "VALID")
    np.testing.assert_allclose(found.numpy(), expected @ point[0, 0], rtol=1e-11, atol=1e-12)


def test_one_replica():
    strategy = ac.distribute.get_strategy()
    with ac.distribute.MirroredStrategy().scope() as inner:
        assert ac.distribute.has_strategy() and ac.distribute.get_strategy() is inner
    assert not ac.distribute.has_strategy() and strategy.num_replicas_in_sync == 1
    assert float(strategy.reduce("SUM", ac.constant([1.0, 2.0]), axis=0)) == 3.0
    assert float(strategy.reduce(ac.distribute.ReduceOp.MEAN, ac.constant(4.0), axis=None)) == 4.0
    with pytest.raises(ac.errors.UnimplementedError, match="TPUs"):
        ac.distribute.TPUStrategy()


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_pools_with_gaps(kind, count):
    x = np.random.default_rng(1).normal(size=(2, *range(7, 7 + count), 3))
    found = ac.nn.pool(x, [2] * count, kind, dilations=[2] * count).numpy()
    sizes = [side - 2 for side in x.shape[1:-1]]
    parts = [x[(slice(None), *(slice(2 * a, 2 * a + n) for a, n in zip(offset, sizes, strict=True)))]
             for offset in np.ndindex(*[2] * count)]  # fmt: skip
    np.testing.assert_allclose(found, (np.max if kind == "MAX" else np.mean)(parts, axis=0), rtol=1e-12)
    with pytest.raises(ValueError, match="pooling_type"):
        ac.nn.pool(x, 2, "MEDIAN")


def test_missing_names_raise_errors_with_the_name():
    tf = ac.tensorflow
    assert not isinstance(ac.constant(1), (tf.SparseTensor, tf.RaggedTensor))
    assert tf.SparseTensor is ac.SparseTensor and tf.sparse is ac.sparse
    for module, name in ((tf, "nothing"), (tf.sparse, "nothing"), (tf.raw_ops, "TPUEmbedding")):
        with pytest.raises(AttributeError, match=name):
            getattr(module, name)


def test_public_namespaces_are_imported_as_modules():
    """`import tensorflow.io.gfile` of a renamed package gives autoconv's own modules, which keep their names."""
    assert importlib.import_module("autoconv.tensorflow.io.gfile") is ac.io.gfile
    assert importlib.import_module("autoconv.tensorflow.math") is ac.math
    assert ac.io.__spec__.name == ac.io.__name__ == "autoconv.io"
    for absent in ("runtime", "io.nowhere", "Tensor"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"autoconv.tensorflow.{absent}")
