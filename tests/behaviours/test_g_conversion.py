"""Converted and unconverted code, and errors in converted code."""

# ruff: noqa: C416 - the programs are meant as they are written

import dataclasses
import functools
import inspect
import re
from typing import NamedTuple

import numpy as np
import pytest

import autoconv as tf


def values(*results):
    return [r if r is None else r.numpy().tolist() for r in results]


def sign(x):
    if x > 0:
        return 1
    return -1


def doubling(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) * 2

    return wrapper


@doubling
def decorated(x):
    if x > 0:
        return x
    return -x


class Base:
    def scaled(self, x):
        if x > 10:
            return x
        return x * self.rate


class Model(Base):
    def __init__(self, x):
        if x > 0:
            self.rate = 2
        else:
            self.rate = 3

    def __call__(self, x):
        if x > 0:
            return self.scaled(x)
        return -x

    def scaled(self, x):
        return super().scaled(x) + 1

    @property
    def doubled_rate(self):
        if self.rate > 2:
            return self.rate * 2
        return 0

    @classmethod
    def made(cls, x):
        return cls(x)

    @staticmethod
    def negative(x):
        if x > 0:
            return -x
        return x


class Pair(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0

    def norm(self):
        if self.x > self.y:
            return self.x
        return self.y


def countdown(n):
    while n > 0:
        yield n
        n = n - 1


def test_line_116_callees_are_converted():
    model = Model(tf.constant(1))

    @tf.function
    def f(x):
        if_lambda = lambda v: 1 if v > 0 else -1
        partial = functools.partial(lambda a, b: a if a > b else b, x)

        def nested(v):
            if v > 5:
                return v - 5
            return v

        return sign(x), if_lambda(x), model.scaled(x), model(x), partial(2), decorated(x), nested(x)

    assert values(*f(tf.constant(7))) == [1, 1, 15, 15, 7, 14, 2]
    assert values(*f(tf.constant(-7))) == [-1, -1, -13, 7, 2, 14, -7]

    @tf.function
    def constructs(x):
        made = Model(x)
        other = Model.made(-x)
        return made.rate, other.rate, made.doubled_rate, Model.negative(x)

    assert values(*constructs(tf.constant(1))) == [2, 3, 0, -1]
    assert values(*constructs(tf.constant(-1))) == [3, 2, 6, -1]

    @tf.function
    def structures(x):
        pair = Pair(x, sign(x))
        point = Point(x, 5)
        return pair, point.norm()

    pair, norm = structures(tf.constant(7))
    assert (type(pair).__name__, pair.second.numpy(), norm.numpy()) == ("Pair", 1, 7)

    @tf.function
    def generated(x):
        total = 0
        for value in (sign(x) * k for k in (1, 2, 3)):
            total += value
        for value in countdown(3):
            total += value
        return total

    assert values(generated(tf.constant(4)), generated(tf.constant(-4))) == [12, 0]


def test_line_117_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def helper(x):
        if x > 0:
            return 1
        return -1

    @tf.function
    def f(x):
        return helper(x)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
        f(tf.constant(1))
    assert "Using a symbolic `autoconv.Tensor` as a Python `bool` is not allowed" in str(caught.value)
    frames = [entry for entry in caught.traceback if entry.path.name == "test_g_conversion.py"]
    assert (frames[-1].name, str(frames[-1].statement).strip()) == ("helper", "if x > 0:")

    @tf.function
    def by_call(x):
        return tf.autograph.experimental.do_not_convert(sign)(x)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        by_call(tf.constant(1))


def test_line_118_what_cannot_be_converted_and_what_can():
    namespace = {}
    exec("def f(x):\n    if x > 0:\n        return 1\n    return -1\n", namespace)
    with pytest.raises(tf.errors.ConversionError, match="the source of 'f' cannot be found") as caught:
        tf.function(namespace["f"])(tf.constant(1))
    assert "do_not_convert to run it as it is" in str(caught.value)

    @tf.function
    def for_else(n, x):
        for i in tf.range(n):
            if i == x:
                found = i
                break
        else:
            found = -1
        return found

    assert values(for_else(tf.constant(4), tf.constant(2)), for_else(tf.constant(4), tf.constant(9))) == [2, -1]

    @tf.function
    def walrus(x):
        if (y := x * 2) > 4:
            return y
        return -y

    assert values(walrus(tf.constant(3)), walrus(tf.constant(1))) == [6, -2]

    @tf.function
    def matches(x):
        match x:
            case 1:
                return 10
            case 2 | 3:
                return 20
            case _:
                return 30

    assert values(*map(matches, map(tf.constant, (1, 3, 7)))) == [10, 20, 30]

    first, second = lambda x: x + 1 if x > 0 else x - 1, lambda x: x + 2 if x > 0 else x - 2

    @tf.function
    def lambdas(x):
        return first(x), second(x)

    assert values(*lambdas(tf.constant(1))) == [2, 3]
    assert values(*lambdas(tf.constant(-1))) == [-2, -3]


def f(x):
    if x < 0:
        x = -x
    return x


def test_line_119_to_code():
    code = tf.autograph.to_code(f)
    assert code.startswith("def tf__f(x):")
    for part in ("def if_body(", "ag__.if_stmt(x < 0, if_body", "('x',)", "return x"):
        assert part in code
    compile(code, "shown", "exec")
    refused = "Cannot apply autograph to a function that doesn't expose a __code__ object"
    with pytest.raises(ValueError, match=refused) as caught:
        tf.autograph.to_code(tf.function(f))
    assert "python_function" in str(caught.value)


def test_line_120_to_graph():
    converted = tf.autograph.to_graph(f)
    assert repr(converted(tf.constant(-2))) == "<autoconv.Tensor: shape=(), dtype=int32, numpy=2>"
    assert converted(-2) == 2
    assert converted.__name__ == "tf__f"
    assert tf.function(lambda x: converted(x))(tf.constant(-5)).numpy() == 5


def test_line_121_trace_and_verbosity(capsys):
    for i in tf.range(3):
        tf.autograph.trace(i)
    assert capsys.readouterr().out.splitlines() == [f"autoconv.Tensor({i}, shape=(), dtype=int32)" for i in range(3)]

    @tf.function
    def inside(x):
        tf.autograph.trace(x)
        return f(x)

    tf.autograph.set_verbosity(3, True)
    try:
        inside(tf.constant(1))
        inside(tf.constant(2))
    finally:
        tf.autograph.set_verbosity(0)
    out = capsys.readouterr().out
    assert out.count('Tensor("x:0", shape=(), dtype=int32)\n') == 1
    assert re.search(r"Converted call: <function f at 0x[0-9a-f]+>\n    args: \(.*\)\n    kwargs: \{\}\n\n", out)
    assert "ag__.if_stmt(x < 0" in out


class MyErr(Exception):
    def __init__(self, a, b):
        super().__init__(a + b)


def looks_up(key):
    return {"known": 1}[key]


def test_line_122_errors_in_converted_code():
    @tf.function
    def fails(x):
        return looks_up("missing")

    with pytest.raises(KeyError) as caught:
        fails(tf.constant(1))
    assert caught.value.args == ("missing",)
    frames = [entry.name for entry in caught.traceback if entry.path.name == "test_g_conversion.py"]
    assert frames[-2:] == ["fails", "looks_up"]

    @tf.function
    def own_init(x):
        raise MyErr("p", "q")

    with pytest.raises(MyErr, match=r"^pq$"):
        own_init(tf.constant(1))

    @tf.function
    def catches(x):
        try:
            return looks_up("missing")
        except KeyError as error:
            assert type(error) is KeyError
            assert error.args == ("missing",)
            return x * 2

    assert catches(tf.constant(4)).numpy() == 8


def test_line_123_dtypes_do_not_mix():
    @tf.function
    def adds(x, y):
        return x + y

    with pytest.raises(TypeError) as caught:
        adds(tf.constant(1), tf.constant(1.0))
    for fact in ("y", "AddV2", "float32", "int32", "x"):
        assert fact in str(caught.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.constant(1) + tf.constant(1.0)
    assert (
        "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float32 tensor"
        in str(caught.value)
    )


def test_line_124_shapes_and_run_time_errors():
    @tf.function
    def product(x, y):
        return tf.matmul(x, y)

    with pytest.raises(ValueError, match="matmul: the inner dimensions 3 and 2 differ") as caught:
        product(tf.ones((2, 3)), tf.ones((2, 3)))
    assert "[2,3] and [2,3]" in str(caught.value)

    @tf.function
    def picks(x, i):
        return tf.gather(x, i)

    assert picks(tf.constant([1, 2]), tf.constant([1])).numpy().tolist() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 2\)") as caught:
        picks(tf.constant([1, 2]), tf.constant([5]))
    line = inspect.getsourcelines(picks.python_function)[1] + 2
    assert f"test_g_conversion.py:{line}" in str(caught.value)


def test_line_125_symbolic_tensors():
    BOOL = "Using a symbolic `autoconv.Tensor` as a Python `bool` is not allowed"
    ITER = "Iterating over a symbolic `autoconv.Tensor` is not allowed"
    not_allowed = tf.errors.OperatorNotAllowedInGraphError

    def refusal(body, x, kind):
        with pytest.raises(kind) as caught:
            tf.function(body, autograph=False)(x)
        return str(caught.value)

    assert BOOL in refusal(lambda x: 1 if x else 2, tf.constant(True), not_allowed)
    assert BOOL in refusal(lambda x: bool(x), tf.constant(True), not_allowed)
    assert ITER in refusal(lambda x: [y for y in x], tf.constant([1, 2]), not_allowed)
    expected = (
        "len is not well defined for a symbolic Tensor (x:0). Please call `x.shape` rather than `len(x)` for shape "
        "information."
    )
    assert expected in refusal(lambda x: len(x), tf.constant([1, 2]), TypeError)
    text = refusal(lambda x: np.array(x), tf.constant([1, 2]), NotImplementedError)
    assert "Cannot convert a symbolic autoconv.Tensor (x:0) to a numpy array" in text
    assert "NumPy call" in text
    text = refusal(lambda x: hash(x), tf.constant([1, 2]), TypeError)
    assert "Tensor is unhashable. Instead, use tensor.ref() as the key." in text

    def assigns(x):
        x[0] = 1
        return x

    text = refusal(assigns, tf.constant([1, 2]), TypeError)
    assert "'SymbolicTensor' object does not support item assignment" in text
    compared = []

    @tf.function
    def with_none(x):
        compared.append(x == None)  # noqa: E711
        return x

    with_none(tf.constant(1))
    assert compared == [False]


def test_line_127_classes_of_errors():
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)
    assert issubclass(tf.errors.InvalidArgumentError, tf.errors.OpError)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.debugging.assert_positive(tf.constant(-1), message="below")
    assert caught.value.error_code == 3
    assert "below" in caught.value.message
