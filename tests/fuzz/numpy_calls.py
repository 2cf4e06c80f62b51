"""NumPy's functions and array methods on random arguments: plain NumPy against `@autoconv.compile`.

    python tests/fuzz/numpy_calls.py --programs 3000 [--seed 0] [--only NAME] [--open] [--statements] [--show]

A program is one line: a call of a function in autoconv's table, of a method, an operator or an index. The name of a
parameter determines its random argument: a number of Python, or an array without dimensions, with no element or one,
in columns, with steps, reversed, overlapping, read-only, of the other byte order, with bools of other bytes than 0 and
1, with infinities and NaN, with huge steps; some arguments are errors in NumPy. Each program is called three times.
With --open it is called six times, with arrays of other sizes each time. With --statements a program is also called so,
and has a few statements over masks, selections, windows, overlapping updates, short dtypes and limits of integers;
AUTOCONV_TIERS=native runs them as graphs. Results are compared (classes, dtypes, shapes, values, whether they are
writable), exceptions, the arguments after the call, and the arguments with which a result shares memory. Differences of
warnings, of strides and of the texts of errors are only counted.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import linecache
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from grammar import selections
from grammar.numpy_calls import Generator

import autoconv as ac


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def pickled(array: np.ndarray) -> np.ndarray:
    import pickle

    return pickle.loads(pickle.dumps(array))


NAMESPACE = {"np": np, "read_only": read_only, "pickled": pickled}
NAMESPACE |= {"draw_array": selections.draw_array, "SIZES": selections.SIZES}


def evaluate(arguments: list[str], call: int) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [eval(text, {**NAMESPACE, "call": call}) for text in arguments]


NUMERIC_WARNINGS = (RuntimeWarning, np.exceptions.ComplexWarning)


class Outcome:
    """The result or the exception of a call, its warnings, and its arguments afterwards."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.result, self.error = function(*arguments), None
            except Exception as error:
                self.result, self.error = None, error
        self.warnings = sorted({w.category.__name__ for w in caught if issubclass(w.category, NUMERIC_WARNINGS)})
        self.arguments = arguments

    def parts(self) -> list[Any]:
        return flatten(self.result)


def flatten(value: Any) -> list[Any]:
    return [part for item in value for part in flatten(item)] if isinstance(value, (tuple, list)) else [value]


def difference(plain: Outcome, compiled: Outcome) -> tuple[str, str] | None:
    """The kind and the text of the most severe difference, or None."""
    if (plain.error is None) != (compiled.error is None) or type(plain.error) is not type(compiled.error):
        return "error", f"{plain.error!r} / {compiled.error!r}"
    if plain.error is not None and str(plain.error) != str(compiled.error):
        return "text", f"{plain.error!r} / {compiled.error!r}"
    if plain.error is None:
        difference = value_difference(plain.result, compiled.result)
        if difference is not None:
            return difference
        for plain_part, compiled_part in zip(plain.parts(), compiled.parts(), strict=True):
            if isinstance(plain_part, np.ndarray):
                if plain_part.flags.writeable != compiled_part.flags.writeable:
                    return "writable", f"{plain_part.flags.writeable} / {compiled_part.flags.writeable}"
                plain_shared = shared_arguments(plain_part, plain.arguments)
                compiled_shared = shared_arguments(compiled_part, compiled.arguments)
                if plain_shared != compiled_shared:
                    return "memory", f"{plain_shared} / {compiled_shared}"
    for plain_part, compiled_part in zip(plain.arguments, compiled.arguments, strict=True):
        if value_difference(plain_part, compiled_part) is not None:
            return "argument", f"{plain_part!r} / {compiled_part!r}"
    if plain.warnings != compiled.warnings:
        return "warning", f"{plain.warnings} / {compiled.warnings}"
    for plain_part, compiled_part in zip(plain.parts(), compiled.parts(), strict=True):
        has_strides = isinstance(plain_part, np.ndarray) and plain_part.size > 1
        if has_strides and relevant_strides(plain_part) != relevant_strides(compiled_part):
            return "strides", f"{plain_part.strides} / {compiled_part.strides}"
    return None


def relevant_strides(array: np.ndarray) -> list[int]:
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


def shared_arguments(array: np.ndarray, arguments: list[Any]) -> list[int]:
    if not array.size:
        return []
    return [i for i, x in enumerate(arguments) if isinstance(x, np.ndarray) and np.may_share_memory(array, x)]


def value_difference(plain: Any, compiled: Any) -> tuple[str, str] | None:
    if type(plain) is not type(compiled):
        return "class", f"{type(plain).__name__} {plain!r} / {type(compiled).__name__} {compiled!r}"
    if isinstance(plain, (tuple, list)):
        if len(plain) != len(compiled):
            return "value", f"{plain!r} / {compiled!r}"
        differences = itertools.starmap(value_difference, zip(plain, compiled, strict=True))
        return next(filter(None, differences), None)
    if isinstance(plain, (np.ndarray, np.generic)):
        if plain.dtype != compiled.dtype:
            return "dtype", f"{plain.dtype} / {compiled.dtype}"
        if plain.shape != compiled.shape:
            return "shape", f"{plain.shape} / {compiled.shape}"
        return None if is_close(plain, compiled) else ("value", f"{plain!r} / {compiled!r}")
    if isinstance(plain, (float, complex)):
        return None if is_close(np.asarray(plain), np.asarray(compiled)) else ("value", f"{plain!r} / {compiled!r}")
    if isinstance(plain, (int, str, bool, bytes, np.dtype)):
        return None if plain == compiled else ("value", f"{plain!r} / {compiled!r}")
    return None


class Precision:
    """The tolerance for floats, which depends on the dtypes of the program's arguments."""

    tolerance = 1e-12


def input_precision(texts: list[str]) -> float:
    text = " ".join(texts)
    return 4e-3 if "float16" in text else 3e-6 if "float32" in text else 1e-12


def is_close(plain: Any, compiled: Any) -> bool:
    if plain.dtype.kind not in "fc":
        return plain.tobytes() == compiled.tobytes() or bool(np.array_equal(plain, compiled))
    tolerance = max(Precision.tolerance, 3e-6 if plain.dtype.itemsize <= 4 * (1 + (plain.dtype.kind == "c")) else 0)
    with np.errstate(all="ignore"):
        if plain.dtype.kind == "c":  # the parts of products with infinities differ between libraries
            is_not_finite = ~np.isfinite(plain)
            if not np.array_equal(is_not_finite, ~np.isfinite(compiled)):
                return False
            plain, compiled = np.where(is_not_finite, 0, plain), np.where(is_not_finite, 0, compiled)
            return is_close(plain.real, compiled.real) and is_close(plain.imag, compiled.imag)
        finite = np.abs(plain)[np.isfinite(plain)]
        size = float(finite.max()) if finite.size else 0.0  # because large numbers may cancel in sums
        return bool(np.allclose(plain, compiled, rtol=tolerance * 10, atol=tolerance * max(size, 1.0), equal_nan=True))


def check(source: str, arguments: list[str], number: int, calls: int = 3) -> tuple[str, str, str]:
    """Compare the calls of a program; return "plain" or "staged", the kind of a difference or "", and details."""
    name = f"<numpy call {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = dict(NAMESPACE)
    exec(compile(source, name, "exec"), namespace)
    function = namespace["program"]
    compiled = ac.compile(function)
    Precision.tolerance = input_precision([source, *arguments])
    found_difference = None
    for call in range(calls):
        plain_outcome = Outcome(function, evaluate(arguments, call))
        found_difference = difference(plain_outcome, Outcome(compiled, evaluate(arguments, call)))
        if found_difference is not None:
            break
    del linecache.cache[name]
    execution = "plain" if "plain Python" in compiled.explain() else "staged"
    return (execution, *(found_difference or ("", "")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="test only calls of this function of NumPy")
    parser.add_argument("--open", action="store_true", help="call functions with other sizes of arrays each time")
    parser.add_argument("--statements", action="store_true", help="test programs of several statements")
    parser.add_argument("--show", action="store_true", help="print differences of warnings and strides, too")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    generator_class: Any = Generator
    if options.statements or options.open:
        generator_class = selections.Generator if options.statements else selections.CallGenerator
    calls = 3 if generator_class is Generator else 6
    for number in range(options.seed, options.seed + options.programs):
        generator = generator_class(number, options.only)
        source = generator.program()
        execution, kind, details = check(source, generator.arguments, number, calls)
        counts[execution] += 1
        counts[kind] += bool(kind)
        if kind and (options.show or kind not in ACCEPTED_KINDS):
            counts["wrong"] += kind not in ACCEPTED_KINDS
            arguments = ", ".join(f"a{i} = {text}" for i, text in enumerate(generator.arguments))
            print(f"{number} {kind}: {source.partition(':')[2].strip()}   [{arguments}]\n    {details[:300]}")
    other_keys = ("wrong", "staged", "plain", "")
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()) if kind not in other_keys)
    print(f"{options.programs} calls: {counts['staged']} staged, {counts['plain']} plain; {counts['wrong']} wrong"
          f"{f' ({kinds})' if kinds else ''}")  # fmt: skip
    return counts["wrong"] > 0


# Kinds of differences that do not count as wrong: see docs/limits.md, NumPy.
ACCEPTED_KINDS = {"warning", "strides", "text"}

if __name__ == "__main__":
    sys.exit(main())
