"""Functions of NumPy arrays that depend on sizes; `fuzz/sizes.py` compiles them and calls them with many shapes."""

from __future__ import annotations

import random

DTYPES = ("float64", "float64", "int64", "float32", "int32")
# The shapes of the arguments, in names of sizes.
PATTERNS = (
    {"a": ("n",)}, {"a": ("n",), "b": ("n",)}, {"a": ("n",), "b": ("m",)}, {"A": ("n", "m")},
    {"A": ("n", "m"), "a": ("n",)}, {"A": ("n", "m"), "b": ("m",)}, {"A": ("n", "m"), "B": ("n", "m")},
    {"A": ("n", "n"), "a": ("n",)}, {"A": ("n", "m"), "B": ("m", "n")}, {"A": ("n", "m"), "a": ("n",), "b": ("m",)},
)  # fmt: skip
SIZES = [
    (5, 7), (7, 4), (12, 3), (3, 12), (2, 5), (1, 4), (6, 1), (0, 3), (4, 0), (31, 8), (6, 6), (2, 2), (1, 1), (9, 2),
]  # fmt: skip
CALLS = 8


class Generator:
    """A writer of a function of some arrays and an int. `arrays` has the shape of each array in names of sizes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtype = self.random.choice(DTYPES)
        self.pattern = self.random.choice(PATTERNS)
        self.in_place = self.random.random() < 0.4
        self.arrays: dict[str, tuple[str, ...]] = dict(self.pattern)
        self.new_arrays: list[str] = []  # the arrays that the function makes
        self.numbers = ["k", "2", "3"]
        self.positions: dict[str, list[str]] = {}  # ints below a size
        self.counter = 0

    def calls(self) -> list[dict[str, int]]:
        """Sizes by name. "odd" is the index of the argument that has one element too many, if any."""
        chosen = self.random.sample(SIZES, CALLS - 1)
        if self.random.random() < 0.7:  # usual sizes
            chosen.sort(key=lambda pair: min(pair) < 2)
        calls = [{"n": n, "m": m} for n, m in chosen]
        if len(self.pattern) > 1:
            calls.insert(self.random.randint(2, len(calls)), {"n": 5, "m": 3, "odd": len(self.pattern) - 1})
        return calls

    def program(self) -> str:
        body = [line for _ in range(self.random.randint(2, 5)) for line in self.statement(0)]
        body.append(f"return {self.result()}")
        return f"def program({', '.join(self.pattern)}, k):\n" + "\n".join("    " + line for line in body) + "\n"

    # ---- statements

    def statement(self, depth: int) -> list[str]:
        kinds = [self.new_array] * 4 + [self.new_number] * 3
        if depth < 2:
            kinds += [self.condition_statement, self.condition_statement, self.loop, self.loop, self.early_return]
        if self.in_place:
            kinds += [self.write] * 6
        return self.random.choice(kinds)(depth)

    def block(self, depth: int) -> list[str]:
        """The statements of a body. Names that it defines are not read after it."""
        arrays, new_arrays, numbers = dict(self.arrays), list(self.new_arrays), list(self.numbers)
        lines = [line for _ in range(self.random.randint(1, 2)) for line in self.statement(depth)]
        if self.random.random() < 0.7:
            name = self.assignable()
            lines.append(f"{name} = ({name} + {self.number(1)}) % 97")
        self.arrays, self.new_arrays, self.numbers = arrays, new_arrays, numbers
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
        self.new_arrays.append(name)
        return [f"{name} = {text}"]

    def new_part(self) -> list[str]:
        """A vector with a new size."""
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
        """A number that is neither a counter of a loop nor an element of an array."""
        return self.random.choice([name for name in self.numbers if name[0] in "ks"])

    def condition_statement(self, depth: int) -> list[str]:
        lines = [f"if {self.condition()}:", *self.block(depth + 1)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.block(depth + 1)]
        return lines

    def early_return(self, depth: int) -> list[str]:
        return [f"if {self.condition()}:", f"    return {self.result()}"]

    def loop(self, depth: int) -> list[str]:
        source = self.random.choice(list(self.arrays))
        shape = self.arrays[source]
        size, at = self.size(shape[0]), self.name("i")
        choice = self.random.random()
        if choice < 0.45:
            bounds = self.random.choice([size, size, f"1, {size}", f"{size} - 1, -1, -1"])
            self.positions.setdefault(shape[0], []).append(at)
            body = self.block(depth + 1)
            self.positions[shape[0]].pop()
            lines = [f"for {at} in range({bounds}):", *body]
        elif choice < 0.6 and len(shape) == 2:
            self.arrays[at] = shape[1:]
            lines = [f"for {at} in {source}:", *self.block(depth + 1)]
            del self.arrays[at]
        elif choice < 0.8 and len(shape) == 1:
            x = self.name("x")
            self.positions.setdefault(shape[0], []).append(at)
            self.numbers.append(x)
            over = self.random.choice([f"enumerate({source})", f"zip(range({size}), {source})"])
            lines = [f"for {at}, {x} in {over}:", *self.block(depth + 1)]
            self.positions[shape[0]].pop()
            self.numbers.remove(x)
        else:
            other = self.random.choice(list(self.arrays))
            self.numbers.append(at)
            lines = [f"{at} = 0", f"while {at} < {self.size(self.arrays[other][0])}:", f"    {at} += 1"]
            lines += self.block(depth + 1)
            if depth:
                self.numbers.remove(at)
        if self.random.random() < 0.35:
            leaves = self.random.choice(["break", "break", f"return {self.result()}"])
            lines += [f"    if {self.condition()}:", f"        {leaves}"]
        return lines

    def write(self, depth: int) -> list[str]:
        if depth == 0 and self.random.random() < 0.3:
            shape, name = self.shape(), self.name("w")
            sizes = ", ".join(map(self.size, shape))
            like = [other for other, other_shape in self.arrays.items() if other_shape == shape]
            texts = [f"np.zeros(({sizes},))", f"np.ones(({sizes},))", f"np.full(({sizes},), k)"]
            texts += [f"np.zeros_like({other})" for other in like] + [f"{other}.copy()" for other in like]
            self.arrays[name] = shape
            self.new_arrays.append(name)
            return [f"{name} = {self.random.choice(texts)}"]
        target = self.random.choice([*self.arrays, *self.new_arrays])
        shape = self.arrays[target]
        size, operator = self.size(shape[0]), self.random.choice(["=", "=", "+=", "-="])
        choice = self.random.random()
        if choice < 0.15:
            axes = self.random.choice(["", ":, "]) if len(shape) == 2 else ""
            into, part = self.random.choice([("1:", ":-1"), (":-1", "1:"), ("2:", "1:-1"), ("1:-1", ":-2")])
            return [f"{target}[{axes}{into}] {operator} ({self.expression(shape, 1)})[{axes}{part}]"]
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
        """An expression of a size."""
        texts = []
        for name, shape in self.pattern.items():
            texts += [f"{name}.shape[{axis}]" for axis, d in enumerate(shape) if d == dimension]
        texts += [f"len({name})" for name, shape in self.pattern.items() if shape[0] == dimension] * 2
        return self.random.choice(texts or [dimension])

    def position(self, dimension: str) -> str:
        known = self.positions.get(dimension, [])
        if known:
            return self.random.choice([*known, *known, *known, "0", "-1"])
        return self.random.choice(["0", "-1", "k", f"{self.size(dimension)} // 2"])

    def expression(self, shape: tuple[str, ...], depth: int) -> str:
        return self.vector(shape[0], depth) if len(shape) == 1 else self.matrix(*shape, depth)

    def known(self, *shape: str) -> list[str]:
        return [name for name, known_shape in self.arrays.items() if known_shape == shape]

    def vector(self, n: str, depth: int) -> str:
        r = self.random
        leaves = self.known(n) * 2
        if depth == 0 and leaves:
            return r.choice(leaves)
        size = self.size(n)
        texts = [f"np.arange({size})", f"np.zeros({size})", f"np.ones({size}, dtype=np.{self.dtype})"]
        texts += [f"np.full({size}, k)", f"np.linspace(0, 1, {size})"]
        for name, shape in self.arrays.items():
            if len(shape) == 2 and shape[1] == n:
                texts += [f"{name}.sum(axis=0)", f"{name}.max(axis=0)", f"{name}[0]", f"{name}[-1]"]
                texts += [f"{name}[:, ::-1].mean(0)"]
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
            f"({v} + {w})", f"({v} * {w})", f"({v} - {w})", f"{v} * {self.number(0)}", f"({v})[::-1]",
            f"np.sort({v})", f"np.argsort({v}, kind='stable')", f"np.where({v} > {self.number(0)}, {v}, {w})",
            f"np.roll({v}, {r.choice(['1', 'k', '-2'])})", f"np.abs({v})", f"np.maximum({v}, {w})", f"-({v})",
            f"np.pad(({v})[1:], (0, 1))", f"np.concatenate([({v})[1:], ({v})[:1]])", f"({v}) / ({size})",
            f"({v})[np.arange({size})]", f"np.diff({v}, prepend=0)", f"({v}).astype(np.float64)", f"np.cumsum({v})",
            f"({v} > {w})", f"np.stack([{v}, {w}]).sum(axis=0)", f"np.outer({v}, {w}).sum(axis=1)",
            f"({v} - np.mean({v}))", f"np.minimum({v}, {self.number(0)})", f"np.zeros_like({v})", f"np.clip({v}, 0, 2)",
        ]  # fmt: skip
        return r.choice(texts)

    def matrix(self, n: str, m: str, depth: int) -> str:
        r = self.random
        leaves = self.known(n, m) * 2
        rows, columns = self.size(n), self.size(m)
        if depth == 0 and leaves:
            return r.choice(leaves)
        shape = f"({rows}, {columns})"
        texts = [*leaves, f"np.zeros({shape})", f"np.ones({shape})", f"np.full({shape}, k)"]
        texts += [f"{name}.T" for name in self.known(m, n)] * 2 + ([f"np.eye({rows})"] if n == m else [])
        texts += [f"np.arange({rows} * {columns}).reshape({rows}, {columns})"]
        if depth == 0:
            return r.choice(texts)
        v, w = self.vector(n, depth - 1), self.vector(m, depth - 1)
        M, N = self.matrix(n, m, depth - 1), self.matrix(n, m, depth - 1)
        texts += [
            f"({v})[:, None] * ({w})", f"np.outer({v}, {w})", f"np.tile({w}, ({rows}, 1))", f"np.add.outer({v}, {w})",
            f"np.repeat(({v})[:, None], {columns}, axis=1)", f"({M} + {N})", f"({M} * {N})", f"({M} - {w})",
            f"np.cumsum({M}, axis={r.choice('01')})", f"np.sort({M}, axis={r.choice('01')})",
            f"({M}) * {self.number(0)}",
            f"({M})[::-1]", f"({M})[:, ::-1]", f"np.where({M} > {self.number(0)}, {M}, {N})", f"np.clip({M}, -1, 2)",
            f"({M} - ({M}).max(axis={r.choice('01')}, keepdims=True))", f"np.roll({M}, 1, axis={r.choice('01')})",
            f"({M}) + ({v})[:, np.newaxis]", f"({M})[np.arange({rows})]", f"({M}).T.T",
            f"np.broadcast_to({w}, {shape}) + 0",
            f"({M}).reshape{shape}", f"({M}).reshape({rows}, -1)", f"({M})[np.argsort({v}, kind='stable')]",
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
            f"{source}.size", f"{source}.ndim", f"({E}).sum()", f"np.sum({E})", f"({E}).max()", f"np.min({E})",
            f"np.argmax({E})", f"int(({E}).sum())", f"len({E})", f"(({E}) > 1).any()", f"np.count_nonzero({E} > 1)",
            f"{source}[{', '.join(map(self.position, shape))}]", f"({self.number(depth - 1)} * {self.number(0)})",
            f"({self.number(depth - 1)} + {self.number(depth - 1)})", f"np.prod({source}.shape)", f"{source}.nbytes",
            f"max({size}, k)", f"sum({source}.shape)", f"len({source}[{source} > 1])", f"({E}).shape[0]",
            f"np.size({E})", f"-{size}", f"min(len({source}), 4)",
        ]  # fmt: skip
        if not (self.in_place and "int" in self.dtype):  # NaN as an element of integers is left out
            texts += [f"({E}).mean()", f"np.std({E})", f"({E}).sum() / {size}", f"float(np.sum({E}))"]
        if len(shape) == 1:
            texts += [f"np.dot({E}, {E})", f"({E}) @ ({E})", f"sum([x * 2 for x in {source}])", f"sum({source})"]
            texts += [f"len([x for x in {source} if x > 1])", f"max({source})"]
        return r.choice(texts)

    def condition(self) -> str:
        r = self.random
        source, other = r.choice(list(self.arrays)), r.choice(list(self.arrays))
        size = self.size(self.arrays[source][0])
        E = self.expression(self.arrays[source], 1)
        return r.choice(
            [f"{size} > {r.choice('1346')}", f"{size} % 2 == 0", f"len({source}) < len({other})", f"not {size}",
             f"{size} == {self.size(self.arrays[other][0])}", f"({E}).sum() > 4", f"1 < {size} <= 6",
             f"{self.number(0)} > {self.number(1)}", f"np.all({E} > 0)", f"({E} > 2).any()", f"{source}.size > 6",
             f"len({source}) and {source}.sum() > k", f"{source}.shape == {other}.shape", f"k in {source}.shape",
             f"{source}.ndim == 2 and {source}.shape[-1] > 2"]
        )  # fmt: skip

    def result(self) -> str:
        r = self.random
        parts = []
        for _ in range(r.choice((1, 2, 2, 3))):
            name = r.choice(list(self.arrays)[-3:] if r.random() < 0.7 else list(self.arrays))
            size = self.size(self.arrays[name][0])
            parts.append(
                r.choice(
                    [name, name, name, self.numbers[-1], self.assignable(), self.assignable(), self.number(1), size,
                     f"{name}.shape", f"{name}[:{size} // 2]", f"{name}[::-1]", self.expression(self.arrays[name], 1),
                     f"{{'n': {size}, 'sum': {name}.sum()}}", f"[{size}, {self.number(0)}]", f"{name}.tolist()",
                     f"list(range({size}))", f"[x * 2 for x in {name}]", f"{name}.T", f"str({size})", f"{name}.dtype",
                     f"np.array([{size}, 1])", f"np.array({name}.shape)", f"range({size})", f"({size}) * [0]"]
                )
            )  # fmt: skip
        return ", ".join(parts)
