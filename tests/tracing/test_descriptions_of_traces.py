"""Names, types and variables that functions, traces and their graphs report."""

from __future__ import annotations

import gc
import inspect
import itertools

import autoconv as tf


def test_a_function_has_a_name_a_type_and_an_input_signature():
    @tf.function
    def scaled(x, factor=2, *rest, offset):
        return x * factor + offset

    assert scaled.name == "scaled"
    assert str(scaled.function_type) == "(x, factor=<captured_default_value>, *rest, offset)"
    assert scaled.function_type.parameters["offset"].kind is inspect.Parameter.KEYWORD_ONLY
    assert scaled.input_signature is None
    assert scaled.experimental_get_tracing_count() == 0

    spec = tf.TensorSpec([None], tf.float32)
    typed = tf.function(lambda x: x, input_signature=[spec])
    assert typed.input_signature == (spec,)
    assert str(typed.function_type) == f"(x: {spec!r})"


def test_descriptions_of_methods_leave_out_self():
    class Scale:
        @tf.function
        def apply(self, x):
            return x * 2

    assert Scale().apply.name == "apply"
    assert str(Scale().apply.function_type) == "(x)"


def test_the_function_of_a_class_explains_the_methods_of_its_latest_instances():
    class Scale:
        def __init__(self):
            self.calls = itertools.count()

        @tf.compile
        def apply(self, x):
            return x * next(self.calls)

    objects = [Scale() for _ in range(5)]
    texts = [(scale.apply(2.0), scale.apply.explain())[1] for scale in objects]
    assert "plain Python" in texts[0] and "self.calls (a count) is read" in texts[0]
    text = Scale.apply.explain()
    assert text.startswith("apply: 0 traces\n") and text.count("  method of a Scale, apply: 0 traces") == 3
    assert text.endswith("methods of more instances, 2 in number")
    del objects[1:]
    gc.collect()
    assert Scale.apply.explain().count("method") == 1


def test_inputs_have_the_names_of_their_specs():
    left, key = tf.TensorSpec([2], tf.float32, name="left"), tf.TensorSpec([], tf.float32, name="key")

    @tf.function(input_signature=[left, {"k": key, "other": tf.TensorSpec([], tf.int32)}])
    def add(a, d):
        return a + d["k"]

    assert add([1.0, 2.0], {"k": 3.0, "other": 0}).numpy().tolist() == [4.0, 5.0]
    concrete = add.get_concrete_function()
    assert [tensor.name for tensor in concrete.inputs] == ["left:0", "key:0", "d:0"]
    assert concrete.structured_input_signature == (
        (left, {"k": key, "other": tf.TensorSpec([], tf.int32, name="d")}),
        {},
    )


def test_get_concrete_function_names_inputs_by_specs():
    double = tf.function(lambda x: x + x)
    concrete = double.get_concrete_function(tf.TensorSpec([], tf.float32, name="given"))
    assert [tensor.name for tensor in concrete.inputs] == ["given:0"]
    assert concrete(x=tf.constant(2.0)).numpy() == 4.0
    assert double(tf.constant(3.0)).numpy() == 6.0
    assert double.experimental_get_tracing_count() == 1


def test_a_graph_names_its_variables():
    weight, count = tf.Variable(2.0), tf.Variable(0.0, trainable=False)
    graph = tf.function(lambda x: x * weight + count).get_concrete_function(tf.constant(1.0)).graph
    assert {id(v) for v in graph.variables} == {id(weight), id(count)}
    assert [id(v) for v in graph.trainable_variables] == [id(weight)]
    assert graph.as_graph_def().versions.producer == 1


def test_types_of_functions_mark_kinds_of_parameters():
    @tf.function
    def collecting(x, *more, factor=2):
        return x * factor

    @tf.function
    def by_keyword(x, /, y, *, z):
        return x + y + z

    one = tf.constant(1)
    spec = "TensorSpec(shape=(), dtype=autoconv.int32, name=None)"
    type_ = collecting.get_concrete_function(one, one).function_type
    assert str(type_) == f"(x: {spec}, more_0: {spec}, /, *, factor: Literal[2]) -> {spec}"
    type_ = by_keyword.get_concrete_function(one, 2, z=one).function_type
    assert str(type_) == f"(x: {spec}, /, y: Literal[2], *, z: {spec}) -> {spec}"
