"""A function's graph by stages: as recorded, after each optimisation, and as native code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends import get_backend
from autoconv.errors import TargetError
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.lazy_dataclass import dataclass
from autoconv.optimise import OPTIMISATIONS, optimise
from autoconv.tracing.api.argument_types import parse_specs
from autoconv.tracing.api.declared_arguments import trace_for_export
from autoconv.tracing.api.function import Function
from autoconv.tracing.specialise.compile_contract import CompileContract

BEFORE, NATIVE = "before", "native"
STAGES = (BEFORE, *(row.name for row in OPTIMISATIONS), NATIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage; `changed` is true if its text differs from that of the previous stage."""

    name: str
    text: str
    changed: bool


def stages(function: Function[..., Any], specs: str, spans: bool = False) -> list[Stage]:
    """Return the stages of one trace, in the order of STAGES.

    `specs` are the arguments, separated by spaces: types as graphs print them (`float32[2,?]`) or Python's literals. If
    `spans` is true, nodes are printed with their source lines. Raises TargetError for invalid specs, AutoconvError if
    the function has no graph for them.
    """
    if function.contract == CompileContract.name:
        # `float32[2]` is a NumPy array here. A text may have several specs; without any, `input_signature` is used.
        texts = [specs] if specs.strip() else []
        concrete = trace_for_export(function, texts, function.contract).concrete
    else:
        concrete = function.get_concrete_function(*parse_specs(specs))
    result: list[Stage] = []

    def add_stage(name: str, text: str) -> None:
        result.append(Stage(name=name, text=text, changed=not result or result[-1].text != text))

    def dump(name: str, graph: Graph) -> None:
        add_stage(name, to_text(graph, spans))

    optimised = optimise(concrete.recorded, contract=function.contract, dump=dump)
    add_stage(NATIVE, "\n".join(get_backend(function.backend).describe(optimised)) + "\n")
    return result


def find_stage(name: str, stages: Sequence[Stage]) -> Stage:
    """Return the stage of that name; raises TargetError with the list of names if there is none."""
    for stage in stages:
        if stage.name == name:
            return stage
    raise TargetError(f"there is no stage {name!r}; the stages in order are: {', '.join(STAGES)}")
