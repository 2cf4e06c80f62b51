"""Name the sizes that a graph computes, so that arrays of such sizes have native loops.

    before   %part = get_item(%x, %k, spec=(Slice(None, 'input', None),)): float64[?]
             %y = multiply(%part, %part): float64[?]
    after    slice_sizes(%k, size=n, parts=(None, 'input', None), defines=(size0, size1))
             %part = get_item(%x, spec=(Slice(size1, size1+size0, None),)): float64[size0]
             %y = multiply(%part, %part): float64[size0]

Each unknown dimension of a tensor becomes a symbol, which a preceding node defines (see `size_nodes`). The scope of the
symbol is the rest of the graph, with the regions of later nodes. A value that leaves its graph has unknown dimensions
again. Sizes that are equal by construction get one symbol, also those of a loop's state in all iterations. Where an op
has operands with different symbols, a node compares the sizes at run time. Ops without a rule run by their kernels;
`sizes_bound` then loads the sizes of results.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from itertools import count
from typing import Any

from autoconv.backends.llvm.analysis.classify import has_element_rule, lowering_class
from autoconv.backends.llvm.analysis.representation import has_computed_sizes, is_dense, is_scalar, without_names
from autoconv.backends.llvm.ir.types import is_native
from autoconv.backends.llvm.legalize.dead_nodes import remove_dead_nodes
from autoconv.backends.llvm.legalize.decompose import expand, is_composite
from autoconv.backends.llvm.legalize.interchange_loops import INTERCHANGED
from autoconv.backends.llvm.legalize.size_nodes import (
    COMMON_SIZES,
    RESIZED,
    SIZE_SUM,
    SIZES_BOUND,
    SIZES_FORGOTTEN,
    SOME_ELEMENTS,
    STRETCHED,
)
from autoconv.graph.dimensions import ComputedSize, is_computed
from autoconv.graph.graph import Graph, Node, Value, copy_node, has_recursion
from autoconv.graph.region_flow import parameter_sources, state_size
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type
from autoconv.lazy_dataclass import dataclass, field
from autoconv.ops.record import Op

Rule = Callable[["SizeRewriter", Node, list[Value]], "Value | None"]
RULES: dict[str, Rule] = {}  # op name -> rule, which returns None where the node's kernel has to run


def name_computed_sizes(graph: Graph) -> Graph:
    """Return the graph, regions included, with symbols for unknown dimensions of tensors."""
    if has_recursion(graph) or not any(map(_has_unknown_sizes, _types(graph))):
        return graph
    return expand(SizeRewriter(graph, _SymbolCounter()).run())


def has_nameable_sizes(node: Node) -> bool:
    """Return whether the node has unknown dimensions, and gets native code once symbols name them."""
    if node.op.name not in RULES and not node.op.traits.elementwise:
        return False
    return any(_has_unknown_sizes(value.type) for value in (*node.inputs, *node.results))


def _types(graph: Graph) -> Sequence[Type]:
    """Return the types of all values of a graph and its regions."""
    types = [value.type for node in graph.walk() for value in node.results]
    return types + [value.type for value in graph.parameters]


def _has_unknown_sizes(type_: Type) -> bool:
    """Return whether the type is a tensor of known rank whose elements fit registers, with an unknown dimension."""
    return (
        isinstance(type_, TensorType)
        and type_.shape is not None
        and None in type_.shape
        and (is_native(type_.dtype) or type_.dtype.is_complex)
    )


@dataclass
class _SymbolCounter:
    """The numbers of new symbols, which all graphs of a rewriting share."""

    numbers: Any = field(default_factory=count)


class SizeRewriter(Rewriter[_SymbolCounter]):
    """A rewriter of one graph; rules append nodes by its methods.

    `results_by_key` maps keys to symbols and stretched values, or to True for a check, those of enclosing graphs too.
    """

    span: Any = None  # the span of the node that is rewritten

    def __init__(
        self,
        graph: Graph,
        shared: _SymbolCounter,
        copies: dict[Graph, Graph] | None = None,
        outer_types: Mapping[Value, Type] | None = None,
        outer: SizeRewriter | None = None,
    ) -> None:
        self._outer_types = outer_types or {}  # types of parameters that are values of the enclosing graph
        self._kept_types: dict[int, Type] = {}  # position in the state of the loop that is rewritten -> type
        self._output_types = {} if outer is None else outer._kept_types
        self.results_by_key: MutableMapping[Any, Any] = {} if outer is None else ChainMap({}, outer.results_by_key)
        # Parameter -> the array of the enclosing graph.
        self.outer_arrays: MutableMapping[Value, Value] = {} if outer is None else ChainMap({}, outer.outer_arrays)
        super().__init__(graph, shared, copies)

    def type_of(self, value: Value) -> Type:
        """Return the type outside of the region if it names sizes that the value's own type leaves unknown."""
        outer_type = self._outer_types.get(value, value.type)
        return outer_type if has_computed_sizes(outer_type) and _has_unknown_sizes(value.type) else value.type

    def region_rewriter(self, node: Node, inputs: Sequence[Value], region: Graph) -> SizeRewriter:
        """Return a rewriter of a region, whose parameters with a single source outside have its type."""
        operands = dict(zip(node.inputs, inputs, strict=True))
        sources: dict[Value, list[Value]] = {}
        for parameter, source in parameter_sources(node, region):
            sources.setdefault(parameter, []).append(source)
        single_operands = {
            parameter: operands[parameter_values[0]]
            for parameter, parameter_values in sources.items()
            if len(parameter_values) == 1 and parameter_values[0] in operands
        }
        types = {parameter: operand.type for parameter, operand in single_operands.items()}
        types |= {region.parameters[i]: type_ for i, type_ in self._kept_types.items()}
        rewriter = SizeRewriter(region, self.shared, self.copies, types, self)
        for parameter, operand in single_operands.items():
            if isinstance(operand.type, ArrayType):
                rewriter.outer_arrays[rewriter.values[parameter]] = operand
        return rewriter

    def rebuild(self) -> Graph:
        for value in self.graph.parameters:
            self.values[value] = self.name_sizes(self.values[value])
        copy = super().rebuild()
        remove_dead_nodes(copy)
        return copy

    def rewritten_output(self, position: int, value: Value) -> Value:
        output = self.values[value]
        return output if output.type == self._output_types.get(position) else self.forget_sizes(output)

    def _rewrite_loop(self, node: Node, inputs: list[Value]) -> Sequence[Value]:
        """Return the results of a loop. A state whose sizes each iteration preserves keeps the symbols of its input.

        All states are assumed to, and the regions are rewritten until no output contradicts the assumption.
        """
        kept_types: dict[int, Type] = {}
        pairs = zip(inputs[: state_size(node)], node.regions[-1].parameters, strict=False)
        for i, (value, parameter) in enumerate(pairs):
            if value.type != parameter.type == without_names(value.type):
                kept_types[i] = value.type
        while True:
            self._kept_types = kept_types
            regions = self.rewritten_regions(node, inputs)
            confirmed = {i: type_ for i, type_ in kept_types.items() if regions[-1].outputs[i].type == type_}
            if len(confirmed) == len(kept_types):
                break
            kept_types = confirmed
        copy = copy_node(self.copy, node, inputs, regions)
        for i, type_ in kept_types.items():
            copy.results[i].type = type_
        self._kept_types = {}
        return [self.name_sizes(value) for value in copy.results]

    def forget_sizes(self, value: Value) -> Value:
        """Return the value with unknown dimensions in the place of computed ones."""
        if not has_computed_sizes(value.type):
            return value
        if value.node is not None and value.node.op is SIZES_BOUND:
            return value.node.inputs[0]
        return self.add(SIZES_FORGOTTEN, [value], {}, [without_names(value.type)])  # type: ignore[no-any-return]

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Return the results with named sizes; None for nodes whose types have no unknown and no computed sizes."""
        if node.regions:
            # Regions that kernels run have no symbols, and arrays of interchanged loops have constant sizes.
            has_symbols = lowering_class(node) == "control" and INTERCHANGED not in node.attributes
            if has_symbols and node.op.traits.repeats:
                return self._rewrite_loop(node, inputs)
            regions = self.rewritten_regions(node, inputs) if has_symbols else None
            return [self.name_sizes(value) for value in copy_node(self.copy, node, inputs, regions).results]
        types = [value.type for value in (*inputs, *node.results)]
        if not any(map(_has_unknown_sizes, types)) and not any(map(has_computed_sizes, types)):
            return None
        self.span = node.span
        if (result := self._apply_rule(node, inputs)) is not None:
            return [result]
        node_copy = copy_node(self.copy, node, inputs)
        if any(has_computed_sizes(x.type) for x in inputs) and (
            is_composite(node_copy) or lowering_class(node_copy) == "kernel"
        ):
            # No rule covers the node, so that its kernel runs: the copy gets unknown sizes, and no pass expands it.
            self.copy.nodes.pop()
            node_copy = copy_node(self.copy, node, [self.forget_sizes(value) for value in inputs])
        return [self.name_sizes(value) for value in node_copy.results]

    def _apply_rule(self, node: Node, inputs: list[Value]) -> Value | None:
        """Return the result of the node's rule, or of the rule of elementwise ops; None if no rule applies."""
        if node.op.name in RULES:
            return RULES[node.op.name](self, node, inputs)
        if node.op.traits.elementwise and len(node.results) == 1 and isinstance(node.results[0].type, TensorType):
            return self._elementwise(node, inputs)
        return None

    # ---- nodes

    def add(self, op: Op, inputs: Sequence[Value], attributes: dict[str, Any], types: Sequence[Type] = ()) -> Any:
        """Append a node and return its result, if it has one."""
        node = self.copy.add(op, inputs, attributes, types=types, span=self.span)
        return node.results[0] if node.results else None

    def add_with_shape(
        self, node: Node, inputs: Sequence[Value], result_shape: Sequence[Dimension], **attributes: Any
    ) -> Value:
        """Append a copy of the node whose result has the given shape."""
        (result,) = node.results
        assert isinstance(result.type, TensorType)
        types = [result.type.with_shape(tuple(result_shape))]
        attributes = {**node.attributes, **attributes}
        copy = self.copy.add_replacement(node, node.op, inputs, attributes, types=types)
        return copy.results[0]

    def name_sizes(self, value: Value) -> Value:
        """Return the value with a symbol for each unknown dimension."""
        type_ = value.type
        if not _has_unknown_sizes(type_):
            return value
        assert isinstance(type_, TensorType) and type_.shape is not None
        shape = tuple(self.new_symbol() if size is None else size for size in type_.shape)
        defined_sizes = tuple(size for size, old_size in zip(shape, type_.shape, strict=True) if old_size is None)
        return self.add(SIZES_BOUND, [value], {"defines": defined_sizes}, [type_.with_shape(shape)])  # type: ignore[no-any-return]

    # ---- sizes

    def new_symbol(self) -> ComputedSize:
        """Return a symbol that no other size has."""
        return ComputedSize(f"size{next(self.shared.numbers)}")

    def symbols_of(self, key: Any, define: Callable[[tuple[ComputedSize, ...]], None], count: int = 1) -> Any:
        """Return the symbols of the sizes that `key` describes; `define` appends the node for new ones."""
        if key not in self.results_by_key:
            symbols = tuple(self.new_symbol() for _ in range(count))
            define(symbols)
            self.results_by_key[key] = symbols
        return self.results_by_key[key]

    def clamp_at_zero(self, size: Dimension) -> Dimension:
        """Return a symbol for a polynomial of computed sizes: the polynomial's value, or 0 where that is negative.

        Other sizes are returned as they are.
        """
        if not isinstance(size, Symbol) or not is_computed(size) or isinstance(size, ComputedSize):
            return size
        (result,) = self.symbols_of(
            ("sum", size), lambda symbols: self.add(SIZE_SUM, [], {"total": size, "defines": symbols, "reads": (size,)})
        )
        return result  # type: ignore[no-any-return]

    def require_elements(self, node: Node, inputs: Sequence[Value], sizes: Sequence[Dimension]) -> None:
        """Append a check that no size is 0; if one is, the kernel of the node runs, which raises."""
        read_sizes = tuple(size for size in sizes if is_computed(size))
        key = "nonempty", node.op.name, read_sizes
        if read_sizes and key not in self.results_by_key:
            self.add(SOME_ELEMENTS, inputs, {**_op_and_options(node), "reads": read_sizes})
            self.results_by_key[key] = True

    # ---- operands of different sizes

    def _elementwise(self, node: Node, inputs: list[Value]) -> Value | None:
        """Name the sizes of an elementwise result; None if native code lacks the op, or sizes differ."""
        if not all(is_scalar(value.type) or is_dense(value.type) for value in inputs) or not has_element_rule(node):
            return None
        result = self.broadcast(node, inputs)
        return None if result is None else self.add_with_shape(node, *result)

    def broadcast(self, node: Node, inputs: Sequence[Value]) -> tuple[list[Value], tuple[Dimension, ...]] | None:
        """Return the operands with equal sizes or ones in each dimension, and the shape to which they broadcast.

        A computed size gets a factor at run time: 0 if it is broadcast, else 1. None if two sizes differ that are known
        at the call.
        """
        shapes = [shape_of(value) for value in inputs]
        rank = max(map(len, shapes))
        result_shape: list[Dimension] = []
        factors: list[dict[Dimension, Any]] = []
        groups = []  # a pair for each axis: the common size, and its members, which are pairs of a size and its factor
        defined_sizes: list[ComputedSize] = []
        for axis in range(-rank, 0):
            axis_sizes = dict.fromkeys(shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis] != 1)
            call_sizes = [size for size in axis_sizes if not is_computed(size)]
            if len(call_sizes) > 1:
                return None
            if len(axis_sizes) < 2:
                result_shape.append(next(iter(axis_sizes), 1))
                factors.append({})
                continue
            key = "common", frozenset(axis_sizes)
            if key not in self.results_by_key:
                common_size: Any = call_sizes[0] if call_sizes else self.new_symbol()
                factor_by_size = {size: self.new_symbol() for size in axis_sizes if is_computed(size)}
                members = tuple((size, factor_by_size.get(size)) for size in axis_sizes)
                groups.append((common_size, members))
                defined_sizes += [*([] if call_sizes else [common_size]), *factor_by_size.values()]
                self.results_by_key[key] = common_size, factor_by_size
                # If an operand of the common size meets one of these sizes later, no further check is needed.
                for size, factor in factor_by_size.items():
                    self.results_by_key["common", frozenset((common_size, size))] = common_size, {size: factor}
            common_size, factor_by_size = self.results_by_key[key]
            result_shape.append(common_size)
            factors.append(factor_by_size)
        if groups:
            attributes = {**_op_and_options(node), "groups": tuple(groups), "defines": tuple(defined_sizes)}
            self.add(COMMON_SIZES, inputs, {**attributes, "is_exact": False, "reads": _member_sizes(groups)})
        operands = [self._stretch(value, result_shape, factors) for value in inputs]
        return operands, tuple(result_shape)

    def _stretch(
        self, value: Value, target_shape: Sequence[Dimension], factors: Sequence[dict[Dimension, Any]]
    ) -> Value:
        """Return the value, broadcast along the dimensions whose factors are not 1."""
        value_shape = shape_of(value)
        missing_rank = len(target_shape) - len(value_shape)
        factors_of_value = tuple(factors[axis].get(size, 1) for axis, size in enumerate(value_shape, missing_rank))
        if all(factor == 1 for factor in factors_of_value):
            return value
        node = value.node
        if node is not None and not node.effects and node.op.traits.elementwise and not node.op.traits.costly:
            return self._rematerialise(node, target_shape[missing_rank:], factors[missing_rank:])
        key = "stretched", value, factors_of_value
        if key not in self.results_by_key:
            pairs = enumerate(zip(value_shape, factors_of_value, strict=True), missing_rank)
            shape = tuple(size if factor == 1 else target_shape[axis] for axis, (size, factor) in pairs)
            type_: Any = value.type
            types = [type_.with_shape(shape)]
            self.results_by_key[key] = self.add(STRETCHED, [value], {"reads": factors_of_value}, types)
        return self.results_by_key[key]  # type: ignore[no-any-return]

    def _rematerialise(
        self, node: Node, target_shape: Sequence[Dimension], factors: Sequence[dict[Dimension, Any]]
    ) -> Value:
        """Recompute a cheap result from broadcast operands, so that no loop has to store it."""
        key = "rematerialised", node, tuple(target_shape)
        if key not in self.results_by_key:
            operands = [x if x.shape == () else self._stretch(x, target_shape, factors) for x in node.inputs]
            shapes = [shape_of(value) for value in operands]
            shape: list[Dimension] = []
            for axis in range(-len(target_shape), 0):
                axis_sizes = [sizes[axis] for sizes in shapes if len(sizes) >= -axis]
                shape.append(next((size for size in axis_sizes if size != 1), 1))
            self.results_by_key[key] = self.add_with_shape(node, operands, shape)
        return self.results_by_key[key]  # type: ignore[no-any-return]

    def equate_sizes(
        self, node: Node, inputs: Sequence[Value], axes: Sequence[int], kernel_inputs: Sequence[Value] = ()
    ) -> list[Value] | None:
        """Append a check that the inputs' sizes along the axes are equal; return the inputs with one symbol for them.

        `axes` has an axis for each input. None if two sizes differ that are known at the call. `kernel_inputs` are all
        operands of the node, if `inputs` are not; its kernel raises where sizes differ.
        """
        sizes = tuple(dict.fromkeys(shape_of(value)[axis] for value, axis in zip(inputs, axes, strict=True)))
        if len(sizes) == 1:
            return list(inputs)
        call_sizes = [size for size in sizes if not is_computed(size)]
        if len(call_sizes) > 1:
            return None

        def define(symbols: tuple[ComputedSize, ...]) -> None:
            members = tuple((size, None) for size in sizes)
            attributes = {"groups": ((symbols[0], members),), "defines": symbols, "is_exact": True, "reads": sizes}
            self.add(COMMON_SIZES, kernel_inputs or inputs, {**_op_and_options(node), **attributes})

        (common_size,) = self.symbols_of(("equal", sizes), define)
        result = []
        for value, axis in zip(inputs, axes, strict=True):
            shape, type_ = list(shape_of(value)), value.type
            shape[axis] = common_size
            assert isinstance(type_, TensorType)
            result.append(self.add(RESIZED, [value], {}, [type_.with_shape(tuple(shape))]))
        return result


def _member_sizes(groups: Sequence[Any]) -> tuple[Dimension, ...]:
    """Return the sizes of the members of all groups (see `size_nodes`)."""
    return tuple(size for _, members in groups for size, _ in members)


def _op_and_options(node: Node) -> dict[str, Any]:
    """Return attributes by which a check runs the kernel of a node, which raises the error."""
    return {"op": node.op.name, "options": tuple(node.attributes.items())}


def shape_of(value: Value) -> tuple[Dimension, ...]:
    """Return the shape of a tensor whose rank is known."""
    assert isinstance(value.type, TensorType) and value.type.shape is not None
    return value.type.shape
