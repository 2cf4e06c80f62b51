"""A function's graph by stages: as recorded, after each optimisation, and as native code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.backends import backend_named
from autoconv.errors import TargetError
from autoconv.graph.attribute_parser import parse_type
from autoconv.graph.graph import Graph
from autoconv.graph.scanner import GraphSyntaxError, Scanner
from autoconv.graph.text import to_text
from autoconv.graph.types import Symbol, TensorType
from autoconv.optimise import OPTIMISATIONS, optimise
from autoconv.runtime.support.shape import TensorSpec
from autoconv.tracing.api.function import Function
from autoconv.tracing.specialise.compile_contract import CompileContract
from autoconv.tracing.specialise.function_contract import FunctionContract

_CONTRACTS = {kind.name: kind for kind in (FunctionContract, CompileContract)}
BEFORE, NATIVE = "before", "native"
STAGES = (BEFORE, *(row.name for row in OPTIMISATIONS), NATIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage; `changed` is whether its text differs from the previous stage's."""

    name: str
    text: str
    changed: bool


def stages(function: Callable[..., Any], specs: str, contract: str, spans: bool = False) -> list[Stage]:
    """Return the stages of one trace, in the order of STAGES.

    `specs` are the arguments, separated by spaces: types as graphs print them (`float32[2,?]`) or Python's
    literals. `contract` is "function" or "compile"; a decorated function keeps its own. Raises TargetError for
    invalid specs, AutoconvError where the function has no graph.
    """
    target = function if isinstance(function, Function) else Function(function, _CONTRACTS[contract])
    concrete = target.get_concrete_function(*parse_specs(specs))
    result: list[Stage] = []

    def add_stage(name: str, text: str) -> None:
        result.append(Stage(name=name, text=text, changed=not result or result[-1].text != text))

    def dump(name: str, graph: Graph) -> None:
        add_stage(name, to_text(graph, spans))

    optimised = optimise(concrete.recorded, contract=target.contract, dump=dump)
    add_stage(NATIVE, "\n".join(backend_named(target.backend).describe(optimised)) + "\n")
    return result


def parse_specs(text: str) -> list[Any]:
    """Parse TensorSpecs and Python values; raises TargetError."""
    return [_spec(one) if isinstance(one, TensorType) else one for one in parse_types(text)]


def parse_types(text: str) -> list[Any]:
    """Parse types of tensors, whose sizes may be names, and Python values; raises TargetError."""
    result: list[Any] = []
    for word in _words(text):
        try:
            result.append(_type_or_value(word))
        except (GraphSyntaxError, ValueError, SyntaxError):
            raise TargetError(
                f"{word!r} is neither a type, such as float32[2,3], float32[?,3] or int32[], nor a literal of Python, "
                "such as 2.5"
            ) from None
    return result


def _type_or_value(word: str) -> Any:
    if word.endswith("]") and not word.startswith("["):
        scanner = Scanner(word)
        type_ = parse_type(scanner)
        if scanner.position != len(word) or not isinstance(type_, TensorType):
            scanner.fail("this is not the type of a tensor")
        return type_
    return ast.literal_eval(word)


def _spec(type_: TensorType) -> TensorSpec:
    shape = type_.shape
    if shape is not None:
        shape = tuple(None if isinstance(size, Symbol) else size for size in shape)
    return TensorSpec(shape, type_.dtype)


def _words(text: str) -> list[str]:
    """Split at spaces outside of brackets and quotes."""
    words, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        depth += (sign in "([{") - (sign in ")]}")
        if sign.isspace() and depth <= 0 and not quote:
            words.append("")
        else:
            words[-1] += sign
    return [word for word in words if word]


def stage_named(name: str, found: Sequence[Stage]) -> Stage:
    """Return the stage of that name; raises TargetError with the list of names for another."""
    for stage in found:
        if stage.name == name:
            return stage
    raise TargetError(f"there is no stage {name!r}; the stages in order are: {', '.join(STAGES)}")
