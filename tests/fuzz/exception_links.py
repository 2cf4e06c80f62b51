"""Exceptions raised in handlers, and their links, plain Python against `@autoconv.compile`.

    python tests/fuzz/exception_links.py --programs 1000 [--seed 0]

A program nests `try`, `with`, loops and branches whose bodies raise or read from a dict, a list or a number, and whose
handlers raise again, from an exception or from None, keep exceptions in a list, or read their causes and contexts. Some
begin with a print or a change of the dict. In every other program, bodies also use an object whose attributes, items
and comparisons are methods that may raise. Results, output, the dict and the objects are compared, and the classes,
texts, causes and contexts of the exceptions that are kept or leave the program.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
from typing import Any

from differential.counting import compare_calls, load_program, run_command
from grammar import hooks

RAISING_STATEMENTS = (
    "v = d[k]", "v = 6 // (k - 1)", "v = xs[k]", "v = int(d.get('t', k))", "raise ValueError('given', k)",
    "v = xs.index(k)", "raise ProgramError(k)", "v = k + 1", "raise Located(k, f'at {k}')", "raise Nested(k, [v])",
    "made = Located(v, k); kept.append(made); made.line += 1",
)  # fmt: skip
HANDLED_CLASSES = (
    "KeyError", "ZeroDivisionError", "IndexError", "ValueError", "(KeyError, ProgramError)", "LookupError", "Exception",
    "ArithmeticError", "(ValueError, TypeError)",
)  # fmt: skip
RAISES_IN_HANDLERS = (
    "raise", "raise RuntimeError('again')", "raise RuntimeError(k) from {0}", "raise ProgramError(3) from None",
    "raise Located(k, {0}.args) from {0}", "raise Nested(v, {0})", "raise kept[-1] from {0}",
)  # fmt: skip
HANDLER_STATEMENTS = (
    "kept.append({0})", "out.append(type({0}).__name__)", "out.append(str({0}))", "out.append({0}.args)",
    "out.append(type({0}.__context__).__name__)", "out.append(repr({0}.__cause__))", "d['e'] = k", "v += 2",
    "out.append(isinstance({0}, LookupError))", "out.append({0}.__cause__ is {0})", "v = {0}.args[0]", "d[v] = k",
    "out.append(list(vars({0})))", "{0}.line = v", "v = {0}.line", "out.append(isinstance({0}, Located) and {0}.text)",
)  # fmt: skip
ENCLOSING_HEADERS = ("if k > 1:", "for k in range(k, k + 2):", "with Manager(out, KeyError):")
ARGUMENTS = (0, 1, 2, 3, 1, 0)


class ProgramError(Exception):
    """An exception of the program, without a constructor of its own."""


class Located(ValueError):
    """An exception of the program with a constructor of its own, whose text is made from its attributes."""

    def __init__(self, line: int, text: Any) -> None:
        super().__init__(f"{line}: {text}")
        self.line = line
        self.text = text


class Nested(Located):
    """An exception whose constructor calls that of another one, with a container of the call."""

    def __init__(self, line: int, items: Any) -> None:
        super().__init__(line, "nested")
        self.items = items

    def __str__(self) -> str:
        return f"nested {self.line}"


class Manager:
    def __init__(self, out: list[Any], kind: type) -> None:
        self.out, self.kind = out, kind

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.out.append(None if kind is None else kind.__name__)
        return kind is self.kind


class _Writer:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.hook_share = 0.7 if seed % 2 else 0.0
        self._errors = 0

    def program(self) -> str:
        self.add_line(1, "out, v = [], 0")
        self.add_line(1, self.draw.choice(["print(k)", "d['p'] = k", "pass"]))
        if self.hook_share and self.draw.random() < 0.7:
            self.add_line(1, "o, p = Record(xs, k, {'missing': k}), Plain(k)")
        self.block(1, 0, "")
        return "\n".join(["def program(k, d, xs, kept, o, p):", *self.lines, "    return out, v", ""])

    def add_line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, nesting: int, error: str) -> None:
        for _ in range(self.draw.choice([1, 1, 2])):
            choice = self.draw.random()
            if nesting < 3 and choice < 0.55:
                self.add_try(depth, nesting, error)
            elif nesting < 3 and choice < 0.65:
                self.add_line(depth, self.draw.choice(ENCLOSING_HEADERS))
                self.block(depth + 1, nesting + 1, error)
            else:
                uses_hooks = self.draw.random() < self.hook_share
                statement = self.draw.choice(hooks.STATEMENTS if uses_hooks else RAISING_STATEMENTS)
                self.add_line(depth, statement.replace("{indent}", "    " * depth))

    def add_try(self, depth: int, nesting: int, error: str) -> None:
        self.add_line(depth, "try:")
        self.block(depth + 1, nesting + 1, error)
        has_finally = self.draw.random() < 0.3
        for _ in range(self.draw.choice([0, 1, 1, 2] if has_finally else [1, 1, 2])):
            self._errors += 1
            name = f"e{self._errors}"
            self.add_line(depth, f"except {self.draw.choice(HANDLED_CLASSES)} as {name}:")
            self.add_handler(depth + 1, nesting, name)
        if has_finally:
            self.add_line(depth, "finally:")
            self.add_line(depth + 1, self.draw.choice(["out.append('f')", "d['f'] = v", "v += 1"]))

    def add_handler(self, depth: int, nesting: int, error: str) -> None:
        for _ in range(self.draw.choice([1, 2])):
            self.add_line(depth, self.draw.choice(HANDLER_STATEMENTS).format(error))
        if nesting < 2 and self.draw.random() < 0.4:
            self.add_try(depth, nesting + 1, error)
        elif self.draw.random() < 0.5:
            self.add_line(depth, self.draw.choice(RAISES_IN_HANDLERS).format(error))


def program(seed: int) -> str:
    return _Writer(seed).program()


def describe_error(error: BaseException | None, depth: int = 6) -> Any:
    """Return the class, arguments and attributes of an exception and of those that it is linked to."""
    if error is None or not depth:
        return None
    cause, context = (describe_error(link, depth - 1) for link in (error.__cause__, error.__context__))
    return type(error).__name__, repr(error.args), repr(vars(error)), (cause, context, error.__suppress_context__)


def leaked_trace_values(error: BaseException | None) -> list[str]:
    """Return the texts of exceptions, among those linked by causes and contexts, that hold values of a trace."""
    texts = []
    while error is not None:
        texts += [repr(error)] if "Tensor" in repr(error) or "Staged" in repr(error) else []
        error = error.__cause__ or error.__context__
    return texts


def outcome(function: Any, k: int) -> Any:
    d: dict[Any, Any] = {0: 1, 2: 5, "t": "x"} if k else {0: 4}
    kept: list[BaseException] = []
    record, plain = hooks.Record([2, 0, 1][:k], k, {"missing": 3} if k > 1 else {}), hooks.Plain(k)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = "returned", repr(function(k, d, [4, 2, 0], kept, record, plain))
        except Exception as error:
            result = "raised", describe_error(error)
            kept.append(error)
    effects = printed.getvalue(), repr(d), repr(vars(record)), repr(vars(plain))
    return result, *effects, [describe_error(error) for error in kept], [leaked_trace_values(error) for error in kept]


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran or "WRONG", and details."""
    classes = {cls.__name__: cls for cls in (ProgramError, Located, Nested, Manager)}
    plain = load_program(source, f"<links program {number}>", **classes, **hooks.NAMES)
    return compare_calls(plain, plain, ARGUMENTS, outcome)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
