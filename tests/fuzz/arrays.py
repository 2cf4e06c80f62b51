"""Random programs of slices, views, in-place updates and loops over arrays, compiled and compared with plain NumPy.

    python tests/fuzz/arrays.py --programs 2000 [--seed 0] [--held]

With `--held` the arrays are attributes of an object, or global names, instead of arguments.

A program is run on inputs that take different paths. The results, the contents of the arguments afterwards (after an
error, too), and the memory that arrays share are compared. NumPy's own copies of vectors over each other with unlike
steps (`x[::2] = x[:3]`) read elements that they have just written, so plain NumPy runs `x[::2] = x[:3].copy()`. The
summary counts programs by outcome: "memory" ran with arrays as memory, "objects" as Python objects, "plain" as plain
Python. With AUTOCONV_BACKEND=xla it also counts those that XLA ran, and the reasons of the others. XLA is restricted to
AVX there: with later instructions it contracts products and sums, and loops magnify differences of the last bits.
"""

from __future__ import annotations

import argparse
import ast
import collections
import linecache
import os
import random
import re
import sys

import numpy as np

import autoconv as ac
from autoconv.config import SETTINGS

SETTINGS.tiers = "native"  # compare graphs, even slow ones
SETTINGS.strict = True  # raise internal errors instead of running plain Python

EXACT_XLA_FLAG = "--xla_cpu_max_isa=AVX"
SIZE = 6
DTYPES = ("float64", "float64", "int64", "float32", "int32")
NUMBERS = [(2, 3), (0, -1), (5, 1), (-2, 4), (7, 0)]


class Generator:
    """A generator of functions of two matrices, a vector and two ints, which tracks the shapes of arrays."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtype = self.random.choice(DTYPES)
        self.arrays: dict[str, tuple[int, ...]] = {"A": (SIZE, SIZE), "B": (SIZE, SIZE), "x": (SIZE,)}
        self.counter = 0
        self.positions: list[str] = []  # ints that lie in [0, 3)

    def program(self) -> str:
        body = ["s = A[0, 0]", *self.block(0, 5)]
        body.append(f"return {self.random.choice(['s', 'A', 'A, x', 's, B', 'A[1:], s', 'x[::2]', 'A.T', 'None'])}")
        return "def program(A, B, x, k, c):\n" + "\n".join("    " + line for line in body) + "\n"

    def block(self, depth: int, length: int) -> list[str]:
        outer_names = dict(self.arrays)
        lines: list[str] = []
        for _ in range(self.random.randint(1, length)):
            lines += self.statement(depth)
        if depth:
            self.arrays = {name: shape for name, shape in self.arrays.items() if name in outer_names}
        return lines

    def statement(self, depth: int) -> list[str]:
        choice = self.random.random()
        if depth < 2 and choice < 0.16:
            return self.loop(depth)
        if depth < 3 and choice < 0.26:
            lines = [f"if {self.condition()}:", *indent(self.block(depth + 1, 3))]
            if self.random.random() < 0.4:
                lines += ["else:", *indent(self.block(depth + 1, 2))]
            return lines
        if choice < 0.32 and depth == 0:
            return self.new_name()
        if choice < 0.37:
            return ["A, B = B, A"]
        if choice < 0.42:
            return [f"s = {self.number()}"]
        if choice < 0.46:
            return [f"s += {self.element()}"]
        if choice < 0.5:
            return [f"A[k, c] = {self.number()}"]
        if choice < 0.53:
            return [f"A[A > {self.random.choice(['1', 's', 'B'])}] = {self.number()}"]
        if choice < 0.56:
            return [f"x[np.array([0, 3, 1])] = {self.random.choice(['k', '2', 'B[0, 2:5]'])}"]
        if choice < 0.7:
            return [f"{self.element()} {self.random.choice(['=', '=', '+=', '-='])} {self.number()}"]
        target, shape = self.part()
        operator = self.random.choice(["=", "=", "=", "+=", "-=", "*="])
        return [f"{target} {operator} {self.expression(shape, 2)}"]

    def loop(self, depth: int) -> list[str]:
        self.counter += 1
        name = f"i_{self.counter}"
        iterable = self.random.choice(["range(3)", "range(1, 3)", "range(2, -1, -1)", "range(k % 3)", "range(6 // 2)"])
        if self.random.random() < 0.15:
            return [f"for r_{self.counter} in A:", f"    r_{self.counter}[1] {self.random.choice(['=', '+='])} s"]
        if self.random.random() < 0.3:
            iterable = self.random.choice(["range(x.shape[0])", "range(len(A))"])
            self.positions.append(f"({name} // 2)")
        else:
            self.positions.append(name)
        body = self.block(depth + 1, 3)
        self.positions.pop()
        return [f"for {name} in {iterable}:", *indent(body)]

    def new_name(self) -> list[str]:
        self.counter += 1
        name = f"v_{self.counter}"
        kind = self.random.random()
        if kind < 0.5:
            text, shape = self.part()
        elif kind < 0.65:
            text, shape = "(A if k > 2 else B)", (SIZE, SIZE)
        elif kind < 0.8:
            other = self.random.choice(list(self.arrays))
            text, shape = f"{other}.copy()", self.arrays[other]
        elif kind < 0.9:
            text, shape = f"np.zeros((4, {SIZE}))", (4, SIZE)
        else:
            shape = self.random.choice([(SIZE, SIZE), (3, 4), (4,)])
            text = f"({self.expression(shape, 1)}) + x[0:1]"
        self.arrays[name] = shape
        return [f"{name} = {text}"]

    def part(self) -> tuple[str, tuple[int, ...]]:
        """Return the text of a view of an array, and its shape."""
        name = self.random.choice(list(self.arrays))
        shape = self.arrays[name]
        if self.random.random() < 0.12:
            return (f"{name}.T[:]", shape[::-1]) if self.random.random() < 0.5 else (f"{name}[:]", shape)
        entries, lengths = [], []
        for size in shape:
            entry, length = self.entry(size)
            entries.append(entry)
            if length is not None:
                lengths.append(length)
        if not lengths:  # a part with dimensions
            entries[-1], length = ":", shape[-1]
            lengths.append(length)
        return f"{name}[{', '.join(entries)}]", tuple(lengths)

    def entry(self, size: int) -> tuple[str, int | None]:
        choice = self.random.random()
        if choice < 0.25:
            return self.position(size), None
        if choice < 0.35:
            return ":", size
        if choice < 0.42:
            return "::-1", size
        if choice < 0.5 and size >= 4:
            return "::2", (size + 1) // 2
        if choice < 0.65 and self.positions and size >= 4:
            position = self.random.choice(self.positions)
            return f"{position}:{position} + 2", 2
        length = self.random.randint(1, size)
        start = self.random.randint(0, size - length)
        stop: int | str = start + length
        if stop == size and self.random.random() < 0.5:
            return f"{start - size if start else ''}:", length
        if self.random.random() < 0.3 and stop != size:
            stop = stop - size
        return f"{start}:{stop}", length

    def position(self, size: int) -> str:
        choices = [str(self.random.randint(0, min(size, 3) - 1)), "-1"]
        if size >= 3:
            choices += self.positions * 2
        if self.random.random() < 0.08:
            choices.append("k")
        return self.random.choice(choices)

    def element(self) -> str:
        name = self.random.choice(list(self.arrays))
        return f"{name}[{', '.join(self.position(size) for size in self.arrays[name])}]"

    def number(self) -> str:
        return self.random.choice(
            [*(self.element() for _ in "12"), "s", "k", "2", f"{self.element()} + {self.element()}",
             f"{self.element()} * 2"]
        )  # fmt: skip

    def condition(self) -> str:
        return self.random.choice(["k > 1", f"{self.element()} > s", f"{self.element()} < {self.element()}", "c == 3"])

    def expression(self, shape: tuple[int, ...], depth: int) -> str:
        if depth == 0 or self.random.random() < 0.25:
            return self.leaf(shape)
        a, b = self.expression(shape, depth - 1), self.expression(shape, depth - 1)
        return self.random.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"np.maximum({a}, {b})", f"-{a}"])

    def leaf(self, shape: tuple[int, ...]) -> str:
        """Return the text of a view or number that broadcasts to the shape."""
        for _ in range(12):
            text, part_shape = self.part()
            if len(part_shape) <= len(shape) and all(
                a in (b, 1) for a, b in zip(part_shape[::-1], shape[::-1], strict=False)
            ):
                return text
        return self.number()


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def arguments(dtype: str, seed: int, overlapping: bool) -> list[np.ndarray]:
    numbers = np.random.default_rng(seed)
    if overlapping:
        base = numbers.integers(-3, 5, (SIZE + 1) * SIZE).astype(dtype)
        return [base[:-SIZE].reshape(SIZE, SIZE), base[SIZE:].reshape(SIZE, SIZE), base[3 : 3 + SIZE]]
    return [numbers.integers(-3, 5, shape).astype(dtype) for shape in ((SIZE, SIZE), (SIZE, SIZE), (SIZE,))]


def outcome(function, arrays, numbers):
    """Return comparable results, the arguments' contents after the call, and which arguments results are or share."""
    with np.errstate(all="ignore"):
        try:
            value = function(*arrays, *numbers)
        except Exception as error:
            return type(error).__name__, str(error), [describe(array) for array in arrays]
    parts = value if isinstance(value, tuple) else (value,)
    results = [part for part in parts if isinstance(part, np.ndarray)]
    shared = [[np.shares_memory(part, a) for a in arrays] for part in results]
    same = [[part is a for a in arrays] for part in results]
    return [describe(part) for part in parts], [describe(array) for array in arrays], shared, same


def describe(value):
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, str(value.tolist())
    return type(value).__name__, str(value)


def check(source: str, number: int, dtype: str, held: bool = False) -> tuple[str, str]:
    """Compare one program; return "memory", "objects", "plain" or "WRONG", and details."""
    name = f"<array program {number}>"
    if held:
        source = use_attributes(source) if number % 2 else use_globals(source)
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    plain, compiled = define_program(copy_assigned_views(source), name), ac.compile(define_program(source, name))
    numpys_own, explain = define_program(source, name), compiled.explain
    if held:
        plain, compiled, numpys_own = bind_arrays(plain), bind_arrays(compiled), bind_arrays(numpys_own)
    for call_number, numbers in enumerate(NUMBERS):
        overlapping = call_number == len(NUMBERS) - 1 and number % 3 == 0
        expected = outcome(plain, arguments(dtype, call_number, overlapping), numbers)
        actual = outcome(compiled, arguments(dtype, call_number, overlapping), numbers)
        if expected != actual and overlapping:  # such a call may run as plain Python, without the copies
            expected = outcome(numpys_own, arguments(dtype, call_number, overlapping), numbers)
        if expected != actual:
            return "WRONG", f"{dtype} {numbers} overlapping={overlapping}\nexpected {expected}\nfound    {actual}"
    explanation = explain()
    if "plain Python" in explanation:
        return "plain", explanation
    return ("objects" if "as Python objects" in explanation else "memory"), explanation


def use_attributes(source: str) -> str:
    """Return the program with its arrays as attributes of `o`."""
    tree = _Renaming().visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)).replace("(A, B, x, k, c)", "(o, k, c)")


class _Renaming(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.Attribute(ast.Name("o", ast.Load()), node.id, node.ctx) if node.id in ("A", "B", "x") else node


def use_globals(source: str) -> str:
    """Return the program with its arrays in global names."""
    return source.replace("(A, B, x, k, c):\n", "(k, c):\n    global A, B, x\n")


class Holder:
    """An object whose attributes are the arrays."""


def bind_arrays(function):
    """Return a function that stores its arrays in globals or attributes, and returns their final values, too."""
    plain = getattr(function, "python_function", function)
    namespace = plain.__globals__ if plain.__code__.co_argcount == 2 else vars(o := Holder())
    leading_arguments = () if namespace is plain.__globals__ else (o,)

    def call(*arguments):
        namespace.update(zip("ABx", arguments[:3], strict=True))
        value = function(*leading_arguments, *arguments[3:])
        return (*(value if isinstance(value, tuple) else (value,)), *(namespace[name] for name in "ABx"))

    return call


def define_program(program, name):
    namespace = {"np": np}
    exec(compile(program, name, "exec"), namespace)
    return namespace["program"]


def copy_assigned_views(source: str) -> str:
    """Return the program with a copy of each view that it assigns to a view."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
            continue
        if isinstance(node.value, ast.Subscript):
            node.value = ast.Call(ast.Attribute(node.value, "copy", ast.Load()), [], [])
    return ast.unparse(ast.fix_missing_locations(tree))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print why programs were not traced with arrays as memory")
    parser.add_argument("--held", action="store_true", help="make the arrays attributes or global names")
    options = parser.parse_args()
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {EXACT_XLA_FLAG}"
    counts: collections.Counter[str] = collections.Counter()
    by_xla: collections.Counter[str] = collections.Counter()
    for number in range(options.seed, options.seed + options.programs):
        generator = Generator(number)
        source = generator.program()
        kind, details = check(source, number, generator.dtype, options.held)
        counts[kind] += 1
        if SETTINGS.backend == "xla":
            reasons = re.findall(r"not by XLA: (?:[^\n]*?:\d+:\d+: )?(\w+: [^\n(]*)", details)
            reasons.sort(key=lambda reason: "may overlap" in reason)  # that is one call of some programs
            by_xla[reasons[0].strip() if reasons else "run by XLA" if "compiled by XLA" in details else kind] += 1
        if kind == "WRONG":
            print(f"--- program {number}\n{source}\n{details}\n")
        elif options.show and kind != "memory":
            print(f"--- program {number}: {' / '.join(details.splitlines()[1:])}")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    for reason, count in by_xla.most_common():
        print(f"  {count} {reason}")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
