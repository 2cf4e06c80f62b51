"""Classify nodes by how they are lowered, and types by how their values are represented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autoconv.backends.llvm.analysis.representation import (
    is_array,
    is_complex,
    is_dense,
    is_of_complex,
    is_of_open,
    is_scalar,
    sizes,
)
from autoconv.backends.llvm.ir.element_rules import apply_rule
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import ElementWriter
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.dtypes import DType
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewrite import attributes_key
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.index_spec import At, NewAxis, Rest, Slice, is_fixed
from autoconv.ops.traits import Reduction

MAPPED = frozenset({
    "transpose", "matrix_transpose", "reverse", "expand_dims", "squeeze", "reshape", "reshape_like", "broadcast_to",
    "broadcast_to_shape_of", "get_item", "roll", "pad",
})  # fmt: skip
# Registered role functions by op name; a function returns None to leave the node to the rules here.
ROLES: dict[str, Callable[[Node], str | None]] = {}
# Role functions, as in ROLES, of nodes with complex operands or results.
COMPLEX: dict[str, Callable[[Node], str | None]] = {}
# Role functions, as in ROLES, of nodes over arrays with open dimensions (bound at the call).
OPEN: dict[str, Callable[[Node], str | None]] = {}
# Ops whose result sizes depend on the values of the inputs, with a predicate for the nodes that have native code.
COUNTED: dict[str, Callable[[Node], bool]] = {}
# Ops on Python objects, with a predicate for the nodes that have native code.
OBJECTS: dict[str, Callable[[Node], bool]] = {}
# Ops on memory, with a predicate for the nodes that have native code.
MEMORY: dict[str, Callable[[Node], bool]] = {}
# The work of a node that a single thread does, in units of 0.05 ns, by op.
WORK: dict[str, Callable[[Node], int]] = {}
# Ops whose kernels call library routines that take about as long as native code, whatever the sizes. They do not
# justify code for each shape.
BY_LIBRARY: set[str] = set()
# The role function of nodes over arrays with open dimensions (set by open_roles).
OPEN_ROLE: list[Callable[[Node], str]] = []


def read_inputs(node: Node) -> tuple[Value, ...]:
    """Return the inputs whose elements the node reads: neither those of shapes alone, nor one of sizes."""
    traits = node.op.traits
    inputs = node.inputs if traits.sizes is None else node.inputs[: traits.sizes.position]
    return tuple(value for i, value in enumerate(inputs) if i not in traits.shape_only)


def role(node: Node) -> str:
    """Return the lowering class of a node.

    One of "scalar", "pair", "element", "view", "reduce", "scatter", "matmul", "update", "join", "search", "memory",
    "object", "control", "whole", "kernel", or another that a registered function returns.
    """
    name = node.op.name
    if node.regions:
        return "control" if _is_steered_by_numbers(node) else "kernel"
    types = [value.type for value in (*node.inputs, *node.results)]
    if name in MEMORY and MEMORY[name](node):
        return "memory"
    if name in OBJECTS and OBJECTS[name](node):
        return "object"
    if is_of_open(node):
        return OPEN_ROLE[0](node)
    if not all(is_scalar(t) or is_array(t) for t in types):
        return "whole" if name in COUNTED and COUNTED[name](node) else "kernel"
    if any(map(is_complex, types)):
        return _role_of_complex(node)
    narrow = any(is_narrow(t.dtype) for t in types)  # type: ignore[union-attr]
    given = ROLES[name](node) if name in ROLES and not narrow else None
    if given is not None:
        return given
    if len(node.results) != 1:
        return "kernel"
    (result,) = node.results
    if (node.op.traits.elementwise or all(map(is_scalar, types))) and has_element_rule(node):
        if is_scalar(result.type):
            return "scalar"
        # A node that may raise flags exceptional elements in its loop; its kernel then decides.
        return "element" if node.effects in (Effects.PURE, Effects.RAISE) else "kernel"
    if node.op.traits.generates:
        return "view" if is_array(result.type) and generates(node) else "kernel"
    if name in MAPPED:
        known = is_array(node.inputs[0].type) or (name.startswith("broadcast") and is_array(result.type))
        return "view" if known and maps(node) else "kernel"
    if name == "gather":
        return "view" if picks_one(node) else "kernel"
    if node.op.traits.reduction is not None:
        return "reduce" if is_array(node.inputs[0].type) and reduces(node) else "kernel"
    if name in ("set_item", "add_at_item"):
        return "update" if is_array(node.inputs[0].type) and _updates(node) else "kernel"
    if name in ("argmax", "argmin"):
        return "search" if is_array(node.inputs[0].type) and not narrow and _searches(node) else "kernel"
    if name == "concat":
        return "join"
    if name == "matmul":
        return "matmul" if _multiplies(node) else "kernel"
    return "kernel"


def _role_of_complex(node: Node) -> str:
    """Classify the complex ops that remain once arithmetic is split into parts (see legalize/complex/split.py)."""
    name = node.op.name
    if name in ("real", "imag"):
        return "view"
    if name == "complex":
        return "element" if sizes(node.results[0].type) else "pair"
    return (COMPLEX[name](node) if name in COMPLEX else None) or "kernel"


def _is_steered_by_numbers(node: Node) -> bool:
    """Return whether the type of the controlling operand is a scalar."""
    if node.op.name == "cond":
        return is_scalar(node.inputs[0].type)
    if node.op.name == "while":
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
        b = _Probe(FunctionText(ModuleText()))
        operands = [b.wrap(dtype, f"%{i}") for i, dtype in enumerate(key[1])]
        found = apply_rule(b, node, operands)
        _RULES[key] = None if found is None else found.dtype
    return _RULES[key] is node.results[0].dtype


_RULES: dict[Any, DType | None] = {}


class _Probe(ElementWriter):
    """Write elements into a text that is discarded."""

    in_loop = True

    def fail(self, condition: Any) -> None: ...

    def rare(self, condition: Any) -> None: ...


def generates(node: Node) -> bool:
    name = node.op.name
    if name == "one_hot":
        return is_dense(node.inputs[0].type) and is_dense(node.results[0].type)
    if name == "fill":
        return is_scalar(node.inputs[0].type)
    dtype = node.attributes.get("dtype")
    return dtype is None or is_native(dtype)


def maps(node: Node) -> bool:
    if node.op.name == "get_item":
        operands = all(is_scalar(value.type) for value in node.inputs[1:])
        return operands and is_fixed(node.attributes["spec"], NewAxis, Rest, At, Slice)
    if node.op.name == "pad" and node.attributes.get("mode", "CONSTANT") != "CONSTANT":
        return False
    return len(node.inputs) == 1 or node.op.name not in ("reshape", "broadcast_to", "roll", "pad")


def _searches(node: Node) -> bool:
    shape = sizes(node.inputs[0].type)
    return 0 not in shape and not node.inputs[0].dtype.is_bool


def _updates(node: Node) -> bool:
    """Return whether the written part is given by single indices and slices with constant bounds."""
    operands = all(is_scalar(value.type) for value in node.inputs[2:])
    return operands and is_fixed(node.attributes["spec"], Rest, At, Slice)


def picks_one(node: Node) -> bool:
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
    found = node.op.traits.reduction
    assert found is not None
    return found


def _is_inside(node: Node) -> bool:
    """Return whether the loops over the reduced dimensions are the innermost."""
    shape, axes = sizes(node.inputs[0].type), reduced_axes(node)
    kept = [d for d, size in enumerate(shape) if size != 1 and d not in axes]
    return all(d > max(kept, default=-1) for d in axes if shape[d] != 1)


def _multiplies(node: Node) -> bool:
    """Return whether the node is a single matrix product; stacked matrices on the left count as one."""
    x, y = (len(sizes(value.type)) for value in node.inputs)
    whole = x == 2 or (x > 2 and not node.attributes.get("transpose_a", False))
    kinds: list[Any] = [value.type for value in node.inputs]
    return whole and y == 2 and all(kind.dtype.name in ("float32", "float64") for kind in kinds)


def reduced_axes(node: Node) -> frozenset[int]:
    """Return the dimensions of the operand that are reduced."""
    shape = sizes(node.inputs[0].type)
    if node.op.name == "sum_to_shape_of":
        like = sizes(node.results[0].type) if is_dense(node.results[0].type) else ()
        lead = len(shape) - len(like)
        kept = {lead + i for i, size in enumerate(like) if size == shape[lead + i]}
        return frozenset(range(len(shape))) - kept
    axis = node.attributes.get("axis")
    if axis is None:
        return frozenset(range(len(shape)))
    axes = (axis,) if isinstance(axis, int) else axis
    return frozenset(a % len(shape) for a in axes)
