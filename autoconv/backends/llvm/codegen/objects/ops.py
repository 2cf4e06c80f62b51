"""Lower operations on Python objects: common cases through Python's C API, all others by the op's kernel.

An object is represented by its address. For operands of built-in classes, an operation is one call of a function of
`runtime/objects.py`. A class mask is an integer with a bit for each built-in class.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from autoconv.backends.llvm.analysis.representation import is_memory, is_scalar
from autoconv.backends.llvm.codegen.memory.array_view import as_ndarray, memory_of
from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering, takes_objects
from autoconv.backends.llvm.codegen.objects.write_barrier import (
    write_attribute,
    write_change_of_items,
    write_item,
    write_method,
)
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.runtime.objects import ALL_CLASSES, NUMBERS, class_mask
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import bool_, float64, int64
from autoconv.graph.graph import Node
from autoconv.graph.python_operators import ARITHMETIC, BITWISE, COMPARISONS, UNARY
from autoconv.graph.types import ArrayType, ObjectType
from autoconv.ops.python import objects
from autoconv.ops.python.unassigned_names import NotAssigned
from autoconv.ops.python.undo_log import ITERATOR_MAKERS, may_change_operand, method_needs_log
from autoconv.ops.values.generator_types import global_generator

_SEQUENCES = class_mask("str", "tuple", "list")
_SUBSCRIPTED = class_mask("list", "tuple", "dict", "str", "range", "bytes", "deque")
_IMMUTABLE = class_mask("int", "float", "bool", "str", "tuple", "range", "bytes")
_NATIVE_OPERATORS = [operator for operator in (*ARITHMETIC, *BITWISE) if operator.name != "pow"]  # pow has 3 operands
_CLASSES_BY_OPERATOR = {"add": NUMBERS | _SEQUENCES, "mul": NUMBERS | _SEQUENCES, "iadd": NUMBERS | class_mask("str")}
# Operator -> C API function.
_C_FUNCTIONS = {operator.name: f"PyNumber_{operator.c_api}" for operator in _NATIVE_OPERATORS}
_C_FUNCTIONS |= {operator.in_place: f"PyNumber_InPlace{operator.c_api}" for operator in _NATIVE_OPERATORS}


class _BinaryFunction(NamedTuple):
    """A function of the C API, with the class masks of its operands.

    On operands of exactly these classes, it runs no code of the user's and has no side effects.
    """

    name: str
    left_classes: int
    right_classes: int


_BINARY: dict[str, _BinaryFunction] = {  # operator -> function
    name: _BinaryFunction(function, classes, classes)
    for name, function in _C_FUNCTIONS.items()
    if (classes := _CLASSES_BY_OPERATOR.get(name, NUMBERS))
}
_BINARY["getitem"] = _BinaryFunction("PyObject_GetItem", _SUBSCRIPTED, ALL_CLASSES)
_UNARY = {operator.name: operator.c_api for operator in UNARY} | {"pos": "Positive"}  # names without PyNumber_
_COMPARISON_ORDER = ("LT", "LE", "EQ", "NE", "GT", "GE")  # numbers of comparisons in the C API
_COMPARISON_NUMBERS = {operator.name: _COMPARISON_ORDER.index(operator.c_api) for operator in COMPARISONS}
_CONTAINERS = (list, dict, set, deque)
# Names of methods that change the object in each of these classes that has the method. The undo log records them.
_MUTATING_METHODS = frozenset(
    name for class_ in _CONTAINERS for name in dir(class_)
    if not name.startswith("_") and method_needs_log(class_, name)
) - {name for class_ in _CONTAINERS for name in dir(class_) if not method_needs_log(class_, name)}


@object_lowering("object_apply")
def _write_apply(op: Operation) -> None:
    """Write an operator or builtin function, which the attribute "function" names."""
    function, operands = op.attributes["function"], op.operands()
    changes_logged_object = may_change_operand(function) and not op.is_fresh(op.node.inputs[0])
    if function == "setitem" and changes_logged_object:
        write_item(op)
    elif function in ITERATOR_MAKERS or (function == "next" and changes_logged_object):
        op.region.write_kernel(op.node)  # the kernel records the change for undo
    elif changes_logged_object:
        write_change_of_items(op, lambda: _call_function(op, function, operands))
    elif function in _BINARY and len(operands) == 2:
        name, left_classes, right_classes = _BINARY[function]
        c_function = op.declare_c_api(name, "ptr", "ptr")
        op.set_result(op.call("object_binary", *operands, c_function, left_classes, right_classes))
    elif function in _UNARY:
        c_function = op.declare_c_api(f"PyNumber_{_UNARY[function]}", "ptr")
        op.set_result(op.call("object_unary", *operands, c_function, NUMBERS))
    elif function in _COMPARISON_NUMBERS:
        op.set_result(op.call("object_compare", *operands, _COMPARISON_NUMBERS[function]))
    elif function in ("is", "is_not"):
        _write_identity_test(op, operands, function == "is")
    else:
        op.set_result(_call_function(op, function, operands))


def _call_function(op: Operation, function: str, operands: list[str]) -> Operand:
    """Call a function of `objects.py`."""
    if function in _ITEM_FUNCTIONS:
        return op.call(_ITEM_FUNCTIONS[function], *operands)
    function_object = op.body.objects.reference(objects.FUNCTIONS[function])(op.out)
    return op.call("object_call", function_object, op.store_array(operands), len(operands))


_ITEM_FUNCTIONS = {"setitem": "object_set_item", "delitem": "object_delete_item", "contains": "object_contains"}


def _write_identity_test(op: Operation, operands: list[str], is_positive: bool) -> None:
    """Write `is`, or `is not` unless `is_positive` is true."""
    truth = op.out.is_same(*operands) if is_positive else op.out.differs(*operands)
    op.set(op.node.results[0], _truth_object(op, truth))


@object_lowering("object_method")
def _write_method_call(op: Operation) -> None:
    """Write a call of a method: natively for the classes for which it needs no undo log, else by the kernel."""
    name, operands = op.attributes["name"], op.operands()
    is_list = op.node.inputs[0].type == ObjectType("list")
    if name == "append" and len(operands) == 2 and is_list and op.is_fresh(op.node.inputs[0]):
        op.set_result(op.call("object_append", *operands))
        return
    native_classes = _IMMUTABLE
    if not op.is_fresh(op.node.inputs[0]) and name in _MUTATING_METHODS:
        write_method(op, native_classes)
        return
    for cls in _CONTAINERS:
        if op.is_fresh(op.node.inputs[0]) or not method_needs_log(cls, name):
            native_classes |= class_mask(cls.__name__)
    name_object = op.body.objects.reference(name)(op.out)
    op.set_result(op.call("object_call_method", name_object, op.store_array(operands), len(operands), native_classes))


@object_lowering("object_get_attribute")
def _write_get_attribute(op: Operation) -> None:
    """Write the read of an attribute."""
    name = op.body.objects.reference(op.attributes["name"])(op.out)
    op.set_result(op.call("object_attribute", *op.operands(), name))


@object_lowering("object_set_attribute")
def _write_set_attribute(op: Operation) -> None:
    """Store an attribute, with the undo log unless the run made the object."""
    owner, value = op.operands()
    name = op.body.objects.reference(op.attributes["name"])(op.out)
    if op.is_fresh(op.node.inputs[0]):
        op.set_result(op.call("object_put_attribute", owner, name, value))
    else:
        write_attribute(op, owner, name, value)


_NUMBER_DTYPES = (bool_, int64, float64)


def _can_box_number(node: Node) -> bool:
    """Return whether the operand is a number that Python has a class for, or that becomes a NumPy scalar."""
    type_ = node.inputs[0].type
    return is_scalar(type_) and (node.attributes["boxing"] == "array" or type_.dtype in _NUMBER_DTYPES)


@object_lowering("object_box", fits=_can_box_number)
def _write_box(op: Operation) -> None:
    """Box a number as a Python number, or with the boxing "array" as a NumPy scalar."""
    number, out = op.region.number(op.node.inputs[0]), op.out
    if op.attributes["boxing"] == "array":
        array = op.region.box(number)
        out.store("ptr", "null", array.slot)
        item = out.call_c("PyArray_Return", "ptr", "ptr", array.ir)
    elif number.dtype is bool_:
        item = _truth_object(op, number.ir)
    elif number.dtype is float64 and op.attributes["boxing"] == "looked_up":
        _write_looked_up_box(op, number.ir)
        return
    elif number.dtype is float64:
        item = out.call_c("PyFloat_FromDouble", "ptr", "double", number.ir)
    else:
        item = out.call_c("PyLong_FromLongLong", "ptr", "i64", number.ir)
    op.set_new_reference(item)


@object_lowering("array_object", fits=lambda node: is_memory(node.inputs[0].type))
def _write_array(op: Operation) -> None:
    """Return a mutable array as an object: the array itself, or a view of it."""
    value = op.node.inputs[0]
    assert isinstance(value.type, ArrayType)
    op.region.set(op.node.results[0], as_ndarray(op.region, memory_of(op.region, value), value.type))


def _write_looked_up_box(op: Operation, number: str) -> None:
    """Box a float that the program looks up in containers; the kernel boxes a nan, which is found by identity only."""

    def write_fast_path() -> list[str]:
        result = op.out.call_c("PyFloat_FromDouble", "ptr", "double", number)
        op.leave_if_failed(op.out.is_null(result))
        return [result]

    op.use_kernel_if(op.out.fcmp("uno", Operand.of(number, "double"), number), write_fast_path)


def _truth_object(op: Operation, truth: str) -> str:
    """Return a new reference to True or False."""
    true_object, false_object = (op.body.objects.reference(value)(op.out) for value in (True, False))
    result = op.out.select(truth, true_object, false_object)
    op.out.call("retain", result)
    return result


def _can_unbox_number(node: Node) -> bool:
    """Return whether an object becomes a bool, an int64 or a float64."""
    type_ = node.results[0].type
    return takes_objects(node) and is_scalar(type_) and type_.dtype in _NUMBER_DTYPES


@object_lowering("object_unbox", fits=_can_unbox_number)
def _write_unbox(op: Operation) -> None:
    """Convert an object of exactly the result's class to a number; the kernel converts others, and large ints."""
    (result,) = op.node.results
    (object_,), out = op.operands(), op.out
    dtype = result.dtype
    if dtype is int64:
        cell = out.alloca("i64")
        fits = op.call("object_int64", object_, cell)
        op.use_kernel_if(out.not_(fits), lambda: [out.load("i64", cell)])
        return
    object_class = out.load("ptr", op.field_address(object_, abi.TYPE_OFFSET))
    is_other_class = out.differs(object_class, op.body.objects.reference(bool if dtype is bool_ else float)(out))
    if dtype is bool_:
        true_object = op.body.objects.reference(True)(out)
        op.use_kernel_if(is_other_class, lambda: [out.is_same(object_, true_object)])
    else:
        op.use_kernel_if(is_other_class, lambda: [out.load("double", op.field_address(object_, abi.FLOAT_VALUE))])


@object_lowering("object_build")
def _write_build(op: Operation) -> None:
    """Write a new list, tuple, set or dict; the operands of a dict are its keys and values in turn."""
    operands, out, class_name = op.operands(), op.out, op.attributes["class_name"]
    if class_name == "dict":
        result = op.call("object_map", op.store_array(operands), len(operands))
    elif class_name == "set":
        result = op.call("object_collect", op.store_array(operands), len(operands))
    elif operands:
        result = op.call("object_list", op.store_array(operands), len(operands))
    else:
        result = out.call_c("PyList_New", "ptr", "i64", 0)
    if class_name == "tuple":
        op.leave_if_failed(out.is_null(result))
        items = op.body.own_reference(result)
        result = out.call_c("PyList_AsTuple", "ptr", "ptr", items.ir)
        op.body.release(items.slot)
    op.set_new_reference(result)


@object_lowering("object_check_assigned")
def _write_check_assigned(op: Operation) -> None:
    """Return the object; the kernel raises for a mark of an unassigned name."""
    (object_,), out = op.operands(), op.out
    object_class = out.load("ptr", op.field_address(object_, abi.TYPE_OFFSET))
    is_unassigned = out.is_same(object_class, op.body.objects.reference(NotAssigned)(out))

    def write_fast_path() -> list[str]:
        out.call("retain", object_)
        return [object_]

    op.use_kernel_if(is_unassigned, write_fast_path)


@object_lowering("object_length")
def _write_length(op: Operation) -> None:
    """Write `len` of an object; the kernel computes those that have no native form."""
    result = op.call("object_length", *op.operands())
    op.use_kernel_if(op.out.icmp("slt", result, 0), lambda: [result])


@object_lowering("object_truth")
def _write_truth(op: Operation) -> None:
    """Write the truth of an object; the kernel computes those that have no native form."""
    result = op.call("object_truth", *op.operands())
    op.use_kernel_if(op.out.icmp("slt", result, 0), lambda: [op.out.icmp("ne", result, 0)])


@object_lowering("object_index")
def _write_index(op: Operation) -> None:
    """Convert an int or bool object to a number."""
    (object_,), out = op.operands(), op.out
    cell = out.alloca("i64")
    is_int = op.call("object_int64", object_, cell)
    is_true, is_false = (out.is_same(object_, op.body.objects.reference(truth)(out)) for truth in (True, False))
    is_int_or_bool = out.or_(is_int, out.or_(is_true, is_false))

    def write_fast_path() -> list[str]:
        number = out.load("i64", cell)
        return [out.select(is_int, number, out.cast("zext", is_true, "i64"))]

    op.use_kernel_if(out.not_(is_int_or_bool), write_fast_path)


@object_lowering("object_isinstance")
def _write_isinstance(op: Operation) -> None:
    """Write `isinstance` for classes that are constants."""
    (object_,), out = op.operands(), op.out
    classes = op.body.objects.reference(op.attributes["kinds"])(out)
    result = out.call_c("PyObject_IsInstance", "i32", "ptr, ptr", object_, classes)
    op.leave_if_failed(out.icmp("slt", result, 0))
    op.set(op.node.results[0], out.icmp("ne", result, 0))


@object_lowering("object_constant")
def _write_constant(op: Operation) -> None:
    """Refer to a constant object."""
    op.region.set(op.node.results[0], Object(op.body.objects.reference(op.attributes["value"])(op.out)))


@object_lowering("generator_global")
def _write_global_generator(op: Operation) -> None:
    """Refer to the global generator of Python or NumPy."""
    (result,) = op.node.results
    op.region.set(result, Object(op.body.objects.reference(global_generator(result.type))(op.out)))
