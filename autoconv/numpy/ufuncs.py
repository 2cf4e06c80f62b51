"""Universal functions: NumPy resolves the loop (the dtypes) for the operands, and an op computes it.

Supports `out=`, `where=`, `dtype=` and `casting=`, and the methods reduce, accumulate, outer and reduceat; `at` is in
`mutation`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype, float32, float64
from autoconv.numpy.element_loops import COMPLEX_LOOPS, REAL_LOOPS, compare_exactly, with_sign_of
from autoconv.numpy.kernels import call_numpy, reduce_segments
from autoconv.numpy.operands import (
    MISSING,
    as_new_array,
    cast,
    computes,
    integer,
    is_weak,
    numpy_dtype,
    promotion_operand,
    rank_of,
    refuse,
    refuse_column_major,
    refuse_options,
    tensor,
)
from autoconv.numpy.writes import write_into
from autoconv.ops.numpy.shapes import MATMUL, core_dimensions
from autoconv.runtime.annotations import AxisLike, DTypeLike, OutLike, TensorLike
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

# A loop of a ufunc computes the result for operands of its dtypes; it returns None for dtypes that it does not support.
Loop = Callable[..., Any]

LOOPS: dict[str, Loop] = {}  # by the name of the ufunc


def call_ufunc(
    ufunc: Any, *inputs: Any, out: Any = None, where: TensorLike = True, dtype: DTypeLike | None = None,
    casting: str = "same_kind", order: str = "K", subok: bool = True, signature: Any = None,
    axes: AxisLike | None = None, axis: AxisLike | None = None, keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """Return `ufunc(*inputs, …)`; the results have NumPy's dtypes."""
    mask_of_matrices = where if ufunc.signature is not None and where is not True else None
    refuse_options(axes=axes, axis=axis, keepdims=keepdims, where=mask_of_matrices)
    refuse_column_major(order, rank=None)
    if len(inputs) > ufunc.nin:
        inputs, out = inputs[: ufunc.nin], inputs[ufunc.nin :] if ufunc.nout > 1 else inputs[ufunc.nin]
    if len(inputs) < ufunc.nin:
        raise TypeError(f"{ufunc.__name__}() takes from {ufunc.nin} to {ufunc.nargs} positional arguments")
    if isinstance(out, tuple):
        if all(x is None for x in out):
            out = None
        elif len(out) == 1:
            (out,) = out
    dtypes = loop_of(ufunc, inputs, dtype if signature is None else signature, casting)
    is_exact = ufunc in _EXACT_COMPARISONS
    result: Any = compare_exactly(ufunc.__name__, inputs[0], inputs[1], dtypes[0]) if is_exact else None
    if result is None:
        operands = [tensor(x, operand_dtype) for x, operand_dtype in zip(inputs, dtypes, strict=False)]
        result = compute(ufunc, operands, dtypes)
    if out is None and where is True:
        return result
    if isinstance(result, tuple):
        if where is not True or not isinstance(out, tuple):
            refuse("is given where or one array to write to, and has several results")
        pairs = zip(result, out, strict=True)
        return tuple(x if y is None else write_into(y, x, casting=casting, broadcasts=True) for x, y in pairs)
    if out is None:
        refuse("is given where without out")
    return write_into(out, result, where, casting, broadcasts=True)


def loop_of(ufunc: Any, inputs: Sequence[Any], dtype: Any = None, casting: str = "same_kind") -> tuple[Any, ...]:
    """Return the dtypes to which the operands are cast, and those of the results; raises NumPy's errors."""
    operands = tuple(promotion_operand(x) for x in inputs)
    options: dict[str, Any] = {}
    if dtype is not None:
        signature = dtype if isinstance(dtype, tuple) else (None,) * ufunc.nin + (numpy_dtype(dtype),) * ufunc.nout
        options["signature"] = signature
    resolved_dtypes = ufunc.resolve_dtypes((*operands, *(None,) * ufunc.nout), casting=casting, **options)
    if any(dtype_.kind not in "biufc" or dtype_.itemsize > 16 for dtype_ in resolved_dtypes):
        refuse(f"computes with {resolved_dtypes[0]}")
    for resolved_dtype in resolved_dtypes:
        as_dtype(resolved_dtype)  # raises TypeError for a dtype that tensors do not have
    return tuple(resolved_dtypes)


def compute(ufunc: Any, operands: Sequence[Tensor], dtypes: Sequence[np.dtype[Any]]) -> Any:
    """Apply the loop for `dtypes` to operands that have these dtypes."""
    is_complex = bool(operands) and operands[0].dtype.is_complex
    loop = (COMPLEX_LOOPS.get(ufunc.__name__) if is_complex else None) or LOOPS.get(ufunc.__name__)
    # Loops take operands of one dtype, but for the integer exponents of ldexp.
    has_supported_dtypes = len(set(dtypes[: ufunc.nin])) == 1 or ufunc is np.ldexp
    result = loop(*operands) if loop is not None and has_supported_dtypes else None
    if result is None:
        return call_numpy(ufunc.__name__, *operands)
    if isinstance(result, tuple):
        return tuple(cast(part, dtype) for part, dtype in zip(result, dtypes[ufunc.nin :], strict=True))
    return as_new_array(cast(result, dtypes[-1]), *operands)


# ---- methods


def reduce(
    ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: TensorLike | None = MISSING, where: TensorLike = True,
) -> Any:  # fmt: skip
    function = _REDUCTION_BY_UFUNC.get(ufunc.__name__)
    if initial is None and function not in (np.max, np.min):
        refuse("is given initial=None")  # NumPy then raises for an array without elements
    if isinstance(out, tuple):
        (out,) = out
    options: dict[str, Any] = {} if initial is MISSING else {"initial": initial}
    options |= {} if where is True else {"where": where}
    if function is not None:
        if dtype is not None and ufunc.__name__ in ("add", "multiply"):
            options["dtype"] = dtype
        return FUNCTIONS[function](array, axis=axis, out=out, keepdims=keepdims, **options)
    if dtype is not None:
        options["dtype"] = dtype
    result = call_numpy(f"{ufunc.__name__}.reduce", tensor(array), axis=axis, keepdims=keepdims, **options)
    return result if out is None else write_into(out, result)


def accumulate(
    ufunc: Callable[..., Any], array: TensorLike, axis: AxisLike = 0, dtype: DTypeLike | None = None,
    out: OutLike | None = None,
) -> Any:  # fmt: skip
    if isinstance(out, tuple):
        (out,) = out
    scan = {"add": np.cumsum, "multiply": np.cumprod}.get(ufunc.__name__)
    x = tensor(array)
    if rank_of(x) == 0:
        raise TypeError("cannot accumulate on a scalar")
    if scan is not None:
        return FUNCTIONS[scan](x, axis=axis, dtype=dtype, out=out)
    scan_ops = {"maximum": "cummax", "minimum": "cummin", "logical_or": "cummax", "logical_and": "cummin"}
    scan_op = scan_ops.get(ufunc.__name__)
    has_native_scan = x.dtype.is_integer or x.dtype in (float32, float64)
    if dtype is None and (ufunc in (np.logical_or, np.logical_and) or (x.dtype.is_bool and scan_op is not None)):
        result = cast(apply(scan_op, cast(cast(x, bool), np.uint8), axis=integer(axis)), bool)  # type: ignore[arg-type]
    elif scan_op is not None and dtype is None and has_native_scan:
        result = apply(scan_op, x, axis=integer(axis))
    else:
        options: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        result = call_numpy(f"{ufunc.__name__}.accumulate", x, axis=integer(axis), **options)
    return result if out is None else write_into(out, result)


def outer(ufunc: Callable[..., Any], x: TensorLike, y: TensorLike, **kwargs: Any) -> Any:
    x_operand = x if is_weak(x) else tensor(x)
    y_operand = y if is_weak(y) else tensor(y)
    y_rank = 0 if is_weak(y) else rank_of(tensor(y))
    if y_rank:
        x_operand = tensor(x_operand)
        for _ in range(y_rank):
            x_operand = apply("expand_dims", x_operand, axis=-1)
    return call_ufunc(ufunc, x_operand, y_operand, **kwargs)


def reduceat(ufunc: Any, *args: Any, out: OutLike | None = None, **kwargs: Any) -> Any:
    result = reduce_segments(ufunc, *args, **kwargs)
    return result if out is None else write_into(out, result)


# ---- loops by ops


def _is_of_kinds(kinds: str) -> Callable[[Tensor], bool]:
    return lambda x: x.dtype.numpy.kind in kinds


_is_bool, _is_integer = _is_of_kinds("b"), _is_of_kinds("iu")


def _loop_of_op(name: str, *, bool_op: str | None = None, kinds: str = "iufc") -> Loop:
    """Return the loop of an op, for elements of those kinds; `bool_op` is another op (if any) for bools."""

    def loop(*operands: Tensor) -> Any:
        if _is_bool(operands[0]):
            return None if bool_op is None else apply(bool_op, *operands)
        return apply(name, *operands) if operands[0].dtype.numpy.kind in kinds else None

    return loop


def _real_loop(name: str) -> Loop:
    """Return the loop of an op for floats alone."""
    return _loop_of_op(name, kinds="f")


def _truth_value_loop(name: str) -> Loop:
    """Return the loop of an op that takes bools, for elements converted to bools."""
    return lambda *operands: apply(name, *(cast(x, bool) for x in operands))


def _comparison_loop(name: str) -> Loop:
    """Return the loop of a comparison; bools are compared as numbers."""

    def loop(x: Tensor, y: Tensor) -> Any:
        if x.dtype.is_bool:
            x, y = (cast(operand, np.uint8) for operand in (x, y))
        return apply(name, x, y)

    return loop


def _identity_function(x: Tensor) -> Tensor:
    return x


def _rounding_loop(name: str) -> Loop:
    """Return the loop of an op that rounds floats; integers and bools stay unchanged."""
    return lambda x: x if _is_integer(x) or _is_bool(x) else apply(name, x)


def _predicate_loop(name: str, result_for_integers: bool) -> Loop:
    """Return the loop of an op that tests floats; all integers and bools have one result."""
    def loop(x: Tensor) -> Any:
        if x.dtype.is_floating or x.dtype.is_complex:
            return apply(name, x)
        return apply("equal" if result_for_integers else "not_equal", x, x)

    return loop


def _power_loop(x: Tensor, y: Tensor) -> Any:
    """Return x ** y; a negative power of an integer raises at run time, without the place in the user's source."""
    return apply("power", x, y)


def _nan_ignoring_loop(name: str) -> Loop:
    """Return the loop of fmax or fmin, whose result for a number and a nan is the number."""

    def loop(x: Tensor, y: Tensor) -> Any:
        if not x.dtype.is_floating:
            return LOOPS[name](x, y)
        result = apply("select", apply("is_nan", y), x, apply(name, x, y))
        return apply("select", apply("is_nan", x), y, result)

    return loop


def _scaling_loop(factor: float) -> Loop:
    return lambda x: apply("multiply", x, tensor(factor, x.dtype.numpy)) if x.dtype.is_floating else None


def _heaviside(x: Tensor, at_zero: Tensor) -> Any:
    """Return 0 for negative elements, 1 for positive ones, `at_zero` for zeros, nan for nans."""
    zero, one = (tensor(number, x.dtype) for number in (0, 1))
    result = apply("select", apply("greater", x, zero), one, apply("select", apply("less", x, zero), zero, at_zero))
    return apply("select", apply("is_nan", x), x, result)


def _signbit(x: Tensor) -> Any:
    return apply("sign_bit", x) if x.dtype.is_floating else None


def _copysign(x: Tensor, y: Tensor) -> Any:
    if not x.dtype.is_floating:
        return None
    return with_sign_of(apply("abs", x), y)


def _reciprocal(x: Tensor) -> Any:
    return apply("divide", tensor(1, x.dtype.numpy), x) if not _is_integer(x) else None


def _sign(x: Tensor) -> Any:
    """Return the signs of the elements, nan for nans."""
    if x.dtype.is_floating:
        return apply("select", apply("is_nan", x), x, apply("sign", x))
    return apply("sign", x)


def _divmod(x: Tensor, y: Tensor) -> Any:
    return apply("floor_divide", x, y), apply("modulo", x, y)


def _core_shapes_match(x: Tensor, y: Tensor) -> bool:
    """Return whether the shapes of two matrices or vectors are known to match."""
    x_shape, y_shape = (tuple(operand.type.shape or ()) for operand in (x, y))
    x_core, y_core = core_dimensions(x_shape, y_shape)
    return x_core is not None and x_core == y_core


def _multiply_matrices(x: Tensor, y: Tensor) -> Any:
    """Return a matrix product: a vector is a row on the left, a column on the right, and the result loses that axis."""
    ranks = rank_of(x), rank_of(y)
    if 0 in ranks:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    dtype = x.dtype
    if dtype.is_bool:
        x, y = (cast(operand, np.float32) for operand in (x, y))  # a sum of ones is positive, however it is rounded
    if not _core_shapes_match(x, y):
        apply("numpy_shapes", x, y, rule=MATMUL)  # raises NumPy's error for shapes that do not match
    rows = apply("expand_dims", x, axis=0) if ranks[0] == 1 else x
    columns = apply("expand_dims", y, axis=1) if ranks[1] == 1 else y
    added_axes = tuple(axis for axis, rank in zip((-2, -1), ranks, strict=True) if rank == 1)
    result = apply("matmul", rows, columns)
    if dtype.is_bool:
        result = apply("not_equal", result, tensor(0, result.dtype.numpy))
    return apply("squeeze", result, axis=added_axes) if added_axes else result


# Ufuncs that compare exactly with any Python int.
_EXACT_COMPARISONS = frozenset({np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal})
LOOPS.update({
    **{name: _loop_of_op(name) for name in ("subtract", "negative", "square", "left_shift", "right_shift")},
    **{name: _loop_of_op(name, kinds="fc") for name in ("divide", "sqrt", "exp", "expm1", "log", "log1p")},
    **{name: _loop_of_op(name, kinds="fc") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{
        f"arc{name}": _loop_of_op(f"a{name}", kinds="fc") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{name: _loop_of_op(name, kinds="iu") for name in ("gcd", "lcm")},
    **{f"bitwise_{name}": _loop_of_op(f"bitwise_{name}", bool_op=f"logical_{name}") for name in ("and", "or", "xor")},
    "add": _loop_of_op("add", bool_op="logical_or"), "multiply": _loop_of_op("multiply", bool_op="logical_and"),
    "floor_divide": _loop_of_op("floor_divide", kinds="iuf"), "remainder": _loop_of_op("modulo", kinds="iuf"),
    "absolute": _loop_of_op("abs", bool_op="identity"), "invert": _loop_of_op("invert", bool_op="logical_not"),
    "maximum": _loop_of_op("maximum", bool_op="logical_or", kinds="iuf"),
    "minimum": _loop_of_op("minimum", bool_op="logical_and", kinds="iuf"),
    "float_power": _loop_of_op("power", kinds="fc"),
    **{name: _real_loop(name) for name in ("cbrt", "exp2", "hypot", "log10", "log2", "logaddexp", "nextafter")},
    "fabs": _real_loop("abs"), "arctan2": _real_loop("atan2"),
    "fmax": _nan_ignoring_loop("maximum"), "fmin": _nan_ignoring_loop("minimum"),
    **{f"logical_{name}": _truth_value_loop(f"logical_{name}") for name in ("and", "or", "xor", "not")},
    **{name: _rounding_loop(name) for name in ("floor", "ceil", "trunc", "rint")},
    **{f"is{name}": _predicate_loop(f"is_{name}", name == "finite") for name in ("nan", "inf", "finite")},
    **{ufunc.__name__: _comparison_loop(ufunc.__name__) for ufunc in _EXACT_COMPARISONS},
    **dict.fromkeys(("deg2rad", "radians"), _scaling_loop(np.pi / 180)),
    **dict.fromkeys(("rad2deg", "degrees"), _scaling_loop(180 / np.pi)),
    "divmod": _divmod, "power": _power_loop, "positive": _identity_function, "sign": _sign, "signbit": _signbit,
    "reciprocal": _reciprocal, "matmul": _multiply_matrices, "heaviside": _heaviside, "copysign": _copysign,
    **REAL_LOOPS,
    "conjugate": lambda x: apply("conjugate", x) if x.dtype.is_complex else x,
})  # fmt: skip
_REDUCTION_BY_UFUNC = {
    "add": np.sum, "multiply": np.prod, "maximum": np.max, "minimum": np.min, "logical_and": np.all,
    "logical_or": np.any,
}  # fmt: skip
UFUNCS = list({id(ufunc): ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}.values())

for _ufunc in UFUNCS:
    computes(_ufunc)(functools.partial(call_ufunc, _ufunc))
    if _ufunc.nin == 2 and _ufunc.nout == 1 and _ufunc.signature is None:
        for _method in (reduce, accumulate, outer, reduceat):
            computes(getattr(_ufunc, _method.__name__))(functools.partial(_method, _ufunc))
