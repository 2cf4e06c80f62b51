"""The programs of `fuzz/numpy_calls.py`: a call of a function, a method, an operator or an index."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv.numpy  # noqa: F401 - fills the table of functions
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS

DTYPES = ["float64", "float64", "float64", "int64", "int32", "bool", "complex128", "float32", "int8", "uint8"]
DTYPES += ["float16"]
# Functions whose results NumPy does not determine: old contents of memory, vectors that span a space, and the like.
EXCLUDED_FUNCTIONS = {
    "empty", "empty_like", "linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "frombuffer", "fromiter", "load",
    "may_share_memory", "shares_memory", "linalg.lstsq", "polyfit", "roots", "fill_diagonal", "einsum", "copyto",
    "put", "place", "putmask", "put_along_axis", "histogramdd", "histogram2d", "linalg.cond", "linalg.matrix_rank",
    "linalg.pinv", "mask_indices", "save", "linalg.matrix_power", "linalg.multi_dot", "linalg.inv", "linalg.tensorinv",
    "linalg.tensorsolve", "linalg.solve", "block", "select", "piecewise", "apply_along_axis", "ix_",
    "searchsorted", "digitize",
}  # fmt: skip
METHODS = {
    "sum": "axis dtype keepdims", "prod": "axis keepdims", "mean": "axis keepdims", "min": "axis keepdims",
    "max": "axis keepdims", "any": "axis keepdims", "all": "axis keepdims", "std": "axis ddof", "var": "axis ddof",
    "argmin": "axis", "argmax": "axis", "cumsum": "axis dtype", "cumprod": "axis", "round": "decimals",
    "ravel": "order", "flatten": "order", "transpose": "", "squeeze": "", "copy": "order", "tolist": "", "conj": "",
    "conjugate": "",
    "nonzero": "", "argsort": "axis", "diagonal": "offset", "trace": "offset", "clip": "a_min a_max", "take": "indices",
    "repeat": "repeats axis", "astype": "dtype", "item": "", "swapaxes": "axis axis",
    "reshape": "newshape", "dot": "b", "compress": "condition", "view": "dtype",
}  # fmt: skip
ATTRIBUTES = ["real", "imag", "T", "mT", "size", "shape", "ndim", "dtype", "nbytes", "itemsize", "flat"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", ">="]
SHAPES = [(3,), (4,), (2, 3), (3, 3), (1,), (0,), (2, 0), (2, 1, 3), (), (6,), (20,), (3, 2)]
SPECIAL = ["nan", "inf", "-inf", "-0.0", "1e308", "-1e308", "5e-324"]
STEPS = ["2", "-1", "-2", "3", "2**63 - 1", "-2**63", "2**62", "-2**63 + 1", "2**70", "1"]


def table_functions() -> dict[str, Any]:
    """The functions of autoconv's table, by the names that programs use."""
    functions: dict[str, Any] = {}
    for prefix, module in (("", np), ("fft.", np.fft), ("linalg.", np.linalg)):
        for name, function in vars(module).items():
            if name.startswith("_") or not callable(function) or prefix + name in EXCLUDED_FUNCTIONS:
                continue
            try:
                is_in_table = function in FUNCTIONS
            except TypeError:
                is_in_table = False
            if is_in_table:
                functions[prefix + name] = function
    return dict(sorted(functions.items()))


TABLE_FUNCTIONS = table_functions()


class Generator:
    """A writer of a program and of the texts of its arguments."""

    def __init__(self, seed: int, only: str | None = None) -> None:
        self.random = random.Random(seed)
        self.arguments: list[str] = []
        self.dtype = self.random.choice(DTYPES)
        self.shape = self.random.choice(SHAPES)
        self.only = only

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one_of(self, *values: str) -> str:
        return self.random.choice(values)

    def program(self) -> str:
        call = self.call()
        if self.chance(0.04):
            kind = self.one_of("all='ignore'", "all='warn'", "divide='raise'", "invalid='raise'", "all='raise'")
            return self.function(f"with np.errstate({kind}):\n        return {call}")
        return self.function(f"return {call}")

    def function(self, body: str) -> str:
        names = ", ".join(f"a{i}" for i in range(len(self.arguments)))
        return f"def program({names}):\n    {body}\n"

    def call(self) -> str:
        choice = self.random.random()
        if self.only is not None:
            choice = 0.0
        if choice < 0.68:
            return self.function_call(self.only or self.random.choice(list(TABLE_FUNCTIONS)))
        if choice < 0.8:
            name = self.random.choice(list(METHODS))
            arguments = [self.parameter(p) for p in METHODS[name].split()]
            return f"{self.operand()}.{name}({', '.join(arguments[: self.random.randint(0, len(arguments))])})"
        if choice < 0.84:
            return f"{self.operand()}.{self.random.choice(ATTRIBUTES)}"
        if choice < 0.93:
            if self.chance(0.2):
                return f"{self.one_of('-', '+', '~', 'abs', 'not ', 'bool')}({self.operand()})"
            return f"{self.operand()} {self.random.choice(OPERATORS)} {self.operand()}"
        return f"{self.operand()}[{', '.join(self.index() for _ in range(self.random.choice([1, 1, 2])))}]"

    def index(self) -> str:
        bound = lambda: self.one_of("", "1", "-1", "0", "5", "-2**63", "2**63 - 1")
        step = self.random.choice(STEPS)
        if self.chance(0.3):
            step = self.argument(step)
        return self.one_of(f"{bound()}:{bound()}:{step}", f"::{step}", "0", "-1", "...", "None", "[0, 0]", ":1")

    # ---- calls of functions

    def function_call(self, name: str) -> str:
        function = TABLE_FUNCTIONS[name]
        if isinstance(function, np.ufunc):
            return f"np.{name}({', '.join(self.ufunc_arguments(function))})"
        if isinstance(function, type):
            return f"np.{name}({self.number()})"
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return f"np.{name}({self.operand()})"
        arguments = []
        for parameter in parameters:
            is_required = parameter.default is parameter.empty
            if parameter.kind in (parameter.VAR_KEYWORD,) or parameter.name in _EXCLUDED_PARAMETERS:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                arguments += [self.operand() for _ in range(self.random.randint(1, 3))]
                continue
            if not is_required and not self.chance(0.3):
                continue
            value = self.parameter(parameter.name)
            by_name = parameter.kind is parameter.KEYWORD_ONLY or not is_required
            arguments.append(f"{parameter.name}={value}" if by_name else value)
        return f"np.{name}({', '.join(arguments)})"

    def ufunc_arguments(self, function: np.ufunc) -> list[str]:
        arguments = [self.operand() for _ in range(function.nin)]
        if self.chance(0.1):
            arguments.append(f"dtype={self.dtype_text()}")
        if self.chance(0.07):
            arguments.append(f"order={self.one_of('C', 'F', 'A', 'K')!r}")
        if function.nout == 1 and self.chance(0.12):
            arguments.append(f"out={self.argument(f'np.ones({self.shape}, {self.random.choice(DTYPES)!r})')}")
            if self.chance(0.5):
                arguments.append(f"where={self.parameter('where')}")
        return arguments

    def parameter(self, name: str) -> str:
        draw = _PARAMETERS.get(name)
        return draw(self) if draw is not None else self.operand()

    # ---- values

    def argument(self, text: str) -> str:
        """The name of a new argument of the program, whose value is `text`."""
        self.arguments.append(text)
        return f"a{len(self.arguments) - 1}"

    def operand(self) -> str:
        if self.arguments and self.chance(0.1):
            return f"a{self.random.randrange(len(self.arguments))}"
        if self.chance(0.12):
            return self.number()
        text = self.argument(self.array())
        return self.one_of(text, text, text, f"({text} + 1)", f"{text}[...]") if self.chance(0.5) else text

    def number(self) -> str:
        kinds = [
            str(self.random.randint(-3, 5)), repr(round(self.random.uniform(-3, 3), 2)), "True", "1.5+2j", "0", "0.0",
            f"float('{self.random.choice(SPECIAL)}')", f"np.{self.random.choice(DTYPES)}(2)", "2**40", "-1", "2.5",
        ]  # fmt: skip
        text = self.random.choice(kinds)
        return self.argument(text) if self.chance(0.7) else f"({text})"

    def array(self, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> str:
        dtype = dtype or (self.random.choice(DTYPES) if self.chance(0.25) else self.dtype)
        shape = self.shape if shape is None else shape
        if shape and self.chance(0.1):
            shape = self.random.choice([shape[-1:], (1,), (1, *shape), shape[::-1]])
        count = int(np.prod(shape))
        numbers: list[Any] = [self.random.randint(-4, 9) for _ in range(count)]
        if dtype in ("float64", "float32", "float16", "complex128"):
            numbers = [n / 2 for n in numbers]
            for i in range(count):
                if self.chance(0.06):
                    numbers[i] = self.random.choice(SPECIAL[:4])
        values = ", ".join(f"float('{n}')" if isinstance(n, str) else repr(n) for n in numbers)
        if dtype == "uint8":
            values = ", ".join(str(abs(n)) for n in numbers)
        array = f"np.array([{values}], {dtype!r}).reshape({shape})"
        if dtype == "bool" and self.chance(0.3):
            return f"np.array([{', '.join(str(n % 5) for n in numbers)}], 'uint8').view(bool).reshape({shape})"
        if not self.chance(0.4):
            return array
        return self.random.choice([
            f"np.asfortranarray({array})", f"np.repeat({array}, 2, axis=-1)[..., ::2]" if shape else array,
            f"{array}[::-1]" if shape else array, f"read_only({array})",
            f"{array}.astype(np.dtype({dtype!r}).newbyteorder())",
            f"{array}.T", f"np.broadcast_to({array}, (2, *{shape}))", f"pickled({array})", f"{array}.tolist()",
        ])  # fmt: skip

    def dtype_text(self) -> str:
        name = self.random.choice(DTYPES)
        return self.one_of(repr(name), f"np.{name}", "float", "int", "bool", "complex")

    def small_int(self, low: int = -1, high: int = 3) -> str:
        text = str(self.random.randint(low, high))
        return self.argument(text) if self.chance(0.5) else text

    def axis(self) -> str:
        rank = len(self.shape)
        last = max(rank - 1, 0)
        return self.one_of("None", "0", "-1", "0", "-1", str(last), str(rank), f"(0, {last})")

    def new_shape(self) -> str:
        count = int(np.prod(self.shape))
        last = max(self.shape[-1:] or (1,))
        return self.one_of(str(count), f"({count},)", "-1", f"(1, {count})", f"(-1, {last})", str(self.shape))


_EXCLUDED_PARAMETERS = {"like", "device", "subok", "copy", "casting", "signature", "extobj", "assume_unique", "kind_"}
_PARAMETERS: dict[str, Callable[[Generator], str]] = {
    **dict.fromkeys(("axis", "axes", "axis1", "axis2"), Generator.axis),
    **dict.fromkeys(("shape", "newshape", "new_shape", "reps", "s"), Generator.new_shape),
    **dict.fromkeys(("n", "N", "M", "m_", "num", "k", "offset", "decimals", "ddof", "minlength", "ndmin", "deg",
                     "shift",
                     "repeats", "sections", "bins", "rowvar_", "start", "bias_", "fill"), Generator.small_int),
    "dtype": Generator.dtype_text, "order": lambda g: repr(g.one_of("C", "F", "A", "K")),
    **dict.fromkeys(("keepdims", "equal_nan", "increasing", "endpoint", "retstep", "right", "invert", "bias", "rowvar",
                     "returned", "sparse", "density", "hermitian", "sorted", "return_index", "return_counts",
                     "return_inverse", "full_matrices", "compute_uv", "deg_"), lambda g: g.one_of("True", "False")),
    "out": lambda g: (
        g.argument(f"np.ones({g.random.choice((g.shape, g.shape, ()))}, {g.random.choice(DTYPES)!r})")
        if g.chance(0.3) else "None"
    ),
    "where": lambda g: g.argument(f"np.arange({int(np.prod(g.shape))}).reshape({g.shape}) % 2 == 0"),
    "kind": lambda g: repr(g.one_of("stable", "quicksort", "mergesort")), "stable": lambda g: g.one_of("True", "None"),
    "mode": lambda g: repr(g.one_of("full", "same", "valid", "wrap", "clip", "raise", "edge", "constant", "reflect")),
    "side": lambda g: repr(g.one_of("left", "right")), "indexing": lambda g: repr(g.one_of("xy", "ij")),
    "ord": lambda g: g.one_of("None", "1", "2", "'fro'", "float('inf')"),
    "norm": lambda g: repr(g.one_of("ortho", "forward")), "initial": lambda g: g.small_int(0, 2),
    "method": lambda g: repr(g.one_of("linear", "nearest", "lower", "median_unbiased")),
    "indices": lambda g: g.argument(f"np.array([{g.one_of('0', '0, 0', '0, -1', '')}], 'int64')"),
    "pad_width": lambda g: g.one_of("1", "(1, 2)", "0"), "trim": lambda g: repr(g.one_of("fb", "f", "b")),
    "q": lambda g: g.one_of("0.5", "0.25", "[0.1, 0.9]", "1"),
    "weights": lambda g: g.argument(g.array("float64", g.shape)),
    "condition": lambda g: g.argument(g.array("bool")), "indices_or_sections": lambda g: g.one_of("1", "2", "3", "[1]"),
    "arrays": lambda g: f"[{g.operand()}, {g.operand()}]", "tup": lambda g: f"[{g.operand()}, {g.operand()}]",
    "arys": lambda g: g.operand(), "object": Generator.operand, "fill_value": Generator.number,
    "prepend": Generator.number, "append": Generator.number, "rtol": lambda g: g.one_of("1e-5", "0.5"),
    "period": lambda g: g.one_of("None", "2.0"),
    "atol": lambda g: g.one_of("1e-8", "1"), "step": lambda g: g.one_of("1", "0.5", "2", "-1"),
    "stop": Generator.small_int,
    "choices": lambda g: f"[{g.operand()}, {g.operand()}]",
    **dict.fromkeys(("axisa", "axisb", "axisc"), Generator.axis),
    "source": lambda g: "0", "destination": lambda g: "-1", "UPLO": lambda g: repr(g.one_of("L", "U")),
    "range": lambda g: g.one_of("None", "(0, 3)"), "sorter": lambda g: "None", "ddof_": Generator.small_int,
    "interpolation": lambda g: "None", "missing": lambda g: "None", "d": lambda g: "1.0",
}  # fmt: skip
