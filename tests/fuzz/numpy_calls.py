"""NumPy's functions and array methods on drawn arguments, odd ones among them: plain NumPy against `@autoconv.compile`.

    python tests/fuzz/numpy_calls.py --programs 3000 [--seed 0] [--only NAME] [--show]

A program is one line: a call of a function that autoconv's table has, of a method, an operator or an index. Arguments
are drawn by the names of parameters: numbers of Python's, arrays without dimensions, of no element and of one, in
columns, with steps, reversed, overlapping, read-only, of the other byte order, bools of other bytes than 0 and 1,
infinities and NaN, huge steps; now and then what NumPy refuses. Each program is called three times. Compared are
results (classes, dtypes, shapes, values, what may be written to), exceptions, what the arguments hold afterwards, and
which arguments a result shares memory with; of warnings, and of the strides of results, differences are counted alone.
"""

from __future__ import annotations

import argparse
import collections
import inspect
import linecache
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv as ac
import autoconv.numpy
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS

DTYPES = ["float64", "float64", "float64", "int64", "int32", "bool", "complex128", "float32", "int8", "uint8"]
DTYPES += ["float16"]
# Of which NumPy itself does not say what comes: what memory held, how a generator goes, which vectors span a space.
LEFT_OUT = {
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


def table() -> dict[str, Any]:
    """The functions of the table by the names that users write."""
    found: dict[str, Any] = {}
    for prefix, module in (("", np), ("fft.", np.fft), ("linalg.", np.linalg)):
        for name, function in vars(module).items():
            if name.startswith("_") or not callable(function) or prefix + name in LEFT_OUT:
                continue
            try:
                known = function in FUNCTIONS
            except TypeError:
                known = False
            if known:
                found[prefix + name] = function
    return dict(sorted(found.items()))


TABLE = table()


class Generator:
    """Writes one program, and the text of each of its arguments."""

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
            return self.of_function(self.only or self.random.choice(list(TABLE)))
        if choice < 0.8:
            name = self.random.choice(list(METHODS))
            given = [self.parameter(p) for p in METHODS[name].split()]
            return f"{self.operand()}.{name}({', '.join(given[: self.random.randint(0, len(given))])})"
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

    def of_function(self, name: str) -> str:
        function = TABLE[name]
        if isinstance(function, np.ufunc):
            return f"np.{name}({', '.join(self.of_ufunc(function))})"
        if isinstance(function, type):
            return f"np.{name}({self.number()})"
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return f"np.{name}({self.operand()})"
        given = []
        for parameter in parameters:
            needed = parameter.default is parameter.empty
            if parameter.kind in (parameter.VAR_KEYWORD,) or parameter.name in _NEVER:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                given += [self.operand() for _ in range(self.random.randint(1, 3))]
                continue
            if not needed and not self.chance(0.3):
                continue
            value = self.parameter(parameter.name)
            by_name = parameter.kind is parameter.KEYWORD_ONLY or not needed
            given.append(f"{parameter.name}={value}" if by_name else value)
        return f"np.{name}({', '.join(given)})"

    def of_ufunc(self, function: np.ufunc) -> list[str]:
        given = [self.operand() for _ in range(function.nin)]
        if self.chance(0.1):
            given.append(f"dtype={self.dtype_text()}")
        if self.chance(0.07):
            given.append(f"order={self.one_of('C', 'F', 'A', 'K')!r}")
        if function.nout == 1 and self.chance(0.12):
            given.append(f"out={self.argument(f'np.ones({self.shape}, {self.random.choice(DTYPES)!r})')}")
            if self.chance(0.5):
                given.append(f"where={self.parameter('where')}")
        return given

    def parameter(self, name: str) -> str:
        draw = _PARAMETERS.get(name)
        return draw(self) if draw is not None else self.operand()

    # ---- values

    def argument(self, text: str) -> str:
        """An argument of the program; an earlier one now and then."""
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
        made = f"np.array([{values}], {dtype!r}).reshape({shape})"
        if dtype == "bool" and self.chance(0.3):
            return f"np.array([{', '.join(str(n % 5) for n in numbers)}], 'uint8').view(bool).reshape({shape})"
        if not self.chance(0.4):
            return made
        return self.random.choice([
            f"np.asfortranarray({made})", f"np.repeat({made}, 2, axis=-1)[..., ::2]" if shape else made,
            f"{made}[::-1]" if shape else made, f"locked({made})",
            f"{made}.astype(np.dtype({dtype!r}).newbyteorder())",
            f"{made}.T", f"np.broadcast_to({made}, (2, *{shape}))", f"pickled({made})", f"{made}.tolist()",
        ])  # fmt: skip

    def dtype_text(self) -> str:
        name = self.random.choice(DTYPES)
        return self.one_of(repr(name), f"np.{name}", "float", "int", "bool", "complex")

    def small(self, low: int = -1, high: int = 3) -> str:
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


_NEVER = {"like", "device", "subok", "copy", "casting", "signature", "extobj", "assume_unique", "kind_"}
_PARAMETERS: dict[str, Callable[[Generator], str]] = {
    **dict.fromkeys(("axis", "axes", "axis1", "axis2"), Generator.axis),
    **dict.fromkeys(("shape", "newshape", "new_shape", "reps", "s"), Generator.new_shape),
    **dict.fromkeys(("n", "N", "M", "m_", "num", "k", "offset", "decimals", "ddof", "minlength", "ndmin", "deg",
                     "shift",
                     "repeats", "sections", "bins", "rowvar_", "start", "bias_", "fill"), Generator.small),
    "dtype": Generator.dtype_text, "order": lambda g: repr(g.one_of("C", "F", "A", "K")),
    **dict.fromkeys(("keepdims", "equal_nan", "increasing", "endpoint", "retstep", "right", "invert", "bias", "rowvar",
                     "returned", "sparse", "density", "hermitian", "sorted", "return_index", "return_counts",
                     "return_inverse", "full_matrices", "compute_uv", "deg_"), lambda g: g.one_of("True", "False")),
    "out": lambda g: g.argument(f"np.ones({g.shape}, {g.random.choice(DTYPES)!r})") if g.chance(0.3) else "None",
    "where": lambda g: g.argument(f"np.arange({int(np.prod(g.shape))}).reshape({g.shape}) % 2 == 0"),
    "kind": lambda g: repr(g.one_of("stable", "quicksort", "mergesort")), "stable": lambda g: g.one_of("True", "None"),
    "mode": lambda g: repr(g.one_of("full", "same", "valid", "wrap", "clip", "raise", "edge", "constant", "reflect")),
    "side": lambda g: repr(g.one_of("left", "right")), "indexing": lambda g: repr(g.one_of("xy", "ij")),
    "ord": lambda g: g.one_of("None", "1", "2", "'fro'", "float('inf')"),
    "norm": lambda g: repr(g.one_of("ortho", "forward")), "initial": lambda g: g.small(0, 2),
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
    "atol": lambda g: g.one_of("1e-8", "1"), "step": lambda g: g.one_of("1", "0.5", "2", "-1"), "stop": Generator.small,
    "choices": lambda g: f"[{g.operand()}, {g.operand()}]",
    **dict.fromkeys(("axisa", "axisb", "axisc"), Generator.axis),
    "source": lambda g: "0", "destination": lambda g: "-1", "UPLO": lambda g: repr(g.one_of("L", "U")),
    "range": lambda g: g.one_of("None", "(0, 3)"), "sorter": lambda g: "None", "ddof_": Generator.small,
    "interpolation": lambda g: "None", "missing": lambda g: "None", "d": lambda g: "1.0",
}  # fmt: skip


# ---- runs


def locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def pickled(array: np.ndarray) -> np.ndarray:
    import pickle

    return pickle.loads(pickle.dumps(array))


SPACE = {"np": np, "locked": locked, "pickled": pickled}


def made(arguments: list[str]) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [eval(text, dict(SPACE)) for text in arguments]


OF_NUMBERS = (RuntimeWarning, np.exceptions.ComplexWarning)


class Outcome:
    """What one call gave, and what it left behind."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                self.result, self.error = function(*arguments), None
            except Exception as error:
                self.result, self.error = None, error
        self.warnings = sorted({w.category.__name__ for w in told if issubclass(w.category, OF_NUMBERS)})
        self.arguments = arguments

    def parts(self) -> list[Any]:
        return flat(self.result)


def flat(value: Any) -> list[Any]:
    return [part for each in value for part in flat(each)] if isinstance(value, (tuple, list)) else [value]


def difference(plain: Outcome, ours: Outcome) -> tuple[str, str] | None:
    """The kind of the first difference, worst first, and what it is."""
    if (plain.error is None) != (ours.error is None) or type(plain.error) is not type(ours.error):
        return "error", f"{plain.error!r} / {ours.error!r}"
    if plain.error is None:
        found = differs(plain.result, ours.result)
        if found is not None:
            return found
        for one, other in zip(plain.parts(), ours.parts(), strict=True):
            if isinstance(one, np.ndarray):
                if one.flags.writeable != other.flags.writeable:
                    return "writable", f"{one.flags.writeable} / {other.flags.writeable}"
                if shared(one, plain.arguments) != shared(other, ours.arguments):
                    return "memory", f"{shared(one, plain.arguments)} / {shared(other, ours.arguments)}"
    for one, other in zip(plain.arguments, ours.arguments, strict=True):
        if differs(one, other) is not None:
            return "argument", f"{one!r} / {other!r}"
    if plain.warnings != ours.warnings:
        return "warning", f"{plain.warnings} / {ours.warnings}"
    for one, other in zip(plain.parts(), ours.parts(), strict=True):
        if isinstance(one, np.ndarray) and one.size > 1 and strides(one) != strides(other):
            return "strides", f"{one.strides} / {other.strides}"
    return None


def strides(array: np.ndarray) -> list[int]:
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


def shared(array: np.ndarray, arguments: list[Any]) -> list[int]:
    if not array.size:
        return []
    return [i for i, x in enumerate(arguments) if isinstance(x, np.ndarray) and np.may_share_memory(array, x)]


def differs(one: Any, other: Any) -> tuple[str, str] | None:
    if type(one) is not type(other):
        return "class", f"{type(one).__name__} {one!r} / {type(other).__name__} {other!r}"
    if isinstance(one, (tuple, list)):
        if len(one) != len(other):
            return "value", f"{one!r} / {other!r}"
        return next((found for pair in zip(one, other, strict=True) if (found := differs(*pair)) is not None), None)
    if isinstance(one, (np.ndarray, np.generic)):
        if one.dtype != other.dtype:
            return "dtype", f"{one.dtype} / {other.dtype}"
        if one.shape != other.shape:
            return "shape", f"{one.shape} / {other.shape}"
        return None if close(one, other) else ("value", f"{one!r} / {other!r}")
    if isinstance(one, (float, complex)):
        return None if close(np.asarray(one), np.asarray(other)) else ("value", f"{one!r} / {other!r}")
    if isinstance(one, (int, str, bool, bytes, np.dtype)):
        return None if one == other else ("value", f"{one!r} / {other!r}")
    return None


class Precision:
    """How far floats may be apart, as the arguments of the program are precise."""

    tolerance = 1e-12


def precision(texts: list[str]) -> float:
    text = " ".join(texts)
    return 4e-3 if "float16" in text else 3e-6 if "float32" in text else 1e-12


def close(one: Any, other: Any) -> bool:
    if one.dtype.kind not in "fc":
        return one.tobytes() == other.tobytes() or bool(np.array_equal(one, other))
    tolerance = max(Precision.tolerance, 3e-6 if one.dtype.itemsize <= 4 * (1 + (one.dtype.kind == "c")) else 0)
    with np.errstate(all="ignore"):
        if one.dtype.kind == "c":  # of products with infinities each library has its own infinite and NaN parts
            odd = ~np.isfinite(one)
            if not np.array_equal(odd, ~np.isfinite(other)):
                return False
            one, other = np.where(odd, 0, one), np.where(odd, 0, other)
            return close(one.real, other.real) and close(one.imag, other.imag)
        finite = np.abs(one)[np.isfinite(one)]
        size = float(finite.max()) if finite.size else 0.0  # of sums in which large numbers cancel
        return bool(np.allclose(one, other, rtol=tolerance * 10, atol=tolerance * max(size, 1.0), equal_nan=True))


def check(source: str, arguments: list[str], number: int) -> tuple[str, str, str]:
    """(how it ran, the kind of difference or "", details)."""
    name = f"<numpy call {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = dict(SPACE)
    exec(compile(source, name, "exec"), space)
    function = space["program"]
    compiled = ac.compile(function)
    Precision.tolerance = precision([source, *arguments])
    found = None
    for _ in range(3):
        found = difference(Outcome(function, made(arguments)), Outcome(compiled, made(arguments)))
        if found is not None:
            break
    del linecache.cache[name]
    how = "plain" if "plain Python" in compiled.explain() else "staged"
    return (how, *(found or ("", "")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="calls of this function of NumPy's alone")
    parser.add_argument("--show", action="store_true", help="differences of warnings and strides as well")
    given = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    for number in range(given.seed, given.seed + given.programs):
        generator = Generator(number, given.only)
        source = generator.program()
        how, kind, details = check(source, generator.arguments, number)
        counts[how] += 1
        counts[kind] += bool(kind)
        if kind and (given.show or kind not in COUNTED):
            counts["wrong"] += kind not in COUNTED
            shown = ", ".join(f"a{i} = {text}" for i, text in enumerate(generator.arguments))
            print(f"{number} {kind}: {source.partition(':')[2].strip()}   [{shown}]\n    {details[:300]}")
    others = ("wrong", "staged", "plain", "")
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()) if kind not in others)
    print(f"{given.programs} calls: {counts['staged']} staged, {counts['plain']} plain; {counts['wrong']} wrong"
          f"{f' ({kinds})' if kinds else ''}")  # fmt: skip
    return counts["wrong"] > 0


# Of which differences are counted, and no wrong results: see docs/limits.md, NumPy.
COUNTED = {"warning", "strides"}

if __name__ == "__main__":
    sys.exit(main())
