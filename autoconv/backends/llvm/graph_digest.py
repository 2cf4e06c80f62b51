"""A digest of a graph and of the form of its calls: equal digests mean equal native code, in any process.

The digest covers all that writing the code reads: ops, types, attributes, regions, lines, and the form. Objects that
the code only refers to, such as a guarded function, have no content in it. Each has a position, by which an equal graph
of another process finds its own object.
"""

from __future__ import annotations

import enum
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from autoconv.backends.call_form import (
    ABSENT,
    CalledResult,
    CallForm,
    Captured,
    CellGuard,
    ConstantResult,
    ContainerResult,
    GlobalGuard,
    InstanceParameter,
    ListParameter,
    OutputResult,
    SelectedResult,
)
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph, Node, Span, Value, is_recursive
from autoconv.graph.types import ArrayType, TensorType, is_static_shape
from autoconv.ops import OPS

_MAX_ARRAY_BYTES = 1 << 20  # bytes of the largest array in an attribute; larger ones would take long to hash
_PLAIN_TYPES = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)


class NotDigestible(Exception):
    """Raised for a graph whose code may depend on more than a digest covers: the state of an object, for example."""


class GraphDigest:
    """The digest of a graph and a form.

    `key` is a text of hexadecimal digits. `objects` are the objects that were met, always in the same order. Raises
    NotDigestible.
    """

    def __init__(self, graph: Graph, form: CallForm | None, context: str) -> None:
        self.objects: list[Any] = []
        self._parts: list[str] = [context]
        self._positions: dict[int, int] = {}  # id of an object -> its position in `objects`
        self._graphs: dict[Graph, int] = {}
        self._values: dict[Value, int] = {}
        self._type_texts: dict[int, str] = {}  # id of a type -> its text
        self._types: list[Any] = []  # the types with a text, so that their ids stay their own
        self._span_numbers: dict[int, int] = {}  # id of a span -> its number
        try:
            if form is not None:
                self._add_form(form)
            self._add_graph(graph)
        except RecursionError:
            raise NotDigestible("nested too deeply") from None
        self.key = hashlib.sha256("\n".join(self._parts).encode("utf-8", "surrogatepass")).hexdigest()

    def position(self, item: Any) -> int | None:
        """Return the position of this very object in `objects`; None if it was not met."""
        return self._positions.get(id(item))

    def _register(self, item: Any) -> int:
        """Return the position of an object, which is the next one if the object is new.

        The position is part of the digest: two equal objects in the place of one would move those of all later objects.
        """
        position = self._positions.get(id(item))
        if position is None:
            position = self._positions[id(item)] = len(self.objects)
            self.objects.append(item)
        self._parts.append(f"@{position}")
        return position

    # ---- graphs

    def _add_graph(self, graph: Graph) -> None:
        """Add the parameters, nodes and outputs of a graph or region; its values get the next numbers."""
        if graph.program_graph is not None:
            raise NotDigestible("a graph that the program records into")
        number = self._graphs.setdefault(graph, len(self._graphs))
        values, add = self._values, self._parts.append
        add(f"graph {number}")
        for value in graph.parameters:
            values[value] = len(values)
            add(f"parameter {value.name} {self._type_text(value.type)}")
        for node in graph.nodes:
            self._add_node(node)
        add(f"outputs {[values[value] for value in graph.outputs]}")
        for symbol in graph.nonnegative_sizes:
            self._add(symbol)

    def _add_node(self, node: Node) -> None:
        """Add a node: op, inputs by number, types of results, name, device, effects, span, attributes, regions."""
        values, op = self._values, node.op
        if OPS.get(op.name) is not op or is_recursive(node):
            raise NotDigestible(f"{op.name} is no op of the registry, or its graph contains itself")
        inputs = [values[value] for value in node.inputs]
        result_types = [self._type_text(value.type) for value in node.results]
        self._parts.append(f"{op.name} {inputs} {result_types} {node.name} {node.device} {node.effects.value}")
        for value in node.results:
            values[value] = len(values)
        if node.span is not None:
            self._add_span(node.span)
        if node.attributes:
            self._add_mapping(node.attributes)
        for region in node.regions:
            self._add_graph(region)

    def _type_text(self, type_: Any) -> str:
        """Return a text that differs for different types."""
        text = self._type_texts.get(id(type_))
        if text is None:
            is_static = isinstance(type_, (TensorType, ArrayType)) and is_static_shape(type_.shape)
            # The text of a dimension does not show what kind of symbol it is.
            text = self._type_texts[id(type_)] = f"{type(type_).__name__} {type_}" if is_static else repr(type_)
            self._types.append(type_)
        return text

    def _add_span(self, span: Span) -> None:
        """Add a span and those of its callers. A span that was added before is only named by its number."""
        number = self._span_numbers.get(id(span))
        if number is not None:
            self._parts.append(f"span {number}")
            return
        self._span_numbers[id(span)] = len(self._span_numbers)
        self._register(span)
        flags = span.has_plain_errors, span.is_observed
        self._parts.append(repr((*_position_of(span), *flags)))
        if span.caller is not None:
            self._add_span(span.caller)

    # ---- attributes

    def _add(self, value: Any) -> None:
        """Add a value whose content counts."""
        add_content = _CONTENTS.get(type(value))
        if add_content is not None:
            add_content(self, value)
        elif type(value).__module__.startswith("autoconv.") and is_dataclass(value) and not isinstance(value, type):
            self._register(value)
            self._parts.append(f"{type(value).__module__}.{type(value).__qualname__}")
            for field in fields(value):
                self._add(getattr(value, field.name))
        elif isinstance(value, enum.Enum):
            self._parts.append(f"{type(value).__qualname__}.{value.name}")
        elif isinstance(value, np.generic):
            self._add_array(np.asarray(value))
        elif importable_name(value) is not None:
            self._parts.append(f"name {importable_name(value)}")
        else:
            raise NotDigestible(f"an attribute of {type(value)}")

    def _add_plain(self, value: Any) -> None:
        bits = np.array(value).tobytes().hex() if value != value else ""  # the sign of a nan, which `repr` leaves out
        self._parts.append(f"{type(value).__name__} {value!r}{bits}")

    def _add_sequence(self, values: Iterable[Any]) -> None:
        """Add the class and the members of a sequence."""
        self._register(values)
        self._parts.append(f"{type(values).__name__} (")
        for value in values:
            self._add(value)
        self._parts.append(")")

    def _add_set(self, values: Iterable[Any]) -> None:
        if not all(isinstance(value, (int, str)) for value in values):
            raise NotDigestible("a set whose order is not defined")
        self._add_sequence(tuple(sorted(values, key=repr)))

    def _add_mapping(self, values: Mapping[Any, Any]) -> None:
        self._parts.append("{")
        for key, value in values.items():
            self._add(key)
            self._add(value)
        self._parts.append("}")

    def _add_array(self, array: np.ndarray) -> None:
        """Add an array: its dtype, shape, strides and flags, and a digest of its elements."""
        if array.dtype.hasobject or array.nbytes > _MAX_ARRAY_BYTES:
            raise NotDigestible("a large array, or one of objects")
        self._register(array)
        content = hashlib.sha256(array.tobytes()).hexdigest()
        flags = array.flags.writeable, array.flags.aligned
        self._parts.append(f"array {array.dtype.str} {array.shape} {array.strides} {flags} {content}")

    # ---- forms of calls

    def _add_form(self, form: CallForm) -> None:
        """Add a form. Fixed arguments come first: a call compares them by identity, also equal texts."""
        for position, value in form.fixed_arguments:
            self._parts.append(f"fixed {position}")
            self._refer(value)
        for value in form.defaults:
            self._refer(value)
        for parameter in form.parameters:
            self._add_parameter(parameter)
        self._add_result(form.result)
        plain_facts = (
            form.outputs_may_share_memory, form.array_slot, form.weak_slot, form.weak, sorted(form.donated),
            sorted(form.saved),
        )  # fmt: skip
        self._parts.append(repr(plain_facts))
        for item in (form.tensor_class, form.donation, form.restore):
            self._refer(item)
        for guard in form.guards:
            self._add_guard(guard)

    def _add_parameter(self, parameter: Any) -> None:
        """Add the form of a parameter."""
        if isinstance(parameter, Captured):
            self._parts.append("captured")
            self._refer(parameter.value)
        elif isinstance(parameter, ListParameter):
            self._parts.append(f"list {parameter.list_depth} {parameter.min_length_product}")
            self._refer(parameter.item_type)
        elif isinstance(parameter, InstanceParameter):
            self._parts.append("instance")
            self._refer(parameter.instance_type)
        else:
            self._parts.append(str(parameter))

    def _add_guard(self, guard: GlobalGuard | CellGuard) -> None:
        """Add a guard; the objects that it compares count only by where else they occur."""
        if isinstance(guard, CellGuard):
            self._parts.append("cell")
            self._refer(guard.cell)
        else:
            self._parts.append("global")
            self._refer(guard.namespace)
            self._refer(guard.name)
        self._refer(guard.value)
        for offset, value in guard.fields:
            self._parts.append(f"field {offset}")
            self._refer(value)
        self._refer(guard.empty_dict)

    def _add_result(self, result: Any) -> None:
        """Add the form of a result, with those of its parts."""
        if isinstance(result, OutputResult):
            self._parts.append(f"output {result.position} {result.kind}")
        elif isinstance(result, ConstantResult):
            self._parts.append("constant")
            self._refer(result.value)
        elif isinstance(result, ContainerResult):
            self._parts.append(f"container {len(result.parts)} {result.keys is None}")
            self._refer(result.container_type)
            for key in result.keys or ():
                self._refer(key)
        elif isinstance(result, CalledResult):
            self._parts.append(f"called {len(result.parts)}")
            self._refer(result.function)
        else:
            assert isinstance(result, SelectedResult)
            self._parts.append(f"selected {result.tag_position} {len(result.arms)}")
        for part in result.arms if isinstance(result, SelectedResult) else getattr(result, "parts", ()):
            self._add_result(part)

    def _refer(self, item: Any) -> None:
        """Add an object that the code refers to: a plain one by its value, others by where else they occur."""
        if type(item) in _PLAIN_TYPES:
            if type(item) in (int, float, complex, str, bytes):
                self._register(item)
            self._add_plain(item)
            return
        name = importable_name(item)
        if name is not None:
            self._parts.append(f"name {name}")
        else:
            kind = "absent" if item is ABSENT else f"{type(item).__module__}.{type(item).__qualname__}"
            self._parts.append(f"object {self._register(item)} {kind}")


_CONTENTS: dict[type, Callable[[GraphDigest, Any], None]] = {
    **dict.fromkeys(_PLAIN_TYPES, GraphDigest._add_plain),
    tuple: GraphDigest._add_sequence,
    list: GraphDigest._add_sequence,
    set: GraphDigest._add_set,
    frozenset: GraphDigest._add_set,
    dict: GraphDigest._add_mapping,
    types.MappingProxyType: GraphDigest._add_mapping,
    np.ndarray: GraphDigest._add_array,
    Graph: GraphDigest._add_graph,
    Span: GraphDigest._add_span,
    DType: lambda digest, dtype: digest._parts.append(f"dtype {dtype.name}"),
}


def _position_of(span: Span) -> tuple[Any, ...]:
    return span.file, span.line, span.function, span.column, span.end_line, span.end_column


_NAMED_KINDS = (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
_NAMING_PACKAGES = ("autoconv", "numpy", "builtins", "math", "_operator")


def importable_name(item: Any) -> str | None:
    """Return the name, as `module:qualified name`, by which every process finds a class or function of this package.

    Those of builtins and of NumPy have such names too. None for other objects.
    """
    if not isinstance(item, _NAMED_KINDS):
        return None
    module, name = getattr(item, "__module__", None) or "numpy", getattr(item, "__qualname__", item.__name__)
    if module.partition(".")[0] not in _NAMING_PACKAGES:
        return None
    return f"{module}:{name}" if find_named(module, name) is item else None


def find_named(module: str, name: str) -> Any:
    """Return the object of that qualified name in a module that is loaded; None if there is none."""
    item: Any = sys.modules.get(module)
    for part in name.split("."):
        item = getattr(item, part, None)
    return item
