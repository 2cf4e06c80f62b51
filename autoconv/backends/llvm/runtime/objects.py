"""Runtime functions, shared by all native code, for the common cases of operations on Python objects.

Each tests the classes of its operands first. It returns a new reference, or NULL with an error set. For operands of
classes that only the op's kernel supports it returns `OTHER`, without side effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.runtime import typed_lists
from autoconv.backends.llvm.target import abi

OTHER = "inttoptr (i64 1 to ptr)"
FUNCTIONS = {
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
    "object_whole": ("i1", "ptr, ptr"),
    "object_advance": ("i32", "ptr, ptr"),
    "object_locate": ("void", "ptr"),
    "object_numbers": ("ptr", "ptr, ptr, i64, i64"),
}  # fmt: skip

# Classes, one bit each: no code of the user's affects how exact instances of these behave.
CLASSES = (*abi.CLASSES, *abi.SCALARS)
PLACES = {**abi.CLASSES, **abi.SCALARS}


def mask(*names: str) -> int:
    """Return the bit set of the classes."""
    return sum(1 << CLASSES.index(name) for name in names)


NUMBERS = mask("int", "float", "bool", "complex", *abi.SCALARS)
EVERY = (1 << len(CLASSES)) - 1
_SIZED = mask("str", "list", "tuple", "dict", "set", "range", "bytes")


def _kind_text() -> str:
    lines = ["define internal i64 @object_kind(ptr %object) nounwind {"]
    lines += [f"  %at = getelementptr inbounds i8, ptr %object, i64 {abi.TYPE}", "  %class = load ptr, ptr %at"]
    before = "0"
    for i, name in enumerate(CLASSES):
        lines.append(f"  %is{i} = icmp eq ptr %class, @{PLACES[name]}")
        lines.append(f"  %kind{i} = select i1 %is{i}, i64 {1 << i}, i64 {before}")
        before = f"%kind{i}"
    return "\n".join([*lines, f"  ret i64 {before}", "}"])


def _pack(name: str, new: str, step: int, put: str) -> str:
    """Return a function that puts `%count` items into a new container, `step` at a time."""
    return f"""
define ptr @{name}(ptr %items, i64 %count) nounwind {{
entry:
  %made = call ptr {new}
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %put ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %put, label %done
put:
  %at = getelementptr inbounds ptr, ptr %items, i64 %i
  %item = load ptr, ptr %at
  {put}
  %next = add i64 %i, {step}
  %well = icmp eq i32 %answer, 0
  br i1 %well, label %head, label %drop
drop:
  call void @Py_DecRef(ptr %made)
  ret ptr null
done:
  ret ptr %made
}}
"""


_PUT_PAIR = """%value_at = getelementptr inbounds i8, ptr %at, i64 8
  %value = load ptr, ptr %value_at
  %answer = call i32 @PyDict_SetItem(ptr %made, ptr %item, ptr %value)"""
_PACKS = (
    _pack("object_list", "@PyList_New(i64 0)", 1, "%answer = call i32 @PyList_Append(ptr %made, ptr %item)")
    + _pack("object_collect", "@PySet_New(ptr null)", 1, "%answer = call i32 @PySet_Add(ptr %made, ptr %item)")
    + _pack("object_map", "@PyDict_New()", 2, _PUT_PAIR)
)


def _guarded(name: str, arguments: str, known: dict[str, str], lines: Sequence[str], other: str = OTHER) -> str:
    """Return a function that runs `lines` if all tests hold, and else returns `other`.

    Its parameters `%a`, `%b` … have the types in FUNCTIONS. `known` maps the arguments of each test to its function.
    The last of `lines` defines `%found`, the result.
    """
    result, types = FUNCTIONS[name]
    parameters = [f"{kind} %{letter}" for kind, letter in zip(types.split(", "), arguments, strict=True)]
    tests = [f"  %known{i} = call i1 @{test}({of})" for i, (of, test) in enumerate(known.items())]
    every = "%known0"
    for i in range(1, len(known)):
        tests.append(f"  %both{i} = and i1 {every}, %known{i}")
        every = f"%both{i}"
    body = [*tests, f"  br i1 {every}, label %go, label %other", "go:", *(f"  {line}" for line in lines)]
    end = [f"  ret {result} %found", "other:", f"  ret {result} {other}", "}"]
    return "\n".join([f"define {result} @{name}({', '.join(parameters)}) nounwind {{", *body, *end, ""])


def _is(letter: str, classes: Any) -> dict[str, str]:
    return {f"ptr %{letter}, i64 {classes}": "object_is"}


_CHANGED = mask("list", "dict")
_TRUTH, _DONE = "%found = call ptr @object_truth_of(i32 %answer)", "%found = call ptr @object_done(i32 %answer)"
_GUARDED = "\n".join([
    _guarded("object_unary", "abc", _is("a", "%c"), ["%found = call ptr %b(ptr %a)"]),
    _guarded("object_binary", "abcde", {**_is("a", "%d"), **_is("b", "%e")}, ["%found = call ptr %c(ptr %a, ptr %b)"]),
    _guarded("object_compare", "abc", {**_is("a", EVERY), **_is("b", EVERY)},
             ["%found = call ptr @PyObject_RichCompare(ptr %a, ptr %b, i32 %c)"]),
    _guarded("object_contains", "ab", {**_is("a", _SIZED), **_is("b", EVERY)},
             ["%answer = call i32 @PySequence_Contains(ptr %a, ptr %b)", _TRUTH]),
    _guarded("object_set_item", "abc", {**_is("a", _CHANGED), **_is("b", EVERY)},
             ["%answer = call i32 @PyObject_SetItem(ptr %a, ptr %b, ptr %c)", _DONE]),
    _guarded("object_delete_item", "ab", {**_is("a", _CHANGED), **_is("b", EVERY)},
             ["%answer = call i32 @PyObject_DelItem(ptr %a, ptr %b)", _DONE]),
    _guarded("object_append", "ab", _is("a", mask("list")),
             ["%answer = call i32 @PyList_Append(ptr %a, ptr %b)", _DONE]),
    _guarded("object_call", "abc", {"ptr %b, i64 %c": "object_are_known"},
             ["%found = call ptr @PyObject_Vectorcall(ptr %a, ptr %b, i64 %c, ptr null)"]),
    _guarded("object_call_method", "abcd", {"ptr %b, i64 %d": "object_first_is", "ptr %b, i64 %c": "object_are_known"},
             ["%found = call ptr @PyObject_VectorcallMethod(ptr %a, ptr %b, i64 %c, ptr null)"]),
    _guarded("object_is_tuple", "ab", _is("a", mask("tuple")),
             ["%length = call i64 @PyObject_Size(ptr %a)", "%found = icmp eq i64 %length, %b"], "false"),
    _guarded("object_iterator", "a", _is("a", _SIZED), ["%found = call ptr @PyObject_GetIter(ptr %a)"]),
    _guarded("object_attribute", "ab", {"ptr %a, ptr %b": "object_holds"},
             ["%found = call ptr @PyObject_GetAttr(ptr %a, ptr %b)"]),
    _guarded("object_put_attribute", "abc", {"ptr %a, ptr %b": "object_holds"},
             ["%answer = call i32 @PyObject_SetAttr(ptr %a, ptr %b, ptr %c)", _DONE]),
    _guarded("object_length", "a", _is("a", _SIZED), ["%found = call i64 @PyObject_Size(ptr %a)"], "-1"),
    _guarded("object_truth", "a", _is("a", EVERY), ["%found = call i32 @PyObject_IsTrue(ptr %a)"], "-1"),
    _guarded("object_whole", "ab", _is("a", mask("int")),
             ["%overflow = alloca i32", "%whole = call i64 @PyLong_AsLongLongAndOverflow(ptr %a, ptr %overflow)",
              "store i64 %whole, ptr %b", "%beyond = load i32, ptr %overflow", "%found = icmp eq i32 %beyond, 0"],
             "false"),
])  # fmt: skip
TEXT = (
    "\n".join(f"@{name} = external global i8" for name in [*PLACES.values(), *abi.SINGLETONS])
    + """
declare void @_Py_Dealloc(ptr)
declare ptr @PyObject_RichCompare(ptr, ptr, i32)
declare i32 @PySequence_Contains(ptr, ptr)
declare i32 @PyObject_SetItem(ptr, ptr, ptr)
declare i32 @PyObject_DelItem(ptr, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_Append(ptr, ptr)
declare ptr @PySet_New(ptr)
declare i32 @PySet_Add(ptr, ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyObject_GetIter(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)
declare i64 @PyObject_Size(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyIter_Next(ptr)
declare ptr @PyObject_GenericGetAttr(ptr, ptr)
declare i32 @PyObject_GenericSetAttr(ptr, ptr, ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i32 @PyObject_SetAttr(ptr, ptr, ptr)
declare ptr @_PyType_Lookup(ptr, ptr)
declare ptr @PyErr_Occurred()
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
declare void @PyErr_SetObject(ptr, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
"""
    + _kind_text()
    + """
define internal i1 @object_is(ptr %object, i64 %classes) nounwind {
  %kind = call i64 @object_kind(ptr %object)
  %common = and i64 %kind, %classes
  %found = icmp ne i64 %common, 0
  ret i1 %found
}

define internal i1 @object_are_known(ptr %objects, i64 %count) nounwind {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %at = getelementptr inbounds ptr, ptr %objects, i64 %i
  %object = load ptr, ptr %at
  %kind = call i64 @object_kind(ptr %object)
  %next = add i64 %i, 1
  %known = icmp ne i64 %kind, 0
  br i1 %known, label %head, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @object_first_is(ptr %objects, i64 %classes) nounwind {
  %object = load ptr, ptr %objects
  %found = call i1 @object_is(ptr %object, i64 %classes)
  ret i1 %found
}

define internal ptr @object_truth_of(i32 %answer) nounwind {
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %no, label %yes
yes:
  %is_true = icmp ne i32 %answer, 0
  %truth = select i1 %is_true, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %truth)
  ret ptr %truth
no:
  ret ptr null
}

define internal ptr @object_done(i32 %answer) nounwind {
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %no, label %yes
yes:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
no:
  ret ptr null
}

GUARDED
PACKS
define internal i1 @object_holds(ptr %object, ptr %name) nounwind {
  %at = getelementptr inbounds i8, ptr %object, i64 TYPE
  %class = load ptr, ptr %at
  %get_at = getelementptr inbounds i8, ptr %class, i64 GETTER
  %get = load ptr, ptr %get_at
  %set_at = getelementptr inbounds i8, ptr %class, i64 SETTER
  %set = load ptr, ptr %set_at
  %gets = icmp eq ptr %get, @PyObject_GenericGetAttr
  %sets = icmp eq ptr %set, @PyObject_GenericSetAttr
  %generic = and i1 %gets, %sets
  br i1 %generic, label %look, label %no
look:
  %described = call ptr @_PyType_Lookup(ptr %class, ptr %name)
  %own = icmp eq ptr %described, null
  br i1 %own, label %yes, label %ask
ask:
  %kind_at = getelementptr inbounds i8, ptr %described, i64 TYPE
  %kind = load ptr, ptr %kind_at
  %is_slot = icmp eq ptr %kind, @PyMemberDescr_Type
  br i1 %is_slot, label %yes, label %value
value:
  %is_value = call i1 @object_is(ptr %described, i64 EVERY)
  ret i1 %is_value
yes:
  ret i1 true
no:
  ret i1 false
}

define i32 @object_advance(ptr %items, ptr %current) nounwind {
  %next = call ptr @PyIter_Next(ptr %items)
  %none = icmp eq ptr %next, null
  br i1 %none, label %end, label %put
put:
  %before = load ptr, ptr %current
  store ptr %next, ptr %current
  call void @Py_DecRef(ptr %before)
  ret i32 1
end:
  %error = call ptr @PyErr_Occurred()
  %well = icmp eq ptr %error, null
  %answer = select i1 %well, i32 0, i32 -1
  ret i32 %answer
}

define void @object_locate(ptr %locator) nounwind {
  %kind = alloca ptr
  %error = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %kind, ptr %error, ptr %trace)
  call void @PyErr_NormalizeException(ptr %kind, ptr %error, ptr %trace)
  %made = load ptr, ptr %error
  %traced = load ptr, ptr %trace
  %untraced = icmp eq ptr %traced, null
  br i1 %untraced, label %go, label %set
set:
  %answer = call i32 @PyException_SetTraceback(ptr %made, ptr %traced)
  br label %go
go:
  %found = call ptr @PyObject_Vectorcall(ptr %locator, ptr %error, i64 1, ptr null)
  call void @Py_DecRef(ptr %made)
  %class = load ptr, ptr %kind
  call void @Py_DecRef(ptr %class)
  br i1 %untraced, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %traced)
  br label %done
done:
  ret void
}
"""
)
TEXT += typed_lists.TEXT
for _name, _value in {
    "GUARDED": _GUARDED, "PACKS": _PACKS, "EVERY": EVERY, "GETTER": abi.GETTER, "SETTER": abi.SETTER, "TYPE": abi.TYPE,
}.items():  # fmt: skip
    TEXT = TEXT.replace(_name, str(_value))
