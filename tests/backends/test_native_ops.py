"""The native backend against the kernels: every op on its samples, in several dtypes, alone and in larger graphs."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends import interpreter, llvm
from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.record import Op, Sample

ARRAYS = (np.ndarray, np.generic)
GROUP_SIZE = 12
NARROW = ("float16", "bfloat16") if importlib.util.find_spec("ml_dtypes") else ("float16",)


def is_comparable(op: Op, sample: Sample) -> bool:
    """Return whether a sample can be compared: it has no effects, and arrays as inputs and results."""
    effects = op.effects if isinstance(op.effects, Effects) else Effects.PURE
    if effects.must_run or not sample.inputs or not all(isinstance(x, ARRAYS) for x in sample.inputs):
        return False
    types = op.result_types([TensorType(as_dtype(x.dtype), np.shape(x)) for x in sample.inputs], sample.attributes)
    return all(isinstance(type_, TensorType) for type_ in types)


def groups() -> Iterator[Any]:
    """Yield samples of each op in every dtype, in groups: compiling several in one graph saves most of the time."""
    for op in OPS.values():
        found = list(_samples(op))
        for start in range(0, len(found), GROUP_SIZE):
            yield pytest.param(op, found[start : start + GROUP_SIZE], id=f"{op.name}-{start // GROUP_SIZE}")


def _samples(op: Op) -> Iterator[tuple[int, Sample, str]]:
    for number, sample in enumerate(op.samples):
        if not is_comparable(op, sample):
            continue
        for dtype in ("", "float32", "int32", "uint8", "bool", *NARROW):
            if dtype and not _is_convertible(op, sample, dtype):
                continue
            if dtype in NARROW and not _is_native(op, converted(sample, dtype), sample.attributes):
                continue
            yield number, sample, dtype


def _is_convertible(op: Op, sample: Sample, dtype: str) -> bool:
    """Return whether the sample can run in another dtype: only its float64 inputs are converted."""
    if not sample.inputs or np.asarray(sample.inputs[0]).dtype not in (np.float64, np.int64):
        return False
    try:
        inputs = converted(sample, dtype)
        types = op.result_types([TensorType(as_dtype(x.dtype), x.shape) for x in inputs], sample.attributes)
        results = kernel_results(op, inputs, sample.attributes)
    except Exception:
        return False
    # NumPy divides bools to int8, unlike graphs, which cast them before.
    return all(type_.dtype == as_dtype(result.dtype) for type_, result in zip(types, results, strict=True))


def _is_native(op: Op, inputs: list[np.ndarray], attributes: Any) -> bool:
    return lowering_class(graph_of_op(op, inputs, attributes, False).nodes[-1]) != "kernel"


def converted(sample: Sample, dtype: str) -> list[np.ndarray]:
    kind = np.asarray(sample.inputs[0]).dtype
    numpy = as_dtype(dtype).numpy if dtype else None
    return [
        np.asarray(x).astype(numpy) if dtype and np.asarray(x).dtype == kind else np.asarray(x) for x in sample.inputs
    ]


def kernel_results(op: Op, inputs: list[np.ndarray], attributes: Any) -> list[np.ndarray]:
    assert op.kernel is not None
    found = op.kernel(*inputs, **attributes)
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def graph_of_op(op: Op, inputs: list[np.ndarray], attributes: Any, surrounded: bool) -> Graph:
    """Return a graph of the op; if `surrounded`, other ops compute its inputs and read its results."""
    graph = Graph("one_op")
    graph.outputs = add_op(graph, op, inputs, attributes, surrounded)
    return graph


def add_op(graph: Graph, op: Op, inputs: list[np.ndarray], attributes: Any, surrounded: bool) -> list[Value]:
    """Add the op on new parameters to the graph, and return its results."""
    values = []
    for x in inputs:
        value = graph.add_parameter(TensorType(as_dtype(x.dtype), x.shape))
        if surrounded and x.dtype.kind in "fiu":
            value = graph.add(OPS["add"], [value, value]).results[0]
            half = graph.add(OPS["cast"], [value], {"dtype": as_dtype(np.float64)}).results[0]
            two = graph.add(OPS["constant"], [], {"value": np.array(2.0)}).results[0]
            value = graph.add(OPS["divide"], [half, two]).results[0]
            value = graph.add(OPS["cast"], [value], {"dtype": as_dtype(x.dtype)}).results[0]
        values.append(value)
    results = list(graph.add(op, values, attributes).results)
    if surrounded:
        results = [graph.add(OPS["identity"], [value]).results[0] for value in results]
    return results


@pytest.mark.search("op")
@pytest.mark.parametrize("surrounded", [False, True], ids=["alone", "surrounded"])
@pytest.mark.parametrize(("op", "group"), groups())
def test_agrees_with_the_kernel(op: Op, group: list[tuple[int, Sample, str]], surrounded: bool) -> None:
    graph = Graph("ops")
    arguments: list[np.ndarray] = []
    expected: list[tuple[str, np.ndarray]] = []
    for number, sample, dtype in group:
        inputs = converted(sample, dtype)
        wraps = any(x.dtype.kind in "iu" and np.any(np.abs(x.astype(float)) > 60) for x in inputs)  # twice the number
        graph.outputs = graph.outputs + add_op(graph, op, inputs, sample.attributes, surrounded and not wraps)
        arguments += inputs
        which = f"sample {number} {dtype}"
        expected += [(which, result) for result in kernel_results(op, inputs, sample.attributes)]
    found = llvm.compile_graph(graph)([x.copy() for x in arguments])
    assert len(found) == len(expected)
    for actual, (which, desired) in zip(found, expected, strict=True):
        assert np.asarray(actual).dtype == desired.dtype, which
        assert np.shape(actual) == desired.shape, which
        if desired.dtype.name in NARROW:
            # Native code rounds once for an op; a kernel may be several NumPy ops, each with a rounding.
            tolerance = {"float16": 2**-9, "bfloat16": 2**-6}[desired.dtype.name]
            actual, desired = actual.astype(float), desired.astype(float)
            np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance, err_msg=which)
        elif desired.dtype.kind in "fc":
            tolerance = 1e-6 if desired.dtype in (np.float32, np.complex64, np.float16) else 1e-13
            np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance, err_msg=which)
        else:
            np.testing.assert_array_equal(actual, desired, err_msg=which)


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_single_numbers_agree_with_the_kernel(name: str) -> None:
    """Compare each element rule on scalars, which live in registers, special values included."""
    op = OPS[name]
    special = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-310, 1e308, 2.5, 7.0]
    for sample in op.samples:
        arrays = [np.asarray(x) for x in sample.inputs]
        if any(x.dtype.kind not in "fiub" for x in arrays):
            continue
        floats = [i for i, x in enumerate(arrays) if x.dtype == np.float64]
        for number in special if floats else [0]:
            inputs = [
                np.asarray(number if i in floats[:1] else x.reshape(-1)[0], x.dtype) for i, x in enumerate(arrays)
            ]
            graph = graph_of_op(op, inputs, sample.attributes, False)
            try:
                expected: Any = interpreter.compile_graph(graph)(inputs)
            except Exception as error:
                expected = error
            try:
                found: Any = llvm.compile_graph(graph)([x.copy() for x in inputs])
            except Exception as error:
                found = error
            if isinstance(expected, Exception):
                assert type(found) is type(expected) and str(found) == str(expected)
                continue
            assert np.asarray(found[0]).dtype == np.asarray(expected[0]).dtype
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-15 if name.startswith("python") else 1e-14)
            signs = [np.signbit(np.asarray(x[0], float)) for x in (found, expected)]
            assert signs[0] == signs[1] or np.isnan(found[0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64"])
def test_floats_beyond_integers_are_cast_as_by_numpy(dtype):
    x = np.array([300.0, -1, 40000, 70000, 3e9 + 1, -3e9 - 1, 5e9 + 1, 1e19, -1e20, np.nan, np.inf, 2.0**32 + 5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected, found = x.astype(dtype), autoconv.compile(lambda x: x.astype(dtype))(x)
    np.testing.assert_array_equal(found, expected)


def test_rounding_to_ints():
    """Native code rounds half to even; results beyond 64 bits are Python's result or error."""
    def rounded(x, n):
        return round(x) + round(n)

    compiled = autoconv.compile(rounded)
    for x in (0.5, 1.5, 2.5, -2.5, 7.999, -0.0, 2.0**52 + 0.5, 1e18, 1e19, math.inf, math.nan):
        for n in (3, True):
            try:
                expected = rounded(x, n)
            except (OverflowError, ValueError) as error:
                with pytest.raises(type(error), match=str(error)):
                    compiled(x, n)
            else:
                assert compiled(x, n) == expected and type(compiled(x, n)) is int
    total = autoconv.compile(lambda numbers: sum(round(x) for x in numbers))
    numbers = np.linspace(-9.0, 9.0, 37)
    assert total(numbers) == sum(round(x) for x in numbers) and "kernel" not in total.explain()
