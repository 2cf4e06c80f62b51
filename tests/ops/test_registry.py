"""Every op, on its own samples: kernel against result rule, gradient against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autoconv.autodiff.vjp import vjp
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType, are_shapes_compatible
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import NoGradient, Op, Sample, define

# Ops that cannot run on arrays alone, and the modules that test them.
WITHOUT_SAMPLES = {
    "cond": "has regions; tests of tracing and backends",
    "while": "has regions; tests of tracing and backends",
    "call": "has regions; tests of tracing and backends",
    "try": "has regions; tests of tracing and backends",
    "custom_gradient": "has a region; tests of GradientTape",
    "raise": "its attributes are exceptions; tests of tracing",
    "python_print": "writes to standard output; tests of compiled functions",
    "numpy_tolist": "gives a list; tests of compiled functions",
    **{name: "on generators; tests/numpy/test_random.py" for name in OPS if name.startswith("generator_")},
    "list_array": "on lists of Python's own; tests/tracing/test_lists_as_arrays.py",
    "absent": "its attribute is a type; tests of tracing",
    **{name: "on values of Python's own; tests/ops/test_objects.py" for name in OPS if name.startswith("object_")},
    **{name: "on lists of the graph's own; tests/ops/test_typed_lists.py" for name in OPS if name.startswith("typed_")},
    **{name: "on arrays in memory; tests/tracing/test_arrays_in_memory.py, against NumPy" for name in OPS
       if name.startswith("array_") and not OPS[name].samples},
    **{name: "on datasets; tests/data" for name in OPS if name.startswith(("iterable_", "iterator_"))},
}  # fmt: skip
RECORDS = dict(OPS)  # those of the package; graphs make others for lists of their own
ONLY_ARRAYS = (np.ndarray, np.generic)


def samples() -> Iterator[Any]:
    for op in OPS.values():
        for i, sample in enumerate(op.samples):
            yield pytest.param(op, sample, id=f"{op.name}-{i}")


def tensor_samples(*, with_floats: bool = False) -> Iterator[Any]:
    """Yield samples whose inputs are arrays; with `with_floats`, only those with a float64 input."""
    for parameter in samples():
        _, sample = parameter.values
        arrays = all(isinstance(x, ONLY_ARRAYS) for x in sample.inputs)
        if arrays and (not with_floats or any(x.dtype == np.float64 for x in sample.inputs)):
            yield parameter


def differentiable_samples() -> Iterator[Any]:
    for parameter in tensor_samples():
        op, sample = parameter.values
        if not isinstance(op.gradient, NoGradient) and differentiable_inputs(op, sample):
            yield parameter


def differentiable_inputs(op: Op, sample: Sample) -> tuple[int, ...]:
    """Return the positions of float64 and complex128 inputs, if a result is differentiable."""
    chosen = sample.differentiable
    inputs = [np.asarray(x) for x in sample.inputs]
    if chosen is None:
        chosen = tuple(range(len(inputs)))
    if not any(is_differentiable(t) for t in op.result_types(input_types(sample), sample.attributes)):
        return ()
    return tuple(i for i in chosen if inputs[i].dtype in (np.float64, np.complex128))


def is_differentiable(type_: Any) -> bool:
    return isinstance(type_, TensorType) and type_.dtype.is_differentiable


def input_types(sample: Sample) -> list[Any]:
    return [TensorType(as_dtype(x.dtype), np.shape(x)) for x in sample.inputs]


def run(op: Op, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
    assert op.kernel is not None
    results = op.kernel(*inputs, **attributes)
    return results if isinstance(results, tuple) else (results,)


def evaluate(graph: Graph, arguments: list[Any]) -> list[Any]:
    """Return the outputs of a graph; each node runs by its kernel."""
    values: dict[Value, Any] = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        results = run(node.op, *(values[v] for v in node.inputs), **node.attributes)
        for value, result in zip(node.results, results, strict=True):
            assert matches_type(value.type, result), f"{node}: {value.type} but {describe(result)}"
            values[value] = result
    return [values[output] for output in graph.outputs]


def matches_type(type_: Any, array: Any) -> bool:
    if not isinstance(type_, TensorType):
        return True
    return (
        isinstance(array, ONLY_ARRAYS)
        and array.dtype == type_.dtype.numpy
        and are_shapes_compatible(type_.shape, np.shape(array))
    )


def describe(array: Any) -> str:
    return f"{type(array).__name__} {getattr(array, 'dtype', '')}{np.shape(array)}"


def test_records() -> None:
    for name, op in RECORDS.items():
        assert name == op.name and op.graphdef and op.graphdef[0].isupper()
        assert callable(op.gradient) or op.gradient.reason, name
        assert op.samples or name in WITHOUT_SAMPLES, name
        assert op.kernel is not None or name in WITHOUT_SAMPLES, name


def test_exceptions_are_ops() -> None:
    assert set(WITHOUT_SAMPLES) <= set(OPS)


def test_duplicate_is_refused() -> None:
    with pytest.raises(ValueError, match="'add' is defined twice"):
        define(name="add", graphdef="AddV2", result=None, kernel=None, gradient=NoGradient("x"))


@pytest.mark.parametrize(("op", "sample"), list(tensor_samples()))
def test_kernel(op: Op, sample: Sample) -> None:
    """Check a kernel: types of results, unchanged inputs, equal results of a pure op, and the op's facts."""
    inputs, attributes = sample.inputs, sample.attributes
    copies = [np.array(x) for x in inputs]
    results = run(op, *inputs, **attributes)
    for before, after in zip(copies, inputs, strict=True):
        np.testing.assert_array_equal(before, after)
    _check_rule(op, sample, results)
    if op.effects is Effects.PURE:
        for a, b in zip(results, run(op, *inputs, **attributes), strict=True):
            np.testing.assert_array_equal(a, b)
    if results:
        _check_facts(op, sample, results[0])


def _check_rule(op: Op, sample: Sample, results: tuple[Any, ...]) -> None:
    known = input_types(sample)
    dimensions_unknown = [TensorType(t.dtype, (None,) * len(t.shape)) for t in known]
    rank_unknown = [TensorType(t.dtype, None) for t in known]
    for types in (known, dimensions_unknown, rank_unknown):
        rule = op.result_types(types, sample.attributes)
        assert len(rule) == len(results)
        for type_, result in zip(rule, results, strict=True):
            assert matches_type(type_, result), f"{type_} for {types}, but the kernel gives {describe(result)}"


def _check_facts(op: Op, sample: Sample, result: Any) -> None:
    inputs, attributes = sample.inputs, sample.attributes
    if op.traits.commutative and len(inputs) == 2:
        np.testing.assert_array_equal(result, run(op, *inputs[::-1], **attributes)[0])
    if op.traits.identity is not None and (inputs[0].dtype == bool) == isinstance(op.traits.identity, bool):
        neutral = np.full(np.shape(inputs[0]), op.traits.identity, inputs[0].dtype)
        np.testing.assert_array_equal(run(op, inputs[0], neutral, **attributes)[0], inputs[0])


@pytest.mark.parametrize(("op", "sample"), list(tensor_samples(with_floats=True)))
def test_kernel_keeps_other_dtypes(op: Op, sample: Sample) -> None:
    """Kernels of float64 samples keep the dtypes float32 and float16."""
    for dtype in (np.float32, np.float16):
        inputs = [x.astype(dtype) if x.dtype == np.float64 else x for x in sample.inputs]
        types = [TensorType(as_dtype(x.dtype), np.shape(x)) for x in inputs]
        try:
            rule = op.result_types(types, sample.attributes)
        except (TypeError, ValueError):
            continue
        for type_, result in zip(rule, run(op, *inputs, **sample.attributes), strict=True):
            assert matches_type(type_, result), f"{type_}, but the kernel gives {describe(result)}"


@pytest.mark.parametrize(("op", "sample"), list(differentiable_samples()))
def test_first_gradient(op: Op, sample: Sample) -> None:
    graph = scalar_graph(op, sample)
    check_gradient(graph, sample, differentiable_inputs(op, sample))


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), list(differentiable_samples()))
def test_second_gradient(op: Op, sample: Sample) -> None:
    wrt = differentiable_inputs(op, sample)
    first = vjp(scalar_graph(op, sample), wrt)
    # The gradient of a weighted sum of first derivatives has the second derivatives.
    builder = GraphBuilder(first)
    total: Any = None
    for i, output in enumerate(first.outputs):
        part = weighted_sum(builder, output, 17 + i)
        total = part if total is None else builder.add(total, part)
    first.outputs = [total]
    check_gradient(first, sample, wrt, np.array(1.0))


def scalar_graph(op: Op, sample: Sample) -> Graph:
    """Return a graph of a weighted sum over all differentiable results of the op."""
    graph = Graph(op.name)
    parameters = [graph.add_parameter(t) for t in input_types(sample)]
    results = graph.add(op, parameters, sample.attributes).results
    builder = GraphBuilder(graph)
    total: Any = None
    for i, result in enumerate(results):
        if is_differentiable(result.type):
            part = weighted_sum(builder, result, i)
            total = part if total is None else builder.add(total, part)
    graph.outputs = [total]
    return graph


def weighted_sum(builder: GraphBuilder, value: Value, seed: int) -> Value:
    """Add a real number that depends on every element of `value`, each with its own weight."""
    if value.type.dtype.is_complex:
        real = weighted_sum(builder, builder.real(value), seed)
        return builder.add(real, weighted_sum(builder, builder.imag(value), seed + 100))
    value = builder.cast(value, dtype=as_dtype("float64"))
    count = builder.cast(builder.size(value), dtype=as_dtype("float64"))
    line = builder.reshape(value, shape=(-1,))
    unit = builder.constant(value=np.array(1.0))
    positions = builder.range(builder.constant(value=np.array(0.0)), count, unit)
    weights = builder.add(builder.sin(builder.add(builder.multiply(positions, 1.7), seed + 0.5)), 2.0)
    return builder.reduce_sum(builder.multiply(line, weights), axis=None, keepdims=False)


def check_gradient(graph: Graph, sample: Sample, wrt: tuple[int, ...], *others: Any) -> None:
    """Compare the gradients of a graph of one real output with finite differences.

    The parameters of the graph are the sample's inputs, followed by `others`.
    """
    arguments = [np.array(x) for x in (*sample.inputs, *others)]
    found = evaluate(vjp(graph, wrt), [*arguments, np.array(1.0)])
    for position, gradient in zip(wrt, found, strict=True):
        expected = finite_differences(lambda a: evaluate(graph, a)[0], arguments, position)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        message = f"input {position}"
        np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=2e-7 * scale, err_msg=message)


def finite_differences(function: Callable[..., Any], arguments: list[Any], position: int) -> Any:
    """Return central differences of fourth order; for a complex input dL/dre + i·dL/dim."""
    x = arguments[position]
    result = np.zeros_like(x)
    steps = (1.0, 1.0j) if x.dtype.kind == "c" else (1.0,)
    h = 1e-3
    for index in np.ndindex(x.shape):
        for direction in steps:
            def loss_at(distance: float, index: Any = index, direction: Any = direction) -> float:
                moved = x.copy()
                moved[index] += distance * direction
                return float(function([*arguments[:position], moved, *arguments[position + 1 :]]))

            slope = (8 * (loss_at(h) - loss_at(-h)) - (loss_at(2 * h) - loss_at(-2 * h))) / (12 * h)
            result[index] += slope * direction
    return result
