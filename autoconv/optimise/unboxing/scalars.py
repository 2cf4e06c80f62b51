"""Operators on boxed scalars of NumPy: on floats of one dtype, with Python's numbers as other operands."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.dtypes import DType, bool_, float32, float64
from autoconv.graph.graph import Node, Value
from autoconv.graph.python_operators import ARITHMETIC, COMPARISONS, OPERATOR_BY_NAME
from autoconv.graph.types import TensorType
from autoconv.optimise.unboxing.kinds import FLOAT, Kind
from autoconv.optimise.unboxing.writer import Writer

_COMPARISONS = frozenset(comparison.name for comparison in COMPARISONS)
_TENSOR_OPS = {
    **{operator.name: operator.tensor_op for operator in (*ARITHMETIC, *COMPARISONS)},
    **{name: OPERATOR_BY_NAME[name].tensor_op for name in ("neg", "abs")},
    **{operator.in_place: operator.tensor_op for operator in ARITHMETIC},
}


def scalar_dtype(kinds: Sequence[Kind]) -> DType | None:
    """Return the one dtype, float32 or float64, of the NumPy scalars among numbers of these kinds; else None."""
    dtypes = {kind.dtype for kind in kinds if isinstance(kind, TensorType) and not kind.weak}
    return dtypes.pop() if len(dtypes) == 1 and dtypes <= {float32, float64} else None


def scalar_result(function: str, dtype: DType) -> TensorType | str | None:
    """Return the kind of an operator's result for scalars of the dtype; no kind but None if it stays on objects."""
    if function == "float":
        return FLOAT
    return TensorType(bool_ if function in _COMPARISONS else dtype, ()) if function in _TENSOR_OPS else None


def write_scalar_operator(writer: Writer, node: Node, dtype: DType) -> Value:
    """Add the operator, with Python numbers converted to the scalars' dtype; return its result."""
    function = node.attributes["function"]
    operands = [writer.number(value) for value in node.inputs]
    if function == "float":
        return writer.add("python_float", node, *operands)
    operands = [writer.convert(operand, TensorType(dtype, ()), node) for operand in operands]
    return writer.add(_TENSOR_OPS[function], node, *operands)
