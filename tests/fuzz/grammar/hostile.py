"""Unusual arrays, such as views with strides and subclasses, and small programs over them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBER_DTYPES = ("float64", "float32", "float16", "int64", "int32", "int8", "uint8", "uint64", "bool", "complex128")
_UNUSUAL_DTYPES = (
    "datetime64[D]", "timedelta64[s]", "U3", "S2", "object", "structured", ">f8", ">i4", ">f2", "longdouble",
)  # fmt: skip


class PlainSubclass(np.ndarray):
    """A subclass with the behaviour of its base."""


class TaggedSubclass(np.ndarray):
    """A subclass whose results have the name of the array from which they were made."""

    tag = "none"

    def __array_finalize__(self, source: Any) -> None:
        self.tag = getattr(source, "tag", "none") + "'"


class Arguments:
    """The arguments of a seed, the same each time they are made."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._draw = np.random.default_rng(seed)

    def make(self) -> list[Any]:
        first = self.array()
        choice = self._random.random()
        if choice < 0.15:
            second = first
        elif choice < 0.3 and isinstance(first, np.ndarray) and first.ndim:
            second = self._random.choice([first[::-1], first[1:], first[: len(first) // 2], first.T])
        else:
            second = self.array()
        return [first, second, self._random.choice([0, 1, 2, 3, -1, True, 2.5])]

    def array(self) -> Any:
        choice = self._random.random()
        if choice < 0.12:
            return self._random.choice(self._special())()
        array = self._elements(self._shape())
        array = self._change_layout(array)
        if choice < 0.2:
            array = array.view(self._random.choice([PlainSubclass, TaggedSubclass]))
        if choice > 0.85 and array.flags.writeable:
            array.flags.writeable = False
        return array

    def _shape(self) -> tuple[int, ...]:
        sizes = (0, 1, 1, 2, 3, 3, 4, 5, 7, 17)
        return tuple(self._random.choice(sizes) for _ in range(self._random.choice([0, 1, 1, 1, 2, 2, 3])))

    def _elements(self, shape: tuple[int, ...]) -> np.ndarray:
        dtypes = _UNUSUAL_DTYPES if self._random.random() < 0.12 else _NUMBER_DTYPES
        dtype = self._random.choice(dtypes)
        integers = self._draw.integers(-3, 6, shape)
        if dtype == "structured":
            elements = np.zeros(shape, [("a", "i4"), ("b", "f8")])
            elements["a"] = integers
            return elements
        if dtype in ("datetime64[D]", "timedelta64[s]"):
            return integers.astype("int64").astype(dtype)
        if dtype in ("uint8", "uint64"):
            integers = abs(integers)
        if dtype == "bool" and self._random.random() < 0.3:
            return self._draw.integers(0, 7, shape).astype(np.uint8).view(bool)  # bytes that are neither 0 nor 1
        elements = integers.astype(dtype)
        if elements.dtype.kind == "f" and elements.size and self._random.random() < 0.15:
            elements.reshape(-1)[0] = self._random.choice([np.nan, np.inf, -0.0, -np.inf])
        return elements

    def _change_layout(self, array: np.ndarray) -> np.ndarray:
        """An array of the same elements, or of some of them, with another layout in memory."""
        choice = self._random.random()
        if choice < 0.35 or not array.ndim:
            return array
        if choice < 0.45:
            return np.asfortranarray(array)
        if choice < 0.55:
            return array[tuple(slice(None, None, self._random.choice([1, 2, -1, -2])) for _ in array.shape)]
        if choice < 0.62:
            return array.T
        if choice < 0.7:
            return np.broadcast_to(array[:1], array.shape) if len(array) else array
        if choice < 0.77 and array.dtype.kind != "O":
            raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
            unaligned = raw.view(array.dtype).reshape(array.shape) if array.nbytes else array
            unaligned[...] = array
            return unaligned
        if choice < 0.84 and array.ndim == 1 and len(array) > 2:
            steps = (array.strides[0], array.strides[0])
            return np.lib.stride_tricks.as_strided(array, (len(array) - 1, 2), steps)  # elements that overlap
        if choice < 0.9 and array.ndim == 1 and len(array):
            return np.lib.stride_tricks.as_strided(array, (4,), (0,))
        return array.astype(array.dtype.newbyteorder("S")) if array.dtype.kind not in "OV" else array

    def _special(self) -> list[Callable[[], Any]]:
        integers = self._draw.integers(-3, 6, (3, 3))
        return [
            lambda: np.broadcast_to(1.5, (1 << 40,)),
            lambda: np.broadcast_to(np.int8(2), (1 << 20, 1 << 20)),
            lambda: np.matrix(integers),
            lambda: np.ma.masked_greater(integers, 2),
            lambda: np.ma.array(integers.astype(float), mask=False),
            lambda: memoryview(bytearray(b"\x01\x02\x03\x05")),
            lambda: memoryview(integers.astype(float).reshape(-1)),
            lambda: integers.astype(float).astype(object),
            lambda: np.zeros(3, [("a", "i4")]).view(np.recarray),
            lambda: np.float16(2.5),
            lambda: np.int8(127),
            lambda: np.array(7.0),
            lambda: np.array([b"a", b"bc"]),
            lambda: [1, 2.5, 3],
            lambda: np.zeros((2, 0, 3)),
            lambda: np.zeros((1,) * 20),
            lambda: np.arange(6, dtype=np.float32)[::-1].reshape(2, 3)[:, ::-1],
        ]


class Programs:
    """A writer of a function of two arrays and a number."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._names = ["x", "y"]

    def program(self) -> str:
        body = self._block(0, 4)
        result = self._random.choice(
            ["x", "y", "x, y", "v", "v, x", "x[1:]", "x.T, k", "v[::-1]", "len(x), v", "x is y, v", "[v, y]", "x.shape"]
        )
        lines = ["v = x", *body, f"return {result}"]
        return "def program(x, y, k):\n" + "\n".join(f"    {line}" for line in lines) + "\n"

    def _block(self, depth: int, max_count: int) -> list[str]:
        return [line for _ in range(self._random.randint(1, max_count)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        choice = self._random.random()
        name = self._random.choice(["x", "y", "v"])
        if choice < 0.1 and depth < 2:
            head = self._random.choice(["for i in range(3):", "for i in range(k):", "for e in x:", "for e in y.flat:"])
            return [head, *indent(self._block(depth + 1, 2))]
        if choice < 0.2 and depth < 2:
            lines = [f"if {self._condition()}:", *indent(self._block(depth + 1, 2))]
            return lines + (["else:", *indent(self._block(depth + 1, 1))] if self._random.random() < 0.4 else [])
        if choice < 0.26 and depth < 2:
            error = self._random.choice(["ValueError", "TypeError", "IndexError", "Exception"])
            return ["try:", *indent(self._block(depth + 1, 2)), f"except {error}:", "    v = k"]
        if choice < 0.45:
            return [f"{name} {self._random.choice(['+=', '-=', '*=', '//=', '/=', '%=', '|=', '&='])} {self._value()}"]
        if choice < 0.6:
            return [f"{name}[{self._index()}] = {self._value()}"]
        if choice < 0.66:
            return [f"{name}[{self._index()}] += {self._value()}"]
        if choice < 0.7:
            return [
                self._random.choice(
                    [
                        f"{name}.sort()", f"{name}.fill(k)", f"np.add({name}, 1, out={name})", f"np.copyto({name}, k)",
                        f"{name}.shape = (-1,)", f"np.negative({name}, {name})", f"{name}.resize(3)",
                        f"np.multiply({name}, y, out=x)", f"{name}.flags.writeable = False",
                    ]
                )
            ]  # fmt: skip
        return [f"{self._random.choice(['v', 'v', 'x', 'y', 'k'])} = {self._value()}"]

    def _index(self) -> str:
        return self._random.choice(
            ["0", "-1", "k", "...", "1:", "::2", "::-1", "::-2", ":, 0", "0, 0", "x > 0", "None", "()", "[0, 0]", "y",
             "k:", ":k", "-1::-1", "0:0", "..., 0", "3:1:-1", "True", "::2**62", "i"]
        )  # fmt: skip

    def _condition(self) -> str:
        return self._random.choice(
            ["k > 1", "x.any()", "len(x) > 2", "x.sum() > 2", "v is x", "x[0] > 1", "x.size", "y.all()", "x.ndim == 1",
             "x.dtype == y.dtype", "x.dtype.kind == 'f'", "x.flags.c_contiguous", "np.may_share_memory(x, y)", "x",
             "x.shape == y.shape", "isinstance(x, np.ndarray)"]
        )  # fmt: skip

    def _value(self, depth: int = 0) -> str:
        names = ["x", "y", "v", "k", "1"]
        inner = (lambda: self._value(depth + 1)) if depth < 2 else (lambda: self._random.choice(names))
        choice = self._random.random()
        if choice < 0.25:
            return self._random.choice(["x", "y", "v", "k", "1", "2.5", "x", "y", "-1", "True", "1j"])
        if choice < 0.5:
            sign = self._random.choice(["+", "-", "*", "/", "//", "%", "**", "<", "==", "&", "|", "^", "@", ">>", ">="])
            return f"({inner()} {sign} {inner()})"
        if choice < 0.66:
            return f"{self._random.choice('xyv')}[{self._index()}]"
        if choice < 0.82:
            return f"{self._random.choice('xyv')}{self._random.choice(_METHODS)}"
        return self._random.choice(_FUNCTIONS).format(inner(), inner())


_METHODS = (
    ".sum()", ".prod()", ".max()", ".min()", ".T", ".copy()", ".ravel()", ".reshape(-1)", ".astype(float)", ".mean()",
    ".astype(np.float16)", ".astype(int)", ".cumsum()", ".argmax()", ".flatten()", ".real", ".imag", ".tolist()",
    ".any()", ".all()", ".view()", ".squeeze()", ".sum(axis=0)", ".max(axis=-1)", ".dtype.itemsize", ".shape[0]",
    ".size", ".strides", ".nonzero()[0]", ".swapaxes(0, -1)", ".item(0)", ".argsort()", ".std()", ".clip(0, 2)",
    ".astype('i1')", ".repeat(2)", ".take([0])", ".dot(y)", ".round()", ".conj()", ".byteswap()", ".base is None",
    ".trace()", ".diagonal()", ".ndim", ".nbytes", ".astype(bool)", ".view(np.uint8)", ".searchsorted(1)",
)  # fmt: skip
_FUNCTIONS = (
    "np.abs({0})", "np.where({0}, {1}, 0)", "np.maximum({0}, {1})", "np.asarray({0})", "np.concatenate([{0}, {1}])",
    "np.stack([{0}, {0}])", "np.zeros_like({0})", "np.ones({0})", "np.isnan({0})", "np.sqrt({0})", "np.sort({0})",
    "np.array({0})", "np.flip({0})", "np.roll({0}, 1)", "np.dot({0}, {1})", "np.outer({0}, {1})", "np.unique({0})",
    "np.array([{0}, {1}])", "np.array_equal({0}, {1})", "np.broadcast_to({0}, (2, 3))", "np.atleast_2d({0})",
    "np.ascontiguousarray({0})", "np.diff({0})", "np.cumprod({0})", "np.sum({0}, dtype=np.float32)", "np.median({0})",
    "np.bincount({0})", "np.expand_dims({0}, 0)", "np.tile({0}, 2)", "np.nan_to_num({0})", "np.sign({0})", "len({0})",
    "float({0})", "int({0})", "bool({0})", "list({0})", "sum({0})", "max({0})", "abs({0})", "np.count_nonzero({0})",
    "np.moveaxis({0}, 0, -1)", "np.full_like({0}, {1})", "np.linalg.norm({0})", "np.einsum('i,i', {0}, {1})",
    "np.logical_not({0})", "np.invert({0})", "np.left_shift({0}, 1)", "np.pad({0}, 1)", "np.triu({0})", "np.shape({0})",
    "np.result_type({0}, {1})", "np.meshgrid({0}, {1})[0]", "np.clip({0}, 0, {1})", "np.vstack([{0}, {1}])",
)  # fmt: skip


def indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
