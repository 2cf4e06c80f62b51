"""Reverse-mode differentiation of graphs.

The result can be differentiated again, for derivatives of any order: it consists of ops with gradients, and so do the
stacks of stored values. All control flow is supported: arms, loops of any number of iterations, calls, tries. A level
is a graph or region that is being differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.autodiff.cotangents import accumulate, conform, cotangent_type, zeros_of
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import RootLevel, SplitRootLevel, shallow_copy
from autoconv.autodiff.reverse import backprop
from autoconv.graph.graph import Graph
from autoconv.graph.types import ListType, TensorType
from autoconv.lazy_dataclass import dataclass


def vjp(
    graph: Graph, wrt: Sequence[int] | None = None, *, with_outputs: bool = False, recompute_every: int | None = None
) -> Graph:
    """Return the vector-Jacobian product: a graph that computes cotangents of parameters from those of outputs.

    Its parameters are those of `graph` followed by one cotangent for every output, of the output's type. The
    cotangent of an output that is not differentiable is ignored. Its outputs are the cotangents of the parameters at
    the positions `wrt` (all of them by default), zeros where no output depends on the parameter. With `with_outputs`,
    the outputs of `graph` come first. Raises StagingError for an op without a gradient between a chosen parameter and
    an output. `recompute_every` is explained in autoconv.autodiff.checkpoints.
    """
    result = shallow_copy(graph)
    result.name = f"{graph.name}_vjp"
    parameters, outputs = list(result.parameters), result.outputs[:]
    level = RootLevel(result, result)
    level.recompute_every = recompute_every
    sources = [parameters[i] for i in (range(len(parameters)) if wrt is None else wrt)]
    varied = varied_values(result, sources, level.heap)
    for output in outputs:
        cotangent = result.add_parameter(cotangent_type(output.type), "cotangent")
        if output in varied:
            accumulate(level.builder, level.cotangents, output, cotangent)
    backprop(level, varied)
    level.builder.span = None
    gradients = [level.cotangents.get(source) or zeros_of(level.builder, source) for source in sources]
    result.outputs = [*(outputs if with_outputs else []), *gradients]
    return result


@dataclass(frozen=True, slots=True)
class Split:
    """A differentiated graph in two parts that run at different times.

    `forward` returns the outputs of the graph, followed by the stored values. `backward` takes the cotangents of the
    outputs at the positions `output_positions` and then the stored values; it returns the cotangents of the parameters
    at the positions `parameter_positions`. Other outputs and parameters have no cotangent. `has_lost_outputs` is true
    if an output without a cotangent, such as a Python object, may depend on a parameter: that gradient is lost.
    """

    forward: Graph
    backward: Graph
    output_count: int
    output_positions: tuple[int, ...]
    parameter_positions: tuple[int, ...]
    has_lost_outputs: bool = False


def split(graph: Graph, wrt: Sequence[int], *, recompute_every: int | None = None) -> Split:
    """Differentiate as `vjp` does, into two graphs; raises the same errors."""
    forward = shallow_copy(graph)
    parameters, outputs = list(forward.parameters), forward.outputs[:]
    level = SplitRootLevel(forward, Graph(f"{graph.name}_back"))
    level.recompute_every = recompute_every
    varied = varied_values(forward, [parameters[i] for i in wrt], level.heap)
    output_positions = tuple(
        i for i, value in enumerate(outputs) if value in varied and isinstance(value.type, (TensorType, ListType))
    )
    cotangents = [level.backward.add_parameter(cotangent_type(outputs[i].type), "cotangent") for i in output_positions]
    for position, cotangent in zip(output_positions, cotangents, strict=True):
        accumulate(level.builder, level.cotangents, outputs[position], cotangent)
    backprop(level, varied)
    parameter_positions = tuple(i for i in wrt if parameters[i] in level.cotangents)
    backward = level.backward
    backward.outputs = [
        conform(level.builder, level.resolve(level.cotangents[parameters[i]]), parameters[i].type)
        for i in parameter_positions
    ]
    forward.outputs = [*outputs, *level.saved_values]
    saved_parameters = [level.resolve(value) for value in level.saved_values]
    backward.parameters = [*cotangents, *saved_parameters]
    has_lost_outputs = any(output in varied for i, output in enumerate(outputs) if i not in output_positions)
    return Split(forward, backward, len(outputs), output_positions, parameter_positions, has_lost_outputs)
