"""Functions of whole NumPy arrays: the kind "arrays" of `fuzz/peers.py`.

They are the functions of `grammar/sizes.py` without Python's lists and conversions, which say nothing about arrays,
and with more of NumPy: gathers, scatters, products over axes, transforms, windows, order statistics, complex numbers,
and loops over slices whose bounds are computed.
"""

from __future__ import annotations

import random

from grammar import sizes

DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32", "complex128", "bool")
_PYTHON = (" for x in ", "tolist", "list(", "str(", "[0]", "sum(A", "range(", "nbytes", "dtype", "'n'", "(a)", "(b)")


class Generator(sizes.Generator):
    """A writer of a function of some arrays and an int."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.random = random.Random(f"arrays {seed}")
        self.dtype = self.random.choice(DTYPES)
        self.pattern = self.random.choice(sizes.PATTERNS)
        self.arrays = dict(self.pattern)
        self.in_place = self.random.random() < 0.3

    def statement(self, depth: int) -> list[str]:
        kinds = [self.new_array] * 6 + [self.new_number] * 3
        if depth == 0:
            kinds += [self.slices, self.slices, self.scatter, self.condition_statement]
        if self.in_place:
            kinds += [self.write] * 4
        return self.random.choice(kinds)(depth)

    def slices(self, depth: int) -> list[str]:
        """A loop over slices whose bounds depend on the counter."""
        r = self.random
        source = r.choice(list(self.arrays))
        shape, at, out = self.arrays[source], self.name("i"), self.name("o")
        rest = ", 0" if len(shape) == 2 else ""
        part = r.choice((f"{source}[:{at}{rest}]", f"{source}[{at}:{rest}]", f"{source}[{at} - 3:{at}{rest}]",
                         f"{source}[{at} // 2:{at}{rest}]", f"{source}[{at}::-1{rest}]"))  # fmt: skip
        value = r.choice(
            (f"{part}.sum()", f"np.abs({part}).max()", f"({part} * {part}).sum()", f"np.median({part})",
             f"np.cumsum({part})[-1]", f"{part} @ {part}", f"np.sort({part})[0]", f"{part}.mean() + {part}.std()",
             f"({part} > k).sum()", f"np.where({part} > 0, {part}, k).sum()")
        )  # fmt: skip
        lines = [f"{out} = np.zeros(len({source}), dtype=np.result_type({source}, np.float64))"]
        lines += [f"for {at} in range(3, min(len({source}), 200)):", f"    {out}[{at}] = {value}"]
        self.arrays[out] = (f"len({out})",)
        return lines

    def scatter(self, depth: int) -> list[str]:
        """Writes to elements at computed positions."""
        r, name, out = self.random, self.random.choice(list(self.arrays)), self.name("q")
        size = f"len({name})"
        at = f"({r.choice((f'np.arange({size})', f'np.argsort({name}.ravel())[:{size}] % {size}'))} * 5 % 7)"
        self.arrays[out] = ("7",)
        value = f"{name}.reshape({size}, -1)[:, 0]"
        write = r.choice((f"np.add.at({out}, {at}, {value})", f"{out}[{at}] = {value}", f"{out}[{at}] += {value}"))
        return [f"{out} = np.zeros(7, dtype=np.result_type({name}, np.float64))", write]

    def vector(self, n: str, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.6:
            return super().vector(n, depth)
        r, size, v, w = self.random, self.size(n), self.vector(n, depth - 1), self.vector(n, depth - 1)
        at = f"np.arange({size}) * 3 % max({size}, 1)"
        texts = [
            f"({v})[{at}]", f"np.take({v}, {at})", f"np.exp(-np.abs({v}))", f"np.sqrt(np.abs({v}))", f"np.sin({v})",
            f"np.convolve({v}, np.ones(3), 'same')[:{size}]", f"np.log1p(np.abs({v}))", f"({v}) ** 2", f"({v}) * 1j",
            f"np.fft.ifft(np.fft.fft({v})).real", f"np.abs({v} * 1j + {w})",
            f"np.interp({v}, [-1.0, 0.0, 2.0], [0.0, 1.0, 0.5])",
            f"np.searchsorted(np.sort({v}), {w})", f"np.unique({v}, return_inverse=True)[1]", f"np.gradient({v})",
            f"np.lib.stride_tricks.sliding_window_view(np.pad({v}, 1), 3).max(axis=-1)", f"np.hypot({v}, {w})",
            f"np.where(np.isfinite({v}), {v}, 0)", f"np.maximum.accumulate({v})", f"np.digitize({v}, [-1, 0, 1])",
            f"np.select([{v} > 1, {v} < 0], [{w}, -({w})], 0)", f"np.trunc({v})", f"np.sign({v}) * {w}", f"({v}) % 3",
            f"np.arctan2({v}, {w})", f"np.tanh({v})", f"np.argsort({v})", f"np.nan_to_num({v})", f"np.floor({v} * 0.3)",
        ]  # fmt: skip
        return r.choice(texts)

    def matrix(self, n: str, m: str, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.7:
            return super().matrix(n, m, depth)
        r, M, N, w = self.random, self.matrix(n, m, depth - 1), self.matrix(n, m, depth - 1), self.vector(m, depth - 1)
        return r.choice(
            [f"np.einsum('ij,j->ij', {M}, {w})", f"np.exp({M} - np.abs({M}).max(axis=1, keepdims=True))",
             f"({M}) @ np.einsum('ij,ik->jk', {N}, {N})", f"np.fft.fft({M}, axis={r.choice('01')}).real",
             f"({M})[:, np.argsort({w})]", f"np.pad({M}, 1)[1:-1, 2:]", f"np.stack([{M}, {N}]).max(axis=0)",
             f"np.concatenate([({M})[1:], ({N})[:1]])", f"np.tanh({M}) * {N}", f"({M}) / (1 + np.abs({N}))",
             f"np.triu({M})", f"np.cumsum({M}, axis=1)", f"np.argsort({M}, axis={r.choice('01')})", f"({M}) ** 2",
             f"np.median({M}, axis=0) + {N}", f"np.var({M}, axis=0) + {N}", f"({M}).T.copy().T + {N}",
             f"({M} * 2).reshape(-1).copy()[::3].sum() + {N}"]
        )  # fmt: skip

    def number(self, depth: int) -> str:
        r = self.random
        if depth and r.random() < 0.35:
            source = r.choice(list(self.arrays))
            E = self.expression(self.arrays[source], depth - 1)
            return r.choice(
                [f"np.median({E})", f"np.percentile({E}, 30)", f"np.histogram({E}, 10)[0].max()", f"np.ptp({E})",
                 f"np.bincount(np.abs({E}).astype(np.int64).ravel() % 50)[0]", f"len(np.unique({E}))", f"np.var({E})",
                 f"np.linalg.norm({E})", f"np.partition(({E}).ravel(), len({source}) // 2)[0]",
                 f"np.quantile({E}, 0.9)",
                 f"({E})[{E} > 0].sum()", f"np.argmin({E})", f"len(np.nonzero({E})[0])", f"np.vdot({E}, {E}).real"]
            )  # fmt: skip
        for _ in range(10):
            text = super().number(depth)
            if not any(word in text for word in _PYTHON):
                return text
        return "k"

    def result(self) -> str:
        """A return of all values that the program computes, so that each statement has an effect."""
        arrays = [name for name in self.arrays if name not in self.pattern]
        numbers = [name for name in self.numbers if name.startswith("s")]
        written = list(self.pattern) if self.in_place else []
        return ", ".join([*arrays, *numbers, *written] or [self.number(1)])
