"""Reduce a program to a small one with the same verdict."""

from __future__ import annotations

import ast
import time
import warnings
from dataclasses import replace

import shrink
from grammar.program import Program

from differential.compare import TooLongError, limit_time, load, outcomes
from differential.verdict import Verdict, judge

# Removal of statements often causes these, which are another failure.
_REDUCTION_ERRORS = {"NameError", "UnboundLocalError", "TypeError", "AttributeError"}


def reduce_program(program: Program, verdict: Verdict, rounds: int = 1_500, seconds: float = 120) -> Program:
    """Return a minimal program that still has the verdict's status and kind.

    The search stops after `rounds` candidates or `seconds`.
    """
    allowed = _exception_names(program)
    deadline = time.monotonic() + seconds
    subsets = " without [" in verdict.kind
    stage = verdict.kind.split(" ")[0].strip(",:")
    stages = {"converted": "converted", "conversion": "converted", "outlined": "outlined"}.get(stage, "compiled")
    program = _drop_inputs(program, verdict, subsets, stages)

    def has_same_verdict(text: str) -> bool:
        if time.monotonic() > deadline:
            return False
        candidate = replace(program, source=text + "\n")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "<candidate>", "exec")
            if "def program(" not in text or (_exception_names(candidate) & _REDUCTION_ERRORS) - allowed:
                return False
            actual = judge(candidate, subsets, stages)
        except (SyntaxError, TooLongError, Exception):
            return False
        return (actual.status, actual.kind) == (verdict.status, verdict.kind)

    source = ast.unparse(ast.parse(program.source))
    reduced = replace(program, source=shrink.reduce_source(source, has_same_verdict, rounds) + "\n")
    return _drop_inputs(reduced, verdict, subsets, stages)


def _drop_inputs(program: Program, verdict: Verdict, subsets: bool, stages: str) -> Program:
    for count in range(1, len(program.inputs)):
        candidate = replace(program, inputs=program.inputs[:count])
        actual = judge(candidate, subsets, stages)
        if (actual.status, actual.kind) == (verdict.status, verdict.kind):
            return candidate
    return program


def _exception_names(program: Program) -> set[str]:
    """Return the names of the exceptions that the calls raise in plain Python."""
    with limit_time(2):
        names = load(program.source, "<program>")
        if "program" not in names:
            return set(_REDUCTION_ERRORS)
        results = outcomes(names["program"], names, program.inputs)
    return {result["result"][1][0] for result in results if result["result"][0] == "raises"}
