"""Texts of native modules: optimisation levels, functions, and declarations."""

from pathlib import Path

import pytest

pytest.importorskip("llvmlite")

import llvmlite.binding

from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Function, Parameter, Signature
from autoconv.backends.llvm.runtime import (
    array_pool,
    call_dispatch,
    exceptions,
    float_flags,
    llvm_text,
    objects,
    references,
    thread_pool,
)

PARTS = [array_pool, call_dispatch, exceptions, objects, references, thread_pool]


def test_very_long_functions_are_compiled_without_optimisation():
    module = ModuleText()
    module.has_loops = True
    steps = [f"  %x{i + 1} = add i64 %x{i}, {i}" for i in range(120_000)]
    signature = Signature("i64", ("i64 %x0",))
    long = module.add(Function(signature, [*steps, "  ret i64 %x120000"]), "long")
    short = module.add(Function(signature, ["  ret i64 %x0"]), "short")
    texts = module.texts().items()
    levels = {name: level for text, level in texts for name in (long, short) if f"i64 @{name}(" in text}
    assert levels == {long: 0, short: 3}


def test_equal_functions_are_added_once():
    module, signature = ModuleText(), Signature("i64", ("i64 %x",))
    names = [module.add(Function(signature, [f"  ret i64 {answer}"]), "routine") for answer in ("%x", "%x", "1")]
    assert names == ["routine1", "routine1", "routine2"]


def test_a_parameter_is_an_argument_without_attributes():
    parameter = Parameter.of("ptr noalias readonly %x")
    assert parameter == Parameter("ptr", "%x", "noalias readonly") and str(parameter) == "ptr noalias readonly %x"
    assert parameter.argument == Parameter.of("ptr %x").argument == "ptr %x"


def test_a_function_that_another_text_calls_is_exported_and_declared_there():
    module = ModuleText()
    called = module.add(Function(Signature("i64", ("i64 %x",), QUICK), ["  ret i64 %x"]), "called")
    caller = module.add(Function(Signature("i64", ("i64 %x",), "", "caller"), [f"  call i64 @{called}(i64 %x)"]), "")
    texts = "\n".join(module.texts())
    assert f"define i64 @{called}(i64 %x) noinline optnone {{" in texts
    assert f"declare i64 @{called}(i64 %x) noinline\n" in texts
    assert f"define internal i64 @{caller}(" in texts


@pytest.mark.parametrize("part", PARTS)
def test_shared_code_is_valid(part):
    llvmlite.binding.parse_assembly(part.text()).verify()


@pytest.mark.parametrize("machine", ["x86_64", "arm64", "riscv64"])
def test_flags_of_each_processor_are_valid(machine):
    llvmlite.binding.parse_assembly(float_flags.text(machine)).verify()


def test_a_file_gets_exactly_the_values_that_it_names():
    assert "i64 24\n" in llvm_text.read("is_alone", BASE=24)
    assert "$" not in llvm_text.read("is_alone", BASE=24) and ";" not in llvm_text.read("is_alone", BASE=24)
    for values in ({}, {"BASE": 24, "FLAGS": 1}):
        with pytest.raises(ValueError, match="is_alone"):
            llvm_text.read("is_alone", **values)


def test_every_file_belongs_to_a_part():
    texts = "".join(part.text() for part in PARTS)
    files = Path(llvm_text.__file__).parent.glob("*.ll")
    unused = {path.name for path in files if function_of(path) not in texts}
    of_lowerings = {"polar_normal.ll", "mersenne_word.ll", "mersenne_float.ll", "mersenne_below.ll"}
    assert unused <= {"library_host.ll", "no_stack_floor.ll", "stack_floor.ll"} | of_lowerings  # the first: C libraries


def function_of(path):
    """Return the header of the first function of a file, up to its parameters."""
    return next(line.partition("(")[0] for line in path.read_text().splitlines() if line.startswith("define "))
