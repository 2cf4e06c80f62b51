"""The programs of `fuzz/numpy_calls.py --statements`: masks, selections, windows, overlapping updates, short dtypes.

A program is a few statements over two vectors of one size, a matrix, positions and two numbers, whose sizes differ from
call to call. Vectors that a selection made have sizes that only the running program has.
"""

from __future__ import annotations

import random

import numpy as np

from grammar import numpy_calls

DTYPES = ["float64", "float64", "float32", "int64", "int32", "uint8", "int8", "float16", "bool", "complex128", "uint64"]
SIZES = [(7, 3), (4, 5), (9, 2), (0, 3), (1, 1), (12, 0), (2, 4), (5, 5)]
PARAMETERS = "x, y, A, at, k, f"


def draw_array(call: int, dtype: str, rank: int, seed: int, layout: str) -> np.ndarray:
    """Return an array of the sizes of a call: small numbers with ties, NaN and infinities, near limits of integers."""
    draw = np.random.default_rng([seed, call])
    shape = SIZES[(seed + call) % len(SIZES)][:rank]
    values = draw.integers(-4, 6, shape)
    if dtype in ("uint8", "int8", "uint64", "int32", "int64") and seed % 3 == 0:
        limits = np.iinfo(dtype)
        edges = np.array([limits.min, limits.max], dtype)
        array = np.where(draw.random(shape) < 0.3, draw.choice(edges, shape), np.abs(values).astype(dtype))
    else:
        array = (np.abs(values) if dtype.startswith("u") else values).astype(dtype)
    if array.dtype.kind in "fc":
        array = array / array.dtype.type(2)
        if seed % 2:
            array[draw.random(shape) < 0.2] = draw.choice([np.nan, np.nan, np.inf, -0.0])
    if layout == "steps":
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    elif layout == "reversed":
        array = array[::-1].copy()[::-1]
    elif layout == "columns":
        array = np.asfortranarray(array)
    return array


class CallGenerator(numpy_calls.Generator):
    """A writer of calls of NumPy's functions on arrays whose sizes differ from call to call."""

    def __init__(self, seed: int, only: str | None = None) -> None:
        super().__init__(seed, only)
        self.seed = seed
        self.shape = self.random.choice(((3,), (3,), (2, 3)))

    def array(self, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> str:
        if shape is not None and len(shape) != len(self.shape):
            return super().array(dtype, shape)
        kind = dtype or (self.random.choice(DTYPES) if self.chance(0.25) else self.dtype)
        layout = self.one_of("rows", "rows", "steps", "reversed", "columns")
        return f"draw_array(call, {kind!r}, {len(self.shape)}, {self.seed}, {layout!r})"


class Generator:
    """A writer of a program and of the texts of its arguments, which depend on `call`."""

    def __init__(self, seed: int, only: str | None = None) -> None:
        self.random = random.Random(f"selections {seed}")
        self.seed, self.counter = seed, 0
        self.vectors, self.selected, self.numbers = ["x", "y"], ["x[1:]"], ["k", "f", "2", "x.dtype.type(3)", "0.5"]
        kinds = [self.random.choice(DTYPES)] * 2 + [self.random.choice(DTYPES)]
        if self.random.random() < 0.3:
            kinds[1] = self.random.choice(DTYPES)
        layouts = [self.random.choice(("rows", "rows", "rows", "steps", "reversed", "columns")) for _ in kinds]
        ranks = (1, 1, 2)
        self.arguments = [f"draw_array(call, {kind!r}, {rank}, {seed}, {layout!r})"
                          for kind, rank, layout in zip(kinds, ranks, layouts, strict=True)]  # fmt: skip
        self.arguments += [f"np.arange(SIZES[({seed} + call) % 8][0]) * 5 // 3 % max(SIZES[({seed} + call) % 8][0], 1)"]
        self.arguments += ["2 + call % 2", self.random.choice(("0.5", "-1.5", "2.0", "float('nan')"))]

    def program(self) -> str:
        body = [line for _ in range(self.random.randint(2, 4)) for line in self.statement()]
        results = [*self.vectors[2:], *self.selected[1:], *self.numbers[5:]] or [self.vector(2), self.number(1)]
        return f"def program({PARAMETERS}):\n    " + "\n    ".join([*body, f"return {', '.join(results)},"]) + "\n"

    def one_of(self, *texts: str) -> str:
        return self.random.choice(texts)

    def name(self, names: list[str], letter: str) -> str:
        self.counter += 1
        names.append(f"{letter}{self.counter}")
        return names[-1]

    # ---- statements

    def statement(self) -> list[str]:
        kind = self.random.random()
        if kind < 0.2:
            text = self.vector(2)
            return [f"{self.name(self.vectors, 'v')} = {text}"]
        if kind < 0.4:
            text = self.selection(2)
            return [f"{self.name(self.selected, 's')} = {text}"]
        if kind < 0.55:
            text = self.number(2)
            return [f"{self.name(self.numbers, 'n')} = {text}"]
        if kind < 0.8:
            return self.update()
        return self.loop()

    def update(self) -> list[str]:
        x, v, m, s = self.random.choice(self.vectors), self.vector(1), self.mask(1), self.number(0)
        op = self.one_of("=", "+=", "-=", "*=")
        ufunc = self.one_of("add", "subtract", "multiply", "maximum", "minimum")
        return [self.one_of(
            f"{x}[{m}] {op} {s}", f"{x}[{m}] {op} ({v})[{m}]", f"{x}[1:] {op} {x}[:-1]", f"{x}[:-1] {op} {x}[1:]",
            f"{x}[::-1] {op} {x}", f"{x} {op} {x}[::-1]", f"{x}[:] = {x}[::-1]", f"np.{ufunc}.at({x}, at, {v})",
            f"np.{ufunc}.at({x}, at[:1], {s})", f"{x}[at] {op} {v}", f"np.{ufunc}({x}, {v}, out={x})",
            f"np.{ufunc}({x}, {v}, out={x}, where={m})", f"np.{ufunc}.accumulate({x}, out={x})", f"{x} {op} {s}",
            f"A {op} {s}", f"A[A > {s}] = {s}", f"A[1:] {op} A[:-1]", f"A[:, ::-1] {op} A", f"A[{m}] {op} {s}",
            f"A[0] {op} A[-1]", f"np.copyto({x}, {v}, where={m})", f"np.putmask({x}, {m}, {v})", f"{x}.sort()",
            f"np.place({x}, {m}, [1, 2])", f"{x}[np.nonzero({m})] = {s}", f"{x}[np.nonzero({m})[0]] {op} {s}",
            f"{x}.fill({s})", f"np.clip({x}, 0, 2, out={x})", f"A.T[...] {op} {s}", f"A[:, 0] {op} {v}",
            f"np.cumsum({x}, out={x})", f"np.negative({x}, out={x})", f"{x}[k:] {op} {x}[:-k]", f"{x} <<= 1",
            f"{x} //= {s}", f"{x} %= {s}", f"{x} **= 2", f"{x} /= {s}", f"{x}.flat[0] = {s}",
        )]  # fmt: skip

    def loop(self) -> list[str]:
        x, m, i = self.random.choice(self.vectors), self.mask(1), f"i{self.counter}"
        window = self.one_of(f"{x}[{i}:{i} + k]", f"{x}[{i}:{i} + 3]", f"{x}[max({i} - 1, 0):{i} + 2]", f"{x}[:{i}]")
        value = self.one_of(
            f"{window}.mean()", f"{window}.std()", f"np.median({window})", f"{window}.sum()", f"np.ptp({window})",
            f"np.dot({window}, {window})", f"np.count_nonzero({window})", f"np.nanmean({window})", f"{window}.var()",
            f"np.sort({window})[0]", f"{window}[{window} > 0].sum()", f"{window}.min()", f"{window}.max()",
            f"len(np.unique({window}))", f"np.argmax({window})", f"{window}[-1]", f"np.any({window})",
        )  # fmt: skip
        if self.random.random() < 0.35:
            rest = self.name(self.selected, "r")
            shrink = self.one_of(f"{rest}[{rest} > {rest}.mean()]", f"{rest}[1:]",
                                 f"{rest}[1:][{rest}[1:] != {rest}[0]]",
                                 f"{rest}[::2]", f"np.unique({rest})[:-1]", f"np.diff({rest})",
                                 f"{rest}[:-1][{rest}[1:] > {rest}[:-1]]", f"np.delete({rest}, 0)")  # fmt: skip
            return [f"{rest} = {self.vector(1)}", f"while len({rest}) > 1:", f"    {rest} = {shrink}"]
        out = self.name(self.vectors, "o")
        target = self.one_of(f"{out}[{i}] = {value}", f"{out}[{i}] += {value}", f"if ({m})[{i}]: {out}[{i}] = {value}")
        made = self.one_of(f"np.zeros({x}.shape)", f"{x}.copy()", f"np.empty_like({x}); {out}[:] = 1",
                           f"np.zeros(len({x}), {x}.dtype)")  # fmt: skip
        return [f"{out} = {made}", f"for {i} in range(len({x})):", f"    {target}"]

    # ---- expressions

    def vector(self, depth: int) -> str:
        """A vector of the size of x."""
        x = self.random.choice(self.vectors)
        if depth == 0:
            return x
        v, w, m, s = self.vector(depth - 1), self.vector(depth - 1), self.mask(depth - 1), self.number(0)
        operator = self.one_of("+", "-", "*", "//", "%", "/", "**", "<", "&", "-")
        return self.one_of(
            f"({v} {operator} {w})", f"({v} {operator} {s})", f"({s} {operator} {v})", f"np.where({m}, {v}, {w})",
            f"np.where({m}, {v}, {s})", f"({v})[::-1]", f"np.sort({v})", f"np.argsort({v}, kind='stable')", f"-({v})",
            f"np.cumsum({v})", f"np.cumprod({v})", f"np.maximum.accumulate({v})", f"np.subtract.accumulate({v})",
            f"({v}).astype({self.one_of('np.uint8', 'np.float16', 'np.int8', 'np.float32', 'bool', 'np.int64')})",
            f"np.clip({v}, 0, {s})", f"np.maximum({v}, {w})", f"np.fmin({v}, {w})",
            f"np.nan_to_num({v})", f"abs({v})",
            f"np.searchsorted(np.sort({v}), {w})", f"np.digitize({v}, [0, 1, 3])", f"np.roll({v}, k)", f"({v})[at]",
            f"np.interp({v}, [0, 1, 2], [3, 1, 2])", f"np.add({v}, {w}, where={m}, out=np.zeros({v}.shape))",
            f"np.unique({v}, return_inverse=True)[1]", f"np.sqrt({v})", f"np.round({v}, 1)", f"np.isin({v}, {w})",
            "A.sum(axis=1)", "A.max(axis=1, initial=2)", "np.nanmax(A, axis=1)", "np.nanmean(A, axis=1)",
            "A.sum(axis=1, dtype=np.float32)", "np.add.reduce(A, axis=-1, where=A > 0)", "A.mean(1)", "A.std(1)",
            "np.einsum('ij->i', A)", "np.median(A, axis=1)", "np.logical_or.reduce(A, axis=1)", "A @ A[0]",
            "np.percentile(A, 30, axis=1)", "np.subtract.reduce(A, axis=1)", "np.argmin(A, axis=1)",
            f"np.sign({v})",
            f"np.multiply({v}, {w}, dtype=np.float64)", f"({v}) << 3", f"np.floor_divide({v}, {w})",
            f"np.square({v})",
        )  # fmt: skip

    def mask(self, depth: int) -> str:
        v, w, s = self.vector(depth), self.vector(0), self.number(0)
        simple = self.one_of(f"({v} > {s})", f"({v} == {w})", f"({v} != {v})", f"({v} <= {w})", f"({v} % 2 == 0)",
                             f"np.isfinite({v})", f"({v}).astype(bool)", f"({v} < 0)")  # fmt: skip
        other = f"({w} >= {s})"
        return self.one_of(simple, simple, simple, f"~{simple}", f"({simple} & {other})", f"({simple} ^ {other})")

    def selection(self, depth: int) -> str:
        """An array of any size."""
        if depth == 0:
            return self.random.choice(self.selected)
        v, m, s = self.vector(depth - 1), self.mask(depth - 1), self.selection(depth - 1)
        return self.one_of(
            f"({v})[{m}]", f"({v})[{m}][::-1]", f"np.compress({m}, {v})", f"np.extract({m}, {v})", f"({s})[1:]",
            f"np.nonzero({m})[0]", f"np.flatnonzero({v})", f"np.argwhere({m})", f"A[{m}]",
            "A[A > f]", f"np.where({m})",
            f"np.unique({v})", f"np.unique({s}, return_counts=True)", f"({v})[~{m}]",
            f"np.diff({v})", f"np.outer({v}, {s})",
            f"np.concatenate([({s}), {v}])", f"np.append({s}, {v})", f"np.repeat({v}, {m})", f"np.delete({v}, 0)",
            f"np.add.reduceat({v}, at)", f"np.add.outer({v}, {s})", "A.sum(axis=0)",
            "np.bincount(at)", f"({s}) * 2",
            f"np.bincount(at, weights={v})", f"np.histogram({v}, 4, (-2, 2))[0]", f"A.T @ {v}",
            f"A[:, ::-1] * ({v})[:, None]",
            f"np.percentile({v}, [0, 30, 100])", f"np.array([{self.number(1)}, {self.number(0)}])", f"A[{m}][:, 0]",
            "np.add.reduceat(A, [0], axis=0)", "np.einsum('ij,ij->j', A, A)", f"np.partition({s}, 0)",
            f"np.sort({s})",
            f"np.array({self.number(1)})", f"np.asarray({v})[()]", f"np.cumsum({s})",
            f"np.maximum({s}, k)", "A.min(0)",
            f"np.intersect1d({v}, {s})", f"np.trim_zeros({v})", f"np.ediff1d({s})",
            f"np.where(A > 0, A, {v}[:, None])",
            "np.linalg.norm(A, axis=0)", f"({v})[k:]", f"({v})[:-k]",
            f"({v}).reshape(-1, 1)", f"np.split({v}, [k])[1]",
            "A.astype(np.uint8)[::-1] + A.dtype.type(1)", f"np.broadcast_to({v}, (2, len(x)))",
        )  # fmt: skip

    def number(self, depth: int) -> str:
        if depth == 0:
            return self.random.choice(self.numbers)
        v, m, s = self.vector(depth - 1), self.mask(depth - 1), self.selection(depth - 1)
        array = self.one_of(v, s, f"({v})[{m}]")
        return self.one_of(
            f"np.sum({array})", f"np.mean({array})", f"np.max({array})", f"np.min({array})", f"np.prod({array})",
            f"np.std({array}, ddof=1)", f"np.median({array})", f"np.count_nonzero({m})",
            f"({m}).sum()", f"len({array})",
            f"np.argmax({array})", f"np.ptp({array})", f"np.any({array})",
            f"np.nansum({array})", f"np.nanmax({array})",
            f"np.nanmedian({v})", f"np.dot({v}, {v})", f"({v} @ {v})", f"np.vdot({v}, {v})", f"({v})[0]", f"({v})[k]",
            f"np.sum({v}, where={m})", f"np.max({v}, initial=1)", f"np.add.reduce({v}, initial=5)", f"({v})[-1] - k",
            f"np.sum({v}, dtype=np.int8)", f"np.mean({v}, keepdims=True)", f"np.quantile({array}, 0.25)", "A.sum()",
            "np.sum(A, axis=(0, 1))", "A.mean()", f"np.einsum('i,i', {v}, {v})", "np.trace(A)", f"({v})[0] * k",
            f"np.searchsorted({v}, k)", f"({v}).sum() - ({v}).dtype.type(1)", f"({v})[0] + f",
            f"np.float16({self.number(0)})",
            f"np.uint8(200) + ({v})[0]", f"np.sort({v})[k]", f"({v}).item(0)",
            f"float(np.sum({v}))", f"int(({m}).sum())",
            f"np.all({v} == {v}[::-1])", f"np.array_equal({v}, {s})", f"np.max(({v})[{m}])",
            f"np.interp(k, {v}, {v})",
        )  # fmt: skip
