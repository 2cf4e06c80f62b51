"""ConcreteFunction: one trace, optimised and compiled, with typed inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autoconv.config import SETTINGS
from autoconv.config.placement import eager_device, other_device_request
from autoconv.errors import AutoconvError
from autoconv.graph.graph import Graph, Span, Value
from autoconv.graph.types import ArrayType, ObjectType
from autoconv.operators.regions.marshalling import rebuild
from autoconv.ops.values.remote_array import RemoteArray
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.recording.tracebacks import present, present_errors
from autoconv.runtime.support.structure import map_structure
from autoconv.runtime.tensors.dispatch import graph_value
from autoconv.runtime.tensors.donation import donate
from autoconv.runtime.tensors.remote_tensor import RemoteTensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tracing.execute.call_form import Results
from autoconv.tracing.execute.donation import find_donated_leaves
from autoconv.tracing.execute.executable import Executable, compile_recording
from autoconv.tracing.execute.float_warnings import FloatErrors
from autoconv.tracing.execute.graph_collection import collect
from autoconv.tracing.execute.graph_weight import graph_weight
from autoconv.tracing.execute.placed_graphs import PlacedGraph
from autoconv.tracing.execute.recording import PARAMETER_KEYS, Recording
from autoconv.tracing.execute.rollback import can_run_again
from autoconv.tracing.execute.run_values import apply_key_layout, run_value
from autoconv.tracing.execute.shared_outputs import copy_shared_result, first_equal_outputs
from autoconv.tracing.execute.symbolic_shapes import MultiShapeGraph
from autoconv.tracing.execute.taped_calls import TapedCalls
from autoconv.tracing.guards.outside_values import OutsideValues
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import ObjectKey, SpecKey, TensorKey, VariableKey
from autoconv.tracing.outputs.aliases import aliased_outputs
from autoconv.tracing.views.func_graph import FuncGraph, GraphMember
from autoconv.tracing.views.function_type import FunctionType


def _is_tensor_key(key: Any) -> bool:
    """Return whether the leaf is a tensor, a variable, or an object with a spec, such as a dataset."""
    return isinstance(key, (VariableKey, SpecKey)) or (isinstance(key, TensorKey) and key.is_of_tensor)


class ConcreteFunction(GraphMember):
    """A function of one signature. Call it with tensors (or what converts to them), by position or name.

    `recorded` is the graph as it was recorded, `graph` the same in TensorFlow's form, and `optimised` the graph that
    runs. `owner` is the `Function` that was traced.
    """

    def __init__(self, recording: Recording, owner: Any, name: str) -> None:
        key, contract = recording.key, recording.contract
        self._recording = recording
        self.recorded, runnable = recording.graph, recording.runnable
        self.key, self.layout, self.guards = key, recording.layout, recording.guards
        self.names, self.captures = list(recording.names), list(recording.captures)
        leaf_names = self._leaf_names()
        self.function_type = FunctionType.of(owner.function_spec, key, leaf_names, self.layout, recording.captures)
        self.contract, self._owner, self._name = contract, owner, name
        self._taped_calls: TapedCalls | None = None
        self.number = int(name.rpartition("_")[2])  # increases from trace to trace
        self.outside = OutsideValues()  # values with which arguments must not share memory
        self.is_narrow = False  # True if a more general trace, tried after this one, accepts its arguments too
        self.raises_in_handlers = False  # whether operations in handlers may raise
        self.seconds = 0.0  # seconds that making the trace took
        self.last_use = 0  # a number that increases from use to use of any trace of the function
        # Operators have other rules for tensors than for NumPy's arrays.
        self.uses_tensors = any(map(_is_tensor_key, key.leaves)) or any(isinstance(x, Storage) for x in self.captures)
        warns = recording.warns_of_constants
        self.float_errors = FloatErrors(self.recorded, runnable, contract, self.uses_tensors, warns)
        self.weight = graph_weight(self.recorded) + graph_weight(runnable)
        self._donated = find_donated_leaves(key, owner.donate)  # positions of the leaves whose memory calls give away
        self.function_name = self.recorded.name
        self.output_specs: Any = None  # the structure of the outputs, as specs, of a function that was loaded
        self._compiled_executable: Executable | None = None
        self._graphs_by_device: dict[str, PlacedGraph] = {}  # device that a `with` block sets for a call -> its graph
        self._find_shared_outputs(runnable, recording.uses_arrays)
        self.can_run_again = can_run_again(runnable)  # whether a failed run has no side effects
        self._requests_native = (owner.backend or SETTINGS.backend) != "reference"
        if current_region() is None:  # otherwise the call is part of another trace, which includes the graph
            self._compile()

    def _find_shared_outputs(self, runnable: Graph, uses_arrays: bool) -> None:
        """Set the attributes about results that share memory with each other, with captures or with constants."""
        key, contract = self.key, self.contract
        self._first_equal_positions = first_equal_outputs(self.recorded, runnable) if contract.promises_identity else []
        captured_parameters = runnable.parameters[len(self.recorded.parameters) - len(self.captures) :]
        has_arrays = any(isinstance(capture, np.ndarray) for capture in self.captures)
        self._returns_captures = has_arrays and bool(aliased_outputs(runnable, captured_parameters))
        self._returns_arrays = (  # results are NumPy's arrays and scalars, not tensors
            contract.python_exceptions
            and (uses_arrays or key.arrays_as_memory)
            and not any(isinstance(leaf, TensorKey) and leaf.is_of_tensor for leaf in key.leaves)
        )
        constants = [node.results[0] for node in runnable.nodes if node.op.name == "constant"]
        self._returns_constants = self._returns_arrays and bool(aliased_outputs(runnable, constants))

    @property
    def optimised(self) -> Graph:
        """The graph that runs. If the trace was made for a call in another trace, its first use optimises it."""
        return self._optimised_recording().runnable

    def _optimised_recording(self) -> Recording:
        """Return the recording with the optimised graph; the first call optimises it."""
        if not self._recording.is_optimised:
            self._recording = self._recording.optimise(self._name)
        return self._recording

    def _compile(self) -> Executable:
        """Compile the graph that runs."""
        outputs_need_no_copy = not self._returns_captures and not self._returns_constants
        results = Results(self.layout, self._returns_arrays, outputs_need_no_copy, self._first_equal_positions)
        self._compiled_executable = compile_recording(
            self._optimised_recording(), results, self._donated, self._owner.backend, self._are_disjoint,
            self.can_run_again,
        )  # fmt: skip
        return self._compiled_executable

    @property
    def executable(self) -> Executable:
        """The compiled graph. If the trace was made for a call in another trace, its first run compiles it."""
        return self._compiled_executable or self._compile()

    @property
    def entry(self) -> Callable[..., Any] | None:
        """The entry for calls with only tensors, arrays and numbers; None if there is none."""
        return self.executable.entry

    @property
    def checks_guards_in_python(self) -> bool:
        """True if the caller of `entry` has to check the guards first."""
        return self.executable.checks_guards_in_python

    @property
    def entries(self) -> tuple[Callable[..., Any], ...]:
        """The native entries in the order in which they are tried; a trace of several shapes has several."""
        if self.entry is None:
            return ()
        entry_owner = getattr(self.entry, "__self__", None)
        return entry_owner.entries if isinstance(entry_owner, MultiShapeGraph) else (self.entry,)

    def overlap_with_outside(self, leaves: Iterable[Any]) -> str:
        """Describe how an argument shares memory with an outside value that the trace read; "" if none does."""
        return self.outside.find_overlap(leaves, self.executable.location_readers) if self.outside else ""

    def _are_disjoint(self, leaves: Sequence[Any]) -> bool:
        """Return whether no argument shares memory with an outside value that the trace read."""
        return not self.overlap_with_outside(leaves)

    @property
    def kernels(self) -> list[str]:
        """The names in `kernel_calls`."""
        return [name for name, _ in self.kernel_calls]

    @property
    def kernel_calls(self) -> list[tuple[str, Span | None]]:
        """The ops that run by their kernels, as (name, span) per node; all ops if the backend is not native."""
        calls = self.executable.compiled.kernel_calls
        if calls is not None:
            return list(calls)
        uncounted_ops = ("constant", "identity")
        return [(node.op.name, node.span) for node in self.optimised.walk() if node.op.name not in uncounted_ops]

    @property
    def fallback_kernel_calls(self) -> list[tuple[str, Span | None]]:
        """The ops that run by kernels although native code was requested."""
        return self.kernel_calls if self._requests_native else []

    @property
    def size_notes(self) -> list[str]:
        """Lines about the native code of a trace of several shapes: code per shape, and failures of LLVM."""
        return list(self.executable.compiled.notes)

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
    def symbolic_outputs(self) -> Any:
        return rebuild(self.layout, iter(self.recorded.outputs))

    @property
    def structured_outputs(self) -> Any:
        return self.symbolic_outputs if self.output_specs is None else self.output_specs

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results, in their structure."""
        return map_structure(lambda leaf: getattr(leaf, "shape", leaf), self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        return map_structure(lambda leaf: getattr(leaf, "dtype", leaf), self.structured_outputs)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the keyword arguments: TensorSpecs with their names, and plain values."""
        return self.function_type.specs

    @property
    def graph(self) -> FuncGraph:
        return FuncGraph(self.recorded, self.captures, self.variables)

    @property
    def captured_inputs(self) -> list[Any]:
        """The graph's inputs besides the arguments: tensors, and variables as their handles."""
        return list(self.captures)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the graph reads or writes."""
        return tuple(Variable.of_storage(capture) for capture in self.captures if isinstance(capture, Storage))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if variable.trainable)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._owner.call_concrete(self, args, kwargs)
        except BaseException as error:
            present(error)
            raise

    def call_leaves(self, leaves: Sequence[Any]) -> Any:
        """Run with the leaves of the arguments, in the order of the key."""
        if SETTINGS.collect_graphs:
            collect(self)
        if tape_recorders.active_recorders():
            return self._call_under_tape(leaves)
        executable = self.executable
        must_copy = not executable.compiled.holds_no_arguments  # a run that may keep arguments gets copies
        values = [
            leaf if isinstance(key, (ObjectKey, ArrayKey)) else run_value(apply_key_layout(leaf, key), must_copy)
            for leaf, key in zip(leaves, self.key.leaves, strict=True)
            if isinstance(key, PARAMETER_KEYS)
        ]
        values += [self._captured_value(capture) for capture in self.captures]
        donate([leaves[i] for i in self._donated], self.function_name)
        self.float_errors.take_flags()  # discard the flags that the program or tracing has set
        run = self._run_for_device(eager_device()) if other_device_request() else executable.run
        results = self.float_errors.run(run, values)
        if self._returns_constants:  # copies, as the program may write to results
            results = [
                copy_shared_result(result, value) for result, value in zip(results, self.optimised.outputs, strict=True)
            ]
        if self._first_equal_positions:
            results = [results[position] for position in self._first_equal_positions]
        return rebuild(self.layout, map(self._convert_result, results, self.layout.types()))

    def _run_for_device(self, device: str) -> Callable[[Sequence[Any]], list[Any]]:
        """Return the run of the graph on the device of this full name; "" is the default device."""
        if not device:
            return self.executable.run
        if device not in self._graphs_by_device:
            placed = PlacedGraph(self.optimised, self.contract.name, device, self._owner.backend)
            self._graphs_by_device[device] = placed
        return self._graphs_by_device[device]

    def _call_under_tape(self, leaves: Sequence[Any]) -> Any:
        """Run a call that tapes record as one differentiable op."""
        if self._taped_calls is None:
            self._taped_calls = TapedCalls(
                self.key, self.optimised, self.executable.run, self.recorded.name, self.contract.name,
                self._owner.backend, self.contract.runs_plain,
            )  # fmt: skip
        captures = [self._captured_value(c) if isinstance(c, np.ndarray) else c for c in self.captures]
        results = self._taped_calls.call(leaves, captures)
        return rebuild(self.layout, map(self._convert_result, results, self.layout.types()))

    def _captured_value(self, capture: Any) -> Any:
        """Return the value of a capture that runs are called with."""
        if isinstance(capture, np.ndarray) and self._returns_captures:
            return capture.copy()  # a result with its memory must not change when the captured array does
        return capture._array if isinstance(capture, EagerTensor) else capture

    def _convert_result(self, value: Any, type_: Any) -> Any:
        """Return an output of a run as the program gets it; `type_` is its type in the layout."""
        if isinstance(value, RemoteArray):
            must_fetch = self.contract.python_exceptions
            return self._convert_result(value.fetch(), type_) if must_fetch else RemoteTensor(value)
        if isinstance(type_, ObjectType) or (isinstance(type_, ArrayType) and not isinstance(value, EagerTensor)):
            return value
        if isinstance(value, EagerTensor) and any(tape_recorders.follows([value])):
            return value
        is_tensor = isinstance(value, EagerTensor)
        value = value._array if is_tensor else value
        if self.contract.python_exceptions:
            if getattr(type_, "weak", False):
                return np.asarray(value).item()
            if self._returns_arrays and isinstance(value, (np.ndarray, np.generic)):
                if is_tensor and self._returns_constants:
                    value = np.array(value)
                return value if np.ndim(value) else np.asarray(value)[()]  # [()] makes a NumPy scalar
        return EagerTensor(value) if isinstance(value, (np.ndarray, np.generic)) else value

    def record(self, region: Region, leaves: Sequence[Any]) -> Any:
        """Record a call of this graph in a function being traced."""
        region.contract.include_guards(self.guards)
        inputs: list[Value] = [
            region.lift(graph_value(region, leaf if not isinstance(leaf, Variable) else leaf.storage))
            for leaf, key in zip(leaves, self.key.leaves, strict=True)
            if isinstance(key, (TensorKey, VariableKey, SpecKey))
        ]
        inputs += [region.lift(graph_value(region, captured)) for captured in self.captures]
        for value in (*leaves, *self.captures):
            variable = value.variable() if isinstance(value, Storage) else value
            if isinstance(variable, Variable):
                tape_recorders.watch_used_variable(variable)
        runnable = self._recording.runnable
        node = region.record(
            "call", inputs, {"name": self._name}, regions=[runnable],
            types=[value.type for value in runnable.outputs],
            node_name="StatefulPartitionedCall" if self.recorded.effects else "PartitionedCall",
        )  # fmt: skip
        return rebuild(self.layout, iter(node.results))

    def _leaf_names(self) -> list[str]:
        """Return the names of the leaves: the name of the graph's parameter if there is one."""
        parameters = iter(self.recorded.parameters)
        return [
            next(parameters).name if isinstance(leaf, PARAMETER_KEYS) else name
            for leaf, name in zip(self.key.leaves, self.names, strict=True)
        ]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return the types of inputs, outputs and captures: on one line, or with `verbose` as a block of lines."""
        return self.function_type.block() if verbose else str(self.function_type)

    @present_errors
    def __reduce__(self) -> Any:
        raise AutoconvError(
            f"a trace of {self.recorded.name} cannot be pickled",
            remedy="the function itself: it traces again where it is loaded (get_concrete_function there)",
        )

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):x}>"
