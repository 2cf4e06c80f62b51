"""Nested input signatures: lists of numbers stand where a TensorSpec does, as in TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac


@ac.function(
    input_signature=[{"a": ac.TensorSpec([None], ac.float32), "b": [ac.TensorSpec([], ac.int32)] * 2}],
)
def scaled(x):
    return x["a"] * ac.cast(x["b"][0] - x["b"][1], ac.float32)


@pytest.mark.parametrize("a", [[1.0, 2.0], (1, 2), np.float32([1.0, 2.0]), ac.constant([1.0, 2.0])])
def test_lists_become_tensors(a):
    assert scaled({"b": [3, ac.constant(1)], "a": a}).numpy().tolist() == [2.0, 4.0]
    assert scaled.experimental_get_tracing_count() == 1


def test_tuples_of_dicts():
    specs = [(ac.TensorSpec([None], ac.float32), {"k": ac.TensorSpec([2], ac.int32)}), ac.TensorSpec([], ac.float32)]
    scale_and_pick = ac.function(lambda p, s: (p[0] * s, p[1]["k"]), input_signature=specs)
    first, second = scale_and_pick(([1.0, 2.0], {"k": [3, 4]}), 2.0)
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([2.0, 4.0], [3, 4])


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1.0]},
        {"a": [1.0], "b": [1]},
        {"a": [1.0], "b": [1, 2, 3]},
        {"a": [1.0], "b": [1, 2], "c": 1},
        {"a": [[1.0]], "b": [1, 2]},
        {"a": ["x"], "b": [1, 2]},
        5,
    ],
)
def test_arguments_that_do_not_fit(value):
    with pytest.raises(TypeError, match=r"Binding inputs to tf\.function failed"):
        scaled(value)
