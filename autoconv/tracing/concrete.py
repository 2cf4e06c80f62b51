"""One trace, optimised and compiled: a graph with typed inputs, and how calls go through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends import BACKENDS
from autoconv.config import SETTINGS
from autoconv.errors import AutoconvError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import ObjectType
from autoconv.operators.layout import Layout, leaf_types, rebuild
from autoconv.runtime.convert import to_array
from autoconv.runtime.dispatch import graph_value
from autoconv.runtime.recording import Region
from autoconv.runtime.tensor import EagerTensor, SymbolicTensor
from autoconv.runtime.tracebacks import present, presented
from autoconv.runtime.variable import Storage, Variable
from autoconv.tracing.aliases import aliased_outputs
from autoconv.tracing.direct import call_form, needs_asking
from autoconv.tracing.func_graph import FuncGraph
from autoconv.tracing.function_type import FunctionType
from autoconv.tracing.guards import Guards
from autoconv.tracing.signature import Key, Literal, ObjectKey, TensorKey, VariableKey

_NODE_BYTES = 1100  # measured: a node, its values, and what the backend makes of it
_LARGEST_GAPS = 16  # how much larger than its elements the memory of a copy may be


class ConcreteFunction:
    """A function of one signature. Call it with tensors (or what converts to them), by position or name.

    `graph` is what was recorded, for looking at; `recorded` the same as data of this project, `optimised` what runs.
    """

    def __init__(
        self,
        graph: Graph,
        optimised: Graph,
        key: Key,
        names: Sequence[str],
        captures: Sequence[Any],
        layout: Layout,
        guards: Guards,
        contract: str,
        owner: Any,
        name: str,
    ) -> None:
        self.recorded = graph
        self.optimised = optimised
        self.key = key
        self.names = list(names)
        self.captures = list(captures)
        self.function_type = FunctionType.of(owner.function_spec, key, self._leaf_names(), layout, captures)
        self.layout = layout
        self.guards = guards
        self.contract = contract
        self._owner = owner
        self._name = name
        self.number = int(name.rpartition("_")[2])  # grows from trace to trace
        has_arrays = any(isinstance(capture, np.ndarray) for capture in captures)
        self._gives_out_captures = has_arrays and bool(
            aliased_outputs(optimised, optimised.parameters[len(graph.parameters) - len(captures) :])
        )
        self.used = 0  # when it was, as a number that grows
        self.weight = _weight(graph) + _weight(optimised)
        self._arrays_out = (
            contract == "compile"
            and not any(isinstance(leaf, TensorKey) and leaf.origin == "tensor" for leaf in key.leaves)
            and any(isinstance(leaf, TensorKey) and leaf.origin == "array" for leaf in key.leaves)
        )
        form = None
        if not self._gives_out_captures:
            form = call_form(graph, key, self.captures, layout, guards, contract, self._arrays_out)
        self._run = BACKENDS[SETTINGS.backend](optimised, form)
        # What a call with nothing but tensors, arrays and numbers may go to, and whether guards are to be asked first.
        self.entry: Callable[..., Any] | None = getattr(self._run, "entry", None)
        self.asks_guards = self.entry is not None and needs_asking(guards)

    @property
    def can_run_again(self) -> bool:
        """Whether a run that failed left nothing behind: no output, no write, no draw."""
        lasting = Effects.WRITE | Effects.RANDOM
        printing = {"print", "python_print", "py_call"}
        return not any(node.effects & lasting or node.op.name in printing for node in self.optimised.walk())

    @property
    def name(self) -> bytes:
        return self._name.encode()

    @property
    def inputs(self) -> list[SymbolicTensor]:
        return [SymbolicTensor(value) for value in self.recorded.parameters if hasattr(value.type, "dtype")]

    @property
    def outputs(self) -> list[SymbolicTensor]:
        return [SymbolicTensor(value) for value in self.recorded.outputs if hasattr(value.type, "dtype")]

    @property
    def structured_outputs(self) -> Any:
        return rebuild(self.layout, iter(self.recorded.outputs))

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position and those by name: TensorSpecs with their names, and plain values."""
        return self.function_type.specs

    @property
    def graph(self) -> FuncGraph:
        return FuncGraph(self.recorded, self.captures)

    @property
    def captured_inputs(self) -> list[Any]:
        """What the graph gets besides the arguments: tensors themselves, and variables as their handles."""
        return list(self.captures)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the graph reads or writes."""
        return tuple(Variable.of_storage(c) for c in self.captures if isinstance(c, Storage))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if variable.trainable)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._owner.call_concrete(self, args, kwargs)
        except BaseException as error:
            present(error)
            raise

    def call_leaves(self, leaves: Sequence[Any]) -> Any:
        """Runs with the leaves of the arguments, in the order of the key."""
        values = [
            leaf if isinstance(key, ObjectKey) else _run_value(leaf)
            for leaf, key in zip(leaves, self.key.leaves, strict=True)
            if isinstance(key, (TensorKey, VariableKey, ObjectKey))
        ]
        values += [self._captured(capture) for capture in self.captures]
        results = self._run(values)
        return rebuild(self.layout, map(self._result, results, leaf_types(self.layout)))

    def _captured(self, capture: Any) -> Any:
        if isinstance(capture, np.ndarray) and self._gives_out_captures:
            return capture.copy()  # a result that shares its memory would change with it
        return capture._array if isinstance(capture, EagerTensor) else capture

    def _result(self, value: Any, type_: Any) -> Any:
        if isinstance(type_, ObjectType):
            return value
        if self.contract == "compile":
            if getattr(type_, "weak", False):
                return np.asarray(value).item()
            if self._arrays_out and isinstance(value, (np.ndarray, np.generic)):
                return value if np.ndim(value) else np.asarray(value)[()]
        return EagerTensor(value) if isinstance(value, (np.ndarray, np.generic)) else value

    def record(self, region: Region, leaves: Sequence[Any]) -> Any:
        """A node that calls this graph, in a function that is being traced."""
        if region.trace.include_guards is not None:
            region.trace.include_guards(self.guards)
        inputs: list[Value] = [
            region.lift(graph_value(region, leaf if not isinstance(leaf, Variable) else leaf.storage))
            for leaf, key in zip(leaves, self.key.leaves, strict=True)
            if isinstance(key, (TensorKey, VariableKey))
        ]
        inputs += [region.lift(graph_value(region, captured)) for captured in self.captures]
        stateful = bool(self.recorded.effects)
        node = region.record(
            "call",
            inputs,
            {"name": self._name},
            regions=[self.optimised],
            types=[value.type for value in self.optimised.outputs],
            shown="StatefulPartitionedCall" if stateful else "PartitionedCall",
        )
        return rebuild(self.layout, iter(node.results))

    def _leaf_names(self) -> list[str]:
        """The names of the leaves: those of the graph's parameters where there is one."""
        parameters = iter(self.recorded.parameters)
        return [
            next(parameters).name if isinstance(leaf, (TensorKey, VariableKey, ObjectKey)) else name
            for leaf, name in zip(self.key.leaves, self.names, strict=True)
        ]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The types of inputs, output and captures: on one line, or one block each."""
        return self.function_type.block() if verbose else str(self.function_type)

    @presented
    def __reduce__(self) -> Any:
        raise AutoconvError(
            f"a trace of {self.recorded.name} cannot be pickled",
            remedy="the function itself: it traces again where it is loaded (get_concrete_function there)",
        )

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):x}>"


def _weight(graph: Graph) -> int:
    """About how many bytes a graph takes, its constants included."""
    return sum(_NODE_BYTES + getattr(node.attributes.get("value"), "nbytes", 0) for node in graph.walk())


def _run_value(leaf: Any) -> Any:
    if isinstance(leaf, EagerTensor):
        return leaf._array
    if isinstance(leaf, Variable):
        return leaf.storage
    if isinstance(leaf, (np.ndarray, np.generic)):
        return _copied(to_array(leaf))
    return np.asarray(leaf)


def _copied(array: np.ndarray) -> np.ndarray:
    """A copy that lies in memory as the array does: NumPy adds up in the order of memory, which rounding shows."""
    if array.flags.forc or array.dtype.hasobject:
        return np.array(array)
    low, high = np.lib.array_utils.byte_bounds(array)
    if high - low > _LARGEST_GAPS * array.nbytes:
        return np.array(array)
    start = array.__array_interface__["data"][0] - low
    copy: np.ndarray = np.ndarray(array.shape, array.dtype, np.empty(high - low, np.uint8), start, array.strides)
    copy[...] = array
    return copy


__all__ = ["ConcreteFunction", "Literal"]
