"""Conversion of a graph to an ONNX model: the writer collects records of nodes, which become protocol buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from autoconv.backends.llvm.legalize.complex.split import split_complex
from autoconv.backends.onnx.nodes import Block, Record
from autoconv.backends.onnx.writer import Writer
from autoconv.backends.portable.lower import Lowering
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.types import array_type
from autoconv.errors import AutoconvError
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph
from autoconv.graph.types import Shape

ERROR_OUTPUT = "autoconv_error"  # name of the output that holds the error word: 0, or the number of the failed place
COMPLEX_KEY = "complex"  # of the metadata: the inputs and outputs that hold complex numbers, as pairs of their parts
_MAX_IR_VERSION = 10  # of the file format: a runtime refuses a file whose version is newer than the runtime's


def to_onnx(
    graph: Graph, capacity: int = 64, constants: Mapping[int, np.ndarray] | None = None, names: Sequence[str] = ()
) -> Any:
    """Return a graph as a ModelProto.

    `capacity` is the number of elements that a list of the graph may have. `constants` are values of parameters, by
    position, that become part of the model; `names` are the names of the other parameters. The model's metadata has the
    keys "place_1", "place_2", …: the op and its place in the program that a number of the error output stands for. The
    key `COMPLEX_KEY` has the inputs and outputs whose last dimension holds the parts of complex numbers.

    Raises GraphUnfit for ops that ONNX cannot represent, and AutoconvError if the package onnx is missing.
    """
    helper = _import_package("onnx.helper")
    graph = split_complex(graph)
    writer = Writer(capacity)
    arguments: list[Term] = []
    inputs: list[tuple[Term, Shape]] = []
    constants_by_position = constants or {}
    for i, value in enumerate(graph.parameters):
        type_ = array_type(value.type)
        if i in constants_by_position:
            arguments.append(writer.array(np.asarray(constants_by_position[i], type_.dtype.numpy), type_.dtype))
            continue
        name = names[len(inputs)] if len(inputs) < len(names) else value.name
        static_shape = tuple(size if isinstance(size, int) else None for size in type_.shape or ())
        term = Term(writer, name, type_.dtype, static_shape)
        arguments.append(term)
        inputs.append((term, type_.shape))
    lowered = Lowering(writer).lower_graph(graph, arguments)
    outputs = [*lowered.results, *(term for _, term in lowered.written), writer.error_word_or_zero(writer.error_word)]
    output_names = [f"result_{i}" for i in range(len(lowered.results))]
    output_names += [f"new_{graph.parameters[position].name}" for position, _ in lowered.written]
    output_infos = []
    for term, output_name in zip(outputs, [*output_names, ERROR_OUTPUT], strict=True):
        writer.nodes.append(Record("Identity", (term.name,), (output_name,)))
        output_infos.append(_value_info(output_name, term.dtype, term.shape))
    used_names = set(_used_names(writer.nodes))
    model = helper.make_model(
        helper.make_graph(
            [_node(record) for record in writer.nodes],
            graph.name,
            [_value_info(term.name, term.dtype, shape or ()) for term, shape in inputs],
            output_infos,
            initializer=[_tensor(name, array) for name, array in writer.constants.items() if name in used_names],
        ),
        opset_imports=[helper.make_opsetid("", writer.opset)],
        producer_name="autoconv",
    )
    model.ir_version = min(model.ir_version, _MAX_IR_VERSION)
    places = {f"place_{i}": place for i, place in enumerate(writer.places, 1)}
    complex_names = [term.name for term, _ in inputs if term.dtype.is_complex]
    complex_names += [name for name, term in zip(output_names, outputs, strict=False) if term.dtype.is_complex]
    helper.set_model_props(model, {**places, COMPLEX_KEY: " ".join(complex_names)} if complex_names else places)
    return model


def _used_names(nodes: Iterable[Record]) -> Iterator[str]:
    """Iterate over the names of values that nodes and their subgraphs read."""
    for record in nodes:
        yield from record.inputs
        for block in record.attributes.values():
            if isinstance(block, Block):
                yield from _used_names(block.nodes)
                yield from (term.name for term in block.outputs)


def _import_package(name: str) -> Any:
    """Return a module; raise AutoconvError, which says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise AutoconvError(
            f"the package {name.partition('.')[0]} is not installed", remedy="pip install 'autoconv[onnx]'"
        ) from None


def _tensor(name: str, array: np.ndarray) -> Any:
    """Return the protocol buffer of a constant array."""
    return _import_package("onnx.numpy_helper").from_array(array, name)


def _element_type(dtype: DType) -> int:
    """Return ONNX's number of a dtype."""
    numpy_dtype = np.dtype(bool) if dtype.is_bool else dtype.numpy
    return int(_import_package("onnx.helper").np_dtype_to_tensor_dtype(numpy_dtype))


def _value_info(name: str, dtype: DType, shape: Sequence[Any] | None) -> Any:
    """Return ONNX's declaration of an array; a size is a number, None, or a symbol, which ONNX names by its text."""
    if dtype.is_complex:
        return _value_info(name, dtype.real_dtype, None if shape is None else (*shape, 2))
    sizes = None if shape is None else [size if isinstance(size, int | None) else str(size) for size in shape]
    return _import_package("onnx.helper").make_tensor_value_info(name, _element_type(dtype), sizes)


def _node(record: Record) -> Any:
    """Return the protocol buffer of a node."""
    attributes = {key: _attribute(value) for key, value in record.attributes.items()}
    return _import_package("onnx.helper").make_node(record.op, list(record.inputs), list(record.outputs), **attributes)


def _attribute(value: Any) -> Any:
    """Return an attribute as ONNX has it: a number for a dtype, a graph for a subgraph, others as they are."""
    if isinstance(value, DType):
        return _element_type(value)
    if isinstance(value, Block):
        return _import_package("onnx.helper").make_graph(
            [_node(record) for record in value.nodes],
            "block",
            [_value_info(x.name, x.dtype, x.shape) for x in value.inputs],
            [_value_info(x.name, x.dtype, x.shape) for x in value.outputs],
        )
    return value
