"""Section A: the parts of the cache key, and calls that share a trace."""

import collections
import dataclasses
import enum
import gc
import weakref

import numpy as np
import pytest

import autoconv as tf
from tests.behaviours.facts import raises


def _constant():
    traced = []

    @tf.function
    def f(x):
        traced.append(x)
        return tf.constant(x)

    return f, traced


def test_line_007_numbers_are_keys_by_value():
    f, traced = _constant()
    assert [f(2).numpy(), f(3).numpy(), f(2).numpy()] == [2, 3, 2]
    assert traced == [2, 3]


def test_line_008_true_one_and_one_point_zero_are_different_keys():
    f, traced = _constant()
    results = [f(True), f(1), f(1.0), f(0), f(False), f(2.0), f(2)]
    assert [r.dtype for r in results] == [
        tf.bool, tf.int32, tf.float32, tf.int32, tf.bool, tf.float32, tf.int32,
    ]  # fmt: skip
    assert len(traced) == 7
    f(float("nan"))
    f(float("nan"))
    assert len(traced) == 8
    assert np.signbit(f(-0.0).numpy()) and not np.signbit(f(0.0).numpy())


def test_line_009_kinds_of_values_are_different_keys():
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    traced = []

    @tf.function
    def f(x):
        traced.append(x)
        return tf.constant(len(traced))

    for value in ("a", b"a", (1, 2), [1, 2], None, Color.RED, Color.BLUE, tf.int32, tf.float32):
        before = len(traced)
        number = f(value).numpy()
        assert len(traced) == before + 1
        assert f(value).numpy() == number
        assert len(traced) == before + 1
    f(tf.as_dtype("int32"))
    assert len(traced) == 9


def test_line_010_arrays_are_tensors(capsys):
    @tf.function
    def f(x):
        print(x)
        return x + x

    assert f(np.array([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert f(np.array([3.0, 4.0])).numpy().tolist() == [6.0, 8.0]
    assert capsys.readouterr().out == 'Tensor("x:0", shape=(2,), dtype=float64)\n'
    assert f(np.float32(1)).dtype == tf.float32
    assert capsys.readouterr().out == 'Tensor("x:0", shape=(), dtype=float32)\n'


def test_line_011_lists_are_no_tensors():
    @tf.function
    def my_relu(x):
        return tf.maximum(0.0, x)

    assert str(my_relu([1, -1]).numpy()) == "[1. 0.]"
    assert "x (POSITIONAL_OR_KEYWORD): List[Literal[1], Literal[-1]]" in my_relu.pretty_printed_concrete_signatures()

    @tf.function
    def total(x):
        return x[0] + x[1]

    total([tf.constant(1), tf.constant(2)])
    total([tf.constant(3), tf.constant(4)])
    assert total.experimental_get_tracing_count() == 1
    spec = "TensorSpec(shape=(), dtype=autoconv.int32, name=None)"
    assert f"x (POSITIONAL_OR_KEYWORD): List[{spec}, {spec}]" in total.pretty_printed_concrete_signatures()
    total([tf.constant(1.0), tf.constant(2.0)])
    assert total.experimental_get_tracing_count() == 2


def test_line_012_dicts():
    @tf.function
    def f(d):
        return d["a"] + d["b"]

    first, second = tf.constant(1), tf.constant(2)
    f({"a": first, "b": second})
    f({"b": second, "a": first})
    assert f.experimental_get_tracing_count() == 1
    f({"a": first, "b": second, "c": first})
    assert f.experimental_get_tracing_count() == 2
    f({"a": first, "b": tf.constant([1, 2])})
    assert f.experimental_get_tracing_count() == 3


def test_line_019_attributes_are_noticed_and_equal_objects_share():
    class SimpleModel(tf.Module):
        def __init__(self):
            self.bias = 0.0
            self.weight = 2.0

    traced = []

    @tf.function
    def evaluate(model, x):
        traced.append(model)
        return model.weight * x + model.bias

    simple_model = SimpleModel()
    x = tf.constant(10.0)
    assert evaluate(simple_model, x).numpy() == 20.0
    assert evaluate(simple_model, x).numpy() == 20.0
    assert len(traced) == 1
    simple_model.bias += 5.0
    assert evaluate(simple_model, x).numpy() == 25.0
    new_model = SimpleModel()
    assert evaluate(new_model, x).numpy() == 20.0
    assert len(traced) == 3

    class Same:
        def __eq__(self, other):
            return type(other) is Same

        def __hash__(self):
            return 7

    seen = []

    @tf.function
    def f(key):
        seen.append(key)
        return tf.constant(1)

    first, second = Same(), Same()
    f(first)
    f(second)
    assert len(seen) == 1


class Fruit:
    flavor = 1


def test_line_020_objects_are_held_weakly():
    traced = []

    @tf.function
    def mix(fruit):
        traced.append(1)
        return tf.constant(fruit.flavor)

    mix(Fruit())
    mix(Fruit())
    assert len(traced) == 2
    obj = Fruit()
    mix(obj)
    reference = weakref.ref(obj)
    del obj
    gc.collect()
    assert reference() is None


def test_line_021_dataclasses_and_named_tuples():
    @dataclasses.dataclass(frozen=True)
    class DC:
        n: int

    @tf.function
    def f(d):
        return tf.constant(d.n)

    assert f(DC(1)).numpy() == 1
    assert f(DC(1)).numpy() == 1
    assert f.experimental_get_tracing_count() == 2

    P = collections.namedtuple("P", "a b")

    @tf.function
    def g(p):
        return p.a + p.b

    t, t2 = tf.constant(1), tf.constant(5)
    assert [g(P(t, 2)).numpy(), g(P(t2, 2)).numpy()] == [3, 7]
    assert g.experimental_get_tracing_count() == 1


def test_line_022_sets_and_slices_are_refused():
    f, _ = _constant()
    for value in ({1, 2}, slice(1, 2)):
        with raises(
            TypeError,
            f"Could not generate a generic TraceType for {value}.Please verify that it is immutable/hashable. "
            "Otherwise, consider implementing the Tracing Protocol for it.",
        ):
            f(value)


def test_line_023_the_tracing_protocol():
    class FruitTraceType(tf.types.experimental.TraceType):
        def __init__(self, fruit):
            self.fruit_type = type(fruit)
            self.fruit_value = fruit

        def is_subtype_of(self, other):
            return type(other) is FruitTraceType and self.fruit_type is other.fruit_type

        def most_specific_common_supertype(self, others):
            return self if all(self == other for other in others) else None

        def placeholder_value(self, placeholder_context=None):
            return self.fruit_value

        def __eq__(self, other):
            return type(other) is FruitTraceType and self.fruit_type == other.fruit_type

        def __hash__(self):
            return hash(self.fruit_type)

    class FruitWithTraceType:
        def __tf_tracing_type__(self, context):
            return FruitTraceType(self)

    class AppleWithTraceType(FruitWithTraceType):
        flavor = tf.constant([1, 2])

    class MangoWithTraceType(FruitWithTraceType):
        flavor = tf.constant([3, 4])

    @tf.function
    def get_mixed_flavor(a, b):
        return a.flavor + b.flavor

    results = [
        get_mixed_flavor(AppleWithTraceType(), MangoWithTraceType()),
        get_mixed_flavor(AppleWithTraceType(), MangoWithTraceType()),
        get_mixed_flavor(MangoWithTraceType(), AppleWithTraceType()),
    ]
    assert [r.numpy().tolist() for r in results] == [[4, 6]] * 3
    assert get_mixed_flavor.experimental_get_tracing_count() == 2


def test_line_024_variables_are_keyed_by_spec_and_aliasing():
    @tf.function
    def addv(v):
        return v + 1.0

    v1, v2 = tf.Variable(1.0), tf.Variable(2.0)
    assert [addv(v1).numpy(), addv(v2).numpy()] == [2.0, 3.0]
    assert addv.experimental_get_tracing_count() == 1
    assert "VariableSpec(shape=(), dtype=autoconv.float32, trainable=True, alias_id=0)" in (
        addv.pretty_printed_concrete_signatures()
    )
    assert addv(tf.constant(3.0)).numpy() == 4.0
    assert addv.experimental_get_tracing_count() == 2

    @tf.function
    def two(a, b):
        a.assign_add(10.0)
        return a + b

    assert two(v1, v2).numpy() == 13.0
    assert two(v1, v1).numpy() == 42.0
    assert two.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("change", ["append", "pop", "del", "item", "nested"])
def test_line_031_lists_and_dicts_that_come_in_are_not_changed(change):
    t = tf.constant(0)
    argument = {"append": [t], "pop": [t], "del": {"a": t}, "item": {"a": t}, "nested": [{"k": t}]}[change]

    @tf.function
    def list_op(d):
        if change == "append":
            d.append(1)
        elif change == "pop":
            d.pop()
        elif change == "del":
            del d["a"]
        elif change == "item":
            d["b"] = 2
        else:
            d[0]["k"] = 2
        return tf.constant(1)

    before = repr(argument)
    with raises(
        ValueError, "list_op(d) should not modify its Python input arguments", "Modifying a copy is allowed",
        "The following parameter(s) were modified: d",
    ):  # fmt: skip
        list_op(argument)
    assert repr(argument) == before


def test_line_031_by_keyword_on_a_copy_and_attributes():
    @tf.function
    def kw_op(*, d):
        d["new"] = 1
        return tf.constant(1)

    tensor_argument = {"a": tf.constant(0)}
    with raises(ValueError, "kw_op(*, d) should not modify its Python input arguments", "were modified: d"):
        kw_op(d=tensor_argument)
    assert list(tensor_argument) == ["a"]

    @tf.function
    def copy_op(d):
        d = dict(d)
        d["new"] = 1
        return d["a"]

    assert copy_op(tensor_argument).numpy() == 0

    class Holder:
        n = 1

    @tf.function
    def attribute_op(holder):
        holder.n = 2
        return tf.constant(1)

    assert attribute_op(Holder()).numpy() == 1
