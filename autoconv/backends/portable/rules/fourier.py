"""Rules of Fourier transforms: by the runtime's own function, or as products with matrices where sizes are open."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int64
from autoconv.graph.graph import Node


@lowers("fft", "ifft", "rfft", "irfft")
def fft(writer: Rules, node: Node, x: Term) -> Term | None:
    """Transform by the runtime's function, or by matrices where a size is open, and scale by `norm`."""
    name = node.op.name
    axes = [axis % x.rank for axis in node.attributes.get("axes") or (-1,)]
    norm = node.attributes.get("norm") or "backward"
    length = node.attributes.get("length")
    if not (x.dtype.is_complex if name != "rfft" else x.dtype.is_floating):
        return None
    parts = [writer.emit_unary(part, x) for part in ("real", "imag")] if x.dtype.is_complex else [x]
    sizes = [writer.size(parts[0], axis) for axis in axes]
    if name == "irfft":
        size = length or sizes[0] + sizes[0] - 2
        sizes = [size if isinstance(size, int) else writer.binary("maximum", size, 1)]
    if not all(isinstance(size, int) for size in (*x.shape, *sizes)):
        dtype = x.dtype.real_dtype if x.dtype.is_complex else x.dtype
        parts = _transform_open(writer, parts, name, axes, sizes, norm)
        parts = [writer.cast(part, dtype) for part in parts]
        return parts[0] if name == "irfft" else writer.pair(*parts)
    if name == "irfft":
        spectrum_size = sizes[0] // 2 + 1
        x = writer.static_slice(x, x.rank - 1, 0, min(spectrum_size, x.shape[-1]))
        if x.shape[-1] < spectrum_size:
            padding = [*[0] * (x.rank - 1), spectrum_size - x.shape[-1]]
            x = writer.pad(x, writer.constant(0, x.dtype), [0] * x.rank, padding)
    result = writer.fft(x, name, axes, sizes)
    element_count = float(np.prod(sizes))
    is_forward = name in ("fft", "rfft")
    factor = {
        "backward": 1.0, "ortho": element_count**-0.5 if is_forward else element_count**0.5,
        "forward": 1 / element_count if is_forward else element_count,
    }[norm]  # fmt: skip
    if factor == 1.0:
        return result
    if result.dtype.is_complex:
        return writer.pair(*(writer.emit_unary(part, result) * factor for part in ("real", "imag")))
    return result * factor


def _transform_open(
    writer: Rules, operand_parts: list[Term], name: str, axes: list[int], sizes: list[Any], norm: str
) -> list[Term]:
    """Transform along axes of open sizes; return the parts of the result, as `_multiply_by_roots` does."""
    count: Any = 1
    for axis, size in zip(axes, sizes, strict=True):
        operand_parts = _multiply_by_roots(writer, operand_parts, name, axis, size)
        count = size * count
    if norm == "backward":
        return operand_parts
    number = writer.cast(count, float64) if isinstance(count, Term) else writer.constant(count, float64)
    factor = number if norm == "forward" else writer.emit_unary("sqrt", number)
    factor = 1.0 / factor if name in ("fft", "rfft") else factor
    return [part * factor for part in operand_parts]


def _multiply_by_roots(writer: Rules, operand_parts: list[Term], kind: str, axis: int, size: Any) -> list[Term]:
    """Transform along an axis by a product with the matrix of roots of unity, in float64; return the parts.

    Real operands have one part, and so does the result of an "irfft". `size` is the number of elements that are
    transformed, or of the samples of an "irfft". Its spectrum is one half: all elements count twice but the first and,
    of an even size, the one in the middle.
    """
    count = writer.constant(size, int64) if isinstance(size, int) else writer.cast(size, int64)
    if kind == "irfft" and isinstance(size, int):
        operand_parts = [writer.slice(operand_part, axis, 0, size // 2 + 1) for operand_part in operand_parts]
    column_count = writer.as_size(writer.binary("divide", count, 2) + 1 if kind == "rfft" else count)
    rows = writer.iota((operand_parts[0].shape[axis], 1), 0, int64, (writer.size(operand_parts[0], axis), 1))
    columns = writer.iota((1, None), 1, int64, (1, column_count))
    turns = writer.cast(writer.binary("remainder", rows * columns, count), float64) / writer.cast(count, float64)
    angles = turns * (2.0 * math.pi)
    cosines, sines = writer.libm("cos", angles), writer.libm("sin", angles)
    if kind == "irfft":
        counts_once = rows.same(0) | (rows * 2).same(count)
        weights = writer.select(counts_once, writer.constant(1.0, float64), 2.0)
        cosines, sines = cosines * weights, sines * weights
    if kind in ("ifft", "irfft"):
        cosines, sines = (matrix / writer.cast(count, float64) for matrix in (cosines, sines))
    else:
        sines = -sines

    def multiply(operand_part: Term, matrix: Term) -> Term:
        product = writer.dot(writer.cast(operand_part, float64), matrix, (), (), (axis,), (0,))
        order = list(range(operand_part.rank - 1))
        order.insert(axis, operand_part.rank - 1)
        return writer.transpose(product, order)

    if len(operand_parts) == 1:
        return [multiply(operand_parts[0], matrix) for matrix in (cosines, sines)]
    real, imag = operand_parts
    real_result = multiply(real, cosines) - multiply(imag, sines)
    return [real_result] if kind == "irfft" else [real_result, multiply(real, sines) + multiply(imag, cosines)]
