"""One trace, optimised and compiled: a graph with typed inputs, and how calls go through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends import BACKENDS
from autoconv.config import SETTINGS
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import ObjectType, TensorType
from autoconv.operators.layout import Arms, Grown, Instance, Layout, Leaf, Parts, Static, leaf_types, rebuild
from autoconv.ops.objects import NotAssigned
from autoconv.runtime import taping
from autoconv.runtime.dispatch import graph_value
from autoconv.runtime.recording import Region
from autoconv.runtime.shape import TensorSpec
from autoconv.runtime.tensor import EagerTensor, SymbolicTensor
from autoconv.runtime.tracebacks import present
from autoconv.runtime.variable import Storage, Variable
from autoconv.tracing.derivable import Derivable
from autoconv.tracing.direct import call_form, needs_asking
from autoconv.tracing.guards import Guards
from autoconv.tracing.signature import Call, Key, Literal, ObjectKey, SpecKey, TensorKey, VariableKey

_LARGEST_GAPS = 16  # how much larger than its elements the memory of a copy may be


class NotFollowed(Exception):
    """A tape cannot go back through a call, which has to run as plain Python then; `str()` says why."""


class ConcreteFunction:
    """A function of one signature. Call it with tensors (or what converts to them), by position or name.

    `graph` is what was recorded, `optimised` what runs.
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
        self.graph = graph
        self.optimised = optimised
        self.key = key
        self.names = list(names)
        self.captured_inputs = list(captures)
        self.layout = layout
        self.guards = guards
        self.contract = contract
        self._owner = owner
        self._name = name
        self._derivable: Derivable | None = None
        self._first_of = _first_of(optimised) if contract == "compile" else []
        self._arrays_out = (
            contract == "compile"
            and not any(isinstance(leaf, TensorKey) and leaf.origin == "tensor" for leaf in key.leaves)
            and any(isinstance(leaf, TensorKey) and leaf.origin == "array" for leaf in key.leaves)
        )
        form = call_form(graph, key, self.captured_inputs, layout, guards, contract, self._arrays_out)
        self._run = BACKENDS[SETTINGS.backend](optimised, form)
        # What a call with nothing but tensors, arrays and numbers may go to, and whether guards are to be asked first.
        self.entry: Callable[..., Any] | None = None if self._first_of else getattr(self._run, "entry", None)
        self.asks_guards = self.entry is not None and needs_asking(guards)

    @property
    def can_run_again(self) -> bool:
        """Whether a run that failed left nothing behind: no output, no write, no draw."""
        lasting = Effects.RANDOM if _is_on_its_own(self.optimised) else Effects.WRITE | Effects.RANDOM
        printing = {"print", "python_print", "object_print", "py_call"}
        return not any(node.effects & lasting or node.op.name in printing for node in self.optimised.walk())

    @property
    def kernels(self) -> list[str]:
        """The ops that have no native form here and run by their kernels, by name, one entry a node; all of them where
        none has one, or the backend has none."""
        found = getattr(self._run, "kernels", None)
        if found is not None:
            return list(found)
        return [node.op.name for node in self.optimised.walk() if node.op.name not in ("constant", "identity")]

    @property
    def name(self) -> bytes:
        return self._name.encode()

    @property
    def inputs(self) -> list[SymbolicTensor]:
        return [SymbolicTensor(value) for value in self.graph.parameters if hasattr(value.type, "dtype")]

    @property
    def outputs(self) -> list[SymbolicTensor]:
        return [SymbolicTensor(value) for value in self.graph.outputs if hasattr(value.type, "dtype")]

    @property
    def structured_outputs(self) -> Any:
        return rebuild(self.layout, iter(self.graph.outputs))

    @property
    def structured_input_signature(self) -> Any:
        specs = tuple(
            TensorSpec.from_type(leaf.type, name)
            for leaf, name in zip(self.key.leaves, self.names, strict=True)
            if isinstance(leaf, TensorKey)
        )
        return specs, {}

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(c for c in self.captured_inputs if isinstance(c, Storage))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._owner.call_concrete(self, args, kwargs)
        except BaseException as error:
            present(error)
            raise

    def call_leaves(self, leaves: Sequence[Any]) -> Any:
        """Runs with the leaves of the arguments, in the order of the key."""
        if taping.active():
            return self._call_taped(leaves)
        values = [
            leaf if isinstance(key, ObjectKey) else _run_value(leaf)
            for leaf, key in zip(leaves, self.key.leaves, strict=True)
            if isinstance(key, (TensorKey, VariableKey, ObjectKey, SpecKey))
        ]
        values += [c._array if isinstance(c, EagerTensor) else c for c in self.captured_inputs]
        results = self._run(values)
        if self._first_of:
            results = [results[position] for position in self._first_of]
        return rebuild(self.layout, map(self._result, results, leaf_types(self.layout)))

    def _call_taped(self, leaves: Sequence[Any]) -> Any:
        """A call that tapes go back through as through one op."""
        inputs = [
            leaf if isinstance(key, ObjectKey) else leaf.storage if isinstance(leaf, Variable) else _taped_input(leaf)
            for leaf, key in zip(leaves, self.key.leaves, strict=True)
            if isinstance(key, (TensorKey, VariableKey, ObjectKey))
        ]
        inputs += self.captured_inputs
        for value in inputs:
            variable = value.variable() if isinstance(value, Storage) else None
            if variable is not None:
                taping.note_variable(variable)
        if self._derivable is None:
            self._derivable = Derivable(self.optimised, self.graph.name, self.contract, self._run)
        if self.contract == "compile" and (reason := self._derivable.refusal(inputs)):
            raise NotFollowed(reason)
        results = self._derivable.call(inputs)
        return rebuild(self.layout, map(self._result, results, leaf_types(self.layout)))

    def _result(self, value: Any, type_: Any) -> Any:
        if isinstance(type_, ObjectType) or (isinstance(value, EagerTensor) and any(taping.follows([value]))):
            return value
        if isinstance(value, EagerTensor):
            value = value._array
        if self.contract == "compile":
            if getattr(type_, "weak", False):
                return np.asarray(value).item()
            if self._arrays_out and isinstance(value, (np.ndarray, np.generic)):
                return value if np.ndim(value) else np.asarray(value)[()]
        return EagerTensor(value) if isinstance(value, (np.ndarray, np.generic)) else value

    def record(self, region: Region, call: Call) -> Any:
        """A node that calls this graph, in a function that is being traced."""
        inputs: list[Value] = [
            region.lift(graph_value(region, leaf if not isinstance(leaf, Variable) else leaf.storage))
            for leaf, key in zip(call.leaves, self.key.leaves, strict=True)
            if isinstance(key, (TensorKey, VariableKey, SpecKey))
        ]
        inputs += [region.lift(graph_value(region, captured)) for captured in self.captured_inputs]
        stateful = bool(self.graph.effects)
        node = region.record(
            "call",
            inputs,
            {"name": self._name},
            regions=[self.optimised],
            types=[value.type for value in self.optimised.outputs],
            shown="StatefulPartitionedCall" if stateful else "PartitionedCall",
        )
        return rebuild(self.layout, iter(node.results))

    def _signature_text(self) -> list[str]:
        lines = []
        for leaf, name in zip(self.key.leaves, self.names, strict=True):
            lines.append(f"{name}: {leaf}")
        return lines

    @property
    def function_type(self) -> str:
        return self.pretty_printed_signature(verbose=False)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The types of inputs, output and captures: on one line, or one block each."""
        result = self._output_text()
        if not verbose:
            return f"({', '.join(self._signature_text())}) -> {result}"
        inputs = [
            f"  {name} (POSITIONAL_OR_KEYWORD): {leaf}" for leaf, name in zip(self.key.leaves, self.names, strict=True)
        ] or ["  None"]
        captures = [f"  {id(c)}: {getattr(c, 'type', c)}" for c in self.captured_inputs] or ["  None"]
        return "\n".join(["Input Parameters:", *inputs, "Output Type:", f"  {result}", "Captures:", *captures])

    def _output_text(self) -> str:
        return _layout_text(self.layout)

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):x}>"


def _is_on_its_own(graph: Graph) -> bool:
    """Whether all that a graph writes to are objects that it made itself: it is given none that can change."""
    if not all(isinstance(value.type, TensorType) for value in graph.parameters):
        return False
    given = (node.attributes["value"] for node in graph.walk() if node.op.name == "object_constant")
    return all(map(_cannot_change, given))


def _cannot_change(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_cannot_change, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes, range, NotAssigned)


def _first_of(graph: Graph) -> list[int]:
    """For each output the position of the first that is the same value, which has to be the same array; empty where
    all are different."""
    firsts: dict[Value, int] = {}
    found = []
    for position, value in enumerate(graph.outputs):
        while value.node is not None and value.node.op.name == "identity":
            value = value.node.inputs[0]
        found.append(firsts.setdefault(value, position))
    return found if len(firsts) < len(found) else []


def _layout_text(layout: Layout) -> str:
    """What a result of that layout is, in the words of TensorSpec."""
    if isinstance(layout, Leaf):
        return repr(TensorSpec.from_type(layout.type)) if isinstance(layout.type, TensorType) else str(layout.type)
    if isinstance(layout, Parts):
        inner = [_layout_text(part) for part in layout.parts]
        if layout.keys is not None:
            inner = [f"{key!r}: {text}" for key, text in zip(layout.keys, inner, strict=True)]
        return f"{layout.kind.__name__.capitalize()}[{', '.join(inner)}]"
    if isinstance(layout, Instance):
        held = [f"{k}: {_layout_text(part)}" for k, part in zip(layout.keys, layout.parts, strict=True)]
        return f"{layout.kind.__name__}[{', '.join(held)}]"
    if isinstance(layout, Grown):
        return f"List[{_layout_text(layout.element)}, ...]"
    if isinstance(layout, Arms):
        return " | ".join(map(_layout_text, layout.arms))
    return repr(layout.value) if isinstance(layout, Static) else "never"


def _taped_input(value: Any) -> Any:
    """Tensors as they are, by which tapes know them; arrays and numbers as for a run."""
    if isinstance(value, EagerTensor):
        return value
    known = taping.tensor_for(value)
    return EagerTensor(_run_value(value)) if known is None else known


def _run_value(leaf: Any) -> Any:
    if isinstance(leaf, EagerTensor):
        return leaf._array
    if isinstance(leaf, Variable):
        return leaf.storage
    run_value = getattr(type(leaf), "__autoconv_run_value__", None)
    if run_value is not None:
        return run_value(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return _copied(np.asarray(leaf))
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
