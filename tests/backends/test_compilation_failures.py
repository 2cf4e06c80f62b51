"""Compiling or loading machine code fails for lack of memory, files or threads; calls have right results."""

import threading

import pytest

import autoconv as ac
from autoconv.backends import llvm
from autoconv.backends.llvm import backend
from autoconv.backends.llvm.jit import compiler
from autoconv.backends.llvm.jit.engine import NoMachineCode
from autoconv.config import SETTINGS
from autoconv.tracing.execute import native_dispatch

ERRORS = (NoMachineCode("none"), MemoryError("no bytes"), OSError(12, "Cannot allocate memory"))


def total(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * i
    return s


def _function_that_raises(error):
    def fail(*_, **__):
        raise error

    return fail


def _compile_and_check(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    monkeypatch.setattr(SETTINGS, "strict", True)
    compiled = ac.compile(total)
    assert [compiled(1.5, 4) for _ in range(12)] == [total(1.5, 4)] * 12
    return compiled.explain()


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_compiling_a_graph_fails(monkeypatch, error):
    monkeypatch.setattr(llvm, "prepare_object_files", _function_that_raises(error))
    assert "no native code" in _compile_and_check(monkeypatch)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_compiling_the_dispatch_fails(monkeypatch, error):
    monkeypatch.setattr(backend, "shared_address", _function_that_raises(error))
    monkeypatch.setattr(native_dispatch, "_INSTALLED", [])
    _compile_and_check(monkeypatch)


def test_starting_threads_fails(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", _function_that_raises(RuntimeError("can't start new thread")))
    monkeypatch.setattr(SETTINGS, "threads", 4)
    text = "define i64 @{}() {{\n  ret i64 1\n}}\n"
    found = compiler.object_files([(text.format(name), 0) for name in ("f", "g", "h")])
    assert all(type(item) is bytes and item for item in found)
