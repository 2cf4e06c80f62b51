"""Classify nodes by how they are lowered, and types by how their values are represented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import goes_into, indexed_role, is_update, shape_of
from autoconv.backends.llvm.analysis.element_probe import ElementProbe
from autoconv.backends.llvm.analysis.indexing import is_indexed
from autoconv.backends.llvm.analysis.representation import (
    has_computed,
    is_complex,
    is_dense,
    is_of_complex,
    is_of_open,
    is_scalar,
    sizes,
)
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.dimensions import has_same_count, is_computed, plus
from autoconv.graph.dtypes import DType
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewrite import attributes_key
from autoconv.graph.types import TensorType, Type
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.index_spec import At, NewAxis, Rest, Slice, is_fixed
from autoconv.ops.traits import Reduction

# Registered role functions by op name; a function returns None to leave the node to the rules here.
ROLES: dict[str, Callable[[Node], str | None]] = {}
# Role functions, as in ROLES, of nodes with complex operands or results.
COMPLEX: dict[str, Callable[[Node], str | None]] = {}
# Ops whose result sizes depend on the values of the inputs, with a predicate for the nodes that have native code.
COUNTED: dict[str, Callable[[Node], bool]] = {}
# Ops on Python objects, with a predicate for the nodes that have native code.
OBJECTS: dict[str, Callable[[Node], bool]] = {}
# Ops on memory, with a predicate for the nodes that have native code.
MEMORY: dict[str, Callable[[Node], bool]] = {}
# The lowering classes of the ops that compute sizes, and of the views that such sizes make.
SIZES: dict[str, str] = {}
# Further ops, beside elementwise ones and reductions, whose native code takes sizes that the graph computes.
OF_COMPUTED_SIZES: set[str] = set()
# The work of a node that a single thread does, in units of 0.05 ns, by op.
WORK: dict[str, Callable[[Node], int]] = {}
# Ops whose kernels call library routines that take about as long as native code, whatever the sizes. They do not
# justify code for each shape.
BY_LIBRARY: set[str] = set()


def lowering_class(node: Node) -> str:
    """Return the lowering class of a node.

    One of "scalar", "pair", "element", "view", "reduce", "scatter", "matmul", "update", "join", "search", "extent",
    "memory", "object", "control", "whole", "kernel", or another that a registered function returns.

    Dimensions are constants or symbols, which are bound at the call. A node over symbols has a native lowering only
    where its shapes agree symbolically; else its kernel runs, which sees arrays.
    """
    name = node.op.name
    if node.regions:
        return "control" if _is_controlled_by_scalar(node) else "kernel"
    if name in SIZES:
        return SIZES[name]
    types = [value.type for value in (*node.inputs, *node.results)]
    if name in MEMORY and MEMORY[name](node):
        return "memory"
    if name in OBJECTS and OBJECTS[name](node):
        return "object"
    if any(map(has_computed, types)) and not _takes_computed_sizes(node):
        return "kernel"
    if not all(is_scalar(t) or is_dense(t) for t in types):
        fits = not is_of_open(node) or all(isinstance(t, TensorType) for t in types)
        return "whole" if fits and name in COUNTED and COUNTED[name](node) else "kernel"
    if any(map(is_complex, types)):
        return _role_of_complex(node)
    narrow = any(is_narrow(t.dtype) for t in types)  # type: ignore[union-attr]
    role = ROLES[name](node) if name in ROLES and not narrow else None
    return role if role is not None else _class_over_numbers(node)


class LoweringClasses(dict[Node, str]):
    """The lowering classes of nodes of graphs that no longer change, each found when it is first read."""

    def __missing__(self, node: Node) -> str:
        found = self[node] = lowering_class(node)
        return found


def _class_over_numbers(node: Node) -> str:
    """Return the lowering class of a node over numbers and arrays of known or open sizes, without a class of its own.
    """
    if len(node.results) != 1:
        return "kernel"
    name = node.op.name
    (result,) = node.results
    is_scalar_node = all(is_scalar(value.type) for value in (*node.inputs, *node.results))
    if (node.op.traits.elementwise or is_scalar_node) and has_element_rule(node):
        if is_scalar(result.type):
            return "scalar"
        # A node that may raise flags exceptional elements in its loop; its kernel then decides.
        return "element" if _broadcasts(node) and node.effects in (Effects.PURE, Effects.RAISE) else "kernel"
    if is_of_open(node) and _of_shape(name):
        return _of_shape(name)
    if is_indexed(node):
        return indexed_role(node)
    if node.op.traits.generates:
        return "view" if is_dense(result.type) and generates(node) else "kernel"
    if node.op.traits.reduction is not None:
        fits = is_dense(node.inputs[0].type) and reduces(node) and _keeps_sizes(node)
        return "reduce" if fits else "kernel"
    return _LOOPS[name](node) if name in _LOOPS else "kernel"


def _takes_computed_sizes(node: Node) -> bool:
    traits = node.op.traits
    return traits.elementwise or traits.reduction is not None or node.op.name in OF_COMPUTED_SIZES


def _role_of_complex(node: Node) -> str:
    """Classify the complex ops that remain once arithmetic is split into parts (see legalize/complex/split.py)."""
    name = node.op.name
    if name in ("real", "imag"):
        return "view"
    if is_of_open(node) and _of_shape(name):
        return _of_shape(name)
    if name == "complex":
        if not shape_of(node.results[0].type):
            return "pair"
        return "element" if _broadcasts(node) else "kernel"
    return (COMPLEX[name](node) if name in COMPLEX and not is_of_open(node) else None) or "kernel"


def _of_shape(name: str) -> str:
    """Return the role of an op that reads symbolic dimensions alone; "" for other ops."""
    return "extent" if name in ("dimension", "size") else "view" if name in ("shape", "outline") else ""


def _is_controlled_by_scalar(node: Node) -> bool:
    """Return whether native code can branch: what selects an arm, or ends a loop, is a scalar."""
    if node.op.traits.selects:
        return is_scalar(node.inputs[0].type)
    if node.op.traits.repeats:
        return is_scalar(node.regions[0].outputs[0].type)
    if node.op.name == "try":
        return not any(is_of_complex(value.type) for region in node.regions for value in _values_in(region))
    return node.op.name == "call"


def _values_in(graph: Graph) -> Iterator[Value]:
    yield from graph.parameters
    for node in graph.walk():
        yield from node.results


def has_element_rule(node: Node) -> bool:
    """Return whether the op has an element rule for these dtypes that yields the node's dtype."""
    if node.op.name not in ELEMENTS:
        return False
    key = node.op.name, tuple(v.dtype for v in node.inputs), attributes_key(node.attributes)
    if key not in _RULES:
        dtypes = [value.dtype for value in node.inputs]
        _RULES[key] = ElementProbe().result(node.op.name, dtypes, node.results[0].dtype, node.attributes)
    return _RULES[key] is node.results[0].dtype


_RULES: dict[Any, DType | None] = {}


def generates(node: Node) -> bool:
    """Return whether elements are computed from their index and scalars alone."""
    name = node.op.name
    if name == "one_hot":
        return is_dense(node.inputs[0].type) and is_dense(node.results[0].type)
    if name == "fill":
        return is_scalar(node.inputs[0].type)
    dtype = node.attributes.get("dtype")
    return dtype is None or is_native(dtype)


# ---- rules of ops whose loops are written here


def _broadcasts(node: Node) -> bool:
    """Return whether the operands broadcast to the result's shape by dimensions of size 1 alone."""
    return all(_goes_into(value.type, node.results[0].type) for value in node.inputs)


def _goes_into(own: Type, whole: Type) -> bool:
    return is_scalar(own) or goes_into(shape_of(own), shape_of(whole))


def _mapped_role(node: Node) -> str:
    return "view" if _maps(node) else "kernel"


def _maps(node: Node) -> bool:
    name, source, result = node.op.name, node.inputs[0].type, node.results[0].type
    if name.startswith("broadcast"):
        return is_dense(result) and _goes_into(source, result) and (is_of_open(node) or maps(node))
    if not is_dense(source):
        return False
    if name in ("reshape", "reshape_like", "squeeze") and is_of_open(node):
        return is_dense(result) and _has_equal_count(node)
    return maps(node)


def maps(node: Node) -> bool:
    """Return whether the attributes alone give the index map, with single indices in registers."""
    if node.op.name == "get_item":
        operands = all(is_scalar(value.type) for value in node.inputs[1:])
        return operands and is_fixed(node.attributes["spec"], NewAxis, Rest, At, Slice)
    if node.op.name == "pad" and node.attributes.get("mode", "CONSTANT") != "CONSTANT":
        return False
    return len(node.inputs) == 1 or node.op.name not in ("reshape", "broadcast_to", "roll", "pad")


def _has_equal_count(node: Node) -> bool:
    """Return whether source and result have equally many elements.

    Quotients in sizes count as exact: the op that made the type refuses others.
    """
    source, result = (shape_of(value.type) for value in (node.inputs[0], node.results[0]))
    if node.op.name == "squeeze":
        axes = node.attributes.get("axis")
        ones = {axis for axis, size in enumerate(source) if size == 1}
        return axes is None or {axis % len(source) for axis in axes} <= ones
    first, second = ([size for size in shape if size != 1] for shape in (source, result))
    return first == second or has_same_count(source, result)


def _pick_role(node: Node) -> str:
    return "view" if picks_one(node) else "kernel"


def picks_one(node: Node) -> bool:
    """Return whether the node takes one row at a position that is a scalar."""
    return (
        len(node.inputs) == 2
        and is_dense(node.inputs[0].type)
        and is_scalar(node.inputs[1].type)
        and not node.attributes.get("batch_dims")
    )


def reduces(node: Node) -> bool:
    dtype = node.inputs[0].dtype
    kind = reduction_of(node).kind
    if is_narrow(dtype) and not _is_inside(node):
        return False  # each step would round
    if kind == "mean":
        return bool(dtype.is_floating)
    return not (dtype.is_bool and kind not in ("any", "all"))


def reduction_of(node: Node) -> Reduction:
    """Return how the node folds elements."""
    result = node.op.traits.reduction
    assert result is not None
    return result


def _is_inside(node: Node) -> bool:
    """Return whether the loops over the reduced dimensions are the innermost."""
    shape, axes = sizes(node.inputs[0].type), reduced_axes(node)
    rest = [d for d, size in enumerate(shape) if size != 1 and d not in axes]
    return all(d > max(rest, default=-1) for d in axes if shape[d] != 1)


def _keeps_sizes(node: Node) -> bool:
    if node.op.name != "sum_to_shape_of":
        return True
    shape, result = shape_of(node.inputs[0].type), shape_of(node.results[0].type)
    return all(size in (1, other) for size, other in zip(result, shape[len(shape) - len(result) :], strict=True))


def _update_role(node: Node) -> str:
    operands = all(is_scalar(value.type) for value in node.inputs[2:])
    return "update" if is_dense(node.inputs[0].type) and operands and is_update(node) else "kernel"


def _search_role(node: Node) -> str:
    dtype, source = node.inputs[0].dtype, node.inputs[0].type
    fits = is_dense(source) and 0 not in shape_of(source) and not dtype.is_bool and not is_narrow(dtype)
    return "search" if fits else "kernel"


def _join_role(node: Node) -> str:
    shapes, result = [shape_of(value.type) for value in node.inputs], shape_of(node.results[0].type)
    axis = node.attributes["axis"] % len(result)
    rest = all((*shape[:axis], *shape[axis + 1 :]) == (*result[:axis], *result[axis + 1 :]) for shape in shapes)
    fits = is_computed(result[axis]) or reduce(plus, (shape[axis] for shape in shapes)) == result[axis]
    return "join" if rest and fits else "kernel"


def _product_role(node: Node) -> str:
    """Classify a matrix product: stacked matrices on the left count as one; see codegen/matmul/batched for others."""
    x, y = (shape_of(value.type) for value in node.inputs)
    flip_x, flip_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    if len(y) != 2 or len(x) < 2 or (len(x) > 2 and flip_x):
        return "kernel"
    fits = {value.dtype.name for value in node.inputs} <= {"float32", "float64"}
    return "matmul" if fits and x[-2 if flip_x else -1] == y[-1 if flip_y else -2] else "kernel"


_LOOPS: dict[str, Callable[[Node], str]] = {
    "transpose": _mapped_role, "matrix_transpose": _mapped_role, "reverse": _mapped_role, "expand_dims": _mapped_role,
    "squeeze": _mapped_role, "reshape": _mapped_role, "reshape_like": _mapped_role, "broadcast_to": _mapped_role,
    "broadcast_to_shape_of": _mapped_role, "get_item": _mapped_role, "roll": _mapped_role, "pad": _mapped_role,
    "sliding_windows": _mapped_role, "set_item": _update_role, "add_at_item": _update_role,
    "argmax": _search_role, "argmin": _search_role, "gather": _pick_role, "concat": _join_role, "matmul": _product_role,
}  # fmt: skip


def reduced_axes(node: Node) -> frozenset[int]:
    """Return the dimensions of the operand that are reduced."""
    shape = sizes(node.inputs[0].type)
    if node.op.name == "sum_to_shape_of":
        like = sizes(node.results[0].type) if is_dense(node.results[0].type) else ()
        lead = len(shape) - len(like)
        same = {lead + i for i, size in enumerate(like) if size == shape[lead + i]}
        return frozenset(range(len(shape))) - same
    axis = node.attributes.get("axis")
    if axis is None:
        return frozenset(range(len(shape)))
    axes = (axis,) if isinstance(axis, int) else axis
    return frozenset(a % len(shape) for a in axes)
