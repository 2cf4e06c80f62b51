"""Random programs over floats, differentiated as graphs and by dual numbers that run through plain Python.

    python tests/fuzz/gradients.py --programs 500 [--seed 0]

Each program is differentiated once and twice under both decorators, with and without recomputed segments, for inputs
that take different paths. A dual number carries its derivatives along (W. K. Clifford, 1873), so that the results
differ only by rounding.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from differential.blocks import Blocks
from differential.counting import load_program, run_command

import autoconv as ac

INPUTS = [(0.7, 3), (-1.3, 0), (2.1, 5), (0.05, 1)]


class Dual:
    """A number and its slope, both numbers or duals."""

    def __init__(self, value: Any, slope: Any) -> None:
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Dual:
        return Dual(self.value + value_of(other), self.slope + slope_of(other))

    def __sub__(self, other: Any) -> Dual:
        return Dual(self.value - value_of(other), self.slope - slope_of(other))

    def __mul__(self, other: Any) -> Dual:
        return Dual(self.value * value_of(other), self.slope * value_of(other) + self.value * slope_of(other))

    def __truediv__(self, other: Any) -> Dual:
        divisor = value_of(other)
        return Dual(self.value / divisor, (self.slope * divisor - self.value * slope_of(other)) / (divisor * divisor))

    def __rsub__(self, other: Any) -> Dual:
        return Dual(other, 0.0) - self

    def __rtruediv__(self, other: Any) -> Dual:
        return Dual(other, 0.0) / self

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __lt__(self, other: Any) -> bool:
        return plain_value(self) < plain_value(other)

    def __gt__(self, other: Any) -> bool:
        return plain_value(self) > plain_value(other)

    __radd__, __rmul__ = __add__, __mul__


def value_of(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x


def slope_of(x: Any) -> Any:
    return x.slope if isinstance(x, Dual) else 0.0


def plain_value(x: Any) -> float:
    return plain_value(x.value) if isinstance(x, Dual) else float(x)


def dual_sin(x: Any) -> Any:
    return Dual(dual_sin(x.value), dual_cos(x.value) * x.slope) if isinstance(x, Dual) else math.sin(x)


def dual_cos(x: Any) -> Any:
    return Dual(dual_cos(x.value), -(dual_sin(x.value) * x.slope)) if isinstance(x, Dual) else math.cos(x)


def dual_tanh(x: Any) -> Any:
    if not isinstance(x, Dual):
        return math.tanh(x)
    t = dual_tanh(x.value)
    return Dual(t, (1.0 - t * t) * x.slope)


def float64_sin(x: Any) -> Any:
    return ac.sin(ac.convert_to_tensor(x, ac.float64))


def float64_cos(x: Any) -> Any:
    return ac.cos(ac.convert_to_tensor(x, ac.float64))


def float64_tanh(x: Any) -> Any:
    return ac.tanh(ac.convert_to_tensor(x, ac.float64))


class Generator(Blocks):
    """A writer of a function of a float and an int, with bounded loops and small values."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.ints = ["n"]

    def program(self) -> str:
        end = self.random.choice(["return u", "return u * v + x"])
        lines = ["u = x * 0.5", "v = 1.5", *self.block(0, False, 5), end]
        return "def program(x, n):\n" + "\n".join(indent(lines)) + "\n"

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        choice = self.random.random()
        if depth < 3 and choice < 0.2:
            lines = [f"if {self.condition()}:", *indent(self.block(depth + 1, in_loop, 2))]
            if self.random.random() < 0.6:
                lines += ["else:", *indent(self.block(depth + 1, in_loop, 2))]
            return lines
        if depth < 3 and choice < 0.42:
            return self.loop(depth)
        if choice < 0.5 and in_loop:
            return [f"if {self.condition()}:", "    " + self.random.choice(["break", "continue"])]
        if choice < 0.55:
            return [f"if {self.condition()}:", f"    return {self.number(2)}"]
        if choice < 0.61:
            self.counter += 1
            name = f"helper_{self.counter}"
            test = f"    if p {self.random.choice('<>')} q:"
            return [
                f"def {name}(p, q):", test, f"        return {self.number(1, 'pq')}",
                f"    return {self.number(2, 'pqx')}", f"v = tanh({name}({self.number(1)}, {self.number(1)}))",
            ]  # fmt: skip
        if choice < 0.65:
            return [
                "try:", f"    if {self.condition()}:", "        raise ValueError('no')", f"    late = {self.number(2)}",
                "except ValueError:", f"    late = {self.number(1)}", "v = sin(late)",
            ]  # fmt: skip
        if choice < 0.7:
            return ["u, v = v, u"]
        return [f"{self.random.choice('uv')} = {self.random.choice(['sin', 'tanh', ''])}({self.number(3)})"]

    def loop(self, depth: int) -> list[str]:
        self.counter += 1
        name = f"i_{self.counter}"
        if self.random.random() < 0.5:
            lines = [f"for {name} in range({self.random.choice(['3', 'n', 'n + 1', '2'])}):"]
            body = self.block(depth + 1, True, 3)
            return lines + indent(body)
        body = self.block(depth + 1, True, 3)
        return [f"{name} = 0", f"while {name} < {self.random.randint(1, 4)} and {self.condition()}:",
                *indent([f"{name} += 1", *body])]  # fmt: skip

    def number(self, depth: int, names: str = "xuv") -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice([*names, *names, "0.5", "2.0", "-0.25"])
        a, b = self.number(depth - 1, names), self.number(depth - 1, names)
        return self.random.choice(
            [f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"{a} / (2.0 + {b} * {b})", f"sin({a})", f"cos({a})",
             f"-{a}"]
        )  # fmt: skip

    def condition(self) -> str:
        return self.random.choice([f"{self.number(1)} < {self.number(1)}", f"{self.number(1)} > 0.3", "u > v", "n > 2"])


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def expected_derivatives(function: Any, x: float, n: int) -> tuple[float, float]:
    """Return the first and the second derivative of a function at (x, n), by dual numbers."""
    result = function(Dual(Dual(x, 1.0), Dual(1.0, 0.0)), n)
    slope = slope_of(result)
    return plain_value(slope), plain_value(slope_of(slope))


def is_close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b)) or (a != a and b != b)


def load(source: str, number: int, **names: Any) -> Any:
    return load_program(source, f"<gradient program {number}>", **names)


def check(source: str, number: int) -> tuple[str, str]:
    """Compare the derivatives of a program; return "agrees", "refused" or "WRONG", and details."""
    dual = load(source, number, sin=dual_sin, cos=dual_cos, tanh=dual_tanh)
    staged = ac.compile(load(source, number, sin=math.sin, cos=math.cos, tanh=math.tanh))
    graph = ac.function(load(source, number, sin=float64_sin, cos=float64_cos, tanh=float64_tanh))
    kind, details = "agrees", ""
    for x, n in INPUTS:
        expected = expected_derivatives(dual, x, n)
        point, count = ac.constant(x, ac.float64), ac.constant(n)
        derivatives = {
            "compile": lambda x=x, n=n: (ac.grad(staged)(x, n), ac.grad(ac.grad(staged))(x, n)),
            "function": lambda p=point, c=count: (
                float(ac.grad(graph)(p, c)), float(ac.grad(ac.grad(graph))(p, c)),
            ),
            "segments": lambda p=point, c=count, w=expected: (float(ac.grad(graph, recompute_every=2)(p, c)), w[1]),
        }  # fmt: skip
        for name, derive in derivatives.items():
            try:
                actual = derive()
            except (ac.errors.AutoconvError, TypeError) as error:
                kind, details = "refused", f"{name}: {error}"
                continue
            if not all(map(is_close, actual, expected)):
                return "WRONG", f"{name}, program({x}, {n}): expected {expected}, found {actual}\n{staged.explain()}"
    return kind, details


def main() -> int:
    return run_command(__doc__, lambda number: Generator(number).program(), check, programs=200)


if __name__ == "__main__":
    sys.exit(main())
