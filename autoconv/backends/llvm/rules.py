"""The element rules of the ops, applied to numbers in registers. Those of 16 bits are computed as NumPy and ml_dtypes
do: in float32, and then rounded, once for an op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.scalars import Element, is_narrow
from autoconv.graph.dtypes import DType, float32
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS

_AS_THEY_ARE = frozenset({"bitcast", "squared_difference"})  # one of bits; one that is two ops to NumPy


def apply_rule(b: Any, node: Node, operands: Sequence[Element]) -> Any:
    """What the rule of the node's op makes of the operands; None for dtypes that it does not know."""
    (result,) = node.results
    return computed(b, node.op.name, operands, result.type.dtype, node.attributes)  # type: ignore[union-attr]


def computed(b: Any, name: str, operands: Sequence[Element], dtype: DType, attributes: Any = None) -> Any:
    """As `apply_rule`, for an op of that name whose result has the dtype."""
    if name not in _AS_THEY_ARE:
        operands = [b.cast(x, float32) if is_narrow(x.dtype) else x for x in operands]
    found = ELEMENTS[name](b, *operands, **(attributes or {}))
    return b.cast(found, dtype) if found is not None and found.dtype is float32 and is_narrow(dtype) else found
