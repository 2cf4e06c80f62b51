"""Gradients inside traced functions, and functions with custom gradients."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.gradients.dense_gradients import stack_element_gradients, zeros_of_source
from autoconv.api.gradients.recorded import find_source_value
from autoconv.api.gradients.tape import UnconnectedGradients
from autoconv.graph.graph import Graph, Node, Value
from autoconv.operators.calls.call import call as callable_for
from autoconv.operators.regions.region_body import unify_captures
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region, current_region, recording, subregion
from autoconv.runtime.recording.symbolic_gradients import symbolic_gradients
from autoconv.runtime.support.structure import flat_leaves, flatten, pack
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply, graph_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", gate_gradients: bool = False,
    aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:  # fmt: skip
    """Return the gradients of the sum of `ys` with respect to each of `xs`, in a function that is being traced.

    `grad_ys` are the weights of the elements of `ys`, ones by default. No gradient flows through the ops that produce
    the tensors `stop_gradients`. For an unconnected source the gradient is None, or zeros. Raises RuntimeError outside
    of a traced function. `gate_gradients` and `aggregation_method` have no effect.

    >>> @autoconv.function
    ... def slope(x):
    ...     return autoconv.gradients(x * x, x)[0]
    >>> slope(autoconv.constant(3.0)).numpy()
    np.float32(6.0)
    """
    region = current_region()
    if region is None:
        raise RuntimeError(
            "autoconv.gradients is not supported when eager execution is enabled. Use autoconv.GradientTape instead."
        )
    targets, sources = [as_tensor(value) for value in flat_leaves(ys)], flat_leaves(xs)
    for target in (*targets, *sources):
        if not isinstance(target, (SymbolicTensor, Variable)):
            raise ValueError(f"autoconv.gradients takes tensors of the function that is being traced, found {target!r}")
    cotangents = flat_leaves(grad_ys) if grad_ys is not None else [None] * len(targets)
    seeds = [
        apply("ones_like", target) if cotangent is None else convert_to_tensor(cotangent)
        for target, cotangent in zip(targets, cotangents, strict=True)
    ]
    stopped_values = {find_source_value(region, value) for value in flat_leaves(stop_gradients) if value is not None}

    def unstopped_nodes(graph: Graph) -> list[Node] | None:
        """Return the nodes through which gradients flow; None for all nodes."""
        if not stopped_values:
            return None
        return [node for node in graph.nodes if not stopped_values.intersection(node.results)]

    source_values = [find_source_value(region, source) for source in sources]
    target_values = [target.value_in_graph for target in targets]  # type: ignore[union-attr]
    seed_values = [region.lift(graph_value(region, seed)) for seed in seeds]
    known_sources = [value for value in source_values if value is not None]
    remaining_gradients = iter(symbolic_gradients(region, target_values, seed_values, known_sources, unstopped_nodes))
    values = [None if source is None else next(remaining_gradients) for source in source_values]
    tensors = [None if value is None else SymbolicTensor(region.lift(value)) for value in values]
    if UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO:
        pairs = zip(sources, tensors, strict=True)
        return [zeros_of_source(source) if tensor is None else tensor for source, tensor in pairs]
    return tensors


def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str = "hessians"
) -> list[Any]:
    """Return the second derivatives of the sum of `ys` with respect to each of `xs`; available only while tracing.

    `gate_gradients` and `aggregation_method` have no effect.

    >>> @autoconv.function
    ... def curvature(x):
    ...     return autoconv.hessians(autoconv.reduce_sum(x**3), x)[0]
    >>> curvature(autoconv.constant([1.0, 2.0])).numpy()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    result = []
    for source in flat_leaves(xs):
        (gradient,) = gradients(ys, source, unconnected_gradients=UnconnectedGradients.ZERO)

        def gradients_of_element(seed: TensorLike, gradient: Any = gradient, source: TensorLike = source) -> list[Any]:
            return gradients(gradient, source, seed, unconnected_gradients=UnconnectedGradients.ZERO)

        (stacked_rows,) = stack_element_gradients(gradient, gradients_of_element)
        shape = apply("shape", convert_to_tensor(source))
        # The shape of the second derivatives is that of the source twice.
        static_shape = tuple(size if isinstance(size, int) else None for size in source.type.shape) * 2
        dynamic_shape = () if None not in static_shape else (apply("concat", shape, shape, axis=0),)
        result.append(apply("reshape", stacked_rows, *dynamic_shape, shape=static_shape))
    return result


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorator for a function with a custom gradient: `f(*arguments)` returns its result and its vjp.

    The vjp takes the cotangents of the results and returns those of the arguments, None for zeros. A tuple,
    list or dict has a cotangent for each tensor in it. The vjp may use values that `f` computed, and its ops can be
    differentiated again. When `f` reads variables, the vjp must also accept `variables=` and return a pair: the
    cotangents of the arguments, and a list of those of the variables. Raises TypeError if the vjp lacks this parameter,
    and ValueError if it returns another number of cotangents.

    >>> @autoconv.custom_gradient
    ... def doubled(x):
    ...     return 2.0 * x, lambda upstream: 5.0 * upstream
    >>> autoconv.grad(doubled)(1.0)
    5.0
    """
    if f is None:
        return custom_gradient
    function = f

    @functools.wraps(function)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        region = current_region()
        leaf_arguments, argument_template = flatten(args)  # each tensor is an argument of the vjp
        arguments = [
            convert_to_tensor(argument) if region is not None or isinstance(argument, Variable) else argument
            for argument in leaf_arguments
        ]
        recorder = tape_recorders.Recorder()
        tape_recorders.start(recorder)
        try:  # tapes record the body too: the vjp may use values of the body, and may be differentiated again
            result, vjp_function = callable_for(function)(*pack(argument_template, arguments), **kwargs)
        finally:
            tape_recorders.stop(recorder)
        variables = list(recorder.variables.values())
        leaves, template = flatten(result)
        tensors = [convert_to_tensor(leaf) for leaf in leaves]
        vjp = _CustomVjp(vjp_function, len(arguments), variables, str(getattr(function, "__name__", "function")))
        record = _record_eager if region is None else functools.partial(_record_symbolic, region)
        return pack(template, record(vjp, arguments, tensors))

    return with_gradient


class _CustomVjp:
    """The vjp of a custom gradient whose function reads `variables`; `name` is the name of that function in errors."""

    def __init__(
        self, function: Callable[..., Any], argument_count: int, variables: Sequence[Variable], name: str
    ) -> None:
        self.function = function
        self.argument_count = argument_count
        self.variables = variables
        self.name = name
        if variables and not _takes_variables(function):
            raise TypeError(
                "If using @custom_gradient with a function that uses variables, then grad_fn must accept a 'variables' "
                f"keyword argument; {name} reads {variables[0].name}"
            )

    def __call__(self, cotangents: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the arguments, followed by those of the variables."""
        variable_cotangents: Any = ()
        if self.variables:
            output, variable_cotangents = callable_for(self.function)(*cotangents, variables=list(self.variables))
        else:
            output = callable_for(self.function)(*cotangents)
        leaves, _ = flatten(output)
        if len(leaves) != self.argument_count or len(variable_cotangents) != len(self.variables):
            raise ValueError(
                f"the gradient of {self.name} gives {len(leaves)} cotangents for {self.argument_count} arguments"
                + (f", and {len(variable_cotangents)} for {len(self.variables)} variables" if self.variables else "")
            )
        cotangents_of_inputs = (*leaves, *variable_cotangents)
        return [None if cotangent is None else convert_to_tensor(cotangent) for cotangent in cotangents_of_inputs]


def _takes_variables(function: Callable[..., Any]) -> bool:
    """Return whether a vjp has a parameter `variables`."""
    parameters = inspect.signature(function).parameters
    kinds = [parameter.kind for parameter in parameters.values()]
    return "variables" in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def _record_eager(vjp: _CustomVjp, arguments: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Return copies of the results `tensors`; record `vjp` with the active tapes as the vjp of these copies."""
    with tape_recorders.pause_recorders():
        results = [apply("identity", tensor) for tensor in tensors]

    def back(cotangents: Sequence[Any]) -> list[Any]:
        pairs = zip(results, cotangents, strict=True)
        return vjp(
            [tape_recorders.zeros_for(result) if cotangent is None else cotangent for result, cotangent in pairs]
        )

    operands = [*arguments, *(variable.storage for variable in vjp.variables)]
    tape_recorders.record_entry(tape_recorders.Entry(vjp.name, operands, results, back))
    return results


def _record_symbolic(region: Region, vjp: _CustomVjp, arguments: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Record a node whose results are these tensors and whose region computes the cotangents; return the results."""
    vjp_region = subregion(region, "custom_gradient")
    cotangents = [SymbolicTensor(vjp_region.graph.add_parameter(tensor.type, "cotangent")) for tensor in tensors]
    with recording(vjp_region):
        argument_cotangents = vjp(cotangents)
        connected_positions = tuple(i for i, cotangent in enumerate(argument_cotangents) if cotangent is not None)
        outputs = [graph_value(vjp_region, argument_cotangents[i]) for i in connected_positions]
        vjp_region.graph.outputs = [vjp_region.lift(output) for output in outputs]
    captures = unify_captures([vjp_region], len(cotangents))
    storages = [variable.storage for variable in vjp.variables]
    operands: list[Value] = [graph_value(region, operand) for operand in (*arguments, *storages)]
    values = [region.lift(value) for value in (*operands, *(graph_value(region, tensor) for tensor in tensors))]
    node = region.record(
        "custom_gradient", [*values, *captures],
        {"argument_count": len(operands), "result_count": len(tensors), "reached": connected_positions},
        regions=[vjp_region.graph], types=[tensor.type for tensor in tensors],
    )  # fmt: skip
    return [SymbolicTensor(value) for value in node.results]
