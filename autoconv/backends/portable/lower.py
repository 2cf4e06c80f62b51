"""Write a graph for another runtime: values, control flow, variables and memory.

Other runtimes have no memory. A `Cell` stands for a variable, or for the memory of an array: its term has the present
contents, and a write replaces the term. A `View` stands for an array: a cell, and the view ops to apply to its
contents. An arm that writes cells returns their new contents; a loop has the contents in its state.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from autoconv.backends.error_causes import error_causes, error_of_node
from autoconv.backends.llvm.legalize.promote_handler_cells import promote_cells
from autoconv.backends.portable.cells import Cell, Choice, Item, View, cells_of
from autoconv.backends.portable.control import CauseTest
from autoconv.backends.portable.joins import JoinedArrays
from autoconv.backends.portable.loops import LoopState, item_terms, take_item
from autoconv.backends.portable.memory import MEMORY_RULES, Memory, types_of
from autoconv.backends.portable.rules import RULES
from autoconv.backends.portable.terms import ListTerm, Progression, Term
from autoconv.backends.portable.tries import OPS_WITHOUT_CODE, RULES_OF_EXCEPTIONS, CaughtError, is_catchable
from autoconv.backends.portable.unfit import SIZE_DEPENDS_ON_VALUE, GraphUnfit
from autoconv.graph.dtypes import bfloat16, float32
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.types import ArrayType, ResourceType, Symbol, TensorType
from autoconv.lazy_dataclass import dataclass, field
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.elementwise.complex_inverses import INVERSES
from autoconv.ops.index_spec import At


@dataclass
class Lowered:
    """The result of lowering a graph: terms of its results, and of the parameters that it writes."""

    results: list[Term]
    written: list[tuple[int, Term]] = field(default_factory=list)  # positions of parameters, and their new contents
    shares_memory: bool = False  # True if a result is (or is part of) an argument or another result
    # Empty, or for each result the view that the caller has to apply to the result's term; None for a result that is no
    # array in memory. The term then is the whole contents of the view's cell, or the tag of a choice of cells.
    views: list[View | None] = field(default_factory=list)


class Lowering(Memory):
    """The lowering of the nodes of a graph and its regions; `writer` emits the operations."""

    # ---- whole graphs

    def lower_graph(self, graph: Graph, arguments: Sequence[Term], in_place: bool = False) -> Lowered:
        """Write a graph for `arguments`, in which contents stand for variables and arrays; return its results.

        With `in_place`, results that share memory are described by `Lowered.views` where possible.
        """
        graph = promote_cells(graph, is_exported=True)
        self.writer.argument_sizes = _symbols_of(graph, arguments)
        items: list[Item] = []
        for position, (parameter, term) in enumerate(zip(graph.parameters, arguments, strict=True)):
            if isinstance(parameter.type, (ResourceType, ArrayType)):
                cell = self.new_cell(term, position)
                items.append(cell if isinstance(parameter.type, ResourceType) else View(cell))
            else:
                items.append(term)
        initial_terms = {cell: cell.term for cell in self.cells}
        outputs = self.lower_region(graph, items)
        written = [
            (cell.argument_position or 0, cell.term)
            for cell, initial_term in initial_terms.items()
            if cell.term is not initial_term
        ]
        cells = [cell for item in outputs if isinstance(item, View) for cell in cells_of(item)]
        shares_memory = len(set(cells)) < len(cells)
        is_argument_shared = any(cell.argument_position is not None or cell.possible_aliases for cell in cells)
        shares_memory = shares_memory or is_argument_shared
        needs_views = shares_memory or any(isinstance(item, View) and item.chain for item in outputs)
        if not (in_place and needs_views) or any(cell.possible_aliases for cell in cells):
            return Lowered([self._result(item) for item in outputs], written, shares_memory)
        results = [self._result(View(item.cell) if isinstance(item, View) else item, in_place) for item in outputs]
        return Lowered(results, written, shares_memory, [item if isinstance(item, View) else None for item in outputs])

    def _result(self, item: Item, in_place: bool = False) -> Term:
        """Return the term of a result; with `in_place`, that of a choice of arrays is its tag."""
        if in_place and isinstance(item, View) and isinstance(item.cell, Choice):
            return item.cell.tag
        (result,) = self.without_ranges([self.load(item) if isinstance(item, View) else item])
        if isinstance(result, Term):
            return result
        if isinstance(result, Progression):
            raise GraphUnfit("return", SIZE_DEPENDS_ON_VALUE)
        raise GraphUnfit("return", "a list or a variable cannot be a result")

    def lower_region(self, graph: Graph, items: Sequence[Item]) -> list[Item]:
        """Write the nodes of a graph or region, and return its outputs."""
        item_by_value: dict[Value, Item] = dict(zip(graph.parameters, items, strict=True))
        for node in graph.nodes:
            operands = [item_by_value[value] for value in node.inputs]
            item_by_value.update(zip(node.results, self.lower_node(node, operands), strict=True))
        return [item_by_value[value] for value in graph.outputs]

    def lower_node(self, node: Node, operands: list[Item]) -> Sequence[Item]:
        """Write a node, and return its results. Raises GraphUnfit if the runtime has no form for it."""
        self.writer.node_place = f"{node.op.name} at {node.span}" if node.span is not None else node.op.name
        self.writer.causes, self.writer.error_class, self.writer.is_in_try = (), None, self.try_depth > 0
        if self.try_depth and not node.regions:
            self.writer.error_class = error_of_node(node).error_class
            self.writer.causes = tuple(
                CauseTest(cause.error_class, functools.partial(cause.test, self.writer, operands))
                for cause in error_causes(node)
            )
        try:
            outputs_of_node = self._lower_by_rule(node, operands)
        except GraphUnfit as error:
            if error.span is None and node.span is not None:
                raise GraphUnfit(node.op.name, error.reason, node.span) from error
            raise
        if outputs_of_node is None:
            raise GraphUnfit(node.op.name, f"{self.writer.runtime} has no form for {types_of(node)}", node.span)
        return list(outputs_of_node) if isinstance(outputs_of_node, (list, tuple)) else [outputs_of_node]

    def _lower_by_rule(self, node: Node, operands: list[Item]) -> Any:
        """Write a node by the first rule that applies; return its result or a list of them, or None if none does."""
        name = node.op.name
        if name == "numpy_shapes":  # the operations that follow check the shapes themselves
            return []
        if name in OPS_WITHOUT_CODE:
            return [None]
        if name in RULES_OF_EXCEPTIONS:
            return RULES_OF_EXCEPTIONS[name](self.writer, node, *operands)
        if name not in _CONTROL_METHODS and any(isinstance(x, Progression) for x in operands):
            result = self._lower_on_progression(node, operands)
            if result is not None:
                return result
            operands = self.without_ranges(operands)
        memory_rule = MEMORY_RULES.get(name)
        if memory_rule is not None and (name in _ALLOCATIONS or not operands or not isinstance(operands[0], Term)):
            return memory_rule(self, node, *operands)
        if any(isinstance(x, Progression) for x in operands) and name not in _CONTROL_METHODS:
            raise GraphUnfit(name, SIZE_DEPENDS_ON_VALUE, node.span)
        if any(not isinstance(x, (Term, ListTerm)) for x in operands) and name not in _CONTROL_METHODS:
            return None
        if name in _CONTROL_METHODS:
            return getattr(self, _CONTROL_METHODS[name])(node, operands)
        rule = RULES.get(name)
        result = None if rule is None else rule(self.writer, node, *operands)
        return self._lower_element(node, operands) if result is None and name in ELEMENTS else result

    def _lower_on_progression(self, node: Node, operands: list[Item]) -> Term | None:
        """Write an op that takes an element of a range or its length; return None for other ops."""
        first, *indices = operands
        if not isinstance(first, Progression):
            return None
        match node.op.name, node.attributes.get("spec"):
            case ("size" | "dimension" | "array_size"), _:
                return self.writer.cast(first.length, node.results[0].dtype)
            case "shape", _:
                return self.writer.reshape(self.writer.cast(first.length, node.results[0].dtype), (1,))
            case "get_item", (At(index=index),):
                return first.at(self.writer, indices[0] if indices else self.writer.constant(index, first.start.dtype))
            case "gather", None if not indices[0].shape:
                return first.at(self.writer, indices[0])
        return None

    def _lower_element(self, node: Node, operands: list[Term]) -> Term | None:
        """Write an elementwise op by the runtime's own form or the op's element rule; None if it has neither."""
        result = node.results[0].type
        if not isinstance(result, TensorType):
            return None
        dtypes = {x.dtype for x in operands}
        runtime_term = self.writer.runtime_form(node, operands)
        if runtime_term is not None:
            return runtime_term
        if any(dtype.is_complex for dtype in dtypes) and node.op.name not in _COMPLEX_ELEMENT_OPS:
            return self._lower_complex_inverse(node, *operands) if node.op.name in INVERSES else None
        if result.dtype.is_complex and node.op.name not in _COMPLEX_ELEMENT_OPS:
            return None
        arrays = self.writer.broadcast(*(self.writer.cast(x, float32) if x.dtype is bfloat16 else x for x in operands))
        element = ELEMENTS[node.op.name](self.writer, *arrays, **node.attributes)
        if element is None:
            return None
        element = self.writer.cast(element, result.dtype)
        return self.writer.broadcast(element, arrays[0])[0] if not element.shape else element

    def _lower_complex_inverse(self, node: Node, x: Term) -> Term:
        """Write an inverse function of complex numbers by ops on their parts."""
        real, imag = self.writer.emit_unary("real", x), self.writer.emit_unary("imag", x)
        graph = Graph(node.op.name)
        parameters = [graph.add_parameter(TensorType(part.dtype, x.shape)) for part in (real, imag)]
        graph.outputs = list(INVERSES[node.op.name](GraphBuilder(graph, node.span), *parameters))
        return self.writer.pair(*self.lower_region(graph, [real, imag]))

    # ---- control flow

    def call(self, node: Node, operands: list[Item]) -> list[Item]:
        """Write the nodes of a function in place of its call; a recursive function is refused."""
        if is_recursive(node):
            raise GraphUnfit("call", "a recursive function", node.span)
        region = node.regions[0]
        return self.lower_region(region, operands[: len(region.parameters)])

    def results_of_custom_gradient(self, node: Node, operands: list[Item]) -> list[Item]:
        """Return the results, which are among the operands; the region is only for differentiation."""
        argument_count, result_count = node.attributes["argument_count"], node.attributes["result_count"]
        return operands[argument_count : argument_count + result_count]

    def cond(self, node: Node, operands: list[Item]) -> list[Item]:
        """Write a choice between regions by an index, the first operand."""
        index, captures = operands[0], operands[1:]
        error_word = self.writer.error_word
        return self._branch(node, index, [_ArmCall(region, captures, error_word) for region in node.regions])

    def _branch(self, node: Node, index: Term, calls: Sequence[_ArmCall]) -> list[Item]:
        """Write a choice between regions; `index` is as in `Control.branch`."""
        outer_contents = [cell.term for cell in self.cells]
        cell_count = len(outer_contents)
        word_before = calls[0].error_word
        arms = []
        for call in calls:
            self._restore_contents(outer_contents, call.error_word)
            arms.append(self._lower_arm(call.region, call.arguments, node, cell_count))
        self._restore_contents(outer_contents, word_before)
        joined_arrays = JoinedArrays(self, index, cell_count, [item for call in calls for item in call.arguments])
        # A result is represented by terms, or is one item of all arms, or is an array that `joined_arrays` joins.
        are_terms = [isinstance(output, (Term, ListTerm)) for output in arms[0].outputs]
        arrays = [
            None if has_terms or all(item is outputs[0] for item in outputs) else joined_arrays.add(outputs)
            for has_terms, *outputs in zip(are_terms, *(arm.outputs for arm in arms), strict=True)
        ]
        changed_positions = [
            i for i in range(cell_count) if any(arm.outer_contents[i] is not outer_contents[i] for arm in arms)
        ]
        may_fail = any(arm.error_word is not word_before for arm in arms)
        del self.cells[cell_count:]
        arm_results = []
        for arm_index, arm in enumerate(arms):
            pairs = zip(arm.terms, are_terms, strict=True)
            values = [term for terms, has_terms in pairs if has_terms for term in terms]
            values += joined_arrays.values_of_arm(arm_index, arm.new_contents)
            values += [arm.outer_contents[i] for i in changed_positions]
            values += [self.writer.error_word_or_zero(arm.error_word)] if may_fail else []
            arm_results.append((arm.block, values))
        results = self.writer.branch(index, arm_results)
        items = [
            take_item(item, results) if has_terms else item
            for item, has_terms in zip(arms[0].outputs, are_terms, strict=True)
        ]
        joined_arrays.take_results(results)
        for i in changed_positions:
            self.cells[i].term = results.pop(0)
        if may_fail:
            self.writer.error_word = results.pop(0)
        pairs_of_results = zip(items, arrays, strict=True)
        return [item if array is None else joined_arrays.result(array) for item, array in pairs_of_results]

    def _lower_arm(self, region: Graph, captures: Sequence[Item], node: Node, cell_count: int) -> _Arm:
        """Write the nodes of an arm; `cell_count` is the number of cells that exist before the branch."""
        count_before_arm = len(self.cells)
        with self.writer.block([]) as block:
            outputs = [
                self.writer.cast(x, value.type.dtype)
                if isinstance(x, Term) and isinstance(value.type, TensorType)
                else x
                for x, value in zip(
                    self.without_ranges(self.lower_region(region, captures)), node.results, strict=True
                )
            ]
        terms = [item_terms(x) if isinstance(x, (Term, ListTerm)) else [] for x in outputs]
        new_contents = {cell: cell.term for cell in self.cells[count_before_arm:]}
        outer_contents = [cell.term for cell in self.cells[:cell_count]]
        return _Arm(block, outputs, outer_contents, self.writer.error_word, terms, new_contents)

    def _restore_contents(self, terms: Sequence[Term], word: Term | None) -> None:
        """Set the contents of the cells, and the error word, back to those before an arm."""
        for cell, term in zip(self.cells, terms, strict=False):
            cell.term = term
        self.writer.error_word = word

    def loop(self, node: Node, operands: list[Item]) -> list[Item]:
        """Write a `while`, whose state `LoopState` represents; return its results."""
        test, body = node.regions
        state = LoopState(self, node, operands)

        def run_test(terms: list[Term]) -> Term:
            (condition,) = self.lower_region(test, state.begin_iteration(terms))
            return condition  # type: ignore[no-any-return]

        def run_body(terms: list[Term]) -> list[Term]:
            """Lower one iteration, and refuse a write to an array that has two names in the loop."""
            items = state.begin_iteration(terms)
            initial_contents = {i: items[i].cell.term for i in state.exchanged_positions}
            exchanged_cells = {state.items[i].cell for i in state.exchanged_positions}
            movable_cells = exchanged_cells | {cell for cell in self.cells if cell.is_moved}
            outputs = self.lower_region(body, items)
            if any(cell.is_moved and cell not in movable_cells for cell in self.cells[: state.outer_cell_count]):
                raise GraphUnfit("while", "the loop writes an array that has two names", node.span)
            result = state.end_iteration(items, initial_contents, outputs, terms)
            for cell in exchanged_cells:  # in the next iteration, another cell has the moved contents
                cell.is_moved = False
            return result

        final_terms = self.writer.loop_while(run_test, run_body, state.initial_terms())
        return state.take_results(final_terms)[: len(node.results)]

    def attempt(self, node: Node, operands: list[Item]) -> list[Item]:
        """Write a `try`, see `tries`."""
        writer, (body, normal_end, handler) = self.writer, node.regions
        outer_word = writer.error_word
        self.try_depth += 1
        outputs = self.lower_region(body, operands)
        self.try_depth -= 1
        if writer.error_word is outer_word or writer.error_word is None:
            return self.lower_region(normal_end, [*outputs, *operands])
        word, word_before = writer.error_word, writer.error_word_or_zero(outer_word)
        is_caught = word_before.same(0) & is_catchable(writer, word)
        handler_call = _ArmCall(handler, [CaughtError(word), *operands], word_before)
        return self._branch(node, is_caught, [handler_call, _ArmCall(normal_end, [*outputs, *operands], word)])


def _symbols_of(graph: Graph, arguments: Sequence[Term]) -> dict[Symbol, tuple[Term, int]]:
    """Return an argument and its axis for each open size of the graph's parameters."""
    return {
        size: (term, axis)
        for parameter, term in zip(graph.parameters, arguments, strict=True)
        for axis, size in enumerate(getattr(parameter.type, "shape", None) or ())
        if isinstance(size, Symbol)
    }


class _ArmCall(NamedTuple):
    """A region that is to become an arm of a branch, its arguments, and the error word before it."""

    region: Graph
    arguments: Sequence[Item]
    error_word: Term | None


@dataclass(frozen=True)
class _Arm:
    """An arm of a branch as it has been written, and the contents of cells and the error word at its end."""

    block: Any
    outputs: list[Item]
    outer_contents: list[Term]  # of the cells that exist before the branch
    error_word: Term | None
    terms: list[list[Term]]  # the terms of each output that is a term or a list
    new_contents: dict[Cell, Term]  # of the cells that the arm makes


# Ops whose element rules hold for complex numbers.
_COMPLEX_ELEMENT_OPS = frozenset([
    "add", "subtract", "multiply", "divide", "negative", "square", "identity", "stop_gradient", "equal", "not_equal",
    "select", "cast", "complex", "zeros_like", "ones_like", "squared_difference",
])  # fmt: skip
_ALLOCATIONS = frozenset(["array_of", "array_new"])  # they take terms, and return an array in memory
# The methods of `Lowering` for control flow, by the ops.
_CONTROL_METHODS = {
    "cond": "cond", "while": "loop", "call": "call", "try": "attempt", "custom_gradient": "results_of_custom_gradient",
}  # fmt: skip
