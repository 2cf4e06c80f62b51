"""Lower calls of NumPy's functions for sorting and selection to its C routines."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import complex_lowering, native_lowering
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.index_arith import element_count, is_known, product
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TensorType

_SORT_KINDS = {None: 0, "quicksort": 0, "heapsort": 1}  # argument `kind` -> number in NumPy's C API
_SELECTIONS = ("partition", "argpartition")


def _is_sort_or_selection(node: Node) -> bool:
    """Return whether the node calls `argsort`, `partition` or `argpartition` with arguments that C routines take."""
    if not node.inputs:
        return False
    x, *scalar_types = (value.type for value in node.inputs)
    have_fitting_types = is_dense(x) and all(map(is_scalar, scalar_types))
    if not current_target().has_libraries or not have_fitting_types:
        return False
    if len(node.results) != 1 or not is_dense(node.results[0].type):
        return False
    function, arguments = node.attributes["function"], _arguments_by_name(node)
    if arguments.get("a") != ("input", 0) or arguments.pop("axis", ("value", -1))[0] != "value":
        return False
    if function == "argsort":
        kind = arguments.pop("kind", ("value", None))
        return kind[0] == "value" and kind[1] in _SORT_KINDS and len(arguments) == 1
    if function not in _SELECTIONS or arguments.keys() != {"a", "kth"}:
        return False
    kth = arguments["kth"]
    return type(kth[1]) is int if kth[0] == "value" else kth[0] == "number" and node.inputs[1].dtype.is_integer


def _arguments_by_name(node: Node) -> dict[str, Any]:
    """Return the arguments of a call by name, as pairs of a tag and a value; {} if there are too many.

    The value is a constant if the tag is "value", and the position of an input if it is "input" or "number".
    """
    names = ("a", "axis", "kind") if node.attributes["function"] == "argsort" else ("a", "kth", "axis")
    arguments = node.attributes["arguments"]
    if len(arguments) > len(names):
        return {}
    return {**dict(zip(names, arguments, strict=False)), **dict(node.attributes.get("keywords", ()))}


@complex_lowering("numpy_call", fits=_is_sort_or_selection)
@native_lowering("numpy_call", fits=_is_sort_or_selection, fits_open=_is_sort_or_selection)
def write_numpy_routine(region: LoweringContext, node: Node) -> None:
    """Call the C routine of the function, so that equal elements have the same order as in NumPy."""
    out, (x, *_), (result,) = region.out, node.inputs, node.results
    arguments, function = _arguments_by_name(node), node.attributes["function"]
    axis = arguments.get("axis", ("value", -1))[1] % len(sizes(x.type))
    original = None if function == "partition" else array_object(region, x)
    array = original or copy_of(region, x)
    if function == "argsort":
        kind = _SORT_KINDS[arguments.get("kind", ("value", None))[1]]
        positions = out.call_c("PyArray_ArgSort", "ptr", "ptr, i32, i32", array.ir, axis, kind)
    else:
        positions = _write_selection(region, node, array.ir, axis)
    if function == "partition":
        region.set(result, array)
        return
    region.body.fail_if(out.is_null(positions))
    region.set(result, region.body.own_reference(positions))
    if original is None:
        release_copy(region, x, array)


def copy_of(region: LoweringContext, x: Value) -> Object:
    """Return a new array with the elements of a value."""
    out, shape = region.out, sizes(x.type)
    copy = region.new_array(x.type) if is_known(shape) else region.body.new_sized_array(x.dtype, shape)
    out.copy(region.address(copy), region.data(x), product(out, element_count(out, shape), x.dtype.size))
    return copy


def release_copy(region: LoweringContext, x: Value, copy: Object) -> None:
    """Release an array that `copy_of` returned for the value, or keep it as a spare array."""
    region.body.release_or_keep(copy.slot, x.type if is_known(sizes(x.type)) else TensorType(x.dtype, (None,)))


def array_object(region: LoweringContext, x: Value) -> Object | None:
    """Return the array object of a value; None if the value is not represented by one."""
    if region.is_view(x) or region.is_lent(x):
        return None
    object_ = region.object(x)
    return None if object_.memory or object_.original_type is not None else object_


def _write_selection(region: LoweringContext, node: Node, array: str, axis: int) -> Any:
    """Call NumPy's selection for the position `kth`; return the register of its result."""
    out, vector, kth_argument = region.out, TensorType(int64, (1,)), _arguments_by_name(node)["kth"]
    kth = region.new_array(vector)
    b = RegisterWriter(region)
    number = kth_argument[1] if kth_argument[0] == "value" else b.cast(region.number(node.inputs[1]), int64).ir
    out.store("i64", number, region.address(kth))
    if node.attributes["function"] == "partition":
        result = out.call_c("PyArray_Partition", "i32", "ptr, ptr, i32, i32", array, kth.ir, axis, 0)
        region.body.fail_if(out.icmp("slt", result, 0))
    else:
        result = out.call_c("PyArray_ArgPartition", "ptr", "ptr, ptr, i32, i32", array, kth.ir, axis, 0)
    region.body.release_or_keep(kth.slot, vector)
    return result
