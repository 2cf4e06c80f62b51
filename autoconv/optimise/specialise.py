"""Specialisation of a graph for narrower argument types: sizes that follow from their shapes become static.

    before   graph f(%x: float32[?,3]) {
               %shape = shape(%x): int32[2]
               %fill = fill(%one, %shape, shape=(None, None)): float32[?,?]
               …
    after    graph f(%x: float32[5,3]) {       for an argument of shape (5, 3)
               %fill = fill(%one, shape=(5, 3)): float32[5,3]
               …

Not in the table of optimisations: it is called where the argument types are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Node, Value, clone, compute_effects, copy_node, has_recursion
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import (
    ArrayType,
    NoCommonType,
    Symbol,
    TensorType,
    Type,
    are_shapes_compatible,
    is_static_shape,
    is_subtype,
    join,
)
from autoconv.ops import OPS
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.ops.index_spec import INPUT, At
from autoconv.optimise.fold import fold_constants
from autoconv.optimise.list_elements import narrow_lists
from autoconv.optimise.symbolic.driver import derive_numbers, derive_types, has_symbols, without_symbols
from autoconv.optimise.symbolic.sizes import Sizes

_MAX_ROUNDS = 4  # a static size may determine another one in the next round over the graph
_MAX_SHAPE_ELEMENTS = 64  # of a result that is computed from shapes
_MAX_WIDENINGS = 3  # of a loop's state types; without a fixed point by then, the declared types are taken


class CannotSpecialise(Exception):
    """The graph is incompatible with the argument types, or has recursive functions."""


def specialise(graph: Graph, types: Sequence[Type]) -> Graph:
    """Return the graph with parameters of these types, which are no wider than the declared types.

    Raises CannotSpecialise for recursive functions, and where an op refuses the shapes: the unspecialised graph raises
    the error at that op.
    """
    return _specialise_repeatedly(graph, types, with_symbols=False)[0]


def generalise(graph: Graph, types: Sequence[Type]) -> tuple[Graph, list[Symbol]]:
    """Return the graph with parameters of these types, whose dimensions may be symbols, and its preconditions.

    A precondition is a symbol that must not be negative: the graph is valid only for sizes that satisfy all of them.
    Raises CannotSpecialise.
    """
    graph, sizes = _specialise_repeatedly(graph, types, with_symbols=True)
    assert sizes is not None
    return graph, [precondition for precondition in sizes.preconditions if isinstance(precondition, Symbol)]


def _specialise_repeatedly(graph: Graph, types: Sequence[Type], with_symbols: bool) -> tuple[Graph, Sizes | None]:
    """Specialise until nothing changes; return the graph, and the facts about symbolic sizes if `with_symbols`."""
    if has_recursion(graph):
        raise CannotSpecialise
    for _ in range(_MAX_ROUNDS):
        work_before = _remaining_work(graph)
        sizes = Sizes() if with_symbols else None
        graph = fold_constants(_specialise_graph(graph, types, sizes))
        if not narrow_lists(graph) and work_before == _remaining_work(graph):
            break
    compute_effects(graph)
    return graph, sizes


def is_static(type_: Type) -> bool:
    """Return whether the type has a fully static shape, or is neither that of a tensor nor of an array."""
    if not isinstance(type_, (TensorType, ArrayType)):
        return True
    return is_static_shape(type_.shape)


def _remaining_work(graph: Graph) -> tuple[int, int]:
    """Return the number of non-constant nodes, and that of open shapes; a shape with a size that is None counts twice.

    Another round of specialisation is worthwhile only if one of the numbers has changed.
    """
    nodes = list(graph.walk())
    open_types = [value.type for node in nodes for value in node.results if not is_static(value.type)]
    open_shapes = [type_.shape for type_ in open_types if isinstance(type_, (TensorType, ArrayType))]
    unnamed_count = sum(shape is None or None in shape for shape in open_shapes)
    return sum(node.op.name != "constant" for node in nodes), len(open_shapes) + unnamed_count


def _specialise_graph(
    graph: Graph, types: Sequence[Type], sizes: Sizes | None, captures: Sequence[Value] = ()
) -> Graph:
    """Return a copy of one graph for these parameter types; `captures` are the outer values of its last parameters."""
    copy = Graph(graph.name)
    values = {
        value: copy.add_parameter(_narrow(type_, value.type), value.name)
        for value, type_ in zip(graph.parameters, types, strict=True)
    }
    if sizes is not None and captures:
        sizes.copy_facts(copy.parameters[len(copy.parameters) - len(captures) :], captures)
    for node in graph.nodes:
        results = _specialise_node(copy, node, [values[value] for value in node.inputs], sizes)
        if sizes is not None and results and results[0].node is not None:
            derive_numbers(sizes, results[0].node)
        values.update(zip(node.results, results, strict=True))
    copy.outputs = [values[value] for value in graph.outputs]
    return copy


def _narrow(type_: Type, wide: Type) -> Type:
    """Return `type_` if it is compatible with `wide` and no less precise, else `wide`."""
    if isinstance(type_, ArrayType) and isinstance(wide, ArrayType):
        return _narrow_array(type_, wide)
    if not isinstance(type_, TensorType) or not isinstance(wide, TensorType):
        return wide
    if (type_.dtype, type_.weak) != (wide.dtype, wide.weak) or not are_shapes_compatible(type_.shape, wide.shape):
        return wide
    if type_.shape is None and wide.shape is not None:
        return wide
    return type_ if wide.shape is None or _is_as_precise(type_, wide) else wide


def _narrow_array(type_: ArrayType, wide: ArrayType) -> ArrayType:
    """Return `type_` as `_narrow` does, with strides from `wide` where it has none."""
    if (type_.dtype, type_.shared) != (wide.dtype, wide.shared) or not are_shapes_compatible(type_.shape, wide.shape):
        return wide
    pairs = zip(type_.strides, wide.strides, strict=True)
    strides = tuple(wide_stride if stride is None else stride for stride, wide_stride in pairs)
    return replace(type_ if _is_as_precise(type_, wide) else wide, strides=strides)


def _is_as_precise(type_: TensorType | ArrayType, wide: TensorType | ArrayType) -> bool:
    """Return whether `type_` has a static size wherever `wide` has one."""
    return all(
        isinstance(size, int) or not isinstance(wide_size, int)
        for size, wide_size in zip(type_.shape or (), wide.shape or (), strict=True)
    )


def _specialise_node(copy: Graph, node: Node, inputs: list[Value], sizes: Sizes | None) -> Sequence[Value]:
    """Add the node to `copy` for these narrower inputs, or a constant in its place; return its results."""
    if node.regions:
        return _specialise_control(copy, node, inputs, sizes)
    array = _evaluate_from_shapes(node, inputs)
    if array is not None:
        return copy.add_replacement(node, OPS["constant"], (), {"value": array}).results
    inputs, attributes = _move_constant_sizes(node, inputs)
    if sizes is not None:
        inputs, attributes = _move_symbolic_sizes(node, inputs, attributes, sizes)
    types = _inferred_types(node, inputs, attributes, ())
    derived_types = None if sizes is None else derive_types(sizes, node, inputs, attributes)
    if derived_types is not None:
        types = [_narrow(new, old) for new, old in zip(derived_types, types, strict=True)]
    return copy.add_replacement(node, node.op, inputs, attributes, (), types).results


def _inferred_types(node: Node, inputs: Sequence[Value], attributes: Any, regions: Sequence[Graph]) -> list[Type]:
    """Return the declared result types, narrowed by what the op's type rule infers for these inputs."""
    declared_types = [value.type for value in node.results]
    types = [value.type for value in inputs]
    try:
        inferred = node.op.result_types(types, attributes, regions)
    except (TypeError, ValueError) as error:
        if any(map(has_symbols, types)):
            return _types_without_symbols(node, types, attributes, regions)
        if _has_valid_types(node):
            raise CannotSpecialise from error
        return declared_types  # the type rule fails for the declared types as well
    if len(inferred) != len(declared_types):
        return declared_types
    return [_narrow(new, old) for new, old in zip(inferred, declared_types, strict=True)]


def _types_without_symbols(node: Node, types: Sequence[Type], attributes: Any, regions: Sequence[Graph]) -> list[Type]:
    """Return the result types as `_inferred_types`, for a type rule that cannot compute with symbols."""
    try:
        inferred = node.op.result_types([*map(without_symbols, types)], attributes, regions)
    except (TypeError, ValueError) as error:
        raise CannotSpecialise from error
    return [_narrow(new, value.type) for new, value in zip(inferred, node.results, strict=True)]


def _has_valid_types(node: Node) -> bool:
    """Return whether the op's type rule accepts the declared types of the node's operands."""
    try:
        node.op.result_types([value.type for value in node.inputs], node.attributes, node.regions)
    except (TypeError, ValueError):
        return False
    return True


def _evaluate_from_shapes(node: Node, inputs: Sequence[Value]) -> np.ndarray | None:
    """Return the result of an op that reads only the shapes of its operands, if all of them are static; else None."""
    if len(node.results) != 1 or node.effects or not reads_only_shapes(node):
        return None
    result = node.results[0].type
    if not isinstance(result, TensorType) or result.weak or node.op.kernel is None:
        return None
    if not all(isinstance(value.type, TensorType) and is_static(value.type) for value in inputs):
        return None
    types: list[Any] = [value.type for value in inputs]
    placeholders = [np.broadcast_to(np.zeros((), type_.dtype.numpy), type_.shape) for type_ in types]
    array = np.asarray(node.op.kernel(*placeholders, **node.attributes))
    return array if array.dtype == result.dtype.numpy and array.size <= _MAX_SHAPE_ELEMENTS else None


def _move_constant_sizes(node: Node, inputs: list[Value]) -> tuple[list[Value], Any]:
    """Move sizes from an operand that has become a constant to an attribute; return the operands and attributes.

    A `range` of constant ints keeps its operands, and gets its length as an attribute.
    """
    sizes_trait = node.op.traits.sizes
    has_size_operand = sizes_trait is not None and len(inputs) == sizes_trait.position + 1
    size_operand = _constant_array(inputs[-1]) if has_size_operand else None
    if sizes_trait is not None and size_operand is not None:
        shape = _SIZE_PARSERS[sizes_trait.form](size_operand)
        if shape is not None:
            return inputs[:-1], {**node.attributes, sizes_trait.attribute: shape}
    if node.op.name == "range" and node.attributes.get("length") is None:
        bounds = [_constant_array(value) for value in inputs]
        if len(bounds) == 3 and all(bound is not None and bound.dtype.kind in "iu" for bound in bounds):
            start, stop, step = (int(bound) for bound in bounds if bound is not None)
            return inputs, {**node.attributes, "length": max(0, math.ceil((stop - start) / step)) if step else None}
    return inputs, node.attributes


def _move_symbolic_sizes(node: Node, inputs: list[Value], attributes: Any, sizes: Sizes) -> tuple[list[Value], Any]:
    """Move symbolic amounts of padding from an operand to an attribute, where native code takes them; return both."""
    sizes_trait = node.op.traits.sizes
    has_padding_operand = sizes_trait is not None and sizes_trait.form == "pairs" and len(inputs) >= 2
    if not has_padding_operand or attributes.get("mode", "CONSTANT") != "CONSTANT":
        return inputs, attributes
    amounts, type_ = sizes.numbers.get(inputs[1]), inputs[0].type
    shape = type_.shape if isinstance(type_, TensorType) else None
    if not isinstance(amounts, tuple) or shape is None or None in shape or len(amounts) != 2 * len(shape):
        return inputs, attributes
    if any(isinstance(amount, int) and amount < 0 for amount in amounts):
        return inputs, attributes  # the kernel refuses negative amounts
    return inputs[:1], {**attributes, "paddings": tuple(zip(amounts[::2], amounts[1::2], strict=True))}


def _parse_vector(array: np.ndarray) -> tuple[int, ...]:
    """Return the sizes in a vector, or a single one."""
    return tuple(int(size) for size in np.atleast_1d(array))


def _parse_pairs(array: np.ndarray) -> tuple[tuple[int, int], ...] | None:
    """Return the amounts of padding, (before, after) for each dimension; None if one is negative."""
    pairs = tuple((int(before), int(after)) for before, after in array.reshape(-1, 2))
    return pairs if min(map(min, pairs), default=0) >= 0 else None  # the kernel refuses negative amounts


# Parse an operand with sizes, by the form that the op's trait `sizes` declares.
_SIZE_PARSERS: dict[str, Callable[[np.ndarray], Any]] = {"vector": _parse_vector, "number": int, "pairs": _parse_pairs}


def _constant_array(value: Value) -> np.ndarray | None:
    """Return the array of a value that is a constant, else None."""
    if value.node is None or value.node.op.name != "constant":
        return None
    return np.asarray(value.node.attributes["value"])


# ---- regions


def _specialise_control(copy: Graph, node: Node, inputs: list[Value], sizes: Sizes | None) -> Sequence[Value]:
    """Add a node with regions to `copy` for these narrower inputs; return its results."""
    types = [value.type for value in inputs]
    name = node.op.name
    if name == "while":
        regions = _specialise_loop(node, types, inputs, sizes)
    elif name == "cond":
        regions = [_specialise_graph(region, types[1:], sizes, inputs[1:]) for region in node.regions]
    elif name == "call":
        regions = [_specialise_graph(region, types, sizes, inputs) for region in node.regions]
    elif name == "custom_gradient":  # its region takes the cotangents of the results, and the captures
        argument_count = node.attributes["argument_count"]
        captures = inputs[argument_count + node.attributes["result_count"] :]
        regions = [_specialise_graph(region, types[argument_count:], sizes, captures) for region in node.regions]
    elif name == "try":
        try:
            regions = _specialise_try(node.regions, types, inputs, sizes)
        except CannotSpecialise:
            try:
                # A static position may be out of range; as an operand it is checked when the node runs.
                checked_regions = [clone(region, _check_positions) for region in node.regions]
                regions = _specialise_try(checked_regions, types, inputs, sizes)
            except CannotSpecialise:  # the handler may catch what an op raises for these sizes
                return copy_node(copy, node, inputs).results
    else:
        return copy_node(copy, node, inputs).results
    types = _inferred_types(node, inputs, node.attributes, regions)
    return copy.add_replacement(node, node.op, inputs, node.attributes, regions, types).results


def _specialise_try(
    regions: Sequence[Graph], types: Sequence[Type], inputs: Sequence[Value], sizes: Sizes | None
) -> list[Graph]:
    """Return the regions of a `try` for captures of these types: body, normal continuation and handler."""
    body, normal, handler = regions
    body_copy = _specialise_graph(body, types, sizes, inputs)
    normal_types = [*(value.type for value in body_copy.outputs), *types]
    handler_types = [handler.parameters[0].type, *types]
    return [
        body_copy,
        _specialise_graph(normal, normal_types, sizes, inputs),
        _specialise_graph(handler, handler_types, sizes, inputs),
    ]


def _check_positions(copy: Graph, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
    """Add a copy of a `get_item` with the static positions of its index as operands, and return its results.

    Positions that are operands are checked when the node runs. None for another node.
    """
    if node.op.name != "get_item":
        return None
    array, *remaining_operands = inputs
    spec, operands = [], []
    for entry in node.attributes["spec"]:
        count = entry.operand_count
        entry_operands, remaining_operands = remaining_operands[:count], remaining_operands[count:]
        if isinstance(entry, At) and not count:
            position = {"value": np.asarray(entry.index, np.int64), "weak": True}
            entry_operands = list(copy.add(OPS["constant"], (), position, span=node.span).results)
            entry = At(INPUT)
        spec.append(entry)
        operands += entry_operands
    return copy.add(node.op, [array, *operands], {**node.attributes, "spec": tuple(spec)}, span=node.span).results


def _specialise_loop(node: Node, types: Sequence[Type], inputs: Sequence[Value], sizes: Sizes | None) -> list[Graph]:
    """Return the test and body of a loop, for state types that hold before and after each iteration."""
    state_count = state_size(node)
    test, body = node.regions
    state_types, capture_types, captured_values = list(types[:state_count]), types[state_count:], inputs[state_count:]
    for _ in range(_MAX_WIDENINGS):
        body_copy = _specialise_graph(body, [*state_types, *capture_types], sizes, captured_values)
        state_types = [value.type for value in body_copy.parameters[:state_count]]
        output_types = [value.type for value in body_copy.outputs]
        if all(is_subtype(new, old) for new, old in zip(output_types, state_types, strict=True)):
            return [_specialise_graph(test, [*state_types, *capture_types], sizes, captured_values), body_copy]
        types_and_parameters = zip(state_types, output_types, body.parameters, strict=False)
        state_types = [_widen(old, new, parameter.type) for old, new, parameter in types_and_parameters]
    types = [*(value.type for value in body.parameters[:state_count]), *capture_types]
    return [_specialise_graph(region, types, sizes, captured_values) for region in node.regions]


def _widen(first: Type, second: Type, declared: Type) -> Type:
    """Return the join of two types where it is narrower than the declared type, else the declared type."""
    try:
        return _narrow(join(first, second), declared)
    except NoCommonType:
        return declared
