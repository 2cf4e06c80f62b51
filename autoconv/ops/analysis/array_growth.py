"""Analysis of arrays that may exceed memory although all arrays from which they are computed fit.

NumPy allocates every intermediate array, and raises where memory is too small. The optimiser fuses intermediate arrays
and removes unused ones, so this analysis runs before it. Calls with arrays beyond `MAX_BYTES` are left to NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator

from autoconv.graph.dimensions import exact_quotient, monomials, plus, product, times
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ArrayType, Symbol, TensorType
from autoconv.ops.rules import element_count

MAX_BYTES = 2**40  # the size of one array
MAX_UNREAD_BYTES = 2**30  # the size of one array that nothing reads
_BROADCASTS = frozenset({"broadcast_to", "broadcast_to_shape_of"})  # views in NumPy


def may_exceed_inputs(node: Node) -> bool:
    """Return whether a result is a new array in NumPy that may be larger than the arrays behind the inputs.

    A result may be larger if it has more open dimensions than each of them. It may also be larger if a number that is
    not constant decides how many elements it has.
    """
    if not _is_new_array(node):
        return False
    if node.op.traits.selects_rows:
        shape = node.inputs[0].shape or ()
        return len(shape) * (element_count(shape) or 0) * 8 > MAX_UNREAD_BYTES  # int64 positions of all elements
    counts = (node.inputs[position] for position in node.op.traits.element_count_inputs if position < len(node.inputs))
    if any(map(_is_not_constant, counts)):
        return True
    open_count = max((_open_dimension_count(value) for value in node.results), default=0)
    return open_count > 0 and open_count > max(
        (_open_dimension_count(_array_in_memory(value)) for value in node.inputs), default=0
    )


def is_too_large(node: Node, limit: int = MAX_BYTES) -> bool:
    """Return whether a result of known shape is a new array of more than `limit` bytes in NumPy."""
    return _is_new_array(node) and any(_byte_count(value) > limit for value in node.results)


def _is_new_array(node: Node) -> bool:
    """Return whether NumPy allocates the result: the op makes no view, is no broadcast, and has no regions."""
    return not node.op.traits.view and not node.regions and node.op.name not in _BROADCASTS


def _array_in_memory(value: Value) -> Value:
    """Return the operand of the earliest broadcast among the views that made the value; the value if there is none."""
    array = value
    while value.node is not None and not value.node.regions and not _is_new_array(value.node):
        is_broadcast = value.node.op.name in _BROADCASTS
        value = value.node.inputs[0]
        array = value if is_broadcast else array
    return array


def size_limits(graph: Graph) -> Iterator[Symbol]:
    """Yield expressions that are not negative if all results have at most `MAX_BYTES`.

    Only results that are larger than each input by an open factor are considered.
    """
    for node in graph.walk():
        if not may_exceed_inputs(node):
            continue
        for value in node.results:
            shape = value.type.shape if isinstance(value.type, TensorType) else None
            size = None if shape is None else product(shape)
            if isinstance(size, Symbol) and _is_product_of_argument_sizes(size) and not _is_bounded(size, node):
                assert isinstance(value.type, TensorType)
                slack = plus(MAX_BYTES // value.type.dtype.size, times(size, -1))
                assert isinstance(slack, Symbol)
                yield slack


def _is_product_of_argument_sizes(size: Symbol) -> bool:
    """Return whether a size is a polynomial over sizes of arguments, of degree 2 or more."""
    factors = [factor for factor, _ in monomials(size)]
    has_only_argument_sizes = all(type(symbol) is Symbol for factor in factors for symbol in factor)
    return has_only_argument_sizes and max(map(len, factors)) > 1


def _is_bounded(size: Symbol, node: Node) -> bool:
    """Return whether a size is a constant multiple of the size of an input."""
    types = [_array_in_memory(value).type for value in node.inputs]
    shapes = [type_.shape for type_ in types if isinstance(type_, (TensorType, ArrayType)) and type_.shape]
    return any(isinstance(exact_quotient(size, product(shape)), int) for shape in shapes)


def _is_not_constant(value: Value) -> bool:
    """Return whether the value is computed, or an argument."""
    return value.node is None or value.node.op.name != "constant"


def _open_dimension_count(value: Value) -> int:
    """Return the number of dimensions whose size is not static, 0 for an unknown rank."""
    shape = value.type.shape if isinstance(value.type, (TensorType, ArrayType)) else None
    return sum(not isinstance(size, int) for size in shape or ())


def _byte_count(value: Value) -> int:
    """Return the size in bytes of an array whose dimensions are known; 0 for other values."""
    type_ = value.type
    if not isinstance(type_, (TensorType, ArrayType)):
        return 0
    return (element_count(type_.shape) or 0) * type_.dtype.size
