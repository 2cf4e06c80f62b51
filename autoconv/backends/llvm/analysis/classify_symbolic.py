"""Classify nodes over arrays with open dimensions (bound at the call) by how they are lowered.

An open dimension is a symbol in the types, and an i64 parameter of every function under the symbol's name. It is 2 or
more: how sizes 0 and 1 broadcast is decided at compile time, so the entry refuses them. A node has a native lowering
only where its shapes agree symbolically; else its kernel runs, which sees arrays.
"""

from __future__ import annotations

from functools import reduce

from autoconv.backends.llvm.analysis.classify import (
    COUNTED,
    MAPPED,
    OPEN,
    OPEN_ROLE,
    generates,
    has_element_rule,
    maps,
    picks_one,
    reduces,
)
from autoconv.backends.llvm.analysis.classify_indexing import goes_into, indexed_role, is_update, shape_of
from autoconv.backends.llvm.analysis.indexing import is_indexed
from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.types import is_narrow
from autoconv.graph.dimensions import has_same_count, plus
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.graph.types import Type

_OF_MASKS = frozenset({"where_indices", "get_item"})  # ops whose result sizes depend on values
_OF_SHAPES = frozenset({"dimension", "size"})


def open_role(node: Node) -> str:
    """Return the role, as `roles.role`, of a node with an open array among its inputs or results."""
    name = node.op.name
    types = [value.type for value in (*node.inputs, *node.results)]
    if not all(is_scalar(t) or is_dense(t) for t in types):
        return "whole" if name in _OF_MASKS and COUNTED[name](node) else "kernel"
    if any(map(is_complex, types)):
        return _role_of_complex(node)
    if name in OPEN and not any(is_narrow(t.dtype) for t in types):  # type: ignore[union-attr]
        given = OPEN[name](node)
        if given is not None:
            return given
    if len(node.results) != 1:
        return "kernel"
    (result,) = node.results
    if name in _OF_SHAPES:
        return "extent"
    if name in ("shape", "outline"):
        return "view"
    if node.op.traits.elementwise and has_element_rule(node):
        together = all(_goes_into(value.type, result.type) for value in node.inputs)
        return "element" if together and node.effects in (Effects.PURE, Effects.RAISE) else "kernel"
    if node.op.traits.generates:
        return "view" if is_dense(result.type) and generates(node) else "kernel"
    if is_indexed(node):
        return indexed_role(node)
    if name in ("set_item", "add_at_item"):
        return "update" if is_update(node) else "kernel"
    if name in MAPPED:
        return "view" if _maps(node) else "kernel"
    if name == "gather":
        return "view" if picks_one(node) else "kernel"
    if node.op.traits.reduction is not None:
        return "reduce" if reduces(node) and _keeps_sizes(node) else "kernel"
    if name == "concat":
        return "join" if _lie_side_by_side(node) else "kernel"
    if name in ("argmax", "argmin"):
        return "search" if _searches(node) else "kernel"
    if name == "matmul":
        return "matmul" if _multiplies(node) else "kernel"
    return "kernel"


def _role_of_complex(node: Node) -> str:
    """Classify the complex ops that remain once arithmetic is split into parts (see legalize/complex/split.py)."""
    name, (result,) = node.op.name, node.results[:1]
    if name in ("real", "imag", "shape", "outline"):
        return "view"
    if name in _OF_SHAPES:
        return "extent"
    together = name == "complex" and all(_goes_into(value.type, result.type) for value in node.inputs)
    return "element" if together else "kernel"


def _goes_into(own: Type, whole: Type) -> bool:
    """Return whether an operand broadcasts to the result's shape by dimensions of size 1 alone."""
    if is_scalar(own):
        return True
    return goes_into(shape_of(own), shape_of(whole))


def _maps(node: Node) -> bool:
    name, source, result = node.op.name, node.inputs[0].type, node.results[0].type
    if name.startswith("broadcast"):
        return is_dense(result) and _goes_into(source, result)
    if not is_dense(source) or not is_dense(result):
        return name == "get_item" and is_dense(source) and maps(node)
    if name in ("roll", "pad") and not maps(node):
        return False
    if name == "squeeze":
        axes = node.attributes.get("axis")
        ones = [axis for axis, size in enumerate(sizes(source)) if size == 1]
        return axes is None or {axis % len(sizes(source)) for axis in axes} <= set(ones)
    if name in ("reshape", "reshape_like"):
        return _fits(source, result)
    return name != "get_item" or maps(node)


def _fits(source: Type, result: Type) -> bool:
    """Return whether both types have equally many elements.

    Quotients in sizes are exact: the code that made the type guards that.
    """
    first, second = ([size for size in sizes(type_) if size != 1] for type_ in (source, result))
    return first == second or has_same_count(shape_of(source), shape_of(result))


def _keeps_sizes(node: Node) -> bool:
    if node.op.name != "sum_to_shape_of":
        return True
    shape, result = sizes(node.inputs[0].type), sizes(node.results[0].type)
    return all(size in (1, other) for size, other in zip(result, shape[len(shape) - len(result) :], strict=True))


def _lie_side_by_side(node: Node) -> bool:
    shapes, result = [shape_of(value.type) for value in node.inputs], shape_of(node.results[0].type)
    axis = node.attributes["axis"] % len(result)
    rest = all((*shape[:axis], *shape[axis + 1 :]) == (*result[:axis], *result[axis + 1 :]) for shape in shapes)
    return rest and reduce(plus, (shape[axis] for shape in shapes)) == result[axis]


def _searches(node: Node) -> bool:
    dtype = node.inputs[0].dtype
    return 0 not in sizes(node.inputs[0].type) and not dtype.is_bool and not is_narrow(dtype)


def _multiplies(node: Node) -> bool:
    x, y = (sizes(value.type) for value in node.inputs)
    flip_x, flip_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    kinds = {value.dtype.name for value in node.inputs}
    if len(y) != 2 or len(x) < 2 or (len(x) > 2 and flip_x) or not kinds <= {"float32", "float64"}:
        return False
    return x[-2 if flip_x else -1] == y[-1 if flip_y else -2]


OPEN_ROLE.append(open_role)
