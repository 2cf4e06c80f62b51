"""Match full reductions of array parts of unknown size, and define the op into which `array_statements` fuses them.

Sums, extremes and positions of extremes become one node with the elementwise computation of their operand. It reads
elements in place and copies nothing.

    before   %v = array_view(%A, %i, spec=…); %x = array_load(%v); %y = multiply(%x, %c); %s = numpy_sum(%y, axis=None)
    after    %s = array_total(%v, %c, steps=(input 0, input 1, multiply of steps 0 and 1), op="numpy_sum", …)

A product of two vectors is the sum of the products of their elements, and is fused likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, TensorType, dense_strides
from autoconv.lazy_dataclass import dataclass
from autoconv.ops import OPS
from autoconv.ops.index_spec import Spec
from autoconv.ops.record import Op, no_gradient

_REDUCTIONS = ("sum", "prod", "mean", "max", "min", "any", "all")
REDUCTION_KIND_BY_OP = {
    **{f"{prefix}_{kind}": kind for prefix in ("numpy", "reduce") for kind in _REDUCTIONS},
    **{f"numpy_{kind}": kind for kind in ("argmax", "argmin")},
}
_IMPLIED_ATTRIBUTES = {"axis", "keepdims", "dtype"}  # attributes that are implied by the type of the result
_DOT_PRODUCT_OPS = ("squeeze", "matmul", "expand_dims", "expand_dims")  # ops of the nodes of `_match_dot_product`


# Stands for the op of a step that is a whole input array, from which a later step `get_item` gathers elements.
GATHER_BASE = "base"


@dataclass(frozen=True, slots=True)
class FullReduction:
    """A full reduction: the arrays to be reduced, the op and its options.

    `inner_nodes` lie between the arrays and the reduction. The caller has to check that nothing else reads them.
    """

    operands: tuple[Value, ...]
    op: str
    options: Mapping[str, Any]
    inner_nodes: tuple[Node, ...] = ()


def find_full_reduction(node: Node) -> FullReduction | None:
    """Return the full reduction that a node computes, or None if it computes none that native code supports."""
    if node.op.name == "squeeze":
        return _match_dot_product(node)
    kind = REDUCTION_KIND_BY_OP.get(node.op.name)
    if kind is None or node.results[0].shape != ():
        return None
    if not node.attributes.keys() <= _IMPLIED_ATTRIBUTES or node.attributes.get("keepdims"):
        return None
    types = [value.type for value in (*node.inputs, *node.results)]
    if len(types) != 2 or not all(isinstance(t, TensorType) and is_native(t.dtype) for t in types):
        return None
    operand_dtype, result_dtype = (t.dtype for t in types)  # type: ignore[union-attr]
    if is_narrow(operand_dtype) or is_narrow(result_dtype) or result_dtype.is_bool != (kind in ("any", "all")):
        return None
    if (kind == "mean" and not result_dtype.is_floating) or (operand_dtype.is_bool and kind in ("argmax", "argmin")):
        return None
    return FullReduction((node.inputs[0],), node.op.name, node.attributes)


def _match_dot_product(squeeze: Node) -> FullReduction | None:
    """Match a product of two vectors, `squeeze(matmul(expand_dims(x, 0), expand_dims(y, 1)))`; None for others."""
    if squeeze.results[0].shape != ():
        return None
    chain = [squeeze, squeeze.inputs[0].node]
    if chain[1] is not None:
        chain += [value.node for value in chain[1].inputs]
    nodes = tuple(node for node in chain if node is not None)
    if tuple(node.op.name for node in nodes) != _DOT_PRODUCT_OPS:
        return None
    _, matmul, *expansions = nodes
    has_transposes = any(matmul.attributes.values())
    if matmul.inputs[0].shape[0] != 1 or has_transposes:  # type: ignore[index]
        return None
    operands = tuple(node.inputs[0] for node in expansions)
    dtypes = {value.dtype for value in (*operands, squeeze.results[0])}
    dtype = dtypes.pop()
    if dtypes or not is_native(dtype) or is_narrow(dtype) or dtype.is_bool:
        return None
    if any(len(value.shape or ()) != 1 for value in operands):
        return None
    return FullReduction(operands, "reduce_sum", {"axis": None, "keepdims": False}, nodes[1:])


def _compute_total(*inputs: Any, steps: Sequence[Any], op: str, options: tuple[tuple[str, Any], ...]) -> Any:
    """Evaluate the steps (see `array_statements.Step`) and the reduction by the kernels of their ops."""
    kernel = OPS[op].kernel
    assert kernel is not None
    return kernel(evaluate_steps(inputs, steps), **dict(options))


def evaluate_steps(inputs: Sequence[Any], steps: Sequence[Any]) -> Any:
    """Compute the steps by the kernels of their ops, and return the value of the last one."""
    values: list[Any] = []
    for step in steps:
        if step.op == GATHER_BASE:
            values.append(np.asarray(inputs[step.operands[0]]))
        elif step.op:
            kernel = OPS[step.op].kernel
            assert kernel is not None
            values.append(kernel(*(values[i] for i in step.operands), **step.attributes))
        else:
            values.append(np.array(inputs[step.operands[0]]))
    return values[-1]


ARRAY_TOTAL = Op(
    name="array_total", graphdef="ArrayTotal", kernel=_compute_total, effects=Effects.READ | Effects.RAISE,
    result=lambda *_, **__: None,  # type: ignore[arg-type, return-value]
    gradient=no_gradient("made by the native backend"),
)  # fmt: skip


def _view_type(x: TensorType, *operands: TensorType, spec: Spec) -> Any:
    """Return the type of the view that a spec takes of a dense array."""
    assert x.shape is not None
    array_type = ArrayType(x.dtype, x.shape, dense_strides(x.shape, x.dtype), read_only=True)
    return OPS["array_view"].result(array_type, *operands, spec=spec)


# A slice of a tensor, read in place.
TENSOR_PART = Op(
    name="tensor_part", graphdef="TensorPart", kernel=OPS["get_item"].kernel, effects=Effects.RAISE, result=_view_type,
    gradient=no_gradient("made by the native backend"),
)  # fmt: skip
