"""Object files are loaded into memory, by the own loader and by LLVM's linker."""

import ctypes
import gc
import os
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.jit import compiler, machine_code
from autoconv.backends.llvm.jit import engine as jit_engine
from autoconv.backends.llvm.jit.compiler import object_file
from autoconv.backends.llvm.jit.elf_loader import LoadedCode, Unlinkable
from autoconv.config import SETTINGS

here = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="LLVM's linker does it all elsewhere"
)
COUNTER = """
@count = global i64 40
@step = internal constant i64 2
declare ptr @memcpy(ptr, ptr, i64)
define i64 @next() {
  %count = load i64, ptr @count
  %step = load i64, ptr @step
  %sum = add i64 %count, %step
  store i64 %sum, ptr @count
  ret i64 %sum
}
define void @copied(ptr %to, ptr %from, i64 %size) {
  call ptr @memcpy(ptr %to, ptr %from, i64 %size)
  ret void
}
"""


def _next(loaded):
    return ctypes.CFUNCTYPE(ctypes.c_int64)(loaded.address("next"))


@here
@pytest.mark.parametrize("level", [0, 1, 3])
def test_code_variables_constants_and_calls(level):
    loaded = LoadedCode([object_file(COUNTER, level)], {})
    assert [_next(loaded)(), _next(loaded)()] == [42, 44]
    assert ctypes.c_int64.from_address(loaded.address("count")).value == 44
    copy = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)(loaded.address("copied"))
    target = ctypes.create_string_buffer(4)
    copy(ctypes.addressof(target), b"abc", 3)
    assert target.value == b"abc"


@here
def test_variables_are_not_shared_with_a_child():
    loaded = LoadedCode([object_file(COUNTER, 1)], {})
    child = os.fork()
    if not child:
        os._exit(_next(loaded)())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    assert _next(loaded)() == 42


@here
def test_code_is_not_writable_and_is_freed_with_its_object():
    loaded = LoadedCode([object_file(COUNTER, 1)], {})
    address = loaded.address("next")

    def access():
        for line in Path("/proc/self/maps").read_text().splitlines():
            start, _, end = line.split()[0].partition("-")
            if int(start, 16) <= address < int(end, 16):
                return line.split()[1]
        return None

    assert access() == "r-xp"
    del loaded
    gc.collect()
    assert access() != "r-xp"


@here
def test_unsupported_object_files_are_left_to_llvms_linker():
    unknown = "declare void @there_is_no_such_function()\n" + COUNTER.replace("@memcpy", "@there_is_no_such_function2")
    with pytest.raises(Unlinkable, match="there_is_no_such_function2"):
        LoadedCode([object_file(unknown, 1)], {})
    with pytest.raises(Unlinkable, match="no ELF"):
        LoadedCode([b"MZ" + bytes(100)], {})
    thread_local_text = "@slot = thread_local global i64 1\n" + COUNTER.replace("ptr @count", "ptr @slot")
    with pytest.raises(Unlinkable):
        LoadedCode([object_file(thread_local_text, 1)], {})


@here
def test_files_refer_to_each_other():
    first = "declare i64 @twice(i64)\n@base = global i64 20\ndefine i64 @whole() {\n  %base = load i64, ptr @base\n"
    first += "  %sum = call i64 @twice(i64 %base)\n  ret i64 %sum\n}\n"
    second = "@base = external global i64\n@own = internal constant i64 2\ndefine i64 @twice(i64 %x) {\n"
    second += "  %by = load i64, ptr @own\n  %more = mul i64 %x, %by\n  store i64 %more, ptr @base\n"
    second += "  ret i64 %more\n}\n"
    loaded = LoadedCode([object_file(first, 3), object_file(second, 0)], {})
    whole = ctypes.CFUNCTYPE(ctypes.c_int64)(loaded.address("whole"))
    assert [whole(), whole()] == [40, 80]


@here
@pytest.mark.parametrize("level", [0, 1, 3])
def test_functions_of_other_libraries_are_called_and_pointed_to(level):
    text = "declare i64 @far(i64)\ndefine i64 @ask(i64 %x) {\n  %found = call i64 @far(i64 %x)\n  ret i64 %found\n}\n"
    text += "define ptr @where() {\n  ret ptr @far\n}\n"
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    far = kind(lambda x: 3 * x)
    address = ctypes.cast(far, ctypes.c_void_p).value
    loaded = LoadedCode([object_file(text, level)], {"far": address})
    assert kind(loaded.address("ask"))(14) == 42
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(loaded.address("where"))() == address


def test_llvmlites_binding_compiles_the_same(monkeypatch):
    for level in (0, 1, 3):
        direct = object_file(COUNTER, level)
        with monkeypatch.context() as patch:
            patch.setattr(machine_code, "load_library", lambda is_in_helper: None)
            assert object_file(COUNTER, level) == direct


def test_modules_are_compiled_concurrently(monkeypatch):
    """Many concurrent compilations: each thread uses its own target machine."""
    monkeypatch.setattr(SETTINGS, "threads", 4)
    modules = [(COUNTER.replace("40", str(number)), (0, 1, 3)[number % 3]) for number in range(24)]
    found = compiler.object_files(modules)
    assert found == [object_file(text, level) for text, level in modules]
    found = compiler.object_files([(COUNTER, 1), ("define nothing", 0), (COUNTER, 0)])
    assert [type(item) for item in found] == [bytes, machine_code.BadText, bytes]


def test_text_that_is_no_module_is_refused(monkeypatch):
    with pytest.raises(RuntimeError, match="expected"):
        object_file("define nothing", 3)
    monkeypatch.setattr(machine_code, "load_library", lambda is_in_helper: None)
    with pytest.raises(RuntimeError, match="expected"):
        object_file("define nothing", 3)


def test_llvms_linker_has_the_same_results(monkeypatch):
    def refuse(code, known):
        raise Unlinkable("for the test")

    monkeypatch.setattr(jit_engine, "LoadedCode", refuse)

    @autoconv.function
    def f(x, n):
        while n > 0:
            x, n = autoconv.sin(x) * x + 1.0, n - 1
        return x @ x

    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    want = x
    for _ in range(3):
        want = np.sin(want) * want + np.float32(1)
    np.testing.assert_allclose(f(x, autoconv.constant(3)).numpy(), want @ want, rtol=1e-4)
