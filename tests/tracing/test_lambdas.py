"""Lambdas on one line, nested ones too, are distinguished by the positions of their code."""

from __future__ import annotations

import autoconv as tf


def traced(function, *values):
    return tf.function(function)(*map(tf.constant, values)).numpy()


def test_two_lambdas_on_a_line():
    positive, negative = lambda x: x if x > 0 else -x, lambda x: -x if x > 0 else x
    assert [traced(positive, -3), traced(negative, 3), traced(positive, 2)] == [3, -3, 2]


def test_nested_lambdas():
    outer = lambda k: (lambda x: x + k if x > 0 else x - k)  # fmt: skip
    assert [traced(outer(10), 1), traced(outer(10), -1)] == [11, -11]
    assert traced(lambda x: (lambda y: y * 2 if y > 3 else y)(x) + (lambda y: y if y > 3 else -y)(x), 2) == 0


def test_a_lambda_whose_body_is_another():
    functions = lambda: lambda x: 1 if x > 0 else 0  # fmt: skip
    assert traced(functions(), 5) == 1
    assert traced(lambda x: functions()(x) if x < 9 else 7, 10) == 7


def test_lambdas_of_constants_on_one_line():
    """Python 3.12 gives no columns to their code."""
    functions = [lambda: 3, lambda x=0: 3, lambda x=0: x + 1, lambda *a, k=2: -4, lambda: (1, 2), lambda: None]
    expected = [3, 3, 1, -4, (1, 2), None]
    assert [tf.compile(function)() for function in functions] == expected
    assert [tf.autograph.to_graph(function)() for function in functions] == expected


def test_names_of_lambdas_of_constants_in_loops():
    def names(n):
        made = []
        for i in range(n):
            made += [lambda: 7, lambda y=i: y]
            if n and 3:
                made.append(lambda q: None)
        return [(function.__name__, function.__qualname__) for function in made]

    for convert in (tf.autograph.to_graph, tf.compile):
        assert convert(names)(2) == names(2)
