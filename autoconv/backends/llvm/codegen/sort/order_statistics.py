"""Lower order statistics (the elements at given positions of the sorted rows) to NumPy's selection on a copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import Routine, open_dimensions
from autoconv.backends.llvm.codegen.sort.network import sort_keys
from autoconv.backends.llvm.codegen.sort.numpy_routines import copy_of, release_copy
from autoconv.backends.llvm.codegen.sort.sort_keys import from_key, key_dtype, to_key
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, product
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.induction import constant_of

_INTROSELECT = 0  # NPY_INTROSELECT
_NETWORK_SIZES = (8, 16, 32)  # elements that the networks for short vectors of open size sort
# Each element of the sample is compared with the next neighbours in the sample, in arrays of at least that many.
_SAMPLE, _NEIGHBOURS, _MIN_SAMPLED = 32, 8, 256


def _is_native(node: Node) -> bool:
    """Return whether native code selects the elements: the array is real, the positions are a number or a vector."""
    x_type, positions_type = (value.type for value in node.inputs)
    return is_dense(x_type) and not is_complex(x_type) and (is_scalar(positions_type) or is_dense(positions_type))


@native_lowering("order_statistics", fits=_is_native, fits_open=_is_native)
def write_order_statistics(region: LoweringContext, node: Node) -> None:
    """Copy the rows, partition them at the positions by NumPy, and gather the elements there.

    The pivot is the position of the latest partition. Positions next to the pivot, as for medians, and the last
    position need no partition. A scan finds their elements: the least and the greatest element after the pivot.
    A scan also finds the first or the last element of sorted rows if that is the only one.

    Arrays in which a sample finds a frequent number are partitioned at all positions by one call. NumPy's selection at
    a single position, which uses vector registers, takes up to ten times as long for them as for distinct numbers. Its
    selection at several positions does not.

    Short vectors of open size, such as the windows of a filter, are sorted by a network.
    """
    out, b, (x, positions), (result,) = region.out, RegisterWriter(region), node.inputs, node.results
    count = 1 if is_scalar(positions.type) else sizes(positions.type)[0]
    if is_scalar(result.type):
        target = out.alloca("i64")
    else:
        region.set(result, region.new_array(result.type))
        target = region.data(result)
    name = _gather_routine(region, node, count)
    if is_scalar(positions.type) and constant_of(positions) in (0, -1):
        (position,) = _write_checked_positions(region, node, count)
        out.call(name, region.data(x), region.data(x), target, -1, position, 0, *region.body.module.sizes)
    else:
        _write_selections(region, node, name, target, count)
    if is_scalar(result.type):
        region.set(result, load(b, x.dtype, target, 0))


def _write_selections(region: LoweringContext, node: Node, name: str, target: str, count: int) -> None:
    """Write the elements at each position to the target, by the gathering routine of that name."""
    out, x = region.out, node.inputs[0]
    positions = _write_checked_positions(region, node, count)

    def gather(selected: str, position: str, pivot: str, column: int) -> None:
        out.call(name, region.data(x), selected, target, pivot, position, column, *region.body.module.sizes)

    def gather_from_network() -> None:
        sorted_row = out.alloca(f"[{_NETWORK_SIZES[-1]} x {register(x.dtype)}]")
        out.call(_network_routine(region, x.dtype), region.data(x), sizes(x.type)[0], sorted_row)
        for column, position in enumerate(positions):
            gather(sorted_row, position, position, column)

    if len(sizes(x.type)) > 1 or isinstance(sizes(x.type)[0], int):
        _write_partitions(region, node, positions, gather)
        return
    is_short = out.icmp("ule", sizes(x.type)[0], _NETWORK_SIZES[-1])
    out.either(is_short, gather_from_network, lambda: _write_partitions(region, node, positions, gather))


def _write_partitions(
    region: LoweringContext, node: Node, positions: Sequence[str], gather: Callable[[str, str, str, int], None]
) -> None:
    """Partition a copy of the rows at each position, and gather the elements there."""
    out, x = region.out, node.inputs[0]
    selected_array, pivot_cell = copy_of(region, x), out.alloca("i64")
    is_repetitive = _has_frequent_number(region, node)
    with out.if_(is_repetitive):
        _write_partition(region, node, selected_array, positions if len(positions) > 1 else [*positions, *positions])
    last_position = plus(out, sizes(x.type)[node.attributes["axis"]], -1)
    for column, position in enumerate(positions):
        is_done = is_repetitive
        if column:
            last_pivot = out.load("i64", pivot_cell)
            is_last = out.and_(out.icmp("eq", position, last_position), out.icmp("sge", position, last_pivot))
            is_near_pivot = out.icmp("ult", out.op("sub", position, last_pivot), 2)
            is_done = out.or_(is_repetitive, out.or_(is_last, is_near_pivot))
        with out.unless(is_done):
            _write_partition(region, node, selected_array, [position])
            out.store("i64", position, pivot_cell)
        pivot = out.select(is_repetitive, position, out.load("i64", pivot_cell))
        gather(region.address(selected_array), position, pivot, column)
    release_copy(region, x, selected_array)


def _network_routine(region: LoweringContext, dtype: DType) -> str:
    """Write a routine that sorts the `%count` elements of a short row by the smallest network; return its name.

    The row is filled up with the greatest keys.
    """
    routine = Routine(region, ["ptr noalias readonly %x", "i64 %count", "ptr noalias %result"])
    out, b, keys_dtype = routine.out, routine.b, key_dtype(dtype)
    last, padding = out.add("%count", -1), b.constant((1 << 8 * dtype.size) - 1, keys_dtype)

    def sort(size: int) -> None:
        """Write the network for a row of `size` keys."""
        keys = []
        for i in range(size):
            is_element = out.icmp("slt", i, "%count")
            element = load(b, dtype, "%x", out.select(is_element, i, last))
            key = to_key(b, element, is_descending=False, zeros_are_equal=False)
            keys.append(b.select(b.wrap(bool_, is_element), key, padding))
        for i, key in enumerate(sort_keys(b, keys)):
            store(b, from_key(b, key, dtype, is_descending=False), "%result", i)

    def sort_by_smallest(sizes: Sequence[int]) -> None:
        """Write the choice of the first of the sizes that is large enough."""
        if len(sizes) == 1:
            sort(sizes[0])
        else:
            is_enough = out.icmp("ule", "%count", sizes[0])
            out.either(is_enough, lambda: sort(sizes[0]), lambda: sort_by_smallest(sizes[1:]))

    with out.if_(out.icmp("sgt", "%count", 0)):
        sort_by_smallest(_NETWORK_SIZES)
    return routine.finish()


def _has_frequent_number(region: LoweringContext, node: Node) -> str:
    """Return the i1 that is true if two neighbours in a sample of a large array are equal."""
    out, x = region.out, node.inputs[0]
    count = element_count(out, sizes(x.type))
    if x.dtype.size < 4 or (isinstance(count, int) and count < _MIN_SAMPLED):
        return "false"
    routine = Routine(region, ["ptr noalias readonly %x", "i64 %count"], result="i1")
    test_out, b = routine.out, routine.b
    equal_pairs, step = test_out.alloca("i64", "0"), test_out.op("udiv", "%count", _SAMPLE)
    with test_out.loop("0", str(_SAMPLE)) as i, test_out.loop("1", str(_NEIGHBOURS + 1)) as distance:
        neighbour_number = test_out.op("and", test_out.add(i, distance), _SAMPLE - 1)
        offsets = [test_out.op("mul", number, step) for number in (i, neighbour_number)]
        element, neighbour = (load(b, x.dtype, "%x", offset) for offset in offsets)
        is_equal = b.cast(element.same(neighbour), int64)
        test_out.store("i64", test_out.add(test_out.load("i64", equal_pairs), is_equal.ir), equal_pairs)
    is_frequent = test_out.icmp("sgt", test_out.load("i64", equal_pairs), 0)
    is_large = test_out.icmp("sge", "%count", _MIN_SAMPLED)
    name = routine.finish(f"ret i1 {test_out.and_(is_frequent, is_large)}")
    return out.call(name, region.data(x), count)


def _write_partition(region: LoweringContext, node: Node, array: Any, positions: Sequence[str]) -> None:
    """Partition each row at the positions, as `numpy.partition` does."""
    out, vector = region.out, TensorType(int64, (len(positions),))
    kth = region.new_array(vector)
    for i, position in enumerate(positions):
        out.store("i64", position, out.gep("i64", region.address(kth), i))
    axis = node.attributes["axis"]
    status = out.call_c("PyArray_Partition", "i32", "ptr, ptr, i32, i32", array.ir, kth.ir, axis, _INTROSELECT)
    region.body.fail_if(out.icmp("slt", status, 0))
    region.body.release_or_keep(kth.slot, vector)


def _write_checked_positions(region: LoweringContext, node: Node, count: int) -> list[str]:
    """Check the positions; return their registers, normalised to count from the start."""
    out, b, (x, positions) = region.out, RegisterWriter(region), node.inputs
    size = sizes(x.type)[node.attributes["axis"]]
    elements = (
        [region.number(positions)]
        if is_scalar(positions.type)
        else [region.element(positions, (i,)) for i in range(count)]
    )
    result: list[str] = []
    for position in (b.cast(element, int64).ir for element in elements):
        result.append(out.select(out.icmp("slt", position, 0), out.add(position, size), position))
        region.raise_if(node, out.icmp("uge", result[-1], size))
    return result


def _gather_routine(region: LoweringContext, node: Node, count: int) -> str:
    """Write a routine that gathers the element at `%position` of each row; return the routine's name.

    `%column` is the position among the gathered elements. If the element is a zero, the routine gathers the zero,
    positive or negative, that a stable sort would move to `%position`.
    """
    type_: Any = node.inputs[0].type
    shape, axis, dtype = sizes(type_), node.attributes["axis"], type_.dtype
    parameters = ["ptr noalias readonly %x", "ptr noalias readonly %selected", "ptr noalias %result"]
    parameters += [f"{register(int64)} {name}" for name in ("%pivot", "%position", "%column")]
    parameters += open_dimensions(region)
    routine = Routine(region, parameters)
    out, b = routine.out, routine.b
    inner_count, size = element_count(out, shape[axis + 1 :]), shape[axis]
    with out.loop("0", str(element_count(out, shape[:axis]))) as row, out.loop("0", str(inner_count)) as column:
        start = plus(out, product(out, product(out, row, size), inner_count), column)

        def load_element(position: Position, start: Position = start) -> Element:
            return load(b, dtype, "%selected", plus(out, start, product(out, position, inner_count)))

        target = plus(out, product(out, plus(out, product(out, row, count), "%column"), inner_count), column)
        store(b, _element_at_position(routine, dtype, load_element, size), "%result", target)
        if dtype.is_floating:
            row_of_x = (routine, dtype, start, inner_count, size)
            is_zero = load(b, dtype, "%result", target).same(0.0).ir
            with out.unlikely(is_zero), out.if_(_has_negative_zero(*row_of_x)):
                store(b, _stable_zero(*row_of_x), "%result", target)
    return routine.finish()


def _element_at_position(
    routine: Routine, dtype: DType, load_element: Callable[[Position], Element], size: Position
) -> Element:
    """Return the element at `%position`, which is `%pivot`, the position after it, or the last position.

    With a pivot of -1, rows need no partition, and `%position` is the first or the last.
    """
    out, b = routine.out, routine.b
    cell = out.alloca("i64")
    start = plus(out, "%pivot", 1)

    def load_key(position: Position) -> Element:
        return to_key(b, load_element(position), is_descending=False, zeros_are_equal=False)

    def scan(name: str) -> None:
        store(b, load_key("%position"), cell, 0)
        with out.loop(str(start), str(size)) as i:
            key = load_key(i)
            store(b, b.intrinsic(name, load(b, key.dtype, cell, 0), key), cell, 0)

    is_next = out.icmp("eq", out.op("sub", "%position", "%pivot"), 1)
    is_same = out.icmp("eq", "%position", "%pivot")
    out.either(
        is_same,
        lambda: store(b, load_key("%pivot"), cell, 0),
        lambda: out.either(is_next, lambda: scan("umin"), lambda: scan("umax")),
    )
    return from_key(b, load(b, key_dtype(dtype), cell, 0), dtype, is_descending=False)


def _has_negative_zero(routine: Routine, dtype: DType, start: Position, step: Position, size: Position) -> str:
    """Return an i1 that is true if the row of `%x` that begins at `start` has a negative zero."""
    out, b, bits_dtype = routine.out, routine.b, key_dtype(dtype)
    found_cell = out.alloca("i64")
    out.store("i64", 0, found_cell)
    with out.loop("0", str(size)) as i:
        bits = load(b, bits_dtype, "%x", plus(out, start, product(out, i, step)))
        is_negative_zero = b.cast(bits.same(1 << (8 * dtype.size - 1)), int64).ir
        out.store("i64", out.op("or", out.load("i64", found_cell), is_negative_zero), found_cell)
    return out.icmp("ne", out.load("i64", found_cell), 0)


def _stable_zero(routine: Routine, dtype: DType, start: Position, step: Position, size: Position) -> Element:
    """Return the zero of a row of `%x` that a stable sort moves to `%position`."""
    out, b = routine.out, routine.b
    count_cell, zero_cell = out.alloca("i64"), out.alloca("i64")
    out.store("i64", 0, count_cell)

    def count_if(condition: Element) -> None:
        out.store("i64", out.add(out.load("i64", count_cell), b.cast(condition, int64).ir), count_cell)

    with out.loop("0", str(size)) as i:
        count_if(load(b, dtype, "%x", plus(out, start, product(out, i, step))) < 0.0)
    with out.loop("0", str(size)) as i:
        number = load(b, dtype, "%x", plus(out, start, product(out, i, step)))
        is_zero = number.same(0.0)
        is_moved_here = out.and_(is_zero.ir, out.icmp("eq", out.load("i64", count_cell), "%position"))
        with out.unlikely(is_moved_here):
            store(b, number, zero_cell, 0)
        count_if(is_zero)
    return load(b, dtype, zero_cell, 0)
