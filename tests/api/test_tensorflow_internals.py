"""TensorFlow's internals that Keras 2 and TensorFlow Probability import."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
from autoconv import tensorflow as tf
from autoconv.tensorflow.python.eager import context
from autoconv.tensorflow.python.ops.linalg import linear_operator_addition
from autoconv.tensorflow.python.util import dispatch, nest, object_identity, tf_export

internal = tf.__internal__


class Symbolic:
    """A value of a library that no op takes."""


def test_dispatchers_replace_functions_that_refuse_their_arguments() -> None:
    class Dispatcher(internal.dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            symbolic = any(isinstance(value, Symbolic) for value in args)
            return tf_export.get_canonical_name_for_symbol(op) if symbolic else self.NOT_SUPPORTED

    Dispatcher().register()
    assert tf.nn.relu(Symbolic()) == "nn.relu"
    assert tf.__operators__.getitem(Symbolic(), 0) == "__operators__.getitem"
    with pytest.raises(ValueError):
        tf.nn.relu("text")


def test_handlers_of_a_function_of_a_library() -> None:
    @dispatch.add_dispatch_support
    def size(x):
        return tf.convert_to_tensor(x).shape[0]

    @dispatch.dispatch_for_types(size, tf.RaggedTensor)
    def ragged_size(x):
        return int(x.nrows())

    assert size([1, 2]) == 2
    assert size(tf.ragged.constant([[1], [2, 3], []])) == 3


def test_public_names_of_a_library() -> None:
    @tf_export.keras_export("keras.layers.Doubling", "keras.Doubling")
    class Doubling:
        pass

    assert tf_export.get_canonical_name_for_symbol(Doubling, api_name="keras") == "keras.layers.Doubling"
    assert tf_export.get_symbol_from_name("keras.Doubling") is Doubling
    assert tf_export.get_canonical_name_for_symbol(test_public_names_of_a_library) is None
    assert tf_export.get_symbol_from_name("math.reduce_sum") is ac.math.reduce_sum


def test_containers_in_attributes_have_the_weights_of_their_items() -> None:
    class Layer:
        def __init__(self) -> None:
            self.trainable_weights, self.non_trainable_weights = [ac.Variable(1.0)], [ac.Variable(2.0)]

    layers = [Layer(), Layer()]
    wrapped = internal.tracking.wrap([layers[0], {"b": layers[1]}, ac.Variable(3.0)])
    assert isinstance(wrapped, list) and wrapped.layers == layers
    assert [float(v) for v in wrapped.trainable_weights] == [3.0, 1.0, 1.0]
    wrapped.trainable = False
    assert wrapped.trainable_weights == [] and len(wrapped.non_trainable_weights) == 5
    assert internal.tracking.wrap(internal.tracking.NoDependency([1])) == [1]


def test_parts_of_objects_are_restored_from_checkpoints(tmp_path) -> None:
    class Owner(ac.Module):
        def __setattr__(self, name, value):
            super().__setattr__(name, internal.tracking.sticky_attribute_assignment(self, name, value))

    owner = Owner()
    owner.kept, owner.parts = ac.Variable(1.0), [ac.Variable(2.0)]
    path = ac.train.Checkpoint(owner).save(str(tmp_path / "c"))
    assert {name for name, _ in ac.train.list_variables(path) if "kept" in name or "parts" in name} == {
        "kept/.ATTRIBUTES/VARIABLE_VALUE", "parts/0/.ATTRIBUTES/VARIABLE_VALUE",
    }  # fmt: skip
    new = Owner()
    status = ac.train.Checkpoint(new).restore(path)
    new.kept, new.parts = ac.Variable(0.0), [ac.Variable(0.0)]
    status.assert_existing_objects_matched()
    assert float(new.kept) == 1.0 and float(new.parts[0]) == 2.0


def test_weights_are_broadcast_to_the_rank_of_the_values() -> None:
    broadcast = internal.ops.broadcast_weights
    assert broadcast([[1.0], [2.0]], tf.ones([2, 3])).numpy().tolist() == [[1.0] * 3, [2.0] * 3]
    assert broadcast(2.0, tf.ones([2])).numpy().tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="can not be broadcast to values"):
        broadcast([1.0, 2.0], tf.ones([2, 2]))


def test_variables_may_derive_from_the_class_of_tensors() -> None:
    class Wrapper(ac.Variable, internal.types.Tensor):
        def __init__(self, value):
            self.inner = value

    assert isinstance(ac.constant(1), internal.types.Tensor) and isinstance(Wrapper(1), ac.Variable)
    assert not isinstance(1, internal.types.Tensor)


def test_tests_in_graph_mode_compute_by_sessions() -> None:
    test = tf.test.TestCase()
    with tf.compat.v1.Graph().as_default(), context.graph_mode():
        x = tf.constant(2.0) * 3
        assert not tf.executing_eagerly() and test.evaluate({"x": [x]}) == {"x": [6.0]}
        with test.session() as session:
            assert session.run(x) == 6.0
    with context.eager_mode(), test.session() as session:
        assert session.run(tf.constant(1)) == 1


def test_sums_of_linear_operators() -> None:
    add = linear_operator_addition.add_operators
    diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    (total,) = add([diagonal, tf.linalg.LinearOperatorIdentity(2)])
    assert isinstance(total, tf.linalg.LinearOperatorDiag) and total.diag_part().numpy().tolist() == [2.0, 3.0]
    (total,) = add([diagonal, tf.linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [5.0, 1.0]])])
    assert isinstance(total, tf.linalg.LinearOperatorLowerTriangular)
    np.testing.assert_array_equal(total.to_dense(), [[2.0, 0.0], [5.0, 3.0]])
    with pytest.raises(TypeError):
        add([diagonal, tf.linalg.LinearOperatorZeros(2)])


def test_keys_by_identity_and_tuples_of_lists() -> None:
    a, b = [1], [1]
    table = object_identity.ObjectIdentityDictionary([(a, "a")])
    assert a in table and b not in table and object_identity.Reference(a) == object_identity.Reference(a)
    assert list(object_identity.ObjectIdentitySet([a, a, b])) == [a, b]
    assert nest.list_to_tuple({"x": [1, [2]]}) == {"x": (1, (2,))}


def test_bases_that_do_not_exist_raise_when_objects_are_made() -> None:
    class Column(internal.feature_column.FeatureColumn):
        pass

    with pytest.raises(ac.errors.UnimplementedError, match="FeatureColumn"):
        Column()
