"""Conditions that a tensor decides: traced branches, values of names afterwards, and errors."""

# ruff: noqa: RET503, SIM222, SIM223, RUF021 - the programs are meant as they are written

import numpy as np
import pytest

import autoconv as tf
from tests.behaviours.facts import values


def test_line_090_one_branch_of_python_both_of_a_tensor(capsys):
    @tf.function
    def by_python(x, flag):
        if flag:
            print("then")
            x = x + 1
        else:
            print("else")
            x = x - 1
        return x

    assert by_python(tf.constant(1), True).numpy() == 2
    assert capsys.readouterr().out == "then\n"

    @tf.function
    def by_tensor(x):
        if x > 0:
            x = x + 1
            print("then", x)
        else:
            x = x - 1
            print("else", x)
        print("after", x)
        return x

    assert values(by_tensor(tf.constant(1)), by_tensor(tf.constant(-1))) == [2, -2]
    assert capsys.readouterr().out.splitlines() == [
        'then Tensor("cond/add:0", shape=(), dtype=int32)',
        'else Tensor("cond/sub:0", shape=(), dtype=int32)',
        'after Tensor("cond/Identity:0", shape=(), dtype=int32)',
    ]


def test_line_091_python_values_that_a_branch_changes():
    kinds = []

    @tf.function
    def f(x):
        i, untouched = 0, 5
        if x > 0:
            i = i + 1
        kinds.extend([i, untouched])
        return i, untouched

    assert values(*f(tf.constant(3))) == [1, 5]
    assert values(*f(tf.constant(-3))) == [0, 5]
    assert [type(k).__name__ for k in kinds] == ["SymbolicTensor", "int"]
    # a former Python number mixes with any dtype

    @tf.function
    def mixed(x):
        i = 1
        if x > 0:
            i = 2
        return x * i

    assert mixed(tf.constant(1.5)).numpy() == 3.0
    assert mixed(tf.constant(1.5)).dtype == tf.float32


def test_line_092_set_in_one_branch_only():
    @tf.function
    def used(c):
        if c > 0:
            x = 10
        return x

    assert used(tf.constant(1)).numpy() == 10
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'x' where it is not associated"):
        used(tf.constant(-1))
    assert used.experimental_get_tracing_count() == 1

    @tf.function
    def used_of_else(c):
        if c > 0:
            y = 1
        else:
            x = 10
            y = 2
        return x + y

    assert used_of_else(tf.constant(-1)).numpy() == 12
    with pytest.raises(UnboundLocalError, match="'x'"):
        used_of_else(tf.constant(1))

    @tf.function
    def unused(c):
        if c > 0:
            x = 10  # noqa: F841
        return c

    assert values(unused(tf.constant(1)), unused(tf.constant(-1))) == [1, -1]


def test_line_093_none_in_a_branch():
    @tf.function
    def f(c):
        if c > 0:
            x = c * 2
        else:
            x = None
        return x

    assert f(tf.constant(2)).numpy() == 4
    assert f(tf.constant(-2)) is None

    @tf.function
    def asked(c):
        x = None
        if c > 0:
            x = c
        if x is None:
            return -1
        return x

    assert values(asked(tf.constant(2)), asked(tf.constant(-2))) == [2, -1]


def test_line_094_returns_in_branches():
    @tf.function
    def falls_off(c):
        if c > 0:
            return 1

    assert falls_off(tf.constant(1)).numpy() == 1
    assert falls_off(tf.constant(-1)) is None

    @tf.function
    def none_in_one(c):
        if c > 0:
            return None
        return 2

    assert none_in_one(tf.constant(1)) is None
    assert none_in_one(tf.constant(-1)).numpy() == 2

    @tf.function
    def two(c):
        if c > 0:
            return 1
        return 2

    assert values(two(tf.constant(1)), two(tf.constant(-1))) == [1, 2]

    @tf.function
    def nested(c):
        if c > 0:
            if c > 10:
                return 100
            x = 5
        else:
            x = 7
        return x + c

    assert values(*map(nested, map(tf.constant, (20, 2, -2)))) == [100, 7, 5]

    @tf.function
    def nested_and_unbound(c):
        if c > 0:
            if c > 10:
                return 100
        else:
            x = 7
        return x + c

    assert values(nested_and_unbound(tf.constant(20)), nested_and_unbound(tf.constant(-2))) == [100, 5]
    with pytest.raises(UnboundLocalError, match="'x'"):
        nested_and_unbound(tf.constant(2))


def test_line_095_dtypes_and_shapes_that_differ():
    @tf.function
    def numbers(c):
        if c > 0:
            x = 1
        else:
            x = 2.5
        return x

    assert values(numbers(tf.constant(1)), numbers(tf.constant(-1))) == [1.0, 2.5]
    assert numbers(tf.constant(1)).dtype == tf.float32

    @tf.function
    def typed(c):
        if c > 0:
            x = tf.constant(1)
        else:
            x = tf.constant(2.5)
        return x

    with pytest.raises(TypeError) as caught:
        typed(tf.constant(1))
    for fact in ("'x'", "int32", "float32", "autoconv.cast", "test_e_conditionals.py"):
        assert fact in str(caught.value)

    shapes = []

    @tf.function
    def shaped(c):
        if c > 0:
            x = tf.ones((2, 3))
        else:
            x = tf.ones((4, 3))
        shapes.append(x.shape)
        return x

    assert shaped(tf.constant(1)).shape == (2, 3)
    assert shaped(tf.constant(-1)).shape == (4, 3)
    assert str(shapes) == "[TensorShape([None, 3])]"


def test_line_096_structures_that_differ():
    """Both structures are arms of a variant; the caller gets the chosen one."""

    @tf.function
    def f(c):
        if c > 0:
            x = (1, 2)
        else:
            x = (1, 2, 3)
        return x

    assert values(*f(tf.constant(1))) == [1, 2]
    assert values(*f(tf.constant(-1))) == [1, 2, 3]

    @tf.function
    def text_enum_function(c):
        name = "positive" if c > 0 else "negative"
        step = double if c > 0 else negated
        return name, step(c)

    name, stepped = text_enum_function(tf.constant(4))
    assert (name.numpy(), stepped.numpy()) == (b"positive", 8)
    name, stepped = text_enum_function(tf.constant(-4))
    assert (name.numpy(), stepped.numpy()) == (b"negative", 4)


def double(x):
    return x * 2


def negated(x):
    return -x


def test_line_097_conditions_that_are_no_bool_scalar():
    @tf.function
    def f(c):
        if c:
            return 1
        return 2

    expected = (
        'condition of if statement expected to be `autoconv.bool` scalar, got Tensor("c:0", shape=(), dtype=int32); '
        "to use as boolean Tensor, use `autoconv.cast`; to check for None, use `is not None`"
    )
    with pytest.raises(ValueError, match="condition of if statement") as caught:
        f(tf.constant(1))
    assert expected in str(caught.value)
    with pytest.raises(ValueError, match="condition of if statement") as caught:
        f(tf.constant([True, False]))
    text = str(caught.value)
    assert 'condition of if statement expected to be `autoconv.bool` scalar, got Tensor("c:0", shape=(2,)' in text
    assert "autoconv.cast" not in text
    assert values(f(tf.constant([True])), f(tf.constant([False]))) == [1, 2]


def test_line_098_expressions_that_tensors_decide():
    calls = []

    def boom():
        tf.py_function(lambda: calls.append("boom"), [], [])
        return tf.constant(True)

    @tf.function
    def lazily(x):
        return x > 0 or boom()

    assert lazily(tf.constant(1)).numpy()
    assert calls == []
    assert lazily(tf.constant(-1)).numpy()
    assert calls == ["boom"]

    @tf.function
    def conditional(x):
        return "a" if x > 10 else x if x > 0 else -x

    assert conditional(tf.constant(11)).numpy() == b"a"
    assert values(conditional(tf.constant(3)), conditional(tf.constant(-3))) == [3, 3]

    @tf.function
    def operators(x):
        return x > 0 and x < 5, x > 0 or x < -5, not x > 0, 0 < x < 10, x == 3, x != 3

    assert values(*operators(tf.constant(3))) == [True, True, False, True, True, False]
    assert values(*operators(tf.constant(-3))) == [False, False, True, False, False, True]

    @tf.function
    def python_operands(x):
        return x, 0 or 5, "" and 1 or 7, [] or x

    assert values(*python_operands(tf.constant(2))) == [2, 5, 7, 2]

    @tf.function
    def and_number(x):
        return x > 1 and 3

    assert and_number(tf.constant(2)).numpy() == 3
    assert and_number(tf.constant(0)).numpy() == False  # noqa: E712

    @tf.function
    def and_three(x):
        return x and 3

    assert and_three(tf.constant(True)).numpy() == 3
    assert and_three(tf.constant(False)).numpy() == False  # noqa: E712


def test_line_099_in():
    @tf.function
    def f(x):
        return x in [1, 2, 3], x not in (1, 2), x in {1, 5}, x in tf.constant([2, 4])

    assert values(*f(tf.constant(2))) == [True, False, False, True]
    assert values(*f(tf.constant(5))) == [False, True, True, False]

    @tf.function
    def decides(x):
        if x in [1, 2, 3]:
            return 1
        return 0

    assert values(decides(tf.constant(3)), decides(tf.constant(4))) == [1, 0]


__all__ = ["np"]
