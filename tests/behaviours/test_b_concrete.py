"""Section B: concrete functions, their signatures and refusals."""


import numpy as np

import autoconv as tf
from tests.behaviours.facts import raises


def _double():
    @tf.function
    def double(a):
        return a + a

    return double


STRING = "TensorSpec(shape=(), dtype=autoconv.string, name=None)"


def test_line_043_from_a_tensor_or_a_spec():
    double = _double()
    for argument in (tf.constant("a"), tf.TensorSpec([], tf.string), tf.TensorSpec(shape=[], dtype=tf.string)):
        cf = double.get_concrete_function(argument)
        assert cf(tf.constant("a")).numpy() == b"aa"
        assert cf(a=tf.constant("a")).numpy() == b"aa"
    assert double.experimental_get_tracing_count() == 1


def test_line_044_as_text(capsys):
    cf = _double().get_concrete_function(tf.constant("a"))
    print(cf)
    assert capsys.readouterr().out == (
        f"ConcreteFunction Input Parameters:\n  a (POSITIONAL_OR_KEYWORD): {STRING}\n"
        f"Output Type:\n  {STRING}\nCaptures:\n  None\n"
    )
    assert repr(cf) == f"<ConcreteFunction (a: {STRING}) -> {STRING} at 0x{id(cf):x}>"


def test_line_045_its_type():
    cf = _double().get_concrete_function(tf.constant("a"))
    line = f"(a: {STRING}) -> {STRING}"
    assert str(cf.function_type) == line
    assert cf.pretty_printed_signature(verbose=False) == line
    block = (
        f"Input Parameters:\n  a (POSITIONAL_OR_KEYWORD): {STRING}\nOutput Type:\n  {STRING}\nCaptures:\n  None"
    )
    assert cf.pretty_printed_signature() == cf.pretty_printed_signature(verbose=True) == block


def test_line_046_structured_signatures():
    cf = _double().get_concrete_function(tf.constant("a"))
    assert cf.structured_input_signature == ((tf.TensorSpec(shape=(), dtype=tf.string, name="a"),), {})
    assert repr(cf.structured_input_signature) == (
        "((TensorSpec(shape=(), dtype=autoconv.string, name='a'),), {})"
    )
    assert str(cf.structured_outputs) == 'Tensor("Identity:0", shape=(), dtype=string)'

    @tf.function
    def nested(d):
        return {"sum": d["x"] + d["y"]}

    cf = nested.get_concrete_function({"x": tf.constant(1), "y": tf.constant(2)})
    assert [t.name for t in cf.inputs] == ["d:0", "d_1:0"]
    assert str(cf.structured_outputs) == repr({"sum": cf.structured_outputs["sum"]})
    assert cf.structured_outputs["sum"].name == "Identity:0"
    (argument,), keywords = cf.structured_input_signature
    assert keywords == {} and set(argument) == {"x", "y"}
    assert argument["x"].dtype == tf.int32 and argument["x"].shape == ()


def test_line_047_what_it_holds():
    cf = _double().get_concrete_function(tf.constant("a"))
    assert str(cf.inputs) == "[<autoconv.Tensor 'a:0' shape=() dtype=string>]"
    assert str(cf.outputs) == "[<autoconv.Tensor 'Identity:0' shape=() dtype=string>]"
    assert isinstance(cf.name, bytes)
    prefix, number = cf.name.decode().rsplit("_", 1)
    assert prefix == "__inference_double" and number.isdigit()
    assert list(cf.captured_inputs) == []
    assert list(cf.variables) == []


def test_line_048_a_wrong_dtype():
    cf = _double().get_concrete_function(tf.constant("a"))
    name = cf.name.decode()
    with raises(
        tf.errors.InvalidArgumentError,
        f"cannot compute {name} as input #0(zero-based) was expected to be a string tensor but is a int32 tensor",
        f"[Op:{name}]",
    ):
        cf(tf.constant(1))


def test_line_049_a_wrong_shape_is_refused_and_values_convert():
    cf = _double().get_concrete_function(tf.TensorSpec([2], tf.float32))
    spec = "TensorSpec(shape=(2,), dtype=autoconv.float32, name=None)"
    with raises(TypeError, "Can not cast TensorSpec(shape=(3,), dtype=autoconv.float32, name=None) to " + spec):
        cf(tf.constant([1.0, 2.0, 3.0]))
    with raises(
        TypeError, "Can not cast", "to " + spec, "double(a)",
        "expected argument #0(zero-based) to be a Tensor; got float (1.0)",
    ):  # fmt: skip
        cf(1.0)
    assert cf([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    assert cf(np.array([1.0, 2.0], np.float32)).numpy().tolist() == [2.0, 4.0]
    text = _double().get_concrete_function(tf.constant("a"))
    assert text("b").numpy() == b"bb"


def test_line_050_missing_and_extra_arguments():
    cf = _double().get_concrete_function(tf.constant("a"))
    with raises(TypeError, "missing a required argument: 'a'", "double(a) missing required arguments: a."):
        cf()
    with raises(TypeError, "too many positional arguments", "double(a) takes 1 positional arguments, got 2."):
        cf(tf.constant("a"), tf.constant("b"))


def test_line_051_python_arguments_are_fixed():
    @tf.function
    def pow(a, b):
        return a**b

    square = pow.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
    text = str(square)
    assert "a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=<unknown>, dtype=autoconv.float32, name=None)" in text
    assert "b (POSITIONAL_OR_KEYWORD): Literal[2]" in text
    assert square(10.0).numpy() == 100.0
    assert square(tf.constant(10.0)).numpy() == 100.0
    assert square(tf.constant(10.0), b=2).numpy() == 100.0
    with raises(TypeError, "Can not cast 3 to Literal[2]", "pow(a) got unexpected keyword arguments: b."):
        square(tf.constant(10.0), b=3)


def test_line_052_an_input_signature_needs_no_arguments():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return x + x

    assert f.get_concrete_function() is f.get_concrete_function()
    assert f.get_concrete_function()(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]


def test_line_060_captured_tensors_and_variables():
    t, v = tf.constant([1.0, 2.0]), tf.Variable(3.0)

    @tf.function
    def f(x):
        return x + t

    cf = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert cf.captured_inputs[0] is t
    assert [node.name for node in cf.graph.as_graph_def().node if node.op == "Placeholder"] == ["x", "add/y"]

    @tf.function
    def g(x):
        return x * v

    cf = g.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert len(cf.captured_inputs) == 1
    assert cf.captured_inputs[0].dtype == tf.resource
    assert len(cf.variables) == 1 and cf.variables[0] is v


