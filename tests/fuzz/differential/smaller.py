"""Makes a program small that is of the same kind."""

from __future__ import annotations

import ast
import time
import warnings
from dataclasses import replace

import shrink
from grammar.program import Program

from differential.compare import TooLongError, limited, load, outcomes
from differential.verdict import Verdict, judge

# Taking statements out often leads here, and such a program shows something else.
_BROKEN = {"NameError", "UnboundLocalError", "TypeError", "AttributeError"}


def smaller(program: Program, verdict: Verdict, rounds: int = 1_500, seconds: float = 120) -> Program:
    """The program with as little as possible that still has the verdict's status and kind.

    It is what was found after so many candidates, or so many seconds.
    """
    allowed = _raised(program)
    end = time.monotonic() + seconds
    subsets = " without [" in verdict.kind
    stages = "converted" if verdict.kind.startswith(("converted", "conversion")) else "compiled"
    program = _fewer_inputs(program, verdict, subsets, stages)

    def same(text: str) -> bool:
        if time.monotonic() > end:
            return False
        candidate = replace(program, source=text + "\n")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "<candidate>", "exec")
            if "def program(" not in text or (_raised(candidate) & _BROKEN) - allowed:
                return False
            found = judge(candidate, subsets, stages)
        except (SyntaxError, TooLongError, Exception):
            return False
        return (found.status, found.kind) == (verdict.status, verdict.kind)

    source = ast.unparse(ast.parse(program.source))
    small = replace(program, source=shrink.smallest(source, same, rounds) + "\n")
    return _fewer_inputs(small, verdict, subsets, stages)


def _fewer_inputs(program: Program, verdict: Verdict, subsets: bool, stages: str) -> Program:
    for count in range(1, len(program.inputs)):
        candidate = replace(program, inputs=program.inputs[:count])
        found = judge(candidate, subsets, stages)
        if (found.status, found.kind) == (verdict.status, verdict.kind):
            return candidate
    return program


def _raised(program: Program) -> set[str]:
    """The kinds of exceptions that the calls raise in plain Python."""
    with limited(2):
        names = load(program.source, "<program>")
        if "program" not in names:
            return set(_BROKEN)
        found = outcomes(names["program"], names, program.inputs)
    return {one["result"][1][0] for one in found if one["result"][0] == "raises"}
