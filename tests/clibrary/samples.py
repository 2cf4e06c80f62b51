"""Samples of all ops as graphs for C libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.backends.library_form import Argument, Fields, LibraryForm, Output
from autoconv.backends.llvm.library.build import unsupported_ops
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.record import Op, Sample


def has_tensors(op: Op, sample: Sample) -> bool:
    """Return whether the sample's inputs and results are tensors, without effects outside of the graph."""
    effects = op.effects if isinstance(op.effects, Effects) else Effects.PURE
    is_check = effects == Effects.RAISE | Effects.OUTPUT  # it must run, and only raises
    if (effects.must_run and not is_check) or not all(isinstance(x, (np.ndarray, np.generic)) for x in sample.inputs):
        return False
    types = op.result_types([TensorType(as_dtype(x.dtype), np.shape(x)) for x in sample.inputs], sample.attributes)
    has_results = bool(types) or not is_check  # an assertion has none
    return has_results and all(isinstance(type_, TensorType) for type_ in types)


def sample_graphs() -> Iterator[tuple[str, Graph, list[np.ndarray], list[np.ndarray]]]:
    """Yield the samples with a form: op, graph, inputs, results of the op's kernel; for other ops an empty graph.

    Integers of rank 0 and 1 may be sizes, which a library must know: they are constants where the op needs it.
    """
    for op in OPS.values():
        has_form = False
        samples = [sample for sample in op.samples if has_tensors(op, sample)]
        for sample in samples:
            inputs = [np.asarray(x) for x in sample.inputs]
            for fixes_sizes in (False, True):
                graph, arguments = Graph("sample"), []
                values = []
                for i, x in enumerate(inputs):
                    if fixes_sizes and x.dtype.kind in "iu" and x.ndim < 2 and (i or len(inputs) == 1):
                        values.append(graph.add(OPS["constant"], [], {"value": x}).results[0])
                    else:
                        values.append(graph.add_parameter(TensorType(as_dtype(x.dtype), x.shape)))
                        arguments.append(x)
                graph.outputs = list(graph.add(op, values, sample.attributes).results)
                if is_numeric(graph) and not unsupported_ops(form_of(graph), graph):
                    assert op.kernel is not None
                    results = op.kernel(*inputs, **sample.attributes)
                    has_form = True
                    results = results if type(results) is tuple else (results,)
                    yield op.name, graph, arguments, [np.asarray(x) for x in results]
                    break
        if samples and not has_form:
            yield op.name, Graph("none"), [], []


def is_numeric(graph: Graph) -> bool:
    types: list[Any] = [value.type for value in (*graph.parameters, *graph.outputs)]
    return all(type_.shape is not None and type_.dtype.numpy.kind in "biufc" for type_ in types)


def form_of(graph: Graph) -> LibraryForm:
    types: list[Any] = [value.type for value in graph.parameters]
    outputs: list[Any] = [value.type for value in graph.outputs]
    return LibraryForm(
        "f",
        tuple(Argument(f"x{i}", type_.dtype, type_.shape) for i, type_ in enumerate(types)),
        Fields(tuple((f"r{i}", Output(i, type_.dtype, len(type_.shape))) for i, type_ in enumerate(outputs))),
        "other sizes",
    )
