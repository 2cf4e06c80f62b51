"""Verdicts on programs: staged, refused, plain, retraced, wrong or a crash, each with its kind."""

from __future__ import annotations

import re
import traceback
import types
from dataclasses import dataclass, replace
from typing import Any

from grammar.program import Program
from grammar.simple import ERRORS

import autoconv
from autoconv import errors
from autoconv.backends import BACKENDS
from autoconv.backends.protocol import Backend
from autoconv.config import SETTINGS
from autoconv.emit.converted import outline_loops
from autoconv.emit.module import convert_source
from autoconv.errors import ConversionError
from autoconv.optimise import OPTIMISATIONS, optimise
from differential.compare import LeakError, TooLongError, difference, limit_time, load, outcomes
from differential.eager import eager_outcomes, runs_eagerly

SETTINGS.strict = True  # raise internal errors instead of running plain Python
STATUSES = ("staged", "refused", "plain", "retraced", "wrong", "crash", "skipped")
CONDITIONAL_OPS = ("cond", "while", "switch", "if", "case", "loop", "for")
# Classes that show a fault of this package if they are raised while tracing, and plain Python raises none of them.
_INTERNAL_ERRORS = ("AssertionError", "AttributeError", "NotImplementedError", "NameError", "UnboundLocalError",
                    "RecursionError", "SystemError", "UnicodeError", "VerificationError")  # fmt: skip
_MISSING_ATTRIBUTE = re.compile(r"'\w*(?:Tensor|Variant)\w*' object has no attribute")
_ERROR_PREFIX = re.compile(r"^(\w+(?:Error|Exception|Iteration|Group)|Stop|Later): ")


@dataclass(frozen=True)
class Verdict:
    status: str
    kind: str = ""
    details: str = ""
    conditions: int = 0
    returning_calls: int = 0
    explanation: str = ""


def judge(program: Program, subsets: bool = False, stages: str = "converted outlined compiled") -> Verdict:
    """Run the program plainly, converted, with loops as functions, and compiled, and return the verdict.

    With `subsets` its graph also runs on every backend and with optimisations left out. With "converted" alone for
    `stages` there is no graph, and a program counts as staged when its converted code means the same.
    """
    try:
        with limit_time(5):
            names = load(program.source, "<program>")
            expected = outcomes(names["program"], names, program.inputs)
    except TooLongError:
        return Verdict("skipped", "takes too long in plain Python")
    returning_calls = sum(outcome["result"][0] == "returns" for outcome in expected)
    try:
        with limit_time(60):
            verdict = None
            if "converted" in stages:
                verdict = _check_converted(program, expected) or _check_eager(program, expected)
            if verdict is None and "outlined" in stages:
                verdict = _check_outlined(program, expected)
            if verdict is None:
                verdict = _check_compiled(program, expected, subsets) if "compiled" in stages else Verdict("staged")
    except TooLongError:
        verdict = Verdict("crash", "takes too long", "more than a minute")
    except LeakError as error:
        verdict = Verdict("crash", "a tensor leaks", str(error))
    return replace(verdict, returning_calls=returning_calls)


def _check_converted(program: Program, expected: list[Any]) -> Verdict | None:
    """Return the verdict on the converted module on plain values; None if nothing is wrong."""
    try:
        text = convert_source(program.source, "program.py").text
    except ConversionError as error:
        return Verdict("refused", "conversion: " + normalized_reason(error.message), str(error))
    except Exception as error:
        return Verdict("crash", f"conversion: {normalized_reason(repr(error))}", traceback.format_exc())
    try:
        names = load(text, "<converted>")
        actual = outcomes(names["program"], names, program.inputs)
    except SyntaxError as error:
        return Verdict("crash", f"converted code: {error.msg}", text)
    kind, details = difference(expected, actual, program.inputs)
    return Verdict("wrong", f"converted, plain values: {kind}", details) if kind else None


def _check_outlined(program: Program, expected: list[Any]) -> Verdict | None:
    """Return the verdict on the program whose loops, and the loops in these, are functions of plain Python."""

    def outline(function: types.FunctionType) -> types.FunctionType:
        return outline_loops(function, outline) or function

    names = load(program.source, "<program>")
    kind, details = difference(expected, outcomes(outline(names["program"]), names, program.inputs), program.inputs)
    return Verdict("wrong", f"outlined loops: {kind}", details) if kind else None


def _check_eager(program: Program, expected: list[Any]) -> Verdict | None:
    """Return the verdict on the converted module on eager tensors; None if nothing is wrong."""
    if not runs_eagerly(program):
        return None
    kind, details = difference(expected, eager_outcomes(program), program.inputs)
    return Verdict("wrong", f"converted, eager tensors: {kind}", details) if kind else None


def _check_compiled(program: Program, expected: list[Any], subsets: bool) -> Verdict:
    names = load(program.source, "<program>")
    compiled = autoconv.compile(names["program"])
    tracebacks = _note_failures(compiled)
    actual = outcomes(compiled, names, program.inputs)
    explanation = compiled.explain()
    conditions = sum(
        node.op.name.removeprefix("stateful_").removeprefix("stateless_") in CONDITIONAL_OPS
        for concrete in compiled.concrete_functions
        for node in concrete.recorded.walk()
    )
    kind, details = difference(expected, actual, program.inputs)
    if kind:
        return Verdict("wrong", kind, details, conditions, explanation=explanation)
    raised = {outcome["result"][1][0] for outcome in expected if outcome["result"][0] == "raises"}
    status, kind = _staging_status(compiled, explanation, raised)
    if status == "staged" and subsets:
        kind, details = _check_subsets(program, compiled, names, expected)
        status = "wrong" if kind else status
    if status == "crash":
        details = "\n".join(tracebacks)
    return Verdict(status, kind, details, conditions, explanation=explanation)


def _note_failures(compiled: Any) -> list[str]:
    """Return a list to which each failure of tracing will add its traceback."""
    tracebacks: list[str] = []
    record_plain = compiled._record_plain

    def note_and_record(*arguments: Any) -> None:
        tracebacks.append(traceback.format_exc(limit=-5))
        record_plain(*arguments)

    compiled._record_plain = note_and_record
    return tracebacks


def _staging_status(compiled: Any, explanation: str, expected_errors: set[str]) -> tuple[str, str]:
    lines = explanation.splitlines()
    plain_reasons = [line.split("plain Python: ", 1)[1] for line in lines if "plain Python: " in line]
    traces = compiled.experimental_get_tracing_count()
    for line in plain_reasons:
        reason = normalized_reason(line)
        error = _ERROR_PREFIX.match(reason)
        if error is None:
            return "plain", reason
        if isinstance(getattr(errors, error[1], None), type):
            return "refused", reason
        if error[1] in _INTERNAL_ERRORS and error[1] not in expected_errors and not _MISSING_ATTRIBUTE.search(reason):
            return "crash", f"while tracing: {reason}"
        return "plain", f"raised while tracing: {error[1] if error[1] in ERRORS else reason}"
    if traces == 0:
        return "plain", "no trace, and no reason given"
    callbacks = {
        node.op.name
        for concrete in compiled.concrete_functions
        for node in concrete.optimised.walk()
        if node.op.name.startswith("py_") or node.op.name in ("numpy_function", "eager_py_function")
    }
    if callbacks:
        return "plain", f"a callback in the graph: {', '.join(sorted(callbacks))}"
    return ("staged", "") if traces == 1 else ("retraced", _retrace_reason(explanation))


def _retrace_reason(explanation: str) -> str:
    reasons = re.findall(r"^  (?!1\.)\d+\. (.*?): \(", explanation, re.MULTILINE)
    return normalized_reason(reasons[0]) if reasons else "a part of the key became a constant"


def _check_subsets(program: Program, compiled: Any, names: dict[str, Any], expected: list[Any]) -> tuple[str, str]:
    """Run the graph on every backend, with all optimisations, none, and all but one.

    Return the kind and the description of the first difference, two empty texts without any.
    """
    (concrete,) = compiled.concrete_functions
    original = concrete.executable, concrete._recording
    all_optimisations = [row.name for row in OPTIMISATIONS]
    for backend_name, backend in BACKENDS.items():
        for skip in ([], all_optimisations, *([name] for name in all_optimisations)):
            failure = _prepare_run(concrete, backend, skip)
            if isinstance(failure, str):
                return f"{backend_name} without {skip}: {normalized_reason(failure)}", failure
            fresh = load(program.source, "<program>")
            restored = {name: names[name] for name in fresh if name in names and isinstance(fresh[name], (int, float))}
            names.update({name: fresh[name] for name in restored})
            for name, value in fresh.items():
                if isinstance(value, (list, dict, set)) and not name.startswith("__"):
                    names[name].clear()
                    names[name].update(value) if isinstance(value, dict) else None
            if isinstance(fresh.get("Box"), type):
                names["Box"].scale = fresh["Box"].scale
            actual = outcomes(compiled, names, program.inputs)
            concrete._compiled_executable, concrete._recording = original
            kind, details = difference(expected, actual, program.inputs)
            if kind:
                return f"{backend_name} without {skip}: {kind}", details
    return "", ""


def _prepare_run(concrete: Any, backend: Backend, skip: list[str]) -> str | None:
    try:
        graph = optimise(concrete.recorded, skip=skip, contract="compile")
        concrete._recording = replace(concrete._recording, runnable=graph)
        run = backend.compile(graph)
        concrete._compiled_executable = replace(concrete.executable, run=run)
    except Exception as error:
        return repr(error)
    return None


def normalized_reason(reason: str) -> str:
    """Return a reason without positions, numbers and names, so that equal ones can be counted."""
    reason = re.sub(r"^(?:one call: )?\S*?[\w<>]*:\d+(?::\d+)?: ", "", reason)
    if not _MISSING_ATTRIBUTE.search(reason):
        reason = re.sub(r"'[^']*'", "'…'", reason)
    reason = re.sub(r"\b(?:programs\.)[\w.<>]+", "…", reason)
    reason = re.sub(r"0x[0-9a-f]+|-?\d+(?:\.\d+)?", "N", reason)
    reason = re.sub(r"\b[a-z]+N\b", "…", reason)
    return reason[:150]
