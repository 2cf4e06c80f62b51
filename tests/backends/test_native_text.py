"""Modules of native code: what is optimised, and how much."""

import pytest

pytest.importorskip("llvmlite")

from autoconv.backends.llvm.ir.module import ModuleText


def test_very_long_functions_are_compiled_without_optimisation():
    module = ModuleText()
    module.has_loops = True
    steps = "\n".join(f"  %x{i + 1} = add i64 %x{i}, {i}" for i in range(120_000))
    long = module.function("long", f"define i64 @FUNCTION(i64 %x0) {{\n{steps}\n  ret i64 %x120000\n}}")
    short = module.function("short", "define i64 @FUNCTION(i64 %x) {\n  ret i64 %x\n}")
    texts = module.texts().items()
    levels = {name: level for text, level in texts for name in (long, short) if f"define i64 @{name}(" in text}
    assert levels == {long: 0, short: 3}
