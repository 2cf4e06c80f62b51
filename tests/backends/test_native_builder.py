"""The builder of native functions: types of operands, and structured control."""

import ctypes

import pytest

pytest.importorskip("llvmlite")

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE, NULL, TRUE, Operand, WrongType
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.jit.engine import Code


def new_function(*parameters):
    return FunctionText(ModuleText(), Signature("i64", parameters, "", "tried", exported=True))


def compile_function(out):
    """Compile the written function, and return it as a Python function of ints."""
    out.finish()
    code = Code(out.module.texts(), ["tried"])
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(out.signature.parameters))(
        code.address("tried")
    )
    function.code = code
    return function


def test_results_of_instructions_have_types():
    out = new_function()
    small = out.load("i32", "%p")
    assert small.type == out.op("lshr", small, 3).type == "i32"
    assert out.icmp("slt", small, 3).type == "i1"
    assert out.gep("double", "%p", 1).type == out.field("{ i8, i64 }", "%p", 1).type == "ptr"
    assert out.cast("zext", small, "i64").type == out.add("%i", 1).type == "i64"
    assert out.select(TRUE, NULL, "%p").type == "ptr"
    assert out.intrinsic("smin", small, 3).type == "i32"


def test_plain_operands_take_the_type_of_the_others():
    out = new_function()
    assert out.add("%i", out.load("i32", "%p")).type == out.select(TRUE, 0, out.load("i32", "%p")).type == "i32"
    assert out.select(TRUE, "%i", 0).type == "i64"


def test_operands_of_other_types_are_refused():
    out = new_function()
    small, wide, pointer = (out.load(kind, "%p") for kind in ("i32", "i64", "ptr"))
    for write in (
        lambda: out.add(small, wide),
        lambda: out.add(wide, small),
        lambda: out.store("i64", small, pointer),
        lambda: out.store("i32", small, small),
        lambda: out.load("i8", small),
        lambda: out.gep("i8", pointer, small),
        lambda: out.icmp("eq", small, pointer),
        lambda: out.is_null(small),
        lambda: out.select(TRUE, small, pointer),
        lambda: out.call_c("puts", "i32", "ptr", small),
        lambda: out.call_c("puts", "i32", "ptr"),
    ):
        with pytest.raises(WrongType):
            write()


def test_constants_fold():
    out = new_function()
    assert (out.add(2, 3), out.sub(2, 3), out.mul(2, 3)) == ("5", "-1", "6")
    assert not out.length() and out.add(2, 3).type == "i64"


def test_calls_are_checked_against_the_signature():
    out = new_function("i64 %x")
    helper = FunctionText(out.module, Signature("i64", ("i64 %x", "i64 %y")))
    helper.ret(helper.mul("%x", "%y"))
    name = helper.finish("helper")
    with pytest.raises(WrongType):
        out.call(name, "%x")
    with pytest.raises(WrongType):
        out.call(name, "%x", TRUE)
    out.ret(out.call(name, "%x", 7))
    assert compile_function(out)(6) == 42


def test_structured_control():
    out = new_function("i64 %x")
    cell = out.alloca("i64", "0")

    def note(number):
        out.store("i64", out.add(out.load("i64", cell), number), cell)

    with out.if_(out.icmp("sgt", "%x", 10)):
        note(1)
    with out.unlikely(out.icmp("sgt", "%x", 20)):
        note(10)
    with out.unless(out.icmp("sgt", "%x", 30)):
        note(100)
    note(out.either(out.icmp("eq", "%x", 5), lambda: out.add("%x", 1000), lambda: 0))
    left = out.alloca("i64", "%x")
    with out.while_(lambda: out.icmp("sgt", out.load("i64", left), 40)):
        out.store("i64", out.sub(out.load("i64", left), 1), left)
        note(10_000)
    with out.loop("0", "3") as i:
        note(out.mul(i, 100_000))
    out.ret(out.load("i64", cell))
    function = compile_function(out)
    assert [function(x) for x in (5, 15, 25, 35, 43)] == [301105, 300101, 300111, 300011, 330011]


def test_either_without_results():
    out = new_function("i64 %x")
    cell = out.alloca("i64")
    found = out.either(
        out.op("and", FALSE, TRUE), lambda: out.store("i64", 1, cell), lambda: out.store("i64", "%x", cell)
    )
    assert found.type == "void" and isinstance(found, Operand)
    out.ret(out.load("i64", cell))
    assert compile_function(out)(7) == 7
