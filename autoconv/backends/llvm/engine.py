"""From LLVM's text to machine code that is loaded into this process."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from autoconv.backends.llvm.abi import symbols


class Code:
    """Loaded machine code: `address(name)` of a function or global. It lives as long as this object."""

    def __init__(self, text: str, thorough: bool) -> None:
        binding = _binding()
        module = binding.parse_assembly(text)
        machine = _machine(3 if thorough else 1)
        _run_passes(binding, module, machine, 3 if thorough else 1)
        self._engine = binding.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        found = self._engine.get_function_address(name) or self._engine.get_global_value_address(name)
        return int(found)


@functools.cache
def _binding() -> Any:
    """llvmlite's binding, ready, with the symbols that code refers to; imported when native code is first made."""
    import llvmlite.binding as binding  # heavy: 30 to 130 ms

    for start in ("initialize_native_target", "initialize_native_asmprinter"):
        getattr(binding, start)()
    for name, address in symbols().items():
        binding.add_symbol(name, address)
    return binding


def _machine(level: int) -> Any:
    binding = _binding()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=level, jit=True
    )


def _run_passes(binding: Any, module: Any, machine: Any, level: int) -> None:
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    options.loop_interleaving = options.loop_unrolling = level > 1
    builder = binding.create_pass_builder(machine, options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)


def native_entry(address: int, name: str, keep: Any) -> Any:
    """The METH_FASTCALL function at `address` as a Python callable; `keep` lives as long as it does."""
    definition = _MethodDefinition(name.encode(), address, 0x0080, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    owner = (definition, keep)
    return make(ctypes.addressof(definition), owner, None)


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )
