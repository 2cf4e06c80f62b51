"""Graphs that run eagerly and can be differentiated by tapes, to any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.autodiff.vjp import Split, split
from autoconv.errors import StagingError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops.values.list_value import ListValue
from autoconv.optimise import optimise
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.tensors.tensor import ArrayTensor, EagerTensor
from autoconv.tracing.execute.placed_graphs import compile_placed

_LASTING_EFFECTS = Effects.WRITE | Effects.OUTPUT | Effects.RANDOM


class DifferentiableGraph:
    """An optimised graph with its derivatives, each of which is made once on demand.

    `contract` is the name of the contract for which the graph was optimised: the forward pass raises the same errors.
    `run` is the compiled graph if there is one already.
    """

    def __init__(
        self, graph: Graph, name: str, contract: str, run: Any = None, backend: str | None = None
    ) -> None:
        self.graph = graph
        self.name = name
        self.contract = contract
        self.backend = backend
        self.run = compile_placed(graph, graph, contract, backend=backend) if run is None else run
        # (positions of the inputs to differentiate by, interval of recomputation or None) -> derivative.
        self._derivatives_by_request: dict[tuple[tuple[int, ...], int | None], ForwardAndBackward] = {}

    def call(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the results for these inputs (tensors, storages, lists), and record the call in tapes that follow one.

        The graph that runs is the forward graph of the highest derivative that active tapes may request. It saves the
        values for all derivatives, so a graph with side effects runs once.
        """
        watched_positions = tuple(i for i, is_followed in enumerate(tape_recorders.follows(inputs)) if is_followed)
        if not watched_positions:
            return self._wrap_results(self.run([to_graph_input(value) for value in inputs]), inputs)
        try:
            # The i-th item has the graphs of derivative i + 1; its forward graph saves values for all up to that one.
            chain = [self.derivative(watched_positions)]
        except StagingError as error:
            return self._call_without_gradient(inputs, error)
        if chain[0].split.has_lost_outputs:
            tape_recorders.record_export(inputs[watched_positions[0]])
        for _ in range(self._derivative_count() - 1):
            chain.append(chain[-1].forward.derivative(watched_positions))
        last_forward = chain[-1].forward
        results = last_forward._wrap_results(last_forward.run([to_graph_input(value) for value in inputs]), inputs)
        values_before = [value.value if hasattr(value, "__autoconv_resource__") else None for value in inputs]

        def pull(cotangents: Sequence[Any]) -> list[Any]:
            for derivative in chain:  # take the lowest derivative for which no saved value has a cotangent
                saved_values = results[derivative.split.output_count : len(derivative.forward.graph.outputs)]
                if all(cotangent is None for cotangent in cotangents[derivative.split.output_count :]):
                    return derivative.pull(cotangents, saved_values, results, len(inputs))
            return last_forward._rerun_for_derivative(watched_positions, inputs, values_before, cotangents, results)

        tape_recorders.record_entry(tape_recorders.Entry(self.name, inputs, results, pull))
        return results[: len(self.graph.outputs)]

    def refusal(self, inputs: Sequence[Any]) -> str:
        """Return the reason why tapes cannot differentiate a call with these inputs; "" if they can."""
        watched_positions = tuple(i for i, is_followed in enumerate(tape_recorders.follows(inputs)) if is_followed)
        try:
            has_lost_outputs = bool(watched_positions) and self.derivative(watched_positions).split.has_lost_outputs
        except StagingError as error:
            return error.message
        return "a differentiated value is stored in a Python object" if has_lost_outputs else ""

    def _call_without_gradient(self, inputs: Sequence[Any], error: StagingError) -> list[Any]:
        """Run a call without a gradient; requesting the gradient raises the error."""
        results = self._wrap_results(self.run([to_graph_input(value) for value in inputs]), inputs)

        def refuse(cotangents: Sequence[Any]) -> list[Any]:
            raise error

        tape_recorders.record_entry(tape_recorders.Entry(self.name, inputs, results, refuse))
        return results

    def _derivative_count(self) -> int:
        """Return how many derivatives a call prepares: as many as there are active tapes.

        If the graph cannot run again, a persistent tape counts as the number of derivatives that it may compute.
        """
        recorders = tape_recorders.active_recorders()
        can_rerun = not self.graph.effects & (_LASTING_EFFECTS | Effects.READ)
        return len(recorders) if can_rerun else sum(recorder.orders for recorder in recorders)

    def derivative(self, wrt: tuple[int, ...]) -> ForwardAndBackward:
        """Return the forward graph, which saves values, and the backward graph for derivatives by the inputs `wrt`."""
        intervals = (recorder.recompute_every for recorder in tape_recorders.active_recorders())
        recompute_every = next((interval for interval in intervals if interval is not None), None)
        result = self._derivatives_by_request.get((wrt, recompute_every))
        if result is None:
            result = ForwardAndBackward(split(self.graph, wrt, recompute_every=recompute_every), self)
            self._derivatives_by_request[wrt, recompute_every] = result
        return result

    def _rerun_for_derivative(
        self, watched_positions: tuple[int, ...], inputs: Sequence[Any], values_before: Sequence[Any],
        cotangents: Sequence[Any], results: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """Return the cotangents of the inputs for a derivative that the call did not prepare, by a rerun of the graph.

        Raises StagingError if the graph has lasting effects, or if a storage has another value than in `values_before`.
        """
        is_written = any(
            hasattr(value, "__autoconv_resource__") and value.value is not before
            for value, before in zip(inputs, values_before, strict=True)
        )
        if is_written or self.graph.effects & _LASTING_EFFECTS:
            raise StagingError(
                f"a higher derivative of {self.name!r} is requested than the tapes around its call allow, and it "
                "cannot run again because of its effects",
                None,
                "one GradientTape for each derivative around the call, or a persistent one",
            )
        derivative = self.derivative(watched_positions)
        arrays = derivative.forward.run([to_graph_input(value) for value in inputs])
        saved_values = derivative.forward._wrap_results(arrays, inputs)[derivative.split.output_count :]
        return derivative.pull(cotangents, saved_values, results, len(inputs))

    def _wrap_results(self, arrays: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Wrap each result as a new object, as tapes identify results by identity.

        Results are array tensors if an input is one.
        """
        has_arrays = self.contract == "compile" and any(type(value) is ArrayTensor for value in inputs)
        tensor_class = ArrayTensor if has_arrays else EagerTensor
        return [
            tensor_class(array, value.weak) if isinstance(value.type, TensorType)
            else array.alias() if isinstance(array, ListValue) else array
            for array, value in zip(arrays, self.graph.outputs, strict=True)
        ]  # fmt: skip


class ForwardAndBackward:
    """The two compiled graphs of a derivative: forward, with saved values as further outputs, and backward."""

    def __init__(self, split: Split, graph: DifferentiableGraph) -> None:
        name, contract, backend = graph.name, graph.contract, graph.backend
        self.split = split
        self.forward = DifferentiableGraph(optimise(split.forward, contract=contract), name, contract, backend=backend)
        self.backward = DifferentiableGraph(optimise(split.backward), f"{name}_back", "function", backend=backend)

    def pull(
        self, cotangents: Sequence[Any], saved_values: Sequence[Any], results: Sequence[Any], input_count: int
    ) -> list[Any]:
        """Return the cotangents of the `input_count` inputs; None for an input on which no output depends."""
        output_cotangents = [
            tape_recorders.zeros_for(results[i]) if cotangents[i] is None else cotangents[i]
            for i in self.split.output_positions
        ]
        gradients: list[Any] = [None] * input_count
        if self.split.parameter_positions:
            for position, cotangent in zip(
                self.split.parameter_positions, self.backward.call([*output_cotangents, *saved_values]), strict=True
            ):
                gradients[position] = cotangent
        return gradients


def to_graph_input(value: Any) -> Any:
    """Return a tensor's array, as a graph's input; other values as they are."""
    if isinstance(value, EagerTensor):
        return value._array
    return np.asarray(value) if isinstance(value, np.generic) else value
