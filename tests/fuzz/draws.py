"""Random programs that draw from NumPy's and Python's generators, compiled and compared with plain Python, to
the last bit.

    python tests/fuzz/draws.py --programs 1000 [--seed 0]

The generators are arguments, an outer name, an attribute of an outer object, one made from a seed, and the global
ones; two of them may be one object. Draws of numbers and arrays, by fixed and computed parameters, take place in
branches and loops, and before errors, warnings and ints beyond 64 bits, after which a call runs again. Each program is
called several times. Results, errors, warnings, changed arrays and the states of all generators are compared.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import types
import warnings
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

_NUMBERS = (
    "random()", "normal(v, 0.5)", "normal(0, abs(v))", "standard_normal()", "uniform(v, v + 1)", "uniform(-1, k)",
    "exponential(abs(v) + 0.1)", "poisson(2.5)", "gamma(0.5 + abs(v))", "beta(0.5, k + 1)", "laplace(v, 2)",
    "choice(4)", "choice(x)", "binomial(5, 0.3)", "geometric(0.4)", "triangular(-1, 0, 2)", "lognormal(0, 0.5)",
    "chisquare(k + 1)",
)  # fmt: skip
_ARRAYS = ("random(4)", "normal(size=4)", "normal(x, 0.5)", "uniform(0, 1, 4)", "permutation(4)", "permutation(x)",
           "standard_normal(4)", "exponential(2.0, size=4)", "choice(x, 4)", "poisson(3.0, 4)")  # fmt: skip
_INTEGERS = {"Generator": ("integers(4)", "integers(1, k + 2)", "integers(-3, 1)"),
             "RandomState": ("randint(4)", "randint(1, k + 2)", "randint(-3, 1)"),
             "Random": ("randrange(4)", "randint(1, k + 2)", "randrange(-3, k)", "randrange(1, 40, 3)",
                        "choice(items)")}  # fmt: skip
_FLOATS = ("random()", "uniform(v, 2.5)", "uniform(-1, 1)", "gauss(0, 1)", "expovariate(2.0)", "choice([0.5, v])",
           "triangular(0, 1, 0.5)", "triangular(0, 3, v)", "normalvariate(v, 1)")  # fmt: skip
_GENERATORS = {"first": "Generator", "second": "Generator", "older": "RandomState", "OUTER": "Generator",
               "HOLDER.generator": "Generator", "made": "Generator", "np.random": "RandomState", "python": "Random",
               "random": "Random", "RANDOM": "Random"}  # fmt: skip


class Program:
    """A generator of programs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.generators = self.random.sample(list(_GENERATORS), self.random.randint(1, 3))

    def text(self) -> str:
        results = ["return v, k, x", "return v, k, big, items", "return v", "return [x, k], x.sum()"]
        body = ["items, v, k, big = [3, 1, 4, 1], 0.5, 1, 1", "made = np.random.default_rng(n)", *self.block(0)]
        body.append(self.random.choice(results))
        lines = "\n".join("    " + line for line in body)
        return f"def program(first, second, older, python, x, n):\n{lines}\n"

    def block(self, depth: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 4)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        generator = self.random.choice(self.generators)
        is_python = _GENERATORS[generator] == "Random"
        choice = self.random.random()
        if depth < 2 and choice < 0.15:
            return [f"if {self.random.choice(['v > 0.2', 'k % 2 == 0', 'n > 3'])}:", *indent(self.block(depth + 1))]
        if depth < 2 and choice < 0.35:
            count = self.random.choice(["n", "70", "3", "n * 20"])
            return [f"for i in range({count}):", *indent(self.block(depth + 1))]
        if choice < 0.6:
            return [f"v = v * 0.5 + {generator}.{self.random.choice(_FLOATS if is_python else _NUMBERS)}"]
        if choice < 0.72:
            return [f"k = k % 50 + int({generator}.{self.random.choice(_INTEGERS[_GENERATORS[generator]])}) + 3"]
        if choice < 0.84:
            if is_python:
                return [f"{generator}.shuffle(items)", "k += items[0]"]
            return [f"x = x * 0.5 + {generator}.{self.random.choice(_ARRAYS)}"]
        return self.random.choice([
            [f"{generator}.shuffle({'items' if is_python else 'x'})"], ["x[k % 4] = v"], ["x[k % 5] += 1.0"],
            ["v = v + np.log(x[0])"],
            ["big = big * 5 + 1"], ["print(k)"], ["v = 1.0 / v"],
            [f"v += {generator}.random() if v > 0 else {generator}.uniform(-1, v)"],
        ])  # fmt: skip


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def make_world(call: int, shares: bool) -> tuple[dict[str, Any], list[Any]]:
    """Return the outer names and the arguments of a call; `first` and `second` are one generator if `shares`."""
    np.random.seed(call)
    random.seed(call)
    first = np.random.default_rng(call)
    names = {"OUTER": np.random.default_rng(call + 20), "HOLDER": types.SimpleNamespace()}
    names["HOLDER"].generator = np.random.default_rng(call + 30)
    second = first if shares else np.random.Generator(np.random.MT19937(call + 10))
    names["RANDOM"] = random.Random(call + 40)
    older, python = np.random.RandomState(call), random.Random(call + 50)
    return names, [first, second, older, python, np.linspace(-0.5, 2.0, 4), call % 5]


def outcome(function: Any, call: int) -> Any:
    """Call the function with new generators, in place of those of its outer names; return all that it did."""
    names, arguments = make_world(call, shares=call == 4)
    target = getattr(function, "__wrapped__", function).__globals__
    target |= {"OUTER": names["OUTER"], "RANDOM": names["RANDOM"]}
    target["HOLDER"].generator = names["HOLDER"].generator
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()) as output:
        warnings.simplefilter("always")
        try:
            result = repr(function(*arguments))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    first, second, older, python, x, _ = arguments
    states = [repr(g.bit_generator.state) for g in (first, second, names["OUTER"], names["HOLDER"].generator)]
    states += [repr(g.get_state(legacy=False)) for g in (older, np.random.mtrand._rand)]  # type: ignore[attr-defined]
    states += [repr(g.getstate()) for g in (python, names["RANDOM"], random)]
    return result, output.getvalue(), repr(x), sorted({str(warning.message) for warning in caught}), states


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return "graph", "plain Python", "several traces" or "WRONG", and details."""
    plain, copy = (
        load_program(source, f"<draws {number}{kind}>", np=np, random=random, HOLDER=types.SimpleNamespace())
        for kind in ("", " compiled")
    )
    return compare_calls(plain, copy, (1, 2, 3, 4, 8, 2), outcome, describe=_differences)


def _differences(expected: Any, found: Any) -> str:
    """Describe the parts of two outcomes that differ."""
    if isinstance(found, str):
        return found
    return "\n  ".join(f"{a}\n  {b}" for a, b in zip(expected, found, strict=True) if a != b)[:3000]


if __name__ == "__main__":
    sys.exit(run_command(__doc__, lambda seed: Program(seed).text(), check))
