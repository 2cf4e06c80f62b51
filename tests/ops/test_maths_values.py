"""Kernels against known values: special values, integers that wrap, division by zero, accuracy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, float32, float64, int8, int32, int64, uint8
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops import OPS

INF, NAN = math.inf, math.nan


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    kernel = OPS[name].kernel
    assert kernel is not None
    return kernel(*inputs, **attributes)


def floats(*values: float) -> Any:
    return np.array(values, np.float64)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("sqrt", [-1.0, -0.0, INF], [NAN, -0.0, INF]),
        ("rsqrt", [0.0, -0.0, INF, -1.0], [INF, -INF, 0.0, NAN]),
        ("reciprocal", [0.0, -0.0, INF, -INF], [INF, -INF, 0.0, -0.0]),
        ("exp", [-INF, INF, 1000.0, NAN], [0.0, INF, INF, NAN]),
        ("log", [0.0, -0.0, -1.0, INF], [-INF, -INF, NAN, INF]),
        ("log1p", [-1.0, -2.0, -0.0], [-INF, NAN, -0.0]),
        ("expm1", [-INF, -0.0], [-1.0, -0.0]),
        ("asin", [1.0, 2.0], [math.pi / 2, NAN]),
        ("acosh", [1.0, 0.5], [0.0, NAN]),
        ("atanh", [1.0, -1.0, 2.0], [INF, -INF, NAN]),
        ("tanh", [INF, -INF, -0.0], [1.0, -1.0, -0.0]),
        ("sigmoid", [-INF, INF, 0.0, -1000.0], [0.0, 1.0, 0.5, 0.0]),
        ("softplus", [-INF, INF, 1000.0, NAN], [0.0, INF, 1000.0, NAN]),
        ("relu", [NAN, -1.0, INF], [NAN, 0.0, INF]),
        ("sign", [-0.0, NAN, -3.0], [0.0, NAN, -1.0]),
        ("abs", [-0.0, -INF, NAN], [0.0, INF, NAN]),
        ("round", [0.5, 1.5, 2.5, -0.5, -0.4], [0.0, 2.0, 2.0, -0.0, -0.0]),
        ("rint", [0.5, 3.5], [0.0, 4.0]),
        ("floor", [-0.5, -0.0, INF], [-1.0, -0.0, INF]),
        ("ceil", [-0.5, 0.5], [-0.0, 1.0]),
        ("trunc", [-1.5, 1.5, NAN], [-1.0, 1.0, NAN]),
        ("erf", [INF, -INF, NAN, 0.5], [1.0, -1.0, NAN, 0.5204998778130465]),
        ("erfc", [INF, -INF, 3.0], [0.0, 2.0, 2.209049699858544e-05]),
        ("lgamma", [0.0, -1.0, INF, 0.5, 10.0], [INF, INF, INF, 0.5723649429247001, 12.801827480081469]),
    ],
)
def test_special_values(name: str, x: list[float], expected: list[float]) -> None:
    found = run(name, floats(*x))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(found)], np.signbit(expected)[~np.isnan(found)])


EULER = 0.5772156649015329


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.0, -EULER),
        (2.0, 1 - EULER),
        (0.5, -EULER - 2 * math.log(2)),
        (0.25, -math.pi / 2 - 3 * math.log(2) - EULER),
        (-0.5, 2 - EULER - 2 * math.log(2)),
        (10.0, sum(1 / k for k in range(1, 10)) - EULER),
        (1e-3, -1000.5755719318103),
        (1e8, math.log(1e8) - 0.5e-8),
    ],
)
def test_digamma(x: float, expected: float) -> None:
    assert run("digamma", floats(x))[0] == pytest.approx(expected, rel=1e-13)


def test_digamma_at_poles() -> None:
    np.testing.assert_array_equal(run("digamma", floats(0.0, -0.0, -1.0, INF)), [-INF, INF, NAN, INF])


@pytest.mark.parametrize(
    ("x", "order", "expected"),
    [
        (1.0, 1, math.pi**2 / 6),
        (0.5, 1, math.pi**2 / 2),
        (1.0, 2, -2 * 1.2020569031595942),
        (-0.5, 1, math.pi**2 / 2 + 4),
        (1.0, 3, math.pi**4 / 15),
    ],
)
def test_polygamma(x: float, order: int, expected: float) -> None:
    assert run("polygamma", floats(x), order=order)[0] == pytest.approx(expected, rel=1e-13)


def test_integers_wrap() -> None:
    top = np.array([127], np.int8)
    assert run("add", top, np.array([1], np.int8)).tolist() == [-128]
    assert run("square", top).tolist() == [1]
    assert run("abs", np.array([-128], np.int8)).tolist() == [-128]
    assert run("reduce_sum", np.array([2**31 - 1, 1], np.int32)) == -(2**31)
    assert run("power", np.array([2], np.int32), np.array([40], np.int32)).tolist() == [0]


def test_integer_division_by_zero_is_zero() -> None:
    numbers, zeros = np.array([1, -1], np.int32), np.array([0, 0], np.int32)
    assert run("floor_divide", numbers, zeros).tolist() == [0, 0]
    assert run("modulo", numbers, zeros).tolist() == [0, 0]


def test_division_by_zero() -> None:
    found = run("divide", floats(1.0, -1.0, 0.0), floats(0.0, 0.0, 0.0))
    np.testing.assert_array_equal(found, [INF, -INF, NAN])
    assert run("modulo", floats(-7.0), floats(3.0)).tolist() == [2.0]
    assert run("floor_divide", floats(-7.0), floats(2.0)).tolist() == [-4.0]


def test_negative_integer_power_raises() -> None:
    with pytest.raises(InvalidArgumentError, match="Integers to negative integer powers are not allowed"):
        run("power", np.array([2]), np.array([-1]))


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs\. \[3\]"):
        run("add", np.zeros(2), np.zeros(3))


def test_nan_in_comparisons_and_extrema() -> None:
    x, y = floats(NAN, 1.0), floats(1.0, NAN)
    assert run("equal", x, x).tolist() == [False, True]
    assert run("not_equal", x, x).tolist() == [True, False]
    assert run("less", x, y).tolist() == [False, False]
    assert np.isnan(run("maximum", x, y)).all() and np.isnan(run("minimum", x, y)).all()


def test_reductions() -> None:
    assert run("reduce_mean", np.array([-1, -2, -2], np.int32)) == -1
    assert run("reduce_mean", np.array([1, 2], np.int32)).dtype == np.int32
    assert np.isnan(run("reduce_mean", np.zeros(0, np.float32)))
    assert run("reduce_max", np.zeros(0)) == -INF
    assert run("reduce_min", np.zeros(0, np.int32)) == 2**31 - 1
    assert run("reduce_logsumexp", floats(1000.0, 1000.0)) == pytest.approx(1000 + math.log(2))
    assert run("reduce_logsumexp", floats(-INF, -INF)) == -INF
    assert run("reduce_all", np.zeros((0,), bool)) and not run("reduce_any", np.zeros((0,), bool))
    assert run("argmax", floats(1.0, 3.0, 3.0), axis=0) == 1
    with pytest.raises(InvalidArgumentError, match="Invalid reduction dimension"):
        run("reduce_sum", np.zeros(3), axis=(1,))
    with pytest.raises(InvalidArgumentError, match="is empty"):
        run("argmax", np.zeros((2, 0)), axis=1)


def test_cumulative() -> None:
    x = np.array([1, 2, 3], np.int32)
    assert run("cumsum", x, axis=0, exclusive=True).tolist() == [0, 1, 3]
    assert run("cumsum", x, axis=0, reverse=True).tolist() == [6, 5, 3]
    assert run("cumprod", x, axis=0, exclusive=True, reverse=True).tolist() == [6, 3, 1]
    assert run("cumsum", x[:0], axis=0, exclusive=True).tolist() == []


def test_sorting() -> None:
    x = floats(2.0, NAN, -1.0, 2.0)
    np.testing.assert_array_equal(run("sort", x), [-1.0, 2.0, 2.0, NAN])
    np.testing.assert_array_equal(run("sort", x, descending=True), [NAN, 2.0, 2.0, -1.0])
    assert run("argsort", x, descending=True).tolist() == [1, 0, 3, 2]
    values, indices = run("top_k", np.array([[1, 5, 5], [9, 0, 1]], np.int32), k=2)
    assert values.tolist() == [[5, 5], [9, 1]] and indices.tolist() == [[1, 2], [0, 2]]
    with pytest.raises(InvalidArgumentError, match=r"input must have at least k columns\. Had 2, needed 3"):
        run("top_k", np.zeros(2), np.int32(3))
    values, indices, counts = run("unique", np.array([3, 1, 3, 2, 1]))
    assert (values.tolist(), indices.tolist(), counts.tolist()) == ([3, 1, 2], [0, 1, 0, 2, 1], [2, 2, 1])
    with pytest.raises(InvalidArgumentError, match=r"indices\[1\] = 2 is not in \[0, 2\)"):
        run("take_along_axis", np.zeros(2), np.array([0, 2]), axis=0)


def test_casts() -> None:
    assert run("cast", floats(1.9, -1.9), dtype=int32).tolist() == [1, -1]
    assert run("cast", np.array([300]), dtype=uint8).tolist() == [44]
    assert run("cast", np.array([1 + 2j]), dtype=float64).tolist() == [1.0]
    assert run("saturate_cast", floats(-5.0, 300.0, NAN), dtype=uint8).tolist() == [0, 255, 0]
    limits = run("saturate_cast", floats(1e30, -1e30, 2.0**63), dtype=int64)
    assert limits.tolist() == [2**63 - 1, -(2**63), 2**63 - 1]
    assert run("saturate_cast", np.array([300, -300], np.int32), dtype=int8).tolist() == [127, -128]
    assert run("bitcast", np.float32(1.0), dtype=int32) == 0x3F800000
    with pytest.raises(InvalidArgumentError, match="here : Tensor had Inf and NaN values"):
        run("check_numerics", floats(NAN, INF), message="here")


def test_complex_parts() -> None:
    z = run("complex", floats(1.0, -0.0), floats(INF, -0.0))
    assert z.dtype == np.complex128 and z.real[0] == 1.0 and np.signbit(z.imag[1])
    assert run("abs", np.array([3 + 4j], np.complex64)).dtype == np.float32
    assert run("angle", floats(-1.0, 1.0)).tolist() == [math.pi, 0.0]
    np.testing.assert_allclose(run("sign", np.array([3 + 4j, 0])), [0.6 + 0.8j, 0])


def test_random_numbers() -> None:
    seed = np.array([1, 2])
    first = run("stateless_random_uniform", seed, shape=(1000,), dtype=float32)
    assert first.min() >= 0 and first.max() < 1 and abs(first.mean() - 0.5) < 0.05
    np.testing.assert_array_equal(first, run("stateless_random_uniform", seed, shape=(1000,), dtype=float32))
    normal = run("stateless_random_normal", seed, shape=(4001,), dtype=float64)
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    truncated = run("stateless_truncated_normal", seed, shape=(4000,), dtype=float64)
    assert np.abs(truncated).max() <= 2 and abs(truncated.std() - 0.88) < 0.05
    dice = run("stateless_random_uniform_int", seed, np.int8(-100), np.int8(100), shape=(5000,))
    assert dice.dtype == np.int8 and dice.min() == -100 and dice.max() == 99
    with pytest.raises(InvalidArgumentError, match="Need minval < maxval"):
        run("stateless_random_uniform_int", seed, np.int32(3), np.int32(3), shape=())
    shuffled = run("stateless_shuffle", seed, np.arange(10))
    assert sorted(shuffled.tolist()) == list(range(10)) and shuffled.tolist() != list(range(10))


@pytest.mark.parametrize(
    ("name", "types", "attributes", "message"),
    [
        ("add", [("float32", (2,)), ("int32", (2,))], {}, "has type int32 that does not match type float32"),
        ("add", [("float32", (2,)), ("float32", (3,))], {}, "do not broadcast"),
        ("exp", [("int32", ())], {}, "exp takes floating or complex tensors, found int32; cast first"),
        ("less", [("bool", ()), ("bool", ())], {}, "less takes integer or floating tensors"),
        ("logical_and", [("int32", ()), ("int32", ())], {}, "logical_and takes bool tensors, found int32"),
        ("reduce_sum", [("float32", (2,))], {"axis": (1,)}, "axis 1 is out of range"),
        ("reduce_sum", [("bool", (2,))], {}, "reduce_sum does not take bool tensors"),
        ("cumsum", [("float32", ())], {"axis": 0}, "at least one dimension"),
        ("top_k", [("float32", (2,))], {"k": 3}, "last dimension >= k = 3 but is 2"),
        ("cast", [("string", ())], {"dtype": int32}, "cast from string to int32 is not supported"),
        ("bitwise_and", [("float32", ()), ("float32", ())], {}, "bitwise_and takes integer or bool tensors"),
        ("softmax", [("float32", ())], {"axis": -1}, "at least one dimension"),
        ("complex", [("int32", ()), ("int32", ())], {}, "complex takes float32 or float64 parts"),
    ],
)
def test_messages_for_wrong_operands(name: str, types: Any, attributes: Any, message: str) -> None:
    inputs = [TensorType(as_dtype(dtype), shape) for dtype, shape in types]
    with pytest.raises((TypeError, ValueError), match=message):
        OPS[name].result_types(inputs, attributes)


def test_symbolic_dimensions_stay() -> None:
    n = Symbol("n")
    x = TensorType(float32, (n, 3))
    assert OPS["add"].result_types([x, TensorType(float32, (1,))], {}) == (x,)
    assert OPS["reduce_sum"].result_types([x], {"axis": (1,)}) == (TensorType(float32, (n,)),)
    assert OPS["softmax"].result_types([x], {"axis": -1}) == (x,)


def test_weak_numbers_stay_weak() -> None:
    weak = TensorType(float64, (), weak=True)
    assert OPS["exp"].result_types([weak], {}) == (weak,)
    assert OPS["cast"].result_types([weak], {"dtype": float32}) == (TensorType(float32, ()),)
