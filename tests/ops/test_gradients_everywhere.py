"""The gradient of every op on its own samples, taken in the other ways there are: by a tape, in a loop, in an arm.

That it is right is checked in test_registry.py, against finite differences; here it has to be the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.api.gradients.dense_gradients import dense
from autoconv.autodiff.vjp import vjp
from autoconv.backends import REFERENCE
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType, join_shapes
from autoconv.graph.verify import verify
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import Op, Sample
from autoconv.optimise import optimise
from autoconv.runtime.tensors.dispatch import apply
from tests.module_loading import load_module

registry = load_module(Path(__file__).with_name("test_registry.py"), "registry")

SAMPLES = list(registry.differentiable_samples())
_WANTED: dict[tuple[str, int], list[Any]] = {}  # by op and identity of the sample, which several ops may share


def cotangents(op: Op, sample: Sample) -> list[Any]:
    """One for each result, None for those that have none."""
    results = registry.run(op, *sample.inputs, **sample.attributes)
    found = []
    for i, result in enumerate(results):
        array = np.asarray(result)
        weights = np.cos(np.arange(float(array.size)) + i).reshape(array.shape)
        found.append(weights.astype(array.dtype) if array.dtype.kind in "fc" else None)
    return found


def wanted(op: Op, sample: Sample) -> list[Any]:
    """The cotangents of the perturbed inputs, from the graph of the op alone."""
    key = op.name, id(sample)
    if key not in _WANTED:
        graph = Graph(op.name)
        parameters = [graph.add_parameter(t) for t in registry.input_types(sample)]
        graph.outputs = list(graph.add(op, parameters, sample.attributes).results)
        _WANTED[key] = prepared(vjp(graph, registry.perturbed(op, sample)), op, sample)()
    return _WANTED[key]


def prepared(graph: Graph, op: Op, sample: Sample) -> Callable[..., list[Any]]:
    """What runs the graph, optimised, on the inputs of the sample, with more of them before the cotangents."""
    verify(graph)
    finished = optimise(graph)
    verify(finished)
    given = cotangents(op, sample)
    seeds = [
        np.zeros_like(r) if ct is None else ct
        for r, ct in zip(registry.run(op, *sample.inputs, **sample.attributes), given, strict=True)
    ]
    compiled = REFERENCE.compile(finished)
    # Copies of the seeds: a graph may write into what it alone holds.
    return lambda *more: compiled([*map(np.asarray, sample.inputs), *more, *map(np.copy, seeds)])


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_by_a_tape(op: Op, sample: Sample) -> None:
    chosen = registry.perturbed(op, sample)
    weak = op.name.startswith("python_")
    inputs = [autoconv.constant(x) if not weak else autoconv.python_number(x.item()) for x in sample.inputs]
    with autoconv.GradientTape() as tape:
        tape.watch([inputs[i] for i in chosen])
        found = apply(op.name, *inputs, **sample.attributes)
    results = found if isinstance(found, tuple) else (found,)
    pairs = [(r, ct) for r, ct in zip(results, cotangents(op, sample), strict=True) if ct is not None]
    slopes = tape.gradient(
        [r for r, _ in pairs], [inputs[i] for i in chosen],
        output_gradients=[apply("constant", value=ct, weak=weak) for _, ct in pairs], unconnected_gradients="zero",
    )  # fmt: skip
    for slope, expected in zip(slopes, wanted(op, sample), strict=True):
        if isinstance(slope, autoconv.IndexedSlices):
            slope = dense(slope)
        np.testing.assert_allclose(np.asarray(slope), expected, rtol=1e-12, atol=1e-14)


def constant(graph: Graph, value: Any) -> Any:
    return GraphBuilder(graph).constant(value=np.asarray(value))


def in_a_loop(op: Op, sample: Sample) -> Graph:
    """The op as the only iteration of a while, whose state are the results, zeros at first."""
    types = registry.input_types(sample)
    results = op.result_types(types, sample.attributes)
    graph = Graph(op.name)
    parameters = [graph.add_parameter(t) for t in types]
    shapes = [np.shape(r) for r in registry.run(op, *sample.inputs, **sample.attributes)]
    state = [
        TensorType(t.dtype, join_shapes(t.shape, shape), t.weak) for t, shape in zip(results, shapes, strict=True)
    ]
    starts = [
        GraphBuilder(graph).constant(value=np.zeros(shape, t.dtype.numpy), weak=t.weak)
        for t, shape in zip(results, shapes, strict=True)
    ]
    goes_on = constant(graph, True)
    test, body = Graph("while_cond"), Graph("while_body")
    for region in (test, body):
        region.add_parameter(TensorType(bool_, ()))
        for t in (*state, *types):
            region.add_parameter(t)
    test.outputs = [test.parameters[0]]
    inner = body.add(op, body.parameters[1 + len(state) :], sample.attributes)
    body.outputs = [constant(body, False), *inner.results]
    loop = graph.add(
        OPS["while"], [goes_on, *starts, *parameters], {"state": 1 + len(state)}, regions=[test, body],
        types=[TensorType(bool_, ()), *state],
    )  # fmt: skip
    graph.outputs = list(loop.results[1:])
    return graph


def in_an_arm(op: Op, sample: Sample) -> Graph:
    """The op in one arm of a cond, zeros in the other."""
    types = registry.input_types(sample)
    results = op.result_types(types, sample.attributes)
    shapes = [np.shape(r) for r in registry.run(op, *sample.inputs, **sample.attributes)]
    graph = Graph(op.name)
    parameters = [graph.add_parameter(t) for t in types]
    index = graph.add_parameter(TensorType(bool_, ()))
    taken, other = Graph("cond_true"), Graph("cond_false")
    for region in (taken, other):
        for t in types:
            region.add_parameter(t)
    taken.outputs = list(taken.add(op, taken.parameters, sample.attributes).results)
    other.outputs = [
        GraphBuilder(other).constant(value=np.zeros(shape, t.dtype.numpy), weak=t.weak)
        for t, shape in zip(results, shapes, strict=True)
    ]
    graph.outputs = list(graph.add(OPS["cond"], [index, *parameters], regions=[taken, other]).results)
    return graph


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
@pytest.mark.parametrize("every", [None, 1])
def test_in_a_loop(op: Op, sample: Sample, every: int | None) -> None:
    graph = in_a_loop(op, sample)
    found = prepared(vjp(graph, registry.perturbed(op, sample), recompute_every=every), op, sample)()
    for slope, expected in zip(found, wanted(op, sample), strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_in_an_arm(op: Op, sample: Sample) -> None:
    graph = in_an_arm(op, sample)
    back = prepared(vjp(graph, registry.perturbed(op, sample)), op, sample)
    for taken in (True, False):
        found = back(np.array(taken))
        for slope, expected in zip(found, wanted(op, sample), strict=True):
            np.testing.assert_allclose(slope, expected if taken else 0.0 * expected, rtol=1e-12, atol=1e-14)
