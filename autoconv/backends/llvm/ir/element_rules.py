"""Apply the ops' element rules to numbers in registers.

16-bit numbers are computed as by NumPy and ml_dtypes: in float32, and rounded once for an op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.ir.scalars import Element, Quotient
from autoconv.backends.llvm.ir.types import is_narrow
from autoconv.graph.dtypes import DType, float32
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS

# Ops whose 16-bit operands stay as they are: "bitcast" works on bits, and NumPy computes a squared difference as two
# ops, each of which rounds.
_NOT_WIDENED = frozenset({"bitcast", "squared_difference"})


def apply_rule(b: Any, node: Node, operands: Sequence[Element]) -> Any:
    """Apply the rule of the node's op to the operands; None for unsupported dtypes."""
    (result,) = node.results
    return compute(b, node.op.name, operands, result.dtype, node.attributes)


def compute(b: Any, name: str, operands: Sequence[Element], dtype: DType, attributes: Any = None) -> Any:
    """Apply the rule, as `apply_rule`, of an op by its name, with a result of that dtype."""
    if name not in _NOT_WIDENED:
        operands = [_cast(b, x, float32) if is_narrow(x.dtype) else x for x in operands]
    if name == "select":
        operands = [operands[0], *map(b.keep_flags, operands[1:])]
    elif dtype.is_bool or name == "sign":
        operands = [b.keep_flags(x, is_compared=True) for x in operands]
    element = ELEMENTS[name](b, *operands, **(attributes or {}))
    is_rounded = element is not None and element.dtype is float32 and is_narrow(dtype)
    return _cast(b, element, dtype) if is_rounded else element


def _cast(b: Any, x: Element, dtype: DType) -> Element:
    """Convert a number; a Quotient remains one, so that `keep_flags` can keep its error flags."""
    result: Element = b.cast(x, dtype)
    return Quotient(result.b, result.dtype, result.ir) if isinstance(x, Quotient) else result
