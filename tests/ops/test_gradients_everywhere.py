"""The gradient of every op on its own samples, by a tape, in a loop and in an arm.

test_registry.py compares gradients with finite differences; these have to be equal to them.
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
# By op and identity of the sample: several ops may share a sample.
_EXPECTED_GRADIENTS: dict[tuple[str, int], list[Any]] = {}


def cotangents(op: Op, sample: Sample) -> list[Any]:
    """Return a cotangent for each result, None for results without one."""
    results = registry.run(op, *sample.inputs, **sample.attributes)
    found = []
    for i, result in enumerate(results):
        array = np.asarray(result)
        weights = np.cos(np.arange(float(array.size)) + i).reshape(array.shape)
        found.append(weights.astype(array.dtype) if array.dtype.kind in "fc" else None)
    return found


def expected_gradients(op: Op, sample: Sample) -> list[Any]:
    """Return the cotangents of the perturbed inputs, from a graph of the op alone."""
    key = op.name, id(sample)
    if key not in _EXPECTED_GRADIENTS:
        graph = Graph(op.name)
        parameters = [graph.add_parameter(t) for t in registry.input_types(sample)]
        graph.outputs = list(graph.add(op, parameters, sample.attributes).results)
        backward = vjp(graph, registry.differentiable_inputs(op, sample))
        _EXPECTED_GRADIENTS[key] = compile_for_sample(backward, op, sample)()
    return _EXPECTED_GRADIENTS[key]


def compile_for_sample(graph: Graph, op: Op, sample: Sample) -> Callable[..., list[Any]]:
    """Return a function that runs the optimised graph on the inputs of the sample, further inputs and cotangents."""
    verify(graph)
    optimised = optimise(graph)
    verify(optimised)
    known_cotangents = cotangents(op, sample)
    seeds = [
        np.zeros_like(r) if ct is None else ct
        for r, ct in zip(registry.run(op, *sample.inputs, **sample.attributes), known_cotangents, strict=True)
    ]
    compiled = REFERENCE.compile(optimised)
    # The seeds are copied: a graph may write into arrays that it owns.
    return lambda *more: compiled([*map(np.asarray, sample.inputs), *more, *map(np.copy, seeds)])


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_by_a_tape(op: Op, sample: Sample) -> None:
    chosen = registry.differentiable_inputs(op, sample)
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
    for slope, expected in zip(slopes, expected_gradients(op, sample), strict=True):
        if isinstance(slope, autoconv.IndexedSlices):
            slope = dense(slope)
        np.testing.assert_allclose(np.asarray(slope), expected, rtol=1e-12, atol=1e-14)


def constant(graph: Graph, value: Any) -> Any:
    return GraphBuilder(graph).constant(value=np.asarray(value))


def in_a_loop(op: Op, sample: Sample) -> Graph:
    """Return a graph with the op in the only iteration of a loop, whose state is the results, at first zeros."""
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
    """Return a graph with the op in one arm of a cond, and zeros in the other."""
    types = registry.input_types(sample)
    results = op.result_types(types, sample.attributes)
    shapes = [np.shape(r) for r in registry.run(op, *sample.inputs, **sample.attributes)]
    graph = Graph(op.name)
    parameters = [graph.add_parameter(t) for t in types]
    index = graph.add_parameter(TensorType(bool_, ()))
    true_arm, false_arm = Graph("cond_true"), Graph("cond_false")
    for region in (true_arm, false_arm):
        for t in types:
            region.add_parameter(t)
    true_arm.outputs = list(true_arm.add(op, true_arm.parameters, sample.attributes).results)
    false_arm.outputs = [
        GraphBuilder(false_arm).constant(value=np.zeros(shape, t.dtype.numpy), weak=t.weak)
        for t, shape in zip(results, shapes, strict=True)
    ]
    graph.outputs = list(graph.add(OPS["cond"], [index, *parameters], regions=[true_arm, false_arm]).results)
    return graph


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
@pytest.mark.parametrize("interval", [None, 1])
def test_in_a_loop(op: Op, sample: Sample, interval: int | None) -> None:
    graph = in_a_loop(op, sample)
    backward = vjp(graph, registry.differentiable_inputs(op, sample), recompute_every=interval)
    found = compile_for_sample(backward, op, sample)()
    for slope, expected in zip(found, expected_gradients(op, sample), strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.search("op")
@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_in_an_arm(op: Op, sample: Sample) -> None:
    graph = in_an_arm(op, sample)
    gradients = compile_for_sample(vjp(graph, registry.differentiable_inputs(op, sample)), op, sample)
    for taken in (True, False):
        found = gradients(np.array(taken))
        for slope, expected in zip(found, expected_gradients(op, sample), strict=True):
            np.testing.assert_allclose(slope, expected if taken else 0.0 * expected, rtol=1e-12, atol=1e-14)
