"""Compilation of graphs for the devices that their nodes request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from typing import Any

from autoconv.backends import compile_graph
from autoconv.backends.call_form import CallForm
from autoconv.backends.interpreter import locate, node_function
from autoconv.backends.protocol import CompiledGraph
from autoconv.config.placement import DEFAULT_DEVICE, is_default, non_default_name, pool_of, task_of
from autoconv.errors import InvalidArgumentError
from autoconv.graph.graph import Graph, Node, Span, Value, has_recursion
from autoconv.graph.region_flow import result_sources
from autoconv.graph.types import ResourceType, TensorType
from autoconv.ops.values.remote_array import RemoteArray
from autoconv.optimise import optimise
from autoconv.optimise.partition import Part, is_constant, partition, requested_devices
from autoconv.tracing.execute.element_shapes import ElementGraph, takes_open_elements
from autoconv.tracing.execute.symbolic_shapes import MultiShapeGraph, needs_shapes


def compile_placed(
    graph: Graph, recorded: Graph, contract: str, form: CallForm | None = None, backend: str | None = None
) -> CompiledGraph:
    """Compile an optimised graph: in parts by device, as code for several shapes, or as it is.

    `contract` and `backend` are names; None is the configured backend. Calls raise InvalidArgumentError if a node of
    the recorded graph requests a device that does not exist, even if the optimised graph has no such node.
    """
    requests = {node.device: node.span for node in recorded.walk() if not is_default(node.device)}
    if not all(map(is_default, requested_devices(graph))) or any(map(_is_missing, requests)):
        return PlacedGraph(graph, contract, backend=backend, requests=requests)
    if needs_shapes(graph, backend):
        return MultiShapeGraph(graph, contract, form, backend=backend)
    if takes_open_elements(graph, backend):
        return ElementGraph(graph, contract, backend)
    return compile_graph(graph, form, backend=backend)


def _is_missing(request: str) -> bool:
    """Return whether the requested device does not exist."""
    try:
        non_default_name(request)
    except InvalidArgumentError:
        return True
    return False


class PlacedGraph:
    """A graph whose nodes run on several devices: parts that are independent run concurrently, one thread each.

    A loop or branch whose nodes request several devices is interpreted, and its regions are placed graphs themselves.
    `device` is the full name of the device of nodes without a request. Devices are looked up at the first call. If
    `must_fetch` is true, results of other processes are fetched as arrays, and their errors raised. `requests` are
    further devices that have to exist, with the spans that request them.
    """

    entry = None
    kernel_calls: Sequence[tuple[str, Span | None]] | None = ()
    notes: Sequence[str] = ()
    holds_no_arguments = False
    sizes = None

    def __init__(
        self, graph: Graph, contract: str, device: str = "", backend: str | None = None, must_fetch: bool = False,
        requests: Mapping[str, Span | None] | None = None,
    ) -> None:
        self._graph = graph
        self._must_fetch = must_fetch
        self._contract = contract
        self._device = device
        self._backend = backend
        self._requests = requests or {}
        # Names and devices of the variables that other processes hold -> stages, which run in order. A stage lists
        # parts, each with the function that runs it; these run concurrently.
        self._stages: dict[tuple[str, ...], list[list[tuple[Part, Callable[[Sequence[Any]], list[Any]]]]]] = {}

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        values: dict[Value, Any] = dict(zip(self._graph.parameters, arguments, strict=True))
        variables = {value: argument for value, argument in values.items() if isinstance(value.type, ResourceType)}
        homes = {value: argument.home for value, argument in variables.items() if hasattr(argument, "home")}
        key = tuple(f"{value.name} {home}" for value, home in homes.items())
        if key not in self._stages:
            for request, span in self._requests.items():
                self._device_for(request, span)  # raises if the device does not exist
            stages = partition(self._graph, lambda node: self._device_of(node, homes), self._is_divided)
            self._stages[key] = [[(part, self._compile_part(part)) for part in stage] for stage in stages]
        for stage in self._stages[key]:
            jobs = [_Job(run, [_argument_for(values[value], part) for value in part.inputs]) for part, run in stage]
            for (part, _), results in zip(stage, _run_all(jobs), strict=True):
                values.update(zip(part.outputs, results, strict=True))
        results = [values[value] for value in self._graph.outputs]
        return [_fetch(value) for value in results] if self._must_fetch else results

    def _device_of(self, node: Node, homes: Mapping[Value, str]) -> str:
        """Return the device on which a node runs; for nodes that use variables or objects of this process, a local one.

        `homes` maps variables that other processes hold to their devices.
        """
        device = self._device_for(node.device, node.span)
        needs_this_process = self._is_divided(node) or not _can_run_in_other_process(node, device, homes)
        return DEFAULT_DEVICE if task_of(device) is not None and needs_this_process else device

    def _is_divided(self, node: Node) -> bool:
        """Return whether a node's regions have a node that requests another device than the node's own."""
        if not node.op.traits.control or any(map(has_recursion, node.regions)):
            return False
        inner_nodes = (inner for region in node.regions for inner in region.walk())
        requests = {inner.device for inner in inner_nodes if not is_constant(inner)}
        own_device = self._device_for(node.device)
        return any(self._device_for(request) != own_device for request in requests if request)

    def _device_for(self, request: str, span: Span | None = None) -> str:
        """Return the full name of the device for a request, which the program makes at `span`."""
        if not request:
            return self._device or DEFAULT_DEVICE
        try:
            return non_default_name(request) or DEFAULT_DEVICE
        except InvalidArgumentError as error:
            missing = InvalidArgumentError(
                f"Unable to find any devices for spec {request} [Op:{self._graph.name}]: {error.message}"
            )
            locate(missing, span)
            raise missing from None

    def _compile_part(self, graph_part: Part) -> Callable[[Sequence[Any]], list[Any]]:
        """Return the function that runs a part on its device: from the values of its inputs to those of its outputs."""
        if graph_part.is_divided:
            return self._interpret_part(graph_part)
        task = task_of(graph_part.device)
        graph = optimise(graph_part.graph, contract=self._contract)
        if task is not None:
            return task.compile(graph)
        pool_number = pool_of(graph_part.device)
        if needs_shapes(graph, self._backend):
            return MultiShapeGraph(graph, self._contract, None, pool_number, self._backend)
        return compile_graph(graph, pool_number=pool_number, backend=self._backend)

    def _interpret_part(self, graph_part: Part) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a function that runs a part, one node whose regions use several devices, region by region."""
        (node,) = (part_node for part_node in graph_part.graph.nodes if part_node.regions)
        constant_nodes = [part_node for part_node in graph_part.graph.nodes if part_node is not node]
        constants = {constant.results[0]: constant.attributes["value"] for constant in constant_nodes}
        device = self._device_for(graph_part.nodes[0].device)
        results = {source for index in range(len(node.results)) for source in result_sources(node, index)}

        def compile_region(region: Graph) -> PlacedGraph:
            # Outputs that are no results are fetched: a loop's condition, and a try's body, whose errors arise inside.
            must_fetch = not results.issuperset(region.outputs)
            return PlacedGraph(region, self._contract, device, self._backend, must_fetch)

        function = node_function(node, compile_region)

        def run(arguments: Sequence[Any]) -> list[Any]:
            values = {**constants, **dict(zip(graph_part.graph.parameters, arguments, strict=True))}
            inputs = [_fetch(values[value]) if _is_scalar(value) else values[value] for value in node.inputs]
            results_by_value = dict(zip(node.results, function(*inputs), strict=True))
            return [results_by_value[value] for value in graph_part.graph.outputs]

        return run


def _is_scalar(value: Value) -> bool:
    """Return whether a value has no dimensions; conditions have none, and are read by this process."""
    return isinstance(value.type, TensorType) and value.type.shape == ()


def _can_run_in_other_process(node: Node, device: str, homes: Mapping[Value, str]) -> bool:
    """Return whether another process's device can run a node, as its operands and results can be sent.

    They have to be tensors, or variables that the device holds. A node without results runs in this process, because
    its purpose is an effect.
    """
    values = [value for value in node.inputs if homes.get(value) != device]
    return all(isinstance(value.type, TensorType) for value in (*values, *node.results)) and bool(node.results)


def _argument_for(value: Any, graph_part: Part) -> Any:
    """Return an argument for a part: a value of another process is fetched for a device of this process."""
    return value if graph_part.is_divided or task_of(graph_part.device) is not None else _fetch(value)


def _fetch(value: Any) -> Any:
    """Return a value of another process as an array of this process; other values unchanged."""
    return value.fetch() if isinstance(value, RemoteArray) else value


class _Job:
    """A call of a function, with its result or error."""

    def __init__(self, run: Callable[[Sequence[Any]], list[Any]], arguments: list[Any]) -> None:
        self._run, self._arguments = run, arguments
        self.error: BaseException | None = None
        self.result: list[Any] = []

    def work(self) -> None:
        """Run the call, and keep its result or error."""
        try:
            self.result = list(self._run(self._arguments))
        except BaseException as error:
            self.error = error


def _run_all(jobs: Sequence[_Job]) -> list[list[Any]]:
    """Run jobs concurrently, the first one in this thread; raise the error of the first that failed."""
    name = "autoconv-device"
    threads = [threading.Thread(target=copy_context().run, args=(job.work,), name=name) for job in jobs[1:]]
    for thread in threads:
        thread.start()
    jobs[0].work()
    for thread in threads:
        thread.join()
    for job in jobs:
        if job.error is not None:
            raise job.error
    return [job.result for job in jobs]
