"""What became of one program: staged, refused, plain, retraced, wrong or a crash, and of what kind."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from typing import Any

from grammar.program import Program
from grammar.simple import ERRORS

import autoconv
from autoconv import errors
from autoconv.backends import BACKENDS
from autoconv.backends.protocol import Backend
from autoconv.config import SETTINGS
from autoconv.emit.module import convert_source
from autoconv.errors import ConversionError
from autoconv.optimise import OPTIMISATIONS, optimise
from differential.compare import LeakError, TooLongError, difference, limited, load, outcomes
from differential.eager import eager_outcomes, runs_eagerly

SETTINGS.strict = True  # what this package does wrong is no reason to run as plain Python
STATUSES = ("staged", "refused", "plain", "retraced", "wrong", "crash", "skipped")
CONDITIONAL = ("cond", "while", "switch", "if", "case", "loop", "for")
# Found while tracing where plain Python raises no such thing, these speak of a mistake of the tracer's own.
_MISTAKES = ("AssertionError", "AttributeError", "NotImplementedError", "NameError", "UnboundLocalError",
             "RecursionError", "SystemError", "UnicodeError", "VerificationError")  # fmt: skip
_MISSING = re.compile(r"'\w*(?:Tensor|Variant)\w*' object has no attribute")
_ERROR = re.compile(r"^(\w+(?:Error|Exception|Iteration|Group)|Stop|Later): ")


@dataclass(frozen=True)
class Verdict:
    status: str
    kind: str = ""
    details: str = ""
    conditions: int = 0
    returned: int = 0
    explained: str = ""


def judge(program: Program, subsets: bool = False, stages: str = "converted compiled") -> Verdict:
    """Runs the program plainly, converted and compiled.

    With `subsets` its graph also runs on every backend and with optimisations left out. With "converted" alone for
    `stages` there is no graph, and a program counts as staged when its converted code means the same.
    """
    try:
        with limited(5):
            names = load(program.source, "<program>")
            expected = outcomes(names["program"], names, program.inputs)
    except TooLongError:
        return Verdict("skipped", "takes too long in plain Python")
    returned = sum(one["result"][0] == "returns" for one in expected)
    try:
        with limited(60):
            verdict = (_converted(program, expected) or _eager(program, expected)) if "converted" in stages else None
            if verdict is None:
                verdict = _compiled(program, expected, subsets) if "compiled" in stages else Verdict("staged")
    except TooLongError:
        verdict = Verdict("crash", "takes too long", "more than a minute")
    except LeakError as error:
        verdict = Verdict("crash", "a tensor comes out", str(error))
    return Verdict(verdict.status, verdict.kind, verdict.details, verdict.conditions, returned, verdict.explained)


def _converted(program: Program, expected: list[Any]) -> Verdict | None:
    """What is wrong with the converted module on plain values, if anything is."""
    try:
        text = convert_source(program.source, "program.py").text
    except ConversionError as error:
        return Verdict("refused", "conversion: " + normal(error.message), str(error))
    except Exception as error:
        return Verdict("crash", f"conversion: {normal(repr(error))}", traceback.format_exc())
    try:
        names = load(text, "<converted>")
        found = outcomes(names["program"], names, program.inputs)
    except SyntaxError as error:
        return Verdict("crash", f"converted code: {error.msg}", text)
    kind, details = difference(expected, found, program.inputs)
    return Verdict("wrong", f"converted, plain values: {kind}", details) if kind else None


def _eager(program: Program, expected: list[Any]) -> Verdict | None:
    """What is wrong with the converted module on eager tensors, if anything is."""
    if not runs_eagerly(program):
        return None
    kind, details = difference(expected, eager_outcomes(program), program.inputs)
    return Verdict("wrong", f"converted, eager tensors: {kind}", details) if kind else None


def _compiled(program: Program, expected: list[Any], subsets: bool) -> Verdict:
    names = load(program.source, "<program>")
    compiled = autoconv.compile(names["program"])
    raised_at = _noting(compiled)
    found = outcomes(compiled, names, program.inputs)
    explained = compiled.explain()
    conditions = sum(
        node.op.name.removeprefix("stateful_").removeprefix("stateless_") in CONDITIONAL
        for concrete in compiled.concrete_functions
        for node in concrete.recorded.walk()
    )
    kind, details = difference(expected, found, program.inputs)
    if kind:
        return Verdict("wrong", kind, details, conditions, explained=explained)
    raised = {one["result"][1][0] for one in expected if one["result"][0] == "raises"}
    status, kind = _staging(compiled, explained, raised)
    if status == "staged" and subsets:
        kind, details = _subsets(program, compiled, names, expected)
        status = "wrong" if kind else status
    if status == "crash":
        details = "\n".join(raised_at)
    return Verdict(status, kind, details, conditions, explained=explained)


def _noting(compiled: Any) -> list[str]:
    """Where tracing gave up, filled in as it happens."""
    places: list[str] = []
    give_up = compiled._record_plain

    def noting(*arguments: Any) -> None:
        places.append(traceback.format_exc(limit=-5))
        give_up(*arguments)

    compiled._record_plain = noting
    return places


def _staging(compiled: Any, explained: str, raised: set[str]) -> tuple[str, str]:
    plain = [line.split("plain Python: ", 1)[1] for line in explained.splitlines() if "plain Python: " in line]
    traces = compiled.experimental_get_tracing_count()
    for line in plain:
        reason = normal(line)
        error = _ERROR.match(reason)
        if error is None:
            return "plain", reason
        if isinstance(getattr(errors, error[1], None), type):
            return "refused", reason
        if error[1] in _MISTAKES and error[1] not in raised and not _MISSING.search(reason):
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
    return ("staged", "") if traces == 1 else ("retraced", _why_again(explained))


def _why_again(explained: str) -> str:
    reasons = re.findall(r"^  (?!1\.)\d+\. (.*?): \(", explained, re.MULTILINE)
    return normal(reasons[0]) if reasons else "a part of the key became a constant"


def _subsets(program: Program, compiled: Any, names: dict[str, Any], expected: list[Any]) -> tuple[str, str]:
    """Every backend, with all optimisations, none, and all but one."""
    (concrete,) = compiled.concrete_functions
    kept = concrete._run, concrete.optimised
    every = [row.name for row in OPTIMISATIONS]
    for used, backend in BACKENDS.items():
        for skip in ([], every, *([name] for name in every)):
            run = _prepared(concrete, backend, skip)
            if isinstance(run, str):
                return f"{used} without {skip}: {normal(run)}", run
            fresh = load(program.source, "<program>")
            before = {name: names[name] for name in fresh if name in names and isinstance(fresh[name], (int, float))}
            names.update({name: fresh[name] for name in before})
            for name, value in fresh.items():
                if isinstance(value, (list, dict, set)) and not name.startswith("__"):
                    names[name].clear()
                    names[name].update(value) if isinstance(value, dict) else None
            if isinstance(fresh.get("Box"), type):
                names["Box"].scale = fresh["Box"].scale
            found = outcomes(compiled, names, program.inputs)
            concrete._run, concrete.optimised = kept
            kind, details = difference(expected, found, program.inputs)
            if kind:
                return f"{used} without {skip}: {kind}", details
    return "", ""


def _prepared(concrete: Any, backend: Backend, skip: list[str]) -> str | None:
    try:
        concrete.optimised = optimise(concrete.recorded, skip=skip, contract="compile")
        concrete._run = backend.compile(concrete.optimised)
    except Exception as error:
        return repr(error)
    return None


def normal(reason: str) -> str:
    """A reason without places, numbers and names, so that equal ones can be counted."""
    reason = re.sub(r"^(?:one call: )?\S*?[\w<>]*:\d+(?::\d+)?: ", "", reason)
    if not _MISSING.search(reason):
        reason = re.sub(r"'[^']*'", "'…'", reason)
    reason = re.sub(r"\b(?:programs\.)[\w.<>]+", "…", reason)
    reason = re.sub(r"0x[0-9a-f]+|-?\d+(?:\.\d+)?", "N", reason)
    reason = re.sub(r"\b[a-z]+N\b", "…", reason)
    return reason[:150]
