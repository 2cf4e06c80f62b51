"""Lower computed sizes to registers, which are valid from their node to the end of its region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.classify import SIZE_CLASSES
from autoconv.backends.llvm.analysis.index_map import IndexMap, variables
from autoconv.backends.llvm.analysis.index_maps import ELEMENT_SOURCES, INDEX_MAP_BY_OP, ElementSource
from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.ops import write_integer
from autoconv.backends.llvm.codegen.memory.slice_bounds import resolve_bounds
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, Position
from autoconv.backends.llvm.target import abi
from autoconv.graph.dimensions import ComputedSize, times
from autoconv.graph.dtypes import bool_, float64, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension, Symbol
from autoconv.ops.index_spec import INPUT

# For more elements, the op's kernel runs and raises. Comparisons are unsigned, so negative sizes exceed the limit too.
_ELEMENT_LIMIT = 1 << 37

# Op -> lowering class.
SIZE_CLASSES.update(dict.fromkeys(("stretched", "resized", "reshaped", "counted_range"), "view"))
SIZE_CLASSES.update(dict.fromkeys(("sizes_bound", "sizes_forgotten"), "memory"))
_SIZE_OPS = ("size_sum", "slice_sizes", "range_size", "reshape_sizes", "number_sizes", "common_sizes", "some_elements")
SIZE_CLASSES.update(dict.fromkeys(_SIZE_OPS, "sizes"))


def _define_size(region: LoweringContext, symbol: ComputedSize, value: Position) -> None:
    """Copy a size to the register of its symbol, which nested native functions then take as a parameter."""
    register, module = register_of(symbol), region.body.module
    region.out.line(f"{register} = add i64 {value}, 0")
    module.sizes = (*module.sizes, register)


@lowering("sizes_bound")
def _write_sizes_bound(region: LoweringContext, node: Node) -> None:
    """Load the sizes of an array, which is copied first if it is not C-contiguous; in a C library, all arrays are."""
    out, body, (x,), (result,) = region.out, region.body, node.inputs, node.results
    is_last_use = region.remaining_uses[x] == 1
    array = body.own_reference(region.take_reference(x, is_last_use))
    shape: Any = result.shape

    def define_sizes(address: str) -> None:
        """Define the computed sizes of the shape by the numbers at `address`, one for each dimension."""
        for axis, size in enumerate(shape):
            if size in node.attributes["defines"]:
                _define_size(region, size, out.load("i64", out.gep("i64", address, axis)))

    if not body.objects.has_python:
        region.set(result, array)
        define_sizes(out.load("ptr", out.gep("i8", array.ir, abi.DIMENSIONS)))
        return
    sizes_address = out.alloca(f"[{len(shape)} x i64]")
    array_class, descriptor = (body.objects.reference(item)(out) for item in (np.ndarray, result.dtype.numpy))

    def load_sizes(address: str) -> str:
        """Copy the sizes of the array at `address` to `sizes_address`; return an i1 that is true if it is C-contiguous.

        The call compares each dimension with the number that is stored there, unless that is -1.
        """
        for axis, size in enumerate(shape):
            out.store("i64", size if isinstance(size, int) else -1, out.gep("i64", sizes_address, axis))
        return out.call("is_open_array", address, array_class, descriptor, len(shape), sizes_address)

    is_contiguous = load_sizes(array.ir)
    with out.unlikely(out.not_(is_contiguous)):
        array_copy = body.call_python(_as_contiguous, array.ir)
        body.release(array.slot)
        out.store("ptr", array_copy, array.slot)
        load_sizes(array_copy)  # for the sizes alone: the copy is C-contiguous
    region.set(result, Object(out.load("ptr", array.slot), array.slot))
    define_sizes(sizes_address)


def _as_contiguous(array: np.ndarray) -> np.ndarray:
    """Return the array itself if it is C-contiguous and aligned, otherwise a copy that is."""
    return np.require(array, requirements=("C_CONTIGUOUS", "ALIGNED"))


@lowering("sizes_forgotten")
def _write_sizes_forgotten(region: LoweringContext, node: Node) -> None:
    """Pass the array on; only its type changes."""
    (x,), (result,) = node.inputs, node.results
    region.set(result, region.body.own_reference(region.take_reference(x, region.remaining_uses[x] == 1)))


@lowering("size_sum")
def _write_size_sum(region: LoweringContext, node: Node) -> None:
    """Define the symbol of a total of sizes, at least 0."""
    total = write_dimension(region.out, node.attributes["total"])
    (symbol,) = node.attributes["defines"]
    _define_size(region, symbol, region.out.intrinsic("smax", total, 0))


@lowering("slice_sizes")
def _write_slice_sizes(region: LoweringContext, node: Node) -> None:
    """Define the symbols of a slice's length and, if there is a symbol for it, of its start."""
    operands = iter(node.inputs)
    spec_parts: Any = node.attributes["parts"]
    parts: list[Any] = [write_integer(region, next(operands)) if part == INPUT else part for part in spec_parts]
    size = write_dimension(region.out, node.attributes["size"])
    start, length, _ = resolve_bounds(region, node, parts, size)
    for symbol, value in zip(node.attributes["defines"], (length, start), strict=False):  # the start is optional
        _define_size(region, symbol, value)


@lowering("range_size")
def _write_range_size(region: LoweringContext, node: Node) -> None:
    """Compute the length of a range: the distance divided by the step, rounded up. A step of 0 raises an error.

    Distance and step size are unsigned numbers of 64 bits, which do not overflow. As in NumPy, the quotient is a float.
    """
    b = RegisterWriter(region)
    (symbol,) = node.attributes["defines"]
    start, limit, step = (b.cast(region.number(value), int64) for value in node.inputs)
    is_nonempty, distance = limit > start, limit - start
    if step.ir == "1":
        distance = b.select(is_nonempty, distance, 0)
        is_too_large = b.wrap(bool_, region.out.icmp("ugt", distance.ir, _ELEMENT_LIMIT))
        length = b.select(is_too_large, 0, distance)
    else:
        region.raise_if(node, step.same(0).ir)
        is_ascending = step > 0
        is_nonempty = b.select(is_ascending, is_nonempty, start > limit)
        distance, step_size = b.select(is_ascending, distance, start - limit), b.select(is_ascending, step, -step)
        quotient = b.convert("uitofp", distance, float64) / b.convert("uitofp", step_size, float64)
        quotient = b.select(is_nonempty, b.intrinsic("ceil", quotient), 0.0)
        is_too_large = quotient > float(_ELEMENT_LIMIT)
        length = b.convert("fptosi", b.select(is_too_large, 0.0, quotient), int64)
    region.raise_if(node, is_too_large.ir)
    # Where NumPy's own computation of the length overflows, the kernel raises no error, and the array is empty.
    _define_size(region, symbol, length.ir)


@lowering("reshape_sizes")
def _write_reshape_sizes(region: LoweringContext, node: Node) -> None:
    """Infer a size of -1 by division; write a check that the product of all sizes is the number of elements.

    The attribute "requested" has the sizes of the new shape, with None for each size that is an operand. With
    "old_sizes", sizes of 0 are left out when -1 is inferred beside a 0, as in TensorFlow.
    """
    out, operands = region.out, iter(node.inputs[1:])
    total = write_dimension(out, node.attributes["count"])
    sizes = [write_integer(region, next(operands)) if size is None else size for size in node.attributes["requested"]]
    sizes = [write_dimension(out, size) if isinstance(size, Symbol) else size for size in sizes]
    are_inferred = [out.icmp("eq", size, -1) for size in sizes]
    given_product: Position = 1
    for size, is_inferred in zip(sizes, are_inferred, strict=True):
        given_product = out.mul(given_product, out.select(is_inferred, 1, size))
    has_zero = out.icmp("eq", given_product, 0)
    old_sizes = node.attributes.get("old_sizes")
    dividend, divisor = total, out.select(has_zero, 1, given_product)
    if old_sizes is not None:
        old_numbers = [write_dimension(out, size) for size in old_sizes]
        dividend = out.select(has_zero, _nonzero_product(out, old_numbers), total)
        new_numbers = [out.select(is_inferred, 1, size) for size, is_inferred in zip(sizes, are_inferred, strict=True)]
        divisor = out.select(has_zero, _nonzero_product(out, new_numbers), given_product)
    quotient = out.op("sdiv", dividend, divisor)
    pairs = zip(sizes, are_inferred, strict=True)
    resolved_sizes = [out.select(is_inferred, quotient, size) for size, is_inferred in pairs]
    inferred_count: Position = 0
    product: Position = 1
    is_wrong = "false"
    for size, is_inferred in zip(resolved_sizes, are_inferred, strict=True):
        inferred_count, product = out.add(inferred_count, out.cast("zext", is_inferred, "i64")), out.mul(product, size)
        is_wrong = out.or_(is_wrong, out.icmp("ugt", size, _ELEMENT_LIMIT))
    is_wrong = out.or_(is_wrong, out.icmp("ne", product, total))
    # Beside a size of 0, any number could take the place of -1; NumPy refuses that too.
    is_undecided = out.and_(out.icmp("eq", inferred_count, 1), out.icmp("eq", given_product, 0))
    if old_sizes is not None:
        is_undecided = out.and_(is_undecided, out.icmp("ne", out.mul(quotient, divisor), dividend))
    region.raise_if(node, out.or_(out.or_(is_wrong, is_undecided), out.icmp("ugt", inferred_count, 1)))
    defined_sizes = iter(node.attributes["defines"])
    for size, requested in zip(resolved_sizes, node.attributes["requested"], strict=True):
        if requested is None or requested == -1:
            _define_size(region, next(defined_sizes), size)


def _nonzero_product(out: Any, sizes: Sequence[Position]) -> Position:
    """Return the product of the sizes that are not 0."""
    result: Position = 1
    for size in sizes:
        result = out.mul(result, out.select(out.icmp("eq", size, 0), 1, size))
    return result


@lowering("number_sizes")
def _write_number_sizes(region: LoweringContext, node: Node) -> None:
    """Define sizes by numbers of the program; write a check that these and their product are below `_ELEMENT_LIMIT`."""
    product: Position = 1
    for symbol, value in zip(node.attributes["defines"], node.inputs, strict=True):
        number = write_integer(region, value)
        region.raise_if(node, region.out.icmp("ugt", number, _ELEMENT_LIMIT))
        _define_size(region, symbol, number)
        if product != 1:
            limit = region.out.op("udiv", _ELEMENT_LIMIT, region.out.intrinsic("umax", product, 1))
            region.raise_if(node, region.out.icmp("ugt", number, limit))
        product = region.out.mul(product, number)


@lowering("common_sizes")
def _write_common_sizes(region: LoweringContext, node: Node) -> None:
    """Write a check that the sizes of each group are equal; unless `is_exact`, a size may also be 1 and is broadcast.

    A member of a group is a pair of a size and a factor or None. The factor is a symbol by which the index of a view is
    multiplied; it is defined as 0 if the size is broadcast, and as 1 otherwise.
    """
    out, is_wrong = region.out, "false"
    defined_sizes, is_exact = node.attributes["defines"], node.attributes["is_exact"]
    for common, members in node.attributes["groups"]:
        sizes = [write_dimension(out, size) for size, _ in members]
        if common in defined_sizes:
            common_size = sizes[0]
            for size in () if is_exact else sizes[1:]:
                common_size = out.select(out.icmp("eq", common_size, 1), size, common_size)
            _define_size(region, common, common_size)
        target = write_dimension(out, common)
        for size, (_, factor) in zip(sizes, members, strict=True):
            if size == target:
                continue
            is_equal = out.icmp("eq", size, target)
            if factor is not None:
                _define_size(region, factor, out.cast("zext", is_equal, "i64"))
            fits = is_equal if is_exact else out.or_(is_equal, out.icmp("eq", size, 1))
            is_wrong = out.or_(is_wrong, out.not_(fits))
    region.raise_if(node, is_wrong)


@lowering("some_elements")
def _write_some_elements(region: LoweringContext, node: Node) -> None:
    """Write a check that no size is 0."""
    out, is_empty = region.out, "false"
    for size in node.attributes["reads"]:
        is_empty = out.or_(is_empty, out.icmp("eq", write_dimension(out, size), 0))
    region.raise_if(node, is_empty)


# ---- views


def _stretched_map(node: Node) -> IndexMap:
    """Return the index map of a broadcast view: each index is multiplied by a factor, which is 0 or 1."""
    factors = node.attributes["reads"]
    index: list[Dimension] = [times(i, factor) for i, factor in zip(variables(len(factors)), factors, strict=True)]
    return IndexMap(tuple(index))


def _resized_map(node: Node) -> IndexMap:
    """Return the identity: only the sizes in the type change."""
    return IndexMap(variables(len(node.results[0].shape or ())))  # type: ignore[arg-type]


def _write_range_element(b: Any, node: Node, index: Index) -> ElementSource:
    """Write the element of a range at an index."""
    dtype = node.results[0].dtype
    start = b.cast(b.number(node.inputs[0]), int64)
    step = b.cast(b.number(node.inputs[1]), int64)
    return b.cast(start + b.wrap(int64, str(index[0])) * step, dtype)  # type: ignore[no-any-return]


INDEX_MAP_BY_OP.update(stretched=_stretched_map, resized=_resized_map, reshaped=INDEX_MAP_BY_OP["reshape"])
ELEMENT_SOURCES["counted_range"] = _write_range_element
