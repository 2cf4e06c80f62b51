"""The C function of a trace: its parameters, and the structure of its results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.backends.library_form import Argument, Fields, FixedParameter, LibraryForm, Output, ResultTree
from autoconv.errors import UnsupportedError
from autoconv.graph.dtypes import DTYPES
from autoconv.graph.types import ArrayType, Dimension, TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.regions.layout import Instance, Layout, Leaf, Parts, RunTimeList, Static
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tracing.api.declared_arguments import ExportedTrace

_RESERVED_NAMES = frozenset({  # keywords of C and C++, and the parameter `result`
    "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue", "default", "delete", "do", "double",
    "else", "enum", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "namespace",
    "new", "operator", "private", "protected", "public", "register", "restrict", "result", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "union", "unsigned",
    "using", "virtual", "void", "volatile", "while",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interface:
    """The C function of a library.

    `source` is the position of the Python function, "" if unknown. `constants` are the names and values of results that
    do not depend on the arguments. `initial_values` are the arguments that are variables or random generators in
    Python, with their current values.
    """

    form: LibraryForm
    source: str
    constants: tuple[tuple[str, str], ...]
    initial_values: tuple[tuple[Argument, np.ndarray], ...] = ()


def interface_of(trace: ExportedTrace, name: str) -> Interface:
    """Return the C function of a trace. Raises UnsupportedError for arguments or results that C has no form of."""
    concrete_function = trace.concrete
    graph = trace.graph
    argument_count = len(graph.parameters) - len(concrete_function.captures)
    declared_shapes = trace.declared_shapes
    names: set[str] = set()
    parameters: list[Argument | FixedParameter] = []
    initial_values: list[tuple[Argument, np.ndarray]] = []
    for i, value in enumerate(graph.parameters[:argument_count]):
        argument = _argument(value.type, _unique_c_name(value.name, names), declared_shapes.get(i), name)
        parameters.append(argument)
        if i in trace.generator_states:
            initial_values.append((argument, trace.generator_states[i]))
    for value, capture in zip(graph.parameters[argument_count:], concrete_function.captures, strict=True):
        if isinstance(capture, Storage) and isinstance(value.type, ArrayType):
            argument = _argument(value.type, _unique_c_name(value.name, names), None, name)
            initial_values.append((argument, np.asarray(capture.value)))
            parameters.append(argument)
        else:
            parameters.append(FixedParameter(_captured_value(capture)))
    constants: list[tuple[str, str]] = []
    positions = iter(range(len(graph.outputs)))
    result = _result_tree(trace.layout, positions, graph.outputs, (), constants, name)
    if not isinstance(result, Fields):
        result = Fields((("value", result),))
    no_code_message = "the library has no code for these sizes; it has code for " + _sizes_text(parameters)
    form = LibraryForm(name, tuple(parameters), result, no_code_message)
    return Interface(form, trace.source, tuple(constants), tuple(initial_values))


def _argument(type_: Any, name: str, shape: tuple[Dimension, ...] | None, function: str) -> Argument:
    """Return an argument of the C function; its shape is the declared `shape`, or if that is None its type's.

    Raises UnsupportedError for a type that C has no form of, and for unknown sizes.
    """
    if not isinstance(type_, (TensorType, ArrayType)) or type_.dtype.name not in C_TYPE_BY_NAME:
        raise UnsupportedError(f"{function}: the argument {name} is {type_}, which has no form in C")
    if shape is None:
        if type_.shape is None or None in type_.shape:
            raise UnsupportedError(f"{function}: the sizes of {name}, {type_}, need names, as in float64[n]")
        shape = type_.shape
    strides = type_.strides if isinstance(type_, ArrayType) else ()
    return Argument(name, type_.dtype, shape, may_be_written=isinstance(type_, ArrayType), strides=strides)


def _captured_value(capture: Any) -> Any:
    """Return the current value of a capture as an array."""
    if isinstance(capture, EagerTensor):
        return capture.numpy()
    if isinstance(capture, Storage):
        return np.array(capture.value)
    return np.array(capture)


def _sizes_text(parameters: list[Argument | FixedParameter]) -> str:
    """Return the sizes of the arguments as text, "numbers" if none is an array."""
    shapes = [
        f"{parameter.name}: {', '.join(str(size) for size in parameter.shape)}"
        for parameter in parameters
        if isinstance(parameter, Argument) and parameter.shape
    ]
    return "; ".join(shapes) + ", where named sizes are 2 and more" if shapes else "numbers"


def _result_tree(
    layout: Layout, positions: Iterator[int], outputs: Any, path: tuple[str, ...], constants: list[tuple[str, str]],
    function: str,
) -> ResultTree:  # fmt: skip
    """Return the C form of the part of the result at `path`; append its constant values to `constants`.

    `positions` yields the positions of the outputs that no earlier part has used. Raises UnsupportedError for a part
    without form.
    """
    if isinstance(layout, Leaf):
        position = next(positions)
        type_ = outputs[position].type
        has_c_form = isinstance(type_, (TensorType, ArrayType)) and type_.dtype.name in C_TYPE_BY_NAME
        if not has_c_form or type_.shape is None:
            raise UnsupportedError(f"{function} returns {type_}, which has no form in C")
        return Output(position, type_.dtype, len(type_.shape))
    if isinstance(layout, (Parts, Instance)):
        keys = layout.keys if layout.keys is not None else tuple(f"item{i}" for i in range(len(layout.parts)))
        names: set[str] = set()
        fields: list[tuple[str, ResultTree]] = []
        for key, part in zip(keys, layout.parts, strict=True):
            name = _unique_c_name(str(key), names)
            if isinstance(part, Static):
                constants.append((".".join((*path, name)), repr(part.value)))
                continue
            fields.append((name, _result_tree(part, positions, outputs, (*path, name), constants, function)))
        return Fields(tuple(fields))
    if isinstance(layout, Static):
        constants.append(("the result", repr(layout.value)))
        return Fields(())
    description = "one of several structures"
    if isinstance(layout, RunTimeList):
        description = "a list whose length is known only at run time"
    raise UnsupportedError(
        f"{function} returns {description}, which has no form in C",
        remedy="tensors, numbers, and tuples, lists and dicts of a fixed length",
    )


def _unique_c_name(name: str, names: set[str]) -> str:
    """Return a C identifier for `name` that is not yet in `names`; add it to `names`."""
    result = c_identifier(name)
    result = f"{result}_" if result in _RESERVED_NAMES else result
    while result in names:
        result += "_"
    names.add(result)
    return result


def c_identifier(name: str) -> str:
    """Return a name with an underscore for each character that C's identifiers lack."""
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{identifier}" if identifier[:1].isdigit() or not identifier else identifier


C_TYPE_BY_NAME = {  # names of types of C by the names of dtypes
    "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float32": "float", "float64": "double",
    "float16": "uint16_t", "bfloat16": "uint16_t", "complex64": "autoconv_complex64",
    "complex128": "autoconv_complex128",
}  # fmt: skip
assert C_TYPE_BY_NAME.keys() <= DTYPES.keys()
