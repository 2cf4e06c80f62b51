"""The rules that `split.py` applies: ops on complex numbers, in terms of their real and imaginary parts.

A rule takes `(b, node, operands)`, a complex operand as the pair of its parts. It returns a pair or a value, a
list of them for several results, or None to leave the node to the op's kernel. Products and quotients are NumPy's: a
product of arrays uses fused multiply-adds, a quotient Smith's method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_ranked_complex, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.legalize.complex import elementary
from autoconv.backends.llvm.legalize.complex.arithmetic import fused_product, power, product, quotient, reduce_prod_rule
from autoconv.backends.llvm.legalize.complex.parts import Parts, Rule, dtype_of
from autoconv.backends.llvm.legalize.complex.python_numbers import PYTHON_RULE_BY_OP
from autoconv.backends.llvm.legalize.complex.reductions import REDUCTION_RULE_BY_OP
from autoconv.backends.llvm.legalize.shaped_builder import broadcast, dimensions, reshape
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import Rest, Slice


def _rule_by_part(name: str) -> Rule:
    """Return the rule that applies an op to each part."""
    return lambda b, node, x: tuple(getattr(b, name)(*part) for part in zip(*x, strict=True))


# ---- elementwise ops


def _reciprocal(b: GraphBuilder, x: Parts) -> Parts:
    return quotient(b, (b.ones_like(x[0]), b.zeros_like(x[0])), x)


def _cast(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Return the converted parts: a bool is true if either is nonzero, a real number is the real part."""
    (operand,), target = operands, dtype_of(node.results[0])
    if not target.is_complex:
        if target.is_bool:
            return b.logical_or(b.not_equal(operand[0], 0.0), b.not_equal(operand[1], 0.0))
        return operand[0] if dtype_of(operand[0]) is target else b.cast(operand[0], dtype=target)
    real = target.real_dtype
    if not isinstance(operand, tuple):
        operand = (operand, None)
    parts = [part if part is None or dtype_of(part) is real else b.cast(part, dtype=real) for part in operand]
    return parts[0], b.zeros_like(parts[0]) if parts[1] is None else parts[1]


def _is_nonzero(b: GraphBuilder, x: Any) -> Any:
    """Return whether a complex operand is not 0; a real operand is returned as it is, since the op tests it."""
    return b.logical_or(b.not_equal(x[0], 0.0), b.not_equal(x[1], 0.0)) if isinstance(x, tuple) else x


def _logical_rule(name: str) -> Rule:
    """Return the rule of a logical op, which tests whether its operands are 0."""
    return lambda b, node, x: getattr(b, name)(*(_is_nonzero(b, operand) for operand in x))


def _select(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Select between both parts."""
    condition, first, second = operands
    return tuple(b.select(_is_nonzero(b, condition), *pair) for pair in zip(first, second, strict=True))


def _sign(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Return the number over its magnitude; zero for zero."""
    ((xr, xi),) = operands
    magnitude = b.hypot(xr, xi)
    is_zero = b.equal(magnitude, 0.0)
    ratio = quotient(b, (xr, xi), (magnitude, b.zeros_like(magnitude)))
    return tuple(b.select(is_zero, b.zeros_like(part), part) for part in ratio)


def _part_rule(name: str) -> Rule:
    """Return the rule that selects a part."""

    def rule(b: GraphBuilder, node: Node, x: Any) -> Any:
        ((real, imag),) = x
        return imag if name == "imag" else real

    return rule


def _function_rule(function: Callable[..., Parts]) -> Rule:
    """Return the rule of an elementary function."""
    return lambda b, node, x: function(b, *x[0])


def _sigmoid(b: GraphBuilder, node: Node, operands: Any) -> Any:
    real, imag = elementary.exp(b, *_rule_by_part("negative")(b, node, operands))
    return _reciprocal(b, (b.add(real, 1.0), imag))


def _square_of(b: GraphBuilder, x: Parts) -> Parts:
    return product(b, x, x)


def _broadcast(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Broadcast both parts to the shape of the result."""
    return tuple(broadcast(b, part, dimensions(node.results[0])) for part in operands)


# In the rules of one line, `x` are the operands.
ELEMENTWISE_RULE_BY_OP: dict[str, Rule] = {
    "add": _rule_by_part("add"), "subtract": _rule_by_part("subtract"), "negative": _rule_by_part("negative"),
    "identity": _rule_by_part("identity"),
    "stop_gradient": _rule_by_part("stop_gradient"), "select": _select,
    "multiply": lambda b, node, x: product(b, *x), "square": lambda b, node, x: fused_product(b, x[0], x[0]),
    "divide": lambda b, node, x: quotient(b, *x),
    "reciprocal": lambda b, node, x: _reciprocal(b, x[0]), "sigmoid": _sigmoid,
    "rsqrt": lambda b, node, x: _reciprocal(b, elementary.sqrt(b, *x[0])), "power": power,
    "squared_difference": lambda b, node, x: _square_of(b, _rule_by_part("subtract")(b, node, x)),
    "conjugate": lambda b, node, x: (x[0][0], b.negative(x[0][1])),
    "complex": _broadcast, "real": _part_rule("real"), "imag": _part_rule("imag"),
    "abs": lambda b, node, x: b.hypot(*x[0]), "angle": lambda b, node, x: b.atan2(x[0][1], x[0][0]),
    "sign": _sign, "cast": _cast,
    "equal": lambda b, node, x: b.logical_and(*_rule_by_part("equal")(b, node, x)),
    "not_equal": lambda b, node, x: b.logical_or(*_rule_by_part("not_equal")(b, node, x)),
    "is_nan": lambda b, node, x: b.logical_or(b.is_nan(x[0][0]), b.is_nan(x[0][1])),
    "is_inf": lambda b, node, x: b.logical_or(b.is_inf(x[0][0]), b.is_inf(x[0][1])),
    "is_finite": lambda b, node, x: b.logical_and(b.is_finite(x[0][0]), b.is_finite(x[0][1])),
    **{name: _logical_rule(name) for name in ("logical_and", "logical_or", "logical_xor", "logical_not")},
    **{name: _function_rule(rule) for name, rule in elementary.FUNCTION_BY_OP.items()},
}  # fmt: skip


# ---- ops over arrays

# Ops that apply to both parts alike: data movement, sums, and all that is linear over the reals.
_LINEAR_OPS = (
    "transpose", "matrix_transpose", "reverse", "expand_dims", "squeeze", "reshape", "broadcast_to", "get_item",
    "roll", "sliding_windows", "unpad", "concat", "stack", "unstack", "split", "split_like", "tile", "repeat",
    "shift", "gather", "gather_nd", "ungather", "ungather_nd", "reshape_like", "broadcast_to_shape_of",
    "sum_to_shape_of", "reduce_sum", "reduce_mean", "numpy_sum", "numpy_mean", "sum_tiles", "cumsum",
    "numpy_cumsum", "diag", "diag_part", "set_diag", "matrix_band_part", "take_along_axis", "add_along_axis",
    "segment_sum", "set_item", "add_at_item", "scatter_nd", "tensor_scatter_nd_update", "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub", "fill", "pad", "ensure_shape",
)  # fmt: skip


def _linear_rule(name: str) -> Rule:
    """Return the rule of an op that applies to the real parts and to the imaginary parts of its operands alike."""
    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        """Apply the op to the real and to the imaginary parts; None where a part alone does not give the result."""
        if any(not is_ranked_complex(value.type) for value in node.results) or _mixes_real_and_complex(node):
            return None
        results_by_part: list[Any] = []
        attributes = _real_attributes(node)
        for index in range(2):
            parts = [x[index] if isinstance(x, tuple) else x for x in operands]
            result_of_part = getattr(b, name)(*parts, **attributes)
            results_by_part.append(result_of_part if isinstance(result_of_part, tuple) else (result_of_part,))
            for part, result in zip(results_by_part[-1], node.results, strict=True):
                part.type = part.type.with_shape(dimensions(result))  # the op's result rule may be less precise
        parts_of_results = list(zip(*results_by_part, strict=True))
        return parts_of_results if len(node.results) != 1 else parts_of_results[0]

    return rule


def _copy(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Copy both parts; a real operand of `astype` becomes the real part."""
    is_pair = isinstance(operands[0], tuple)
    return _linear_rule("numpy_copy")(b, node, operands) if is_pair else _cast(b, node, operands)


def _real_attributes(node: Node) -> dict[str, Any]:
    """Return the attributes of a node for one part: with the part's dtype in place of a complex dtype."""
    result = dict(node.attributes)
    for name, value in result.items():
        if isinstance(value, DType) and value.is_complex:
            result[name] = value.real_dtype
    return result


def _mixes_real_and_complex(node: Node) -> bool:
    """Return whether a real operand gives elements of the result, which must not enter the imaginary part too."""
    name = node.op.name
    if name == "pad":
        return bool(node.attributes.get("constant_values", 0)) or len(node.inputs) > 1
    if name in ("set_item", "add_at_item", "set_diag"):
        return not all(is_ranked_complex(value.type) for value in node.inputs[:2])
    if name in ("numpy_sum", "numpy_mean", "numpy_cumsum"):
        return not is_ranked_complex(node.inputs[0].type)
    return False


def _fill_rule(number: int) -> Rule:
    """Return the rule that makes zeros or ones in the shape of its operand."""

    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        """Return the parts of a constant array of the operand's shape; the imaginary part is 0."""
        (parts,), target = operands, dtype_of(node.results[0])
        shape_operand = parts[0] if isinstance(parts, tuple) else parts
        name = "ones_like" if number else "zeros_like"
        if not target.is_complex:
            return getattr(b, name)(shape_operand, dtype=target)
        real = target.real_dtype
        return getattr(b, name)(shape_operand, dtype=real), b.zeros_like(shape_operand, dtype=real)

    return rule


def _apply_to_real_part(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Apply an op that reads only the shape to the real part."""
    parts = [x[0] if isinstance(x, tuple) else x for x in operands]
    return getattr(b, node.op.name)(*parts, **node.attributes)


def _contraction(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Contract two complex operands by four real contractions, or by sums of products if one is a vector."""
    if len(operands) != 2 or not all(isinstance(x, tuple) for x in operands):
        return None
    (xr, xi), (yr, yi) = operands
    x_shape, y_shape = map(dimensions, node.inputs)
    if len(x_shape) == len(y_shape) == 1 and not dimensions(node.results[0]):
        return tuple(b.reduce_sum(part, axis=0) for part in product(b, *operands))
    is_plain_product = node.op.name == "matmul" and not any(node.attributes.values())
    is_plain_product &= all(isinstance(size, int) for size in (*x_shape, *y_shape))
    if is_plain_product and len(x_shape) == len(y_shape) == 2 and 1 in (x_shape[0], y_shape[1]):
        x, y = operands
        if y_shape[1] == 1:
            y, axis = tuple(reshape(b, part, (1, y_shape[0])) for part in y), 1
        else:
            x, axis = tuple(reshape(b, part, (x_shape[1], 1)) for part in x), 0
        return tuple(b.reduce_sum(part, axis=axis, keepdims=True) for part in product(b, x, y))

    def times(x: Value, y: Value) -> Value:
        return getattr(b, node.op.name)(x, y, **node.attributes)  # type: ignore[no-any-return]

    return b.subtract(times(xr, yr), times(xi, yi)), b.add(times(xr, yi), times(xi, yr))


def _constant(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Return constants of the real and of the imaginary parts."""
    array, weak = np.asarray(node.attributes["value"]), node.attributes.get("weak", False)
    parts = (np.ascontiguousarray(part).reshape(array.shape) for part in (array.real, array.imag))
    return tuple(b.constant(value=part, weak=weak) for part in parts)


# ---- inverse Fourier transforms of real numbers


def _irfft(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Cut or zero-pad the spectrum to size // 2 + 1; for an odd size, append its mirror image."""
    ((xr, xi),), (*batch_shape, size) = operands, sizes(node.results[0].type)
    given_size = sizes(xr.type)[-1]
    if not is_known((size, given_size)):
        return None
    spectrum_size = size // 2 + 1
    if size < 1 or (given_size == spectrum_size and size % 2 == 0):
        return None
    if given_size > spectrum_size:
        spec = (Rest(), Slice(None, spectrum_size, None))
        xr, xi = b.get_item(xr, spec=spec), b.get_item(xi, spec=spec)
    elif given_size < spectrum_size:
        paddings = (*[(0, 0)] * len(batch_shape), (0, spectrum_size - given_size))
        xr, xi = (b.pad(part, paddings=paddings, mode="CONSTANT", constant_values=0) for part in (xr, xi))
    norm = node.attributes.get("norm", "backward")
    if size % 2 == 0:
        return b.irfft(b.complex(xr, xi), length=size, norm=norm)
    tail_spec, head_spec = (Rest(), Slice(1, None, None)), (Rest(), Slice(None, 1, None))
    tail_real, tail_imag = b.get_item(xr, spec=tail_spec), b.get_item(xi, spec=tail_spec)
    mirrored_real, mirrored_imag = (b.reverse(part, axis=(len(batch_shape),)) for part in (tail_real, tail_imag))
    real = b.concat(xr, mirrored_real, axis=len(batch_shape))
    head_imag = b.zeros_like(b.get_item(xi, spec=head_spec))
    imag = b.concat(head_imag, tail_imag, b.negative(mirrored_imag), axis=len(batch_shape))
    return b.real(b.ifft(b.complex(real, imag), axes=(-1,), norm=norm))


RULES: dict[str, Rule] = {
    "irfft": _irfft,
    **ELEMENTWISE_RULE_BY_OP, **{name: _linear_rule(name) for name in _LINEAR_OPS}, "zeros_like": _fill_rule(0),
    "ones_like": _fill_rule(1), "numpy_copy": _copy, "size": _apply_to_real_part, "shape": _apply_to_real_part,
    "rank": _apply_to_real_part, "dimension": _apply_to_real_part,
    "matmul": _contraction, "tensordot": _contraction, "einsum": _contraction, "constant": _constant,
    "reduce_prod": reduce_prod_rule, "numpy_prod": reduce_prod_rule, **PYTHON_RULE_BY_OP, **REDUCTION_RULE_BY_OP,
}  # fmt: skip

# Ops whose rules take arrays of computed sizes as well; the rules of all ops take scalars and dense arrays.
COMPLEX_COMPUTED_SIZE_OPS = frozenset(ELEMENTWISE_RULE_BY_OP) | {
    "zeros_like", "ones_like", "get_item", "expand_dims", "squeeze", "transpose", "reverse", "concat", "reduce_sum",
    "reduce_mean", "numpy_sum", "numpy_mean", "cumsum", "numpy_cumsum", "matmul", "size", "shape", "rank", "dimension",
    "fill", "gather", "numpy_copy",
}  # fmt: skip


# ---- arrays in memory


def _load(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Load both parts of an array in memory."""
    return tuple(b.array_load(b.array_part(operands[0], part_name=part)) for part in ("real", "imag"))


def _write_rule(name: str) -> Rule:
    """Return the rule that writes each part, once both are computed."""

    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        """Write the real and the imaginary part, each to its view of the array; None for arguments of other kinds."""
        x, value, *indices = operands
        if not isinstance(node.inputs[0].type, ArrayType) or any(isinstance(index, tuple) for index in indices):
            return None
        real = node.inputs[0].dtype.real_dtype
        parts = value if isinstance(value, tuple) else (value, b.zeros_like(value, dtype=real))
        for part_name, part in zip(("real", "imag"), parts, strict=True):
            getattr(b, name)(b.array_part(x, part_name=part_name), part, *indices, **node.attributes)
        return []

    return rule


def _allocate(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Allocate an array; a fill other than 0 is stored part by part."""
    fill = node.attributes.get("fill")
    result = b.array_new(*operands, **{**node.attributes, "fill": None if fill else fill})
    if fill:
        for part in ("real", "imag"):
            number = np.asarray(getattr(complex(fill), part), result.dtype.real_dtype.numpy)
            b.array_store(b.array_part(result, part_name=part), b.constant(value=number))
    return result


MEMORY_RULES: dict[str, Rule] = {
    "array_load": _load, "array_store": _write_rule("array_store"), "array_set": _write_rule("array_set"),
    "array_new": _allocate,
}  # fmt: skip
