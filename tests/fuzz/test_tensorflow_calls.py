"""Variations of calls, their outcomes, and differences; `python tests/fuzz/tensorflow_calls.py` compares them all."""

import collections
from pathlib import Path

import pytest

import autoconv
from tests.module_loading import load_module

HERE = Path(__file__).parent
command = load_module(HERE / "tensorflow_calls.py", "tensorflow_calls")
worker = load_module(HERE / "called" / "worker.py", "called_worker")
OPERAND = ["tensor", "float32", [3], "general", ""]
TEMPLATE = {"function": "tf.add", "text": "tf.add({0}, {1})", "operands": [OPERAND, OPERAND]}


def test_calls_are_varied_by_dtypes_forms_and_shapes():
    texts = [command.shown(case) for case in command.cases([TEMPLATE])]
    assert len(texts) == len(set(texts)) > 900
    names = ("np.array", "tf.zeros", "bfloat16", "2**40")
    parts = collections.Counter(part for text in texts for part in names if part in text)
    assert min(parts.values()) > 1, parts


# Outcomes of TensorFlow 2.21.
OUTCOMES = {
    ("{0} + {1}", "tf.constant([1, 2])", "np.array([1.5, 2.5])"): ["tensor", "int32", [2], [2, 4]],
    ("{0} / {1}", "tf.constant([1, 2], tf.uint8)", "2"): ["tensor", "float32", [2], [0.5, 1.0]],
    ("{0} * {1}", "tf.constant([True, False])", "tf.constant([True, True])"): ["tensor", "bool", [2], [True, False]],
    ("{0} / {1}", "tf.constant([1, 2], tf.int32)", "2.5"): ["TypeError", "Exception"],
    ("tf.unstack({0})", "tf.constant([1, 2], tf.int32)"): ["list", *(["tensor", "int32", [], [n]] for n in (1, 2))],
}


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize("call", OUTCOMES)
def test_outcomes_are_those_of_tensorflow(call, mode):
    text, *operands = call
    name = "error" if "Exception" in OUTCOMES[call] else "result"
    expected = {name: OUTCOMES[call], "text": ""}
    assert command.difference(expected, worker.outcome(autoconv, text, operands, mode)) == ("", "")


def test_differences_have_kinds():
    result, other = {"result": ["tensor", "int32", [1], [1]]}, {"result": ["tensor", "int64", [1], [1]]}
    error = {"error": ["TypeError", "Exception"], "text": "no"}
    assert command.difference(result, other)[0] == "dtype"
    assert command.difference(result, {"result": ["tensor", "int32", [2], [1, 1]]})[0] == "shape"
    assert command.difference(result, {"result": ["tensor", "int32", [1], [2]]})[0] == "value"
    assert command.difference(error, result)[0] == "accepted" and command.difference(result, error)[0] == "refused"
    assert command.difference(error, {"error": ["ValueError", "Exception"], "text": ""})[0] == "exception"
    assert command.difference(error, {"error": ["Ours", "TypeError", "Exception"], "text": ""})[0] == ""
