"""Random programs of branches and loops over Python's complex numbers, compiled and compared with plain Python, to the
last bit, signs of zeros and texts of errors included.

    python tests/fuzz/complexes.py --programs 1000 [--seed 0]

Each program is traced once and run on inputs that take different paths. The summary counts programs by outcome.
"""

from __future__ import annotations

import contextlib
import io
import math
import sys

from differential.blocks import Blocks
from differential.counting import compare_calls, load_program, run_command

_INF, _NAN = math.inf, math.nan
# z, w: complex; x: float; n: int.
INPUTS = [
    (1 + 2j, -0.5 + 0.25j, 0.5, 3), (0j, complex(-0.0, -0.0), -0.0, 0), (complex(-3.0, 0.0), 1j, 2.0, -2),
    (1e200 + 1e200j, complex(0.0, -1e-310), 1e300, 5), (complex(_INF, 1.0), complex(-0.0, 2.0), -1.5, 7),
    (complex(_NAN, -1.0), complex(1.0, -_INF), _INF, 1), (complex(0.5, -0.0), complex(3.0, 4.0), _NAN, 12),
]  # fmt: skip
_CMATH = ("exp", "sqrt", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh",
          "acosh", "atanh", "log10")  # fmt: skip
_LITERALS = ("1j", "-0.5j", "(2-0.5j)", "0j", "-0j", "1e154j", "complex(0.0, -0.0)")


class Generator(Blocks):
    """A generator of functions with bounded loops, so that every program ends."""

    def program(self) -> str:
        start = self.random.choice(["u = 0j", "u = z", "u = 1", "u = 0.5 - 1j"])
        body = [start, "v = 0.5", "k = 1", *self.block(0, False, 4)]
        body.append(self.random.choice(["return u", "return u, v, k", "return u, z, w", "return [u, abs(z)], x"]))
        text = "\n".join("    " + line for line in body)
        return f"import cmath\n\n\ndef program(z, w, x, n):\n{text}\n"

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        choice = self.random.random()
        if depth < 3 and choice < 0.18:
            lines = [f"if {self.condition(2)}:", *indent(self.block(depth + 1, in_loop, 2))]
            if self.random.random() < 0.6:
                lines += ["else:", *indent(self.block(depth + 1, in_loop, 2))]
            return lines
        if depth < 2 and choice < 0.34:
            return self.loop(depth)
        if choice < 0.4 and in_loop:
            return [f"if {self.condition(1)}:", "    " + self.pick("break", "continue")]
        if choice < 0.45:
            return [f"if {self.condition(1)}:", f"    return {self.pick('u', 'v', 'z, k', self.number(1), 'None')}"]
        if choice < 0.5 and depth < 2:
            body = indent(self.block(depth + 1, False, 2))
            error = self.pick("ZeroDivisionError", "OverflowError", "ValueError", "(ArithmeticError, ValueError)")
            return ["try:", *body, f"except {error} as error:", "    k += len(str(error))"]
        if choice < 0.55:
            return [self.pick("print(u, v)", "print(f'{u:.3f}', w)", "print(str(z), k)")]
        if choice < 0.6:
            return self.list_of_numbers()
        if choice < 0.7:
            return [f"v = {self.real(2)}"]
        if choice < 0.76:
            return [f"k = {self.pick('k + 1', 'k - n', 'abs(k) % 5', 'int(u == z)', 'n % 7')}"]
        target = self.pick("u", "u", "u", "z", "w")
        if self.random.random() < 0.3:
            return [f"{target} {self.pick('+=', '-=', '*=', '/=')} {self.number(1)}"]
        return [f"{target} = {self.number(3)}"]

    def list_of_numbers(self) -> list[str]:
        self.counter += 1
        name = f"items_{self.counter}"
        use = self.pick(f"u = sum({name})", f"u = {name}[k % len({name})]", f"k = len({name})", f"u = {name}[-1] * 0.5")
        return [
            f"{name} = [{self.number(1)}]", f"for step in range({self.pick('3', 'n', 'abs(k) % 4')}):",
            f"    {name}.append({name}[-1] * {self.pick('w', '1j', '0.5')} + {self.pick('step', 'x', '1')})", use,
        ]  # fmt: skip

    def loop(self, depth: int) -> list[str]:
        self.counter += 1
        name = f"i_{self.counter}"
        body = self.block(depth + 1, True, 3)
        if self.random.random() < 0.4:
            lines = [f"for {name} in range({self.pick('4', 'n', 'abs(k) % 6')}):", *indent(body)]
        else:
            lines = [f"{name} = 0", f"while ({self.condition(1)}) and {name} < 9:", f"    {name} += 1", *indent(body)]
        if self.random.random() < 0.2:
            lines += ["else:", *indent(self.block(depth + 1, False, 2))]
        return lines

    def number(self, depth: int) -> str:
        """Return the text of a complex or real expression."""
        if depth == 0 or self.random.random() < 0.2:
            return self.pick("z", "w", "u", "z", "u", self.real(0), self.pick(*_LITERALS))
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {b})", f"({a} / {b})", f"-{a}",
            f"({a}).conjugate()", f"complex({self.real(1)}, v)",
            f"({a}) ** {self.pick('2', '3', '-1', '0', 'k', '0.5', '2.0', '(1-1j)', 'w')}",
            f"complex({a}, {self.real(0)})", f"({a} if {self.condition(1)} else {b})",
            f"cmath.{self.pick(*_CMATH)}({a})",
            f"cmath.rect({self.real(0)}, {self.real(0)})", f"({self.real(1)} * {b})", f"(z or {a})", f"(u and {a})",
        )  # fmt: skip

    def real(self, depth: int) -> str:
        if depth == 0:
            return self.pick("v", "x", "k", "n", "2", "-0.0", "1.5")
        a = self.number(depth - 1)
        return self.pick(
            f"abs({a})", f"({a}).real", f"({a}).imag", f"cmath.phase({a})", f"({self.real(depth - 1)} * 0.5)",
            f"cmath.polar({a})[0]", f"float({self.real(0)})",
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        a, b = self.number(max(depth - 1, 0)), self.number(max(depth - 1, 0))
        simple = self.pick(
            f"abs({a}) < 2", f"({a}) == {b}", f"({a}) != {b}", f"({a}).imag > 0", "z", "u", "not w", "n > k",
            f"cmath.isnan({a})", f"cmath.isfinite({a})", f"{a} in (1, 2j, 0.5)",
        )  # fmt: skip
        if depth < 2 or self.random.random() < 0.5:
            return simple
        return self.pick(f"({simple} and {self.condition(1)})", f"({simple} or {self.condition(1)})")


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def outcome(function, arguments) -> tuple[str, str]:
    """Return the text of a call's result or exception, and its printed output."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = f"{function(*arguments)!r}"
        except Exception as error:
            message = "" if isinstance(error, UnboundLocalError) else error
            result = f"{type(error).__name__}: {message}"
    return result, printed.getvalue()


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return "graph", "plain Python", "several traces" or "WRONG", and details."""
    plain = load_program(source, f"<complex program {number}>")
    return compare_calls(plain, plain, INPUTS, outcome)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, lambda seed: Generator(seed).program(), check))
