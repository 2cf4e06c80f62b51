"""Functions of elements, traced once, which `map`, `filter` and others apply to every element."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from autoconv.config import SETTINGS
from autoconv.data.elements import components, leaf_type, rebuild, spec_leaves, spec_of_leaves
from autoconv.data.nodes import Bindings, Run
from autoconv.errors import StagingError
from autoconv.graph.graph import Graph
from autoconv.graph.types import IterableType
from autoconv.operators.calls.call import call as callable_for
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.region_body import unify_captures
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.ops.random.global_generator import GLOBAL
from autoconv.optimise import optimise
from autoconv.optimise.graph_key import graph_key
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.regions import Region, current_region, new_trace, recording, subregion
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import flat_leaves, is_structure
from autoconv.runtime.tensors.dispatch import graph_value
from autoconv.tracing.execute.placed_graphs import compile_placed
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.specialise.trace import LOCK


class _ElementFunctionContract(Contract):
    """The contract of a function that is run for every element: variables are created in its first trace only."""

    def __init__(self, is_first_trace: bool) -> None:
        self.is_first_trace = is_first_trace
        self.created_variables: list[Any] = []

    def on_variable_created(self, variable: Any) -> None:
        if not self.is_first_trace:
            raise ValueError(
                f"{variable!r} is created in each trace of the function of a dataset, which is run for every element. "
                "Create the variable before, and use it inside."
            )
        self.created_variables.append(variable)


class ElementFunction:
    """A graph from the leaves of an element to those of a result, with its captures.

    `element_spec` describes the element, `result_spec` the result. `values` are the captures: tensors, storages of
    variables, and values of the graph in which the dataset is created. Raises the errors of tracing the function, and
    TypeError for results that are not made of tensors.
    """

    def __init__(self, function: Callable[..., Any], element_spec: Any, name: str) -> None:
        if not callable(function):
            raise TypeError(f"`{name}` takes a function of an element, found {function!r}")
        enclosing_region = current_region()
        if enclosing_region is not None and enclosing_region.contract.runs_plain:
            raise StagingError("a dataset is made, which `compile` leaves to Python", current_place())
        self.name = name
        if enclosing_region is None:
            region = self._trace(function, element_spec)
            self.values = [captured_object for captured_object, _ in region.trace.captures.values()]
        else:
            region = subregion(enclosing_region, name)
            self.result_spec = trace_function(function, element_spec, region, name)
            self.values = list(unify_captures([region], len(spec_leaves(element_spec))))
        self._graph = optimise(region.graph)
        self._compiled_graph: Callable[[Sequence[Any]], list[Any]] | None = None

    def _trace(self, function: Callable[..., Any], element_spec: Any) -> Region:
        """Trace the function; trace it again if the first trace creates variables, which the second trace only uses."""
        for is_first_trace in (True, False):
            contract = _ElementFunctionContract(is_first_trace)
            region = new_trace(self.name, contract).root
            try:
                self.result_spec = trace_function(function, element_spec, region, self.name)
            except Suspended as signal:
                # All paths of a staged `try` raise. Trace again without conversion: then Python raises the exception.
                signal.mark_caught()
                region = new_trace(self.name, contract, converts=False).root
                self.result_spec = trace_function(function, element_spec, region, self.name)
            if not contract.created_variables:
                break
        return region

    def _compile_once(self) -> Callable[[Sequence[Any]], list[Any]]:
        """Compile at first use: many datasets are never iterated over."""
        if self._compiled_graph is None:
            self._compiled_graph = _compile(self._graph)
        return self._compiled_graph

    def runner(self, bindings: Bindings) -> Run:
        """Return a function from an element's leaves to the result's, with the captures of one pass over the dataset.

        Draws of random numbers with a seed begin anew in each pass, as in TensorFlow.
        """
        captures = [bindings.resolve(value) for value in self.values]
        compiled_graph = self._compile_once()

        def run(leaves: Sequence[Any]) -> list[Any]:
            return compiled_graph([*map(_scalar_to_array, leaves), *captures])

        def run_with_draws(leaves: Sequence[Any]) -> list[Any]:
            with GLOBAL.use_streams(bindings.draw_streams):
                return run(leaves)

        # An op-level seed that is a tuple has a stream of its own in each pass, see `GlobalGenerator.use_streams`.
        draws_numbers = any(type(node.attributes.get("seed")) is tuple for node in self._graph.walk())
        return run_with_draws if draws_numbers else run


# The graphs and the code of recent functions of elements, by key. Equal pipelines, such as those of each `fit`, share
# the code. A graph is stored to keep alive the objects whose ids are in its key.
_COMPILED_GRAPHS: BoundedDict[Hashable, tuple[Graph, Callable[[Sequence[Any]], list[Any]]]] = BoundedDict(64)
_MAX_SHARED_BYTES = 1 << 16  # of the constants in a graph whose code is kept


def _compile(graph: Graph) -> Callable[[Sequence[Any]], list[Any]]:
    """Compile the graph of a function of elements, or return the code of an equal graph.

    A graph without regions that returns datasets is not compiled: its ops run by their kernels. Most such graphs run
    only once, and the elements of the datasets are computed by other graphs.
    """
    makes_datasets = any(isinstance(value.type, IterableType) for value in graph.outputs)
    if makes_datasets and not any(node.regions for node in graph.nodes):
        return compile_placed(graph, recorded=graph, contract="function", backend="reference")
    constants = (node.attributes["value"] for node in graph.walk() if node.op.name == "constant")
    is_small = sum(getattr(value, "nbytes", 0) for value in constants) <= _MAX_SHARED_BYTES
    key = graph_key(graph) if is_small else None
    if key is None:
        return compile_placed(graph, recorded=graph, contract="function")
    key = SETTINGS.backend, key
    entry = _COMPILED_GRAPHS.get(key)
    if entry is None:
        entry = _COMPILED_GRAPHS[key] = graph, compile_placed(graph, recorded=graph, contract="function")
    _, compiled_graph = entry
    return compiled_graph


def trace_function(function: Callable[..., Any], element_spec: Any, region: Region, name: str) -> Any:
    """Record the function into the region, for an element of that spec; return the spec of its result."""
    parameters = [region.graph.add_parameter(leaf_type(leaf), "args") for leaf in spec_leaves(element_spec)]
    with LOCK, recording(region):
        element = rebuild(element_spec, parameters)
        # A tuple is passed as several arguments, as in TensorFlow, a named tuple as one.
        arguments = element if type(element) is tuple else (element,)
        _check_arity(function, arguments, element_spec, name)
        traced_function = callable_for(function) if region.trace.converts else function
        result = traced_function(*arguments)
        leaves, template = _result_leaves(result, function, name)
        region.graph.outputs = [region.lift(graph_value(region, leaf)) for leaf in leaves]
        return spec_of_leaves(template, leaves)


def _check_arity(function: Any, arguments: tuple[Any, ...], element_spec: Any, name: str) -> None:
    """Raise TypeError if the function does not take these arguments; `name` is the method that was given it."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # without a signature, the call itself checks the arguments
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise TypeError(
            f"the function of `{name}` is given {len(arguments)} argument{'s' * (len(arguments) != 1)}, for elements "
            f"{element_spec}; {function_name(function)}{signature} does not take them: {error}"
        ) from None


def _result_leaves(result: Any, function: Any, name: str) -> tuple[list[Any], Any]:
    """Return the leaves and the template of a function's result; raise TypeError if it is not made of tensors."""
    if isinstance(result, list) and is_structure(result):
        result = tuple(result)  # several results, as of `numpy_function`, not the rows of a tensor
    result_leaves = flat_leaves(result)
    is_none = all(leaf is None for leaf in result_leaves)
    for leaf in result_leaves:
        if type(leaf) is Variant or is_none:
            actual_text = "None" if leaf is None else "values of more than one kind, depending on a tensor"
            raise TypeError(
                f"the function of `{name}` has to give tensors on every path; {function_name(function)} gives "
                f"{actual_text}. Return the element, or a structure of tensors."
            )
    try:
        return components(result)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the function of `{name}` has to give tensors, or tuples and dicts of them; "
            f"{function_name(function)} gives {type(result).__name__}: {error}"
        ) from None


def _scalar_to_array(leaf: Any) -> Any:
    """Return a NumPy scalar as an array; compiled graphs take arrays only."""
    return np.asarray(leaf) if isinstance(leaf, np.generic) else leaf


def function_name(function: Any) -> str:
    """Return the name of a function for messages."""
    return getattr(function, "__qualname__", None) or repr(function)
