"""Compile linked modules to one object file, in a separate process: `python assembly.py < request > object`.

The request is JSON: the texts, the names that stay public, the triple, the processor, its features, and the level of
optimisation. This file imports nothing of this package. For an unsupported processor or triple, the process prints
LLVM's message and exits with the code 2.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WRONG_TARGET = 2  # exit code


def assemble(request: dict[str, Any]) -> bytes:
    """Link the texts, make all but the public names internal, and return the object file."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = _target_machine(llvm, request)
    linked_module, *further_modules = [llvm.parse_assembly(text) for text in request["texts"]]
    for other_module in further_modules:
        linked_module.link_in(other_module)
    linked_module.triple, linked_module.data_layout = machine.triple, str(machine.target_data)
    for item in (*linked_module.functions, *linked_module.global_variables):
        if not item.is_declaration and item.name not in request["public"]:
            item.linkage = "internal"
    level = request["level"]
    options = llvm.create_pipeline_tuning_options(speed_level=min(level, 3))
    options.loop_vectorization = options.loop_interleaving = level > 2
    options.slp_vectorization = options.loop_unrolling = level > 1
    llvm.create_pass_builder(machine, options).getModulePassManager().run(
        linked_module, llvm.create_pass_builder(machine, options)
    )
    return bytes(machine.emit_object(linked_module))


def _target_machine(llvm: Any, request: dict[str, Any]) -> Any:
    """Return LLVM's target machine for a request; exit the process if LLVM lacks the target."""
    try:
        target = llvm.Target.from_triple(request["triple"] or llvm.get_default_triple())
    except RuntimeError as error:
        print(f"LLVM has no code for the target {request['triple']}: {error}", file=sys.stderr)
        sys.exit(WRONG_TARGET)
    is_native = request["cpu"] == "native"
    cpu = llvm.get_host_cpu_name() if is_native else request["cpu"]
    features = llvm.get_host_cpu_features().flatten() if is_native else request["features"]
    return target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default")


if __name__ == "__main__":
    sys.stdout.buffer.write(assemble(json.load(sys.stdin)))
