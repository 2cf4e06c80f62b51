"""Ints that may exceed 64 bits, and the points in a graph after which a call may have to rerun as plain Python.

A call reruns when its graph reaches a value or an operation that graphs cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.errors import OtherKindError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ObjectType, TensorType
from autoconv.ops.analysis.integer_ranges import RangeAnalysis
from autoconv.ops.analysis.value_range import is_within_int64, result_range
from autoconv.ops.control.checks import ASSUMPTIONS
from autoconv.ops.lists.item_layout import may_meet_nan
from autoconv.ops.lists.typed_dicts import compares_removals
from autoconv.ops.numpy.list_arrays import is_guess

_NUMBER_TYPES = tuple(map(ObjectType, ("bool", "int", "float")))
# Operations that run code of the user if their operand is an object of a user's class. Graphs cannot run such code.
_OPS_THAT_RUN_USER_CODE = frozenset(
    f"object_{name}" for name in ("method", "get_attribute", "set_attribute", "delete_attribute")
)
_BUILTIN_KINDS = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "ndarray", "range", "set", "slice", "str",
     "tuple"}
)  # fmt: skip


def may_exceed_int64(graph: Graph) -> bool:
    """Return whether an int of the graph may exceed 64 bits, judged by the ranges of the ints.

    Return True also if an array that is made from a list may have another dtype or rank than the graph was traced for.
    """
    return _RerunAnalysis(graph).may_exceed_int64


def rerun_point(graph: Graph, is_irreversible: Callable[[Node], bool]) -> tuple[Node | None, str]:
    """Return (node, reason): the first irreversible node after which the call may have to rerun as plain Python.

    A reason is an int beyond 64 bits, a Python number of another kind than traced, or a method or property that a
    graph cannot run. Without such a node the result is (None, "").
    """
    if not any(not node.regions and is_irreversible(node) for node in graph.walk()):
        return None, ""
    analysis = _RerunAnalysis(graph, is_irreversible)
    return analysis.rerun_node, analysis.reason


def may_change_kind(node: Node) -> bool:
    """Return whether the node may get a Python number of another kind than the graph was traced for."""
    if node.op.name == "raise":
        return isinstance(node.attributes["exception"], OtherKindError)
    if node.op.name == "assert_true":
        return node.attributes.get("failure") in ASSUMPTIONS
    if node.op.name == "python_power":
        return not any(_is_complex(value) for value in node.inputs)
    if node.op.name == "object_unbox":
        # A bool as an index would be a mask, of another meaning than an int.
        is_mask = node.attributes.get("index") == "item" and node.inputs[0].type == ObjectType("bool")
        return node.attributes["type"].weak and (is_mask or node.inputs[0].type not in _NUMBER_TYPES)
    if node.op.name == "object_box":
        return node.attributes["boxing"] == "looked_up"
    if node.op.name == "typed_dict_check_size":  # it raises OtherKindError where removals decide about the order
        return compares_removals(node)
    return may_meet_nan(node) or is_guess(node)


def may_run_user_code(node: Node) -> bool:
    """Return whether a node may need a method or property of a user's class, which a graph cannot run."""
    if node.op.name == "object_apply":
        return node.attributes["function"] in ("hasattr", "refuse_call")
    operand_type = node.inputs[0].type if node.op.name in _OPS_THAT_RUN_USER_CODE else None
    return isinstance(operand_type, ObjectType) and operand_type.kind not in _BUILTIN_KINDS


class _RerunAnalysis:
    """An interval analysis that visits nodes in execution order, and finds where a call may have to rerun.

    `_irreversible_node` is the first irreversible node that was visited. If the call may have to rerun after that node,
    it is `rerun_node`, and `reason` tells why.
    """

    def __init__(self, graph: Graph, is_irreversible: Callable[[Node], bool] = lambda _: False) -> None:
        self.may_exceed_int64 = False
        self.rerun_node: Node | None = None
        self.reason = ""
        self._is_irreversible = is_irreversible
        has_recursion = any(node.attributes.get("recursive") for node in graph.walk())
        self._irreversible_node = self._first_irreversible(graph) if has_recursion else None
        self._ranges = RangeAnalysis(self._visit, assumes_slow_growth=True)
        self._ranges.run(graph)

    def _visit(self, node: Node) -> None:
        """Record what the node means for a rerun; the ranges of its operands are known."""
        if self._irreversible_node is None:
            if node.op.traits.repeats:  # an irreversible node of an iteration precedes all nodes of the next one
                self._irreversible_node = self._first_irreversible(*node.regions)
            elif not node.regions and self._is_irreversible(node):
                self._irreversible_node = node
        if is_guess(node) or self._may_exceed_int64(node):
            self.may_exceed_int64 = True
            self._note_rerun("an int may outgrow 64 bits")
        if may_change_kind(node):
            self._note_rerun("a number may be of another kind")
        elif may_run_user_code(node):
            self._note_rerun("a class may have code of its own for an object")

    def _may_exceed_int64(self, node: Node) -> bool:
        """Return whether the node computes an int from numbers, and the int may be beyond 64 bits."""
        values = (*node.inputs, *node.results)
        if not node.op.traits.overflow_error or not all(map(_is_number, values)) or _has_non_integer_result(node):
            return False
        ranges = [self._ranges.of(value) for value in node.inputs]
        known_ranges = [range_ for range_ in ranges if range_ is not None]
        bounds = result_range(node.op.name, known_ranges) if len(known_ranges) == len(ranges) else None
        return bounds is None or not is_within_int64(bounds)

    def _note_rerun(self, reason: str) -> None:
        """Record that the call may have to rerun now. Only the first time after an irreversible node is recorded."""
        if self.rerun_node is None and self._irreversible_node is not None:
            self.rerun_node, self.reason = self._irreversible_node, reason

    def _first_irreversible(self, *graphs: Graph) -> Node | None:
        """Return the first irreversible node of the graphs, or None."""
        nodes = (node for graph in graphs for node in graph.walk())
        return next((node for node in nodes if not node.regions and self._is_irreversible(node)), None)


def _is_number(value: Value) -> bool:
    """Return whether the value is a scalar tensor."""
    return isinstance(value.type, TensorType) and value.shape == ()


def _is_complex(value: Value) -> bool:
    """Return whether the value is a tensor of complex numbers."""
    return isinstance(value.type, TensorType) and value.dtype.is_complex


def _has_non_integer_result(node: Node) -> bool:
    """Return whether the result is a number without a limit of 64 bits: a float, a complex number or a bool."""
    type_ = node.results[0].type
    return isinstance(type_, TensorType) and not type_.dtype.is_integer
