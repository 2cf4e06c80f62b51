"""While and for statements in each other, over numbers of Python beside arrays, plain against `@autoconv.compile`.

    AUTOCONV_TIERS=native python tests/fuzz/loops.py --programs 500 [--seed 0]

Counters are ints and floats, of fixed and computed starts, steps and ends: loops of few iterations over known numbers
are unrolled, others are loops of the graph. In three of ten programs, strings, dicts, functions and output depend on
the counters too. Results, arguments and output are compared, floats in nine digits.
"""

from __future__ import annotations

import contextlib
import copy
import io
import random
import sys
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

NUMBERS = (
    "s", "x", "x * {0}", "a[{0} % 5]", "s + {0}", "{0} * {1}", "a[{0} % 3:].sum()", "float({0})", "len(str({0}))",
    "s * 0.5 + {0}", "table[{0} % 4]", "max(s, {0})", "{0} // 2", "{0} ** 2 % 7", "np.arange({0} % 5 + 1).sum() * x",
    "(s, {0})[{1} % 2]", "{0} % 3 == 0", "int({0} / 2)", "float({0}) / 3", "2 ** {0}", "{0} & 3",
)  # fmt: skip
CONDITIONS = (
    "{0} % 2 == 0", "{0} > {1}", "s > 10", "s > {0}", "n > 2", "{0} % 3 and s < 50", "not {0} % 4", "a[{0} % 5] > 0",
    "{0} in (1, 3, 5)", "isinstance({0}, int)", "x > 1", "{0} < n", "{0} == {1} or s < 3", "1 < {0} <= s < 90",
)  # fmt: skip
STATEMENTS = (
    "s = {v}", "s += {v}", "s += {v}", "k = {0}", "m += {0}", "a[{0} % 5] = {v}", "a[{0} % 5] += {v}", "t = {v}",
    "table[{0} % 4] = {v}", "out.append({0})", "out.append(({0}, s))", "s -= {v}", "k, m = m, {0}", "out.append({v})",
    "best = max(best, a[{0} % 5])", "best = min(best, a[{0} % 5] * x)", "best = 0", "s += best",
    "best = max(best, {v})",
    "if a[{0} % 5] > best: best = a[{0} % 5]", "if best is None or x < best: best = a[{0} % 5]", "s = max(s + x, 0)",
    "if x < s: s, k = x, {0}", "best = min(max(a[{0} % 5], 0), 1)",
)  # fmt: skip
OTHER_STATEMENTS = (
    "d['k%d' % {0}] = s", "out.append(f'{{{0}}}')", "d[{0}] = d.get({0}, 0) + 1", "print({0})",
    "functions.append(lambda: {0})", "out.append(type({0}).__name__)", "t = words[{0} % 3]", "s += np.float64({0})",
    "d[{0}, k] = s", "del d[{0}]", "d.pop({0}, None)",
)  # fmt: skip
RESULTS = ("s", "s, k, m", "a, s", "out", "table, s", "t", "best, s", "best")
BESTS = ("0", "-1", "2.5", "float('inf')", "a[0]", "None")
OTHER_RESULTS = ("d, s", "out, [function() for function in functions]", "words, t")


class _Writer:
    """The writer of one program."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.counters: list[str] = []
        self.loops = 0
        self.others = self.draw.random() < 0.3

    def fill(self, forms: tuple[str, ...]) -> str:
        names = [*self.counters * 3, "k", "m"] if self.counters else ["k", "m", "1"]
        form = self.draw.choice(forms)
        value = self.fill(NUMBERS) if "{v}" in form else ""
        return form.format(self.draw.choice(names), self.draw.choice(names), v=value)

    def block(self, depth: int) -> list[str]:
        statements = [self.statement(depth) for _ in range(self.draw.randint(1, 3))]
        return ["    " + line for lines in statements for line in lines]

    def statement(self, depth: int) -> list[str]:
        if depth < 4 and self.draw.random() < (0.75, 0.6, 0.4, 0.2)[depth]:
            return self.draw.choice([self.while_loop, self.while_loop, self.for_loop, self.conditional])(depth + 1)
        if self.counters and self.draw.random() < 0.1:
            leave = self.draw.choice(["break", "continue", "return s", f"return {self.counters[-1]}"])
            return [f"if {self.fill(CONDITIONS)}:", f"    {leave}"]
        return [self.fill(STATEMENTS + OTHER_STATEMENTS * self.others)]

    def conditional(self, depth: int) -> list[str]:
        otherwise = ["else:", *self.block(depth)] if self.draw.random() < 0.5 else []
        return [f"if {self.fill(CONDITIONS)}:", *self.block(depth), *otherwise]

    def while_loop(self, depth: int) -> list[str]:
        self.loops += 1
        counter = f"i{self.loops}"
        body = self._body(counter, depth)
        step = self.draw.choice(["+= 1", "+= 1", "+= 2", "*= 2", "+= 0.5"])
        start = "1" if step == "*= 2" else self.draw.choice(["0", "0", "1", "n", "10", "0.0", "x"])
        end = self.draw.choice(["3", "5", "12", "40", "70", "n", "n + 3"])
        test = f"{counter} < {end}" + (f" and {self.fill(CONDITIONS)}" if self.draw.random() < 0.25 else "")
        advance = f"    {counter} {step}"
        steps_first = self.draw.random() < 0.5 or any("continue" in line for line in body)
        otherwise = ["else:", "    s += 100"] if self.draw.random() < 0.15 else []
        body = [advance, *body] if steps_first else [*body, advance]
        return [f"{counter} = {start}", f"while {test}:", *body, *otherwise]

    def for_loop(self, depth: int) -> list[str]:
        self.loops += 1
        counter = f"f{self.loops}"
        iterables = ["range(3)", "range(40)", "range(n)", "a", "range(2, 9, 3)", *["words"] * self.others]
        return [f"for {counter} in {self.draw.choice(iterables)}:", *self._body(counter, depth)]

    def _body(self, counter: str, depth: int) -> list[str]:
        self.counters.append(counter)
        body = self.block(depth)
        self.counters.pop()
        return body

    def program(self) -> str:
        lines = [self.draw.choice(["s = 0.0", "s = 0"]), f"best = {self.draw.choice(BESTS)}"]
        lines += ["k = m = 1", "table, out = [1, 2, 3, 4], []"]
        lines += ["words, d, functions = ['a', 'bc', 'd'], {}, []"] * self.others
        lines += [line for _ in range(self.draw.randint(1, 3)) for line in self.statement(0)]
        lines.append(f"return {self.draw.choice(RESULTS + OTHER_RESULTS * self.others)}")
        return "\n".join(["def program(a, n, x):", *("    " + line for line in lines), ""])


def program(seed: int) -> str:
    return _Writer(seed).program()


def _describe(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_describe(item) for item in value]
    if isinstance(value, dict):
        return [(_describe(key), _describe(item)) for key, item in value.items()]
    if isinstance(value, np.ndarray):
        return value.dtype, [f"{item:.9g}" for item in value]
    return type(value).__name__, f"{value:.9g}" if isinstance(value, float) else repr(value)


def outcome(function: Any, arguments: tuple[Any, ...]) -> str:
    """Call the function with copies of the arguments; return its result or exception, the copies, and the output."""
    arguments = copy.deepcopy(arguments)
    with contextlib.redirect_stdout(io.StringIO()) as output, np.errstate(all="ignore"):
        try:
            result: Any = "returned", _describe(function(*arguments))
        except Exception as error:
            result = "raised", type(error).__name__, str(error)
    return str((result, _describe(arguments), output.getvalue()))


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran, "too long" or "WRONG", and details."""
    draw = random.Random(number)
    calls = [
        (np.array(draw.choices([-1.5, 0.5, 2.0, 3.25], k=5)), draw.choice([0, 1, 3, 4, 7]), draw.choice([0.5, -2.0]))
        for _ in range(4)
    ]
    plain, second = (load_program(source, f"<loops {number} {kind}>", np=np) for kind in ("plain", "compiled"))
    return compare_calls(plain, second, calls, outcome, seconds=0.5)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
