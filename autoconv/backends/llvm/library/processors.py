"""The processors that a library can be written for."""

from __future__ import annotations

import dataclasses
import platform
import sys
from dataclasses import dataclass

from autoconv.backends.library_form import WrongTarget
from autoconv.backends.llvm.target.cpu import instructions
from autoconv.backends.llvm.target.machine import Target, this_machine

_TWO = frozenset({"sse2", "ssse3", "sse4_1", "sse4_2", "popcnt"})
_THREE = _TWO | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
_FOUR = _THREE | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS = {"x86-64": frozenset({"sse2"}), "x86-64-v2": _TWO, "x86-64-v3": _THREE, "x86-64-v4": _FOUR}
_SHORT = {"v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"}
_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True, slots=True)
class Processor:
    """The options of LLVM for a processor, and the facts that code depends on. `local` is thread-local storage."""

    triple: str
    cpu: str
    target: Target
    local: str


def processor(cpu: str, triple: str) -> Processor:
    """Return the processor; raise WrongTarget for a level that it does not have."""
    here = _NAMES.get(platform.machine().lower(), platform.machine().lower())
    name = triple.partition("-")[0].lower() or here
    architecture = _NAMES.get(name, name)
    cpu = _SHORT.get(cpu, cpu)
    if cpu == "native" and architecture != here:
        raise WrongTarget(f"this machine is {here}, so that --cpu native is no processor of {triple}")
    if not cpu:
        cpu = "x86-64" if architecture == "x86_64" else "generic"
    if architecture == "x86_64" and cpu != "native" and cpu not in LEVELS:
        raise WrongTarget(f"{cpu} is no level of x86-64; the levels are {', '.join(LEVELS)} and native")
    features = instructions() if cpu == "native" else LEVELS.get(cpu, frozenset())
    target = dataclasses.replace(
        this_machine(), features=features, architecture=architecture, threads=1, has_pool=False, has_libraries=False,
        pointer=4 if architecture in ("wasm32", "i386", "i686", "arm", "armv7", "riscv32") else 8,
    )  # fmt: skip
    has_threads = not architecture.startswith("wasm")
    elf = "linux" in triple or (not triple and sys.platform == "linux")
    local = "" if not has_threads else "thread_local(initialexec)" if elf else "thread_local"
    return Processor(triple, cpu, target, local)
