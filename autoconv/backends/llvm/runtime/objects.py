"""Runtime functions for the common cases of operations on Python objects, which all native code shares.

Each function tests the classes of its operands first. It returns a new reference, or NULL with an error set. For
operands of classes that only the op's kernel supports, it returns `OTHER`, without side effects.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.runtime import float_flags
from autoconv.backends.llvm.runtime.llvm_text import read
from autoconv.backends.llvm.target import abi

OTHER = "inttoptr (i64 1 to ptr)"  # an address that no object has
# Name -> (type of the result, types of the parameters).
SIGNATURES = {
    "object_unary": ("ptr", "ptr, ptr, i64"),
    "object_binary": ("ptr", "ptr, ptr, ptr, i64, i64"),
    "object_compare": ("ptr", "ptr, ptr, i32"),
    "object_contains": ("ptr", "ptr, ptr"),
    "object_set_item": ("ptr", "ptr, ptr, ptr"),
    "object_delete_item": ("ptr", "ptr, ptr"),
    "object_append": ("ptr", "ptr, ptr"),
    "object_call": ("ptr", "ptr, ptr, i64"),
    "object_call_method": ("ptr", "ptr, ptr, i64, i64"),
    "object_list": ("ptr", "ptr, i64"),
    "object_collect": ("ptr", "ptr, i64"),
    "object_map": ("ptr", "ptr, i64"),
    "object_is_tuple": ("i1", "ptr, i64"),
    "object_iterator": ("ptr", "ptr"),
    "object_attribute": ("ptr", "ptr, ptr"),
    "object_put_attribute": ("ptr", "ptr, ptr, ptr"),
    "object_length": ("i64", "ptr"),
    "object_truth": ("i32", "ptr"),
    "object_int64": ("i1", "ptr, ptr"),
    "object_advance": ("i32", "ptr, ptr"),
    "object_locate": ("void", "ptr"),
    "object_numbers": ("ptr", "ptr, ptr, i64, i64, i64"),
}  # fmt: skip

# Class -> symbol, for classes whose exact instances behave independently of the user's code. Each class has a bit.
SYMBOLS = {**abi.CLASSES, **abi.SCALARS, **abi.COLLECTIONS}
_CLASSES = (*SYMBOLS,)


def class_mask(*names: str) -> int:
    """Return the bit set of the named classes."""
    return sum(1 << _CLASSES.index(name) for name in names)


NUMBERS = class_mask("int", "float", "bool", "complex", *abi.SCALARS)
ALL_CLASSES = (1 << len(_CLASSES)) - 1
_SIZED = class_mask("str", "list", "tuple", "dict", "set", "range", "bytes", "deque")


def _class_bit_text() -> str:
    """Return the text of a function that returns the bit of an object's class, or 0."""
    lines = ["define internal i64 @object_class_bit(ptr %object) nounwind {"]
    lines += [f"  %at = getelementptr inbounds i8, ptr %object, i64 {abi.TYPE_OFFSET}", "  %class = load ptr, ptr %at"]
    bit = "0"
    for i, symbol in enumerate(SYMBOLS.values()):
        lines.append(f"  %is{i} = icmp eq ptr %class, @{symbol}")
        lines.append(f"  %bit{i} = select i1 %is{i}, i64 {1 << i}, i64 {bit}")
        bit = f"%bit{i}"
    return "\n".join([*lines, f"  ret i64 {bit}", "}"])


def _packing_text(name: str, constructor_call: str, step: int, store_lines: str) -> str:
    """Return the text of a function that stores `%count` items in a new container, `step` at a time.

    `store_lines` store the item `%item`, whose address is `%at`, in `%container`, and define `%status`.
    """
    return f"""
define ptr @{name}(ptr %items, i64 %count) nounwind {{
entry:
  %container = call ptr {constructor_call}
  %has_failed = icmp eq ptr %container, null
  br i1 %has_failed, label %done, label %next_item
next_item:
  %i = phi i64 [ 0, %entry ], [ %next, %store_item ]
  %has_more = icmp slt i64 %i, %count
  br i1 %has_more, label %store_item, label %done
store_item:
  %at = getelementptr inbounds ptr, ptr %items, i64 %i
  %item = load ptr, ptr %at
  {store_lines}
  %next = add i64 %i, {step}
  %is_stored = icmp eq i32 %status, 0
  br i1 %is_stored, label %next_item, label %drop_container
drop_container:
  call void @Py_DecRef(ptr %container)
  ret ptr null
done:
  ret ptr %container
}}
"""


_APPEND = "%status = call i32 @PyList_Append(ptr %container, ptr %item)"
_ADD = "%status = call i32 @PySet_Add(ptr %container, ptr %item)"
_SET_PAIR = """%value_at = getelementptr inbounds i8, ptr %at, i64 8
  %value = load ptr, ptr %value_at
  %status = call i32 @PyDict_SetItem(ptr %container, ptr %item, ptr %value)"""
_PACKING_FUNCTIONS = (
    _packing_text("object_list", "@PyList_New(i64 0)", 1, _APPEND)
    + _packing_text("object_collect", "@PySet_New(ptr null)", 1, _ADD)
    + _packing_text("object_map", "@PyDict_New()", 2, _SET_PAIR)
)


def _guarded_text(name: str, letters: str, tests: dict[str, str], lines: Sequence[str], other: str = OTHER) -> str:
    """Return the text of a function that runs `lines` if all tests hold, and otherwise returns `other`.

    Its parameters have the names `letters`, and the types in SIGNATURES. `tests` maps the operands of each test to its
    function. One of `lines` defines the result, `%found`.
    """
    result, types = SIGNATURES[name]
    parameters = [f"{ir_type} %{letter}" for ir_type, letter in zip(types.split(", "), letters, strict=True)]
    test_lines = [f"  %known{i} = call i1 @{test}({operands})" for i, (operands, test) in enumerate(tests.items())]
    all_hold = "%known0"
    for i in range(1, len(tests)):
        test_lines.append(f"  %both{i} = and i1 {all_hold}, %known{i}")
        all_hold = f"%both{i}"
    body = [*test_lines, f"  br i1 {all_hold}, label %go, label %other", "go:", *(f"  {line}" for line in lines)]
    end = [f"  ret {result} %found", "other:", f"  ret {result} {other}", "}"]
    return "\n".join([f"define {result} @{name}({', '.join(parameters)}) nounwind {{", *body, *end, ""])


def _class_test(letter: str, classes: Any) -> dict[str, str]:
    """Return a test, as for `_guarded_text`, that the class of a parameter is in a bit set."""
    return {f"ptr %{letter}, i64 {classes}": "object_is"}


def _keep_flags(call: str) -> list[str]:
    """Return the lines of a call that keep the flags of floating-point errors, which NumPy clears first."""
    return ["%errors = call i64 @float_errors()", call, "call void @keep_float_errors(i64 %errors)"]


_MUTABLE = class_mask("list", "dict")
_TRUTH_RESULT = "%found = call ptr @object_truth_of(i32 %status)"
_NONE_RESULT = "%found = call ptr @object_none_of(i32 %status)"
_GUARDED_FUNCTIONS = "\n".join([
    _guarded_text("object_unary", "abc", _class_test("a", "%c"), _keep_flags("%found = call ptr %b(ptr %a)")),
    _guarded_text(
        "object_binary", "abcde", {**_class_test("a", "%d"), **_class_test("b", "%e")},
        _keep_flags("%found = call ptr %c(ptr %a, ptr %b)"),
    ),
    _guarded_text("object_compare", "abc", {**_class_test("a", ALL_CLASSES), **_class_test("b", ALL_CLASSES)},
                  _keep_flags("%found = call ptr @PyObject_RichCompare(ptr %a, ptr %b, i32 %c)")),
    _guarded_text("object_contains", "ab", {**_class_test("a", _SIZED), **_class_test("b", ALL_CLASSES)},
                  [*_keep_flags("%status = call i32 @PySequence_Contains(ptr %a, ptr %b)"), _TRUTH_RESULT]),
    _guarded_text("object_set_item", "abc", {**_class_test("a", _MUTABLE), **_class_test("b", ALL_CLASSES)},
                  ["%status = call i32 @PyObject_SetItem(ptr %a, ptr %b, ptr %c)", _NONE_RESULT]),
    _guarded_text("object_delete_item", "ab", {**_class_test("a", _MUTABLE), **_class_test("b", ALL_CLASSES)},
                  ["%status = call i32 @PyObject_DelItem(ptr %a, ptr %b)", _NONE_RESULT]),
    _guarded_text("object_append", "ab", _class_test("a", class_mask("list")),
                  ["%status = call i32 @PyList_Append(ptr %a, ptr %b)", _NONE_RESULT]),
    _guarded_text("object_call", "abc", {"ptr %b, i64 %c": "object_are_known"},
                  _keep_flags("%found = call ptr @PyObject_Vectorcall(ptr %a, ptr %b, i64 %c, ptr null)")),
    _guarded_text("object_call_method", "abcd",
                  {"ptr %b, i64 %d": "object_first_is", "ptr %b, i64 %c": "object_are_known"},
                  _keep_flags("%found = call ptr @PyObject_VectorcallMethod(ptr %a, ptr %b, i64 %c, ptr null)")),
    _guarded_text("object_is_tuple", "ab", _class_test("a", class_mask("tuple")),
                  ["%length = call i64 @PyObject_Size(ptr %a)", "%found = icmp eq i64 %length, %b"], "false"),
    _guarded_text("object_iterator", "a", _class_test("a", _SIZED), ["%found = call ptr @PyObject_GetIter(ptr %a)"]),
    _guarded_text("object_attribute", "ab", {"ptr %a, ptr %b": "object_has_plain_access"},
                  ["%found = call ptr @PyObject_GetAttr(ptr %a, ptr %b)"]),
    _guarded_text("object_put_attribute", "abc", {"ptr %a, ptr %b": "object_has_plain_access"},
                  ["%status = call i32 @PyObject_SetAttr(ptr %a, ptr %b, ptr %c)", _NONE_RESULT]),
    _guarded_text("object_length", "a", _class_test("a", _SIZED), ["%found = call i64 @PyObject_Size(ptr %a)"], "-1"),
    _guarded_text("object_truth", "a", _class_test("a", ALL_CLASSES),
                  ["%found = call i32 @PyObject_IsTrue(ptr %a)"], "-1"),
    _guarded_text("object_int64", "ab", _class_test("a", class_mask("int")),
                  ["%overflow = alloca i32", "%number = call i64 @PyLong_AsLongLongAndOverflow(ptr %a, ptr %overflow)",
                   "store i64 %number, ptr %b", "%beyond = load i32, ptr %overflow", "%found = icmp eq i32 %beyond, 0"],
                  "false"),
])  # fmt: skip


@functools.cache
def text() -> str:
    """Return the LLVM text of the routines for objects and typed lists."""
    names = "\n".join(f"@{name} = external global i8" for name in [*SYMBOLS.values(), *abi.SINGLETONS])
    common = read(
        "objects", CLASS_BIT=_class_bit_text(), GUARDED=_GUARDED_FUNCTIONS, PACKING=_PACKING_FUNCTIONS,
        ALL_CLASSES=ALL_CLASSES, GETTER=abi.GETTER_OFFSET, SETTER=abi.SETTER_OFFSET, TYPE=abi.TYPE_OFFSET,
    )  # fmt: skip
    lists = read(
        "typed_lists", LIST_COUNT=abi.LIST_COUNT, LIST_ITEMS=abi.LIST_ITEMS, BYTE_START=abi.BYTE_START,
        FLOAT_VALUE=abi.FLOAT_VALUE, TYPE=abi.TYPE_OFFSET,
    )  # fmt: skip
    return f"{names}\n{common}\n{lists}\n{float_flags.text()}"
