"""Random programs over the sizes of NumPy arrays, compiled and called with many shapes, against plain NumPy.

    python tests/fuzz/sizes.py --programs 500 [--seed 0] [--show]

A program is called with some eight sets of shapes of one pattern, sizes 0, 1 and equal ones among them, and some that do
not go together. Compared are the results with their dtypes and Python's types, exceptions with their texts, what the
arguments hold afterwards, and which results share memory with which arguments. The summary counts programs by what
became of them: "open" has a trace that serves several shapes, "each" a trace for every shape, "plain" ran as plain
Python. With --show, why sizes did not stay open, by kinds.
"""

from __future__ import annotations

import argparse
import collections
import linecache
import logging
import random
import re
import sys
import warnings

import numpy as np

import autoconv as ac

DTYPES = ("float64", "float64", "int64", "float32", "int32")
# What the arguments are, by the names of their sizes.
PATTERNS = (
    {"a": ("n",)}, {"a": ("n",), "b": ("n",)}, {"a": ("n",), "b": ("m",)}, {"A": ("n", "m")},
    {"A": ("n", "m"), "a": ("n",)}, {"A": ("n", "m"), "b": ("m",)}, {"A": ("n", "m"), "B": ("n", "m")},
    {"A": ("n", "n"), "a": ("n",)}, {"A": ("n", "m"), "B": ("m", "n")}, {"A": ("n", "m"), "a": ("n",), "b": ("m",)},
)  # fmt: skip
SIZES = [(5, 7), (7, 4), (12, 3), (3, 12), (2, 5), (1, 4), (6, 1), (0, 3), (4, 0), (31, 8), (6, 6), (2, 2), (1, 1), (9, 2)]
CALLS = 8


class Generator:
    """Writes one function of some arrays and an int. Sizes are known by name while it is written."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtype = self.random.choice(DTYPES)
        self.pattern = self.random.choice(PATTERNS)
        self.in_place = self.random.random() < 0.4
        self.arrays: dict[str, tuple[str, ...]] = dict(self.pattern)
        self.made: list[str] = []  # of these those that the function made itself
        self.numbers = ["k", "2", "3"]
        self.positions: dict[str, list[str]] = {}  # ints below a size
        self.counter = 0

    def calls(self) -> list[dict[str, int]]:
        """Sizes, by name, and under "odd" which argument has one more than it should, if any."""
        chosen = self.random.sample(SIZES, CALLS - 1)
        if self.random.random() < 0.7:  # usual ones first
            chosen.sort(key=lambda pair: min(pair) < 2)
        found = [{"n": n, "m": m} for n, m in chosen]
        if len(self.pattern) > 1:
            found.insert(self.random.randint(2, len(found)), {"n": 5, "m": 3, "odd": len(self.pattern) - 1})
        return found

    def program(self) -> str:
        body = [line for _ in range(self.random.randint(2, 5)) for line in self.statement(0)]
        body.append(f"return {self.result()}")
        return f"def program({', '.join(self.pattern)}, k):\n" + "\n".join("    " + line for line in body) + "\n"

    # ---- statements

    def statement(self, depth: int) -> list[str]:
        kinds = [self.new_array] * 4 + [self.new_number] * 3
        if depth < 2:
            kinds += [self.condition_statement, self.condition_statement, self.loop, self.loop, self.early]
        if self.in_place:
            kinds += [self.write] * 6
        return self.random.choice(kinds)(depth)

    def block(self, depth: int) -> list[str]:
        """Statements in a body: what is named in it is not read behind it."""
        arrays, made, numbers = dict(self.arrays), list(self.made), list(self.numbers)
        lines = [line for _ in range(self.random.randint(1, 2)) for line in self.statement(depth)]
        if self.random.random() < 0.7:
            name = self.assignable()
            lines.append(f"{name} = ({name} + {self.number(1)}) % 97")
        self.arrays, self.made, self.numbers = arrays, made, numbers
        return ["    " + line for line in lines]

    def name(self, letter: str) -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def new_array(self, depth: int) -> list[str]:
        shape = self.shape()
        if self.random.random() < 0.3:
            return self.new_part()
        text = self.expression(shape, 2)
        name = self.name("v" if len(shape) == 1 else "V")
        self.arrays[name] = shape
        self.made.append(name)
        return [f"{name} = {text}"]

    def new_part(self) -> list[str]:
        """A vector whose size is one of its own."""
        source = self.random.choice(list(self.arrays))
        size = self.size(self.arrays[source][0])
        text = self.random.choice(
            [f"{source}[1:]", f"{source}[:-1]", f"{source}[::2]", f"{source}[:{size} // 2]", f"{source}[{size} // 2:]",
             f"{source}[{source} > {self.random.choice('12k')}]", f"{source}[:3]", f"{source}[-2:]", f"{source}[k:]",
             f"np.concatenate([{source}, {source}])", f"np.diff({source}, axis=0)", f"np.repeat({source}, 2)",
             f"{source}.ravel()", f"{source}.reshape(-1)", f"np.unique({source})", f"np.pad({source}, 1)",
             f"np.tile({source}, 2)", f"{source}[:{size} - 1]", f"{source}[::-2]", f"np.stack([{source}, {source}])",
             f"{source}[np.arange({size} - 1, -1, -1)]", f"{source}[np.arange(0, {size}, 2)]", f"{source}.flatten()"]
        )  # fmt: skip
        rank = len(self.arrays[source])
        if any(word in text for word in ("ravel", "flatten", "(-1)", "unique", " > ", "repeat")):
            rank = 1
        name = self.name("p" if rank == 1 else "P")
        rest = tuple(f"{name}.shape[{axis}]" for axis in range(1, rank))
        if "stack" in text:
            rest, rank = (*rest, f"{name}.shape[{rank}]"), rank + 1
        if rank < 3:
            self.arrays[name] = (f"len({name})", *rest)
        return [f"{name} = {text}"]

    def new_number(self, depth: int) -> list[str]:
        name = self.name("s")
        text = self.number(2)
        if depth == 0 and self.random.random() < 0.15 and "A" in self.arrays:
            self.numbers += ["rows", "columns"]
            return ["rows, columns = A.shape"]
        if depth == 0 or name in self.numbers:
            self.numbers.append(name)
            return [f"{name} = {text}"]
        return [f"{self.assignable()} = {text}"]

    def assignable(self) -> str:
        """A number that neither counts a loop nor is one of an array."""
        return self.random.choice([name for name in self.numbers if name[0] in "ks"])

    def condition_statement(self, depth: int) -> list[str]:
        lines = [f"if {self.condition()}:", *self.block(depth + 1)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.block(depth + 1)]
        return lines

    def early(self, depth: int) -> list[str]:
        return [f"if {self.condition()}:", f"    return {self.result()}"]

    def loop(self, depth: int) -> list[str]:
        source = self.random.choice(list(self.arrays))
        shape = self.arrays[source]
        size, at = self.size(shape[0]), self.name("i")
        choice = self.random.random()
        if choice < 0.45:
            over = self.random.choice([f"range({size})", f"range({size})", f"range(1, {size})", f"range({size} - 1, -1, -1)"])
            self.positions.setdefault(shape[0], []).append(at)
            body = self.block(depth + 1)
            self.positions[shape[0]].pop()
            lines = [f"for {at} in {over}:", *body]
        elif choice < 0.6 and len(shape) == 2:
            self.arrays[at] = shape[1:]
            lines = [f"for {at} in {source}:", *self.block(depth + 1)]
            del self.arrays[at]
        elif choice < 0.8 and len(shape) == 1:
            x = self.name("x")
            self.positions.setdefault(shape[0], []).append(at)
            self.numbers.append(x)
            head = self.random.choice([f"{at}, {x} in enumerate({source})", f"{at}, {x} in zip(range({size}), {source})"])
            lines = [f"for {head}:", *self.block(depth + 1)]
            self.positions[shape[0]].pop()
            self.numbers.remove(x)
        else:
            other = self.random.choice(list(self.arrays))
            self.numbers.append(at)
            lines = [f"{at} = 0", f"while {at} < {self.size(self.arrays[other][0])}:", f"    {at} += 1", *self.block(depth + 1)]
            if depth:
                self.numbers.remove(at)
        if self.random.random() < 0.35:
            lines += [f"    if {self.condition()}:", f"        {self.random.choice(['break', 'break', f'return {self.result()}'])}"]
        return lines

    def write(self, depth: int) -> list[str]:
        if depth == 0 and self.random.random() < 0.3:
            shape, name = self.shape(), self.name("w")
            sizes = ", ".join(map(self.size, shape))
            like = [other for other, its in self.arrays.items() if its == shape]
            texts = [f"np.zeros(({sizes},))", f"np.ones(({sizes},))", f"np.full(({sizes},), k)"]
            texts += [f"np.zeros_like({other})" for other in like] + [f"{other}.copy()" for other in like]
            self.arrays[name] = shape
            self.made.append(name)
            return [f"{name} = {self.random.choice(texts)}"]
        target = self.random.choice([*self.arrays, *self.made])
        shape = self.arrays[target]
        size, operator = self.size(shape[0]), self.random.choice(["=", "=", "+=", "-="])
        choice = self.random.random()
        if choice < 0.5:
            return [f"{target}[{', '.join(map(self.position, shape))}] {operator} {self.number(1)}"]
        if choice < 0.7:
            part = self.random.choice([f":{size} // 2", ":", "1:", "::2", "-2:", f"{size} // 2:", "k:"])
            return [f"{target}[{part}] {operator} {self.number(1)}"]
        if choice < 0.8:
            return [f"{target}[{target} > {self.number(0)}] {operator} {self.number(0)}"]
        if choice < 0.9 and len(shape) == 2:
            return [f"{target}[{self.position(shape[0])}] {operator} {self.expression(shape[1:], 1)}"]
        return [f"{target}[:] {operator} {self.expression(shape, 1)}"] if choice < 0.95 else [f"{target} += 1"]

    # ---- expressions

    def shape(self) -> tuple[str, ...]:
        return self.random.choice([shape[: self.random.choice((1, 2))] for shape in self.arrays.values()])

    def size(self, dimension: str) -> str:
        """A size in words."""
        found = [f"{name}.shape[{axis}]" for name, shape in self.pattern.items() for axis, d in enumerate(shape) if d == dimension]
        found += [f"len({name})" for name, shape in self.pattern.items() if shape[0] == dimension] * 2
        return self.random.choice(found or [dimension])

    def position(self, dimension: str) -> str:
        known = self.positions.get(dimension, [])
        return self.random.choice([*known, *known, *known, "0", "-1"] if known else ["0", "-1", "k", f"{self.size(dimension)} // 2"])

    def expression(self, shape: tuple[str, ...], depth: int) -> str:
        return self.vector(shape[0], depth) if len(shape) == 1 else self.matrix(*shape, depth)

    def known(self, *shape: str) -> list[str]:
        return [name for name, its in self.arrays.items() if its == shape]

    def vector(self, n: str, depth: int) -> str:
        r = self.random
        leaves = self.known(n) * 2
        if depth == 0 and leaves:
            return r.choice(leaves)
        size = self.size(n)
        texts = [f"np.arange({size})", f"np.zeros({size})", f"np.ones({size}, dtype=np.{self.dtype})", f"np.full({size}, k)",
                 f"np.linspace(0, 1, {size})"]  # fmt: skip
        for name, shape in self.arrays.items():
            if len(shape) == 2 and shape[1] == n:
                texts += [f"{name}.sum(axis=0)", f"{name}.max(axis=0)", f"{name}[0]", f"{name}[-1]", f"{name}.mean(axis=0)"]
                texts += [f"{name}[:, {other}].sum(axis=0)" for other in ("None", "::-1")[: len(shape) - 1] if False]
            if len(shape) == 2 and shape[0] == n:
                texts += [f"{name}.sum(axis=1)", f"{name}.min(axis=1)", f"{name}[:, 0]", f"np.argmax({name}, axis=1)",
                          f"np.mean({name}, axis=-1)"]  # fmt: skip
                texts += [f"{name} @ {other}" for other in self.known(shape[1])]
        if depth == 0 or (r.random() < 0.15 and leaves):
            return r.choice(leaves or texts)
        v = self.vector(n, depth - 1)
        w = self.vector(n, depth - 1)
        texts += leaves
        texts += [
            f"({v} + {w})", f"({v} * {w})", f"({v} - {w})", f"{v} * {self.number(0)}", f"({v})[::-1]", f"np.cumsum({v})",
            f"np.sort({v})", f"np.argsort({v}, kind='stable')", f"np.where({v} > {self.number(0)}, {v}, {w})", f"np.clip({v}, 0, 2)",
            f"np.roll({v}, {r.choice(['1', 'k', '-2'])})", f"np.abs({v})", f"np.maximum({v}, {w})", f"-({v})",
            f"np.pad(({v})[1:], (0, 1))", f"np.concatenate([({v})[1:], ({v})[:1]])", f"({v}) / ({size})", f"np.zeros_like({v})",
            f"({v})[np.arange({size})]", f"np.diff({v}, prepend=0)", f"({v}).astype(np.float64)", f"np.minimum({v}, {self.number(0)})",
            f"({v} > {w})", f"np.stack([{v}, {w}]).sum(axis=0)", f"np.outer({v}, {w}).sum(axis=1)", f"({v} - np.mean({v}))",
        ]  # fmt: skip
        return r.choice(texts)

    def matrix(self, n: str, m: str, depth: int) -> str:
        r = self.random
        leaves = self.known(n, m) * 2
        rows, columns = self.size(n), self.size(m)
        if depth == 0 and leaves:
            return r.choice(leaves)
        texts = [*leaves, f"np.zeros(({rows}, {columns}))", f"np.ones(({rows}, {columns}))", f"np.full(({rows}, {columns}), k)"]
        texts += [f"{name}.T" for name in self.known(m, n)] * 2 + ([f"np.eye({rows})"] if n == m else [])
        texts += [f"np.arange({rows} * {columns}).reshape({rows}, {columns})"]
        if depth == 0:
            return r.choice(texts)
        v, w = self.vector(n, depth - 1), self.vector(m, depth - 1)
        M, N = self.matrix(n, m, depth - 1), self.matrix(n, m, depth - 1)
        texts += [
            f"({v})[:, None] * ({w})", f"np.outer({v}, {w})", f"np.tile({w}, ({rows}, 1))", f"np.add.outer({v}, {w})",
            f"np.repeat(({v})[:, None], {columns}, axis=1)", f"({M} + {N})", f"({M} * {N})", f"({M} - {w})",
            f"({M}) * {self.number(0)}", f"np.cumsum({M}, axis={r.choice('01')})", f"np.sort({M}, axis={r.choice('01')})",
            f"({M})[::-1]", f"({M})[:, ::-1]", f"np.where({M} > {self.number(0)}, {M}, {N})", f"np.clip({M}, -1, 2)",
            f"({M} - ({M}).max(axis={r.choice('01')}, keepdims=True))", f"np.roll({M}, 1, axis={r.choice('01')})",
            f"({M}) + ({v})[:, np.newaxis]", f"({M})[np.arange({rows})]", f"({M}).T.T", f"np.broadcast_to({w}, ({rows}, {columns})) + 0",
            f"({M}).reshape({rows}, {columns})", f"({M}).reshape({rows}, -1)", f"({M})[np.argsort({v}, kind='stable')]",
        ]  # fmt: skip
        texts += [f"{name} @ {other}" for name, shape in self.arrays.items() if len(shape) == 2 and shape[0] == n
                  for other in self.known(shape[1], m)]  # fmt: skip
        return r.choice(texts)

    def number(self, depth: int) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice(self.numbers)
        source = r.choice(list(self.arrays))
        shape = self.arrays[source]
        size = self.size(shape[0])
        E = self.expression(shape, depth - 1)
        texts = [
            size, f"{size} * 2", f"{size} // 2", f"{size} - 1", f"{size} % 3", f"len({source})", f"{source}.shape[0]",
            f"{source}.size", f"{source}.ndim", f"({E}).sum()", f"np.sum({E})", f"({E}).max()", f"np.min({E})", f"({E}).mean()",
            f"np.std({E})", f"np.argmax({E})", f"int(({E}).sum())", f"float(np.sum({E}))", f"len({E})",
            f"{source}[{', '.join(map(self.position, shape))}]", f"np.count_nonzero({E} > 1)", f"(({E}) > 1).any()",
            f"({self.number(depth - 1)} + {self.number(depth - 1)})", f"({self.number(depth - 1)} * {self.number(0)})",
            f"({E}).sum() / {size}", f"np.prod({source}.shape)", f"{source}.nbytes", f"max({size}, k)", f"sum({source}.shape)",
            f"len({source}[{source} > 1])", f"({E}).shape[0]", f"np.size({E})", f"-{size}", f"min(len({source}), 4)",
        ]  # fmt: skip
        if len(shape) == 1:
            texts += [f"np.dot({E}, {E})", f"({E}) @ ({E})", f"sum([x * 2 for x in {source}])", f"sum({source})",
                      f"len([x for x in {source} if x > 1])", f"max({source})"]  # fmt: skip
        return r.choice(texts)

    def condition(self) -> str:
        r = self.random
        source, other = r.choice(list(self.arrays)), r.choice(list(self.arrays))
        size = self.size(self.arrays[source][0])
        E = self.expression(self.arrays[source], 1)
        return r.choice(
            [f"{size} > {r.choice('1346')}", f"{size} % 2 == 0", f"len({source}) < len({other})", f"{source}.shape == {other}.shape",
             f"{size} == {self.size(self.arrays[other][0])}", f"({E}).sum() > 4", f"{self.number(0)} > {self.number(1)}",
             f"np.all({E} > 0)", f"({E} > 2).any()", f"not {size}", f"{source}.size > 6", f"len({source}) and {source}.sum() > k",
             f"1 < {size} <= 6", f"k in {source}.shape", f"{source}.ndim == 2 and {source}.shape[-1] > 2"]
        )  # fmt: skip

    def result(self) -> str:
        r = self.random
        parts = []
        for _ in range(r.choice((1, 2, 2, 3))):
            name = r.choice(list(self.arrays)[-3:] if r.random() < 0.7 else list(self.arrays))
            size = self.size(self.arrays[name][0])
            parts.append(
                r.choice(
                    [name, name, name, self.numbers[-1], self.assignable(), self.assignable(), self.number(1), size, f"{name}.shape", f"{name}[:{size} // 2]", f"{name}[::-1]",
                     self.expression(self.arrays[name], 1), f"{{'n': {size}, 'sum': {name}.sum()}}", f"[{size}, {self.number(0)}]",
                     f"{name}.tolist()", f"list(range({size}))", f"[x * 2 for x in {name}]", f"{name}.T", f"str({size})",
                     f"{name}.dtype", f"np.array([{size}, 1])", f"np.array({name}.shape)", f"range({size})", f"({size}) * [0]"]
                )
            )  # fmt: skip
        return ", ".join(parts)


def arguments(generator: Generator, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    found = []
    for number, shape in enumerate(generator.pattern.values()):
        odd = sizes.get("odd") == number
        known = tuple(sizes[d] + (odd and axis == len(shape) - 1) for axis, d in enumerate(shape))
        found.append(draw.integers(-3, 5, known).astype(generator.dtype))
    return found


def outcome(function, arrays, number):
    """(what the call gave in a form that compares, what the arguments hold, which argument a result is or shares)."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*arrays, number)
        except Exception as error:
            return type(error).__name__, str(error), [described(array) for array in arrays]
    parts = value if isinstance(value, tuple) else (value,)
    results = [part for part in parts if isinstance(part, np.ndarray)]
    shared = [[np.shares_memory(part, a) for a in arrays] for part in results]
    same = [[part is a for a in arrays] for part in results]
    among = [[bool(one.size) and np.shares_memory(one, other) for other in results] for one in results]
    return described(value), [described(array) for array in arrays], shared, same, among


def described(value):
    """The value in a form that compares; floats as far as the order of sums does not change them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__, value.dtype.name, value.shape, str(_rounded(value.tolist(), value.dtype.itemsize))
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [described(part) for part in value]
    if isinstance(value, dict):
        return "dict", [(described(key), described(part)) for key, part in value.items()]
    return type(value).__name__, str(_rounded(value, 8))


def _rounded(value, size):
    if isinstance(value, list):
        return [_rounded(part, size) for part in value]
    if not isinstance(value, float):
        return value
    found = float(f"{value:.{10 if size == 8 else 4}g}")
    return 0.0 if found == 0.0 or abs(found) < 1e-7 else found


def check(number: int) -> tuple[str, str, list[str]]:
    """("open" | "each" | "plain" | "WRONG", details, why sizes did not stay open) for one program."""
    generator = Generator(number)
    source, name = generator.program(), f"<sizes program {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    plain, compiled = _made(source, name), ac.compile(_made(source, name))
    for turn, sizes in enumerate(generator.calls()):
        k = (2, 1, 0, 3)[turn % 4]
        expected = outcome(plain, arguments(generator, sizes, turn), k)
        found = outcome(compiled, arguments(generator, sizes, turn), k)
        if expected != found:
            shapes = [array.shape for array in arguments(generator, sizes, turn)]
            return "WRONG", f"{source}{generator.dtype} call {turn} {shapes} k={k}\nexpected {expected}\nfound    {found}", []
    told = compiled.explain()
    reasons = [line.strip() for line in told.splitlines() if re.search("plain Python:|of its own:|no code for any", line)]
    if "plain Python: one call" not in told and "plain Python:" in told:
        return "plain", source, reasons
    if any("(" in line and "shape=(" in line and "None" in line.split(":", 1)[-1].replace("name=None", "") for line in told.splitlines()):
        return ("open" if "no code for any" not in told else "open, code by shape"), source, reasons
    return ("each" if "trace of its own" in told else "memory" if "memory" in told else "each"), source, reasons


def _made(program, name):
    namespace = {"np": np}
    exec(compile(program, name, "exec"), namespace)
    return namespace["program"]


def kind_of(reason: str) -> str:
    """A reason without the place and the names in it."""
    text = re.sub(r"<sizes program \d+>:\d+(:\d+)?: ?", "", reason)
    text = re.sub(r"line \d+", "line N", text)
    return re.sub(r"\(n\d[^:]*\)|\((\d+, ?)*\d*\)", "(…)", text)[:150]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="why sizes did not stay open, by kinds")
    options = parser.parse_args()
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    counts: collections.Counter[str] = collections.Counter()
    kinds: collections.Counter[str] = collections.Counter()
    examples: dict[str, int] = {}
    for number in range(options.seed, options.seed + options.programs):
        kind, details, reasons = check(number)
        counts[kind] += 1
        if kind == "WRONG":
            print(f"--- program {number}\n{details}\n", flush=True)
        for reason in set(map(kind_of, reasons)):
            kinds[reason] += 1
            examples.setdefault(reason, number)
    if options.show:
        for reason, count in kinds.most_common(40):
            print(f"{count:4} {reason} (program {examples[reason]})")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
