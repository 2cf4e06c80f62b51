"""Modules: variables, submodules, names, and methods as functions."""

from __future__ import annotations

import pytest

import autoconv as tf


class Dense(tf.Module):
    def __init__(self, size: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.size = size
        self.w: tf.Variable | None = None

    @tf.Module.with_name_scope
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if self.w is None:
            self.w = tf.Variable(tf.ones([x.shape[-1], self.size]), name="w")
        return tf.matmul(x, self.w)


class TwoLayerNet(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [Dense(3), Dense(2, name="last")]
        self.extra = {"b": tf.Variable(1.0, name="b"), "a": (tf.Variable(2.0, name="a", trainable=False),)}
        self.same_layer = self.layers[0]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def test_names() -> None:
    net = TwoLayerNet()
    assert net.name == "two_layer_net" and Dense(1).name == "dense" and net.layers[1].name == "last"
    with pytest.raises(ValueError, match="not a valid module name"):
        Dense(1, name="no name")


def test_variables_are_found_once_in_attributes_lists_and_dicts() -> None:
    net = TwoLayerNet()
    assert [v.name for v in net.variables] == ["a:0", "b:0"]
    net(tf.ones([1, 4]))
    assert [v.name for v in net.variables] == ["a:0", "b:0", "dense/w:0", "last/w:0"]
    assert [v.name for v in net.trainable_variables] == ["b:0", "dense/w:0", "last/w:0"]
    assert [v.name for v in net.non_trainable_variables] == ["a:0"]
    assert net.submodules == tuple(net.layers)


def test_a_module_with_a_reference_to_its_parent_is_searched_once() -> None:
    parent, child = Dense(1), Dense(1)
    parent.child, child.parent = child, parent  # type: ignore[attr-defined]
    child.w = tf.Variable(1.0)
    assert len(parent.variables) == 1


def test_a_method_as_a_function() -> None:
    class Counter(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = tf.Variable(0)

        @tf.function
        def __call__(self) -> tf.Tensor:
            return self.count.assign_add(1)

    counter = Counter()
    assert [int(counter()), int(counter())] == [1, 2]
    assert counter.variables == (counter.count,)


def test_scoped_methods_convert() -> None:
    class Steps(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            if x > 0:
                x = x * 2
            return x

    steps = Steps()
    run = tf.function(lambda x: steps(x))
    assert int(run(tf.constant(4))) == 8 and int(run(tf.constant(-4))) == -4


def test_a_set_that_a_trace_makes_does_not_retrace() -> None:
    class Layer(tf.Module):
        seen: set[str] | None = None

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            if self.seen is None:
                self.seen = set()
            self.seen.add("called")
            return x + 1

    layer = Layer()
    for _ in range(6):
        layer(tf.ones(3))
    assert layer.seen == {"called"} and layer.__call__.experimental_get_tracing_count() <= 2
