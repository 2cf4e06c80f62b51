"""Declared arguments of an exported function: types or constants, and the trace for them.

Under Python's contract the trace is made by calls with example arrays and numbers. Examples of several sizes make the
open sizes symbolic.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.portable import GraphUnfit
from autoconv.errors import AutoconvError, Place, TargetError, UnsupportedError
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph, Span
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.regions.layout import Arms, Layout
from autoconv.ops.values.generator_types import GENERATOR_TYPES
from autoconv.optimise.known_parameters import fix_parameters
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import count_leaves, flatten
from autoconv.tracing.api.argument_types import parse_types
from autoconv.tracing.api.exported_calls import replace_numpy_calls
from autoconv.tracing.api.exported_generators import replace_generators, state_of
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.key.cache_key import ArrayKey, Key, Literal, Reference, TensorKey
from autoconv.tracing.outputs.joined_variants import join_variants
from autoconv.tracing.specialise.compile_contract import CompileContract
from autoconv.tracing.specialise.function_contract import FunctionContract

_CONTRACTS = {contract.name: contract for contract in (FunctionContract, CompileContract)}
_NUMBER_TYPES = (bool, int, float, complex, np.generic)
# Sizes in the examples of three calls, which make the function trace with open sizes. In a call, each symbol gets the
# next of the four. A program that fails for these may need sizes that fall from symbol to symbol, or multiples of 4.
_EXAMPLE_SIZES = ((5, 11, 23, 43), (7, 13, 29, 47), (6, 17, 31, 53))
_FURTHER_EXAMPLE_SIZES = (tuple(sizes[::-1] for sizes in _EXAMPLE_SIZES), ((8, 20), (16, 28), (12, 44)))


@dataclass(frozen=True, slots=True)
class DeclaredTensor:
    """A tensor argument of known rank. Open sizes are symbols; one symbol stands for equal sizes."""

    dtype: DType
    shape: tuple[Dimension, ...]

    @property
    def spec(self) -> TensorSpec:
        """The TensorSpec with None for each open size."""
        return TensorSpec([size if isinstance(size, int) else None for size in self.shape], self.dtype)


@dataclass(frozen=True, slots=True)
class ExportedTrace:
    """A trace to be exported, with the declared shapes of its arguments.

    `graph` is the recorded graph with constants in place of declared numbers and defaults. Outputs that are variants
    are joined (see `join_variants`); `layout` is the layout of the outputs. `arguments` are DeclaredTensors and Python
    values. `source` is "file:line" of the function's definition, or "". `generator_states` has the states, at the time
    of the trace, of random generators, by the positions of their parameters.
    """

    concrete: ConcreteFunction
    graph: Graph
    layout: Layout
    arguments: list[Any]
    contract: str
    source: str
    generator_states: dict[int, np.ndarray]

    @contextmanager
    def located_refusals(self) -> Iterator[None]:
        """Give each GraphUnfit that the block raises without a span the span of the function's definition.

        Raises UnsupportedError at once for a result that is one of several structures: its values do not state which.
        """
        file, _, line = self.source.rpartition(":")
        if _has_arms(self.layout):
            raise UnsupportedError(
                "a result that is one of several structures, or a text or None on some paths, has no form",
                Place(file, int(line)) if file else None, "the same structure on all paths, with numbers for texts",
            )  # fmt: skip
        try:
            yield
        except GraphUnfit as error:
            if error.span is not None or not file:
                raise
            raise GraphUnfit(error.failed_op, error.reason, Span(file, int(line))) from error

    @property
    def types(self) -> list[Type]:
        """The parameters' types, with the declared sizes: sizes of the same name are equal."""
        result = [value.type for value in self.graph.parameters]
        for i, shape in self.declared_shapes.items():
            type_ = result[i]
            if isinstance(type_, (TensorType, ArrayType)) and type_.shape is not None:
                result[i] = replace(type_, shape=shape)
        return result

    @property
    def declared_shapes(self) -> dict[int, tuple[Dimension, ...]]:
        """The declared shapes by position of the parameter; {} if there are parameters besides the declared tensors."""
        declared_tensors = [argument for argument in self.arguments if isinstance(argument, DeclaredTensor)]
        parameter_count = len(self.graph.parameters) - len(self.concrete.captures)
        positions = [i for i in range(parameter_count) if i not in self.generator_states]
        if len(positions) != len(declared_tensors):
            return {}
        return {i: argument.shape for i, argument in zip(positions, declared_tensors, strict=True)}


def _has_arms(layout: Layout) -> bool:
    """Return whether a part of a result is one of several structures."""
    return isinstance(layout, Arms) or any(map(_has_arms, layout.children))


def parse_declared_arguments(specs: Sequence[Any]) -> list[Any]:
    """Return the arguments as DeclaredTensors and Python values; each open size without a name gets a symbol."""
    new_symbols = (Symbol(f"n{i}") for i in itertools.count())
    result: list[Any] = []
    for spec in specs:
        for type_or_value in parse_types(spec) if isinstance(spec, str) else [spec]:
            if not isinstance(type_or_value, (TensorSpec, TensorType)):
                result.append(type_or_value)
                continue
            shape = type_or_value.shape if isinstance(type_or_value, TensorType) else _shape_of_spec(type_or_value)
            if shape is None:
                raise TargetError(f"{type_or_value} has no rank; files are written for arguments of known ranks")
            named_shape = tuple(next(new_symbols) if size is None else size for size in shape)
            result.append(DeclaredTensor(type_or_value.dtype, named_shape))
    return result


def _shape_of_spec(spec: TensorSpec) -> tuple[Dimension, ...] | None:
    return None if spec.shape.rank is None else tuple(spec.shape.as_list())


def trace_for_export(function: Callable[..., Any], specs: Sequence[Any], contract: str) -> ExportedTrace:
    """Return the trace of a function for the arguments `specs`, or if these are empty, for its `input_signature`.

    Raises TargetError for an unknown contract, UnsupportedError if a trace does not serve the declared types.
    """
    if not isinstance(function, Function) and contract not in _CONTRACTS:
        raise TargetError(f"the contract is {' or '.join(_CONTRACTS)}, and not {contract!r}")
    traced_function = function if isinstance(function, Function) else Function(function, _CONTRACTS[contract])
    contract_name = traced_function.contract
    arguments = parse_declared_arguments(specs or traced_function.input_signature or ())
    if contract_name == "function":
        specs = [argument.spec if isinstance(argument, DeclaredTensor) else argument for argument in arguments]
        concrete = traced_function.get_concrete_function(*specs)
        graph, generators = concrete.recorded, dict[int, Any]()
    else:
        concrete, examples = _trace_examples(traced_function, arguments)
        _check_declared(traced_function, concrete, arguments)
        leaves = traced_function.leaves_for(concrete, examples, {})
        numbers = _collect_number_parameters(arguments, concrete.key, leaves)
        graph = fix_parameters(concrete.recorded, numbers) if numbers else concrete.recorded
        pairs = zip(concrete.key.leaves, leaves, strict=True)
        parameters = [leaf for leaf_key, leaf in pairs if _is_parameter(leaf_key)]
        remaining_parameters = [leaf for i, leaf in enumerate(parameters) if i not in numbers]
        generators = {i: leaf for i, leaf in enumerate(remaining_parameters) if type(leaf) in GENERATOR_TYPES}
    graph, layout = join_variants(replace_numpy_calls(replace_generators(graph)), concrete.layout)
    generator_states = {i: state_of(generator) for i, generator in generators.items()}
    place = _source_place(traced_function)
    return ExportedTrace(concrete, graph, layout, list(arguments), contract_name, place, generator_states)


def _trace_examples(function: Function[..., Any], arguments: Sequence[Any]) -> tuple[ConcreteFunction, list[Any]]:
    """Return a trace for examples of the arguments, of several sizes where these are open, and the last examples."""
    symbols, first_error = _symbols(arguments), None
    for size_sets in (_EXAMPLE_SIZES, *_FURTHER_EXAMPLE_SIZES) if symbols else (_EXAMPLE_SIZES[:1],):
        try:
            for sizes in size_sets:
                sizes_by_symbol = dict(zip(symbols, itertools.cycle(sizes), strict=False))
                examples = [_example(argument, sizes_by_symbol) for argument in arguments]
                concrete = function.get_concrete_function(*examples)
        except AutoconvError as error:
            first_error = first_error or error
        else:
            return concrete, examples
    assert first_error is not None
    raise first_error


def _check_declared(function: Function[..., Any], concrete: ConcreteFunction, arguments: Sequence[Any]) -> None:
    """Raise UnsupportedError if the trace serves only the values or the sizes of the example arguments."""
    declared_tensors = _declared_leaves(arguments, concrete.key)
    exact_sizes: dict[Symbol, None] = {}
    for position, (argument, key) in enumerate(zip(declared_tensors, concrete.key.leaves, strict=True)):
        if argument is None:
            continue
        if isinstance(key, Literal):
            raise UnsupportedError(
                f"{function.name} has a graph of its own for each value of argument {position + 1}",
                remedy=f"a value in place of the type of argument {position + 1}, as 5 for argument 2 in 'int64[] 5'",
            )
        shape = key.type.shape if isinstance(key, (TensorKey, ArrayKey)) else None
        if shape is not None:
            pairs = zip(argument.shape, shape, strict=True)
            closed_sizes = [size for size, traced_size in pairs if isinstance(traced_size, int)]
            exact_sizes.update((size, None) for size in closed_sizes if isinstance(size, Symbol))
    if exact_sizes:
        raise UnsupportedError(
            f"{function.name} has a graph of its own for each of the sizes {', '.join(map(str, exact_sizes))}"
            + "".join(f"; {reason.splitlines()[0]}" for reason in function.why_sizes_are_closed()),
            remedy="numbers for these sizes, as in 'float64[4,3]'",
        )


def _declared_leaves(arguments: Sequence[Any], key: Key) -> list[DeclaredTensor | None]:
    """Return the declared tensor of each leaf of a call, or None for a leaf without one."""
    templates = [template for _, template in key.templates]
    if len(templates) < len(arguments):  # some are the items of `*args`
        templates = [None if isinstance(argument, DeclaredTensor) else flatten(argument)[1] for argument in arguments]
    result: list[DeclaredTensor | None] = []
    for argument, template in zip(arguments, templates, strict=False):
        result += [argument if isinstance(argument, DeclaredTensor) else None] * count_leaves(template)
    return result + [None] * (len(key.leaves) - len(result))  # the further leaves are defaults and parts of objects


def _collect_number_parameters(arguments: Sequence[Any], key: Key, leaves: Sequence[Any]) -> dict[int, Any]:
    """Return the numbers among a trace's parameters by position, except those of declared tensors."""
    triples = zip(key.leaves, leaves, _declared_leaves(arguments, key), strict=True)
    parameters = [(leaf, declared) for leaf_key, leaf, declared in triples if _is_parameter(leaf_key)]
    undeclared = {i: leaf for i, (leaf, declared) in enumerate(parameters) if declared is None}
    return {i: leaf for i, leaf in undeclared.items() if isinstance(leaf, _NUMBER_TYPES)}


def _is_parameter(leaf_key: Any) -> bool:
    """Return whether a leaf is a parameter of the graph, not a value of the key."""
    return not isinstance(leaf_key, (Literal, Reference))


def _source_place(function: Function) -> str:
    """Return "file:line" of the function's definition; "" for a function without code."""
    code = getattr(function.python_function, "__code__", None)
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


def _symbols(arguments: Sequence[Any]) -> list[Symbol]:
    """Return the distinct symbols of the declared shapes, in order."""
    shapes = [argument.shape for argument in arguments if isinstance(argument, DeclaredTensor)]
    return list(dict.fromkeys(size for shape in shapes for size in shape if isinstance(size, Symbol)))


def _example(argument: Any, sizes: dict[Symbol, int]) -> Any:
    """Return an example of an argument, an array or a number, for Python's contract; `sizes` are those of symbols."""
    if not isinstance(argument, DeclaredTensor):
        return argument
    dtype = argument.dtype.numpy
    if argument.shape:
        return np.ones(tuple(sizes.get(size, size) for size in argument.shape), dtype)  # type: ignore[arg-type, call-overload]
    number = np.ones((), dtype)[()]
    return number.item() if dtype in (np.float64, np.int64, np.bool_, np.complex128) else number
