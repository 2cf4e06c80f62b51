"""The text of tensors as print writes it, and the print and assert ops."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv as tf
from autoconv.api.control.output import print_
from autoconv.errors import AssertionFailedError, InvalidArgumentError
from autoconv.ops import OPS
from autoconv.ops.control.checks import summary
from autoconv.ops.text.printing import format_value
from autoconv.runtime.tensors.conversion import constant


def words(*items: str) -> np.ndarray:
    result = np.empty(len(items), object)
    result[:] = [item.encode() for item in items]
    return result


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int32(1), "1"),
        (np.float32(1 / 3), "0.333333343"),
        (np.float64(1 / 3), "0.33333333333333331"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.1"),
        (np.float32(1e10), "1e+10"),
        (np.float32(1.0), "1"),
        (np.float32(-2.5), "-2.5"),
        (np.float32("nan"), "nan"),
        (np.float32("inf"), "inf"),
        (np.float32("-inf"), "-inf"),
        (np.float16(0.1), "0.0999755859"),
        (np.complex64(1 + 2.5j), "(1,2.5)"),
        (np.array([1, 2.5], np.float32), "[1 2.5]"),
        (np.True_, "1"),
        (np.array([True, False]), "[1 0]"),
        (np.int8(-7), "-7"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.array(b"str", object), '"str"'),
        (np.array("é".encode(), object), '"é"'),
        (words("x", "y"), '["x" "y"]'),
        (words('a"b', "c\nd"), '["a\\"b" "c\\nd"]'),
        (np.zeros(0), "[]"),
        (np.arange(6), "[0 1 2 3 4 5]"),
        (np.arange(20), "[0 1 2 ... 17 18 19]"),
        (np.array([[1, 2], [3, 4]]), "[[1 2]\n [3 4]]"),
        (np.arange(8).reshape(2, 2, 2), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
        (np.arange(16).reshape(8, 2), "[[0 1]\n [2 3]\n [4 5]\n ...\n [10 11]\n [12 13]\n [14 15]]"),
        (np.zeros((2, 0)), "[[]\n []]"),
    ],
)
def test_format(value: Any, text: str) -> None:
    assert format_value(value) == text


def test_summarize() -> None:
    assert format_value(np.arange(20), 2) == "[0 1 ... 18 19]"
    assert format_value(np.arange(20), -1) == "[" + " ".join(map(str, range(20))) + "]"
    assert format_value(np.arange(3), 1) == "[0 ... 2]"


def printed(*inputs: Any, **options: Any) -> str:
    out = io.StringIO()
    with redirect_stderr(out):
        print_(*inputs, **options)
    return out.getvalue()


def test_nested() -> None:
    x = constant(1)
    text = printed(x, [1, x], {"k": x, "a": (1, "b")}, "str", 1.5, None, True)
    assert text == "1 [1, 1] {'a': (1, 'b'), 'k': 1} str 1.5 None True\n"
    assert printed((x,), [], {}, ()) == "(1,) [] {} ()\n"
    assert printed("a", x, sep="|", end="!") == "a|1!"
    assert printed() == "\n"
    assert printed([constant("s"), constant(["t"])]) == '["s", ["t"]]\n'
    assert printed(constant(range(20)), summarize=2) == "[0 1 ... 18 19]\n"


def test_streams(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        print_("one")
        print_("two", output_stream=sys.stdout)
    assert (err.getvalue(), out.getvalue()) == ("one\n", "two\n")
    path = tmp_path / "log"
    print_("a", output_stream=f"file://{path}")
    print_("b", output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"
    with pytest.raises(ValueError, match="output_stream"):
        print_("a", output_stream=object())


def test_python_style() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        OPS["print"].kernel(
            np.float64(1 / 3), np.array([1.0, 2.0]), template=(0, ("x=", 1)), stream="stdout", style="python"
        )
    assert out.getvalue() == "0.3333333333333333 x=[1. 2.]\n"


def test_assertions() -> None:
    kernel = OPS["assert_true"].kernel
    assert kernel(np.True_, message="fine") == ()
    with pytest.raises(AssertionFailedError) as caught:
        kernel(np.array([True, False]), np.arange(5), message="too small")
    assert str(caught.value) == "assertion failed: [too small] [0 1 2...]"
    assert isinstance(caught.value, (AssertionError, InvalidArgumentError))
    with pytest.raises(AssertionFailedError, match=r"^assertion failed: \[x =\] \[4\]$"):
        kernel(np.False_, np.int32(4), message=("x =", 0))
    with pytest.raises(InvalidArgumentError, match=r"^\[bad\]$"):
        kernel(np.False_, message="bad", failure="check")


def test_summary() -> None:
    assert summary(np.arange(6).reshape(2, 3), 4) == "[0 1 2][3...]..."
    assert summary(np.arange(6).reshape(2, 3), -1) == "[0 1 2][3 4 5]"
    assert summary(words("a", "b")) == "a b"


def test_composite_tensors_and_objects(capsys: pytest.CaptureFixture[str]) -> None:
    """The lines are TensorFlow's."""
    ragged, sparse = tf.ragged.constant([[1.5, 2], [], [3]]), tf.sparse.eye(2)

    def show(rows: Any, matrix: Any) -> None:
        tf.print("both", rows, [rows], matrix, output_stream=sys.stdout)

    for function in (show, tf.function(show)):
        function(ragged, sparse)
        text = "[[1.500000, 2.000000], [], [3.000000]]"
        expected = f"both {text} [{text}] 'SparseTensor(indices=[[0 0]\n [1 1]], values=[1 1], shape=[2 2])'\n"
        assert capsys.readouterr().out == expected
    tf.print({"r": tf.ragged.constant([["a'"], []])}, output_stream=sys.stdout)
    tf.print(tf.ragged.range([20]), tf.ragged.constant([[[1, 2]], []], ragged_rank=1), output_stream=sys.stdout)
    tf.print(tf.ragged.range([7]), summarize=-1, output_stream=sys.stdout)
    tf.print(np.array([1, 2]), np.float32(1.5), tf.TensorShape([1, None]), output_stream=sys.stdout)
    assert capsys.readouterr().out.splitlines() == [
        "{'r': [['a\\''], []]}", "[[0, 1, 2, ..., 17, 18, 19]] [[[1, 2]], []]", "[[0, 1, 2, 3, 4, 5, 6]]",
        "array([1, 2]) np.float32(1.5) TensorShape([1, None])",
    ]  # fmt: skip
