"""Random programs of ifs, loops, early exits and short circuits over numbers, compiled and compared with plain Python.

    python tests/fuzz/numeric.py --programs 2000 [--seed 0]

Results and output are compared. In some programs ints outgrow 64 bits after a print, or constants have more than 64
bits. A program should have one trace for inputs that take different paths. The summary counts programs by outcome.
"""

from __future__ import annotations

import contextlib
import io
import sys

from differential.blocks import Blocks
from differential.counting import compare_calls, load_program, run_command

LARGE = ("2 ** 64 - 1", "10 ** 20", "-(2 ** 63) - 1", "2 ** 63")
INPUTS = [(3, 5), (0, -2), (-7, 4), (12, 1), (5, 5), (1, 30)]


class Generator(Blocks):
    """A writer of a function of two ints with bounded loops."""

    def program(self) -> str:
        self.outgrows = self.random.random() < 0.25
        body = ["u = 0", "v = 1.5", "w = False", *self.block(0, False, 4)]
        body.append(self.random.choice(["return u", "return u, v, w, x", "return x + y", "pass"]))
        return "def program(x, y):\n" + "\n".join("    " + line for line in body) + "\n"

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        if self.outgrows and self.random.random() < 0.25:
            target = self.random.choice(["u", "x", "y"])
            factor = self.random.choice(["1000003", "7", "2 ** 40", "-(10 ** 9)"])
            growth = self.random.choice([f"{target} = ({target} + 3) * {factor}", f"{target} += {self.large()}"])
            return [growth, f"print({self.random.choice(['', repr('now'), 'v'])}, {target})".replace("(, ", "(")]
        choice = self.random.random()
        if depth < 4 and choice < 0.22:
            return self.if_statement(depth, in_loop)
        if depth < 3 and choice < 0.38:
            return self.loop(depth)
        if choice < 0.46 and in_loop:
            test = self.condition(2)
            return [f"if {test}:", "    " + self.random.choice(["break", "continue"])]
        if choice < 0.54:
            return [f"if {self.condition(2)}:", f"    return {self.result()}"]
        if choice < 0.58:
            self.counter += 1
            name = f"late_{self.counter}"
            use = f"u = u + ({name} if {self.condition(1)} else 1)"
            return [f"if {self.condition(2)}:", f"    {name} = {self.integer(2)}", use]
        if choice < 0.62:
            self.counter += 1
            return [
                f"def helper_{self.counter}(p, q):",
                f"    if p {self.random.choice(['<', '>', '=='])} q:",
                f"        return p - {self.random.randint(0, 3)}",
                "    return q * 2 % 17",
                f"u = helper_{self.counter}({self.integer(1)}, {self.integer(1)})",
            ]
        if choice < 0.66:
            return ["assert u < 10 ** 6, u"]
        if choice < 0.69:
            return [f"if {self.condition(1)}:", "    raise ValueError(f'stopped at {u}', x)"]
        if choice < 0.8:
            return [f"v = {self.floating(2)}"]
        if choice < 0.86:
            return [f"w = {self.condition(2)}"]
        if choice < 0.9:
            return ["x, y = y, x"]
        target = self.random.choice(["u", "x", "y"])
        if self.random.random() < 0.3:
            return [f"{target} {self.random.choice(['+=', '-='])} {self.integer(1)}", f"{target} %= 1000"]
        return [f"{target} = ({self.integer(2)}) % 1000"]

    def if_statement(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.condition(2)}:", *indent(self.block(depth + 1, in_loop, 3))]
        for _ in range(self.random.randint(0, 2)):
            lines += [f"elif {self.condition(2)}:", *indent(self.block(depth + 1, in_loop, 2))]
        if self.random.random() < 0.6:
            lines += ["else:", *indent(self.block(depth + 1, in_loop, 3))]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.counter += 1
        name = f"i_{self.counter}"
        body = self.block(depth + 1, True, 3)
        if self.random.random() < 0.5:
            lines = [f"for {name} in range({self.random.choice(['5', 'abs(x) % 7', 'x', '2, y, 2'])}):"]
            lines += indent([*body, f"if {name} > 20:", "    break"])
        else:
            lines = [f"{name} = 0", f"while ({self.condition(1)}) and {name} < 8:", f"    {name} += 1", *indent(body)]
        if self.random.random() < 0.3:
            lines += ["else:", *indent(self.block(depth + 1, False, 2))]
        return lines

    def large(self) -> str:
        return f"({self.random.choice(LARGE)})"

    def result(self) -> str:
        return self.random.choice([self.integer(1), self.floating(1), "(u, x)", "None", "'text'", "w", "[u, v]"])

    def integer(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            if self.outgrows and self.random.random() < 0.05:
                return self.large()
            return self.random.choice(["x", "y", "u", str(self.random.randint(-4, 9))])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return self.random.choice(
            [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // 3)", f"({a} % ({b} * {b} + 1))", f"abs({a})",
             f"min({a}, {b})", f"max({a}, {b})", f"({a} if {self.condition(depth - 1)} else {b})", f"-{a}",
             f"int({a} / 4)"]
        )  # fmt: skip

    def floating(self, depth: int) -> str:
        if depth == 0:
            return self.random.choice(["v", "0.5", "2.0", "-1.25"])
        a, b = self.floating(depth - 1), self.integer(depth - 1)
        return self.random.choice([f"({a} + {b})", f"({a} * 0.5)", f"({a} - {b} / 8)", f"float({b})", f"abs({a})"])

    def condition(self, depth: int) -> str:
        a, b = self.integer(max(depth - 1, 0)), self.integer(max(depth - 1, 0))
        simple = self.random.choice(
            [f"{a} < {b}", f"{a} == {b}", f"{a} >= {b} > 0", "w", f"{a} % 2", f"{a} in (1, 2, 5)", "v > 1", "u"]
        )
        if depth == 0 or self.random.random() < 0.4:
            return simple
        other = self.condition(depth - 1)
        return self.random.choice(
            [f"({simple} and {other})", f"({simple} or {other})", f"not ({simple})", f"0 < {a} <= 9 or {other}",
             f"({a} != 0 and {b} // {a} > 1)"]
        )  # fmt: skip


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def outcome(function, arguments):
    """Return ((output, kind of result), result) of a call, in a form that compares."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            kind, value = "value", function(*arguments)
        except Exception as error:
            kind, value = type(error).__name__, repr(error.args) if not isinstance(error, UnboundLocalError) else ""
    return (printed.getvalue(), kind), value


def results_agree(a, b) -> bool:
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(results_agree, a, b))
    if isinstance(a, (bool, int, float)) and isinstance(b, (bool, int, float)):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return type(a) is type(b) and a == b


def check(source: str, number: int) -> tuple[str, str]:
    """Compare the calls of a program; return "graph", "plain Python", "several traces" or "WRONG", and details."""
    plain = load_program(source, f"<program {number}>")
    return compare_calls(plain, plain, INPUTS, outcome, agree=_outcomes_agree)


def _outcomes_agree(expected, actual) -> bool:
    return not isinstance(actual, str) and expected[0] == actual[0] and results_agree(expected[1], actual[1])


if __name__ == "__main__":
    sys.exit(run_command(__doc__, lambda seed: Generator(seed).program(), check))
