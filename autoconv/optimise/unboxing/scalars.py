"""Operators on NumPy's scalars among boxed numbers: floats of one dtype, and Python numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.dtypes import DType, bool_, float32, float64
from autoconv.graph.graph import Node, Value
from autoconv.graph.python_operators import ARITHMETIC, BY_NAME, COMPARISONS
from autoconv.graph.types import TensorType
from autoconv.optimise.unboxing.kind_inference import FLOAT, Kind
from autoconv.optimise.unboxing.writer import Writer

_COMPARISONS = frozenset(comparison.name for comparison in COMPARISONS)
_TENSOR_OPS = {
    **{operator.name: operator.tensor_op for operator in (*ARITHMETIC, *COMPARISONS, BY_NAME["neg"], BY_NAME["abs"])},
    **{operator.in_place: operator.tensor_op for operator in ARITHMETIC},
}


def scalar_dtype(kinds: Sequence[Kind]) -> DType | None:
    """Return the dtype of the floats of NumPy among numbers of these kinds; None without any, or if they differ."""
    dtypes = {kind.dtype for kind in kinds if isinstance(kind, TensorType) and not kind.weak}
    return dtypes.pop() if len(dtypes) == 1 and dtypes <= {float32, float64} else None


def scalar_result(function: str, dtype: DType) -> Kind:
    """Return the kind that an operator on scalars gives; None for one that has to stay an operator on objects."""
    if function == "float":
        return FLOAT
    return TensorType(bool_ if function in _COMPARISONS else dtype, ()) if function in _TENSOR_OPS else None


def write_scalar_operator(w: Writer, node: Node, dtype: DType) -> Value:
    """Add the operator; a Python number beside a scalar gets its dtype."""
    function = node.attributes["function"]
    operands = [w.number(value) for value in node.inputs]
    if function == "float":
        return w.add("python_float", node, *operands)
    operands = [w.convert(operand, TensorType(dtype, ()), node) for operand in operands]
    return w.add(_TENSOR_OPS[function], node, *operands)


__all__ = ["scalar_dtype", "scalar_result", "write_scalar_operator"]
