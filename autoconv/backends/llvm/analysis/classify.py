"""Classify nodes by how they are lowered, and types by how their values are represented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, classify_indexed, is_update, shape_of
from autoconv.backends.llvm.analysis.element_probe import ElementProbe
from autoconv.backends.llvm.analysis.indexing import has_position_arrays
from autoconv.backends.llvm.analysis.representation import (
    has_complex_dtype,
    has_computed_sizes,
    is_complex,
    is_dense,
    is_scalar,
    sizes,
    uses_open_sizes,
)
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.dimensions import have_equal_element_counts, is_computed, plus
from autoconv.graph.dtypes import DType
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewrite import attributes_key
from autoconv.graph.types import TensorType, Type
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.index_spec import At, NewAxis, Rest, Slice, has_only_kinds
from autoconv.ops.traits import Reduction

# Registered functions that return a node's lowering class, by op name; None leaves the node to the rules of this file.
CLASSIFIERS: dict[str, Callable[[Node], str | None]] = {}
# Functions, as in CLASSIFIERS, for nodes with complex operands or results.
COMPLEX_CLASSIFIERS: dict[str, Callable[[Node], str | None]] = {}
# Ops whose result sizes depend on the values of the inputs, with a predicate for the nodes that have native code.
DATA_SIZED_OPS: dict[str, Callable[[Node], bool]] = {}
# Ops on Python objects, with a predicate for the nodes that have native code.
OBJECT_OPS: dict[str, Callable[[Node], bool]] = {}
# Ops on memory, with a predicate for the nodes that have native code.
MEMORY_OPS: dict[str, Callable[[Node], bool]] = {}
# The lowering classes of the ops that compute sizes, and of the views that such sizes make.
SIZE_CLASSES: dict[str, str] = {}
# Ops whose native code takes sizes that the graph computes, in addition to elementwise ops and reductions. For arrays
# of such sizes, all other ops run by their kernels.
COMPUTED_SIZE_OPS: set[str] = set()
# Functions that estimate the work of nodes that one thread executes, in units of 0.05 ns, by op name.
SERIAL_WORK: dict[str, Callable[[Node], int]] = {}
# Ops whose kernels call library routines that take about as long as native code, whatever the sizes. They do not
# justify code for each shape.
LIBRARY_OPS: set[str] = set()

_SHORT_SEARCH = 16  # most elements of a vector whose extreme is found in registers


def lowering_class(node: Node) -> str:
    """Return the lowering class of a node.

    One of "scalar", "pair", "element", "view", "reduce", "scatter", "matmul", "update", "join", "search", "short
    search", "extent", "memory", "object", "control", "whole", "kernel", or another that a registered function returns.
    `describe.py` has a phrase for each. A schedule (`Plan.classes`) divides views further, into "copy", "pad", "pick"
    and "alias".

    Dimensions are constants or symbols, which are bound at the call. A node over symbols has a native lowering only
    where its shapes agree symbolically; otherwise its kernel runs, on arrays with their actual shapes.
    """
    name = node.op.name
    if node.regions:
        return "control" if _has_native_branches(node) else "kernel"
    if name in SIZE_CLASSES:
        return SIZE_CLASSES[name]
    types = [value.type for value in (*node.inputs, *node.results)]
    if name in MEMORY_OPS and MEMORY_OPS[name](node):
        return "memory"
    if name in OBJECT_OPS and OBJECT_OPS[name](node):
        return "object"
    if any(map(has_computed_sizes, types)) and not _takes_computed_sizes(node):
        return "kernel"
    if not all(is_scalar(type_) or is_dense(type_) for type_ in types):
        is_supported = not uses_open_sizes(node) or all(isinstance(type_, TensorType) for type_ in types)
        return "whole" if is_supported and name in DATA_SIZED_OPS and DATA_SIZED_OPS[name](node) else "kernel"
    if any(map(is_complex, types)):
        return _classify_complex(node)
    has_narrow_dtype = any(is_narrow(type_.dtype) for type_ in types)  # type: ignore[union-attr]
    result = CLASSIFIERS[name](node) if name in CLASSIFIERS and not has_narrow_dtype else None
    return result if result is not None else _classify_tensors(node)


class LoweringClasses(dict[Node, str]):
    """A cache of the lowering classes of nodes, for graphs that no longer change."""

    def __missing__(self, node: Node) -> str:
        result = self[node] = lowering_class(node)
        return result


def _classify_tensors(node: Node) -> str:
    """Return the lowering class of a node over scalars and dense arrays whose op has no registered function."""
    if len(node.results) != 1:
        return "kernel"
    name = node.op.name
    (result,) = node.results
    is_scalar_node = all(is_scalar(value.type) for value in (*node.inputs, *node.results))
    if (node.op.traits.elementwise or is_scalar_node) and has_element_rule(node):
        if is_scalar(result.type):
            return "scalar"
        # The loop of a node that may raise only detects exceptional elements; the kernel then raises the error.
        return "element" if _broadcasts(node) and node.effects in (Effects.PURE, Effects.RAISE) else "kernel"
    if uses_open_sizes(node) and (query_class := _classify_shape_query(name)):
        return query_class
    if has_position_arrays(node):
        return classify_indexed(node)
    if node.op.traits.generates:
        return "view" if is_dense(result.type) and can_generate(node) else "kernel"
    if node.op.traits.reduction is not None:
        is_supported = is_dense(node.inputs[0].type) and can_reduce(node) and _keeps_sizes(node)
        return "reduce" if is_supported else "kernel"
    return _LOOP_CLASSIFIERS[name](node) if name in _LOOP_CLASSIFIERS else "kernel"


def _takes_computed_sizes(node: Node) -> bool:
    """Return whether the op has native code for sizes that the graph computes."""
    traits = node.op.traits
    return traits.elementwise or traits.reduction is not None or node.op.name in COMPUTED_SIZE_OPS


def _classify_complex(node: Node) -> str:
    """Classify the complex ops that remain once arithmetic is split into parts (see legalize/complex/split.py)."""
    name = node.op.name
    if name in ("real", "imag"):
        return "view"
    if uses_open_sizes(node) and (query_class := _classify_shape_query(name)):
        return query_class
    if name == "complex":
        if not shape_of(node.results[0].type):
            return "pair"
        return "element" if _broadcasts(node) else "kernel"
    is_classified = name in COMPLEX_CLASSIFIERS and not uses_open_sizes(node)
    return (COMPLEX_CLASSIFIERS[name](node) if is_classified else None) or "kernel"


def _classify_shape_query(name: str) -> str:
    """Return the lowering class of an op that only reads the dimensions of its operand; "" for other ops."""
    return "extent" if name in ("dimension", "size") else "view" if name in ("shape", "shape_placeholder") else ""


def _has_native_branches(node: Node) -> bool:
    """Return whether native code can branch: scalars select arms and end loops, and a `try` has no complex values."""
    if node.op.traits.selects:
        return is_scalar(node.inputs[0].type)
    if node.op.traits.repeats:
        return is_scalar(node.regions[0].outputs[0].type)
    if node.op.name == "try":
        return not any(has_complex_dtype(value.type) for region in node.regions for value in _values_in(region))
    return node.op.name == "call"


def _values_in(graph: Graph) -> Iterator[Value]:
    """Yield the parameters and all results of a graph, those in regions included."""
    yield from graph.parameters
    for node in graph.walk():
        yield from node.results


def has_element_rule(node: Node) -> bool:
    """Return whether the op has an element rule for these dtypes that yields the node's dtype."""
    if node.op.name not in ELEMENTS:
        return False
    key = node.op.name, tuple(v.dtype for v in node.inputs), attributes_key(node.attributes)
    if key not in _RULE_DTYPES:
        dtypes = [value.dtype for value in node.inputs]
        _RULE_DTYPES[key] = ElementProbe().result(node.op.name, dtypes, node.results[0].dtype, node.attributes)
    return _RULE_DTYPES[key] is node.results[0].dtype


# The dtypes that element rules yield, by op name, dtypes of the operands, and attributes.
_RULE_DTYPES: dict[Any, DType | None] = {}


def can_generate(node: Node) -> bool:
    """Return whether native loops can compute the elements of a generator, such as a range."""
    name = node.op.name
    if name == "one_hot":
        return is_dense(node.inputs[0].type) and is_dense(node.results[0].type)
    if name == "fill":
        return is_scalar(node.inputs[0].type)
    dtype = node.attributes.get("dtype")
    return dtype is None or is_native(dtype)


# ---- ops whose native code is a loop


def _broadcasts(node: Node) -> bool:
    """Return whether the operands broadcast to the result's shape by dimensions of size 1 alone."""
    return all(_type_broadcasts_to(value.type, node.results[0].type) for value in node.inputs)


def _type_broadcasts_to(source: Type, target: Type) -> bool:
    """Return whether a scalar or dense type broadcasts to another by dimensions of size 1 alone."""
    return is_scalar(source) or broadcasts_to(shape_of(source), shape_of(target))


def _classify_view(node: Node) -> str:
    """Return the class of an op that moves elements."""
    return "view" if _has_index_map(node) else "kernel"


def _has_index_map(node: Node) -> bool:
    """Return whether the node is a view: an index map gives the source of each element."""
    name, source, result = node.op.name, node.inputs[0].type, node.results[0].type
    if name.startswith("broadcast"):
        is_supported = is_dense(result) and _type_broadcasts_to(source, result)
        return is_supported and (uses_open_sizes(node) or has_static_index_map(node))
    if not is_dense(source):
        return False
    if name in ("reshape", "reshape_like", "squeeze") and uses_open_sizes(node):
        return is_dense(result) and _has_equal_element_count(node)
    return has_static_index_map(node)


def has_static_index_map(node: Node) -> bool:
    """Return whether the attributes and the scalar operands determine the index map."""
    if node.op.name == "get_item":
        has_scalar_positions = all(is_scalar(value.type) for value in node.inputs[1:])
        return has_scalar_positions and has_only_kinds(node.attributes["spec"], NewAxis, Rest, At, Slice)
    if node.op.name == "pad" and node.attributes.get("mode", "CONSTANT") != "CONSTANT":
        return False
    return len(node.inputs) == 1 or node.op.name not in ("reshape", "broadcast_to", "roll", "pad")


def _has_equal_element_count(node: Node) -> bool:
    """Return whether source and result have equally many elements.

    Quotients in sizes count as exact: the op that made the type refuses others.
    """
    source, result = (shape_of(value.type) for value in (node.inputs[0], node.results[0]))
    if node.op.name == "squeeze":
        axes = node.attributes.get("axis")
        unit_axes = {axis for axis, size in enumerate(source) if size == 1}
        return axes is None or {axis % len(source) for axis in axes} <= unit_axes
    source_sizes, result_sizes = ([size for size in shape if size != 1] for shape in (source, result))
    return source_sizes == result_sizes or have_equal_element_counts(source, result)


def _classify_gather(node: Node) -> str:
    """Return the class of a gather at a single position."""
    return "view" if gathers_one_row(node) else "kernel"


def gathers_one_row(node: Node) -> bool:
    """Return whether the node takes one row at a position that is a scalar."""
    return (
        len(node.inputs) == 2
        and is_dense(node.inputs[0].type)
        and is_scalar(node.inputs[1].type)
        and not node.attributes.get("batch_dims")
    )


def can_reduce(node: Node) -> bool:
    """Return whether native loops can reduce elements of the operand's dtype."""
    dtype = node.inputs[0].dtype
    kind = reduction_of(node).kind
    if is_narrow(dtype) and not _reduces_innermost(node):
        return False  # each step would round
    if kind == "mean":
        return bool(dtype.is_floating)
    return not (dtype.is_bool and kind not in ("any", "all"))


def reduction_of(node: Node) -> Reduction:
    """Return how the node folds elements."""
    result = node.op.traits.reduction
    assert result is not None
    return result


def _reduces_innermost(node: Node) -> bool:
    """Return whether the loops over the reduced dimensions are the innermost."""
    shape, axes = sizes(node.inputs[0].type), reduced_axes(node)
    last_kept_axis = max((axis for axis, size in enumerate(shape) if size != 1 and axis not in axes), default=-1)
    return all(axis > last_kept_axis for axis in axes if shape[axis] != 1)


def _keeps_sizes(node: Node) -> bool:
    """Return whether each dimension is either kept whole or reduced to 1."""
    if node.op.name != "sum_to_shape_of":
        return True
    shape, result = shape_of(node.inputs[0].type), shape_of(node.results[0].type)
    return all(size in (1, other) for size, other in zip(result, shape[len(shape) - len(result) :], strict=True))


def _classify_update(node: Node) -> str:
    """Return the class of an op that changes one item of an array."""
    has_scalar_positions = all(is_scalar(value.type) for value in node.inputs[2:])
    is_supported = is_dense(node.inputs[0].type) and has_scalar_positions and is_update(node)
    return "update" if is_supported else "kernel"


def _classify_search(node: Node) -> str:
    """Return the class of a search for a position: of an extreme along an axis, or of the one of a short vector."""
    dtype, source = node.inputs[0].dtype, node.inputs[0].type
    is_supported = is_dense(source) and 0 not in shape_of(source) and not dtype.is_bool and not is_narrow(dtype)
    if not is_supported:
        return "kernel"
    shape = shape_of(source)
    is_short_vector = len(shape) == 1 and isinstance(shape[0], int) and shape[0] <= _SHORT_SEARCH
    return "short search" if is_short_vector and is_scalar(node.results[0].type) else "search"


def _classify_join(node: Node) -> str:
    """Return the class of a concatenation: native if the shapes fit each other."""
    shapes, result = [shape_of(value.type) for value in node.inputs], shape_of(node.results[0].type)
    axis = node.attributes["axis"] % len(result)
    other_sizes = (*result[:axis], *result[axis + 1 :])
    other_sizes_agree = all((*shape[:axis], *shape[axis + 1 :]) == other_sizes for shape in shapes)
    fills_result = is_computed(result[axis]) or reduce(plus, (shape[axis] for shape in shapes)) == result[axis]
    return "join" if other_sizes_agree and fills_result else "kernel"


def _classify_product(node: Node) -> str:
    """Classify a product of a matrix, or of a stack of them, and a matrix; codegen/matmul/batched has other stacks."""
    x_shape, y_shape = (shape_of(value.type) for value in node.inputs)
    transposes_x, transposes_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    if len(y_shape) != 2 or len(x_shape) < 2 or (len(x_shape) > 2 and transposes_x):
        return "kernel"
    are_inner_sizes_equal = x_shape[-2 if transposes_x else -1] == y_shape[-1 if transposes_y else -2]
    is_supported = {value.dtype.name for value in node.inputs} <= {"float32", "float64"}
    return "matmul" if is_supported and are_inner_sizes_equal else "kernel"


_LOOP_CLASSIFIERS: dict[str, Callable[[Node], str]] = {
    "transpose": _classify_view, "matrix_transpose": _classify_view, "reverse": _classify_view,
    "expand_dims": _classify_view, "squeeze": _classify_view, "reshape": _classify_view,
    "reshape_like": _classify_view, "broadcast_to": _classify_view, "broadcast_to_shape_of": _classify_view,
    "get_item": _classify_view, "roll": _classify_view, "pad": _classify_view,
    "sliding_windows": _classify_view, "set_item": _classify_update, "add_at_item": _classify_update,
    "argmax": _classify_search, "argmin": _classify_search, "gather": _classify_gather, "concat": _classify_join,
    "matmul": _classify_product,
}  # fmt: skip


def reduced_axes(node: Node) -> frozenset[int]:
    """Return the dimensions of the operand that are reduced."""
    shape = sizes(node.inputs[0].type)
    if node.op.name == "sum_to_shape_of":
        result_shape = sizes(node.results[0].type) if is_dense(node.results[0].type) else ()
        dropped_axis_count = len(shape) - len(result_shape)
        trailing_pairs = zip(range(dropped_axis_count, len(shape)), result_shape, strict=True)
        return frozenset(range(len(shape))) - {axis for axis, size in trailing_pairs if size == shape[axis]}
    axis = node.attributes.get("axis")
    if axis is None:
        return frozenset(range(len(shape)))
    axes = (axis,) if isinstance(axis, int) else axis
    return frozenset(a % len(shape) for a in axes)
