"""Traces of functions as data, and functions that run them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import AutoconvError, DataLossError, Place
from autoconv.graph.attribute_text import value_text
from autoconv.graph.graph import Graph, Node
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.types import TensorType
from autoconv.graph.verify import verify
from autoconv.ops.record import OPS
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.composite_structures import expand_specs
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flatten
from autoconv.runtime.tensors.dispatch import graph_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.saved_model.assets import AssetPath
from autoconv.saved_model.stored_arrays import array_extractor, restore_arrays
from autoconv.saved_model.structures import NotStorable, decode, encode
from autoconv.tracing.api.decorators import function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction


class TraceWriter:
    """Collect the graphs of traces, each once, and the arrays that they need.

    `number_of` returns the number of the object that owns a captured variable or asset, None for a constant.
    """

    def __init__(self, number_of: Callable[[Any], int | None]) -> None:
        self.graphs: list[str] = []
        self.arrays: dict[str, np.ndarray] = {}
        self._number_of = number_of
        self._records: dict[int, dict[str, Any]] = {}
        self._kept_alive: list[ConcreteFunction] = []  # so that the ids in `_records` stay valid

    def write(self, concrete_function: ConcreteFunction) -> dict[str, Any]:
        """Return a trace as JSON values.

        Raises AutoconvError for a trace that cannot be stored: a Python function in the graph, or other objects among
        the arguments and results; and AssertionError for a variable that no saved object owns.
        """
        result = self._records.get(id(concrete_function))
        if result is None:
            result = self._records[id(concrete_function)] = self._make_record(concrete_function)
            self._kept_alive.append(concrete_function)
        return result

    def _make_record(self, concrete_function: ConcreteFunction) -> dict[str, Any]:
        """Return a trace as JSON values: its graph's number, its captures, and its arguments and result."""
        name = concrete_function.recorded.name
        if concrete_function.contract.python_exceptions:
            raise AutoconvError(
                f"{name} is compiled for Python's own values and cannot be saved",
                remedy="@autoconv.function, whose arguments and results are tensors",
            )
        _check_storable(concrete_function.recorded)
        captures = [self._capture_record(capture, name) for capture in concrete_function.captures]
        args, kwargs = concrete_function.structured_input_signature
        outputs = concrete_function.recorded.outputs
        first_positions = {id(value): i for i, value in reversed(list(enumerate(outputs)))}

        def encode_output(value: Any) -> Any:
            position = first_positions.get(id(value.value_in_graph)) if isinstance(value, SymbolicTensor) else None
            return None if position is None else {"output": position}

        try:
            structures = {
                "args": encode(tuple(args)),
                "kwargs": encode(dict(kwargs)),
                "result": encode(concrete_function.symbolic_outputs, encode_output),
            }
        except NotStorable as error:
            raise AutoconvError(
                f"a trace of {name} cannot be saved: it takes or returns {error}",
                remedy="arguments and results of tensors, Python's numbers, texts, lists, tuples and dicts",
            ) from None
        self.graphs.append(to_text(concrete_function.recorded, spans=True, attributes=array_extractor(self.arrays)))
        return {"name": name, "graph": len(self.graphs) - 1, "captures": captures, **structures}

    def _capture_record(self, capture: Any, name: str) -> dict[str, Any]:
        """Return a capture of the function `name` as JSON values: the number of its owner, or the key of its array."""
        number = self._number_of(capture)
        if number is not None:
            return {"object": number}
        if isinstance(capture, Storage):
            raise AssertionError(
                f"Tried to export a function which references an 'untracked' resource. The variable {capture.name!r}, "
                f"which {name} uses, must be an attribute of the saved object, or of an object that it owns."
            )
        if isinstance(capture, AssetPath):
            raise AssertionError(
                f"Tried to export a function which references an 'untracked' resource. The asset {capture.numpy()!r}, "
                f"which {name} uses, must be an attribute of the saved object, or of an object that it owns."
            )
        if not isinstance(capture, (EagerTensor, np.ndarray)):
            class_name = type(capture).__name__
            raise AutoconvError(
                f"{name} uses an object from outside that cannot be saved, of the class {class_name}",
                remedy="tensors as arguments, and variables as attributes of the saved object",
            )
        key = f"capture/{len(self.arrays)}"
        self.arrays[key] = np.asarray(getattr(capture, "_array", capture))
        return {"array": key}


def _check_storable(graph: Graph) -> None:
    """Raise AutoconvError for a graph that runs Python functions or refers to Python objects."""
    for node in graph.walk():
        if refers_to_python(node):
            span = node.span
            raise AutoconvError(
                f"{graph.name} runs a Python function or object ({node.op.name}) and cannot be saved",
                None if span is None else Place(span.file, span.line),
                remedy="ops of autoconv in place of the Python function",
            )


def refers_to_python(node: Node) -> bool:
    """Return whether an attribute of the node is a Python function or object, which no text can hold."""
    texts = [value_text(value) for value in node.attributes.values() if not isinstance(value, np.ndarray)]
    return any(text.startswith("<opaque") for text in texts)


class LoadedTrace:
    """A saved trace as a function of flat tensors, and the structures of its arguments and result."""

    def __init__(self, stored: Mapping[str, Any], graph: Graph, captures: Sequence[Any]) -> None:
        self.name: str = stored["name"]
        self._graph = graph
        self._captures = list(captures)
        self.args: tuple[Any, ...] = decode(stored["args"])
        self.kwargs: dict[str, Any] = decode(stored["kwargs"])
        self._result = stored["result"]
        self.specs = _tensor_specs((self.args, self.kwargs))
        self._parameter_order = _parameter_order(self.args, self.kwargs)
        types = [value.type for value in graph.parameters]
        expected_types = [self.specs[position]._type for position in self._parameter_order]
        parameter_types = types[: len(expected_types)]
        pairs = zip(parameter_types, expected_types, strict=False)
        is_consistent = all(isinstance(type_, TensorType) and type_.dtype is spec.dtype for type_, spec in pairs)
        if not is_consistent or len(types) != len(expected_types) + len(captures):
            raise DataLossError(f"the graph of {self.name} does not fit its saved signature")
        self._concrete_function: ConcreteFunction | None = None

    def run(self, tensors: Sequence[Any]) -> Any:
        """Return the structured result for the tensors, in the order of the specs."""
        if self._concrete_function is None:
            named_function = function(_with_name(self._record_call, self.name), autograph=False)
            specs = [TensorSpec(spec.shape, spec.dtype, f"arg_{i}") for i, spec in enumerate(self.specs)]
            self._concrete_function = named_function.get_concrete_function(*specs)
        return self._concrete_function(*tensors)

    def _record_call(self, *tensors: Any) -> Any:
        """Record the graph as a call; the arguments are tensors of the function that is traced."""
        region = current_region()
        assert region is not None
        ordered_tensors = (tensors[position] for position in self._parameter_order)
        values = [region.lift(graph_value(region, value)) for value in (*ordered_tensors, *self._captures)]
        types = [value.type for value in self._graph.outputs]
        is_stateful = bool(self._graph.effects)
        op_name = "StatefulPartitionedCall" if is_stateful else "PartitionedCall"
        node = region.record("call", values, {"name": self.name}, regions=[self._graph], types=types, node_name=op_name)

        def decode_output(stored: Mapping[str, Any]) -> Any:
            return SymbolicTensor(node.results[stored["output"]])

        return decode(self._result, decode_output)


def _tensor_specs(structure: object) -> list[TensorSpec]:
    """Return the specs of the tensors in a structure, the keys of dicts sorted."""
    leaves, _ = expand_specs(*flatten(structure))
    return [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]


def _parameter_order(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[int]:
    """Return, for each parameter of the graph, the position of its tensor among those of the sorted structure.

    A graph has its parameters in the order in which the keywords were given, as `kwargs` has; specs have them sorted.
    """
    first_position = len(_tensor_specs(args))
    positions_by_key = {}
    for key in sorted(kwargs):
        count = len(_tensor_specs(kwargs[key]))
        positions_by_key[key] = range(first_position, first_position + count)
        first_position += count
    return [*range(len(_tensor_specs(args))), *(position for key in kwargs for position in positions_by_key[key])]


def _with_name(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function of this name that runs a saved graph by `call`."""
    def named(*args: Any) -> Any:
        return call(*args)

    return mark_replaying(named, name)


def mark_replaying(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Name and mark a function that runs a saved graph, so that its traces are not shared with other such functions."""
    call.__name__ = call.__qualname__ = name
    call.__autoconv_replays_graph__ = True  # type: ignore[attr-defined]
    return call


def read_graph(text: str, read: Callable[[str], np.ndarray]) -> Graph:
    """Return the graph of a text; `read` returns the array of a name. Raises DataLossError for an invalid graph."""
    try:
        graph = from_text(text, OPS)
        restore_arrays(graph, read)
        verify(graph)
    except (AutoconvError, AssertionError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise DataLossError(f"a saved graph is damaged: {error}") from None
    return graph
