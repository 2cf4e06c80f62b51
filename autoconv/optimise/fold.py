"""Constant folding by the ops' kernels.

    before   graph f(%x: int32[]) {
               %constant = constant(value=array(int32[], 2)): int32[]
               %constant_1 = constant(value=array(int32[], 3)): int32[]
               %add = add(%constant, %constant_1): int32[]
               %multiply = multiply(%x, %add): int32[]
               return %multiply
             }
    after    graph f(%x: int32[]) {
               %constant = constant(value=array(int32[], 2)): int32[]
               %constant_1 = constant(value=array(int32[], 3)): int32[]
               %add = constant(value=array(int32[], 5)): int32[]
               %multiply = multiply(%x, %add): int32[]
               return %multiply
             }
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, copy_node, is_recursive
from autoconv.graph.region_flow import captured_operands
from autoconv.graph.rewrite import can_inline
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType, Type, are_shapes_compatible
from autoconv.ops import OPS
from autoconv.ops.rules import element_count

# A constant is folded already, and an absent value has no array. A graph returns copies of its
# constants, which are writable, so `numpy_read_only` is not folded.
_UNFOLDABLE_OPS = frozenset({"constant", "absent", "numpy_read_only"})
MAX_ELEMENTS = 1 << 16  # in the constant operands of a folded node, and in its results
_MAX_ELEMENTS_BY_SHAPE = 32  # in results that follow from shapes: native loops generate larger ones without memory


def fold_constants(graph: Graph, contract: str = "function") -> Graph:
    """Replace nodes with constant operands by constants, and conds on constants by the arm taken.

    Pure nodes are folded. A node that may raise is folded unless its kernel raises; then it stays, and raises at run
    time. An input counts as a constant if the node reads only its shape, and the shape is static. Captured
    constants are propagated into regions.
    """
    constants = {value for node in graph.walk() if node.op.name == "constant" for value in node.results}
    if not any(_may_fold(node, constants) for node in graph.walk()):
        return graph
    return _Folder(graph, shared=None).run()


def _may_fold(node: Node, constants: Collection[Value]) -> bool:
    """Return whether all operands of a node are constants; for a node with regions, whether any is."""
    if node.op.name in _UNFOLDABLE_OPS:
        return False
    if node.regions:
        return any(value in constants for value in node.inputs)
    return all(value in constants or _has_known_shape(node, index) for index, value in enumerate(node.inputs))


def _has_known_shape(node: Node, index: int) -> bool:
    """Return whether a node reads only the shape of this input, and the shape is static."""
    type_ = node.inputs[index].type
    is_read = index not in node.op.traits.shape_only
    return not is_read and isinstance(type_, TensorType) and element_count(type_.shape) is not None


class _Folder(Rewriter[None]):
    """The pass over one graph or region. `constants` maps values of the copy to the arrays that they always are."""

    def __init__(self, graph: Graph, shared: None, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, shared, copies)
        self.constants: dict[Value, np.ndarray] = {}

    def region_rewriter(self, node: Node, inputs: Sequence[Value], region: Graph) -> _Folder:
        inner = _Folder(region, None, self.copies)
        constants = _constant_parameters(node, inputs, self.constants)
        inner.constants.update((inner.copy.parameters[position], array) for position, array in constants.items())
        return inner

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace a condition by the arm that a constant chooses, and computations on constants by their results."""
        arm = _taken_arm(node, inputs, self.constants)
        if arm is not None:
            self.values.update(zip(arm.parameters, inputs[1:], strict=True))
            self.append_rewritten(arm.nodes)
            return [self.values[value] for value in arm.outputs]
        arrays = _evaluate(node, inputs, self.constants)
        if arrays is not None:
            results = [_add_constant(self.copy, node, *pair) for pair in zip(node.results, arrays, strict=True)]
            self.constants.update(zip(results, arrays, strict=True))
            return results
        if node.op.name != "constant":
            return None
        constants = copy_node(self.copy, node, inputs).results
        self.constants[constants[0]] = np.asarray(node.attributes["value"])
        return constants


def _constant_parameters(
    node: Node, inputs: Sequence[Value], constants: Mapping[Value, np.ndarray]
) -> dict[int, np.ndarray]:
    """Return the arrays of the constant captures of a node's regions, by the position of the parameter.

    The state of a loop is never taken as constant.
    """
    if is_recursive(node):  # other calls pass other arguments
        return {}
    index_count = int(node.op.traits.selects)
    return {
        position - index_count: constants[inputs[position]]
        for position in range(len(inputs) - len(captured_operands(node)), len(inputs))
        if inputs[position] in constants
    }


def _evaluate(
    node: Node, inputs: Sequence[Value], constants: Mapping[Value, np.ndarray]
) -> list[np.ndarray] | None:
    """Return the results of a node's kernel as arrays; None where the node cannot be folded or is too large."""
    kernel = getattr(node.op.kernel, "__wrapped__", node.op.kernel)  # the wrapper suppresses NumPy's warnings
    if kernel is None or node.regions or not node.results or node.op.name in _UNFOLDABLE_OPS:
        return None
    if node.effects & ~Effects.RAISE:
        return None
    arrays, size, max_size = [], 0, MAX_ELEMENTS
    for index, value in enumerate(inputs):
        if value in constants:
            arrays.append(constants[value])
            size += constants[value].size
        elif _has_known_shape(node, index):
            assert isinstance(value.type, TensorType) and value.type.shape is not None
            arrays.append(np.broadcast_to(np.zeros((), value.dtype.numpy), value.type.shape))  # type: ignore[arg-type]
            max_size = _MAX_ELEMENTS_BY_SHAPE
        else:
            return None
    if size > MAX_ELEMENTS or not _are_results_small(node, inputs, arrays, max_size):
        return None
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise", under="ignore"):
            output = kernel(*arrays, **node.attributes)
    except Exception:  # the kernel raises the same error at run time, or NumPy warns of one
        return None
    outputs = output if isinstance(output, tuple) else (output,)
    if len(outputs) != len(node.results):
        return None
    result_arrays = []
    for result, value in zip(outputs, node.results, strict=True):
        array = _as_type(result, value.type)
        if array is None:
            return None
        result_arrays.append(array)
    return result_arrays


def _are_results_small(
    node: Node, inputs: Sequence[Value], arrays: Sequence[np.ndarray], max_size: int = MAX_ELEMENTS
) -> bool:
    """Return whether the type rule bounds the number of result elements by `max_size`."""
    types = [
        TensorType(as_dtype(array.dtype), array.shape, isinstance(value.type, TensorType) and value.weak)
        for value, array in zip(inputs, arrays, strict=True)
    ]
    try:
        results = node.op.result_types(types, node.attributes)
    except (TypeError, ValueError):
        return False
    counts = [element_count(type_.shape) if isinstance(type_, TensorType) else None for type_ in results]
    return all(count is not None for count in counts) and sum(count or 0 for count in counts) <= max_size


def _as_type(result: Any, type_: Type) -> np.ndarray | None:
    """Convert a kernel's result to an array of the declared type; None where it has another type."""
    if not isinstance(type_, TensorType):
        return None
    if type_.dtype.is_string and not isinstance(result, np.ndarray):
        scalar = np.empty((), object)
        scalar[()] = result
        result = scalar
    array = np.asarray(result)
    has_type = array.dtype == type_.dtype.numpy and are_shapes_compatible(array.shape, type_.shape)
    return array if has_type else None


def _add_constant(copy: Graph, node: Node, value: Value, array: np.ndarray) -> Value:
    """Add a constant that replaces `value`, a result of `node`; return it."""
    assert isinstance(value.type, TensorType)
    attributes: dict[str, Any] = {"value": array, **({"weak": True} if value.weak else {})}
    return copy.add_replacement(node, OPS["constant"], (), attributes).results[0]


def _taken_arm(
    node: Node, inputs: Sequence[Value], constants: Mapping[Value, np.ndarray]
) -> Graph | None:
    """Return the arm taken by a cond with a constant index, if the types allow to inline it; else None."""
    if not node.op.traits.selects or inputs[0] not in constants:
        return None
    index = constants[inputs[0]].item()
    position = (0 if index else 1) if isinstance(index, bool) else index
    if not 0 <= position < len(node.regions):
        return None
    arm = node.regions[position]
    return arm if can_inline(arm, inputs[1:], node.results) else None
