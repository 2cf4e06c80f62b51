"""The processors for which libraries can be built."""

from __future__ import annotations

import dataclasses
import platform
import sys

from autoconv.backends.library_form import WrongTarget
from autoconv.backends.llvm.target.cpu import instructions
from autoconv.backends.llvm.target.machine import Target, this_machine
from autoconv.lazy_dataclass import dataclass

_V2_FEATURES = frozenset({"sse2", "ssse3", "sse4_1", "sse4_2", "popcnt"})
_V3_FEATURES = _V2_FEATURES | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
_V4_FEATURES = _V3_FEATURES | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
FEATURES_BY_LEVEL = {
    "x86-64": frozenset({"sse2"}), "x86-64-v2": _V2_FEATURES, "x86-64-v3": _V3_FEATURES, "x86-64-v4": _V4_FEATURES,
}  # fmt: skip
_SHORT_NAMES = {"v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"}
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True, slots=True)
class Processor:
    """LLVM's options for a processor, and the properties on which code depends.

    `thread_local` is the attribute of thread-local globals, "" for a processor without threads.
    """

    triple: str
    cpu: str
    target: Target
    thread_local: str


def processor(cpu: str, triple: str) -> Processor:
    """Return the processor of a name and a triple; raise WrongTarget if the architecture has none of that name."""
    own_architecture = _ARCHITECTURES.get(platform.machine().lower(), platform.machine().lower())
    name = triple.partition("-")[0].lower() or own_architecture
    architecture = _ARCHITECTURES.get(name, name)
    cpu = _SHORT_NAMES.get(cpu, cpu)
    if cpu == "native" and architecture != own_architecture:
        raise WrongTarget(f"this machine is {own_architecture}, so that --cpu native is no processor of {triple}")
    if not cpu:
        cpu = "x86-64" if architecture == "x86_64" else "generic"
    if architecture == "x86_64" and cpu != "native" and cpu not in FEATURES_BY_LEVEL:
        raise WrongTarget(f"{cpu} is no level of x86-64; the levels are {', '.join(FEATURES_BY_LEVEL)} and native")
    features = instructions() if cpu == "native" else FEATURES_BY_LEVEL.get(cpu, frozenset())
    target = dataclasses.replace(
        this_machine(), features=features, architecture=architecture, threads=1, has_pool=False, has_libraries=False,
        pointer=4 if architecture in ("wasm32", "i386", "i686", "arm", "armv7", "riscv32") else 8,
    )  # fmt: skip
    has_threads = not architecture.startswith("wasm")
    is_elf = "linux" in triple or (not triple and sys.platform == "linux")
    thread_local = "" if not has_threads else "thread_local(initialexec)" if is_elf else "thread_local"
    return Processor(triple, cpu, target, thread_local)
