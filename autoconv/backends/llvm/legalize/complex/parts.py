"""Complex numbers in parts, and the form of the rules of `split.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node, Value
from autoconv.ops.builder import GraphBuilder

Parts = tuple[Value, Value]  # real and imaginary part
# A rule takes `(b, node, operands)`, a complex operand as its parts. It returns a value, the parts of one, a list of
# these for several results, or None to leave the node to the op's kernel.
Rule = Callable[[GraphBuilder, Node, Any], Any]


def dtype_of(x: Value) -> DType:
    """Return the dtype of an operand that is a single value; rules take operands as `Any`."""
    return x.dtype
