"""Functions that loop over the elements of NumPy arrays: the kind "loops" of `fuzz/peers.py`.

The arguments are two vectors and a matrix of numbers, a table of positions, a vector of ints, and an int. Each index
is within its array: a counter is kept with the range in which it runs, relative to the size.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

ARGUMENTS = "x, y, A, places, bits, k"
_RANGES = {  # text of a range over a size, lowest counter, distance of the highest one from the size
    "range({n})": (0, 1), "range(1, {n})": (1, 1), "range(1, {n} - 1)": (1, 2), "range({n} - 1, -1, -1)": (0, 1),
    "range(0, {n}, 2)": (0, 1), "range(2, {n})": (2, 1), "range(0, {n} - 2, 3)": (0, 3),
}  # fmt: skip


@dataclass(frozen=True)
class Counter:
    name: str
    size: str  # the dimension that it counts, "n" or "m"
    low: int
    high: int  # the highest value is `size - high`


class Generator:
    """A writer of a function. The vectors have n elements, the matrix n rows and m columns."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"loops {seed}")
        self.dtype = self.random.choice(("float64", "float64", "float32", "int64", "int32"))
        self.vectors, self.numbers = ["x", "y"], ["k"]
        self.counters: list[Counter] = []
        self.loop_count = 0

    def program(self) -> str:
        like = self.random.choice(("x", "y"))
        lines = ["n, m = A.shape", "s = 0.0", "t = 0", f"out = np.zeros_like({like})", "B = np.zeros((n, m))"]
        lines += ["counts = np.zeros(n, dtype=np.int64)"]
        self.vectors.append("out")
        self.numbers += ["s", "t"]
        for _ in range(self.random.choice((1, 1, 2))):
            lines += self.random.choice((self.nest, self.nest, self.nest, self.insertion, self.stack, self.hash))()
        lines.append("return s, t, out, B, counts")
        return f"def program({ARGUMENTS}):\n" + "\n".join("    " + line for line in lines) + "\n"

    # ---- loops

    def nest(self, depth: int = 0) -> list[str]:
        self.loop_count += 1
        size = "n" if depth == 0 else self.random.choice("mmm3")
        text, (low, high) = self.random.choice(list(_RANGES.items())) if size != "3" else ("range(3)", (0, 1))
        counter = Counter(f"i{self.loop_count}", size, low, high)
        self.counters.append(counter)
        body = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth + 1)]
        if depth < 3 and self.random.random() < (0.5, 0.3, 0.1)[depth]:
            body += self.nest(depth + 1)
        if self.random.random() < 0.15:
            body += [f"if {self.condition()}:", f"    {self.random.choice(('break', 'continue', 't += 1'))}"]
        self.counters.pop()
        return [f"for {counter.name} in {text.format(n=size)}:", *indent(body)]

    def insertion(self) -> list[str]:
        return ["for i in range(1, min(n, 400)):", "    v = y[i]", "    j = i", "    while j > 0 and y[j - 1] > v:",
                "        y[j] = y[j - 1]", "        j -= 1", "    y[j] = v"]  # fmt: skip

    def stack(self) -> list[str]:
        """A stack of positions in an array: the next smaller, or greater, element of each."""
        sign = self.random.choice("<>")
        return ["stack = np.zeros(n, dtype=np.int64)", "top = 0", "for i in range(n):",
                f"    while top > 0 and x[i] {sign} x[stack[top - 1]]:", "        top -= 1",
                "        counts[stack[top]] = i", "    stack[top] = i", "    top += 1", "t += top"]  # fmt: skip

    def hash(self) -> list[str]:
        step = self.random.choice(
            ("(t ^ bits[i]) * 16777619 & 0xFFFFFFFF", "(t >> 1) ^ (bits[i] & 255)",
             "(t * 31 + bits[i]) % 1000003", "(t << 3 | t >> 29) & 0xFFFFFFFF ^ bits[i]")
        )  # fmt: skip
        return ["for i in range(n):", f"    t = {step}", "    counts[t % n] += 1"]

    # ---- statements of a body

    def statement(self, depth: int) -> list[str]:
        r, counter = self.random, self.random.choice(self.counters)
        choice = r.random()
        if choice < 0.18:
            return [f"s += {self.number(2)}"]
        if choice < 0.34:
            target = self.element(["out"], written=True)
            return [f"{target} {r.choice(('=', '=', '+='))} {self.number(2)}"]
        if choice < 0.46:
            return [f"{self.matrix('B')} {r.choice(('=', '+='))} {self.number(2)}"]
        if choice < 0.54:
            return [f"counts[places[{self.position('n')}]] += 1"]
        if choice < 0.60:
            at, other = self.position("n"), self.position("n")
            return [f"y[{at}], y[{other}] = y[{other}], y[{at}]"]
        if choice < 0.66 and counter.low >= 1:
            return [f"out[{self.position('n')}] = 0.5 * out[{self.position('n', -1)}] + {self.number(1)}"]
        if choice < 0.74:
            return [f"t += {self.integer()}"]
        if choice < 0.80:
            return [f"s = {r.choice(('max', 'min'))}(s, {self.number(1)})"]
        lines = [f"if {self.condition()}:", *indent(self.statement(depth + 1))]
        if depth < 3 and r.random() < 0.4:
            lines += ["else:", *indent(self.statement(depth + 1))]
        return lines

    # ---- expressions

    def position(self, size: str, offset: int | None = None) -> str:
        """An index within the size. With an offset, it has that distance from a counter, if a counter permits it."""
        counters = [counter for counter in self.counters if counter.size == size]
        if not counters:
            return "0" if size == "m" or not self.counters else f"{self.random.choice(self.counters).name} % n"
        counter = counters[-1] if self.random.random() < 0.8 else self.random.choice(counters)
        step = self.random.choice((0, 0, 0, -1, 1)) if offset is None else offset
        if step < 0 < counter.low:
            return f"{counter.name} - 1"
        return f"{counter.name} + 1" if step > 0 and counter.high > 1 else counter.name

    def element(self, names: list[str], written: bool = False) -> str:
        position = self.position("n")
        if not written and self.random.random() < 0.15:
            position = self.random.choice((f"places[{position}]", f"({position} * 7 + k) % n", f"n - 1 - {position}"))
        return f"{self.random.choice(names)}[{position}]" if " % n" not in position or not written else "out[0]"

    def matrix(self, name: str) -> str:
        return f"{name}[{self.position('n')}, {self.position('m')}]"

    def number(self, depth: int) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            texts = [self.element(self.vectors), self.element(self.vectors), self.matrix("A"), "2", "0.25", "k"]
            return r.choice(texts + ([self.matrix("B")] if r.random() < 0.3 else []))
        a, b = self.number(depth - 1), self.number(depth - 1)
        return r.choice([f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"abs({a})", f"np.sqrt(abs({a}))",
                         f"{a} / (1.5 + abs({b}))", f"np.exp(-abs({a}))", f"({a} if {a} > {b} else {b})",
                         f"np.sin({a})", f"min({a}, {b})", f"np.maximum({a}, {b})"])  # fmt: skip

    def integer(self) -> str:
        at, name = self.position("n"), self.random.choice(self.counters).name
        return self.random.choice(
            [f"bits[{at}]", f"bits[{at}] & 15", f"{name} % 3", f"{name} // 4", f"places[{at}] - {name}",
             f"(bits[{at}] >> 2) ^ {name}", f"places[places[{at}]]", f"int({self.element(self.vectors[:2])})"]
        )  # fmt: skip

    def condition(self) -> str:
        return self.random.choice(
            [f"{self.number(1)} > {self.number(0)}", f"{self.integer()} % 2 == 0", f"{self.matrix('A')} > 0",
             f"{self.element(self.vectors[:2])} < 0.5 and {self.element(self.vectors[:2])} > -1",
             f"bits[0] & 1 or k > {self.integer()}"]
        )  # fmt: skip


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
